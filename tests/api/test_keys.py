"""Primary keys: random changes by key against a dict, with rollbacks, by every strategy; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import (
    ArityError,
    ColumnTypeError,
    KeyViolationError,
    ReasonerError,
    RuleSyntaxError,
    TransactionError,
    UnknownNameError,
)
from kg_reasoner.terms import literal

PROGRAM = """
    input relation box(room: integer, id: integer, weight: integer, owner: string) primary key (id, room) .
    index by_owner on box(owner) .
    heavy(?o) :- box(?r, ?i, ?w, ?o), FILTER(?w > 1) .
    total(?o, ?n) :- AGGREGATE(box(?r, ?i, ?w, ?o) ON ?o BIND SUM(?w) AS ?n) .
    light(?o) :- box(_, _, _, ?o), NOT heavy(?o) .
    box(9, 9, 9, "program") .
"""
Row = tuple[int, int, int, str]
SMALL = st.integers(0, 2)
ROWS = st.tuples(SMALL, SMALL, SMALL, st.sampled_from("ab"))
CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(ROWS, max_size=3)),
    st.tuples(st.just("table"), st.lists(ROWS, min_size=1, max_size=3)),
    st.tuples(st.just("remove"), st.lists(ROWS, max_size=2)),
    st.tuples(st.just("replace"), st.lists(ROWS, max_size=3)),
    st.tuples(st.just("delete"), st.lists(st.tuples(SMALL, SMALL), max_size=2)),
    st.tuples(st.just("modify"), st.tuples(st.tuples(SMALL, SMALL), st.dictionaries(st.sampled_from(["room", "weight"]), SMALL))),
)


class Model:
    """A dict from keys to rows, and what each change does to it; KeyError where it is refused."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int], Row] = {(9, 9): (9, 9, 9, "program")}

    def change(self, kind: str, argument: Any) -> None:
        rows = dict(self.rows)
        if kind in ("add", "table", "replace"):
            own: dict[tuple[int, int], Row] = {}
            for row in argument:
                key = row[1], row[0]
                if own.setdefault(key, row) != row or (kind != "replace" and rows.get(key, row) != row):
                    raise KeyError(key)
            rows |= own
        elif kind == "remove":
            for row in argument:
                if rows.get((row[1], row[0])) == row:
                    del rows[row[1], row[0]]
        elif kind == "delete":
            for key in argument:
                if key not in self.rows:
                    raise KeyError(key)
                rows.pop(key, None)
        else:
            key, columns = argument
            row = rows.pop(key)
            new = (columns.get("room", row[0]), row[1], columns.get("weight", row[2]), row[3])
            if (new[1], new[0]) in rows:  # of another fact, even if that is now the same
                raise KeyError(key)
            rows[new[1], new[0]] = new
        self.rows = rows


def apply(target: Any, kind: str, argument: Any) -> None:
    if kind == "modify":
        target.modify("box", argument[0], **argument[1])
    elif kind == "delete":
        target.delete_key("box", argument)
    elif kind == "table":
        target.add_table(
            "box",
            {
                name: list(values)
                for name, values in zip(["room", "id", "weight", "owner"], zip(*argument, strict=True), strict=True)
            },
        )
    else:
        name = {"add": "add_facts", "remove": "remove_facts", "replace": "insert_or_update"}[kind]
        getattr(target, name)("box", [tuple(map(literal, row)) for row in argument])


def check(reasoner: Reasoner, model: Model) -> None:
    rows = set(model.rows.values())
    assert set(reasoner.facts("box")) == {tuple(map(literal, row)) for row in rows}
    heavy = {row[3] for row in rows if row[2] > 1}
    assert set(reasoner.facts("heavy")) == {(literal(owner),) for owner in heavy}
    assert set(reasoner.facts("light")) == {(literal(row[3]),) for row in rows if row[3] not in heavy}
    assert set(reasoner.query_index("by_owner", "a")) == {tuple(map(literal, row)) for row in rows if row[3] == "a"}
    totals = {owner: sum(row[2] for row in rows if row[3] == owner) for *_, owner in rows}
    assert set(reasoner.facts("total")) == {(literal(owner), literal(total)) for owner, total in totals.items()}


