"""SPARQL Update's operations on whole graphs: CLEAR, DROP, CREATE, ADD, COPY and MOVE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from kg_reasoner.errors import ReasonerError
from kg_reasoner.rdflib_store.updates.update_changes import UpdateChanges
from kg_reasoner.storage.arrays import NO_QUADS

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.term import Node

__all__ = ["ON_GRAPHS"]


def _clear(changes: UpdateChanges, operation: CompValue) -> None:
    stated = [changes.graphs.stated(name) for name in _names(changes, operation.graphiri)]
    changes.make(np.concatenate([NO_QUADS, *stated]), NO_QUADS)


def _drop(changes: UpdateChanges, operation: CompValue) -> None:
    for name in _names(changes, operation.graphiri):
        changes.writer.drop_graph(name)


def _create(changes: UpdateChanges, operation: CompValue) -> None:
    if operation.graphiri in changes.graphs.stored_graphs():
        raise ReasonerError(f"the graph {operation.graphiri.n3()} already exists")
    changes.writer.create_graph(operation.graphiri)


def _add(changes: UpdateChanges, operation: CompValue) -> None:
    _copy_triples(changes, *_source_and_target(changes, operation), replaces=False)


def _copy(changes: UpdateChanges, operation: CompValue) -> None:
    _copy_triples(changes, *_source_and_target(changes, operation), replaces=True)


def _move(changes: UpdateChanges, operation: CompValue) -> None:
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


def _source_and_target(changes: UpdateChanges, operation: CompValue) -> tuple[Node, Node]:
    from rdflib import URIRef

    source, target = operation.graph
    (found,) = _names(changes, source)
    return found, target if isinstance(target, URIRef) else _names(changes, target)[0]


def _names(changes: UpdateChanges, which: str) -> list[Node]:
    """Return the graphs that a name, DEFAULT, NAMED or ALL denotes.

    Raises:
        ReasonerError: No graph has this name.
    """
    from rdflib import URIRef
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

    stored = changes.graphs.stored_graphs()
    if isinstance(which, URIRef):
        if which != DATASET_DEFAULT_GRAPH_ID and which not in stored:
            raise ReasonerError(f"the graph {which.n3()} does not exist")
        return [which]
    default: list[Node] = [] if which == "NAMED" else [DATASET_DEFAULT_GRAPH_ID]
    return default if which == "DEFAULT" else default + stored


ON_GRAPHS: Final[Mapping[str, Callable[[UpdateChanges, CompValue], None]]] = {
    "Clear": _clear,
    "Drop": _drop,
    "Create": _create,
    "Add": _add,
    "Copy": _copy,
    "Move": _move,
}
"""The operations by their names in rdflib's algebra."""
