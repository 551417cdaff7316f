"""The answers of queries as rdflib's results, whose rows are made when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableSequence
from typing import Any, cast

from rdflib import Graph, Variable
from rdflib.plugins.sparql.processor import SPARQLResult
from rdflib.query import ResultRow
from rdflib.term import Node

from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.sparql.query import Answer
from kg_reasoner.sparql.table import UNBOUND
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import term_from_text

__all__ = ["QueryResult", "graph_of_triples", "nodes_of"]

FIRST_CHUNK, CHUNK = 64, 4096
"""Rows that are decoded at once: at first, and then."""


class QueryResult(SPARQLResult):
    """The result of a query.

    Args:
        answer: The answer, as ids.
        prefixes: The prefixes of the graph of CONSTRUCT and DESCRIBE.
    """

    def __init__(self, answer: Answer, prefixes: Mapping[str, Any] | None = None) -> None:
        self.answer = answer
        self._names = list(map(Variable, answer.names))
        found: dict[str, Any]
        if answer.truth is not None:
            found = {"type_": "ASK", "askAnswer": answer.truth}
        elif answer.triples is not None:
            graph = graph_of_triples(answer.triples, answer.terms, prefixes or {})
            found = {"type_": "CONSTRUCT" if type(answer.query).__name__ == "Construct" else "DESCRIBE", "graph": graph}
        else:
            found = {"type_": "SELECT", "bindings": [], "vars_": self._names}
        super().__init__(found)
        self._rows: list[Mapping[Variable, Node]] | None = None

    @property
    def bindings(self) -> MutableSequence[Mapping[Variable, Any]]:
        """The solutions as mappings."""
        if self.type != "SELECT":
            return cast("MutableSequence[Mapping[Variable, Any]]", [])
        if self._rows is None:
            names = self._names
            self._rows = [{name: node for name, node in zip(names, row, strict=True) if node is not None} for row in self._tuples()]
        return cast("MutableSequence[Mapping[Variable, Any]]", self._rows)

    @bindings.setter
    def bindings(self, found: Any) -> None:
        if found:  # rdflib sets the bindings of every result
            self._rows = list(found)

    def _tuples(self) -> Iterator[tuple[Node | None, ...]]:
        """Yield the solutions as tuples of terms, decoded in chunks."""
        table = self.answer.table
        assert table is not None
        columns = [table.column(name) for name in self.answer.names]
        if not columns:
            yield from ((),) * table.size
            return
        known: dict[int, Node | None] = {UNBOUND: None}
        first, end = 0, FIRST_CHUNK
        while first < table.size:
            yield from zip(*(nodes_of(column[first:end], self.answer.terms, known) for column in columns), strict=True)
            first, end = end, end + CHUNK

    def __iter__(self) -> Iterator[Any]:
        if self.type != "SELECT":
            yield from super().__iter__()
            return
        labels = {str(name): place for place, name in enumerate(self._names)}
        make = tuple.__new__
        nothing = (None,) * len(labels)
        for values in self._tuples():
            if values == nothing:
                continue  # rdflib leaves empty solutions out
            row = make(ResultRow, values)
            row.labels = labels
            yield row

    def __len__(self) -> int:
        if self.type == "SELECT":
            table = self.answer.table
            return 0 if table is None else table.size
        return super().__len__()


def nodes_of(ids: Ids, terms: QueryTerms, known: dict[int, Node | None]) -> list[Node | None]:
    """Return the rdflib terms of ids; new ones are added to those that are known."""
    numbers = ids.tolist()
    missing = [number for number in set(numbers) if number not in known]
    if missing:
        known.update(zip(missing, map(_node, terms.texts(missing)), strict=True))
    return [known[number] for number in numbers]


def _node(text: str) -> Node:
    """Return the rdflib term of a text."""
    from rdflib.term import URIRef

    if text[0] == "<":
        return str.__new__(URIRef, text[1:-1])  # without rdflib's check: the terms are valid
    return cast(Node, to_rdflib(term_from_text(text)))


def graph_of_triples(triples: Ids, terms: QueryTerms, prefixes: Mapping[str, Any]) -> Graph:
    """Return an rdflib graph of triples of ids."""
    graph = Graph()
    for prefix, namespace in prefixes.items():
        graph.bind(prefix, namespace)
    known: dict[int, Node | None] = {}
    columns = [nodes_of(column, terms, known) for column in triples.T]
    graph.addN((s, p, o, graph) for s, p, o in zip(*columns, strict=True))  # type: ignore[misc]  # none is None
    return graph
