"""Functions and aggregates in Python, which rules may call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kg_reasoner.api.core import ReasonerCore
from kg_reasoner.concurrency.callbacks import guarded
from kg_reasoner.errors import ReasonerError
from kg_reasoner.expressions import aggregates
from kg_reasoner.expressions.compile import NAMES
from kg_reasoner.expressions.definitions import PythonFunction
from kg_reasoner.expressions.reductions import Reduction, StatefulReduction
from kg_reasoner.expressions.types import Types

__all__ = ["add_aggregate", "add_function", "add_reduction"]


def add_function(
    core: ReasonerCore, function: Callable[..., Any], name: str, types: Sequence[str], returns: str, *, batch: bool
) -> None:
    """Add a function, see `kg_reasoner.api.reasoner.Reasoner.function`."""
    known = _types_for(core, name)
    parameters = tuple(map(known.type_of, types))
    core.functions[name] = PythonFunction(name, parameters, known.type_of(returns), guarded(function), batch)


def add_aggregate(core: ReasonerCore, function: Callable[..., Any], name: str, types: Sequence[str], returns: str) -> None:
    """Add an aggregate function, see `kg_reasoner.api.reasoner.Reasoner.aggregate`."""
    known = _types_for(core, name)
    parameters = tuple(map(known.type_of, types))
    core.reductions[name] = Reduction(name, parameters, known.type_of(returns), guarded(function))


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
    known = _types_for(core, name)
    parameters = tuple(map(known.type_of, types))
    finish = _same if result is None else guarded(result)
    without = None if remove is None else guarded(remove)
    core.reductions[name] = StatefulReduction(
        name, parameters, known.type_of(returns), guarded(initial), guarded(add), without, finish
    )


def _same(state: Any) -> Any:
    return state


def _types_for(core: ReasonerCore, name: str) -> Types:
    """Return the types of the program, after checking the name of a new function."""
    if not name.isidentifier() or name.upper() in (*NAMES, *aggregates.NAMES):
        raise ReasonerError(f"{name!r} cannot be the name of a function: it is one of the language's own, or no name")
    return Types(core.engine.program.types)
