"""Facts in tables: one file a relation, one fact a line of TSV or CSV, without a header line, or a row of Parquet.

Columns without a declaration are of type ``any``; `kg_reasoner.storage.table_terms` defines the cells of each type. A fact of
a relation without columns is the line ``()``.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, cast

from kg_reasoner.errors import LoadError, Span, plural, suggest
from kg_reasoner.program import Column
from kg_reasoner.storage.table_terms import Vocabulary, cell_reader, optional_of
from kg_reasoner.terms import Term

__all__ = ["NO_COLUMNS", "read_facts"]

_PARQUET: Final = ".parquet"
NO_COLUMNS: Final = "()"
"""The line of a fact without arguments."""
_KNOWN: Final = 100_000
"""The number of cells of a column that are cached with their terms."""


def read_facts(
    path: Path,
    columns: Sequence[Column] | None,
    prefixes: Mapping[str, str] | None = None,
    *,
    header: bool = False,
    wanted: Sequence[str] | None = None,
    nulls: str = "error",
) -> Iterator[tuple[Term, ...]]:
    """Yield the facts of a file in order; ``.csv`` is CSV (RFC 4180), ``.parquet`` is Parquet, anything else TSV;
    ``.gz`` is compressed.

    Args:
        path: The file.
        columns: The columns of the relation; None: as many as there are in the file, of type ``any``.
        prefixes: Namespaces of prefixes in cells.
        header: Whether CSV and TSV have the names of their columns in the first line.
        wanted: The names of the columns that are the arguments of the relation. By default, those of the relation if the header
            has all of them, and otherwise all columns of the file.
        nulls: ``skip``: lines with an empty cell without quotation marks in one of the columns are not read as facts.

    Raises:
        LoadError: The file is missing or broken, a line has another number of cells than there are columns, or a cell is not of its
            column's type; the error shows the place.
        MissingExtraError: Parquet needs pyarrow.
    """
    if path.name.endswith(_PARQUET):
        yield from _parquet_facts(path, columns or (), prefixes or {})
        return
    separator = "," if path.name.removesuffix(".gz").endswith(".csv") else "\t"
    records = _records(path, separator)
    chosen: list[int] | None = None
    width = None if columns is None else len(columns)
    header = header and width != 0  # a relation without columns has no names of columns
    if header or wanted is not None or columns is None:
        first = next(records, None)
        if first is None:
            return
        cells = _cells(path, *first, separator)
        if header or wanted is not None:
            chosen = _chosen(path, first, cells, columns, wanted, separator)
        else:
            records = chain([first], records)
        if columns is None:
            names = [f"column {number}" for number in range(1, len(cells) + 1)] if chosen is None else [cells[at] for at in chosen]
            columns = [Column(name) for name in names]
        width = len(cells)
    single_string = width == 1 == len(columns or ()) and separator == "\t" and _meant(columns[0].type, prefixes or {}) == "string"
    yield from _read(path, records, separator, columns or (), width or 0, chosen, prefixes or {}, single_string, nulls == "skip")


def _meant(type_: str, prefixes: Mapping[str, str]) -> str:
    """Return what a type is another name of, or the type."""
    return prefixes.types.meant(type_) if isinstance(prefixes, Vocabulary) else type_


def _read(
    path: Path,
    records: Iterable[tuple[int, str]],
    separator: str,
    columns: Sequence[Column],
    width: int,
    chosen: Sequence[int] | None,
    prefixes: Mapping[str, str],
    single_string: bool,
    skips: bool,
) -> Iterator[tuple[Term, ...]]:
    """Yield the facts of the records of a file that have `width` cells, of which some are `chosen`, in this order."""
    readers = [cell_reader(column.type, prefixes) for column in columns]
    known: list[dict[str, Term]] = [{} for _ in columns]
    needed = [optional_of(column.type) is None for column in columns]
    for number, line in records:
        if not line and (skips or not single_string):
            continue
        if not columns:
            if line != NO_COLUMNS:
                raise _wrong(path, number, line, 0, len(line), f"a relation without columns has the line {NO_COLUMNS} or none")
            yield ()
            continue
        cells = _cells(path, number, line, separator)
        if len(cells) != width:
            start, end = [*_places(path, number, line, separator)[width:], (len(line), len(line) + 1)][0]
            names = ", ".join(column.name for column in columns)
            message = f"{plural(len(cells), 'cell')} where the relation has {plural(len(columns), 'column')} ({names})"
            if chosen is not None:
                message = f"{len(cells)} cells where the header has {width}"
            raise _wrong(path, number, line, start, end, message, _separator_hint(line, separator, width))
        places = range(width) if chosen is None else chosen
        wanted = [place for place, is_needed in zip(places, needed, strict=True) if is_needed]
        if skips and any(not cells[place] for place in wanted):
            spans = _places(path, number, line, separator)
            if any(spans[place][0] == spans[place][1] for place in wanted):
                continue
        fact: list[Term] = []
        for column, place in enumerate(places):
            cell = cells[place]
            term = known[column].get(cell)
            if term is None:
                try:
                    term = readers[column](cell)
                except ValueError as error:
                    start, end = _places(path, number, line, separator)[place]
                    raise _wrong(path, number, line, start, end, f"column {columns[column].name}: {error}") from None
                if len(known[column]) < _KNOWN:
                    known[column][cell] = term
            fact.append(term)
        yield tuple(fact)


def _cells(path: Path, number: int, line: str, separator: str) -> list[str]:
    if separator == "," and '"' in line:
        return [cell for cell, _, _ in _csv_cells(path, number, line)]
    return line.split(separator)


def _chosen(
    path: Path,
    header: tuple[int, str],
    names: list[str],
    columns: Sequence[Column] | None,
    wanted: Sequence[str] | None,
    separator: str,
) -> list[int]:
    """Return the places of the relation's columns in a file, by its header.

    Raises:
        LoadError: The header does not have them.
    """
    if wanted is None and columns is not None and all(names.count(column.name) == 1 for column in columns):
        wanted = [column.name for column in columns]
    places = list(range(len(names)))
    if wanted is not None:
        for name in wanted:
            if names.count(name) != 1:
                what = f"{names.count(name)} columns" if name in names else "no column"
                raise _wrong(path, *header, 0, len(header[1]), f"the header has {what} {name}{suggest(name, names)}")
        places = [names.index(name) for name in wanted]
    if columns is not None and len(places) != len(columns):
        listed = ", ".join(column.name for column in columns)
        message = (
            f"the header has {plural(len(places), 'column')} where the relation has {plural(len(columns), 'column')} ({listed})"
        )
        raise _wrong(path, *header, 0, len(header[1]), message, _separator_hint(header[1], separator, len(columns)))
    return places


def _parquet_facts(path: Path, columns: Sequence[Column], prefixes: Mapping[str, str]) -> Iterator[tuple[Term, ...]]:
    from kg_reasoner.io.parquet import cells_of

    readers = [cell_reader(column.type, prefixes) for column in columns]
    known: list[dict[str, Term]] = [{} for _ in columns]
    for number, cells in cells_of(path, [column.name for column in columns]):
        for place, cell in enumerate(cells):
            if cell not in known[place]:
                if len(known[place]) == _KNOWN:
                    known[place].clear()
                try:
                    known[place][cell] = readers[place](cell)
                except ValueError as error:
                    raise LoadError(f"{path}, row {number}: column {columns[place].name}: {error}") from None
        yield tuple(terms[cell] for terms, cell in zip(known, cells, strict=True))


def _separator_hint(line: str, separator: str, columns: int) -> str | None:
    other, suffix = ("\t", ".tsv") if separator == "," else (",", ".csv")
    fits = columns > 1 and separator not in line and line.count(other) == columns - 1
    return f"the line has {columns} cells as {suffix[1:].upper()}: rename the file to {suffix}" if fits else None


def _wrong(path: Path, number: int, line: str, start: int, end: int, message: str, hint: str | None = None) -> LoadError:
    shown = line.partition("\n")[0]
    return LoadError(message, Span(str(path), number, start + 1, max(end, start + 1) + 1, shown), hint)


def _records(path: Path, separator: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, without line breaks; in CSV, join lines continued by a quoted line break."""
    pending, first, quotes = "", 0, 0
    try:
        with path.open("rb") as raw, ExitStack() as stack:
            file = cast(BinaryIO, stack.enter_context(gzip.open(raw))) if path.name.endswith(".gz") else raw
            for number, data in enumerate(file, 1):
                try:
                    line = data.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    shown = data.decode("utf-8", "replace").rstrip("\r\n")
                    message = f"byte {data[error.start]:#04x} is not UTF-8 text"
                    start = len(data[: error.start].decode("utf-8"))
                    raise _wrong(path, number, shown, start, start + 1, message) from None
                quotes += line.count('"') if separator == "," else 0
                if quotes % 2:
                    first = first or number
                    pending += line
                    continue
                yield first or number, (pending + line).removesuffix("\n").removesuffix("\r")
                pending, first, quotes = "", 0, 0
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise LoadError(f"{path} does not exist") from None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LoadError(f"cannot read {path}: {reason}") from error
    if pending:
        raise _wrong(path, first, pending, pending.index('"'), pending.index('"') + 1, "the quotation is not closed")


