"""SPARQL's functions in queries over stores of this package: rdflib's, with other regular expressions, and with limits.

rdflib evaluates REGEX and REPLACE by Python's backtracking expressions, raises Python's own errors for numbers of very many
digits, and makes strings of any length. The expressions of a query over such a store are therefore bound to functions that check
the store under evaluation: on other stores, they are rdflib's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.expressions.functions.regex import LONGEST, matches, problem, replaced
from kg_reasoner.rdflib_store.query_dataset import DatasetStore

if TYPE_CHECKING:
    from rdflib import Literal
    from rdflib.plugins.sparql.parserutils import CompValue, Expr

__all__ = ["bind_functions"]

_ARGUMENTS: Final = {
    "Builtin_REGEX": ("text", "pattern", "flags"),
    "Builtin_REPLACE": ("arg", "pattern", "replacement", "flags"),
}
_ERRORS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What rdflib's functions raise, beside SPARQL's errors, for values that they do not expect."""
_BOUND: Final = "bound_by_kg_reasoner"
"""The attribute of a query whose expressions are bound."""
_LOGIC: Final = ("ConditionalAndExpression", "ConditionalOrExpression", "UnaryNot", "Builtin_EXISTS", "Builtin_NOTEXISTS")
"""What is left as it is: it evaluates its arguments by itself, or patterns."""


def bind_functions(part: CompValue) -> None:
    """Bind all expressions of a query to functions that recognise the stores of this package, once for each query.

    Args:
        part: The algebra of a query, or a part of it.

    Raises:
        UnsupportedError: A constant regular expression in the query is invalid.
    """
    from rdflib.plugins.sparql.parserutils import Expr

    if vars(part).get(_BOUND):
        return
    waiting: list[Any] = [part]
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, tuple, set, Mapping)):
            if id(value) in seen:
                continue
            seen.add(id(value))
            waiting += value.values() if isinstance(value, Mapping) else value
            waiting += getattr(value, "__dict__", {}).values()  # the pattern of an EXISTS is an attribute
        if isinstance(value, Expr) and value._evalfn is not None and value.name not in _LOGIC:
            if value.name in _ARGUMENTS:
                _check(value)
            if not isinstance(value._evalfn.__func__, _Bound):
                value._evalfn = MethodType(_Bound(value._evalfn.__func__), value)
    setattr(part, _BOUND, True)


class _Bound:
    """Evaluates an expression by rdflib's function or, over a store of this package, by that of this module."""

    def __init__(self, theirs: Callable[[Expr, Any], Any]) -> None:
        self._theirs = theirs

    def __call__(self, expression: Expr, context: Any) -> Any:
        from rdflib.plugins.sparql.sparql import SPARQLError

        graph = getattr(getattr(context, "ctx", context), "graph", None)
        if not isinstance(getattr(graph, "store", None), DatasetStore):
            return self._theirs(expression, context)
        try:
            result = _OURS.get(expression.name, self._theirs)(expression, context)
        except _ERRORS as error:
            raise SPARQLError(str(error)) from None
        except RecursionError:
            if expression.name != "AdditiveExpression":
                raise
            raise SPARQLError("a number is ill-typed") from None  # rdflib adds such literals by adding them
        if isinstance(result, str) and len(result) > LONGEST:
            raise SPARQLError(f"the result has more than {LONGEST} characters")
        return result


def _regex(expression: Expr, context: Any) -> Literal:
    from rdflib import Literal
    from rdflib.plugins.sparql.operators import string

    return Literal(matches(str(string(expression.text)), *_plain(expression, "pattern", "flags")))


def _replace(expression: Expr, context: Any) -> Literal:
    from rdflib import Literal
    from rdflib.plugins.sparql.operators import string
    from rdflib.plugins.sparql.sparql import SPARQLError

    text = string(expression.arg)
    result = replaced(str(text), *_plain(expression, "pattern", "replacement", "flags"))
    if result is None:
        raise SPARQLError(f"the result has more than {LONGEST} characters, or there is too much to replace")
    return Literal(result, datatype=text.datatype, lang=text.language)


_OURS: Final = {"Builtin_REGEX": _regex, "Builtin_REPLACE": _replace}


def _plain(expression: Expr, *names: str) -> list[str]:
    """Return the texts of arguments; the last one may be missing."""
    from rdflib.plugins.sparql.operators import string

    values = [getattr(expression, name) for name in names]
    return [str(string(value)) for value in (values if values[-1] is not None else values[:-1])]


def _check(expression: Expr) -> None:
    """Raise an error for a constant regular expression that is invalid."""
    from rdflib import Literal

    arguments = [dict.get(expression, name) for name in _ARGUMENTS[expression.name]]
    if arguments[-1] is None:
        arguments.pop()
    name = expression.name.removeprefix("Builtin_")
    reason = problem(name, [str(argument) if isinstance(argument, Literal) else None for argument in arguments])
    if reason is not None:
        hint = "regular expressions are those of XPath 3.1, without back-references"
        raise UnsupportedError(f"{name} cannot be evaluated: {reason}", hint=hint)
