"""Files of facts in blocks: Parquet, CSV and TSV, JSON lines.

Text is read by Arrow where it reads the same cells as `kg_reasoner.io.facts`, whose reader finds the place of an error, too.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import LoadError, MissingExtraError
from kg_reasoner.io.facts import read_facts
from kg_reasoner.io.unpacking import format_ending, unpacked_file
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.cells.table_terms import optional_of, parts_of
from kg_reasoner.tables.json_line_errors import json_lines_error
from kg_reasoner.tables.table_facts import Nulls, TableEncoder
from kg_reasoner.tables.table_sources import EXTRA, Batches
from kg_reasoner.terms import XSD

__all__ = ["read_file"]

_JSON_LINES: Final = (".jsonl", ".ndjson")
_NO_TEXT: Final = (".arrow", ".avro", ".feather", ".ipc", ".orc", ".pickle", ".pkl", ".xls", ".xlsx")
"""Formats that other libraries read; a table of text in one of these files would be an accident."""
_BLOCK: Final = 1 << 24
"""The bytes of text that Arrow reads at a time."""
_EXACT_DOUBLES: Final = 1 << 53
"""Integers below this are doubles without a loss of digits."""
_PLACES: Final = 38
"""The digits before and after the point in numbers of JSON that are read exactly."""
_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")


def read_file(path: Path, encoder: TableEncoder, *, header: bool = False) -> Iterator[Ids]:
    """Yield the facts in a file as ids, shape (n, arity), batch by batch. The name of the file says its format.

    Args:
        path: The file: ``.parquet``, ``.jsonl`` or ``.ndjson``, ``.csv``, or anything else for TSV; text files may be compressed,
            with ``.gz``, ``.zst``, ``.bz2`` or ``.xz`` in addition.
        encoder: What encodes the facts. If it skips missing values, these are empty cells without quotation marks in CSV and TSV.
        header: Whether CSV and TSV have the names of their columns in the first line.

    Raises:
        LoadError: The file is missing or broken, or in another format, its columns do not match, or a cell is not of its column's
            type.
        MissingExtraError: Parquet and JSON lines need pyarrow.
    """
    if format_ending(path) == ".json":
        hint = "name it .jsonl if each line has an object, and give pandas.read_json(path) otherwise"
        raise LoadError(f"{path}: JSON is not read as a table, only JSON lines", hint=hint)
    if path.suffix.lower() in _NO_TEXT:
        raise LoadError(
            f"{path}: tables of this format are not read", hint="give the table that pandas, Polars or Arrow read from it"
        )
    if path.suffix.lower() == ".parquet":
        yield from encoder.encode(_parquet(path))
    elif format_ending(path) in _JSON_LINES:
        columns = encoder.columns or ()
        names = encoder.wanted or [column.name for column in columns]
        table = _json_lines(path, {name: column.type for name, column in zip(names, columns, strict=False)})
        if table is not None:
            yield from encoder.encode(table)
    else:
        yield from _of_text(path, encoder, header=header)


def _parquet(path: Path) -> Batches:
    """Return a Parquet file in batches; strings are encoded with dictionaries, as they are mostly stored."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", EXTRA) from None
    try:
        schema = pyarrow.parquet.read_schema(path)
        texts = [field.name for field in schema if pyarrow.types.is_string(field.type) or pyarrow.types.is_large_string(field.type)]
    except FileNotFoundError:
        raise LoadError(f"{path} does not exist") from None
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as error:
        raise LoadError(f"cannot read {path}: {error}") from error
    if not schema.names:
        hint = "the facts of a relation without columns are read from JSON lines, CSV or TSV"
        raise LoadError(f"{path} has no columns, without which Parquet has no rows", hint=hint)

    def parts() -> Iterator[Any]:
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
            yield from file.iter_batches(1 << 17, use_threads=False)

    return Batches(str(path), schema.names, parts(), has_cells=True)


def _is_exact(type_: str) -> bool:
    """Return whether a type is one of integers or decimals, or of optional ones."""
    return parts_of(optional_of(type_) or type_)[0] in ("integer", "decimal", "signed", "unsigned")


