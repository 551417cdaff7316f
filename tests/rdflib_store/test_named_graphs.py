"""Named graphs: rdflib's `Dataset` over our store, next to one over rdflib's own; reasoning over the union, and over each graph."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, BNode, Dataset, Graph, Literal, Namespace, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.stores.memory import Memory
from rdflib.term import Node

from kg_reasoner import KGReasonerStore, Reasoner, attach, graph_of
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import LoadError, NoProofError, ReasonerError, TransactionError, UnknownNameError
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.rdflib_store.graphs.graph_reasoners import GraphReasoners
from kg_reasoner.terms import IRI, term_from_text
from tests.helpers.effort import examples

EX = Namespace("http://example.org/")
PREFIXES = "PREFIX ex: <http://example.org/> "
EXAMPLES = examples(20)
ZOO = """
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Cat rdfs:subClassOf ex:Animal .
GRAPH ex:ann { ex:tom a ex:Cat . ex:ann ex:keeps ex:tom }
GRAPH ex:bob { ex:tom a ex:Cat . ex:rex a ex:Animal }
"""

LAYOUTS = ["[?s, <urn:never>, ?o] :- [?o, <urn:never>, ?s] .", "[?s, ?p, ?o] :- [?s, ?p, ?o], [?s, ?q, ?o] ."]
"""Programs from which nothing new follows: with a relation for each property, and with one of all triples."""

Quad = tuple[Node, Node, Node, Node]

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")


@pytest.fixture(params=["rdfs", "owl2rl"])
def zoo(request: pytest.FixtureRequest) -> Dataset:
    """A dataset in which it follows, over the union of its graphs, that tom and tim are animals."""
    return zoo_in(Dataset(store=KGReasonerStore(Reasoner(ruleset=request.param))))


def zoo_in(dataset: Dataset) -> Dataset:
    """The zoo, and a graph that is named by a blank node."""
    dataset.parse(data=ZOO, format="trig")
    dataset.add((EX.tim, RDF.type, EX.Cat, BNode("nobody")))
    return dataset


def names(dataset: Dataset) -> set[Any]:
    return {graph.identifier for graph in dataset.graphs()}


def quads(dataset: Dataset) -> set[tuple[Any, ...]]:
    return set(dataset.quads((None, None, None, None)))


def rows(dataset: Dataset | Graph, query: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in dataset.query(PREFIXES + query))


# --- graphs and their union ------------------------------------------------------------------------------------------------


def test_each_graph_has_its_explicit_triples(zoo: Dataset) -> None:
    assert set(zoo.graph(EX.ann)) == {(EX.tom, RDF.type, EX.Cat), (EX.ann, EX.keeps, EX.tom)}
    assert set(zoo.graph(EX.bob)) == {(EX.tom, RDF.type, EX.Cat), (EX.rex, RDF.type, EX.Animal)}
    assert set(zoo.default_graph) == {(EX.Cat, RDFS.subClassOf, EX.Animal)}
    assert set(zoo.graph(BNode("nobody"))) == {(EX.tim, RDF.type, EX.Cat)}
    assert names(zoo) == {DATASET_DEFAULT_GRAPH_ID, EX.ann, EX.bob, BNode("nobody")}
    assert len(zoo.graph(EX.ann)) == 2
    assert len(zoo.default_graph) == 1
    assert (EX.tom, RDF.type, EX.Cat, EX.bob) in zoo
    assert (EX.tim, RDF.type, EX.Cat, EX.bob) not in zoo
    assert list(zoo.graph(EX.nowhere)) == []


def test_what_follows_is_in_the_union(zoo: Dataset) -> None:
    assert (EX.tom, RDF.type, EX.Animal) not in zoo  # that is the default graph
    assert (EX.tom, RDF.type, EX.Animal) not in zoo.graph(EX.ann)
    zoo.default_union = True
    for triple in [(EX.tom, RDF.type, EX.Animal), (EX.tim, RDF.type, EX.Animal), (EX.ann, EX.keeps, EX.tom)]:
        assert triple in zoo
    assert (EX.tim, RDF.type, EX.Animal) in set(zoo.triples((None, RDF.type, None)))
    assert len(zoo) == len(set(zoo.triples((None, None, None))))
    assert (EX.tom, RDF.type, EX.Animal) in Graph(store=zoo.store)  # a plain graph shows the union, too


def test_quads_have_the_graphs_of_explicit_triples(zoo: Dataset) -> None:
    assert {quad[3] for quad in zoo.quads((EX.tom, RDF.type, EX.Cat, None))} == {EX.ann, EX.bob}
    assert set(zoo.quads((None, None, None, EX.bob))) == {
        (EX.tom, RDF.type, EX.Cat, EX.bob),
        (EX.rex, RDF.type, EX.Animal, EX.bob),
    }
    assert len(quads(zoo)) == 6
    assert {graph.identifier for graph in zoo.graphs((EX.tom, RDF.type, EX.Cat))} >= {EX.ann, EX.bob}


def test_a_triple_is_there_as_long_as_a_graph_states_it(zoo: Dataset) -> None:
    zoo.default_union = True
    zoo.remove((EX.tom, RDF.type, EX.Cat, EX.ann))
    assert (EX.tom, RDF.type, EX.Animal) in zoo
    assert (EX.tom, RDF.type, EX.Cat) not in zoo.graph(EX.ann)
    zoo.graph(EX.bob).remove((EX.tom, None, None))
    assert (EX.tom, RDF.type, EX.Animal) not in zoo


def test_adding_to_the_default_graph_what_a_named_graph_has(zoo: Dataset) -> None:
    triple = (EX.tim, RDF.type, EX.Cat)
    zoo.add(triple)
    assert triple in zoo.default_graph
    for graph in [graph for graph in zoo.graphs(triple) if graph.identifier != DATASET_DEFAULT_GRAPH_ID]:
        graph.remove(triple)
    assert triple in zoo.default_graph
    assert [quad[3] for quad in zoo.quads((*triple, None))] == [DATASET_DEFAULT_GRAPH_ID]
    zoo.default_graph.remove(triple)
    assert triple not in Graph(store=zoo.store)


def test_removing_without_a_graph_removes_from_all(zoo: Dataset) -> None:
    zoo.remove((EX.tom, None, None))
    assert [quad for quad in quads(zoo) if quad[0] == EX.tom] == []
    assert (EX.rex, RDF.type, EX.Animal) in zoo.graph(EX.bob)


def test_graphs_are_there_until_they_are_removed(zoo: Dataset) -> None:
    zoo.graph(EX.empty)
    assert EX.empty in names(zoo)
    zoo.remove_graph(EX.empty)
    assert EX.empty not in names(zoo)
    zoo.graph(EX.bob).remove((None, None, None))
    assert EX.bob in names(zoo)
    zoo.remove_graph(EX.bob)
    assert EX.bob not in names(zoo)
    zoo.remove_graph(zoo.default_graph)
    assert DATASET_DEFAULT_GRAPH_ID in names(zoo)
    assert len(zoo.default_graph) == 0
    assert len(zoo.graph(EX.ann)) == 2


def test_the_default_graph_is_emptied_once(zoo: Dataset) -> None:
    zoo.commit()
    before = quads(zoo)
    zoo.remove_graph(zoo.default_graph)
    zoo.rollback()
    zoo.graph(DATASET_DEFAULT_GRAPH_ID)
    assert quads(zoo) == before
    store = cast(KGReasonerStore, zoo.store)
    store.remove_graph(zoo.default_graph)
    assert len(zoo.default_graph) == 0
    store.reasoner.add_triples([(EX.Cat, RDFS.subClassOf, EX.Being)])
    zoo.graph(DATASET_DEFAULT_GRAPH_ID)
    assert len(zoo.default_graph) == 1


HEXTUPLES = '["http://example.org/tim", "http://example.org/name", "Tim", "http://www.w3.org/2001/XMLSchema#string", "", ""]\n'


class ListedTriples(Dataset):
    """A dataset with a method `add` of its own, so that rdflib reads its documents."""

    def add(self, triple: Any) -> Dataset:
        return super().add(triple)


@pytest.mark.parametrize("made", [Dataset, ListedTriples])
@pytest.mark.parametrize(
    "format, document",
    [("hext", HEXTUPLES), ("nquads", '<http://example.org/tim> <http://example.org/name> "Tim" .'), ("nquads", "")],
)
def test_a_document_is_added_to_what_the_default_graph_has(made: type[Dataset], format: str, document: str) -> None:
    dataset = zoo_in(made(store=KGReasonerStore(Reasoner())))
    before = quads(dataset)
    dataset.parse(data=document, format=format)
    assert quads(dataset) == before | ({(EX.tim, EX.name, Literal("Tim"), DATASET_DEFAULT_GRAPH_ID)} if document else set())
    dataset.graph(DATASET_DEFAULT_GRAPH_ID)
    assert before <= quads(dataset)


def test_blank_nodes_are_the_same_in_all_graphs(zoo: Dataset) -> None:
    node = BNode()
    zoo.graph(EX.ann).add((EX.ann, EX.knows, node))
    zoo.graph(EX.bob).add((node, RDF.type, EX.Cat))
    found = rows(zoo, "SELECT ?x { GRAPH ex:ann { ex:ann ex:knows ?x } GRAPH ex:bob { ?x a ex:Cat } }")
    assert found == {(node,): 1}


def test_literals_do_not_name_graphs(zoo: Dataset) -> None:
    with pytest.raises(LoadError, match="cannot name a graph"):
        zoo.store.writer.add_quads([(EX.a, EX.b, EX.c, Literal("x"))])
    assert (EX.a, EX.b, EX.c) not in Graph(store=zoo.store)


@pytest.mark.parametrize("format", ["trig", "nquads", "json-ld"])
def test_serialise_and_parse(zoo: Dataset, format: str) -> None:
    text = zoo.serialize(format=format)
    again = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"))).parse(data=text, format=format)
    plain = Dataset().parse(data=text, format=format)
    for name in (EX.ann, EX.bob):
        assert set(again.graph(name)) == set(plain.graph(name)) == set(zoo.graph(name))
    assert len(quads(again)) == 6


@pytest.mark.parametrize("format", ["trig", "nquads", "json-ld", "trix", "hext"])
@pytest.mark.parametrize("into", ["dataset", "default graph", "other graph"])
def test_any_graph_of_a_dataset_reads_quads(format: str, into: str) -> None:
    text = Dataset().parse(data=ZOO, format="trig").serialize(format=format)
    ours, theirs = Dataset(store=KGReasonerStore(Reasoner())), Dataset()
    for dataset in (ours, theirs):
        graphs = {"dataset": dataset, "default graph": dataset.default_graph, "other graph": dataset.get_context(EX.other)}
        graphs[into].parse(data=text, format=format)
    assert quads(ours) == quads(theirs)


@pytest.mark.parametrize("format", ["nquads", "json-ld"])
def test_a_plain_graph_reads_quads(format: str) -> None:
    """Their graphs are kept, and the plain graph is the union."""
    text = Dataset().parse(data=ZOO, format="trig").serialize(format=format)
    for has_data in (False, True):
        graph = Graph(store="KGReasoner")
        if has_data:
            graph.add((EX.Animal, RDFS.subClassOf, EX.Being))
        for _ in range(2):
            graph.parse(data=text, format=format)
        assert (EX.tom, RDF.type, EX.Being if has_data else EX.Animal) in graph
        assert rows(graph, "SELECT ?g { GRAPH ?g { ex:rex a ex:Animal } }") == {(EX.bob,): 1}
        graph.remove((EX.tom, RDF.type, EX.Cat))
        assert (EX.tom, RDF.type, EX.Cat) not in graph


def test_a_plain_graph_reads_trig() -> None:
    graph = Graph(store="KGReasoner").parse(data=ZOO, format="trig")
    assert (EX.tom, RDF.type, EX.Animal) in graph
    assert (EX.rex, RDF.type, EX.Animal) in graph.store.explicit


def test_a_plain_graph_stays_one_whatever_its_name() -> None:
    graph = Graph(store=KGReasonerStore(Reasoner(ruleset="rdfs")), identifier=EX.name)
    graph.add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) in graph
    assert rows(graph, "SELECT ?g { GRAPH ?g { } }") == {}


@pytest.mark.parametrize(
    "look",
    [inspect.getmembers, lambda store: store.graph_aware, lambda store: Dataset(store=store)],
    ids=["members", "flag", "wrap"],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["before", "between"])
def test_to_look_at_a_store_changes_no_answer(look: Callable[[KGReasonerStore], object], is_first: bool) -> None:
    graph = Graph(store=KGReasonerStore(Reasoner(ruleset="rdfs")), identifier=EX.name)
    kept = look(graph.store) if is_first else None  # type: ignore[arg-type]
    graph.add((EX.Cat, RDFS.subClassOf, EX.Animal))
    kept = kept or look(graph.store)  # type: ignore[arg-type]
    graph.add((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) in graph
    assert rows(graph, "SELECT ?g { GRAPH ?g { } }") == {}
    assert len(graph) == len(graph.store)
    if isinstance(kept, Dataset):
        assert (EX.tom, RDF.type, EX.Cat) in kept
        kept.graph(EX.other).add((EX.rex, RDF.type, EX.Cat))
        assert (EX.rex, RDF.type, EX.Animal) in graph


def test_graphs_by_their_names_over_the_same_store(zoo: Dataset) -> None:
    graph = Graph(store=zoo.store, identifier=EX.bob)
    assert set(graph) == set(zoo.graph(EX.bob))
    Graph(store=zoo.store, identifier=EX.other).add((EX.a, EX.b, EX.c))
    assert (EX.a, EX.b, EX.c, EX.other) in zoo


def named(store: KGReasonerStore, name: URIRef) -> Graph:
    return Graph(store=store, identifier=name)


def test_graphs_with_names_are_apart_when_each_is_reasoned_over() -> None:
    """As over rdflib's own store; what follows from a graph is in that graph."""
    store = KGReasonerStore(Reasoner(ruleset="rdfs"), reasoning="graph")
    first, second = named(store, EX.first), named(store, EX.second)
    first.add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    second.add((EX.tim, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) in first
    assert set(second) == {(EX.tim, RDF.type, EX.Cat)}
    assert len(first) == 3
    assert set(Graph(store=store)) == {*first, *second}
    assert {graph.identifier for graph in Dataset(store=store).graphs()} >= {EX.first, EX.second}
    assert set(named(store, EX.second)) == set(second)


def test_a_second_name_over_a_store_is_another_graph() -> None:
    store = KGReasonerStore(Reasoner(ruleset="rdfs"))
    first, second = named(store, EX.first), named(store, EX.second)
    first.add((EX.Cat, RDFS.subClassOf, EX.Animal))
    second.add((EX.tom, RDF.type, EX.Cat))
    assert set(second) == {(EX.tom, RDF.type, EX.Cat)}
    assert (EX.tom, RDF.type, EX.Animal) in first, "the first is the union"
    assert set(named(store, EX.first)) == set(first) == set(Graph(store=store))
    assert set(named(store, EX.second)) == set(second)
    assert rows(first, "SELECT ?x { ?x a <http://example.org/Animal> }") == {(EX.tom,): 1}
    assert rows(second, "SELECT ?x { ?x a <http://example.org/Animal> }") == {}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "clear"]),
        st.sampled_from([EX.first, EX.second, EX.third]),
        st.tuples(*[st.sampled_from([EX.a, EX.b])] * 3),
    )
)


