"""Aggregate functions with a state, in Python and in the rule language: what they cost, what errors do, and that updates give what
the oracle gives.
"""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ReasonerError, ReasonerWarning, RuleSyntaxError, ValueTooLargeError
from kg_reasoner.expressions.defined_functions import LanguageFunction
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_term
from kg_reasoner.terms import Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

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
    with pytest.raises(ReasonerError, match="None cannot be the name of a function"):
        reasoner.reduction(None, "integer", initial=int, add=plus)  # type: ignore[arg-type]
    with pytest.raises(ReasonerError, match="7 is not the name of a type"):
        reasoner.reduction("total", 7, initial=int, add=plus)  # type: ignore[arg-type]
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


# ---- in the rule language

WRITTEN = """
    reduction squares(?s: integer, ?n: integer): integer = initial 0, add ?s + ?n * ?n, remove square_less(?s, ?n) .
    function square_less(?s: integer, ?n: integer): integer = IF(?n = 2, IDIV(?s, 0), ?s - ?n * ?n) .
    reduction mode(?s: map<integer, integer>, ?k: integer, ?n: integer): integer =
        initial MAP(),
        add PUT(?s, 10 * ?k + ?n, 1 + COALESCE(GET(?s, 10 * ?k + ?n), 0)),
        remove PUT(?s, 10 * ?k + ?n, GET(?s, 10 * ?k + ?n) - 1),
        result ELEMENT(SORT(present(?s, KEYS(?s), 0, LIST())), 0) .
    function present(?s: map<integer, integer>, ?keys: list<integer>, ?n: integer, ?found: list<integer>): list<integer> =
        IF(?n = SIZE(?keys), ?found, present(?s, ?keys, ?n + 1, with_key(?s, ELEMENT(?keys, ?n), ?found))) .
    function with_key(?s: map<integer, integer>, ?key: integer, ?found: list<integer>): list<integer> =
        IF(GET(?s, ?key) > 0, APPEND(?found, ?key), ?found) .
    reduction order(?s: string, ?n: integer): string = initial "", add CONCAT(?s, STR(?n)) .
"""
"""As `register`, but for the errors of `mode`, whose value is the least number here."""


def expected_of(rows: set[tuple[int, int, int]]) -> dict[str, set[tuple[Any, ...]]]:
    """Return what the reductions are, computed without them."""
    groups = {x: sorted(row for row in rows if row[0] == x) for x in {x for x, _, _ in rows}}
    return {
        "squares": {(x, sum(n * n for _, _, n in group)) for x, group in groups.items()},
        "mode": {(x, max(k for _, k, _ in group), min(10 * k + n for _, k, n in group)) for x, group in groups.items()},
        "order": {(x, "".join(str(n) for n in sorted(n for _, _, n in group))) for x, group in groups.items()},
        "kinds": {(x, sum(n * n for n in {n for _, _, n in group})) for x, group in groups.items()},
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(100), deadline=None)
@given(transactions=st.lists(st.tuples(CHANGES, st.sampled_from([True, True, False])), max_size=6))
def test_written_reductions_agree_with_the_oracle(strategy: Any, transactions: list[tuple[list[tuple[bool, Any]], bool]]) -> None:
    reasoner = Reasoner(WRITTEN + RULES, maintenance=strategy)
    present: set[tuple[int, int, int]] = set()
    for changes, is_kept in transactions:
        before = set(present)
        transaction = reasoner.transaction().begin()
        for is_added, row in changes:
            (transaction.add_facts if is_added else transaction.remove_facts)("v", [tuple(map(literal, row))])
            (present.add if is_added else present.discard)(row)
        if is_kept:
            transaction.commit()
        else:
            transaction.rollback()
            present = before
        expected = evaluate(reasoner.program, {"v": {tuple(map(literal, row)) for row in present}})
        for name in NAMES:
            assert set(reasoner.facts(name)) == expected.get(name, set()), name
        for name, rows in expected_of(present).items():
            assert set(reasoner.facts(name)) == {tuple(map(literal, row)) for row in rows}, name


