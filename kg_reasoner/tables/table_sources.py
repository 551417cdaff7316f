"""Tables in memory and the results of SQL queries, as batches of Arrow."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from kg_reasoner.errors import LoadError, MissingExtraError
from kg_reasoner.terms import XSD

__all__ = ["EXTRA", "Batches", "batches_of", "is_table"]

EXTRA: Final = "results"
"""The extra of this package that installs Arrow."""

_ROWS: Final = 1 << 17
"""The most rows that are fetched from a cursor, or encoded, at a time."""
_INTEGERS: Final = {"form": "literal", "datatype": XSD.integer.value}
"""The metadata of a field whose values are integers, though its type is another one."""


class Batches(NamedTuple):
    """A table in parts.

    Attributes:
        name: The table in messages.
        names: The names of its columns.
        parts: Batches of Arrow with these columns.
        has_cells: Whether text is read as the cells of a file of facts, where the column of the relation is of type ``any``.
    """

    name: str
    names: Sequence[str]
    parts: Iterable[Any]
    has_cells: bool = False


def is_table(given: object) -> bool:
    """Return whether rows are given as a table: of Arrow, Polars or pandas, a cursor, a mapping of columns, or a file."""
    if isinstance(given, list | tuple):
        return False
    has_arrow = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return has_arrow or isinstance(given, Path | Mapping) or _is_frame(given) or _is_cursor(given)


def _is_frame(given: object) -> bool:
    """Return whether that is a frame of pandas or Polars, also a lazy one; neither library is imported."""
    return type(given).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(given, "join")


def _is_cursor(given: object) -> bool:
    return hasattr(given, "fetchmany") and hasattr(given, "description")


def batches_of(given: Any) -> Batches:
    """Return a table in memory, or what a cursor fetches, in batches.

    Args:
        given: A table, record batch or stream of Arrow or of a library that exports them (Polars, pandas, DuckDB), a mapping of
            names to columns, or a cursor of DB-API or ADBC that has executed a query.

    Raises:
        MissingExtraError: pyarrow is not installed.
        LoadError: The columns have no common length, or no type of Arrow has their values.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("facts from a table", EXTRA) from None
    try:
        if _is_cursor(given):
            return _of_cursor(given)
        if isinstance(given, Mapping):
            table = _of_columns(given)
        elif _is_frame(given) and type(given).__module__.startswith("pandas"):
            try:
                table = pyarrow.Table.from_pandas(given, preserve_index=False)
            except OverflowError:
                table = _of_columns(given)
            for field, (_, values) in zip(table.schema, given.items(), strict=True):
                _expect_one_kind_of_time(field.type, values)
        else:
            table = _of_arrow(given)
        return Batches("the table", table.schema.names, _parts(table))
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise LoadError(f"the table cannot be read: {error}") from error


def _of_columns(given: Any) -> Any:
    """Return columns by their names as a table of Arrow."""
    import pyarrow

    columns = {str(name): _column(column) for name, column in given.items()}
    fields = [pyarrow.field(name, values.type, metadata=metadata) for name, (values, metadata) in columns.items()]
    return pyarrow.table([values for values, _ in columns.values()], pyarrow.schema(fields))


def _column(values: Any) -> tuple[Any, Mapping[str, str] | None]:
    """Return values as an array of Arrow, and what its field says of them; integers beyond 64 bits are texts."""
    import pyarrow

    if isinstance(values, pyarrow.Array | pyarrow.ChunkedArray):
        return values, None
    listed = values if hasattr(values, "__len__") else list(values)
    try:
        found = pyarrow.array(listed, from_pandas=hasattr(listed, "isna") or None)
    except OverflowError:
        if not all(value is None or type(value) is int for value in listed):
            raise
        texts = [None if value is None else str(value) for value in listed]
        return pyarrow.array(texts, pyarrow.string()), _INTEGERS
    _expect_one_kind_of_time(found.type, listed)
    return found, None


