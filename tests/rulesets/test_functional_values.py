"""Values of functional data properties, of restrictions to one value, and of keys: compared by the datatype map."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.terms import IRI, OWL
from tests.helpers.effort import by_effort, thinned
from tests.ontologies.test_owl import triples_in

FIXTURE = Path(__file__).with_name("literals") / "functional.txt"
CASES = [line.partition("=>")[::2] for line in FIXTURE.read_text().splitlines() if "=>" in line]

AXIOMS = {
    "functional": ":p a owl:FunctionalProperty .",
    "at most one": ":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 1 ] .",
    "at most one of a range": """
        :C rdfs:subClassOf [ owl:onProperty :p ; owl:maxQualifiedCardinality 1 ; owl:onDataRange rdfs:Literal ] .
    """,
    "exactly one": ":C rdfs:subClassOf [ owl:onProperty :p ; owl:cardinality 1 ] .",
}


def reasoner_with(turtle: str, ruleset: str, equality: Equality = "axioms") -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset, equality=equality)
    reasoner.add_triples(triples_in(turtle))
    return reasoner


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@pytest.mark.sample(4)
def test_functional_data_properties(ruleset: str, equality: Equality) -> None:
    """Exactly the different ones are contradictions, once each."""
    for pair, verdict in CASES[:: by_effort(8, 1, 1)]:
        reasoner = reasoner_with(f":p a owl:FunctionalProperty, owl:DatatypeProperty . :a :p {pair} .", ruleset, equality)
        assert len(reasoner.inconsistencies()) == (verdict.strip() == "different"), pair


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@pytest.mark.parametrize("axiom", thinned(AXIOMS, 2))
@pytest.mark.parametrize("declared", ["", ":p a owl:DatatypeProperty ."])
@pytest.mark.sample(4)
def test_other_ways_to_have_one_value(axiom: str, declared: str, ruleset: str) -> None:
    for values, consistent in (('"a", "b"@en', False), ("true, 5", False), ('5, "05"^^xsd:byte', True), ('"a"^^:t, "b"^^:t', True)):
        reasoner = reasoner_with(f"{AXIOMS[axiom]} {declared} :a a :C ; :p {values} . :b a :C ; :p 7 .", ruleset)
        assert reasoner.is_consistent() == consistent, values


@pytest.mark.parametrize("ruleset", ["owl2rl", pytest.param("owl2rl-full", marks=pytest.mark.long)])
@pytest.mark.parametrize("axiom", [":C owl:hasKey (:p :q) .", ":C owl:hasKey (:p) .", ":p a owl:InverseFunctionalProperty ."])
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("5", '"05"^^xsd:byte', True),
        ("5", "5.0", True),
        ("5", "5.0e0", False),
        ('"a"', '"a"^^xsd:token', True),
        ('"a"@en', '"a"', False),
        ('"a"^^:t', '"a"^^:t', True),
        ('"a"^^:t', '"b"^^:t', False),
    ],
)
@pytest.mark.sample(2)
def test_what_identifies_is_compared_by_value(axiom: str, one: str, other: str, same: bool, ruleset: str) -> None:
    data = (
        f"{axiom} :p a owl:DatatypeProperty . :q a owl:DatatypeProperty . :a a :C ; :p {one} ; :q 1 . :b a :C ; :p {other} ; :q 1 ."
    )
    reasoner = reasoner_with(data, ruleset)
    a, b = IRI("http://example.org/a"), IRI("http://example.org/b")
    assert bool(list(reasoner.triples(a, OWL.sameAs, b))) == same
    reasoner.remove_triples(triples_in(f":b :p {other} ."))
    assert not list(reasoner.triples(a, OWL.sameAs, b))
