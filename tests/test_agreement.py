"""`owl2rl` and `owl2rl-full` on the engine say the same about named individuals, classes and properties; the oracle agrees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from kg_reasoner import rulesets
from kg_reasoner.program import TRIPLE
from kg_reasoner.reasoner import Reasoner
from kg_reasoner.terms import OWL, RDF, Literal, Triple

from .oracle import evaluate
from .test_owl import ontologies, some_data, visible

LUBM = Path(__file__).parents[2] / "shared" / "suites" / "lubm"


def materialised(ruleset: str, triples: list[Triple]) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.add_triples(triple for triple in triples if not isinstance(triple[0], Literal))
    return reasoner


@settings(max_examples=60, deadline=None)
@given(ontologies, some_data)
def test_random_ontologies(ontology: list[Triple], facts: list[Triple]) -> None:
    triples = [triple for triple in ontology + facts if not isinstance(triple[0], Literal)]
    oracle = evaluate(rulesets.load("owl2rl-full").program, {TRIPLE: triples})
    if any(row[1:] == (RDF.type, OWL.Nothing) for row in oracle[TRIPLE]):
        return  # by scm-cls, a member of owl:Nothing is a member of all classes; here that is an inconsistency and no more
    by_axioms = materialised("owl2rl", triples)
    by_the_book = materialised("owl2rl-full", triples)
    assert visible({TRIPLE: set(by_axioms.triples())}) == visible({TRIPLE: set(by_the_book.triples())})
    assert visible({TRIPLE: set(by_the_book.triples())}) == visible(oracle)


@pytest.mark.skipif(not LUBM.is_dir(), reason="the shared suites are not here")
def test_lubm() -> None:
    found = []
    for ruleset in ("owl2rl", "owl2rl-full"):
        reasoner = Reasoner(ruleset=ruleset)
        reasoner.load(LUBM / "lubm1.nt.gz", LUBM / "univ-bench.owl")
        found.append(set(assertions(reasoner)))
    assert found[0] == found[1]
    assert len(found[0]) > 138_000


def assertions(reasoner: Reasoner) -> Iterator[tuple[str, ...]]:
    """The triples with a property, or a type, of the ontology."""
    rows = reasoner.triple_ids().tolist()
    names = reasoner.dictionary.texts()
    for row in rows:
        subject, property, value = (names[term] for term in row)
        if "univ-bench" in property or (property == str(RDF.type) and "univ-bench" in value):
            yield subject, property, value
