"""The operators ``= != < <= > >=``, based on `values`. With NaN, all but ``!=`` are false (SPARQL 1.1 Query, section 17.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from kg_reasoner.expressions.functions.kinds import BOOLEAN, TERM, Function
from kg_reasoner.expressions.values import COMPARISONS, value_of
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


FUNCTIONS: Final = {name: Function((TERM, TERM), BOOLEAN, _false_with_nan(compare)) for name, compare in COMPARISONS.items()}
"""The comparison operators."""
