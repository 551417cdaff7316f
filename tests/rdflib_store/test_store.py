"""The rdflib store: what users do with a graph.

Over the rule sets `rdfs` (all triples in one relation) and `owl2rl` (a relation for each property and class).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, XSD, BNode, ConjunctiveGraph, Dataset, Graph, Literal, Namespace, URIRef, Variable
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.graph import ReadOnlyGraphAggregate
from rdflib.plugins.stores.memory import Memory
from rdflib.plugins.stores.regexmatching import REGEXMatching, REGEXTerm
from rdflib.store import VALID_STORE, TripleAddedEvent

from kg_reasoner import KGReasonerStore, Reasoner, ReasonerWarning, attach, graph_of, store_of
from kg_reasoner.errors import LoadError, ReasonerError, UnknownNameError
from tests.helpers.effort import examples

EX = Namespace("http://example.org/")
ZOO = """
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Cat rdfs:subClassOf ex:Animal .
ex:Dog rdfs:subClassOf ex:Animal .
ex:keeps rdfs:domain ex:Person ; rdfs:range ex:Animal .
ex:tom a ex:Cat .
ex:ann ex:keeps ex:tom .
"""

Triple = tuple[URIRef | BNode, URIRef, URIRef | BNode | Literal]


@pytest.fixture(params=["rdfs", "owl2rl"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """An empty graph with a reasoner."""
    return Graph(store=KGReasonerStore(Reasoner(ruleset=request.param)))


@pytest.fixture
def zoo(graph: Graph) -> Graph:
    """A graph in which it follows that tom is an animal and ann is a person."""
    return graph.parse(data=ZOO, format="turtle")


# --- reading ---------------------------------------------------------------------------------------------------------------


def test_a_graph_shows_what_follows(zoo: Graph) -> None:
    assert (EX.tom, RDF.type, EX.Animal) in zoo
    assert (EX.ann, RDF.type, EX.Person) in zoo
    assert (EX.tom, RDF.type, EX.Person) not in zoo
    assert set(zoo.objects(EX.tom, RDF.type)) >= {EX.Cat, EX.Animal}
    assert zoo.value(EX.ann, EX.keeps) == EX.tom
    assert zoo.value(predicate=EX.keeps, object=EX.tom) == EX.ann
    assert len(zoo) == len(list(zoo)) == len(set(zoo))


def test_the_explicit_and_the_inferred_triples_are_graphs(zoo: Graph) -> None:
    explicit, inferred = zoo.store.explicit, zoo.store.inferred
    assert isomorphic(explicit, Graph().parse(data=ZOO))
    assert (EX.tom, RDF.type, EX.Cat) in explicit
    assert (EX.tom, RDF.type, EX.Cat) not in inferred
    assert (EX.tom, RDF.type, EX.Animal) in inferred
    assert (EX.tom, RDF.type, EX.Animal) not in explicit
    assert len(explicit) == 6
    assert len(explicit) + len(inferred) == len(zoo)
    assert set(explicit) | set(inferred) == set(zoo)
    assert not set(explicit) & set(inferred)
    zoo.add((EX.tom, RDF.type, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) in explicit  # views show the present state
    assert (EX.tom, RDF.type, EX.Animal) not in inferred


@pytest.mark.parametrize("which", ["explicit", "inferred"])
def test_every_pattern_of_a_view(zoo: Graph, which: str) -> None:
    view = getattr(zoo.store, which)
    triples = set(view)
    nodes = {node for triple in zoo for node in triple}
    for subject, predicate, value in [(s, p, o) for s in (None, *nodes) for p in (None, *nodes) for o in (None, EX.Animal, EX.tom)]:
        expected = {t for t in triples if subject in (None, t[0]) and predicate in (None, t[1]) and value in (None, t[2])}
        found = set(view.triples((subject, predicate, value)))
        assert {t for t in found if t[0] in nodes} == expected  # what rules say of owl:Thing is hidden from all but some patterns


def test_views_are_read_only(zoo: Graph) -> None:
    for view in (zoo.store.explicit, zoo.store.inferred):
        with pytest.raises(ReasonerError, match="is a view: add to the graph"):
            view.add((EX.a, EX.b, EX.c))
        with pytest.raises(ReasonerError, match="is a view: remove from the graph"):
            view.remove((None, None, None))
        with pytest.raises(ReasonerError, match="is a view"):
            view.update("INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }")
    assert len(zoo.store.explicit) == 6


def test_views_serialise(zoo: Graph) -> None:
    zoo.add((EX.ann, URIRef("http://other.example/p"), Literal("x")))
    for view in (zoo.store.explicit, zoo.store.inferred):
        assert isomorphic(Graph().parse(data=view.serialize(format="turtle")), view)


@pytest.mark.parametrize("format", ["turtle", "nt", "xml", "json-ld", "n3"])
def test_serialise_and_parse(zoo: Graph, format: str) -> None:
    zoo.add((EX.ann, EX.says, Literal('"hi"\n\\', lang="en")))
    assert isomorphic(Graph().parse(data=zoo.serialize(format=format), format=format), zoo)


@pytest.mark.parametrize("format", ["turtle", "nt", "xml", "json-ld", "trig"])
def test_parse_into_a_graph(graph: Graph, format: str) -> None:
    data = Graph().parse(data=ZOO + "ex:ann ex:knows [ ex:name 'Bob' ] .")
    graph.parse(data=data.serialize(format=format), format=format)
    assert isomorphic(graph.store.explicit, data)


def test_n3_without_formulas(graph: Graph) -> None:
    data = Graph().parse(data=ZOO + "ex:ann ex:knows [ ex:name 'Bob' ] .")
    graph.parse(data=data.serialize(format="n3"), format="n3")
    assert isomorphic(graph.store.explicit, data)


@pytest.mark.parametrize("formula", [":a :b {} .", ":a :b { :c :d :e } .", "{ ?x :a :b } => { ?x :c :d } ."])
def test_formulas_are_refused_where_memory_takes_them(formula: str) -> None:
    text = "@prefix : <http://example.org/> . " + formula
    assert len(Graph().parse(data=text, format="n3")) == 1
    graph = Graph(store="KGReasoner")
    with pytest.raises(LoadError, match="formula"):
        graph.parse(data=text, format="n3")
    graph.rollback()
    assert len(graph) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_conjunctive_graphs_are_refused() -> None:
    trig = "@prefix : <http://example.org/> . :g { :a :b :c }"
    for store in ("KGReasoner", KGReasonerStore()):
        with pytest.raises(ReasonerError, match="make a Dataset"):
            ConjunctiveGraph(store=store)
    dataset = Dataset(store="KGReasoner")
    dataset.parse(data=trig, format="trig")
    assert [str(name) for *_, name in dataset.quads()] == ["http://example.org/g"]


def test_methods_of_graphs(zoo: Graph) -> None:
    assert next(iter(zoo.transitive_objects(EX.tom, RDF.type))) == EX.tom
    assert EX.Animal in zoo.transitive_objects(EX.tom, RDF.type)
    assert set(zoo.subjects(RDF.type, EX.Animal)) == {EX.tom}
    assert (EX.keeps, EX.tom) in set(zoo.predicate_objects(EX.ann))
    assert set(zoo.subject_objects(EX.keeps)) == {(EX.ann, EX.tom)}
    assert set(zoo.subject_predicates(EX.tom)) == {(EX.ann, EX.keeps)}
    assert set(zoo[EX.ann : EX.keeps / RDF.type]) >= {EX.Cat, EX.Animal}
    assert set(zoo.triples_choices((EX.tom, RDF.type, [EX.Cat, EX.Animal, EX.Person]))) == {
        (EX.tom, RDF.type, EX.Cat),
        (EX.tom, RDF.type, EX.Animal),
    }
    assert EX.tom in zoo.all_nodes()
    assert isomorphic(zoo.cbd(EX.tom), Graph().parse(data="@prefix ex: <http://example.org/> . ex:tom a ex:Cat, ex:Animal ."))


def test_collections(graph: Graph) -> None:
    head = BNode()
    members = Collection(graph, head, [EX.a, Literal(2), EX.c])
    members.append(EX.d)
    members[1] = EX.b
    del members[0]
    assert list(Collection(graph, head)) == [EX.b, EX.c, EX.d]


def test_what_cannot_be_in_a_graph_is_not_there(zoo: Graph) -> None:
    for odd in (Variable("x"), URIRef("http://example.org/a b"), Graph(), Literal("\ud800"), BNode("")):
        assert (EX.ann, EX.keeps, odd) not in zoo
        assert list(zoo.triples((None, None, odd))) == []
    size = len(zoo)
    zoo.remove((None, None, Variable("x")))
    assert len(zoo) == size


def test_literals_are_kept_as_written(graph: Graph) -> None:
    literals = {
        Literal("07", datatype=XSD.integer, normalize=False),
        Literal("7", datatype=XSD.integer),
        Literal("7.0", datatype=XSD.double, normalize=False),
        Literal("not a number", datatype=XSD.integer),
        Literal("colour", lang="en-gb"),
        Literal("colour"),
        Literal(""),
        Literal('tab\t"quote" \\ line\n\r\u2028\x00é🐈'),
        Literal("x", datatype=EX.unknown),
    }
    for literal in literals:
        graph.add((EX.a, EX.p, literal))
    assert {literal.n3() for literal in graph.objects(EX.a, EX.p)} == {literal.n3() for literal in literals}
    for literal in literals:
        assert (EX.a, EX.p, literal) in graph


def test_simple_literals_are_strings(graph: Graph) -> None:
    """RDF 1.1: a literal without a datatype is an xsd:string."""
    graph.add((EX.a, EX.p, Literal("x", datatype=XSD.string)))
    assert (EX.a, EX.p, Literal("x")) in graph
    assert (EX.a, EX.p, Literal("x", datatype=XSD.string)) in graph
    assert list(graph.objects(EX.a, EX.p)) == [Literal("x")]


def test_blank_nodes_stay_the_same(graph: Graph) -> None:
    node = BNode()
    graph.add((node, EX.p, node))
    assert list(graph) == [(node, EX.p, node)]
    assert (BNode(), EX.p, node) not in graph


# --- writing ---------------------------------------------------------------------------------------------------------------


def test_adding_in_every_way(graph: Graph) -> None:
    graph.add((EX.a, EX.p, EX.b)).add((EX.a, EX.p, EX.b))
    graph.addN([(EX.a, EX.p, EX.c, graph), (EX.a, EX.p, EX.d, Graph())])  # that of another graph is left out
    graph += [(EX.a, EX.p, EX.e)]
    graph.set((EX.x, EX.p, Literal(1)))
    graph.set((EX.x, EX.p, Literal(2)))
    other = Graph()
    other.add((EX.a, EX.p, EX.f))
    graph += other
    assert set(graph.objects(EX.a, EX.p)) == {EX.b, EX.c, EX.e, EX.f}
    assert list(graph.objects(EX.x, EX.p)) == [Literal(2)]
    assert len(graph.store.explicit) == 5


def test_removing_in_every_way(graph: Graph) -> None:
    for subject in (EX.a, EX.b, EX.c):
        for value in range(3):
            graph.add((subject, EX.p, Literal(value)))
            graph.add((subject, EX.q, Literal(value)))
    graph.remove((EX.a, EX.p, Literal(0)))
    assert len(graph.store.explicit) == 17
    graph.remove((EX.a, EX.p, None))
    assert len(graph.store.explicit) == 15
    graph.remove((None, EX.q, Literal(1)))
    assert len(graph.store.explicit) == 12
    graph.remove((EX.b, None, None))
    assert len(graph.store.explicit) == 7
    graph -= [(EX.c, EX.p, Literal(0)), (EX.c, EX.p, Literal(99))]
    assert len(graph.store.explicit) == 6
    graph.remove((None, None, Literal(2)))
    assert set(graph.store.explicit) == {(EX.a, EX.q, Literal(0)), (EX.c, EX.p, Literal(1)), (EX.c, EX.q, Literal(0))}
    graph.remove((None, None, None))
    assert len(graph.store.explicit) == 0
    assert len(graph) == len(graph.store.inferred)


def test_removing_what_is_also_inferred_keeps_it_visible(zoo: Graph) -> None:
    zoo.add((EX.tom, RDF.type, EX.Animal))
    zoo.remove((EX.tom, RDF.type, EX.Animal))
    assert (EX.tom, RDF.type, EX.Animal) in zoo
    assert (EX.tom, RDF.type, EX.Animal) in zoo.store.inferred


def test_removing_what_is_only_inferred_changes_nothing(zoo: Graph) -> None:
    before = set(zoo)
    zoo.remove((EX.tom, RDF.type, EX.Animal))
    zoo.remove((EX.ann, RDF.type, None))
    assert set(zoo) == before


def test_what_follows_goes_with_its_reason(zoo: Graph) -> None:
    zoo.remove((EX.tom, RDF.type, EX.Cat))
    assert (EX.tom, RDF.type, EX.Animal) in zoo  # ann keeps him
    zoo.remove((EX.ann, EX.keeps, EX.tom))
    assert (EX.tom, RDF.type, EX.Animal) not in zoo
    zoo.add((EX.tom, RDF.type, EX.Dog))
    assert (EX.tom, RDF.type, EX.Animal) in zoo


def test_schema_that_comes_and_goes(zoo: Graph) -> None:
    zoo.add((EX.Animal, RDFS.subClassOf, EX.Being))
    assert (EX.tom, RDF.type, EX.Being) in zoo
    zoo.remove((EX.Animal, RDFS.subClassOf, EX.Being))
    assert (EX.tom, RDF.type, EX.Being) not in zoo


def test_axioms_become_rules_when_they_are_added() -> None:
    graph = Graph(store="KGReasoner")
    for start, end in ("ab", "bc", "cd"):
        graph.add((EX[start], EX.partOf, EX[end]))
    assert (EX.a, EX.partOf, EX.d) not in graph
    graph.add((EX.partOf, RDF.type, OWL.TransitiveProperty))
    assert (EX.a, EX.partOf, EX.d) in graph
    graph.add((EX.partOf, OWL.inverseOf, EX.has))
    assert (EX.d, EX.has, EX.a) in graph
    graph.remove((EX.partOf, RDF.type, OWL.TransitiveProperty))
    assert (EX.a, EX.partOf, EX.d) not in graph
    assert (EX.d, EX.has, EX.c) in graph


def test_changing_a_graph_while_reading_it(zoo: Graph) -> None:
    for triple in zoo:
        zoo.add((triple[0], EX.seen, Literal(True)))
    for triple in zoo.triples((None, EX.seen, None)):
        zoo.remove(triple)
    assert set(zoo.store.explicit) == set(Graph().parse(data=ZOO))
    for row in zoo.query("SELECT ?x ?c { ?x a ?c }"):
        zoo.add((row.x, EX.kind, row.c))
    assert set(zoo.subject_objects(EX.kind)) == set(zoo.subject_objects(RDF.type))
    everything = set(zoo)
    reading = zoo.triples((None, None, None))
    first = next(reading)
    zoo.open("rdfs-full")
    assert {first, *reading} == everything


BAD = {
    "a space in an IRI": ((EX.a, EX.p, URIRef("http://example.org/a b")), "is not a valid IRI: it contains the character ' '"),
    "an IRI with an angle bracket": ((URIRef("http://example.org/>"), EX.p, EX.b), "is not a valid IRI"),
    "a literal as the subject": ((Literal("x"), EX.p, EX.b), "cannot be the subject of a triple"),
    "a blank node as the predicate": ((EX.a, BNode("b"), EX.b), "cannot be the predicate of a triple, only an IRI can"),
    "a literal as the predicate": ((EX.a, Literal("p"), EX.b), "cannot be the predicate of a triple, only an IRI can"),
    "a variable": ((EX.a, EX.p, Variable("x")), "not an RDF term"),
    "half of a surrogate pair": ((EX.a, EX.p, Literal("\ud800")), "surrogate"),
    "a datatype that is no IRI": ((EX.a, EX.p, Literal("x", datatype=URIRef("a b"))), "invalid datatype IRI"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_triples_are_refused_and_change_nothing(zoo: Graph, name: str) -> None:
    triple, message = BAD[name]
    before = set(zoo)
    with pytest.raises(LoadError, match=message):
        zoo.add(triple)
    with pytest.raises(LoadError, match=message):
        zoo.addN([(EX.new, EX.p, EX.b, zoo), (*triple, zoo)])
    assert set(zoo) == before
    plain = Graph()
    plain.add((EX.new, EX.p, EX.b)).add(triple)
    with pytest.raises(LoadError, match=message):
        zoo += plain
    assert set(zoo) == before
    store = plain.store
    with pytest.raises(LoadError, match=message):
        attach(plain)
    assert plain.store is store
    assert set(plain) == {(EX.new, EX.p, EX.b), triple}


def test_quoted_formulas_are_refused() -> None:
    graph = Graph()
    graph.parse(data="@prefix : <http://example.org/> . :a :says { :b :c :d } .", format="n3")
    with pytest.raises(LoadError, match="not an RDF term"):
        attach(graph)


def test_a_document_that_breaks_off(zoo: Graph) -> None:
    """Nothing of it is added, other than in rdflib's own store."""
    with pytest.raises(LoadError, match="unexpected end"):
        zoo.parse(data="@prefix ex: <http://example.org/> . ex:a ex:p ex:b . ex:c ex:p ", format="turtle")
    assert (EX.tom, RDF.type, EX.Animal) in zoo
    assert (EX.a, EX.p, EX.b) not in zoo


