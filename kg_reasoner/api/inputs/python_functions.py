"""Functions and aggregates in Python, which rules may call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.concurrency.callbacks import guarded
from kg_reasoner.errors import ReasonerError
from kg_reasoner.expressions import aggregate_functions
from kg_reasoner.expressions.compile import NAMES
from kg_reasoner.expressions.defined_functions import PythonFunction
from kg_reasoner.expressions.reductions import Reduction, StatefulReduction
from kg_reasoner.expressions.types import Type, Types

__all__ = ["add_reduction", "aggregate_adder", "function_adder"]

F = TypeVar("F", bound=Callable[..., Any])


def function_adder(core: ReasonerCore, name: str, types: Sequence[str], returns: str, *, batch: bool) -> Callable[[F], F]:
    """Return a decorator that adds a function, see `kg_reasoner.api.reasoner.Reasoner.function`."""

    parameters, result = _signature(core, name, types, returns)

    def add(function: F) -> F:
        _expect_function(function, name)
        core.functions[name] = PythonFunction(name, parameters, result, guarded(function), batch)
        return function

    return add


def aggregate_adder(core: ReasonerCore, name: str, types: Sequence[str], returns: str) -> Callable[[F], F]:
    """Return a decorator that adds an aggregate function, see `kg_reasoner.api.reasoner.Reasoner.aggregate`."""

    parameters, result = _signature(core, name, types, returns)

    def add(function: F) -> F:
        _expect_function(function, name)
        core.reductions[name] = Reduction(name, parameters, result, guarded(function))
        return function

    return add


def add_reduction(
    core: ReasonerCore,
    name: str,
    types: Sequence[str],
    returns: str,
    *,
    initial: Callable[[], Any],
    add: Callable[..., Any],
    remove: Callable[..., Any] | None,
    result: Callable[[Any], Any] | None,
) -> None:
    """Add an aggregate function with a state, see `kg_reasoner.api.reasoner.Reasoner.reduction`."""
    parameters, value = _signature(core, name, types, returns)
    given = {"initial": initial, "add": add, "remove": remove, "result": result}
    for argument, function in given.items():
        if function is not None:
            _expect_function(function, f"{argument} of the reduction {name}")
    states = (guarded(_with_state(initial)), guarded(_with_state(add)), None if remove is None else guarded(_with_state(remove)))
    finish = _same if result is None else guarded(result)
    core.reductions[name] = StatefulReduction(name, parameters, value, *states, finish)


def _with_state(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises an error where another one forgets to return a state."""

    def call(*arguments: Any) -> Any:
        state = function(*arguments)
        if state is None:
            raise TypeError("no state was returned")
        return state

    return call


def _same(state: Any) -> Any:
    return state


def _signature(core: ReasonerCore, name: str, types: Sequence[str], returns: str) -> tuple[tuple[Type, ...], Type]:
    """Return the types of the parameters and of the result of a new function, after checking its name."""
    if not isinstance(name, str) or not name.isidentifier() or name.upper() in (*NAMES, *aggregate_functions.NAMES):
        raise ReasonerError(f"{name!r} cannot be the name of a function: use an identifier that the language does not use itself")
    for text in (*types, returns):
        if not isinstance(text, str):
            raise ReasonerError(f"{text!r} is not the name of a type")
    known = Types(core.engine.program.types)
    return tuple(map(known.type_of, types)), known.type_of(returns)


def _expect_function(given: object, what: str) -> None:
    """Raise an error unless something can be called."""
    if not callable(given):
        raise ReasonerError(f"{what} is not a function")
