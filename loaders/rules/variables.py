"""Variable names for languages that identify variables by IRIs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import Variable

__all__ = ["named_after"]

_NOT_IN_NAME: Final = regular_expression(r"\W+")
_END: Final = regular_expression(r"[#/:]")


def named_after(text: str, others: Iterable[Variable]) -> Variable:
    """Return a variable named after the end of an IRI (or any text), with a number if another variable has that name.

    >>> first = named_after("urn:swrl#x", [])
    >>> first, named_after("http://example.org/x", [first])
    (Variable(name='x'), Variable(name='x_2'))
    """
    name = _NOT_IN_NAME.sub("_", _END.split(text)[-1]).strip("_") or "x"
    taken = {variable.name for variable in others}
    number = 1
    while (numbered := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return Variable(numbered)
