"""Queries that rdflib evaluates part by part, because evaluators that users have registered are to be asked for each part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.sparql import Query
    from rdflib.query import Result

    from kg_reasoner.rdflib_store.queries.query_dataset import QueryDataset

__all__ = ["answer_by_parts"]


def answer_by_parts(dataset: QueryDataset, graph: Graph, query: Query, bindings: Mapping[str, Any]) -> Result:
    """Return the answer to a query, evaluated by rdflib on one state of the store.

    Args:
        dataset: The dataset.
        graph: The active graph, over a store with this dataset.
        query: The query.
        bindings: Values of variables, by name.
    """
    from rdflib import Variable
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.processor import SPARQLResult
    from rdflib.plugins.sparql.sparql import QueryContext

    context = QueryContext(graph, initBindings={Variable(name): value for name, value in bindings.items()})
    context.prologue = query.prologue
    with dataset.graphs.reasoner.core.watch(), dataset.reading():
        found = dict(evalPart(context, query.algebra))
        if "bindings" in found:
            found["bindings"] = list(found["bindings"])
    return SPARQLResult(found)
