"""The rules of SWRL in an RDF graph, as constructs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kg_reasoner.loaders.rules.swrl import SWRL
from kg_reasoner.loaders.syntaxes.constructs import Construct, Malformed, Part, check
from kg_reasoner.loaders.syntaxes.rdf_expressions import GraphExpressions
from kg_reasoner.loaders.syntaxes.rdf_graph import RdfGraph
from kg_reasoner.loaders.syntaxes.vocabulary import ATOMS
from kg_reasoner.terms import IRI, RDF, Term, Triple

__all__ = ["rule_of"]

_NAMES: Final = {kind: (name, predicate) for name, (kind, predicate) in ATOMS.items()}


def rule_of(graph: RdfGraph, expressions: GraphExpressions, node: Term) -> tuple[tuple[Part, ...], list[Triple], list[Term]] | None:
    """Return the body and the head of a rule, the triples that state them, and the expressions in them; None if it is malformed."""
    return _Rule(graph, expressions).read(node)


class _NoRule(Exception):
    """A part of a rule is missing, or not understood."""


class _Rule:
    def __init__(self, graph: RdfGraph, expressions: GraphExpressions) -> None:
        self._graph = graph
        self._expressions = expressions
        self._triples: list[Triple] = []
        self._nodes: list[Term] = []

    def read(self, node: Term) -> tuple[tuple[Part, ...], list[Triple], list[Term]] | None:
        try:
            parts = tuple(
                Construct(name, tuple(map(self._atom, self._items(node, property))))
                for name, property in (("Body", SWRL.body), ("Head", SWRL.head))
            )
            for part in parts:
                for atom in part.parts:
                    assert isinstance(atom, Construct)
                    check(atom)
        except (_NoRule, Malformed):
            return None
        return parts, self._triples, self._nodes

    def _value(self, node: Term, property: IRI) -> Term:
        """Return the only value of a property."""
        values = self._graph.values(node, property)
        if len(values) != 1:
            raise _NoRule
        self._triples.append((node, property, values[0]))
        return values[0]

    def _items(self, node: Term, property: IRI) -> list[Term]:
        head = self._value(node, property)
        found = self._graph.items(head)
        if found is None:
            raise _NoRule
        items, triples = found
        cells = dict.fromkeys(subject for subject, *_ in triples)
        self._triples += triples
        self._triples += ((cell, RDF.type, SWRL.AtomList) for cell in cells)
        return items

    def _atom(self, node: Term) -> Construct:
        kind = self._value(node, RDF.type)
        if kind == SWRL.BuiltinAtom:
            builtin, *arguments = self._value(node, SWRL.builtin), *self._items(node, SWRL.arguments)
            return Construct("BuiltInAtom", (builtin, *map(self._argument, arguments)))
        if not isinstance(kind, IRI) or kind not in _NAMES:
            raise _NoRule
        name, predicate = _NAMES[kind]
        first: list[Part] = [] if predicate is None else [self._part(self._value(node, predicate))]
        places = range(1, 2 if name in ("ClassAtom", "DataRangeAtom") else 3)
        arguments = [self._value(node, SWRL[f"argument{place}"]) for place in places]
        return Construct(name, (*first, *map(self._argument, arguments)))

    def _part(self, term: Term) -> Part:
        found = self._expressions.part(term)
        if found is None:
            raise _NoRule
        self._nodes.append(term)
        return found

    def _argument(self, term: Term) -> Part:
        if isinstance(term, IRI) and term in self._variables():
            self._triples.append((term, RDF.type, SWRL.Variable))
            return Construct("Variable", (term,))
        return term

    def _variables(self) -> Iterable[Term]:
        return self._graph.types.get(SWRL.Variable, set())
