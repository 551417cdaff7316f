"""Marking: what it spares, and that nothing depends on it. `tests.engine.test_maintenance` has random transactions with marks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.maintenance import marking
from kg_reasoner.errors import ReasonerError
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.terms import Term, literal

STEPS = 60
PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) ."


@pytest.fixture(params=["backward-forward", "delete-rederive"])
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def edges(step: int) -> list[tuple[Term, Term]]:
    """Three edges of a path, other ones for each step."""
    return [(literal(f"{step}{end}"), literal(f"{step}{end + 1}")) for end in range(3)]


def window(width: int) -> list[Update]:
    """Updates that each add the edges of a step, and take out those of an earlier one."""
    return [Update({"edge": edges(step)}, {"edge": edges(step - width) if step >= width else []}) for step in range(STEPS)]


def processed(rules: str, strategy: str, updates: Sequence[Update]) -> tuple[Counters, Counters]:
    """What it takes to process updates with marking and without; the results are the same."""
    marked, plain = (Reasoner(rules, maintenance=strategy) for _ in range(2))
    marked.materialise()
    plain.materialise()
    for delta, expected in zip(marked.process(updates, marking=True), plain.process(updates), strict=True):
        for changes, others in ((delta.added, expected.added), (delta.removed, expected.removed)):
            names = changes.predicates()
            assert names == others.predicates()
            assert all(set(changes.facts(name)) == set(others.facts(name)) for name in names)
    assert {name: set(marked.facts(name)) for name in marked.predicates()} == {
        name: set(plain.facts(name)) for name in plain.predicates()
    }
    return marked.counters, plain.counters


def test_what_follows_from_marked_facts_is_not_looked_for(strategy: str) -> None:
    marked, plain = processed("next(?y, ?x) :- edge(?x, ?y) .", strategy, window(1))
    assert (marked.deletion, plain.deletion) == (0, 3 * (STEPS - 1))
    assert marked.marked_explicit == marked.marked_implicit == 3 * (STEPS - 1)
    assert plain.marked_explicit == plain.marked_implicit == 0


def test_compaction_keeps_marks(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compacted: list[int] = []
    compact = Database.compact
    monkeypatch.setattr(table_capacities, "current", table_capacities.Capacities(dead=4))
    monkeypatch.setattr(Database, "compact", lambda self, number: [compacted.append(number), compact(self, number)])
    marked, _ = processed("next(?y, ?x) :- edge(?x, ?y) .", strategy, window(1))
    assert len(compacted) > STEPS // 2
    assert marked.deletion == 0


def test_facts_that_live_longer_are_not_marked(strategy: str) -> None:
    marked, plain = processed(PATHS, strategy, window(2))
    assert marked == plain


@pytest.mark.parametrize("room", [0, 1, 3, 8, 9])
@pytest.mark.sample(4)
def test_too_many_marks_are_forgotten(strategy: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking, "ROOM", room)
    marked, plain = processed(PATHS, strategy, window(1))
    assert (marked.deletion < plain.deletion) == (room >= 9), "three edges and six paths for each update"


def test_an_announced_update_that_does_not_come(strategy: str) -> None:
    reasoner = Reasoner(PATHS, maintenance=strategy)
    reasoner.materialise()
    for step in range(3):
        reasoner.foresee(Update(removed={"edge": edges(step)}))
        reasoner.add_facts("edge", edges(step))
        reasoner.materialise()
    reasoner.remove_facts("edge", edges(0))
    assert len(list(reasoner.facts("path"))) == 12


def test_what_is_announced_and_is_no_update(strategy: str) -> None:
    reasoner = Reasoner(PATHS, maintenance=strategy)
    with pytest.raises(ReasonerError, match=r"\{\} is not an Update"):
        reasoner.foresee({})  # type: ignore[arg-type]
    with pytest.raises(ReasonerError, match="what an Update removes is a mapping from predicates to rows of terms, not 7"):
        reasoner.foresee(Update(removed=7))  # type: ignore[arg-type]
    reasoner.foresee(Update(removed={"edge": 7}))  # type: ignore[dict-item]  # an error when its turn comes
    reasoner.add_facts("edge", edges(0))
    reasoner.materialise()
    assert len(list(reasoner.facts("edge"))) == len(edges(0))
