"""Engines for Datalog and SQL in the contest: translations of our rules (``engine_rules``), what engines print, who is missing."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from benchmarks import __main__ as benchmark
from benchmarks import scale
from benchmarks.contestants import differential_dataflow, souffle, vlog
from benchmarks.contestants.ours import from_file_to_file
from benchmarks.contests import contest, report
from benchmarks.contests.contest import CONTESTANTS, Contestant, Entry, RunLimits
from benchmarks.inputs.data import engine_files, tsv
from benchmarks.inputs.jobs import DLP, DLP_RULES, OWL2RL, RDFS, Job
from benchmarks.measuring import children, needs
from benchmarks.measuring.measure import Measurement
from benchmarks.translations import relational, souffle_rules, sql_rules, vlog_rules
from benchmarks.translations.nemo_rules import Predicate
from kg_reasoner import Reasoner
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.language.parser import parse

FIXTURES = Path(__file__).parent / "engine_rules"
EXAMPLE = "http://example.org/"
RULES = """@prefix : <http://example.org/> .
:Person[?x] :- :Student[?x] .
:Person[?x] :- :memberOf[?x, ?y], :Group[?y] .
:partOf[?x, ?z] :- :partOf[?x, ?y], :partOf[?y, ?z] .
:Guest[?x] :- :memberOf[?x, :club] .
:Ghost[?x] :- :haunts[?x, ?y] .
"""
FILLED = [Predicate(EXAMPLE + name, arity) for name, arity in (("Student", 1), ("Group", 1), ("memberOf", 2), ("partOf", 2))]
TRANSITIVE = "[?x, ?p, ?z] :- [?p, rdf:type, owl:TransitiveProperty], [?x, ?p, ?y], [?y, ?p, ?z] ."


def program(layout: str) -> relational.Program:
    if layout == "predicates":
        return relational.by_predicate(parse(RULES).rules, FILLED)
    return relational.ternary(parse(TRANSITIVE).rules)


TRANSLATIONS = {
    "souffle-load.dl": lambda given: souffle_rules.program(given, "load"),
    "souffle-reason.dl": lambda given: souffle_rules.program(given, "reason"),
    "souffle-write.dl": lambda given: souffle_rules.program(given, "write"),
    "vlog.rules": vlog_rules.program,
    "duckdb.sql": lambda given: sql_rules.text(sql_rules.script(given, ["data.nt"])),
}


@pytest.mark.parametrize("layout", ["predicates", "ternary"])
@pytest.mark.parametrize("name", TRANSLATIONS)
def test_translations(layout: str, name: str) -> None:
    """``KG_REASONER_SNAPSHOTS=write`` writes them anew: read the difference before you commit it."""
    translated = TRANSLATIONS[name](program(layout))
    file = FIXTURES / f"{layout}-{name}"
    if os.environ.get("KG_REASONER_SNAPSHOTS") == "write":
        file.write_text(translated, encoding="utf-8")
    assert translated == file.read_text(encoding="utf-8")


def test_what_is_not_translated_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="bodies are atoms"):
        relational.ternary(parse("[?x, rdf:type, ?c] :- [?x, rdf:type, ?c], FILTER(?x != ?c) .").rules)
    with pytest.raises(UnsupportedError, match="not a triple pattern"):
        relational.ternary(parse("p(?x) :- [?x, rdf:type, ?c] .").rules)


def test_symbols_are_escaped() -> None:
    rules = parse(r'@prefix : <http://example.org/> . :p[?x, "a \"b\" \\"] :- :p[?x, ?x] .').rules
    text = souffle_rules.program(relational.by_predicate(rules, [Predicate(EXAMPLE + "p", 2)]), "reason")
    assert r'"\"a \\\"b\\\" \\\\\""' in text


# ---- data

ONTOLOGY = f"""<{EXAMPLE}Student> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{EXAMPLE}Person> .
<{EXAMPLE}partOf> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#TransitiveProperty> .
<{EXAMPLE}knows> <http://www.w3.org/2000/01/rdf-schema#domain> <{EXAMPLE}Person> .
<{EXAMPLE}knows> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <{EXAMPLE}met> .
"""
DATA = f"""<{EXAMPLE}a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{EXAMPLE}Student> .
<{EXAMPLE}a> <{EXAMPLE}knows> _:b .
<{EXAMPLE}a> <{EXAMPLE}knows> "B, \\"or\\" C"@en .
_:b <{EXAMPLE}partOf> <{EXAMPLE}c> .
<{EXAMPLE}c> <{EXAMPLE}partOf> <{EXAMPLE}d> .
<{EXAMPLE}d> <{EXAMPLE}partOf> <{EXAMPLE}e> .
"""
EXPECTED = {RDFS: 13, DLP: 16}
"""How many facts there are: ten explicit ones, three through classes and properties above, and under DLP three of partOf."""


@pytest.fixture(params=[RDFS, DLP])
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Job:
    """A small job of each task."""
    ontology, data = tmp_path / "ontology.nt", tmp_path / "data.nt"
    ontology.write_text(ONTOLOGY, encoding="utf-8")
    data.write_text(DATA, encoding="utf-8")
    reasoner = Reasoner(DLP_RULES) if request.param == DLP else Reasoner(ruleset=request.param)
    reasoner.load(str(ontology))
    files = {"ontology.nt": ontology, "ntriples": data} | engine_files(
        request.param, reasoner.rules, tmp_path / "x", [ontology, data]
    )
    return Job("small", request.param, {kind: str(path) for kind, path in files.items()})


def test_facts_of_souffle_are_terms_between_tabs(tmp_path: Path) -> None:
    data = tmp_path / "data.nt"
    data.write_text(DATA, encoding="utf-8")
    lines = list(tsv([data]))
    assert lines[1] == f"<{EXAMPLE}a>\t<{EXAMPLE}knows>\t_:b\n".encode()
    assert lines[2] == f'<{EXAMPLE}a>\t<{EXAMPLE}knows>\t"B, \\"or\\" C"@en\n'.encode()


LIMITS = RunLimits(seconds=120, bytes=8_000_000_000)


def entry_of(job: Job, name: str) -> Entry:
    (entry,) = contest.contest(job, [one for one in CONTESTANTS if one.name == name], rounds=1, limits=LIMITS)
    return entry


@pytest.mark.parametrize(
    "name", [one.name for one in CONTESTANTS if one.module and one.name not in ("reasonable", "owlrl", "maplib", "nemo")]
)
@pytest.mark.sample(3)
def test_engines_have_our_results(job: Job, name: str) -> None:
    (contestant,) = (one for one in CONTESTANTS if one.name == name)
    if reason := contestant.missing() or contestant.cannot.get(job.task):
        pytest.skip(reason)
    writes = name != "differential-dataflow"
    if not (writes or differential_dataflow.program().exists()):
        pytest.skip(f"{name} takes minutes to build: run `python -m benchmarks.differential`")
    entry = entry_of(job, name)
    assert [run.answer for run in entry.rounds] == [EXPECTED[job.task]], entry.remark
    assert all((run.files_cpu is not None) == writes for run in entry.rounds)


@pytest.mark.long
def test_our_command_writes_everything(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def look(command: list[str]) -> children.Child:
        done = children.run(command)
        written.append(len(Path(command[-1]).read_text(encoding="utf-8").splitlines()))
        return done

    monkeypatch.setattr("benchmarks.contestants.ours.run", look)
    assert from_file_to_file(job).cpu > 0
    assert written == [EXPECTED[job.task]]


def test_souffle_by_a_program_that_prints_sizes(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for Soufflé prints the number of lines of each input, and one more derived fact."""
    command = tmp_path / "bin" / "souffle"
    command.parent.mkdir()
    command.write_text(
        f"#!{sys.executable}\n"
        "import re, sys\n"
        "if '--version' in sys.argv: print('Version: 2.5'); sys.exit()\n"
        "folder, text = sys.argv[sys.argv.index('-F') + 1], open(sys.argv[1]).read()\n"
        "for name in re.findall(r'^[.]input (.*)$', text, re.M):\n"
        "    print(name, len(open(f'{folder}/{name}.facts').readlines()), sep='\\t')\n"
        "if ':-' in text: print('derived', 1, sep='\\t')\n",
        encoding="utf-8",
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    measured = souffle.interpreted(job)
    assert (measured.version, measured.inputs, measured.answer) == ("2.5", 10, 11)
    assert measured.bytes_per_fact is None


# ---- what the engines print


def test_sizes_of_souffle() -> None:
    assert souffle_rules.sizes("class_A\t3\nWarning: none\nproperty_b\t6\n") == {"class_A": 3, "property_b": 6}


def test_seconds_of_vlog() -> None:
    log = "[0x1 2026-11-23 01:44:53] INFO  Starting\n[0x1 2026-11-23 01:44:54] INFO  Runtime materialization = 71.5 milliseconds\n"
    assert vlog_rules.reasoning_seconds(log) == pytest.approx(0.0715)
    with pytest.raises(ValueError, match="does not say how long"):
        vlog_rules.reasoning_seconds("ERROR Could not open the rules")


def test_the_date_of_vlog_stands_for_its_version(tmp_path: Path) -> None:
    program = tmp_path / "vlog"
    program.touch()
    os.utime(program, (1_700_000_000, 1_700_000_000))
    assert vlog.version(str(program)) == "of 2023-11-14"


def test_children_are_measured() -> None:
    done = children.run([sys.executable, "-c", "x = bytearray(60_000_000); print(sum(range(10**6)))"])
    assert done.printed == "499999500000\n"
    assert done.peak_bytes > 60_000_000
    assert done.cpu > 0
    with pytest.raises(RuntimeError, match=r"ended with code 3: no such thing$"):
        children.run([sys.executable, "-c", "import sys; print('no such thing'); sys.exit(3)"])


# ---- who is missing


def test_missing_peers_are_named_with_their_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda command: None)
    monkeypatch.setattr(needs, "is_installed", lambda package: package in ("kg_reasoner", "duckdb"))
    file = io.StringIO()
    present = benchmark.present((), Console(file=file, width=300))
    assert [one.name for one in present] == ["kg-reasoner", "duckdb"]
    assert file.getvalue().splitlines() == [
        "left out: nemo: not installed; run pip install '.[bench]'",
        "left out: reasonable: not installed; run pip install '.[bench]'",
        "left out: owlrl: not installed; run pip install '.[bench]'",
        "left out: vlog: there is no `vlog` on the PATH (https://github.com/karmaresearch/vlog)",
        "left out: souffle compiled: there is no `souffle` on the PATH (https://souffle-lang.github.io)",
        "left out: souffle interpreted: there is no `souffle` on the PATH (https://souffle-lang.github.io)",
        "left out: maplib: not installed; run pip install '.[bench]'",
        "left out: differential-dataflow: there is no `cargo` on the PATH (https://rustup.rs)",
    ]