def test_subscribers_hear_of_added_triples(graph: Graph) -> None:
    heard = []
    graph.store.dispatcher.subscribe(TripleAddedEvent, lambda event: heard.append(event.triple))
    graph.add((EX.a, EX.p, EX.b))
    graph += [(EX.a, EX.p, EX.c)]
    assert heard == [(EX.a, EX.p, EX.b), (EX.a, EX.p, EX.c)]


# --- attaching and opening -------------------------------------------------------------------------------------------------


def test_attach_keeps_the_graph(graph: Graph) -> None:
    plain = Graph(identifier=EX.zoo).parse(data=ZOO)
    plain.bind("pets", EX)
    attached = attach(plain, ruleset="rdfs")
    assert attached is plain
    assert attached.identifier == EX.zoo
    assert isinstance(attached.store, KGReasonerStore)
    assert (EX.tom, RDF.type, EX.Animal) in attached
    assert dict(attached.namespaces())["pets"] == URIRef(EX)
    assert attached.namespace_manager.qname(EX.tom) == "pets:tom"
    assert isomorphic(attached.store.explicit, Graph().parse(data=ZOO))


def test_attach_again_with_another_rule_set() -> None:
    graph = attach(Graph().parse(data=ZOO), ruleset="rdfs")
    attach(graph, ruleset="owl2rl")
    assert (EX.tom, RDF.type, EX.Animal) in graph.store.inferred  # what was inferred has not become explicit
    assert len(graph.store.explicit) == 6


