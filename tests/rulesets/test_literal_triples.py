"""The types and differences of literals: what follows by the book, whoever asks, and what is not derived unless it can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_reasoner.api.entailment import entails
from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.query.literal_triples import LiteralTriples
from kg_reasoner.rdflib_store import graph_of
from kg_reasoner.terms import IRI, OWL, RDF, XSD, BlankNode, Literal, Term, literal
from tests.helpers.effort import thinned
from tests.helpers.fixtures import blocks
from tests.ontologies.test_owl import triples_in

FIXTURE = Path(__file__).with_name("literals") / "entailed.txt"
PREFIXES = """
    @prefix : <http://example.org/> .
"""


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


def cases() -> list[object]:
    found = []
    for title, text in blocks(FIXTURE):
        premise, _, rest = text.partition("\n=>\n")
        follows, _, others = rest.partition("\n=/>\n")
        assert follows.strip(), title
        assert others.strip(), title
        found.append(pytest.param(premise, follows, others, id=title))
    return found


@pytest.mark.parametrize("equality", ["axioms", "rewrite"])
@pytest.mark.parametrize(("premise", "follows", "others"), thinned(cases(), 3))
@pytest.mark.sample(4)
def test_entailed_by_the_book(premise: str, follows: str, others: str, equality: Equality) -> None:
    reasoner = Reasoner(ruleset="owl2rl-full", equality=equality)
    reasoner.add_triples(triples_in(premise))
    assert reasoner.is_consistent()
    for line in follows.strip().splitlines():
        assert entails(reasoner, triples_in(line)), line
    for line in others.strip().splitlines():
        assert not entails(reasoner, triples_in(line)), line


def reasoner_with(turtle: str, program: str = "", ruleset: str = "owl2rl-full") -> Reasoner:
    reasoner = Reasoner(f"{PREFIXES}{program}", ruleset=ruleset)
    reasoner.add_triples(triples_in(turtle))
    return reasoner


VALUES = ":Number owl:sameAs xsd:integer . :v owl:sameAs 42 . :w owl:sameAs 3.141 . :a :age 5 . :b :age 6 ."


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("found(?x) :- :age[?x, ?n], xsd:byte[?n] .", {"a", "b"}),
        ("found(?x) :- :age[?x, ?n], [?n, rdf:type, ?c], :wanted[?c] . :wanted[xsd:short] .", {"a", "b"}),
        ("found(?x) :- :age[?x, ?n], [?n, ?p, xsd:short] .", {"a", "b"}),
        ("found(?x) :- :age[?x, ?n], NOT xsd:string[?n] .", {"a", "b"}),
        ("found(?x) :- :age[?x, ?n], NOT xsd:byte[?n] .", set()),
        ("found(?x) :- :age[?x, ?n], xsd:string[?n] .", set()),
        ("found(?x) :- AGGREGATE(:age[?x, ?n], xsd:integer[?n] ON ?x BIND COUNT(?n) AS ?c), FILTER(?c = 1) .", {"a", "b"}),
        ("found(?x) :- :age[?x, ?n], owl:differentFrom[?n, 6] .", {"a"}),
        ("found(?x) :- :age[?x, ?n], :age[?y, ?m], owl:differentFrom[?n, ?m] .", {"a", "b"}),
        ("found(?x) :- :age[?x, ?n], :Number[?n] .", {"a", "b"}),
        ("found(?x) :- owl:differentFrom[?x, 5], FILTER(isIRI(?x)) .", {"v", "w"}),
        ("found(?x) :- [?x, rdf:type, xsd:decimal], FILTER(isIRI(?x)) .", {"v", "w"}),
    ],
)
@pytest.mark.sample(4)
def test_rules_of_users_see_what_the_book_has(rule: str, expected: set[str]) -> None:
    reasoner = reasoner_with(VALUES, rule)
    assert {subject for (subject,) in reasoner.facts("found")} == set(map(ex, expected))


def test_a_rule_that_comes_and_goes_asks_and_no_longer_asks() -> None:
    reasoner = reasoner_with(VALUES)
    reasoner.materialise()
    before = len(reasoner.engine.base.triples())
    reasoner.add_program(f"{PREFIXES} :Found[?x] :- :age[?x, ?n], xsd:byte[?n] .")
    with reasoner.transaction() as transaction:
        transaction.add_triples(triples_in(":c :age 7 ."))
    assert (ex("c"), RDF.type, ex("Found")) in set(transaction.delta.added.facts("[]"))
    assert len(list(reasoner.triples(None, RDF.type, ex("Found")))) == 3
    reasoner.remove_triples(triples_in(":c :age 7 ."))
    reasoner.remove_rules([rule for rule in reasoner.rules if rule.origin.name is None])
    reasoner.materialise()
    assert len(reasoner.engine.base.triples()) == before


def test_what_nobody_asks_for_is_not_derived() -> None:
    """A thousand literals with a thousand values have types and differences by the million; none of them is stored."""
    reasoner = reasoner_with("".join(f":a{number} :p {number} ." for number in range(1000)))
    reasoner.materialise()
    assert len(reasoner.engine.base.triples()) < 5_000
    assert list(reasoner.triples(None, OWL.differentFrom)) == []
    assert entails(reasoner, [(ex("a7"), ex("p"), BlankNode("n")), (BlankNode("n"), OWL.differentFrom, literal(8))])


def test_queries_see_differences_and_nothing_with_a_literal_subject() -> None:
    reasoner = reasoner_with(VALUES)
    five = literal(5)
    assert {s for s, *_ in reasoner.triples(None, OWL.differentFrom, five)} == {ex("v"), ex("w")}
    assert list(reasoner.triples(five, OWL.differentFrom)) == []
    assert {o for *_, o in reasoner.triples(ex("v"), OWL.differentFrom)} == {
        ex("w"),
        Literal("3.141", XSD.decimal.value),
        five,
        literal(6),
    }
    assert list(reasoner.triples(ex("v"), OWL.differentFrom, five, which="explicit")) == []
    assert list(reasoner.triples(None, RDF.type, XSD.integer)) == [(ex("v"), RDF.type, XSD.integer)]
    graph = graph_of(reasoner)
    rows = graph.query("SELECT ?x ?n { ?x owl:differentFrom ?n . ?y <http://example.org/age> ?n }")
    assert {(str(x), int(n)) for x, n in rows} == {(ex(name).value, n) for name in "vw" for n in (5, 6)}
    assert not graph.query("ASK { <http://example.org/a> owl:differentFrom ?n }").askAnswer


def test_explicit_differences_are_not_inferred() -> None:
    reasoner = reasoner_with(f"{VALUES} :v owl:differentFrom 5 .")
    explicit = (ex("v"), OWL.differentFrom, literal(5))
    assert list(reasoner.triples(*explicit)) == [explicit]
    assert list(reasoner.triples(*explicit, which="inferred")) == []
    assert explicit not in set(reasoner.triples(ex("v"), OWL.differentFrom, which="inferred"))
    assert explicit in set(reasoner.triples(ex("v"), OWL.differentFrom))


def test_too_many_differences_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kg_reasoner.query.literal_triples._MOST", 3)
    reasoner = reasoner_with(VALUES)
    with pytest.raises(UnsupportedError, match="too many to list"):
        entails(reasoner, [(BlankNode("n"), OWL.differentFrom, BlankNode("m"))])


def test_other_rule_sets_have_none_of_it() -> None:
    for ruleset in ("owl2rl", "rdfs-full"):
        reasoner = reasoner_with(VALUES, ruleset=ruleset)
        assert not entails(reasoner, [(ex("v"), OWL.differentFrom, ex("w"))])
        assert not LiteralTriples(reasoner.engine.catalog, reasoner.core.queries.matcher).covers(
            reasoner.dictionary.find(OWL.differentFrom)
        )


def test_resources_without_a_value_differ_from_nothing() -> None:
    reasoner = reasoner_with(":v owl:sameAs 'x'^^:unknown . :w owl:sameAs 5 .")
    values: list[Term] = [ex("v"), Literal("x", ex("unknown").value)]
    assert not any(entails(reasoner, [(ex("w"), OWL.differentFrom, value)]) for value in values)
