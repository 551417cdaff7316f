"""Explanations, violations and absences name rules as they were written, not the plain rules that they became."""

from __future__ import annotations

from kg_reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Atom

PROGRAM = """
    near(?x, ?n + 1) :- start(?x, ?n), ?n < 9, (open(?x) ; large(?x)),   # a comment
        NOT (closed(?x), ?n > 2) .
    words(?x, ?w) :- start(?x, _), ?w IN SPLIT(?x, " ") .
    false :- near(?x, ?n), ?n > 5 .
    @rule named
    far(?x) :- start(?x, ?n), ?n * 2 > 9 .
    start("a b", 1) . open("a b") . start("c", 6) . large("c") .
"""


def fact(text: str) -> Atom:
    return parse(f"{text} .").rules[0].head


def test_explanations() -> None:
    reasoner = Reasoner(PROGRAM)
    shown = str(reasoner.explain(fact('near("a b", 2)')))
    assert "(by near(?x, ?n + 1) :- start(?x, ?n), ?n < 9, (open(?x) ; large(?x)), NOT (closed(?x), ?n > 2) .)" in shown
    shown = str(reasoner.explain(fact('words("a b", "b")')))
    assert '(by words(?x, ?w) :- start(?x, _), ?w IN SPLIT(?x, " ") .)' in shown
    assert '(by part of words(?x, ?w) :- start(?x, _), ?w IN SPLIT(?x, " ") .)' in shown
    assert "(by named)" in str(reasoner.explain(fact('far("c")')))


def test_violations() -> None:
    reasoner = Reasoner(PROGRAM)
    (violation,) = reasoner.inconsistencies()
    assert str(violation).startswith("false :- near(?x, ?n), ?n > 5")


def test_what_is_missing() -> None:
    reasoner = Reasoner(PROGRAM)
    assert "near(?x, ?n + 1) :- start(?x, ?n)" in str(reasoner.why_not(fact('near("c", 8)')))
