"""Datalog as a circuit, against the oracle after every step: facts and rules come and go, with the index operator and without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings

from kg_reasoner.dbsp import Datalog
from kg_reasoner.dbsp.encoded_rules import DatalogClause, SignedAtom
from kg_reasoner.errors import ArityError, SafetyError, StratificationError, UnsupportedError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import FALSE, Program, Rule
from kg_reasoner.terms import Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import Facts, evaluate, without_empty
from tests.helpers.strategies import Transaction, histories

FEW = settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))

CLOSURE = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
"""


def added(changes: Mapping[str, Mapping[tuple[Term, ...], int]], facts: Facts) -> Facts:
    """The facts after changes: none comes that is there, none goes that is not."""
    result = {predicate: set(rows) for predicate, rows in facts.items()}
    for predicate, rows in changes.items():
        for row, weight in rows.items():
            known = result.setdefault(predicate, set())
            assert weight == (-1 if row in known else 1), (predicate, row)
            known.symmetric_difference_update([row])
    return without_empty(result)


def signed(old: Iterable[object], new: Iterable[object]) -> dict[object, int]:
    """What must change for the old things to become the new ones."""
    counts = Counter(new)
    counts.subtract(Counter(old))
    return {thing: weight for thing, weight in counts.items() if weight}


def run(datalog: Datalog, history: list[Transaction]) -> None:
    rules: tuple[Rule, ...] = ()
    explicit: Facts = {}
    found: Facts = {}
    for transaction in history:
        before_rules, before = rules, explicit
        rules, explicit = transaction.after(rules, explicit)
        facts = {name: signed(before.get(name, ()), explicit.get(name, ())) for name in before.keys() | explicit.keys()}
        found = added(datalog.step(facts, signed(before_rules, rules)), found)  # type: ignore[arg-type]
        expected = without_empty(evaluate(Program(rules), explicit))
        assert found == expected


@pytest.mark.parametrize("indexed", [True, False])
@FEW
@given(history=histories(negation=False))
def test_positive_programs(history: list[Transaction], indexed: bool) -> None:
    run(Datalog(indexed), history)


@pytest.mark.parametrize("indexed", [True, False])
@FEW
@given(history=histories(negation=True, functions=True))
def test_negation_and_functions(history: list[Transaction], indexed: bool) -> None:
    run(Datalog(indexed), history)


@pytest.mark.long
def test_the_traces_do_not_grow() -> None:
    """Nothing is left of updates that are taken back, however many there are."""
    datalog = Datalog()
    rules = parse(CLOSURE + "lonely(?x) :- node(?x), NOT edge(?x, _) .").rules
    datalog.step({"edge": {(n, n + 1): 1 for n in range(8)}, "node": {(n,): 1 for n in range(10)}}, dict.fromkeys(rules, 1))
    sizes = []
    for number in range(90):
        edge = (number % 8, number % 8 + 1)
        datalog.step({"edge": {edge: -1}})
        datalog.step({"edge": {edge: 1}}, {rules[1]: -1})
        datalog.step({}, {rules[1]: 1})
        sizes.append(datalog.nbytes)
    assert max(sizes[60:]) <= 1.1 * max(sizes[:30])


def test_a_rule_of_the_same_prefix_is_found_again() -> None:
    datalog = Datalog()
    first, second = parse("near(?a, ?c) :- road(?a, ?b), road(?b, ?c) . round(?u) :- road(?u, ?v), road(?v, ?u) .").rules
    datalog.step({"road": {("a", "b"): 1, ("b", "a"): 1}}, {first: 1})
    rows = {(literal("a"),): 1, (literal("b"),): 1}
    assert datalog.step(rules={second: 1}) == {"round": rows}
    assert datalog.step(rules={first: -1})["near"] == {(literal("a"), literal("a")): -1, (literal("b"), literal("b")): -1}
    assert datalog.step(rules={second: -1}) == {"round": dict.fromkeys(rows, -1)}


