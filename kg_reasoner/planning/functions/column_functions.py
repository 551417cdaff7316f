"""FILTER and BIND expressions on columns of ids.

Comparisons, arithmetic and the logical forms are evaluated on columns of values, string searches on the bytes of all strings at
once, and other functions on columns of Python values. What columns do not decide exactly (large integers, functions of the program
...) is `UNSURE`, row by row: the caller evaluates the whole expression for that row.

A truth column has 1 for true, 0 for false, -1 for SPARQL's type error, and `UNSURE`; a column of ids has -1 for a type error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from kg_reasoner.expressions.column_forms import column_forms
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.expressions.functions.kinds import BOOLEAN
from kg_reasoner.expressions.result_texts import longest, texts_of
from kg_reasoner.expressions.values import OPERATORS
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.terms.collections import LONGEST
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.text_search import UNDECIDED as UNSURE
from kg_reasoner.storage.terms.text_search import search_of
from kg_reasoner.storage.values.python_values import results_in_blocks
from kg_reasoner.storage.values.truth_columns import Truth, negated, truth_column
from kg_reasoner.storage.values.value_arithmetic import are_terms, integer_buffer, numbers_of, terms_of_numbers
from kg_reasoner.storage.values.value_columns import ValueCache, ValueColumn, constant_values
from kg_reasoner.storage.values.value_comparisons import compared
from kg_reasoner.terms import XSD, Literal, term_text

__all__ = ["UNSURE", "ColumnFunctions", "is_for_columns"]

Columns: TypeAlias = Mapping[Variable, Ids]
"""A column for each variable, all of the same length."""

_ARITHMETIC: Final = ("+", "-", "*", "neg", "%", "IDIV")
_KINDS: Final = {"ISIRI": "<", "ISURI": "<", "ISBLANK": "_", "ISLITERAL": '"'}
_ERROR: Final = -1
_TRUTHS: Final = (Literal("false", XSD.boolean.value), Literal("true", XSD.boolean.value))


def is_for_columns(expression: Expression) -> bool:
    """Return whether columns may decide an expression."""
    if not isinstance(expression, Call):
        return False
    if expression.name in ("&&", "||", "!", "IF"):
        return any(map(is_for_columns, expression.arguments))
    return expression.name in (*OPERATORS, *_ARITHMETIC, *_KINDS, "IN", "NOT IN") or bool(column_forms(expression))


class ColumnFunctions:
    """Evaluates expressions on columns of ids.

    Args:
        dictionary: The terms.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self.values = ValueCache(dictionary)
        """The values of the terms."""

    def truth(self, expression: Expression, columns: Columns, size: int) -> Truth:
        """Return the effective boolean value of an expression for each row.

        Args:
            expression: The expression.
            columns: The values of its variables.
            size: The number of rows.
        """
        if isinstance(expression, Call):
            name, arguments = expression.name, expression.arguments
            form = _FORMS.get(name)
            if form is not None:
                return form(self, arguments, columns, size)
            if name in OPERATORS:
                return self._comparison(expression, columns, size)
            if name in _KINDS and isinstance(arguments[0], Variable):
                first = self._dictionary.first_bytes()[columns[arguments[0]]]
                return (first == ord(_KINDS[name])).astype(np.int8)
            search = search_of(expression)
            if search is not None:
                return search.truth(columns[search.variable], self._dictionary)
        return self._truth_by_values(expression, columns, size)

    def ids(self, expression: Expression, columns: Columns, size: int) -> Ids:
        """Return the values of an expression for each row as ids, which are added to the dictionary; arguments as for `truth`."""
        if isinstance(expression, Variable):
            return columns[expression]
        if not isinstance(expression, Call):
            return np.full(size, self._dictionary.encode(expression), np.int32)
        if expression.name == "IF":
            return self._if(expression.arguments, columns, size)
        if expression.name in _ARITHMETIC:
            numbers = self._numbers(expression, columns, size)
            if numbers is not None:
                encode = self._dictionary.encode_texts
                found = terms_of_numbers(numbers, lambda texts, _: encode(texts), self._ids_of_integers)
                found[~are_terms(numbers)] = UNSURE
                return found
        elif _is_condition(expression):
            truth = self.truth(expression, columns, size)
            false, true = self._dictionary.encode_texts([term_text(term) for term in _TRUTHS]).tolist()
            return np.array([false, true, UNSURE, _ERROR], np.int32)[truth]
        return self._ids_by_values(expression, columns, size)

    def _ids_by_values(self, call: Call, columns: Columns, size: int) -> Ids:
        """Return the results of a function, evaluated on columns of Python values."""
        found = np.full(size, UNSURE, np.int32)
        for kind, rows, values in results_in_blocks(call, columns, size, self._dictionary):
            texts = texts_of(kind, values)
            if longest(texts) <= LONGEST:
                found[rows] = self._dictionary.encode_results(texts, _ERROR)
        return found

    def _truth_by_values(self, expression: Expression, columns: Columns, size: int) -> Truth:
        """Return the effective boolean values of a function's results."""
        found = np.full(size, UNSURE, np.int8)
        for kind, rows, values in results_in_blocks(expression, columns, size, self._dictionary):
            write, read = kind.write, BOOLEAN.read
            truths = values if kind is BOOLEAN else [None if value is None else read(write(value)) for value in values]
            found[rows] = truth_column(truths)
        return found

    def _ids_of_integers(self, integers: Numbers) -> Ids:
        return self._dictionary.encode_buffers(*integer_buffer(integers))

    def _numbers(self, expression: Any, columns: Columns, size: int) -> ValueColumn | None:
        """Return the values of a variable, a constant or arithmetic; None for everything else."""
        if isinstance(expression, Call) and expression.name not in _ARITHMETIC:
            return None

        def values(leaf: Any, columns: Columns) -> ValueColumn:
            if isinstance(leaf, Variable):
                return self.values.column(columns[leaf])
            return constant_values(leaf, size)

        return numbers_of(expression, columns, values) if _has_plain_leaves(expression) else None

    def _comparison(self, call: Call, columns: Columns, size: int) -> Truth:
        left, right = (self._numbers(side, columns, size) for side in call.arguments)
        if left is None or right is None:
            return self._truth_by_values(call, columns, size)
        same: Flags | None = None
        if call.name in ("=", "!=") and not any(isinstance(side, Call) for side in call.arguments):
            first, second = (self._found(side, columns, size) for side in call.arguments)
            same = np.asarray(first == second)
        truth, unsure = compared(call.name, left, right, same)
        truth[unsure] = UNSURE
        return truth

    def _found(self, term: Any, columns: Columns, size: int) -> Ids:
        """Return the ids of a variable, or of a constant; -2 if the dictionary does not contain it."""
        if isinstance(term, Variable):
            return columns[term]
        number = self._dictionary.find(term)
        return np.full(size, number if number >= 0 else -2, np.int32)

    def _and(self, arguments: Sequence[Expression], columns: Columns, size: int) -> Truth:
        return self._logical(arguments, columns, size, decisive=0)

    def _or(self, arguments: Sequence[Expression], columns: Columns, size: int) -> Truth:
        return self._logical(arguments, columns, size, decisive=1)

    def _logical(self, arguments: Sequence[Expression], columns: Columns, size: int, decisive: int) -> Truth:
        """Return a conjunction (0 decides) or a disjunction (1 decides), see section 17.2."""
        left, right = (self.truth(argument, columns, size) for argument in arguments)
        return _combined(left, right, decisive)

    def _not(self, arguments: Sequence[Expression], columns: Columns, size: int) -> Truth:
        return negated(self.truth(arguments[0], columns, size))

    def _in(self, arguments: Sequence[Expression], columns: Columns, size: int) -> Truth:
        found = np.zeros(size, np.int8)
        for alternative in arguments[1:]:
            same = self._comparison(Call("=", (arguments[0], alternative)), columns, size)
            found = _combined(found, same, decisive=1)
        return found

    def _not_in(self, arguments: Sequence[Expression], columns: Columns, size: int) -> Truth:
        return negated(self._in(arguments, columns, size))

    def _if(self, arguments: Sequence[Expression], columns: Columns, size: int) -> Ids:
        truth = self.truth(arguments[0], columns, size)
        found = np.full(size, _ERROR, np.int32)
        found[truth == UNSURE] = UNSURE
        for wanted, argument in ((1, arguments[1]), (0, arguments[2])):
            rows = np.flatnonzero(truth == wanted)
            if len(rows):
                found[rows] = self.ids(argument, {variable: ids[rows] for variable, ids in columns.items()}, len(rows))
        return found


