"""Compaction: whatever comes and goes, the rows of a database of constant size are bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.planning.layouts.triple_table import TripleTable
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.terms import IRI, Term, literal

PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
COPIES = "[?x, ?q, ?y] :- [?x, ?p, ?y], [?p, <http://example.org/implies>, ?q] ."
DEAD = 4
"""So many dead rows are left in a relation."""

Edge = tuple[Term, Term]


@pytest.fixture(autouse=True)
def few_dead_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_capacities, "current", table_capacities.Capacities(dead=DEAD))


def edges(step: int) -> list[Edge]:
    """Two edges of a path, other ones for each step."""
    return [(literal(f"{step}{end}"), literal(f"{step}{end + 1}")) for end in range(2)]


def triples(step: int) -> list[tuple[Term, Term, Term]]:
    return [(IRI(f"http://example.org/{step}"), IRI("http://example.org/edge"), end) for edge in edges(step) for end in edge]


def rows(reasoner: Reasoner) -> int:
    """All rows, the dead ones too."""
    assert reasoner.engine.database.context.total == sum(record.count for record in reasoner.engine.database.relations.records)
    return reasoner.engine.database.context.total


def peak(reasoner: Reasoner, step: Callable[[int], object], steps: int = 50) -> int:
    """The most rows after one of some steps."""
    most = 0
    for number in range(steps):
        step(number)
        reasoner.materialise()
        most = max(most, rows(reasoner))
    return most


@pytest.fixture(params=list(STRATEGIES))
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("rules", [PATHS, ""], ids=["rules", "facts only"])
@pytest.mark.sample(4)
def test_facts_that_come_and_go(strategy: str, rules: str) -> None:
    reasoner = Reasoner(rules, maintenance=strategy)

    def replace(step: int) -> None:
        reasoner.add_facts("edge", edges(step))
        reasoner.materialise()
        reasoner.remove_facts("edge", edges(step))

    assert peak(reasoner, replace) <= 2 * 2 * DEAD


def test_facts_that_go_before_they_are_looked_at(strategy: str) -> None:
    reasoner = Reasoner(PATHS, maintenance=strategy)
    reasoner.materialise()

    def change_mind(step: int) -> None:
        reasoner.add_facts("edge", edges(step))
        reasoner.remove_facts("edge", edges(step))

    assert peak(reasoner, change_mind) <= 2 * DEAD


@pytest.mark.parametrize("rules", ["", COPIES], ids=["property tables", "triple table"])
@pytest.mark.sample(4)
def test_triples_that_come_and_go(strategy: str, rules: str) -> None:
    reasoner = Reasoner(rules, maintenance=strategy)
    reasoner.materialise()
    assert isinstance(reasoner.engine.catalog.layout, TripleTable) == (rules == COPIES)

    def change_mind(step: int) -> None:
        reasoner.add_triples(triples(step))
        reasoner.remove_triples(triples(step))

    def replace(step: int) -> None:
        change_mind(step)
        reasoner.add_triples(triples(step))
        reasoner.materialise()
        reasoner.remove_triples(triples(step))

    assert peak(reasoner, change_mind) <= 2 * DEAD
    assert peak(reasoner, replace) <= 2 * DEAD


def moving_window(width: int, steps: int) -> Iterator[Update]:
    """Updates that each add the edges of a step, and take out those of an earlier one."""
    for step in range(steps):
        removed = {"edge": edges(step - width)} if step >= width else {}
        yield Update(added={"edge": edges(step)}, removed=removed)


@pytest.mark.parametrize("marking", [True, False], ids=["with marks", "without"])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.sample(4)
def test_streams(strategy: str, width: int, marking: bool) -> None:
    reasoner = Reasoner(PATHS, maintenance=strategy)
    steps = 60
    sizes = []
    for _ in reasoner.process(list(moving_window(width, steps)), marking):
        sizes.append(rows(reasoner))
    living = width * (2 + 3)
    assert max(sizes) <= 2 * (living + DEAD) + 5
    left = {fact for step in range(steps - width, steps) for fact in edges(step)}
    assert set(reasoner.facts("edge")) == left
    assert len(set(reasoner.facts("path"))) == 3 * width
