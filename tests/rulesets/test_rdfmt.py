"""The W3C's tests of RDF 1.1 Semantics, by ``rdfs-full``. What RDF entails without RDFS, that rule set entails, too."""

from __future__ import annotations

import pytest

from benchmarks.conformance.cases import CONSISTENT, ENTAILS, INCONSISTENT, Case, cases, triples_of
from kg_reasoner.api.entailment import entails
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.expressions.datatypes import DATATYPES
from tests.helpers.suites import needs_suite

CASES = cases("rdfmt")

LEFT_OPEN: dict[str, str] = {}
"""Tests whose outcome RDF 1.1 leaves to the system, and why. Of those that are here there is none: each names the datatypes to be
recognised; language tags have no case in the value space; an ill-typed literal is inconsistent if its datatype is recognised."""

pytestmark = needs_suite("rdfmt")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.sample(2)
def test_rdf_semantics(case: Case) -> None:
    if case.name in LEFT_OPEN:
        pytest.skip(LEFT_OPEN[case.name])
    assert case.datatypes is not None
    assert case.datatypes <= DATATYPES
    reasoner = Reasoner(ruleset=None if case.regime == "simple" else "rdfs-full", datatypes=case.datatypes)
    reasoner.add_triples(triples_of(*case.premise))
    assert bool(reasoner.inconsistencies()) == (case.kind == INCONSISTENT)
    if case.kind not in (CONSISTENT, INCONSISTENT):
        assert case.conclusion is not None
        assert entails(reasoner, triples_of(case.conclusion)) == (case.kind == ENTAILS)
