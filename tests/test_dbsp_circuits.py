"""Circuits: the laws of streams, incremental operators against D(Q(I(s))) in one time and in two, wiring, and how circuits look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.dbsp import aggregates
from kg_reasoner.dbsp.circuit import Circuit, Nested
from kg_reasoner.dbsp.groupwise import Distinct, Groupwise
from kg_reasoner.dbsp.join import EqualKeys, Join
from kg_reasoner.dbsp.operators import Operator
from kg_reasoner.dbsp.wiring import Stream
from kg_reasoner.dbsp.zset import ZSet
from kg_reasoner.errors import CircuitError

from .test_dbsp_zsets import zsets

CHANGES = zsets(2, st.integers(0, 2))
STREAMS = st.lists(CHANGES, min_size=1, max_size=6)
LAW = settings(max_examples=40, deadline=None)
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


@LAW
@given(STREAMS)
def test_delay(values: list[ZSet]) -> None:
    assert run([values], lambda s: s.delay()) == [ZSet.empty(2), *values[:-1]]
    assert run([values], lambda s: s - s.delay()) == run([values], lambda s: s.differentiate())


@LAW
@given(STREAMS)
def test_integration_is_a_feedback(values: list[ZSet]) -> None:
    def wire(stream: Stream) -> Stream:
        before = stream.circuit.feedback(2)
        total = before + stream
        before.connect(total)
        return total

    assert run([values], wire) == run([values], lambda s: s.integrate())


UNARY: dict[str, tuple[Callable[[ZSet], ZSet], Callable[[Stream], Stream], int]] = {
    "map": (lambda z: z.map(lambda c: (c[1], c[0] + c[1])), lambda s: s.map(lambda c: (c[1], c[0] + c[1]), 2), 2),
    "project": (lambda z: z.project((1,)), lambda s: s.project(1), 1),
    "filter": (lambda z: z.filter(lambda c: c[0] < c[1]), lambda s: s.filter(lambda c: c[0] < c[1]), 2),
    "negation": (ZSet.__neg__, Stream.__neg__, 2),
    "distinct": (ZSet.distinct, Stream.distinct, 2),
    "count": (lambda z: z.aggregate(1, aggregates.count), lambda s: s.aggregate(1, aggregates.count), 2),
    "extremes": (
        lambda z: z.aggregate(1, aggregates.least(), aggregates.greatest()),
        lambda s: s.aggregate(1, aggregates.least(), aggregates.greatest()),
        3,
    ),
}
BINARY: dict[str, tuple[Callable[[ZSet, ZSet], ZSet], Callable[[Stream, Stream], Stream], int]] = {
    "sum": (ZSet.__add__, Stream.__add__, 2),
    "difference": (ZSet.__sub__, Stream.__sub__, 2),
    "join": (lambda a, b: a.join(b, 1), lambda a, b: a.join(b, 1), 3),
    "intersection": (lambda a, b: a.join(b, 2), lambda a, b: a.join(b, 2), 2),
}


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
NESTED = st.fixed_dictionaries(dict.fromkeys(GRID, CHANGES))


def until(grid: dict[tuple[int, int], ZSet], update: int, iteration: int) -> ZSet:
    """The sum of all changes until an update and an iteration."""
    return ZSet.sum([change for (o, i), change in grid.items() if o <= update and i <= iteration], 2)


def in_two_times(operator: Operator, function: Callable[..., ZSet], *grids: dict[tuple[int, int], ZSet]) -> None:
    """Compare an operator with D(Q(I)), differentiated and integrated by updates and by iterations."""
    for update in range(UPDATES):
        operator.begin()
        for iteration in range(ITERATIONS):
            found = operator.step(iteration, [grid[update, iteration] for grid in grids])
            expected = ZSet.empty(operator.arity)
            for o, i, sign in (
                (update, iteration, 1),
                (update - 1, iteration, -1),
                (update, iteration - 1, -1),
                (update - 1, iteration - 1, 1),
            ):
                value = function(*(until(grid, o, i) for grid in grids))
                expected = expected + (value if sign > 0 else -value)
            assert found == expected, (update, iteration)
        operator.finish()


@LAW
@given(NESTED)
def test_distinct_in_two_times(grid: dict[tuple[int, int], ZSet]) -> None:
    in_two_times(Distinct(2, nested=True), ZSet.distinct, grid)


@LAW
@given(NESTED)
def test_aggregates_in_two_times(grid: dict[tuple[int, int], ZSet]) -> None:
    def function(rows: ZSet) -> ZSet:
        return rows.aggregate(1, aggregates.count)

    in_two_times(Groupwise("count", 2, 2, 1, function, nested=True), function, grid)


@LAW
@given(NESTED, NESTED)
def test_joins_in_two_times(one: dict[tuple[int, int], ZSet], other: dict[tuple[int, int], ZSet]) -> None:
    in_two_times(Join("join", 3, (2, 2), EqualKeys(1), nested=True), lambda a, b: a.join(b, 1), one, other)


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


def closure(edges: Stream, linear: bool) -> Stream:
    """The transitive closure."""
    nested: Nested = edges.circuit.root.nested("closure")
    inner, known = nested.introduce(edges), nested.feedback(2)
    further = known.project(1, 0).join(inner if linear else known, on=1).project(1, 2)
    paths = (inner + further).distinct()
    known.connect(paths)
    return nested.eliminate(paths)


def closure_of(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    paths = set(edges)
    while more := {(x, z) for x, y in paths for other, z in edges if y == other} - paths:
        paths |= more
    return paths


@pytest.mark.parametrize("linear", [True, False])
@LAW
@given(st.lists(zsets(2, st.integers(0, 4)), min_size=1, max_size=5))
def test_a_recursive_query(linear: bool, values: list[ZSet]) -> None:
    found = run([values], lambda s: closure(s.distinct(), linear))
    total, paths = ZSet.empty(2), ZSet.empty(2)
    for change, paths_change in zip(values, found, strict=True):
        total, paths = total + change, paths + paths_change
        assert paths.as_dict() == dict.fromkeys(closure_of(total.to_set()), 1)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------------ wiring


def unconnected(circuit: Circuit) -> None:
    circuit.output("out", circuit.input("edges", 2) + circuit.feedback(2))
    circuit.build()


def connected_twice(circuit: Circuit) -> None:
    edges, feedback = circuit.input("edges", 2), circuit.feedback(2)
    feedback.connect(edges)
    feedback.connect(edges)


def feedback_of_other_arity(circuit: Circuit) -> None:
    circuit.feedback(3).connect(circuit.input("edges", 2))


def loop_without_delay(circuit: Circuit) -> None:
    nested = circuit.nested("loop")
    result = nested.eliminate(nested.introduce(circuit.input("edges", 2)))
    nested.introduce(result)
    circuit.output("out", result)
    circuit.build()


def mixed(circuit: Circuit) -> None:
    edges = circuit.input("edges", 2)
    nested = circuit.nested()
    nested.introduce(edges).join(edges, 1)


def without_result(circuit: Circuit) -> None:
    edges = circuit.input("edges", 2)
    circuit.nested("loop").introduce(edges)
    circuit.output("out", edges)
    circuit.build()


def unused(circuit: Circuit) -> None:
    circuit.input("nodes", 1)
    circuit.output("out", circuit.input("edges", 2))
    circuit.build()


def wrong_input(circuit: Circuit) -> None:
    circuit.output("out", circuit.input("edges", 2))
    circuit.step(edge=ZSet.empty(2))


def wrong_value(circuit: Circuit) -> None:
    circuit.output("out", circuit.input("edges", 2))
    circuit.step(edges=ZSet.empty(3))


MISTAKES: list[tuple[Callable[[Circuit], object], str]] = [
    (unconnected, "feedback 2 .* not connected"),
    (connected_twice, "connected already"),
    (feedback_of_other_arity, "must have 3 columns"),
    (loop_without_delay, "depends on itself without a delay"),
    (mixed, "of another circuit"),
    (without_result, "'loop' has no result"),
    (unused, "'nodes' feeds nothing"),
    (wrong_input, "no input 'edge'; the inputs are edges"),
    (wrong_value, "'edges' has 2 columns, not 3"),
    (lambda c: c.build(), "no output"),
    (lambda c: (c.input("a", 1), c.input("a", 1)), "an input 'a' already"),
    (lambda c: c.input("a", 2) + c.input("b", 1), "must have 2 columns, and stream 2 .input b. has 1"),
    (lambda c: c.input("a", 2).join(c.input("b", 1), 2), "cannot be joined on 2 columns"),
    (lambda c: c.input("a", 2).project(0, 2), "none of them is number 2"),
    (lambda c: c.input("a", 2).aggregate(3, aggregates.count), "groups cannot be made of 3"),
    (lambda c: c.output("x", Circuit().input("a", 1)), "of another circuit"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes_in_the_wiring(mistake: Callable[[Circuit], object], message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        mistake(Circuit())


def example() -> Circuit:
    circuit = Circuit()
    circuit.output("paths", closure(circuit.input("edges", 2), linear=True))
    return circuit


def test_a_circuit_as_text() -> None:
    assert (
        str(example())
        == """\
1 input edges (2)
2 closure <- 1:
    3 delta_0 (2)
    4 z^-1 (2) <- 9
    5 project (1, 0) (2) <- 4
    6 join on 1 (3) <- 5, 3
    7 project (1, 2) (2) <- 6
    8 + (2) <- 3, 7
    9 distinct (2) <- 8
10 result of closure (2) <- 9
output paths <- 10
"""
    )


def test_a_circuit_as_a_drawing() -> None:
    drawing = example().dot()
    assert drawing.startswith("digraph")
    assert "subgraph cluster_2" in drawing
    assert "6 -> 7" in drawing
    assert drawing.count("{") == drawing.count("}")