def test_attach_refuses_what_it_cannot_do() -> None:
    graph = Graph().parse(data=ZOO)
    store = graph.store
    with pytest.raises(UnknownNameError, match="did you mean 'rdfs'"):
        attach(graph, ruleset="rdsf")
    assert graph.store is store
    with pytest.warns(DeprecationWarning), pytest.raises(ReasonerError, match="a Graph or a Dataset"):
        attach(ConjunctiveGraph())
    with pytest.raises(ReasonerError, match="reads other graphs: attach to those"):
        attach(ReadOnlyGraphAggregate([Graph()]))
    for nothing in (None, "zoo.ttl", store):
        with pytest.raises(ReasonerError, match="a Graph or a Dataset of rdflib, not on"):
            attach(nothing)  # type: ignore[type-var]
    with pytest.raises(ReasonerError, match=r"is not a Reasoner: .* use attach\(graph\)"):
        graph_of(graph)  # type: ignore[arg-type]


def test_why_not() -> None:
    graph = attach(Graph().parse(data=ZOO))
    answer = graph.store.why_not((EX.tim, RDF.type, EX.Animal))
    assert ":tim occurs nowhere" in answer.text()
    with pytest.raises(ReasonerError, match="holds: call explain"):
        graph.store.why_not((EX.tom, RDF.type, EX.Animal))
    with pytest.raises(LoadError, match="is not an RDF term"):
        graph.store.why_not((EX.tom, RDF.type, Variable("x")))


