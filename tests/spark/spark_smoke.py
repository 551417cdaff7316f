"""Everything that Spark is used for, once, in a process of its own: ``python -m tests.spark.spark_smoke [--remote]``.

For what the test session is not: Spark Connect (``--remote``; one process has one kind of session) and other versions of Spark. It
ends with what was checked, or with an error.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.exec.graphframes import graph_tables, graphframes_problem
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.io.triple_files import write
from kg_reasoner.spark_backend.run_progress import Report
from kg_reasoner.terms import term_text
from tests.spark.spark_session import ADAPTIVE, SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://example.org/"
OWL = "http://www.w3.org/2002/07/owl#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

DATA = f"""
<{EX}Cat> <{RDFS}subClassOf> <{EX}Animal> .
<{EX}Cat> <{OWL}disjointWith> <{EX}Dog> .
<{EX}partOf> <{RDF}type> <{OWL}TransitiveProperty> .
<{EX}chases> <{RDFS}domain> <{EX}Cat> .
<{EX}tom> <{EX}chases> <{EX}jerry> .
<{EX}tom>\t<{EX}name> "T\\u006Fm"@EN . # an odd line
<{EX}tom> <{RDF}type> <{EX}Dog> .
<{EX}toe> <{EX}partOf> <{EX}foot> .
<{EX}foot> <{EX}partOf> <{EX}leg> .
<{EX}leg> <{EX}partOf> <{EX}tom> .
<{EX}partOf> <{OWL}inverseOf> <{EX}hasPart> .
"""


def session(remote: bool) -> SparkSession:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    builder = builder.remote("local[1]") if remote else builder.master("local[1]")
    for name, value in {**SETTINGS, **ADAPTIVE}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def in_process() -> tuple[set[tuple[str, ...]], int]:
    reasoner = Reasoner(ruleset="owl2rl", show_hidden=True)
    reasoner.load(DATA.encode(), format="ntriples")
    return {tuple(map(term_text, triple)) for triple in reasoner.triples()}, len(reasoner.inconsistencies())


def main(remote: bool) -> None:
    spark = session(remote)
    expected, contradictions = in_process()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data.nt").write_text(DATA)
        triples = read_triples(spark, f"{folder}/data.nt")
        program = rulesets.load("owl2rl").program
        reasoner = SparkReasoner(spark, program, triples, work_dir=f"{folder}/work", driver_facts=0)
        write(reasoner.triples(), f"{folder}/out")
        write(reasoner.triples(), f"{folder}/lines", "ntriples")
        for output in ("out", "lines"):
            found = {tuple(row) for row in read_triples(spark, f"{folder}/{output}").collect()}
            assert found == expected, f"only on Spark: {found - expected}; only in process: {expected - found}"
        assert reasoner.inconsistencies().count() == contradictions > 0
        reports: list[Report] = []
        finished = SparkReasoner(spark, program, triples, work_dir=f"{folder}/less", progress=reports.append).triples()
        assert {(row.subject, row.predicate, row.object) for row in finished.collect()} == expected
        assert "in process" in {report.stage for report in reports}
        vertices, edges = graph_tables(spark.read.parquet(f"{folder}/out"))
        terms = {term for subject, _, object in expected for term in (subject, object) if not term.startswith('"')}
        assert {row.term for row in vertices.collect()} == terms
        assert edges.count() == sum(not object.startswith('"') for _, _, object in expected)
        problem = graphframes_problem(spark)
    print(f"{type(spark).__module__}, Spark {spark.version}: {len(expected)} triples are those of the in-process engine")
    print(f"GraphFrames: {problem or 'is there'}")
    end(spark)


def end(spark: SparkSession) -> None:
    """Stops the session, and waits for its JVM: the jars may be deleted as soon as this process is gone."""
    spark.stop()
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is not None:  # Spark Connect has none
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)


if __name__ == "__main__":
    main("--remote" in sys.argv)
