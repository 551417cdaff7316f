"""Masks: the features known of one term, and their consequences that need no other term.

A *feature* is an atom about one term, ``?x``: membership of a class (``[?x, rdf:type, C]``) or of a helper predicate, having some
value of a property (``[?x, p, ?_]``), being one (``[?_, p, ?x]``), or having a given one. Rules about one variable are implications
between sets of features. There are few distinct sets, however many terms, so the driver closes each of them once and numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

__all__ = ["WORD_BITS", "Closure", "Mask", "Masks", "from_words", "to_words", "word_count"]

Mask: TypeAlias = frozenset[int]
"""The numbers of the features of a term."""

WORD_BITS: Final = 63
"""Bits in one column: a signed long without its sign."""

_SERIAL_BITS: Final = 32


def word_count(bits: int) -> int:
    """Return the number of columns for a number of bits, at least one."""
    return max(1, -(-bits // WORD_BITS))


def to_words(mask: Iterable[int], count: int) -> list[int]:
    """Return a mask as `count` words of bits.

    >>> to_words({0, 2, 63}, 2)
    [5, 1]
    """
    words = [0] * count
    for bit in mask:
        words[bit // WORD_BITS] |= 1 << bit % WORD_BITS
    return words


def from_words(words: Iterable[int]) -> Mask:
    """Return the inverse of `to_words`."""
    found = []
    for place, word in enumerate(words):
        while word:
            lowest = word & -word
            found.append(place * WORD_BITS + lowest.bit_length() - 1)
            word ^= lowest
    return frozenset(found)


class Masks:
    """Masks by number. A mask that contains another one has the greater number; that of the empty mask is 0.

    >>> masks = Masks()
    >>> masks.number(frozenset()), masks.number(frozenset([4])) < masks.number(frozenset([2, 4]))
    (0, True)
    >>> sorted(masks.of(masks.number(frozenset([2, 4]))))
    [2, 4]
    """

    def __init__(self) -> None:
        self._numbers: dict[Mask, int] = {frozenset(): 0}
        self._masks: dict[int, Mask] = {0: frozenset()}

    def number(self, mask: Mask) -> int:
        """Return the number of a mask."""
        number = self._numbers.get(mask)
        if number is None:
            number = self._numbers[mask] = len(mask) << _SERIAL_BITS | len(self._numbers)
            self._masks[number] = mask
        return number

    def of(self, number: int) -> Mask:
        """Return the mask with a number."""
        return self._masks[number]


class Closure:
    """Closes masks under implications: pairs of a mask, all of whose features are required, and the implied feature.

    >>> close = Closure([(frozenset([0]), 1), (frozenset([0, 1]), 2)])
    >>> sorted(close(frozenset([0]))), sorted(close(frozenset([1])))
    ([0, 1, 2], [1])
    """

    def __init__(self, implications: Sequence[tuple[Mask, int]]) -> None:
        self._unconditional = [head for body, head in implications if not body]
        self._by_feature: dict[int, list[tuple[Mask, int]]] = {}
        for body, head in implications:
            for feature in body:
                self._by_feature.setdefault(feature, []).append((body, head))
        self._known: dict[Mask, Mask] = {}

    def __call__(self, mask: Mask) -> Mask:
        """Return the least closed mask that contains a mask."""
        found = self._known.get(mask)
        if found is None:
            closed = {*mask, *self._unconditional}
            pending = list(closed)
            while pending:
                for body, head in self._by_feature.get(pending.pop(), ()):
                    if head not in closed and (len(body) == 1 or body <= closed):
                        closed.add(head)
                        pending.append(head)
            found = self._known[mask] = frozenset(closed)
        return found