@given(steps=STEPS)
def test_names_as_over_rdflibs_own_store(steps: list[tuple[str, URIRef, tuple[URIRef, URIRef, URIRef]]]) -> None:
    stores: list[Any] = [KGReasonerStore(Reasoner(), reasoning="graph"), Memory()]
    seen = []
    for store in stores:
        for what, name, triple in steps:
            graph = Graph(store=store, identifier=name)
            if what == "add":
                graph.add(triple)
            else:
                graph.remove(triple if what == "remove" else (None, None, None))
        seen.append([set(Graph(store=store, identifier=name)) for name in (EX.first, EX.second, EX.third)])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph)), attach])
@pytest.mark.parametrize("reasoning", ["union", "graph"])
def test_the_name_of_an_attached_graph(copied: Callable[[Graph], Graph], reasoning: Any) -> None:
    graph = Graph(identifier=EX.zoo).add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    copy_of = copied(attach(graph, ruleset="rdfs", reasoning=reasoning))
    assert (EX.tom, RDF.type, EX.Animal) in copy_of
    other = named(cast(KGReasonerStore, copy_of.store), EX.other).add((EX.rex, RDF.type, EX.Cat))
    assert len(other) == 1
    assert (EX.tom, RDF.type, EX.Animal) in copy_of


