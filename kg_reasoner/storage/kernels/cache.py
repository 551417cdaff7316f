"""Object code kept in files, which nobody else can have written.

Object code is run as it is, so it is read only where the folder and the file belong to the user and nobody else may write to them
(on POSIX; Windows protects the user's folders). A file is the SHA-256 of all that follows, as a line; a line of JSON with the
entries; and the object code.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import sys
import time
from pathlib import Path
from typing import TypeAlias

Compiled: TypeAlias = "tuple[dict[str, tuple[str, int]], bytes]"
"""Per entry its symbol and number of arguments; the object code."""

_MONTH = 30 * 86400
_DAY = 86400
_log = logging.getLogger(__name__)
_told: set[str] = set()


def cache_folder() -> Path:
    """Where object code is kept: ``KG_REASONER_CACHE``, or ``kg_reasoner`` in the user's cache folder.

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


def read(name: str) -> Compiled | None:
    """The object code in a file of the cache folder; None if there is none that is whole and can be trusted."""
    try:
        path = cache_folder() / name
        _expect_private(path.parent, path.parent.stat())
        with path.open("rb") as file:
            _expect_private(path, os.fstat(file.fileno()))
            return unpacked(file.read())
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:
        _tell(error)
        return None


def write(name: str, compiled: Compiled) -> None:
    """Write object code to a file of the cache folder, whole or not at all. Without a folder to write to, say so once."""
    try:
        path = cache_folder() / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _expect_private(path.parent, path.parent.stat())
        _write_whole(path, packed(compiled))
        _tidy(path)
    except (OSError, RuntimeError) as error:
        _tell(error)


def packed(compiled: Compiled) -> bytes:
    """The content of a file.

    >>> unpacked(packed(({"run": ("symbol", 1)}, b"code")))
    ({'run': ('symbol', 1)}, b'code')
    """
    entries, code = compiled
    body = json.dumps(entries).encode() + b"\n" + code
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpacked(content: bytes) -> Compiled | None:
    """What `packed` has packed; None if the content is anything else."""
    digest, _, body = content.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    header, _, code = body.partition(b"\n")
    return {name: (symbol, arguments) for name, (symbol, arguments) in json.loads(header).items()}, code


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
    """Write a file under another name first, which is gone whatever happens."""
    unfinished = path.with_name(f"{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        unfinished.touch(mode=0o600, exist_ok=False)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _tidy(path: Path) -> None:
    """Remove old files from the folder of a file: the object code of former versions, and what processes that were killed left."""
    for pattern, age in (("kernels-*.bin", _MONTH), ("kernels-*.tmp", _DAY)):
        for old in path.parent.glob(pattern):
            try:
                if old != path and time.time() - old.stat().st_mtime > age:
                    old.unlink()
            except OSError:  # another process removes them, too
                continue


def _tell(error: Exception) -> None:
    """Say once why the kernels will be compiled again next time."""
    reason = str(error)
    if reason not in _told:
        _told.add(reason)
        _log.warning("compiled kernels are not kept: %s; KG_REASONER_CACHE can name a folder of your own", reason)
