"""Errors of JSON lines with their places: Arrow says in which row an error is, counted from 0 and without empty lines."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Final

from kg_reasoner.errors import LoadError, Span

__all__ = ["json_lines_error"]

_IN_ROW: Final = re.compile(r"(?:JSON parse error: )?(.*?)\.? in row (\d+)", re.DOTALL)
_HINT: Final = "each line is an object, with values of one type for each key"
_SHOWN: Final = 1000
"""The most bytes of a line that are shown."""


def json_lines_error(path: Path, data: bytes, error: Exception) -> LoadError:
    """Return the error for one of Arrow.

    Args:
        path: The file.
        data: Its content, or nothing if Arrow has read it in several blocks, whose rows it counts apart.
        error: Arrow's error.

    Returns:
        An error that shows the line, if Arrow tells it.

    >>> error = ValueError("JSON parse error: Invalid value. in row 1")
    >>> print(json_lines_error(Path("p.jsonl"), b'{"x": 1}\\n\\n{"x": }\\n', error))
    p.jsonl:3:1: Invalid value
        3 | {"x": }
          | ^^^^^^^
    hint: each line is an object, with values of one type for each key
    """
    found = _IN_ROW.fullmatch(str(error))
    rows = ((number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip())
    number, line = next(itertools.islice(rows, int(found[2]), None), (0, b"")) if found else (0, b"")
    if found is None or not line:
        return LoadError(f"cannot read {path}: {error}", hint=_HINT)
    text = line[:_SHOWN].decode("utf-8", "replace").rstrip()
    return LoadError(found[1], Span(str(path), number, 1, len(text) + 1, text), _HINT)
