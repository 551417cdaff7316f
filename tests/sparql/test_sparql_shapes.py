"""Queries that differ in constants only share a plan, and get the answers of queries that are asked alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.api.answering import queries
from kg_reasoner.errors import QuerySyntaxError
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.rdflib_store import KGReasonerStore
from kg_reasoner.sparql.evaluation.cutting import cut
from kg_reasoner.sparql.queries.parsed import parsed_query
from kg_reasoner.sparql.repeated import learning
from kg_reasoner.sparql.repeated.query_shapes import QueryShape, shape_of
from kg_reasoner.terms import IRI
from tests.helpers.effort import examples
from tests.sparql.test_sparql_shortcuts import CHANGES, MAKERS, UNSEEN, change

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TEMPLATES = {
    "SELECT ?x { ?x <urn:p> A }": 1,
    "SELECT * { ?x <urn:p> A ; <urn:p> B }": 2,
    "SELECT ?x { ?x <urn:p> A . ?x <urn:q> 'a' # A\n }": 2,
    "SELECT ?p ?o { A ?p ?o }": 1,
    "SELECT ?o ?p { A ?p ?o } OFFSET 1": 1,
    "SELECT DISTINCT ?y { A <urn:p> ?x . ?x <urn:p> ?y }": 1,
    "SELECT ?s { ?s A ?o ; <urn:p> B }": 1,
    "SELECT ?c { A a ?c }": 1,
    "SELECT ?x { ?x a A ; <urn:p> B }": 1,
    "ASK { A <urn:p> B }": 2,
    "DESCRIBE A": 1,
    "SELECT ?x { A <urn:p>+ ?x }": 1,
    "SELECT ?x { ?x <urn:p>* A }": 1,
    "SELECT ?x { ?x <urn:p> ?y FILTER(?y IN (A, B)) }": 2,
    "SELECT ?x ?y { VALUES ?y { A B A } ?x <urn:p> ?y } LIMIT 2": 3,
    "SELECT DISTINCT ?x { ?x <urn:p> ?y FILTER(?y = A) }": 1,
    "SELECT ?x { ?x <urn:n> 'A' }": 1,
    'SELECT ?x { ?x <urn:n> "A"@EN , "1"^^<http://www.w3.org/2001/XMLSchema#integer> }': 2,
    "SELECT ?x { A <http://www.w3.org/2002/07/owl#sameAs> ?x }": 1,
    "PREFIX a: <urn:> SELECT ?x { ?x a:p A . ?x a:q a:b }": 1,
    "PREFIX a: A SELECT ?x { ?x <urn:p> a: }": 0,
    "PREFIX a: A SELECT ?x { a: <urn:p> ?x . ?x <urn:p> B }": 1,
    "SELECT ?x { ?x <urn:p> ?y FILTER(?x != A) }": 0,
    "SELECT ?x { ?x <urn:p> ?y . FILTER(?y <?x && A > ?x) }": 0,
    "SELECT ?x { ?x <urn:p> A . { ?x <urn:p> B } UNION { ?x <urn:q> B } }": 0,
    "SELECT ?x { GRAPH A { ?x <urn:p> B } }": 0,
    "CONSTRUCT { ?x <urn:p> A } WHERE { ?x <urn:p> B }": 0,
}
"""Queries, with the number of their parameters."""
NAMES = ["urn:a", "urn:b", "urn:c", "urn:d", "urn:nowhere", f"{RDF}type", "http://www.w3.org/2002/07/owl#Thing"]


def written(template: str, names: tuple[str, str]) -> str:
    for mark, name in zip("AB", names, strict=True):
        template = template.replace(f"'{mark}'", f"'{name}'").replace(f'"{mark}"', f'"{name}"')
        template = template.replace(f" {mark}", f" <{name}>").replace(f"({mark}", f"(<{name}>")
    return template


def shape(text: str) -> QueryShape | None:
    pieces = cut(text)
    assert pieces is not None
    return shape_of(parsed_query(text).prepared({}, joins_graphs=True), pieces, {})


@pytest.mark.parametrize("template", TEMPLATES)
def test_parameters(template: str) -> None:
    found = shape(written(template, ("urn:a", "urn:b")))
    assert (0 if found is None else len(found.places)) == TEMPLATES[template]


@pytest.mark.parametrize("template", TEMPLATES)
def test_with_its_parameters_a_shape_is_the_query(template: str) -> None:
    found = shape(written(template, ("urn:a", "urn:b")))
    if found is None:
        return
    pieces = cut(written(template, ("urn:a", "urn:b")))
    assert pieces is not None
    new = [f"{constant[0]}urn:new{place}{constant[-1]}" for place, constant in enumerate(pieces.constants)]
    constants = [new[place] if place in found.places else constant for place, constant in enumerate(pieces.constants)]
    text = "".join(piece for pair in zip(pieces.outline, [*constants, ""], strict=False) for piece in pair)
    values = found.bindings(constants)
    assert values is not None and cut(text) == (pieces.outline, constants)
    made = repr(found.prepared({}, joins_graphs=True))
    for name, term in values.items():
        made = made.replace(f"Variable(name='{name}')", repr(term))
    assert made == repr(parsed_query(text).prepared({}, joins_graphs=True))


def answers(found: Any) -> Any:
    return bool(found) if found.type == "ASK" else Counter(map(tuple, found))


def texts(templates: Iterator[str], choices: list[tuple[str, str]]) -> Iterator[str]:
    for template in templates:
        for names in choices:
            yield written(template, names)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(15))
@given(changes=CHANGES, choices=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=4, max_size=8))
@pytest.mark.sample(5)
def test_answers_do_not_depend_on_other_queries(kind: str, changes: Any, choices: list[tuple[str, str]]) -> None:
    made: Reasoner = MAKERS[kind]()
    for adds, triples in changes:
        change(made, adds, triples)
        for text in texts(iter(TEMPLATES), choices):
            if "LIMIT" in text:
                assert len(made.query(text)) == len(made.query(text, limits=UNSEEN)), text
            else:
                assert answers(made.query(text)) == answers(made.query(text, limits=UNSEEN)), text


def test_the_third_query_of_a_shape_has_no_plan_of_its_own() -> None:
    made = Reasoner()
    made.load("".join(f"<urn:{number}> <urn:p> <urn:{number + 1}> .\n" for number in range(20)).encode())
    for number in range(2):
        made.query(f"SELECT ?x {{ ?x <urn:p> <urn:{number}> }}")
    known = len(made.core.caches.parsed)
    found = made.query("SELECT ?x { ?x <urn:p> <urn:7> }")
    assert [row.x.value for row in found] == ["urn:6"]
    assert len(made.core.caches.parsed) == known, "the text was parsed"


def test_constants_with_many_triples_do_not_end_a_shape() -> None:
    made = Reasoner()
    hub = "".join(f"<urn:s{number}> <urn:p> <urn:hub> ; <urn:q> <urn:{number}> .\n" for number in range(3000))
    made.load(hub.encode(), format="turtle")
    query = "SELECT ?x { ?x <urn:p> <urn:hub> ; <urn:q> <urn:%s> }"
    assert [len(made.query(query % number)) for number in range(8)] == 8 * [1]
    query, names = "SELECT ?x { ?x <urn:p> <urn:%s> }", ("a", "b", "hub", "hub", "hub", "c")
    assert [len(made.query(query % name)) for name in names] == [0, 0, 3000, 3000, 3000, 0]


@pytest.mark.parametrize("constant", ["<relative>", "<>", '"""long"""', r"<urn:\u0061>", "<urn:é>", "<urn: >"])
def test_constants_that_are_not_cut(constant: str) -> None:
    """They are read as they would be without others of their shape: errors remain errors."""
    query = "SELECT ?x { ?x <urn:p> %s }"

    def outcome(made: Reasoner) -> object:
        try:
            return answers(made.query(query % constant))
        except QuerySyntaxError as error:
            return str(error)

    alone, made = Reasoner(), Reasoner()
    for each in (alone, made):
        each.load("<urn:s> <urn:p> <urn:a>, <urn:é>, <urn:b> .".encode(), format="turtle")
    for name in "bab":
        assert len(made.query(query % f"<urn:{name}>")) == 1
    assert outcome(made) == outcome(alone)


def chain() -> Reasoner:
    made = Reasoner()
    lines = [f"<urn:{number}> <urn:p> <urn:{number + 1}> ; <urn:q> <urn:{number + 2}> ; a <urn:c> .\n" for number in range(40)]
    made.load("".join(lines).encode(), format="turtle")
    return made


def are_parsed(made: Reasoner, texts: list[str]) -> list[bool]:
    """Ask queries, and return which of them were parsed."""
    found = []
    for text in texts:
        known = len(made.core.caches.parsed)
        made.query(text)
        found.append(len(made.core.caches.parsed) > known)
    return found


def test_queries_of_one_outline_have_shapes_of_their_own() -> None:
    """Whether a constant is a parameter depends on another one: the class is none, the value of another property is."""
    made = chain()
    for number in range(3):
        made.query(f"SELECT ?x {{ ?x <{RDF}type> <urn:{number}> }}")
    for number, property in enumerate("pqpq"):
        made.query(f"SELECT ?x {{ ?x <urn:{property}> <urn:{number}> }}")
    texts = [f"SELECT ?x {{ ?x <urn:{property}> <urn:{number}> }}" for number in range(10, 14) for property in "pq"]
    assert not any(are_parsed(made, texts))
    assert [row.x.value for row in made.query(texts[1])] == ["urn:8"]


def test_learning_from_texts_that_nothing_uses_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The constant that differs is none of the parameters: nothing learned is of use. It is tried ever more rarely."""
    made, tried = chain(), list[int]()
    monkeypatch.setattr(learning, "shape_of", lambda query, text, prefixes: tried.append(1) or shape_of(query, text, prefixes))
    for number in range(400):
        made.query(f"SELECT ?x {{ ?x <urn:p> ?y FILTER(?y != <urn:{number}>) }}")
    assert 4 <= len(tried) <= 12
    for number in range(400):
        made.query(f"SELECT ?x {{ ?x a <urn:c{number}> ; <urn:p> <urn:{number}> }}")
    assert 8 <= len(tried) <= 24
    assert sum(are_parsed(made, [f"SELECT ?x {{ ?x a <urn:c> ; <urn:p> <urn:{number}> }}" for number in range(900)])) < 600


