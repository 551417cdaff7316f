"""Queries in the rule language with what texts have beyond plain rules."""

from __future__ import annotations

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.errors import ReasonerError
from kg_reasoner.terms import Literal, Term, literal

PROGRAM = """
    function twice(?x: integer): integer = ?x * 2 .
    type Result = Ok(value: integer) | Error(message: string) .
    relation edge(from: integer, to: integer) .
    edge(1, 2) . edge(2, 3) . edge(3, 1) . edge(4, 4) . line("a b") . result(Ok(7)) . result(Error("x")) .
    loop(?x) :- edge(?x, ?x) .
"""


def texts(rows: object) -> list[str]:
    return sorted(" ".join(term.lexical if isinstance(term, Literal) else str(term) for term in row) for row in rows)  # type: ignore[attr-defined]


@pytest.mark.parametrize("on_demand", [False, True])
@pytest.mark.parametrize(
    ("query", "given", "expected"),
    [
        ("edge(?x, ?y), ?y > ?x", {}, ["1 2", "2 3"]),
        ("edge(from: ?x, to: 1) ; loop(?x)", {}, ["3", "4"]),
        ("edge(?x, ?y) ; loop(?x), line(?l)", {}, ["1", "2", "3", "4"]),
        ("edge(?x, _), NOT (edge(?x, ?y), ?y > 2)", {}, ["1", "3"]),
        ("edge(?x, ?y), NOT (loop(?x) ; edge(?y, 1))", {"x": literal(1)}, ["1 2"]),
        ('line(?l), ?w IN SPLIT(?l, " ")', {}, ["a b a", "a b b"]),
        ("edge(?x, _), ?z = twice(?x), (loop(?x) ; ?x = 1)", {}, ["1 2", "4 8"]),
        ("result(Ok(?v))", {}, ["7"]),
        ("AGGREGATE(edge(?a, ?b) ; edge(?b, ?a) BIND COUNT(*) AS ?n)", {}, ["7"]),
    ],
)
@pytest.mark.sample(2)
def test_answers_are_the_same_on_demand(query: str, given: dict[str, Term], expected: list[str], on_demand: bool) -> None:
    reasoner = Reasoner(PROGRAM)
    assert texts(reasoner.answers(query, given, on_demand=on_demand)) == expected
    assert texts(reasoner.answers(query, given)) == expected


def test_only_what_all_alternatives_bind_has_a_value() -> None:
    with pytest.raises(ReasonerError, match=r"the query does not bind \?y"):
        Reasoner(PROGRAM).answers("edge(?x, ?y) ; loop(?x)", {"y": literal(1)})
