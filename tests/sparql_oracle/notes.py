"""Where the specification leaves the result of a query open, and where systems are known to differ from it.

The oracle takes notes of what it meets while it evaluates a query. The result can only be compared if none of them concerns the
other system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kg_reasoner.terms import IRI, XSD, Literal, Term

from .times import duration, moment
from .values import ExpressionError, boolean, less, number

_LESS: Final = ("<", ">", "<=", ">=")

# The specification permits several results.
TEXT_OF_NUMBER: Final = "the text of a decimal or double"
ERRORS: Final = "MIN, MAX, SAMPLE or GROUP_CONCAT of a group with errors"
EXTREME_OF_OTHERS: Final = "MIN or MAX of terms without an order"
EXTREME_OF_EQUALS: Final = "MIN or MAX of equal terms"
SAMPLE: Final = "SAMPLE of different terms"
ORDER_OF_TEXTS: Final = "GROUP_CONCAT of different terms"
CUT: Final = "LIMIT or OFFSET among solutions without an order"
REDUCED: Final = "REDUCED where the number of solutions matters"

# It contradicts itself, or is known to say what nobody wants: what EXISTS substitutes where no variable can be replaced by a term.
OUTSIDE_BIND: Final = "BIND or VALUES of a variable that is bound outside of EXISTS"
OUTSIDE_MINUS: Final = "MINUS in EXISTS with a variable that is bound outside"
OUTSIDE_SUBSELECT: Final = "a subselect in EXISTS with a variable that is bound outside"

# It permits to define what is an error for it.
ORDER_OF_OTHERS: Final = "terms are compared that < and > do not order"

OPEN: Final = frozenset(
    (
        *(TEXT_OF_NUMBER, ERRORS, EXTREME_OF_OTHERS, EXTREME_OF_EQUALS, SAMPLE, ORDER_OF_TEXTS, CUT, REDUCED),
        *(OUTSIDE_BIND, OUTSIDE_MINUS, OUTSIDE_SUBSELECT, ORDER_OF_OTHERS),
    )
)
"""With one of these notes, an evaluator can have another result and be right."""

# pyoxigraph differs.
TIMES: Final = "arithmetic with dates and durations: pyoxigraph has neither multiples of durations nor dates after months"
ORDER_OF_BOOLEANS: Final = "booleans are compared by < or >: an error in pyoxigraph"
TRUTH_OF_LANGUAGE: Final = "the truth of a string with a language: an error in pyoxigraph"
TRUTH_OF_ILL_TYPED: Final = "the truth of an ill-typed literal: an error in pyoxigraph, not false"
EMPTY_LIST: Final = "NOT IN with an empty list: not true in pyoxigraph"
COUNT_OF_ERRORS: Final = "COUNT of an expression with errors: an error in pyoxigraph"
TEXTS_OF_OTHERS: Final = "GROUP_CONCAT of terms that are not strings without a language: an error or a language in pyoxigraph"
LENGTH_ZERO: Final = "a path of length zero from a term that is not in the graph: no solution in pyoxigraph"
TWO_WAYS: Final = "a path with alternatives that both match: one solution in pyoxigraph"
GRAPH_VARIABLE: Final = "the variable of GRAPH is used in its group beside triple patterns: pyoxigraph binds it before"
NO_TRIPLE: Final = "GRAPH of a group that matches without a triple: pyoxigraph does not go through the graphs"


def of_operands(name: str | IRI, values: Sequence[Term]) -> Iterator[str]:
    """Yield the notes about a call of a function or operator with some values."""
    if name in ("STR", XSD.string):
        yield from of_texts(values)
    if name in ("+", "-", "*", "/") and any(moment(term) is not None or duration(term) is not None for term in values):
        yield TIMES
    if name in _LESS:
        if all(boolean(term) is not None for term in values):
            yield ORDER_OF_BOOLEANS
        else:
            try:
                less(*values)
            except ExpressionError:
                yield ORDER_OF_OTHERS


def of_texts(values: Sequence[Term | None]) -> Iterator[str]:
    """Yield the notes about terms whose text matters: systems spell computed numbers differently, and may normalise others."""
    for term in values:
        found = None if term is None else number(term)
        if found is not None and found.kind != "integer":
            yield TEXT_OF_NUMBER


def of_truth(term: Term) -> Iterator[str]:
    """Yield the notes about the effective boolean value of a term."""
    if isinstance(term, Literal) and term.language is not None:
        yield TRUTH_OF_LANGUAGE
    elif isinstance(term, Literal) and number(term) is None and boolean(term) is None and term.datatype != XSD.string.value:
        yield TRUTH_OF_ILL_TYPED
