"""A PostgreSQL server for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_HINT = "install PostgreSQL's server (Debian: postgresql), or set KG_REASONER_POSTGRESQL to the connection string of a database"


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the connection string of a database: the one that KG_REASONER_POSTGRESQL names, or one of a server that is started for
    the block. Skip the test if there is none.
    """
    with tempfile.TemporaryDirectory() as folder:  # which the server's user can enter, unlike pytest's
        yield from _database(Path(folder))


def _database(folder: Path) -> Iterator[str]:
    given = os.environ.get("KG_REASONER_POSTGRESQL")
    if given:
        yield given
        return
    programs = _programs()
    if programs is None:
        pytest.skip(f"no PostgreSQL: {_HINT}")
    as_owner: list[str] = []
    if os.name == "posix" and os.geteuid() == 0:  # the server refuses to run as root
        if shutil.which("runuser") is None or subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode:
            pytest.skip(f"PostgreSQL does not run as root: {_HINT}")
        as_owner = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres")
    data, options = folder / "data", f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    _run([*as_owner, programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8"])
    _run([*as_owner, programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"])
    try:
        yield f"postgresql://tester@/postgres?host={folder}"
    finally:
        _run([*as_owner, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"])


def _programs() -> Path | None:
    """Return the folder of the server's programs."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


def _run(command: list[str | Path]) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
