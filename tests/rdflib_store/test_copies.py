"""Copies and pickles of graphs with a reasoner keep what is explicit and reason again; `detach` takes the reasoner away."""

from __future__ import annotations

import copy
import pickle
import pickletools
import zlib
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, XSD, BNode, Dataset, Graph, Literal, Namespace, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.stores.memory import Memory
from rdflib.term import Node

from kg_reasoner import KGReasonerStore, Limits, Reasoner, attach, detach, graph_of, store_of
from kg_reasoner.errors import InconsistencyError, LoadError, NotAllowedError, ReasonerError, UnknownNameError
from kg_reasoner.terms import Literal as Value
from kg_reasoner.terms import literal

EX = Namespace("http://example.org/")
CAT, TOM, FOLLOWS = (EX.Cat, RDFS.subClassOf, EX.Animal), (EX.tom, RDF.type, EX.Cat), (EX.tom, RDF.type, EX.Animal)
ODD = [
    (BNode("label-1"), EX.says, Literal('a "quoted"\nline . \\ <x> _:b ^^', lang="en")),
    (EX["é"], EX.age, Literal("007", datatype=XSD.integer)),
    (EX.tom, EX.says, Literal("")),
    (EX.tom, EX.says, Literal("ß @en .\n")),
]

Copy = Callable[[Any], Any]
COPIES: dict[str, Copy] = {
    "pickle": lambda graph: pickle.loads(pickle.dumps(graph)),
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(params=list(COPIES))
def copied(request: pytest.FixtureRequest) -> Copy:
    return COPIES[request.param]


def zoo(**options: Any) -> Graph:
    graph = Graph()
    for triple in (CAT, TOM, *ODD):
        graph.add(triple)
    return attach(graph, **{"ruleset": "rdfs", **options})


def dataset(**options: Any) -> Dataset:
    data = Dataset()
    data.add(TOM)
    data.graph(EX.schema).add(CAT)
    data.graph(EX.data).add(TOM)
    data.graph(EX.data).add((EX.tim, RDF.type, EX.Cat))
    data.graph(EX.empty)
    return attach(data, **{"ruleset": "rdfs", **options})


def content(data: Dataset) -> dict[Node, set[Any]]:
    return {graph.identifier: set(graph) for graph in data.graphs()}


# --- copies and pickles -----------------------------------------------------------------------------------------------------


def test_a_copy_shows_the_same_and_is_independent(copied: Copy) -> None:
    graph = zoo()
    other = copied(graph)
    assert set(other) == set(graph)
    assert set(other.store.explicit) == set(graph.store.explicit)
    assert other.identifier == graph.identifier
    other.remove(CAT)
    assert FOLLOWS in graph
    assert FOLLOWS not in other
    graph.add((EX.tim, RDF.type, EX.Cat))
    assert (EX.tim, RDF.type, EX.Cat) not in other


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reasoning": "graph"},
        {"inferred_graph": str(EX.inferred)},
        {"inferred_graph": str(DATASET_DEFAULT_GRAPH_ID)},
        {"equality": "rewrite", "ruleset": "owl2rl"},
    ],
    ids=str,
)
@pytest.mark.sample(2)
def test_datasets(copied: Copy, options: dict[str, Any]) -> None:
    data = dataset(**options)
    other = copied(data)
    assert content(other) == content(data)
    assert set(other) == set(data)
    assert other.default_union == data.default_union
    other.graph(EX.data).remove((None, None, None))
    assert (EX.tim, RDF.type, EX.Cat) in data.graph(EX.data)
    other.graph(EX.schema).add((EX.Animal, RDFS.subClassOf, EX.Being))
    assert set(other.graph(EX.schema)) > set(data.graph(EX.schema))


def test_equal_terms_that_are_merged(copied: Copy) -> None:
    graph = zoo(ruleset="owl2rl", equality="rewrite")
    graph.add((EX.tom, OWL.sameAs, EX.thomas)).add((EX.thomas, EX.age, Literal(4)))
    other = copied(graph)
    assert (EX.tom, EX.age, Literal(4)) in other
    assert set(other) == set(graph)
    assert set(other.store.explicit) == set(graph.store.explicit)
    other.remove((EX.tom, OWL.sameAs, EX.thomas))
    assert (EX.tom, EX.age, Literal(4)) not in other


