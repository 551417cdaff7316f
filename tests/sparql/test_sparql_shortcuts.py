"""Queries that are asked again get the answers of queries that are asked for the first time, whatever has changed meanwhile."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.errors import LimitError
from kg_reasoner.query.repeated_queries import few_reached
from kg_reasoner.rdflib_store import graph_of
from kg_reasoner.sparql.queries.parsed import parsed_query
from kg_reasoner.sparql.repeated import shortcut, shortcuts
from kg_reasoner.sparql.results.result import QueryResult
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple, literal
from tests.helpers.effort import examples

NAMES = [IRI(f"urn:{name}") for name in "abcd"]
PREFIX = "PREFIX owl: <http://www.w3.org/2002/07/owl#> "
QUERIES = [
    "SELECT ?x { ?x <urn:p> <urn:a> }",
    "SELECT ?x ?p { ?x ?p <urn:a> }",
    "SELECT ?p ?o { <urn:a> ?p ?o }",
    "SELECT * { ?x <urn:p> ?y . ?y <urn:p> ?z }",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y . ?x a ?c . ?c <urn:q> ?z }",
    "SELECT DISTINCT ?y { ?x <urn:p> ?y . ?y <urn:q> ?z }",
    "SELECT ?y ?x { ?x <urn:p> ?y . ?x <urn:p> <urn:b> }",
    "SELECT ?x { ?x <urn:p> ?x . ?x a <urn:c> }",
    "ASK { ?x <urn:p> <urn:b> . ?x <urn:q> ?y }",
    "ASK { <urn:a> <urn:p> <urn:b> }",
    "SELECT ?s { ?s ?s <urn:a> }",
    "SELECT ?x { <urn:a> owl:sameAs ?x }",
    "SELECT ?x { <urn:a> owl:sameAs ?x . ?x <urn:p> ?y }",
    "SELECT ?x ?n { ?x <urn:p> ?y . ?y <urn:n> ?n }",
    "SELECT ?x { <urn:a> <urn:p>+ ?x }",
    "SELECT ?x { <urn:a> <urn:q>* ?x }",
    "SELECT ?x { ?x <urn:p>+ <urn:b> }",
    "SELECT ?x { ?x <urn:p>* <urn:nowhere> }",
    "SELECT ?x { <urn:a> owl:sameAs* ?x }",
    "DESCRIBE <urn:a>",
    "DESCRIBE <urn:d>",
    "SELECT ?x ?none { ?x <urn:p> ?y . ?y <urn:q> ?z }",
    "SELECT ?c { <urn:a> a ?c }",
    "SELECT ?p ?x { ?x ?p owl:Thing }",
    "SELECT ?o ?p { owl:Thing ?p ?o }",
    "SELECT ?p ?o { <urn:a> ?p ?o } OFFSET 1",
    "SELECT DISTINCT ?p { <urn:a> ?p ?o }",
    "ASK { ?x ?p <urn:c> }",
    "SELECT ?x ?y { ?x <urn:p> ?y FILTER(?y IN (<urn:a>, <urn:b>, <urn:b>, <urn:nowhere>)) }",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?x IN (<urn:a>, <urn:c>)) }",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y FILTER(?y IN (<urn:a>, <urn:c>)) }",
    "SELECT ?y ?x { VALUES ?x { <urn:a> <urn:d> } ?x <urn:p> ?y } LIMIT 9",
    "SELECT ?x { VALUES ?x { <urn:a> <urn:b> <urn:a> } ?x <urn:p> ?y }",
    "SELECT DISTINCT ?x { VALUES ?x { <urn:a> <urn:b> <urn:a> } ?x <urn:p> ?y }",
    "SELECT ?x { VALUES ?x { <urn:a> <urn:a> <urn:a> } ?x <urn:p> <urn:a> } OFFSET 1 LIMIT 1",
    "ASK { ?x <urn:p> ?y FILTER(?y = <urn:a>) }",
    "SELECT ?x { ?x owl:sameAs ?y FILTER(?y = <urn:a>) }",
    "SELECT ?x { <urn:a> <urn:p> ?x . ?x <urn:p> ?y } OFFSET 1",
    "SELECT ?x ?y { ?x <urn:p> ?y . ?y <urn:p> <urn:b> } LIMIT 1",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?x IN (<urn:a>, <urn:c>)) } LIMIT 1",
    "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?x IN (<urn:a>, <urn:c>)) } OFFSET 1",
]
WITH_GIVEN = [
    "SELECT ?p ?o { ?s ?p ?o }",
    "SELECT * { ?s ?p ?o }",
    "SELECT ?p ?s { ?s ?p ?o }",
    "SELECT ?c { ?s a ?c }",
    "SELECT ?s { ?s a ?o }",
    "SELECT ?s ?o { ?s <urn:p> ?o }",
    "SELECT ?x { ?s <urn:p> ?x . ?x <urn:q> ?o }",
    "SELECT DISTINCT ?x ?s { ?s <urn:p> ?x . ?x <urn:p> ?y }",
    "SELECT ?none { ?s <urn:p> ?o }",
    "SELECT ?s { ?s owl:sameAs ?o }",
    "SELECT ?x { ?s <urn:p> ?x . ?x owl:sameAs ?o }",
    "SELECT ?x { ?x ?s ?o }",
    "ASK { ?s <urn:p> ?o }",
    "SELECT ?s { ?s <urn:p> ?o . ?o <urn:q> ?s } LIMIT 2",
    "SELECT ?x { <urn:a> <urn:p> ?x . ?x <urn:p> ?o } OFFSET 1",
    "SELECT ?x { ?x <urn:p> ?y . ?y <urn:p> ?o } LIMIT 1",
    "SELECT ?x { ?x <urn:p> ?o } OFFSET 1",
]
"""Queries whose variables ?s and ?o have values that the caller gives."""
GIVEN = [*NAMES, IRI("urn:nowhere"), literal(1), RDF.type, OWL.Thing, BlankNode("b")]
TRIPLES = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from([IRI("urn:p"), IRI("urn:q"), IRI("urn:n"), RDF.type, OWL.sameAs, *NAMES[:1]]),
    st.sampled_from([*NAMES, literal(1)]),
)
VOCABULARY = st.tuples(
    st.sampled_from([*NAMES, RDF.type, OWL.Thing, RDFS.Class]),
    st.sampled_from([RDF.type, RDFS.subClassOf, OWL.sameAs]),
    st.sampled_from([OWL.Thing, RDFS.Class, RDFS.Resource, NAMES[0], BlankNode("b")]),
)
CHANGES = st.lists(st.tuples(st.booleans(), st.lists(TRIPLES, min_size=1, max_size=4)), min_size=1, max_size=5)
MAKERS: dict[str, Any] = {
    "no rules": lambda: Reasoner(),
    "rules": lambda: Reasoner("[?x, <urn:p>, ?z] :- [?x, <urn:p>, ?y], [?y, <urn:p>, ?z] ."),
    "owl2rl": lambda: Reasoner(ruleset="owl2rl"),
    "equality": lambda: Reasoner(ruleset="owl2rl", equality="rewrite"),
    "one relation": lambda: Reasoner("[?s, ?q, ?o] :- [?s, <urn:p>, ?o], [?s, ?q, ?o] ."),
}


UNSEEN = Limits(facts=10**9)
"""Limits that no query reaches: under limits, a query is evaluated as if it were asked for the first time."""


def rows(found: Any) -> Any:
    return bool(found) if found.type == "ASK" else Counter(map(tuple, found))


def check(made: Reasoner) -> None:
    for query in QUERIES:
        expected = rows(asked_anew(made, f"{PREFIX} {query} # anew"))
        assert [rows(made.query(PREFIX + query)) for _ in range(3)] == 3 * [expected], query


def asked_anew(made: Reasoner, query: str) -> QueryResult:
    """The answer without shortcuts. The parsed text may be remembered: parsing takes longer than everything else here."""
    made.core.caches.shortcuts.pop(parsed_query(query), None)
    return made.query(query, limits=UNSEEN)


def check_given(made: Reasoner, given: list[Term]) -> None:
    graph = graph_of(made)
    for query in WITH_GIVEN:
        for names in (["s"], ["o"], ["s", "o"]):
            for first, second in pairwise(given):
                values = dict(zip(names, [first, second], strict=False))
                expected = rows(made.query(PREFIX + query, values, limits=UNSEEN))
                assert [rows(made.query(PREFIX + query, values)) for _ in range(2)] == 2 * [expected], (query, values)
                found = graph.query(PREFIX + query, initBindings=values)
                assert rows(store_result(found)) == expected, (query, values)


def store_result(found: Any) -> Any:
    return found.native


def change(made: Reasoner, adds: bool, triples: list[Triple]) -> None:
    if adds:
        made.add_triples([triple for triple in triples if not (triple[1] == OWL.sameAs and triple[2] == literal(1))])
    else:
        made.remove_triples(triples)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(15))
@given(changes=CHANGES)
@pytest.mark.sample(5)
def test_after_changes(kind: str, changes: list[tuple[bool, list[Triple]]]) -> None:
    made = MAKERS[kind]()
    for adds, triples in changes:
        change(made, adds, triples)
        check(made)
    with made.transaction():
        for adds, triples in changes:
            change(made, not adds, triples)
            check(made)
    check(made)


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(5))
@given(
    triples=st.lists(st.one_of(TRIPLES, VOCABULARY), max_size=8), values=st.lists(st.sampled_from(GIVEN), min_size=2, max_size=3)
)
@pytest.mark.sample(5)
def test_values_that_are_given(kind: str, triples: list[Triple], values: list[Term]) -> None:
    made = MAKERS[kind]()
    change(made, True, triples)
    check_given(made, values)
    change(made, False, triples[:2])
    check_given(made, values)


@pytest.mark.parametrize("kind", ["owl2rl", "rdfs", "one relation"])
@settings(max_examples=examples(30))
@given(triples=st.lists(st.one_of(TRIPLES, VOCABULARY), min_size=1, max_size=8), removed=st.integers(0, 3))
def test_scans_of_whole_relations_show_what_is_visible(kind: str, triples: list[Triple], removed: int) -> None:
    made = {**MAKERS, "rdfs": lambda: Reasoner(ruleset="rdfs")}[kind]()
    if kind == "one relation":
        made = Reasoner("[?s, ?q, ?o] :- [?s, <urn:p>, ?o], [?s, ?q, ?o] .", ruleset="rdfs")
    change(made, True, triples)
    change(made, False, triples[:removed])
    visible = Counter(made.triples())
    for query, kept in (
        ("SELECT ?s ?p ?o { ?s ?p ?o }", lambda s, p, o: (s, p, o)),
        ("SELECT ?p { ?s ?p ?o }", lambda s, p, o: (p,)),
        ("SELECT ?o ?s { ?s a ?o }", lambda s, p, o: (o, s) if p == RDF.type else None),
    ):
        expected = Counter(kept(*triple) for triple in visible.elements())
        expected.pop(None, None)
        assert Counter(map(tuple, made.query(query))) == expected
    count = made.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    assert [int(row.n.lexical) for row in count] == [visible.total()]
    assert {row.p for row in made.query("SELECT DISTINCT ?p { ?s ?p ?o }")} == {p for _, p, _ in visible}


def test_what_a_shortcut_leaves_to_the_operators() -> None:
    made = Reasoner()
    made.load(b"".join(b"<urn:%d> <urn:p> <urn:%d> .\n" % (number, number + 1) for number in range(100)), format="turtle")
    made.load(
        b"<urn:x> <urn:p> [ <urn:q> 1 ] . <urn:hub> <urn:r> " + b", ".join(b"%d" % n for n in range(100)) + b" .", format="turtle"
    )
    for query, size in (
        ("SELECT ?x { <urn:0> <urn:p>+ ?x }", 100),
        ("SELECT ?x { <urn:70> <urn:p>* ?x }", 31),
        ("SELECT ?x { <urn:hub> <urn:r>+ ?x }", 100),
        ("DESCRIBE <urn:x>", 2),
        ("DESCRIBE <urn:5>", 1),
    ):
        assert [len(made.query(query)) for _ in range(4)] == 4 * [size], query


def test_parts_of_answers() -> None:
    made = Reasoner()
    made.add_triples([(IRI(f"urn:s{number}"), IRI("urn:p"), IRI("urn:a")) for number in range(200)])
    made.add_triples([(IRI(f"urn:s{number}"), RDF.type, IRI("urn:c")) for number in range(200)])
    for pattern in ("?s <urn:p> <urn:a>", "?s <urn:p> <urn:a> . ?s a <urn:c>"):
        everything = set(made.query(f"SELECT ?s {{ {pattern} }}"))
        for modifiers, size in (
            ("LIMIT 7", 7),
            ("LIMIT 0", 0),
            ("OFFSET 150", 50),
            ("LIMIT 100 OFFSET 150", 50),
            ("LIMIT 500", 200),
        ):
            found = [list(made.query(f"SELECT ?s {{ {pattern} }} {modifiers}")) for _ in range(3)]
            assert [len(set(each)) for each in found] == 3 * [size] and set(found[2]) <= everything
        distinct = [list(made.query(f"SELECT DISTINCT ?s {{ {pattern} }}")) for _ in range(3)]
        assert [len(each) for each in distinct] == 3 * [200]


def few_calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Tell of every try to find few answers whether it succeeded."""
    calls: list[bool] = []
    few = shortcut.Shortcut.few

    def told(self: Any, *arguments: Any) -> Any:
        found = few(self, *arguments)
        calls.append(found is not None)
        return found

    monkeypatch.setattr(shortcut.Shortcut, "few", told)
    return calls


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("SELECT ?s { ?s <urn:p> <urn:a> }", {}),
        ("SELECT ?s { ?s <urn:p> ?o . ?o <urn:p> ?x }", {}),
        ("SELECT DISTINCT ?o { ?s <urn:p> ?o . ?s a <urn:c> }", {}),
        ("SELECT ?p ?o { <urn:s1> ?p ?o }", {}),
        ("SELECT ?p ?s { ?s ?p <urn:a> }", {}),
        ("SELECT ?c { <urn:s1> a ?c }", {}),
        ("SELECT ?x { <urn:s1> <urn:p>+ ?x }", {}),
        ("SELECT ?x { ?x <urn:p>* <urn:a> }", {}),
        ("DESCRIBE <urn:s1>", {}),
        ("ASK { <urn:s1> <urn:p> ?o }", {}),
        ("SELECT ?s ?o { ?s ?p ?o }", {"s": IRI("urn:s1")}),
        ("SELECT ?o ?x { ?s <urn:p> ?o . ?x <urn:p> ?o }", {"?s": IRI("urn:s1")}),
        ("SELECT ?s { ?s <urn:p> ?o }", {"o": IRI("urn:nowhere")}),
    ],
)
def test_few_answers_are_found_at_once(query: str, given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Reasoner(ruleset="rdfs")
    made.add_triples([(IRI(f"urn:s{number}"), IRI("urn:p"), IRI("urn:a")) for number in range(20)])
    made.add_triples([(IRI("urn:a"), IRI("urn:p"), IRI("urn:b")), (IRI("urn:s1"), RDF.type, IRI("urn:c"))])
    expected = rows(made.query(query, given, limits=UNSEEN))
    for _ in range(2):  # indexes are built
        made.query(query, given)
    calls = few_calls(monkeypatch)
    assert rows(made.query(query, given)) == expected
    assert calls == [True] or (not expected and calls == [])


@pytest.mark.parametrize(
    "pattern", ["?s <urn:p> ?o", "?s <urn:p> <urn:a>", "<urn:hub> ?p ?o", "?s ?p <urn:a>", "?s <urn:p> ?o . ?o ?p ?x"]
)
@pytest.mark.parametrize("count", [200, 510, 511, 512, 513, 600, 1023, 1024, 1025, 5000])
@pytest.mark.sample(4)
def test_many_answers_are_not_few(pattern: str, count: int) -> None:
    made = Reasoner()
    made.add_triples([(IRI(f"urn:s{number}"), IRI("urn:p"), IRI("urn:a")) for number in range(count)])
    made.add_triples([(IRI("urn:hub"), IRI("urn:q"), literal(number)) for number in range(count)])
    size = 0 if "?x" in pattern else count
    for modifier, distinct in (("", ""), ("LIMIT 3", ""), ("OFFSET 2", ""), ("", "DISTINCT")):
        query = f"SELECT {distinct} * {{ {pattern} }} {modifier}"
        expected = min(size, 3) if "LIMIT" in modifier else max(0, size - 2) if modifier else size
        assert [len(made.query(query)) for _ in range(4)] == 4 * [expected]


def test_bindings_of_other_variables_than_the_query_has() -> None:
    made = Reasoner()
    made.add_triples([(NAMES[0], IRI("urn:p"), NAMES[1]), (NAMES[1], IRI("urn:p"), NAMES[2])])
    query = "SELECT ?x { ?x <urn:p> ?y }"
    for _ in range(3):
        assert len(made.query(query, {"other": NAMES[0]})) == 2
        assert list(made.query(query, {"y": NAMES[2]})) == [(NAMES[1],)]
        assert list(made.query(query, {"?y": NAMES[2], "y": NAMES[1]})) == [(NAMES[0],)]
        assert list(made.query(query, {"y": NAMES[1], "?x": NAMES[0]})) == [(NAMES[0],)]


def test_limits_hold() -> None:
    made = Reasoner()
    made.add_triples([(IRI(f"urn:s{number}"), IRI("urn:p"), IRI("urn:a")) for number in range(300)])
    query = "SELECT * { ?x <urn:p> ?z . ?y <urn:p> ?z }"
    for _ in range(3):
        assert len(made.query(query)) == 90_000
    for limits in (Limits(facts=1000), Limits(memory=1000)):
        with pytest.raises(LimitError):
            made.query(query, limits=limits)


def test_results_keep_their_terms_and_few_queries_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "REMEMBERED", 16)
    made = Reasoner()
    made.add_triples([(NAMES[0], IRI("urn:p"), literal("x"))])
    results = [made.query("SELECT ?o { <urn:a> <urn:p> ?o }") for _ in range(3)]
    made.remove_triples([(NAMES[0], IRI("urn:p"), literal("x"))])
    assert [list(result) for result in results] == 3 * [[(literal("x"),)]]
    for number in range(26):
        made.query(f"ASK {{ <urn:a> <urn:p> {number} }}")
    assert len(made.core.caches.shortcuts) <= 16


