"""Facts in tables: one file a relation, one fact a line of TSV or CSV, without a header line, or a row of Parquet.

Columns without a declaration are of type ``any``; `kg_reasoner.storage.cells.table_terms` defines the cells of each type. A fact of
a relation without columns is the line ``()``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from kg_reasoner.errors import LoadError, plural, suggest
from kg_reasoner.io.delimited_text import DelimitedText, Record
from kg_reasoner.program import Column
from kg_reasoner.storage.cells.table_terms import Vocabulary, cell_reader, optional_of
from kg_reasoner.terms import Term

__all__ = ["NO_COLUMNS", "given_names", "read_facts"]

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
    """Yield the facts of a file in order; ``.csv`` is CSV (RFC 4180), ``.parquet`` is Parquet, anything else TSV.
    Text files may be compressed, with ``.gz``, ``.zst``, ``.bz2`` or ``.xz`` in addition.

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
    prefixes = prefixes or {}
    if path.suffix.lower() == _PARQUET:
        yield from _parquet_facts(path, columns or (), prefixes)
        return
    text = DelimitedText(path)
    records = text.records()
    if columns is not None and not columns and not wanted:
        yield from _facts_without_columns(text, records)
        return
    chosen: list[int] | None = None
    width = len(columns or ())
    if header or wanted is not None or columns is None:
        first = next(records, None)
        if first is None:
            return
        cells = text.cells(first)
        width = len(cells)
        if header or wanted is not None:
            chosen = _chosen(text, first, columns, wanted)
        else:
            records = chain([first], records)
        if columns is None:
            names = [f"column {number}" for number in range(1, width + 1)] if chosen is None else [cells[at] for at in chosen]
            columns = [Column(name) for name in names]
    yield from _TextFacts(text, columns, prefixes, width, chosen, skips=nulls == "skip").read(records)


def _facts_without_columns(text: DelimitedText, records: Iterable[Record]) -> Iterator[tuple[Term, ...]]:
    """Yield the facts of a relation without columns."""
    for record in records:
        line = record[1]
        if line and line != NO_COLUMNS:
            raise text.error(record, 0, len(line), f"a relation without columns has the line {NO_COLUMNS} or none")
        if line:
            yield ()


def given_names(names: Sequence[str], columns: Sequence[Column]) -> list[str] | None:
    """Return the names of a relation's columns if a table is read by them: it has all of them, or one in the place of another.

    Args:
        names: The names of the columns of the table.
        columns: The columns of the relation.

    Returns:
        The names, or None if the table is read by position.
    """
    own = [column.name for column in columns]
    is_misplaced = any(name in own and own[place : place + 1] != [name] for place, name in enumerate(names))
    is_complete = bool(own) and all(names.count(name) == 1 for name in own)
    return own if is_misplaced or is_complete else None


def _chosen(text: DelimitedText, header: Record, columns: Sequence[Column] | None, wanted: Sequence[str] | None) -> list[int]:
    """Return the places of the relation's columns in a file, by its header.

    Raises:
        LoadError: The header does not have them.
    """
    names = text.cells(header)
    if wanted is None and columns is not None:
        wanted = given_names(names, columns) if columns else []
    places = list(range(len(names)))
    if wanted is not None:
        for name in wanted:
            if names.count(name) != 1:
                wrong = f"{names.count(name)} columns {name}" if name in names else f"no column {name}{suggest(name, names)}"
                raise text.error(header, 0, len(header[1]), f"the header has {wrong}")
        places = [names.index(name) for name in wanted]
    if columns is not None and len(places) != len(columns):
        message = f"the header has {plural(len(places), 'column')} where {_relation_with(columns)}"
        raise text.error(header, 0, len(header[1]), message, text.other_separator_hint(header, len(columns)))
    return places


def _relation_with(columns: Sequence[Column]) -> str:
    return f"the relation has {plural(len(columns), 'column')} ({', '.join(column.name for column in columns)})"


