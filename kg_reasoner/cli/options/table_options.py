"""Tables that options of commands name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kg_reasoner.errors import LoadError

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.tables.table_facts import Nulls

__all__ = ["add_queries", "given_queries", "given_tables", "sql_options"]

_F = TypeVar("_F", bound=Callable[..., Any])


def sql_options(command: _F) -> _F:
    """Add the options that take facts from a database."""
    query = click.option(
        "--sql",
        "queries",
        metavar="NAME=QUERY",
        multiple=True,
        help="A query of SQL whose rows are facts of the relation NAME, with --database; repeatable.",
    )
    database = click.option(
        "--database",
        metavar="URL",
        help="The database of the queries, which is only read: sqlite:///FILE, duckdb:///FILE or postgresql://USER@HOST/NAME.",
    )
    return query(database(command))


def given_queries(queries: Iterable[str], database: str | None, tables: Mapping[str, Path]) -> dict[str, str]:
    """Return the queries that options give, by their relations.

    Raises:
        click.UsageError: An option does not name a relation and a query, a relation has two queries, or a query and a
            table, or there are queries without a database, or a database without queries.
    """
    found: dict[str, str] = {}
    for given in queries:
        name, equals, query = given.partition("=")
        name = name.strip()
        if not (name and equals and query.strip()):
            raise click.UsageError(
                f"--sql {given!r} does not name a relation and its query, as --sql 'edge=SELECT a, b FROM edges' does"
            )
        if name in found:
            raise click.UsageError(f"--sql has two queries for the relation {name}: join them with UNION ALL")
        if name in tables:
            raise click.UsageError(f"--sql and --table both give facts for the relation {name}: {query.strip()} and {tables[name]}")
        found[name] = query.strip()
    if found and database is None:
        raise click.UsageError("--sql needs --database URL, such as --database sqlite:///file.db")
    if database is not None and not found:
        raise click.UsageError("--database needs queries, such as --sql 'edge=SELECT a, b FROM edges'")
    return found


def add_queries(reasoner: Reasoner, queries: Mapping[str, str], url: str | None, *, nulls: Nulls) -> None:
    """Add the rows of queries as facts.

    Raises:
        LoadError: The database cannot be opened, a query fails, or its rows do not suit the relation.
        MissingExtraError: A library is not installed.
    """
    from kg_reasoner.tables.databases import opened

    if url is None:
        return
    with opened(url) as database:
        for predicate, query in queries.items():
            try:
                reasoner.add_table(predicate, database.execute(query), nulls=nulls)
            except database.error as error:
                raise LoadError(f"the query for {predicate} fails: {error}", hint=f"the query is {query}") from None
            except LoadError as error:
                raise LoadError(f"the query for {predicate}: {error}") from None


def given_tables(tables: Iterable[str]) -> dict[str, Path]:
    """Return the files that are named by options, by their relations.

    Raises:
        click.UsageError: An option does not name a relation and a file, or two of them name the same relation.
        LoadError: A file does not exist, or is a folder, a pipe or standard input.
    """
    files: dict[str, Path] = {}
    for given in tables:
        name, equals, path = given.partition("=")
        if not (name and equals and path):
            raise click.UsageError(f"--table {given} does not name a relation and its file, as --table edge=roads.csv does")
        if name in files:
            raise click.UsageError(f"--table names two files for the relation {name}: {files[name]} and {path}")
        files[name] = Path(path)
        if path == "-" or not files[name].is_file():
            raise _no_table(path)
    return files


def _no_table(given: str) -> LoadError:
    """Return the error that something is not the file of a table."""
    if given != "-" and not Path(given).exists():
        return LoadError(f"{given} does not exist")
    if Path(given).is_dir():
        return LoadError(f"{given} is a folder")
    shown = "standard input" if given == "-" else given
    return LoadError(f"{shown} cannot be read as a table", hint="save it in a file, whose name says the format")
