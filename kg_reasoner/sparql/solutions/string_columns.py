"""Functions on columns of simple strings, evaluated on Python's strings without making terms of them.

They give what `kg_reasoner.expressions.functions.strings` gives for strings without language tags. Other columns are left to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.concurrency.watching import blocks, mapped, watched
from kg_reasoner.expressions.functions.regex import LONGEST
from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, constant
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids, group_rows
from kg_reasoner.storage.terms.dictionary import VALUE_BLANK, VALUE_ESCAPED, VALUE_STRING
from kg_reasoner.terms import XSD, Literal, term_text

__all__ = ["STRINGS", "LastColumn", "StringColumn", "ids_of_strings", "strings_of"]

STRINGS: Final = frozenset({"STR", "CONCAT", "LCASE", "UCASE", "STRBEFORE", "STRAFTER", "SUBSTR"})
"""The functions of this module."""

AT_ONCE: Final = 1 << 14
"""The number of strings that are converted between two checks of the limits."""

SAMPLE: Final = 1 << 10
"""The number of strings that tell whether many are alike."""

ALIKE: Final = 2
"""The minimal average number of occurrences of each, if many are alike."""

Convert: TypeAlias = Callable[[list[str]], list[str]]

_INTEGER: Final = XSD.integer.value
_STRING: Final = XSD.string.value


class StringColumn(NamedTuple):
    """A string for each row: ``values[places[row]]``; without places, the same one for all."""

    values: list[str]
    places: Numbers | None


class LastColumn:
    """The strings of the column of ids that was read last: several expressions often are about the same one."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[Ids, bool, StringColumn | None] | None = None

    def read(self, ids: Ids, terms: QueryTerms, *, takes_any: bool) -> StringColumn | None:
        """Return the simple strings of a column, or the lexical forms of literals and IRIs; None if there are other terms."""
        last = self._last
        if last is None or last[0] is not ids or last[1] != takes_any:
            last = self._last = ids, takes_any, _column(ids, terms, takes_any=takes_any)
        return last[2]


def strings_of(expression: Any, table: Table, terms: QueryTerms, last: LastColumn) -> StringColumn | None:
    """Return the values of an expression, if these are simple strings made by the functions of this module.

    Args:
        expression: The expression.
        table: The solutions.
        terms: The terms of the query.
        last: Reads columns.
    """
    if isinstance(expression, Literal):
        return StringColumn([expression.lexical], None) if expression.datatype == _STRING else None
    if isinstance(expression, Variable):
        return last.read(table.column(expression.name), terms, takes_any=False)
    if not isinstance(expression, Call):
        return None
    arguments = expression.arguments
    if expression.name == "STR" and isinstance(arguments[0], Variable):
        return last.read(table.column(arguments[0].name), terms, takes_any=True)
    if expression.name == "CONCAT" and arguments:
        return _concatenated([strings_of(argument, table, terms, last) for argument in arguments])
    convert = _function(expression)
    below = None if convert is None else strings_of(arguments[0], table, terms, last)
    if below is None or convert is None:
        return None
    values: list[str] = []
    for part in blocks(len(below.values), AT_ONCE):
        values += convert(below.values[part])
    return _shortened(StringColumn(values, below.places))


def _shortened(column: StringColumn) -> StringColumn:
    """Return a column with each value once, if many are equal, which saves work in what follows."""
    values, places = column
    if places is None or len(set(values[:SAMPLE])) * ALIKE > len(values[:SAMPLE]):
        return column
    known: dict[str, int] = {}
    for part in blocks(len(values), AT_ONCE):
        known.update(dict.fromkeys(values[part], 0))
    known = dict(zip(known, range(len(known)), strict=True))
    found = np.empty(len(values), np.int64)
    for part in blocks(len(values), AT_ONCE):
        found[part] = [known[value] for value in values[part]]
    return StringColumn(list(known), found[places])


def _column(ids: Ids, terms: QueryTerms, *, takes_any: bool) -> StringColumn | None:
    """Return the simple strings of a column, or the lexical forms of literals and IRIs; None if there are other terms."""
    distinct, places = distinct_ids(ids)
    if not len(distinct) or UNBOUND in distinct:
        return None
    stored = distinct >= 0
    found = terms.dictionary.values_of(distinct[stored])
    allowed = found.kinds < VALUE_ESCAPED
    allowed &= (found.kinds != VALUE_BLANK) if takes_any else (found.kinds == VALUE_STRING)
    if not allowed.all():
        return None
    values = found.data[:-1].tobytes().decode().split("\n") if stored.any() else []
    if not stored.all():  # those that only the query knows come first
        own = [_value(text, takes_any) for text in watched(terms.texts(distinct[~stored]))]
        known = [value for value in own if value is not None]
        if len(known) < len(own):
            return None
        values = known + values
    return StringColumn(values, places.reshape(-1))


