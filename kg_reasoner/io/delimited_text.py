"""CSV (RFC 4180) and TSV: records, their cells, and errors that show the place of a cell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from kg_reasoner.errors import LoadError, Span
from kg_reasoner.io.unpacking import format_ending, unpacked_file

__all__ = ["DelimitedText", "Record"]

Record: TypeAlias = tuple[int, str]
"""The number of the first line, and the text without the last line break."""

_UNQUOTED_HINT: Final = 'put the cell in quotation marks and double those inside: "say ""hello"""'


class DelimitedText:
    """A file of CSV, if its name ends in ``.csv``, or of TSV, maybe compressed.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_csv = format_ending(path) == ".csv"
        self._separator = "," if self.is_csv else "\t"

    def records(self) -> Iterator[Record]:
        """Yield the lines of the file; in CSV, join lines continued by a quoted line break.

        Raises:
            LoadError: The file is missing, broken or not in UTF-8, or a quotation is not closed.
        """
        pending, first, quotes = "", 0, 0
        with unpacked_file(self.path) as file:
            for number, data in enumerate(file, 1):
                line = self._decoded(number, data)
                quotes += line.count('"') if self.is_csv else 0
                if quotes % 2:
                    first = first or number
                    pending += line
                    continue
                yield first or number, (pending + line).removesuffix("\n").removesuffix("\r")
                pending, first, quotes = "", 0, 0
        if pending:
            raise self.error((first, pending), pending.index('"'), pending.index('"') + 1, "the quotation is not closed")

    def _decoded(self, number: int, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            shown = data.decode("utf-8", "replace").rstrip("\r\n")
            start = len(data[: error.start].decode("utf-8"))
            message = f"byte {data[error.start]:#04x} is not UTF-8 text"
            raise self.error((number, shown), start, start + 1, message) from None

    def cells(self, record: Record) -> list[str]:
        """Return the cells of a record.

        Raises:
            LoadError: A quotation mark is misplaced.
        """
        if self.is_csv and '"' in record[1]:
            return [cell for cell, _, _ in self._quoted_cells(record)]
        return record[1].split(self._separator)

    def places(self, record: Record) -> list[tuple[int, int]]:
        """Return where the cells of a record begin and end in its text, with their quotation marks."""
        if self.is_csv and '"' in record[1]:
            return [(start, end) for _, start, end in self._quoted_cells(record)]
        places, start = [], 0
        for cell in record[1].split(self._separator):
            places.append((start, start + len(cell)))
            start += len(cell) + 1
        return places

    def _quoted_cells(self, record: Record) -> list[tuple[str, int, int]]:
        """Return the cells of a record of CSV with the start and end of their text."""
        line = record[1]
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
                    raise self.error(record, end, end + 1, "a quoted cell goes on after its closing quotation mark")
            else:
                end = line.find(",", start)
                end = len(line) if end < 0 else end
                if '"' in line[start:end]:
                    place = line.index('"', start)
                    raise self.error(record, place, place + 1, "a quotation mark in a cell that is not quoted", _UNQUOTED_HINT)
                cells.append((line[start:end], start, end))
            if end >= len(line):
                return cells
            start = end + 1

    def error(self, record: Record, start: int, end: int, message: str, hint: str | None = None) -> LoadError:
        """Return an error that shows a part of a record's text."""
        number, line = record
        return LoadError(message, Span(str(self.path), number, start + 1, max(end, start + 1) + 1, line.partition("\n")[0]), hint)

    def other_separator_hint(self, record: Record, columns: int) -> str | None:
        """Return a hint if a record without separators has the expected number of cells in the other format, or None."""
        other, suffix = ("\t", ".tsv") if self.is_csv else (",", ".csv")
        fits = columns > 1 and self._separator not in record[1] and record[1].count(other) == columns - 1
        return f"the line has {columns} cells as {suffix[1:].upper()}: rename the file to {suffix}" if fits else None