def _is_condition(expression: Call) -> bool:
    """Return whether `ColumnFunctions.truth` returns the value of an expression."""
    function = FUNCTIONS.get(expression.name)
    return expression.name in _FORMS or (function is not None and function.result is BOOLEAN)


def _has_plain_leaves(expression: Any) -> bool:
    """Return whether an expression consists of arithmetic on variables and constants only."""
    if not isinstance(expression, Call):
        return True
    return expression.name in _ARITHMETIC and all(map(_has_plain_leaves, expression.arguments))


def _combined(left: Truth, right: Truth, decisive: int) -> Truth:
    """Return a conjunction (0 decides) or a disjunction (1 decides) of two columns."""
    other = np.int8(1 - decisive)
    result = np.where((left == other) & (right == other), other, np.int8(_ERROR))
    result[(left == UNSURE) | (right == UNSURE)] = UNSURE
    result[(left == decisive) | (right == decisive)] = decisive
    return result


_FORMS: Final[dict[str, Callable[[ColumnFunctions, Sequence[Expression], Columns, int], Truth]]] = {
    "&&": ColumnFunctions._and,
    "||": ColumnFunctions._or,
    "!": ColumnFunctions._not,
    "IN": ColumnFunctions._in,
    "NOT IN": ColumnFunctions._not_in,
}
