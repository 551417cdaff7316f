"""What we export is an ontology that owlready2 can search: its recursive queries do not end on circles in a hierarchy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kg_reasoner.cli import main

pytest.importorskip("owlready2", reason="owlready2 is not installed: pip install '.[owlready2]'")

ANIMALS = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://example.org/> a owl:Ontology .
:Animal a owl:Class . :Beast a owl:Class ; owl:equivalentClass :Animal .
:Mammal a owl:Class ; rdfs:subClassOf :Animal . :Cat a owl:Class ; rdfs:subClassOf :Mammal .
:Tame a owl:Class ; owl:equivalentClass [ a owl:Restriction ; owl:onProperty :livesWith ; owl:someValuesFrom :Animal ] .
:livesWith a owl:ObjectProperty ; rdfs:subPropertyOf :knows . :knows a owl:ObjectProperty .
:tom a owl:NamedIndividual, :Cat ; :livesWith :rex . :rex a owl:NamedIndividual, :Animal .
"""
SEARCH = """
import sys, owlready2
world = owlready2.World()
with open(sys.argv[1], "rb") as file:
    world.get_ontology("http://example.org/").load(fileobj=file, format=sys.argv[2])
names = lambda found: " ".join(sorted(thing.name for thing in found))
animal, cat, tame = (world["http://example.org/" + name] for name in ("Animal", "Cat", "Tame"))
print(names(world.search(subclass_of=animal)))
print(names(world.search(type=animal)))
print(names(world.search(type=tame)))
print(names(cat.ancestors()))
print(names(animal.subclasses()))
"""
FOUND = ["Animal Cat Mammal", "rex tom", "tom", "Animal Beast Cat Mammal Thing", "Cat Mammal"]


@pytest.mark.parametrize("ruleset", ["owl2rl", "owl2rl-full"])
@pytest.mark.parametrize(("extension", "format"), [("owl", "rdfxml"), ("nt", "ntriples")])
@pytest.mark.sample(4)
def test_owlready2_searches_what_we_export(tmp_path: Path, ruleset: str, extension: str, format: str) -> None:
    (tmp_path / "animals.ttl").write_text(ANIMALS)
    target = str(tmp_path / f"all.{extension}")
    result = CliRunner().invoke(main, ["materialise", str(tmp_path / "animals.ttl"), "--ruleset", ruleset, "-o", target])
    assert result.exit_code == 0, result.output
    arguments = [sys.executable, "-c", SEARCH, target, format]
    run = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.splitlines() == FOUND
    assert "cyclic" not in run.stderr