def test_what_is_learned_again_after_a_change() -> None:
    made = chain()
    texts = [f"SELECT ?x {{ ?x <urn:p> <urn:{number}> }}" for number in range(30)]
    assert are_parsed(made, texts[:4]) == [True, True, False, False]
    made.load(b"<urn:new> <urn:p> <urn:4> .", format="turtle")
    assert are_parsed(made, texts[4:8]) == [True, True, False, False]
    assert {row.x.value for row in made.query(texts[4])} == {"urn:3", "urn:new"}


@pytest.mark.parametrize("text", ["SELECT ?x { ?x ?p ?o }", "# only\nSELECT ?x { ?x ?p 1 } # <urn:comments>", "ASK { }"])
def test_texts_without_constants_are_not_cut(text: str) -> None:
    made = chain()
    assert cut(text) is None
    for _ in range(3):
        made.query(text)
    assert not made.core.caches.shapes


def test_texts_are_not_cut_where_limits_rule_shapes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = chain()
    monkeypatch.setattr(queries, "cut", lambda text: pytest.fail("cut"))
    text = "SELECT ?x { ?x <urn:p> <urn:7> }"
    assert len(made.query(text, limits=UNSEEN)) == 1
    with made.limited(UNSEEN):
        assert len(made.query(text)) == 1