@given(st.lists(st.tuples(st.lists(CHANGES, max_size=4), st.booleans()), max_size=4), st.sampled_from(sorted(STRATEGIES)))
def test_random_changes(transactions: list[tuple[list[tuple[str, Any]], bool]], strategy: Any) -> None:
    reasoner, model = Reasoner(PROGRAM, maintenance=strategy), Model()
    for changes, is_kept in transactions:
        before, tx = dict(model.rows), reasoner.transaction().begin()
        for kind, argument in changes:
            try:
                model.change(kind, argument)
            except KeyError:
                with pytest.raises(KeyViolationError):
                    apply(tx, kind, argument)
            else:
                apply(tx, kind, argument)
        if is_kept:
            tx.commit()
        else:
            tx.rollback()
            model.rows = before
        check(reasoner, model)


def test_a_fact_does_not_become_another_one() -> None:
    reasoner = Reasoner(PROGRAM)
    reasoner.add_facts("box", [tuple(map(literal, row)) for row in ((0, 0, 0, "a"), (1, 0, 0, "a"))])
    with pytest.raises(KeyViolationError, match="have the same primary key"):
        reasoner.modify("box", (0, 0), room=1)
    assert len(list(reasoner.facts("box"))) == 3


@pytest.mark.parametrize("call", ["insert_or_update", "add_facts"])
def test_two_facts_of_a_call_have_different_keys(call: str) -> None:
    reasoner = Reasoner(PROGRAM)
    rows = [tuple(map(literal, row)) for row in ((1, 2, 3, "a"), (1, 2, 4, "b"))]
    with pytest.raises(KeyViolationError) as caught:
        getattr(reasoner, call)("box", rows)
    assert caught.value.hint == "both are given at once: leave out one of them"
    reasoner.add_facts("box", rows[:1])
    with pytest.raises(KeyViolationError) as caught:
        reasoner.add_facts("box", rows[1:])
    assert caught.value.hint == "insert_or_update replaces the fact with a key"


def test_the_error_names_both_facts() -> None:
    reasoner = Reasoner(PROGRAM)
    with pytest.raises(
        KeyViolationError, match=r'box\(1, 2, 4, "b"\) and box\(1, 2, 3, "a"\) have the same primary key \(id, room\)'
    ):
        reasoner.add_facts("box", [tuple(map(literal, row)) for row in ((1, 2, 3, "a"), (1, 2, 4, "b"))])
    assert len(reasoner.facts("box")) == 1
    with pytest.raises(KeyViolationError, match="the program states box"):
        reasoner.delete_key("box", [(9, 9)])
    with pytest.raises(KeyViolationError, match=r"box has no fact with the primary key id = .*1.*, room = "):
        reasoner.delete_key("box", [(1, 1)])


def test_a_modified_fact_does_not_become_another_one() -> None:
    """Two facts would become one in silence."""
    reasoner = Reasoner("input relation box(id: integer, place: string) primary key (id) . ")
    reasoner.add_facts("box", [(literal(1), literal("a")), (literal(2), literal("b"))])
    with pytest.raises(KeyViolationError, match="same primary key"):
        reasoner.modify("box", 1, id=2, place="b")
    assert sorted(text.lexical for _, text in reasoner.facts("box")) == ["a", "b"]
    reasoner.modify("box", 1, id=3, place="b")
    assert sorted(number.lexical for number, _ in reasoner.facts("box")) == ["2", "3"]


def test_many_rows_at_once() -> None:
    reasoner = Reasoner("input relation r(id: integer, x: integer) primary key (id) .")
    reasoner.add_table("r", {"id": range(2000), "x": range(2000)})
    reasoner.add_table("r", {"id": range(1990, 2100), "x": range(1990, 2100)})
    with pytest.raises(KeyViolationError, match=r"r\(7, 8\) and r\(7, 7\)"):
        reasoner.add_table("r", {"id": [3000, 7], "x": [1, 8]})
    reasoner.insert_or_update("r", [(literal(number), literal(0)) for number in range(1000)])
    assert sum(int(x.lexical) for _, x in reasoner.facts("r")) == sum(range(1000, 2100))  # type: ignore[union-attr]
    reasoner.delete_key("r", range(2099))
    assert [number.lexical for number, _ in reasoner.facts("r")] == ["2099"]  # type: ignore[union-attr]