@pytest.mark.parametrize("other", [None, 5, "tom", (EX.tom, RDF.type), (EX.tom, RDF.type, EX.Animal, EX.graph)])
def test_only_triples_are_explained(other: object) -> None:
    store = store_of(Graph(store="KGReasoner"))
    for explain in (store.explain, store.why_not):
        with pytest.raises(LoadError, match="is not a triple: give a subject, a predicate and an object"):
            explain(other)  # type: ignore[operator]


def test_a_store_shows_what_it_is() -> None:
    graph = attach(Graph().parse(data=ZOO))
    assert repr(graph.store).startswith("<KGReasonerStore over <Reasoner rules=")


def test_attach_one_graph_of_a_dataset() -> None:
    dataset = Dataset()
    named = dataset.graph(EX.zoo).parse(data=ZOO)
    attach(named, ruleset="rdfs")
    assert (EX.tom, RDF.type, EX.Animal) in named
    assert (EX.tom, RDF.type, EX.Animal, None) not in dataset


def test_open_chooses_the_rule_set_and_keeps_the_triples() -> None:
    graph = Graph(store="KGReasoner").parse(data=ZOO)
    graph.add((EX.keeps, RDF.type, OWL.TransitiveProperty)).add((EX.eve, EX.keeps, EX.ann))
    graph.bind("pets", EX)
    explicit = set(graph.store.explicit)
    assert (EX.eve, EX.keeps, EX.tom) in graph
    graph.open("rdfs")
    assert (EX.eve, EX.keeps, EX.tom) not in graph
    assert (EX.tom, RDF.type, EX.Animal) in graph
    assert set(graph.store.explicit) == explicit
    assert dict(graph.namespaces())["pets"] == URIRef(EX)
    before = set(graph)
    with pytest.raises(UnknownNameError, match="unknown rule set 'owl2r'"):
        graph.open("owl2r")
    with pytest.raises(ReasonerError, match="the name of a rule set is a str"):
        graph.open(("rdfs", "owl2rl"))  # type: ignore[arg-type]
    assert set(graph) == before


