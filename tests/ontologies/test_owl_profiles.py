"""Which of OWL 2 EL, QL, RL and DL an ontology is in: by kinds of axioms, and on the W3C's cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.conformance.cases import SUITE_FOLDER, triples_of
from kg_reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.loaders.ontology.owl import profiles
from tests.helpers.suites import needs_suite

DECLARED = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :A a owl:Class . :B a owl:Class . :C a owl:Class . :p a owl:ObjectProperty . :q a owl:ObjectProperty .
    :d a owl:DatatypeProperty .
"""


def some(property: str, filler: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty {property} ; owl:someValuesFrom {filler} ]"


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        (":A rdfs:subClassOf :B .", "EL QL RL DL"),
        (f":A rdfs:subClassOf {some(':p', ':B')} .", "EL QL DL"),
        (f"{some(':p', ':B')} rdfs:subClassOf :A .", "EL RL DL"),
        (f"{some(':p', 'owl:Thing')} rdfs:subClassOf :A .", "EL QL RL DL"),
        (f":A rdfs:subClassOf {some('[ owl:inverseOf :p ]', ':B')} .", "QL DL"),
        (":A rdfs:subClassOf [ a owl:Class ; owl:unionOf (:B :C) ] .", "DL"),
        ("[ a owl:Class ; owl:unionOf (:B :C) ] rdfs:subClassOf :A .", "RL DL"),
        (":A rdfs:subClassOf [ a owl:Class ; owl:unionOf (:B) ] .", "EL QL RL DL"),
        (":A owl:unionOf (:B) .", "EL QL RL DL"),
        (":A rdfs:subClassOf [ a owl:Class ; owl:complementOf :B ] .", "QL RL DL"),
        (":A rdfs:subClassOf [ a owl:Class ; owl:oneOf (:a) ] .", "EL DL"),
        ("[ a owl:Class ; owl:oneOf (:a :b) ] rdfs:subClassOf :A .", "RL DL"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :B ] .", "RL DL"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:hasSelf true ] .", "EL DL"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:maxCardinality 1 ] .", "RL DL"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:maxCardinality 2 ] .", "DL"),
        (":p owl:propertyChainAxiom (:p :q) .", "EL RL DL"),
        (":p owl:propertyChainAxiom (:p :q) ; rdfs:range :A .", "RL DL"),
        (":p owl:propertyChainAxiom (:p :q) ; rdfs:range :A . :q rdfs:range :A .", "EL RL DL"),
        (":p owl:propertyChainAxiom (:q :q) . :q owl:propertyChainAxiom (:p :p) .", ""),
        (":p a owl:TransitiveProperty .", "EL RL DL"),
        (":p a owl:TransitiveProperty , owl:FunctionalProperty .", ""),
        (":p a owl:SymmetricProperty .", "QL RL DL"),
        (":p a owl:ReflexiveProperty .", "EL QL DL"),
        (":p a owl:FunctionalProperty .", "RL DL"),
        (":d a owl:FunctionalProperty .", "EL RL DL"),
        (":p owl:inverseOf :q .", "QL RL DL"),
        (":d rdfs:range xsd:integer .", "EL QL RL DL"),
        (":d rdfs:range xsd:double .", "RL DL"),
        (":A owl:hasKey (:d) .", "EL RL DL"),
        (":A owl:disjointUnionOf (:B :C) .", "DL"),
        (":a owl:sameAs :b .", "EL RL DL"),
        (":a :p [ a :A ] .", "RL DL"),
        (":p rdfs:subPropertyOf owl:topObjectProperty .", "EL QL DL"),
        (f":A rdfs:subClassOf {some(':d', 'xsd:string')} . :d rdfs:subPropertyOf owl:topDataProperty .", "EL QL DL"),
        ("owl:topDataProperty rdfs:subPropertyOf :d .", ""),
        (f":A rdfs:subClassOf {some('owl:topDataProperty', 'xsd:string')} .", ""),
        (":n a owl:AnnotationProperty ; rdfs:subPropertyOf rdfs:label .", "EL QL RL DL"),
        (":T a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; owl:intersectionOf (:T xsd:string) ] .", ""),
        (
            ":T a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; owl:intersectionOf (xsd:token xsd:string) ] .",
            "EL QL RL DL",
        ),
        ("_:x :p _:y . _:y :q _:z . :a :p _:x .", "RL DL"),
        ("_:x :p _:y . _:y :q _:x .", ""),
        ("_:x :p _:y . _:x :q _:y .", ""),
        ("_:x :p _:x .", ""),
        ("_:x :p _:y . :a :p _:x . _:y :p :b .", ""),
        ("_:x owl:sameAs :a .", ""),
        ("[] a owl:AllDifferent ; owl:members (:a _:x) .", ""),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue _:x ] .", ""),
        (":p a owl:DatatypeProperty .", ""),
        (":A rdfs:subClassOf :Undeclared .", ""),
    ],
)
def test_kinds_of_axioms(turtle: str, expected: str) -> None:
    reasoner = Reasoner()
    reasoner.load((DECLARED + turtle).encode(), format="turtle")
    found = reasoner.owl_profiles()
    assert found.names == tuple(expected.split())
    assert all(bool(found.beyond[name]) != (name in found) for name in found.beyond)