class _TextFacts:
    """Reads the facts of CSV or TSV.

    Args:
        text: The file.
        columns: The columns of the relation.
        prefixes: Namespaces of prefixes in cells.
        width: The number of cells of each record.
        chosen: The places of the relation's columns among the cells; None: as they are.
        skips: Whether records with an empty cell where a value is needed are skipped.
    """

    def __init__(
        self,
        text: DelimitedText,
        columns: Sequence[Column],
        prefixes: Mapping[str, str],
        width: int,
        chosen: Sequence[int] | None,
        *,
        skips: bool,
    ) -> None:
        self._text, self._columns, self._width, self._chosen, self._skips = text, columns, width, chosen, skips
        self._terms = _terms_of(columns, prefixes)
        self._places = range(width) if chosen is None else chosen
        self._needed = [
            place for place, column in zip(self._places, columns, strict=True) if skips and optional_of(column.type) is None
        ]
        is_string = width == 1 == len(columns) and not text.is_csv and _meant(columns[0].type, prefixes) == "string"
        self._reads_empty_lines = is_string and not skips

    def read(self, records: Iterable[Record]) -> Iterator[tuple[Term, ...]]:
        """Yield the facts of records."""
        text, terms, places, width, needed = self._text, self._terms, self._places, self._width, self._needed
        for record in records:
            if not record[1] and not self._reads_empty_lines:
                continue
            cells = text.cells(record)
            if len(cells) != width:
                raise self._other_width(record, len(cells))
            if needed and not all(cells[place] for place in needed) and self._has_missing(record):
                continue
            try:
                fact = tuple([terms[column][cells[place]] for column, place in enumerate(places)])
            except _CellError as error:
                raise text.error(record, *text.places(record)[places[error.column]], str(error)) from None
            yield fact

    def _has_missing(self, record: Record) -> bool:
        """Return whether a cell that is needed is empty, and without quotation marks."""
        places = self._text.places(record)
        return any(start == end for start, end in map(places.__getitem__, self._needed))

    def _other_width(self, record: Record, count: int) -> LoadError:
        """Return the error that a record has another number of cells than there should be."""
        line = record[1]
        start, end = [*self._text.places(record)[self._width :], (len(line), len(line) + 1)][0]
        message = f"{plural(count, 'cell')} where {_relation_with(self._columns)}"
        if self._chosen is not None:
            message = f"{plural(count, 'cell')} where the header has {self._width}"
        return self._text.error(record, start, end, message, self._text.other_separator_hint(record, self._width))


def _meant(type_: str, prefixes: Mapping[str, str]) -> str:
    """Return what a type is another name of, or the type."""
    return prefixes.types.meant(type_) if isinstance(prefixes, Vocabulary) else type_


def _parquet_facts(path: Path, columns: Sequence[Column], prefixes: Mapping[str, str]) -> Iterator[tuple[Term, ...]]:
    from kg_reasoner.io.parquet import cells_of

    terms = _terms_of(columns, prefixes)
    for number, cells in cells_of(path, [column.name for column in columns]):
        try:
            fact = tuple([known[cell] for known, cell in zip(terms, cells, strict=True)])
        except _CellError as error:
            raise LoadError(f"{path}, row {number}: {error}") from None
        yield fact


# ---- cells


class _CellError(ValueError):
    """A cell is not of its column's type."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(message)
        self.column = column
        """The number of the column in the relation."""


class _Terms(dict[str, Term]):
    """The terms of the cells of a column, which are read when they are first looked up."""

    def __init__(self, number: int, column: Column, prefixes: Mapping[str, str]) -> None:
        self._number, self._name, self._read = number, column.name, cell_reader(column.type, prefixes)

    def __missing__(self, cell: str) -> Term:
        try:
            term = self._read(cell)
        except ValueError as error:
            raise _CellError(self._number, f"column {self._name}: {error}") from None
        if len(self) == _KNOWN:
            self.clear()
        self[cell] = term
        return term


def _terms_of(columns: Sequence[Column], prefixes: Mapping[str, str]) -> list[_Terms]:
    return [_Terms(number, column, prefixes) for number, column in enumerate(columns)]
