"""Graphs of rdflib in memory, read in blocks: into stores by ``+=`` and `attach`, and by `Reasoner.load`."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import BNode, Dataset, Graph, Literal, Namespace, URIRef
from rdflib.plugins.stores.memory import Memory
from rdflib.term import Node

from kg_reasoner import KGReasonerStore, Reasoner, attach, detach
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.readers import triples_in_memory as encoding
from kg_reasoner.loaders.rdf.readers.triples_in_memory import all_triples
from kg_reasoner.rdflib_store import store as storing

EX = Namespace("http://example.org/")
RESOURCES = st.sampled_from([EX.a, EX.b, EX["ü"], URIRef(""), URIRef("relative"), BNode("b"), BNode("c")])
STRINGS = ["", "x", 'a "quoted"\nline', "<a><b>", "07"]
VALUES = RESOURCES | st.builds(Literal, st.sampled_from(STRINGS) | st.integers(0, 9) | st.booleans())
TRIPLES = st.lists(st.tuples(RESOURCES, st.sampled_from([EX.p, EX["q"]]), VALUES), max_size=30)
NAMES = st.sampled_from([EX.one, EX.two, BNode("graph")])


class Noted(Memory):
    """A store that is not rdflib's, whatever it holds."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "BLOCK", 8)
    monkeypatch.setattr(storing, "FEW", 4)
    monkeypatch.setattr(encoding, "_AT_ONCE", 5)


def graph_of(triples: list[tuple[Any, Any, Any]], store: Any = "default") -> Graph:
    graph = Graph(store=store)
    for triple in triples:
        graph.add(triple)
    return graph


def texts(graph: Any) -> set[tuple[str, ...]]:
    return {tuple(term.n3() if isinstance(term, Node) else str(term) for term in row) for row in graph}


@pytest.mark.parametrize("store", [Memory, Noted])
@given(triples=TRIPLES, other=TRIPLES)
def test_a_graph_has_the_same_triples_over_our_store(store: type[Memory], triples: Any, other: Any) -> None:
    source = graph_of(triples, store())
    beside = Graph(store=source.store, identifier=EX.beside)
    for triple in other:
        beside.add(triple)
    added = Graph(store=KGReasonerStore(Reasoner()))
    added += source
    attached = attach(graph_of(triples))
    loaded = Graph(store=KGReasonerStore(reasoner := Reasoner()))
    reasoner.load(source)
    assert texts(added) == texts(detach(attached)) == texts(source)
    assert texts(loaded) == texts(source)
    assert texts(all_triples(beside)) == texts(beside) == texts(set(other))


@given(quads=st.lists(st.tuples(TRIPLES.filter(bool).map(lambda found: found[0]), st.none() | NAMES), max_size=30))
def test_a_dataset_has_the_same_quads_over_our_store(quads: Any) -> None:
    source = Dataset()
    for triple, name in quads:
        source.graph(name).add(triple) if name is not None else source.default_graph.add(triple)
    added = Dataset(store=KGReasonerStore(Reasoner()))
    added += source
    copied = Dataset()
    copied += source
    assert texts(added) == texts(copied) == texts(detach(attach(copied)))


@pytest.mark.parametrize("bad", [URIRef("with space"), URIRef("a>b"), URIRef("a<b"), URIRef("a\nb"), URIRef("\ud800"), Graph()])
@pytest.mark.parametrize("place", [0, 11])
def test_one_wrong_term_leaves_everything_as_it_was(bad: Any, place: int) -> None:
    graph = graph_of([(EX.old, EX.p, EX.b)], KGReasonerStore("rdfs"))
    triples = [(EX[str(number)], EX.p, EX.b) for number in range(20)]
    triples[place] = (EX.a, EX.p, bad)
    for way in (graph.__iadd__, lambda added: graph.addN((*triple, graph) for triple in added)):
        with pytest.raises(LoadError):
            way(triples)
        assert set(graph.triples((None, EX.p, None))) == {(EX.old, EX.p, EX.b)}
    with pytest.raises(LoadError, match="cannot be the subject"):
        graph += [*triples[:place], (Literal("x"), EX.p, EX.b), *triples[place + 1 :]]
    assert set(graph.triples((None, EX.p, None))) == {(EX.old, EX.p, EX.b)}


def test_a_source_that_breaks_leaves_everything_as_it_was() -> None:
    graph = graph_of([], KGReasonerStore(Reasoner()))

    def triples() -> Any:
        yield from ((EX[str(number)], EX.p, EX.b) for number in range(20))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        graph += triples()
    assert len(graph) == 0


def test_the_triples_of_a_graph_are_read_at_once_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose attributes are others is asked as it always was."""
    graph = graph_of([(EX.a, EX.p, EX.b), (EX.a, EX.p, EX.c)])
    asked = count()
    monkeypatch.setattr(Memory, "triples", lambda *given, **named: iter([()] * 0 * next(asked)))
    assert texts(all_triples(graph)) == {(EX.a.n3(), EX.p.n3(), value.n3()) for value in (EX.b, EX.c)}
    assert next(asked) == 0
    held = vars(graph.store)["_Memory__contextTriples"]
    for changed in ({}, None, {name: list(triples) for name, triples in held.items()}):
        vars(graph.store)["_Memory__contextTriples"] = changed
        if changed is None:
            monkeypatch.setattr(Memory, "__len__", lambda *given, **named: 2)
        assert list(all_triples(graph)) == []
    assert next(asked) == 4


def test_graphs_of_a_dataset_are_distinguished_from_others() -> None:
    """One call has a graph that the dataset has made, one of the same name that nobody knows, and none."""
    store = KGReasonerStore(Reasoner())
    dataset = Dataset(store=store)
    quads = [(EX[str(number)], EX.p, EX.b, dataset.graph(EX[f"g{number % 2}"])) for number in range(12)]
    quads += [(EX.other, EX.p, EX.b, Graph(store=store, identifier=EX.g1)), (EX.none, EX.p, EX.b, None)]
    store.addN(quads)
    assert len(dataset.graph(EX.g0)) == 6 and len(dataset.graph(EX.g1)) == 7
    assert len(dataset.default_graph) == 1
