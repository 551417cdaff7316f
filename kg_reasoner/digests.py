"""Digests of cached contents of files, and of the sources on which they depend."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:  # hashlib loads OpenSSL, which takes longer than all digests of a process
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

__all__ = ["digest", "digest_of_files", "python_sources"]


def digest(content: bytes, size: int = 16) -> str:
    """Return the digest of some content (BLAKE2b), as hexadecimal digits.

    >>> digest(b"content", 4)
    'c9df5c48'
    """
    return blake2b(content, digest_size=size).hexdigest()


def digest_of_files(paths: Iterable[str | Path]) -> str:
    """Return the digest of the contents of files, in their order."""
    contents = []
    for path in paths:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  many files, read at each start
            contents.append(file.read())
    return digest(b"".join(contents))


def python_sources(folder: Path) -> list[str]:
    """Return the paths of the Python files of a folder and its subfolders, in an order that is always the same."""
    found = [f"{path}{os.sep}{name}" for path, _, names in os.walk(folder) for name in names if name.endswith(".py")]
    return sorted(found)