def test_a_chosen_peer_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda command: None)
    done = CliRunner().invoke(benchmark.main, ["-c", "vlog"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "vlog: there is no `vlog` on the PATH" in done.stderr


def test_engines_that_cannot_run_are_not_prepared() -> None:
    prepared: list[Job] = []
    peer = Contestant("peer", "benchmarks.contestants.missing", cannot={OWL2RL: "has no rules"}, prepare=prepared.append)
    (entry,) = contest.contest(Job("LUBM(1)", OWL2RL), [peer], 1, LIMITS)
    assert (entry.remark, prepared) == ("has no rules", [])


def test_the_numbers_of_derived_facts_are_compared() -> None:
    job = Job("LUBM(1)", DLP)

    def entry(name: str, answer: int | None) -> Entry:
        return Entry(name, job, [Measurement("1", 0, 1, 1, 1, 1, 0, 0, 1, 10, answer, 7)])

    agree = [entry("kg-reasoner", 10), entry("vlog", 10), entry("maplib", None)]
    assert list(report.agreement(agree)) == ["The same 10 facts, 3 of them derived: kg-reasoner, vlog."]
    assert list(report.agreement([*agree, entry("duckdb", 11)])) == []
    assert list(report.disagreements([*agree, entry("duckdb", 11)]))


def test_growth_is_relative_to_the_smallest_size() -> None:
    def best(inputs: int, load: float, materialise: float) -> Measurement:
        return Measurement("1", 0, load, 2, materialise, 3, 0, 200 * inputs, 10**9, 2 * inputs, None, inputs)

    small, large = scale.rows([scale.Scale(1, best(10**6, 1, 0.5)), scale.Scale(3, best(3 * 10**6, 6, 1.5))])
    assert small == [
        "LUBM(1)",
        "1,000,000",
        "2,000,000",
        "1.00",
        "0.50",
        "1.00",
        "0.250",
        "1.00",
        "1.00",
        "1.00",
        "100",
        "2.00",
        "3.00",
    ]
    assert large[7:9] == ["2.00", "1.00"]


@pytest.mark.long
def test_growth_is_measured_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "lubm1").mkdir()
    (tmp_path / "lubm1" / "data.nt").write_text(DATA, encoding="utf-8")
    (tmp_path / "ontology.nt").write_text(ONTOLOGY, encoding="utf-8")
    done = CliRunner().invoke(scale.main, ["-u", "1", "-t", "dlp", "--cache", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (row,) = [line.split() for line in done.output.splitlines() if "LUBM(1)" in line]
    assert row[1:3] == ["10", "16"]
    too_large = CliRunner().invoke(scale.main, ["-u", "1", "--memory", "0.12", "--limit", "9", "--cache", str(tmp_path)])
    assert too_large.exit_code == 1
    assert "LUBM(1): over" in too_large.output
