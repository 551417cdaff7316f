"""Facts in tables: one file a relation, one fact a line of TSV or CSV, without a header line, or a row of Parquet.

Columns without a declaration are of type ``any``; `kg_reasoner.storage.table_terms` defines the cells of each type. A fact of
a relation without columns is the line ``()``.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, TypeAlias, cast
from urllib.parse import quote

from kg_reasoner.errors import LoadError, Span, suggest
from kg_reasoner.expressions.values import value_of
from kg_reasoner.io.files import write_rows
from kg_reasoner.program import AUXILIARY, FALSE, TRIPLE, Column, Program, atoms_within
from kg_reasoner.storage.table_terms import cell_reader, format_cell
from kg_reasoner.terms import XSD, Literal, Term

__all__ = ["Relations", "doubts", "fact_files", "file_stem", "output_relations", "read_facts", "relations_of", "write_facts"]

Relations: TypeAlias = dict[str, tuple[Column, ...]]
"""The columns of each relation, by its predicate."""

_PARQUET: Final = ".parquet"
_SUFFIXES: Final = (".tsv", ".csv", ".facts", ".tsv.gz", ".csv.gz", ".facts.gz", _PARQUET)
_NO_COLUMNS: Final = "()"
_KNOWN: Final = 100_000
"""How many cells of a column are remembered with their terms."""

# ---- relations and their files


def relations_of(program: Program) -> Relations:
    """Return the columns of each relation of a program: as declared, or of type ``any`` for the arguments of its atoms.

    RDF triples and the head of constraints are not relations.
    """
    relations: Relations = {declaration.predicate: declaration.columns for declaration in program.declarations}
    for rule in program.rules:
        for atom in (rule.head, *atoms_within(rule.body)):
            if atom.predicate.startswith(AUXILIARY):
                continue
            if atom.predicate not in (TRIPLE, FALSE) and atom.predicate not in relations:
                relations[atom.predicate] = tuple(Column(f"column {number}") for number in range(1, atom.arity + 1))
    return relations


def output_relations(program: Program) -> Relations:
    """Return the relations to write: those declared as output or, without any, those that rules with a body derive."""
    relations = relations_of(program)
    wanted = [declaration.predicate for declaration in program.declarations if declaration.role == "output"]
    if not wanted:
        wanted = [rule.head.predicate for rule in program.rules if rule.body and rule.head.predicate in relations]
    return {predicate: relations[predicate] for predicate in dict.fromkeys(wanted)}


def file_stem(predicate: str) -> str:
    """Return the file name of a relation, without suffix: the predicate; for an IRI, the IRI with special characters
    percent-encoded.

    >>> file_stem("edge"), file_stem("<http://example.org/edge>")
    ('edge', 'http%3A%2F%2Fexample.org%2Fedge')
    """
    return quote(predicate[1:-1], safe="") if predicate.startswith("<") else predicate


def fact_files(program: Program, folder: str | Path | None) -> dict[str, Path]:
    """Return the files of facts for a program's relations, by predicate. Every declared input must have one; other relations
    may.

    Relations that are declared as output are not read.

    Raises:
        LoadError: There is no such folder, no file for a declared input, or more than one file for a relation.
    """
    directory = None if folder is None else Path(folder)
    if directory is not None and not directory.is_dir():
        raise LoadError(f"{folder} is not a folder", hint="name the folder that has a file such as edge.tsv for each relation")
    inputs = {declaration.predicate: declaration for declaration in program.declarations if declaration.role == "input"}
    outputs = {declaration.predicate for declaration in program.declarations if declaration.role == "output"}
    files: dict[str, Path] = {}
    for predicate in (name for name in relations_of(program) if name not in outputs):
        stem = file_stem(predicate)
        found = [] if directory is None else [path for suffix in _SUFFIXES if (path := directory / f"{stem}{suffix}").is_file()]
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise LoadError(f"{directory} has more than one file for the relation {predicate}: {names}", hint="keep one of them")
        if found:
            files[predicate] = found[0]
        elif predicate in inputs:
            where, hint = "no folder of facts was given", "name the folder (--facts on the command line)"
            if directory is not None:
                where, hint = (
                    f"{directory} has no {stem}.tsv, .csv, .facts or .parquet",
                    "for an input without facts, create an empty file",
                )
            raise LoadError(f"no facts for the input relation {predicate}: {where}", inputs[predicate].span, hint)
    return files


def doubts(program: Program, folder: str | Path | None, files: Mapping[str, Path]) -> Iterator[str]:
    """Yield warnings about likely mistakes, such as typing errors: files that no relation reads, and relations without facts.

    Args:
        program: The program.
        folder: The folder with its facts, if there is one.
        files: The files that are read, as `fact_files` gives them.
    """
    relations = relations_of(program)
    stems = {file_stem(predicate) for predicate in relations}
    names = [] if folder is None else sorted(path.name for path in Path(folder).iterdir())
    suffixes = {name: next((suffix for suffix in reversed(_SUFFIXES) if name.endswith(suffix)), "") for name in names}
    for name, suffix in suffixes.items():
        stem = name.removesuffix(suffix)
        if suffix and stem not in stems:
            yield f"{folder}/{name} is not read: the program has no relation {stem}{suggest(stem, stems)}"
    filled = {*files, *(declaration.predicate for declaration in program.declarations if declaration.role == "input")}
    filled.update(rule.head.predicate for rule in program.rules)
    similar = {*filled, *(name.removesuffix(suffix) for name, suffix in suffixes.items() if suffix)}
    told: set[str] = set()
    for rule in program.rules:
        for atom in atoms_within(rule.body):
            if atom.predicate in relations and atom.predicate not in filled | told:
                told.add(atom.predicate)
                span = atom.span or rule.origin.span
                where = f"{span.source}:{span.line}:{span.column}: " if span is not None else ""
                nothing = "no rule derives any, and no file contains any"
                yield f"{where}the relation {atom.predicate} has no facts: {nothing}{suggest(atom.predicate, similar)}"


# ---- reading


def read_facts(path: Path, columns: Sequence[Column], prefixes: Mapping[str, str] | None = None) -> Iterator[tuple[Term, ...]]:
    """Yield the facts of a file in order; ``.csv`` is CSV (RFC 4180), ``.parquet`` is Parquet, anything else TSV;
    ``.gz`` is compressed.

    Raises:
        LoadError: The file is missing or broken, a line has another number of cells than there are columns, or a cell is not of its
            column's type; the error shows the place.
        MissingExtraError: Parquet needs pyarrow.
    """
    if path.name.endswith(_PARQUET):
        yield from _parquet_facts(path, columns, prefixes or {})
        return
    separator = "," if path.name.removesuffix(".gz").endswith(".csv") else "\t"
    single_string = len(columns) == 1 and columns[0].type == "string" and separator == "\t"
    readers = [cell_reader(column.type, prefixes or {}) for column in columns]
    known: list[dict[str, Term]] = [{} for _ in columns]
    for number, line in _records(path, separator):
        if not line and not single_string:
            continue
        if not columns:
            if line != _NO_COLUMNS:
                raise _wrong(path, number, line, 0, len(line), f"a relation without columns has the line {_NO_COLUMNS} or none")
            yield ()
            continue
        quoted = separator == "," and '"' in line
        cells = [cell for cell, _, _ in _csv_cells(path, number, line)] if quoted else line.split(separator)
        if len(cells) != len(columns):
            start, end = [*_places(path, number, line, separator)[len(columns) :], (len(line), len(line) + 1)][0]
            names = ", ".join(column.name for column in columns)
            message = f"{len(cells)} cells where the relation has {len(columns)} columns ({names})"
            raise _wrong(path, number, line, start, end, message, _separator_hint(line, separator, len(columns)))
        fact: list[Term] = []
        for place, cell in enumerate(cells):
            term = known[place].get(cell)
            if term is None:
                try:
                    term = readers[place](cell)
                except ValueError as error:
                    start, end = _places(path, number, line, separator)[place]
                    raise _wrong(path, number, line, start, end, f"column {columns[place].name}: {error}") from None
                if len(known[place]) < _KNOWN:
                    known[place][cell] = term
            fact.append(term)
        yield tuple(fact)


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


# ---- writing


def write_facts(file: IO[str], rows: Iterable[tuple[Term, ...]], columns: Sequence[Column], separator: str = "\t") -> int:
    """Write facts to an open text file, sorted for reproducible output; return their number.

    Numbers come first, ordered by value; other cells follow, ordered by text.

    Raises:
        OutputError: A ``string`` column of a TSV file cannot hold a string with a tab or a line break.
    """
    types = [column.type for column in columns]
    keyed = [([format_cell(term, type_) for term, type_ in zip(row, types, strict=True)], row) for row in rows]
    keyed.sort(key=lambda item: list(map(_rank, item[0], item[1])))
    table = [cells for cells, _ in keyed]
    if not columns:
        file.write(f"{_NO_COLUMNS}\n" * len(table))
    else:
        write_rows(file, table, separator)
    return len(table)


def _rank(cell: str, term: Term) -> tuple[bool, Any, str]:
    """Return the sort key of a cell in a column: numbers by value, before all others."""
    if isinstance(term, Literal) and term.datatype != XSD.string.value:
        value = value_of(term)
        if value is not None and value[0] == "number" and value[1] == value[1]:  # NaN has no place among numbers
            return False, value[1], cell
    return True, 0, cell
