"""Compile expressions into functions of columns: lists of Python values, one for each row, with None for a type error.

Functions have overloads for strings without language tags and for numbers (see `Function`), which make no literals of what they
take. So an expression has several forms: for rows in which the variables that such functions read are strings, for those in which
they are numbers, and for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import compress, repeat
from operator import not_
from typing import Any, Final, NamedTuple, TypeAlias

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, SIMPLE, TERM, Function, Kind
from kg_reasoner.expressions.values import equal
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.terms import Term

__all__ = ["Column", "ColumnForm", "Input", "Read", "column_forms", "values_by_form"]

Column: TypeAlias = "list[Any]"
_Node: TypeAlias = Callable[[Sequence[Column]], "Iterable[Any]"]
"""A part of an expression as a function of the columns of the inputs; a constant is repeated without end."""


class Input(NamedTuple):
    """A variable whose values are read.

    Attributes:
        variable: The variable.
        kind: The kind of the values.
        is_assumed: Whether the form is wrong, and not in error, for terms of other kinds.
    """

    variable: Variable
    kind: Kind
    is_assumed: bool


class ColumnForm(NamedTuple):
    """An expression for columns.

    Attributes:
        inputs: What `evaluate` takes.
        result: The kind of its results.
        evaluate: Returns the result for each row of some columns.
    """

    inputs: tuple[Input, ...]
    result: Kind
    evaluate: _Node


Read: TypeAlias = "Callable[[Variable, Kind, Sequence[int] | None], Column]"
"""Returns the values of a variable in some rows as a kind, None for all rows."""


@lru_cache(maxsize=1 << 10)
def column_forms(expression: Expression) -> tuple[ColumnForm, ...]:
    """Return the forms of an expression, the last of which is for all terms. There is none if it calls functions of a program.

    >>> from kg_reasoner.terms import literal
    >>> size = Call("STRLEN", (Call("CONCAT", (Variable("x"), literal("!"))),))
    >>> on_strings, on_any = column_forms(size)
    >>> on_strings.evaluate([["a", "bc"]]), on_any.inputs[0].kind.name
    ([2, 3], 'string')
    """
    if not isinstance(expression, Call) or not _is_built_in(expression):
        return ()
    forms = []
    for assumed in (SIMPLE, NUMBER, None):
        compiler = _Compiler(assumed)
        try:
            kind, evaluate = compiler.call(expression)
        except ValueTooLargeError:  # where it is evaluated for a row, this is an error with a place
            return ()
        if assumed is None or any(each.is_assumed for each in compiler.inputs):
            forms.append(ColumnForm(tuple(compiler.inputs), kind, evaluate))
    return tuple(forms) if forms[-1].inputs else ()


def _is_built_in(expression: Expression) -> bool:
    """Return whether all calls in an expression are of functions and forms that belong to no program."""
    if not isinstance(expression, Call):
        return True
    is_known = any(expression.name in names for names in (FUNCTIONS, _CONDITIONS, _CHOICES))
    return is_known and expression.definition is None and all(map(_is_built_in, expression.arguments))


def values_by_form(expression: Expression, size: int, read: Read) -> list[tuple[Kind, Sequence[int] | None, Column]]:
    """Evaluate an expression that has forms.

    Args:
        expression: The expression.
        size: The number of rows.
        read: Reads variables.

    Returns:
        The kinds of the results, the rows that have them (None for all), and the results.

    Raises:
        ValueTooLargeError: A result, or an intermediate one, is too large.
    """
    found: list[tuple[Kind, Sequence[int] | None, Column]] = []
    rows: Sequence[int] | None = None
    for form in column_forms(expression):
        columns = [read(each.variable, each.kind, rows) for each in form.inputs]
        are_suited = _are_suited(form, columns)
        if are_suited is None:
            return [*found, (form.result, rows, list(form.evaluate(columns)))]
        numbers: Sequence[int] = range(size) if rows is None else rows
        if suited := list(compress(numbers, are_suited)):
            columns = [list(compress(column, are_suited)) for column in columns]
            found.append((form.result, suited, list(form.evaluate(columns))))
        rows = list(compress(numbers, map(not_, are_suited)))
    return found


def _are_suited(form: ColumnForm, columns: Sequence[Column]) -> list[bool] | None:
    """Return in which rows all assumptions of a form hold; None for all."""
    assumed = [column for each, column in zip(form.inputs, columns, strict=True) if each.is_assumed]
    if not any(value is None for column in assumed for value in column):
        return None
    return [not any(value is None for value in values) for values in zip(*assumed, strict=True)]


class _Constant:
    """A node with the same value everywhere."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, columns: Sequence[Column]) -> Iterable[Any]:
        return repeat(self.value)