def test_rules_and_settings(copied: Copy) -> None:
    limits = Limits(facts=10_000)
    reasoner = Reasoner(
        "@prefix : <http://example.org/> . :likes[?x, ?y] :- :keeps[?x, ?y], NOT pest(?y) . pest(:rat) .",
        maintenance="delete-rederive",
        datatypes=[str(XSD.integer)],
        show_hidden=True,
        limits=limits,
    )
    graph = graph_of(reasoner)
    graph.add((EX.ann, EX.keeps, EX.tom)).add((EX.ann, EX.keeps, EX.flea)).add((EX.ann, EX.keeps, EX.rat))
    reasoner.add_facts("pest", [[URIRef(EX.flea)]])
    reasoner.add_facts("weight", [[EX.tom, literal("4")], [EX.flea, Literal('"0" .\n')]])
    same = copied(graph).store.reasoner
    assert same.program == reasoner.program
    assert same.datatypes == reasoner.datatypes
    assert (same.maintenance, same.equality, same.on_inconsistency) == ("delete-rederive", "axioms", "report")
    assert (same.visibility.shows_all, same.limits) == (True, limits)
    for which in ("all", "explicit"):
        for predicate in ("pest", "weight"):
            assert set(same.facts(predicate, which)) == set(reasoner.facts(predicate, which))
    assert set(same.triples()) == set(reasoner.triples())


@pytest.mark.parametrize(
    ("ruleset", "program", "asks"),
    [
        ("owl2rl-full", "@rule prp-mine same(?x) :- owl:sameAs[?x, ?y] .", False),
        ("owl2rl-full", "", True),
        ("owl2el+owl2rl-full", "", False),
    ],
)
def test_facts_that_hold_of_all_terms_are_stored_alike(ruleset: str, program: str, asks: bool, copied: Copy) -> None:
    graph = zoo(ruleset=ruleset)
    reasoner = graph.store.reasoner
    reasoner.add_program(program)
    if asks:
        list(reasoner.answers("owl:sameAs[?x, ?y]"))
    same = copied(graph).store.reasoner
    assert [rule.origin for rule in same.program.rules] == [rule.origin for rule in reasoner.program.rules]
    for each in (same, reasoner):
        each.materialise()
    assert set(same.facts("same")) == set(reasoner.facts("same"))
    sizes = [
        {name: base.database.size(number) for name, number in base.catalog.predicates.items()}
        for base in (same.engine.base, reasoner.engine.base)
    ]
    assert sizes[0] == sizes[1]
    assert len(same.engine.base.triples("all")) == len(reasoner.engine.base.triples("all"))


def test_facts_without_arguments(copied: Copy) -> None:
    reasoner = Reasoner("late(?x) :- there(?x), NOT open() . there(1) .")
    reasoner.add_facts("open", [()])
    same = copied(graph_of(reasoner)).store.reasoner
    assert [*same.facts("open", "explicit")] == [()]
    assert not same.facts("late")


def test_counts_of_multisets(copied: Copy) -> None:
    reasoner = Reasoner("input multiset vote(for: string) .")
    reasoner.add_facts("vote", [[literal("ann")], [literal("tim")], [literal("ann")]])
    same = copied(graph_of(reasoner)).store.reasoner
    assert dict(same.counts("vote")) == dict(reasoner.counts("vote"))
    same.remove_facts("vote", [[literal("ann")], [literal("tim")]])
    assert [*same.facts("vote")] == [(literal("ann"),)]


TEMPORAL = """
    input relation n(x: integer) .
    input stream s(x: integer) .
    relation gained(x: integer) difference n .
    relation before(x: integer) delay n .
    relation earlier(x: integer) delay 3 n .
    stream then(x: integer) delay s .
    stream echo(x: integer) .
    echo(?x) :- then(?x), before(?x) .
"""