@pytest.mark.parametrize("make", [lambda: Dataset(store="KGReasoner"), lambda: attach(Dataset())])
def test_names_over_the_store_of_a_dataset(make: Callable[[], Dataset]) -> None:
    """As rdflib's tests of contexts have them."""
    dataset = make()
    for name in (EX.first, EX.second):
        named(cast(KGReasonerStore, dataset.store), name).add((EX.tom, RDF.type, EX.Cat))
    assert {graph.identifier for graph in dataset.graphs()} >= {EX.first, EX.second}
    assert len(dataset.graph(EX.first)) == 1
    assert len(dataset.graph(DATASET_DEFAULT_GRAPH_ID)) == 0


# --- a reasoner's own named graphs ------------------------------------------------------------------------------------------


def test_names_that_have_an_identifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of rdflib 8."""
    monkeypatch.setattr(URIRef, "identifier", property(str), raising=False)
    dataset = Dataset()
    dataset.graph(EX.g).add((EX.tom, RDF.type, EX.Cat))
    reasoner = Reasoner()
    reasoner.load(dataset)
    assert [str(name) for name in reasoner.named_graphs.names()] == [f"<{EX.g}>"]


def test_a_reasoner_keeps_the_graphs_of_documents() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    reasoner.load(ZOO.encode(), format="trig")
    ann = IRI(str(EX.ann))
    assert ann in reasoner.named_graphs.names()
    assert len(list(reasoner.named_graphs.triples(ann))) == 2
    assert len(list(reasoner.named_graphs.triples())) == 1
    dataset = Dataset(store=KGReasonerStore(reasoner), default_union=True)
    assert (EX.tom, RDF.type, EX.Animal) in dataset
    assert len(dataset.graph(EX.ann)) == 2
    tom, kind, cat = map(from_rdflib, (EX.tom, RDF.type, EX.Cat))
    reasoner.remove_triples([(tom, kind, cat)])
    assert (EX.tom, RDF.type, EX.Cat, EX.ann) not in dataset
    reasoner.add_triples([(tom, kind, cat)])
    assert (EX.tom, RDF.type, EX.Cat) in dataset.default_graph
    assert (EX.tom, RDF.type, EX.Cat, EX.ann) not in dataset
    with pytest.raises(LoadError, match="cannot name a graph"):
        reasoner.named_graphs.add_triples([(tom, kind, cat)], term_from_text('"x"'))


def test_what_is_no_array_of_ids() -> None:
    graphs = Reasoner().named_graphs
    wrong: list[Any] = [7, None, "abc", [(1, 2, 3, 4)], np.zeros((1, 3), np.int32), np.zeros((1, 4))]
    for change in (graphs.add, graphs.remove):
        for ids in wrong:
            with pytest.raises(LoadError, match="is not an array of ids of quads"):
                change(ids)
    for ids in (7, [7], np.zeros(1)):
        with pytest.raises(LoadError, match="is not an array of ids of graphs"):
            graphs.create(ids)
    with pytest.raises(LoadError, match="is not the id of a graph"):
        graphs.drop("abc")  # type: ignore[arg-type]


@pytest.mark.parametrize("beyond", [None, 0, 10**9])
def test_ids_of_no_terms(beyond: int | None) -> None:
    reasoner = Reasoner()
    known = reasoner.named_graphs.encode(IRI("urn:g"))
    number = -1 if beyond is None else len(reasoner.dictionary) + beyond
    for change, ids in (
        (reasoner.add_triples, [[known, known, number]]),
        (reasoner.named_graphs.add, [[number, known, known, known]]),
        (reasoner.named_graphs.create, [number]),
    ):
        with pytest.raises(LoadError, match=f"^no term has the id {number}"):
            change(np.array(ids, np.int32))
    assert not list(reasoner.triples()) and not list(reasoner.named_graphs.names())


def test_graphs_survive_a_change_of_layout(zoo: Dataset) -> None:
    before = quads(zoo)
    zoo.store.reasoner.add_program("[?y, ?p, ?x] :- [?p, <urn:turns>, ?q], [?x, ?q, ?y] .")
    zoo.add((EX.kept_by, URIRef("urn:turns"), EX.keeps))
    zoo.default_union = True
    assert (EX.tom, EX.kept_by, EX.ann) in zoo
    assert quads(zoo) == {*before, (EX.kept_by, URIRef("urn:turns"), EX.keeps, DATASET_DEFAULT_GRAPH_ID)}


def test_graphs_survive_another_rule_set() -> None:
    dataset = zoo_in(Dataset(store="KGReasoner", default_union=True))
    dataset.graph(EX.empty)
    before, known = quads(dataset), names(dataset)
    dataset.open("rdfs")
    assert quads(dataset) == before
    assert names(dataset) == known
    assert (EX.tim, RDF.type, EX.Animal) in dataset


# --- the graph of inferred triples ------------------------------------------------------------------------------------------


def test_inferred_triples_in_a_graph_of_their_own() -> None:
    dataset = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"), inferred_graph=EX.inferred))
    zoo_in(dataset)
    inferred = dataset.graph(EX.inferred)
    assert (EX.tim, RDF.type, EX.Animal) in inferred
    assert (EX.tim, RDF.type, EX.Cat) not in inferred
    assert set(inferred) == set(dataset.store.inferred)
    assert EX.inferred in names(dataset)
    assert (EX.tim, RDF.type, EX.Animal, EX.inferred) in quads(dataset)
    kinds = rows(dataset, "SELECT ?g { GRAPH ?g { ex:tim a ?c } }")
    assert kinds[(EX.inferred,)] == 1
    assert sum(kinds.values()) == 2
    assert rows(dataset, "SELECT ?c FROM ex:inferred FROM ex:bob { ex:tom a ?c }") == {(EX.Cat,): 1, (EX.Animal,): 1}
    dataset.update(PREFIXES + "DELETE { GRAPH ?g { ?x a ?c } } WHERE { GRAPH ?g { ?x a ?c FILTER(?x = ex:tim) } }")
    assert (EX.tim, RDF.type, EX.Animal) not in inferred
    for change in (
        lambda: inferred.add((EX.a, EX.b, EX.c)),
        lambda: inferred.remove((None, None, None)),
        lambda: dataset.update(PREFIXES + "INSERT DATA { GRAPH ex:inferred { ex:a ex:b ex:c } }"),
    ):
        with pytest.raises(ReasonerError, match="inferred triples and is read-only"):
            change()


def test_inferred_triples_in_the_default_graph() -> None:
    store = KGReasonerStore(Reasoner(ruleset="rdfs"), inferred_graph=DATASET_DEFAULT_GRAPH_ID)
    dataset = zoo_in(Dataset(store=store))
    assert (EX.tim, RDF.type, EX.Animal) in dataset
    assert (EX.tim, RDF.type, EX.Cat) not in dataset
    assert rows(dataset, "SELECT ?x { ?x a ex:Animal }") == {(EX.tom,): 1, (EX.tim,): 1}
    dataset.add((EX.a, EX.b, EX.c))
    assert (EX.a, EX.b, EX.c) in dataset
    dataset.default_graph.remove((EX.Cat, None, None))
    assert (EX.tim, RDF.type, EX.Animal) not in dataset


def test_what_is_copied_from_the_default_graph_is_what_it_states() -> None:
    store = KGReasonerStore(Reasoner(ruleset="rdfs"), inferred_graph=DATASET_DEFAULT_GRAPH_ID)
    dataset = Dataset(store=store)
    for triple in ((EX.Cat, RDFS.subClassOf, EX.Animal), (EX.tim, RDF.type, EX.Cat), (EX.a, EX.b, EX.c)):
        dataset.add(triple)
    assert (EX.tim, RDF.type, EX.Animal) in dataset
    dataset.update(PREFIXES + "DELETE DATA { ex:a ex:b ex:c } ; ADD DEFAULT TO ex:g")
    assert set(dataset.graph(EX.g)) == {(EX.Cat, RDFS.subClassOf, EX.Animal), (EX.tim, RDF.type, EX.Cat)}


# --- reasoning over each graph ----------------------------------------------------------------------------------------------


@pytest.fixture
def apart() -> Dataset:
    """Graphs that are reasoned over by themselves."""
    return zoo_in(Dataset(store=KGReasonerStore(Reasoner(ruleset="owl2rl"), reasoning="graph")))


def test_each_graph_by_itself(apart: Dataset) -> None:
    ann = apart.graph(EX.ann)
    assert (EX.tom, RDF.type, EX.Animal) not in ann
    ann.add((EX.Cat, RDFS.subClassOf, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) in ann
    assert len(ann) == len(set(ann)) > 3
    assert (EX.tom, RDF.type, EX.Animal) not in apart.graph(EX.bob)
    assert (EX.tom, RDF.type, EX.Animal, EX.ann) in quads(apart)
    assert rows(apart, "SELECT ?g { GRAPH ?g { ex:tom a ex:Animal } }") == {(EX.ann,): 1}
    assert rows(apart, "SELECT ?x { GRAPH ex:ann { ?x a ex:Animal . ?y ex:keeps ?x } }") == {(EX.tom,): 1}
    apart.default_union = True
    assert (EX.tom, RDF.type, EX.Animal) in apart
    assert (EX.tim, RDF.type, EX.Animal) not in apart
    assert len(apart) == len(set(apart.triples((None, None, None))))
    assert rows(apart, "SELECT ?x { ?x a ex:Animal . ?y ex:keeps ?x }") == {(EX.tom,): 1}
    ann.remove((EX.Cat, RDFS.subClassOf, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) not in apart
    assert len(apart.store.explicit) == 5


def test_views_and_proofs_of_graphs_by_themselves(apart: Dataset) -> None:
    apart.graph(EX.ann).add((EX.Cat, RDFS.subClassOf, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) in apart.store.inferred
    assert (EX.rex, RDF.type, EX.Animal) not in apart.store.inferred
    assert rows(apart.store.inferred, "SELECT ?x { ?x a ex:Animal }") == {(EX.tom,): 1}
    assert "cax-sco" in str(apart.store.explain((EX.tom, RDF.type, EX.Animal)))
    with pytest.raises(NoProofError):
        apart.store.explain((EX.tom, RDF.type, EX.Animal), EX.bob)
    with pytest.raises(ReasonerError, match="does not exist"):
        apart.store.reasoner_of(EX.nowhere)


def test_transactions_of_graphs_by_themselves(apart: Dataset) -> None:
    ann = apart.graph(EX.ann)
    ann.add((EX.Cat, RDFS.subClassOf, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) in ann
    apart.commit()
    ann.remove((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) not in ann
    assert len(apart.graph(EX.bob)) == 2  # a reasoner that is made now
    apart.graph(EX.bob).remove((None, None, None))
    apart.rollback()
    assert (EX.tom, RDF.type, EX.Animal) in ann
    assert len(apart.graph(EX.bob)) == 2
    with apart.store.reasoner.transaction() as transaction:
        transaction.remove_triples([tuple(map(from_rdflib, (EX.tom, RDF.type, EX.Cat)))])
        assert (EX.tom, RDF.type, EX.Animal) not in ann
        with pytest.raises(TransactionError):
            apart.rollback()
        transaction.rollback()
    assert (EX.tom, RDF.type, EX.Animal) in ann
    apart.open("rdfs")
    assert (EX.tom, RDF.type, EX.Animal) in ann


def test_settings_that_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'graph'"):
        KGReasonerStore(reasoning="graphs")
    with pytest.raises(UnknownNameError, match=r"unknown kind of reasoning \['graph'\]"):
        KGReasonerStore(Reasoner(), reasoning=["graph"])  # type: ignore[arg-type]
    with pytest.raises(ReasonerError, match="requires reasoning over the union"):
        KGReasonerStore(reasoning="graph", inferred_graph=EX.inferred)
    with pytest.raises(ReasonerError, match=r"of a reasoner or the name of a rule set, not of .*Path"):
        KGReasonerStore(Path("rules.dl"))  # type: ignore[arg-type]
    for name in (5, BNode("b"), Literal("x")):
        with pytest.raises(LoadError, match="the name of the inferred graph is an IRI, not "):
            KGReasonerStore(Reasoner(), inferred_graph=name)  # type: ignore[arg-type]
    for text in ("not an iri", "relative", ""):
        with pytest.raises(LoadError, match=f"the name of the inferred graph '{text}' is not an absolute IRI"):
            attach(Dataset(), inferred_graph=text)


def test_separate_graphs_have_no_delays_or_differences(tmp_path: Path) -> None:
    """Their reasoners are made when they are first read, and know nothing of the transactions before."""
    for declared, told in {
        "relation new(x: iri, y: iri) difference p .": "new is a difference of p",
        "relation old(x: iri, y: iri) delay p .": "old is a delay of p",
    }.items():
        rules = f"relation p(x: iri, y: iri) . {declared}"
        path = tmp_path / "rules.dl"
        path.write_text(rules, encoding="utf-8")
        refused = pytest.raises(ReasonerError, match=f"require reasoning over the union of the graphs: {told}")
        with refused:
            KGReasonerStore(Reasoner(rules), reasoning="graph")
        dataset = zoo_in(Dataset())
        store = dataset.store
        with refused:
            attach(dataset, str(path), reasoning="graph")
        assert dataset.store is store
        attach(dataset, "rdfs", reasoning="graph")
        with refused:
            dataset.open(str(path))
        dataset.graph(EX.ann).add((EX.Cat, RDFS.subClassOf, EX.Animal))
        assert (EX.tom, RDF.type, EX.Animal) in dataset.graph(EX.ann)
        template = Reasoner()
        later = Dataset(store=KGReasonerStore(template, reasoning="graph"))
        later.graph(EX.ann).add((EX.tom, RDF.type, EX.Cat))
        template.add_program(rules)
        with refused:
            len(later.graph(EX.ann))
        attach(dataset, str(path))


# --- equality by rewriting ---------------------------------------------------------------------------------------------------


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_graphs_keep_the_names_in_which_they_state(data: st.DataObject) -> None:
    """Whether equal terms are merged or not, graphs have what was added to them, and their union shows the same."""
    both = Both(Dataset(store=KGReasonerStore(Reasoner(ruleset="owl2rl", equality="rewrite"))))
    terms = st.tuples(st.sampled_from(NODES), st.sampled_from([EX.p, OWL.sameAs]), st.sampled_from(NODES))
    for _ in range(data.draw(st.integers(1, 12))):
        if data.draw(st.booleans()):
            both.do("add", data.draw(terms), data.draw(st.sampled_from(GRAPHS)))
        else:
            both.do(*data.draw(st.sampled_from([("commit",), ("rollback",), ("remove", data.draw(patterns))])))
        assert quads(both.ours) == quads(both.theirs)
        if data.draw(st.booleans()):
            for name, ours, theirs in both.named():
                assert ours == theirs, name
    plain = Graph(store=KGReasonerStore(Reasoner(ruleset="owl2rl")))
    for quad in quads(both.theirs):
        plain.add(quad[:3])  # type: ignore[arg-type]
    assert set(Graph(store=both.ours.store)) == set(plain)
    query = PREFIXES + "SELECT * { ?x ex:p ?y . GRAPH ?g { ?x ?q ?z } }"
    joined = Counter((y, g, z, q, x) for x, _, y in plain.triples((None, EX.p, None)) for q, z, g in stated_by(both.theirs, x))
    both.ours.default_union = True
    assert Counter((row.y, row.g, row.z, row.q, row.x) for row in both.ours.query(query)) == joined


def stated_by(dataset: Dataset, subject: Node) -> list[tuple[Any, ...]]:
    """What the named graphs state of a subject."""
    return [quad[1:] for quad in quads(dataset) if quad[0] == subject and quad[3] != DATASET_DEFAULT_GRAPH_ID]


# --- attach ------------------------------------------------------------------------------------------------------------------


def test_attach_a_dataset() -> None:
    dataset = zoo_in(Dataset(default_union=True))
    dataset.graph(EX.empty)
    dataset.bind("zoo", EX)
    before, known = quads(dataset), names(dataset)
    assert attach(dataset, ruleset="rdfs", inferred_graph=EX.inferred) is dataset
    assert {quad for quad in quads(dataset) if quad[3] != EX.inferred} == before
    assert names(dataset) == {*known, EX.inferred}
    assert (EX.tim, RDF.type, EX.Animal) in dataset
    assert dict(dataset.namespaces())["zoo"] == URIRef(EX)
    dataset.default_graph.add((EX.Animal, RDFS.subClassOf, EX.Being))
    assert (EX.tim, RDF.type, EX.Being) in dataset
    attach(dataset, ruleset="owl2rl")
    assert quads(dataset) == {*before, (EX.Animal, RDFS.subClassOf, EX.Being, DATASET_DEFAULT_GRAPH_ID)}
    assert (EX.tim, RDF.type, EX.Being) in dataset


def test_attach_with_reasoning_over_each_graph() -> None:
    dataset = attach(zoo_in(Dataset()), reasoning="graph")
    dataset.graph(EX.ann).add((EX.Cat, RDFS.subClassOf, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal, EX.ann) in dataset
    assert (EX.tom, RDF.type, EX.Animal, EX.bob) not in dataset


# --- transactions ------------------------------------------------------------------------------------------------------------


def test_rollback_covers_graphs(zoo: Dataset) -> None:
    zoo.commit()
    before, known = quads(zoo), names(zoo)
    zoo.graph(EX.new).add((EX.a, EX.b, EX.c))
    zoo.remove_graph(EX.bob)
    zoo.add((EX.tim, RDF.type, EX.Cat))
    zoo.update(PREFIXES + "MOVE ex:ann TO ex:moved")
    zoo.rollback()
    assert quads(zoo) == before
    assert names(zoo) == known


def test_a_failed_update_changes_nothing(zoo: Dataset) -> None:
    before = quads(zoo)
    with pytest.raises(ReasonerError, match="does not exist"):
        zoo.update(
            PREFIXES + "DELETE { GRAPH ex:ann { ?s ?p ?o } } INSERT { GRAPH ex:new { ?s ?p ?other } } "
            "WHERE { GRAPH ex:ann { ?s ?p ?o } BIND(CONCAT('new', STR(?o)) AS ?other) } ; MOVE GRAPH ex:nowhere TO GRAPH ex:ann"
        )
    assert quads(zoo) == before


def test_changes_while_reading(zoo: Dataset) -> None:
    for *triple, graph in zoo.quads((None, RDF.type, None, None)):
        zoo.remove((*triple, graph))
        zoo.add((*triple, EX.all))
    assert len(zoo.graph(EX.all)) == 3
    for row in zoo.query("SELECT * { GRAPH ?g { ?s ?p ?o } }"):
        zoo.add((row.s, row.p, row.o, EX.copy))
    assert len(zoo.graph(EX.copy)) == 4


# --- SPARQL ------------------------------------------------------------------------------------------------------------------

QUERIES = {
    "a graph": ("SELECT ?s { GRAPH ex:bob { ?s a ?c } }", [(EX.tom,), (EX.rex,)]),
    "all graphs": ("SELECT ?g { GRAPH ?g { ex:tom a ex:Cat } }", [(EX.ann,), (EX.bob,)]),
    "a graph that is not there": ("SELECT ?s { GRAPH ex:nowhere { ?s ?p ?o } }", []),
    "an empty pattern in one": ("SELECT ?x { GRAPH ex:nowhere { } BIND(1 AS ?x) }", []),
    "a join across graphs": ("SELECT ?k { GRAPH ex:ann { ?k ex:keeps ?x } GRAPH ex:bob { ?x a ex:Cat } }", [(EX.ann,)]),
    "a join with the default graph": ("SELECT ?g ?a { ?c rdfs:subClassOf ?a . GRAPH ?g { ex:tom a ?c } }", None),
    "the graph is what is spoken of": ("SELECT ?g { GRAPH ?g { ?g ex:keeps ?x } }", [(EX.ann,)]),
    "a graph that is known before": ("SELECT ?s { VALUES ?g { ex:bob ex:nowhere } GRAPH ?g { ?s a ?c } }", [(EX.tom,), (EX.rex,)]),
    "what is in a graph and not in another": (
        "SELECT ?s { GRAPH ex:bob { ?s a ?c } FILTER NOT EXISTS { GRAPH ex:ann { ?s ?p ?o } } }",
        [(EX.rex,)],
    ),
    "a path": ("SELECT ?c { GRAPH ex:ann { ex:ann ex:keeps/a ?c } }", [(EX.Cat,)]),
    "a repeated path": ("SELECT ?x { GRAPH ex:ann { ex:ann ex:keeps+ ?x } }", [(EX.tom,)]),
    "an optional part": (
        "SELECT ?s ?k { GRAPH ex:bob { ?s a ?c OPTIONAL { ?k ex:keeps ?s } } }",
        [(EX.tom, None), (EX.rex, None)],
    ),
    "a count": ("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s a ex:Cat } }", [(Literal(3),)]),
    "FROM": ("SELECT ?s FROM ex:bob { ?s a ?c }", [(EX.tom,), (EX.rex,)]),
    "FROM several graphs": ("SELECT ?s FROM ex:ann FROM ex:bob { ?s a ex:Cat }", [(EX.tom,)]),
    "FROM NAMED": ("SELECT ?g FROM NAMED ex:bob FROM NAMED ex:nowhere { GRAPH ?g { ?s a ex:Cat } }", [(EX.bob,)]),
    "FROM NAMED alone has no default graph": ("SELECT ?s FROM NAMED ex:bob { ?s ?p ?o }", []),
    "FROM, and another graph": ("SELECT ?s FROM ex:bob { GRAPH ex:ann { ?s ?p ?o } }", []),
    "FROM and a join": ("SELECT ?k FROM ex:ann FROM ex:bob { ?k ex:keeps ?x . ?x a ?c . ?y a ex:Animal }", [(EX.ann,)]),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.sample(2)
def test_queries_match_in_the_graphs_that_they_name(zoo: Dataset, name: str) -> None:
    query, expected = QUERIES[name]
    zoo.bind("rdfs", RDFS)
    found = Counter(tuple(row) for row in zoo.query(query, initNs={"ex": EX, "rdfs": RDFS}))
    assert found == Counter(expected if expected is not None else [(EX.ann, EX.Animal), (EX.bob, EX.Animal)])


def test_ask_construct_and_describe(zoo: Dataset) -> None:
    assert zoo.query(PREFIXES + "ASK { GRAPH ex:bob { ex:rex a ex:Animal } }").askAnswer
    assert not zoo.query(PREFIXES + "ASK FROM ex:ann { ex:rex a ex:Animal }").askAnswer
    graph = zoo.query(PREFIXES + "CONSTRUCT { ?s ex:in ?g } WHERE { GRAPH ?g { ?s a ex:Cat } FILTER(isIRI(?g)) }").graph
    assert set(graph) == {(EX.tom, EX["in"], EX.ann), (EX.tom, EX["in"], EX.bob)}
    assert set(zoo.query(PREFIXES + "CONSTRUCT FROM ex:bob WHERE { ?s ?p ?o }").graph) == set(zoo.graph(EX.bob))
    assert set(zoo.query(PREFIXES + "DESCRIBE ex:rex FROM ex:bob").graph) == {(EX.rex, RDF.type, EX.Animal)}


def test_from_fetches_nothing(zoo: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """rdflib loads what it has no graph for."""
    monkeypatch.setattr("urllib.request.urlopen", lambda *_: pytest.fail("something was fetched"))
    assert rows(zoo, "SELECT ?s FROM <http://example.org/nowhere> { ?s ?p ?o }") == {}


UPDATES: dict[str, tuple[str, dict[str, int]]] = {
    "insert data": ("INSERT DATA { ex:a ex:p 1 . GRAPH ex:new { ex:a ex:p 2, 3 } }", {"default": 2, "new": 2}),
    "delete data": ("DELETE DATA { GRAPH ex:bob { ex:tom a ex:Cat . ex:nobody a ex:Cat } }", {"bob": 1}),
    "delete data of the default graph": ("DELETE DATA { ex:tom a ex:Cat . ex:Cat rdfs:subClassOf ex:Animal }", {"default": 0}),
    "delete where": ("DELETE WHERE { GRAPH ?g { ?s a ex:Cat } }", {"ann": 1, "bob": 1}),
    "delete where, joined": ("DELETE WHERE { ?c rdfs:subClassOf ?a . GRAPH ex:bob { ?s a ?a } }", {"default": 0, "bob": 1}),
    "modify": (
        "DELETE { GRAPH ?g { ?s a ?c } } INSERT { GRAPH ex:new { ?s ex:was ?g } } WHERE { GRAPH ?g { ?s a ?c } FILTER(isIRI(?g)) }",
        {"ann": 1, "bob": 0, "new": 3},
    ),
    "with": ("WITH ex:bob DELETE { ?s a ?c } INSERT { ?s ex:was ?c } WHERE { ?s a ?c }", {"bob": 2}),
    "with, and another graph": (
        "WITH ex:bob INSERT { ?k ex:keeps ?s } WHERE { ?s a ?c GRAPH ex:ann { ?k ex:keeps ?s } }",
        {"bob": 3},
    ),
    "using": ("INSERT { ?s ex:in ex:bob } USING ex:bob WHERE { ?s a ?c }", {"default": 3}),
    "using named": ("INSERT { GRAPH ex:new { ?s a ?c } } USING NAMED ex:bob WHERE { GRAPH ?g { ?s a ?c } }", {"new": 2}),
    "using hides with": ("WITH ex:ann DELETE { ?s a ?c } USING ex:bob WHERE { ?s a ?c }", {"ann": 1}),
    "a blank node for each solution": (
        "INSERT { GRAPH ex:new { ?s ex:p _:b . _:b ex:q ?s } } WHERE { GRAPH ex:bob { ?s a ?c } }",
        {"new": 4},
    ),
    "clear a graph": ("CLEAR GRAPH ex:bob", {"bob": 0}),
    "clear the default graph": ("CLEAR DEFAULT", {"default": 0}),
    "clear the named graphs": ("CLEAR NAMED", {"ann": 0, "bob": 0}),
    "clear all": ("CLEAR ALL", {"default": 0, "ann": 0, "bob": 0}),
    "drop": ("DROP GRAPH ex:bob", {"bob": -1}),
    "drop all": ("DROP ALL", {"default": 0, "ann": -1, "bob": -1}),
    "create": ("CREATE GRAPH ex:new", {"new": 0}),
    "add": ("ADD ex:bob TO ex:ann", {"ann": 3}),
    "copy": ("COPY ex:bob TO ex:ann", {"ann": 2}),
    "copy to itself": ("COPY ex:bob TO ex:bob", {}),
    "copy the default graph": ("COPY DEFAULT TO ex:new", {"new": 1}),
    "move": ("MOVE ex:bob TO ex:new", {"bob": -1, "new": 2}),
    "move to the default graph": ("MOVE ex:bob TO DEFAULT", {"bob": -1, "default": 2}),
    "what is not there, silently": (
        "DROP SILENT GRAPH ex:nowhere ; CREATE SILENT GRAPH ex:bob ; COPY SILENT ex:nowhere TO ex:ann",
        {},
    ),
    "nothing": ("", {}),
}
"""Updates, and how many triples the graphs have afterwards that have changed; -1: there is no such graph."""


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.sample(2)
def test_updates_change_only_the_graphs_that_they_name(zoo: Dataset, name: str) -> None:
    update, changed = UPDATES[name]
    expected = {"default": 1, "ann": 2, "bob": 2, "new": -1} | changed
    zoo.update(update, initNs={"ex": EX, "rdfs": RDFS})
    for graph, size in expected.items():
        name_of_graph = DATASET_DEFAULT_GRAPH_ID if graph == "default" else EX[graph]
        assert (name_of_graph in names(zoo)) == (size >= 0), graph
        assert size < 0 or len(zoo.graph(name_of_graph)) == size, graph


def test_blank_nodes_of_a_template_are_the_same_across_graphs(zoo: Dataset) -> None:
    zoo.update(PREFIXES + "INSERT { ?s ex:p _:b . GRAPH ex:new { _:b ex:q ?s } } WHERE { GRAPH ex:bob { ?s a ?c } }")
    assert set(zoo.default_graph.objects(EX.rex, EX.p)) == set(zoo.graph(EX.new).subjects(EX.q, EX.rex))


@pytest.mark.parametrize(
    "update", ["DROP GRAPH ex:nowhere", "CREATE GRAPH ex:bob", "COPY ex:nowhere TO ex:bob", "CLEAR GRAPH ex:nowhere"]
)
def test_graphs_that_are_not_there(zoo: Dataset, update: str) -> None:
    before = quads(zoo)
    with pytest.raises(ReasonerError, match=r"already exists|does not exist"):
        zoo.update(PREFIXES + update)
    assert quads(zoo) == before


def test_updates_of_a_named_graph(zoo: Dataset) -> None:
    zoo.graph(EX.bob).update(PREFIXES + "DELETE { ?s a ?c } INSERT { ?s ex:was ?c } WHERE { ?s a ?c }")
    assert set(zoo.graph(EX.bob).predicates()) == {EX.was}
    assert len(zoo.graph(EX.ann)) == 2


def test_an_update_deletes_before_it_inserts(zoo: Dataset) -> None:
    """SPARQL 1.1 Update, 3.1.3: for all solutions, not for one after the other."""
    zoo.update(PREFIXES + "INSERT DATA { GRAPH ex:h { ex:a ex:p ex:c . ex:c ex:p ex:a , ex:c } }")
    before = set(zoo.graph(EX.h))
    zoo.update(PREFIXES + "WITH ex:h DELETE { ?s ?p ?o } INSERT { ?o ?p ?s } WHERE { ?s ?p ?o }")
    assert set(zoo.graph(EX.h)) == before


def test_updates_of_a_plain_graph_are_of_the_union(zoo: Dataset) -> None:
    Graph(store=zoo.store).update(PREFIXES + "DELETE DATA { ex:tom a ex:Cat }")
    assert [quad for quad in quads(zoo) if quad[0] == EX.tom] == []


# --- random changes ----------------------------------------------------------------------------------------------------------

NODES = [EX.a, EX.b, EX.c]
PROPERTIES = [EX.p, EX.q]
GRAPHS = [DATASET_DEFAULT_GRAPH_ID, EX.g, EX.h, BNode("n")]

triples = st.tuples(st.sampled_from(NODES), st.sampled_from(PROPERTIES), st.sampled_from(NODES))
patterns = st.tuples(*(st.sampled_from([None, *terms]) for terms in (NODES, PROPERTIES, NODES, GRAPHS)))
node_texts = st.sampled_from(["ex:a", "ex:b", "ex:c"])
property_texts = st.sampled_from(["ex:p", "ex:q"])
graph_texts = st.sampled_from(["ex:g", "ex:h"])
data = st.builds("GRAPH {} {{ {} {} {} }}".format, graph_texts, node_texts, property_texts, node_texts)
updates = st.one_of(
    st.builds("INSERT DATA {{ {} }}".format, data),
    st.builds("DELETE DATA {{ {} }}".format, data),
    st.builds("DELETE WHERE {{ GRAPH {} {{ ?s {} ?o }} }}".format, graph_texts, property_texts),
    st.builds(
        "INSERT {{ GRAPH {} {{ ?s {} ?o }} }} WHERE {{ GRAPH {} {{ ?s {} ?o }} }}".format,
        graph_texts,
        property_texts,
        graph_texts,
        property_texts,
    ),
    st.builds(
        "DELETE {{ GRAPH ?g {{ ?s {} ?o }} }} INSERT {{ ?o {} ?s }} WHERE {{ GRAPH ?g {{ ?s {} ?o }} }}".format,
        property_texts,
        property_texts,
        property_texts,
    ),
    st.builds(
        # rdflib deletes and inserts solution by solution, so nothing may be deleted that is inserted
        "WITH {} DELETE {{ ?s {} ?o }} INSERT {{ ?o ex:was ?s }} WHERE {{ ?s ?p ?o . ?s {} {} }}".format,
        graph_texts,
        property_texts,
        property_texts,
        node_texts,
    ),
    st.builds("{} {} TO {}".format, st.sampled_from(["ADD", "COPY", "MOVE"]), graph_texts, graph_texts),
    st.builds("{} SILENT {}".format, st.sampled_from(["CLEAR", "DROP"]), st.sampled_from(["GRAPH ex:g", "GRAPH ex:h", "ALL"])),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), triples, st.sampled_from(GRAPHS)),
        st.tuples(st.just("add all"), st.lists(st.tuples(triples, st.sampled_from(GRAPHS)), max_size=6)),
        st.tuples(st.just("remove"), patterns),
        st.tuples(st.just("remove graph"), st.sampled_from(GRAPHS)),
        st.tuples(st.just("update"), updates),
        st.tuples(st.just("commit")),
        st.tuples(st.just("rollback")),
    ),
    max_size=25,
)


class Both:
    """A dataset over our store, and one over rdflib's own, which is made anew for a rollback."""

    def __init__(self, ours: Dataset) -> None:
        self.ours = ours
        self.theirs = Dataset()
        self.committed: set[tuple[Any, ...]] = set()

    def do(self, kind: str, *arguments: Any) -> None:
        if kind == "commit":
            self.ours.commit()
            self.committed = quads(self.theirs)
        elif kind == "rollback":
            self.ours.rollback()
            self.theirs = Dataset()
            for quad in self.committed:
                self.theirs.add(quad)
        elif kind != "update" or self.is_possible(arguments[0]):
            for dataset in (self.ours, self.theirs):
                self._change(dataset, kind, *arguments)

    def is_possible(self, update: str) -> bool:
        """Whether a graph that is to be copied is there: rdflib takes one that is not for an empty one."""
        source = update.split()[1]
        return " TO " not in update or len(self.theirs.get_context(EX[source[-1]])) > 0

    def _change(self, dataset: Dataset, kind: str, *arguments: Any) -> None:
        if kind == "add":
            dataset.add((*arguments[0], arguments[1]))
        elif kind == "add all":
            dataset.addN([(*triple, dataset.get_context(name)) for triple, name in arguments[0]])
        elif kind == "remove":
            dataset.remove(arguments[0])
        elif kind == "remove graph":
            dataset.remove_graph(arguments[0])
        else:
            dataset.update(PREFIXES + arguments[0])

    def named(self) -> Iterator[tuple[Node, set[Any], set[Any]]]:
        """Each graph's triples, ours and theirs."""
        for name in GRAPHS:
            yield name, set(self.ours.get_context(name)), set(self.theirs.get_context(name))


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.lists(patterns, max_size=4), st.sampled_from(LAYOUTS), st.sampled_from(list(STRATEGIES)))
def test_as_a_dataset_of_rdflib(steps: list[Any], asked: list[Any], layout: str, maintenance: str) -> None:
    both = Both(Dataset(store=KGReasonerStore(Reasoner(layout, maintenance=maintenance))))
    for step in steps:
        both.do(*step)
        assert quads(both.ours) == quads(both.theirs), step
    for name, ours, theirs in both.named():
        assert ours == theirs, name
        assert len(both.ours.get_context(name)) == len(theirs)
    assert len(both.ours) == len({quad[:3] for quad in quads(both.theirs)})
    for *pattern, name in asked:
        for default_union in (False, True):
            both.ours.default_union = both.theirs.default_union = default_union
            found = [set(dataset.triples((*pattern, name))) for dataset in (both.ours, both.theirs)]
            assert found[0] == found[1], (pattern, name, default_union)