def test_a_location_is_not_needed(tmp_path: Path) -> None:
    """rdflib's tests, and programs for any store, open a store at a place on disk."""
    graph = Graph(store="KGReasoner").parse(data=ZOO)
    before = set(graph)
    for location in (tmp_path, tmp_path / "new"):
        with pytest.warns(ReasonerWarning, match=r"in memory: nothing is read from .* or written to it"):
            assert graph.open(str(location), create=True) == VALID_STORE
    assert set(graph) == before
    assert list(tmp_path.iterdir()) == []
    for wrong in ("rdsf", str(tmp_path / "missing.dl")):
        with pytest.raises(ReasonerError):
            graph.open(wrong, create=True)
    with pytest.raises(ReasonerError):
        graph.open(str(tmp_path))
    graph.open("rdfs", create=True)
    assert set(graph) == before


def test_a_store_is_configured_by_a_rule_set() -> None:
    graph = Graph(store=KGReasonerStore("rdfs")).parse(data=ZOO)
    assert (EX.tom, RDF.type, EX.Animal) in graph


def test_graph_of_a_reasoner() -> None:
    reasoner = Reasoner("[?x, <http://example.org/likes>, ?y] :- [?x, <http://example.org/keeps>, ?y] .")
    graph = graph_of(reasoner)
    graph.add((EX.ann, EX.keeps, EX.tom))
    assert (EX.ann, EX.likes, EX.tom) in graph
    assert graph.store.reasoner is reasoner
    graph.commit()
    assert len(list(reasoner.triples())) == 2


