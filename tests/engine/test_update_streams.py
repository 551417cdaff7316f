"""The 99 update streams of the shared suite: after every step the numbers of facts and their checksum are as expected.

Streams are processed by every strategy, with marking (`Reasoner.process`) and without (a transaction for each step), as facts of
general predicates and as triples. Each stream has one of these combinations, chosen by its name (nine tenths of them are marked
`long`); in CI also those of the default strategy, and with full effort all of them, which takes minutes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest

from benchmarks.inputs import streams
from benchmarks.inputs.streams import UpdateStream
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import DEFAULT, STRATEGIES
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.delta import Delta
from tests.engine.update_streams import Reader
from tests.helpers.effort import by_effort
from tests.helpers.suites import needs_suite

pytestmark = needs_suite("updates")


@dataclass(frozen=True)
class Combination:
    """How a stream is processed."""

    strategy: str
    marking: bool
    triples: bool

    def __str__(self) -> str:
        return f"{self.strategy}-{'marking' if self.marking else 'transactions'}-{'triples' if self.triples else 'facts'}"


COMBINATIONS = [Combination(*choice) for choice in product(STRATEGIES, (False, True), (False, True))]
ALWAYS = [Combination(DEFAULT, False, False), Combination(DEFAULT, True, False)]


def combinations(name: str) -> list[Combination]:
    """The combinations in which a stream is tested."""
    can_be_triples = streams.rule_set(name) != "ways"  # whose facts have more than two arguments
    possible = [one for one in COMBINATIONS if can_be_triples or not one.triples]
    others = [one for one in possible if one not in ALWAYS]
    one = others[zlib.crc32(name.encode()) % len(others)]
    return by_effort([one], [*ALWAYS, one], possible)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        pytest.param(name, how, id=f"{name}-{how}", marks=[pytest.mark.long] * (number % 10 > 0))
        for number, name in enumerate(streams.names())
        for how in combinations(name)
    ],
)
@pytest.mark.sample(6)
def test_stream(name: str, how: Combination) -> None:
    stream = streams.read(name, triples=how.triples)
    reasoner = Reasoner(stream.program, maintenance=how.strategy)
    reader = Reader(reasoner)
    lines: set[str] = set()
    for number, (step, delta) in enumerate(zip(stream.steps, processed(reasoner, stream, how), strict=True)):
        added, removed = reader.changed(delta.added), reader.changed(delta.removed)
        assert added.isdisjoint(lines), f"step {number}: the delta adds what was there"
        assert removed <= lines, f"step {number}: the delta removes what was not there"
        lines = lines - removed | added
        found = reader.lines()
        assert reader.state(found) == step.after, f"step {number}"
        assert lines == found, f"step {number}: the delta is not what has changed"


def processed(reasoner: Reasoner, stream: UpdateStream, how: Combination) -> Iterator[Delta]:
    """Apply the steps one by one."""
    updates = (step.update for step in stream.steps)
    if how.marking:
        yield from reasoner.process(updates, marking=True)
        return
    for update in updates:
        with reasoner.transaction() as transaction:
            for predicate, rows in update.removed.items():
                if predicate == TRIPLE:
                    transaction.remove_triples(rows)
                else:
                    transaction.remove_facts(predicate, rows)
            for predicate, rows in update.added.items():
                if predicate == TRIPLE:
                    transaction.add_triples(rows)
                else:
                    transaction.add_facts(predicate, rows)
        yield transaction.delta


def test_the_rotation_leaves_no_combination_out() -> None:
    assert {how for name in streams.names() for how in combinations(name)} | set(ALWAYS) == set(COMBINATIONS)