def test_an_update_of_a_written_reduction_costs_what_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = LanguageFunction.apply

    def counting(function: LanguageFunction, *terms: Term) -> Term | None:
        calls[function.name] += 1
        return apply(function, *terms)

    monkeypatch.setattr(LanguageFunction, "apply", counting)
    reasoner = Reasoner(f"{WRITTEN} squares(?s) :- AGGREGATE(v(?x) BIND squares(?x) AS ?s) .")
    reasoner.add_facts("v", [(literal(number),) for number in range(300)])
    reasoner.materialise()
    calls.clear()
    with reasoner.transaction():
        reasoner.add_facts("v", [(literal(-1),)])
        reasoner.remove_facts("v", [(literal(299),)])
    assert values(reasoner, "squares") == [str(sum(number * number for number in range(299)) + 1)]
    assert calls["squares"] == 2
    calls.clear()
    reasoner.remove_facts("v", [(literal(2),)])  # is an error of `remove`
    assert values(reasoner, "squares") == [str(sum(number * number for number in range(299)) - 3)]
    assert calls["squares"] > 299


def test_written_reductions_are_part_of_the_program() -> None:
    total = "reduction total(?s: integer, ?n: integer): integer = initial 0, add plus(?s, ?n) ."
    plus = "function plus(?a: integer, ?b: integer): integer = ?a + ?b ."
    rule = "t(?t) :- AGGREGATE(v(?x, ?k, ?n) BIND total(?n) AS ?t) ."
    reasoner = Reasoner(f"{plus} {total} v(1, 1, 4) . v(1, 2, 5) .")
    reasoner.add_program(rule)
    reasoner.add_program(f"{plus} {total} {rule}")
    assert values(reasoner, "t") == ["9"]
    with pytest.raises(RuleSyntaxError, match="another reduction total is defined already"):
        reasoner.add_program(f"{plus.replace('+', '-')} {total}".replace("plus", "minus"))
    copy = pickle.loads(pickle.dumps(reasoner.program))
    assert copy == reasoner.program
    assert values(Reasoner(copy), "t") == ["9"]
    reasoner.remove_rules(parse(f"{plus} {total} {rule}").rules)
    assert values(reasoner, "t") == []


def test_a_reduction_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "sums.dl").write_text(
        "reduction total(?s: integer, ?n: integer): integer = initial 0, add ?s + ?n, remove ?s - ?n ."
    )
    main = tmp_path / "main.dl"
    main.write_text('import "sums.dl" as sums . t(?t) :- AGGREGATE(v(?n) BIND total(?n) AS ?t) . v(3) . v(4) .')
    assert values(Reasoner(main), "t") == ["7"]
    with pytest.raises(ValueTooLargeError, match="nested more than 100 deep in AGGREGATE"):
        Reasoner("""
            reduction deep(?s: integer, ?n: integer): integer = initial 0, add down(?n), remove 0 .
            function down(?n: integer): integer = down(?n - 1) .
            t(?t) :- AGGREGATE(v(?n) BIND deep(?n) AS ?t) .
            v(3) .
        """).materialise()


def test_calls_that_are_nested_too_deep_name_the_rule() -> None:
    reasoner = Reasoner("""
        reduction deep(?s: integer, ?n: integer): integer = initial 0, add ?s + down(?n), remove ?s - down(?n) .
        function down(?n: integer): integer = IF(?n = 0, 0, down(?n - 1)) .
        t(?t) :- AGGREGATE(v(?n) BIND deep(?n) AS ?t) .
        v(3) .
    """)
    assert values(reasoner, "t") == ["0"]
    reasoner.add_facts("v", [(literal(1000),)])
    with pytest.raises(ValueTooLargeError, match="down are nested more than 100 deep in AGGREGATE"):
        reasoner.materialise()
    reasoner.remove_facts("v", [(literal(1000),)])
    assert values(reasoner, "t") == ["0"]
