"""`owl2rl` and `owl2rl-full` on the engine say the same about named individuals, classes and properties; the oracle agrees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.expressions.given_relations import ASKED_OF
from kg_reasoner.program import FALSE, TRIPLE
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Namespace, Term, Triple, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import Facts, evaluate
from tests.helpers.suites import SUITES, needs_suite
from tests.ontologies.test_owl import Case as OntologyCase
from tests.ontologies.test_owl import cases as ontology_cases
from tests.ontologies.test_owl import ontologies, some_data, triples_in, visible
from tests.rulesets.test_rulesets import with_literals

EX = Namespace("http://example.org/")
LUBM = SUITES / "lubm"


def materialised(ruleset: str, triples: list[Triple]) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.add_triples(triple for triple in triples if not isinstance(triple[0], Literal))
    return reasoner


@settings(max_examples=examples(60))
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
@settings(max_examples=examples(15))
@given(vocabulary_and_literals)
@pytest.mark.sample(2)
def test_vocabulary_and_literals(ruleset: str, triples: list[Triple]) -> None:
    """All that the rules by the book derive of data that speak of the vocabulary itself, and whether they are inconsistent."""
    asked: Facts = {ASKED_OF: {(OWL.sameAs,)}} if ruleset == "owl2rl-full" else {}
    oracle = evaluate(rulesets.load(ruleset).program, with_literals(set(triples)) | asked)
    reasoner = Reasoner(ruleset=ruleset, show_hidden=True)
    reasoner.add_triples(triples)
    expected = {row for row in oracle[TRIPLE] if isinstance(row[1], IRI) and not isinstance(row[0], Literal)}
    assert set(reasoner.triples()) == expected
    assert bool(reasoner.inconsistencies()) == (FALSE in oracle)


DATATYPES = ("properties: PropertyRange: a datatype is", "restrictions: values of a datatype, on the right")
"""Fixtures whose contradictions are the business of datatype rules, which are in ``owl2rl-full`` only."""

ONTOLOGIES = [case for case in ontology_cases() if not str(case.id).startswith("swrl:")]


@pytest.mark.long
@pytest.mark.parametrize("case", [case.values[0] for case in ONTOLOGIES], ids=[case.id for case in ONTOLOGIES])
def test_the_fixtures_of_the_translation(case: OntologyCase, request: pytest.FixtureRequest) -> None:
    """What the README says: the same of what has a name, the same warnings, and the same data are inconsistent."""
    triples = triples_in(case.section("ontology")) + triples_in(case.section("with"))
    by_axioms, by_the_book = materialised("owl2rl", triples), materialised("owl2rl-full", triples)
    if by_the_book.is_consistent():
        assert named(by_axioms) == named(by_the_book)
    assert by_axioms.warnings == by_the_book.warnings
    if not any(name in request.node.name for name in DATATYPES):
        assert by_axioms.is_consistent() == by_the_book.is_consistent()


def named(reasoner: Reasoner) -> set[Triple]:
    """The inferred triples about names of users' own, without those that nothing asks for."""
    return {
        (s, p, o)
        for s, p, o in reasoner.triples(which="inferred")
        if s in EX and (o in EX or isinstance(o, Literal)) and p not in (OWL.topObjectProperty, OWL.topDataProperty)
    }


@pytest.mark.parametrize(
    ("turtle", "asked"),
    [
        (":p rdfs:subPropertyOf owl:topObjectProperty . :a :p :b .", (EX.a, OWL.topObjectProperty, EX.b)),
        (":a owl:sameAs 5 .", (EX.a, RDF.type, XSD.integer)),
        (":C owl:onProperty :p ; owl:hasValue '01'^^xsd:int . :a :p 1 .", (EX.a, RDF.type, EX.C)),
    ],
)
def test_where_the_rule_sets_differ(turtle: str, asked: Triple) -> None:
    """The differences that the README names: only the book has them."""
    triples = triples_in(turtle)
    assert not list(materialised("owl2rl", triples).triples(*asked))
    assert list(materialised("owl2rl-full", triples).triples(*asked))


@pytest.mark.long
@needs_suite("lubm")
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
