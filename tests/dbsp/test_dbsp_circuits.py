"""Circuits: recursion, mistakes in their wiring, and how they look."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.dbsp import aggregates
from kg_reasoner.dbsp.circuit import Circuit, Nested
from kg_reasoner.dbsp.wiring import Stream
from kg_reasoner.dbsp.zset import ZSet
from kg_reasoner.errors import CapacityError, CircuitError
from tests.dbsp.test_dbsp_laws import LAW, run
from tests.dbsp.test_dbsp_zsets import zsets


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


def test_weights_beyond_64_bits_in_the_past() -> None:
    circuit = Circuit()
    circuit.output("out", circuit.input("in", 1).distinct())
    half = ZSet.of({(1,): 2**62})
    found = [circuit.step(**{"in": change})["out"].as_dict() for change in (half, -half, half)]
    assert found == [{(1,): 1}, {(1,): -1}, {(1,): 1}]
    with pytest.raises(CapacityError, match="exceeds 64 bits"):
        circuit.step(**{"in": half})


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


def no_zset(circuit: Circuit) -> None:
    circuit.output("out", circuit.input("edges", 2))
    circuit.step(edges=[(1, 2)])  # type: ignore[arg-type]


def wrong_map(circuit: Circuit) -> None:
    circuit.output("out", circuit.input("edges", 2).map(lambda columns: columns[:1], 2))
    circuit.step(edges=ZSet.of([(1, 2)]))


def wrong_groups(circuit: Circuit) -> None:
    circuit.output("out", circuit.input("edges", 2).groupwise(lambda rows: rows.project((0,)), 1, 2, "firsts"))
    circuit.step(edges=ZSet.of([(1, 2)]))


MISTAKES: list[tuple[Callable[[Circuit], object], str]] = [
    (unconnected, "feedback 2 .* not connected"),
    (connected_twice, "connected already"),
    (feedback_of_other_arity, "must have 3 columns"),
    (loop_without_delay, "depends on itself without a delay"),
    (mixed, "of another circuit"),
    (without_result, "'loop' has no result"),
    (unused, "'nodes' is not used"),
    (wrong_input, "the circuit has no input 'edge'; its inputs are edges"),
    (wrong_value, "'edges' has 2 columns, not 3"),
    (no_zset, "'edges' is of type list, not a Z-set"),
    (lambda c: c.build(), "no output"),
    (lambda c: (c.input("a", 1), c.input("a", 1)), "already has an input 'a'"),
    (lambda c: c.input("a", 2) + c.input("b", 1), "must have 2 columns, and stream 2 .input b. has 1"),
    (lambda c: c.input("a", 2).join(c.input("b", 1), 2), "cannot be joined on 2 columns"),
    (lambda c: c.input("a", 2).project(0, 2), "none of them is number 2"),
    (lambda c: c.input("a", 2).aggregate(3, aggregates.count), "groups cannot be made of 3"),
    (lambda c: c.input("a", 0), "input a must have at least one column"),
    (lambda c: c.input("a", 2).project(), "at least one column"),
    (lambda c: c.feedback(0), "at least one column"),
    (wrong_map, "the function of map made 1 column, and the stream has 2"),
    (wrong_groups, "the function of firsts made 1 column, and the stream has 2"),
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
    assert (
        example().dot()
        == """\
digraph circuit {
rankdir=LR;
node [shape=box, style=rounded];
1 [label="input edges"];
subgraph cluster_2 { label="closure";
3 [label="delta_0"];
4 [label="z^-1"];
5 [label="project (1, 0)"];
6 [label="join on 1"];
7 [label="project (1, 2)"];
8 [label="+"];
9 [label="distinct"];
}
10 [label="result of closure"];
1 -> 3;
9 -> 4 [style=dashed];
4 -> 5;
5 -> 6;
3 -> 6;
6 -> 7;
3 -> 8;
7 -> 8;
8 -> 9;
9 -> 10;
out0 [label="output paths", shape=plain];
10 -> out0;
}
"""
    )


def test_names_in_a_drawing() -> None:
    circuit = Circuit()
    circuit.output("out", circuit.input("in", 1).filter(lambda columns: columns[0] > 0, 'a "b" \\ c'))
    assert '[label="a \\"b\\" \\\\ c"]' in circuit.dot()
