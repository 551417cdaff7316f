"""How tables grow: what loading leaves free, how indexes are built, and which relations an update looks at."""

from __future__ import annotations

import numpy as np
import pytest

from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.language.checks import analysis
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.capacities import FILL, fill_of
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.relations import changing_relations
from kg_reasoner.terms import literal

ROWS = 40_000


def loaded(rows: Rows) -> tuple[Database, int]:
    """A database with one relation."""
    database = Database()
    relation = database.add_relation(rows.shape[1])
    database.load(relation, rows)
    return database, relation


def test_what_is_loaded_leaves_room() -> None:
    """A first further row does not copy all others."""
    database, relation = loaded(np.arange(2 * ROWS, dtype=np.int32).reshape(-1, 2))
    before = database.relations[relation].rows
    database.load(relation, np.array([[-5, -6]], np.int32))
    assert database.relations[relation].rows is before


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_a_hash_table_takes_few_bytes(arity: int) -> None:
    """Beside the rows and their flags, a slot of four bytes, and as many again while the table is not full."""
    database, _ = loaded(np.repeat(np.arange(ROWS, dtype=np.int32)[:, None], arity, axis=1))
    beside = database.nbytes - ROWS * (4 * arity + 2)
    assert beside <= 2 * 4 * ROWS / fill_of(arity)