def test_rules_about_other_predicates_do_not_show() -> None:
    reasoner = Reasoner("knows(?x, ?y) :- [?x, <http://example.org/keeps>, ?y] .")
    graph = graph_of(reasoner)
    graph.add((EX.ann, EX.keeps, EX.tom))
    assert len(graph) == 1
    assert len(list(reasoner.facts("knows"))) == 1


@pytest.mark.parametrize("variable", ["?p", "<http://example.org/q>"])
def test_facts_that_are_not_rdf_triples_are_not_shown(variable: str) -> None:
    """A rule may conclude that a literal is a subject: this is no RDF, and not shown. What follows from it is."""
    rules = f"""
        [?y, <http://example.org/of>, ?x] :- [?x, {variable}, ?y], [?x, <http://example.org/q>, ?y] .
        [?x, <http://example.org/r>, ?x] :- [?y, <http://example.org/of>, ?x] .
    """
    graph = graph_of(Reasoner(rules))
    graph.add((EX.a, EX.q, Literal(1))).add((EX.a, EX.q, EX.b))
    expected = {
        (EX.a, EX.q, Literal(1)),
        (EX.a, EX.q, EX.b),
        (EX.b, EX.of, EX.a),
        (EX.a, EX.r, EX.a),
    }
    assert set(graph) == expected
    assert len(graph) == 4
    assert set(graph.subjects(EX.of)) == {EX.b}
    assert set(graph.subjects()) == {EX.a, EX.b}
    assert (Literal(1), EX.of, EX.a) not in graph
    assert [tuple(row) for row in graph.query("SELECT ?x { ?x <http://example.org/of> ?y . ?y ?p ?x }")] == [(EX.b,)]
    query = "SELECT ?x ?y { ?x <http://example.org/of> ?y }"
    assert len(graph.query(query, initBindings={"x": Literal(1)})) == 0


