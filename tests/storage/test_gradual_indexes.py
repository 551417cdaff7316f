"""Large relations: updates scan the rows while indexes are built in slices, and find what they would find in the indexes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency import cores as thread_counts
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.storage.kernels.layout import EMPTY, MANY_CHANGED
from kg_reasoner.storage.relations import gradual_indexes
from kg_reasoner.storage.relations.gradual_indexes import GradualIndexes
from kg_reasoner.terms import IRI, RDF, Literal, literal
from tests.helpers.effort import by_effort
from tests.helpers.oracle import evaluate

PATHS = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    source(?x) :- edge(?x, ?y) .
    target(?y) :- edge(?x, ?y) .
    both(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z) .
    pair(?x, ?z) :- both(?x, ?y, ?z) .
    loop(?x) :- both(?x, ?y, ?x), path(?y, ?y) .
    narrow(?x) :- both(?x, ?y, ?z), both(?y, ?z, ?u), both(?z, ?u, ?x) .
"""
SCHEMA = """
    [?x, ?q, ?y] :- [?x, ?p, ?y], [?p, <http://example.org/implies>, ?q] .
    [?x, <http://example.org/is>, ?c] :- [?x, ?p, ?y], [?p, <http://example.org/of>, ?c] .
"""


@pytest.fixture(autouse=True, params=[(1, 1), (1, 3), (64, 3), (64, 50)], ids=str)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Each relation counts as large, with little or much patience, and small or large steps. Returns what has been done."""
    done: list[str] = []
    begin, advance, discard = GradualIndexes.begin, GradualIndexes.advance, GradualIndexes.discard

    def noted_begin(gradual: GradualIndexes, index: int) -> bool:
        begun = begin(gradual, index)
        done.append("begun" if begun else "refused")
        return begun

    def noted_advance(gradual: GradualIndexes) -> None:
        before = len(gradual.running)
        advance(gradual)
        done.append("advanced" if len(gradual.running) == before else "finished")

    def noted_discard(gradual: GradualIndexes, relation: int) -> None:
        before = len(gradual.running)
        discard(gradual, relation)
        if len(gradual.running) < before:
            done.append("discarded")

    monkeypatch.setattr(GradualIndexes, "begin", noted_begin)
    monkeypatch.setattr(GradualIndexes, "advance", noted_advance)
    monkeypatch.setattr(GradualIndexes, "discard", noted_discard)
    monkeypatch.setattr(table_capacities, "current", table_capacities.Capacities(dead=6, large=1))
    patience, size = request.param
    for name, value in (("PATIENCE", patience), ("SLICE", size), ("FILLED", 4)):
        monkeypatch.setattr(gradual_indexes, name, value)
    yield done


def nodes(count: int) -> list[Literal]:
    return [literal(number) for number in range(count)]


def expect_facts(reasoner: Reasoner, edges: set[tuple[Literal, Literal]]) -> None:
    """Expect the facts that follow from edges."""
    expected = evaluate(reasoner.program, {"edge": edges})
    for name in reasoner.predicates():
        assert set(reasoner.facts(name)) == expected.get(name, set()), name


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.sample(4)
def test_random_changes(seed: int, small: list[str]) -> None:
    """Whatever is deleted and added while indexes are built, the facts are those that follow."""
    random = Random(seed)
    reasoner = Reasoner(PATHS)
    edges = [(x, y) for x in nodes(6) for y in nodes(6)]
    there = set(random.sample(edges, 7))
    reasoner.add_facts("edge", there)
    reasoner.materialise()
    for _ in range(by_effort(10, 25, 25)):
        chosen = random.sample(edges, random.choice((1, 1, 2, 4)))
        removed, added = [edge for edge in chosen if edge in there], [edge for edge in chosen if edge not in there]
        with reasoner.transaction() as transaction:
            transaction.remove_facts("edge", removed)
            transaction.add_facts("edge", added)
        there = (there - set(removed)) | set(added)
        expect_facts(reasoner, there)
    assert "begun" in small


def test_many_facts_are_removed_with_whole_indexes(small: list[str]) -> None:
    """An update that removes many facts does not scan for each of them."""
    reasoner = Reasoner(PATHS)
    edges = {(x, y) for x in nodes(12) for y in nodes(12)}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    removed = set(sorted(edges, key=str)[:MANY_CHANGED])
    reasoner.remove_facts("edge", removed)
    expect_facts(reasoner, edges - removed)
    assert "begun" not in small


STUDENTS = "student(?x) :- person(?x), takes(?x, ?y), course(?y) ."


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("added", [1, MANY_CHANGED])
def test_an_added_fact_is_joined_by_scans(added: int, threads: int, small: list[str]) -> None:
    """The first materialisation needs look-ups only. The index that an added fact needs is built in slices, if there are few."""
    reasoner = Reasoner(STUDENTS, threads=threads)
    persons, courses = [(node,) for node in nodes(200)], [(literal(f"course {number}"),) for number in range(3)]
    takes = [(*person, *courses[place % 3]) for place, person in enumerate(persons)]
    reasoner.add_facts("course", courses[1:])
    reasoner.add_facts("takes", takes)
    reasoner.add_facts("person", persons[:50])
    reasoner.materialise()
    for first in 50, 50 + added:
        reasoner.add_facts("person", persons[first : first + added])
        expected = evaluate(reasoner.program, {"person": persons[: first + added], "takes": takes, "course": courses[1:]})
        assert set(reasoner.facts("student")) == expected["student"]
    assert ("begun" in small) == (added == 1)


def test_rows_have_the_order_of_joins_by_indexes(small: list[str]) -> None:
    """When an index is needed in the middle of a rule's heads, those of the next rule come after all of them."""
    reasoner = Reasoner("near(?x, ?z) :- edge(?x, ?y), step(?y, ?z) . near(?y, ?x) :- edge(?x, ?y) .")
    ends, starts, steps = nodes(5), [literal(10 + number) for number in range(5)], [literal(20 + number) for number in range(5)]
    reasoner.add_facts("step", [*zip(ends, steps, strict=True), *((literal("other"), node) for node in nodes(60))])
    reasoner.materialise()
    edges = list(zip(starts, ends, strict=True))
    reasoner.add_facts("edge", edges)
    assert list(reasoner.facts("near")) == [*zip(starts, steps, strict=True), *((end, start) for start, end in edges)]
    assert "begun" in small


