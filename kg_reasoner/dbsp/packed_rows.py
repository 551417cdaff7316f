"""Packed rows: a small leading number and a fixed count of slots, side by side in as few int64 words as hold them.

Sorted words are sorted rows, whatever the widths are; so wider layouts do not change the order of what is stored. Most programs'
rows fit into one word, which NumPy sorts and searches many times faster than several columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kg_reasoner.dbsp.sorted_columns import KEY_BITS, Columns, Integers


@dataclass(frozen=True)
class Layout:
    """Positions of the parts of packed rows: `first_bits` for the leading number, then `slots` times `slot_bits`."""

    first_bits: int
    slot_bits: int
    slots: int
    words: int = field(init=False)
    """The number of int64 words of a row."""
    places: tuple[tuple[int, int], ...] = field(init=False)
    """The word of each slot, and its lowest bit there."""
    first_shift: int = field(init=False)
    mask: int = field(init=False)
    """The greatest number that a slot holds."""

    def __post_init__(self) -> None:
        per_word = [(KEY_BITS - self.first_bits) // self.slot_bits]
        while sum(per_word) < self.slots:
            per_word.append(KEY_BITS // self.slot_bits)
        left, places = self.slots, []
        for word, room in enumerate(per_word):
            used = min(room, left)
            places += [(word, (used - 1 - place) * self.slot_bits) for place in range(used)]
            left -= used
        object.__setattr__(self, "words", len(per_word))
        object.__setattr__(self, "places", tuple(places))
        object.__setattr__(self, "first_shift", min(per_word[0], self.slots) * self.slot_bits)
        object.__setattr__(self, "mask", (1 << self.slot_bits) - 1)

    def first(self, words: Columns) -> Integers:
        """Return the leading numbers of packed rows."""
        return words[0] >> self.first_shift

    def slot(self, words: Columns, slot: int) -> Integers:
        """Return the numbers in one slot of packed rows."""
        word, shift = self.places[slot]
        return (words[word] >> shift) & self.mask if shift else words[word] & self.mask

    def pack(self, first: Integers, slots: Sequence[Integers]) -> Columns:
        """Return rows packed from their parts; missing slots are 0."""
        words = [first << self.first_shift]
        words += [np.zeros(len(first), np.int64) for _ in range(1, self.words)]
        for values, (word, shift) in zip(slots, self.places, strict=False):
            words[word] |= values.astype(np.int64) << shift
        return tuple(words)

    def masks(self, slots: range) -> list[int]:
        """Return for each word the bits of some slots."""
        result = [0] * self.words
        for slot in slots:
            word, shift = self.places[slot]
            result[word] |= self.mask << shift
        return result

    def holds(self, other: Layout) -> bool:
        """Return whether this layout has room for all rows of the other one."""
        return self.first_bits >= other.first_bits and self.slot_bits >= other.slot_bits and self.slots >= other.slots

    def widened(self, first: int, value: int, slots: int) -> Layout:
        """Return this layout if it has room for the leading number, the value and the number of slots; else a wider one."""
        if first.bit_length() <= self.first_bits and value.bit_length() <= self.slot_bits and slots <= self.slots:
            return self
        return Layout(
            self.first_bits if first.bit_length() <= self.first_bits else first.bit_length() + 1,
            self.slot_bits if value.bit_length() <= self.slot_bits else value.bit_length(),
            max(slots, self.slots),
        )

    def converted(self, words: Columns, target: Layout) -> Columns:
        """Return rows of this layout in a wider one."""
        return target.pack(self.first(words), [self.slot(words, slot) for slot in range(self.slots)])


class Shapes:
    """Numbered functions from packed rows of one layout to those of another, applied to whole columns of rows.

    A shape is the leading number of the row, and its slots: a constant (0 or more), or ``~n`` for slot n of the source.
    """

    def __init__(self, source: Layout, target: Layout) -> None:
        self._specified: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._capacity = 16
        self.use(source, target)

    def use(self, source: Layout, target: Layout) -> None:
        """Change the layouts; the shapes are unchanged."""
        self._source, self._target = source, target
        self._constants = np.zeros((target.words, self._capacity), np.int64)
        self._factors = np.zeros((source.slots, target.words, self._capacity), np.int64)
        self._used: dict[int, set[int]] = {}
        for shape, (first, slots) in self._specified.items():
            self._enter(shape, first, slots)

    def define(self, shape: int, first: int, slots: Sequence[int]) -> None:
        """Define a shape."""
        self._specified[shape] = first, tuple(slots)
        if shape >= self._capacity:
            self._capacity = 2 * shape
            self.use(self._source, self._target)
        else:
            self._enter(shape, first, slots)

    def forget(self, shape: int) -> None:
        """Release the number of a shape."""
        del self._specified[shape]

    def _enter(self, shape: int, first: int, slots: Sequence[int]) -> None:
        self._constants[:, shape] = 0
        self._factors[:, :, shape] = 0
        self._constants[0, shape] = first << self._target.first_shift
        for term, (word, shift) in zip(slots, self._target.places, strict=False):
            if term >= 0:
                self._constants[word, shape] += term << shift
            else:
                self._factors[~term, word, shape] += 1 << shift
                self._used.setdefault(~term, set()).add(word)

    def apply(self, shapes: Integers, rows: Columns) -> Columns:
        """Return a row for each row, made by the shape with the given number."""
        words = [constants[shapes] for constants in self._constants]
        for slot, used in self._used.items():
            values = self._source.slot(rows, slot)
            for word in used:
                words[word] += values * self._factors[slot, word][shapes]
        return tuple(words)
