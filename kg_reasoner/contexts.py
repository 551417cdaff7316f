"""Which graph a context of rdflib stands for.

rdflib hands over a `Graph` with every triple. Over a plain graph's store it is that graph, whatever identifier it may have; over a
dataset's it is one of its graphs, and its identifier the name. A dataset's graphs share the prefixes of the dataset, which tells
one that is named by a blank node from a plain graph, whose identifier is a blank node, too.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref

from rdflib import Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.store import Store
from rdflib.term import Node, URIRef


class Contexts:
    """The contexts of a store.

    Args:
        is_known: whether there is a graph of this name.
    """

    def __init__(self, is_known: Callable[[Node], bool]) -> None:
        self._is_known = is_known
        self._plain: ref[Graph] | None = None
        self.are_told_apart = False
        """Whether a dataset uses the store. IRIs name graphs from then on."""

    def name(self, context: Graph | None, store: Store) -> Node | None:
        """The name of the graph that a context stands for; None: all of them."""
        if context is None or (self._plain is not None and context is self._plain()):
            return None
        if context.context_aware:  # the dataset itself
            self.are_told_apart = True
            return None if context.default_union else DATASET_DEFAULT_GRAPH_ID
        name = context.identifier
        if name == DATASET_DEFAULT_GRAPH_ID or (self.are_told_apart and isinstance(name, URIRef)):
            self.are_told_apart = True
            return name
        if self._is_known(name) or self._is_of_dataset(context, store):
            self.are_told_apart = True
            return name
        self._plain = ref(context)
        return None

    def _is_of_dataset(self, context: Graph, store: Store) -> bool:
        """Whether a graph has its prefixes from another graph over the same store."""
        other = context.namespace_manager.graph
        return other is not context and other.store is store
