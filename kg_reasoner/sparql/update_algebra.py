"""The operations of SPARQL Update requests.

Names of graphs are IRIs; None is the graph that is changed where an operation names none.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import EachGraph, Node, Patterns, PatternTerm, TriplePattern
from kg_reasoner.sparql.building import joined
from kg_reasoner.terms import IRI

__all__ = [
    "DeleteData",
    "InsertData",
    "LoadDocument",
    "Modify",
    "OnGraphs",
    "Operation",
    "QuadTemplate",
    "delete_where",
    "variables_of",
]

QuadTemplate: TypeAlias = tuple[PatternTerm, PatternTerm, PatternTerm, PatternTerm | None]
"""A quad with variables and blank nodes; None: it is outside of GRAPH."""


@dataclass(frozen=True, slots=True)
class InsertData:
    """INSERT DATA: quads without variables."""

    quads: tuple[QuadTemplate, ...]


@dataclass(frozen=True, slots=True)
class DeleteData:
    """DELETE DATA: quads without variables and blank nodes."""

    quads: tuple[QuadTemplate, ...]


@dataclass(frozen=True, slots=True)
class Modify:
    """DELETE and INSERT for the solutions of a pattern. DELETE WHERE has the pattern of its quads.

    Attributes:
        deleted: The template of DELETE.
        inserted: The template of INSERT.
        where: The pattern.
        graph: The graph of WITH.
        using: USING and USING NAMED, as rdflib has them.
        base: The base IRI.
    """

    deleted: tuple[QuadTemplate, ...]
    inserted: tuple[QuadTemplate, ...]
    where: Node
    graph: IRI | None = None
    using: tuple[Any, ...] = ()
    base: str | None = None


@dataclass(frozen=True, slots=True)
class LoadDocument:
    """LOAD: the address of a document, and the graph of INTO GRAPH."""

    address: str
    graph: IRI | None
    is_silent: bool


@dataclass(frozen=True, slots=True)
class OnGraphs:
    """CLEAR, DROP, CREATE, ADD, COPY or MOVE.

    Attributes:
        name: The keyword.
        graphs: One graph, or two: IRIs, or the keywords DEFAULT, NAMED and ALL.
        is_silent: Whether it is no error if a graph does not exist, or exists already.
    """

    name: str
    graphs: tuple[IRI | str, ...]
    is_silent: bool


Operation: TypeAlias = InsertData | DeleteData | Modify | LoadDocument | OnGraphs


def delete_where(quads: tuple[QuadTemplate, ...], base: str | None) -> Modify:
    """Return DELETE WHERE, which deletes the quads that match a template without blank nodes."""
    triples: dict[PatternTerm | None, list[TriplePattern]] = {}
    for subject, property, value, graph in quads:
        triples.setdefault(graph, []).append((subject, property, value))
    patterns = {graph: Patterns(tuple(found)) for graph, found in triples.items()}
    where = joined([found if graph is None else EachGraph(graph, found) for graph, found in patterns.items()])
    return Modify(quads, (), where, base=base)


def variables_of(quads: tuple[QuadTemplate, ...]) -> list[Variable]:
    """Return the variables of a template."""
    return list(dict.fromkeys(term for quad in quads for term in quad if isinstance(term, Variable)))
