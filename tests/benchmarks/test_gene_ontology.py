"""The Gene Ontology of GO.db as triples, on a file of the same tables with three terms."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from benchmarks.gene_ontology import gene_ontology
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, literal

TABLES = """
    create table go_term (_id integer primary key, go_id text, term text);
    create table go_bp_parents (_id integer, _parent_id integer, relationship_type text);
    create table go_mf_parents (_id integer, _parent_id integer, relationship_type text);
    create table go_cc_parents (_id integer, _parent_id integer, relationship_type text);
    insert into go_term values (1, 'GO:1', 'process'), (2, 'GO:2', 'a "special" process'), (3, 'GO:3', 'part');
    insert into go_bp_parents values (2, 1, 'isa'), (3, 2, 'part of');
"""


def obo(name: str) -> IRI:
    return IRI(f"http://purl.obolibrary.org/obo/{name}")


def test_terms_are_classes_and_relations_restrictions(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "GO.sqlite") as tables:
        tables.executescript(TABLES)
    (tmp_path / "go.nt").write_text("".join(f"{line} .\n" for line in gene_ontology(str(tmp_path / "GO.sqlite"))))
    reasoner = Reasoner(ruleset="rdfs")
    reasoner.load(tmp_path / "go.nt")
    triples = set(reasoner.triples())
    assert (obo("instance_GO_2"), RDF.type, obo("GO_1")) in triples
    assert (obo("GO_2"), RDFS.label, literal('a "special" process')) in triples
    (restriction,) = (value for subject, property, value in triples if (subject, property) == (obo("GO_3"), RDFS.subClassOf))
    assert {(restriction, OWL.onProperty, obo("part_of")), (restriction, OWL.someValuesFrom, obo("GO_2"))} <= triples
