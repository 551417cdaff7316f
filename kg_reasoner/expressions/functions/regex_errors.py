"""Errors in regular expressions. A separate module, because processes without regular expressions need not load the translator."""

from __future__ import annotations

from typing import Final

__all__ = ["PatternError"]

_SHOWN: Final = 80
"""The number of characters of a pattern that a message shows."""


class PatternError(ValueError):
    """A pattern, flags or a replacement that XPath does not allow, or that cannot be matched in linear time.

    Args:
        code: XPath's, FORX0001 to FORX0004.
        message: The error.
        text: The pattern, the flags or the replacement.
        place: Where it is wrong, counted from 0; None: the error is about the whole text.
    """

    def __init__(self, code: str, message: str, text: str = "", place: int | None = None) -> None:
        self.code, self.place = code, place
        shown = repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
        where = "" if place is None else f" at character {place + 1} of {shown}"
        super().__init__(f"{message}{where} (err:{code})")
