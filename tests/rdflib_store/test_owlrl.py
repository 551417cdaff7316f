"""The interface of owlrl: `kg_reasoner.owlrl` adds the triples that owlrl adds, but for those that are listed here."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, XSD, BNode, Dataset, Graph, Literal, Namespace, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node

from kg_reasoner import ReasonerWarning, attach, owlrl
from kg_reasoner.errors import InconsistencyError, LoadError, ReasonerError, UnknownNameError
from tests.helpers.effort import thinned
from tests.helpers.extras import needed

peer: ModuleType = needed("owlrl")

EX = Namespace("http://example.org/")
Triples = set[tuple[Node, Node, Node]]

ZOO = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cat a owl:Class ; rdfs:subClassOf :Animal . :Animal a owl:Class ; rdfs:subClassOf :Being .
:keeps a owl:ObjectProperty ; rdfs:domain :Person ; rdfs:range :Animal ; owl:inverseOf :keptBy .
:above a owl:TransitiveProperty . :a :above :b . :b :above :c .
:Keeper owl:equivalentClass [ a owl:Restriction ; owl:onProperty :keeps ; owl:someValuesFrom :Animal ] .
:ann :keeps :tom . :tom a :Cat ; :age 4 . :x owl:sameAs :y . :x :keeps :z .
:uncle owl:propertyChainAxiom ( :parent :brother ) . :a :parent :b . :b :brother :c .
"""


def zoo() -> Graph:
    return Graph().parse(data=ZOO, format="turtle")


def named(graph: Graph) -> Triples:
    """The triples without blank nodes: their labels differ, or they stand for anonymous classes."""
    return {triple for triple in graph if not any(isinstance(term, BNode) for term in triple)}


def holds_anyway(triple: tuple[Node, Node, Node]) -> bool:
    """Whether a triple that owlrl adds holds for every term or is about the vocabulary. We do not add these."""
    subject, _, value = triple
    vocabulary = (str(RDF), str(RDFS), str(OWL), str(XSD))
    return (
        isinstance(subject, Literal)
        or str(subject).startswith(vocabulary)
        or subject == value
        or value in (OWL.Thing, RDFS.Resource, RDFS.Class, RDF.Property, RDFS.Literal)
    )


def added(module: ModuleType, semantics: str, graph: Graph, **options: bool) -> Triples:
    expanded = Graph()
    expanded += graph
    module.DeductiveClosure(getattr(module, semantics), **options).expand(expanded)
    return named(expanded) - named(graph)


def assert_same(semantics: str, graph: Graph, **options: bool) -> None:
    ours, theirs = added(owlrl, semantics, graph, **options), added(peer, semantics, graph, **options)
    only_theirs = {triple for triple in theirs - ours if not holds_anyway(triple)}
    if options.get("axiomatic_triples"):  # owlrl's axioms of the vocabulary: a transitive property is an object property
        only_theirs = {triple for triple in only_theirs if triple[2] not in (OWL.ObjectProperty, OWL.Class)}
    assert only_theirs == set(), "only owlrl"
    extra = {triple for triple in ours - theirs if not holds_anyway(triple)}
    assert {(value, property, subject) for subject, property, value in extra} <= set(graph) | theirs, "inverses of inverses"
    assert {property for _, property, _ in extra} <= {OWL.inverseOf}, "only kg_reasoner"


SEMANTICS = ["RDFS_Semantics", "OWLRL_Semantics", "RDFS_OWLRL_Semantics"]


@pytest.mark.parametrize("axioms", [False, True])
@pytest.mark.parametrize("semantics", thinned(SEMANTICS, 2))
@pytest.mark.sample(4)
def test_a_graph_of_all_constructs_is_expanded_as_by_owlrl(semantics: str, axioms: bool) -> None:
    assert_same(semantics, zoo(), axiomatic_triples=axioms, datatype_axioms=axioms)


CLASSES, PROPERTIES, THINGS = [EX.A, EX.B, EX.C], [EX.p, EX.q, EX.r], [EX.i, EX.j, EX.k]
names = st.sampled_from


def triples(subjects: list[URIRef], properties: list[URIRef], values: list[URIRef]) -> st.SearchStrategy[tuple[URIRef, ...]]:
    return st.tuples(names(subjects), names(properties), names(values))


ONTOLOGIES = st.lists(
    st.one_of(
        triples(CLASSES, [RDFS.subClassOf, OWL.equivalentClass], CLASSES),
        triples(PROPERTIES, [RDFS.subPropertyOf, OWL.equivalentProperty, OWL.inverseOf], PROPERTIES),
        triples(PROPERTIES, [RDFS.domain, RDFS.range], CLASSES),
        triples(PROPERTIES, [RDF.type], [OWL.TransitiveProperty, OWL.SymmetricProperty, OWL.FunctionalProperty]),
        triples(THINGS, [RDF.type], CLASSES),
        triples(THINGS, PROPERTIES, THINGS),
        triples(THINGS, [OWL.sameAs], THINGS),
    ),
    max_size=8,
)


@pytest.mark.parametrize("semantics", ["RDFS_Semantics", "OWLRL_Semantics"])
@given(ontology=ONTOLOGIES)
def test_random_ontologies(semantics: str, ontology: list[tuple[URIRef, URIRef, URIRef]]) -> None:
    graph = Graph()
    for triple in ontology:
        graph.add(triple)
    assert_same(semantics, graph)


