"""Tables that options of commands name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kg_reasoner.errors import LoadError, ReasonerError

__all__ = ["given_tables"]


def given_tables(tables: Iterable[str]) -> dict[str, Path]:
    """Return the files that are named by options, by their relations.

    Raises:
        ReasonerError: An option does not name a relation and a file, or two of them name the same relation.
    """
    files: dict[str, Path] = {}
    for given in tables:
        name, equals, path = given.partition("=")
        if not (name and equals and path):
            raise ReasonerError(f"--table {given} does not name a relation and its file, as --table edge=roads.csv does")
        if name in files:
            raise ReasonerError(f"--table names two files for the relation {name}: {files[name]} and {path}")
        files[name] = Path(path)
        if not files[name].is_file():
            raise LoadError(f"{path} does not exist")
    return files
