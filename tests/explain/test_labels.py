"""Labels in place of IRIs: which ones, and where they are shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kg_reasoner import Reasoner
from kg_reasoner.classification.picture import svg
from kg_reasoner.cli import main
from kg_reasoner.language.display_names import DisplayNames, merged
from kg_reasoner.terms import IRI, RDF

BATS = """@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:C1 a owl:Class ; rdfs:label "flying mammal"@en, "Flugsäuger"@de, "mammifère volant"@fr ; rdfs:subClassOf :C2, :C3 .
:C2 a owl:Class ; skos:prefLabel "mammal"@en ; owl:disjointWith :C3 .
:C3 a owl:Class ; rdfs:label "bird's"@en-GB ; skos:prefLabel "not this one"@en-GB .
:C4 a owl:Class ; rdfs:label "twin" ; rdfs:subClassOf :C2 .
:C5 a owl:Class ; rdfs:label "twin" ; rdfs:subClassOf :C2 .
:tom a :C1 .
"""


@pytest.fixture
def bats(tmp_path: Path) -> Path:
    path = tmp_path / "bats.ttl"
    path.write_text(BATS, encoding="utf-8")
    return path


def label(number: int, *languages: str) -> str | None:
    reasoner = Reasoner()
    reasoner.load(BATS.encode(), format="turtle")
    return reasoner.labels(*languages).label(f"http://example.org/C{number}")


@pytest.mark.parametrize(
    ("number", "languages", "expected"),
    [
        (1, (), "'flying mammal'"),
        (1, ("de",), "Flugsäuger"),
        (1, ("it", "FR", "de"), "'mammifère volant'"),
        (2, (), "mammal"),
        (3, ("en",), "'bird\\'s'"),
        (4, (), None),
        (5, (), None),
        (9, (), None),
    ],
)
def test_which_label(number: int, languages: tuple[str, ...], expected: str | None) -> None:
    assert label(number, *languages) == expected


@pytest.mark.parametrize("language", ["", "e n", "en_GB", "@en", "englishness", "en-", "1e", "en,de", "en\n"])
def test_languages_have_the_form_of_bcp_47(language: str, bats: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{language!r} is not a language tag")):
        Reasoner().labels("de", language)
    done = CliRunner().invoke(main, ["classify", str(bats), "--language", language])
    assert done.exit_code == 2 and "is not a language tag such as en" in " ".join(done.stderr.split())
    assert ("did you mean 'en-GB'" in done.stderr) == (language == "en_GB")


@pytest.mark.parametrize("given", [[], ["en"], b"en", None])
def test_languages_are_texts(given: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{given!r} is not a language tag")):
        Reasoner().labels(given)


def test_merged_names_keep_labels() -> None:
    names = DisplayNames({"a": "http://a/"}, {"http://a/x": "ex"})
    both = merged({"b": "http://b/"}, names, {"a": "http://c/"})
    assert isinstance(both, DisplayNames)
    assert (dict(both), both.label("http://a/x")) == ({"b": "http://b/", "a": "http://c/"}, "ex")
    assert not isinstance(merged({"b": "http://b/"}), DisplayNames)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code in (0, 3), done.output
    return done.stdout


def test_hierarchies_show_labels(bats: Path) -> None:
    tree = run("classify", bats, "--labels", "--format", "tree", "-q")
    assert "unsatisfiable:\n  'flying mammal'\n" in tree
    assert "  mammal\n    :C4\n    :C5\n" in tree
    assert "Flugsäuger" in run("classify", bats, "--language", "de", "--format", "html", "-q")
    assert "Flugsäuger" not in run("classify", bats, "--format", "html", "-q")


def test_contradictions_and_their_proofs(bats: Path) -> None:
    text = run("check", bats, "--language", "de", "-q")
    assert "DisjointClasses(mammal 'bird\\'s') (cax-dw): ?x = :tom" in text
    assert "    SubClassOf(Flugsäuger mammal)\n" in text
    text = run("check", bats, "--language", "de", "-q", "--steps")
    assert ":tom a mammal   (by cax-sco, SubClassOf(Flugsäuger mammal))" in text
    assert "unsatisfiable class Flugsäuger" in text
    (found,) = json.loads(run("check", bats, "--labels", "-f", "json", "-q"))["contradictions"]
    assert "mammal" in found["text"] and "http://example.org/C2" in json.dumps(found)


def test_proofs_and_what_is_missing(bats: Path) -> None:
    assert "a mammal" in run("explain", bats, "--labels", "-t", ":tom a :C2", "-q")
    assert "twin" not in run("explain", bats, "--labels", "-t", ":tom a :C4", "-q")
    assert ":C2" in run("explain", bats, "-t", ":tom a :C2", "-q")


def test_tables(bats: Path) -> None:
    query = "SELECT ?c { :tom a ?c } ORDER BY ?c"
    query = f"PREFIX : <http://example.org/> {query}"
    assert run("query", bats, "--labels", "-Q", query, "-q").split("\n")[2:5] == ["'flying mammal'", "mammal", "'bird\\'s'"]
    assert "http://example.org/C1" in run("query", bats, "--labels", "-Q", query, "-f", "csv", "-q")


def test_differences_show_labels(bats: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ttl"
    other.write_text(BATS.replace(":C2, :C3", ":C2"), encoding="utf-8")
    assert "- 'flying mammal' rdfs:subClassOf owl:Nothing" in run("diff", bats, other, "--labels", "-q")


def test_labels_in_python() -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(BATS.encode(), format="turtle")
    names = reasoner.labels("de", prefixes={"": "http://example.org/"})
    proof = reasoner.explain((IRI("http://example.org/tom"), RDF.type, IRI("http://example.org/C2")))
    assert ":tom a Flugsäuger" in proof.with_prefixes(names).text()
    assert "Flugsäuger" in proof.with_prefixes(names).dot()
    assert "Flugsäuger" in reasoner.hierarchy().text(names)


def test_pictures_of_the_guide(tmp_path: Path) -> None:
    """The committed pictures are those that the commands of the guide draw."""
    folder = Path(__file__).resolve().parents[2] / "docs" / "how-to"
    text = (folder / "from-protege.md").read_text(encoding="utf-8")
    ontology = text[text.index("Prefix(:=") : text.index("\n)\n```") + 2]
    for name, content in (
        ("pizza.svg", ontology),
        ("pizza-corrected.svg", ontology.replace("ObjectIntersectionOf(:Ham :Vegetable)", ":Vegetable")),
    ):
        (tmp_path / "pizza.ofn").write_text(content, encoding="utf-8")
        drawn = run("classify", tmp_path / "pizza.ofn", "--format", "svg", "--labels", "-q")
        assert drawn == (folder / name).read_text(encoding="utf-8")


def test_pictures_are_xml() -> None:
    from xml.etree import ElementTree

    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.load(BATS.encode(), format="turtle")
    root = ElementTree.fromstring(svg(reasoner.hierarchy(), reasoner.labels()))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:3] == ["unsatisfiable", "'flying mammal'", "classes"]
