"""Triples as a graph: its tables, and what GraphFrames makes of them."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark_session import missing, need_spark, session

need_spark()

from kg_reasoner.errors import ReasonerError, install_command
from kg_reasoner.spark_backend.exec import graphframes
from kg_reasoner.spark_backend.exec.components import least_of_components
from kg_reasoner.spark_backend.exec.graphframes import (
    _algorithm,
    components,
    graph_tables,
    graphframes_problem,
    number_terms,
    to_graphframe,
)
from kg_reasoner.spark_backend.requirements import graphframes_package

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = [
    ("<a>", "<knows>", "<b>", False),
    ("<a>", "<knows>", "<b>", True),  # explicit and inferred is explicit
    ("<b>", "<knows>", "_:c", True),
    ("<b>", "<likes>", "_:c", False),
    ("_:c", "<knows>", "<a>", False),
    ("<b>", "<name>", '"Bea"', False),
    ("<b>", "<name>", '"Bea"@en', False),
    ("<d>", "<age>", '"7"', True),  # has no edge
    ('"x"', "<knows>", "<e>", True),  # no RDF
]


def triples(rows: list[Any] = ROWS) -> DataFrame:
    return session().createDataFrame(rows, "subject string, predicate string, object string, inferred boolean")


def test_tables_of_a_graph() -> None:
    vertices, edges = graph_tables(triples())
    assert [field.dataType.simpleString() for field in vertices.schema] == ["bigint", "string", "map<string,array<string>>"]
    assert edges.dtypes == [("src", "bigint"), ("dst", "bigint"), ("predicate", "string"), ("inferred", "boolean")]
    terms = {row.id: row.term for row in vertices.collect()}
    assert sorted(terms.values()) == ["<a>", "<b>", "<d>", "_:c"]
    assert {row.term: row.attributes for row in vertices.collect() if row.attributes is not None} == {
        "<b>": {"<name>": ['"Bea"', '"Bea"@en']},
        "<d>": {"<age>": ['"7"']},
    }
    found = sorted((terms[row.src], row.predicate, terms[row.dst], row.inferred) for row in edges.collect())
    assert found == [
        ("<a>", "<knows>", "<b>", False),
        ("<b>", "<knows>", "_:c", True),
        ("<b>", "<likes>", "_:c", False),
        ("_:c", "<knows>", "<a>", False),
    ]


def test_triples_that_do_not_tell_what_is_inferred() -> None:
    _, edges = graph_tables(triples().drop("inferred"))
    assert [row.inferred for row in edges.collect()] == [False] * 4


def test_numbers_are_unique_and_depend_on_the_terms_alone() -> None:
    terms = [f"<http://example.org/{number}>" for number in range(3000)]
    shuffled = random.Random(7).sample(terms, len(terms))
    one, other = (
        {row.term: row.id for row in number_terms(session().createDataFrame([(term,) for term in some], "t string")).collect()}
        for some in (terms, shuffled + shuffled[:100])
    )
    assert one == other
    assert set(one) == set(terms)
    assert len(set(one.values())) == len(terms)
    assert min(one.values()) >= 0
    assert max(one.values()) < 11 * 1024  # nearly dense: three a bucket, eleven at most


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphframes", None)
    assert install_command("spark") in (graphframes_problem(session()) or "")
    monkeypatch.undo()
    if graphframes_problem(session()) is None:
        return
    with pytest.raises(ReasonerError, match=f"jar is not in the session.*spark.jars.packages={graphframes_package()}"):
        to_graphframe(triples())


# ---- with the jar


def need_graphframes() -> None:
    problem = graphframes_problem(session())
    if problem is not None:
        missing("graphframes", problem)


def held_in_memory() -> int:
    """How many tables the session keeps."""
    return int(session().sparkContext._jsc.getPersistentRDDs().size())  # type: ignore[union-attr]


def test_motifs_and_ranks() -> None:
    need_graphframes()
    graph = to_graphframe(triples())
    found = graph.find("(x)-[e]->(y); (y)-[f]->(z)").filter("e.predicate = '<knows>' and f.predicate = '<likes>'")
    assert [(row.x.term, row.y.term, row.z.term) for row in found.collect()] == [("<a>", "<b>", "_:c")]
    ranks = {row.term: row.pagerank for row in graph.pageRank(maxIter=3).vertices.collect()}
    assert ranks["_:c"] > ranks["<d>"]


@pytest.mark.parametrize("algorithm", ["two_phase", "randomized_contraction"])
def test_components_are_those_of_union_find(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_graphframes()
    chosen = _algorithm(session())
    assert chosen["algorithm"] == "two_phase"  # the session has no folder for checkpoints
    monkeypatch.setattr(graphframes, "_algorithm", lambda spark: chosen | {"algorithm": algorithm})
    session().sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))
    source = random.Random(11)
    pairs = [(f"<{source.randrange(400)}>", f"<{source.randrange(400)}>") for _ in range(180)]
    session().createDataFrame(pairs, "src string, dst string").write.parquet(str(tmp_path / "pairs"))
    with components(session().read.parquet(str(tmp_path / "pairs"))) as table:
        found = table.collect()
        held = held_in_memory()
    assert held_in_memory() < held
    members: dict[int, set[str]] = {}
    for row in found:
        members.setdefault(row.component, set()).add(row.term)
    least = least_of_components(pairs)
    expected: dict[str, set[str]] = {}
    for term in {term for pair in pairs for term in pair}:
        expected.setdefault(least.get(term, term), set()).add(term)
    assert sorted(map(sorted, members.values())) == sorted(map(sorted, expected.values()))
