"""The prefixes that documents declare are those of the reasoner that loads them: in queries, proofs, hierarchies and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
import rdflib

from kg_reasoner import Reasoner
from kg_reasoner.errors import InconsistencyError, LoadError
from kg_reasoner.terms import IRI, RDF, RDFS
from tests.helpers.extras import needed

EX: Final = "http://example.org/"

DOCUMENTS: Final = {
    "turtle": f"@prefix ex: <{EX}> . @prefix : <{EX}#> . ex:a ex:p ex:b .",
    "trig": f"PREFIX ex: <{EX}> PREFIX : <{EX}#> ex:g {{ ex:a ex:p ex:b }}",
    "n3": f"@prefix ex: <{EX}> . @prefix : <{EX}#> . ex:a ex:p ex:b . {{ ?x ex:p ?y }} => {{ ?y ex:p ?x }} .",
    "xml": f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:ex="{EX}" xmlns="{EX}#"><ex:C rdf:about="{EX}a"/></rdf:RDF>',
    "json-ld": f'{{"@context": {{"ex": "{EX}"}}, "@id": "ex:a", "ex:p": {{"@id": "ex:b"}}}}',
    "owlxml": f'<Ontology xmlns="http://www.w3.org/2002/07/owl#"><Prefix name="ex" IRI="{EX}"/><Prefix name="" IRI="{EX}#"/>'
    '<Declaration><Class abbreviatedIRI="ex:C"/></Declaration></Ontology>',
    "functional": f"Prefix(ex:=<{EX}>) Prefix(:=<{EX}#>) Ontology(Declaration(Class(ex:C)))",
    "manchester": f"Prefix: ex: <{EX}>\nPrefix: : <{EX}#>\nOntology:\nClass: ex:C\n",
    "obo": f"format-version: 1.4\nidspace: ex {EX}\n\n[Term]\nid: ex:C\n",
}


@pytest.mark.parametrize("format", DOCUMENTS)
def test_every_syntax(format: str) -> None:
    reasoner = Reasoner()
    reasoner.load(DOCUMENTS[format].encode(), format=format)
    assert reasoner.prefixes["ex"] == EX
    if format not in ("json-ld", "obo"):  # which have no default prefix
        assert reasoner.prefixes[""] == f"{EX}#"


@pytest.mark.parametrize("rule", ["", "{ ?x a z:C } => { ?x a z:D } ."])
def test_n3_with_rules_and_without(rule: str) -> None:
    """The last declaration in a document counts."""
    reasoner = Reasoner()
    text = f"@prefix z: <http://one.org/> . @prefix z: <http://two.org/> . {rule} z:a a z:C ."
    reasoner.load(text.encode(), format="n3")
    assert reasoner.prefixes == {"z": "http://two.org/"}


def test_a_relative_namespace_without_a_base_declares_no_prefix() -> None:
    reasoner = Reasoner()
    reasoner.load(b"@prefix : <#> . { ?x a <urn:C> } => { ?x a <urn:D> } .", format="n3")
    assert reasoner.prefixes == {}


def test_the_first_declaration_counts_and_those_of_the_program_precede() -> None:
    reasoner = Reasoner("@prefix mine: <http://mine.org/> .")
    reasoner.load(b"@prefix a: <http://one.org/> . @prefix mine: <http://other.org/> . a:x a a:y .", format="turtle")
    reasoner.load(b"@prefix a: <http://two.org/> . @prefix b: <http://b.org/> . a:x a b:y .", format="turtle")
    assert reasoner.prefixes == {"a": "http://one.org/", "b": "http://b.org/", "mine": "http://mine.org/"}


def test_prefixes_with_a_fixed_meaning_keep_it() -> None:
    """Documents declare ``xsd`` without the final # now and then."""
    reasoner = Reasoner()
    reasoner.load(b'@prefix xsd: <http://www.w3.org/2001/XMLSchema> . <urn:a> <urn:p> "1" .', format="turtle")
    assert "xsd" not in reasoner.prefixes
    assert reasoner.query("ASK { BIND (xsd:string('1') AS ?x) FILTER (DATATYPE(?x) = xsd:string) }")


def test_graphs_of_rdflib() -> None:
    """The prefixes that rdflib binds in every graph say nothing of this one."""
    graph = rdflib.Graph().parse(data=DOCUMENTS["turtle"], format="turtle")
    graph.bind("foaf", "http://other.org/foaf#", override=True, replace=True)
    reasoner = Reasoner()
    reasoner.load(graph)
    assert reasoner.prefixes == {"ex": EX, "": f"{EX}#", "foaf": "http://other.org/foaf#"}
    dataset = rdflib.Dataset()
    dataset.parse(data=DOCUMENTS["trig"], format="trig")
    other = Reasoner()
    other.load(dataset)
    assert other.prefixes == {"ex": EX, "": f"{EX}#"}


