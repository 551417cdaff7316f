"""Other evaluators that answer the text of a query over the oracle's datasets."""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph
import rdflib
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from kg_reasoner.loaders.convert import from_oxigraph, from_rdflib, to_oxigraph, to_rdflib
from kg_reasoner.terms import Triple

from .compare import Row
from .dataset import Dataset

Found = Sequence[Row] | bool | frozenset[Triple]


def by_oxigraph(dataset: Dataset, query: str) -> Found:
    """Answer a query with pyoxigraph.

    Raises:
        SyntaxError: pyoxigraph does not accept the query.
    """
    store = pyoxigraph.Store()
    graphs = [(pyoxigraph.DefaultGraph(), dataset.default), *((to_oxigraph(iri), graph) for iri, graph in dataset.named.items())]
    store.extend(pyoxigraph.Quad(*map(to_oxigraph, triple), graph) for graph, triples in graphs for triple in triples)  # type: ignore
    result = store.query(query)
    if isinstance(result, pyoxigraph.QueryBoolean):
        return bool(result)
    if isinstance(result, pyoxigraph.QueryTriples):
        return frozenset((from_oxigraph(a), from_oxigraph(b), from_oxigraph(c)) for a, b, c in result)  # type: ignore[misc]
    names = [variable.value for variable in result.variables]
    return [{name: from_oxigraph(row[name]) for name in names if row[name] is not None} for row in result]


def by_rdflib(dataset: Dataset, query: str, target: rdflib.Dataset) -> Found:
    """Answer a query with an empty rdflib dataset, which gets the triples of ours."""
    for iri, triples in [(None, dataset.default), *dataset.named.items()]:
        graph = target.graph(DATASET_DEFAULT_GRAPH_ID if iri is None else to_rdflib(iri))
        for triple in triples:
            graph.add(tuple(map(to_rdflib, triple)))  # type: ignore[arg-type]
    result = target.query(query)
    if result.type == "ASK":
        return bool(result.askAnswer)
    if result.type == "CONSTRUCT":
        return frozenset(tuple(map(from_rdflib, triple)) for triple in result.graph or ())  # type: ignore[misc]
    rows = []
    for binding in result.bindings:
        # rdflib sometimes binds a variable to None instead of leaving it unbound.
        rows.append({str(name): from_rdflib(term) for name, term in binding.items() if term is not None})
    return rows
