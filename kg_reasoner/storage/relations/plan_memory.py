"""The memory for plans and for the frames in which they are run, and the context that gives kernels access to everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage import capacities
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.capacities import resized
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    MOST_VALUES,
    RECENT_VALUES,
    RING,
    VALUE_SLOTS,
    Context,
    Frame,
    Level,
    Plan,
    Step,
)
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, argument, region
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable

__all__ = ["JoinFrames", "PlanMemory", "join_tables"]


def join_tables() -> dict[str, Any]:
    """Return the tables that joins of one context share with no other one, by its fields: those of the queue of heads, of
    `kernels.pair_queue` and of `kernels.block_filters`.
    """
    return {
        "ring_keys": allocate(RING, np.int64),
        "ring_relations": allocate(RING, np.int32),
        "hashes": allocate(RING, np.int64),
        "copied": allocate(RING, np.int32),
        "recent_values": allocate(RECENT_VALUES, np.int64, 0),
        "pair_keys": allocate(RING, np.int64),
        "pair": allocate(2, np.int32),
        "filter_slots": allocate(VALUE_SLOTS, np.int32),
        "filter_values": allocate(MOST_VALUES, np.int32),
        "filter_numbers": allocate(capacities.current.block, np.uint8),
        "filter_matches": allocate(MOST_VALUES, np.uint8),
    }


class PlanMemory:
    """The memory for plans and joins: plans, steps, codes and frames, and the context through which kernels access them."""

    def __init__(self) -> None:
        self._contexts = StructTable(Context, capacity=1)
        self.context = self._contexts.add(
            type_id=-1,
            hidden=ABSENT,
            compact_from=capacities.current.dead,
            renew_from=capacities.current.large,
            block_rows=capacities.current.block,
            filtered_rows=capacities.current.filtered_rows,
            filtered_plans=capacities.current.filtered_plans,
            **join_tables(),
        )
        self.address = argument(self.context.address)
        """The argument that every kernel is called with."""
        self.plans = StructTable(Plan, self.context, "plans")
        self.steps = StructTable(Step, self.context, "steps")
        self.frames = JoinFrames(self.context)
        self._codes = allocate(1 << 10, np.int32)
        self._code_count = 0
        self.context.codes = self._codes

    def add_codes(self, codes: Sequence[int] | npt.NDArray[np.int64]) -> int:
        """Store a list of codes, and return its position."""
        start, end = self._code_count, self._code_count + len(codes)
        if end > len(self._codes):
            self._codes = self.context.codes = resized(self._codes, 2 * end, start)
        self._codes[start:end] = codes
        self._code_count = end
        return start

    def replace_codes(self, position: int, codes: npt.NDArray[np.int64]) -> None:
        """Replace codes, from a position on."""
        self._codes[position : position + len(codes)] = codes

    @property
    def context_words(self) -> npt.NDArray[np.int64]:
        """The context as an array of its fields, 64 bits each."""
        words: npt.NDArray[np.int64] = self._contexts.words[0]
        return words

    @contextmanager
    def temporary_plans(self) -> Iterator[None]:
        """Discard plans made in the block. Requires exclusive access to the database."""
        marks = len(self.plans), len(self.steps), self._code_count
        try:
            yield
        finally:
            self.plans.truncate(marks[0])
            self.steps.truncate(marks[1])
            self._code_count = marks[2]

    def relation(self, number: int) -> Record:
        """Return the record of a relation.

        Args:
            number: The number of the relation.
        """
        raise NotImplementedError

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """Return the index on columns of a relation (of a section, given its constant). It is built when a kernel requests it.

        Args:
            relation: The number of the relation.
            columns: The columns of the key.
            constant: The constant of the section, or -1.
            apart: A column, or 0: rows that have the same term there as in the first column are left out.
        """
        raise NotImplementedError

    def index_value_column(self, index: int) -> int:
        """Return the column whose value the entries of an index carry, or -1."""
        raise NotImplementedError


class JoinFrames:
    """All join frames: one block each of bindings, levels and scratch space, cut into equal pieces."""

    def __init__(self, context: Record) -> None:
        self._context = context
        self._retained: list[dict[str, Any]] = []
        self._use(count=1, bindings=16, depth=8, arity=4)

    def fit(self, bindings: int = 0, depth: int = 0, arity: int = 0) -> None:
        """Make room in every frame for this number of variables, of steps, and of columns in a tuple."""
        if bindings > self.bindings or depth > self.depth or arity > self.arity:
            self._replace(self.count, max(bindings, self.bindings), max(depth, self.depth), max(arity, self.arity))

    def add(self, count: int) -> None:
        """Add frames."""
        self._replace(self.count + count, self.bindings, self.depth, self.arity)

    def _replace(self, count: int, bindings: int, depth: int, arity: int) -> None:
        """Use at least as many frames of at least this size; running joins continue in the first ones."""
        words, variables, levels = self._words, self._bindings, self._levels.reshape(self.count, self.depth, -1)
        self._use(count, bindings, depth, arity)
        self._words[: len(words), :2] = words[:, :2]
        self._bindings[: len(words), : variables.shape[1]] = variables
        self._levels.reshape(count, depth, -1)[: len(words), : levels.shape[1]] = levels

    def values(self, frame: int) -> Rows:
        """Return the bindings of a frame."""
        return self._bindings[frame]

    def _use(self, count: int, bindings: int, depth: int, arity: int) -> None:
        words = allocate((count, len(Frame.fields)), np.int64, 0)
        blocks = {
            "bindings": region((count, bindings), np.int32),
            "levels": region((count * depth, len(Level.fields)), np.int64),
            "scratch": region((count, arity), np.int32),
        }
        for field, block in blocks.items():
            items = depth if field == "levels" else 1
            words[:, Frame.fields[field][0]] = address(block) + np.arange(count) * (items * block.strides[0])
        self._retained.append(blocks)  # beside the former ones, until the kernels see the new ones
        self._context.frames = words
        self._words, self._bindings, self._levels, self._retained = words, blocks["bindings"], blocks["levels"], [blocks]
        self.count, self.bindings, self.depth, self.arity = count, bindings, depth, arity