def test_descriptions_have_the_prefixes_of_documents_however_often_they_are_asked_for() -> None:
    made = Reasoner()
    made.load(b"@prefix own: <urn:own:> . own:a own:p own:b . own:b own:p own:c . own:c own:p own:d .", format="turtle")
    for name in "abcab":
        described = made.query(f"DESCRIBE <urn:own:{name}>")
        assert described.type == "DESCRIBE"
        assert described.to_graph().qname("urn:own:a") == "own:a"


# --- graphs of rdflib ---------------------------------------------------------------------------------------------------


def in_our_terms(found: rdflib.query.Result) -> Any:
    if found.type == "ASK":
        return found.askAnswer
    rows: Any = found if found.type == "SELECT" else found.graph
    return Counter(tuple(None if term is None else from_rdflib(term) for term in row) for row in rows)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(10))
@given(changes=CHANGES, choices=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=3, max_size=5))
@pytest.mark.sample(5)
def test_answers_of_graphs_do_not_depend_on_other_queries(kind: str, changes: Any, choices: list[tuple[str, str]]) -> None:
    made: Reasoner = MAKERS[kind]()
    graph = graph_of(made)
    for adds, triples in changes:
        change(made, adds, triples)
        for text in texts(iter(TEMPLATES), choices):
            if "LIMIT" in text:
                assert len(graph.query(text)) == len(made.query(text, limits=UNSEEN)), text
            else:
                assert in_our_terms(graph.query(text)) == answers(made.query(text, limits=UNSEEN)), text


