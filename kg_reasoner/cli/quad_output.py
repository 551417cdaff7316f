"""The explicit and inferred triples of named graphs, as ids to write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kg_reasoner.api.exports import exported
from kg_reasoner.io.output import QuadIds
from kg_reasoner.terms import IRI, term_text

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.query.matching import Which
    from kg_reasoner.rdflib_store import KGReasonerStore

__all__ = ["graph_text", "quads_of_graphs", "quads_of_union"]

_DEFAULT: Final = "urn:x-rdflib:default"
"""The name of rdflib's default graph."""


def quads_of_graphs(store: KGReasonerStore, which: Which) -> Iterator[QuadIds]:
    """Yield the triples of a store that reasons over each graph by itself, with the graphs that they are in or follow from."""
    from kg_reasoner.loaders.convert import text_from_rdflib

    for name in store.graphs.all_graphs():
        reasoner = store.reasoner_of(name)
        yield exported(reasoner, which), "" if str(name) == _DEFAULT else text_from_rdflib(name), reasoner.dictionary


def quads_of_union(reasoner: Reasoner, which: Which, inferred_graph: str) -> Iterator[QuadIds]:
    """Yield explicit triples with their graphs, and inferred ones with the graph for them, the default graph if that is empty."""
    dictionary = reasoner.dictionary
    if which == "all":
        quads = reasoner.core.queries.quads
        explicit = reasoner.triple_ids("explicit")
        yield explicit[quads.in_default(explicit)], "", dictionary
        for graph in quads.names().tolist():
            yield quads.match(None, None, None, graph), dictionary.text(graph), dictionary
    yield exported(reasoner, "inferred"), inferred_graph, dictionary


def graph_text(name: str | None) -> str:
    """Return the name of a graph in N-Triples form, or nothing for the default graph."""
    return "" if name in (None, _DEFAULT) else term_text(IRI(str(name)))