@pytest.mark.parametrize(
    ("query", "given", "sizes"),
    [
        ("SELECT * { ?x <urn:p> ?y . ?y <urn:p> ?z }", {}, (1, 4)),
        ("SELECT * { ?x <urn:p> ?y . ?y <urn:p> ?z }", {"x": NAMES[0]}, (1, 1)),
        ("SELECT * { ?x <urn:p> ?y . ?y <urn:p> ?z }", {"y": NAMES[2]}, (0, 1)),
        ("SELECT ?p ?o { <urn:c> ?p ?o }", {}, (0, 1)),
        ("SELECT ?s { ?s ?p ?o }", {"o": NAMES[0]}, (0, 1)),
        ("SELECT ?x { <urn:a> <urn:p>+ ?x }", {}, (2, 4)),
        ("DESCRIBE <urn:d>", {}, (0, 1)),
    ],
)
def test_threads_ask_while_one_changes(query: str, given: dict[str, Term], sizes: tuple[int, int]) -> None:
    made = Reasoner()
    made.add_triples([(NAMES[0], IRI("urn:p"), NAMES[1]), (NAMES[1], IRI("urn:p"), NAMES[2])])
    wrong: list[Any] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            found = made.query(query, given)
            if len(found) not in sizes or len(list(found)) != len(found):
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    more = [(NAMES[2], IRI("urn:p"), NAMES[3]), (NAMES[3], IRI("urn:p"), NAMES[0])]
    for _ in range(60):
        made.add_triples(more)
        made.remove_triples(more)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_parsed_queries_depend_on_the_prefixes_of_the_program() -> None:
    made = Reasoner("@prefix e: <http://one.example/> .")
    made.add_triples(
        [(IRI(f"http://{host}.example/a"), IRI("http://p.example/p"), IRI("http://p.example/o")) for host in ("one", "two")]
    )
    text = "SELECT ?o { e:a <http://p.example/p> ?o }"
    assert len(made.query(text)) == len(made.query(text)) == 1
    assert len(made.core.caches.parsed) == 1
    made.add_program("@prefix e: <http://three.example/> .")
    assert not made.query(text)


