"""`owl2rl` and `owl2rl-full` on the engine say the same about named individuals, classes and properties; the oracle agrees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import rulesets
from kg_reasoner.program import FALSE, TRIPLE
from kg_reasoner.reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Namespace, Term, Triple, literal

from .oracle import evaluate
from .test_owl import ontologies, some_data, visible
from .test_rulesets import with_literals

EX = Namespace("http://example.org/")
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


THINGS: list[Term] = [EX.a, EX.b, BlankNode("n"), RDF._7, RDFS.Datatype, XSD.byte, XSD.string, RDF.first]
LITERALS: list[Term] = [literal(1), Literal("01", XSD.byte.value), literal(1.0), literal("1"), Literal("x", XSD.int.value)]
PROPERTIES: list[Term] = [EX.p, RDF.type, RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range, OWL.sameAs]
vocabulary_and_literals = st.lists(
    st.tuples(st.sampled_from(THINGS), st.sampled_from(PROPERTIES), st.sampled_from([*THINGS, EX.p, *LITERALS])), max_size=6
)


@pytest.mark.parametrize("ruleset", ["rdfs-full", "owl2rl-full"])
@settings(max_examples=15, deadline=None)
@given(vocabulary_and_literals)
def test_vocabulary_and_literals(ruleset: str, triples: list[Triple]) -> None:
    """All that the rules by the book derive of data that speak of the vocabulary itself, and whether they are inconsistent."""
    oracle = evaluate(rulesets.load(ruleset).program, with_literals(set(triples)))
    reasoner = Reasoner(ruleset=ruleset, show_hidden=True)
    reasoner.add_triples(triples)
    expected = {row for row in oracle[TRIPLE] if isinstance(row[1], IRI) and not isinstance(row[0], Literal)}
    assert set(reasoner.triples()) == expected
    assert bool(reasoner.inconsistencies()) == (FALSE in oracle)


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
