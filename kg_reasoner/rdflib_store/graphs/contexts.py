"""The graphs that contexts of rdflib denote.

rdflib passes a `Graph` with every triple. Over the store of a plain graph, it denotes that graph, whatever its identifier; over
that of a dataset, it denotes one of the dataset's graphs, and its identifier is the name. A graph obtained from a dataset is
recognised by the prefixes that it shares with the dataset. The meaning of any other is fixed by its first use, from the data and
the caller:

* if the store has a graph of that name, it is that graph;
* an IRI is the name of a graph if the store was made for a dataset or reasons over each graph separately, if it has named graphs,
  if a dataset or one of its graphs is the caller (rdflib's parsers of quads make such graphs), or if another IRI is the store's own
  name;
* otherwise, the IRI becomes the store's own name: a graph of that name is the plain graph;
* a blank node, which is rdflib's default, is a plain graph.

So graphs with different IRIs over one store are kept apart, except that the first over a store that reasons over the union is the
union.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import cast
from weakref import WeakValueDictionary, ref

from rdflib import ConjunctiveGraph, Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.store import Store
from rdflib.term import Node, URIRef

from kg_reasoner.errors import ReasonerError
from kg_reasoner.rdflib_store.graphs.stored_graphs import StoredGraphs
from kg_reasoner.rdflib_store.graphs.versions import default_graph


def refuse_conjunctive_graph() -> None:
    """Raise an error if a `ConjunctiveGraph` that belongs neither to a `Dataset` nor to rdflib's parsers is being made.

    Its contexts could not be distinguished from plain graphs, so that the names of graphs would be lost. It passes nothing else to
    the store by which it could be recognised, hence the inspection of the caller.
    """
    asking = sys._getframe(2)
    graph = asking.f_locals.get("self")
    is_made = asking.f_code.co_name == "__init__" and isinstance(graph, ConjunctiveGraph) and not isinstance(graph, Dataset)
    maker = asking.f_back
    if is_made and maker is not None and not str(maker.f_globals.get("__name__")).startswith("rdflib."):
        raise ReasonerError("a ConjunctiveGraph over this store would lose the names of graphs: make a Dataset instead")


class QueriedGraph(Graph):
    """The graph of a query, which rdflib identifies to the store by its name. It shares its prefixes with no dataset."""


def is_made_for_dataset() -> bool:
    """Return whether rdflib is making the store that asks for a dataset, as for ``Dataset(store="KGReasoner")``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name == "__init__":
        if isinstance(frame.f_locals.get("self"), Dataset):
            return True
        frame = frame.f_back
    return False


def parser_removes_graph() -> bool:
    """Return whether one of rdflib's parsers is removing a graph.

    Those of N-Quads and Hextuples do so before they read, and take the default graph, whatever it holds, for a new one.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name == "remove_graph":
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("rdflib.plugins.parsers.")


def _nothing() -> None:
    """Stand for a reference to a graph."""


class Contexts:
    """The contexts of a store with given graphs.

    Args:
        graphs: The graphs.
        is_dataset: Whether IRIs name graphs, except for the store's own name.

    Attributes:
        own_name: The IRI by which the plain graph is known, once a graph with an IRI is the plain one.
    """

    def __init__(self, graphs: StoredGraphs, is_dataset: bool = False) -> None:
        self._graphs = graphs
        self.is_dataset = is_dataset
        self.own_name: URIRef | None = None
        self._plain: WeakValueDictionary[int, Graph] = WeakValueDictionary()
        """The graphs that stand for all graphs together, by their `id` (rdflib compares graphs by their identifiers)."""
        self._last: Callable[[], Graph | None] = _nothing
        """The most recent one of these: usually there is no other."""
        self._named: WeakValueDictionary[int, Graph] = WeakValueDictionary()

    def name(self, context: Graph | None, store: Store) -> Node | None:
        """Return the name of the graph that a context from rdflib denotes; None: all graphs."""
        if context is None or self._last() is context:
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
        is_name = self._graphs.has_graph(name) or (isinstance(name, URIRef) and self._is_name(name, store))
        (self._named if is_name else self._plain)[id(context)] = context
        return name if is_name else None

    def names(self, contexts: Sequence[Graph | None], store: Store) -> list[Node | None]:
        """Return the `name` of each context, many of which may be graphs that a dataset has made for one quad."""
        found: dict[int, Node | None] = {}
        of_dataset: dict[tuple[Node, int], bool] = {}
        for key, context in dict(zip(map(id, contexts), contexts, strict=True)).items():
            if type(context) is Graph and not self._plain:
                alike = context.identifier, id(context.namespace_manager)
                if alike not in of_dataset:
                    of_dataset[alike] = self._is_of_dataset(context, store)
                if of_dataset[alike]:
                    found[key] = context.identifier
                    continue
            found[key] = self.name(context, store)
        return list(map(found.__getitem__, map(id, contexts)))

    def _is_name(self, name: URIRef, store: Store) -> bool:
        """Return whether an IRI names a graph that does not exist yet."""
        if name == self.own_name:
            return False
        if self.is_dataset or self.own_name is not None or self._graphs.stored_graphs() or _dataset_asks(store):
            return True
        self.own_name = name
        return False

    def _is_of_dataset(self, context: Graph, store: Store) -> bool:
        """Return whether a graph shares the prefixes of a dataset over the same store, and is not its default graph.

        (Where rdflib parses quads into a plain graph, that graph is the default graph of a temporary dataset.)
        """
        dataset = context.namespace_manager.graph
        if not dataset.context_aware or dataset.store is not store:
            return False
        return bool(default_graph(cast(ConjunctiveGraph, dataset)).identifier != context.identifier)


def _dataset_asks(store: Store) -> bool:
    """Return whether some method of a dataset over the store, or of one of its graphs, is running, such as its `parse`."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        asker = frame.f_locals.get("self")
        if isinstance(asker, Graph) and asker.store is store and _is_in_dataset(asker):
            return True
        frame = frame.f_back
    return False


def _is_in_dataset(graph: Graph) -> bool:
    """Return whether a graph is a dataset, has its prefixes, or is a default graph, which has prefixes of its own."""
    return isinstance(graph.namespace_manager.graph, Dataset) or graph.identifier == DATASET_DEFAULT_GRAPH_ID
