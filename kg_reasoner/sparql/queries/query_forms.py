"""Whole queries: evaluated to solutions, triples or a truth value."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Query
from kg_reasoner.sparql.evaluation.datasets import Dataset
from kg_reasoner.sparql.evaluation.describe import described
from kg_reasoner.sparql.evaluation.evaluate import Evaluation, ForeignParts
from kg_reasoner.sparql.evaluation.operator_interface import ALL, Need
from kg_reasoner.sparql.evaluation.report import EvaluationReport
from kg_reasoner.sparql.queries.query_plan import QueryPlan, plan_of
from kg_reasoner.sparql.queries.templates import instantiated
from kg_reasoner.sparql.rewrites import rewritten
from kg_reasoner.sparql.scope import expressions_of
from kg_reasoner.sparql.solutions.expressions import check_expression
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table
from kg_reasoner.sparql.substitute import bound
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.terms import Term

__all__ = ["Answer", "evaluate_query", "explain_query", "prepared"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query, as ids.

    Attributes:
        terms: The terms of the ids.
        names: The variables of SELECT, in order.
        table: The solutions of SELECT.
        triples: The triples of CONSTRUCT and DESCRIBE, shape (n, 3).
        truth: The truth value of ASK.
        query: The query as it was evaluated.
        report: What was done.
    """

    terms: QueryTerms
    query: Query
    report: EvaluationReport
    names: tuple[str, ...] = ()
    table: Table | None = None
    triples: TripleIds | None = None
    truth: bool | None = None


def prepared(query: Query, bindings: Mapping[Variable, Term] | None = None, *, joins_graphs: bool = True) -> Query:
    """Return a query as it is evaluated: checked, with variables that are bound in advance, and rewritten.

    Args:
        query: The query.
        bindings: Variables that are bound in advance.
        joins_graphs: Whether a variable can stand for any named graph, see `Dataset.joined`.

    Raises:
        UnsupportedError, ArityError: An expression cannot be evaluated.
    """
    for part in _nodes(query.node):
        for expression in expressions_of(part):
            check_expression(expression)
    node = bound(query.node, bindings, _of_template(query)) if bindings else query.node
    if isinstance(query, algebra.Construct):
        return algebra.Construct(rewritten(node, joins_graphs=joins_graphs), query.template)
    if isinstance(query, algebra.Describe):
        return algebra.Describe(rewritten(node, joins_graphs=joins_graphs), query.terms)
    if isinstance(query, algebra.Ask):
        return algebra.Ask(rewritten(node, joins_graphs=joins_graphs))
    return algebra.Select(rewritten(node, joins_graphs=joins_graphs), query.variables)


def _of_template(query: Query) -> set[Variable]:
    """Return the variables of the template of a CONSTRUCT."""
    template = query.template if isinstance(query, algebra.Construct) else ()
    return {term for triple in template for term in triple if isinstance(term, Variable)}


def _nodes(node: algebra.Node) -> Iterator[algebra.Node]:
    yield node
    for child in algebra.children(node):
        yield from _nodes(child)


def evaluate_query(query: Query, dataset: Dataset, foreign_parts: ForeignParts, base: str | None = None) -> Answer:
    """Evaluate a prepared query, within a reading.

    Args:
        query: The query.
        dataset: The dataset.
        foreign_parts: What is left to rdflib.
        base: The query's base IRI.
    """
    terms, report = QueryTerms(dataset.caches.terms), EvaluationReport()
    evaluation = Evaluation(dataset, terms, foreign_parts, base, report)
    try:
        return _answer(query, evaluation)
    finally:
        evaluation.close()


def explain_query(
    query: Query,
    dataset: Dataset,
    foreign_parts: ForeignParts,
    base: str | None = None,
    shorten: Callable[[Term], str] = str,
    *,
    run: bool = False,
) -> QueryPlan:
    """Return the plan of a prepared query, within a reading.

    Args:
        query: The query.
        dataset: The dataset.
        foreign_parts: What is left to rdflib.
        base: The query's base IRI.
        shorten: Writes terms.
        run: Whether to evaluate the query, so that the plan has counts and times.
    """
    evaluation = Evaluation(dataset, QueryTerms(dataset.caches.terms), foreign_parts, base, EvaluationReport())
    start = time.perf_counter()
    if run:
        _answer(query, evaluation)
    return plan_of(query, evaluation, shorten, time.perf_counter() - start if run else None)


def _answer(query: Query, evaluation: Evaluation) -> Answer:
    terms, report = evaluation.terms, evaluation.report
    if isinstance(query, algebra.Ask):
        found = evaluation.table(query.node, Need(frozenset(), enough=1))
        return Answer(terms, query, report, truth=found.size > 0)
    if isinstance(query, algebra.Construct):
        names = {variable.name for variable in _of_template(query)}
        table = evaluation.table(query.node, Need(frozenset(names)))
        return Answer(terms, query, report, triples=instantiated(query.template, table, terms))
    if isinstance(query, algebra.Describe):
        table = evaluation.table(query.node, ALL)
        ids = [table.column(term.name) for term in query.terms if isinstance(term, Variable)]
        ids += [terms.ids_of([term]) for term in query.terms if not isinstance(term, Variable)]
        resources = np.unique(np.concatenate([np.empty(0, np.int32), *ids]))
        return Answer(terms, query, report, triples=described(evaluation, resources[resources != UNBOUND]))
    names_ = tuple(variable.name for variable in query.variables)
    table = evaluation.table(query.node, Need(frozenset(names_)))
    return Answer(terms, query, report, names=names_, table=table)
