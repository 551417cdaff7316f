"""SPARQL updates on our store: what is inserted and deleted, and who hears of it. See also `test_sparql_updates_random`."""

from __future__ import annotations

from typing import Any

import pytest
from rdflib import RDF, Dataset, Graph, Literal, Namespace
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.store import TripleAddedEvent
from rdflib.term import Node

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.rdflib_store import KGReasonerStore
from kg_reasoner.sparql.queries.sparql_text import read_query
from tests.helpers.effort import thinned

EX = Namespace("http://example.org/")
PREFIXES = "PREFIX ex: <http://example.org/> "


def test_what_an_expression_does_not_compute_is_not_inserted() -> None:
    """IRI() of an invalid IRI, and a text beyond the limit, are errors: the variable is unbound."""
    graph = graph_of(Reasoner())
    values = {"IRI('http://a b')": 0, "IRI('http://a.b')": 1, "REPLACE(?text, 'a', ?text)": 0, "CONCAT(?text, ?text)": 1}
    for expression, count in values.items():
        graph.update(
            f"{PREFIXES} INSERT {{ ex:new ex:is ?b ; ex:was 1 }} WHERE {{ BIND('{'a' * 3000}' AS ?text) BIND({expression} AS ?b) }}"
        )
        assert len(list(graph.objects(EX.new, EX["is"]))) == count, expression
        assert (EX.new, EX.was, Literal(1)) in graph
        graph.update(f"{PREFIXES} DELETE WHERE {{ ex:new ?p ?o }}")


@pytest.mark.parametrize(("expression", "value"), [("CONCAT()", '""'), ("COALESCE()", None), ("COALESCE(rdf:nil)", RDF.nil.n3())])
def test_functions_without_arguments_in_queries_and_updates(expression: str, value: str | None) -> None:
    graph = graph_of(Reasoner())
    graph.update(f"INSERT {{ <urn:a> <urn:b> ?x }} WHERE {{ BIND({expression} AS ?x) }}")
    assert [None if x is None else str(x) for (x,) in Reasoner().query(f"SELECT ({expression} AS ?x) {{}}")] == [value]
    assert [x.n3() for x in graph.objects()] == [value] * (value is not None)


@pytest.mark.long
def test_a_text_that_doubles() -> None:
    """Results of functions have at most 2**22 characters, so that a short update does not fill the memory."""
    graph = graph_of(Reasoner())
    doubling = " ".join(f"BIND(CONCAT(?t{n}, ?t{n}) AS ?t{n + 1})" for n in range(40))
    inserted = " ".join(f"ex:a ex:p{n} ?length{n} ." for n in (21, 22, 23, 40))
    lengths = " ".join(f"BIND(STRLEN(?t{n}) AS ?length{n})" for n in (21, 22, 23, 40))
    graph.update(f"{PREFIXES} INSERT {{ {inserted} }} WHERE {{ BIND('aa' AS ?t0) {doubling} {lengths} }}")
    assert set(graph) == {(EX.a, EX.p21, Literal(2**22))}


def test_insertions_send_events_to_listeners() -> None:
    graph = graph_of(Reasoner())
    heard: list[tuple[Node, Node, Node]] = []
    graph.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p 1 }}")
    graph.store.dispatcher.subscribe(TripleAddedEvent, lambda event: heard.append(event.triple))
    graph.update(f"{PREFIXES} INSERT {{ ?x ex:q ?n }} WHERE {{ ?x ex:p ?o BIND(?o + 1 AS ?n) }} ; DELETE WHERE {{ ?x ex:p ?y }}")
    assert heard == [(EX.a, EX.q, Literal(2))]


def test_blank_nodes_of_data_are_fresh() -> None:
    """SPARQL 1.1 Update, section 3.1.1: they differ from those in the graph."""
    graph = graph_of(Reasoner())
    for _ in range(2):
        graph.update(f"{PREFIXES} INSERT DATA {{ _:b ex:p 1 ; ex:q 2 . ex:a ex:r _:b }}")
    assert len(graph) == 6
    assert len(list(graph.query(f"{PREFIXES} SELECT * {{ ?b ex:p 1 ; ex:q 2 . ex:a ex:r ?b }}"))) == 2


def test_bindings_are_values_in_templates_too() -> None:
    graph = graph_of(Reasoner())
    graph.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p 1 . ex:b ex:p 1 }}")
    change = f"{PREFIXES} DELETE {{ ?x ex:p ?old }} INSERT {{ ?x ex:p ?new }} WHERE {{ ?x ex:p ?old }}"
    graph.update(change, initBindings={"x": EX.b, "new": Literal(2)})
    assert set(graph) == {(EX.a, EX.p, Literal(1)), (EX.b, EX.p, Literal(2))}


