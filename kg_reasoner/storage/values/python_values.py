"""Columns of terms as columns of Python values, for functions in Python (see `kg_reasoner.expressions.column_forms`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np

from kg_reasoner.concurrency.watching import short_blocks
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.column_forms import column_forms, values_by_form
from kg_reasoner.expressions.functions.kinds import LEXICAL, NUMBER, OPERAND, SIMPLE, Kind
from kg_reasoner.program import Expression, Variable
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels.interning import VALUE_BLANK, VALUE_ESCAPED, VALUE_STRING
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.value_columns import DECIMAL, INTEGER, RESOURCE, STRING
from kg_reasoner.terms import term_of

__all__ = ["python_values", "results_in_blocks", "results_of_columns"]

Values: TypeAlias = Callable[[Kind, Ids], "list[Any]"]

_FEW: Final = 16
"""Fewer terms are read one by one."""

AT_ONCE: Final = 1 << 12
"""The maximal number of rows whose values are in memory together, between two checks of the limits: results can be long."""


Results: TypeAlias = "tuple[Kind, Numbers | slice, list[Any]]"
"""The kind of some results, the rows that have them, and the results; None in place of a type error."""


def results_of_columns(expression: Expression, columns: Mapping[Variable, Ids], values: Values) -> list[Results] | None:
    """Evaluate an expression on columns.

    Args:
        expression: The expression.
        columns: The ids of its variables, of which there is one at least.
        values: Returns the values that terms have as a kind.

    Returns:
        The results of all rows; None for an expression without forms for columns, or with a result that is too large.
    """
    if not column_forms(expression):
        return None

    def read(variable: Variable, kind: Kind, rows: Sequence[int] | None) -> list[Any]:
        ids = columns[variable]
        return values(kind, ids if rows is None else ids[np.array(rows, np.int64)])

    try:
        found = values_by_form(expression, len(next(iter(columns.values()))), read)
    except ValueTooLargeError:
        return None
    return [(kind, slice(None) if rows is None else np.array(rows, np.int64), results) for kind, rows, results in found]


def results_in_blocks(
    expression: Expression, columns: Mapping[Variable, Ids], size: int, dictionary: Dictionary
) -> Iterator[Results]:
    """Yield results of an expression, block by block; none for a block for which `results_of_columns` has none.

    Args:
        expression: The expression.
        columns: The ids of its variables, all of which are in the dictionary.
        size: The number of rows.
        dictionary: The dictionary.
    """
    if not column_forms(expression):
        return
    numbers = np.arange(size)
    for block in short_blocks(size, AT_ONCE):
        ids = {variable: column[block] for variable, column in columns.items()}
        found = results_of_columns(expression, ids, lambda kind, some: python_values(kind, some, dictionary))
        for kind, rows, values in found or ():
            yield kind, numbers[block][rows], values


def python_values(kind: Kind, ids: Ids, dictionary: Dictionary) -> list[Any]:
    """Return the values that terms have as a kind; None for a term of another kind.

    Args:
        kind: The kind.
        ids: The ids, all of which are in the dictionary.
        dictionary: The dictionary.
    """
    if len(ids) >= _FEW:
        if kind is SIMPLE or kind is LEXICAL:
            return _texts(kind, ids, dictionary)
        if kind is NUMBER or kind is OPERAND:
            return _numbers(kind, ids, dictionary)
    return _one_by_one(kind, ids, dictionary)


def _texts(kind: Kind, ids: Ids, dictionary: Dictionary) -> list[Any]:
    """Return strings, which are decoded together unless they have escapes."""
    found = dictionary.values_of(ids)
    is_known = found.kinds == VALUE_STRING if kind is SIMPLE else (found.kinds < VALUE_ESCAPED) & (found.kinds != VALUE_BLANK)
    values: list[Any] = found.data[:-1].tobytes().decode().split("\n")
    return _completed(values, is_known, kind, ids, dictionary)


def _numbers(kind: Kind, ids: Ids, dictionary: Dictionary) -> list[Any]:
    kinds, units, scales = dictionary.read(ids)
    values: list[Any] = units.tolist()
    for place in np.flatnonzero(kinds == DECIMAL).tolist():
        values[place] = Decimal(values[place]).scaleb(-int(scales[place]))
    is_none = (kinds == RESOURCE) | (kinds == STRING)
    for place in np.flatnonzero(is_none).tolist():
        values[place] = None
    return _completed(values, is_none | (kinds == INTEGER) | (kinds == DECIMAL), kind, ids, dictionary)


def _completed(values: list[Any], is_known: Any, kind: Kind, ids: Ids, dictionary: Dictionary) -> list[Any]:
    others = np.flatnonzero(~is_known)
    if len(others):
        for place, value in zip(others.tolist(), _one_by_one(kind, ids[others], dictionary), strict=True):
            values[place] = value
    return values


def _one_by_one(kind: Kind, ids: Ids, dictionary: Dictionary) -> list[Any]:
    numbers, read = ids.tolist(), kind.read
    different = list(dict.fromkeys(numbers))
    known = {number: read(term_of(text)) for number, text in zip(different, dictionary.texts_of(different), strict=True)}
    return [known[number] for number in numbers]
