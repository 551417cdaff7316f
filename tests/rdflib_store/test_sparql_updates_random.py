"""Random SPARQL updates have the effect that the specification says: against a naive oracle, and pyoxigraph as a second opinion."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pyoxigraph
import pytest
import rdflib
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from kg_reasoner import Reasoner
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.loaders.convert import from_rdflib, to_oxigraph, to_rdflib
from kg_reasoner.rdflib_store import KGReasonerStore, store_of
from kg_reasoner.terms import Term
from tests.helpers.effort import PHASES, examples
from tests.rdflib_store.sparql_updates import Data, OnGraphs, Operation, Updated, operation, update_text
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.notes import OPEN
from tests.sparql_oracle.source import Source
from tests.sparql_oracle.strategies import datasets

SETTINGS = settings(max_examples=examples(60), phases=PHASES, suppress_health_check=list(HealthCheck))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Dataset, list[Operation]]:
    dataset = draw(datasets(with_blank_nodes=False))
    random: Random = draw(st.randoms(use_true_random=False))
    source = Source(random, dataset)
    operations = [operation(source) for _ in range(draw(st.integers(1, 3)))]
    labels = [label for each in operations if isinstance(each, Data) for label in each.blank_nodes()]
    assume(len(labels) == len(set(labels)))  # a label in two INSERT DATA is an error
    return dataset, operations


def expected(dataset: Dataset, operations: list[Operation]) -> Updated:
    """Return what operations make of a dataset."""
    updated = Updated(dataset)
    for each in operations:
        assume(not isinstance(each, OnGraphs) or each.source in updated.graphs)  # else it is an error
        updated.perform(each)
    return updated


def canonical(quads: Iterable[tuple[Term, ...]]) -> set[str]:
    """Return quads as text that does not depend on the labels of blank nodes."""
    return without_labels(pyoxigraph.Quad(*map(to_oxigraph, quad)) for quad in quads)  # type: ignore[arg-type]


def without_labels(quads: Iterable[pyoxigraph.Quad]) -> set[str]:
    """Return pyoxigraph's quads as `canonical` does."""
    data = pyoxigraph.Dataset(quads)
    data.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, data))


def filled(dataset: Dataset, store: KGReasonerStore) -> rdflib.Dataset:
    """Return an rdflib dataset over a store with the triples of a dataset."""
    target = rdflib.Dataset(store=store)
    for name, facts in [(None, dataset.default), *dataset.named.items()]:
        graph = target.graph(DATASET_DEFAULT_GRAPH_ID if name is None else to_rdflib(name))
        for fact in facts:
            graph.add(tuple(map(to_rdflib, fact)))  # type: ignore[arg-type]
    return target


def contents(dataset: rdflib.Dataset) -> set[tuple[Term, ...]]:
    """Return the quads of an rdflib dataset; those of the default graph have three terms."""
    return {
        tuple(from_rdflib(term) for term in (*fact, *(() if name == DATASET_DEFAULT_GRAPH_ID else (name,))))  # type: ignore[misc]
        for *fact, name in dataset.quads()
    }


@pytest.mark.parametrize("reasoning", ["union", "graph"])
@SETTINGS
@given(case=cases())
def test_random_updates(reasoning: str, case: tuple[Dataset, list[Operation]]) -> None:
    dataset, operations = case
    updated = expected(dataset, operations)
    assume(not updated.notes & OPEN)
    text = update_text(operations)
    note(text)
    ours = filled(dataset, KGReasonerStore(Reasoner(), reasoning=reasoning))  # type: ignore[arg-type]
    before = contents(ours)
    ours.commit()
    try:
        ours.update(text)
    except UnsupportedError as error:
        assume("rdflib's parser loses" not in str(error))
        raise
    assert canonical(contents(ours)) == canonical(updated.quads())
    assert {from_rdflib(name) for name in store_of(ours).named_graphs()} == updated.graphs.keys() - {None}
    ours.rollback()
    assert contents(ours) == before


@SETTINGS
@given(cases())
def test_the_oracle_agrees_with_pyoxigraph(case: tuple[Dataset, list[Operation]]) -> None:
    dataset, operations = case
    updated = expected(dataset, operations)
    assume(not updated.notes)
    text = update_text(operations)
    note(text)
    store = pyoxigraph.Store()
    for name, facts in [(None, dataset.default), *dataset.named.items()]:
        graph = pyoxigraph.DefaultGraph() if name is None else to_oxigraph(name)
        store.extend(pyoxigraph.Quad(*map(to_oxigraph, fact), graph) for fact in facts)  # type: ignore[arg-type]
    store.update(text)
    oracle = pyoxigraph.Store()  # which stores the values of some literals only
    oracle.extend(pyoxigraph.Quad(*map(to_oxigraph, quad)) for quad in updated.quads())  # type: ignore[arg-type]
    theirs, naive = without_labels(store), without_labels(oracle)
    note(f"only pyoxigraph has {theirs - naive}, only the oracle has {naive - theirs}")
    assert theirs == naive