@pytest.mark.parametrize("module", [owlrl, peer])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_the_classes_of_both_are_accepted(semantics: str, module: ModuleType) -> None:
    graph = zoo()
    assert owlrl.DeductiveClosure(getattr(module, semantics), True, False, False, False).expand(graph) is None  # type: ignore[func-returns-value]
    assert (EX.tom, RDF.type, EX.Being) in graph


@pytest.mark.parametrize(
    ("options", "rulesets"),
    [
        ({}, ("owl2rl",)),
        ({"rdfs_closure": True}, ("owl2rl",)),
        ({"axiomatic_triples": True}, ("owl2rl-full",)),
        ({"datatype_axioms": True}, ("owl2rl-full",)),
        ({"rdfs_closure": True, "axiomatic_triples": True}, ("owl2rl-full", "rdfs-full")),
    ],
)
def test_options_choose_rule_sets(options: dict[str, bool], rulesets: tuple[str, ...]) -> None:
    assert owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, **options).rulesets == rulesets


def test_trivial_triples_on_request() -> None:
    graph = zoo()
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=True, show_hidden=True).expand(graph)
    assert (EX.tom, OWL.sameAs, EX.tom) in graph


def test_refusals() -> None:
    class OWLRL_Semantics(peer.OWLRL_Semantics):  # type: ignore[misc]
        """Rules of a user's own, in Python."""

    for unknown in (OWLRL_Semantics, peer.OWLRL_Extension, int):
        with pytest.raises(UnknownNameError, match=r"unknown semantics '.*choose one of: OWLRL_Semantics, RDFS_OWLRL_Semantics"):
            owlrl.DeductiveClosure(unknown)
    with pytest.raises(ReasonerError, match="is a class"):
        owlrl.DeductiveClosure("OWLRL_Semantics")  # type: ignore[arg-type]
    closure = owlrl.DeductiveClosure(owlrl.RDFS_Semantics)
    with pytest.raises(ReasonerError, match="only a Graph or a Dataset of rdflib can be expanded"):
        closure.expand("zoo.ttl")  # type: ignore[arg-type]
    with pytest.raises(ReasonerError, match="names a graph of a Dataset"):
        closure.expand(zoo(), EX.inferred)


def test_no_semantics_does_nothing() -> None:
    graph = zoo()
    owlrl.DeductiveClosure(None).expand(graph)
    assert set(graph) == set(zoo()) or len(graph) == len(zoo())


def test_expanding_twice_adds_nothing() -> None:
    graph = zoo()
    closure = owlrl.DeductiveClosure(owlrl.OWLRL_Semantics)
    closure.expand(graph)
    once = len(graph)
    closure.expand(graph)
    assert len(graph) == once


def test_a_graph_that_owlrl_has_expanded() -> None:
    """owlrl adds triples whose subjects are literals, which are no RDF; nothing else is new to us there."""
    graph = zoo()
    peer.DeductiveClosure(peer.OWLRL_Semantics).expand(graph)
    before = set(graph)
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    assert {property for _, property, _ in set(graph) - before} <= {OWL.inverseOf}


def dataset() -> Dataset:
    data = Dataset()
    data.graph(EX.schema).add((EX.Cat, RDFS.subClassOf, EX.Animal))
    data.graph(EX.data).add((EX.tom, RDF.type, EX.Cat))
    return data


def test_datasets() -> None:
    closure = owlrl.DeductiveClosure(owlrl.RDFS_Semantics)
    tom = (EX.tom, RDF.type, EX.Animal)
    data = dataset()
    closure.expand(data)
    assert set(data.graph(DATASET_DEFAULT_GRAPH_ID)) == {tom}
    assert len(data.graph(EX.data)) == 1
    for destination in (EX.inferred, str(EX.inferred), dataset().graph(EX.elsewhere)):
        data = dataset()
        closure.expand(data, destination)
        target = destination if isinstance(destination, Graph) else data.graph(EX.inferred)
        assert tom in target
        assert len(data.graph(DATASET_DEFAULT_GRAPH_ID)) == 0


def test_a_graph_with_a_reasoner_gets_only_what_it_does_not_show() -> None:
    graph = attach(zoo(), ruleset="rdfs")
    inferred = set(graph.store.inferred)
    assert inferred
    owlrl.DeductiveClosure(owlrl.RDFS_Semantics).expand(graph)
    assert set(graph.store.inferred) == inferred
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    assert (EX.a, EX.above, EX.c) in graph.store.explicit


def test_inconsistency() -> None:
    graph = zoo().parse(data="@prefix : <http://example.org/> . :Cat <http://www.w3.org/2002/07/owl#disjointWith> :Animal .")
    size = len(graph)
    with pytest.raises(InconsistencyError):
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, on_inconsistency="raise").expand(graph)
    assert len(graph) == size
    with pytest.warns(ReasonerWarning, match="the data contradict the rules") as caught:
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    assert caught[0].filename == __file__
    assert (EX.tom, RDF.type, EX.Being) in graph
    assert not any("error" in str(property).lower() for property in graph.predicates()), "owlrl writes errors into the graph"


def test_triples_that_are_not_rdf_are_refused_before_anything_is_added() -> None:
    graph = zoo().parse(data="@prefix : <http://example.org/> . { :a :b :c } => { :c :b :a } .", format="n3")
    size = len(graph)
    with pytest.raises(LoadError):
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    assert len(graph) == size


@pytest.mark.long
def test_without_owlrl() -> None:
    code = (
        "import sys\n"
        "sys.modules['owlrl'] = None\n"
        "from kg_reasoner import owlrl\n"
        "from rdflib import Graph\n"
        f"graph = Graph().parse(data={ZOO!r})\n"
        "owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)\n"
        "print(len(graph))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) > len(zoo())
