"""Columns of Arrow as texts of terms.

A value of Arrow is a literal of the datatype that corresponds to its type; text is a string. If a column of the relation is
declared with another type, the value is read as the cell of a table (`kg_reasoner.storage.cells.table_terms`) that contains its
lexical form; but a value that is not text is never a string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from kg_reasoner.errors import LoadError
from kg_reasoner.program import COLUMN_TYPES
from kg_reasoner.storage.cells.table_terms import (
    COLLECTIONS,
    Vocabulary,
    cell_reader,
    collection,
    optional_of,
    parts_of,
    something,
    text_reader,
    with_article,
)
from kg_reasoner.terms import ABSOLUTE_IRI, XSD, Term, scientific, term_from_text, term_text

__all__ = ["Form", "Unreadable", "expect_characters", "expect_terms", "form_of", "is_list", "list_texts", "plain", "term_texts"]

_CANONICAL_INTEGER: Final = r"^(0|-?[1-9][0-9]*)$"
_DECIMAL: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
_WEB_ADDRESS: Final = r'^https?://[^\x00-\x20<>"{}|^`\\]*$'
_LANGUAGE: Final = re.compile(r"[a-z]+(-[a-z0-9]+)*")
_WIDTH: Final = re.compile(r"(signed|unsigned)<([0-9]+)>")
"""A type of integers of a width."""
_LEAST_PLAIN, _MOST_PLAIN = 1e-3, 1e9
"""Doubles between these are written without an exponent by Arrow, as by Python."""


class Unreadable(ValueError):
    """A value that is not of its column's type.

    Args:
        place: Its place among the distinct values.
        message: The error in it.
    """

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place = place


class Form(NamedTuple):
    """The terms that the values of a column stand for, according to the metadata of a field in tables made of facts or results.

    Attributes:
        form: ``resource``, ``term`` or ``literal``; nothing if the table does not say.
        datatype: The datatype of literals.
        language: The language of literals.
    """

    form: str = ""
    datatype: str = ""
    language: str = ""


_UNKNOWN: Final = Form()


def form_of(metadata: Mapping[bytes, bytes] | None) -> Form:
    """Return the form that the metadata of a field describe, without its invalid parts."""
    found = Form(*((metadata or {}).get(name.encode(), b"").decode("utf-8", "replace") for name in Form._fields))
    is_language = not found.language or _LANGUAGE.fullmatch(found.language)
    if found.form == "literal" and ABSOLUTE_IRI.fullmatch(found.datatype) and is_language:
        return found
    return Form(found.form) if found.form in ("resource", "term") else Form()


def expect_terms(kind: Any, where: str) -> None:
    """Check that terms correspond to the values of a type of Arrow.

    Raises:
        LoadError: They do not.
    """
    import pyarrow.types as of

    kind = kind.value_type if of.is_dictionary(kind) else kind
    if is_list(kind):
        expect_terms(kind.value_type, where)
        return
    is_number = of.is_integer(kind) or of.is_floating(kind) or of.is_decimal(kind) or of.is_boolean(kind)
    if not (is_number or _is_text(kind) or of.is_date(kind) or of.is_timestamp(kind)):
        hint = "cast it to a string, a number, a boolean, a date or a timestamp"
        raise LoadError(f"{where}: no term corresponds to a value of Arrow's type {kind}", hint=hint)


def expect_characters(values: Any) -> None:
    """Check that texts are UTF-8, which Arrow takes for granted.

    Raises:
        Unreadable: One is not.
    """
    import pyarrow

    if not _is_text(values.type):
        return
    try:
        values.validate(full=True)
    except pyarrow.ArrowInvalid:
        for place, data in enumerate(values.cast(pyarrow.large_binary()).to_pylist()):
            try:
                str(data or b"", "utf-8")
            except UnicodeDecodeError as error:
                raise Unreadable(place, f"byte {data[error.start]:#04x} is not UTF-8 text") from None
        raise


def is_list(kind: Any) -> bool:
    """Return whether a type of Arrow is one of lists."""
    import pyarrow.types as of

    return of.is_list(kind) or of.is_large_list(kind) or of.is_fixed_size_list(kind)


def plain(values: Any) -> Any:
    """Return an array of a type for which Arrow has all of its functions, without a null in its dictionary."""
    import pyarrow
    import pyarrow.types as of

    kind = values.type
    if of.is_dictionary(kind):
        if values.dictionary.null_count:
            return plain(values.dictionary_decode())
        return pyarrow.DictionaryArray.from_arrays(values.indices, plain(values.dictionary))
    if of.is_float16(kind):
        return values.cast(pyarrow.float32())
    if of.is_string_view(kind):
        return values.cast(pyarrow.large_string())
    if of.is_decimal(kind) and kind.bit_width < 128:
        return values.cast(pyarrow.decimal128(kind.precision, kind.scale))
    return values


def list_texts(values: Any, type_: str, prefixes: Mapping[str, str]) -> list[str]:
    """Return the N-Triples forms of the lists or sets in a column of Arrow's lists, one for each row.

    Args:
        values: An array of lists without nulls.
        type_: The type of the relation's column; in one of type ``any``, they are lists.
        prefixes: As for `term_texts`.

    Raises:
        Unreadable: A member is not of its type, or is missing, or the column has another type.
    """
    import pyarrow
    import pyarrow.compute as pc

    if (optional := optional_of(type_)) is not None:
        return [term_text(something(term_from_text(text))) for text in list_texts(values, optional, prefixes)]
    kind, *inner = parts_of(type_)
    if kind not in ("list", "set", "any", "term"):
        raise Unreadable(0, f"a list is not {with_article(type_)}")
    lengths = pc.list_value_length(values).to_pylist()
    members = plain(values.flatten())
    members = members.dictionary_decode() if pyarrow.types.is_dictionary(members.type) else members
    of_member = [row for row, length in enumerate(lengths) for _ in range(length)]
    if members.null_count:
        raise Unreadable(of_member[members.is_null().to_pylist().index(True)], "a member of a list is null")
    type_of_members = inner[0] if inner else "any"
    if is_list(members.type):
        texts = list_texts(members, type_of_members, prefixes)
    else:
        try:
            expect_characters(members)
            texts = term_texts(members, type_of_members, prefixes, has_cells=False).to_pylist()
        except Unreadable as error:
            raise Unreadable(of_member[error.place], str(error)) from None
    terms, found, place = [term_from_text(text) for text in texts], [], 0
    for length in lengths:
        found.append(term_text(collection("set" if kind == "set" else "list", terms[place : place + length])))
        place += length
    return found


def _is_text(kind: Any) -> bool:
    import pyarrow.types as of

    return of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind) or of.is_null(kind)


def term_texts(values: Any, type_: str, prefixes: Mapping[str, str], *, has_cells: bool, form: Form = _UNKNOWN) -> Any:
    """Return the N-Triples forms of the terms in a column, as an array of ``large_string``.

    Args:
        values: An array of Arrow without nulls, and best without duplicates.
        type_: The type of the relation's column.
        prefixes: Namespaces of prefixes, for IRIs and typed literals in text.
        has_cells: Whether text in a column of type ``any`` is read as a cell; otherwise, it is a string.
        form: What the values stand for in a column of type ``any``.

    Raises:
        Unreadable: A value is not of the column's type.
    """
    if (width := _WIDTH.fullmatch(type_)) is not None:
        texts = term_texts(values, "integer", prefixes, has_cells=has_cells)
        _expect_range(values, width, type_)
        return texts
    is_text = _is_text(values.type)
    is_inside = form.form != "literal" or form.datatype.startswith(str(XSD))
    if is_inside and (inner := optional_of(type_)) is not None:
        return _optional(values, inner, type_, prefixes, has_cells=has_cells)
    is_structured = parts_of(type_)[0] in COLLECTIONS or (isinstance(prefixes, Vocabulary) and type_ in prefixes.types.definitions)
    if is_text and form.form != "literal" and is_structured:
        return _of_text(_as_text(values), type_, prefixes)
    if type_ not in COLUMN_TYPES:  # a structured value is a term of its datatype, or the N-Triples form of one
        type_, has_cells = "any", True
    if type_ == "any" and form.form == "literal":
        return _literals(_as_text(values) if is_text else _native(values, form.datatype == XSD.float.value)[1], form)
    if is_text:
        if type_ == "any" and form.form == "resource":
            return _resources(_as_text(values))
        is_cell = has_cells or form.form == "term"
        return _of_text(_as_text(values), "string" if type_ == "any" and not is_cell else type_, prefixes)
    native, lexical = _native(_whole(values) if type_ == "integer" else values, type_ == "float")
    if type_ == "string" and len(lexical):
        raise Unreadable(
            0, f"{lexical[0]} is {with_article(native)}, and not a string: cast the column to text, or declare its type"
        )
    if type_ in ("any", native):
        return _typed(lexical, XSD[native].value)
    return _of_text(lexical, type_, prefixes)


def _optional(values: Any, inner: str, type_: str, prefixes: Mapping[str, str], *, has_cells: bool) -> Any:
    """Return the N-Triples forms of optional values that are there."""
    import pyarrow

    if not _is_text(values.type):
        texts = term_texts(values, inner, prefixes, has_cells=has_cells).to_pylist()
        found = [term_text(something(term_from_text(text))) for text in texts]
        return pyarrow.array(found, pyarrow.large_string())
    read = cell_reader(type_, prefixes) if has_cells else text_reader(inner, prefixes)
    found = []
    for place, text in enumerate(_as_text(values).to_pylist()):
        try:
            found.append(term_text(read(text)))
        except ValueError as error:
            raise Unreadable(place, str(error)) from None
    return pyarrow.array(found, pyarrow.large_string())


def _whole(values: Any) -> Any:
    """Return doubles and decimals that are whole numbers as integers: in pandas, integers are doubles where one is missing.

    Raises:
        Unreadable: One is not a whole number.
    """
    import pyarrow
    import pyarrow.types as of

    if not (of.is_floating(values.type) or of.is_decimal(values.type)):
        return values
    try:
        return values.cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        for place, value in enumerate(values.to_pylist()):
            if value % 1 != 0:
                raise Unreadable(place, f"{value} is not an integer") from None
        return values


def _native(values: Any, is_single: bool = False) -> tuple[str, Any]:
    """Return the type of column that values of Arrow belong in, and their lexical forms.

    Args:
        values: The values.
        is_single: Whether they become floats: single-precision numbers have the digits that they need as such.
    """
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as of

    kind = values.type
    if of.is_integer(kind):
        return "integer", _as_text(values)
    if of.is_boolean(kind):
        return "boolean", _as_text(values)
    if of.is_floating(kind):
        return "double", _doubles(values if is_single and of.is_float32(kind) else values.cast(pyarrow.float64()))
    if of.is_decimal(kind):
        texts = _as_text(values)
        return "decimal", _with_others(texts, pc.invert(pc.match_substring(texts, "E")), values, lambda value: f"{value:f}")
    if of.is_date(kind):
        return "date", _years(_as_text(values.cast(pyarrow.date32())))
    return "dateTime", _moments(values)


def _as_text(values: Any) -> Any:
    import pyarrow

    return values.cast(pyarrow.large_string())


def _doubles(values: Any) -> Any:
    """Return doubles or floats in the form of `kg_reasoner.terms.literal`."""
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.types as of

    size = pc.abs(values)
    has_plain_form = pc.and_(pc.greater_equal(size, _LEAST_PLAIN), pc.less(size, _MOST_PLAIN))
    texts = _joined(_as_text(pc.if_else(pc.less(values, 0), "-", "")), _scientific(_as_text(size)))
    is_double = of.is_float64(values.type)

    def lexical(value: float) -> str:
        return scientific(repr(value) if is_double else str(np.float32(value)))

    return _with_others(texts, has_plain_form, values, lexical)


def _scientific(texts: Any) -> Any:
    """Return numbers that are written without an exponent or a sign, and are not zero, as `kg_reasoner.terms.scientific` does."""
    import pyarrow.compute as pc

    point = pc.find_substring(texts, ".")
    before = pc.if_else(pc.less(point, 0), pc.binary_length(texts), point)
    digits = pc.replace_substring(texts, ".", "", max_replacements=1)
    significant = pc.ascii_ltrim(digits, "0")
    zeros = pc.subtract(pc.binary_length(digits), pc.binary_length(significant))
    power = pc.subtract(pc.subtract(before, zeros), 1)
    rest = pc.ascii_rtrim(pc.utf8_slice_codeunits(significant, 1), "0")
    rest = pc.if_else(pc.equal(rest, ""), "0", rest)
    return _joined(pc.utf8_slice_codeunits(significant, 0, 1), ".", rest, "E", _as_text(power))


def _years(texts: Any) -> Any:
    """Return the texts of dates or points in time.

    Raises:
        Unreadable: Arrow does not write one of them.
    """
    import numpy as np
    import pyarrow.compute as pc

    is_beyond = np.asarray(pc.match_substring(texts, "out of range"))
    if is_beyond.any():
        raise Unreadable(int(np.argmax(is_beyond)), "the date is before the year -32767 or after 32767")
    return texts


def _moments(values: Any) -> Any:
    """Return points in time as xsd:dateTime: those with a time zone in UTC, fractions of seconds without trailing zeros."""
    import pyarrow
    import pyarrow.compute as pc

    zone = values.type.tz
    texts = _years(_as_text(values.cast(pyarrow.timestamp(values.type.unit))))
    texts = pc.replace_substring(texts, " ", "T", max_replacements=1)
    texts = pc.if_else(pc.match_substring(texts, "."), pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), "."), texts)
    return texts if zone is None else _joined(texts, "Z")


def _expect_range(values: Any, width: re.Match[str], type_: str) -> None:
    """Check that integers, or their texts, are of a type with a width.

    Raises:
        Unreadable: One of them is not.
    """
    import pyarrow
    import pyarrow.compute as pc

    bits = int(width[2])
    low, high = (0, (1 << bits) - 1) if width[1] == "unsigned" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    try:
        least, most = pc.min_max(values.cast(pyarrow.int64())).as_py().values()
        is_fine = least is None or (low <= least and most <= high)
    except pyarrow.ArrowInvalid:  # larger than any of 64 bits, or in another form
        is_fine = False
    for place, value in enumerate(() if is_fine else values.to_pylist()):
        if not low <= int(value) <= high:
            raise Unreadable(place, f"{str(value)!r} is not in the range of {type_}, from {low} to {high}")


# ---- text


def _literals(lexical: Any, form: Form) -> Any:
    """Return the literals of one datatype."""
    texts = _quoted(lexical)
    if form.language:
        return _joined(texts, f"@{form.language}")
    return texts if form.datatype == XSD.string.value else _joined(texts, f"^^<{form.datatype}>")


def _resources(names: Any) -> Any:
    """Return IRIs and, as ``_:label``, blank nodes."""
    import pyarrow.compute as pc

    known = pc.match_substring_regex(names, _WEB_ADDRESS)
    return _with_others(_joined("<", names, ">"), known, names, lambda name: term_text(_resource(name)))


def _resource(name: str) -> Term:
    return cell_reader("any" if name.startswith("_:") else "iri", {})(name)


def _of_text(lexical: Any, type_: str, prefixes: Mapping[str, str]) -> Any:
    """Return the terms of cells: most of them by functions of Arrow, and the others by the reader of cells."""
    texts, is_known = _fast(lexical, type_, prefixes)
    read = cell_reader(type_, prefixes)

    def term(cell: str) -> str:
        return term_text(read(cell))

    return _with_others(texts, is_known, lexical, term)


def _fast(lexical: Any, type_: str, prefixes: Mapping[str, str]) -> tuple[Any, Any]:
    """Return the terms of cells of the common forms, and which cells have these forms."""
    import pyarrow
    import pyarrow.compute as pc

    if type_ == "string":
        return _quoted(lexical), None
    if type_ == "integer":
        return _typed(lexical, XSD.integer.value), _are_integers(lexical)
    if type_ == "decimal":
        return _typed(lexical, XSD.decimal.value), pc.match_substring_regex(lexical, _DECIMAL)
    if type_ == "boolean":
        known = pyarrow.array(["true", "false"], pyarrow.large_string())
        return _typed(lexical, XSD.boolean.value), pc.is_in(lexical, value_set=known)
    if type_ == "iri" and not {"http", "https"} & prefixes.keys():
        return _joined("<", lexical, ">"), pc.match_substring_regex(lexical, _WEB_ADDRESS)
    if type_ == "any":
        return _quoted(lexical), pc.invert(pc.match_substring_regex(lexical, r'^(<|"|_:)|[.0-9]$'))
    return lexical, pyarrow.scalar(False)


def _are_integers(lexical: Any) -> Any:
    """Return a mask of the texts that are integers in canonical form."""
    import pyarrow
    import pyarrow.compute as pc

    try:
        numbers = lexical.cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        return pc.match_substring_regex(lexical, _CANONICAL_INTEGER)
    return pc.equal(_as_text(numbers), lexical)


def _quoted(lexical: Any) -> Any:
    """Return strings with the escapes of N-Triples, in quotation marks."""
    import pyarrow.compute as pc

    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        if pc.any(pc.match_substring(lexical, character)).as_py():
            lexical = pc.replace_substring(lexical, character, escape)
    return _joined('"', lexical, '"')


def _typed(lexical: Any, datatype: str) -> Any:
    return _joined('"', lexical, f'"^^<{datatype}>')


def _joined(*parts: Any) -> Any:
    """Return texts that consist of constant and variable parts."""
    import pyarrow
    import pyarrow.compute as pc

    text = pyarrow.large_string()
    scalars = [pyarrow.scalar(part, text) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*scalars, pyarrow.scalar("", text))


def _with_others(texts: Any, is_known: Any, values: Any, text_of: Callable[[Any], str]) -> Any:
    """Return texts with those that are not known replaced by what a function returns for their values.

    Raises:
        Unreadable: The function raises ValueError.
    """
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    if is_known is None or pc.all(is_known).as_py():
        return texts
    missing = np.ones(len(values), np.bool_)
    if not isinstance(is_known, pyarrow.Scalar):
        missing = ~np.asarray(is_known)
    replaced = []
    for place, value in zip(np.flatnonzero(missing).tolist(), values.filter(pyarrow.array(missing)).to_pylist(), strict=True):
        try:
            replaced.append(text_of(value))
        except ValueError as error:
            raise Unreadable(place, str(error)) from None
    if len(replaced) == len(values):
        return pyarrow.array(replaced, pyarrow.large_string())
    return pc.replace_with_mask(texts, pyarrow.array(missing), pyarrow.array(replaced, pyarrow.large_string()))
