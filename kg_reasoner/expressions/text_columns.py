"""Columns of texts to columns of Python values and back, for the arguments and results of functions in Python.

A column of one common datatype costs no term per value. What is in another form is left to the caller, which makes terms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from kg_reasoner.expressions.defined_functions import PythonFunction
from kg_reasoner.expressions.functions.kinds import NUMBER, SIMPLE, Kind
from kg_reasoner.expressions.result_texts import texts_of
from kg_reasoner.expressions.types import Type, integer_range
from kg_reasoner.terms import XSD, term_text

__all__ = ["called_on_texts"]

_NUMBERS: Final = {"integer": int, "double": float}
_ENDS: Final = {name: f'"^^<{XSD[name].value}>' for name in (*_NUMBERS, "boolean")}
_FORMS: Final = {
    "integer": re.compile(r"[+-]?[0-9]{1,300}"),
    "double": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
}
_PLAIN: Final = {"string": SIMPLE, "integer": NUMBER}
_LARGE: Final = 10**300


def called_on_texts(function: PythonFunction, columns: Sequence[Sequence[str]], count: int) -> list[str | None] | None:
    """Return the texts of a function's results for columns of texts in the form of `term_text`; None for an error of a row.

    Args:
        function: The function.
        columns: A column for each parameter.
        count: The number of rows.

    Returns:
        The texts, or None if an argument is in a form that is not read here.
    """
    values = []
    for type_, column in zip(function.parameters, columns, strict=True):
        found = _values(type_, column)
        if found is None:
            return None
        values.append(found)
    results = function.results(values, count)
    return [None] * count if results is None else _texts(function, results)


def _values(type_: Type, column: Sequence[str]) -> list[Any] | None:
    """Return the values of a column, all of which are of a type; None if some are not, or in another form."""
    name = "integer" if integer_range(type_.name) else type_.name
    if name == "string":
        if not all(text[0] == '"' == text[-1] and "\\" not in text for text in column):
            return None
        return [text[1:-1] for text in column]
    end, form = _ENDS.get(name, ""), _FORMS.get(name)
    if form is None or not all(text.endswith(end) for text in column):
        return None
    lexical = [text[1 : -len(end)] for text in column]
    if not all(map(form.fullmatch, lexical)):
        return None
    values = list(map(_NUMBERS[name], lexical))
    bounds = integer_range(type_.name)
    return None if bounds and not all(bounds[0] <= value <= bounds[1] for value in values) else values


def _texts(function: PythonFunction, results: Sequence[Any]) -> list[str | None]:
    """Return the texts of results, as `PythonFunction` writes them."""
    kind = _PLAIN.get(function.result.name)
    if kind is not None and all(result is None or _is_plain(kind, result) for result in results):
        return texts_of(kind, results)
    terms = map(function.written, results)
    return [None if term is None else term_text(term) for term in terms]


def _is_plain(kind: Kind, result: Any) -> bool:
    """Return whether a result is a string, or an integer that is not too large, if results are of such a kind."""
    return type(result) is str if kind is SIMPLE else type(result) is int and abs(result) < _LARGE