@pytest.mark.parametrize(("arity", "entry"), [(2, 8), (3, 4)])
@pytest.mark.parametrize("later", [False, True], ids=["built", "maintained"])
def test_an_index_of_few_keys_has_little_unused_room(arity: int, entry: int, later: bool) -> None:
    """Whether all rows are there when it is built, or most come later. Entries of triples are rows only."""
    rows = np.repeat(np.arange(ROWS, dtype=np.int32)[:, None], arity, axis=1)
    rows[:, 0] %= 7
    database, relation = loaded(rows[: ROWS // 8] if later else rows)
    number = database.index(relation, (0,))
    database.build(number)
    if later:
        database.load(relation, rows[ROWS // 8 :])
    assert database.matching(relation, (0,), (3,)).tolist() == np.flatnonzero(rows[:, 0] == 3).tolist()
    index = database.indexes[number]
    pages = 7 << index.page_bits
    assert 2 * pages < ROWS and index.top <= ROWS + 2 * pages
    arena = index.arena if arity == 2 else index.row_arena
    assert arena.itemsize == entry


def test_numbers_of_rows_outgrow_their_bits() -> None:
    """A few tuples that come and go have ever more rows, most of them dead, until they are compacted."""
    database, relation = loaded(np.array([[1, 2], [3, 4]], np.int32))
    facts, room = np.array([[1, 2]], np.int32), database.relations[relation].row_mask + 1
    for _ in range(2 * room):
        assert database.retract(relation, facts).all() and not database.have_flag(relation, facts).any()
        assert database.load(relation, facts).all() and database.have_flag(relation, facts).all()
    record = database.relations[relation]
    assert record.count > room and record.row_mask >= record.count
    assert record.mask + 1 < room


@pytest.mark.parametrize("distinct", [1, 100, ROWS], ids=["one", "few", "all"])
@pytest.mark.parametrize("late", [False, True], ids=["even", "late"])
def test_an_index_has_every_row_and_little_else(distinct: int, late: bool) -> None:
    """Also if there are fewer keys than the first rows let expect: these have a key each, if the others are `late`."""
    keys = np.arange(ROWS, dtype=np.int32) % distinct
    if late:
        keys[: ROWS // 8] = np.arange(ROWS // 8) + distinct
    database, relation = loaded(np.stack([keys, np.arange(ROWS, dtype=np.int32)], axis=1))
    number = database.index(relation, (0,))
    for key in np.unique(keys)[:: max(1, ROWS // 50)].tolist():
        assert database.matching(relation, (0,), (key,)).tolist() == np.flatnonzero(keys == key).tolist()
    index = database.indexes[number]
    assert index.used == len(np.unique(keys))
    assert index.mask + 1 <= max(4 * index.used / FILL, 2048)


@pytest.mark.parametrize("few", [0, 1000])
def test_an_update_looks_at_relations_with_new_rows_only(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of them is that of a look at all relations, whether rules, facts or relations came before."""
    monkeypatch.setattr(changing_relations, "_FEW", few)
    rules = " ".join(f"p{number + 1}(?x) :- p{number}(?x) ." for number in range(0, 8, 2))
    reasoner = Reasoner(rules)
    database = reasoner.engine.database

    def growing() -> list[int]:
        return database.context.grown[: database.context.grown_count].tolist()

    def with_new_rows() -> list[int]:
        counts = [record.count for record in database.relations.records]
        assert database.have_rows().tolist() == [count > 0 for count in counts]
        return [number for number, count in enumerate(counts) if count > database.materialised[number]]

    for number in range(8):
        reasoner.add_facts(f"p{number}", [(literal(0),)])
    reasoner.materialise()
    reasoner.remove_facts("p5", [(literal(0),)])
    reasoner.materialise()
    assert (database.context.has_listed_grown, growing()) == (1, [])
    for name, value in (("p6", 1), ("p2", 1), ("p6", 2), ("p2", 0)):
        reasoner.add_facts(name, [(literal(value),)])
    assert growing()[::-1] == with_new_rows() == database.grown() != []
    reasoner.add_facts("other", [(literal(1),)])
    assert sorted(growing()) == with_new_rows() == database.grown()
    reasoner.materialise()
    assert (database.context.has_listed_grown, growing(), database.grown(), with_new_rows()) == (1, [], [], [])
    assert [len(list(reasoner.facts(f"p{number}"))) for number in (2, 3, 6, 7)] == [2, 2, 3, 3]
    reasoner.add_program("other(?x) :- p7(?x) .")
    reasoner.materialise()
    assert (database.context.has_listed_grown, growing(), with_new_rows()) == (1, [], [])
    assert len(list(reasoner.facts("other"))) == 3
    reasoner.add_facts("p6", [(literal(3),)])
    assert growing() == with_new_rows() == database.grown() != []
    assert len(list(reasoner.facts("other"))) == 4
    assert (database.context.has_listed_grown, growing()) == (1, [])


@pytest.mark.parametrize("name", rulesets.names())
def test_rule_sets_of_the_package_need_no_further_check(name: str) -> None:
    """A reasoner with one has the program that it would have if the rules had been added to it."""
    program = rulesets.packaged(name).program
    analysis.check(program)
    assert not list(analysis.homonyms(program))
    added = Reasoner()
    added.add_program(rulesets.load(name).program)
    assert added.program == program == Reasoner(ruleset=name).program
    assert added.rules == Reasoner(ruleset=name).rules


def test_heads_of_copied_rows_have_their_room_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables do not double step by step where rules copy whole rows; where they copy some columns, nobody knows how many differ."""
    grown: list[int] = []
    grow = Database.grow
    monkeypatch.setattr(Database, "grow", lambda self, number=None: (grown.append(self.context.wanted), grow(self, number))[1])
    rules = "q(?x, ?y) :- p(?x, ?y) . r(?y, ?x) :- q(?x, ?y) . s(?x) :- r(?x, ?y) . same(?x, ?x) :- p(?x, ?y) ."
    reasoner = Reasoner(rules, threads=1)
    numbers = [literal(number) for number in range(5000)]
    reasoner.add_facts("p", [(numbers[place % 9], number) for place, number in enumerate(numbers)])
    reasoner.materialise()
    assert [sum(1 for _ in reasoner.facts(name)) for name in ("q", "r", "s", "same")] == [5000, 5000, 5000, 9]
    predicates = reasoner.engine.base.catalog.predicates
    assert predicates["s"] in grown and not {predicates["q"], predicates["r"]} & set(grown)
    words = reasoner.engine.base.database.relations
    assert words[predicates["same"]].capacity < 5000
