"""The benchmarks measure what they say: our rules are translated faithfully for Nemo, and a contest runs from data to tables."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from benchmarks import __main__ as benchmark
from benchmarks import by_the_book, dbsp, gene_ontology, maintenance, shacl, values
from benchmarks.conformance import __main__ as conformance
from benchmarks.conformance import cases as conformance_cases
from benchmarks.contestants.ours import Ours
from benchmarks.contests import report
from benchmarks.contests.contest import CONTESTANTS, Contestant, Entry, RunLimits, contest
from benchmarks.inputs.closure import PROGRAMS
from benchmarks.inputs.data import csv_cell, graph_job, split
from benchmarks.inputs.jobs import LINEAR, NONLINEAR, OWL2RL, RDFS, Job
from benchmarks.measuring import needs
from benchmarks.measuring.measure import Measurement
from benchmarks.translations import nemo_rules
from benchmarks.translations.nemo_rules import Predicate
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.language.parser import parse
from tests.helpers.extras import needed

PREFIX = "@prefix : <http://example.org/> .\n"
STUDENT, PERSON, KNOWS, SAME = (
    Predicate("http://example.org/Student", 1),
    Predicate("http://example.org/Person", 1),
    Predicate("http://example.org/knows", 2),
    Predicate("http://www.w3.org/2002/07/owl#sameAs", 2),
)


def translated(rules: str, *filled: Predicate) -> list[str]:
    """The rules as Nemo gets them, by class and property, where the predicates `filled` have data."""
    text = nemo_rules.by_predicate(parse(PREFIX + rules).rules, dict.fromkeys(filled, "data.csv"))
    return sorted(line for line in text.splitlines() if not line.startswith("@"))


def test_classes_and_properties_become_predicates() -> None:
    rules = ":Person[?x] :- :Student[?x] . :knows[?y, ?x] :- :knows[?x, ?y], FILTER(?x != ?y) ."
    assert translated(rules, STUDENT, KNOWS) == [
        f"{PERSON.name}(?v0) :- {STUDENT.name}(?v0) .",
        f"{KNOWS.name}(?v0, ?v1) :- {KNOWS.name}(?v1, ?v0), ?v1 != ?v0 .",
    ]


def test_open_predicates_are_written_out_and_filters_on_them_decided() -> None:
    rules = "[?s, ?p, ?y] :- owl:sameAs[?x, ?y], [?s, ?p, ?x], FILTER(?x != ?y && ?p != rdf:type && ?p != :knows) ."
    assert translated(rules, KNOWS, SAME) == [
        f"{SAME.name}(?v0, ?v1) :- {SAME.name}(?v2, ?v1), {SAME.name}(?v0, ?v2), ?v2 != ?v1 ."
    ]


def test_rules_that_can_have_no_instance_are_left_out() -> None:
    rules = "owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] . [?y, ?p, ?o] :- owl:sameAs[?x, ?y], [?x, ?p, ?o] ."
    assert translated(rules, KNOWS, STUDENT) == []


def test_what_nemo_would_not_compute_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="conjunction of comparisons"):
        translated(":knows[?x, ?y] :- :knows[?y, ?x], FILTER(?x = ?y || ?y = ?x) .", KNOWS)


def test_split_puts_every_triple_into_one_relation(tmp_path: Path) -> None:
    source = tmp_path / "data.nt"
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    triples = [
        f"<http://a> {kind} <{STUDENT.iri}> .",
        f"<http://a> <{KNOWS.iri}> _:b .",
        f'<http://a> <{KNOWS.iri}> "x, \\"y\\"" .',
    ]
    source.write_text("".join(f"{triple}\n" for triple in triples), encoding="utf-8")
    files = split(tmp_path / "relations", [source])
    assert {predicate: Path(file).read_text(encoding="utf-8") for predicate, file in files.items()} == {
        STUDENT: "<http://a>\n",
        KNOWS: '<http://a>,<bnode:b>\n<http://a>,"""x, \\""y\\"""""\n',
    }
    assert csv_cell('"x"') == '"""x"""'


# ---- contests

LIMITS = RunLimits(seconds=60, bytes=4_000_000_000)


def measurement(materialise_cpu: float, answer: int = 10) -> Measurement:
    return Measurement("1.0", 0.1, 1.0, 1.0, materialise_cpu, materialise_cpu, 0, 1000, 2000, 10, answer, 5)


def test_ratios_are_those_of_the_same_round() -> None:
    job = Job("LUBM(1)", RDFS)
    ours = Entry("kg-reasoner", job, [measurement(1), measurement(10), measurement(1)])
    theirs = Entry("nemo", job, [measurement(2), measurement(20), measurement(30)])
    assert theirs.ratio(ours, lambda run: run.materialise_cpu) == 2
    assert theirs.middle(lambda run: run.materialise_cpu) == 20


def test_different_answers_are_reported() -> None:
    job = Job("LUBM(1)", OWL2RL)
    agree = [Entry("kg-reasoner", job, [measurement(1)]), Entry("nemo", job, [measurement(1)]), Entry("owlrl", job)]
    assert list(report.disagreements(agree)) == []
    agree[1].rounds.append(measurement(1, answer=11))
    assert list(report.disagreements(agree)) == ["WARNING: the numbers of facts differ: kg-reasoner 10, nemo 10, nemo 11"]


def test_systems_that_were_too_slow_do_not_start_on_larger_data() -> None:
    slow = Contestant("slow", "benchmarks.contestants.missing", "missing")
    earlier = [Entry("slow", Job("LUBM(1)", RDFS), over=LIMITS, remark="over 60 s")]
    (skipped,) = contest(Job("LUBM(5)", RDFS), [slow], 1, LIMITS, earlier)
    (skipped_too,) = contest(Job("LUBM(50)", RDFS), [slow], 1, LIMITS, [*earlier, skipped])
    assert skipped.remark == skipped_too.remark == "not started (over 60 s on LUBM(1))"
    (tried,) = contest(Job("LUBM(5)", OWL2RL), [slow], 1, LIMITS, earlier)
    assert (tried.failed, tried.remark) == (True, "not installed: pip install '.[bench]'")


@pytest.mark.parametrize(
    ("limits", "remark"),
    [
        (RunLimits(seconds=0.05, bytes=4_000_000_000), "over 0 s"),
        (RunLimits(seconds=60, bytes=20_000_000), "over 0.0 GB of memory"),
    ],
)
def test_limits_are_kept(tmp_path: Path, limits: RunLimits, remark: str) -> None:
    graph = tmp_path / "edge.txt"
    graph.write_text("1 2 a\n", encoding="ascii")
    ours = [one for one in CONTESTANTS if one.name == "kg-reasoner"]
    (entry,) = contest(graph_job(graph, LINEAR, tmp_path / "cache"), ours, 2, limits)
    assert (entry.rounds, entry.over, entry.remark, entry.failed) == ([], limits, remark, False)


def test_a_contest_from_a_graph_to_the_table(tmp_path: Path) -> None:
    graph = tmp_path / "circle.txt"
    graph.write_text("".join(f"{node} {(node + 1) % 4} a\n" for node in range(4)), encoding="ascii")
    taking_part = [one for one in CONTESTANTS if one.name in ("kg-reasoner", "owlrl")]
    entries = contest(graph_job(graph, NONLINEAR, tmp_path / "cache"), taking_part, rounds=1, limits=LIMITS)
    assert [(entry.contestant, entry.remark, [run.answer for run in entry.rounds]) for entry in entries] == [
        ("kg-reasoner", "", [16]),
        ("owlrl", "", [16]),
    ]
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(report.table(entries[0].job, entries))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "circle: non-linear closure" in printed
    assert "…" not in printed
    report.write_json(tmp_path / "result.json", entries)
    stored = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert [entry["rounds"][0]["answer"] for entry in stored["entries"]] == [16, 16]


def test_what_is_hidden_from_users_is_counted_as_the_peers_do(tmp_path: Path) -> None:
    ontology, data = tmp_path / "ontology.nt", tmp_path / "data.nt"
    ontology.write_text("<urn:A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> _:b .\n", encoding="ascii")
    data.write_text("<urn:x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:A> .\n", encoding="ascii")
    job = Job("a blank class", RDFS, {"ontology.nt": str(ontology), "ntriples": str(data)})
    ours = Ours()
    ours.start()
    ours.load(job)
    assert ours.count(job).answer == 3  # also that x is a member of the blank class


def shown(table: object, width: int = report.WIDTH) -> str:
    """A table of rich as text."""
    file = io.StringIO()
    Console(file=file, width=width).print(table)
    return file.getvalue()


def test_a_missing_peer_is_named_with_the_extra() -> None:
    entry = Entry("nemo", Job("LUBM(1)", RDFS), failed=True, remark="not installed: pip install '.[bench]'")
    assert "nemo: not installed: pip install '.[bench]'" in shown(report.table(entry.job, [entry]))


@pytest.mark.parametrize("command", [benchmark.main, conformance.main])
def test_missing_peers_end_the_command_before_it_runs(command: click.Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "is_installed", lambda package: package != "reasonable")
    done = CliRunner().invoke(command, ["-c", "reasonable", "-c", "owlrl"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "not installed: reasonable. Run pip install '.[bench]', or" in done.stderr


def test_missing_suites_end_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(conformance_cases, "SUITE_FOLDER", tmp_path)
    done = CliRunner().invoke(conformance.main, ["-c", "by the book"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "the W3C's suites are missing" in done.stderr


def test_a_run_without_any_measurement_fails(tmp_path: Path) -> None:
    done = CliRunner().invoke(benchmark.main, ["-c", "kg-reasoner", "-t", "linear", "--graphs", str(tmp_path)])
    assert done.exit_code == 1
    assert "name their folder with --graphs" in done.stderr
    assert "nothing was measured" in done.stderr


@pytest.mark.parametrize("command", [benchmark.main, maintenance.main, dbsp.main])
def test_a_plot_without_matplotlib_is_refused_before_the_run(
    command: click.Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(needs, "is_installed", lambda package: package != "matplotlib")
    done = CliRunner().invoke(command, ["--plot", str(tmp_path / "plot.png")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--plot needs matplotlib: pip install '.[bench]'" in done.stderr


def test_nemo_agrees_with_the_closure(tmp_path: Path) -> None:
    needed("nmo_python")
    graph = tmp_path / "path.txt"
    graph.write_text("1 2 a\n2 3 a\n3 4 a\n", encoding="ascii")
    nemo = [one for one in CONTESTANTS if one.name == "nemo"]
    assert set(PROGRAMS) == {LINEAR, NONLINEAR}
    for task in PROGRAMS:
        (entry,) = contest(graph_job(graph, task, tmp_path / "cache"), nemo, rounds=1, limits=LIMITS)
        assert [(run.answer, run.facts) for run in entry.rounds] == [(6, 9)], entry.remark


@pytest.mark.long
def test_validation_finds_the_same_in_each_way() -> None:
    needed("pyshacl")
    needed("owlrl")
    run = CliRunner().invoke(shacl.main, ["-n", "60", "-r", "1"])
    assert run.exit_code == 0, run.output
    ways = [line for line in run.output.splitlines() if "graph" in line and line.split()[-1] == "1"]
    assert len(ways) == 3, run.output
    shorter = CliRunner().invoke(shacl.main, ["-n", "60", "-r", "1", "--without-owlrl"])
    assert shorter.output.count("plain graph") == 1


def test_an_ontology_by_the_book_before_any_data_are_made(tmp_path: Path) -> None:
    ontology = tmp_path / "small.ttl"
    ontology.write_bytes(by_the_book.SMALL)
    options = ["--ontology", str(ontology), "-r", "1", "--cache", str(tmp_path / "new" / "folder")]
    run = CliRunner().invoke(by_the_book.main, options, catch_exceptions=False)
    assert run.exit_code == 0, run.output
    rows = {cells[0]: cells[1:] for cells in map(str.split, run.output.splitlines()) if cells and cells[0].startswith("owl2rl")}
    assert rows.keys() == {"owl2rl-full", "owl2rl"}
    for start, *_, inferred in rows.values():
        assert float(start) > 0 and inferred == "1", "the triple that follows is counted"


def test_commands_have_the_same_settings() -> None:
    """So `-h` shows the help of each."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in Path(benchmark.__file__).parent.rglob("*.py")}
    commands = {name: call for name, text in sources.items() for call in re.findall(r"@click\.command\((.*)\)", text)}
    assert len(commands) > 30
    assert [name for name, call in commands.items() if "SETTINGS" not in call] == []


