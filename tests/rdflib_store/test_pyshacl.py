"""SHACL over our store: pyshacl judges what follows, too, if it sees it.

With ``advanced=True`` it works on a copy, which it makes graph by graph: inferred triples that are in no graph are not in the copy.
"""

from __future__ import annotations

import pytest
from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from kg_reasoner import KGReasonerStore, Reasoner, attach, detach, owlrl
from tests.helpers.extras import needed

pyshacl = needed("pyshacl")

DATA = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:keeps rdfs:range :Animal . :ann :keeps :tom . :tom :age -1 .
"""
SHAPES = """
@prefix : <http://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:AnimalShape a sh:NodeShape ; sh:targetClass :Animal ; sh:property [ sh:path :age ; sh:minInclusive 0 ] .
"""
INFERRED = [None, "http://example.org/inferred", str(DATASET_DEFAULT_GRAPH_ID)]


def conforms(data: Graph, **options: bool) -> bool:
    data.parse(data=DATA, format="turtle")
    result: bool = pyshacl.validate(data, shacl_graph=Graph().parse(data=SHAPES, format="turtle"), **options)[0]
    return result


def dataset(inferred_graph: str | None, default_union: bool) -> Dataset:
    store = KGReasonerStore(Reasoner(ruleset="rdfs"), inferred_graph=inferred_graph)
    return Dataset(store=store, default_union=default_union)


@pytest.mark.parametrize("default_union", [True, False])
@pytest.mark.parametrize("inferred_graph", INFERRED)
def test_datasets(inferred_graph: str | None, default_union: bool) -> None:
    assert conforms(Dataset(default_union=default_union), advanced=True), "nothing is inferred there"
    assert not conforms(dataset(inferred_graph, default_union))
    assert not conforms(dataset(inferred_graph, default_union), advanced=True, inplace=True)
    if inferred_graph is not None:
        assert not conforms(dataset(inferred_graph, default_union), advanced=True)


def test_graphs() -> None:
    for advanced in (True, False):
        assert not conforms(Graph(store=KGReasonerStore(Reasoner(ruleset="rdfs"))), advanced=advanced)


@pytest.mark.parametrize("age", [-1, 3])
def test_a_graph_with_a_reasoner_and_an_expanded_graph_are_judged_alike(age: int) -> None:
    shapes = Graph().parse(data=SHAPES, format="turtle")

    def judged(data: Graph, **options: str) -> bool:
        return bool(pyshacl.validate(data, shacl_graph=shapes, **options)[0])

    def data() -> Graph:
        return Graph().parse(data=DATA.replace("-1", str(age)), format="turtle")

    expanded = data()
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(expanded)
    attached = attach(data())
    assert {judged(data(), inference="owlrl"), judged(expanded), judged(attached)} == {age >= 0}
    assert judged(detach(attached, keep="all")) is (age >= 0)
    assert judged(detach(attach(data()))), "nothing is inferred there"
