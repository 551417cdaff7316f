"""rdflib's interface for reasoners: processors of queries and updates, as rdflib 8 has them for its own reasoner."""

from __future__ import annotations

from typing import Any

import pytest
from rdflib import OWL, RDF, RDFS, BNode, Graph, Literal, Namespace, plugin
from rdflib.query import Processor, UpdateProcessor

from kg_reasoner.errors import LoadError, ReasonerError, UnknownNameError
from kg_reasoner.rdflib_store import store  # noqa: F401  # registers the processors
from kg_reasoner.rdflib_store.processors import RuleProcessor, RuleUpdateProcessor
from tests.helpers.extras import needed

EX = Namespace("http://example.org/")
DATA = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Cat rdfs:subClassOf :Animal . :tom a :Cat . :above a owl:TransitiveProperty . :a :above :b . :b :above :c .
"""
AXIOMS = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:over owl:propertyChainAxiom ( :above :above ) .
"""
TOM, ABOVE, OVER = (EX.tom, RDF.type, EX.Animal), (EX.a, EX.above, EX.c), (EX.a, EX.over, EX.c)


@pytest.fixture
def graph() -> Graph:
    return Graph().parse(data=DATA, format="turtle")


def test_they_are_registered() -> None:
    assert plugin.get("KGReasoner", Processor) is RuleProcessor
    assert plugin.get("KGReasoner", UpdateProcessor) is RuleUpdateProcessor


def test_a_query_has_the_inferred_triples_and_changes_nothing(graph: Graph) -> None:
    before = set(graph)
    result = graph.query("", processor="KGReasoner")
    assert result.type == "CONSTRUCT"
    assert result.graph is not None
    assert set(result.graph) == {TOM, ABOVE}
    assert set(graph) == before
    graph += result.graph
    assert len(graph) == len(before) + 2


def test_an_update_adds_them(graph: Graph) -> None:
    before = set(graph)
    graph.update("", processor="KGReasoner")
    assert set(graph) - before == {TOM, ABOVE}


def test_the_rule_set(graph: Graph) -> None:
    result = graph.query("", processor="KGReasoner", ruleset="rdfs")
    assert set(result.graph or ()) == {TOM}
    graph.update("", processor="KGReasoner", ruleset="rdfs")
    assert TOM in graph
    assert ABOVE not in graph
    with pytest.raises(UnknownNameError, match="did you mean 'rdfs'"):
        graph.query("", processor="KGReasoner", ruleset="rdsf")


def test_further_axioms(graph: Graph) -> None:
    before = set(graph)
    other = Graph().parse(data=AXIOMS, format="turtle")
    for axioms in (AXIOMS, AXIOMS.encode(), other):
        result = graph.query(axioms, processor="KGReasoner")  # type: ignore[arg-type]
        assert OVER in (result.graph or ())
        assert set(graph) == before
    query = graph.query(AXIOMS, processor="KGReasoner").graph or Graph()
    graph.update(AXIOMS, processor="KGReasoner")
    added = {triple for triple in graph if triple not in before}
    assert (EX.over, OWL.propertyChainAxiom) in {triple[:2] for triple in added}
    assert len(added) == len(query)
    assert {triple for triple in added if not any(isinstance(term, BNode) for term in triple)} == {
        triple for triple in query if not any(isinstance(term, BNode) for term in triple)
    }


def test_axioms_that_the_graph_has_are_not_in_the_result(graph: Graph) -> None:
    result = graph.query(DATA, processor="KGReasoner")
    assert set(result.graph or ()) == {TOM, ABOVE}


def test_rules_of_n3_are_applied_and_not_added(graph: Graph) -> None:
    rules = "@prefix : <http://example.org/> . { ?x a :Cat } => { ?x :says 'miaow' } ."
    graph.update(rules, processor="KGReasoner", ruleset="rdfs")
    assert (EX.tom, EX.says, Literal("miaow")) in graph
    assert not list(graph.triples((None, Namespace("http://www.w3.org/2000/10/swap/log#").implies, None)))


def test_prefixes(graph: Graph) -> None:
    result = graph.query("", processor="KGReasoner", initNs={"zoo": EX})
    assert dict((result.graph or Graph()).namespaces())["zoo"] == EX[""]
    graph.update("", processor="KGReasoner", initNs={"zoo": EX})
    assert dict(graph.namespaces())["zoo"] == EX[""]


def test_the_base_of_relative_names(graph: Graph) -> None:
    result = graph.query("<tim> a <Cat> .", processor="KGReasoner", base=str(EX))
    assert (EX.tim, RDF.type, EX.Animal) in (result.graph or ())


def test_bad_input_changes_nothing(graph: Graph) -> None:
    before = set(graph)
    with pytest.raises(LoadError, match="1:"):
        graph.update(":Cat a", processor="KGReasoner")
    with pytest.raises(ReasonerError, match="no variables to bind"):
        graph.update("", processor="KGReasoner", initBindings={"x": EX.tom})
    with pytest.raises(ReasonerError, match="a text in Turtle or N3, or a graph"):
        graph.query(7, processor="KGReasoner")  # type: ignore[arg-type]
    assert set(graph) == before


def test_a_processor_of_a_graph(graph: Graph) -> None:
    result = graph.query("", processor=RuleProcessor(graph))
    assert TOM in (result.graph or ())
    graph.update("", processor=RuleUpdateProcessor(graph))
    assert TOM in graph
    assert (EX.Cat, RDFS.subClassOf, EX.Animal) in graph


class Peer(Processor, UpdateProcessor):
    """A stub of rdflib 8's own processors (RDFLib pull request 3484), by their documentation: they use owlrl."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def update(self, strOrQuery: Any, initBindings: Any = None, initNs: Any = None) -> None:
        import owlrl

        self.graph.parse(data=strOrQuery, format="n3")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(self.graph)

    def query(self, strOrQuery: Any, initBindings: Any = None, initNs: Any = None, DEBUG: bool = False) -> Any:
        whole = Graph()
        whole += self.graph
        Peer(whole).update(strOrQuery)
        return {"type_": "CONSTRUCT", "graph": whole - self.graph}


@pytest.mark.parametrize("processor", ["KGReasoner", "peer"])
@pytest.mark.parametrize("axioms", ["", AXIOMS])
def test_programs_for_rdflibs_own_processors(graph: Graph, processor: str, axioms: str, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("owlrl")
    for kind in (Processor, UpdateProcessor):
        monkeypatch.setitem(plugin._plugins, ("peer", kind), plugin.Plugin("peer", kind, __name__, "Peer"))
        monkeypatch.setattr(plugin._plugins["peer", kind], "_class", Peer)
    queried, updated = graph, Graph().parse(data=DATA, format="turtle")
    result = queried.query(axioms, processor=processor)
    assert TOM not in queried
    assert result.graph is not None
    queried += result.graph
    assert updated.update(axioms, processor=processor) is None  # type: ignore[func-returns-value]
    for expanded in (queried, updated):
        assert {TOM, ABOVE} <= set(expanded)
        assert (OVER in expanded) is bool(axioms)
