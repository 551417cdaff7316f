"""Class expressions inside each other, thousands deep or wide: translated in time that grows with their size, in every syntax."""

from __future__ import annotations

from time import process_time

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.ontology import owl
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple
from tests.helpers.effort import thinned

EX = "http://example.org/"
A, B, P = IRI(EX + "A"), IRI(EX + "B"), IRI(EX + "p")


def deep(predicate: IRI, depth: int) -> list[Triple]:
    """``[ p [ p [ ... A ] ] ] rdfs:subClassOf B``, with what else the expressions need."""
    triples: list[Triple] = []
    inner: Term = A
    for number in range(depth):
        node = BlankNode(f"n{number}")
        if predicate in (OWL.intersectionOf, OWL.unionOf):
            head, last = BlankNode(f"h{number}"), BlankNode(f"l{number}")
            triples += [(node, predicate, head), (head, RDF.first, B), (head, RDF.rest, last)]
            triples += [(last, RDF.first, inner), (last, RDF.rest, RDF.nil)]
        else:
            triples.append((node, predicate, inner))
            if predicate != OWL.complementOf:
                triples.append((node, OWL.onProperty, P))
        inner = node
    return [*triples, (inner, RDFS.subClassOf, B), (B, OWL.equivalentClass, inner)]


def wide(predicate: IRI, width: int) -> list[Triple]:
    """``[ p ( A0 A1 ... ) ] rdfs:subClassOf B``."""
    node, cells = BlankNode("n"), [BlankNode(f"c{number}") for number in range(width)]
    triples: list[Triple] = [(node, predicate, cells[0]), (node, RDFS.subClassOf, B)]
    for number, (cell, rest) in enumerate(zip(cells, [*cells[1:], RDF.nil], strict=True)):
        triples += [(cell, RDF.first, IRI(f"{EX}A{number}")), (cell, RDF.rest, rest)]
    return triples


KINDS = {
    "someValuesFrom": deep,
    "allValuesFrom": deep,
    "complementOf": deep,
    "intersectionOf": deep,
    "unionOf": deep,
    "wide intersectionOf": wide,
    "wide unionOf": wide,
    "wide oneOf": wide,
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_translation_takes_time_as_the_size(kind: str) -> None:
    def seconds(size: int) -> float:
        triples = KINDS[kind](OWL[kind.rpartition(" ")[2]], size)
        best = 1e9
        for _ in range(2):
            start = process_time()
            owl.translate(triples)
            best = min(best, process_time() - start)
        return best

    assert seconds(1_600) < 10 * max(seconds(400), 0.01)  # four times as much, where quadratic time were sixteen times


@pytest.mark.parametrize("name", thinned(["ObjectComplementOf", "ObjectIntersectionOf"], 2))
def test_deep_owlxml_is_what_deep_rdf_is(name: str) -> None:
    depth = 2_000
    other = '<Class IRI="#B"/>' if name == "ObjectIntersectionOf" else ""
    inner = f"<{name}>{other}" * depth + '<Class IRI="#A"/>' + f"</{name}>" * depth
    text = f'<Ontology xmlns="{OWL}" ontologyIRI="{EX}o"><SubClassOf>{inner}<Class IRI="#B"/></SubClassOf></Ontology>'
    reasoner = Reasoner()
    reasoner.load(text.encode(), format="owlxml")
    found = owl.translate(reasoner.triples())
    predicate = OWL.complementOf if name == "ObjectComplementOf" else OWL.intersectionOf
    assert sum(triple[1] == predicate for triple in reasoner.triples()) == depth
    assert len(found.rules) == len(owl.translate(deep(predicate, depth)[:-1]).rules)


def test_deep_annotations() -> None:
    depth = 3_000
    part = '<AnnotationProperty IRI="#p"/><Literal>x</Literal></Annotation>'
    text = f'<Ontology xmlns="{OWL}" ontologyIRI="{EX}o">{"<Annotation>" * depth}{part * depth}</Ontology>'
    reasoner = Reasoner()
    reasoner.load(text.encode(), format="owlxml")
    assert sum(triple[1:] == (RDF.type, OWL.Annotation) for triple in reasoner.triples()) == depth - 1


def test_what_is_too_deep_is_one_error() -> None:
    depth = 20_000
    text = f'<Ontology xmlns="{OWL}" ontologyIRI="{EX}o"><SubClassOf>{"<ObjectComplementOf>" * depth}'
    with pytest.raises(LoadError, match="nested more than 10000 deep"):
        Reasoner(ruleset="owl2rl").load(text.encode(), format="owlxml")
