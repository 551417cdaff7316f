"""Triples as a graph: its tables, and what GraphFrames makes of them."""

from __future__ import annotations

import random
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers.extras import needed
from tests.spark.spark_session import missing, need_spark, session

need_spark()

from kg_reasoner.errors import ReasonerError, install_command
from kg_reasoner.spark_backend.exec import graphframes
from kg_reasoner.spark_backend.exec.graphframes import (
    _algorithm,
    components,
    graph_tables,
    graphframes_problem,
    number_terms,
    to_graphframe,
)
from kg_reasoner.spark_backend.exec.local_graphs import connected_components, to_igraph, to_networkx
from kg_reasoner.spark_backend.exec.preparation.components import least_of_components
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


# ---- without the jar

SMALL_GRAPH = [(f"<{one}>", "<to>", f"<{other}>", False) for one, other in ("ab", "bc", "ca", "cd", "xy")]
"""A circle with a tail, and an edge beside it."""


def test_networkx_has_the_same_graph() -> None:
    """With what GraphFrames offers: motifs, components, the distances to landmarks, and ranks, which need scipy."""
    import networkx

    graph = to_networkx(triples())
    assert sorted(graph.nodes) == ["<a>", "<b>", "<d>", "_:c"]
    assert graph.nodes["<b>"]["attributes"] == {"<name>": ['"Bea"', '"Bea"@en']}
    assert graph.nodes["<a>"]["attributes"] == {}
    assert sorted((*edge, inferred) for *edge, inferred in graph.edges(keys=True, data="inferred")) == [
        ("<a>", "<b>", "<knows>", False),
        ("<b>", "_:c", "<knows>", True),
        ("<b>", "_:c", "<likes>", False),
        ("_:c", "<a>", "<knows>", False),
    ]
    graph = to_networkx(triples(SMALL_GRAPH))
    if find_spec("scipy"):
        ranks = networkx.pagerank(networkx.DiGraph(graph))
        assert max(ranks, key=ranks.__getitem__) == "<c>"
    assert sorted(map(sorted, networkx.weakly_connected_components(graph))) == [["<a>", "<b>", "<c>", "<d>"], ["<x>", "<y>"]]
    distances = dict(networkx.single_target_shortest_path_length(graph, "<d>"))
    assert distances == {"<d>": 0, "<c>": 1, "<b>": 2, "<a>": 3}
    motifs = [(x, y, z) for x, y in graph.edges() for z in graph.successors(y)]
    assert sorted(motifs) == sorted(tuple(f"<{name}>" for name in path) for path in ("abc", "bca", "bcd", "cab"))


def test_igraph_has_the_same_graph() -> None:
    igraph = needed("igraph")
    graph = to_igraph(triples())
    assert graph.vs["name"] == ["<a>", "<b>", "<d>", "_:c"]
    assert graph.vs.find("<b>")["attributes"] == {"<name>": ['"Bea"', '"Bea"@en']}
    named = [(*(graph.vs[end]["name"] for end in edge.tuple), edge["predicate"], edge["inferred"]) for edge in graph.es]
    assert len(named) == 4
    assert ("<b>", "_:c", "<knows>", True) in named
    graph = to_igraph(triples(SMALL_GRAPH))
    ranks = graph.pagerank()
    assert graph.vs[ranks.index(max(ranks))]["name"] == "<c>"
    parts = [sorted(graph.vs[place]["name"] for place in part) for part in graph.connected_components(mode="weak")]
    assert sorted(parts) == [["<a>", "<b>", "<c>", "<d>"], ["<x>", "<y>"]]
    assert graph.distances("<a>", "<d>") == [[3]]
    motifs = graph.get_subisomorphisms_vf2(igraph.Graph([(0, 1), (1, 2)], directed=True))
    assert sorted(motifs) == [[0, 1, 2], [1, 2, 0], [1, 2, 3], [2, 0, 1]]


def test_a_graph_for_this_process_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReasonerError, match=r"more than 3 edges.*filter the triples"):
        to_networkx(triples(), most_edges=3)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ReasonerError, match="pip install networkx"):
        to_networkx(triples())


def test_components_of_triples() -> None:
    found = {row.term: row.component for row in connected_components(triples([*SMALL_GRAPH, *ROWS[5:]])).collect()}
    assert found == {f"<{name}>": f"<{least}>" for name, least in ("aa", "ba", "ca", "da", "xx", "yx")}


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