@pytest.mark.parametrize("seen", range(5))
def test_delays_and_differences_go_on(seen: int, copied: Copy) -> None:
    reasoner = Reasoner(TEMPORAL)
    steps = [(number, number + 1) for number in range(9)]
    for step in steps[:seen]:
        advance(reasoner, *step)
    same = copied(graph_of(reasoner)).store.reasoner
    assert temporal_facts(same) == temporal_facts(reasoner)
    for step in steps[seen:]:
        assert advance(same, *step) == advance(reasoner, *step)
        assert temporal_facts(same) == temporal_facts(reasoner)


def advance(reasoner: Reasoner, new: int, old: int) -> str:
    with reasoner.transaction() as transaction:
        transaction.add_facts("n", [[literal(new)]])
        transaction.remove_facts("n", [[literal(new - 4)]])
        transaction.add_facts("s", [[literal(new)], [literal(old)]])
    return str(transaction.delta)


def temporal_facts(reasoner: Reasoner) -> dict[str, list[int]]:
    names = ("n", "gained", "before", "earlier", "then", "echo")
    return {name: sorted(int(x.lexical) for (x,) in reasoner.facts(name) if isinstance(x, Value)) for name in names}


def test_functions_in_python() -> None:
    reasoner = Reasoner()
    reasoner.function("twice", "integer", returns="integer")(lambda number: 2 * number)
    reasoner.aggregate("smallest", "integer", returns="integer")(min)
    reasoner.add_program("""
        even(?y) :- number(?x), BIND(twice(?x) AS ?y) .
        first(?n) :- AGGREGATE(even(?x) BIND smallest(?x) AS ?n) .
    """)
    reasoner.add_facts("number", [[literal(5)]])
    graph = graph_of(reasoner)
    same = copy.deepcopy(graph).store.reasoner
    same.add_facts("number", [[literal(4)]])
    assert ([*same.facts("first")], [*reasoner.facts("first")]) == ([(literal(8),)], [(literal(10),)])
    with pytest.raises(ReasonerError, match="functions in Python cannot be pickled"):
        pickle.dumps(graph)


def test_rules_of_documents(copied: Copy) -> None:
    graph = zoo()
    graph.store.reasoner.load(b"@prefix : <http://example.org/> . { ?x a :Cat } => { ?x :says 'miaow' } .", format="n3")
    other = copied(graph)
    other.add((EX.tim, RDF.type, EX.Cat))
    assert (EX.tim, EX.says, Literal("miaow")) in other


def test_axioms_become_rules_again(copied: Copy) -> None:
    graph = zoo(ruleset="owl2rl")
    graph.add((EX.above, RDF.type, OWL.TransitiveProperty)).add((EX.a, EX.above, EX.b)).add((EX.b, EX.above, EX.c))
    other = copied(graph)
    assert (EX.a, EX.above, EX.c) in other
    other.remove((EX.above, RDF.type, OWL.TransitiveProperty))
    assert (EX.a, EX.above, EX.c) not in other


def test_what_is_not_committed_is_copied(copied: Copy) -> None:
    graph = zoo()
    graph.commit()
    graph.add((EX.tim, RDF.type, EX.Cat))
    other = copied(graph)
    other.rollback()
    assert (EX.tim, RDF.type, EX.Animal) in other
    graph.rollback()
    assert (EX.tim, RDF.type, EX.Animal) not in graph


def test_the_reaction_to_inconsistency(copied: Copy) -> None:
    graph = zoo(ruleset="owl2rl", on_inconsistency="raise")
    other = copied(graph)
    other.add((EX.Cat, OWL.disjointWith, EX.Animal))
    with pytest.raises(InconsistencyError):
        other.commit()


def test_prefixes(copied: Copy) -> None:
    graph = zoo()
    graph.bind("pets", EX)
    assert dict(copied(graph).namespaces())["pets"] == URIRef(EX)


def allow_nothing(kind: str, iri: str) -> bool:
    return False


def test_permissions(copied: Copy) -> None:
    graph = zoo(allow=allow_nothing)
    assert copied(graph).store.dataset.permissions.allow is allow_nothing
    assert copied(zoo(allow={"load"})).store.dataset.permissions.allow == {"load"}
    with pytest.raises(NotAllowedError):
        copied(zoo()).update("LOAD <http://example.org/>")


