"""The explicit and inferred triples of named graphs, as ids to write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from kg_reasoner.io.output import QuadIds
from kg_reasoner.loaders.convert import text_from_rdflib

if TYPE_CHECKING:
    from rdflib.term import Node

    from kg_reasoner.query.matching import Which
    from kg_reasoner.rdflib_store import KGReasonerStore


def materialised_quads(store: KGReasonerStore, which: Which) -> Iterator[QuadIds]:
    """Yield explicit triples with their graphs, and inferred triples with the store's graph for them, the default graph, or, if
    each graph is reasoned over by itself, the graph that they follow from.
    """
    if not store.reasons_over_union:
        for name in store.graphs.all_graphs():
            reasoner = store.reasoner_of(name)
            yield reasoner.triple_ids(which), _text(name), reasoner.dictionary
        return
    reasoner, dictionary = store.reasoner, store.reasoner.dictionary
    if which == "all":
        quads = reasoner.core.queries.quads
        explicit = reasoner.triple_ids("explicit")
        yield explicit[quads.in_default(explicit)], "", dictionary
        for graph in quads.names().tolist():
            yield quads.match(None, None, None, graph), dictionary.text(graph), dictionary
    inferred = "" if store.inferred_graph is None else _text(store.inferred_graph)
    yield reasoner.triple_ids("inferred"), inferred, dictionary


def _text(name: Node) -> str:
    return "" if name == DATASET_DEFAULT_GRAPH_ID else text_from_rdflib(name)