OTHERWISE = {
    "chains are not in QL": "fs2rdf-propertychain-2-annotated-ar fs2rdf-propertychain-2-ar",
    "equal individuals are in EL, not in QL": "fs2rdf-same-individual-2-annotation-ar fs2rdf-same-individual-3-annotation-ar",
    "reflexive properties are not in RL": "new-feature-reflexiveproperty-001",
    "irreflexive properties are in QL": "new-feature-irreflexiveproperty-001",
    "disjoint properties are in QL, not in EL": "disjoint-props-via-disjoint-domains disjoint-props-via-disjoint-ranges",
    "functional data properties are in EL": "functionality-clash",
    "anonymous individuals are in RL only": """
        webont-nothing-001 webont-i5-26-001 webont-i5-26-002 webont-description-logic-104
    """,
    "equal names of classes are individuals": "webont-i4-6-003 webont-i4-6-004",
    "nothing but its annotation or a name of the vocabulary is not in DL": """
        rdfbased-sem-prop-comment-type rdfbased-sem-prop-deprecated-type rdfbased-sem-prop-incompatiblewith-type-annot
        rdfbased-sem-prop-isdefinedby-type rdfbased-sem-prop-label-type rdfbased-sem-prop-seealso-type
        rdfbased-sem-eqdis-different-irrflxv rdfbased-sem-eqdis-sameas-rflxv rdfbased-sem-eqdis-sameas-trans
    """,
    "names are not declared, which graphs need": "chain2trans1 fs2rdf-equivalent-classes-3-annotation-ar",
}
"""Cases whose annotations differ from what the grammars say, and why."""

EXCEPTIONS = {slug for slugs in OTHERWISE.values() for slug in slugs.split()}


def annotated() -> list[dict[str, Any]]:
    path = SUITE_FOLDER / "owl2" / "manifest.json"
    return json.loads(path.read_text()) if path.exists() else []


@needs_suite("owl2")
@pytest.mark.parametrize("case", annotated(), ids=lambda case: case["slug"])
def test_w3c_annotations(case: dict[str, Any]) -> None:
    """A case is in a profile if its premise and its conclusion are; the suite has only some of the conclusions."""
    files = [SUITE_FOLDER / "owl2" / case[part] for part in ("premise", "conclusion", "nonconclusion") if case.get(part)]
    found = set.intersection(*(set(profiles(triples_of(file)).names) for file in files))
    expected = {*case["profiles"], *(["DL"] if "DL" in case["species"] else [])}
    assert (found != expected) == (case["slug"] in EXCEPTIONS)


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "ontology.ttl"
    file.write_text(DECLARED + ":p a owl:SymmetricProperty .")
    result = CliRunner().invoke(main, ["profiles", str(file)])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "OWL 2 EL: no",
        "  SymmetricObjectProperty(:p): OWL 2 EL has no SymmetricProperty of objects",
        *("OWL 2 QL: yes", "OWL 2 RL: yes", "OWL 2 DL: yes"),
    ]
    found = json.loads(CliRunner().invoke(main, ["profiles", str(file), "--format", "json"]).stdout)
    assert {name: each["holds"] for name, each in found.items()} == {"EL": False, "QL": True, "RL": True, "DL": True}


def test_the_command_finds_imports_and_resolves_relative_iris(tmp_path: Path) -> None:
    """As its messages advise."""
    file = tmp_path / "a.ttl"
    file.write_text("@prefix owl: <http://www.w3.org/2002/07/owl#> . <a> a owl:Ontology ; owl:imports <b> . <#A> a owl:Class .")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.ttl").write_text("<http://x/b> a <http://www.w3.org/2002/07/owl#Ontology> .")
    for command, missing in (("profiles", 0), ("imports", 3)):
        without = CliRunner().invoke(main, [command, str(file)])
        assert without.exit_code == 1 and "pass --base http://" in without.stderr
        based = CliRunner().invoke(main, [command, str(file), "--base", "http://x/"])
        assert based.exit_code == missing and "1 import" in based.stderr
        found = CliRunner().invoke(main, [command, str(file), "--base", "http://x/", "--catalog", str(tmp_path / "more")])
        assert found.exit_code == 0 and "not found;" not in found.stderr