class _Typed(NamedTuple):
    """A call as a node, and the kind of its results."""

    kind: Kind
    values: _Node


class _Compiler:
    """Compiles an expression into a form.

    Args:
        assumed: The kind of values that variables are assumed to have where a function has an overload for it.
    """

    def __init__(self, assumed: Kind | None) -> None:
        self._assumed = assumed
        self.inputs: dict[Input, int] = {}

    def call(self, call: Call) -> _Typed:
        """Compile a call."""
        parts = [self.call(part) if isinstance(part, Call) else part for part in call.arguments]
        if call.name in _CONDITIONS:
            kind, combine = _CONDITIONS[call.name]
            return _Typed(BOOLEAN, _combined(combine, [self._argument(part, kind) for part in parts]))
        if call.name in _CHOICES:
            conditions, choose = _CHOICES[call.name]
            kind = self._common_kind(parts[conditions:])
            nodes = [self._argument(part, BOOLEAN) for part in parts[:conditions]]
            nodes += [self._argument(part, kind, is_assumed=kind is SIMPLE) for part in parts[conditions:]]
            return _Typed(kind, _combined(choose, nodes))
        function = FUNCTIONS[call.name]
        wanted = function.kinds(len(parts))
        chosen = next((each for each in function.overloads if self._fits(each, parts, wanted)), function)
        nodes = [
            self._argument(part, kind, is_assumed=kind is not usual)
            for part, kind, usual in zip(parts, chosen.kinds(len(parts)), wanted, strict=True)
        ]
        return _Typed(chosen.result, _called(chosen, nodes))

    def _fits(self, function: Function, parts: Sequence[Any], usual: Sequence[Kind]) -> bool:
        """Return whether arguments are, or are assumed to be, of the kinds of an overload."""
        kinds = function.kinds(len(parts))
        return all(self._is_of(part, kind, other) for part, kind, other in zip(parts, kinds, usual, strict=True))

    def _is_of(self, part: Any, kind: Kind, usual: Kind) -> bool:
        if kind is usual:
            return True
        if isinstance(part, Variable):
            return self._assumed is not None and kind in (self._assumed, self._assumed.wider)
        if isinstance(part, _Typed):
            return kind in (part.kind, part.kind.wider)
        return kind.read(part) is not None

    def _common_kind(self, parts: Sequence[Any]) -> Kind:
        """Return the kind of parts of which one is the result. Variables and constants keep the form in which they are written, so
        they are terms, or strings, which have one form.
        """
        if all(self._is_of(part, SIMPLE, TERM) for part in parts):
            return SIMPLE
        kinds = {part.kind if isinstance(part, _Typed) else TERM for part in parts}
        return kinds.pop() if len(kinds) == 1 else TERM

    def _argument(self, part: Any, want: Kind, is_assumed: bool = False) -> _Node:
        if isinstance(part, Variable):
            read = self._assumed if is_assumed and self._assumed is not None else want
            place = self.inputs.setdefault(Input(part, read, is_assumed), len(self.inputs))
            return lambda columns: columns[place]
        if not isinstance(part, _Typed):
            return _Constant(want.read(part))
        have, node = part
        if want in (have, have.wider):
            return node
        if want.wider is have and not isinstance(node, _Constant):
            return _narrowed(node, want)
        return _applied(_conversion(have, want), [node])


