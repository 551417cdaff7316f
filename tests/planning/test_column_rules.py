"""Rules over one atom whose functions are evaluated on columns: every strategy against the oracle, and what is stored for them."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Limits, Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.evaluation import column_insertion
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import LimitError, ReasonerError
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import IRI, Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

RULES: Final = """
next(?y, ?x + 1) :- v(?x, ?y) .
half(?x, ?h) :- v(?x, ?y), ?x > 2, ?h = ?x / 2 .
same(?x, "b") :- v(?x, ?x) .
least(?x) :- v(?x, 1), ?x <= 3, ?x != 2 .
chain(?x, ?b) :- v(?x, ?y), ?a = ?y * 2, ?b = ?a - ?x, ?b > 0 .
known(?x, ?y) :- v(?x, ?y), ?y = ?x % 2 .
text(?y) :- v(?x, ?y), CONTAINS(STR(?x), "a") .
differ(?x, ?y) :- v(?x, ?y), !SAMETERM(?x, ?y) .
kind(?x, IF(ISIRI(?y), "iri", "other")) :- v(?x, ?y) .
sums(?k, ?s) :- AGGREGATE(v(?x, ?y), ?k = ?y % 3 ON ?k BIND SUM(?x) AS ?s BIND COUNT(?x) AS ?n) .
counts(?k, ?n) :- AGGREGATE(v(?x, ?y), ?k = ?y % 3, ?x > 0 ON ?k BIND COUNT(?x) AS ?n) .
recursive(?x) :- v(?x, _) . recursive(?x + 1) :- recursive(?x), ?x < 5 .
lone(?x, ?z) :- next(?x, ?y), ?z = ?y + 1, NOT known(?x, ?z) .
further(?z) :- next(?y, ?z), ?z > 3 .
"""
NUMBERS: Final = [
    *map(literal, (0, 1, 2, 3, 4, -5, 2**53, 1.5, float("nan"))),
    Literal("0.5", literal(1).datatype.replace("integer", "decimal")),
]
TERMS: Final[list[Term]] = [*NUMBERS, Literal("a"), Literal("b\n"), IRI("urn:a"), Literal("01", literal(1).datatype)]
ROWS: Final = st.sets(st.tuples(st.sampled_from(TERMS), st.sampled_from(TERMS)), max_size=30)
TRANSACTIONS: Final = st.lists(st.tuples(ROWS, ROWS, st.sampled_from([True, True, False])), min_size=1, max_size=3)


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let columns evaluate whatever they can, in small blocks; return the sizes of these blocks."""
    sizes: list[int] = []
    heads = column_insertion.ColumnRule.heads

    def noted(self: Any, rows: Any) -> Any:
        sizes.append(len(rows))
        return heads(self, rows)

    monkeypatch.setattr(column_insertion, "MANY", 1)
    monkeypatch.setattr(column_insertion, "BLOCK", 7)
    monkeypatch.setattr(column_insertion.ColumnRule, "heads", noted)
    return sizes


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(100))
@given(transactions=TRANSACTIONS)
def test_strategies_agree_with_the_oracle(strategy: Any, transactions: list[tuple[Any, Any, bool]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_insertion, "MANY", 1)
        patch.setattr(column_insertion, "BLOCK", 7)
        reasoner = Reasoner(RULES, maintenance=strategy)
        present: set[tuple[Term, ...]] = set()
        for removed, added, is_kept in transactions:
            transaction = reasoner.transaction().begin()
            transaction.remove_facts("v", removed)
            transaction.add_facts("v", added)
            if is_kept:
                transaction.commit()
                present = (present - removed) | added
            else:
                transaction.rollback()
            expected = evaluate(reasoner.program, {"v": present})
            for name in sorted({rule.head.predicate for rule in reasoner.program.rules}):
                if not name.startswith("_"):
                    assert set(reasoner.facts(name)) == expected.get(name, set()), name


def test_only_heads_are_stored(blocks: list[int]) -> None:
    reasoner = Reasoner("p(?y, ?x + 1) :- v(?x, ?y) .")
    reasoner.add_facts("v", [(literal(number), literal("a")) for number in range(20)])
    assert len(set(reasoner.facts("p"))) == 20
    assert blocks == [7, 7, 6]
    assert sum(record.count for record in reasoner.core.engine.database.relations.records) == 20 + 20


def test_few_rows_are_left_to_kernels(blocks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_insertion, "MANY", 21)
    reasoner = Reasoner("p(?x + 1) :- v(?x) . q(?x) :- v(?x), ?x > 3 .")
    reasoner.add_facts("v", [(literal(number),) for number in range(20)])
    assert [len(set(reasoner.facts(name))) for name in "pq"] == [20, 16]
    assert not blocks


@pytest.mark.parametrize(
    "rule",
    [
        "p(?x + 1) :- p(?x), ?x < 9 .",
        "p(?x + 1) :- v(?x), w(?x) .",
        "p(f(?x)) :- v(?x) .",
        'p(?y) :- v(?x), ?y IN SPLIT(STR(f(?x)), ",") .',
    ],
)
def test_what_is_left_to_kernels(blocks: list[int], rule: str) -> None:
    reasoner = Reasoner("p(?x) :- v(?x) .")
    reasoner.function("f", "integer", returns="integer")(lambda number: number)
    reasoner.add_program(rule)
    reasoner.add_facts("v", [(literal(number),) for number in range(20)])
    reasoner.materialise()
    assert not blocks


def test_rules_that_come_and_go(blocks: list[int]) -> None:
    reasoner = Reasoner("p(?x + 1) :- v(?x) . q(?x) :- p(?x), ?x > 1 .")
    reasoner.add_facts("v", [(literal(number),) for number in range(3)])
    assert set(reasoner.facts("q")) == {(literal(2),), (literal(3),)}
    reasoner.remove_rules(parse("p(?x + 1) :- v(?x) .").rules)
    reasoner.add_facts("v", [(literal(number),) for number in range(3, 6)])
    assert not set(reasoner.facts("q")) and not set(reasoner.facts("p"))
    reasoner.add_program("p(?x + 1) :- v(?x) .")
    reasoner.add_facts("v", [(literal(number),) for number in range(6, 9)])
    assert set(reasoner.facts("q")) == {(literal(number),) for number in range(2, 10)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_the_next_update_takes_back_is_marked(blocks: list[int], strategy: Any) -> None:
    reasoner = Reasoner("p(?x + 1) :- v(?x) . n(?n) :- AGGREGATE(p(?x) BIND COUNT(?x) AS ?n) .", maintenance=strategy)
    rows = [(literal(number),) for number in range(20)]
    updates = [Update(added={"v": rows[:10]}), Update(added={"v": rows[10:]}), Update(removed={"v": rows[5:15]}), Update()]
    for _ in reasoner.process(updates, marking=True):
        assert set(reasoner.facts("p")) == {(literal(int(number.lexical) + 1),) for (number,) in reasoner.facts("v")}
    assert len(list(reasoner.facts("p"))) == 10


def test_limits_are_checked_between_blocks(blocks: list[int]) -> None:
    reasoner = Reasoner("p(?x + 1) :- v(?x) .", limits=Limits(facts=60))
    reasoner.add_facts("v", [(literal(number),) for number in range(40)])
    with pytest.raises(LimitError):
        reasoner.materialise()
    assert sum(blocks) < 40


def test_a_value_that_is_too_large_names_the_rule(blocks: list[int]) -> None:
    reasoner = Reasoner("p(?x * ?x) :- v(?x) .")
    reasoner.add_facts("v", [(Literal("9" * 600, literal(1).datatype),), (literal(1),)])
    with pytest.raises(ReasonerError, match=r"in the rule p\("):
        reasoner.materialise()


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "dbsp"])
def test_updates_of_one_stratum_use_columns(strategy: Any, blocks: list[int]) -> None:
    """Large updates do; facts that are removed with them are gone."""
    reasoner = Reasoner("next(?y, ?x + 1) :- v(?x, ?y) .", maintenance=strategy)
    reasoner.add_facts("v", [(literal(1), literal(2))])
    assert len(reasoner.facts("next")) == 1
    blocks.clear()
    with reasoner.transaction() as tx:
        tx.add_facts("v", [(literal(number), literal(number)) for number in range(20)])
        tx.remove_facts("v", [(literal(1), literal(2))])
    found = {(y.lexical, x.lexical) for y, x in reasoner.facts("next")}
    assert found == {(str(number), str(number + 1)) for number in range(20)}
    assert strategy == "counting" or sum(blocks) >= 20


def test_profiles_use_columns(blocks: list[int]) -> None:
    """And count what they find for each rule."""
    reasoner = Reasoner("@rule next\nnext(?y, ?x + 1) :- v(?x, ?y) .\n@rule low\nlow(?x) :- v(?x, ?y), ?y < 5 .")
    reasoner.add_facts("v", [(literal(number), literal(number)) for number in range(20)])
    with reasoner.profile() as profile:
        assert len(reasoner.facts("next")) == 20
    assert sum(blocks) == 40
    found = {row.label.partition(":")[0]: (row.instances, row.new) for row in profile.rows() if row.kind != "step"}
    assert found == {"next": (20, 20), "low": (5, 5)}
