"""Functions on columns of simple strings, evaluated on Python's strings without making terms of them.

They give what `kg_reasoner.expressions.functions.strings` gives for strings without language tags. Other columns are left to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.concurrency.watching import MANY, blocks, mapped
from kg_reasoner.expressions.functions.regex import LONGEST
from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql.table import UNBOUND, Table, constant
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids, group_rows
from kg_reasoner.terms import XSD, Literal, term_text

__all__ = ["STRINGS", "StringColumn", "ids_of_strings", "strings_of"]

STRINGS: Final = frozenset({"STR", "CONCAT", "LCASE", "UCASE", "STRBEFORE", "STRAFTER", "SUBSTR"})
"""The functions of this module."""

_INTEGER: Final = XSD.integer.value
_STRING: Final = XSD.string.value


class StringColumn(NamedTuple):
    """A string for each row: ``values[places[row]]``; without places, the same one for all."""

    values: list[str]
    places: Numbers | None


def strings_of(expression: Any, table: Table, terms: QueryTerms) -> StringColumn | None:
    """Return the values of an expression, if these are simple strings made by the functions of this module.

    Args:
        expression: The expression.
        table: The solutions.
        terms: The terms of the query.
    """
    if isinstance(expression, Literal):
        return StringColumn([expression.lexical], None) if expression.datatype == _STRING else None
    if isinstance(expression, Variable):
        return _column(table.column(expression.name), terms, _simple)
    if not isinstance(expression, Call):
        return None
    arguments = expression.arguments
    if expression.name == "STR" and isinstance(arguments[0], Variable):
        return _column(table.column(arguments[0].name), terms, _lexical)
    if expression.name == "CONCAT" and arguments:
        return _concatenated([strings_of(argument, table, terms) for argument in arguments])
    convert = _function(expression)
    below = None if convert is None else strings_of(arguments[0], table, terms)
    return None if below is None or convert is None else StringColumn(mapped(convert, below.values), below.places)


def _column(ids: Ids, terms: QueryTerms, read: Callable[[str], str | None]) -> StringColumn | None:
    distinct, places = distinct_ids(ids)
    if not len(distinct) or UNBOUND in distinct:
        return None
    texts, values = terms.texts(distinct), list[str]()
    for part in blocks(len(texts), MANY):
        for text in texts[part]:
            value = None if "\\" in text else read(text)
            if value is None:
                return None
            values.append(value)
    return StringColumn(values, places.reshape(-1))


def _simple(text: str) -> str | None:
    return text[1:-1] if text[0] == '"' and text[-1] == '"' else None


def _lexical(text: str) -> str | None:
    return None if text[0] == "_" else text[1:-1] if text[0] == "<" else text[1 : text.rindex('"')]


def _concatenated(columns: Sequence[StringColumn | None]) -> StringColumn | None:
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    varying = [column.places for column in known if column.places is not None]
    if not varying:
        return StringColumn(["".join(column.values[0] for column in known)], None)
    if len(varying) == 1:
        places, chosen = varying[0], [np.arange(max(len(column.values) for column in known))]
    else:
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


def _function(call: Call) -> Callable[[str], str] | None:
    """Return a call with constant further arguments as a function of its first one."""
    if call.name in ("LCASE", "UCASE"):
        return str.lower if call.name == "LCASE" else str.upper
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


def _around(mark: str, *, is_before: bool) -> Callable[[str], str]:
    if not mark:
        return (lambda text: "") if is_before else (lambda text: text)
    if is_before:
        return lambda text: text.partition(mark)[0] if mark in text else ""
    return lambda text: text.partition(mark)[2]


def _part(start: int, length: int | None = None) -> Callable[[str], str]:
    first = max(0, start - 1)
    if length is None:
        return lambda text: text[first:]
    end = max(0, start - 1 + length)
    return lambda text: text[first:end]


def ids_of_strings(column: StringColumn, size: int, terms: QueryTerms) -> Ids:
    """Return the ids of simple strings."""
    texts = [term_text(Literal(value)) if _is_escaped(value) else f'"{value}"' for value in column.values]
    distinct = list(dict.fromkeys(texts))
    known = dict(zip(distinct, terms.ids_of_texts(distinct).tolist(), strict=True))
    found = np.array([known[text] for text in texts], np.int32)
    return constant(int(found[0]), size) if column.places is None else found[column.places]


def _is_escaped(value: str) -> bool:
    return '"' in value or "\\" in value or "\n" in value or "\r" in value
