"""Each clash is told once: not for each mirror image, each name of a thing, and each rule that says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.expressions.datatypes import DATATYPES, narrower
from kg_reasoner.terms import RDFS, XSD
from tests.helpers.effort import by_effort, thinned
from tests.helpers.fixtures import blocks
from tests.ontologies.test_owl import triples_in

FIXTURE = Path(__file__).with_name("literals") / "clashes.txt"


def cases() -> list[object]:
    found = []
    for title, text in blocks(FIXTURE):
        data, _, expected = text.partition("\n=>\n")
        for line in expected.strip().splitlines():
            ruleset, _, names = line.partition(":")
            by_axioms, _, by_rewriting = names.partition(" / ")
            found.append(pytest.param(data, ruleset, "axioms", by_axioms.split(), id=f"{title}: {ruleset}"))
            found.append(
                pytest.param(data, ruleset, "rewrite", (by_rewriting or by_axioms).split(), id=f"{title}: {ruleset}, rewriting")
            )
    return found


@pytest.mark.parametrize(("data", "ruleset", "equality", "expected"), thinned(cases(), 3))
@pytest.mark.sample(3)
def test_each_clash_is_reported_once(data: str, ruleset: str, equality: Equality, expected: list[str]) -> None:
    triples = triples_in(data)
    for ordered in (triples, triples[::-1])[: by_effort(1, 2, 2)]:
        reasoner = Reasoner(ruleset=ruleset, equality=equality)
        reasoner.add_triples(ordered)
        found = reasoner.inconsistencies()
        assert [violation.origin.name for violation in found] == expected
        assert reasoner.is_consistent() == (not expected)
        assert reasoner.inconsistencies() == found
        for violation in found:
            assert reasoner.explain(violation).text()


def test_constraints_of_users_are_reported_one_by_one() -> None:
    program = "false :- p(?x), r(?x, ?y) . false :- p(?x) . false :- r(?x, ?y), r(?y, ?x) . p(1) . r(1, 2) . r(2, 1) ."
    found = Reasoner(program).inconsistencies()
    assert [len(violation.rule.body) for violation in found] == [2, 1, 2]


def test_aggregates_in_constraints_are_shown_by_their_results() -> None:
    program = "false :- AGGREGATE(p(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), FILTER(?n > 1) ."
    facts = "p(1, 1) . p(1, 2) . p(2, 1) . p(2, 2) . p(3, 1) ."
    assert len(Reasoner(f"{program} {facts}").inconsistencies()) == 2


def test_narrower_datatypes() -> None:
    assert narrower(XSD.decimal.value) >= {XSD.integer.value, XSD.byte.value, XSD.unsignedByte.value}
    assert XSD.double.value not in narrower(XSD.decimal.value)
    assert narrower(XSD.string.value) >= {XSD.token.value, XSD.NCName.value, XSD.language.value}
    assert narrower(XSD.dateTime.value) == {XSD.dateTimeStamp.value}
    assert narrower(RDFS.Literal.value) == DATATYPES - {RDFS.Literal.value}
    assert all(narrower(below) < narrower(above) for above in DATATYPES for below in narrower(above))
