"""Which graph a context of rdflib stands for.

rdflib hands over a `Graph` with every triple. Over a plain graph's store it is that graph, whatever its identifier may be; over a
dataset's it is one of its graphs, and its identifier the name. As a plain graph has a blank node for its identifier, a blank node
is the name of a graph only if there is such a graph, or a dataset has handed it out: those share the prefixes of the dataset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node, URIRef

if TYPE_CHECKING:
    from kg_reasoner.store.reading import StoreReading


class Contexts:
    """The contexts of a store."""

    def __init__(self) -> None:
        self._plain: ref[Graph] | None = None
        self.are_told_apart = False
        """Whether a dataset was made over the store. IRIs name graphs from then on."""

    def name(self, context: Graph | None, store: StoreReading) -> Node | None:
        """The name of the graph that a context stands for; None: all of them."""
        if context is None or (self._plain is not None and context is self._plain()):
            return None
        if context.context_aware:  # the dataset itself
            return None if context.default_union else DATASET_DEFAULT_GRAPH_ID
        name = context.identifier
        is_name = self.are_told_apart and isinstance(name, URIRef)
        if is_name or name == DATASET_DEFAULT_GRAPH_ID or store.has_graph(name) or self._is_of_dataset(context, store):
            return name
        self._plain = ref(context)
        return None

    def _is_of_dataset(self, context: Graph, store: StoreReading) -> bool:
        """Whether a graph shares the prefixes of a dataset over the same store, and is not its default graph.

        (Where rdflib parses quads into a plain graph, that is the default graph of a dataset that it makes for the purpose.)
        """
        dataset = context.namespace_manager.graph
        if not dataset.context_aware or dataset.store is not store:
            return False
        default: Any = dataset.default_graph if isinstance(dataset, Dataset) else cast(Any, dataset).default_context
        return bool(default.identifier != context.identifier)
