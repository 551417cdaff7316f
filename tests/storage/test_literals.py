"""The facts that the engine gives by itself, as terms come."""

from __future__ import annotations

import numpy as np
import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.expressions.datatypes import DATATYPES, described, described_tagged
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.literals import VALUES, LiteralFacts
from kg_reasoner.terms import IRI, RDF, RDFS, XSD, Literal, Term, literal

Facts = dict[str, set[tuple[Term, ...]]]


def facts_about(*terms: Term, source: LiteralFacts | None = None, dictionary: Dictionary | None = None) -> Facts:
    dictionary = Dictionary() if dictionary is None else dictionary
    for term in terms:
        dictionary.encode(term)
    given = (source or LiteralFacts(dictionary)).new()
    return {name: {tuple(map(dictionary.decode, row)) for row in rows} for name, rows in given.items()}


def test_facts_about_datatypes() -> None:
    facts = facts_about()
    assert facts["recognised_datatype"] == {(IRI(name),) for name in DATATYPES - {RDFS.Literal.value}}
    assert (XSD.byte, XSD.float) in facts["disjoint_datatypes"]
    assert {name: len(next(iter(rows))) for name, rows in facts.items() if rows} == {
        "recognised_datatype": 1,
        "disjoint_datatypes": 2,
    }


def test_facts_about_literals() -> None:
    one, same, ill, unknown = literal(1), Literal("01", XSD.byte.value), Literal("x", XSD.int.value), Literal("x", "urn:x")
    facts = facts_about(one, same, ill, unknown)
    assert set(facts) == set(LITERAL_PREDICATES)
    assert facts["ill_typed"] == {(ill,)}
    values = dict(facts["literal_value"])
    assert set(values) == {one, same}
    assert values[one] == values[same]
    assert str(values[one]).startswith(f"<{VALUES}")
    assert {(one, XSD.integer), (same, XSD.unsignedLong), (one, RDFS.Literal)} <= facts["literal_type"]
    assert not {datatype for term, datatype in facts["literal_type"] if term in (ill, unknown)}


def test_facts_about_literals_with_language_tags() -> None:
    one, other = Literal("a@b", RDF.langString.value, "en-gb"), Literal("a", RDF.langString.value, "en-gb")
    escaped = Literal('a"@de', RDF.langString.value, "en-gb")
    facts = facts_about(one, other, escaped)
    assert facts["literal_type"] == {
        (term, datatype) for term in (one, other, escaped) for datatype in (RDFS.Literal, RDF.PlainLiteral, RDF.langString)
    }
    assert len(set(dict(facts["literal_value"]).values())) == 3
    assert not facts["ill_typed"]


@pytest.mark.parametrize("recognised", [DATATYPES, DATATYPES - {RDF.PlainLiteral.value}])
@pytest.mark.parametrize("text", ["", "a b", "A"])
def test_quick_descriptions_are_those_of_the_map(text: str, recognised: frozenset[str]) -> None:
    tagged = Literal(text, RDF.langString.value, "en-gb")
    found, expected = described_tagged(text, "en-GB", recognised), described(tagged, recognised)
    assert found is not None and expected is not None
    assert (found[0], sorted(found[1])) == (expected[0], sorted(expected[1]))


def test_terms_that_come_later() -> None:
    dictionary = Dictionary()
    source = LiteralFacts(dictionary)
    first = facts_about(literal(1), RDF._1, source=source, dictionary=dictionary)
    second = facts_about(Literal("1.0", XSD.decimal.value), literal(2), RDF._2, source=source, dictionary=dictionary)
    assert dict(first["literal_value"])[literal(1)] == dict(second["literal_value"])[Literal("1.0", XSD.decimal.value)]
    assert set(dict(second["literal_value"])) == {Literal("1.0", XSD.decimal.value), literal(2)}
    assert (first["container_membership_property"], second["container_membership_property"]) == ({(RDF._1,)}, {(RDF._2,)})
    assert not any(facts_about(source=source, dictionary=dictionary).values())


