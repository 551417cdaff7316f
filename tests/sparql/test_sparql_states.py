"""A query sees one state, its result stays what it was, and LIMIT stops the evaluation early."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.sparql.queries.query_plan import PlanOperator
from kg_reasoner.sparql.results.result import GraphResult, SelectResult
from kg_reasoner.terms import IRI, literal
from tests.helpers.effort import by_effort

PREFIX = "PREFIX : <urn:>\n"

# --- one state ------------------------------------------------------------------------------------------------------------

THINGS = 50

STATES = {
    "union": "SELECT ?x { { ?a :value ?x } UNION { ?b :derived ?x } UNION { ?c :value ?x FILTER(?x >= 0) } }",
    "join of sub-selects": """SELECT ?x ?y {
        { SELECT DISTINCT ?x { ?a :value ?x } } { SELECT DISTINCT ?y { ?b :derived ?y } ORDER BY ?y } }""",
    "optional": "SELECT ?x ?y { ?a :value ?x OPTIONAL { ?b :derived ?y } }",
    "exists": "SELECT ?x ?y { ?a :value ?x BIND(EXISTS { ?a :derived ?x } AS ?same) BIND(IF(?same, ?x, -1) AS ?y) }",
    "aggregates": "SELECT ?x ?y { { SELECT (MIN(?v) AS ?x) { ?a :value ?v } } { SELECT (MAX(?v) AS ?y) { ?b :derived ?v } } }",
    "paths": "SELECT ?x { ?a :value|:derived ?x }",
}
"""All values that a query finds are the same in every state."""


def changed(reasoner: Reasoner, number: int) -> None:
    """Give all things another value, in one transaction."""
    with reasoner.transaction() as transaction:
        for thing in range(THINGS):
            subject = IRI(f"urn:t{thing}")
            if number:
                transaction.remove_triples([(subject, IRI("urn:value"), literal(number - 1))])
            transaction.add_triples([(subject, IRI("urn:value"), literal(number))])


@pytest.mark.parametrize("name", STATES)
@pytest.mark.sample(3)
def test_queries_see_the_state_before_or_after_a_transaction(name: str) -> None:
    reasoner = Reasoner("[?a, <urn:derived>, ?x] :- [?a, <urn:value>, ?x] .")
    changed(reasoner, 0)
    end, wrong, seen = threading.Event(), list[object](), set[object]()

    def ask() -> None:
        while not end.is_set():
            values = {term for row in reasoner.query(PREFIX + STATES[name]).tuples() for term in row}
            seen.update(values)
            if len(values) != 1:
                wrong.append(values)
                return

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    last = by_effort(30, 100, 1000)
    try:
        for number in range(1, last + 1):
            changed(reasoner, number)
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert not wrong and seen <= {literal(number) for number in range(last + 1)}
    assert {row[0] for row in reasoner.query(PREFIX + STATES[name]).tuples()} == {literal(last)}


def test_a_query_waits_for_an_open_transaction_of_another_thread() -> None:
    reasoner = Reasoner()
    changed(reasoner, 0)
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(len(reasoner.query(PREFIX + "SELECT * { ?a :value 1 }"))))
    with reasoner.transaction() as transaction:
        transaction.add_triples([(IRI("urn:t0"), IRI("urn:value"), literal(1))])
        thread.start()
        thread.join(0.1)
        assert len(reasoner.query(PREFIX + "SELECT * { ?a :value 1 }")) == 1, "its own thread sees what it has done so far"
        assert not found
        transaction.add_triples([(IRI("urn:t1"), IRI("urn:value"), literal(1))])
    thread.join(20)
    assert found == [2]


def test_a_result_stays_what_it_was() -> None:
    reasoner = Reasoner()
    changed(reasoner, 0)
    solutions = reasoner.query(PREFIX + 'SELECT ?a ?x (CONCAT("new ", STR(?x)) AS ?text) { ?a :value ?x } ORDER BY STR(?a)')
    graph = reasoner.query(PREFIX + "CONSTRUCT { ?a :had ?x ; :in [] } { ?a :value ?x }")
    assert isinstance(solutions, SelectResult) and isinstance(graph, GraphResult)
    changed(reasoner, 1)
    reasoner.load("".join(f"<urn:other{n}> <urn:p> <urn:other{n + 1}> .\n" for n in range(5000)).encode(), format="ntriples")
    things = sorted(f"urn:t{thing}" for thing in range(THINGS))
    assert list(solutions.tuples()) == [(IRI(name), literal(0), literal("new 0")) for name in things]
    assert {(triple[0], triple[2]) for triple in graph if triple[1] == IRI("urn:had")} == {
        (IRI(name), literal(0)) for name in things
    }
    assert len(graph.to_graph()) == 2 * THINGS


# --- LIMIT ----------------------------------------------------------------------------------------------------------------

COUNT = 20_000
LITTLE = 2_000
"""Rows of an operator, at most, if it stops early; without LIMIT, each has ten times more."""

EARLY = {
    "pattern": "SELECT ?a { ?a :age ?x } LIMIT 10",
    "variable as the property": "SELECT * { ?a ?p ?o } LIMIT 10",
    "join of patterns": "SELECT ?a ?b { ?a :in ?g . ?b :in ?g } LIMIT 10",
    "product": "SELECT * { ?a :age ?x . ?b :age ?y } LIMIT 10",
    "filter": "SELECT ?a { ?a :age ?x FILTER(?x >= 0) } LIMIT 10",
    "optional": "SELECT ?a ?b { ?a :age ?x OPTIONAL { ?a :knows ?b } } LIMIT 10",
    "union": "SELECT * { { ?a :age ?x } UNION { ?a :knows ?x } } LIMIT 10",
    "distinct": "SELECT DISTINCT ?a { ?a :age ?x } LIMIT 10",
    "bind": "SELECT ?a ?y { ?a :age ?x BIND(STR(?x) AS ?y) } LIMIT 10",
    "exists": "SELECT * { ?a :age ?x FILTER EXISTS { ?a :knows ?b } } LIMIT 10",
    "minus": "SELECT * { ?a :age ?x MINUS { ?a :knows ?a } } LIMIT 10",
    "join of other parts": "SELECT * { ?a :age ?x { ?a :knows ?b FILTER(?b != :p1) } } LIMIT 10",
    "offset": "SELECT ?a { ?a :age ?x } OFFSET 100 LIMIT 10",
    "sub-select": "SELECT (COUNT(*) AS ?n) { SELECT ?a { ?a :age ?x } LIMIT 10 }",
    "ask": "ASK { ?a :age ?x . ?b :in ?g }",
    "construct": "CONSTRUCT { ?a :k ?x } WHERE { ?a :age ?x } LIMIT 10",
}

WHOLE = {
    "order": "SELECT ?x { ?a :age ?x } ORDER BY ?x LIMIT 10",
    "aggregate": "SELECT (SUM(?x) AS ?n) { ?a :age ?x } LIMIT 10",
    "filter that nothing passes": "SELECT ?a { ?a :age ?x FILTER(?x < 0) } LIMIT 10",
}
"""What needs all solutions, in spite of LIMIT."""


@pytest.fixture(scope="module")
def many() -> Reasoner:
    reasoner = Reasoner()
    lines = [f":p{n} :knows :p{n * 7 % COUNT} ; :age {n} ; :in :g{n % 50} .\n" for n in range(COUNT)]
    reasoner.load(("@prefix : <urn:> .\n" + "".join(lines)).encode(), format="turtle")
    return reasoner


def rows_of(operator: PlanOperator) -> Iterator[int]:
    yield operator.rows or 0
    for part in operator.parts:
        yield from rows_of(part)


@pytest.mark.parametrize("name", EARLY)
def test_limit_stops_early(many: Reasoner, name: str) -> None:
    assert max(rows_of(many.plan(PREFIX + EARLY[name], run=True).root)) <= LITTLE


@pytest.mark.parametrize("name", WHOLE)
def test_what_needs_all_solutions_has_them(many: Reasoner, name: str) -> None:
    assert max(rows_of(many.plan(PREFIX + WHOLE[name], run=True).root)) == COUNT


def test_a_join_with_a_property_variable_stops_early() -> None:
    """Each of the few solutions is looked up: nothing asks for all triples."""
    reasoner = Reasoner()
    reasoner.load("".join(f"<urn:s{i}> <urn:p{i % 7}> <urn:o{i % 50}> .\n" for i in range(20_000)).encode(), format="ntriples")
    plan = reasoner.plan("SELECT * { ?s <urn:p0> ?o . ?s ?p ?other } LIMIT 3", run=True)

    def rows(operator: PlanOperator) -> int:
        return max([operator.rows or 0, *map(rows, operator.parts)])

    assert rows(plan.root) < 100
    assert len(reasoner.query("SELECT * { ?s <urn:p0> ?o . ?s ?p ?other }")) == 2858
