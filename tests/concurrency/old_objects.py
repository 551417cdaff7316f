"""Checks that many objects of a block without collection become old, in a process in which nothing is frozen (`test_garbage`)."""

from __future__ import annotations

import gc
import weakref

from kg_reasoner.concurrency import garbage
from kg_reasoner.concurrency.garbage import without_collection


class Node:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.own = self


def collected_in_block(count: int) -> list[int]:
    """Return the generations that the collector looks at right after a block that makes so many objects."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            found.append(info["generation"])

    with without_collection():
        kept = [Node() for _ in range(count)]
        gc.callbacks.append(note)
    try:
        kept += [Node() for _ in range(10)]
    finally:
        gc.callbacks.remove(note)
    return found


def many_objects_of_a_block_are_not_looked_at_right_after_it() -> None:
    gc.collect()
    assert collected_in_block(50_000) == []
    assert collected_in_block(1_000) == [0]


def garbage_of_blocks_is_found_by_a_full_collection() -> None:
    gc.collect()
    with without_collection():
        nodes = [Node() for _ in range(50_000)]
    gone = weakref.ref(nodes[-1])
    del nodes
    assert gone() is not None
    gc.collect()
    assert gone() is None


def after_many_objects_they_are_looked_at_again() -> None:
    gc.collect()
    garbage._MOST_UNSEEN = 100_000
    assert [collected_in_block(60_000) for _ in range(3)] == [[], [], [0]]
    gc.collect()
    assert collected_in_block(60_000) == []


def what_a_program_has_frozen_stays_so() -> None:
    gc.collect()
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        assert collected_in_block(50_000)[:1] == [0]
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()


if __name__ == "__main__":
    many_objects_of_a_block_are_not_looked_at_right_after_it()
    garbage_of_blocks_is_found_by_a_full_collection()
    after_many_objects_they_are_looked_at_again()
    what_a_program_has_frozen_stays_so()
