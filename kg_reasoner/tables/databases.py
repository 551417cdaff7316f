"""Databases that a URL names, opened for reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from kg_reasoner.errors import LoadError, MissingExtraError, UnknownNameError

__all__ = ["SqlDatabase", "opened"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_PORT: Final = re.compile(r":([^:,\]]+)(?=,|\Z)")
"""The ports of the hosts of a URL, which are separated by commas."""
_SECRET: Final = re.compile(r"(?<=:)(?!//).*(?=@)|(?<=password=)[^&]*")


class SqlDatabase(NamedTuple):
    """An open database.

    Attributes:
        execute: Executes a query and returns a cursor of DB-API.
        close: Closes the connection; what a query has changed all the same is not committed.
        error: What queries and cursors raise.
    """

    execute: Callable[[str], Any]
    close: Callable[[], None]
    error: type[Exception]


_Opener: TypeAlias = Callable[[str, str], SqlDatabase]


@contextmanager
def opened(url: str) -> Iterator[SqlDatabase]:
    """Open a database for reading, and close it at the end of the block.

    Args:
        url: ``sqlite:///file.db``, or the path of a file of SQLite; ``duckdb:///file.duckdb``; ``postgresql://user@host/name``.
            After ``:///`` there is a path relative to the working directory, and after ``:////`` an absolute one.

    Raises:
        LoadError: The database cannot be opened; no message shows a password.
        MissingExtraError: The library that opens it is not installed.
        UnknownNameError: There is no such kind of database.
    """
    found = _SCHEME.match(url)
    scheme = "sqlite" if found is None else found[1].lower()
    if scheme not in _OPENERS:
        raise UnknownNameError("kind of database", scheme, _OPENERS)
    path = url if found is None else unquote(url[found.end() :].removeprefix("/"))
    database = _OPENERS[scheme](url, path)
    try:
        yield database
    finally:
        with suppress(database.error):
            database.close()


def _sqlite(url: str, path: str) -> SqlDatabase:
    import sqlite3

    def permitted(action: int, *_: str | None) -> int:
        """Refuse other files, which ATTACH, and VACUUM INTO by its means, would create."""
        return sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) else sqlite3.SQLITE_OK

    _expect_file(url, path)
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise _not_opened(url, error) from None
    connection.set_authorizer(permitted)
    return SqlDatabase(connection.execute, connection.close, sqlite3.Error)


def _duckdb(url: str, path: str) -> SqlDatabase:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("a database of DuckDB", "duckdb") from None
    _expect_file(url, path)
    try:
        connection = duckdb.connect(path, read_only=True, config={"enable_external_access": "false"})
    except duckdb.Error as error:
        raise _not_opened(url, error) from None
    return SqlDatabase(connection.execute, connection.close, duckdb.Error)


def _postgresql(url: str, path: str) -> SqlDatabase:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("a database of PostgreSQL", "postgresql") from None

    if urlsplit(url).netloc.count("@") > 1:  # the library would take a part of the password for the host, and show it
        shown = _SECRET.sub("***", url)
        raise LoadError(f"cannot open the database {shown}: it has more than one @", hint="write %40 for an @ in a password")

    for port in _PORT.findall(urlsplit(url).netloc.rpartition("@")[2]):
        if not port.isdecimal() or not 0 < int(port) < 1 << 16:
            message = f"cannot open the database {_SECRET.sub('***', url)}: {port} is not a port"
            raise LoadError(message, hint="a port is a number up to 65535, as in postgresql://user@host:5432/name")

    def execute(query: str) -> Any:
        cursor = connection.cursor("kg_reasoner")  # on the server, which sends the rows of a SELECT in blocks
        cursor.execute(query)  # type: ignore[arg-type, unused-ignore]
        return cursor

    try:
        connection = psycopg.connect(url)
        connection.read_only = True
    except psycopg.Error as error:
        raise _not_opened(url, error) from None
    return SqlDatabase(execute, connection.close, psycopg.Error)


def _expect_file(url: str, path: str) -> None:
    if not Path(path).is_file():
        hint = "sqlite:///file.db is a file in the working directory, sqlite:////folder/file.db has an absolute path"
        raise LoadError(f"cannot open the database {url}: {path or 'the file'} does not exist", hint=hint)


def _not_opened(url: str, error: Exception) -> LoadError:
    return LoadError(f"cannot open the database {_SECRET.sub('***', url)}: {error}")


_OPENERS: Final[dict[str, _Opener]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "postgres": _postgresql,
}
