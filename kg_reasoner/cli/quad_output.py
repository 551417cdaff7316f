"""The explicit and inferred triples of named graphs, as texts to write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from kg_reasoner.io.output import QuadTexts
from kg_reasoner.loaders.convert import text_from_rdflib

if TYPE_CHECKING:
    from rdflib.term import Node

    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.query.matching import Which
    from kg_reasoner.rdflib_store import KGReasonerStore
    from kg_reasoner.storage.arrays import Ids


def materialised_quads(store: KGReasonerStore, which: Which) -> Iterator[QuadTexts]:
    """Yield explicit triples with their graphs, and inferred triples with the store's graph for them, the default graph, or, if
    each graph is reasoned over by itself, the graph that they follow from.
    """
    if not store.reasons_over_union:
        for name in store.graphs.all_graphs():
            reasoner = store.reasoner_of(name)
            yield from _texts(reasoner, reasoner.triple_ids(which), _text(name))
        return
    reasoner = store.reasoner
    if which == "all":
        quads = reasoner.core.queries.quads
        explicit = reasoner.triple_ids("explicit")
        yield from _texts(reasoner, explicit[quads.in_default(explicit)], "")
        for graph in quads.names().tolist():
            yield from _texts(reasoner, quads.match(None, None, None, graph), reasoner.dictionary.text(graph))
    yield from _texts(
        reasoner, reasoner.triple_ids("inferred"), "" if store.inferred_graph is None else _text(store.inferred_graph)
    )


def _text(name: Node) -> str:
    return "" if name == DATASET_DEFAULT_GRAPH_ID else text_from_rdflib(name)


def _texts(reasoner: Reasoner, triples: Ids, graph: str) -> Iterator[QuadTexts]:
    texts = reasoner.dictionary.texts()
    for subject, property, value in triples.tolist():
        yield texts[subject], texts[property], texts[value], graph
