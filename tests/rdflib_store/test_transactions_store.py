"""Transactions of a graph: what commit and rollback do, and what subscribers of its reasoner hear."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Graph, Literal, Namespace, URIRef
from rdflib.compare import isomorphic

from kg_reasoner import KGReasonerStore, Reasoner, attach, detach, graph_of
from kg_reasoner.api.operations.subscriptions import Pattern
from kg_reasoner.api.update import Update
from kg_reasoner.errors import InconsistencyError, LoadError, StreamError, TransactionError
from kg_reasoner.query.delta import Delta
from kg_reasoner.rdflib_store.store import Reasoning
from kg_reasoner.terms import IRI
from kg_reasoner.terms import RDF as OUR_RDF

EX = Namespace("http://example.org/")
ZOO = """
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Cat rdfs:subClassOf ex:Animal .
ex:tom a ex:Cat .
"""
PREFIXES = {"ex": str(EX)}

Triple = tuple[URIRef, URIRef, URIRef]


@pytest.fixture(params=["rdfs", "owl2rl"])
def zoo(request: pytest.FixtureRequest) -> Graph:
    """A graph in which it follows that tom is an animal; all of it is committed."""
    graph = Graph(store=KGReasonerStore(Reasoner(ruleset=request.param)))
    graph.parse(data=ZOO, format="turtle")
    return graph.commit()


def contents(graph: Graph) -> tuple[set[object], set[object]]:
    """What is in a graph: the explicit triples, and all of them."""
    return set(graph.store.explicit), set(graph)


def listen(graph: Graph, pattern: Pattern) -> list[str]:
    """What a subscriber is told, one text for each commit."""
    told: list[str] = []
    graph.store.reasoner.subscribe(pattern, lambda delta: told.append(delta.text(PREFIXES)))
    return told


# --- commit and rollback ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [Graph.commit, Graph.rollback, Graph.close, len])
def test_triples_that_wait_are_undone_when_a_rollback_was_interrupted(
    zoo: Graph, end: Callable[[Graph], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(zoo)
    zoo.add((EX.kit, RDF.type, EX.Cat))

    def interrupt() -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(zoo.store.reasoner.engine, "roll_back", interrupt)
    with pytest.raises(KeyboardInterrupt):
        zoo.rollback()
    end(zoo)
    assert contents(zoo) == before
    zoo.commit()
    assert contents(zoo) == before


def test_a_reader_takes_in_nothing_that_another_thread_undoes(zoo: Graph) -> None:
    before = contents(zoo)
    zoo.add((EX.kit, RDF.type, EX.Cat))
    seen_by_reader = zoo.store._transactions.own
    assert seen_by_reader.is_waiting
    zoo.rollback()
    seen_by_reader.take_in()
    assert contents(zoo) == before


def test_rollback_undoes_what_was_added_and_what_followed(zoo: Graph) -> None:
    assert zoo.store.transaction_aware
    before = contents(zoo)
    zoo.add((EX.Animal, RDFS.subClassOf, EX.Being)).add((EX.kit, RDF.type, EX.Cat))
    assert (EX.kit, RDF.type, EX.Being) in zoo
    assert (EX.tom, RDF.type, EX.Being) in zoo
    zoo.rollback()
    assert contents(zoo) == before
    assert len(zoo) == len(before[1])
    assert len(zoo.store.explicit) == 2


def test_rollback_brings_back_what_was_removed(zoo: Graph) -> None:
    before = contents(zoo)
    zoo.remove((None, RDFS.subClassOf, None))
    assert (EX.tom, RDF.type, EX.Animal) not in zoo
    zoo.remove((EX.tom, None, None))
    assert (EX.tom, RDF.type, EX.Cat) not in zoo
    zoo.rollback()
    assert contents(zoo) == before
    assert (EX.tom, RDF.type, EX.Animal) in zoo.store.inferred


def test_rollback_of_what_was_not_read_yet(zoo: Graph) -> None:
    before = contents(zoo)
    zoo.add((EX.kit, RDF.type, EX.Cat))
    zoo.rollback()
    assert contents(zoo) == before


def test_an_interrupt_loses_nothing_that_was_not_read_yet(zoo: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    zoo.add((EX.kit, RDF.type, EX.Cat))
    with monkeypatch.context() as patch:
        patch.setattr(zoo.store.reasoner.dictionary, "encode_texts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            len(zoo)
    assert (EX.kit, RDF.type, EX.Animal) in zoo


def test_what_is_committed_stays(zoo: Graph) -> None:
    zoo.add((EX.kit, RDF.type, EX.Cat))
    zoo.commit()
    zoo.remove((EX.tom, RDF.type, EX.Cat))
    zoo.rollback()
    assert (EX.kit, RDF.type, EX.Animal) in zoo
    assert (EX.tom, RDF.type, EX.Animal) in zoo
    zoo.rollback()
    zoo.commit()
    assert len(zoo.store.explicit) == 3


def test_rollback_knows_what_was_there_before(zoo: Graph) -> None:
    """Adding what is there, removing what is not, and both ways for one triple."""
    before = contents(zoo)
    zoo.add((EX.tom, RDF.type, EX.Cat))
    zoo.remove((EX.tom, RDF.type, EX.Dog))
    zoo.remove((EX.tom, RDF.type, EX.Animal))  # it is inferred only
    zoo.add((EX.tom, RDF.type, EX.Animal))
    zoo.add((EX.kit, RDF.type, EX.Cat))
    zoo.remove((EX.kit, RDF.type, EX.Cat))
    zoo.remove((EX.Cat, RDFS.subClassOf, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) in zoo
    zoo.add((EX.Cat, RDFS.subClassOf, EX.Animal))
    zoo.rollback()
    assert contents(zoo) == before
    assert (EX.tom, RDF.type, EX.Animal) not in zoo.store.explicit


def test_every_way_to_change_a_graph_can_be_undone(zoo: Graph) -> None:
    before = contents(zoo)
    zoo.addN([(EX.a, EX.p, EX.b, zoo), (EX.a, EX.p, EX.c, zoo)])
    zoo.set((EX.a, EX.q, Literal(1)))
    zoo.set((EX.a, EX.q, Literal(2)))
    zoo += [(EX.b, EX.p, EX.c)]
    zoo -= [(EX.tom, RDF.type, EX.Cat)]
    zoo.parse(data="<http://example.org/a> <http://example.org/p> <http://example.org/d> .", format="nt")
    zoo.update("PREFIX ex: <http://example.org/> INSERT DATA { ex:x ex:p ex:y } ; DELETE WHERE { ex:Cat ?p ?o }")
    zoo.update("PREFIX ex: <http://example.org/> DELETE { ?s ex:p ?o } INSERT { ?o ex:p ?s } WHERE { ?s ex:p ?o }")
    assert (EX.y, EX.p, EX.x) in zoo
    zoo.update("CLEAR DEFAULT")
    assert len(zoo.store.explicit) == 0
    zoo.add((EX.a, EX.p, EX.b))
    zoo.rollback()
    assert contents(zoo) == before


def test_axioms_that_come_and_go_in_a_transaction() -> None:
    graph = Graph(store="KGReasoner")
    graph.add((EX.toe, EX.partOf, EX.foot)).add((EX.foot, EX.partOf, EX.leg)).commit()
    graph.add((EX.partOf, RDF.type, OWL.TransitiveProperty))
    assert (EX.toe, EX.partOf, EX.leg) in graph
    graph.rollback()
    assert (EX.toe, EX.partOf, EX.leg) not in graph
    graph.add((EX.partOf, RDF.type, OWL.TransitiveProperty)).commit()
    graph.remove((EX.partOf, None, None))
    assert (EX.toe, EX.partOf, EX.leg) not in graph
    graph.rollback()
    assert (EX.toe, EX.partOf, EX.leg) in graph


def test_a_bad_triple_does_not_end_the_transaction(zoo: Graph) -> None:
    before = contents(zoo)
    zoo.add((EX.kit, RDF.type, EX.Cat))
    with pytest.raises(LoadError):
        zoo.add((Literal("tom"), RDF.type, EX.Cat))
    with pytest.raises(LoadError):
        zoo.addN([(EX.kat, RDF.type, EX.Cat, zoo), (Literal("tom"), RDF.type, EX.Cat, zoo)])
    assert (EX.kit, RDF.type, EX.Animal) in zoo
    assert (EX.kat, RDF.type, EX.Animal) not in zoo
    zoo.rollback()
    assert contents(zoo) == before


def test_what_is_being_read_is_a_snapshot(zoo: Graph) -> None:
    zoo.add((EX.kit, RDF.type, EX.Cat))
    solutions = iter(zoo.query("SELECT ?x { ?x a <http://example.org/Animal> }"))
    triples = zoo.triples((None, RDF.type, EX.Animal))
    next(solutions)
    next(triples)
    zoo.rollback()
    assert len(list(solutions)) == len(list(triples)) == 1


def test_close(zoo: Graph) -> None:
    before = contents(zoo)
    zoo.add((EX.kit, RDF.type, EX.Cat))
    zoo.close()
    assert contents(zoo) == before
    zoo.add((EX.kit, RDF.type, EX.Cat))
    zoo.close(commit_pending_transaction=True)
    zoo.rollback()
    assert (EX.kit, RDF.type, EX.Animal) in zoo


def test_attached_and_opened_graphs_begin_committed() -> None:
    graph = attach(Graph().parse(data=ZOO), "rdfs")
    graph.rollback()
    assert (EX.tom, RDF.type, EX.Animal) in graph
    graph.add((EX.kit, RDF.type, EX.Cat))
    graph.open("owl2rl")
    graph.rollback()
    assert (EX.kit, RDF.type, EX.Animal) in graph


def test_prefixes_are_not_part_of_a_transaction(zoo: Graph) -> None:
    zoo.bind("zoo", EX.zoo)
    zoo.rollback()
    assert dict(zoo.namespaces())["zoo"] == EX.zoo


TRIPLES = st.tuples(
    st.sampled_from([EX.a, EX.b, EX.c]),
    st.sampled_from([RDFS.subClassOf, RDF.type]),
    st.sampled_from([EX.a, EX.b, EX.c]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["add", "remove"]), TRIPLES),
        st.tuples(st.sampled_from(["commit", "rollback", "read", "clear"]), st.none()),
    ),
    max_size=20,
)


@given(st.sampled_from(["rdfs", "owl2rl"]), STEPS)
def test_a_graph_is_always_as_if_made_anew(ruleset: str, steps: list[tuple[str, Triple | None]]) -> None:
    graph = Graph(store=KGReasonerStore(Reasoner(ruleset=ruleset)))
    present: set[object] = set()
    committed: set[object] = set()
    for step, triple in steps:
        if triple is not None:
            graph.add(triple) if step == "add" else graph.remove(triple)
            present = present | {triple} if step == "add" else present - {triple}
        elif step == "clear":
            graph.remove((None, None, None))
            present = set()
        elif step == "commit":
            graph.commit()
            committed = present
        elif step == "rollback":
            graph.rollback()
            present = committed
        else:
            assert set(graph.store.explicit) == present
            len(graph)
    fresh = Graph(store=KGReasonerStore(Reasoner(ruleset=ruleset)))
    fresh += present
    assert set(graph.store.explicit) == present
    assert set(graph) == set(fresh)


# --- transactions of the reasoner ------------------------------------------------------------------------------------------


def test_changes_of_a_graph_within_a_transaction_of_its_reasoner(zoo: Graph) -> None:
    with zoo.store.reasoner.transaction() as transaction:
        zoo.add((EX.kit, RDF.type, EX.Cat))
        zoo.commit()
        zoo.remove((EX.tom, RDF.type, EX.Cat))
        with pytest.raises(TransactionError, match="roll it back there"):
            zoo.rollback()
        zoo.close()
        assert (EX.kit, RDF.type, EX.Animal) in zoo
        zoo.addN([(EX.kat, RDF.type, EX.Cat, zoo)])
    lines = transaction.delta.text(PREFIXES).splitlines()
    assert [line for line in lines if "rdf:type, ex:" in line] == [
        "- [ex:tom, rdf:type, ex:Cat]  explicit",
        "- [ex:tom, rdf:type, ex:Animal]  derived",
        "+ [ex:kat, rdf:type, ex:Cat]  explicit",
        "+ [ex:kit, rdf:type, ex:Cat]  explicit",
        "+ [ex:kat, rdf:type, ex:Animal]  derived",
        "+ [ex:kit, rdf:type, ex:Animal]  derived",
    ]
    zoo.rollback()
    assert (EX.kit, RDF.type, EX.Animal) in zoo


def test_a_transaction_of_the_reasoner_undoes_what_a_graph_did(zoo: Graph) -> None:
    before = contents(zoo)
    with pytest.raises(ZeroDivisionError), zoo.store.reasoner.transaction():
        zoo.add((EX.kit, RDF.type, EX.Cat))
        zoo.remove((EX.tom, RDF.type, EX.Cat))
        assert (EX.kit, RDF.type, EX.Animal) in zoo
        zoo.add((EX.kat, RDF.type, EX.Cat))
        raise ZeroDivisionError
    assert contents(zoo) == before


def test_a_reasoner_has_one_transaction_at_a_time(zoo: Graph) -> None:
    reasoner = zoo.store.reasoner
    zoo.add((EX.kit, RDF.type, EX.Cat))
    with pytest.raises(TransactionError, match="another transaction is open"), reasoner.transaction():
        pass
    with pytest.raises(StreamError, match="update 1 of the stream was not applied: another transaction is open"):
        next(reasoner.process([Update()]))
    reasoner.add_triples([(EX.kat, RDF.type, EX.Cat)])  # becomes a part of the graph's
    zoo.rollback()
    assert len(zoo.store.explicit) == 2
    with reasoner.transaction():
        reasoner.add_triples([(EX.kat, RDF.type, EX.Cat)])
    assert (EX.kat, RDF.type, EX.Animal) in zoo


def test_the_transaction_of_a_graph_may_be_ended_by_way_of_the_reasoner(zoo: Graph) -> None:
    zoo.add((EX.kit, RDF.type, EX.Cat))
    assert (EX.kit, RDF.type, EX.Animal) in zoo
    zoo.store.reasoner.open_transaction.commit()
    zoo.rollback()
    assert (EX.kit, RDF.type, EX.Animal) in zoo
    zoo.add((EX.kat, RDF.type, EX.Cat))
    zoo.rollback()
    assert len(zoo.store.explicit) == 3


def test_graphs_of_one_reasoner_share_its_transaction() -> None:
    reasoner = Reasoner(ruleset="rdfs")
    one, two = graph_of(reasoner), graph_of(reasoner)
    one.parse(data=ZOO)
    two.add((EX.kit, RDF.type, EX.Cat))
    assert (EX.kit, RDF.type, EX.Animal) in one
    with pytest.raises(TransactionError):
        two.rollback()
    one.rollback()
    assert len(two) == 0
    two.add((EX.kit, RDF.type, EX.Cat)).commit()
    assert isomorphic(one, two)
    assert len(one) == 1


# --- subscribers -----------------------------------------------------------------------------------------------------------


def test_subscribers_hear_of_commits(zoo: Graph) -> None:
    told = listen(zoo, (None, RDF.type, EX.Animal))
    zoo.add((EX.kit, RDF.type, EX.Cat))
    assert (EX.kit, RDF.type, EX.Animal) in zoo
    zoo.remove((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) not in zoo
    assert told == []
    zoo.commit()
    assert told == ["- [ex:tom, rdf:type, ex:Animal]  derived\n+ [ex:kit, rdf:type, ex:Animal]  derived"]
    zoo.commit()
    assert len(told) == 1


def test_subscribers_hear_of_net_changes_only(zoo: Graph) -> None:
    told = listen(zoo, None)
    zoo.add((EX.kit, RDF.type, EX.Cat))
    len(zoo)
    zoo.rollback()
    zoo.add((EX.kit, RDF.type, EX.Cat))
    len(zoo)
    zoo.remove((EX.kit, RDF.type, EX.Cat))
    len(zoo)
    zoo.commit()
    assert told == []


def test_subscribers_in_the_middle_of_a_transaction_receive_the_rest_of_it(zoo: Graph) -> None:
    zoo.add((EX.kit, RDF.type, EX.Cat))
    assert (EX.kit, RDF.type, EX.Animal) in zoo
    told = listen(zoo, (None, RDF.type, EX.Animal))
    zoo.add((EX.kat, RDF.type, EX.Cat))
    zoo.commit()
    assert told == ["+ [ex:kat, rdf:type, ex:Animal]  derived"]
    zoo.add((EX.kot, RDF.type, EX.Cat))
    zoo.commit()
    assert told[1:] == ["+ [ex:kot, rdf:type, ex:Animal]  derived"]


def test_a_subscriber_that_changes_the_graph(zoo: Graph) -> None:
    """What it does is a transaction of its own."""

    def feed(delta: Delta) -> None:
        for subject, _, _ in delta.added.triples():
            assert isinstance(subject, IRI)
            zoo.add((URIRef(subject.value), RDF.type, EX.Fed))
            zoo.commit()

    zoo.store.reasoner.subscribe((None, RDF.type, EX.Cat), feed)
    told = listen(zoo, (None, RDF.type, EX.Fed))
    zoo.add((EX.kit, RDF.type, EX.Cat))
    zoo.commit()
    assert told == ["+ [ex:kit, rdf:type, ex:Fed]  explicit"]
    zoo.rollback()
    assert (EX.kit, RDF.type, EX.Fed) in zoo


def test_a_feed_follows_a_graph_from_another_thread(zoo: Graph) -> None:
    """A copy of the inferred types is kept up to date by what the feed says."""
    copy = {(str(x), str(c)) for x, c in zoo.store.inferred.subject_objects(RDF.type)}
    feed = zoo.store.reasoner.changes((None, OUR_RDF.type, None))

    def follow() -> None:
        for delta in feed:
            for changes, change in ((delta.removed, copy.discard), (delta.added, copy.add)):
                for x, _, c in changes.triples("inferred"):
                    change((str(x)[1:-1], str(c)[1:-1]))

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    for number in range(30):
        zoo.add((EX[f"cat{number}"], RDF.type, EX.Cat))
        if number % 3 == 0:
            zoo.remove((EX[f"cat{number // 2}"], RDF.type, EX.Cat))
        if number % 5 == 0:
            zoo.rollback()
        else:
            zoo.commit()
    feed.close()
    follower.join(timeout=30)
    assert not follower.is_alive()
    assert len(copy) > 10
    assert copy == {(str(x), str(c)) for x, c in zoo.store.inferred.subject_objects(RDF.type)}


@pytest.mark.parametrize("reasoning", ["union", "graph"])
def test_an_inconsistency_is_told_with_the_prefixes_of_the_graph(reasoning: Reasoning) -> None:
    data = f"@prefix pet: <{EX}pets/> . pet:Cat <{OWL.disjointWith}> pet:Dog . pet:tom a pet:Cat, pet:Dog ."
    told = r"DisjointClasses\(pet:Cat pet:Dog\) \(cax-dw\): \?x = pet:tom$"
    with pytest.raises(InconsistencyError, match=told):
        attach(Graph().parse(data=data), on_inconsistency="raise", reasoning=reasoning)
    store = KGReasonerStore(Reasoner(ruleset="owl2rl", on_inconsistency="raise"), reasoning=reasoning)
    graph = Graph(store=store)
    closed = partial(store.close, commit_pending_transaction=True)
    for end in (graph.commit, closed, partial(store.open, "owl2rl"), partial(detach, graph)):
        graph.parse(data=data)
        with pytest.raises(InconsistencyError, match=told):
            end()
        assert len(graph) == 0
