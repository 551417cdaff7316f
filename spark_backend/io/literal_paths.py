"""Paths as Spark reads them: as patterns, unless their characters are escaped; and which local ones exist."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kg_reasoner.errors import LoadError

__all__ = ["escaped", "expect_local_files", "local_path", "without_patterns"]

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
    local = local_path(path)
    return escaped(path) if _SPECIAL.search(path) and local is not None and _exists(local) else path


def expect_local_files(paths: Iterable[str]) -> None:
    """Check that local paths exist, and the folders of local patterns. What a pattern matches, and other addresses, is Spark's.

    Raises:
        LoadError: A path or a folder does not exist.
    """
    for path in paths:
        local = local_path(path)
        if local is None or _exists(local):
            continue
        special = _SPECIAL.search(path)
        if special is None:
            raise LoadError(f"cannot read {path}: it does not exist")
        folder = local_path(path[: path.rfind("/", 0, special.start()) + 1])
        if folder is not None and not _exists(folder):
            raise LoadError(f"cannot read {path}: the folder {folder} does not exist")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a pattern may be too long for a name
        return False
