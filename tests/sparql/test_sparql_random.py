"""Queries on our store have the answers that the oracle for SPARQL gives: fixtures and random queries."""

from __future__ import annotations

import pytest
import rdflib
from hypothesis import HealthCheck, assume, given, note, settings

from kg_reasoner import Reasoner
from kg_reasoner.rdflib_store import KGReasonerStore
from tests.helpers.effort import PHASES, examples, thinned
from tests.sparql_oracle import ast
from tests.sparql_oracle.compare import same_answers
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.evaluate import evaluate
from tests.sparql_oracle.fixtures import Fixture, fixtures
from tests.sparql_oracle.notes import OPEN
from tests.sparql_oracle.others import Found, by_rdflib
from tests.sparql_oracle.strategies import cases
from tests.sparql_oracle.text import query_text

rdflib_differs = pytest.mark.xfail(strict=False, reason="rdflib, which evaluates queries, differs from the specification")


def by_our_store(dataset: Dataset, text: str) -> Found:
    """Answer a query on our store with a reasoner that has no rules."""
    return by_rdflib(dataset, text, rdflib.Dataset(store=KGReasonerStore(Reasoner()), default_union=False))


@pytest.mark.parametrize("fixture", thinned(fixtures(), 3), ids=lambda fixture: fixture.title)
@pytest.mark.sample(2)
def test_fixtures(fixture: Fixture) -> None:
    found = by_our_store(fixture.dataset, fixture.text)
    expected = evaluate(fixture.query, fixture.dataset).result
    assert same_answers(expected, found, ordered=True), f"{found}, and not {expected}"


@settings(max_examples=examples(300), phases=PHASES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(cases())
def test_random_queries(case: tuple[Dataset, ast.Query]) -> None:
    dataset, query = case
    outcome = evaluate(query, dataset)
    assume(not outcome.notes & OPEN)
    text = query_text(query)
    found = by_our_store(dataset, text)
    note(f"{text}\nfound: {found}\nexpected: {outcome.result}")
    assert same_answers(outcome.result, found, ordered=True)
