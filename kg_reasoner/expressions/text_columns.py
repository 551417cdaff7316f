"""Columns of texts to columns of Python values and back, for the arguments and results of functions in Python.

A column of one common datatype costs no term per value. What is in another form is left to the caller, which makes terms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from kg_reasoner.expressions.defined_functions import PythonFunction
from kg_reasoner.expressions.types import Type, integer_range
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import XSD, Literal, literal, term_text

__all__ = ["called_on_texts"]

_NUMBERS: Final = {"integer": int, "double": float}
_ENDS: Final = {name: f'"^^<{XSD[name].value}>' for name in (*_NUMBERS, "boolean")}
_FORMS: Final = {
    "integer": re.compile(r"[+-]?[0-9]{1,300}"),
    "double": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
}
_SPECIAL: Final = regular_expression(r'["\\\n\r]')


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
    return [None] * count if results is None else [_text(function, result) for result in results]


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


def _text(function: PythonFunction, result: Any) -> str | None:
    """Return the text of a result, as `PythonFunction` writes it."""
    name, kind = function.result.name, type(result)
    if kind is str and name == "string":
        return f'"{result}"' if _SPECIAL.search(result) is None else term_text(Literal(result))
    if kind is int and name == "integer":
        return f'"{result}{_ENDS["integer"]}' if abs(result) < 10**300 else term_text(literal(result))
    term = function.written(result)
    return None if term is None else term_text(term)
