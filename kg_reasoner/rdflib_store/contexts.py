"""Which graph a context of rdflib stands for.

rdflib hands over a `Graph` with every triple. Over a plain graph's store it is that graph, whatever its identifier may be; over a
dataset's it is one of its graphs, and its identifier the name. A graph that a dataset has handed out is known by the prefixes that
it shares with it. Of any other, its first use decides for good, from nothing but the data and who asks:

* if the store has a graph of that name, it is that graph;
* an IRI is the name of a graph if the store has named graphs, or if a dataset asks (rdflib's parsers of quads make such graphs);
* anything else is a plain graph. Its identifier may well be an IRI; a blank node is what rdflib gives it by default.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, cast
from weakref import WeakValueDictionary, ref

from rdflib import ConjunctiveGraph, Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.store import Store
from rdflib.term import Node, URIRef

from kg_reasoner.errors import ReasonerError
from kg_reasoner.rdflib_store.stored_graphs import StoredGraphs


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


class QueriedGraph(Graph):
    """The graph of a query, which rdflib tells the store by its name. It shares its prefixes with no dataset."""


class Contexts:
    """The contexts of a store that has some graphs."""

    def __init__(self, graphs: StoredGraphs) -> None:
        self._graphs = graphs
        self._plain: WeakValueDictionary[int, Graph] = WeakValueDictionary()
        """The graphs that stand for all graphs together, by their `id` (rdflib compares graphs by their identifiers)."""
        self._last: ref[Graph] | None = None
        """One of these, the last that was asked for: mostly there is no other."""
        self._named: WeakValueDictionary[int, Graph] = WeakValueDictionary()

    def name(self, context: Graph | None, store: Store) -> Node | None:
        """The name of the graph that a context stands for, of those that rdflib hands over to a store; None: all of them."""
        if context is None or (self._last is not None and self._last() is context):
            return None
        if self._plain.get(id(context)) is context:
            self._last = ref(context)
            return None
        if context.context_aware:  # the dataset itself
            return None if context.default_union else DATASET_DEFAULT_GRAPH_ID
        name = context.identifier
        if name == DATASET_DEFAULT_GRAPH_ID or self._named.get(id(context)) is context:
            return name
        if not isinstance(context, QueriedGraph) and self._is_of_dataset(context, store):
            return name
        is_name = self._graphs.has_graph(name) or (
            isinstance(name, URIRef) and (bool(self._graphs.stored_graphs()) or _dataset_asks(store))
        )
        (self._named if is_name else self._plain)[id(context)] = context
        return name if is_name else None

    def _is_of_dataset(self, context: Graph, store: Store) -> bool:
        """Whether a graph shares the prefixes of a dataset over the same store, and is not its default graph.

        (Where rdflib parses quads into a plain graph, that is the default graph of a dataset that it makes for the purpose.)
        """
        dataset = context.namespace_manager.graph
        if not dataset.context_aware or dataset.store is not store:
            return False
        default: Any = dataset.default_graph if isinstance(dataset, Dataset) else cast(Any, dataset).default_context
        return bool(default.identifier != context.identifier)


def _dataset_asks(store: Store) -> bool:
    """Whether some method of a dataset over the store is running, such as its `parse`."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        asker = frame.f_locals.get("self")
        if isinstance(asker, Dataset) and asker.store is store:
            return True
        frame = frame.f_back
    return False
