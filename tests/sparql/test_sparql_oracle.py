"""The oracle for SPARQL gives the answers of fixtures, and those of pyoxigraph where the two are known to agree."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, note, settings

from kg_reasoner.terms import IRI, BlankNode, Literal, Term, literal
from tests.helpers.effort import examples
from tests.sparql_oracle import ast
from tests.sparql_oracle.compare import same_answers
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.evaluate import evaluate
from tests.sparql_oracle.fixtures import Fixture, fixtures
from tests.sparql_oracle.modifiers import Answers
from tests.sparql_oracle.notes import OPEN
from tests.sparql_oracle.others import by_oxigraph
from tests.sparql_oracle.parse import parse_query
from tests.sparql_oracle.random_queries import query as random_query
from tests.sparql_oracle.source import Source
from tests.sparql_oracle.strategies import cases
from tests.sparql_oracle.text import query_text

CASES = settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@pytest.mark.parametrize("fixture", fixtures(), ids=lambda fixture: fixture.title)
def test_fixtures(fixture: Fixture) -> None:
    result = evaluate(fixture.query, fixture.dataset).result
    if isinstance(result, bool):
        assert result is fixture.truth
    elif isinstance(result, Answers):
        assert same_answers(result, fixture.rows, ordered=True), result.rows
        assert "ORDER" not in fixture.text or list(result.rows) == fixture.rows
    else:
        assert result == fixture.triples


@CASES
@given(cases())
def test_the_same_answers_as_pyoxigraph(case: tuple[Dataset, ast.Query]) -> None:
    dataset, query = case
    outcome = evaluate(query, dataset)
    assume(not outcome.notes)
    text = query_text(query)
    found = by_oxigraph(dataset, text)
    note(f"{text}\nfound: {found}\nexpected: {outcome.result}")
    assert same_answers(outcome.result, found, ordered=True)


@CASES
@given(cases())
def test_text_is_read_as_it_was_written(case: tuple[Dataset, ast.Query]) -> None:
    _, query = case
    assert parse_query(query_text(query)) == query


def test_random_queries_have_answers_and_are_rarely_open() -> None:
    random = Random(1)
    fact = (IRI("http://example.org/a"), IRI("http://example.org/p"), IRI("http://example.org/b"))
    dataset = Dataset(frozenset([fact, (fact[2], fact[1], literal(1)), (fact[0], IRI("http://example.org/q"), literal("a"))]))
    outcomes = [evaluate(random_query(Source(random, dataset)), dataset) for _ in range(300)]
    some = [outcome for outcome in outcomes if (outcome.result.rows if isinstance(outcome.result, Answers) else outcome.result)]
    assert len(some) > 75
    assert sum(not outcome.notes & OPEN for outcome in outcomes) > 200


A, B, C, D = (BlankNode(name) for name in "abcd")


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ([literal(1)], [literal(1)], True),
        ([literal(1)], [literal(1), literal(1)], False),
        ([literal(1)], [Literal("01", literal(1).datatype)], True),
        ([literal(1)], [literal(1.0)], False),
        ([literal(1.5)], [Literal("15e-1", literal(1.5).datatype)], True),
        ([literal("a")], [literal("b")], False),
        ([A, A, B], [C, D, C], True),
        ([A, A, B], [C, D, A], False),
        ([A, B], [C, C], False),
        ([A], [IRI("http://example.org/a")], False),
    ],
)
def test_rows_are_compared_as_multisets_up_to_blank_nodes(expected: list[Term], found: list[Term], same: bool) -> None:
    rows = [{"x": term} for term in expected]
    assert same_answers(Answers(rows, rows), [{"x": term} for term in found]) is same


@pytest.mark.parametrize(
    ("ending", "found", "same"),
    [
        ("ORDER BY ?x", (1, 2, 2, 3), True),
        ("ORDER BY ?x", (2, 1, 2, 3), False),
        ("ORDER BY DESC(?x)", (3, 2, 2, 1), True),
        ("ORDER BY DESC(?x)", (1, 2, 2, 3), False),
        ("", (2, 1, 2, 3), True),
        ("LIMIT 2", (3, 2), True),
        ("LIMIT 2", (3, 3), False),
        ("LIMIT 2", (3,), False),
        ("ORDER BY ?x LIMIT 2", (1, 2), True),
        ("ORDER BY ?x LIMIT 2", (1, 3), False),
    ],
)
def test_order_and_slices_are_compared(ending: str, found: tuple[int, ...], same: bool) -> None:
    expected = evaluate(parse_query(f"SELECT * {{ VALUES ?x {{ 3 2 1 2 }} }} {ending}"), Dataset(frozenset())).result
    assert same_answers(expected, [{"x": literal(value)} for value in found], ordered=True) is same


@pytest.mark.parametrize(("found", "same"), [((1, 2), True), ((1, 1, 2), True), ((1, 1, 1, 2), False), ((1, 1), False)], ids=str)
def test_reduced_may_leave_out_duplicates(found: tuple[int, ...], same: bool) -> None:
    expected = evaluate(parse_query("SELECT REDUCED * { VALUES ?x { 1 1 2 } }"), Dataset(frozenset())).result
    assert same_answers(expected, [{"x": literal(value)} for value in found]) is same


def test_reduced_with_a_limit() -> None:
    expected = evaluate(parse_query("SELECT REDUCED * { VALUES ?x { 1 1 2 } } ORDER BY ?x LIMIT 2"), Dataset(frozenset())).result
    for rows in ([1, 1], [1, 2]):
        assert same_answers(expected, [{"x": literal(number)} for number in rows], ordered=True)
    assert not same_answers(expected, [{"x": literal(3)}])