def test_worlds_and_ontologies_of_owlready2() -> None:
    owlready2 = needed("owlready2")
    world = owlready2.World()
    zoo, farm = world.get_ontology(f"{EX}zoo#"), world.get_ontology(f"{EX}farm/")
    with zoo:
        owlready2.types.new_class("Cat", (owlready2.Thing,))
    with farm:
        owlready2.types.new_class("Cow", (owlready2.Thing,))
    both, one = Reasoner(ruleset="owl2el"), Reasoner(ruleset="owl2el")
    both.load(world)
    one.load(farm)
    own = Reasoner(ruleset="owl2el").prefixes
    assert both.prefixes == {"zoo": f"{EX}zoo#", "farm": f"{EX}farm/", **own}
    assert one.prefixes == {"farm": f"{EX}farm/", **own}
    assert "zoo:Cat" in both.hierarchy().text()
    world.close()


def test_names_that_cannot_be_prefixes_declare_none() -> None:
    context = {"2nd": "http://two.org/", "two words": "http://two.org/", "b.": "http://b.org/", "b.c-d_é": EX, "é": EX}
    document = {"@context": context, "@id": f"{EX}a", "@type": f"{EX}b"}
    reasoner = Reasoner()
    reasoner.load(json.dumps(document).encode(), format="json-ld")
    assert reasoner.prefixes == {"b.c-d_é": EX, "é": EX}


def test_imported_documents(tmp_path: Path) -> None:
    imported = tmp_path / "imported.ttl"
    imported.write_text("@prefix far: <http://far.org/> . @prefix ex: <http://not.org/> . far:x a far:y .")
    reasoner = Reasoner()
    reasoner.load(
        f"@prefix ex: <{EX}> . <{EX}o> <http://www.w3.org/2002/07/owl#imports> <http://far.org/> .".encode(),
        format="turtle",
        catalog={"http://far.org/": str(imported)},
    )
    assert reasoner.prefixes == {"ex": EX, "far": "http://far.org/"}


def test_a_document_that_is_refused_leaves_no_prefixes() -> None:
    reasoner = Reasoner()
    with pytest.raises(LoadError):
        reasoner.load(b"@prefix ex: <http://example.org/> . ex:a ex:b .", format="turtle")
    assert not reasoner.prefixes
    with reasoner.transaction() as transaction:
        reasoner.load(DOCUMENTS["turtle"].encode(), format="turtle")
        transaction.rollback()
    assert not reasoner.prefixes


ONTOLOGY: Final = f"""
    Prefix(ex:=<{EX}>)
    Ontology(
      SubClassOf(ex:Triffid ObjectIntersectionOf(ex:Animal ex:Plant))
      DisjointClasses(ex:Animal ex:Plant)
      SubClassOf(ex:Animal ex:Thing))
"""


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2el"])
def test_hierarchies_proofs_and_axioms(ruleset: str) -> None:
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.load(ONTOLOGY.encode(), format="functional")
    hierarchy = reasoner.hierarchy()
    assert "ex:Triffid" in hierarchy.text()
    assert "ex:Triffid" in hierarchy.unsatisfiable[0].proof.text()
    proof = reasoner.explain((IRI(f"{EX}Triffid"), RDFS.subClassOf, IRI(f"{EX}Animal")))
    assert "ex:Triffid" in proof.text()
    assert "SubClassOf(ex:Triffid ObjectIntersectionOf(ex:Animal ex:Plant))" in reasoner.axioms_of(proof)


def test_contradictions() -> None:
    reasoner = Reasoner(ruleset="owl2rl", on_inconsistency="raise")
    reasoner.load(ONTOLOGY.encode(), format="functional")
    with pytest.raises(InconsistencyError, match="ex:Animal"):
        reasoner.load(f"@prefix other: <{EX}> . other:x a other:Triffid .".encode(), format="turtle")


def test_queries_follow_the_documents() -> None:
    """The same text is read again after another document has declared its prefix."""
    reasoner = Reasoner()
    reasoner.load(b"@prefix a: <http://one.org/> . a:x a a:y .", format="turtle")
    text = "SELECT ?x { ?x a a:y }"
    assert len(list(reasoner.query(text))) == 1
    assert len(list(reasoner.answers("[?x, rdf:type, a:y]"))) == 1
    other = Reasoner()
    other.load(b"@prefix a: <http://two.org/> . <http://one.org/x> a <http://one.org/y> .", format="turtle")
    assert len(list(other.query(text))) == 0
    reasoner.add_program("@prefix a: <http://two.org/> .")
    assert len(list(reasoner.query(text))) == 0
