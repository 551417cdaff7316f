"""Texts that commands read: files, and standard input, in UTF-8 whatever the locale."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from kg_reasoner.errors import LoadError

__all__ = ["lines_of", "text_of"]


def lines_of(name: str, hint: str | None = None) -> Iterator[str]:
    """Yield the lines of a text as they come.

    Args:
        name: The name of its file, or ``-`` for standard input.
        hint: What to do if the file does not exist.

    Raises:
        LoadError: It cannot be read.
    """
    shown = "standard input" if name == "-" else name
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    text = line.decode("utf-8" if number > 1 else "utf-8-sig")
                except UnicodeDecodeError as error:
                    raise LoadError(f"cannot read {shown}: byte {error.start + 1} of line {number} is not UTF-8 text") from None
                yield from io.StringIO(text, newline=None)
    except FileNotFoundError:
        raise LoadError(f"{name} does not exist", hint=hint) from None
    except OSError as error:
        raise LoadError(f"cannot read {shown}: {error.strerror}") from None


def text_of(name: str, hint: str | None = None) -> str:
    """Return a whole text; the arguments are those of `lines_of`."""
    return "".join(lines_of(name, hint))
