"""Limits and cancellation of SPARQL queries: every operator ends soon, whatever it is at, and the next query works."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.plugins.sparql.operators import register_custom_function, unregister_custom_function

from kg_reasoner import Reasoner
from kg_reasoner.concurrency.limits import Limits, Watch
from kg_reasoner.concurrency.watching import blocks, watched
from kg_reasoner.errors import CancelledError, LimitError
from kg_reasoner.storage import grouping
from kg_reasoner.storage.arrays import Ids
from tests.helpers.effort import examples, thinned

COUNT = 2000
SOON = 10.0
"""Seconds within which a query has to end after its limit; a noisy machine needs some."""

QUERIES = {
    "product": "SELECT (COUNT(*) AS ?n) { ?a :age ?x . ?b :age ?y . ?c :age ?z }",
    "product of tables": """SELECT (COUNT(*) AS ?n) {
        { SELECT ?a { ?a :age ?x } LIMIT 2000 } { SELECT ?b { ?b :age ?x } LIMIT 2000 } { SELECT ?c { ?c :age ?x } LIMIT 20 } }""",
    "product with a variable as the property": "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }",
    "optional without shared variables": "SELECT * { { SELECT * { ?a :age ?x } LIMIT 20 } OPTIONAL { ?b :age ?y . ?c :name ?z } }",
    "closures": "SELECT * { ?a :knows+ ?b . ?c :knows* ?d }",
    "sequence of paths": "SELECT * { ?a (:knows|^:knows)*/:knows?/(:knows|^:knows)* ?b }",
    "order": "SELECT ?a { ?a :name ?x . ?b :name ?y . ?c :age ?z } ORDER BY DESC(CONCAT(?x, ?y))",
    "group": "SELECT ?x ?y (COUNT(*) AS ?n) { ?a :name ?x . ?b :name ?y . ?c :age ?z } GROUP BY ?x ?y",
    "concatenation of a group": "SELECT (GROUP_CONCAT(?x) AS ?n) { ?a :name ?x . ?b :name ?y . ?c :age ?z }",
    "union": "SELECT * { { ?a :age ?x . ?b :age ?y } UNION { ?a :name ?x . ?b :name ?y . ?c :age ?z } }",
    "distinct": "SELECT DISTINCT ?x ?y { ?a :name ?x . ?b :name ?y . ?c :age ?z }",
    "regex": "SELECT ?x { ?a :name ?x . ?b :name ?y FILTER(REGEX(CONCAT(?x, ?y), '(a|b|n)*7.*7.*7.*7')) }",
    "exact arithmetic": "SELECT ?x { ?a :age ?x . ?b :age ?y FILTER(?x / 7 * ?y = 0.1) }",
    "strings that grow": """SELECT (CONCAT(?h, ?h, ?h, ?h, ?h, ?h, ?h, ?h) AS ?i) {
        ?a :name ?x . ?b :age ?n BIND(CONCAT(?x, STR(?n), ?x, ?x, ?x, ?x, ?x, ?x) AS ?f)
        BIND(CONCAT(?f, ?f, ?f, ?f, ?f, ?f, ?f, ?f) AS ?g) BIND(CONCAT(?g, ?g, ?g, ?g, ?g, ?g, ?g, ?g) AS ?h) }""",
    "construct": "CONSTRUCT { ?a :age ?y . _:b :of ?a } WHERE { ?a :age ?x . ?b :age ?y . ?c :age ?z }",
    "describe": "DESCRIBE ?a ?b ?c { ?a :age ?x . ?b :age ?y . ?c :age ?z }",
    "exists, one by one": """SELECT ?a { ?a :age ?x . ?b :age ?y
        FILTER EXISTS { ?c :age ?z OPTIONAL { ?c :knows ?d FILTER(?z + ?x + ?y > 10000) } FILTER(!BOUND(?d)) } }""",
    "exists with a condition": "SELECT ?a { ?a :age ?x . ?b :age ?y FILTER EXISTS { ?c :age ?z FILTER(?x + ?y + ?z < 0) } }",
    "minus": "SELECT ?a { ?a :age ?x . ?b :age ?y . ?c :age ?z MINUS { SELECT ?a ?y { ?a :age ?x . ?c :age ?y } } }",
    "fresh values": "SELECT (UUID() AS ?u) { ?a :age ?x . ?b :age ?y }",
    "registered function": "SELECT (:slow(?x, ?y) AS ?u) { ?a :age ?x . ?b :age ?y }",
}


def data() -> bytes:
    lines = [f':p{n} :knows :p{n + 1} ; :age {n} ; :name "name {n} of many" .\n' for n in range(COUNT)]
    return ("@prefix : <urn:> .\n" + "".join(lines)).encode()


def slow(x: rdflib.Literal, y: rdflib.Literal) -> rdflib.Literal:
    time.sleep(0.001)
    return rdflib.Literal(int(x) * int(y))


@pytest.fixture(scope="module")
def people() -> Iterator[Reasoner]:
    reasoner = Reasoner()
    reasoner.load(data(), format="turtle")
    register_custom_function(rdflib.URIRef("urn:slow"), slow)
    yield reasoner
    unregister_custom_function(rdflib.URIRef("urn:slow"), slow)


def ends(reasoner: Reasoner, name: str, error: type[Exception], message: str) -> None:
    """A query ends soon with an error."""
    start = time.monotonic()
    with pytest.raises(error, match=message):
        reasoner.query(f"PREFIX : <urn:> {QUERIES[name]}")
    assert time.monotonic() - start < SOON


def works(reasoner: Reasoner) -> None:
    """The next query has its answer."""
    assert len(reasoner.query("PREFIX : <urn:> SELECT ?a { ?a :age 7 ; :name ?x FILTER(STRLEN(?x) > 3) }")) == 1


@pytest.mark.parametrize("name", thinned(QUERIES, 2))
@pytest.mark.sample(4)
def test_queries_end_in_time(people: Reasoner, name: str) -> None:
    with people.limited(Limits(seconds=0.1)):
        ends(people, name, LimitError, r"longer than its limit of 0\.1 s")
    works(people)


def test_a_product_for_which_there_is_no_memory() -> None:
    rows: Ids = np.empty((1 << 28, 0), np.int32)
    with pytest.raises(LimitError, match="72,057,594,037,927,936 solutions need more memory than there is"):
        grouping.pair_rows(rows, rows)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.sample(4)
def test_queries_are_cancelled_by_another_thread(people: Reasoner, name: str) -> None:
    done = threading.Event()

    def cancel() -> None:
        while not done.wait(0.05):
            people.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        ends(people, name, CancelledError, "cancelled")
    finally:
        done.set()
        thread.join()
    works(people)


SLOW_TO_GROW = ("fresh values", "registered function", "exact arithmetic", "exists, one by one")
"""Queries whose tables are small for a long time."""


@pytest.mark.parametrize("name", [name for name in QUERIES if name not in SLOW_TO_GROW])
def test_queries_stay_within_their_memory(people: Reasoner, name: str) -> None:
    with people.limited(Limits(memory=4_000_000)):
        ends(people, name, LimitError, "exceed the limit of 4,000,000")
    works(people)


@pytest.mark.parametrize("name", ["product of tables", "closures", "optional without shared variables", "construct"])
def test_solutions_are_limited(people: Reasoner, name: str) -> None:
    with people.limited(Limits(facts=100_000)):
        ends(people, name, LimitError, "facts exceed the limit of 100,000")
    works(people)


# --- what operators are made of -------------------------------------------------------------------------------------------


def test_the_memory_of_a_product_is_checked_before_it_is_allocated() -> None:
    rows: Ids = np.empty((1 << 20, 0), np.int32)
    with Watch(Limits(memory=1 << 30)), pytest.raises(LimitError, match="17,592,186,044,416 bytes"):
        grouping.pair_rows(rows, rows)


def test_the_memory_of_an_equal_join_is_checked_before_it_is_allocated() -> None:
    rows: Ids = np.zeros((1 << 18, 1), np.int32)
    with Watch(Limits(memory=1 << 30)), pytest.raises(LimitError, match="1,099,511,627,776 bytes"):
        grouping.pair_rows(rows, rows)


@pytest.mark.parametrize(
    "call",
    [
        lambda rows: grouping.group_rows(rows),
        lambda rows: grouping.pair_rows(rows, rows[:1]),
        lambda rows: grouping.gathered(rows, np.zeros(1 + grouping.BLOCK, np.int64)),
        lambda rows: list(watched(range(10))),
        lambda rows: list(blocks(10, 3)),
    ],
    ids=["group", "pair", "gather", "watched", "blocks"],
)
def test_work_on_many_rows_is_cancelled(call: Callable[[Ids], object]) -> None:
    with Watch() as watch:
        watch.cancel()
        with pytest.raises(CancelledError):
            call(np.arange(10, dtype=np.int32)[:, None])


class CancelledAt(Watch):
    """A watch that is cancelled at some check."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.left = number

    def check(self, facts: int = 0, nbytes: int = 0) -> None:
        self.left -= 1
        if self.left < 0:
            self.cancel()
        super().check(facts, nbytes)