@pytest.mark.long
def test_the_entry_point_is_not_needed() -> None:
    """After an import of the module rdflib knows the store and the SPARQL extension, and an import of the package stays light."""
    code = """
import sys, kg_reasoner
assert "rdflib" not in sys.modules
import kg_reasoner.rdflib_store, rdflib
graph = rdflib.Graph(store="KGReasoner")
assert type(graph.store).__name__ == "KGReasonerStore"
from rdflib.plugins.sparql import CUSTOM_EVALS
assert CUSTOM_EVALS["KGReasoner"] is kg_reasoner.rdflib_store.evaluators.evaluate
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert run.returncode == 0, run.stderr


# --- against rdflib's own store --------------------------------------------------------------------------------------------


def prefixes(store: Memory | KGReasonerStore) -> dict[str, URIRef]:
    return dict(store.namespaces())


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([EX, RDF, OWL]), st.booleans()), max_size=8))
def test_prefixes_behave_as_in_memory(binds: list[tuple[str, Namespace, bool]]) -> None:
    ours, theirs = Graph(store=KGReasonerStore(Reasoner())), Graph()
    for prefix, namespace, override in binds:
        ours.bind(prefix, namespace, override=override)
        theirs.bind(prefix, namespace, override=override)
    assert prefixes(ours.store) == prefixes(theirs.store)
    for namespace in (EX, RDF, OWL):
        assert ours.store.prefix(URIRef(namespace)) == theirs.store.prefix(URIRef(namespace))


@pytest.mark.parametrize("view", ["store", "explicit", "named"])
def test_triples_have_the_graph_that_is_asked(zoo: Graph, view: str) -> None:
    """rdflib's `REGEXMatching`, a store over another one, leaves out triples without one."""
    named = Dataset(store="KGReasoner").graph(EX.g).parse(data=ZOO, format="turtle")
    data = {"store": zoo, "explicit": zoo.store.explicit, "named": named}[view]
    assert [list(graphs) for _, graphs in data.store.triples((EX.tom, RDF.type, EX.Cat), context=data)] == [[data]]
    if view == "store":
        over = Graph(store=REGEXMatching(data.store))
        assert set(over.subjects(REGEXTerm(".*type$"), REGEXTerm(".*Cat$"))) == {EX.tom}


