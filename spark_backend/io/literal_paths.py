"""Paths as Spark reads them: as patterns, unless their characters are escaped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

__all__ = ["escaped", "local_path", "without_patterns"]

_SPECIAL: Final = re.compile(r"([\\\[\]{}*?])")


def escaped(path: str) -> str:
    """Return a pattern that only one path matches.

    >>> escaped("/data/run [1]")
    '/data/run \\\\[1\\\\]'
    """
    return _SPECIAL.sub(r"\\\1", path)


def local_path(path: str) -> Path | None:
    """Return the local path of a path without a scheme, or with ``file:``; None for any other.

    >>> local_path("file:///data"), local_path("s3://bucket/data")
    (PosixPath('/data'), None)
    """
    if path.startswith("file:"):
        return Path("/" + path.removeprefix("file:").lstrip("/"))
    return None if "://" in path or path.startswith("dbfs:") else Path(path)


def without_patterns(path: str) -> str:
    """Return a path for Spark to read. A local path that exists with exactly this name is escaped; any other is a pattern."""
    if not _SPECIAL.search(path):
        return path
    local = local_path(path)
    try:
        return escaped(path) if local is not None and local.exists() else path
    except OSError:  # a pattern may be too long for a name
        return path