@pytest.mark.parametrize(
    "done",
    [*COPIES.values(), attach, lambda data: attach(data, reasoning="graph"), lambda data: data.open("rdfs") and data],
    ids=[*COPIES, "attach", "attach by graph", "open"],
)
def test_empty_graphs_stay_where_no_graph_ever_had_a_triple(done: Copy) -> None:
    data = attach(Dataset())
    data.graph(EX.empty)
    data.add(TOM)
    assert {graph.identifier for graph in done(data).graphs()} == {DATASET_DEFAULT_GRAPH_ID, EX.empty}


def test_an_empty_graph(copied: Copy) -> None:
    graph = copied(attach(Graph()))
    assert len(graph) == 0
    graph.add(TOM)
    assert TOM in graph


def test_a_shallow_copy_shares_the_store() -> None:
    graph = zoo()
    other = copy.copy(graph)
    assert other.store is graph.store
    other.add((EX.tim, RDF.type, EX.Cat))
    assert (EX.tim, RDF.type, EX.Animal) in graph


@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps])
def test_views_are_not_copied_without_their_graph(copied: Callable[[Graph], object]) -> None:
    view = store_of(Graph(store="KGReasoner")).inferred
    with pytest.raises(TypeError, match="the graph of inferred triples is a view: copy or pickle the graph that it belongs to"):
        copied(view)
    assert len(copy.copy(view)) == 0


def test_sums_are_plain_graphs_of_what_is_shown() -> None:
    graph, other = zoo(), Graph().add((EX.rex, RDF.type, EX.Cat))
    for total in (graph + other, other + graph, graph - Graph(), graph * graph):
        assert isinstance(total.store, Memory)
        assert FOLLOWS in total
        assert (EX.rex, RDF.type, EX.Animal) not in total
    graph += other
    assert (EX.rex, RDF.type, EX.Animal) in graph
    other += graph
    assert FOLLOWS in other


def test_a_pickle_names_only_what_makes_graphs() -> None:
    """Unpickling calls these, and nothing that the data say."""
    called = set()
    names: list[str] = []
    for operation, argument, _ in pickletools.genops(pickle.dumps(dataset(ruleset="owl2rl-full"), protocol=4)):
        if operation.name in ("SHORT_BINUNICODE", "BINUNICODE"):
            names.append(cast(str, argument))
        elif operation.name == "STACK_GLOBAL":
            called.add((names[-2], names[-1]))
        assert operation.name not in ("GLOBAL", "INST", "OBJ", "EXT1", "EXT2", "EXT4")
    assert called == {
        ("rdflib.graph", "Dataset"),
        ("kg_reasoner.rdflib_store.store", "_restored"),
        ("kg_reasoner.concurrency.limits", "Limits"),
    }


def test_damaged_pickles() -> None:
    restore, (state, *others) = cast(tuple[Any, Any], zoo().store.__reduce__())
    for damage in ({"triples": b"<a> <b> .\n"}, {"triples": b"junk .\n"}, {"triples": b"<a> <b> <c> .\n<d> .\n"}):
        with pytest.raises(LoadError, match="damaged"):
            restore({**state, **damage}, *others)
    for origins in (b"junk", zlib.compress(b"junk"), zlib.compress(b'["",["",1]]'), zlib.compress(b'[""]')):
        with pytest.raises(LoadError, match="damaged"):
            restore({**state, "origins": origins}, *others)
    with pytest.raises(LoadError, match="another version"):
        restore({**state, "form": 0}, *others)


NODES = st.sampled_from([EX.A, EX.B, EX.C, EX.D, BNode("b")])
TRIPLES = st.tuples(NODES, st.sampled_from([RDFS.subClassOf, RDF.type, EX.p]), NODES)


@given(
    quads=st.lists(st.tuples(TRIPLES, st.sampled_from([None, EX.g, EX.h, BNode("g")]))),
    reasoning=st.sampled_from(["union", "graph"]),
)
def test_random_datasets(quads: list[tuple[Any, Any]], reasoning: Any) -> None:
    data = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"), reasoning=reasoning), default_union=True)
    for triple, name in quads:
        (data if name is None else data.graph(name)).add(triple)
    other = pickle.loads(pickle.dumps(data))
    assert content(other) == content(data)
    assert set(other) == set(data)
    plain = detach(other)
    assert isinstance(plain.store, Memory)
    assert {graph.identifier: set(graph) for graph in plain.graphs()} == {
        DATASET_DEFAULT_GRAPH_ID: set(data.store.graphs.triples_of(DATASET_DEFAULT_GRAPH_ID, (None, None, None), "explicit")),
        **{name: set(data.store.graphs.triples_of(name, (None, None, None), "explicit")) for name in data.store.named_graphs()},
    }


