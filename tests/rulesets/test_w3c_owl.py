"""The W3C's OWL 2 test cases that bear on OWL 2 RL, by both of our rule sets; `benchmarks.conformance.cases` reads them."""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path

import pytest

from benchmarks.conformance.cases import DOES_NOT_ENTAIL, ENTAILS, INCONSISTENT, Case, cases, triples_of
from kg_reasoner.api.entailment import entails
from kg_reasoner.api.reasoner import Equality, Reasoner
from tests.helpers.effort import thinned
from tests.helpers.suites import needs_suite

CASES = cases("owl2")

NOT_BY_TRANSLATION = {
    "no datatype rules": ("Plus and Minus Zero are Distinct inconsistent", "string-integer-clash inconsistent"),
    "no axioms about datatypes": ("WebOnt-I5.8-006 entails", "WebOnt-I5.8-011 entails"),
}
"""What ``owl2rl`` is not for, and ``owl2rl-full`` is."""

EXCEPTIONS = {name for names in NOT_BY_TRANSLATION.values() for name in names}

pytestmark = needs_suite("owl2")


@lru_cache(maxsize=4)
def closure(ruleset: str, equality: Equality, premise: tuple[Path, ...]) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset, equality=equality)
    reasoner.add_triples(triples_of(*premise))
    return reasoner


def check(reasoner: Reasoner, case: Case) -> None:
    """What is entailed is found; nothing is found that is not; and of entailments that rules cannot find, nothing false follows."""
    assert bool(reasoner.inconsistencies()) == (case.kind == INCONSISTENT)
    if case.kind == DOES_NOT_ENTAIL:
        assert case.conclusion is not None
        assert not entails(reasoner, triples_of(case.conclusion))
    if case.kind == ENTAILS and case.level != "cannot":
        assert case.conclusion is not None
        assert entails(reasoner, triples_of(case.conclusion))


def number_of(case: Case) -> int:
    """The same number for all cases that share a premise."""
    return zlib.crc32(" ".join(path.name for path in case.premise).encode())


@pytest.mark.parametrize("equality", ["axioms", pytest.param("rewrite", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.id, marks=[pytest.mark.long] * (number_of(case) % 2)) for case in CASES]
)
def test_by_the_book(case: Case, equality: Equality) -> None:
    check(closure("owl2rl-full", equality, case.premise), case)


@pytest.mark.parametrize(
    "case", thinned([case for case in CASES if f"{case.name} {case.kind}" not in EXCEPTIONS], 2), ids=lambda case: case.id
)
@pytest.mark.sample(2)
def test_by_translation(case: Case) -> None:
    check(closure("owl2rl", "axioms", case.premise), case)


def test_the_suite_is_read_as_a_whole() -> None:
    assert len(CASES) > 200
    assert {f"{case.name} {case.kind}" for case in CASES} >= EXCEPTIONS
    assert {case.level for case in CASES} == {"must", "extension", "cannot"}
