"""What commands show to somebody who sees them for the first time: names as documents have them, and that something happens."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kg_reasoner.cli import console, main
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.storage.kernels.machine_code import loader

ZOO = """
@prefix z: <http://example.org/animals#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
z:Cat owl:disjointWith z:Dog .
z:Lion rdfs:subClassOf z:Cat .
z:Animal rdfs:subClassOf [ a owl:Restriction ; owl:onProperty z:eats ; owl:someValuesFrom z:Food ] .
z:tom a z:Lion, z:Dog .
"""
FULL = "http://example.org/animals#"


@pytest.fixture
def zoo(tmp_path: Path) -> str:
    path = tmp_path / "zoo.ttl"
    path.write_text(ZOO)
    return str(path)


def kg(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


# ---- names


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("query", "-Q", "SELECT ?x { ?x a ?y }"), "z:tom"),
        (("query", "-Q", "CONSTRUCT WHERE { ?x a ?y }"), "z:tom a z:Cat"),
        (("check",), "DisjointClasses(z:Cat z:Dog) (cax-dw): ?x = z:tom"),
        (("rules",), "\n# SubClassOf(z:Lion z:Cat)\nz:Cat[?x] :- z:Lion[?x] .\n"),
        (("explain", "-t", "z:tom a z:Cat"), "z:tom a z:Cat   (by cax-sco, SubClassOf(z:Lion z:Cat))"),
    ],
    ids=str,
)
def test_names_are_those_of_the_documents(zoo: str, arguments: tuple[str, ...], shown: str) -> None:
    command, *rest = arguments
    result = kg(command, zoo, *rest)
    assert shown in result.stdout
    assert "SubClassOf(z:Animal ObjectSomeValuesFrom(z:eats z:Food))" in result.stderr
    assert FULL not in result.output.replace(f"@prefix z: <{FULL}> .", "")


def test_the_prefixes_of_the_query_come_first(zoo: str) -> None:
    query = f"PREFIX mine: <{FULL}> PREFIX z: <urn:other#> SELECT ?x {{ ?x a mine:Cat }}"
    assert kg("query", zoo, "-q", "-Q", query).stdout.splitlines()[-1] == "mine:tom"


def test_texts_in_json_have_the_names_of_the_documents(zoo: str) -> None:
    (found,) = json.loads(kg("check", zoo, "-q", "-f", "json").stdout)["contradictions"]
    assert found["text"] == "DisjointClasses(z:Cat z:Dog) (cax-dw): ?x = z:tom"
    assert "z:tom a z:Cat" in [step["text"] for step in found["proof"]["steps"]]
    answer = json.loads(kg("explain", zoo, "-q", "-f", "json", "-t", "z:tom a z:Fish").stdout)
    assert answer["fact"]["text"] == "z:tom a z:Fish"
    assert all(rule["failed"]["text"].count(FULL) == 0 for rule in answer["rules"])


def test_a_refusal_has_the_names_of_the_documents(zoo: str) -> None:
    result = kg("materialise", zoo, "-o", "-", "--on-inconsistency", "raise")
    assert result.exit_code == 1
    assert "DisjointClasses(z:Cat z:Dog) (cax-dw): ?x = z:tom" in result.stderr


def test_graphs_are_named_like_terms(zoo: str, tmp_path: Path) -> None:
    named = tmp_path / "named.trig"
    named.write_text(ZOO.replace("z:tom a z:Lion, z:Dog .", "z:g { z:Cat owl:disjointWith z:Dog . z:tom a z:Cat, z:Dog . }"))
    assert kg("check", zoo, "-q", "--graphs", "graph", "--proofs", "0").stdout.endswith("?x = z:tom, in the default graph\n")
    assert kg("check", str(named), "-q", "--graphs", "graph", "--proofs", "0").stdout.endswith("?x = z:tom, in the graph z:g\n")


# ---- warnings


@pytest.mark.parametrize("command", ["check", "rules"])
def test_quiet_leaves_out_warnings_of_axioms(zoo: str, command: str) -> None:
    assert "cannot be fully expressed by rules" in kg(command, zoo).stderr
    assert kg(command, zoo, "-q").stderr == ""


def test_warnings_are_broken_between_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.cli.options.reasoner_options import report_warnings

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    axiom = f"ObjectUnionOf({' '.join(f'zoo:Animal{number}' for number in range(40))})"
    report_warnings([AxiomWarning(axiom, "a reason")], {}, in_full=True)
    report_warnings([AxiomWarning(axiom, "a reason")], {})
    words = {*f"{axiom}: a reason".split(), "...", "2"}
    lines = [line for line in terminal.getvalue().splitlines() if "zoo:" in line]
    assert max(map(len, lines)) < 60
    assert {word for line in lines for word in line.split()} <= words


# ---- the first start


def test_a_terminal_shows_that_the_reasoner_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with console.starting() as told:
        assert terminal.getvalue() == "starting the reasoner ..."
        assert loader.on_compile is not None
        loader.on_compile("compiling the kernels")
    assert told == ["compiling the kernels"]
    assert "\r\x1b[Kcompiling the kernels\n" in terminal.getvalue()
    assert loader.on_compile is None


def test_a_terminal_that_cannot_erase_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "dumb")
    with console.starting(), console.progress_shown() as progress:
        assert progress is None
    assert terminal.getvalue() == ""


def test_elsewhere_the_start_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    with console.starting():
        assert loader.on_compile is not None
        loader.on_compile("compiling the kernels")
    assert pipe.getvalue() == ""


# ---- messages


def test_an_address_is_shown_as_it_was_given(tmp_path: Path) -> None:
    address = "http://example.org/zoo.ttl"
    commands = [
        ("check", address),
        ("check", "-", "--rules", "http://example.org/zoo.dl"),
        ("check", "-", "--ruleset", "http://example.org/zoo.dl"),
        ("check", "-", "--catalog", "http://example.org/catalog.xml"),
        ("run", str(tmp_path / "empty.dl"), "--facts", "http://example.org/facts"),
        ("materialise", str(tmp_path / "empty.ttl"), "-o", "http://example.org/out.nt"),
    ]
    (tmp_path / "empty.dl").touch()
    (tmp_path / "empty.ttl").touch()
    for command in commands:
        result = kg(*command)
        assert result.exit_code == 1
        assert "http://example.org/" in result.stderr
        assert "http:/e" not in result.stderr


def test_messages_about_formats_do_not_speak_of_python(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_text("odd")
    told = kg("check", str(odd)).stderr
    assert "give its name: one of" in told
    odd = tmp_path / "odd.nt"
    odd.write_text("@prefix : <urn:x#> . :a :b :c .")
    told += kg("check", str(odd)).stderr
    assert "it looks like turtle: if it is, give turtle as its format" in told
    assert "format=" not in told


def test_a_program_with_a_typing_error_is_doubted(tmp_path: Path) -> None:
    (tmp_path / "paths.dl").write_text("path(?x, ?y) :- egde(?x, ?y) .\n")
    (tmp_path / "edge.tsv").write_text("1\t2\n")
    told = kg("run", str(tmp_path / "paths.dl"), "--facts", str(tmp_path)).stderr
    assert "warning: " in told
    assert "has no relation edge, did you mean 'egde'?" in told
    assert "paths.dl:1:17: the relation egde has no facts" in told
