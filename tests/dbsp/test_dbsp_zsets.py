"""Z-sets and traces: the laws of the group, and every function against the same one on Python dicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.dbsp import aggregates
from kg_reasoner.dbsp.sorted_columns import search
from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import Row, ZSet
from kg_reasoner.errors import CapacityError
from tests.helpers.effort import examples

LAW = settings(max_examples=examples(50))
SMALL = st.integers(-3, 3)
NUMBERS = st.one_of(SMALL, st.sampled_from([-(2**62), 2**31, 2**62]))
"""Mostly small; some are so large that rows do not fit into one number."""


def zsets(arity: int = 2, numbers: st.SearchStrategy[int] = NUMBERS) -> st.SearchStrategy[ZSet]:
    rows = st.dictionaries(st.tuples(*[numbers] * arity), st.integers(-2, 3), max_size=12)
    return rows.map(lambda found: ZSet.of(found, arity))


def weights(rows: Iterable[tuple[Row, int]]) -> dict[Row, int]:
    """Rows with the sums of their weights, without those of weight 0."""
    total: Counter[Row] = Counter()
    for row, weight in rows:
        total[row] += weight
    return {row: weight for row, weight in total.items() if weight}


@LAW
@given(zsets(), zsets(), zsets())
def test_zsets_are_an_abelian_group(a: ZSet, b: ZSet, c: ZSet) -> None:
    zero = ZSet.empty(2)
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + zero == a
    assert a + -a == zero
    assert a - b == a + -b
    assert (a + b).as_dict() == weights([*a.as_dict().items(), *b.as_dict().items()])


@LAW
@given(st.lists(st.tuples(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.integers(-2, 2)), max_size=20))
def test_rows_in_any_order(rows: list[tuple[Row, int]]) -> None:
    table = np.array([row for row, _ in rows], np.int64).reshape(len(rows), 3)
    found = ZSet.consolidated(tuple(table.T.copy()), np.array([weight for _, weight in rows], np.int64))
    assert found.as_dict() == weights(rows)
    assert found.rows() == sorted(found.rows())


@pytest.mark.parametrize("most", [4, 1000, 2**31, 2**62])
@LAW
@given(seed=st.integers(0, 2**32), rows=st.integers(500, 3000), arity=st.integers(1, 2), heaviest=st.sampled_from([1, 3]))
def test_many_rows(seed: int, rows: int, arity: int, heaviest: int, most: int) -> None:
    """Long tables are counted or sorted by keys, depending on how far apart their numbers are."""
    random = np.random.default_rng(seed)
    parts, entries = [], []
    for _ in range(2):
        table = random.integers(-most, most, (arity, rows))
        some = random.integers(-heaviest, heaviest, rows, endpoint=True)
        parts.append((tuple(table), some))
        entries.append(list(zip(map(tuple, table.T.tolist()), some.tolist(), strict=True)))
    one, other = (ZSet.consolidated(*part) for part in parts)
    assert one.as_dict() == weights(entries[0])
    for found in (one + other, ZSet.gathered(parts, arity)):
        assert found.as_dict() == weights(entries[0] + entries[1])
        assert found.rows() == sorted(found.rows())


@LAW
@given(zsets())
def test_sets(a: ZSet) -> None:
    assert a.distinct().as_dict() == {row: 1 for row, weight in a.as_dict().items() if weight > 0}
    assert a.distinct().distinct() == a.distinct()
    assert a.to_set() == {row for row, weight in a.as_dict().items() if weight > 0}


@LAW
@given(zsets(), zsets())
def test_linear_functions(a: ZSet, b: ZSet) -> None:
    for function, expected in (
        (lambda z: z.map(lambda c: (np.sign(c[0]),)), lambda r: (((r[0] > 0) - (r[0] < 0)),)),
        (lambda z: z.project((1,)), lambda r: (r[1],)),
        (lambda z: z.filter(lambda c: c[0] < c[1]), lambda r: r if r[0] < r[1] else None),
    ):
        mapped = [(expected(row), weight) for row, weight in a.as_dict().items()]
        assert function(a).as_dict() == weights((row, weight) for row, weight in mapped if row is not None)
        assert function(a + b) == function(a) + function(b)


@LAW
@given(zsets(3), zsets(2), zsets(2), st.integers(1, 2))
def test_joins_are_bilinear(a: ZSet, b: ZSet, c: ZSet, on: int) -> None:
    expected = [
        (left + right[on:], one * other)
        for left, one in a.as_dict().items()
        for right, other in b.as_dict().items()
        if left[:on] == right[:on]
    ]
    assert a.join(b, on).as_dict() == weights(expected)
    assert a.join(b + c, on) == a.join(b, on) + a.join(c, on)


REDUCTIONS: dict[str, tuple[object, Callable[[list[int]], int]]] = {
    "count": (aggregates.count, len),
    "total": (aggregates.total(), sum),
    "least": (aggregates.least(), min),
    "greatest": (aggregates.greatest(), max),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@LAW
@given(a=zsets(2, SMALL))
def test_aggregates(name: str, a: ZSet) -> None:
    reduction, expected = REDUCTIONS[name]
    groups = defaultdict(list)
    for (key, value), weight in a.as_dict().items():
        groups[key] += [value] * max(0, weight)
    found = a.aggregate(1, reduction)  # type: ignore[arg-type]
    assert found.as_dict() == {(key, expected(values)): 1 for key, values in groups.items() if values}


@LAW
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20), st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_search(table: list[Row], rows: list[Row]) -> None:
    table.sort()
    columns, sought = (tuple(np.array(part, np.int64).reshape(-1, 2).T) for part in (table, rows))
    for width in (1, 2):
        shortened = [row[:width] for row in table]
        for side, expected in (
            ("left", [sum(other < row[:width] for other in shortened) for row in rows]),
            ("right", [sum(other <= row[:width] for other in shortened) for row in rows]),
        ):
            assert search(columns, sought[:width], side).tolist() == expected  # type: ignore[arg-type]


@LAW
@given(st.lists(zsets(2, SMALL), max_size=12), SMALL, SMALL)
def test_traces(changes: list[ZSet], one: int, other: int) -> None:
    trace, total = Trace(2), ZSet.empty(2)
    for change in changes:
        trace.insert(change)
        total = total + change
        assert trace.total() == total
        sizes = list(map(len, trace.runs))
        assert all(older > 2 * newer > 0 for older, newer in pairwise(sizes)), "sizes fall geometrically"
    low, high = np.array([min(one, other)]), np.array([max(one, other)])
    found = [
        (row, weight)
        for _, places, run in trace.between((low,), (high,))
        for row, weight in zip(run.at(places).rows(), run.weights[places].tolist(), strict=True)
    ]
    assert weights(found) == {row: weight for row, weight in total.as_dict().items() if low[0] <= row[0] <= high[0]}


@LAW
@given(st.integers(2, 50))
def test_what_cancels_out_is_forgotten(size: int) -> None:
    rows = ZSet.of([(number,) for number in range(size)])
    trace = Trace(1)
    for _ in range(200):
        trace.insert(rows)
        trace.insert(-rows)
    assert len(trace) <= 2 * size


def test_weights_beyond_64_bits() -> None:
    half = ZSet.of({(1, 1): 2**62, (2, 1): 1, (3, 1): -(2**62)})
    for overflow in (
        lambda: half + half,
        lambda: half.join(half, 1),
        lambda: half.project([1]) + ZSet.of({(1,): 2**63 - 1}) + ZSet.of([(1,)]),
        lambda: ZSet.consolidated((np.zeros(4096, np.int64),), np.full(4096, 2**51)),
        lambda: ZSet.of({(1, 1): 2**62, (1, 2): 2**62}).aggregate(1, aggregates.count),
        lambda: ZSet.of({(1, 4): 2**61}).aggregate(1, aggregates.total()),
    ):
        with pytest.raises(CapacityError, match="exceeds 64 bits"):
            overflow()
    assert (half + half.filter(lambda columns: columns[0] == 2)).as_dict() == {(1, 1): 2**62, (2, 1): 2, (3, 1): -(2**62)}
    assert half.project([1]).as_dict() == {(1,): 1}
    assert half.join(ZSet.of([(1, 2)]), 1).as_dict() == {(1, 1, 2): 2**62}
    with pytest.raises(ValueError, match="can be negated"):
        ZSet.of({(1,): -(2**63)})


def test_an_empty_zset_needs_its_arity() -> None:
    with pytest.raises(ValueError, match="arity"):
        ZSet.of([])
    assert ZSet.of([], arity=3) == ZSet.empty(3)


@pytest.mark.parametrize("other", [ZSet.empty(1), ZSet.of([(1,)])])
def test_zsets_of_other_columns(other: ZSet) -> None:
    pairs = ZSet.of([(1, 2)])
    with pytest.raises(ValueError, match="of 2 and 1 columns have no sum"):
        pairs + other
    with pytest.raises(ValueError, match="of 2 and 1 columns cannot be joined on 2 columns"):
        pairs.join(other, 2)


@pytest.mark.parametrize("rows", [[(1.5,)], [("1",)], [(1, 2), (1,)], [1, 2], {(2**63,): 1}, {(1,): 2**63}, {(1,): 0.5}])
def test_rows_and_weights_are_integers(rows: Any) -> None:
    with pytest.raises(ValueError, match="tuples of one length, of integers of 64 bits"):
        ZSet.of(rows)
