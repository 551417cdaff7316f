"""The frames in which kernels join: the bindings of variables, and the state of each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.kernels.layout import Frame, Level
from kg_reasoner.storage.kernels.memory import Record, address, allocate, region

__all__ = ["Frames"]


class Frames:
    """All join frames: one block each of bindings, levels and scratch space, cut into equal pieces."""

    def __init__(self, context: Record) -> None:
        self._context = context
        self._retained: list[dict[str, Any]] = []
        self._use(count=1, bindings=16, depth=8, arity=4)

    def fit(self, bindings: int = 0, depth: int = 0, arity: int = 0) -> None:
        """Make room in every frame for this number of variables, of steps, and of columns in a tuple."""
        if bindings > self.bindings or depth > self.depth or arity > self.arity:
            self._use(self.count, max(bindings, self.bindings), max(depth, self.depth), max(arity, self.arity))

    def add(self, count: int) -> None:
        """Add frames; running joins continue in the old ones."""
        old, former = self.count, (self._words, self._bindings, self._levels)
        self._use(old + count, self.bindings, self.depth, self.arity)
        self._words[:old, :2] = former[0][:old, :2]
        self._bindings[:old] = former[1]
        self._levels[: old * self.depth] = former[2]

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