def _json_lines(path: Path, types: Mapping[str, str]) -> Batches | None:
    """Return a file with an object on each line, or None without a line, as that does not say what the columns are; a key that an
    object does not have is a missing value.

    A text stays one, also if it looks like a date, which Arrow takes for a point in time, without its time zone.

    Args:
        path: The file.
        types: The types of columns by their keys. Numbers become texts where Arrow would take them for doubles, if their type is
            one of integers or decimals, or if they are integers and have no type.
    """
    try:
        import pyarrow.json
    except ImportError:
        raise MissingExtraError("reading JSON lines", EXTRA) from None
    data = _content(path)
    if not bytes(data[:_BLOCK]).strip():
        return None
    options = pyarrow.json.ReadOptions(
        use_threads=False,
        block_size=len(data) if len(data) < 1 << 30 else _BLOCK,  # types are those of the first block
    )
    try:
        table = pyarrow.json.read_json(pyarrow.BufferReader(data), options)
        fields = [field.with_type(_with_texts(field.type)) for field in table.schema]
        if any(field.type != table.schema.field(field.name).type for field in fields):
            given = pyarrow.json.ParseOptions(explicit_schema=pyarrow.schema(fields))
            table = pyarrow.json.read_json(pyarrow.BufferReader(data), options, given)
        names = table.schema.names
        table = _with_exact_numbers(table, data, options, [name for name in names if _is_exact(types.get(name, "any"))])
        table = _with_great_integers(path, table, data, [name for name in names if types.get(name, "any") == "any"])
    except (UnicodeDecodeError, pyarrow.ArrowException) as error:
        raise json_lines_error(path, data if options.block_size >= len(data) else b"", error) from error
    return Batches(str(path), table.schema.names, table.to_batches(max_chunksize=1 << 17))


def _with_exact_numbers(table: Any, data: bytes, options: Any, names: Collection[str]) -> Any:
    """Return a table of JSON lines with texts in place of the doubles of some columns, if their digits are not too many."""
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.json

    fields = [table.schema.field(name) for name in names if pyarrow.types.is_floating(table.schema.field(name).type)]
    for field in fields:
        schema = pyarrow.schema([field.with_type(pyarrow.decimal256(2 * _PLACES, _PLACES))])
        given = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        try:
            found = pyarrow.json.read_json(pyarrow.BufferReader(data), options, given)
        except pyarrow.ArrowInvalid:
            continue
        texts = found[field.name].cast(pyarrow.string()).combine_chunks()
        has_exponent = pc.match_substring(texts, "E")
        plain = [f"{Decimal(text):f}" for text in texts.filter(has_exponent).to_pylist()]
        texts = pc.replace_with_mask(texts, has_exponent, pyarrow.array(plain, pyarrow.string()))
        texts = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
        table = table.set_column(table.schema.names.index(field.name), field.name, texts)
    return table


def _with_great_integers(path: Path, table: Any, data: bytes, names: Collection[str]) -> Any:
    """Return a table of JSON lines with texts in place of the doubles of columns that are integers, beyond 64 bits.

    Raises:
        LoadError: A column has integers, beside other numbers or in lists, that doubles cannot represent.
    """
    import pyarrow
    import pyarrow.compute as pc

    for name in names:
        values = table[name]
        while pyarrow.types.is_list(values.type):
            values = pc.list_flatten(values)
        if not pyarrow.types.is_floating(values.type) or (pc.max(pc.abs(values)).as_py() or 0) < _EXACT_DOUBLES:
            continue
        found = [json.loads(line, parse_int=Decimal).get(name) for line in data.splitlines() if line.strip()]
        if all(value is None or isinstance(value, Decimal) for value in found):
            texts = pyarrow.array([None if value is None else f"{value:f}" for value in found], pyarrow.string())
            field = pyarrow.field(name, texts.type, metadata={"form": "literal", "datatype": XSD.integer.value})
            table = table.set_column(table.schema.names.index(name), field, texts)
        elif any(Decimal(float(value)) != value for value in _integers_in(found)):
            hint = "declare the column as decimal, or as text where the numbers are in quotation marks"
            raise LoadError(
                f"{path}: column {name} has integers, beside other numbers or in lists, that doubles cannot represent", hint=hint
            )
    return table


def _integers_in(value: object) -> Iterator[Decimal]:
    if isinstance(value, list):
        for member in value:
            yield from _integers_in(member)
    elif isinstance(value, Decimal):
        yield value


