"""SPARQL Update's operations on whole graphs: CLEAR, DROP, CREATE, ADD, COPY and MOVE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from kg_reasoner.errors import ReasonerError
from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.rdflib_store.updates.update_changes import UpdateChanges
from kg_reasoner.sparql.update_algebra import OnGraphs
from kg_reasoner.storage.arrays import NO_QUADS
from kg_reasoner.terms import IRI

if TYPE_CHECKING:
    from rdflib.term import Node

__all__ = ["ON_GRAPHS"]


def _clear(changes: UpdateChanges, operation: OnGraphs) -> None:
    stated = [changes.graphs.stated(name) for name in _names(changes, operation.graphs[0])]
    changes.make(np.concatenate([NO_QUADS, *stated]), NO_QUADS)


def _drop(changes: UpdateChanges, operation: OnGraphs) -> None:
    for name in _names(changes, operation.graphs[0]):
        changes.writer.drop_graph(name)


def _create(changes: UpdateChanges, operation: OnGraphs) -> None:
    name = to_rdflib(cast(IRI, operation.graphs[0]))
    if name in changes.graphs.stored_graphs():
        raise ReasonerError(f"the graph {operation.graphs[0]} already exists")
    changes.writer.create_graph(name)


def _add(changes: UpdateChanges, operation: OnGraphs) -> None:
    _copy_triples(changes, *_source_and_target(changes, operation), replaces=False)


def _copy(changes: UpdateChanges, operation: OnGraphs) -> None:
    _copy_triples(changes, *_source_and_target(changes, operation), replaces=True)


def _move(changes: UpdateChanges, operation: OnGraphs) -> None:
    source, target = _source_and_target(changes, operation)
    _copy_triples(changes, source, target, replaces=True)
    if source != target:
        changes.writer.drop_graph(source)


def _copy_triples(changes: UpdateChanges, source: Node, target: Node, *, replaces: bool) -> None:
    """Copy the triples of a graph to another one, replacing its triples or keeping them."""
    if source == target:
        return
    copied = changes.graphs.stated(source)
    copied[:, 3] = changes.writer.graph_id(target)
    changes.make(changes.graphs.stated(target) if replaces else NO_QUADS, copied)
    changes.writer.create_graph(target)


def _source_and_target(changes: UpdateChanges, operation: OnGraphs) -> tuple[Node, Node]:
    source, target = operation.graphs
    (found,) = _names(changes, source)
    return found, to_rdflib(target) if isinstance(target, IRI) else _names(changes, target)[0]


def _names(changes: UpdateChanges, which: IRI | str) -> list[Node]:
    """Return the graphs that a name, DEFAULT, NAMED or ALL denotes.

    Raises:
        ReasonerError: No graph has this name.
    """
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

    stored = changes.graphs.stored_graphs()
    if isinstance(which, IRI):
        name = to_rdflib(which)
        if name != DATASET_DEFAULT_GRAPH_ID and name not in stored:
            raise ReasonerError(f"the graph {which} does not exist")
        return [name]
    default: list[Node] = [] if which == "NAMED" else [DATASET_DEFAULT_GRAPH_ID]
    return default if which == "DEFAULT" else default + stored


ON_GRAPHS: Final[Mapping[str, Callable[[UpdateChanges, OnGraphs], None]]] = {
    "CLEAR": _clear,
    "DROP": _drop,
    "CREATE": _create,
    "ADD": _add,
    "COPY": _copy,
    "MOVE": _move,
}
"""The operations by their names."""