def test_what_cannot_be_in_a_graph_is_not_there() -> None:
    graph = graph_of(Reasoner())
    graph.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p 1 }}")
    graph.update(f"{PREFIXES} DELETE DATA {{ 'a' ex:p 1 . <relative> ex:p 1 . ex:unknown ex:p 1 }}")
    graph.update(
        f"{PREFIXES} DELETE {{ ?o ?p ?s . ?s ?o ?p . ?s ?p ?unbound . ?s ?p ?new }} WHERE {{ ?s ?p ?o BIND('new' AS ?new) }}"
    )
    assert set(graph) == {(EX.a, EX.p, Literal(1))}


def test_quads_that_are_not_rdf_are_not_inserted() -> None:
    dataset = Dataset(store=KGReasonerStore(Reasoner()))
    dataset.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p 1 . ex:b ex:p ex:c }}")
    dataset.update(
        f"{PREFIXES} INSERT {{ ?o ex:q ?s . GRAPH ?o {{ ?s ex:r ?o }} GRAPH ex:g {{ ?s ?o ?s . [] ?p ?no }} }} WHERE {{ ?s ?p ?o }}"
    )
    found = {(s, p, o, g) for s, p, o, g in dataset.quads() if p != EX.p}
    assert found == {
        (EX.c, EX.q, EX.b, DATASET_DEFAULT_GRAPH_ID),
        (EX.b, EX.r, EX.c, EX.c),
        (EX.b, EX.c, EX.b, EX.g),
    }


LANG_STRING = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"


@pytest.mark.parametrize(
    "triple, message",
    [
        (f"ex:a ex:p 'x'^^{LANG_STRING}", "has the datatype .*langString and no language tag"),
        ("ex:a ex:p _:b . 'x' ex:p _:b", 'the literal "x" cannot be the subject of a triple: "x" <http://example.org/p> _:b$'),
    ],
)
def test_errors_of_data_name_what_is_written(triple: str, message: str) -> None:
    graph = graph_of(Reasoner())
    with pytest.raises(LoadError, match=message):
        graph.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p 1 }} ; INSERT DATA {{ {triple} }}")
    assert not set(graph)


@pytest.mark.parametrize(
    "where", ["DELETE DATA { ex:a ex:p 1 }", "DELETE WHERE { ex:a ex:p ?x }", "DELETE { ?s ?p 1 } WHERE { ?s ?p 1 }"]
)
def test_a_graph_of_everything_deletes_from_all_graphs(where: str) -> None:
    store = KGReasonerStore(Reasoner())
    dataset = Dataset(store=store)
    plain = Graph(store=store)
    assert len(plain) == 0  # its first use: it is the graph of everything
    dataset.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p 1 GRAPH ex:g {{ ex:a ex:p 1 }} GRAPH ex:h {{ ex:a ex:p 1, 2 }} }}")
    dataset.update(f"{PREFIXES} DELETE DATA {{ ex:a ex:p 1 }}")
    assert sorted(str(g) for *_, g in dataset.quads()) == [str(EX.g), str(EX.h), str(EX.h)]
    plain.update(PREFIXES + where)
    assert [o for _, _, o, _ in dataset.quads()] in ([Literal(2)], [])
    assert (EX.a, EX.p, Literal(1)) not in plain


def test_the_graph_of_inferred_triples_is_read_only() -> None:
    store = KGReasonerStore(Reasoner(ruleset="rdfs"), inferred_graph=EX.inferred)
    dataset = Dataset(store=store)
    dataset.update(f"{PREFIXES} INSERT DATA {{ ex:a ex:p ex:b . ex:p <http://www.w3.org/2000/01/rdf-schema#range> ex:C }}")
    before = set(dataset.quads())
    for change in (
        "INSERT DATA { GRAPH ex:inferred { ex:a ex:p 1 } }",
        "INSERT { GRAPH ex:inferred { ?s ?p ex:x } } WHERE { ?s ?p ?o }",
        "INSERT { GRAPH ?g { ?s ?p ex:x } } WHERE { ?s ?p ?o BIND(ex:inferred AS ?g) }",
        "COPY DEFAULT TO ex:inferred",
    ):
        with pytest.raises(ReasonerError, match="read-only"):
            dataset.update(f"{PREFIXES} INSERT DATA {{ ex:new ex:new ex:new }} ; {change}")
        assert set(dataset.quads()) == before
    dataset.update(f"{PREFIXES} DELETE WHERE {{ GRAPH ex:inferred {{ ?s ?p ?o }} }}")
    assert set(dataset.quads()) == before


@pytest.mark.parametrize("settings", thinned([{}, {"reasoning": "graph"}], 2), ids=["union", "graph"])
def test_many_graphs_by_a_variable(settings: dict[str, Any]) -> None:
    dataset = Dataset(store=KGReasonerStore(Reasoner(), **settings))
    dataset.update(f"{PREFIXES} INSERT DATA {{ " + " ".join(f"ex:s{n} ex:p {n} ." for n in range(200)) + " }")
    dataset.update(f"{PREFIXES} DELETE {{ ?s ex:p ?n }} INSERT {{ GRAPH ?s {{ ?s ex:p ?n }} }} WHERE {{ ?s ex:p ?n }}")
    assert len(list(dataset.quads())) == 200
    dataset.update(f"{PREFIXES} DELETE {{ GRAPH ?g {{ ?s ?p ?n }} }} WHERE {{ GRAPH ?g {{ ?s ?p ?n }} FILTER(?n >= 10) }}")
    assert {(s, g) for s, _, _, g in dataset.quads()} == {(EX[f"s{n}"], EX[f"s{n}"]) for n in range(10)}