NODES = [EX.a, EX.b, EX.C, BNode("n")]
TRIPLES = st.tuples(
    st.sampled_from(NODES), st.sampled_from([EX.p, RDF.type]), st.sampled_from([*NODES, Literal(1), Literal("x", lang="en")])
)


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, list[Triple] | tuple[object, ...]]:
    kind = draw(st.sampled_from(["add", "addN", "remove", "remove pattern", "subtract", "set", "read"]))
    if kind in ("addN", "subtract"):
        return kind, draw(st.lists(TRIPLES, max_size=4))
    triple = draw(TRIPLES)
    if kind == "remove pattern":
        return kind, tuple(draw(st.sampled_from([None, term])) for term in triple)
    return kind, triple


@settings(max_examples=examples(150))
@given(st.sampled_from(["", "[?x, ?p, ?z] :- [?x, ?p, ?y], [?y, ?q, ?z] ."]), st.lists(operations(), max_size=12))
def test_explicit_triples_are_those_of_an_ordinary_graph(rules: str, steps: list[tuple[str, object]]) -> None:
    """Whatever is added and removed, whenever it is read: the explicit triples are those of an ordinary graph."""
    ours, theirs = graph_of(Reasoner(rules)), Graph()
    for kind, argument in steps:
        for graph in (ours, theirs):
            if kind == "add":
                graph.add(argument)
            elif kind == "addN":
                graph.addN((*triple, graph) for triple in argument)  # type: ignore[attr-defined]
            elif kind.startswith("remove"):
                graph.remove(argument)
            elif kind == "subtract":
                graph -= argument
            elif kind == "set":
                graph.set(argument)
        if kind == "read":
            assert set(theirs) <= set(ours)
    assert set(ours.store.explicit) == set(theirs)
    assert len(ours.store.explicit) == len(theirs)
    fresh = graph_of(Reasoner(rules))
    fresh += theirs
    assert set(ours) == set(fresh)


def patterns() -> Iterator[tuple[object, object, object]]:
    for subject in (None, *NODES, EX.nowhere):
        for predicate in (None, EX.p, RDF.type, EX.nowhere):
            for value in (None, *NODES, Literal(1), EX.nowhere):
                yield subject, predicate, value


@settings(max_examples=examples(40))
@given(st.sampled_from(["", "[?x, ?p, ?z] :- [?x, ?p, ?y], [?y, ?q, ?z] ."]), st.sets(TRIPLES, max_size=10))
def test_patterns_find_what_an_ordinary_graph_finds(rules: str, triples: set[Triple]) -> None:
    ours, theirs = graph_of(Reasoner(rules)), Graph()
    ours += triples
    theirs += ours
    assert len(ours) == len(theirs)
    for pattern in patterns():
        found = list(ours.triples(pattern))
        assert len(found) == len(set(found))
        assert set(found) == set(theirs.triples(pattern))
        assert (pattern in ours) == (pattern in theirs)


def test_the_store_under_a_graph() -> None:
    graph = Graph()
    with pytest.raises(ReasonerError, match=r"^<Graph .*> has no reasoner: call attach\(graph\) first$"):
        store_of(graph)
    assert store_of(attach(graph)) is graph.store
    assert store_of(Dataset(store="KGReasoner")).reasoner.is_consistent()
    with pytest.raises(ReasonerError, match="None has no reasoner"):
        store_of(None)  # type: ignore[arg-type]