def test_numbers_and_rule_sets_that_commands_take_are_checked() -> None:
    """So a wrong one is wrong usage, and neither an error amid the run nor a table of nothing."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in Path(benchmark.__file__).parent.rglob("*.py")}
    options = [(name, call) for name, text in sources.items() for call in re.findall(r"@click\.option\((.*?)\)\n", text, re.DOTALL)]
    assert len(options) > 100
    numbers = [each for each in options if re.search(r"type=int\b|default=[\d_]", each[1]) and '"--seed"' not in each[1]]
    assert [each for each in numbers if "Range(" not in each[1]] == []
    rule_sets = [each for each in options if '"--ruleset"' in each[1] and each[0] != "owlready2_tests.py"]
    assert [each for each in rule_sets if "click.Choice(" not in each[1]] == []


def test_a_name_of_no_job_is_refused() -> None:
    result = CliRunner().invoke(values.main, ["0.0001", "none such"])
    assert result.exit_code == 2 and "no job has one of these names; the jobs are" in result.output


def test_a_file_that_is_no_gene_ontology_is_refused(tmp_path: Path) -> None:
    (tmp_path / "GO.sqlite").write_text("no tables")
    result = CliRunner().invoke(gene_ontology.main, [str(tmp_path / "GO.sqlite"), str(tmp_path / "go.nt")])
    assert result.exit_code == 1 and "is not GO.db" in result.output and not (tmp_path / "go.nt").exists()