@pytest.mark.parametrize("settings", [{}, {"reasoning": "graph"}], ids=["union", "graph"])
def test_graphs_that_were_read_do_not_show_what_was_undone(settings: dict[str, Any]) -> None:
    data = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs"), **settings))
    kept = (EX.tom, EX.likes, EX.ann)
    data.default_graph.add(kept)
    assert set(data.default_graph) == {kept}
    with pytest.raises(ReasonerError):
        data.update("INSERT DATA { <urn:a> <urn:b> <urn:c> } ; LOAD <file:///nowhere>")
    data.commit()
    assert set(data.default_graph) == {kept}


@pytest.mark.parametrize("settings", [{}, {"reasoning": "graph"}], ids=["union", "graph"])
def test_with_a_graph_that_does_not_exist(settings: dict[str, Any]) -> None:
    """WITH names a graph as GRAPH does, also over the store of a plain graph."""
    graph = Graph(store=KGReasonerStore(Reasoner(), **settings)).add((EX.a, EX.p, EX.b))
    graph.update(f"{PREFIXES} WITH ex:g DELETE {{ ?x ex:p ?y }} INSERT {{ ?x ex:q ?y }} WHERE {{ ?x ex:p ?y }}")
    assert set(graph) == {(EX.a, EX.p, EX.b)}
    graph.update(f"{PREFIXES} WITH ex:g INSERT {{ ex:c ex:p ex:d }} WHERE {{ FILTER NOT EXISTS {{ ?x ex:p ?y }} }}")
    assert [tuple(row) for row in graph.query(f"{PREFIXES} SELECT ?g ?x {{ GRAPH ?g {{ ?x ex:p ?y }} }}")] == [(EX.g, EX.c)]


def test_relative_iris_have_the_base_of_the_caller_unless_the_request_has_one() -> None:
    graph = graph_of(Reasoner())
    request = "INSERT DATA { <a> <p> <b> } ; BASE <http://example.com/> INSERT { <a> <p> ?x } WHERE { BIND(IRI('b') AS ?x) }"
    graph.update(request, base=str(EX))
    other = Namespace("http://example.com/")
    assert set(graph) == {(EX.a, EX.p, EX.b), (other.a, other.p, other.b)}
    assert graph.query("ASK { <a> <p> <b> }", base=str(EX))


@pytest.mark.parametrize(
    ("bound", "request_text", "expected"),
    [
        ("ex", "PREFIX : <E> INSERT DATA { :a :p ex:b } ; INSERT DATA { :a :p :c }", {"b", "c"}),
        ("ex", "PREFIX e: <E> PREFIX f: <E> INSERT DATA { e:a f:p e:b, ex:c }", {"b", "c"}),
        ("f", "PREFIX f: <E> INSERT DATA { f:a f:p f:b } ; INSERT DATA { f:a f:p f:c }", {"b", "c"}),
        ("f", "PREFIX f: <E> INSERT DATA { f:a f:p f:b } ; PREFIX f: <E-> INSERT { ?a ?p f:c } WHERE { ?a ?p ?b }", {"b", "-c"}),
        (
            "f",
            "BASE <E> INSERT DATA { <a> <p> <b> }; INSERT DATA { <a> <p> <c> }; BASE <x/> DELETE DATA { <a> <p> <c> }",
            {"b", "c"},
        ),
        ("f", "BASE <E> INSERT { <a> <p> ?b } WHERE { BIND(IRI('b') AS ?b) } ; BASE <x/> DELETE WHERE { <a> <p> <b> }", {"b"}),
    ],
)
def test_names_mean_what_the_text_before_them_declares(bound: str, request_text: str, expected: set[str]) -> None:
    """So in each operation of a request, whatever prefixes the graph has, and where two prefixes have one namespace."""
    graph = graph_of(Reasoner())
    graph.bind(bound, EX if bound == "ex" else "http://example.com/")
    graph.update(request_text.replace("<E", f"<{EX}"), base="http://example.com/")
    assert {str(value).removeprefix(str(EX)) for value in graph.objects(EX.a, EX.p)} == expected


def test_two_prefixes_of_one_namespace_in_queries_that_rdflib_reads() -> None:
    reasoner = Reasoner()
    reasoner.load(b"@prefix : <http://example.org/> . :a :p :b .", format="turtle")
    query = "BASE <http://example.org/x/> PREFIX e: <../> PREFIX f: <../> SELECT * { e:a f:p ?x . :a ex:p ?x . <../a> ?p ?x }"
    _, prepared = read_query(query, prefixes={"ex": str(EX), "": str(EX)})
    assert [row.x for row in graph_of(reasoner).query(prepared)] == [EX.b]
