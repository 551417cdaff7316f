"""Bounds on the size and depth of documents, which guard against attacks and accidents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ReasonerError, UnknownNameError

__all__ = ["DEFAULT_BOUNDS", "DocumentBounds", "bounds_from"]


@dataclass(frozen=True, slots=True)
class DocumentBounds:
    """Bounds on a document. A document that exceeds a bound is rejected with a `LoadError` that names the bound.

    Args:
        unpacked: The maximal size of an unpacked file in bytes.
        expansion: The maximal ratio of expanded to original size, for unpacked files and for XML with its entities replaced.
            Up to 64 MiB are always allowed.
        line: The maximal length of a line of N-Triples or N-Quads in bytes.
        literal: The maximal length in bytes of a literal or any other token, such as an IRI or a comment.
        depth: The maximal depth of nested brackets or elements. For JSON-LD, the bound is always `JSON_DEPTH`.

    Raises:
        ReasonerError: A bound is not a positive number.
    """

    unpacked: int = 1 << 38
    expansion: int = 200
    line: int = 1 << 30
    literal: int = 1 << 26
    depth: int = 10_000

    def __post_init__(self) -> None:
        for name in _NAMES:
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ReasonerError(f"the bound {name} must be a positive integer, not {value!r}")

    def expanded(self, size: int) -> int:
        """Return the number of bytes that `size` bytes may expand to.

        Args:
            size: The number of bytes of the document as it is stored.

        Returns:
            The number.
        """
        return max(_ALWAYS, self.expansion * size)


JSON_DEPTH: Final = 250
"""The maximal depth of JSON-LD, whose parser is recursive; the stack of a thread may be small."""

_ALWAYS: Final = 1 << 26
_DIGITS: Final = 18
"""The maximal number of digits of a bound."""
_NAMES: Final = tuple(entry.name for entry in fields(DocumentBounds))

DEFAULT_BOUNDS: Final = DocumentBounds()


def bounds_from(settings: Iterable[str]) -> DocumentBounds:
    """Return the bounds given by texts such as ``depth=20000``.

    >>> bounds_from(["depth=20000"]).depth
    20000

    Args:
        settings: Texts of the form ``NAME=NUMBER``.

    Raises:
        UnknownNameError: The bound is unknown.
        ReasonerError: The value is not a positive integer.
    """
    values: dict[str, int] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in _NAMES:
            raise UnknownNameError("bound", name, _NAMES)
        if not value.isdecimal() or len(value) > _DIGITS:
            raise ReasonerError(
                f"the bound {name} must be a positive integer, as in {name}={getattr(DEFAULT_BOUNDS, name)}, not {value!r}"
            )
        values[name] = int(value)
    return DocumentBounds(**values)


def hint_for(name: str) -> str:
    """Return a hint that explains how to raise a bound."""
    return f"if it is right, raise the bound: bounds=DocumentBounds({name}=...), --bound {name}=..."
