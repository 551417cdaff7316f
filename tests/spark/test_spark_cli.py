"""``kg-reasoner spark``: what it writes, what it says, and its exit codes."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.spark.spark_session import SETTINGS, need_spark, session

need_spark()

import pyspark

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.errors import ReasonerError
from kg_reasoner.spark_backend import spark_session as session_module
from kg_reasoner.spark_backend.run_progress import LOGGER
from kg_reasoner.spark_backend.spark_session import build_session
from kg_reasoner.terms import term_text

pytestmark = pytest.mark.long

ONTOLOGY = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Cat rdfs:subClassOf :Animal .
:Cat owl:disjointWith :Dog .
:chases rdfs:domain :Cat .
"""
DATA = """\
<http://example.org/tom> <http://example.org/chases> <http://example.org/jerry> .
<http://example.org/rex> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Dog> .
"""
DOG_CHASES = "<http://example.org/rex> <http://example.org/chases> <http://example.org/tom> .\n"


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an ontology and data; commands use the session of the tests, and do not stop it."""
    (tmp_path / "zoo.ttl").write_text(ONTOLOGY)
    (tmp_path / "data.nt").write_text(DATA)
    monkeypatch.setattr(session_module, "build_session", lambda master, remote, settings: session())
    monkeypatch.setattr(session(), "stop", lambda: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kg(*arguments: str, code: int = 0) -> Result:
    """Run a command. Spark does not follow this process from folder to folder, so names of files are made paths."""
    found = [
        str(Path(name).absolute()) if name in ("out", "work") or name.endswith((".nt", ".ttl")) else name for name in arguments
    ]
    result = CliRunner().invoke(main, ["spark", *found])
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def lines(folder: Path) -> list[str]:
    return sorted(line for part in folder.glob("part-*") for line in part.read_text().splitlines())


def test_materialise(zoo: Path) -> None:
    assert not LOGGER.isEnabledFor(logging.INFO)  # nobody has asked for reports yet
    said = kg("materialise", "data.nt", "out", "--ontology", "zoo.ttl", "--ruleset", "rdfs", "--work-dir", "work").stderr
    reasoner = Reasoner(ruleset="rdfs", show_hidden=True)
    reasoner.load("zoo.ttl", "data.nt")
    expected = {tuple(map(term_text, triple)) for triple in reasoner.triples()}
    found = {tuple(row) for row in session().read.parquet(str(zoo / "out")).select("subject", "predicate", "object").collect()}
    assert found == expected
    assert f"{len(expected)} triples written to {zoo}/out" in said
    reports = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {"stage", "seconds"} <= set(reports[0])


def test_only_what_is_inferred_as_lines(zoo: Path) -> None:
    arguments = ["materialise", "data.nt", "out", "--ontology", "zoo.ttl", "-r", "rdfs", "-f", "ntriples", "--inferred-only", "-q"]
    assert kg(*arguments).stderr == ""
    tom = "<http://example.org/tom> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/"
    assert lines(zoo / "out") == [f"{tom}Animal> .", f"{tom}Cat> ."]
    assert "out: it already exists; overwrite it" in kg(*arguments, code=1).stderr
    kg(*arguments, "--overwrite")


def test_rules_that_the_driver_does_not_finish(zoo: Path) -> None:
    (zoo / "data.nt").write_text(DATA + DOG_CHASES)
    (zoo / "further.dl").write_text("""
        @prefix : <http://example.org/> .
        :fears[?x, ?z] :- :chases[?y, ?x], :chases[?z, ?y] .
    """)
    options = ["--rules", str(zoo / "further.dl"), "--driver-facts", "0", "-f", "ntriples", "--inferred-only"]
    said = kg("materialise", "data.nt", "out", *options).stderr
    assert lines(zoo / "out") == [
        "<http://example.org/jerry> <http://example.org/fears> <http://example.org/rex> .",
    ]
    stages = [json.loads(line)["stage"] for line in said.splitlines() if line.startswith("{")]
    assert "iteration" in stages and "in process" not in stages


def test_equal_terms_in_a_table_and_sorted_files(zoo: Path) -> None:
    (zoo / "data.nt").write_text(
        2 * DATA + "<http://example.org/tom> <http://www.w3.org/2002/07/owl#sameAs> <http://example.org/thomas> .\n"
    )
    arguments = [
        "materialise",
        "data.nt",
        "out",
        "--ontology",
        "zoo.ttl",
        "--equal-terms",
        str(zoo / "terms"),
        "--work-dir",
        "work",
    ]
    said = kg(*arguments, "--files", "1").stderr
    (row,) = session().read.parquet(str(zoo / "terms")).collect()
    assert (row.term, row.representative) == ("<http://example.org/tom>", "<http://example.org/thomas>")
    (file,) = (zoo / "out").glob("*.parquet")
    rows = [(row.predicate, row.subject, row.object) for row in session().read.parquet(str(file)).collect()]
    assert rows == sorted(set(rows))
    assert f"{len(rows)} triples written" in said and "as often" not in said
    arguments += ["--resume", "--overwrite"]
    said = kg(*arguments).stderr
    assert f"{len(rows) + 2} triples written" in said and "given ones as often as the input has them" in said
    assert f"{len(rows)} triples written" in kg(*arguments, "--distinct").stderr
    assert not any("sameAs" in row[0] or "tom>" in row[1] for row in rows)


def test_an_output_that_is_there_is_told_before_the_work(zoo: Path) -> None:
    (zoo / "out").mkdir()
    (zoo / "bad.nt").write_text("nonsense\n")
    said = kg("materialise", "bad.nt", "out", code=1).stderr
    assert "out: it already exists" in said and "bad.nt" not in said
    said = kg("materialise", "bad.nt", "new", "--equal-terms", str(zoo / "out"), code=1).stderr
    assert "out: it already exists" in said and "bad.nt" not in said
    assert "a folder of its own" in kg("materialise", "data.nt", "out", "--equal-terms", str(zoo / "out"), code=2).stderr


def test_resume_needs_a_work_directory(zoo: Path) -> None:
    assert "give it with --work-dir" in kg("materialise", "data.nt", "out", "--resume", code=2).stderr


def test_check(zoo: Path) -> None:
    assert "no contradiction found" in kg("check", "data.nt", "--ontology", "zoo.ttl").stderr
    (zoo / "more.nt").write_text(DOG_CHASES)
    found = kg("check", "data.nt", "more.nt", "--ontology", "zoo.ttl", code=3)
    assert "http://example.org/rex" in found.stdout
    assert "contradiction" in found.stderr


def test_explain(zoo: Path) -> None:
    said = kg("explain", "data.nt", "--ontology", "zoo.ttl", "-q")
    assert said.stderr == ""
    assert "<http://example.org/Animal>[?x] :- <http://example.org/Cat>[?x] ." in said.stdout


def test_bad_lines(zoo: Path) -> None:
    (zoo / "data.nt").write_text(DATA + "nonsense\n")
    arguments = ["materialise", "data.nt", "out", "-r", "rdfs"]
    said = kg(*arguments, code=1)
    assert said.stdout == ""
    assert "data.nt:3:1: " in said.stderr
    assert not (zoo / "out").exists()
    assert "1 bad lines were skipped" in kg(*arguments, "--bad-lines", "skip").stderr


def test_wrong_usage(zoo: Path) -> None:
    assert "neither a positive number nor `auto`" in kg("materialise", "data.nt", "out", "--files", "0", code=2).stderr
    assert "'memory' has no =" in kg("check", "data.nt", "--conf", "memory", code=2).stderr
    assert "did you mean 'rdfs'" in kg("check", "data.nt", "-r", "rdsf", code=2).stderr
    assert "does not exist" in kg("check", "data.nt", "--ontology", "no.ttl", code=1).stderr


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("no.nt", "it does not exist"),
        ("file:/no/data.nt", "it does not exist"),
        ("no/*.nt", "the folder no does not exist"),
        ("/no/{a,b}/c.nt", "the folder /no does not exist"),
    ],
)
def test_inputs_that_are_missing_are_told_before_spark_starts(
    path: str, problem: str, zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "build_session", lambda *where: pytest.fail("Spark starts"))
    said = CliRunner().invoke(main, ["spark", "check", "data.nt", path])
    assert said.exit_code == 1
    assert f"cannot read {path}: {problem}" in said.stderr


def test_inputs_that_spark_looks_for(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that match no file, and paths that may be those of another file system."""
    (zoo / "data").mkdir()
    assert "Path does not exist" in kg("check", f"{zoo}/data/*.gz", code=1).stderr
    for conf in (["--conf", "spark.hadoop.fs.defaultFS=hdfs://host"], ["--remote", "sc://host"], ["--master", "yarn"]):
        assert "Path does not exist" in kg("check", "no.nt", *conf, code=1).stderr
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    assert "Path does not exist" in kg("check", "no.nt", code=1).stderr


def test_a_session_of_its_own() -> None:
    with pytest.raises(ReasonerError, match="not both"):
        build_session("local[1]", "sc://host")
    assert build_session("local[2]").range(3).count() == 3


def test_spark_submit(tmp_path: Path) -> None:
    (tmp_path / "data.nt").write_text(DATA + DOG_CHASES)
    (tmp_path / "zoo.ttl").write_text(ONTOLOGY)
    script = kg("script").stdout.strip()
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[1]"]
    submit += [f"--conf={name}={value}" for name, value in SETTINGS.items() if value]
    done = subprocess.run(
        [*submit, script, "check", "data.nt", "--ontology", "zoo.ttl"],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 3, done.stderr[-3000:]
    assert "http://example.org/rex" in done.stdout
