"""Shapes of queries: texts that differ in constants only have the same plan, into which the constants are put.

A text is cut at its constants (`kg_reasoner.sparql.evaluation.cutting`), which takes microseconds. A constant is a *parameter* if
it is a subject or a value in a triple pattern, or a resource to describe, and occurs nowhere else in the algebra; all others belong
to the shape. What is left to do for a shape (`kg_reasoner.sparql.repeated.shortcuts`) gives up where it meets many triples, so that
constants for which its join order does not suit are left to a plan of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Node, PatternTerm, Query
from kg_reasoner.sparql.evaluation.cutting import Cut
from kg_reasoner.sparql.queries.parsed import ParsedQuery
from kg_reasoner.sparql.queries.query_forms import prepared
from kg_reasoner.sparql.syntax.query_syntax import read_common_query
from kg_reasoner.terms import IRI, RDF, Literal, Term, is_iri

__all__ = ["QueryShape", "shape_of"]

_MARK: Final = "x-kg-reasoner:constant:"
_MARKED: Final = re.compile(rf"{_MARK}([0-9]+);")
Example: TypeAlias = IRI | Literal


class QueryShape(ParsedQuery):
    """A query whose parameters are variables.

    Args:
        query: The query.
        namespaces: Its prefixes.
        parameters: The variables, by the places of the constants that they stand for, each with a term of its kind.
    """

    def __init__(self, query: Query, namespaces: Mapping[str, Any], parameters: Mapping[int, tuple[str, Example]]) -> None:
        super().__init__(query, namespaces=namespaces)
        self.places = tuple(parameters)
        self.names = tuple(name for name, _ in parameters.values())
        self._examples = [(place, *named) for place, named in parameters.items()]

    def bindings(self, constants: Sequence[str]) -> dict[str, Term] | None:
        """Return the values of the variables; None if an IRI is relative or wrong."""
        found: dict[str, Term] = {}
        for place, name, example in self._examples:
            value = constants[place][1:-1]
            if isinstance(example, Literal):
                found[name] = Literal(value, example.datatype, example.language)
            elif not is_iri(value):
                return None
            else:
                found[name] = IRI(value)
        return found


def shape_of(query: Query, text: Cut, prefixes: Mapping[str, Any]) -> QueryShape | None:
    """Return a query with its parameters as variables; None if it has none, or is more than a pattern, joined with VALUES at most.

    Args:
        query: The query, as it is evaluated.
        text: Its text, cut at its constants.
        prefixes: Namespaces for the prefixes that the text does not declare.
    """
    if not (_parts(query) or isinstance(query, algebra.Describe)):
        return None
    places = _marks(_read(text, range(len(text.constants)), prefixes)).keys()
    found = _read(text, places, prefixes) if places else None
    chosen = _marks(found)  # literals have their datatypes only where the other constants are what they are
    if found is None or chosen.keys() != places:
        return None
    variables = {example: Variable(f".given{place}") for place, example in chosen.items()}
    parameters = {place: (variables[example].name, example) for place, example in chosen.items()}
    return QueryShape(_with_variables(found[0], variables), {**prefixes, **found[1]}, parameters)


_Read: TypeAlias = tuple[Query, Mapping[str, str]]


def _read(text: Cut, places: Iterable[int], prefixes: Mapping[str, Any]) -> _Read | None:
    """Return the prepared query, with marks in the place of some constants, and the prefixes that it declares."""
    constants = list(text.constants)
    for place in places:
        opening, closing = constants[place][0], constants[place][-1]
        if opening != "#":
            constants[place] = f"{opening}{_MARK}{place};{closing}"
    pieces = [""] * (2 * len(constants) + 1)
    pieces[::2], pieces[1::2] = text.outline[:-1], constants
    read = read_common_query("".join(pieces), prefixes)
    return None if read is None else (prepared(read.query), read.prefixes)


def _marks(found: _Read | None) -> dict[int, Example]:
    """Return the marks that are parameters."""
    if found is None:
        return {}
    everywhere = _MARKED.findall(repr(found))
    ends = Counter(_ends(found[0]))
    marks: dict[int, Example] = {}
    for term, times in ends.items():
        if isinstance(term, (IRI, Literal)):
            mark = _MARKED.fullmatch(term.value if isinstance(term, IRI) else term.lexical)
            if mark is not None and everywhere.count(mark[1]) == times == 1:
                marks[int(mark[1])] = term
    return marks


def _parts(query: Query) -> Sequence[Node]:
    """Return the only pattern of a query, which may be joined with VALUES; nothing if it has more than that."""
    node = query.node
    while isinstance(node, (algebra.Slice, algebra.Distinct, algebra.Project)):
        node = node.node
    parts = node.parts if isinstance(node, algebra.Join) else (node,)
    return parts if not isinstance(query, algebra.Construct) and all(map(_is_plain, parts)) else ()


def _is_plain(node: Node) -> bool:
    is_default = isinstance(node, (algebra.Patterns, algebra.PathPattern)) and node.graph is None
    return is_default or isinstance(node, algebra.Values)


def _ends(query: Query) -> list[PatternTerm | None]:
    """Return the subjects and the values of a query's patterns, classes excepted, those of VALUES, and what it describes."""
    if isinstance(query, algebra.Describe):
        return list(query.terms)
    found: list[PatternTerm | None] = []
    for part in _parts(query):
        if isinstance(part, algebra.PathPattern):
            found += [part.start, part.end]
        elif isinstance(part, algebra.Values):
            found += [term for row in part.rows for term in row]
        elif isinstance(part, algebra.Patterns):
            for start, property, value in part.triples:
                found += [start] if property == RDF.type else [start, value]
    return found


def _with_variables(query: Query, variables: Mapping[Any, Any]) -> Query:
    """Return a query with variables in the place of subjects, values and resources."""
    if isinstance(query, algebra.Describe):
        return replace(query, terms=tuple(variables.get(term, term) for term in query.terms))
    return replace(query, node=_replaced(query.node, variables))


def _replaced(node: Node, variables: Mapping[Any, Any]) -> Node:
    if isinstance(node, algebra.Patterns):
        triples = tuple((variables.get(start, start), property, variables.get(end, end)) for start, property, end in node.triples)
        return replace(node, triples=triples)
    if isinstance(node, algebra.PathPattern):
        return replace(node, start=variables.get(node.start, node.start), end=variables.get(node.end, node.end))
    if isinstance(node, algebra.Values):
        return replace(node, rows=tuple(tuple(variables.get(term, term) for term in row) for row in node.rows))
    if isinstance(node, algebra.Join):
        return replace(node, parts=tuple(_replaced(part, variables) for part in node.parts))
    assert isinstance(node, (algebra.Slice, algebra.Distinct, algebra.Project))
    return replace(node, node=_replaced(node.node, variables))
