"""Functions that programs define: in Python, or in the rule language. A `program.Call` of one refers to it.

Both are pure: equal arguments have equal results. Their results are kept, as those of other functions are.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ReasonerWarning, ValueTooLargeError
from kg_reasoner.expressions.functions.kinds import TERM, Function, Kind
from kg_reasoner.expressions.types import Type
from kg_reasoner.program import Expression, Variable
from kg_reasoner.terms import Term

__all__ = ["DEEPEST", "Body", "LanguageFunction", "PythonFunction"]

DEEPEST: Final = 100
"""The maximal depth of calls of functions that are defined in the rule language."""


class _Defined:
    """The parts of a defined function that a call needs."""

    name: str
    parameters: tuple[Type, ...]

    def accepts(self, count: int) -> bool:
        """Return whether the function takes `count` arguments."""
        return count == len(self.parameters)

    def usage(self, name: str) -> str:
        """Return the signature of the function."""
        return f"{name}({', '.join(type_.name for type_ in self.parameters)})"


@dataclass(frozen=True, eq=False)
class PythonFunction(_Defined):
    """A function in Python.

    Attributes:
        name: Its name in rules.
        parameters: The types of its arguments; an argument of another type is an error of the call.
        result: The type of its result.
        function: The function, of Python values. With `batch`, it takes a list for each parameter and returns a list.
        batch: Whether it takes columns.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type
    function: Callable[..., Any]
    batch: bool = False

    @property
    def as_function(self) -> Function:
        """The function of one row of terms."""
        return Function((TERM,) * len(self.parameters), TERM, lambda *terms: self.column([terms])[0])

    def column(self, rows: Sequence[Sequence[Term]]) -> list[Term | None]:
        """Return the results for some rows of arguments; None for an error.

        An exception is an error of the row. The first one of a function is a warning.
        """
        found: list[Term | None] = [None] * len(rows)
        values: list[tuple[int, list[Any]]] = []
        for place, row in enumerate(rows):
            if all(type_.accepts(term) for type_, term in zip(self.parameters, row, strict=True)):
                values.append((place, [type_.read(term) for type_, term in zip(self.parameters, row, strict=True)]))
        if not values:
            return found
        columns = [list(column) for column in zip(*(row for _, row in values), strict=True)]
        for (place, _), result in zip(values, self.results(columns, len(values)) or (), strict=False):
            found[place] = self.written(result)
        return found

    def results(self, columns: Sequence[Sequence[Any]], count: int) -> Sequence[Any] | None:
        """Return the results for columns of Python values: None in place of an error, or None if all are errors."""
        if not self.batch:
            return [self.called(*row) for row in zip(*columns, strict=True)] if columns else [self.called() for _ in range(count)]
        results: list[Any] | None = self._guarded(self._listed, *map(list, columns))
        if results is None or len(results) != count:
            self._warn(f"it returned {'nothing' if results is None else len(results)} for {count} rows")
            return None
        return results

    def _listed(self, *columns: list[Any]) -> list[Any] | None:
        """Return the results of a function that is called for many rows, which may also be an array or come from a generator."""
        returned = self.function(*columns)
        return list(returned) if isinstance(returned, Iterable) else None

    def called(self, *arguments: Any) -> Any:
        return self._guarded(self.function, *arguments)

    def _guarded(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except MemoryError:
            raise
        except Exception as error:
            self._warn(f"{type(error).__name__}: {error}")
            return None

    def written(self, result: Any) -> Term | None:
        if result is None:
            return None
        try:
            term = self.result.write(result)
        except (TypeError, ValueError, ArithmeticError):
            term = None
        if term is None or not self.result.accepts(term):
            self._warn(f"it returned {result!r:.60}, which is not {self.result.noun}")
            return None
        return term

    def _warn(self, what: str) -> None:
        text = f"the function {self.name} has no result for some arguments, which is an error of the expression: {what}"
        warnings.warn(ReasonerWarning(text), stacklevel=2)


class Body:
    """The body of a function, which is compiled when it is called first, as functions may call each other."""

    def __init__(self) -> None:
        self.text = ""
        """The definition of the function and of those that it calls, once it is known."""
        self._evaluate: Callable[[Sequence[Term]], Term | None] | None = None
        self._definition: tuple[Expression, tuple[Variable, ...]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_evaluate": None}

    def define(self, expression: Expression, variables: tuple[Variable, ...]) -> None:
        """Set the expression and its variables, in the order of the parameters."""
        self._definition = expression, variables

    def evaluate(self, terms: Sequence[Term]) -> Term | None:
        """Return the value for some arguments; None for an error."""
        if self._evaluate is None:
            from kg_reasoner.expressions.compile import compile_expression

            assert self._definition is not None, "a function is defined before rules are evaluated"
            self._evaluate = compile_expression(*self._definition)
        return self._evaluate(terms)


@dataclass(frozen=True, eq=False)
class LanguageFunction(_Defined):
    """A function in the rule language. Functions with the same name and definition are equal.

    Attributes:
        name: Its name.
        body: The body, which may call the function itself.
        parameters: The types of its arguments.
        result: The type of its result.
    """

    name: str
    body: Body = field(repr=False)
    parameters: tuple[Type, ...]
    result: Type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LanguageFunction) and (self.name, self.body.text) == (other.name, other.body.text)

    def __hash__(self) -> int:
        return hash((self.name, self.body.text))

    @property
    def as_function(self) -> Function:
        """The function of one row of terms."""
        kinds: tuple[Kind, ...] = (TERM,) * len(self.parameters)
        return Function(kinds, TERM, self.apply)

    def apply(self, *terms: Term) -> Term | None:
        """Return the value for some arguments; None for an error, which arguments and values of other types are."""
        if not all(type_.accepts(term) for type_, term in zip(self.parameters, terms, strict=True)):
            return None
        with _deeper(self.name):
            try:
                result = self.body.evaluate(terms)
            except RecursionError:
                raise _too_deep(self.name) from None
        return result if result is not None and self.result.accepts(result) else None


_depths = threading.local()


@contextmanager
def _deeper(name: str) -> Iterator[None]:
    depth = getattr(_depths, "depth", 0)
    if depth >= DEEPEST:
        raise _too_deep(name)
    _depths.depth = depth + 1
    try:
        yield
    finally:
        _depths.depth = depth


def _too_deep(name: str) -> ValueTooLargeError:
    return ValueTooLargeError(f"calls of the function {name} are nested more than {DEEPEST} deep")
