"""Evaluating whole queries over a dataset.

FROM and FROM NAMED define a dataset of existing graphs. Nothing is fetched for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.program import Variable
from kg_reasoner.rdflib_store.custom_evaluators import foreign_evaluators
from kg_reasoner.rdflib_store.foreign import RdflibParts
from kg_reasoner.rdflib_store.query_dataset import DatasetStore, QueryDataset
from kg_reasoner.rdflib_store.query_places import StorePlaces
from kg_reasoner.sparql.algebra import Query as AnyQuery
from kg_reasoner.sparql.algebra import Select, is_hidden
from kg_reasoner.sparql.query import Answer, evaluate_query, prepared
from kg_reasoner.sparql.scope import in_scope
from kg_reasoner.sparql.translate import translate_pattern, translate_query
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Dataset, Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Query
    from rdflib.query import Result

__all__ = ["answer", "as_term", "evaluated", "evaluated_pattern", "selection"]


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
    from rdflib.plugins.sparql.sparql import Query

    from kg_reasoner.rdflib_store.rows import QueryResult
    from kg_reasoner.rdflib_store.sparql_text import guarded, read_query

    parsed = query if isinstance(query, Query) else read_query(query, base=base, prefixes=prefixes)[1]
    clauses = parsed.algebra.datasetClause
    active = selection(dataset, clauses) if clauses else graph
    known = active.store.dataset if isinstance(active.store, DatasetStore) else dataset
    if foreign_evaluators():
        return _answer_by_parts(known, active, parsed, bindings)
    with guarded():
        found = evaluated(known, active, parsed.algebra, bindings, getattr(parsed.prologue, "base", None) or base)
    namespaces = dict(parsed.prologue.namespace_manager.namespaces()) if found.triples is not None and parsed.prologue else {}
    return QueryResult(found, namespaces)


def _answer_by_parts(dataset: QueryDataset, graph: Graph, query: Query, bindings: Mapping[str, Any]) -> Result:
    """Return the answer to a query that rdflib evaluates part by part, because the user's evaluators are to be asked for each."""
    from rdflib import Variable as TheirVariable
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.processor import SPARQLResult
    from rdflib.plugins.sparql.sparql import QueryContext

    from kg_reasoner.rdflib_store.sparql_text import guarded

    context = QueryContext(graph, initBindings={TheirVariable(name): value for name, value in bindings.items()})
    context.prologue = query.prologue
    with guarded(), dataset.graphs.reasoner.core.watch(), dataset.reading():
        found = dict(evalPart(context, query.algebra))
        if "bindings" in found:
            found["bindings"] = list(found["bindings"])
    return SPARQLResult(found)


def evaluated(
    dataset: QueryDataset, graph: Graph, algebra: CompValue, bindings: Mapping[Any, Any], base: str | None = None
) -> Answer:
    """Return the answer to a query on one state of the store, as ids.

    Args:
        dataset: The dataset.
        graph: The active graph, over a store with this dataset.
        algebra: The query as rdflib's algebra.
        bindings: Values of variables, by name.
        base: The query's base IRI.
    """
    return _answered(dataset, graph, translate_query(algebra), bindings, base)


def evaluated_pattern(dataset: QueryDataset, graph: Graph, pattern: CompValue, bindings: Mapping[Any, Any]) -> Answer:
    """Return the solutions of a pattern on one state of the store, as the answer to a SELECT of its variables.

    Args:
        dataset: The dataset.
        graph: The active graph, over a store with this dataset.
        pattern: The pattern as rdflib's algebra.
        bindings: Values of variables, by name.

    Raises:
        UnsupportedError: It is not a pattern.
    """
    node = translate_pattern(pattern)
    query = Select(node, tuple(variable for variable in in_scope(node) if not is_hidden(variable)))
    return _answered(dataset, graph, query, bindings, None)


def _answered(dataset: QueryDataset, graph: Graph, query: AnyQuery, bindings: Mapping[Any, Any], base: str | None) -> Answer:
    given = {Variable(str(name)): as_term(value) for name, value in bindings.items()}
    with dataset.graphs.reasoner.core.watch(), dataset.reading():
        places = StorePlaces(dataset, graph)
        ready = prepared(query, given, joins_graphs=dataset.joins(None))
        return evaluate_query(ready, places, RdflibParts(graph, dataset.permissions), base)


def as_term(value: Any) -> Term:
    """Return the term of a value that a caller binds to a variable: an rdflib term, or a Python value for a literal."""
    from rdflib import Literal
    from rdflib.term import Node

    return from_rdflib(value if isinstance(value, Node) else Literal(value))


def selection(dataset: QueryDataset, clauses: Iterable[CompValue]) -> Dataset:
    """Return the dataset that FROM and FROM NAMED, or USING and USING NAMED, define."""
    from rdflib import Dataset

    from kg_reasoner.rdflib_store.selected_graphs import SelectedGraphs, Selection

    default = [clause.default for clause in clauses if clause.default]
    named = [clause.named for clause in clauses if clause.named]
    return Dataset(store=Selection(SelectedGraphs(dataset, default, named)))
