"""The laws of streams: incremental operators against D(Q(I(s))), in one time and in two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.dbsp import aggregates
from kg_reasoner.dbsp.circuit import Circuit
from kg_reasoner.dbsp.join import Range
from kg_reasoner.dbsp.sorted_columns import Columns
from kg_reasoner.dbsp.wiring import Stream
from kg_reasoner.dbsp.zset import ZSet
from tests.dbsp.test_dbsp_zsets import zsets
from tests.helpers.effort import examples

CHANGES = zsets(2, st.integers(0, 2))
STREAMS = st.lists(CHANGES, min_size=1, max_size=6)
LAW = settings(max_examples=examples(40))
PAIRS = st.lists(st.tuples(CHANGES, CHANGES), min_size=1, max_size=6)


def run(streams: Sequence[Sequence[ZSet]], wire: Callable[..., Stream]) -> list[ZSet]:
    """The output of a circuit for input streams of equal length."""
    circuit = Circuit()
    circuit.output("out", wire(*(circuit.input(f"in{number}", values[0].arity) for number, values in enumerate(streams))))
    ticks = zip(*streams, strict=True)
    return [circuit.step(**{f"in{number}": value for number, value in enumerate(tick)})["out"] for tick in ticks]


# ---------------------------------------------------------------------------------------------------------------- one time


@LAW
@given(STREAMS)
def test_integration_and_differentiation_are_inverse(values: list[ZSet]) -> None:
    assert run([values], lambda s: s.integrate().differentiate()) == values
    assert run([values], lambda s: s.differentiate().integrate()) == values


def accumulated(stream: Stream) -> Stream:
    """Integration as a feedback."""
    before = stream.circuit.feedback(2)
    total = before + stream
    before.connect(total)
    return total


def in_order(rows: ZSet, other: ZSet) -> ZSet:
    """Pairs of a row and the rows of another table whose first number is greater by one or two, naively."""
    pairs = [
        ((*one, *two), weight * more)
        for one, weight in rows.as_dict().items()
        for two, more in other.as_dict().items()
        if one[0] < two[0] <= one[0] + 2
    ]
    return ZSet.sum([ZSet.of({pair: weight}) for pair, weight in pairs], 4)


class InOrder:
    """The same, as ranges."""

    def right_range(self, left: Columns) -> Range:
        return (left[0] + 1,), (left[0] + 2,)

    def left_range(self, right: Columns) -> Range:
        return (right[0] - 2,), (right[0] - 1,)

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, None]:
        return left + right, None


def heaviest(rows: ZSet) -> ZSet:
    """The rows of the greatest weight of all rows that agree in their first column."""
    most: dict[int, int] = {}
    for row, weight in rows.as_dict().items():
        most[row[0]] = max(weight, most.get(row[0], weight))
    return ZSet.of([row for row, weight in rows.as_dict().items() if weight == most[row[0]]], 2)


UNARY: dict[str, tuple[Callable[[ZSet], ZSet], Callable[[Stream], Stream], int]] = {
    "map": (lambda z: z.map(lambda c: (c[1], c[0] + c[1])), lambda s: s.map(lambda c: (c[1], c[0] + c[1]), 2), 2),
    "project": (lambda z: z.project((1,)), lambda s: s.project(1), 1),
    "filter": (lambda z: z.filter(lambda c: c[0] < c[1]), lambda s: s.filter(lambda c: c[0] < c[1]), 2),
    "linear": (lambda z: z + z.project((1, 0)), lambda s: s.linear(lambda z: z + z.project((1, 0)), 2, "both ways"), 2),
    "negation": (ZSet.__neg__, Stream.__neg__, 2),
    "distinct": (ZSet.distinct, Stream.distinct, 2),
    "count": (lambda z: z.aggregate(1, aggregates.count), lambda s: s.aggregate(1, aggregates.count), 2),
    "total": (lambda z: z.aggregate(1, aggregates.total()), lambda s: s.aggregate(1, aggregates.total()), 2),
    "extremes": (
        lambda z: z.aggregate(1, aggregates.least(), aggregates.greatest()),
        lambda s: s.aggregate(1, aggregates.least(), aggregates.greatest()),
        3,
    ),
    "groupwise": (heaviest, lambda s: s.groupwise(heaviest, 1, 2, "heaviest"), 2),
}
BINARY: dict[str, tuple[Callable[[ZSet, ZSet], ZSet], Callable[[Stream, Stream], Stream], int]] = {
    "sum": (ZSet.__add__, Stream.__add__, 2),
    "sum of many": (lambda a, b: a + b + a, lambda a, b: a.circuit.sum(a, b, a), 2),
    "difference": (ZSet.__sub__, Stream.__sub__, 2),
    "join": (lambda a, b: a.join(b, 1), lambda a, b: a.join(b, 1), 3),
    "join with itself": (lambda a, b: (a + b).join(a + b, 1), lambda a, b: (a + b).join(a + b, 1), 3),
    "intersection": (lambda a, b: a.join(b, 2), lambda a, b: a.join(b, 2), 2),
    "match": (in_order, lambda a, b: a.match(b, InOrder(), 4, "in order"), 4),
}
TIMED: dict[str, tuple[Callable[[Stream], Stream], Callable[[list[ZSet]], ZSet]]] = {
    "delay": (Stream.delay, lambda past: past[-2] if len(past) > 1 else ZSet.empty(2)),
    "integrate": (Stream.integrate, lambda past: ZSet.sum(past, 2)),
    "differentiate": (Stream.differentiate, lambda past: past[-1] - past[-2] if len(past) > 1 else past[-1]),
    "feedback": (accumulated, lambda past: ZSet.sum(past, 2)),
}
"""Operators that look back, by the innermost clock; and what they make of all ticks until now."""


@pytest.mark.parametrize("name", TIMED)
@LAW
@given(values=STREAMS)
def test_operators_of_time(name: str, values: list[ZSet]) -> None:
    """They are linear and do not depend on when the stream begins, so they are their own incremental versions."""
    wire, expected = TIMED[name]
    assert run([values], wire) == [expected(values[: tick + 1]) for tick in range(len(values))]
    assert run([values], wire) == run([values], lambda s: wire(s.integrate()).differentiate())


@pytest.mark.parametrize("name", UNARY)
@LAW
@given(values=STREAMS)
def test_incremental_versions(name: str, values: list[ZSet]) -> None:
    function, incremental, arity = UNARY[name]
    assert run([values], incremental) == run([values], lambda s: s.integrate().lift(function, arity).differentiate())


@pytest.mark.parametrize("name", BINARY)
@LAW
@given(values=PAIRS)
def test_incremental_versions_of_two_streams(name: str, values: list[tuple[ZSet, ZSet]]) -> None:
    function, incremental, arity = BINARY[name]
    streams = list(zip(*values, strict=True))

    def naive(one: Stream, other: Stream) -> Stream:
        return one.circuit.lift(function, arity, one.integrate(), other.integrate()).differentiate()

    assert run(streams, incremental) == run(streams, naive)


# --------------------------------------------------------------------------------------------------------------- two times

UPDATES, ITERATIONS = 3, 3
GRID = list(product(range(UPDATES), range(ITERATIONS)))


Grid: TypeAlias = "dict[tuple[int, int], ZSet]"
"""Changes by update and iteration."""


def as_grid(changes: list[tuple[tuple[int, int], tuple[int, int], int]]) -> Grid:
    """Changes from single ones: when, which row, and its weight."""
    return {now: ZSet.sum([ZSet.of({row: weight}) for when, row, weight in changes if when == now], 2) for now in GRID}


ROWS = st.tuples(st.integers(0, 2), st.integers(0, 2))
NESTED = st.lists(st.tuples(st.sampled_from(GRID), ROWS, st.sampled_from([1, -1, 2])), max_size=25).map(as_grid)


def until(grid: Grid, update: int, iteration: int) -> ZSet:
    """The sum of all changes until an update and an iteration."""
    return ZSet.sum([change for (o, i), change in grid.items() if o <= update and i <= iteration], 2)


def run_nested(grids: Sequence[Grid], wire: Callable[..., Stream]) -> Grid:
    """The output of a nested circuit for inputs that change at every update and iteration."""
    circuit = Circuit()
    nested = circuit.nested()
    sources = [nested.introduce(circuit.input(f"in{number}", 2)) for number in range(len(grids))]
    result = wire(*sources)
    circuit.output("out", nested.eliminate(result))
    circuit.build()
    found = {}
    for update in range(UPDATES):
        nested.begin()
        for iteration in range(ITERATIONS):
            for source, grid in zip(sources, grids, strict=True):
                source.operator.value = grid[update, iteration]  # type: ignore[attr-defined]
            nested.tick(iteration)
            found[update, iteration] = result.value
        nested.finish()
    return found


def differentiated(function: Callable[..., ZSet], *grids: Grid) -> Grid:
    """D(Q(I)), differentiated and integrated by updates and by iterations."""

    def value(update: int, iteration: int) -> ZSet:
        return function(*(until(grid, update, iteration) for grid in grids))

    return {(u, i): value(u, i) - value(u - 1, i) - value(u, i - 1) + value(u - 1, i - 1) for u, i in GRID}


@pytest.mark.parametrize("name", UNARY)
@LAW
@given(grid=NESTED)
def test_incremental_versions_in_two_times(name: str, grid: Grid) -> None:
    function, incremental, _ = UNARY[name]
    assert run_nested([grid], incremental) == differentiated(function, grid)


@pytest.mark.parametrize("name", BINARY)
@LAW
@given(one=NESTED, other=NESTED)
def test_incremental_versions_of_two_streams_in_two_times(name: str, one: Grid, other: Grid) -> None:
    function, incremental, _ = BINARY[name]
    assert run_nested([one, other], incremental) == differentiated(function, one, other)


@pytest.mark.parametrize("name", TIMED)
@LAW
@given(grid=NESTED)
def test_operators_of_inner_time(name: str, grid: Grid) -> None:
    """They begin anew at each update, and look back by iterations only."""
    wire, expected = TIMED[name]
    assert run_nested([grid], wire) == {(u, i): expected([grid[u, before] for before in range(i + 1)]) for u, i in GRID}


@LAW
@given(STREAMS)
def test_elimination_undoes_introduction(values: list[ZSet]) -> None:
    def wire(stream: Stream) -> Stream:
        nested = stream.circuit.root.nested()
        return nested.eliminate(nested.introduce(stream))

    assert run([values], wire) == values


@LAW
@given(STREAMS)
def test_inner_integration_and_differentiation(values: list[ZSet]) -> None:
    def wire(stream: Stream) -> Stream:
        nested = stream.circuit.root.nested()
        inner = nested.introduce(stream)
        return nested.eliminate((inner + inner.delay()).integrate().differentiate())

    assert run([values], wire) == run([values], lambda s: s + s)