def test_a_loop_is_cancelled_on_its_way() -> None:
    seen: list[int] = []
    with CancelledAt(3), pytest.raises(CancelledError):
        seen.extend(watched(range(100), every=7))
    assert len(seen) == 21


@given(
    st.integers(0, 2).flatmap(
        lambda width: st.tuples(*2 * [st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), max_size=12)])
    ),
    st.integers(1, 5),
)
@settings(max_examples=examples(300))
def test_blocks_of_any_size_give_the_same_pairs_and_groups(tables: tuple[list[list[int]], list[list[int]]], size: int) -> None:
    width = max((len(row) for table in tables for row in table), default=1)
    left, right = (np.array(table, np.int32).reshape(len(table), width) for table in tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "BLOCK", size)
        patch.setattr(grouping, "SPARSE", size - 1)
        rows, others = grouping.pair_rows(left, right)
        labels, firsts = grouping.group_rows(left)
        assert grouping.gathered(left, rows).tolist() == grouping.gathered(right, others).tolist()
    expected = [(one, other) for one, row in enumerate(tables[0]) for other, mate in enumerate(tables[1]) if row == mate]
    assert list(zip(rows.tolist(), others.tolist(), strict=True)) == expected
    distinct = [list(row) for row in dict.fromkeys(map(tuple, tables[0]))]
    assert [tables[0][first] for first in firsts.tolist()] == distinct
    assert [distinct[label] for label in labels.tolist()] == tables[0]


FIRST_OF_MANY = """
?s ?p ?o
?s <urn:p>+ ?o
?s <urn:p>* ?o
?s (^<urn:p>)+ ?o
?s (<urn:p>|<urn:q>)+ ?o
?s <urn:q> <urn:hub> ; ?p ?o
?s <urn:q> <urn:hub> . ?o ?p ?s
""".strip().splitlines()


@pytest.mark.parametrize("pattern", FIRST_OF_MANY)
@pytest.mark.parametrize("most", [1, 10, 16, 17, 1000])
def test_first_solutions_are_among_all(pattern: str, most: int) -> None:
    """And there are as many as there can be; few of many triples are looked at for them."""
    made = Reasoner()
    made.load("".join(f"<urn:{n}> <urn:p> <urn:{n // 2}> ; <urn:q> <urn:hub> .\n" for n in range(1, 300)).encode(), format="turtle")
    every = Counter(map(tuple, made.query(f"SELECT * {{ {pattern} }}")))
    found = Counter(map(tuple, made.query(f"SELECT * {{ {pattern} }} LIMIT {most}")))
    assert not found - every
    assert found.total() == min(most, every.total())