def _expect_one_kind_of_time(type_: Any, values: Iterable[Any]) -> None:
    """Check that Python values of which Arrow makes times are all dates, all moments with a time zone, or all moments without one.

    Raises:
        TypeError: They are not; Arrow would cut moments to dates, and take those without a zone for UTC.
    """
    import pyarrow

    if not pyarrow.types.is_temporal(type_) or str(getattr(values, "dtype", "object")) != "object":
        return
    times = (value for value in values if isinstance(value, date) and value == value)  # pandas' NaT is none
    kinds = {_kind_of_time(value) for value in times}
    if len(kinds) > 1:
        raise TypeError(f"there are {' and '.join(sorted(kinds))}")


def _kind_of_time(value: date) -> str:
    if not isinstance(value, datetime):
        return "dates"
    return "moments without a time zone" if value.tzinfo is None else "moments with a time zone"


def _of_arrow(given: Any) -> Any:
    """Return a table or stream of Arrow."""
    import pyarrow

    if hasattr(given, "collect") and hasattr(given, "collect_schema"):  # a lazy frame of Polars
        given = given.collect()
    if isinstance(given, pyarrow.RecordBatchReader):
        return given
    return pyarrow.table(given)


def _parts(table: Any) -> Iterator[Any]:
    return iter(table) if not hasattr(table, "to_batches") else iter(table.to_batches(max_chunksize=_ROWS))


def _of_cursor(cursor: Any) -> Batches:
    """Return the rows that a cursor still has."""
    if cursor.description is None:
        raise LoadError("the cursor has no rows", hint="execute a SELECT with it first")
    names = [column[0] for column in cursor.description]
    if hasattr(cursor, "fetch_record_batch"):  # ADBC, DuckDB before 2
        return Batches("the result of the query", names, cursor.fetch_record_batch())
    if hasattr(cursor, "to_arrow_reader"):  # DuckDB
        return Batches("the result of the query", names, _of_duckdb(cursor))
    return Batches("the result of the query", names, _fetched(cursor, names))


def _of_duckdb(cursor: Any) -> Iterator[Any]:
    """Yield the rows of a cursor of DuckDB 2 in batches. Its integers of 128 bits, such as sums, are decimals of Arrow."""
    import pyarrow

    is_integer = [str(column[1]) in ("HUGEINT", "UHUGEINT") for column in cursor.description]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result")  # it is still faster than rows of Python
        reader = cursor.to_arrow_reader()
    fields = [field.with_metadata(_INTEGERS) if wide else field for field, wide in zip(reader.schema, is_integer, strict=True)]
    for batch in reader:
        yield pyarrow.record_batch(batch.columns, pyarrow.schema(fields))


def _fetched(cursor: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the rows of a cursor of DB-API in batches.

    Raises:
        LoadError: A column has values of several types, or the rows do not have the columns.
    """
    import pyarrow

    done = 0
    while rows := cursor.fetchmany(_ROWS):
        columns: list[Any] = []
        fields: list[Any] = []
        for name, values in zip(names, _columns_of(rows, names), strict=True):
            try:
                array, metadata = _column(values)
                columns.append(array)
                fields.append(pyarrow.field(str(len(fields)), array.type, metadata=metadata))
            except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise LoadError(
                    f"the result of the query, rows {done + 1} to {done + len(rows)}: column {name}: {error}",
                    hint="cast the column to one type in the query",
                ) from None
        done += len(rows)
        yield pyarrow.record_batch(columns, pyarrow.schema(fields))


def _columns_of(rows: Sequence[Any], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the columns of fetched rows, which are sequences of values, or mappings of the names of columns to them.

    Raises:
        LoadError: They are something else, or do not have these columns.
    """
    first = rows[0]
    if isinstance(first, Mapping) and len(first) == len(names) and all(name in first for name in names):
        rows = [tuple(map(row.__getitem__, names)) for row in rows]
    if isinstance(rows[0], Iterable) and not isinstance(rows[0], str | bytes | Mapping):
        with suppress(ValueError):  # rows of several lengths
            columns = list(zip(*rows, strict=True))
            if len(columns) == len(names):
                return columns
    raise LoadError(
        f"the result of the query: its rows, such as {first!r}, do not have a value for each column: {', '.join(names)}",
        hint="use a cursor whose rows are tuples, and give each column a name of its own",
    )
