"""Evaluating whole queries over a dataset.

FROM and FROM NAMED define a dataset of existing graphs. Nothing is fetched for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kg_reasoner.concurrency.limits import UNLIMITED, current_watch
from kg_reasoner.program import Variable
from kg_reasoner.query.patterns import Queries
from kg_reasoner.rdflib_store.queries.custom_evaluators import foreign_evaluators
from kg_reasoner.rdflib_store.queries.foreign import RdflibParts
from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore, QueryDataset
from kg_reasoner.rdflib_store.queries.query_places import StorePlaces
from kg_reasoner.rdflib_store.queries.sparql_by_parts import answer_by_parts
from kg_reasoner.sparql.algebra import Node, Select, is_hidden
from kg_reasoner.sparql.evaluation.cutting import Cut, cut
from kg_reasoner.sparql.evaluation.datasets import Places
from kg_reasoner.sparql.queries.parsed import ParsedQuery, Translated, as_terms, parsed_query, prepared_query
from kg_reasoner.sparql.queries.query_forms import Answer, evaluate_query, explain_query
from kg_reasoner.sparql.queries.query_plan import QueryPlan, shortener
from kg_reasoner.sparql.queries.sparql_text import guarded, read_query
from kg_reasoner.sparql.repeated.learning import known_shapes, learn_shape
from kg_reasoner.sparql.repeated.shortcuts import answer_at_once, few_at_once
from kg_reasoner.sparql.results.result import result_of
from kg_reasoner.sparql.scope import in_scope
from kg_reasoner.sparql.translate import translate_query
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Dataset, Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Query
    from rdflib.query import Result

    from kg_reasoner.rdflib_store.queries.rdflib_results import QueryResult

__all__ = ["answer", "evaluated", "evaluated_pattern", "plan", "rdflib_result", "selection"]


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

    with guarded():
        is_ours = not foreign_evaluators()
        text = cut(query) if is_ours and isinstance(query, str) and not bindings and base is None else None
        if text is not None and (found := _of_shape(dataset, graph, text, prefixes)) is not None:
            return found
        known, active, parsed = _parsed(dataset, graph, query, prefixes, base)
        if is_ours:
            return _result(known, active, parsed, as_terms(bindings) if bindings else {}, text, prefixes)
        theirs = query if isinstance(query, Query) else read_query(query, base=base, prefixes=prefixes)[1]
    return answer_by_parts(known, active, theirs, bindings)  # exceptions of users' evaluators are theirs


def plan(
    dataset: QueryDataset,
    graph: Graph,
    query: Query | str,
    prefixes: Mapping[str, Any],
    bindings: Mapping[str, Any],
    base: str | None = None,
    *,
    run: bool = False,
) -> QueryPlan:
    """Return the plan of a query; the arguments are those of `answer`, and whether to evaluate the query.

    Raises:
        QuerySyntaxError, UnsupportedError, NotAllowedError: As for `answer`.
    """
    with guarded():
        known, active, parsed = _parsed(dataset, graph, query, prefixes, base)
        shorten = shortener({**dict(known.prefixes.namespaces()), **parsed.prefixes()})
        given = as_terms(bindings)
        with known.graphs.reasoner.core.watch(), known.reading():
            ready = parsed.prepared(given, joins_graphs=known.joins_graphs())
            places, foreign_parts = StorePlaces(known, active), RdflibParts(active, known.permissions, parsed.prologue)
            return explain_query(ready, places, foreign_parts, parsed.base, shorten, run=run)


def _parsed(
    dataset: QueryDataset, graph: Graph, query: Query | str, prefixes: Mapping[str, Any], base: str | None
) -> tuple[QueryDataset, Graph, ParsedQuery]:
    """Return the dataset and the active graph of a query, and the query."""
    from rdflib.plugins.sparql.sparql import Query

    parsed = prepared_query(query, base) if isinstance(query, Query) else parsed_query(query, base, prefixes)
    active = selection(dataset, parsed.clauses) if parsed.clauses else graph
    return active.store.dataset if isinstance(active.store, DatasetStore) else dataset, active, parsed


def rdflib_result(dataset: QueryDataset, found: Answer, prefixes: Callable[[], Mapping[str, Any]] = dict) -> QueryResult:
    """Return an answer as a result for rdflib; `prefixes` returns those of a graph."""
    from kg_reasoner.rdflib_store.queries.rdflib_results import QueryResult

    return QueryResult(result_of(found, dataset.graphs.reasoner.core.caches.nodes, prefixes))


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
    return _answered(dataset, graph, Translated(translate_query(algebra), base), bindings)


def evaluated_pattern(
    dataset: QueryDataset,
    graph: Graph,
    pattern: Node,
    bindings: Mapping[Any, Any],
    base: str | None = None,
    variables: Iterable[Variable] | None = None,
) -> Answer:
    """Return the solutions of a pattern on one state of the store, as the answer to a SELECT.

    Args:
        dataset: The dataset.
        graph: The active graph, over a store with this dataset.
        pattern: The pattern.
        bindings: Values of variables, by name.
        base: The base IRI.
        variables: The variables to select; None: those of the pattern.

    Raises:
        UnsupportedError: The pattern has an invalid regular expression.
    """
    if variables is None:
        variables = [variable for variable in in_scope(pattern) if not is_hidden(variable.name)]
    return _answered(dataset, graph, Translated(Select(pattern, tuple(variables)), base), bindings)


def _of_shape(dataset: QueryDataset, graph: Graph, text: Cut, prefixes: Mapping[str, Any]) -> Result | None:
    """Return the answer to a query without bindings if others that differ in constants only were asked in the same state of the
    store, and it has few solutions.
    """
    from kg_reasoner.rdflib_store.queries.rdflib_results import QueryResult

    core = dataset.graphs.reasoner.core
    repeated = core.caches.with_prefixes(prefixes)
    shapes = list(known_shapes(repeated, text))
    if not shapes:
        return None
    known = graph.store.dataset if isinstance(graph.store, DatasetStore) else dataset
    with core.watch(), known.reading():
        state = core.engine.lock.state()
        if current_watch().limits != UNLIMITED or not _is_whole(StorePlaces(known, graph).default(), core.queries):
            return None
        for _, (since, shortcut, shape), values in shapes:
            found = few_at_once(shortcut, core.caches, values.values(), shape.prefixes) if since == state else None
            if found is not None:
                repeated.outline(text.outline).note_use()
                return QueryResult(found)
    return None


def _result(
    dataset: QueryDataset,
    graph: Graph,
    parsed: ParsedQuery,
    given: Mapping[Variable, Term],
    text: Cut | None,
    prefixes: Mapping[str, Any],
) -> Result:
    """Return the answer to a query, which has a shortcut if its default graph has all triples of the reasoner; learn from it for
    others, if it is given as a text that is cut.
    """
    from kg_reasoner.rdflib_store.queries.rdflib_results import QueryResult

    core = dataset.graphs.reasoner.core
    with core.watch(), dataset.reading():
        places, state = StorePlaces(dataset, graph), core.engine.lock.state()
        if state is not None and not parsed.clauses and _is_whole(places.default(), core.queries):
            found = answer_at_once(core.caches, parsed, given, state, core.queries, parsed.prefixes)[1]
            if text is not None:
                learn_shape(core.caches.with_prefixes(prefixes), text, parsed, state, core.queries, prefixes)
            if found is not None:
                return QueryResult(found)
        return rdflib_result(dataset, _evaluated(dataset, graph, parsed, given, places), parsed.prefixes)


def _is_whole(places: Places, queries: Queries) -> bool:
    """Return whether places have all triples of a reasoner."""
    if len(places) != 1:
        return False
    place = places[0]
    return place.queries is queries and (place.graph, place.which, place.without, place.match) == (None, "all", None, None)


def _answered(dataset: QueryDataset, graph: Graph, query: Translated, bindings: Mapping[Any, Any]) -> Answer:
    given = as_terms(bindings) if bindings else {}
    with dataset.graphs.reasoner.core.watch(), dataset.reading():
        return _evaluated(dataset, graph, query, given, StorePlaces(dataset, graph))


def _evaluated(
    dataset: QueryDataset, graph: Graph, query: Translated, given: Mapping[Variable, Term], places: StorePlaces
) -> Answer:
    ready = query.prepared(given, joins_graphs=dataset.joins_graphs())
    return evaluate_query(ready, places, RdflibParts(graph, dataset.permissions, query.prologue), query.base)


def selection(dataset: QueryDataset, clauses: Iterable[CompValue]) -> Dataset:
    """Return the dataset that FROM and FROM NAMED, or USING and USING NAMED, define."""
    from rdflib import Dataset

    from kg_reasoner.rdflib_store.queries.selected_graphs import GraphSelection, SelectedGraphs

    default = [clause.default for clause in clauses if clause.default]
    named = [clause.named for clause in clauses if clause.named]
    return Dataset(store=GraphSelection(SelectedGraphs(dataset, default, named)))
