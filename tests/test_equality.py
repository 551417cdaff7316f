"""Equality by rewriting against equality by axioms: the same facts, changes and constraints, whatever comes and goes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.maintenance import STRATEGIES
from kg_reasoner.reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Triple, literal


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


A, B, C, D, P, Q, F, G, K, M, R = map(ex, ["A", "B", "C", "D", "p", "q", "f", "g", "k", "m", "r"])
PEOPLE = [ex(name) for name in ("ann", "bob", "cat", "dan", "eve")]
NIL, CELL, RESTRICTION = RDF.nil, BlankNode("cell"), BlankNode("restriction")

ONTOLOGY: list[Triple] = [
    (F, RDF.type, OWL.FunctionalProperty),
    (G, RDF.type, OWL.InverseFunctionalProperty),
    (P, RDFS.subPropertyOf, Q),
    (A, RDFS.subClassOf, B),
    (D, OWL.hasKey, CELL),
    (CELL, RDF.first, K),
    (CELL, RDF.rest, NIL),
    (C, RDFS.subClassOf, RESTRICTION),
    (RESTRICTION, RDF.type, OWL.Restriction),
    (RESTRICTION, OWL.onProperty, M),
    (RESTRICTION, OWL.maxCardinality, literal(1)),
    (Q, RDFS.domain, A),
    (R, RDF.type, OWL.TransitiveProperty),
]
"""Functional and inverse functional properties, a key, and a maximal cardinality: all of them merge."""

people = st.sampled_from(PEOPLE)
assertions = st.one_of(
    st.tuples(people, st.just(OWL.sameAs), people),
    st.tuples(people, st.sampled_from([P, Q, F, G, K, M, R]), people),
    st.tuples(people, st.sampled_from([K, F]), st.sampled_from([literal("x"), literal("y")])),
    st.tuples(people, st.just(RDF.type), st.sampled_from([A, B, C, D])),
    st.tuples(people, st.just(OWL.differentFrom), people),
)
about_names = st.one_of(
    st.tuples(st.sampled_from([P, Q, F]), st.just(OWL.sameAs), st.sampled_from([P, G, R, *PEOPLE[:2]])),
    st.tuples(st.sampled_from([A, B, C]), st.just(OWL.sameAs), st.sampled_from([B, D, *PEOPLE[:2]])),
    st.sampled_from(ONTOLOGY),
)
steps = st.lists(st.tuples(st.sets(assertions, max_size=5), st.sets(assertions, max_size=4)), max_size=5)
steps_with_names = st.lists(
    st.tuples(st.sets(st.one_of(assertions, about_names), max_size=5), st.sets(st.one_of(assertions, about_names), max_size=4)),
    max_size=4,
)

Steps = list[tuple[set[Triple], set[Triple]]]


def visible(triples: Iterable[Triple]) -> set[Triple]:
    """What is of interest: not that things equal themselves."""
    return {triple for triple in triples if not (triple[1] == OWL.sameAs and triple[0] == triple[2])}


def both(ruleset: str, maintenance: str) -> tuple[Reasoner, Reasoner]:
    by_axioms = Reasoner(ruleset=ruleset)
    by_rewriting = Reasoner(ruleset=ruleset, equality="rewrite", maintenance=maintenance)
    for reasoner in (by_axioms, by_rewriting):
        reasoner.add_triples(ONTOLOGY)
    return by_axioms, by_rewriting


def agree(by_axioms: Reasoner, by_rewriting: Reasoner) -> None:
    assert visible(by_rewriting.triples()) == visible(by_axioms.triples())
    assert set(by_rewriting.triples(which="explicit")) == set(by_axioms.triples(which="explicit"))
    assert bool(by_rewriting.inconsistencies()) == bool(by_axioms.inconsistencies())
    for property in (OWL.sameAs, P, RDF.type):
        assert visible(by_rewriting.triples(None, property)) == visible(by_axioms.triples(None, property))
    person = PEOPLE[0]
    for which in ("all", "explicit", "inferred"):
        assert visible(by_rewriting.triples(person, which=which)) == visible(by_axioms.triples(person, which=which))


def follow(reasoners: tuple[Reasoner, Reasoner], history: Steps) -> None:
    """Take some steps, and compare facts and changes after each; then undo the last one."""
    agree(*reasoners)
    for removed, added in history:
        changes = []
        for reasoner in reasoners:
            with reasoner.transaction() as transaction:
                transaction.remove_triples(removed)
                transaction.add_triples(added)
            delta = transaction.delta
            parts = (delta.added, delta.removed, delta.restated)
            changes.append([visible(part.triples(which)) for part in parts for which in ("explicit", "inferred")])
        agree(*reasoners)
        assert changes[1] == changes[0]
        for reasoner in reasoners:
            transaction = reasoner.transaction().begin()
            transaction.remove_triples(added)
            transaction.add_triples(removed)
            transaction.rollback()
        agree(*reasoners)


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@settings(max_examples=60, deadline=None)
@given(steps, st.sampled_from(sorted(STRATEGIES)))
def test_rewriting_and_axioms_agree(ruleset: str, history: Steps, maintenance: str) -> None:
    follow(both(ruleset, maintenance), history)


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@settings(max_examples=30, deadline=None)
@given(steps_with_names, st.sampled_from(sorted(STRATEGIES)))
def test_names_of_the_ontology_may_be_equal_too(ruleset: str, history: Steps, maintenance: str) -> None:
    follow(both(ruleset, maintenance), history)