def test_threads_that_share_work_do_not_scan(small: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They need the whole index at once."""
    shared = replace(table_capacities.current, block=1, shared_instances=1)
    monkeypatch.setattr(table_capacities, "current", shared)
    monkeypatch.setattr(thread_counts, "usable_cores", lambda: 2)
    reasoner = Reasoner(STUDENTS, threads=2)
    reasoner.add_facts("course", [(literal("course"),)])
    reasoner.add_facts("takes", [(node, literal("course")) for node in nodes(20)])
    reasoner.materialise()
    reasoner.add_facts("person", [(node,) for node in nodes(4)])
    assert set(reasoner.facts("student")) == {(node,) for node in nodes(4)}
    assert not small


def test_nothing_is_scanned_for_rules_that_cannot_match(small: list[str]) -> None:
    """The few rows that would show that a rule matches are looked for first, and they are not there."""
    reasoner = Reasoner(ruleset="rdfs")
    stated = [(IRI(f"http://example.org/{number}"), RDF.type, IRI("http://example.org/C")) for number in range(40)]
    reasoner.add_triples(stated)
    reasoner.materialise()
    for triple in stated[:5]:
        reasoner.remove_triples([triple])
        reasoner.materialise()
    assert set(reasoner.triples()) == set(stated[5:])
    assert "begun" not in small


def test_small_changes_build_an_index(small: list[str]) -> None:
    """After some small changes the index is there, and has what has come meanwhile."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) .")
    edges = {(x, y) for x in nodes(40) for y in nodes(3)}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    one, building = (nodes(1)[0], nodes(2)[1]), reasoner.engine.database.gradual
    for number in range(1000):
        reasoner.remove_facts("edge", [one])
        reasoner.materialise()
        reasoner.add_facts("edge", [one, (literal(f"new {number % 5}"), one[1])])
        reasoner.materialise()
        if number >= 5 and not building.running:
            break
    assert small[0] == "begun"
    assert not building.running
    new = {(literal(f"new {number}"), one[1]) for number in range(5)}
    reasoner.remove_facts("edge", [one, *list(new)[:2]])
    expect_facts(reasoner, (edges | new) - {one, *list(new)[:2]})


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.sample(8)
def test_random_changes_of_triples(seed: int, small: list[str]) -> None:
    """In a triple table, indexes have the rows of a property only, or all."""
    random = Random(seed)
    terms = [IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "implies", "of", "is")]
    triples = [(x, p, y) for x in terms for p in terms for y in terms]
    reasoner = Reasoner(SCHEMA)
    there = set(random.sample(triples, 25))
    reasoner.add_triples(there)
    reasoner.materialise()
    for _ in range(15):
        triple = random.choice(triples)
        if triple in there:
            reasoner.remove_triples([triple])
        else:
            reasoner.add_triples([triple])
        there ^= {triple}
        assert set(reasoner.triples()) == evaluate(reasoner.program, {TRIPLE: there})[TRIPLE]
    assert "begun" in small


