"""Deltas: what they say, and how two of them become one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.api.update import Update
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.maintenance import collect
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.delta import Change, Changes, Delta
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, BlankNode, Term, literal

Fact = tuple[str, tuple[Term, ...]]
Facts = dict[Fact, bool]
"""A materialisation: its facts, and whether each of them is explicit."""

A, B, C, D = (literal(name) for name in "abcd")
TOM, CAT, ANIMAL = (IRI(f"http://example.org/{name}") for name in ("tom", "Cat", "Animal"))


def changes(dictionary: Dictionary, facts: Facts) -> Changes:
    tables = {}
    for predicate in {predicate for predicate, _ in facts}:
        rows = [(row, explicit) for (name, row), explicit in facts.items() if name == predicate]
        ids = np.array([[dictionary.encode(term) for term in row] for row, _ in rows], np.int32).reshape(len(rows), -1)
        tables[predicate] = Change(ids, np.array([explicit for _, explicit in rows], bool))
    return Changes(dictionary, tables)


def between(dictionary: Dictionary, before: Facts, after: Facts) -> Delta:
    return Delta(
        changes(dictionary, {fact: after[fact] for fact in after if fact not in before}),
        changes(dictionary, {fact: before[fact] for fact in before if fact not in after}),
        changes(dictionary, {fact: after[fact] for fact in after if fact in before and before[fact] != after[fact]}),
    )


def test_a_delta_reads_like_rules() -> None:
    before: Facts = {("path", (A, B)): True, ("path", (B, C)): False, ("on", ()): True, ("path", (C, C)): False}
    after: Facts = {("path", (A, B)): True, ("path", (A, C)): False, ("path", (C, C)): True, ("size", (A, literal(2))): True}
    before[TRIPLE, (TOM, RDF.type, CAT)] = after[TRIPLE, (TOM, RDF.type, ANIMAL)] = True
    delta = between(Dictionary(), before, after)
    assert delta.text({"ex": "http://example.org/"}).splitlines() == [
        "- [ex:tom, rdf:type, ex:Cat]  explicit",
        "- on()  explicit",
        '- path("b", "c")  derived',
        "+ [ex:tom, rdf:type, ex:Animal]  explicit",
        '+ path("a", "c")  derived',
        '+ size("a", 2)  explicit',
        '= path("c", "c")  explicit now',
    ]
    assert "<http://example.org/Cat>" in str(delta)
    assert repr(delta) == "<Delta: 3 added, 3 removed>"
    assert repr(delta.restated) == "<Changes: 1 of path>"
    assert len(delta) == 6
    assert bool(delta)


def test_nothing() -> None:
    dictionary = Dictionary()
    nothing = Delta.nothing(dictionary)
    assert (str(nothing), len(nothing), bool(nothing)) == ("no change", 0, False)
    assert nothing.added.predicates() == list(nothing.added.facts("path")) == list(nothing.removed.triples()) == []
    restated = between(dictionary, {("p", (A,)): True}, {("p", (A,)): False})
    assert not restated
    assert str(restated) == '= p("a")  derived now'


def test_facts_by_kind() -> None:
    facts: Facts = {("path", (A, B)): True, ("path", (B, C)): False, ("edge", (A, B)): True}
    added = changes(Dictionary(), facts)
    assert sorted(added.predicates()) == ["edge", "path"]
    assert len(added) == 3
    assert set(added.facts("path")) == {(A, B), (B, C)}
    assert list(added.facts("path", "explicit")) == [(A, B)]
    assert list(added.facts("path", "inferred")) == [(B, C)]
    assert list(added.facts("node")) == []


def test_triples_are_those_of_rdf() -> None:
    rows: list[tuple[Term, ...]] = [(TOM, RDF.type, CAT), (A, RDF.type, CAT), (TOM, BlankNode("p"), CAT), (BlankNode("x"), CAT, B)]
    added = changes(Dictionary(), {(TRIPLE, row): index > 0 for index, row in enumerate(rows)})
    assert set(added.triples()) == {(TOM, RDF.type, CAT), (BlankNode("x"), CAT, B)}
    assert list(added.triples("inferred")) == [(TOM, RDF.type, CAT)]
    assert len(added) == 4


TERMS: list[Term] = [literal(number) for number in range(3)]
FACTS = st.dictionaries(
    st.sampled_from([0, 1, 2, 3]).flatmap(lambda n: st.tuples(st.just(f"p{n}"), st.tuples(*[st.sampled_from(TERMS)] * n))),
    st.booleans(),
    max_size=12,
)


@given(FACTS, FACTS, FACTS, FACTS)
def test_composition_is_the_net_change(zero: Facts, one: Facts, two: Facts, three: Facts) -> None:
    dictionary = Dictionary()
    first, second, third = (between(dictionary, *pair) for pair in ((zero, one), (one, two), (two, three)))
    assert str(first.then(second)) == str(between(dictionary, zero, two))
    assert str(first.then(second).then(third)) == str(first.then(second.then(third))) == str(between(dictionary, zero, three))
    assert str(Delta.net(dictionary, [first, second, third])) == str(between(dictionary, zero, three))
    nothing = Delta.nothing(dictionary)
    assert str(Delta.net(dictionary, [])) == str(nothing)
    assert str(first.then(nothing)) == str(nothing.then(first)) == str(first)


def test_a_change_and_its_reverse_cancel() -> None:
    dictionary = Dictionary()
    before: Facts = {("p", (A, B, C)): True}
    after: Facts = {("p", (A, B, D)): False, ("q", ()): True}
    there_and_back = between(dictionary, before, after).then(between(dictionary, after, before))
    assert str(there_and_back) == "no change"
    assert there_and_back.added.predicates() == []


def test_composition_does_not_look_at_facts_one_by_one() -> None:
    count = 300_000
    numbers = np.arange(count, dtype=np.int32)
    ids = np.stack([numbers, numbers[::-1], numbers % 7], axis=1)
    dictionary = Dictionary()

    def some(rows: slice) -> Changes:
        return Changes(dictionary, {"p": Change(ids[rows], np.ones(len(ids[rows]), bool))})

    delta = Delta(some(slice(None)), some(slice(0))).then(Delta(some(slice(0)), some(slice(10, None))))
    assert (len(delta.added), len(delta.removed)) == (10, 0)


def test_counters() -> None:
    before, after = Counters(1, 2, 3, 4, 5, 6), Counters(11, 22, 33, 44, 55, 66)
    assert after - before == Counters(10, 20, 30, 40, 50, 60)
    assert (after - before).applications == 100


def test_an_update_of_triples() -> None:
    update = Update.of_triples(removed=iter([(TOM, RDF.type, CAT)]))
    assert update == Update({TRIPLE: []}, {TRIPLE: [(TOM, RDF.type, CAT)]})
    with pytest.raises(AttributeError):
        update.add_rules = "p(1) ."  # type: ignore[misc]
    assert Update() == Update({}, {}, None, ())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 2), st.booleans()), min_size=1, max_size=30))
def test_few_changes_are_grouped_as_many(changes: list[tuple[int, int, int, bool]]) -> None:
    """Changes are grouped by relation and kind, in their order, one by one or by kernels."""
    table = np.array([((relation << 32) | row, 2 * kind + explicit) for relation, row, kind, explicit in changes])
    few, many = (
        [(group, rows.tolist(), explicit.tolist()) for group, rows, explicit in grouped(table)]
        for grouped in (collect._groups_of_few, collect._groups)
    )
    assert few == many
