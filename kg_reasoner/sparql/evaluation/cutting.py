"""Texts of queries, cut at their constants."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

__all__ = ["Cut", "cut"]

_CONSTANT: Final = re.compile(r"""("[^"\\\n\r]*"|'[^'\\\n\r]*'|<[^<>"{}|^`\\\x00-\x20]*>|\#[^\n\r]*)""")
"""The places to cut a text: strings and IRIs; and comments, which may contain text that looks like them."""
_OUTSIDE: Final = ('"""', "'''", "\\", "\x00")
_LONGEST: Final = 1 << 12
"""The number of characters of the longest text that is cut."""


class Cut(NamedTuple):
    """A text that is cut at its constants. Texts with equal `outline` differ in constants only."""

    outline: tuple[str, ...]
    """The text between the constants, and their kinds."""
    constants: Sequence[str]

    def key(self, places: Collection[int]) -> tuple[object, ...]:
        """Return a key of the query without the constants at some positions."""
        return self.outline, *(constant for place, constant in enumerate(self.constants) if place not in places)


def cut(text: str) -> Cut | None:
    """Return a text cut at its constants; None if it has none, or that needs more than a look at quotation marks and brackets."""
    if len(text) > _LONGEST or not text.isascii() or any(mark in text for mark in _OUTSIDE):
        return None
    pieces = _CONSTANT.split(text)
    constants = pieces[1::2]
    kinds = "".join([constant[0] for constant in constants])
    return Cut((*pieces[::2], kinds), constants) if kinds.strip("#") else None