texts = st.lists(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["?x", "?y", "ex:a"]),
        st.sampled_from(["ex:p", "?r"]),
        st.sampled_from(["?y", "?z", "ex:b"]),
    ),
    min_size=1,
    max_size=2,
).map(" . ".join)
parts = st.lists(
    st.one_of(
        texts,
        st.builds("GRAPH {} {{ {} }}".format, st.sampled_from(["?g", "?h", "ex:g", "?x"]), texts),
        st.builds("OPTIONAL {{ GRAPH {} {{ {} }} }}".format, st.sampled_from(["?g", "ex:h"]), texts),
        st.builds("FILTER EXISTS {{ GRAPH {} {{ {} }} }}".format, st.sampled_from(["?g", "ex:h"]), texts),
    ),
    min_size=1,
    max_size=3,
).map(lambda found: " . ".join(found).replace("} . ", "} "))


@settings(max_examples=3 * EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(triples, st.sampled_from(GRAPHS)), max_size=12), parts, st.booleans(), st.sampled_from(LAYOUTS))
def test_queries_as_of_a_dataset_of_rdflib(stated: list[Any], where: str, default_union: bool, layout: str) -> None:
    ours = Dataset(store=KGReasonerStore(Reasoner(layout)), default_union=default_union)
    theirs = Dataset(default_union=default_union)
    for dataset in (ours, theirs):
        for triple, name in stated:
            dataset.add((*triple, name))
    query = PREFIXES + f"SELECT * {{ {where} }}"
    found, expected = (Counter(frozenset(row.asdict().items()) for row in dataset.query(query)) for dataset in (ours, theirs))
    assert found == expected


