"""Queries as a whole, by rdflib's evaluator.

FROM and FROM NAMED are about a dataset that is made of the graphs that are there. Nothing is fetched for them.
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
    """Answer a query, over the graphs that it says it is for or, if it does not say so, over a graph.

    Args:
        dataset: has the graphs. Those that it does not have are empty.
        graph: a graph or dataset over its store.
        query: as text, or prepared by rdflib.
        prefixes: namespaces for the prefixes that the text does not declare.
        bindings: values of variables, by name.
        base: what relative IRIs of the text are relative to.

    Raises:
        QuerySyntaxError: the text is not a SPARQL query.
        UnsupportedError: a regular expression in it is wrong.
        NotAllowedError: it fetches something, and that has not been allowed.
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
    """The dataset of FROM and FROM NAMED, or of USING and USING NAMED."""
    from rdflib import Dataset

    from kg_reasoner.rdflib_store.views import SelectedGraphs, Selection

    default = [clause.default for clause in clauses if clause.default]
    named = [clause.named for clause in clauses if clause.named]
    return Dataset(store=Selection(SelectedGraphs(dataset, default, named)))