def test_a_key_that_is_declared_later() -> None:
    reasoner = Reasoner()
    reasoner.add_table("r", {"id": [1, 1], "x": [1, 2]})
    declaration = "input relation r(id: integer, x: integer) primary key (id) ."
    with pytest.raises(KeyViolationError, match=r"r\(1, 2\) and r\(1, 1\)"):
        reasoner.add_program(declaration)
    assert not reasoner.program.declarations
    reasoner.remove_facts("r", [(literal(1), literal(2))])
    reasoner.add_program(declaration)
    with pytest.raises(KeyViolationError, match="have the same primary key"):
        reasoner.add_program("r(1, 3) .")
    with pytest.raises(RuleSyntaxError, match="a rule derives r, which has a primary key"):
        reasoner.add_program("r(?x, ?x) :- s(?x) .")
    reasoner.add_program("r(1, 1) . r(2, 2) .")
    assert len(reasoner.facts("r")) == 2


def test_a_replaced_fact_in_a_delta() -> None:
    reasoner = Reasoner(PROGRAM)
    reasoner.add_facts("box", [(literal(1), literal(1), literal(5), literal("a"))])
    with reasoner.transaction() as tx:
        tx.modify("box", (1, 1), weight=1)
    assert sorted(str(tx.delta).splitlines()) == [
        '+ box(1, 1, 1, "a")  explicit',
        '+ light("a")  derived',
        '+ total("a", 1)  derived',
        '- box(1, 1, 5, "a")  explicit',
        '- heavy("a")  derived',
        '- total("a", 5)  derived',
    ]


def test_what_is_refused() -> None:
    reasoner = Reasoner(PROGRAM + "input relation plain(x: any) .")
    row = tuple(map(literal, (1, 1, 5, "a")))
    reasoner.add_facts("box", [row])
    for predicate in ("plain", "unknown"):
        with pytest.raises(ReasonerError, match=f"{predicate} has no primary key; declare one"):
            reasoner.delete_key(predicate, [1])
    with pytest.raises(ReasonerError, match=r"a key of box has 2 values \(id, room\), not 1"):
        reasoner.delete_key("box", [1])
    with pytest.raises(UnknownNameError, match="unknown column of box"):
        reasoner.modify("box", (1, 1), wieght=2)
    with pytest.raises(ColumnTypeError):
        reasoner.modify("box", (1, 1), weight="a")
    with pytest.raises(ColumnTypeError):
        reasoner.insert_or_update("box", [(*row[:3], literal(1))])
    with pytest.raises(ArityError, match="box has 4 arguments, not 3"):
        reasoner.insert_or_update("box", [row[:3]])
    with pytest.raises(UnknownNameError, match="unknown index"):
        reasoner.query_index("by_onwer", 1)
    with pytest.raises(ArityError, match="the index by_owner has 1 column, not 2"):
        reasoner.query_index("by_owner", 1, 2)
    reasoner.insert_or_update("box", [])
    reasoner.delete_key("box", [])
    assert set(reasoner.facts("box", "explicit")) == {row}
    tx = reasoner.transaction()
    for change in (
        lambda: tx.delete_key("box", [(1, 1)]),
        lambda: tx.modify("box", (1, 1)),
        lambda: tx.insert_or_update("box", [row]),
    ):
        with pytest.raises(TransactionError):
            change()


def test_errors_show_keys_with_structure_as_they_are_written() -> None:
    reasoner = Reasoner("""
        type Id = Number(value: integer) | Name(text: string) .
        input relation box(id: Id, at: optional<string>) primary key (id) .
        box(Number(1), Some("hall")) .
    """)
    ((number, at),) = reasoner.facts("box")
    with pytest.raises(KeyViolationError, match=r'the program states box\(RECORD\("Number", 1\), RECORD\("Some", "hall"\)\)'):
        reasoner.delete_key("box", [number])
    with pytest.raises(KeyViolationError, match=r'no fact with the primary key id = RECORD\("Some", "hall"\)'):
        reasoner.delete_key("box", [at])


def test_columns_are_declared_once() -> None:
    for other in ("string", "any"):
        with pytest.raises(RuleSyntaxError, match="e has already been declared differently"):
            Reasoner(f"input relation e(x: integer) . output relation e(x: {other}) .")
    reasoner = Reasoner("input relation e(x: integer) . output relation e(x: integer) .")
    with pytest.raises(RuleSyntaxError, match="e has already been declared differently"):
        reasoner.add_program("relation e(y: integer) .")
    assert len(reasoner.program.declarations) == 2


def test_an_index_of_a_program_without_one() -> None:
    with pytest.raises(UnknownNameError) as caught:
        Reasoner("p(1) .").query_index("by_to", 1)
    assert str(caught.value) == "unknown index 'by_to'"
