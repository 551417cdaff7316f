"""Reading solutions bit by bit gives what reading them at once gives, also when the graph changes meanwhile."""

from __future__ import annotations

import time

import pytest
from rdflib import Graph, Literal, Namespace

from kg_reasoner import Limits, Reasoner, graph_of
from kg_reasoner.errors import LimitError
from kg_reasoner.terms import IRI

EX = Namespace("http://example.org/")
PREFIX = "PREFIX ex: <http://example.org/> "


def people(count: int) -> Graph:
    graph = graph_of(Reasoner())
    for number in range(count):
        graph.add((EX[f"p{number}"], EX.age, Literal(number)))
    return graph


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


def test_results_do_not_change_with_the_graph() -> None:
    graph = people(100)
    pairs = iter(graph.query(f"{PREFIX} SELECT ?x ?y {{ ?x ex:age ?a . ?y ex:age ?b }}"))
    next(pairs)
    graph.add((EX.new, EX.age, Literal(5)))
    assert len(graph) == 101
    assert len(list(pairs)) == 9999


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
