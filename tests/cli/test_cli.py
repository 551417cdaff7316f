"""The command line: what it prints where, its exit codes, and that bad input gives one message and leaves nothing half-written."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import click
import pyoxigraph
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from kg_reasoner import lubm, rulesets
from kg_reasoner.cli import main
from kg_reasoner.language.parser import parse
from tests.helpers.effort import thinned
from tests.helpers.suites import SUITES, needs_suite

ROOT = Path(__file__).resolve().parents[2]
SUITE = SUITES / "lubm"

ZOO = """
@prefix : <http://example.org/zoo#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Lion rdfs:subClassOf :Cat .
:Cat rdfs:subClassOf :Animal .
:Cat owl:disjointWith :Dog .
:leo a :Lion ; :name "Leo" ; :age 7 .
:tom a :Cat ; :name "Tom"@en .
"""
PREFIX = "PREFIX : <http://example.org/zoo#> "
EXAMPLE = "http://example.org/zoo#"


def kg(*arguments: object, input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)


def good(*arguments: object, code: int = 0, input: str | bytes | None = None) -> Result:
    result = kg(*arguments, input=input)
    assert result.exit_code == code, result.output
    return result


def bad(*arguments: object, code: int = 1, input: str | bytes | None = None) -> str:
    """The one message of a command that fails."""
    result = kg(*arguments, input=input)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), "no traceback"
    assert result.stdout == "", "standard output is for results"
    return result.stderr


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.ttl"
    path.write_text(ZOO)
    return path


# ---- the command itself


def test_help_names_the_commands_and_the_exit_codes() -> None:
    text = good("--help").stdout
    for command in ("materialise", "query", "run", "rules", "check", "generate", "demo"):
        assert f"\n  {command} " in text
    assert "Exit codes:" in text and "130  interrupted" in text
    assert "materialize" not in text


def test_the_other_spelling_works_too() -> None:
    assert good("materialize", "--help").stdout.startswith("Usage: main materiali")


def test_help_is_quick() -> None:
    code = "import sys; from kg_reasoner.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules, sep=',')"
    listed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    modules = set(listed.splitlines()[-1].split(","))
    assert "click" in modules
    assert not modules & {"rdflib", "llvmlite", "numpy", "rich", "lark", "pyoxigraph", "owlready2"}


def test_the_command_runs_as_a_module() -> None:
    shown = subprocess.run([sys.executable, "-m", "kg_reasoner", "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("kg-reasoner, version ")


@pytest.mark.parametrize(
    "arguments", [["unknown"], ["query"], ["materialise", "a.ttl"], ["query", "a.ttl", "-Q", "ASK {}", "--format", "xls"]]
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    assert "Usage: " in bad(*arguments, code=2)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--ruleset", "owl2rI", "unknown rule set 'owl2rI', did you mean 'owl2rl'?"),
        ("--input-format", "foo", "unknown RDF format 'foo'; choose one of: functional,"),
        ("--bound", "lines=7", "unknown bound 'lines', did you mean 'line'?; choose one of: depth,"),
        ("--bound", "line=x", "the bound line must be a positive integer"),
        ("--base", "zoo", "'zoo' is not an absolute IRI"),
    ],
)
def test_a_wrong_value_of_an_option_is_wrong_usage(zoo: Path, option: str, value: str, message: str) -> None:
    shown = bad("query", zoo, "-Q", "ASK {}", option, value, code=2)
    assert f"Invalid value for '{option}'" in shown.replace("'-r' / ", "") and message in shown


def test_hints_name_options(zoo: Path) -> None:
    shown = bad("check", zoo, "--ruleset", "owl2el", "--equality", "rewrite")
    assert "hint: use --equality axioms for this rule" in shown


@pytest.mark.parametrize(("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_a_signal_ends_it_and_nothing_half_written_remains(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int, word: str
) -> None:
    def interrupt(_: str) -> None:
        if number == signal.SIGINT:  # which tests that run in the background ignore
            signal.signal(number, signal.default_int_handler)
        signal.raise_signal(number)

    monkeypatch.setattr(rulesets, "packaged", interrupt)
    before = signal.getsignal(signal.SIGTERM)
    assert bad("materialise", zoo, "-o", tmp_path / "out.nt", code=code) == f"{word}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["zoo.ttl"]
    assert signal.getsignal(signal.SIGTERM) is before


def as_process(arguments: list[str], output: IO[bytes]) -> tuple[int, str]:
    """The exit code of a process that writes to `output`, and its messages."""
    done = subprocess.run(
        [sys.executable, "-m", "kg_reasoner", *arguments], cwd=ROOT, stdout=output, stderr=subprocess.PIPE, check=False
    )
    return done.returncode, done.stderr.decode()


def test_a_closed_output_ends_it_silently() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        assert as_process(["rules"], closed) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_reported() -> None:
    with Path("/dev/full").open("wb") as full:
        assert as_process(["rules"], full) == (1, "error: cannot write to standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("redirection", "arguments", "code", "message"),
    [
        (">&-", "rules", 1, "error: cannot write to standard output: Bad file descriptor\n"),
        (">&-", "--version", 1, "error: cannot write to standard output: Bad file descriptor\n"),
        ("2>&-", "query missing.ttl -Q ASK{}", 1, ""),
        ("2>&-", "rules", 0, ""),
        ("<&-", "rules", 0, ""),
        ("<&-", "query - -Q ASK{}", 1, "error: cannot read <stdin>: Bad file descriptor\n"),
        ("<&-", "query /dev/null -Q -", 1, "error: cannot read standard input: Bad file descriptor\n"),
        ("<&-", "shell /dev/null", 1, "error: cannot read standard input: Bad file descriptor\n"),
        (">/dev/full", "--help", 1, "error: cannot write to standard output: No space left on device\n"),
    ],
)
def test_standard_streams_that_cannot_be_used(redirection: str, arguments: str, code: int, message: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    command = f"{shlex.quote(sys.executable)} -m kg_reasoner {arguments} {redirection}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system has no name for standard output")
def test_a_file_that_is_standard_output_is_not_replaced(zoo: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    python, data = shlex.quote(sys.executable), shlex.quote(str(zoo))
    command = f"{python} -m kg_reasoner materialise {data} -q -o /dev/stdout"
    subprocess.run(["sh", "-c", f"(echo begin; {command}; echo end) >> {log}"], cwd=ROOT, check=True)
    expected = good("materialise", zoo, "-q", "-o", "-").stdout
    assert log.read_text() == f"begin\n{expected}end\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"\xef\xbb\xbfASK {}", None),
        (b"ASK {\r\n}", None),
        (b"ASK {\n\xff}", "error: cannot read standard input: byte 1 of line 2 is not UTF-8 text\n"),
    ],
)
def test_standard_input_is_utf_8(given: bytes, message: str | None) -> None:
    for arguments, end in [(["query", os.devnull, "-Q", "-"], b""), (["shell", os.devnull], b";")]:
        if message is None:
            assert good(*arguments, input=given + end).stdout.lower() == "true\n"
        else:
            assert bad(*arguments, input=given + end) == message


@pytest.mark.parametrize(
    "arguments",
    [
        ("materialise", "", "-o", "-"),
        ("materialise", os.devnull, "-o", ""),
        ("query", os.devnull, "-Q", ""),
        ("query", os.devnull, "-Q", "ASK {}", "--rules", ""),
        ("query", os.devnull, "-Q", "ASK {}", "--catalog="),
        ("check", os.devnull, ""),
        ("run", os.devnull, "--facts", ""),
        ("run", os.devnull, "-o", ""),
        ("generate", "lubm", "-o", ""),
        ("spark", "check", ""),
    ],
)
def test_an_empty_text_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    """An unset variable of a shell must not stand for the working directory."""
    assert "the text is empty" in bad(*arguments, code=2)


# ---- rules


def test_rule_sets_are_listed() -> None:
    lines = good("rules").stdout.splitlines()
    assert lines[0].split() == ["rule", "set", "rules", "description"]
    assert [line.split()[0] for line in lines[2:]] == list(rulesets.names())
    listed = json.loads(good("rules", "--format", "json").stdout)
    assert {entry["name"]: entry["rules"] for entry in listed} == {
        name: len(rulesets.load(name).program.rules) for name in rulesets.names()
    }


@pytest.mark.parametrize("name", rulesets.names())
@pytest.mark.sample(3)
def test_a_printed_rule_set_is_the_rule_set(name: str) -> None:
    program = rulesets.load(name).program
    assert parse(good("rules", "--ruleset", name).stdout) == program
    printed = json.loads(good("rules", "--ruleset", name, "--format", "json").stdout)
    assert [parse(entry["rule"]).rules[0] for entry in printed["rules"]] == list(program.rules)


def test_rules_of_an_ontology_come_axiom_by_axiom(zoo: Path) -> None:
    result = good("rules", zoo)
    assert "\n# SubClassOf(:Lion :Cat)\n:Cat[?x] :- :Lion[?x] .\n" in result.stdout
    assert "\n# DisjointClasses(:Cat :Dog)\nfalse :- " in result.stdout
    assert len(parse(result.stdout).rules) == 3
    assert "3 rules from 3 axioms, besides the" in result.stderr
    rules = json.loads(good("rules", zoo, "-f", "json").stdout)["rules"]
    assert {entry["axiom"] for entry in rules} >= {"SubClassOf(zoo:Lion zoo:Cat)", "SubClassOf(zoo:Cat zoo:Animal)"}


def test_axioms_beyond_the_rules_are_reported() -> None:
    result = good("rules", lubm.ontology_path())
    assert "8 axioms cannot be fully expressed by rules:" in result.stderr
    assert "ub:Chair" in result.stderr and "requires an anonymous individual" in result.stderr
    warnings = json.loads(good("rules", lubm.ontology_path(), "-f", "json").stdout)["warnings"]
    assert len(warnings) == 8 and all(entry["reason"] for entry in warnings)


def test_an_unknown_rule_set_is_refused_with_similar_names(zoo: Path) -> None:
    for arguments in (["rules"], ["rules", zoo], ["query", zoo, "-Q", "ASK {}"], ["check", zoo]):
        message = bad(*arguments, "--ruleset", "owl2rI", code=2)
        assert "unknown rule set 'owl2rI', did you mean 'owl2rl'?" in message


# ---- generate


def test_generate_writes_the_data(tmp_path: Path) -> None:
    path, packed = tmp_path / "one.nt", tmp_path / "one.nt.gz"
    result = good("generate", "lubm", "--universities", 1, "--seed", 4, "--output", path)
    assert path.read_bytes() == b"".join(lubm.generate(1, 4))
    assert result.stdout == "" and "statements about 1 university" in result.stderr
    good("generate", "lubm", "--seed", 4, "--output", packed, "--quiet")
    assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
    again = packed.read_bytes()
    good("generate", "lubm", "--seed", 4, "--output", packed)
    assert packed.read_bytes() == again, "no time stamp in the compressed file"


def test_generate_writes_to_standard_output() -> None:
    result = good("generate", "lubm", "-n", 1, "--start", 2, "--seed", 4, "-q")
    assert result.stdout_bytes == b"".join(lubm.generate(1, 4, start=2))
    assert result.stderr == ""
    assert good("generate", "lubm-ontology").stdout_bytes == lubm.ontology_path().read_bytes()


def test_generate_refuses_an_unwritable_output_at_once(tmp_path: Path) -> None:
    message = bad("generate", "lubm", "-n", 10**9, "--output", tmp_path / "no folder" / "a.nt")
    assert "cannot write" in message and "no folder" in message
    bad("generate", "lubm", "-n", -1, code=2)


# ---- materialise


def triples(text: str) -> set[str]:
    return {line for line in text.splitlines() if line}


def test_facts_that_are_no_rdf_are_counted(write: Write, tmp_path: Path) -> None:
    data = write("zoo.ttl", f"@prefix : <{EXAMPLE}> . :leo :name 'Leo', 'Lion' . :tom :name 'Tom' .")
    rules = write("names.dl", f"@prefix : <{EXAMPLE}> . [?n, :of, ?x] :- [?x, :name, ?n] . [?x, ?n, :y] :- [?x, :name, ?n] .")
    arguments = "materialise", data, "--rules", rules, "-o", tmp_path / "out.nt"
    for options in ([], ["--graphs", "graph"]):
        told = good(*arguments, *options).stderr
        assert "3 triples written" in told and "6 inferred facts omitted: with a literal as the subject, or" in told
    assert good(*arguments, "-q").stderr == ""
    assert "omitted" not in good("materialise", data, "-o", tmp_path / "out.nt").stderr


def inferred(line: str) -> str:
    subject, cls = line.split()
    return f"<{EXAMPLE}{subject}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{EXAMPLE}{cls}> ."


def test_materialise_writes_what_follows(zoo: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.nt"
    result = good("materialise", zoo, "--ruleset", "rdfs", "--output", output)
    everything = triples(output.read_text())
    assert {inferred("leo Cat"), inferred("leo Animal"), inferred("tom Animal")} <= everything
    assert result.stdout == "" and f"{len(everything)} triples written to" in result.stderr

    only = triples(good("materialise", zoo, "-r", "rdfs", "-o", "-", "--inferred-only", "-q").stdout)
    assert inferred("leo Animal") in only < everything and inferred("leo Lion") not in only


def test_materialise_follows_the_name_or_the_format_of_the_output(zoo: Path, tmp_path: Path) -> None:
    packed = tmp_path / "out.nt.gz"
    good("materialise", zoo, "-o", packed)
    assert inferred("leo Animal") in triples(gzip.decompress(packed.read_bytes()).decode())
    turtle = tmp_path / "out.ttl"
    good("materialise", zoo, "-o", turtle)
    again = good("materialise", turtle, "-o", "-", "-q").stdout
    assert triples(again) == triples(gzip.decompress(packed.read_bytes()).decode())
    assert "did you mean 'turtle'" in bad("materialise", zoo, "-o", tmp_path / "x", "--format", "turtel", code=2)
    other = tmp_path / "other.xyz"
    assert ".jsonld, .n3" in (message := bad("materialise", zoo, "-o", other, code=2)) and "--format" in message
    good("materialise", zoo, "-o", other, "--format", "nt")
    assert inferred("leo Animal") in triples(other.read_text())
    good("materialise", zoo, "-o", os.devnull)


def test_the_output_has_the_prefixes_of_the_inputs(zoo: Path) -> None:
    for format in ("turtle", "trig"):
        assert "\n:leo" in good("materialise", zoo, "-o", "-", "--format", format).stdout


def test_materialise_says_what_it_cannot_write_before_the_work(zoo: Path, tmp_path: Path) -> None:
    assert ".obo is not an extension of a syntax that can be written" in bad("materialise", zoo, "-o", tmp_path / "x.obo", code=2)
    graph = "materialise", zoo, "--inferred-graph"
    assert "'here' is not an absolute IRI" in bad(*graph, "here", "-o", tmp_path / "x.nq", code=2)
    assert "the output has no named graphs" in bad(*graph, "urn:g", "-o", tmp_path / "x.ttl", code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["zoo.ttl"]


def test_materialise_reads_standard_input_and_a_program_of_rules(zoo: Path, tmp_path: Path) -> None:
    rules = tmp_path / "mine.dl"
    rules.write_text(f"@prefix : <{EXAMPLE}> . [?x, :older, ?y] :- [?x, :age, ?n], [?y, a, :Cat], FILTER(?n > 5) .")
    arguments = ("materialise", "-", "--input-format", "turtle", "--rules", rules, "-o", "-", "--inferred-only", "-q")
    assert good(*arguments, input=ZOO).stdout == f"<{EXAMPLE}leo> <{EXAMPLE}older> <{EXAMPLE}tom> .\n"
    both = good(*arguments, "--ruleset", "rdfs", input=ZOO).stdout
    assert f"<{EXAMPLE}leo> <{EXAMPLE}older> <{EXAMPLE}leo> .\n" in both


# ---- bad input, for every command that reads RDF


def broken_files(folder: Path) -> dict[str, tuple[str, str]]:
    """Name -> what the message must name."""
    (folder / "syntax.ttl").write_text("@prefix : <http://example.org/> .\n:a :b .\n")
    (folder / "syntax.nt").write_text("<http://example.org/a> <http://example.org/b> <http://example.org/c> .\n<a\n")
    (folder / "syntax.rdf").write_text(
        '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<open>\n'
    )
    packed = gzip.compress(b"".join(lubm.generate(1))[:200_000])
    (folder / "cut.nt.gz").write_bytes(packed[: len(packed) // 2])
    return {
        "missing.ttl": ("missing.ttl", ""),
        "syntax.ttl": ("syntax.ttl", "2"),
        "syntax.nt": ("syntax.nt", "2"),
        "syntax.rdf": ("syntax.rdf", "3"),
        "cut.nt.gz": ("cut.nt.gz", ""),
    }


@pytest.mark.parametrize("name", ["missing.ttl", "syntax.ttl", "syntax.nt", "syntax.rdf", "cut.nt.gz"])
def test_bad_rdf_gives_one_message_and_leaves_the_output_as_it_was(tmp_path: Path, name: str) -> None:
    file, line = broken_files(tmp_path)[name]
    output = tmp_path / "out.nt"
    output.write_text("what was there\n")
    for arguments in (["materialise", "-o", output], ["query", "-Q", "ASK {}"], ["check"], ["rules"]):
        message = bad(*arguments, tmp_path / name)
        assert message.startswith("error: ") and message.count("error:") == 1
        assert file in message and line in message
    assert output.read_text() == "what was there\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({*broken_files(tmp_path), "out.nt"} - {"missing.ttl"})


def test_an_unwritable_output_is_found_before_the_work(tmp_path: Path) -> None:
    message = bad("materialise", tmp_path / "missing.ttl", "-o", tmp_path / "no folder" / "out.nt")
    assert "cannot write" in message and "missing.ttl" not in message


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_output_in_a_folder_without_permission(zoo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    assert "cannot write" in bad("materialise", zoo, "-o", folder / "out.nt")


# ---- query


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
@pytest.mark.parametrize("options", thinned([(), ("--format", "csv")], 2))
@pytest.mark.long
def test_a_pipe_is_read_once(zoo: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe.ttl"
    os.mkfifo(pipe)
    query = PREFIX + "SELECT ?x { ?x a :Animal }"
    expected = good("query", zoo, "--query", query, *options).stdout
    writing = threading.Thread(target=lambda: pipe.write_bytes(zoo.read_bytes()), daemon=True)
    writing.start()
    arguments = [sys.executable, "-m", "kg_reasoner", "query", pipe, "--query", query, *options]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
    assert sorted(done.stdout.split()) == sorted(expected.split())


def test_select_as_table_csv_and_json(zoo: Path) -> None:
    query = PREFIX + "SELECT ?x ?name ?age { ?x a :Animal ; :name ?name OPTIONAL { ?x :age ?age } } ORDER BY ?x"
    table = good("query", zoo, "--query", query)
    assert [line.split() for line in table.stdout.splitlines()] == [
        ["x", "name", "age"],
        ["----", "------", "---"],
        [":leo", "Leo", "7"],
        [":tom", "Tom@en"],
    ]
    assert "2 answers" in table.stderr and "answers" not in table.stdout
    rows = list(csv.reader(io.StringIO(good("query", zoo, "-Q", query, "-f", "csv").stdout)))
    assert rows == [["x", "name", "age"], [f"{EXAMPLE}leo", "Leo", "7"], [f"{EXAMPLE}tom", "Tom", ""]]
    bindings = json.loads(good("query", zoo, "-Q", query, "-f", "json").stdout)["results"]["bindings"]
    assert bindings[0]["age"] == {"type": "literal", "value": "7", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    assert bindings[1]["name"] == {"type": "literal", "value": "Tom", "xml:lang": "en"}


def test_the_columns_of_select_star_are_in_the_order_of_the_query(zoo: Path) -> None:
    query = PREFIX + "SELECT * { ?zebra :name ?name ; :age ?age . OPTIONAL { ?zebra :foe ?foe } FILTER(?age > 3) }"
    assert good("query", zoo, "-Q", query, "-f", "csv").stdout.splitlines()[0] == "zebra,name,age,foe"


def test_a_query_on_demand_has_the_same_answers(zoo: Path) -> None:
    for query in (
        "SELECT ?x { ?x a :Animal } ORDER BY ?x",
        "ASK { :leo a :Animal }",
        "CONSTRUCT { ?x :is :known } { ?x a :Animal }",
    ):
        known = good("query", zoo, "-Q", PREFIX + query)
        asked = good("query", zoo, "-Q", PREFIX + query, "--on-demand")
        assert asked.stdout == known.stdout and known.stdout.strip()
        assert "inferred" in known.stderr and "inferred" not in asked.stderr
        assert "derived for the query" in asked.stderr
    merging = good("query", zoo, "-Q", PREFIX + "ASK { :leo a :Animal }", "--on-demand", "--equality", "rewrite")
    assert merging.stdout == "true\n" and "magic sets do not apply" in merging.stderr
    assert good("query", zoo, "-Q", PREFIX + "ASK { :leo a :Dog }", "--on-demand", code=3).stdout == "false\n"
    for option in (["--explain"], ["--allow-service"], ["--graphs", "graph"]):
        assert "--on-demand is not combined with" in bad("query", zoo, "-Q", "ASK {}", "--on-demand", *option, code=2)
    raising = "--on-inconsistency", "raise"
    assert "looks for no contradictions" in bad("query", zoo, "-Q", "ASK {}", "--on-demand", *raising, code=2)
    profiled = bad("query", zoo, "-Q", "ASK {}", "--on-demand", "--profile", "-", code=2)
    assert "--profile shows what materialisation costs" in profiled


def test_ask_answers_with_the_exit_code_too(zoo: Path) -> None:
    yes, no = PREFIX + "ASK { :leo a :Animal }", PREFIX + "ASK { :leo a :Dog }"
    assert good("query", zoo, "-Q", yes).stdout == "true\n"
    assert good("query", zoo, "-Q", no, code=3).stdout == "false\n"
    assert good("query", zoo, "-Q", no, "-f", "csv", code=3).stdout == "false\n"
    assert json.loads(good("query", zoo, "-Q", no, "-f", "json", code=3).stdout)["boolean"] is False


def test_construct_gives_turtle_or_n_triples(zoo: Path) -> None:
    query = PREFIX + "CONSTRUCT { ?x :is :known } { ?x a :Animal }"
    assert good("query", zoo, "-Q", query, "-f", "nt").stdout == "".join(
        f"<{EXAMPLE}{name}> <{EXAMPLE}is> <{EXAMPLE}known> .\n" for name in ("leo", "tom")
    )
    assert ":leo :is :known ." in good("query", zoo, "-Q", query).stdout
    assert "owl:disjointWith" not in good("query", zoo, "-Q", f"describe <{EXAMPLE}leo>").stdout
    assert "use --format nt or table" in bad("query", zoo, "-Q", query, "-f", "csv", code=2)
    assert "use --format table, csv, tsv, json or xml" in bad("query", zoo, "-Q", "ASK {}", "-f", "nt", code=2)


def test_construct_keeps_every_literal_and_any_depth(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    """As rdflib writes them, the double would lose digits, the boolean would be an integer, and `1_0` no Turtle."""
    kinds = {"1.23456789012345e0": "double", "1": "boolean", "1_0": "integer", "5.": "decimal", "no date": "date"}
    values = ", ".join(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{kind}>' for text, kind in kinds.items())
    data = write("values.ttl", f"@prefix u: <urn:> . u:a u:p {values}, {'[ u:p ' * 1000 + '1' + ' ]' * 1000} .")
    query = "CONSTRUCT WHERE { ?x ?p ?y }"
    shown = good("query", data, "-Q", query, "-q").stdout
    assert shown.startswith("@prefix u: <urn:> .\n@prefix xsd:") and "\nu:a u:p " in shown
    expected = list(pyoxigraph.parse(path=str(data)))
    for format in ("table", "nt"):
        shown = good("query", data, "-Q", query, "-q", "-f", format).stdout
        found = list(pyoxigraph.parse(shown, pyoxigraph.RdfFormat.TURTLE))
        assert {str(triple.object) for triple in found if triple.subject == pyoxigraph.NamedNode("urn:a")} >= set(
            values.split(", ")
        )
        assert len(found) == len(expected) == 1006
    assert "no date^^xsd:date" in good("query", data, "-Q", "SELECT ?y { ?x ?p ?y }", "-q").stdout
    assert not caplog.records


def test_a_query_comes_from_a_file_or_standard_input(zoo: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.rq"
    file.write_text(PREFIX + "SELECT ?x { ?x a :Cat }")
    answer = good("query", zoo, "-Q", file, "-f", "csv").stdout
    assert good("query", zoo, "-Q", "-", "-f", "csv", input=file.read_text()).stdout == answer
    assert answer.count("\n") == 3
    assert "does not exist" in bad("query", zoo, "-Q", tmp_path / "other.rq")
    assert "cannot be both" in bad("query", "-", "-Q", "-", code=2)


def test_standard_input_is_read_once(write: Write) -> None:
    for command in (("materialise", "-o", "-"), ("check",), ("query", "-Q", "ASK {}")):
        assert "standard input is given twice" in bad(command[0], "-", "-", *command[1:], input="")
    program = write("p.dl", 'edge("a", "b") .')
    assert "cannot be both the data and the commands" in bad("shell", program, "-", input="", code=2)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE DATA { <urn:a> <urn:b> 1 }\n", "hint: a query needs one of the keywords SELECT, ASK"),
        (
            "SELECT ?x {\n ?x ?p }",
            "the query:2:8: the SPARQL query has a syntax error here or shortly after\n    2 |  ?x ?p }\n      |        ^",
        ),
        ("INSERT DATA { <urn:a> <urn:b> 1 }", "hint: a query needs one of the keywords SELECT, ASK"),
        (" ", "hint: a query needs one of the keywords SELECT, ASK"),
    ],
)
def test_a_wrong_query_is_refused_before_anything_is_read(tmp_path: Path, query: str, message: str) -> None:
    shown = bad("query", tmp_path / "missing.ttl", "-Q", query)
    assert message in shown and "missing.ttl" not in shown


def test_queries_use_the_prefixes_of_the_files(zoo: Path) -> None:
    for options in ([], ["--on-demand"], ["--graphs", "graph"]):
        assert good("query", zoo, "-Q", "ASK { :leo rdf:type :Animal }", *options).stdout == "true\n"
    assert good("query", zoo, "-Q", "PREFIX : <urn:> ASK { :leo a ?x }", code=3).stdout == "false\n"
    assert "match  ?x rdf:type :Animal" in good("query", zoo, "-Q", "SELECT ?x { ?x a :Animal }", "--explain").stdout
    assert "use --format nt" in bad("query", zoo, "-Q", "CONSTRUCT { ?x a :B } { ?x a :Animal }", "-f", "csv", code=2)
    shown = bad("query", zoo, "-Q", "SELECT ?x\n{ ?x a no:thing }")
    assert "the query:2:8: the prefix no: has not been declared\n    2 | { ?x a no:thing }\n      |        ^^^" in shown


def test_a_service_that_gives_no_answer(zoo: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens here
        query = f"SELECT * {{ SERVICE <http://127.0.0.1:{taken.getsockname()[1]}/sparql> {{ ?x ?p ?y }} }}"
        assert "error: a SERVICE in the query does not answer: " in bad("query", zoo, "-q", "--allow-service", "-Q", query)
        assert "is not allowed: nothing is fetched" in bad("query", zoo, "-q", "-Q", query)


@needs_suite("lubm")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (number % 5 > 0)) for number, name in enumerate(lubm.queries())]
)
def test_the_answers_of_the_university_benchmark(name: str, tmp_path: Path) -> None:
    query = tmp_path / f"{name}.rq"
    query.write_text(lubm.queries()[name])
    result = good("query", SUITE / "lubm1.nt.gz", SUITE / "univ-bench.owl", "-Q", query, "-f", "csv")
    answers = [
        [cell.strip('<>"') for cell in line.split("\t")] for line in (SUITE / "answers" / f"{name}.tsv").read_text().splitlines()
    ]
    assert sorted(list(csv.reader(io.StringIO(result.stdout)))[1:]) == sorted(answers[1:])


# ---- check


def test_check_lists_contradictions(zoo: Path) -> None:
    assert "no contradiction found" in good("check", zoo).stderr
    zoo.write_text(ZOO + ":leo a :Dog .")
    line = "DisjointClasses(:Cat :Dog) (cax-dw): ?x = :leo"
    assert good("check", zoo, "--proofs", 0, code=3).stdout == f"{line}\n"
    result = good("check", zoo, code=3)
    assert result.stdout.startswith(f"{line}\n")
    assert "    ClassAssertion(:Dog :leo)\n" in result.stdout
    assert ":leo a :Dog   (explicit)" in good("check", zoo, "--steps", code=3).stdout
    assert "1 contradiction found" in result.stderr
    assert "1 contradiction found: run `kg-reasoner check`" in good("query", zoo, "-Q", "ASK {}").stderr


def test_contradictions_as_json(zoo: Path) -> None:
    assert json.loads(good("check", zoo, "-f", "json").stdout) == {"consistent": True, "contradictions": [], "unsatisfiable": []}
    zoo.write_text(ZOO + ":leo a :Dog .")
    found = json.loads(good("check", zoo, "-f", "json", code=3).stdout)
    (contradiction,) = found["contradictions"]
    assert not found["consistent"]
    assert contradiction["name"] == "cax-dw"
    assert contradiction["axiom"] == "DisjointClasses(zoo:Cat zoo:Dog)"
    assert contradiction["terms"] == {"x": f"<{EXAMPLE}leo>"}
    assert len(contradiction["proof"]["steps"]) > 2


def test_contradictions_of_single_graphs(write: Write) -> None:
    data = write("zoos.trig", GRAPHS + "GRAPH :c { :tom a :Cat, :Dog } GRAPH :d { :Cat owl:disjointWith :Dog . :rex a :Cat, :Dog }")
    assert good("check", data, "--proofs", 0, code=3).stdout.count("cax-dw") == 2
    assert good("check", data, "--graphs", "graph", "--proofs", 0, code=3).stdout.endswith("in the graph :d\n")
    found = json.loads(good("check", data, "--graphs", "graph", "-f", "json", code=3).stdout)["contradictions"]
    assert [each["graph"] for each in found] == [f"{EXAMPLE}d"]


def test_data_that_contradict_the_rules_can_be_refused(zoo: Path, tmp_path: Path) -> None:
    for arguments in (["query", zoo, "-Q", "ASK {}"], ["materialise", zoo, "-o", tmp_path / "out.nt"]):
        zoo.write_text(ZOO)
        good(*arguments, "--on-inconsistency", "raise")
        zoo.write_text(ZOO + ":leo a :Dog .")
        good(*arguments)
        for options in ([], ["--graphs", "graph"]):
            refused = bad(*arguments, *options, "--on-inconsistency", "raise")
            assert "error: the data contradict the rules:\n  DisjointClasses(" in refused


def test_what_single_graphs_contradict_is_reported(write: Write, tmp_path: Path) -> None:
    eaten = ":Cat rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :eats ; owl:someValuesFrom :Food ]"
    clash = f":Cat owl:disjointWith :Dog . :rex a :Cat, :Dog . {eaten} . :zoo owl:imports :missing"
    data = write("zoos.trig", GRAPHS + f"GRAPH :c {{ {clash} }} GRAPH :d {{ {clash} }}")
    seen = "2 contradictions found: run `kg-reasoner check --graphs graph` to see them"
    by_graph = "--graphs", "graph"
    for arguments in (
        ["materialise", data, "-o", tmp_path / "out.nq"],
        ["query", data, "-Q", "SELECT * { ?x a ?y }"],
        ["query", data, "-Q", "SELECT * { ?x a ?y }", "--explain"],
    ):
        told = good(*arguments, *by_graph).stderr
        assert seen in told and "1 import not found" in told and "SubClassOf(:Cat ObjectSomeValuesFrom(:eats :Food))" in told
        assert "cannot be fully expressed" not in good(*arguments, *by_graph, "-q").stderr
        assert "DisjointClasses(:Cat :Dog) (cax-dw): ?x = :rex" in bad(*arguments, *by_graph, "--on-inconsistency", "raise")
    told = good("check", data, *by_graph, code=3).stderr
    assert "SubClassOf(:Cat ObjectSomeValuesFrom(:eats :Food))" in told and seen not in told
    one = good("query", data, "-f", "csv", "-Q", "SELECT * { GRAPH :c { ?x a ?y } }", *by_graph).stderr
    assert "1 contradiction found" in one  # in the graph that the query reads


# ---- named graphs, and what IRIs are relative to

GRAPHS = ZOO.partition(":Lion")[0] + "GRAPH :a { :Lion rdfs:subClassOf :Cat } GRAPH :b { :leo a :Lion } "


def test_queries_of_named_graphs(write: Write) -> None:
    data = write("zoos.trig", GRAPHS)

    def answers(query: str, *options: str) -> set[str]:
        return set(good("query", data, "-f", "csv", "-Q", PREFIX + query, *options).stdout.split()[1:])

    assert answers("SELECT ?c { :leo a ?c }") == {f"{EXAMPLE}Lion", f"{EXAMPLE}Cat"}
    assert answers("SELECT ?g { GRAPH ?g { :leo a ?c } }") == {f"{EXAMPLE}b"}
    assert answers("SELECT ?c FROM :b { :leo a ?c }") == {f"{EXAMPLE}Lion"}
    assert answers("SELECT ?c { :leo a ?c }", "--graphs", "graph") == {f"{EXAMPLE}Lion"}
    shown = good("query", data, "-Q", PREFIX + "ASK FROM :nowhere { ?s ?p ?o }", code=3).stderr
    assert f"the files have no graph <{EXAMPLE}nowhere>" in shown


@pytest.mark.parametrize("format", ["nq", "trig", "jsonld", "nt"])
def test_materialise_keeps_graphs(write: Write, tmp_path: Path, format: str) -> None:
    data, output = write("zoos.trig", GRAPHS), tmp_path / f"out.{format}"

    def written(*options: str) -> set[str]:
        good("materialise", data, "-o", output, *options)
        return {str(quad) for quad in pyoxigraph.parse(path=str(output))}

    leo, kind = f"<{EXAMPLE}leo>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    explicit, inferred = f"{leo} {kind} <{EXAMPLE}Lion>", f"{leo} {kind} <{EXAMPLE}Cat>"
    a, b, more = (f" <{EXAMPLE}{name}>" if format != "nt" else "" for name in ("a", "b", "more"))
    schema = f"<{EXAMPLE}Lion> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{EXAMPLE}Cat>{a}"
    assert written("--ruleset", "rdfs") == {schema, explicit + b, inferred}
    if format != "nt":
        assert written("--ruleset", "rdfs", "--inferred-graph", f"{EXAMPLE}more") == {schema, explicit + b, inferred + more}
    assert written("--ruleset", "rdfs", "--inferred-only") == {inferred}
    assert written("--ruleset", "rdfs", "--graphs", "graph") == {schema, explicit + b}
    assert "requires reasoning over the union" in bad(
        "materialise", data, "-o", output, "--graphs", "graph", "--inferred-graph", "urn:x", code=2
    )


@pytest.mark.parametrize("options", ["", "--inferred-only", "--inferred-graph urn:more", "--graphs graph"])
def test_no_inferred_subclass_repeats_an_equivalence(write: Write, options: str) -> None:
    data = write("equal.trig", GRAPHS + ":g { :A owl:equivalentClass :B . :B rdfs:subClassOf :C . :x a :A }")
    output = good("materialise", data, "-o", "-", "--format", "nq", *options.split()).stdout
    subclasses = [line.split()[::2][:2] for line in output.splitlines() if "subClassOf" in line and "Lion" not in line]
    inherited = [f"<{EXAMPLE}A>", f"<{EXAMPLE}C>"]
    explicit = [f"<{EXAMPLE}B>", f"<{EXAMPLE}C>"]
    assert sorted(subclasses) == ([inherited] if "only" in options else [inherited, explicit])
    assert inferred("x B").removesuffix(" .") in output


def test_each_graph_is_written_with_what_follows_from_it(write: Write, tmp_path: Path) -> None:
    data, output = write("zoos.trig", GRAPHS + "GRAPH :b { :Lion rdfs:subClassOf :Beast }"), tmp_path / "out.nq"
    good("materialise", data, "-o", output, "--ruleset", "rdfs", "--graphs", "graph", "--inferred-only")
    assert output.read_text() == (
        f"<{EXAMPLE}leo> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{EXAMPLE}Beast> <{EXAMPLE}b> .\n"
    )


def test_relative_iris(write: Write) -> None:
    data = write("relative.ttl", "<leo> a <#Lion> .")
    assert "or pass --base http://...\n" in bad("query", data, "-Q", "ASK {}")
    query = "SELECT ?x ?c { ?x a ?c }"
    found = good("query", data, "--base", "http://example.org/zoo", "-f", "csv", "-Q", query, "--ruleset", "rdfs").stdout
    assert found.split()[1:] == ["http://example.org/leo,http://example.org/zoo#Lion"]
    good("check", data, "--base", "http://example.org/zoo")
    good("rules", data, "--base", "http://example.org/zoo")
    good("explain", data, "--base", "http://example.org/zoo", "-t", "<http://example.org/leo> a <http://example.org/zoo#Lion>")
    program = write("program.dl", "output relation lion(x: iri) . lion(?x) :- [?x, rdf:type, <http://example.org/zoo#Lion>] .")
    assert "http://example.org/leo" in good("run", program, "--data", data, "--base", "http://example.org/zoo").stdout
    assert "is not an absolute IRI" in bad("query", data, "-Q", "ASK {}", "--base", "zoo", code=2)


# ---- run

PATHS = """
input relation edge(from: string, to: string) .
output relation path(from: string, to: string) .
path(?x, ?y) :- edge(?x, ?y) .
path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
"""

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write_file


def test_run_reads_and_writes_tables(write: Write, tmp_path: Path) -> None:
    program = write("paths.dl", PATHS)
    write("facts/edge.tsv", "a\tb\nb\tc\n")
    output = tmp_path / "out"
    result = good("run", program, "--facts", tmp_path / "facts", "--output", output)
    assert (output / "path.tsv").read_text() == "a\tb\na\tc\nb\tc\n"
    assert [path.name for path in output.iterdir()] == ["path.tsv"]
    assert result.stdout == "" and "3 facts of 1 relation" in result.stderr


def test_run_with_csv_and_typed_columns(write: Write, tmp_path: Path) -> None:
    program = write(
        "adults.dl",
        """
        input relation person(who: iri, name: string, age: integer) .
        output relation adult(who: iri, name: string) .
        adult(?p, ?n) :- person(?p, ?n, ?a), FILTER(?a >= 18) .
        """,
    )
    write("facts/person.csv", 'http://example.org/1,"Ann, B.",018\n<http://example.org/2>,Bob,17\n')
    good("run", program, "--facts", tmp_path / "facts", "-o", tmp_path, "--format", "csv")
    assert (tmp_path / "adult.csv").read_text() == '<http://example.org/1>,"Ann, B."\n'


def test_run_without_declarations_writes_all_that_is_derived(write: Write, tmp_path: Path) -> None:
    program = write("p.dl", "odd(1) . next(?x, ?y) :- pair(?x, ?y) . alone() :- odd(1) . lonely(?x) :- odd(?x), NOT pair(?x, _) .")
    write("facts/pair.facts", '2\t"3"\n_:b\t<http://example.org/a>\n')
    good("run", program, "--facts", tmp_path / "facts", "-o", tmp_path / "out")
    written = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert written == {"next.tsv": '2\t"3"\n_:b\t<http://example.org/a>\n', "alone.tsv": "()\n", "lonely.tsv": "1\n"}


def test_run_without_an_output_folder_prints(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = write("p.dl", 'edge("a", "b") . path(?x, ?y) :- edge(?x, ?y) . none(?x) :- edge(?x, ?x) .')
    monkeypatch.chdir(tmp_path)
    for options in ((), ("-o", "-")):
        assert good("run", program, *options).stdout == "# path (1 fact)\na\tb\n# none (0 facts)\n"
    assert [path.name for path in tmp_path.iterdir()] == ["p.dl"]


def test_run_with_rdf_in_and_out(zoo: Path, write: Write, tmp_path: Path) -> None:
    program = write("p.dl", f"@prefix : <{EXAMPLE}> . named(?x, ?n) :- [?x, :name, ?n] . :Named[?x] :- :name[?x, _] .")
    good("run", program, "--data", zoo, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "named.tsv").read_text() == f'<{EXAMPLE}leo>\tLeo\n<{EXAMPLE}tom>\t"Tom"@en\n'
    assert triples((tmp_path / "out" / "triples.nt").read_text()) == {inferred("leo Named"), inferred("tom Named")}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("path(?x, ?y) :- edge(?x ?y) .", "p.dl:1:25: "),
        ("path(?x, ?y) :- edge(?x, _) .", "p.dl:1:1"),
        ("p(?x) :- q(?x, ?x) . r(?x) :- q(?x) .", "p.dl:1:31"),
        ("p(?x) :- q(?x), NOT p(?x) .", "p.dl:1:"),
    ],
)
def test_run_refuses_a_wrong_program_with_its_place(write: Write, tmp_path: Path, program: str, message: str) -> None:
    shown = bad("run", write("p.dl", program), "-o", tmp_path / "out")
    assert shown.startswith("error: ") and message in shown and "^" in shown
    assert not (tmp_path / "out").exists()


def test_run_reports_wrong_facts_and_leaves_the_output_unchanged(write: Write, tmp_path: Path) -> None:
    program = write("paths.dl", PATHS.replace("string", "integer"))
    assert "is not a folder" in bad("run", program, "--facts", tmp_path / "nowhere", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    write("facts/edge.tsv", "1\t1\n2\tx\n")
    before = write("out/path.tsv", "what was there\n")
    message = bad("run", program, "--facts", tmp_path / "facts", "-o", tmp_path / "out")
    assert "edge.tsv:2:3: column to: 'x' is not an integer\n    2 | 2\tx\n      |  \t^" in message
    assert before.read_text() == "what was there\n" and [path.name for path in before.parent.iterdir()] == ["path.tsv"]


@pytest.mark.parametrize("command", ["run", "shell", "materialise"])
def test_probable_mistakes_in_a_program_are_told(write: Write, tmp_path: Path, command: str) -> None:
    program = write("program.dl", "n(0) .\nn(?x + 1) :- n(?x), small(?x) .\np(?x) :- q(?x), isIRI(?x) .\n")
    data = write("data.ttl", "<urn:a> <urn:p> <urn:b> .")
    arguments = {"run": [program], "shell": [program], "materialise": [data, "--rules", program, "-o", tmp_path / "out.nt"]}
    told = good(command, *arguments[command]).stderr
    assert "program.dl:3:17: isIRI is a relation here" in told.replace("\n", " ")
    assert "the rule for n computes new values" not in told  # it has only those of small
    write("program.dl", "n(0) .\nn(?x + 1) :- n(?x) .\n")
    result = kg(command, *arguments[command], *(() if command == "shell" else ("--max-facts", 100)))
    assert "program.dl:2:" in result.stderr and "perhaps without end" in result.stderr.replace("\n", " ")


def test_run_warns_of_inputs_without_a_table_and_of_tables_without_a_relation(write: Write, tmp_path: Path) -> None:
    program, table = write("paths.dl", PATHS), write("roads.csv", "a,b\n")
    shown = good("run", program, "--table", f"egde={table}").stderr
    assert "no table for the input relation edge: no folder was given" in shown
    assert f"the program does not use the relation egde, for which {table} is read, did you mean 'edge'?" in shown


def test_run_with_headers_rule_sets_and_files_elsewhere(write: Write, tmp_path: Path) -> None:
    program = write(
        "map.dl",
        """
        @prefix : <http://example.org/> .
        input relation person(name: string, age: integer) .
        input relation town(name: string, town: string) .
        :Person[?p] :- person(?name, _), BIND(IRI(CONCAT("http://example.org/", ?name)) AS ?p) .
        output relation being(name: string, kind: iri, age: integer) .
        being(?n, ?k, ?a) :- person(?n, ?a), [?p, rdf:type, ?k], FILTER(STRENDS(STR(?p), ?n)) .
        """,
    )
    table = write("people.csv", "town,age,name\nUlm,7,tim\n,9,ann\n")
    data = write(
        "classes.ttl", "@prefix : <http://example.org/> . :Person <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Being ."
    )
    options = ["--header", "--nulls", "skip", "--ruleset", "rdfs", "--data", data, "--table", f"person={table}", "--table"]
    good("run", program, *options, f"town={table}", "-o", tmp_path / "out", "--format", "csv")
    kinds = "<http://example.org/Being>", "<http://example.org/Person>"
    expected = [f"{who},{kind},{age}" for who, age in (("ann", 9), ("tim", 7)) for kind in kinds]
    assert (tmp_path / "out" / "being.csv").read_text().splitlines() == ["name,kind,age", *expected]


@pytest.mark.parametrize("given", ["edge", "=x.csv", "edge="])
def test_run_with_a_table_that_is_not_named(write: Write, given: str) -> None:
    assert "does not name a relation and its file" in bad("run", write("paths.dl", PATHS), "--table", given, code=2)


def test_run_with_tables_that_cannot_be(write: Write, tmp_path: Path) -> None:
    program, table = write("paths.dl", PATHS), write("a.csv", "a,b\n")
    twice = bad("run", program, "--table", f"edge={table}", "--table", f"edge={table}", code=2)
    assert "--table names two files for the relation edge" in twice
    assert "nothing.csv does not exist" in bad("run", program, "--table", "edge=nothing.csv")
    for given, shown in {"-": "standard input", os.devnull: os.devnull}.items():
        assert f"{shown} cannot be read as a table\nhint: save it in a file" in bad("run", program, "--table", f"edge={given}")
    assert f"{tmp_path} is a folder" in bad("run", program, "--table", f"edge={tmp_path}")
    assert "name a folder with --output" in bad("run", program, "--table", f"edge={table}", "--format", "parquet")


def test_run_writes_no_parquet_without_columns(write: Write, tmp_path: Path) -> None:
    program = write("odd.dl", "output relation odd() . odd() :- p(1) .")
    assert "Parquet cannot hold the relation odd" in bad("run", program, "-o", tmp_path / "out", "--format", "parquet")
    assert not (tmp_path / "out").exists()


def test_run_writes_parquet_and_json_lines(write: Write, tmp_path: Path) -> None:
    program, table = write("paths.dl", PATHS), write("a.csv", "a,b\nb,c\n")
    good("run", program, "--table", f"edge={table}", "-o", tmp_path, "--format", "parquet")
    assert sorted(map(tuple, map(dict.values, parquet.read_table(tmp_path / "path.parquet").to_pylist()))) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    lines = good("run", program, "--table", f"edge={table}", "--format", "jsonl").stdout.splitlines()
    assert lines[0] == "# path (3 facts)" and '{"from": "a", "to": "b"}' in lines


def test_run_finds_an_unwritable_output_before_the_work(write: Write, tmp_path: Path) -> None:
    program = write("paths.dl", PATHS)
    write("facts/edge.tsv", "broken\n")
    write("file", "")
    message = bad("run", program, "--facts", tmp_path / "facts", "-o", tmp_path / "file" / "out")
    assert "cannot write" in message and "edge.tsv" not in message


def test_run_does_not_overwrite_what_it_reads(write: Write, tmp_path: Path) -> None:
    program = write("p.dl", "edge(?y, ?x) :- edge(?x, ?y) .")
    facts = write("facts/edge.tsv", "a\tb\n")
    assert "the program reads it" in bad("run", program, "--facts", facts.parent, "-o", facts.parent)
    assert facts.read_text() == "a\tb\n"


# ---- demo


def test_demo_shows_sizes_times_and_the_answers_of_the_queries() -> None:
    lines = good("demo").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:7]] == ["start", "generate", "load", "materialise", "answer"]
    assert "103,271 statements, 1 university" in lines[3]
    answers = {line.split()[0]: line for line in lines[10:]}
    assert list(answers) == list(lubm.queries())
    assert answers["q12"].split()[-3] == "15" and "Department0.University0.edu/FullProfessor" in answers["q12"]


def test_the_times_of_the_demo_are_without_compiling() -> None:
    code = """