RULES = """
    @prefix ex: <http://example.org/> .
    [?x, ex:q, ?z] :- [?x, ex:p, ?y], [?y, ex:p, ?z] .
    [?y, ex:p, ?x] :- [?x, ex:q, ?y] .
"""


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.sampled_from([RULES, RULES + LAYOUTS[1]]), st.sampled_from(list(STRATEGIES)))
def test_reasoning_over_the_union(steps: list[Any], rules: str, maintenance: str) -> None:
    """As a reasoner that has the explicit triples of all graphs; graphs have what they have without rules."""
    both = Both(Dataset(store=KGReasonerStore(Reasoner(rules, maintenance=maintenance))))
    for step in steps:
        both.do(*step)
        assert quads(both.ours) == quads(both.theirs), step
    reasoner = Reasoner(rules)
    reasoner.add_triples({tuple(map(from_rdflib, quad[:3])) for quad in quads(both.theirs)})  # type: ignore[arg-type]
    assert set(Graph(store=both.ours.store)) == set(graph_of(reasoner))
    assert set(both.ours.store.inferred) == set(graph_of(reasoner).store.inferred)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.sampled_from(["union", "end"]))
def test_reasoning_over_each_graph(steps: list[Any], reading: str) -> None:
    """As a reasoner for each graph, whether they are read on the way or not."""
    both = Both(Dataset(store=KGReasonerStore(Reasoner(RULES), reasoning="graph")))
    for step in steps:
        if step[0] == "update" and "WHERE" in step[1]:
            continue  # patterns see what follows in a graph
        both.do(*step)
        if reading == "union":
            assert len(both.ours) >= len(both.theirs)
    union = set()
    for name, ours, theirs in both.named():
        reasoner = Reasoner(RULES)
        reasoner.add_triples({tuple(map(from_rdflib, triple)) for triple in theirs})  # type: ignore[arg-type]
        expected = set(graph_of(reasoner))
        assert ours == expected, name
        union |= expected
    assert set(Graph(store=both.ours.store)) == union


