"""The third-party Datalog programs: each gives the expected outputs. `souffle` says how they are written in our language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import literal

from .effort import by_effort
from .souffle import Case
from .suites import SUITES, needs_suite

SUITE = SUITES / "datalog"
pytestmark = needs_suite("datalog")

SMALLER = {
    "example__amicable": {3000: 300},
    "example__independent_body3": {1_000_000: 1000},
    "example__inline_nats": {10_000: 300},
}
"""Numbers up to which programs count, and here: in the suite they count for minutes, and here with full effort."""


def folders() -> list[str]:
    return sorted(folder.name for folder in SUITE.iterdir() if folder.is_dir()) if SUITE.is_dir() else []


def check(case: Case) -> None:
    reasoner = Reasoner(case.program)
    for predicate, rows in case.facts.items():
        reasoner.add_facts(predicate, rows)
    for predicate, rows in case.expected.items():
        assert set(reasoner.facts(predicate)) == rows, predicate


@pytest.mark.parametrize("name", folders())
def test_program(name: str) -> None:
    case = Case(SUITE / name, by_effort(SMALLER, SMALLER, {}).get(name, {}))
    if name == "example__amicable" and (literal(300),) in case.facts["lim"]:
        case.expected["amicable"] = {(literal(220), literal(284))}
    check(case)


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
