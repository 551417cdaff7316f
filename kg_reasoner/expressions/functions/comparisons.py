"""The operators ``= != < <= > >=``, based on `values`. With NaN, all but ``!=`` are false (SPARQL 1.1 Query, section 17.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from kg_reasoner.expressions.functions.kinds import BOOLEAN, OPERAND, SIMPLE, TERM, Function
from kg_reasoner.expressions.values import COMPARISONS, OPERATORS, value_of
from kg_reasoner.terms import Literal, Term

__all__ = ["FUNCTIONS"]

_Comparison: TypeAlias = Callable[[Term, Term], bool | None]


def _false_with_nan(compare: _Comparison) -> _Comparison:
    """Wrap a comparison to return false for NaN, where `values` reports an error: ``!(?x < ?y)`` shows the difference."""

    def apply(a: Term, b: Term) -> bool | None:
        result = compare(a, b)
        return False if result is None and _is_number(a) and _is_number(b) else result

    return apply


def _is_number(term: Term) -> bool:
    value = value_of(term) if isinstance(term, Literal) else None
    return value is not None and value[0] == "number"


def _on_operands(on_integers: Callable[[int, int], bool], on_terms: _Comparison) -> Callable[[Any, Any], bool | None]:
    def apply(a: Any, b: Any) -> bool | None:
        if type(a) is type(b) is int:
            return on_integers(a, b)
        return on_terms(OPERAND.write(a), OPERAND.write(b))

    return apply


def _function(compare: _Comparison, on_keys: Callable[[Any, Any], bool]) -> Function:
    """Return a comparison. `on_keys` does the same on integers, and on strings, which are ordered by their code points."""
    apply = _false_with_nan(compare)
    overloads = (
        Function((SIMPLE, SIMPLE), BOOLEAN, on_keys),
        Function((OPERAND, OPERAND), BOOLEAN, _on_operands(on_keys, apply)),
    )
    return Function((TERM, TERM), BOOLEAN, apply, overloads=overloads)


FUNCTIONS: Final = {name: _function(compare, OPERATORS[name]) for name, compare in COMPARISONS.items()}
"""The comparison operators."""
