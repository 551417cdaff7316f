"""Reading of RDF by Python workers: blocks of lines and whole documents to columns of terms, by the in-process loader.

Terms become ids of a dictionary, which the compiled reader makes; the columns are taken from the dictionary's texts by these ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.loaders.rdf.formats import Format, format_of_name
from kg_reasoner.loaders.rdf.readers.reader import read
from kg_reasoner.loaders.rdf.readers.statements import encode_statements
from kg_reasoner.loaders.rdf.sources import document_of
from kg_reasoner.spark_backend.failures import shown
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.readers.line_reading import read_lines
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BAD", "COLUMNS", "FAULT", "ODD", "LineReader", "Manner", "blocks_of_documents", "faults_of_lines", "terms_of_lines"]

COLUMNS: Final = ("subject", "predicate", "object", "graph")
FAULT: Final = "fault"
"""The column with the error of a row; null for statements."""
BAD: Final = "bad"
"""The fault of a line that is not a statement."""
ODD: Final = "odd"
"""The fault of a line, or table's row, that is a statement in another form than that of the dictionary."""
CHANGED: Final = "the input has changed since it was checked; it now has the line: "

Batches = Iterable["pa.RecordBatch"]


@dataclass(frozen=True, slots=True)
class Manner:
    """Options for reading lines.

    Attributes:
        scope: What labels of blank nodes begin with.
        quads: Whether a graph may follow the triple.
    """

    scope: str = ""
    quads: bool = False


class LineReader:
    """Reads blocks of lines, each of which begins with an empty dictionary."""

    def __init__(self) -> None:
        self._dictionary = Dictionary()
        self.odd = 0
        """The number of lines of the last block that the compiled reader left to the parser."""

    def read(self, lines: pa.Array, manner: Manner) -> tuple[list[pa.Array], list[int]]:
        """Return the terms of statements in the columns `COLUMNS`, and the places of lines that are not statements.

        Empty lines and comments are neither.
        """
        self.odd, bad = 0, list[int]()
        try:
            ids = self._ids(_joined(lines), manner)
        except _NOT_STATEMENTS:
            texts = lines.to_pylist()
            is_good = [self._is_good(text, manner) for text in texts]
            bad = [place for place, good in enumerate(is_good) if not good]
            ids = self._ids(b"\n".join(compress(texts, is_good)), manner)
        return columns_of(self._dictionary, ids), bad

    def _ids(self, data: bytes, manner: Manner) -> Ids:
        label, width = f"{manner.scope}{{}}".format, 4 if manner.quads else 3
        self._dictionary.clear()

        def others(lines: Sequence[bytes]) -> Ids:
            self.odd += len(lines)
            return encode_statements(self._dictionary, lines, label, width)

        return read_lines(self._dictionary, data + b"\n", width, manner.scope, others).rows

    def _is_good(self, text: bytes | None, manner: Manner) -> bool:
        if text is None or b"\n" in text or b"\r" in text:
            return False
        try:
            self._ids(text, manner)
        except _NOT_STATEMENTS:
            return False
        return True


_NOT_STATEMENTS: Final = (SyntaxError, UnicodeDecodeError, LoadError)