def _conversion(have: Kind, want: Kind) -> Callable[[Any], Any]:
    write, read = have.write, want.read
    return lambda value: read(write(value))


def _narrowed(node: _Node, want: Kind) -> _Node:
    has = want.has
    assert has is not None
    return lambda columns: [value if value is not None and has(value) else None for value in node(columns)]


def _combined(combine: Callable[..., Any], nodes: Sequence[_Node]) -> _Node:
    """Return a function that is also for errors in its arguments, for each row."""
    constants = [node.value for node in nodes if isinstance(node, _Constant)]
    if len(constants) == len(nodes):
        return _Constant(combine(*constants))
    return lambda columns: list(map(combine, *(node(columns) for node in nodes)))


def _called(function: Function, nodes: Sequence[_Node]) -> _Node:
    """Return a call of a function for each row, or for all rows at once if the function can do that."""
    if function.on_column is None or isinstance(nodes[0], _Constant):
        return _applied(function.apply, nodes)
    constants = [node.value for node in nodes[1:] if isinstance(node, _Constant)]
    if len(constants) < len(nodes) - 1 or None in constants:
        return _applied(function.apply, nodes)
    on_column, first = function.on_column, nodes[0]

    def evaluate(columns: Sequence[Column]) -> Iterable[Any]:
        values = list(first(columns))
        known = [value for value in values if value is not None]
        found = on_column(known, *constants)
        if found is None or len(known) == len(values):
            return repeat(None, len(values)) if found is None else found
        rest = iter(found)
        return [None if value is None else next(rest) for value in values]

    return evaluate


def _applied(apply: Callable[..., Any], nodes: Sequence[_Node]) -> _Node:
    """Return a call of a function for each row; an error in an argument is an error of the call."""
    constants = [node.value for node in nodes if isinstance(node, _Constant)]
    if len(constants) == len(nodes):
        return _Constant(None if None in constants else apply(*constants))
    if len(nodes) == 1:
        (node,) = nodes
        return lambda columns: [None if value is None else apply(value) for value in node(columns)]
    if len(nodes) == 2:
        first, second = nodes
        return lambda columns: [
            None if a is None or b is None else apply(a, b) for a, b in zip(first(columns), second(columns), strict=False)
        ]
    return lambda columns: [
        None if any(value is None for value in values) else apply(*values)
        for values in zip(*(node(columns) for node in nodes), strict=False)
    ]


def _both(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else None if a is None or b is None else True


def _either(a: bool | None, b: bool | None) -> bool | None:
    return True if a or b else None if a is None or b is None else False


def _negated(a: bool | None) -> bool | None:
    return None if a is None else not a


def _is_among(term: Term | None, *others: Term | None) -> bool | None:
    """Return true if a term is equal to another one; otherwise an error if a comparison is an error."""
    same = [None if term is None or other is None else equal(term, other) for other in others]
    return True if True in same else None if None in same else False


def _chosen(holds: bool | None, then: Any, otherwise: Any) -> Any:
    return None if holds is None else then if holds else otherwise


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


_CONDITIONS: Final[dict[str, tuple[Kind, Callable[..., bool | None]]]] = {
    "&&": (BOOLEAN, _both),
    "||": (BOOLEAN, _either),
    "!": (BOOLEAN, _negated),
    "IN": (TERM, _is_among),
    "NOT IN": (TERM, lambda *terms: _negated(_is_among(*terms))),
    "BOUND": (TERM, lambda term: term is not None),
}
"""The forms with truth values (SPARQL 1.1 Query, section 17.2): the kind of their arguments, and the result for one row."""

_CHOICES: Final[dict[str, tuple[int, Callable[..., Any]]]] = {"IF": (1, _chosen), "COALESCE": (0, _first)}
"""The forms whose result is one of their arguments: the number of conditions before these, and the result for one row."""
