"""Expressions as texts, and whether two implementations agree on their results."""

from __future__ import annotations

from kg_reasoner.expressions.values import equal, value_of
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Bind, Expression
from kg_reasoner.terms import Literal, Term


def expression(text: str) -> Expression:
    (rule,) = parse(f"h() :- BIND({text} AS ?result) .").rules
    (part,) = rule.body
    assert isinstance(part, Bind)
    return part.expression


def agree(a: Term | None, b: Term | None) -> bool:
    """Whether two results have one datatype and value. Implementations may write a value in other ways."""
    if isinstance(a, Literal) and isinstance(b, Literal) and a.datatype == b.datatype and value_of(a) is not None:
        return bool(equal(a, b)) or [a.lexical, b.lexical] == ["NaN", "NaN"]
    return a == b