def people(count: int) -> rdflib.Graph:
    graph = rdflib.Graph(store=KGReasonerStore())
    for number in range(count):
        graph.add((rdflib.URIRef(f"urn:{number}"), rdflib.URIRef("urn:p"), rdflib.URIRef(f"urn:{number + 1}")))
    return graph


def test_the_third_query_of_a_shape_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    from kg_reasoner.rdflib_store.queries import sparql_dataset

    graph = people(9)
    query = "SELECT ?x { <urn:%s> <urn:p> ?x }"
    assert [len(graph.query(query % number)) for number in range(2)] == [1, 1]
    monkeypatch.setattr(sparql_dataset, "parsed_query", lambda *_: pytest.fail("the text was parsed"))
    assert [in_our_terms(graph.query(query % number)) for number in (5, 20)] == [{(IRI("urn:6"),): 1}, {}]


def test_what_was_learned_may_be_forgotten_by_another_thread_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, bindings = people(9), QueryShape.bindings
    query = "SELECT ?x { <urn:%s> <urn:p> ?x }"
    assert [len(graph.query(query % number)) for number in range(3)] == [1, 1, 1]
    caches = graph.store.reasoner.core.caches

    def forgetting(shape: QueryShape, constants: Any) -> Any:
        for repeated in caches._by_prefixes.values():
            repeated.ready.clear()
        return bindings(shape, constants)

    monkeypatch.setattr(QueryShape, "bindings", forgetting)
    assert len(graph.query(query % 5)) == 1


def test_a_shape_has_the_prefixes_of_its_queries() -> None:
    graph = people(9)
    query = "SELECT ?x { <urn:%s> a:p ?x }"
    for namespace, count in (("urn:", 1), ("urn:other:", 0), ("urn:", 1)):
        assert [len(graph.query(query % number, initNs={"a": rdflib.Namespace(namespace)})) for number in range(4)] == 4 * [count]


def test_a_graph_of_a_dataset_has_answers_of_its_own() -> None:
    dataset = rdflib.Dataset(store=KGReasonerStore(), default_union=True)
    one, other = dataset.graph(rdflib.URIRef("urn:one")), dataset.graph(rdflib.URIRef("urn:other"))
    query = "SELECT ?x { <urn:%s> <urn:p> ?x }"
    for number in range(6):
        triple = rdflib.URIRef(f"urn:{number}"), rdflib.URIRef("urn:p"), rdflib.URIRef("urn:x")
        (one if number % 2 else other).add(triple)
    for each in (dataset, one, other, dataset, one, other):
        found = [len(each.query(query % number)) for number in range(6)]
        assert found == [int(each is dataset or (each is one) == bool(number % 2)) for number in range(6)]


def test_triples_that_were_added_since_are_found() -> None:
    graph = people(0)
    for number in range(8):
        graph.add((rdflib.URIRef(f"urn:{number}"), rdflib.URIRef("urn:p"), rdflib.URIRef("urn:x")))
        assert [len(graph.query(f"SELECT ?x {{ <urn:{each}> <urn:p> ?x }}")) for each in range(8)] == [
            int(each <= number) for each in range(8)
        ]
