"""Joins in batches: all matches of patterns, in the order of the joins that take one match after the other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.query import batched_matches
from kg_reasoner.query.patterns import Queries
from kg_reasoner.storage.kernels.queries.batches import BATCH
from kg_reasoner.terms import IRI, Literal
from tests.helpers.effort import examples

Edges = Sequence[tuple[int, int]]

PATTERNS = {
    "?a :p ?b . ?b :q ?c": lambda p, q: {(a, b, c) for a, b in p for d, c in q if b == d},
    "?a :p ?b . ?c :q ?b": lambda p, q: {(a, b, c) for a, b in p for c, d in q if b == d},
    "?a :p ?b . ?a :q ?b": lambda p, q: set(p) & set(q),
    "?a :p ?a . ?a :q ?b": lambda p, q: {(a, c) for a, b in p for d, c in q if a == b == d},
    "?a :p ?b . ?c :q ?d": lambda p, q: {(*one, *other) for one in p for other in q},
    "?a :p ?b . ?b :q :n1": lambda p, q: {(a, b) for a, b in p if (b, 1) in set(q)},
}


def name(number: int) -> IRI:
    return IRI(f"http://example.org/n{number}")


def loaded(**relations: Edges) -> Reasoner:
    made = Reasoner()
    made.add_triples(
        [(name(a), IRI(f"http://example.org/{label}"), name(b)) for label, edges in relations.items() for a, b in edges]
    )
    return made


def rows(made: Reasoner, text: str) -> list[tuple[int | None, ...]]:
    """Return the answers to a query, as numbers of nodes."""
    found = made.query(f"PREFIX : <http://example.org/> {text}")
    return [tuple(None if term is None else int(str(term).strip("<>").rpartition("n")[2]) for term in row) for row in found]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32), nodes=st.integers(2, 40), size=st.integers(0, 3 * BATCH))
@pytest.mark.sample(4)
def test_joins(pattern: str, seed: int, nodes: int, size: int) -> None:
    random = Random(seed)
    p, q = (sorted({(random.randrange(nodes), random.randrange(nodes)) for _ in range(size)}) for _ in range(2))
    made = loaded(p=p, q=q)
    found = rows(made, f"SELECT * {{ {pattern} }}")
    assert len(set(found)) == len(found)
    assert sorted(found) == sorted(PATTERNS[pattern](p, q))
    few = rows(made, f"SELECT * {{ {pattern} }} LIMIT 40")
    assert few == found[:40]  # these are joined one after the other


@pytest.mark.parametrize("count", [1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH])
@pytest.mark.sample(4)
def test_sizes_of_batches(count: int) -> None:
    edges = [(0, number) for number in range(count)]
    made = loaded(p=edges, q=[(b, a) for a, b in edges])
    assert rows(made, "SELECT ?x { ?o :p ?x . ?x :q ?o }") == [(number,) for number in range(count)]
    assert sorted(rows(made, "SELECT ?x ?y { ?x :q ?o . ?o :p ?y }")) == list(itertools.product(range(count), repeat=2))


@pytest.mark.parametrize("room", [1, 7, BATCH, 1 << 12])
@pytest.mark.parametrize("count", [3, BATCH, 2 * BATCH + 1])
def test_solutions_that_are_extended(count: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each solution has as many matches as its number, some none: OPTIONAL finds all, EXISTS and MINUS ask for one."""
    monkeypatch.setattr(batched_matches, "FIRST_CHUNK", room)
    monkeypatch.setattr(batched_matches, "CHUNK", room)
    p = [(number, number) for number in range(count)]
    q = [(number, 1000 + match) for number in range(count) for match in range(number % 7)]
    r = [(1000 + match, 2000) for match in range(7)]
    made = loaded(p=p, q=q, r=r)
    with_matches = [number for number in range(count) if number % 7]
    found = rows(made, "SELECT ?x ?y { ?x :p ?x OPTIONAL { ?x :q ?y . ?y :r ?z } }")
    assert sorted(found, key=str) == sorted([*q, *((number, None) for number in range(count) if number % 7 == 0)], key=str)
    for chain in ("?x :q ?y", "?x :q ?y . ?y :r ?z"):
        assert rows(made, f"SELECT ?x {{ ?x :p ?x FILTER EXISTS {{ {chain} }} }}") == [(number,) for number in with_matches]
        without = [(number,) for number in range(count) if number % 7 == 0]
        assert rows(made, f"SELECT ?x {{ ?x :p ?x MINUS {{ {chain} }} }}") == without


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32), nodes=st.integers(1, 30), size=st.integers(0, 60))
def test_repeated_steps(seed: int, nodes: int, size: int) -> None:
    random = Random(seed)
    edges = {(random.randrange(nodes), random.randrange(nodes)) for _ in range(size)}
    made = loaded(p=sorted(edges))
    for text, steps in (
        (":n0 :p+ ?x", edges),
        (":n0 ^:p+ ?x", {(b, a) for a, b in edges}),
        ("?x :p+ :n0", {(b, a) for a, b in edges}),
    ):
        found, new = set[int](), {0}
        while new:
            new = {end for start, end in steps if start in new} - found
            found |= new
        assert sorted(rows(made, f"SELECT ?x {{ {text} }}")) == sorted((node,) for node in found)
        assert sorted(rows(made, f"SELECT ?x {{ {text.replace('+', '*')} }}")) == sorted((node,) for node in found | {0})


def test_literals_are_followed_only_as_ends() -> None:
    """A literal that rules make a subject has no triples in RDF."""
    made = Reasoner("@prefix : <http://example.org/> . [?y, :p, :n9] :- [?x, :p, ?y], FILTER(isLiteral(?y)) .")
    made.add_triples([(name(0), IRI("http://example.org/p"), name(1)), (name(1), IRI("http://example.org/p"), Literal("x"))])
    found = made.query("PREFIX : <http://example.org/> SELECT ?x { :n0 :p+ ?x . BIND (1 AS ?y) }")
    assert {term for (term,) in found} == {name(1), Literal("x")}
    assert not made.query("PREFIX : <http://example.org/> SELECT ?x { ?x :p+ :n9 . BIND (1 AS ?y) }")


def test_few_of_very_many_matches_are_sufficient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit beyond what is fetched at once does not make the kernels find everything."""
    made = loaded(p=[(number, 0) for number in range(3000)])
    taken: list[int] = []
    fetching = Queries.fetching

    def counted(*arguments: object) -> object:
        fetch = fetching(*arguments)  # type: ignore[arg-type]
        if fetch is None:
            return None

        def count(limit: int | None) -> object:
            taken.append(len(found := fetch(limit)))
            return found

        return count

    monkeypatch.setattr(Queries, "fetching", counted)
    assert len(made.query("SELECT * { ?a <http://example.org/p> ?b . ?c <http://example.org/p> ?b } LIMIT 100000")) == 100_000
    assert taken and max(taken) < 500_000