@pytest.mark.long
def test_large_numbers_of_terms_variables_and_predicates() -> None:
    """Rows outgrow the layout in which they are packed, several times, while facts and rules are there."""
    datalog = Datalog()
    (closure, step) = parse(CLOSURE).rules
    datalog.step({"edge": {(0, 1): 1, (1, 2): 1}}, {closure: 1, step: 1})
    wide = parse("wide(?a, ?b, ?c, ?d, ?e, ?f, ?g, ?h) :- path(?a, ?b), path(?c, ?d), path(?e, ?f), path(?g, ?h) .").rules[0]
    assert len(datalog.step(rules={wide: 1})["wide"]) == 3**4
    datalog.step({"other": {(number,): 1 for number in range(70_000)}})
    many = parse("".join(f"p{number}(?x) :- edge(?x, {number}), other(?x) .\n" for number in range(200))).rules
    assert datalog.step(rules=dict.fromkeys(many, 1)) == {"p1": {(literal(0),): 1}, "p2": {(literal(1),): 1}}
    changes = datalog.step({"edge": {(1, 2): -1}})
    assert {name: len(rows) for name, rows in changes.items()} == {"edge": 1, "p2": 1, "path": 2, "wide": 3**4 - 1}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("p(?x, ?y) :- q(?x) .", SafetyError),
        ("p(?x) :- q(?x), NOT p(?x) .", StratificationError),
        ("p(?x) :- q(?x), q(?x, ?x) .", ArityError),
        ("n(?c) :- AGGREGATE(q(?x) BIND COUNT(?x) AS ?c) .", UnsupportedError),
    ],
)
def test_wrong_rules_change_nothing(text: str, error: type[Exception]) -> None:
    datalog = Datalog()
    rule = parse("r(?x) :- q(?x) .").rules[0]
    datalog.step({"q": {(1,): 1}}, {rule: 1})
    with pytest.raises(error):
        datalog.step({"q": {(2,): 1}}, dict.fromkeys(parse(text).rules, 1))
    assert datalog.rules == (rule,)
    assert datalog.step({"q": {(3,): 1}})["r"] == {(literal(3),): 1}


def test_a_clause_without_a_body_is_a_fact() -> None:
    with pytest.raises(ValueError, match="a clause needs a body"):
        DatalogClause(SignedAtom(0, (1,)), ())


def test_a_circuit_for_each_stratum() -> None:
    datalog = Datalog()
    datalog.step(rules=dict.fromkeys(parse("p(?x) :- q(?x) . r(?x) :- q(?x), NOT p(?x) .").rules, 1))
    assert len(datalog.circuits) == 2
    shown = str(datalog.circuits[0])
    assert all(f" {operator} (" in shown for operator in ("gatekeep", "index", "product", "ground", "distinct"))


def test_constraints_are_rules() -> None:
    datalog = Datalog()
    assert FALSE in datalog.step({"p": {(1,): 1}}, dict.fromkeys(parse("false :- p(?x) .").rules, 1))


def test_what_comes_and_goes_in_one_step() -> None:
    datalog = Datalog()
    (closure, step) = parse(CLOSURE).rules
    changes = datalog.step({"edge": {("a", "b"): 1}}, {closure: 1})
    assert changes["path"] == {(literal("a"), literal("b")): 1}
    changes = datalog.step({"edge": {("b", "c"): 1, ("a", "b"): -1, ("c", "a"): 1}}, {step: 1})
    pairs = {(x.lexical, y.lexical): weight for (x, y), weight in changes["path"].items()}  # type: ignore[union-attr]
    assert pairs == {("a", "b"): -1, ("b", "c"): 1, ("c", "a"): 1, ("b", "a"): 1}


@pytest.mark.parametrize("held_up", ["q(?x) :- q(?x) .", "r(?x) :- q(?x) . q(?x) :- r(?x) .", "q(?x) :- q(?y), q(?x) ."])
def test_a_body_that_begins_with_a_negation(held_up: str) -> None:
    """Nothing is derived before the facts that are given are known: it could hold itself up, or come and go without end."""
    datalog = Datalog()
    program = parse("q(1) :- NOT p(0), NOT p(2) ." + held_up).rules
    assert datalog.step({"p": {(0,): 1}}, dict.fromkeys(program, 1)) == {"p": {(literal(0),): 1}}
    heads = {rule.head.predicate for rule in program}
    assert datalog.step({"p": {(0,): -1}}) == {"p": {(literal(0),): -1}, **{head: {(literal(1),): 1} for head in heads}}
    assert datalog.step({"p": {(2,): 1}}) == {"p": {(literal(2),): 1}, **{head: {(literal(1),): -1} for head in heads}}
