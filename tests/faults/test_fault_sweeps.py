"""Whatever interrupts an operation, at whatever place: the state before or the state after is left, and everything works on.

A run tries a sample; with full effort, every line once for each way that leads to it (see `tests.helpers.effort`). Every place, or
some other ones, are tried by hand: ``python -m tests.faults --help``.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from random import Random
from types import FrameType
from typing import Any

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.terms import literal

if not hasattr(os, "fork"):
    pytest.skip("faults are tried in forked processes, and this platform has none", allow_module_level=True)

from tests.faults.catalogue import SCENARIOS
from tests.faults.injectors import KINDS, Allocations, Injector, Lines, MemoryLines, leaves_block
from tests.faults.report import complaint
from tests.faults.runner import OUTCOMES, distinct, sample, sweep
from tests.faults.scenarios import Scenario
from tests.faults.subjects import Subject, snapshot
from tests.helpers.effort import by_effort

SWEEPS = by_effort(6, 32, None)
"""How many sweeps are tried; None: all of them, at every line."""
PLACES = by_effort(3, 5, None)
"""At how many places."""

Case = tuple[str, str]
CASES: list[Case] = [(scenario, kind) for scenario in SCENARIOS for kind in KINDS]


def chosen() -> list[Case]:
    """The sweeps of this run."""
    return CASES if SWEEPS is None else sorted(Random(0).sample(CASES, SWEEPS))


def places(case: Case) -> Callable[[Sequence[str]], Iterable[int]]:
    """Which places of a sweep are tried in this run."""
    return distinct if PLACES is None else sample(PLACES, f"0 {case}")


@pytest.mark.parametrize("case", chosen(), ids=", ".join)
@pytest.mark.sample(3)
def test_a_fault_leaves_the_state_before_or_after(case: Case) -> None:
    done = sweep(SCENARIOS[case[0]], case[1], places(case), jobs=os.cpu_count() or 1)
    assert [complaint(done, result) for result in done.failures] == []
    if case[1] in ("interrupts", "memory"):  # not everything makes arrays, and signals may come too late
        assert done.results


# --- the sweeps themselves -------------------------------------------------------------------------------------------------


def with_facts() -> Subject:
    reasoner = Reasoner("q(?x) :- p(?x) .")
    reasoner.add_facts("p", [(literal(0),)])
    return Subject(reasoner)


def outcomes_of(operation: Callable[[Subject], object]) -> Counter[str]:
    """What comes of a KeyboardInterrupt at some of the package's lines that an operation runs."""
    done = sweep(Scenario("test", with_facts, operation), "interrupts", sample(6, "any"))
    assert set(done.counts()) <= set(OUTCOMES)
    return done.counts()


def test_a_sweep_finds_half_of_a_change() -> None:
    def in_two_steps(subject: Subject) -> None:
        subject.reasoner.add_facts("p", [(literal(1),)])
        subject.reasoner.add_facts("p", [(literal(2),)])

    assert outcomes_of(in_two_steps)["neither"] > 0


@pytest.mark.long
def test_a_sweep_finds_what_cannot_be_repeated() -> None:
    def on_and_off(subject: Subject) -> None:
        if subject.kept.setdefault("is broken", False):
            raise ValueError("broken")
        subject.kept["is broken"] = True
        subject.reasoner.materialise()
        subject.kept["is broken"] = False

    assert outcomes_of(on_and_off)["broken"] > 0


@pytest.mark.long
def test_a_sweep_finds_crashes_and_what_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.runner.TIME_LIMIT", 1.0)

    def with_end(end: Callable[[], object]) -> Callable[[Subject], None]:
        def change(subject: Subject) -> None:
            try:
                subject.reasoner.materialise()
            except KeyboardInterrupt:
                end()

        return change

    def wait() -> None:
        while True:
            pass

    one = sample(1, "any")
    assert sweep(Scenario("test", with_facts, with_end(wait)), "interrupts", one).counts() == {"hung": 1}
    assert sweep(Scenario("test", with_facts, with_end(os.abort)), "interrupts", one).counts() == {"crashed": 1}


def test_what_changes_nothing_passes() -> None:
    counts = outcomes_of(lambda subject: subject.reasoner.sizes())
    assert set(counts) == {"after"} or set(counts) == {"before"}, counts


def test_a_state_is_seen_whole() -> None:
    subject = with_facts()
    before = snapshot(subject)
    for change in (
        lambda: subject.reasoner.add_facts("r", [(literal(0),)]),
        lambda: subject.reasoner.add_program("s(?x) :- q(?x) ."),
        lambda: subject.reasoner.subscribe("q", lambda _: None),
        lambda: subject.reasoner.load(b"<http://a.b/> <http://a.b/p> <http://a.b/> <http://a.b/g> .", format="nquads"),
    ):
        change()
        after = snapshot(subject)
        assert after != before
        before = after


def test_no_fault_is_raised_as_a_block_is_left() -> None:
    """Where no signal is handled, either; everywhere else there are faults."""
    lines: list[int] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and frame.f_code is block.__code__ and not leaves_block(frame):
            lines.append(frame.f_lineno - block.__code__.co_firstlineno)
        return trace

    sys.settrace(trace)
    try:
        block()
    finally:
        sys.settrace(None)
    assert lines == [1, 2, 3, 2, 3, 2, 4]


def block() -> None:
    with nullcontext():
        for _ in range(2):
            str(_)
    ""


@pytest.mark.parametrize("kind", [Lines, MemoryLines, Allocations])
def test_places_are_counted_as_they_are_reached(kind: type[Injector]) -> None:
    counter = kind()
    subject = with_facts()
    assert counter.call(lambda: subject.reasoner.add_facts("p", [(literal(7),)])) is None
    assert counter.count == len(counter.places) > 0
    assert all(".py:" in place for place in counter.places)
