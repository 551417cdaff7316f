"""The third-party Datalog programs: each gives the expected outputs. `souffle` says how they are written in our language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.program import Atom, Variable
from kg_reasoner.terms import literal
from tests.helpers.effort import by_effort, thinned
from tests.helpers.souffle import Case
from tests.helpers.suites import SUITES, needs_suite

SUITE = SUITES / "datalog"
pytestmark = needs_suite("datalog")

SMALLER = {
    "example__amicable": {3000: 300},
    "example__independent_body3": {1_000_000: 1000},
    "example__inline_nats": {10_000: 300},
}
"""Numbers up to which programs count, and here: in the suite they count for minutes, and here with full effort."""


UNSELECTIVE = {"example__tic-tac-toe"}
"""Programs in which a query would ask for most states one by one: magic sets are given up."""


def folders() -> list[str]:
    return sorted(folder.name for folder in SUITE.iterdir() if folder.is_dir()) if SUITE.is_dir() else []


def check(case: Case) -> None:
    reasoner = Reasoner(case.program)
    for predicate, rows in case.facts.items():
        reasoner.add_facts(predicate, rows)
    for predicate, rows in case.expected.items():
        assert set(reasoner.facts(predicate)) == rows, predicate


def case_of(name: str) -> Case:
    case = Case(SUITE / name, by_effort(SMALLER, SMALLER, {}).get(name, {}))
    if name == "example__amicable" and (literal(300),) in case.facts["lim"]:
        case.expected["amicable"] = {(literal(220), literal(284))}
    return case


@pytest.mark.parametrize("name", thinned(folders(), 2))
def test_program(name: str) -> None:
    check(case_of(name))


@pytest.mark.parametrize("name", thinned(reversed(folders()), 6))
@pytest.mark.sample(4)
def test_on_demand(name: str) -> None:
    """Facts with the first, or the last argument of some expected fact, and of none, without materialisation."""
    case = case_of(name)
    reasoner = Reasoner(case.program)
    for predicate, rows in case.facts.items():
        reasoner.add_facts(predicate, rows)
    by_magic: list[bool] = []
    for predicate, rows in case.expected.items():
        some = min(rows, key=str, default=())
        variables = tuple(Variable(f"v{place}") for place in range(len(some)))
        for place in {0, len(some) - 1} if some else ():
            for term in (some[place], literal("no such term")):
                atom = Atom(predicate, (*variables[:place], term, *variables[place + 1 :]))
                found = reasoner.answers(atom, on_demand=True)
                kept = [column for column in range(len(some)) if column != place]
                assert set(found) == {tuple(row[c] for c in kept) for row in rows if row[place] == term}, atom
                by_magic.append(found.by_magic)
    assert all(by_magic) is (name not in UNSELECTIVE)
    assert not reasoner.engine.is_current


def test_aggregates_stand_wherever_expressions_do(tmp_path: Path) -> None:
    x, y, other, anything = {"var": "x"}, {"var": "y"}, {"var": "other"}, {"wild": True}
    atom = {"atom": {"rel": "n", "args": [x, y]}}
    least = {"agg": "min", "of": other, "body": [{"atom": {"rel": "n", "args": [anything, other]}}]}
    larger = {"cmp": ">", "l": {"var": "z"}, "r": least}
    number = {"agg": "count", "body": [{"atom": {"rel": "n", "args": [x, {"var": "z"}]}}, larger]}
    rules = [
        {"head": {"rel": "several", "args": [x]}, "body": [atom, {"cmp": "<", "l": {"num": 1}, "r": number}]},
        {"head": {"rel": "less", "args": [x, {"op": "-", "l": y, "r": least}]}, "body": [atom]},
    ]
    relations = {"n": ["symbol", "number"], "several": ["symbol"], "less": ["symbol", "number"]}
    tree = {"relations": relations, "rules": rules, "inputs": ["n"], "outputs": ["several", "less"]}
    (tmp_path / "program.json").write_text(json.dumps(tree))
    for name, text in {
        "facts/n": "a\t1\na\t2\na\t3\nb\t2\n",
        "expected/several": "a\n",
        "expected/less": "a\t0\na\t1\na\t2\nb\t1\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.tsv").write_text(text)
    check(Case(tmp_path, {}))


def test_scopes_of_aggregates(tmp_path: Path) -> None:
    """Outside of an aggregate, variables of its body are those of the best solutions, if nothing else binds them."""
    who, age, town = ({"var": name} for name in ("who", "age", "town"))

    def lives(*arguments: object) -> dict[str, object]:
        return {"atom": {"rel": "lives", "args": list(arguments)}}

    def of(function: str, value: object, *body: object) -> dict[str, object]:
        return {"agg": function, "of": value, "body": list(body)}

    def equal(left: object, right: object) -> dict[str, object]:
        return {"cmp": "=", "l": left, "r": right}

    def rule(name: str, arguments: list[object], *body: object) -> dict[str, object]:
        return {"head": {"rel": name, "args": arguments}, "body": list(body)}

    anyone, other, sum_of = {"wild": True}, {"var": "other"}, {"var": "sum"}
    younger = of("sum", other, lives(anyone, other, anyone), {"cmp": "<", "l": other, "r": age})
    rules = [
        rule("oldest", [who, town, age], equal(age, of("max", age, lives(who, age, town)))),
        rule("oldest", [{"str": "all"}, {"str": "all"}, age], equal(age, of("max", other, lives(anyone, other, anyone)))),
        rule(
            "total",
            [sum_of],
            equal(
                sum_of,
                of("sum", age, lives(anyone, age, anyone), equal(other, younger), {"cmp": "<", "l": other, "r": {"num": 50}}),
            ),
        ),
        rule(
            "doubled",
            [age],
            equal(age, of("max", other, lives(anyone, age, anyone), equal(other, {"op": "*", "l": {"num": 2}, "r": age}))),
        ),
    ]
    relations = {
        "lives": ["symbol", "number", "symbol"],
        "oldest": ["symbol", "symbol", "number"],
        "total": ["number"],
        "doubled": ["number"],
    }
    tree = {"relations": relations, "rules": rules, "inputs": ["lives"], "outputs": ["oldest", "total", "doubled"]}
    (tmp_path / "program.json").write_text(json.dumps(tree))
    for name, text in {
        "facts/lives": "ann\t20\tOslo\nbob\t40\tOslo\ncy\t40\tRome\n",
        "expected/oldest": "bob\tOslo\t40\ncy\tRome\t40\nall\tall\t40\n",
        "expected/total": "100\n",
        "expected/doubled": "80\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.tsv").write_text(text)
    check(Case(tmp_path, {}))
