"""Which graph a context of rdflib stands for.

rdflib hands over a `Graph` with every triple. Over a plain graph's store it is that graph, whatever its identifier may be; over a
dataset's it is one of its graphs, and its identifier the name. As a plain graph has a blank node for its identifier, a blank node
is the name of a graph only if there is such a graph, or a dataset has handed it out: those share the prefixes of the dataset.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from rdflib import ConjunctiveGraph, Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node, URIRef

from kg_reasoner.errors import ReasonerError

if TYPE_CHECKING:
    from kg_reasoner.store.reading import StoreReading


def refuse_conjunctive_graph() -> None:
    """Raise an error if a `ConjunctiveGraph` that is none of a `Dataset` or of rdflib's parsers is asking, while it is made.

    Its contexts could not be told from plain graphs, so that the names of graphs would be lost. It hands over nothing else by which
    it could be known, hence the look at who asks.
    """
    asking = sys._getframe(2)
    graph = asking.f_locals.get("self")
    is_made = asking.f_code.co_name == "__init__" and isinstance(graph, ConjunctiveGraph) and not isinstance(graph, Dataset)
    maker = asking.f_back
    if is_made and maker is not None and not str(maker.f_globals.get("__name__")).startswith("rdflib."):
        raise ReasonerError("a ConjunctiveGraph over this store would lose the names of graphs: make a Dataset instead")


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
