"""Transitive closures have the pairs that a search from each node finds, in as many calls of the kernel as it takes."""

from __future__ import annotations

from collections.abc import Iterable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.storage.recursion import closures
from kg_reasoner.storage.recursion.closures import reached
from tests.helpers.effort import PHASES, examples

Steps = list[tuple[int, int]]

NODES = st.integers(-3, 6)


def searched(steps: Steps, origin: int) -> set[int]:
    found: set[int] = set()
    waiting = [origin]
    while waiting:
        node = waiting.pop()
        following = {end for start, end in steps if start == node} - found
        found |= following
        waiting += following
    return found


def pairs(steps: Steps, origins: Iterable[int], enough: int | None = None) -> list[tuple[int, int]]:
    columns = np.array(steps, np.int32).reshape(-1, 2)
    given_origins = np.array(list(origins), np.int32)
    numbers, ends = reached(columns[:, 0], columns[:, 1], given_origins, lambda count, size: None, enough)
    return [(int(given_origins[number]), int(end)) for number, end in zip(numbers, ends, strict=True)]


@pytest.mark.parametrize("room", [0, closures.ROOM])
@settings(max_examples=examples(300), phases=PHASES)
@given(st.lists(st.tuples(NODES, NODES), max_size=20), st.sets(NODES))
def test_reached_nodes(room: int, steps: Steps, origins: set[int]) -> None:
    with patch.object(closures, "ROOM", room):
        found = pairs(steps, sorted(origins))
    assert len(found) == len(set(found))
    assert set(found) == {(origin, end) for origin in origins for end in searched(steps, origin)}


def test_more_pairs_than_one_call_writes() -> None:
    count = 300
    found = pairs([(node, node + 1) for node in range(count)], range(count))
    assert len(set(found)) == len(found) == count * (count + 1) // 2 > closures.ROOM


def test_enough_pairs() -> None:
    count = 1000
    found = pairs([(node, node + 1) for node in range(count)], range(count), enough=1)
    assert 1 <= len(found) <= closures.ROOM
    assert all(start < end for start, end in found)
