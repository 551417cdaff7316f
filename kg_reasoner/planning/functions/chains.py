"""Functions that are applied to their own results, as in a recursion that counts: the next results, before kernels request them.

A recursion such as ``n(?y) :- n(?x), BIND(?x + 1 AS ?y)`` requests one result in each round, and switching from the kernels to
Python and back costs more than computing the result. If each request is for the last result, further results are computed ahead:
twice as many each time, so that at most half of them are not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import XSD, Literal, Term, term_text

__all__ = ["Chains"]

LONGEST: Final = 1024
"""The most results that are computed at once."""

DIGITS: Final = 18
"""The most characters of these results, which are integers: larger ones may grow with each step."""


class Chains:
    """How far the functions of a database are computed ahead."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._ends: dict[int, tuple[int, int]] = {}
        """For each function the last result, and how many were computed with it."""

    def further(self, function: int, argument: int, result: int, evaluate: Callable[[Sequence[Term]], Term | bool | None]) -> Ids:
        """Return the results of repeated application to a requested result: the function of it, the function of that, and so on;
        none if the request was not for the last result.

        Args:
            function: A number for the function.
            argument: The id of its argument.
            result: The id of its result for this argument.
            evaluate: The function.
        """
        end, length = self._ends.get(function, (-1, 0))
        length = min(2 * length, LONGEST) if argument == end else 1
        texts: list[str] = []
        value: Term | bool | None = self._dictionary.decode(result) if length > 1 else None
        while len(texts) < length - 1 and _is_short(value):
            try:
                value = evaluate((value,))  # type: ignore[arg-type]  # a literal
            except ValueTooLargeError:  # which is an error only if it is requested
                break
            if _is_short(value):
                texts.append(term_text(value))  # type: ignore[arg-type]
        ids = self._dictionary.encode_texts(texts)
        self._ends[function] = int(ids[-1]) if len(ids) else result, length
        return ids


def _is_short(value: Term | bool | None) -> bool:
    return isinstance(value, Literal) and value.datatype == XSD.integer.value and len(value.lexical) <= DIGITS
