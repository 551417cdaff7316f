"""``classify``, ``diff``, and the unsatisfiable classes of ``check``; the ontology with its inferred axioms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kg_reasoner import Reasoner
from kg_reasoner.cli import main
from tests.classification.test_classification import HEAD

ZOO = """
:Cat rdfs:subClassOf :Mammal, :Animal . :Mammal rdfs:subClassOf :Animal . :Feline owl:equivalentClass :Cat .
:Animal owl:disjointWith :Plant . :Triffid rdfs:subClassOf :Animal, :Plant .
:owns a owl:ObjectProperty ; rdfs:subPropertyOf :knows . :CatOwner a owl:Class .
[] a owl:Axiom ; rdfs:comment "old" ;
  owl:annotatedSource :Tom ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :Animal .
:Tom rdfs:subClassOf :Cat, :Animal .
"""


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.ttl"
    path.write_text(HEAD + ZOO)
    return path


def run(*arguments: object, code: int = 0, input: str | None = None) -> Result:
    result = CliRunner().invoke(main, list(map(str, arguments)), input=input)
    assert result.exit_code == code, result.output
    return result


def test_table(zoo: Path) -> None:
    result = run("classify", zoo)
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()[2:]]
    assert rows == [
        "class :Triffid (unsatisfiable)",
        "class :Animal",
        "class :Cat :Mammal :Feline",
        "class :CatOwner",
        "class :Feline :Mammal :Cat",
        "class :Mammal :Animal",
        "class :Plant",
        "class :Tom :Cat :Feline",
        "object property :knows",
        "object property :owns :knows",
    ]
    assert "7 classes and 2 properties classified; 1 unsatisfiable" in result.stderr


def test_tree_and_files(zoo: Path, tmp_path: Path) -> None:
    tree = run("classify", zoo, "--format", "tree").stdout
    assert tree.splitlines()[:7] == [
        "unsatisfiable:",
        "  :Triffid",
        "classes:",
        "  :Animal",
        "    :Mammal",
        "      :Cat = :Feline",
        "        :Tom",
    ]
    run("classify", zoo, "--format", "tree", "-o", tmp_path / "tree.txt")
    assert (tmp_path / "tree.txt").read_text() == tree
    run("classify", zoo, "-o", tmp_path / "table.tsv", "--quiet")
    assert (tmp_path / "table.tsv").read_text().splitlines()[0] == "class\t:Triffid\t\t(unsatisfiable)"


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("out.html", "<!DOCTYPE html>"),
        ("out.svg", "<svg "),
        ("out.json", "{"),
        ("out.ofn", "Prefix("),
        ("out.ttl", "@prefix "),
        ("out.txt", "class\t"),
        ("out", "class\t"),
    ],
)
def test_the_name_of_the_file_determines_the_format(zoo: Path, tmp_path: Path, name: str, beginning: str) -> None:
    run("classify", zoo, "-o", tmp_path / name, "--quiet")
    assert (tmp_path / name).read_text().startswith(beginning)
    run("classify", zoo, "-o", tmp_path / f"{name}.gz", "--quiet")
    assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()).decode() == (tmp_path / name).read_text()
    run("classify", zoo, "-o", tmp_path / name, "-f", "tree", "--quiet")
    assert (tmp_path / name).read_text().startswith("unsatisfiable:")


def test_the_syntax_of_the_ontology(zoo: Path, tmp_path: Path) -> None:
    for name in ("out.unknown", "out.obo", "out"):
        message = run("classify", zoo, "-f", "owl", "-o", tmp_path / name, code=2).stderr
        assert ".jsonld, .n3" in message and "--syntax" in message and not (tmp_path / name).exists()
    run("classify", zoo, "-f", "owl", "-o", tmp_path / "out", "--syntax", "manchester")
    assert "Class: :Triffid" in (tmp_path / "out").read_text()
    text = run("classify", zoo, "-f", "owl", "--syntax", "ofn").stdout
    assert "SubClassOf(:Cat :Mammal)" in text and "tag:kg-reasoner:" not in text
    assert "did you mean 'turtle'" in run("classify", zoo, "-f", "owl", "--syntax", "turtel", code=2).stderr
    assert "--format owl" in run("classify", zoo, "--syntax", "turtle", code=2).stderr


def test_json(zoo: Path) -> None:
    found = json.loads(run("classify", zoo, "-f", "json", "-q").stdout)
    assert found["complete"] and found["consistent"] and found["warnings"] == []
    (broken,) = found["unsatisfiable"]
    assert (broken["name"], broken["kind"]) == ("http://example.org/Triffid", "class")
    assert broken["proof"]["conclusion"]["text"] == "a contradiction"
    (tom,) = (each for each in found["classes"] if each["name"].endswith("Tom"))
    assert tom["parents"] == ["http://example.org/Cat", "http://example.org/Feline"]


def test_page(zoo: Path) -> None:
    import html.parser

    text = run("classify", zoo, "-f", "html", "-q").stdout
    depth, deepest, items = 0, 0, []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            nonlocal depth, deepest
            depth += tag in ("ul", "li")
            deepest = max(deepest, depth)

        def handle_endtag(self, tag: str) -> None:
            nonlocal depth
            depth -= tag in ("ul", "li")

        def handle_data(self, data: str) -> None:
            if depth:
                items.append(data)

    Reader().feed(text)
    assert depth == 0 and deepest == 8
    assert items == [":Animal", ":Mammal", ":Cat = :Feline", ":Tom", ":CatOwner", ":Plant", ":knows", ":owns"]
    assert "a contradiction" in text and "DisjointClasses(:Animal :Plant)" in text and "<script" not in text


def test_warnings_name_the_axioms(zoo: Path) -> None:
    zoo.write_text(HEAD + ":A rdfs:subClassOf [ owl:unionOf (:B :C) ] .")
    result = run("classify", zoo)
    assert "SubClassOf(:A ObjectUnionOf(:B :C))" in result.stderr
    assert not json.loads(run("classify", zoo, "-f", "json").stdout)["complete"]
    assert "There may be more" in run("classify", zoo, "-f", "html").stdout


def test_an_ontology_in_el_is_told_from_others(tmp_path: Path) -> None:
    path, hint = tmp_path / "cats.omn", "with `-r owl2el` all axioms are used"
    cats = "Prefix: : <http://e/> Ontology: ObjectProperty: :owns Class: :Cat Class: :CatOwner EquivalentTo: :owns some :Cat "
    path.write_text(cats)
    assert hint in run("classify", path).stderr
    assert hint not in run("classify", path, "--quiet").stderr
    assert hint not in run("classify", path, "-r", "owl2el").stderr
    path.write_text(cats + "SubClassOf: :owns max 3 :Cat")
    assert hint not in run("classify", path).stderr


def test_the_ontology_with_its_hierarchy(zoo: Path, tmp_path: Path) -> None:
    run("classify", zoo, "-f", "owl", "-o", tmp_path / "out.ttl")
    before, after = Reasoner(), Reasoner()
    before.load(zoo)
    after.load(tmp_path / "out.ttl")

    def named(reasoner: Reasoner) -> set[str]:
        triples = reasoner.triples()
        texts = (" ".join(str(t).strip("<>").rpartition("/")[2].rpartition("#")[2] for t in triple) for triple in triples)
        return {text for text in texts if text.split()[1] in ("subClassOf", "equivalentClass")}

    assert named(before) - named(after) == {"Cat subClassOf Animal"}  # it follows; that of Tom is annotated
    assert named(after) - named(before) == {"Triffid equivalentClass Nothing"}
    zoo.write_text(
        HEAD + ":A owl:equivalentClass [ owl:intersectionOf (:B :C) ] . :D rdfs:subClassOf :B, :C . :B rdfs:subClassOf :E ."
    )
    run("classify", zoo, "-f", "owl", "-o", tmp_path / "out.ttl")
    again = Reasoner()
    again.load(tmp_path / "out.ttl")
    assert named(again) >= {"D subClassOf A", "A subClassOf B", "A subClassOf C", "B subClassOf E"}
    assert not named(again) & {"D subClassOf B", "D subClassOf C", "D subClassOf E", "A subClassOf E", "A subClassOf A"}


def test_diff_reads_standard_input_once(zoo: Path) -> None:
    assert "no difference" in run("diff", zoo, "-", input=zoo.read_text()).stderr
    assert "standard input cannot be both ontologies" in run("diff", "-", "-", input=zoo.read_text(), code=2).stderr


def test_diff_lists_added_and_removed_inclusions(zoo: Path, tmp_path: Path) -> None:
    after = tmp_path / "after.ttl"
    text = ZOO.replace(":Mammal rdfs:subClassOf :Animal .", "").replace(":Animal, :Plant", ":Plant")
    after.write_text(HEAD + text + ":Kitten rdfs:subClassOf :Cat . :owns rdfs:subPropertyOf :has .")
    assert "no difference" in run("diff", zoo, zoo).stderr
    result = run("diff", zoo, after, code=3)
    assert sorted(result.stdout.splitlines()) == [
        "+ :Kitten rdfs:subClassOf :Cat",
        "+ :Kitten rdfs:subClassOf :Feline",
        "+ :Kitten rdfs:subClassOf owl:Thing",
        "+ :has rdfs:subPropertyOf owl:topObjectProperty",
        "+ :owns rdfs:subPropertyOf :has",
        "- :Mammal rdfs:subClassOf :Animal",
        "- :Triffid rdfs:subClassOf owl:Nothing",
    ]
    found = json.loads(run("diff", after, zoo, "-f", "json", code=3).stdout)
    assert len(found["lost"]) == 5 and len(found["gained"]) == 2


def test_check_lists_unsatisfiable_classes(zoo: Path) -> None:
    result = run("check", zoo)
    assert result.stdout.startswith("unsatisfiable class :Triffid\n")
    axioms = ["DisjointClasses(:Animal :Plant)", "SubClassOf(:Triffid :Animal)", "SubClassOf(:Triffid :Plant)"]
    assert sorted(line.strip() for line in result.stdout.splitlines()[1:]) == axioms
    assert "_:some_Triffid a :Plant" in run("check", zoo, "--steps").stdout
    assert "1 unsatisfiable class or property found" in result.stderr and "no contradiction found" in result.stderr
    assert run("check", zoo, "--proofs", 0, "--strict", code=3).stdout == "unsatisfiable class :Triffid\n"
    found = json.loads(run("check", zoo, "-f", "json").stdout)
    assert found["consistent"] and [each["name"] for each in found["unsatisfiable"]] == ["http://example.org/Triffid"]
    assert sorted(found["unsatisfiable"][0]["axioms"]) == axioms and found["unsatisfiable"][0]["proof"]
    zoo.write_text(HEAD + ":A rdfs:subClassOf :B .")
    assert run("check", zoo, "--strict").stdout == ""
