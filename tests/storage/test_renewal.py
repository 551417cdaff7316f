"""Large relations grow and are compacted in steps: at any step, and with any changes meanwhile, everything is as it should be."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.errors import CapacityError
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.relations import growing_relations, renewal
from kg_reasoner.terms import IRI, literal
from tests.helpers.oracle import evaluate

PATHS = (
    "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . both(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z) ."
)
COPIES = "[?x, ?q, ?y] :- [?x, ?p, ?y], [?p, <http://example.org/implies>, ?q] ."


@pytest.fixture(autouse=True, params=[4, 64])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Relations count as large from a few rows on, and are renewed in steps of different sizes. Returns the renewed ones."""
    done: list[int] = []
    note = Database.note_renewal

    def noted(database: Database, number: int, gone: int) -> None:
        note(database, number, gone)
        done.append(number)

    monkeypatch.setattr(Database, "note_renewal", noted)
    small = table_capacities.Capacities(rows=2, slots=4, arena=4, grown_rows=4, grown_slots=8, grown_arena=8, dead=2, large=4)
    monkeypatch.setattr(table_capacities, "current", small)
    for name, value in (("SLICE", request.param), ("WORK", request.param), ("FILLED", 64)):
        monkeypatch.setattr(renewal, name, value)
    yield done


def numbers(reasoner: Reasoner) -> None:
    """Expect the counters of rows to be those of the rows."""
    database = reasoner.engine.database
    assert database.context.total == sum(record.count for record in database.relations.records)
    for number, record in enumerate(database.relations.records):
        assert record.dead == record.count - len(database.rows(number))


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
@pytest.mark.sample(3)
def test_random_changes_of_facts(strategy: str, small: list[int]) -> None:
    """Facts that are deleted and come back while their relation is renewed are there once, and those that are gone are not."""
    random = Random(3)
    reasoner = Reasoner(PATHS, maintenance=strategy)  # type: ignore[arg-type]
    nodes = [literal(number) for number in range(5)]
    edges = [(x, y) for x in nodes for y in nodes]
    there: set[object] = set()
    for _ in range(60):
        chosen = random.sample(edges, 3)
        removed, added = [edge for edge in chosen if edge in there], [edge for edge in chosen if edge not in there]
        with reasoner.transaction() as transaction:
            transaction.remove_facts("edge", removed)
            transaction.add_facts("edge", added)
        there = (there - set(removed)) | set(added)
        expected = evaluate(reasoner.program, {"edge": there})
        for name in ("edge", "path", "both"):
            assert set(reasoner.facts(name)) == expected.get(name, set())
        numbers(reasoner)
    assert small


def test_triples_in_sections(small: list[int]) -> None:
    """In a triple table, indexes of parts of the rows are renewed, too."""
    random = Random(5)
    reasoner = Reasoner(COPIES)
    terms = [IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "d", "implies")]
    triples = [(x, p, y) for x in terms for p in terms for y in terms]
    there: set[object] = set()
    for _ in range(40):
        chosen = random.sample(triples, 3)
        removed, added = [triple for triple in chosen if triple in there], [triple for triple in chosen if triple not in there]
        with reasoner.transaction() as transaction:
            transaction.remove_triples(removed)
            transaction.add_triples(added)
        there = (there - set(removed)) | set(added)
        assert set(reasoner.triples()) == evaluate(reasoner.program, {"[]": there})["[]"]
        numbers(reasoner)
    assert small


def test_rules_and_bulk_come_between() -> None:
    """A successor is discarded where the relation changes as a whole."""
    reasoner = Reasoner("p(?x) :- q(?x) .")
    for number in range(60):
        reasoner.add_facts("q", [(literal(number),)])
        reasoner.materialise()
        if number % 7 == 0:
            reasoner.add_program(f"p{number}(?x) :- q(?x), p(?x) .")
        if number % 11 == 0:
            reasoner.add_facts("q", [(literal(1000 * number + more),) for more in range(40)])
    facts = set(reasoner.facts("q"))
    assert len(facts) == 60 + 5 * 40
    assert set(reasoner.facts("p")) == set(reasoner.facts("p0")) == set(reasoner.facts("p56")) == facts
    numbers(reasoner)


def test_successors_have_no_more_rows_than_can_be_numbered(monkeypatch: pytest.MonkeyPatch, small: list[int]) -> None:
    for module in (growing_relations, renewal):
        monkeypatch.setattr(module, "MOST", 50)
    reasoner = Reasoner("p(?x) :- q(?x) .")
    with pytest.raises(CapacityError, match="50 facts, the maximal number"):
        for number in range(51):
            reasoner.add_facts("q", [(literal(number),)])
            reasoner.materialise()
    assert number == 50
    assert small


def test_without_memory_for_two_it_grows_at_once() -> None:
    """What is done ahead never exceeds a limit that the update itself keeps."""
    reasoner = Reasoner("p(?x) :- q(?x) .")
    for number in range(60):
        reasoner.add_facts("q", [(literal(number),)])
        reasoner.materialise()
    used = reasoner.engine.nbytes
    with reasoner.limited(Limits(memory=used + 200)):
        reasoner.remove_facts("q", [(literal(number),) for number in range(3)])
        reasoner.materialise()
    assert len(list(reasoner.facts("p"))) == 57
