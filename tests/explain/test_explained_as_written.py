"""Explanations, violations and absences name rules as they were written, not the plain rules that they became."""

from __future__ import annotations

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.errors import ColumnTypeError, ValueTooLargeError
from kg_reasoner.expressions.structures import encode
from kg_reasoner.language.parser import parse
from kg_reasoner.program import AUXILIARY, Atom
from kg_reasoner.terms import literal

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
    assert shown.splitlines()[1:] == [
        '├── start("a b", 1)   (stated by the program)',
        '├── SPLIT("a b", " ") = LIST("a", "b")   (computed)',
        '└── ELEMENT(LIST("a", "b"), 1) = "b"   (computed)',
    ]
    assert "(by named)" in str(reasoner.explain(fact('far("c")')))


def test_parts_of_rules_are_not_shown() -> None:
    reasoner = Reasoner(
        """
        word(?l, ?w) :- line(?l), ?w IN SPLIT(?l, " ") .
        both(?x) :- CHOOSE(word(?x, ?w) ; short(?x), ?w = "" PER ?x), NOT (word(?x, "a") ; word(?x, "b")), (line(?x) ; short(?x)) .
        line("to be") . line("a b") .
        """
    )
    proof = reasoner.explain(fact('both("to be")'))
    assert any(step.statement.predicate.startswith(AUXILIARY) for step in proof.steps if isinstance(step.statement, Atom))
    for shown in (proof.text(), proof.html(), proof.dot()):
        assert AUXILIARY not in shown
        assert "NOT (...) for" in shown
    assert "SAMPLE(?_w) = " in proof.text() and "line(" in proof.text()
    assert list(reasoner.facts("both")) == [(literal("to be"),)]


def test_violations() -> None:
    reasoner = Reasoner(PROGRAM)
    (violation,) = reasoner.inconsistencies()
    assert str(violation).startswith("false :- near(?x, ?n), ?n > 5")


def test_what_is_missing() -> None:
    reasoner = Reasoner(PROGRAM)
    assert "near(?x, ?n + 1) :- start(?x, ?n)" in str(reasoner.why_not(fact('near("c", 8)')))


def test_errors_of_types_and_values() -> None:
    reasoner = Reasoner("""
        relation q(x: integer) .
        q(?y) :- v(?x, ?l), (?x = 1 ; ?x = 2), ?y IN ?l .
        p(?x * ?x + 1) :- w(?x) .
    """)
    with pytest.raises(ColumnTypeError) as caught:
        reasoner.add_facts("v", [(literal(1), encode("list", [literal("b")]))])
        reasoner.materialise()
    assert "derived by q(?y) :- v(?x, ?l), (?x = 1 ; ?x = 2), ?y IN ?l .\n" in str(caught.value)
    with pytest.raises(ValueTooLargeError, match=r"in the rule p\(\?x \* \?x \+ 1\) :- w\(\?x\) \., for "):
        reasoner.add_facts("w", [(literal(10**600),)])
        reasoner.materialise()


def test_negations_are_explained_as_written() -> None:
    reasoner = Reasoner("up(?x + 1) :- up(?x), NOT wall(?x + 1), NOT (?x > 7) . up(2) . wall(5) .")
    shown = str(reasoner.explain(fact("up(3)")))
    assert shown.splitlines()[1:] == [
        "├── up(2)   (stated by the program)",
        "├── 2 + 1 = 3   (computed)",
        "├── NOT wall(3)   (no such fact)",
        "├── FILTER(!(2 > 7))   (checked)",
        "└── 2 + 1 = 3   (computed)",
    ]
