"""Entailment: whether a graph follows from the facts and rules of a reasoner (RDF 1.1 Semantics).

Blank nodes of the graph in question are existential (they match like variables), and a literal stands for its value:
``"01"^^xsd:integer`` is found where the data contain ``"1"^^xsd:int``, even if the reasoner has never seen that form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.facts.row_encoding import as_triple
from kg_reasoner.expressions.datatypes import identity
from kg_reasoner.query.patterns import Pattern, Solutions, variables_of
from kg_reasoner.storage.arrays import unique_rows
from kg_reasoner.terms import RDF, AnyTriple, BlankNode, Literal, Term, Triple

__all__ = ["bindings", "entails"]

Binding: TypeAlias = dict[BlankNode, Term]


def entails(reasoner: Reasoner, triples: Iterable[AnyTriple]) -> bool:
    """Return whether some triples follow together.

    All derived facts count, including those hidden from users because they are trivial, and those that are not RDF triples (the
    literal ``5`` is an xsd:integer, so ``ex:a ex:age _:n . _:n rdf:type xsd:integer`` follows from ``ex:a ex:age 5``). In theory,
    an inconsistent graph entails everything; this function does not apply that rule: call
    `kg_reasoner.api.reasoner.Reasoner.inconsistencies` first.

    Args:
        reasoner: The reasoner whose facts and rules are the premises.
        triples: The triples in question, as terms of this package, of rdflib or of pyoxigraph.

    Returns:
        Whether they follow, with the same terms for their blank nodes in all of them.

    Raises:
        LoadError: A term is invalid.

    >>> from kg_reasoner.api.reasoner import Reasoner
    >>> from kg_reasoner.terms import IRI, XSD, literal
    >>> reasoner = Reasoner(ruleset="rdfs")
    >>> ann, age = IRI("http://example.org/ann"), IRI("http://example.org/age")
    >>> reasoner.add_triples([(ann, age, literal(5))])
    >>> entails(reasoner, [(BlankNode("somebody"), age, Literal("05", XSD.byte.value))])
    True
    """
    parts = _parts(reasoner, triples)
    return parts is not None and all(len(part.rows) > 0 for part in parts)


def bindings(reasoner: Reasoner, triples: Iterable[AnyTriple]) -> Iterator[Binding]:
    """Yield the terms that the blank nodes of some triples can stand for so that the triples follow; none if they do not.

    Args:
        reasoner: As for `entails`.
        triples: As for `entails`.

    Returns:
        An iterator of mappings from blank nodes to terms.

    Raises:
        LoadError: A term is invalid.
    """
    parts = _parts(reasoner, triples)
    if parts is None:
        return
    for rows in product(*(part.rows.tolist() for part in parts)):
        found: Binding = {}
        for part, row in zip(parts, rows, strict=True):
            terms = map(reasoner.dictionary.decode, row)
            found.update((BlankNode(name), term) for name, term in zip(part.names, terms, strict=True))
        yield found


def _parts(reasoner: Reasoner, asked: Iterable[AnyTriple]) -> list[Solutions] | None:
    """Return the solutions of each connected component of a graph; None if a term of it does not occur in the reasoner."""
    triples = list(map(as_triple, asked))
    reasoner.know(term for triple in triples for term in triple if str(term).startswith(f"<{RDF}_"))  # rdf:_1 and so on have axioms
    with reasoner.core.reading():
        return _solved(reasoner, triples)


def _solved(reasoner: Reasoner, triples: Sequence[Triple]) -> list[Solutions] | None:
    patterns: list[Pattern] = []
    literals: dict[str, Literal] = {}
    for number, triple in enumerate(triples):
        places = [_place(reasoner, term, f"{term} {number}", literals) for term in triple]
        if -1 in places:
            return None
        patterns.append((places[0], places[1], places[2]))
    queries = reasoner.engine.base.make_queries(generalised=True)
    solved = (queries.solve(part, "all", None) for part in _connected_parts(patterns))
    return [_with_values(reasoner, solutions, literals) for solutions in solved]


def _place(reasoner: Reasoner, term: Term, name: str, literals: dict[str, Literal]) -> int | str:
    """Return a term in a pattern: a variable for a blank node, a fresh one for each literal with a value, and the id of any
    other.
    """
    if isinstance(term, BlankNode):
        return term.label
    if isinstance(term, Literal) and identity(term, reasoner.datatypes) is not None:
        literals[name] = term
        return name
    return reasoner.dictionary.find(term)


def _connected_parts(patterns: Sequence[Pattern]) -> list[list[Pattern]]:
    """Group the patterns that share variables, directly or through others."""
    parts: list[list[Pattern]] = []
    for pattern in patterns:
        names = set(variables_of([pattern]))
        touched = [part for part in parts if not names.isdisjoint(variables_of(part))]
        parts = [part for part in parts if part not in touched]
        parts.append([pattern, *(other for part in touched for other in part)])
    return parts


def _with_values(reasoner: Reasoner, solutions: Solutions, literals: Mapping[str, Literal]) -> Solutions:
    """Return the solutions in which the variables of literals have the values of these literals, without those variables."""
    rows = solutions.rows
    for column, name in enumerate(solutions.names):
        if name in literals:
            value = identity(literals[name], reasoner.datatypes)
            same = [number for number in np.unique(rows[:, column]).tolist() if _value(reasoner, number) == value]
            rows = rows[np.isin(rows[:, column], same)]
    blank = [name for name in solutions.names if name not in literals]
    return Solutions(blank, unique_rows(Solutions(solutions.names, rows).columns(blank)))


def _value(reasoner: Reasoner, number: int) -> object:
    term = reasoner.dictionary.decode(number)
    return identity(term, reasoner.datatypes) if isinstance(term, Literal) else None
