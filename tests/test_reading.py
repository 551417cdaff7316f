"""Reading solutions bit by bit gives what reading them at once gives, also when the graph changes meanwhile."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Graph, Literal, Namespace

from kg_reasoner import Limits, Reasoner, graph_of
from kg_reasoner.api import lazy_solutions
from kg_reasoner.concurrency import readings
from kg_reasoner.errors import LimitError, ReasonerError
from kg_reasoner.query.patterns import Pattern, answers
from kg_reasoner.terms import IRI

from .effort import examples
from .test_query import LAYOUTS, PROPERTIES, VALUES, TermPattern, patterns, reasoner_of, triples

EX = Namespace("http://example.org/")
PREFIX = "PREFIX ex: <http://example.org/> "


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two solutions at first, and twice as many each time."""
    monkeypatch.setattr(lazy_solutions, "FIRST", 2)
    monkeypatch.setattr(lazy_solutions, "GROWTH", 2)


def people(count: int) -> Graph:
    graph = graph_of(Reasoner())
    for number in range(count):
        graph.add((EX[f"p{number}"], EX.age, Literal(number)))
    return graph


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=examples(80))
@given(data=triples, query=patterns, first=st.integers(1, 5), stop=st.integers(0, 3))
def test_blocks_are_the_whole(layout: str, data: set, query: list[TermPattern], first: int, stop: int) -> None:  # type: ignore[type-arg]
    reasoner = reasoner_of(LAYOUTS[layout], data)
    codes = {term: reasoner.dictionary.encode(term) for term in [*VALUES, *PROPERTIES]}
    coded: list[Pattern] = [tuple(codes.get(term, term) for term in pattern) for pattern in query]  # type: ignore[misc,arg-type]
    names = sorted({term for pattern in query for term in pattern if isinstance(term, str)})
    whole = answers(reasoner, coded, names).tolist()
    begun = lazy_solutions.LazySolutions(reasoner, coded, names, "all", first)
    found = []
    for number, block in enumerate(begun.blocks()):
        found += block.tolist()
        if number == stop:
            begun.complete()
    assert found == whole


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("where", ["?x ex:age ?a", "?x ex:age ?a . ?x ex:age ?b", "?x ?p ?a"])
def test_what_is_being_read_does_not_change(where: str) -> None:
    graph = people(20)
    rows = iter(graph.query(f"{PREFIX} SELECT ?x {{ {where} }}"))
    read = {next(rows).x for _ in range(3)}
    graph.add((EX.new, EX.age, Literal(99)))
    assert (EX.new, EX.age, None) in graph
    read |= {next(rows).x for _ in range(3)}
    graph.remove((None, EX.age, None))
    assert len(graph) == 0
    read |= {row.x for row in rows}
    assert read == {EX[f"p{number}"] for number in range(20)}


@pytest.mark.usefixtures("few")
def test_a_change_behind_the_graph_does_not_change_it_either() -> None:
    graph = people(20)
    rows = iter(graph.query(f"{PREFIX} SELECT ?x {{ ?x ex:age ?a . ?x ?p ?b . ?x ex:age ?c }}"))
    read = {next(rows).x for _ in range(3)}
    other = iter(graph.query(f"{PREFIX} SELECT ?x {{ ?x ex:age ?a . ?x ex:age ?b }}"))
    next(other)
    graph.store.reasoner.add_triples([(IRI("http://example.org/a"), IRI("http://example.org/age"), IRI("http://example.org/c"))])
    assert len(list(other)) == 19
    assert read | {row.x for row in rows} == {EX[f"p{number}"] for number in range(20)}


def test_a_few_of_very_many_solutions() -> None:
    """10**8 pairs of people: whoever wants a few of them does not wait for all."""
    graph = people(10_000)
    started = time.process_time()
    pairs = f"{PREFIX} SELECT ?x ?y {{ ?x ex:age ?a . ?y ex:age ?b FILTER(?x != ?y) }} LIMIT 5"
    assert len(list(graph.query(pairs))) == 5
    assert graph.query(f"{PREFIX} ASK {{ ?x ex:age ?a . ?y ex:age ?b FILTER(?x != ?y) }}").askAnswer
    exists = f"{PREFIX} SELECT ?x {{ ?x ex:age 7 FILTER EXISTS {{ ?y ex:age ?a . ?z ex:age ?b }} }}"
    assert [row.x for row in graph.query(exists)] == [EX.p7]
    assert time.process_time() - started < 2


@pytest.mark.parametrize("inside", ["?x ex:age ?b", "OPTIONAL { ?x ex:friend ?b }", "OPTIONAL { ?x ex:age ?b FILTER(?a > 3) }"])
def test_a_query_over_many_rows_sees_nothing_of_what_is_added_meanwhile(inside: str) -> None:
    graph = people(6000)
    rows = iter(graph.query(f"{PREFIX} SELECT ?x {{ ?x ex:age ?a . {inside} }}"))
    next(rows)
    graph.add((EX.new, EX.age, Literal(5)))
    graph.add((EX.p3, EX.friend, EX.p4))
    graph.add((EX.p3, EX.friend, EX.p5))
    assert (EX.new, EX.age, None) in graph
    assert len(list(rows)) == 5999


def test_the_reasoner_under_a_graph_sees_what_was_added() -> None:
    graph = people(5)
    graph.add((EX.new, EX.age, Literal(5)))
    assert graph.store.reasoner.sizes().explicit == 6
    graph.add((EX.newer, EX.age, Literal(5)))
    assert len(list(graph.store.reasoner.triples(which="explicit"))) == 7


def test_a_writer_does_not_wait_for_very_many_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "MOST_COMPLETED", 1000)
    graph = people(100)
    pairs = iter(graph.query(f"{PREFIX} SELECT ?x ?y {{ ?x ex:age ?a . ?y ex:age ?b }}"))
    few = iter(graph.query(f"{PREFIX} SELECT ?x {{ ?x ex:age ?a . ?x ex:age ?b }}"))
    next(pairs), next(few)
    graph.add((EX.new, EX.age, Literal(5)))
    assert len(graph) == 101
    assert len(list(few)) == 99
    with pytest.raises(ReasonerError, match="what a query reads has changed"):
        list(pairs)


def test_the_limits_of_a_writer_are_not_those_of_readers() -> None:
    graph = people(3000)
    rows = iter(graph.query(f"{PREFIX} SELECT ?x {{ ?x ex:age ?a . ?x ex:age ?b }}"))
    next(rows)
    with graph.store.reasoner.limited(Limits(facts=100_000, seconds=60)):
        graph.add((EX.new, EX.age, Literal(5)))
        graph.commit()
    with graph.store.reasoner.limited(Limits(facts=10)), pytest.raises(LimitError):
        graph.store.reasoner.add_triples([(IRI("http://example.org/a"), IRI("http://example.org/b"), IRI("http://example.org/c"))])
    assert len(list(rows)) == 2999