def _value(text: str, takes_any: bool) -> str | None:
    if "\\" in text or text[0] == "_" or not (takes_any or (text[0] == '"' and text[-1] == '"')):
        return None
    return text[1:-1] if text[0] == "<" else text[1 : text.rindex('"')]


def _concatenated(columns: Sequence[StringColumn | None]) -> StringColumn | None:
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    varying = [column.places for column in known if column.places is not None]
    if not varying:
        return StringColumn(["".join(column.values[0] for column in known)], None)
    if len(varying) == 1:
        return _between(known)
    rows = np.stack(varying, axis=1).astype(np.int32)
    labels, firsts = group_rows(rows)
    places, chosen = labels.astype(np.int64), list(rows[firsts].T)
    parts, number = [], 0
    for column in known:
        if column.places is None:
            parts.append(column.values * len(chosen[0]))
        else:
            parts.append([column.values[place] for place in chosen[number].tolist()])
            number += 1
    current_watch().check(0, sum(sum(map(len, part)) for part in parts))
    values = mapped("".join, zip(*parts, strict=True))
    return StringColumn(values, places) if max(map(len, values)) <= LONGEST else None


def _between(columns: Sequence[StringColumn]) -> StringColumn | None:
    """Return the values of a column between constants."""
    number = next(number for number, column in enumerate(columns) if column.places is not None)
    values, places = columns[number]
    before, after = ("".join(column.values[0] for column in some) for some in (columns[:number], columns[number + 1 :]))
    current_watch().check(0, (len(before) + len(after)) * len(values))
    made: list[str] = []
    for part in blocks(len(values), AT_ONCE):
        made += [f"{before}{value}{after}" for value in values[part]]
    return StringColumn(made, places) if max(map(len, made)) <= LONGEST else None


def _function(call: Call) -> Convert | None:
    """Return a call with constant further arguments as a function of many values of its first one."""
    if call.name in ("LCASE", "UCASE"):
        return _in_case(str.lower if call.name == "LCASE" else str.upper)
    constants = call.arguments[1:]
    if not constants or not all(isinstance(argument, Literal) for argument in constants):
        return None
    given: list[Any] = list(constants)
    if call.name in ("STRBEFORE", "STRAFTER"):
        return _around(given[0].lexical, is_before=call.name == "STRBEFORE") if given[0].datatype == _STRING else None
    if call.name == "SUBSTR" and all(each.datatype == _INTEGER and _is_small(each.lexical) for each in given):
        return _part(*(int(each.lexical) for each in given))
    return None


def _is_small(lexical: str) -> bool:
    return len(lexical) < 10 and lexical.lstrip("+-").isdecimal() and lexical.isascii()


def _in_case(convert: Callable[[str], str]) -> Convert:
    """Return the conversion of many strings at once, as lines."""

    def apply(values: list[str]) -> list[str]:
        lines = convert("\n".join(values)).split("\n")
        return lines if len(lines) == len(values) else list(map(convert, values))

    return apply


def _around(mark: str, *, is_before: bool) -> Convert:
    if not mark:
        return (lambda values: [""] * len(values)) if is_before else (lambda values: values)
    if is_before:
        return lambda values: [text[:at] if (at := text.find(mark)) >= 0 else "" for text in values]
    return lambda values: [text.partition(mark)[2] for text in values]


def _part(start: int, length: int | None = None) -> Convert:
    first = max(0, start - 1)
    end = None if length is None else max(0, start - 1 + length)
    return lambda values: [text[first:end] for text in values]


def ids_of_strings(column: StringColumn, size: int, terms: QueryTerms) -> Ids:
    """Return the ids of simple strings."""
    values = column.values
    if any(map(_is_escaped, ("".join(values[part]) for part in blocks(len(values), AT_ONCE)))):
        texts = [term_text(Literal(value)) for value in watched(values)]
    else:
        texts = [f'"{value}"' for value in values]
    distinct = list(dict.fromkeys(texts))
    found = terms.ids_of_texts(distinct)
    if len(distinct) < len(texts):
        known = dict(zip(distinct, found.tolist(), strict=True))
        found = np.array([known[text] for text in texts], np.int32)
    return constant(int(found[0]), size) if column.places is None else found[column.places]


def _is_escaped(value: str) -> bool:
    return '"' in value or "\\" in value or "\n" in value or "\r" in value
