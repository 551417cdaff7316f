"""Sets of features as bit masks: what is known of one term, and its consequences that need no other term.

A *feature* is an atom about one term, ``?x``: membership of a class (``[?x, rdf:type, C]``) or of a helper predicate, having some
value of a property (``[?x, p, ?_]``), being one (``[?_, p, ?x]``), or having a given one. Rules about one variable are implications
between sets of features. There are few distinct sets, however many terms, so the driver closes each of them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

__all__ = ["WORD_BITS", "Closure", "bits_of", "from_words", "to_words", "word_count"]

WORD_BITS: Final = 63
"""Bits in one column: a signed long without its sign."""

_WORD: Final = (1 << WORD_BITS) - 1


def word_count(bits: int) -> int:
    """Return the number of columns for a number of bits, at least one."""
    return max(1, -(-bits // WORD_BITS))


def to_words(mask: int, count: int) -> list[int]:
    """Return a mask as `count` words.

    >>> to_words(1 << 63 | 5, 2)
    [5, 1]
    """
    return [mask >> WORD_BITS * place & _WORD for place in range(count)]


def from_words(words: Iterable[int]) -> int:
    """Return the inverse of `to_words`."""
    return sum(word << WORD_BITS * place for place, word in enumerate(words))


def bits_of(mask: int) -> Iterator[int]:
    """Yield the numbers of the set bits, lowest first.

    >>> list(bits_of(0b1010))
    [1, 3]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Closure:
    """Closes masks under implications: pairs of a mask (all of whose bits must be set) and the implied mask.

    >>> close = Closure([(0b001, 0b010), (0b011, 0b100)])
    >>> bin(close(0b001)), bin(close(0b010))
    ('0b111', '0b10')
    """

    def __init__(self, implications: Sequence[tuple[int, int]]) -> None:
        self._unconditional = 0
        self._by_bit: dict[int, list[tuple[int, int]]] = {}
        for body, head in implications:
            if not body:
                self._unconditional |= head
            for bit in bits_of(body):
                self._by_bit.setdefault(bit, []).append((body, head))
        self._known: dict[int, int] = {}

    def __call__(self, mask: int) -> int:
        """Return the least closed mask that contains a mask."""
        closed = self._known.get(mask)
        if closed is None:
            closed, pending = 0, mask | self._unconditional
            while pending:
                closed |= pending
                new = 0
                for bit in bits_of(pending):
                    for body, head in self._by_bit.get(bit, ()):
                        if not body & ~closed:
                            new |= head
                pending = new & ~closed
            self._known[mask] = closed
        return closed

    def dependants(self, mask: int, gone: int, kept: int) -> int:
        """Return the overdeleted bits of a closed mask when bits are lost: the lost bits and their consequences, but not those in
        `kept`.

        >>> close = Closure([(0b001, 0b010), (0b011, 0b100)])
        >>> bin(close.dependants(0b111, gone=0b001, kept=0)), bin(close.dependants(0b111, gone=0b001, kept=0b100))
        ('0b111', '0b11')
        """
        doubtful, pending = 0, gone & mask & ~kept
        while pending:
            doubtful |= pending
            new = 0
            for bit in bits_of(pending):
                for body, head in self._by_bit.get(bit, ()):
                    if not body & ~mask:
                        new |= head & mask & ~kept
            pending = new & ~doubtful
        return doubtful
