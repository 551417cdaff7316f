"""Anonymous classes that nothing asks for are left out of the translation, and that changes no rule."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.loaders.ontology import dlp, owl
from kg_reasoner.loaders.ontology.idle_nodes import without_idle_nodes
from kg_reasoner.loaders.ontology.ontology import read_ontology
from kg_reasoner.loaders.ontology.restriction_hierarchy import NO_LINKS, RestrictionHierarchy
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Term, Triple, literal
from tests.helpers.effort import PHASES, examples
from tests.helpers.random_ontologies import ontology

CLASSES: list[Term] = [IRI(f"http://a.org/{name}") for name in "ABC"]
PROPERTIES: list[Term] = [IRI(f"http://a.org/{name}") for name in "pq"]
NODES: list[Term] = [BlankNode(f"n{number}") for number in range(4)]
ANY = [*CLASSES, *NODES, *NODES, OWL.Thing, XSD.integer]


def _expression(node: Term, kind: Term, property: Term, first: Term, second: Term) -> list[Triple]:
    if kind in (OWL.unionOf, OWL.intersectionOf, OWL.oneOf):
        cells = BlankNode(f"{node}c".strip("_:")), BlankNode(f"{node}d".strip("_:"))
        links: list[Triple] = [(cells[0], RDF.rest, cells[1]), (cells[1], RDF.rest, RDF.nil)]
        return [(node, kind, cells[0]), (cells[0], RDF.first, first), (cells[1], RDF.first, second), *links]
    if kind in (OWL.complementOf, OWL.equivalentClass):
        return [(node, kind, first)]
    value = literal(1) if kind == OWL.minCardinality else first
    return [(node, OWL.onProperty, property), (node, kind, value)]


_KINDS = [OWL.unionOf, OWL.intersectionOf, OWL.oneOf, OWL.complementOf, OWL.someValuesFrom, OWL.allValuesFrom, OWL.minCardinality]
_expressions = st.builds(
    _expression, *map(st.sampled_from, (NODES, [*_KINDS, OWL.someValuesFrom, OWL.unionOf], PROPERTIES, ANY, ANY))
)
_axioms = st.one_of(
    st.tuples(
        st.sampled_from(ANY), st.sampled_from([RDFS.subClassOf, OWL.equivalentClass, OWL.disjointWith]), st.sampled_from(ANY)
    ),
    st.tuples(st.sampled_from(CLASSES), st.just(RDFS.subClassOf), st.sampled_from(NODES)),
    st.tuples(
        st.sampled_from([*PROPERTIES, OWL.topObjectProperty]), st.sampled_from([RDFS.domain, RDFS.range]), st.sampled_from(ANY)
    ),
    st.tuples(st.sampled_from([IRI("http://a.org/i"), *NODES]), st.just(RDF.type), st.sampled_from(ANY)),
    st.tuples(st.sampled_from([*CLASSES, *NODES]), st.just(RDF.type), st.just(OWL.Class)),
)


def _is_the_same(triples: Sequence[Triple], check_literals: bool) -> None:
    """The texts of expressions that contain themselves depend on where they are written out first."""
    found = owl.translate(triples, check_literals=check_literals).rules
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dlp, "without_idle_nodes", lambda _, links: (frozenset(), links))
        expected = owl.translate(triples, check_literals=check_literals).rules
    assert {rule: rule.origin.name for rule in found} == {rule: rule.origin.name for rule in expected}


@settings(max_examples=examples(1000), deadline=None, phases=PHASES)
@given(st.lists(_expressions, max_size=4), st.lists(_axioms, max_size=8), st.booleans())
def test_no_rule_is_lost(expressions: list[list[Triple]], axioms: list[Triple], check_literals: bool) -> None:
    _is_the_same([triple for each in expressions for triple in each] + axioms, check_literals)


@pytest.mark.parametrize("seed", range(12))
def test_no_rule_of_a_random_ontology_is_lost(seed: int) -> None:
    _is_the_same(ontology(seed, f"t{seed}", size=20), bool(seed % 2))


TEXT = """
@prefix : <http://a.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .
:q rdfs:domain [ owl:unionOf (:A :B) ] .
[ owl:onProperty :p ; owl:someValuesFrom :C ] rdfs:subClassOf :A .
:B owl:equivalentClass [ owl:onProperty :q ; owl:someValuesFrom :C ] .
"""


def test_only_what_is_asked_for_remains() -> None:
    reasoner = Reasoner()
    reasoner.load(TEXT.encode(), format="turtle")
    found = read_ontology(tuple(reasoner.triples()))
    idle, _ = without_idle_nodes(found, NO_LINKS)
    assert len(found.expressions) == 4 and len(idle) == 2
    assert len(owl.translate(tuple(reasoner.triples())).rules) == 2


LINKED = """
@prefix : <http://a.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:B rdfs:subClassOf :C . :C rdfs:subClassOf :D .
:A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .
[ owl:onProperty :p ; owl:someValuesFrom :C ] rdfs:subClassOf :A .
:E rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :D ] .
:A rdfs:subClassOf [ owl:onProperty :q ; owl:someValuesFrom :B ] , [ owl:onProperty :q ; owl:someValuesFrom :D ] .
"""


def test_only_links_to_what_is_asked_for_remain() -> None:
    """From C to D, nothing new follows for p, and for q nothing asks who has a value."""
    reasoner = Reasoner()
    reasoner.load(LINKED.encode(), format="turtle")
    found = read_ontology(tuple(reasoner.triples()))
    hierarchy = RestrictionHierarchy(found)
    links = hierarchy.linked_by(hierarchy.all_steps)
    idle, remaining = without_idle_nodes(found, links)
    assert (len(links.steps), len(links.groups)) == (3, 5)
    assert [(step.lower.filler, step.upper.filler) for step in remaining.steps] == [(IRI("http://a.org/B"), IRI("http://a.org/C"))]
    assert len(remaining.groups) == 2 and len(idle) == 3
