"""LUBM(1): the 14 queries through `Graph.query` give the published answers, over `owl2rl` (DLP) and `owl2rl-full` (all triples)."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from rdflib import Graph

from kg_reasoner import Reasoner, attach, graph_of
from kg_reasoner.loaders.convert import text_from_rdflib
from tests.helpers.suites import SUITES, needs_suite

LUBM = SUITES / "lubm"
QUERIES = [f"q{number:02}" for number in range(1, 15)]

pytestmark = needs_suite("lubm")


@pytest.fixture(scope="module")
def data() -> Graph:
    """An ordinary graph with the data and the ontology."""
    reasoner = Reasoner()
    reasoner.load(LUBM / "lubm1.nt.gz", LUBM / "univ-bench.owl")
    graph = Graph()
    graph += graph_of(reasoner)
    return graph


@pytest.fixture(scope="module", params=["owl2rl", pytest.param("owl2rl-full", marks=pytest.mark.long)])
def attached(request: pytest.FixtureRequest, data: Graph) -> Graph:
    return attach(Graph(store=data.store, identifier=data.identifier), ruleset=request.param)


def answers(name: str) -> Counter[tuple[str, ...]]:
    _, *lines = (LUBM / "answers" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return Counter(tuple(line.split("\t")) for line in lines)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.sample(4)
def test_queries_have_the_published_answers(attached: Graph, name: str) -> None:
    result = attached.query((LUBM / f"{name}.rq").read_text(encoding="utf-8"))
    found = Counter(tuple(text_from_rdflib(term) for term in row) for row in result)
    assert found == answers(name)
    assert found.total() == json.loads((LUBM / "counts.json").read_text())["published"][name]


@pytest.mark.long
def test_most_answers_need_inference(data: Graph) -> None:
    """The queries say something about the rules: without them, most have no answer."""
    plain = graph_of(Reasoner())
    plain += data
    counts = {name: len(plain.query((LUBM / f"{name}.rq").read_text(encoding="utf-8"))) for name in QUERIES}
    verified = json.loads((LUBM / "counts.json").read_text())["verified"]
    assert counts == {name: verified[name]["no_inference"] for name in QUERIES}


def test_explicit_triples_stay_those_of_the_graph(attached: Graph, data: Graph) -> None:
    assert len(attached.store.explicit) == len(data) == 100_836
    assert len(attached) == len(attached.store.explicit) + len(attached.store.inferred)
