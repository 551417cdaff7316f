"""A cache of files between processes that other users cannot write: compiled kernels, and the tables of the parser.

Object code is run as it is, so a file is read only where it and its folder belong to the user and no other user may write to them
(on POSIX; Windows protects the user's folders). A file is the digest of its content, as a line, and the content.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

from kg_reasoner.digests import digest

__all__ = ["cache_folder", "read", "sealed", "unsealed", "write"]

_MONTH = 30 * 86400
_DAY = 86400
_logged: set[str] = set()


def cache_folder() -> Path:
    """Return the folder of the cache: ``KG_REASONER_CACHE``, or ``kg_reasoner`` in the user's cache folder.

    Raises:
        RuntimeError: the user has no home folder.
    """
    chosen = os.environ.get("KG_REASONER_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home())
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kg_reasoner"


def read(name: str) -> bytes | None:
    """Return the content of a file of the cache folder; None if no complete and trustworthy file exists."""
    try:
        path = cache_folder() / name
        _expect_private(path.parent, path.parent.stat())
        with path.open("rb") as file:
            _expect_private(path, os.fstat(file.fileno()))
            return unsealed(file.read())
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:
        _tell(error)
        return None


def write(name: str, content: bytes) -> None:
    """Write a file of the cache folder, whole or not at all. Without a folder to write to, say so once.

    Args:
        name: what the file is for, a hyphen, and what its content depends on. Files for the same purpose that are a month old are
            removed.
    """
    try:
        path = cache_folder() / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _expect_private(path.parent, path.parent.stat())
        _write_whole(path, sealed(content))
        _tidy(path)
    except (OSError, RuntimeError) as error:
        _tell(error)


def sealed(content: bytes) -> bytes:
    """Return a file whose content is known to be whole when it is read.

    >>> unsealed(sealed(b"content"))
    b'content'
    """
    return digest(content).encode() + b"\n" + content


def unsealed(file: bytes) -> bytes | None:
    """Return the content of a file made by `sealed`; None if it is not whole."""
    known, _, content = file.partition(b"\n")
    return content if digest(content).encode() == known else None


def _expect_private(path: Path, status: os.stat_result) -> None:
    """Check that only the user can have written to a file or folder.

    Raises:
        PermissionError: it belongs to another user, or others may write to it.
    """
    if sys.platform == "win32":
        return
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{path} can be written to by others (chmod go-w would change that)")


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, through a temporary file that is always removed."""
    unfinished = path.with_name(f"{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        unfinished.touch(mode=0o600, exist_ok=False)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _tidy(path: Path) -> None:
    """Remove old files for the same purpose: those of former versions, and temporary files of killed processes."""
    purpose = path.name.partition("-")[0]
    for pattern, age in ((f"{purpose}-*{path.suffix}", _MONTH), (f"{purpose}-*.tmp", _DAY)):
        for old in path.parent.glob(pattern):
            try:
                if old != path and time.time() - old.stat().st_mtime > age:
                    old.unlink()
            except OSError:  # another process removes them, too
                continue


def _tell(error: Exception) -> None:
    """Log once why the next process will have to compile again."""
    reason = str(error)
    if reason not in _logged:
        import logging

        _logged.add(reason)
        log = logging.getLogger(__name__)
        log.warning("what was compiled is not kept: %s; KG_REASONER_CACHE can name a folder of your own", reason)