@pytest.mark.sample(4)
def test_patience(request: pytest.FixtureRequest, small: list[str]) -> None:
    """A deletion that looks into an index again and again waits until it is built."""
    reasoner = Reasoner(PATHS)
    edges = {(x, y) for x in nodes(9) for y in nodes(9) if x != y}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    gone = {edge for edge in edges if nodes(1)[0] in edge}
    reasoner.remove_facts("edge", gone)
    expect_facts(reasoner, edges - gone)
    is_patient = "64" in request.node.name
    assert "begun" in small
    assert is_patient or "refused" in small


def test_a_query_builds_the_rest(small: list[str]) -> None:
    """A query looks into an index that is being built: it is built to its end then, and kept up to date."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) .")
    edges = {(x, y) for x in nodes(20) for y in nodes(2)}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    gone = (nodes(1)[0], nodes(2)[1])
    reasoner.remove_facts("edge", [gone])
    reasoner.materialise()
    database = reasoner.engine.database
    running = database.gradual.running
    if running:
        (index,) = running
        database.build(index)
        assert database.indexes[index].built
        assert not running
    new = literal(77), literal(78)
    reasoner.add_facts("edge", [new])
    reasoner.remove_facts("edge", [(nodes(2)[1], nodes(1)[0])])
    expect_facts(reasoner, edges - {gone, (nodes(2)[1], nodes(1)[0])} | {new})
    keys = {key for record in database.indexes.records if record.built and record.width == 1 for key in record.keys.tolist()}
    assert reasoner.dictionary.find(literal(77)) in keys - {EMPTY}


def test_compaction_discards(small: list[str]) -> None:
    """Rows that get other numbers are indexed anew."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) . target(?y) :- edge(?x, ?y) .")
    edges = {(x, y) for x in nodes(60) for y in nodes(2)}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    there = set(edges)
    for edge in sorted(edges, key=str)[:100]:
        reasoner.remove_facts("edge", [edge])
        there.remove(edge)
        reasoner.materialise()
    expect_facts(reasoner, there)
    assert "begun" in small


def test_what_is_discarded_is_begun_again(small: list[str]) -> None:
    """The next update that needs the index begins to build it again, and does not only scan."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) .")
    edges = [(x, y) for x in nodes(60) for y in nodes(3)]
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    database = reasoner.engine.database
    for edge in edges[:2]:
        reasoner.remove_facts("edge", [edge])
        reasoner.materialise()
        (index,) = database.gradual.running
        database.compact(database.indexes[index].relation)
    assert [step for step in small if step != "advanced"] == ["begun", "discarded"] * 2
    expect_facts(reasoner, set(edges[2:]))


def test_an_index_that_has_no_room_ahead_is_built_at_once(small: list[str]) -> None:
    """Where there is no room for an index of the foreseen size, it is built at once, and grows as it must."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) .", limits=Limits(memory=1 << 40))
    edges = {(x, y) for x in nodes(20) for y in nodes(2)}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    claim, refused = reasoner.engine.database.claim, []

    def refuse_once(nbytes: int) -> None:
        claim(nbytes)
        if not refused:
            refused.append(nbytes)
            raise MemoryError

    reasoner.engine.database.claim = refuse_once
    gone = (nodes(1)[0], nodes(2)[1])
    reasoner.remove_facts("edge", [gone])
    expect_facts(reasoner, edges - {gone})
    assert refused
    assert small[0] == "refused"


def test_dead_rows_are_not_found(small: list[str]) -> None:
    """A scan finds no rows that earlier updates have deleted."""
    reasoner = Reasoner("source(?x) :- edge(?x, ?y) .")
    edges = [(x, y) for x in nodes(30) for y in nodes(2)]
    reasoner.add_facts("edge", edges)
    for edge in edges[:2]:
        reasoner.materialise()
        reasoner.remove_facts("edge", [edge])
    expect_facts(reasoner, set(edges[2:]))
    assert "begun" in small


def test_other_properties_are_not_found(small: list[str]) -> None:
    """A scan in place of the index of a property finds no triples of others."""
    a, b, c, of, is_, other, p, r = (IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "of", "is", "other", "p", "r"))
    reasoner = Reasoner(SCHEMA)
    reasoner.add_triples([(a, p, b), (a, r, b), (p, of, c), (r, other, c)])
    assert (a, is_, c) in set(reasoner.triples())
    reasoner.remove_triples([(p, of, c)])
    assert set(reasoner.triples()) == {(a, p, b), (a, r, b), (r, other, c)}
    assert "begun" in small
