"""Entailment of graphs: blank nodes, values of literals, and what is no RDF."""

from __future__ import annotations

import pytest

from kg_reasoner.api.entailment import bindings, entails
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import UnknownNameError
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Triple, literal


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


A, B, P, Q = map(ex, "abpq")
X, Y = BlankNode("x"), BlankNode("y")


def reasoner_with(*triples: Triple, ruleset: str | None = None) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.add_triples(triples)
    return reasoner


def test_blank_nodes_stand_for_something() -> None:
    reasoner = reasoner_with((A, P, B), (B, Q, A), (Y, P, literal("z")))
    assert entails(reasoner, [(X, P, Y), (Y, Q, X)])
    assert not entails(reasoner, [(X, P, Y), (Y, P, X)])
    assert entails(reasoner, [(X, P, B), (Y, Q, A), (A, P, B)])
    assert not entails(reasoner, [(X, P, B), (Y, Q, B)])
    assert list(bindings(reasoner, [(X, P, Y), (Y, Q, X)])) == [{X: A, Y: B}]
    assert entails(reasoner, [(X, P, X)]) is False
    assert len(list(bindings(reasoner, [(X, P, Y)]))) == 2
    assert len(list(bindings(reasoner, [(X, P, B), (Y, Q, A)]))) == 1


def test_graphs_without_blank_nodes() -> None:
    reasoner = reasoner_with((A, P, B))
    assert entails(reasoner, [])
    assert list(bindings(reasoner, [])) == [{}]
    assert list(bindings(reasoner, [(A, P, B)])) == [{}]
    assert not entails(reasoner, [(A, P, B), (A, P, ex("unknown"))])
    assert list(bindings(reasoner, [(A, P, ex("unknown"))])) == []


@pytest.mark.parametrize(
    ("written", "asked", "follows"),
    [
        (Literal("1", XSD.int.value), Literal("01", XSD.integer.value), True),
        (Literal("1", XSD.int.value), Literal("1.0", XSD.decimal.value), True),
        (Literal("1", XSD.int.value), Literal("1.0", XSD.double.value), False),
        (Literal("a"), Literal("a", XSD.token.value), True),
        (Literal("a"), Literal("a", RDF.langString.value, "en"), False),
        (Literal("1/2", OWL.rational.value), Literal("1/2", OWL.rational.value), True),
        (Literal("1/2", OWL.rational.value), Literal("2/4", OWL.rational.value), False),
        (Literal("x", XSD.int.value), Literal("x", XSD.int.value), True),
        (Literal("x", XSD.int.value), Literal("x", XSD.integer.value), False),
    ],
)
def test_literals_stand_for_their_values(written: Literal, asked: Literal, follows: bool) -> None:
    reasoner = reasoner_with((A, P, written), (B, P, literal("other")))
    assert entails(reasoner, [(A, P, asked)]) == follows
    assert [binding[X] for binding in bindings(reasoner, [(X, P, asked)])] == ([A] if follows else [])
    assert set(reasoner.triples(A)) == {(A, P, written)}  # asking changes nothing


def test_a_value_in_two_places_may_be_written_in_two_ways() -> None:
    reasoner = reasoner_with((A, P, Literal("1", XSD.int.value)), (B, Q, Literal("01", XSD.integer.value)))
    one = literal(1)
    assert entails(reasoner, [(A, P, one), (B, Q, one)])
    assert not entails(reasoner, [(A, P, one), (B, P, one)])


def test_datatypes_that_are_not_recognised() -> None:
    reasoner = Reasoner(datatypes=[XSD.decimal.value])
    reasoner.add_triples([(A, P, Literal("1", XSD.int.value)), (B, P, Literal("1.0", XSD.decimal.value))])
    assert entails(reasoner, [(B, P, Literal("1.00", XSD.decimal.value))])
    assert not entails(reasoner, [(A, P, Literal("01", XSD.int.value))])
    assert not entails(reasoner, [(A, P, Literal("1", XSD.decimal.value))])
    assert XSD.string.value in reasoner.datatypes
    with pytest.raises(UnknownNameError, match=r"unknown datatype 'http://example\.org/int'"):
        Reasoner(datatypes=["http://example.org/int"])


def test_recognised_datatypes_decide_what_is_inconsistent() -> None:
    ill_typed = (A, P, Literal("flop", XSD.integer.value))
    for datatypes, count in ((None, 1), ([XSD.integer.value], 1), ([XSD.decimal.value], 0), ([], 0)):
        reasoner = Reasoner(ruleset="rdfs-full", datatypes=datatypes)
        reasoner.add_triples([ill_typed])
        assert len(reasoner.inconsistencies()) == count
        assert entails(reasoner, [(XSD.integer, RDF.type, RDFS.Datatype)]) == (datatypes is None or XSD.integer.value in datatypes)


def test_facts_that_are_not_rdf_triples_count() -> None:
    reasoner = reasoner_with((A, P, literal(5)), ruleset="rdfs-full")
    assert entails(reasoner, [(A, P, X), (X, RDF.type, XSD.decimal)])
    assert not entails(reasoner, [(A, P, X), (X, RDF.type, XSD.string)])
    assert list(bindings(reasoner, [(A, P, X), (X, RDF.type, XSD.decimal)])) == [{X: literal(5)}]


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
def test_hidden_triples_count(ruleset: str) -> None:
    reasoner = reasoner_with((A, P, B), (P, RDFS.domain, Y), (Y, RDFS.subClassOf, ex("C")), ruleset=ruleset)
    assert entails(reasoner, [(A, OWL.sameAs, A), (A, RDF.type, ex("C"))])
    assert not entails(reasoner, [(A, OWL.sameAs, B)])


def test_container_membership_properties_that_only_the_conclusion_speaks_of() -> None:
    reasoner = reasoner_with((A, RDF._3, B), ruleset="rdfs-full")
    assert entails(reasoner, [(A, RDFS.member, B), (RDF._17, RDF.type, RDFS.ContainerMembershipProperty)])
    assert entails(reasoner, [(RDF._18, RDFS.subPropertyOf, RDFS.member)])
    assert not entails(reasoner, [(RDF._03, RDF.type, RDFS.ContainerMembershipProperty)])
    assert not entails(reasoner, [(A, RDF._17, B)])