from kg_reasoner import lubm
from kg_reasoner.cli import main
from kg_reasoner.storage.kernels.machine_code import loader

loaded, load, write = [], loader.load, lubm.write
loader.load = lambda group: (loaded.append(group.name), load(group))[1]
lubm.write = lambda *given, **named: (print(*loaded), loaded.clear(), write(*given, **named))[2]
main(["demo"], standalone_mode=False)
print("later:", *loaded)
"""
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "evaluation" in lines[0].split()
    assert lines[-1] == "later:"


# ---- tables on a terminal


def test_a_table_on_a_terminal_shows_cells_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.cli.console import print_table

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "60")
    print_table(("name", "count"), [("[bold]x[/bold]", "7")], numeric={1})
    assert "[bold]x[/bold]" in sys.stdout.getvalue()  # type: ignore[attr-defined]


def test_a_piped_table_keeps_a_row_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    from kg_reasoner.cli.console import print_table

    with click.Context(main):
        print_table(("text", "n"), [("two\nlines", "10"), ("", "9")], numeric={1})
    assert capsys.readouterr().out == "text         n\n----------  --\ntwo\\nlines  10\n             9\n"


def test_a_process_ends_without_being_taken_apart(tmp_path: Path) -> None:
    """It waits for other threads and for what is registered, and writes its output, but does not free its objects one by one."""
    code = (
        "import atexit, sys, threading, time\n"
        "from kg_reasoner.__main__ import run\n"
        "early, *sys.argv[1:] = sys.argv[1:]\n"
        "class Last:\n"
        "    def __del__(self): print('taken apart')\n"
        "def work(): time.sleep(0.2); print('thread'); atexit.register(print, 'registered')\n"
        "if early == 'early': atexit.register(print, 'registered before')\n"
        "threading.Thread(target=work).start()\n"
        "last = Last()\n"
        "run()\n"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)

    shown = run("late", "--version")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("kg-reasoner, version ")
    assert shown.stdout.splitlines()[1:] == ["thread", "registered"]
    assert run("early", "--version").stdout.splitlines()[1:] == ["thread", "registered", "registered before", "taken apart"]
    wrong = run("late", "materialise", str(tmp_path / "absent.nt"), "-o", str(tmp_path / "out.nt"))
    assert wrong.returncode == 1
    assert "absent.nt" in wrong.stderr


@pytest.mark.parametrize(("arguments", "is_found"), [(("rules", "--help"), False), (("spark", "--help"), True)])
def test_commands_other_than_spark_do_without_pandas(tmp_path: Path, arguments: tuple[str, ...], is_found: bool) -> None:
    """Arrow imports pandas where it is installed, which takes longer than reading a table, and loses interrupts."""
    (tmp_path / "pandas.py").write_text("print('pandas is here')\n")
    code = (
        "import contextlib, sys\n"
        "from kg_reasoner.__main__ import run\n"
        "with contextlib.suppress(SystemExit): run()\n"
        "sys.path.insert(0, sys.argv.pop())\n"
        "with contextlib.suppress(ImportError): import pandas\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, *arguments, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert ("pandas is here" in shown.stdout) == is_found