def _csv_cells(path: Path, number: int, line: str) -> list[tuple[str, int, int]]:
    """Return the cells of a CSV record with the start and end of their text."""
    cells: list[tuple[str, int, int]] = []
    start = 0
    while True:
        if line.startswith('"', start):
            end = start + 1
            while (end := line.index('"', end)) + 1 < len(line) and line[end + 1] == '"':
                end += 2
            cells.append((line[start + 1 : end].replace('""', '"'), start, end + 1))
            end += 1
            if end < len(line) and line[end] != ",":
                raise _wrong(path, number, line, end, end + 1, "a quoted cell goes on after its closing quotation mark")
        else:
            end = line.find(",", start)
            end = len(line) if end < 0 else end
            if '"' in line[start:end]:
                place = line.index('"', start)
                hint = 'put the cell in quotation marks and double those inside: "say ""hello"""'
                raise _wrong(path, number, line, place, place + 1, "a quotation mark in a cell that is not quoted", hint)
            cells.append((line[start:end], start, end))
        if end >= len(line):
            return cells
        start = end + 1


def _places(path: Path, number: int, line: str, separator: str) -> list[tuple[int, int]]:
    if separator == "," and '"' in line:
        return [(start, end) for _, start, end in _csv_cells(path, number, line)]
    places, start = [], 0
    for cell in line.split(separator):
        places.append((start, start + len(cell)))
        start += len(cell) + 1
    return places
