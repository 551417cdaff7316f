"""Runs on Spark: updates, interrupted runs, components of equalities, and what is said on the way."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.spark_session import need_spark, session

need_spark()

from kg_reasoner import rulesets
from kg_reasoner.errors import ReasonerError
from kg_reasoner.spark_backend import SparkReasoner, update
from kg_reasoner.spark_backend.exec.graphframes import graphframes_problem
from kg_reasoner.spark_backend.exec.preparation.components import Method, least_of_components, representatives
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.run_progress import Report
from kg_reasoner.terms import Triple, term_text
from tests.spark.spark_cases import flagged, frame, in_process, turtle
from tests.spark.spark_killed import chain
from tests.spark.spark_session import missing

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OWL2RL = rulesets.load("owl2rl").program

FARM = """
    :Cat rdfs:subClassOf :Animal . :chases rdfs:domain :Cat ; rdfs:subPropertyOf :follows . :follows owl:inverseOf :followedBy .
    :partOf a owl:TransitiveProperty . :Mouse rdfs:subClassOf :Animal .
    :Hunter owl:equivalentClass [ owl:intersectionOf ( :Cat [ a owl:Restriction ; owl:onProperty :chases ;
        owl:someValuesFrom :Mouse ] ) ] .
    :tom :chases :jerry . :jerry a :Mouse . :tom :follows :jerry . :kim a :Cat ; :chases :jerry .
    :a :partOf :b . :b :partOf :c . :c :partOf :d . :a :partOf :c .
"""
ADDED = ":kit :chases :jerry . :d :partOf :e . :tom a :Animal . :b :partOf :c ."
REMOVED = ":tom :chases :jerry . :b :partOf :c . :kim a :Cat . :nobody :chases :jerry ."


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Triple], DataFrame]:
    """The triples of the farm, and these with all that follows."""
    triples, path = turtle(FARM), str(tmp_path_factory.mktemp("farm") / "materialised")
    SparkReasoner(session(), OWL2RL, frame(triples)).triples().write.parquet(path)
    return triples, session().read.parquet(path)


@pytest.mark.parametrize(
    ("added", "removed", "driver_facts"), [(ADDED, REMOVED, 0), (":Cat rdfs:subClassOf :Pet .", ":jerry a :Mouse .", None)]
)
def test_an_update_is_a_full_run(added: str, removed: str, driver_facts: int | None, farm: tuple[list[Triple], DataFrame]) -> None:
    before, materialised = farm
    more, less = turtle(added), turtle(removed)
    after = [triple for triple in before if triple not in less] + more
    updated = update(materialised, OWL2RL, more, less, driver_facts=driver_facts)
    assert flagged(updated) == in_process(after, ruleset="owl2rl")


def test_from_files_to_files(tmp_path: Path) -> None:
    """What is read is kept below the work directory; a second run reads it from there."""
    triples = turtle(FARM)
    texts = (" ".join(map(term_text, triple)) for triple in triples)
    (tmp_path / "farm.nt").write_text("".join(f"{text} .\n" for text in texts), encoding="utf-8")
    options = {"work_dir": tmp_path / "work", "blank_nodes": "shared"}
    reasoner = SparkReasoner.read(session(), OWL2RL, tmp_path / "farm.nt", **options)  # type: ignore[arg-type]
    count = reasoner.write(tmp_path / "all")
    written = session().read.parquet(f"{tmp_path}/all")
    assert flagged(written) == in_process(triples, ruleset="owl2rl")
    assert count == written.count()
    assert len(list((tmp_path / "all").glob("part-*"))) == 1
    again = SparkReasoner.read(session(), OWL2RL, tmp_path / "farm.nt", **options)  # type: ignore[arg-type]
    assert again.run.given.inputFiles()[0].startswith(f"file://{tmp_path}/work/input/")
    assert again.write(tmp_path / "new.nt", "ntriples", inferred_only=True) == written.where("inferred").count()


@pytest.mark.usefixtures("by_iterations")
def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    command, root = [sys.executable, "-m", "tests.spark.spark_killed", f"{tmp_path}/work"], Path(__file__).parents[2]
    killed = subprocess.run(command, cwd=root, start_new_session=True, capture_output=True, timeout=600, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    steps = (tmp_path / "work" / "manifest.jsonl").read_text()
    begun = [folder.parent.stem for folder in (tmp_path / "work").glob("*/_temporary")]
    assert begun == ["0-stratum-0-3-triples"]
    assert begun[0] not in steps
    finished = steps.count('"rows"')
    assert finished >= 2
    reports: list[Report] = []
    resumed = SparkReasoner(
        session(), OWL2RL, frame(chain()), work_dir=tmp_path / "work", resume=True, progress=reports.append
    ).triples()
    assert flagged(resumed) == in_process(chain(), ruleset="owl2rl")
    assert (tmp_path / "work" / "manifest.jsonl").read_text().count('"rows"') > finished


def test_another_run_is_not_resumed(tmp_path: Path) -> None:
    SparkReasoner(session(), OWL2RL, frame(chain(3)), work_dir=tmp_path).triples()
    with pytest.raises(ReasonerError, match="cannot be resumed: it had another program, other triples"):
        SparkReasoner(session(), OWL2RL, frame(chain(4)), work_dir=tmp_path, resume=True).triples()


def test_a_work_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ReasonerError, match="work directory"):
        SparkReasoner(session(), OWL2RL, frame(chain(3)), work_dir=tmp_path / "file").triples()


@pytest.mark.parametrize("method", ["contraction", "graphframes"])
def test_components_are_those_of_the_driver(method: Method, tmp_path: Path) -> None:
    if method == "graphframes" and (problem := graphframes_problem(session())):
        missing("graphframes", problem)
    source = random.Random(7)
    pairs = [(f"n{source.randrange(300)}", f"n{source.randrange(300)}") for _ in range(150)]
    pairs += [(f"long{number:02}", f"long{number + 1:02}") for number in range(40)]
    table = session().createDataFrame(pairs, "one string, other string")
    found = representatives(table, WorkDirectory(session(), tmp_path), method)
    assert {row.term: row.representative for row in found.collect()} == least_of_components(pairs)
