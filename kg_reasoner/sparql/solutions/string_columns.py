"""Functions on columns of simple strings, evaluated on Python's strings without making terms of them.

Each different string is converted once, by those functions that convert many together (`Function.on_column`). Columns with other
terms are left to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.concurrency.watching import blocks, mapped, watched
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.expressions.functions.regex import LONGEST
from kg_reasoner.expressions.result_texts import texts_of_strings
from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, constant
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids, group_rows
from kg_reasoner.storage.terms.dictionary import VALUE_BLANK, VALUE_ESCAPED, VALUE_STRING
from kg_reasoner.terms import XSD, Literal

__all__ = ["STRINGS", "LastColumn", "StringColumn", "ids_of_strings", "strings_of"]

_ON_COLUMNS: Final = {
    name: overload for name, function in FUNCTIONS.items() for overload in function.overloads if overload.on_column is not None
}
"""What converts many simple strings at once."""

STRINGS: Final = frozenset({"STR", "CONCAT", *_ON_COLUMNS})
"""The functions of this module."""

AT_ONCE: Final = 1 << 14
"""The number of strings that are converted between two checks of the limits."""

SAMPLE: Final = 1 << 10
"""The number of strings that tell whether many are alike."""

ALIKE: Final = 2
"""The minimal average number of occurrences of each, if many are alike."""

Convert: TypeAlias = Callable[[list[str]], list[str] | None]

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
        converted = convert(below.values[part])
        if converted is None:
            return None
        values += converted
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
    function, constants = _ON_COLUMNS.get(call.name), call.arguments[1:]
    if function is None or function.on_column is None or not all(isinstance(each, Literal) for each in constants):
        return None
    kinds = function.kinds(len(call.arguments))[1:]
    given = [kind.read(cast(Literal, each)) for kind, each in zip(kinds, constants, strict=True)]
    on_column = function.on_column
    return None if None in given else lambda values: on_column(values, *given)


def ids_of_strings(column: StringColumn, size: int, terms: QueryTerms) -> Ids:
    """Return the ids of simple strings."""
    values, texts = column.values, list[str]()
    for part in blocks(len(values), AT_ONCE):
        texts += texts_of_strings(values[part])
    distinct = list(dict.fromkeys(texts))
    found = terms.ids_of_texts(distinct)
    if len(distinct) < len(texts):
        known = dict(zip(distinct, found.tolist(), strict=True))
        found = np.array([known[text] for text in texts], np.int32)
    return constant(int(found[0]), size) if column.places is None else found[column.places]