COUNTED = "SELECT ?p (COUNT(*) AS ?n) (COUNT(?s) AS ?m) { ?s ?p ?o } GROUP BY ?p"


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(30))
@given(changes=CHANGES, vocabulary=st.lists(VOCABULARY, max_size=4))
@pytest.mark.sample(5)
def test_triples_are_counted_by_property_without_being_found(kind: str, changes: Any, vocabulary: list[Triple]) -> None:
    made: Reasoner = MAKERS[kind]()
    change(made, True, vocabulary)
    for adds, triples in changes:
        change(made, adds, triples)
        expected = Counter(row.p for row in made.query("SELECT ?p { ?s ?p ?o }"))
        found = made.query(COUNTED)
        assert {row.p: int(row.n.lexical) for row in found} == {row.p: int(row.m.lexical) for row in found} == expected
        assert len(found) == len(expected)


def test_only_triples_of_the_default_graph_are_counted_so() -> None:
    made = Reasoner()
    triples = b"<urn:a> <urn:p> <urn:b> . <urn:g> { <urn:a> <urn:p> <urn:b> . <urn:b> <urn:p> <urn:b> }"
    made.load(triples, format="trig")
    assert "by sizes" in str(made.plan(COUNTED, run=True))
    for query in ("SELECT ?p (COUNT(*) AS ?n) { GRAPH <urn:g> { ?s ?p ?o } } GROUP BY ?p", f"{COUNTED} LIMIT 1"):
        assert [int(row.n.lexical) for row in made.query(query)] == [2]
    for query in ("{ ?s ?p ?s } GROUP BY ?p", "{ ?s ?p ?o } GROUP BY ?p HAVING (COUNT(?o) = 2)", "{ ?s ?p ?o } GROUP BY ?s ?p"):
        plan = made.plan(f"SELECT ?p (COUNT(DISTINCT ?o) AS ?n) {query}", run=True)
        assert "by sizes" not in str(plan)


@pytest.mark.parametrize("takes_start", [False, True])
def test_no_more_nodes_are_reached_than_are_enough(takes_start: bool) -> None:
    made = Reasoner()
    made.load(b"".join(b"<urn:%d> <urn:p> <urn:%d> .\n" % (number, number + 1) for number in range(20)), format="turtle")
    start, property = (made.dictionary.find(IRI(f"urn:{name}")) for name in (15, "p"))
    few = few_reached(made.core.queries, start, property, takes_start=takes_start, forwards=True)
    assert few is not None
    made.query("SELECT ?x { <urn:1> <urn:p>+ ?x }")  # builds the index
    whole = few()
    assert whole is not None and whole.shape == (1, 5 + takes_start)
    for enough in (0, 1, 3, 100):
        found = few(enough)
        assert found is not None and found.tolist() == whole[:, :enough].tolist()