def _with_texts(type_: Any) -> Any:
    """Return a type of Arrow with texts in place of the points in time that it sees in JSON."""
    import pyarrow

    if pyarrow.types.is_timestamp(type_):
        return pyarrow.string()
    if pyarrow.types.is_list(type_):
        return pyarrow.list_(_with_texts(type_.value_type))
    if pyarrow.types.is_struct(type_):
        return pyarrow.struct([field.with_type(_with_texts(field.type)) for field in type_])
    return type_


# ---- CSV and TSV


def _of_text(path: Path, encoder: TableEncoder, *, header: bool) -> Iterator[Ids]:
    """Yield the facts of CSV or TSV: by Arrow, or by the reader that knows places where that is not possible."""
    columns, nulls = encoder.columns, encoder.nulls
    table = _text_table(path, header, nulls) if columns is None or columns else None
    if table is not None:
        try:
            facts = list(encoder.encode(table))
        except LoadError:
            pass  # the reader below finds the error again, with its place
        else:
            yield from facts
            return
    rows = list(read_facts(path, columns, encoder.prefixes, header=header, wanted=encoder.wanted, nulls=nulls))
    yield encoder.encode_terms(rows)


def _text_table(path: Path, header: bool, nulls: Nulls) -> Batches | None:
    """Return the cells of CSV or TSV as batches of text, or None if Arrow is not there, or would read other cells."""
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return None
    is_csv = format_ending(path) == ".csv"
    separator = "," if is_csv else "\t"
    data = _content(path)
    if not _is_plain(np.frombuffer(data, np.uint8), ord(separator), quotes=is_csv):
        return None
    parse = pyarrow.csv.ParseOptions(delimiter=separator, quote_char='"' if is_csv else False, newlines_in_values=is_csv)
    reading = pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK, autogenerate_column_names=not header)
    try:
        names = pyarrow.csv.open_csv(pyarrow.BufferReader(data), reading, parse).schema.names
        kinds = dict.fromkeys(names, pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
        skips = nulls == "skip"
        convert = pyarrow.csv.ConvertOptions(
            column_types=kinds, null_values=[""] if skips else [], strings_can_be_null=skips, quoted_strings_can_be_null=False
        )
        if len(set(names)) < len(names) or (len(names) == 1 and _has_empty_lines(data)):
            return None
        shown = names if header else [f"column {number}" for number in range(1, len(names) + 1)]
        return Batches(str(path), shown, pyarrow.csv.open_csv(pyarrow.BufferReader(data), reading, parse, convert), has_cells=True)
    except (pyarrow.ArrowException, UnicodeDecodeError):  # the latter for a name that is not UTF-8
        return None


def _content(path: Path) -> bytes:
    """Return the bytes of a file, decompressed, without a byte order mark.

    Raises:
        LoadError: It cannot be read.
    """
    with unpacked_file(path) as file:
        return file.read().removeprefix(codecs.BOM_UTF8)


def _has_empty_lines(data: bytes) -> bool:
    return b"\n\n" in data or b"\n\r\n" in data


def _is_plain(data: npt.NDArray[np.uint8], separator: int, *, quotes: bool) -> bool:
    """Return whether Arrow splits a text into the same cells as `kg_reasoner.io.facts`: there are cells, carriage returns stand
    only before line feeds, and quotation marks only around cells and, doubled, in these.
    """
    if not len(data) or data[0] == _NEWLINE or data[0] == _RETURN:
        return False
    returns = np.flatnonzero(data == _RETURN)
    following = np.minimum(returns + 1, len(data) - 1)
    if (data[following] != _NEWLINE).any():
        return False
    if not quotes:
        return True
    places = np.flatnonzero(data == _QUOTE)
    if len(places) % 2:
        return False
    opening, closing = places[0::2], places[1::2]
    before, after = data[opening - 1], data[np.minimum(closing + 1, len(data) - 1)]
    begins = (opening == 0) | (before == separator) | (before == _NEWLINE)
    begins[1:] |= opening[1:] == closing[:-1] + 1
    ends = (closing == len(data) - 1) | (after == separator) | (after == _NEWLINE) | (after == _RETURN)
    ends[:-1] |= closing[:-1] + 1 == opening[1:]
    return bool(begins.all() and ends.all())
