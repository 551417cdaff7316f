"""Batches of Arrow as facts: ids of the terms in the columns of a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from kg_reasoner.errors import LoadError, expect_name, plural, suggest
from kg_reasoner.io.facts import given_names
from kg_reasoner.program import Column
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.cells.table_terms import NOTHING, optional_of
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.tables.column_texts import (
    Form,
    Unreadable,
    expect_characters,
    expect_terms,
    form_of,
    is_list,
    list_texts,
    plain,
    term_texts,
)
from kg_reasoner.tables.table_sources import Batches
from kg_reasoner.terms import Term, term_text

__all__ = ["READ_EXACTLY", "Nulls", "TableEncoder", "check_nulls", "places_of"]

Nulls: TypeAlias = Literal["error", "skip"]
"""The treatment of missing values: an error, or their rows are skipped."""


READ_EXACTLY: Final = frozenset(
    ("any", "iri", "string", "integer", "decimal", "double", "boolean", "date", "dateTime", "float", "signed", "unsigned")
)
"""The types, without parameters, whose values are of the type when they have been read."""


def check_nulls(nulls: str) -> None:
    """Raise UnknownNameError for an unknown treatment of missing values."""
    expect_name("treatment of missing values", nulls, ("error", "skip"))


def places_of(table: Batches, columns: Sequence[Column] | None, wanted: Sequence[str] | None = None) -> list[int]:
    """Return the places of those columns of a table that are the arguments of a relation, in order.

    Args:
        table: The table.
        columns: The columns of the relation, if it is known.
        wanted: The names of the columns in the table; by default those of the relation if the table has all of them, and otherwise
            all columns of the table, by their positions.

    Raises:
        LoadError: A named column is missing or ambiguous, the number of columns is not that of the relation's arguments, or a
            position has the name of another argument.
    """
    names = list(table.names)
    if wanted is None and columns is not None:
        wanted = given_names(names, columns)
    if wanted is not None:
        for name in wanted:
            if names.count(name) != 1:
                wrong = f"{names.count(name)} columns {name}" if name in names else f"no column {name}{suggest(name, names)}"
                raise LoadError(f"{table.name} has {wrong}", hint=f"its columns are {', '.join(names)}")
        places = [names.index(name) for name in wanted]
    else:
        places = list(range(len(names)))
    if columns is not None and len(places) != len(columns):
        listed = ", ".join(column.name for column in columns)
        raise LoadError(
            f"{table.name}: {plural(len(places), 'column')} where the relation has {plural(len(columns), 'column')} ({listed})",
            hint=f"the table has the columns {', '.join(names)}",
        )
    return places


@dataclass(frozen=True, slots=True)
class TableEncoder:
    """Encodes the facts in tables as ids.

    Args:
        dictionary: The dictionary of the ids.
        columns: The columns of the relation, if it is known.
        prefixes: Namespaces of prefixes in cells.
        wanted: The names of the columns that are the arguments of the relation, see `places_of`.
        nulls: What missing values do.
        only_known: Whether terms that the dictionary does not have are left out with their rows, instead of interned.
    """

    dictionary: Dictionary
    columns: Sequence[Column] | None
    prefixes: Mapping[str, str]
    wanted: Sequence[str] | None = None
    nulls: Nulls = "error"
    only_known: bool = False

    def encode(self, table: Batches) -> Iterator[Ids]:
        """Yield the facts in a table as ids, shape (n, arity), batch by batch.

        Raises:
            LoadError: The columns do not match, a value is missing or not of its column's type, or the table cannot be read.
        """
        import pyarrow

        places = places_of(table, self.columns, self.wanted)
        columns = self.columns if self.columns is not None else [Column(table.names[place]) for place in places]
        done = 0
        try:
            for batch in table.parts:
                yield self._encode_batch(table, batch, places, columns, done)
                done += batch.num_rows
        except (OSError, pyarrow.ArrowException) as error:
            raise LoadError(f"cannot read {table.name}: {error}") from error

    def encode_terms(self, rows: Sequence[Sequence[Term]]) -> Ids:
        """Return facts as ids, shape (n, arity)."""
        arity = len(rows[0]) if rows else len(self.columns or ())
        texts = [term_text(term) for row in rows for term in row]
        find = self.dictionary.find_texts if self.only_known else self.dictionary.encode_texts
        return self._known_rows(find(texts).reshape(len(rows), arity))

    def _known_rows(self, ids: Ids) -> Ids:
        found: Ids = ids[(ids >= 0).all(axis=1)] if self.only_known else ids
        return found

    def _encode_batch(self, table: Batches, batch: Any, places: Sequence[int], columns: Sequence[Column], done: int) -> Ids:
        """Return the facts in a batch, given the number of rows before it."""
        arrays = [plain(batch.column(place)) for place in places]
        for array, column in zip(arrays, columns, strict=True):
            expect_terms(array.type, f"{table.name}: column {column.name}")
        present = _present(arrays, columns, self.nulls, f"{table.name}, row", done)
        if present is not None:
            arrays = [array.filter(present) for array in arrays]
        ids = np.empty((len(arrays[0]) if arrays else batch.num_rows, len(arrays)), np.int32)
        for number, (array, column) in enumerate(zip(arrays, columns, strict=True)):
            form = form_of(batch.schema.field(places[number]).metadata)
            try:
                ids[:, number] = self._column_with_nulls(array, partial(self._texts, column.type, form, table.has_cells))
            except Unreadable as error:
                row = error.place if present is None else int(np.flatnonzero(np.asarray(present))[error.place])
                raise LoadError(f"{table.name}, row {done + row + 1}: column {column.name}: {error}") from None
        return self._known_rows(ids)

    def _texts(self, type_: str, form: Form, has_cells: bool, values: Any) -> Any:
        """Return the texts of the terms for values of a type."""
        import pyarrow

        if is_list(values.type):
            return pyarrow.array(list_texts(values, type_, self.prefixes), pyarrow.large_string())
        return term_texts(values, type_, self.prefixes, has_cells=has_cells, form=form)

    def _column_with_nulls(self, array: Any, texts_of: Callable[[Any], Any]) -> Ids:
        """Return the ids of the terms in a column, in which missing values are those of an optional type, as `_column` does."""
        if not array.null_count:
            return self._column(array, texts_of)
        import pyarrow

        valid = np.asarray(array.is_valid())
        nothing = self.dictionary.find(NOTHING) if self.only_known else self.dictionary.encode(NOTHING)
        numbers = np.full(len(valid), nothing, np.int32)
        try:
            numbers[valid] = self._column(array.filter(pyarrow.array(valid)), texts_of)
        except Unreadable as error:
            raise Unreadable(int(np.flatnonzero(valid)[error.place]), str(error)) from None
        return numbers

    def _column(self, array: Any, texts_of: Callable[[Any], Any]) -> Ids:
        """Return the ids of the terms in a column; each distinct value becomes a term once.

        Raises:
            Unreadable: A value is not of the column's type; the place is its first row.
        """
        import pyarrow

        if is_list(array.type):
            return self._ids(texts_of(array))
        coded = array if pyarrow.types.is_dictionary(array.type) else array.dictionary_encode()
        codes = np.asarray(coded.indices)
        values = coded.dictionary
        used = np.zeros(len(values), np.bool_)
        used[codes] = True
        numbers = np.full(len(values), -1, np.int32)
        values = values if used.all() else values.filter(pyarrow.array(used))
        try:
            expect_characters(values)
            texts = texts_of(values)
        except Unreadable as error:
            value = int(np.flatnonzero(used)[error.place])
            raise Unreadable(int(np.argmax(codes == value)), str(error)) from None
        numbers[used] = self._ids(texts)
        found: Ids = numbers[codes]
        return found

    def _ids(self, texts: Any) -> Ids:
        """Return the ids of texts in the form of the dictionary, in an array of ``large_string``."""
        _, ends, data = texts.buffers()
        offsets = (
            np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1] if len(texts) else np.zeros(1, np.int64)
        )
        return self.dictionary.encode_buffers(b"" if data is None else memoryview(data), offsets, only_known=self.only_known)


def _present(arrays: Sequence[Any], columns: Sequence[Column], nulls: Nulls, row: str, done: int) -> Any:
    """Return which rows have a value in every column, or None if all have.

    Raises:
        LoadError: One has not, and that is an error.
    """
    import pyarrow.compute as pc

    present = None
    for array, column in zip(arrays, columns, strict=True):
        if array.null_count and optional_of(column.type) is None:
            valid = array.is_valid()
            if nulls == "error":
                number = done + 1 + int(np.argmin(np.asarray(valid)))
                hint = "rows with a missing value can be left out: nulls='skip' in Python, --nulls skip on the command line"
                raise LoadError(f"{row} {number}: column {column.name} is null: facts have a term in each column", hint=hint)
            present = valid if present is None else pc.and_(present, valid)
    return present