def test_predicates_that_are_asked_for_later() -> None:
    dictionary = Dictionary()
    source = LiteralFacts(dictionary)
    one, two, ill = literal(1), literal("two"), Literal("x", XSD.int.value)
    ids = [dictionary.encode(term) for term in (one, two)]
    assert {number for number, _ in source.new([("literal_type", None)])["literal_type"].tolist()} == set(ids)
    ill_id = dictionary.encode(ill)
    known = len(dictionary)
    later = source.new([("literal_type", None), ("ill_typed", None), ("recognised_datatype", None)])
    assert len(dictionary) == known  # no values
    assert (later["literal_type"].tolist(), later["ill_typed"].tolist()) == ([], [[ill_id]])
    assert len(later["recognised_datatype"]) == len(DATATYPES - {RDFS.Literal.value})
    assert source.new([("ill_typed", None)]) == {}
    assert [number for number, _ in source.new([("literal_value", None), ("ill_typed", None)])["literal_value"].tolist()] == ids[
        ::-1
    ]


def test_types_that_are_asked_for_one_by_one() -> None:
    """A literal has many types, of which rules ask for few."""
    dictionary = Dictionary()
    source = LiteralFacts(dictionary)
    texts = [dictionary.encode(term) for term in (literal("one"), literal("t w o"), Literal("a", RDF.langString.value, "en"))]
    one = dictionary.encode(literal(1))

    def asked(*datatypes: IRI | None) -> set[tuple[int, Term]]:
        found = source.new([("literal_type", None if datatype is None else datatype.value) for datatype in datatypes])
        return {(number, dictionary.decode(datatype)) for number, datatype in found.get("literal_type", np.empty((0, 2))).tolist()}

    assert asked(XSD.string, XSD.integer) == {(texts[0], XSD.string), (texts[1], XSD.string), (one, XSD.integer)}
    assert asked(XSD.string) == set()
    assert asked(XSD.Name) == {(texts[0], XSD.Name)}
    three = dictionary.encode(literal("three"))
    assert asked(XSD.string, IRI("urn:unknown")) == {(three, XSD.string)}
    everything = asked(None)
    assert {(texts[0], XSD.Name), (texts[2], RDF.langString), (one, RDFS.Literal), (three, XSD.Name)} <= everything
    dictionary.encode(literal(2))
    assert len(asked(XSD.string, None)) > 10
    assert asked(XSD.byte) == set()


def test_rules_that_ask_for_another_type_later() -> None:
    rule = "[?x, rdf:type, <urn:{0}>] :- [?x, <urn:p>, ?y], literal_type(?y, xsd:{0}) .".format
    reasoner = Reasoner(rule("string"))
    one, text = IRI("urn:1"), IRI("urn:text")
    reasoner.add_triples([(one, IRI("urn:p"), literal(1)), (text, IRI("urn:p"), literal("text"))])
    assert set(reasoner.triples(None, RDF.type)) == {(text, RDF.type, IRI("urn:string"))}
    reasoner.add_program(rule("integer"))
    assert set(reasoner.triples(None, RDF.type, IRI("urn:integer"))) == {(one, RDF.type, IRI("urn:integer"))}
    reasoner.add_program("types(?y, ?t) :- [?x, <urn:p>, ?y], literal_type(?y, ?t) .")
    assert {(literal("text"), XSD.token), (literal(1), XSD.integer)} <= set(reasoner.facts("types"))


def test_what_is_not_a_container_membership_property() -> None:
    names = ("_0", "_01", "_", "_x", "_1x", "_1_2", "first")
    assert not facts_about(*(RDF[name] for name in names), literal(str(RDF._1)))["container_membership_property"]


def test_a_literal_that_is_gone_and_comes_back() -> None:
    """Facts about it stay; what is concluded from them depends on whether something speaks of it."""
    reasoner = Reasoner(ruleset="rdfs-full")
    a, b, p = (IRI(f"http://example.org/{name}") for name in "abp")
    one, same = literal(1), Literal("01", XSD.byte.value)
    reasoner.add_triples([(a, p, one), (b, p, same)])
    assert set(reasoner.triples(a, p)) == {(a, p, one), (a, p, same)}
    reasoner.remove_triples([(b, p, same)])
    assert set(reasoner.triples(a, p)) == {(a, p, one)}
    reasoner.add_triples([(b, p, same)])
    assert set(reasoner.triples(a, p)) == {(a, p, one), (a, p, same)}


@pytest.mark.parametrize("ruleset", ["rdfs-full", "owl2rl-full"])
def test_literals_that_only_rules_speak_of(ruleset: str) -> None:
    reasoner = Reasoner("unused(1) .", ruleset=ruleset)
    a, p = IRI("http://example.org/a"), IRI("http://example.org/p")
    reasoner.add_triples([(a, p, Literal("01", XSD.byte.value)), (p, RDFS.range, XSD.byte)])
    assert set(reasoner.triples(a, p)) == {(a, p, Literal("01", XSD.byte.value))}
