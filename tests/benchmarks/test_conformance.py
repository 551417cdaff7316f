"""The conformance table: cases are judged and counted as they should be, for us and for the peers."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.conformance.answers import is_expected
from benchmarks.conformance.cases import ANSWERS, CONSISTENT, DOES_NOT_ENTAIL, ENTAILS, INCONSISTENT, OWL, Case
from benchmarks.conformance.scores import run, table
from benchmarks.conformance.systems import SYSTEMS, System
from kg_reasoner.api.reasoner import Reasoner
from tests.helpers.extras import needed

OURS, FAST, OWLRL, REASONABLE = SYSTEMS
OWN = "http://example.org/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
PREMISE = f"<{OWN}C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{OWN}D> .\n<{OWN}a> {TYPE} <{OWN}C> .\n"
CLASH = f"{PREMISE}<{OWN}C> <http://www.w3.org/2002/07/owl#disjointWith> <{OWN}D> .\n"


@pytest.fixture
def cases(tmp_path: Path) -> list[Case]:
    def file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    premise, clash = (file("premise.nt", PREMISE),), (file("clash.nt", CLASH),)
    follows, does_not = file("follows.nt", f"_:x {TYPE} <{OWN}D> .\n"), file("not.nt", f"_:x {TYPE} <{OWN}E> .\n")
    rows = "".join(f'<result><binding name="c"><uri>{OWN}{name}</uri></binding></result>' for name in "CD")
    head = '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="c"/></head>'
    result = file("result.srx", f"{head}<results>{rows}</results></sparql>")
    query = file("query.rq", f"SELECT ?c {{ <{OWN}a> a ?c . ?c <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{OWN}D> }}")
    return [
        Case("own", "consistent", CONSISTENT, OWL, premise),
        Case("own", "clash", INCONSISTENT, OWL, clash),
        Case("own", "follows", ENTAILS, OWL, premise, follows),
        Case("own", "too much", ENTAILS, OWL, premise, does_not, level="cannot", reason="nothing says so"),
        Case("own", "not", DOES_NOT_ENTAIL, OWL, premise, does_not),
        Case("own", "query", ANSWERS, "RDFS", premise, result, query),
    ]


@pytest.mark.parametrize(
    ("system", "package", "wrong"),
    [
        (OURS, "kg_reasoner", ["too much"]),
        (FAST, "kg_reasoner", ["too much", "query"]),
        pytest.param(OWLRL, "owlrl", ["too much"], marks=pytest.mark.long),
        (REASONABLE, "reasonable", ["clash", "too much"]),
    ],
    ids=lambda value: value.name if isinstance(value, System) else "",
)
def test_what_systems_get_right(cases: list[Case], system: System, package: str, wrong: list[str]) -> None:
    needed(package)
    score = run(system, cases)
    assert [case.name for case in score.wrong] == wrong
    assert len(score.right) + len(score.wrong) == len(cases) - (system is REASONABLE)
    assert score.seconds > 0
    assert score.fails == (wrong != ["too much"])


def test_a_system_that_fails_has_not_got_the_case_right(cases: list[Case]) -> None:
    def broken(case: Case) -> None:
        raise ValueError("no idea")

    score = run(System("broken", (OWL,), broken), cases)  # type: ignore[arg-type]
    assert not score.right
    assert set(score.wrong.values()) == {": ValueError: no idea"}


def test_the_table(cases: list[Case]) -> None:
    scores = [run(system, cases) for system in (OURS, FAST)]
    console = Console(file=io.StringIO(), width=132)
    console.print(table("own", cases, scores))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert sum("/" in line for line in lines) == 6
    assert any(line.split() == ["OWL", "2", "RL", "entails", "cannot", "0", "/", "1", "0", "/", "1"] for line in lines)
    assert any(line.split() == ["RDFS", "answers", "must", "1", "/", "1", "0", "/", "1"] for line in lines)
    assert any("CPU seconds" in line for line in lines)


def test_answers_are_compared_as_bags(cases: list[Case], tmp_path: Path) -> None:
    case = cases[-1]
    assert case.query is not None
    assert case.conclusion is not None
    reasoner = Reasoner(ruleset="rdfs-full")
    reasoner.load(case.premise[0])
    assert is_expected(reasoner, case.query, case.conclusion)
    twice = tmp_path / "twice.srx"
    text = case.conclusion.read_text()
    twice.write_text(text.replace("<results>", f'<results><result><binding name="c"><uri>{OWN}C</uri></binding></result>'))
    assert not is_expected(reasoner, case.query, twice)