# --- detach -----------------------------------------------------------------------------------------------------------------


def test_detach_keeps_what_is_explicit() -> None:
    graph = zoo()
    graph.bind("pets", EX)
    store = store_of(graph)
    assert detach(graph) is graph
    assert isinstance(graph.store, Memory)
    assert set(graph) == {CAT, TOM, *ODD}
    assert dict(graph.namespaces())["pets"] == URIRef(EX)
    assert FOLLOWS in Graph(store=store), "the old store still shows what follows"
    graph.add((EX.tim, RDF.type, EX.Cat))
    assert (EX.tim, RDF.type, EX.Animal) not in graph
    assert FOLLOWS in attach(graph, ruleset="rdfs")


def test_detach_keeps_all() -> None:
    graph = zoo()
    shown = set(graph)
    assert set(detach(graph, keep="all")) == shown


def test_detach_and_attach_are_inverses() -> None:
    data = Dataset()
    data.graph(EX.g).add(TOM)
    data.graph(EX.empty)
    data.add(CAT)
    before = content(data)
    assert content(detach(attach(data))) == before


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({}, DATASET_DEFAULT_GRAPH_ID),
        ({"inferred_graph": str(DATASET_DEFAULT_GRAPH_ID)}, DATASET_DEFAULT_GRAPH_ID),
        ({"inferred_graph": str(EX.inferred)}, EX.inferred),
        ({"reasoning": "graph"}, EX.data),
    ],
    ids=str,
)
def test_detach_a_dataset(options: dict[str, Any], where: URIRef) -> None:
    def make() -> Dataset:
        data = dataset(**options)
        if "reasoning" in options:
            data.graph(EX.data).add(CAT)
        return data

    explicit = {name: set(make().store.graphs.triples_of(name, (None, None, None), "explicit")) for name in (EX.schema, EX.data)}
    data = detach(make())
    assert {name: set(data.graph(name)) for name in explicit} == explicit
    assert set(data.graph(DATASET_DEFAULT_GRAPH_ID)) == {TOM}
    assert {graph.identifier for graph in data.graphs()} == {DATASET_DEFAULT_GRAPH_ID, EX.schema, EX.data, EX.empty}
    assert all(FOLLOWS not in graph for graph in data.graphs())
    everything = detach(make(), keep="all")
    assert [graph.identifier for graph in everything.graphs() if FOLLOWS in graph] == [where]
    assert {quad[:3] for quad in everything} == set(Graph(store=make().store))


def test_detach_one_graph_of_a_dataset() -> None:
    data = dataset()
    named = data.graph(EX.data)
    detach(named)
    assert set(named) == {TOM, (EX.tim, RDF.type, EX.Cat)}
    named.add((EX.rex, RDF.type, EX.Cat))
    assert (EX.rex, RDF.type, EX.Cat) not in data


def test_detach_commits() -> None:
    seen: list[object] = []
    graph = zoo()
    reasoner = store_of(graph).reasoner
    graph.commit()
    reasoner.subscribe(None, seen.append)
    graph.add((EX.tim, RDF.type, EX.Cat))
    detach(graph)
    assert len(seen) == 1
    assert reasoner.open_transaction is None


def test_detach_refuses() -> None:
    with pytest.raises(ReasonerError, match="has no reasoner"):
        detach(Graph())
    graph = zoo(ruleset="owl2rl", on_inconsistency="raise")
    with pytest.raises(UnknownNameError, match=r"kind of triples to keep 'inferred'.*all, explicit"):
        detach(graph, keep=cast(Any, "inferred"))
    graph.commit()
    graph.add((EX.Cat, OWL.disjointWith, EX.Animal))
    with pytest.raises(InconsistencyError):
        detach(graph)
    assert isinstance(graph.store, KGReasonerStore)
    assert FOLLOWS in graph
