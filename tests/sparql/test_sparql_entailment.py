"""The W3C's tests of SPARQL 1.1 Entailment Regimes: RDF, RDFS, and OWL 2 RDF-Based where the data are within the RL profile."""

from __future__ import annotations

import pytest

from benchmarks.conformance.answers import is_expected
from benchmarks.conformance.cases import OWL, Case, cases, triples_of
from kg_reasoner.api.reasoner import Reasoner
from tests.helpers.effort import thinned
from tests.helpers.suites import needs_suite

CASES = cases("sparql-entailment")
RULESETS = {"RDF": "rdfs-full", "RDFS": "rdfs-full", OWL: "owl2rl-full"}

pytestmark = needs_suite("sparql-entailment")


def check(ruleset: str, case: Case) -> None:
    assert case.query is not None
    assert case.conclusion is not None
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.add_triples(triples_of(*case.premise))
    assert is_expected(reasoner, case.query, case.conclusion)


@pytest.mark.parametrize("case", thinned(CASES, 3), ids=lambda case: case.id)
@pytest.mark.sample(2)
def test_an_entailment_regime_has_the_answers_of_the_w3c(case: Case) -> None:
    check(RULESETS[case.regime], case)


@pytest.mark.parametrize("case", [case for case in CASES if case.regime == OWL], ids=lambda case: case.id)
@pytest.mark.sample(2)
def test_the_regime_of_owl_by_translation(case: Case) -> None:
    check("owl2rl", case)
