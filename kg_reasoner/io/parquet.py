"""Parquet: triples to tables of their terms' N-Triples forms, and facts from tables. Needs pyarrow."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

import numpy as np

from kg_reasoner.errors import LoadError, MissingExtraError, OutputError, plural
from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import scientific

if TYPE_CHECKING:
    import pyarrow

__all__ = ["cells_of", "write_parquet", "write_table"]

_COLUMNS: Final = ("subject", "predicate", "object", "graph")
_ROWS: Final = 1 << 18
"""The rows of a group, each of which has the texts of its terms."""


def write_parquet(
    parts: Iterable[tuple[TripleIds, str, Dictionary]],
    file: BinaryIO,
    progress: Callable[[int], object],
    *,
    graphs: bool = True,
    rows: int = _ROWS,
) -> int:
    """Write the triples of graphs as a table with the columns subject, predicate, object and, with `graphs`, graph; return their
    number. The cells are the N-Triples forms of the terms; the default graph is null.

    Args:
        parts: Triples, the name of their graph (nothing: the default graph), and the dictionary of their terms.
        file: The file, open for writing.
        progress: Called with the number of rows written so far.
        graphs: Whether there is a column for the graph.
        rows: The most rows in a group.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("writing Parquet", "results") from None
    kind = pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string())
    names = _COLUMNS if graphs else _COLUMNS[:3]
    schema = pyarrow.schema([pyarrow.field(name, kind, nullable=name == "graph") for name in names])
    written = 0
    with pyarrow.parquet.ParquetWriter(_Sink(file), schema, compression="zstd") as writer:
        for triples, graph, dictionary in parts:
            texts = _texts(dictionary)
            for start in range(0, len(triples), rows):
                some = triples[start : start + rows]
                columns = [_column(some[:, place], texts) for place in range(3)]
                if graphs:
                    places = pyarrow.array(np.zeros(len(some), np.int32)) if graph else pyarrow.nulls(len(some), pyarrow.int32())
                    name = pyarrow.array([graph], pyarrow.large_string())
                    columns.append(pyarrow.DictionaryArray.from_arrays(places, name))
                writer.write_batch(pyarrow.record_batch(columns, schema=schema))
                written += len(some)
                progress(written)
    return written


def write_table(table: pyarrow.Table, file: BinaryIO) -> None:
    """Write a table of Arrow to an open file.

    Raises:
        OutputError: The table has no columns, without which Parquet has no rows.
    """
    import pyarrow.parquet

    if not table.schema.names:
        raise OutputError("Parquet cannot hold the facts of a relation without columns: write JSON lines, CSV or TSV")
    pyarrow.parquet.write_table(table, _Sink(file), compression="zstd")


def _texts(dictionary: Dictionary) -> pyarrow.LargeStringArray:
    """Return the texts of all terms, without a copy."""
    import pyarrow

    offsets, data = dictionary.buffers()
    buffers = [None, pyarrow.py_buffer(np.ascontiguousarray(offsets)), pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), len(offsets) - 1, buffers)


def _column(ids: Ids, texts: pyarrow.LargeStringArray) -> pyarrow.DictionaryArray:
    """Return a column of terms, each of which is stored once."""
    import pyarrow

    numbers, places = np.unique(ids, return_inverse=True)
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(places.astype(np.int32)), texts.take(pyarrow.array(numbers)))


class _Sink:
    """An open file that counts the bytes written, as pyarrow wants to know; it is not closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = 0
        self.closed = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def cells_of(path: Path, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a Parquet file with their numbers, from 1, as cells of text.

    Args:
        path: The file.
        names: The names of the relation's columns, as many as the file must have.

    Raises:
        MissingExtraError: pyarrow is not installed.
        LoadError: The file is missing or broken, has another number of columns or one of a type that has no cells, or has a null.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "results") from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            if len(schema) != len(names):
                columns = ", ".join(names)
                raise LoadError(
                    f"{path}: {plural(len(schema), 'column')} where the relation has {plural(len(names), 'column')} ({columns})"
                )
            forms = [_form(path, field) for field in schema]
            number = 0
            for batch in file.iter_batches():
                values = [column.to_pylist() for column in batch.columns]
                for row in zip(*values, strict=True):
                    number += 1
                    if None in row:
                        raise LoadError(
                            f"{path}, row {number}: column {names[row.index(None)]} is null: facts have a term in each column"
                        )
                    yield number, [form(value) for form, value in zip(forms, row, strict=True)]
    except FileNotFoundError:
        raise LoadError(f"{path} does not exist") from None
    except (OSError, pyarrow.ArrowException) as error:
        raise LoadError(f"cannot read {path}: {error}") from error


def _form(path: Path, field: pyarrow.Field) -> Callable[[Any], str]:
    """Return the function from values of a column to cells."""
    import pyarrow.types as of

    kind = field.type.value_type if of.is_dictionary(field.type) else field.type
    if of.is_string(kind) or of.is_large_string(kind) or of.is_integer(kind):
        return str
    if of.is_boolean(kind):
        return lambda value: "true" if value else "false"
    if of.is_floating(kind):
        return lambda value: scientific(repr(value))
    if of.is_decimal(kind):
        return lambda value: f"{cast(decimal.Decimal, value):f}"
    hint = "cast it to a string, an integer, a decimal number, a double or a boolean"
    raise LoadError(f"{path}: column {field.name} is of the type {field.type}, which facts cannot have", hint=hint)
