"""Evaluating whole queries with rdflib's evaluator.

FROM and FROM NAMED define a dataset of existing graphs. Nothing is fetched for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rdflib import Dataset, Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Query
    from rdflib.query import Result

    from kg_reasoner.rdflib_store.query_dataset import QueryDataset


def answer(
    dataset: QueryDataset,
    graph: Graph,
    query: Query | str,
    prefixes: Mapping[str, Any],
    bindings: Mapping[str, Any],
    base: str | None = None,
) -> Result:
    """Return the answer to a query, over the dataset that it defines with FROM or, without FROM, over a graph.

    Args:
        dataset: The dataset with the existing graphs; others are empty.
        graph: A graph or dataset over its store.
        query: The query, as text or prepared by rdflib.
        prefixes: Namespaces for the prefixes that the text does not declare.
        bindings: Values of variables, by name.
        base: The IRI against which relative IRIs in the text are resolved.

    Returns:
        The result, for rdflib.

    Raises:
        QuerySyntaxError: The text is not a SPARQL query.
        UnsupportedError: The query has an invalid regular expression.
        NotAllowedError: The query fetches something without permission.
    """
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.processor import SPARQLResult
    from rdflib.plugins.sparql.sparql import Query, QueryContext
    from rdflib.term import Variable

    from kg_reasoner.rdflib_store.sparql_text import guarded, read_query

    prepared = query if isinstance(query, Query) else read_query(query, base=base, prefixes=prefixes)[1]
    clauses = prepared.algebra.datasetClause
    active = selection(dataset, clauses) if clauses else graph
    context = QueryContext(active, initBindings={Variable(name): value for name, value in bindings.items()})
    context.prologue = prepared.prologue
    with guarded():
        found = dict(evalPart(context, prepared.algebra))
    if "bindings" in found:
        found["bindings"] = _guarded_rows(found["bindings"])
    return SPARQLResult(found)


def _guarded_rows(rows: Iterable[Any]) -> Iterator[Any]:
    from kg_reasoner.rdflib_store.sparql_text import guarded

    with guarded():
        yield from rows


def selection(dataset: QueryDataset, clauses: Iterable[CompValue]) -> Dataset:
    """Return the dataset that FROM and FROM NAMED, or USING and USING NAMED, define."""
    from rdflib import Dataset

    from kg_reasoner.rdflib_store.selected_graphs import SelectedGraphs, Selection

    default = [clause.default for clause in clauses if clause.default]
    named = [clause.named for clause in clauses if clause.named]
    return Dataset(store=Selection(SelectedGraphs(dataset, default, named)))
