"""Aggregate functions of the program: of all values of a group, or of a state that values are added to and removed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.defined_functions import LanguageFunction, PythonFunction
from kg_reasoner.expressions.types import Type
from kg_reasoner.terms import Term

__all__ = ["Arguments", "LanguageReduction", "Reduction", "StatefulReduction", "WithState"]

Arguments: TypeAlias = Sequence[Term]
"""The arguments of the function for a solution."""


@dataclass(frozen=True, eq=False)
class _Typed:
    """The signature of an aggregate function.

    Attributes:
        name: Its name in rules.
        parameters: The types of its arguments.
        result: The type of its result.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type

    def read(self, row: Arguments) -> list[Any] | None:
        """Return arguments as Python values; None if one of them is of another type."""
        typed = list(zip(self.parameters, row, strict=True))
        return [type_.read(term) for type_, term in typed] if all(type_.accepts(term) for type_, term in typed) else None

    def callee(self, function: Callable[..., Any]) -> PythonFunction:
        """Return a function that calls a Python function, and warns of its errors."""
        return PythonFunction(self.name, (), self.result, function)


@dataclass(frozen=True, eq=False)
class Reduction(_Typed):
    """An aggregate function that is recomputed for each group that changes.

    Attributes:
        function: A function of a list of Python values for each parameter, in the order of their terms.
    """

    function: Callable[..., Any]

    def value(self, rows: Sequence[Arguments]) -> Term | None:
        """Return the value of a group, given the arguments of its solutions in order; None for an error."""
        read = list(map(self.read, rows))
        if None in read:
            return None
        callee = self.callee(self.function)
        columns = [[row[place] for row in read if row is not None] for place in range(len(self.parameters))]
        return callee.written(callee.called(*columns))


@dataclass(frozen=True, eq=False)
class StatefulReduction(_Typed):
    """An aggregate function with a state, to which the arguments of solutions are added, and from which they are removed.

    A state is None after an error. Functions may change the state that they are given, but have to return it.

    Attributes:
        initial: Returns the state of a group without solutions.
        add: Returns the state with the arguments of a further solution.
        remove: Returns the state without those of a solution; None: states are computed again.
        finish: Returns the value of a state.
    """

    initial: Callable[[], Any]
    add: Callable[..., Any]
    remove: Callable[..., Any] | None
    finish: Callable[[Any], Any]

    def value(self, rows: Sequence[Arguments]) -> Term | None:
        """Return the value of a group, given the arguments of its solutions in order; None for an error."""
        return self.value_of(self.added(self.empty(), rows))

    def empty(self) -> Any:
        """Return the state of a group without solutions."""
        return self.callee(self.initial).called()

    def added(self, state: Any, rows: Iterable[Arguments]) -> Any:
        """Return a state after solutions have been added, or None for an error."""
        return self._changed(self.add, state, rows)

    def removed(self, state: Any, rows: Iterable[Arguments]) -> Any:
        """Return a state after solutions have been removed; None if that is not possible."""
        return None if self.remove is None else self._changed(self.remove, state, rows)

    def value_of(self, state: Any) -> Term | None:
        """Return the value of a state, or None for an error."""
        if state is None:
            return None
        callee = self.callee(self.finish)
        return callee.written(callee.called(state))

    def _changed(self, function: Callable[..., Any], state: Any, rows: Iterable[Arguments]) -> Any:
        callee = self.callee(function)
        for row in rows:
            values = self.read(row)
            if state is None or values is None:
                return None
            state = callee.called(state, *values)
        return state


@dataclass(frozen=True, eq=False)
class LanguageReduction:
    """An aggregate function with a state in the rule language. Those with the same name and definition are equal.

    Attributes:
        name: Its name.
        parameters: The types of its arguments, without the state.
        result: The type of its result.
        initial: Gives the state of a group without solutions.
        add: Gives the state with the arguments of a further solution.
        remove: Gives the state without those of a solution; None: states are computed again.
        finish: Gives the value of a state; None: states are values.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type
    initial: LanguageFunction
    add: LanguageFunction
    remove: LanguageFunction | None
    finish: LanguageFunction | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LanguageReduction) and self.add == other.add

    def __hash__(self) -> int:
        return hash(self.add)

    @property
    def steps(self) -> tuple[LanguageFunction | None, ...]:
        """The four functions."""
        return self.initial, self.add, self.remove, self.finish

    def value(self, rows: Sequence[Arguments]) -> Term | None:
        """Return the value of a group, given the arguments of its solutions in order; None for an error."""
        return self.value_of(self.added(self.empty(), rows))

    def empty(self) -> Term | None:
        """Return the state of a group without solutions, or None for an error."""
        return self.initial.apply()

    def added(self, state: Term | None, rows: Iterable[Arguments]) -> Term | None:
        """Return a state after solutions have been added, or None for an error."""
        return _changed(self.add, state, rows)

    def removed(self, state: Term | None, rows: Iterable[Arguments]) -> Term | None:
        """Return a state after solutions have been removed; None if that is not possible."""
        return None if self.remove is None else _changed(self.remove, state, rows)

    def value_of(self, state: Term | None) -> Term | None:
        """Return the value of a state, or None for an error."""
        if state is None or self.finish is None:
            return state if state is not None and self.result.accepts(state) else None
        return self.finish.apply(state)


WithState: TypeAlias = StatefulReduction | LanguageReduction
"""An object that holds a state for each group, if the reduction can remove solutions."""


def _changed(step: LanguageFunction, state: Term | None, rows: Iterable[Arguments]) -> Term | None:
    for row in rows:
        if state is None:
            return None
        state = step.apply(state, *row)
    return state
