"""Columns of results of functions as texts of terms, in the form of `term_text`, without making terms of the common kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kg_reasoner.expressions.functions.kinds import SIMPLE, Kind
from kg_reasoner.terms import XSD, Literal, term_text

__all__ = ["longest", "texts_of", "texts_of_strings"]

_ESCAPED: Final = ('"', "\\", "\n", "\r")
_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'


def texts_of(kind: Kind, values: Sequence[Any]) -> list[str | None]:
    """Return the texts of results.

    Args:
        kind: The kind of the results.
        values: The results; None for an error.

    Returns:
        A text for each result; None for an error.
    """
    if kind is SIMPLE:
        texts = texts_of_strings([value for value in values if value is not None])
        if len(texts) == len(values):
            return [*texts]
        rest = iter(texts)
        return [None if value is None else next(rest) for value in values]
    write = kind.write
    return [
        None if value is None else f'"{value}{_INTEGER_END}' if type(value) is int else term_text(write(value)) for value in values
    ]


def texts_of_strings(values: Sequence[str]) -> list[str]:
    """Return the texts of strings without language tags."""
    together = "".join(values)
    if any(character in together for character in _ESCAPED):
        return [term_text(Literal(value)) for value in values]
    return [f'"{value}"' for value in values]


def longest(texts: Sequence[str | None]) -> int:
    """Return the length of the longest text; 0 if there is none."""
    return max((len(text) for text in texts if text is not None), default=0)
