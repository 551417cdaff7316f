"""Aggregate functions in Python with a state: what they cost, what errors do, and that updates give what the oracle gives."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ReasonerError, ReasonerWarning, RuleSyntaxError
from kg_reasoner.language.printer import format_term
from kg_reasoner.terms import Term, literal

from .effort import examples
from .oracle import evaluate

RULES = """
    squares(?x, ?s) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND squares(?y) AS ?s) .
    all(?s, ?n) :- AGGREGATE(v(?x, ?k, ?y), ?y > 0 BIND squares(?y) AS ?s BIND COUNT(?y) AS ?n) .
    mode(?x, ?k, ?m) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND mode(?k, ?y) AS ?m BIND MAX(?k) AS ?k) .
    order(?x, ?o) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND order(?y) AS ?o) .
    kinds(?x, ?s) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND squares(DISTINCT ?y) AS ?s) .
    above(?n) :- AGGREGATE(squares(?x, ?s) BIND squares(?s) AS ?n) .
    halves(?x, ?s) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND squares(IF(?y = 3, "none", 2 * ?y)) AS ?s) .
    reach(?x, ?y) :- squares(?x, ?y), NOT kinds(?x, ?y) .
"""
NAMES = ("squares", "all", "mode", "order", "kinds", "above", "halves", "reach")
calls: Counter[str] = Counter()


def plus(state: int, number: int) -> int:
    calls["add"] += 1
    return state + number**2


def minus(state: int, number: int) -> int:
    calls["remove"] += 1
    if number == 2:
        raise ValueError("not removed")
    return state - number**2


def count_in(state: Counter[tuple[int, int]], key: int, number: int) -> Counter[tuple[int, int]]:
    if (key, number) == (1, 4):
        raise ValueError("never added")
    state[key, number] += 1
    return state


def count_out(state: Counter[tuple[int, int]], key: int, number: int) -> Counter[tuple[int, int]]:
    state[key, number] -= 1
    return +state


def most_common(state: Counter[tuple[int, int]]) -> int:
    if len(state) == 3:
        raise ValueError("no value")
    return max(10 * key + number for key, number in state)


def register(reasoner: Reasoner) -> None:
    reasoner.reduction("squares", "integer", initial=int, add=plus, remove=minus, returns="integer")
    reasoner.reduction(
        "mode", "integer", "integer", initial=Counter, add=count_in, remove=count_out, result=most_common, returns="integer"
    )
    reasoner.reduction("order", "integer", initial=str, add=lambda text, number: f"{text}{number}", returns="string")


@pytest.fixture(autouse=True)
def _without_warnings() -> Iterator[None]:
    calls.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReasonerWarning)
        yield


ROWS = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4))
CHANGES = st.lists(st.tuples(st.booleans(), ROWS), max_size=8)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(100), deadline=None)
@given(transactions=st.lists(st.tuples(CHANGES, st.sampled_from([True, True, False])), max_size=6))
def test_strategies_agree_with_the_oracle(strategy: Any, transactions: list[tuple[list[tuple[bool, Any]], bool]]) -> None:
    reasoner = Reasoner(maintenance=strategy)
    register(reasoner)
    reasoner.add_program(RULES)
    present: set[tuple[Term, ...]] = set()
    for changes, is_kept in transactions:
        before = set(present)
        transaction = reasoner.transaction().begin()
        for is_added, row in changes:
            terms = tuple(map(literal, row))
            (transaction.add_facts if is_added else transaction.remove_facts)("v", [terms])
            (present.add if is_added else present.discard)(terms)
        if is_kept:
            transaction.commit()
        else:
            transaction.rollback()
            present = before
        expected = evaluate(reasoner.program, {"v": present})
        for name in NAMES:
            assert set(reasoner.facts(name)) == expected.get(name, set()), name


def test_an_update_costs_what_it_changes() -> None:
    reasoner = Reasoner()
    register(reasoner)
    reasoner.add_program("squares(?x, ?s) :- AGGREGATE(v(?x, ?k, ?y) ON ?x BIND squares(?y) AS ?s) .")
    reasoner.add_facts("v", [(literal(number % 3), literal(number), literal(5)) for number in range(300)])
    reasoner.materialise()
    assert calls == {"add": 300}
    with reasoner.transaction():
        reasoner.add_facts("v", [(literal(0), literal(-1), literal(10))])
        reasoner.remove_facts("v", [(literal(0), literal(0), literal(5)), (literal(1), literal(1), literal(5))])
    assert set(reasoner.facts("squares")) == {(literal(x), literal(s)) for x, s in ((0, 2575), (1, 2475), (2, 2500))}
    assert calls == {"add": 301, "remove": 2}
    with pytest.raises(ZeroDivisionError), reasoner.transaction():
        reasoner.add_facts("v", [(literal(2), literal(-1), literal(10))])
        assert (literal(2), literal(2600)) in set(reasoner.facts("squares"))
        raise ZeroDivisionError
    assert (literal(2), literal(2500)) in set(reasoner.facts("squares"))
    assert calls == {"add": 302, "remove": 3}


def values(reasoner: Reasoner, predicate: str) -> list[str]:
    return sorted(" ".join(map(format_term, row)) for row in reasoner.facts(predicate))


def test_errors_lose_nothing() -> None:
    reasoner = Reasoner()
    register(reasoner)
    reasoner.add_program(RULES)
    rows = {number: (literal(7), literal(number), literal(number)) for number in range(5)}
    reasoner.add_facts("v", [rows[1], rows[2]])
    assert values(reasoner, "squares") == ["7 5"]
    with pytest.warns(ReasonerWarning, match="squares has no result for some arguments.*ValueError: not removed"):
        reasoner.remove_facts("v", [rows[2]])
        assert values(reasoner, "squares") == ["7 1"]  # computed again
    reasoner.add_facts("v", [(literal(7), literal(9), literal("text"))])
    assert values(reasoner, "squares") == []
    reasoner.remove_facts("v", [(literal(7), literal(9), literal("text"))])
    assert values(reasoner, "squares") == ["7 1"]
    reasoner.add_facts("v", [(literal(7), literal(1), literal(4))])
    with pytest.warns(ReasonerWarning, match="mode has no result.*never added"):
        assert values(reasoner, "mode") == []
    reasoner.remove_facts("v", [(literal(7), literal(1), literal(4))])
    assert values(reasoner, "mode") == ["7 1 11"]
    reasoner.add_facts("v", [rows[3], rows[0]])
    assert values(reasoner, "mode") == []  # no value of a state is no loss of it
    reasoner.remove_facts("v", [rows[0]])
    assert values(reasoner, "mode") == ["7 3 33"]


def test_names_and_arguments_are_checked() -> None:
    reasoner = Reasoner()
    register(reasoner)
    with pytest.raises(ReasonerError, match="'sum' cannot be the name of a function"):
        reasoner.reduction("sum", "integer", initial=int, add=plus)
    with pytest.raises(ReasonerError, match="unknown type integr"):
        reasoner.reduction("total", "integr", initial=int, add=plus)
    with pytest.raises(ReasonerError, match="initial of the reduction total is not a function"):
        reasoner.reduction("total", "integer", initial=0, add=plus)  # type: ignore[arg-type]
    reasoner.reduction("forgetful", "integer", initial=list, add=list.append)
    reasoner.add_program("p(?s) :- AGGREGATE(w(?x) BIND forgetful(?x) AS ?s) . w(1) .")
    with pytest.warns(ReasonerWarning, match="forgetful has no result.*no state was returned"):
        assert values(reasoner, "p") == []
    with pytest.raises(RuleSyntaxError, match="squares has at most 1 argument"):
        reasoner.add_program("p(?s) :- AGGREGATE(v(?x, ?y) BIND squares(?x, ?y) AS ?s) .")