# --- interrupts, where each graph is reasoned over by itself ---------------------------------------------------------------


@pytest.fixture
def by_graph() -> Dataset:
    """A dataset with a graph that has been read."""
    dataset = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"), reasoning="graph"))
    dataset.graph(EX.g1).add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    dataset.commit()
    assert (EX.tom, RDF.type, EX.Animal) in dataset.graph(EX.g1)
    return dataset


@contextmanager
def interrupted(monkeypatch: pytest.MonkeyPatch, owner: object, method: str) -> Iterator[None]:
    """Interrupt the first call of a method, before it has done anything."""

    def interrupt(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, method, interrupt)
    with pytest.raises(KeyboardInterrupt):
        yield


def test_a_graph_whose_first_read_was_interrupted(by_graph: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    by_graph.graph(EX.g2).add((EX.Dog, RDFS.subClassOf, EX.Animal)).add((EX.rex, RDF.type, EX.Dog))
    by_graph.commit()
    with interrupted(monkeypatch, GraphReasoners, "_pass_on"):
        len(by_graph.graph(EX.g2))
    assert (EX.rex, RDF.type, EX.Animal) in by_graph.graph(EX.g2)


def test_a_change_that_an_interrupt_kept_from_a_graph(by_graph: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    by_graph.graph(EX.g1).add((EX.kit, RDF.type, EX.Cat))
    with interrupted(monkeypatch, GraphReasoners, "_pass_on"):
        by_graph.commit()
    by_graph.graph(EX.g1).add((EX.mia, RDF.type, EX.Cat))
    by_graph.commit()
    assert (EX.kit, RDF.type, EX.Animal) in by_graph.graph(EX.g1)


def test_a_commit_of_the_base_that_was_interrupted(by_graph: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the graphs have committed, whose own rollback would undo what the base has kept."""
    by_graph.graph(EX.g1).add((EX.kit, RDF.type, EX.Cat))
    by_graph.store.flush()
    graph = next(iter(by_graph.store.graphs.transactions._graphs.values()))
    with interrupted(monkeypatch, type(graph.transactions), "commit"):
        by_graph.commit()
    by_graph.graph(EX.g1).add((EX.mia, RDF.type, EX.Cat))
    by_graph.rollback()
    assert (EX.kit, RDF.type, EX.Animal) in by_graph.graph(EX.g1)


def test_a_change_of_the_base_beside_the_store_is_seen(by_graph: Dataset) -> None:
    """Even if the store makes another one before it is read."""
    terms = [IRI(str(term)) for term in (EX.kit, RDF.type, EX.Cat)]
    by_graph.store.graphs.transactions.reasoner.named_graphs.add_triples([tuple(terms)], IRI(str(EX.g1)))
    by_graph.graph(EX.g1).add((EX.mia, RDF.type, EX.Cat))
    by_graph.commit()
    assert {EX.kit, EX.mia} <= set(by_graph.graph(EX.g1).subjects(RDF.type, EX.Animal))