def _joined(lines: pa.Array) -> bytes:
    """Return lines as one text.

    Raises:
        SyntaxError: A row of a table lacks a term, or has a line break in it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if lines.null_count:
        raise SyntaxError("a term is missing")
    together = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), b"\n")
    data: bytes = together[0].as_buffer().to_pybytes() if len(lines) else b""
    if data.count(b"\n") >= max(len(lines), 1) or b"\r" in data:
        raise SyntaxError("this is more than one line")
    return data


def columns_of(dictionary: Dictionary, ids: Ids) -> list[pa.Array]:
    """Return columns of texts for the ids of triples or quads; -1 is null."""
    import pyarrow as pa

    offsets, texts = dictionary.buffers()
    pool = pa.LargeStringArray.from_buffers(len(dictionary), pa.py_buffer(offsets), pa.py_buffer(texts))
    columns = []
    for place in range(len(COLUMNS)):
        if place >= ids.shape[1]:
            columns.append(pa.nulls(len(ids), pa.string()))
        else:
            wanted = np.ascontiguousarray(ids[:, place])
            columns.append(pool.take(pa.array(wanted, mask=wanted < 0)).cast(pa.string()))
    return columns


def terms_of_lines(manner: Manner, *, all_good: bool, faults_only: bool) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Return a function from batches of lines to batches of `COLUMNS` and `FAULT`.

    Args:
        manner: How lines are read; the columns ``scope`` and ``quads``, if there are any, have precedence.
        all_good: Raise an error for a line that is not a statement: one that has come since the lines were checked.
        faults_only: Leave out statements, and say whether some are odd.
    """

    def terms(batches: Batches) -> Iterator[pa.RecordBatch]:
        reader = LineReader()
        for batch in batches:
            for lines, how in _runs(batch, manner):
                columns, bad = reader.read(_binary(lines), how)
                if bad and all_good:
                    line = lines[bad[0]].as_py() or b""
                    raise LoadError(CHANGED + (line if isinstance(line, str) else line.decode("utf-8", "replace")))
                is_odd = faults_only and (reader.odd or len(columns[0]) + len(bad) < len(lines))
                faults = [BAD] * len(bad) + [ODD] * bool(is_odd)
                yield _with_faults([column.slice(0, 0) for column in columns] if faults_only else columns, faults)

    return terms


def faults_of_lines(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield the rows with lines that are not statements; their manner is in the columns ``scope`` and ``quads``."""
    import pyarrow as pa

    reader = LineReader()
    for batch in batches:
        first, places = 0, list[int]()
        for lines, how in _runs(batch, Manner()):
            places += [first + place for place in reader.read(_binary(lines), how)[1]]
            first += len(lines)
        yield batch.take(pa.array(places, pa.int64()))


def _binary(lines: pa.Array) -> pa.Array:
    import pyarrow as pa

    return lines if lines.type == pa.binary() else lines.cast(pa.binary())


def _with_faults(columns: list[pa.Array], faults: Sequence[str]) -> pa.RecordBatch:
    """Return statements, and a row for each fault."""
    import pyarrow as pa

    count = len(columns[0])
    arrays = [*columns, pa.nulls(count, pa.string())]
    if faults:
        further = [*([pa.nulls(len(faults), pa.string())] * len(columns)), pa.array(faults, pa.string())]
        arrays = [pa.concat_arrays(pair) for pair in zip(arrays, further, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=[*COLUMNS, FAULT])


def _runs(batch: pa.RecordBatch, manner: Manner) -> Iterator[tuple[pa.Array, Manner]]:
    """Yield consecutive lines that are read in the same manner."""
    names = batch.schema.names
    lines = batch.column(names.index("line"))
    given = [name for name in ("scope", "quads") if name in names]
    if not given:
        yield lines, manner
        return
    rows = zip(*(batch.column(names.index(name)).to_pylist() for name in given), strict=True)
    first = 0
    for values, run in groupby(rows):
        count = sum(1 for _ in run)
        yield lines.slice(first, count), replace(manner, **dict(zip(given, values, strict=True)))
        first += count


def blocks_of_documents(format: Format | None, *, faults_only: bool) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Return a function from batches of documents (``file``, ``scope`` and ``content``) to batches of `COLUMNS` and `FAULT`: the
    message of the loader, for a document that is not in its syntax.
    """

    def blocks(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in range(len(batch)):
                file, scope, content = (batch.column(place)[number] for place in range(3))
                yield from _blocks(file.as_py(), scope.as_py(), content.as_py(), format, faults_only)

    return blocks


def _blocks(file: str, scope: str, content: bytes, format: Format | None, faults_only: bool) -> Iterator[pa.RecordBatch]:
    dictionary = Dictionary()
    document = document_of(content, format or format_of_name(file))
    assert document is not None, "bytes are a document"
    nothing = np.empty((0, len(COLUMNS)), np.int32)
    try:
        for block in read(replace(document, name=shown(file)), dictionary=dictionary, scope=scope, threads=1):
            if not faults_only:
                ids = block.triples if block.graphs is None else np.column_stack([block.triples, block.graphs])
                yield _with_faults(columns_of(dictionary, ids), [])
    except ReasonerError as error:
        yield _with_faults(columns_of(dictionary, nothing), [str(error)])
