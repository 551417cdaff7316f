"""Bounds on documents: how large and how deep something may be before it is taken for an attack or an accident."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

from kg_reasoner.errors import ReasonerError, UnknownNameError

__all__ = ["DEFAULT_BOUNDS", "DocumentBounds", "bounds_from"]


@dataclass(frozen=True, slots=True)
class DocumentBounds:
    """What a document may have at most. A document that has more is refused with a `LoadError` that names the bound.

    Args:
        unpacked: bytes of a gzip file when it is unpacked.
        expansion: how many times its size a gzip file may have when it is unpacked, and XML when its entities are replaced; what
            stays below 64 MiB is never too much.
        line: bytes in a line of N-Triples or N-Quads.
        literal: bytes in a literal, or in anything else that is written without an end in sight, such as an IRI or a comment.
        depth: brackets or elements inside each other. JSON-LD may be nested `JSON_DEPTH` deep in any case and no deeper.

    Raises:
        ReasonerError: a bound is not a positive number.
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
                raise ReasonerError(f"the bound {name} is a positive integer, not {value!r}")

    def expanded(self, size: int) -> int:
        """The bytes that `size` bytes may become."""
        return max(_ALWAYS, self.expansion * size)


JSON_DEPTH: Final = 250
"""How deep JSON-LD may be nested: its parser calls itself for each level, and the stack of a thread may be small."""

_ALWAYS: Final = 1 << 26
_DIGITS: Final = 18
"""How many digits a bound may have."""
_NAMES: Final = tuple(entry.name for entry in fields(DocumentBounds))

DEFAULT_BOUNDS: Final = DocumentBounds()


def bounds_from(settings: Iterable[str]) -> DocumentBounds:
    """The bounds of texts such as ``depth=20000``.

    >>> bounds_from(["depth=20000"]).depth
    20000

    Raises:
        UnknownNameError: there is no such bound.
        ReasonerError: the value is not a positive integer.
    """
    values: dict[str, int] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in _NAMES:
            raise UnknownNameError("bound", name, _NAMES)
        if not value.isdecimal() or len(value) > _DIGITS:
            raise ReasonerError(
                f"the bound {name} is a positive integer, as in {name}={getattr(DEFAULT_BOUNDS, name)}, not {value!r}"
            )
        values[name] = int(value)
    return DocumentBounds(**values)


def hint_for(name: str) -> str:
    """How to raise a bound."""
    return f"if it is right, raise the bound: bounds=DocumentBounds({name}=...), --bound {name}=..."
