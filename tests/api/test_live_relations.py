"""Streams, delays, differences and multisets: random transactions with rollbacks, compared with circuits and counters."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import RDF

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.api.declared_relations.ticks import Ticks
from kg_reasoner.dbsp.circuit import Circuit
from kg_reasoner.dbsp.zset import ZSet
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ArityError, ColumnTypeError, ReasonerError, RuleSyntaxError, StratificationError, TransactionError
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import literal
from tests.dbsp.test_dbsp_circuits import closure

PROGRAM = """
    input relation edge(from: integer, to: integer) .
    relation path(from: integer, to: integer) .
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .

    relation before(from: integer, to: integer) delay path .
    relation long_before(from: integer, to: integer) delay 3 path .
    relation fresh(from: integer, to: integer) difference path .
    relation lost(from: integer, to: integer) .
    lost(?x, ?y) :- before(?x, ?y), NOT path(?x, ?y) .
    relation fresh_start(from: integer) .
    fresh_start(?x) :- fresh(?x, _), NOT before(?x, _) .
    relation newest_start(from: integer) difference fresh_start .

    input stream ask(from: integer) .
    stream ask_before(from: integer) delay 2 ask .
    relation asked(from: integer) difference ask .
    output stream answer(from: integer, to: integer) .
    answer(?x, ?y) :- ask(?x), path(?x, ?y) .
    stream unknown(from: integer) .
    unknown(?x) :- ask(?x), NOT path(?x, _) .
    unknown(?x) :- ask_before(?x), NOT path(?x, _) .
    stream how_many(from: integer, n: integer) .
    how_many(?x, ?n) :- AGGREGATE(ask(?x), path(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .
"""
Pairs = set[tuple[int, ...]]
NODES = st.integers(0, 3)
EDGES = st.frozensets(st.tuples(NODES, NODES), max_size=3)
TRANSACTIONS = st.lists(
    st.tuples(EDGES, EDGES, st.frozensets(st.tuples(NODES), max_size=2), st.sampled_from([True, True, False])), max_size=7
)


def terms(rows: Any) -> list[tuple[Any, ...]]:
    return [tuple(map(literal, row)) for row in rows]


def numbers(rows: Any) -> Pairs:
    return {tuple(int(term.lexical) for term in row) for row in rows}


def circuit() -> Circuit:
    """What the relations are, as the operators of circuits."""
    made = Circuit()
    edges, asks = made.input("edge", 2), made.input("ask", 1)
    changes = closure(edges, True)
    paths = changes.integrate()
    made.output("path", paths)
    made.output("before", paths.delay())
    made.output("long_before", paths.delay().delay().delay())
    made.output("change", paths.differentiate())
    made.output("ask_before", asks.delay().delay())
    made.build()
    return made


@given(TRANSACTIONS, st.sampled_from(sorted(STRATEGIES)), st.booleans())
def test_transactions_are_the_ticks_of_a_circuit(transactions: Any, strategy: Any, collects: bool) -> None:
    reasoner, model = Reasoner(PROGRAM, maintenance=strategy), circuit()
    edges: Pairs = set()
    shown: dict[str, Pairs] = {}
    starts: Pairs = set()
    for removed, added, asked, is_kept in transactions:
        tx = reasoner.transaction(collects).begin()
        tx.remove_facts("edge", terms(removed))
        tx.add_facts("edge", terms(added))
        tx.add_facts("ask", terms(asked))
        if not is_kept:
            list(reasoner.facts("answer"))
            tx.rollback()
            assert {name: numbers(reasoner.facts(name)) for name in shown} == shown
            continue
        after = (edges - removed) | added
        change = ZSet.of({**dict.fromkeys(after - edges, 1), **dict.fromkeys(edges - after, -1)}, 2)
        edges = after
        found = {name: value.as_dict() for name, value in model.step(edge=change, ask=ZSet.of(list(asked), 1)).items()}
        tx.commit()
        paths = set(found["path"])
        late_asks = set(found["ask_before"])
        fresh = {row for row, weight in found["change"].items() if weight > 0}
        expected_starts = {(x,) for x, _ in fresh} - {(x,) for x, _ in found["before"]}
        shown = {
            "path": paths,
            "before": set(found["before"]),
            "long_before": set(found["long_before"]),
            "fresh": fresh,
            "lost": set(found["before"]) - paths,
            "fresh_start": expected_starts,
            "newest_start": expected_starts - starts,
            "asked": set(asked),
            **{name: set() for name in ("ask", "ask_before", "answer", "unknown", "how_many")},
        }
        starts = expected_starts
        assert {name: numbers(reasoner.facts(name)) for name in shown} == shown
        gained = {name: numbers(tx.delta.added.facts(name)) for name in ("ask", "ask_before", "answer", "unknown", "how_many")}
        assert gained == {
            "ask": set(asked),
            "ask_before": late_asks,
            "answer": {row for row in paths if (row[0],) in asked},
            "unknown": {x for x in {*asked, *late_asks} if x not in {(y,) for y, _ in paths}},
            "how_many": {(x, len(ends)) for (x,) in asked if (ends := {y for start, y in paths if start == x})},
        }
        assert numbers(tx.delta.removed.facts("lost")).isdisjoint(shown["lost"])


@given(TRANSACTIONS)
def test_subscribers_have_the_same_relations_as_the_reasoner(transactions: Any) -> None:
    reasoner = Reasoner(PROGRAM)
    copy: dict[str, Pairs] = {}
    kept = ("path", "before", "long_before", "fresh", "lost", "fresh_start", "newest_start", "asked")

    def follow(delta: Any) -> None:
        for name in kept:
            copy[name] = (copy.get(name, set()) - numbers(delta.removed.facts(name))) | numbers(delta.added.facts(name))

    reasoner.subscribe(None, follow)
    for removed, added, asked, in_one in transactions:
        if in_one:
            with reasoner.transaction() as tx:
                tx.remove_facts("edge", terms(removed))
                tx.add_facts("edge", terms(added))
                tx.add_facts("ask", terms(asked))
        else:  # each change is a transaction
            reasoner.remove_facts("edge", terms(removed))
            reasoner.add_facts("edge", terms(added))
            reasoner.add_facts("ask", terms(asked))
        assert {name: copy.get(name, set()) for name in kept} == {name: numbers(reasoner.facts(name)) for name in kept}
        assert not len(reasoner.facts("ask"))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_members_and_nested_negation_of_streams(strategy: Any) -> None:
    reasoner = Reasoner(
        """
        input stream batch(numbers: list<integer>) .
        input stream hidden(number: integer) .
        input relation odd(number: integer) .
        output stream shown(number: integer) .
        output stream times(number: integer, count: integer) .
        shown(?n) :- batch(?numbers), ?n IN ?numbers, NOT (hidden(?n), odd(?n)) .
        times(?n, ?count) :- AGGREGATE(batch(?numbers), ?n IN ?numbers ON ?n BIND COUNT(?numbers) AS ?count) .
        """,
        maintenance=strategy,
    )
    reasoner.add_facts("odd", [(literal(1),), (literal(3),)])
    for batches, hidden, shown, times in (
        (["LIST(1, 2)", "LIST(2)"], [2], {1, 2}, {(1, 1), (2, 2)}),
        (["LIST(1, 2)", "LIST(3)"], [1, 4], {2, 3}, {(1, 1), (2, 1), (3, 1)}),
        ([], [1], set(), set()),
    ):
        with reasoner.transaction() as tx:
            tx.add_program("".join(f"given({text}) . " for text in batches))
            tx.add_facts("batch", list(reasoner.facts("given")))
            tx.add_facts("hidden", [(literal(number),) for number in hidden])
            tx.remove_rules([rule for rule in reasoner.rules if rule.head.predicate == "given"])
        assert {int(n.lexical) for (n,) in tx.delta.added.facts("shown")} == shown
        assert {(int(n.lexical), int(count.lexical)) for n, count in tx.delta.added.facts("times")} == times
        assert not tx.delta.removed
        assert not len(reasoner.facts("shown")) and not len(reasoner.facts("times"))


def test_a_fold_over_a_stream() -> None:
    reasoner = Reasoner("""
        input stream sale(item: string, price: integer) .
        relation sold(item: string, price: integer) difference sale .
        relation sums_before(item: string, sum: integer) delay total .
        part(?i, ?p) :- sold(?i, ?p) .
        part(?i, ?s) :- sums_before(?i, ?s) .
        output relation total(item: string, sum: integer) .
        total(?i, ?s) :- AGGREGATE(part(?i, ?p) ON ?i BIND SUM(?p) AS ?s) .
    """)
    sums: Counter[str] = Counter()
    for sales in ([("a", 1), ("b", 2)], [("a", 3)], [], [("c", 5), ("b", 7)]):
        with reasoner.transaction() as tx:
            tx.add_facts("sale", terms(sales))
        sums.update(dict(sales))
        assert {item.lexical: int(total.lexical) for item, total in reasoner.facts("total")} == sums  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("input stream s(x: any) . p(?x) :- s(?x) .", "p follows from the stream s, and is not a stream"),
        ("input stream s(x: any) . p(?x) :- q(?x), NOT s(?x) .", "p follows from the stream s, and is not a stream"),
        ("input stream s(x: any) . [?x, <urn:p>, ?x] :- s(?x) .", "follows from the stream s"),
        ("stream s(x: any) . s(?x) :- q(?x) .", "no stream is in the body of a rule for the stream s"),
        ("input stream t(x: any) . stream s(n: any) . s(?n) :- AGGREGATE(t(?x) BIND COUNT(*) AS ?n) .", "no stream is in the body"),
        ("stream s(x: any) . s(1) .", "the program states a fact of the stream s"),
        ("relation d(x: any) delay q . q(1) . d(?x) :- q(?x) .", "a rule derives d, which is a delay of q"),
        ("relation d(x: any) delay q .", "unknown relation q"),
        ("relation q(x: any, y: any) . relation d(x: any) delay q .", "d has 1 column, and q 2"),
        ("relation q(x: any) . input relation d(x: any) delay q .", "d is a delay, and cannot be an input"),
        ("relation q(x: any) . stream d(x: any) delay q .", "the delay of a relation is a relation"),
        ("input stream q(x: any) . relation d(x: any) delay q .", "the delay of a stream is a stream"),
        ("relation q(x: any) . relation d(x: any) difference 2 q .", "a difference spans one transaction"),
        ("relation q(x: any) . relation d(x: any) delay 0 q .", "a delay takes 1 to 1000 transactions"),
        ("relation q(x: any) . stream q(x: any) .", "q has already been declared differently"),
        ("input stream q(x: any) primary key (x) .", "only an input relation has a primary key"),
    ],
)
def test_programs_that_are_refused(program: str, message: str) -> None:
    with pytest.raises(RuleSyntaxError, match=message):
        Reasoner(program)


def test_an_undeclared_source_has_the_columns_of_its_delay() -> None:
    reasoner = Reasoner("relation before(x: integer) delay q . p(?x) :- q(?x) .")
    with pytest.raises(ColumnTypeError, match='"a" is not an integer, as column x of q is declared'):
        reasoner.add_facts("q", [(literal("a"),)])
    with pytest.raises(ArityError):
        reasoner.add_facts("q", [(literal(1), literal(2))])
    for number in (1, 2):
        reasoner.add_facts("q", [(literal(number),)])
    assert list(reasoner.facts("before")) == [(literal(1),)]


def test_a_difference_of_itself() -> None:
    with pytest.raises(StratificationError, match="a difference depends on itself: d -> d"):
        Reasoner("relation q(x: any) . relation d(x: any) difference q . q(?x) :- d(?x) .")
    with pytest.raises(StratificationError, match="depends on itself"):
        Reasoner("relation d(x: any) difference p . relation e(x: any) difference q . p(?x) :- e(?x) . q(?x) :- d(?x) .")
    Reasoner("relation q(x: any) . relation d(x: any) delay q . q(?x) :- d(?x) . relation e(x: any) difference d .")


def test_changes_that_are_refused() -> None:
    reasoner = Reasoner("relation d(x: any) delay q . p(?x) :- q(?x) .")
    for change in (reasoner.add_facts, reasoner.remove_facts):
        reasoner.add_facts("q", terms([(1,)]))
        with pytest.raises(ReasonerError, match="d is the delay of q, and not changed by hand"):
            change("d", terms([(1,)]))
    plain = Reasoner("p(?x) :- q(?x) .")
    with plain.transaction(), pytest.raises(TransactionError, match="declared outside of transactions"):
        plain.add_program("relation d(x: any) delay q .")
    plain.add_program("relation d(x: any) delay q .")
    plain.add_facts("q", terms([(1,)]))
    with plain.transaction() as tx:
        tx.add_program("relation e(x: any) difference p .")
        tx.add_facts("q", terms([(2,)]))
    assert numbers(plain.facts("d")) == {(1,)} and numbers(plain.facts("e")) == {(2,)}


# ---- multisets


@given(
    st.lists(
        st.tuples(st.lists(st.tuples(st.booleans(), st.lists(st.tuples(NODES, NODES), max_size=4)), max_size=3), st.booleans()),
        max_size=4,
    ),
    st.sampled_from(sorted(STRATEGIES)),
)
def test_multisets_count(transactions: Any, strategy: Any) -> None:
    reasoner = Reasoner(
        "input multiset r(x: integer, y: integer) . p(?x) :- r(?x, ?y) . q(?x) :- p(?x), NOT r(?x, ?x) .", maintenance=strategy
    )
    counts: Counter[tuple[int, int]] = Counter()
    for changes, is_kept in transactions:
        tx, before = reasoner.transaction().begin(), Counter(counts)
        for adds, rows in changes:
            if adds:
                tx.add_facts("r", terms(rows))
                counts.update(rows)
            else:
                tx.remove_facts("r", terms(rows))
                counts -= Counter(rows)
        if is_kept:
            tx.commit()
        else:
            tx.rollback()
            counts = before
        counts = +counts
        assert {next(iter(numbers([row]))): count for row, count in reasoner.counts("r")} == dict(counts)
        assert numbers(reasoner.facts("r")) == set(counts)
        assert numbers(reasoner.facts("q")) == {(x,) for x, _ in counts if (x, x) not in counts}
        assert set(reasoner.predicates()) <= {"r", "p", "q"}


def test_counts_are_of_multisets() -> None:
    reasoner = Reasoner("input multiset r(x: any) . p(?x) :- r(?x) . relation s(x: any) .")
    assert list(reasoner.counts("r")) == []
    for name in ("p", "s"):
        with pytest.raises(ReasonerError, match=f"{name} is not declared as a multiset"):
            reasoner.counts(name)


def test_a_transaction_of_a_graph_is_a_tick() -> None:
    reasoner = Reasoner("""
        input stream ask(x: integer) . relation asked(x: integer) difference ask .
        relation value(x: integer) . relation before(x: integer) delay value .
    """)
    graph = graph_of(reasoner)

    def seen() -> dict[str, list[str]]:
        return {name: [number.lexical for (number,) in reasoner.facts(name)] for name in ("asked", "before")}  # type: ignore[union-attr]

    with reasoner.transaction():
        reasoner.add_facts("ask", terms([(7,)]))
        reasoner.add_facts("value", terms([(1,)]))
    assert seen() == {"asked": ["7"], "before": []}
    graph.add((RDF.type, RDF.type, RDF.Property))
    assert seen() == {"asked": [], "before": ["1"]}
    reasoner.add_facts("ask", terms([(8,)]))
    graph.commit()
    assert seen() == {"asked": ["8"], "before": ["1"]}
    reasoner.add_facts("value", terms([(2,)]))
    assert seen() == {"asked": [], "before": ["1"]}
    graph.remove((None, None, None))
    graph.rollback()
    assert seen() == {"asked": [], "before": ["1"]}
    graph.remove((None, None, None))
    graph.commit()
    assert seen() == {"asked": [], "before": ["1", "2"]}


def test_differences_may_be_declared_after_a_transaction_was_made() -> None:
    reasoner = Reasoner()
    transaction = reasoner.transaction(collects=False)
    reasoner.add_program("relation value(x: integer) . relation news(x: integer) difference value .")
    with transaction:
        transaction.add_facts("value", terms([(1,)]))
    assert set(reasoner.facts("news")) == set(terms([(1,)]))


def test_a_delay_costs_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner("relation old(x: integer) delay q . relation older(x: integer) delay 3 q . p(?x) :- q(?x), NOT old(?x) .")
    reasoner.add_facts("q", [(literal(number),) for number in range(100)])
    compared: list[str] = []
    assign = Ticks._assign

    def counted(self: Ticks, predicate: str, rows: Ids) -> None:
        compared.append(predicate)
        assign(self, predicate, rows)

    monkeypatch.setattr(Ticks, "_assign", counted)
    for number in range(100, 106):
        if number == 103:  # every stage of the delays has been compared once
            compared.clear()
        with reasoner.transaction():
            reasoner.add_facts("q", [(literal(number),)])
            reasoner.remove_facts("q", [(literal(number - 100),)])
        with pytest.raises(ZeroDivisionError), reasoner.transaction():
            reasoner.add_facts("q", [(literal(-1),)])
            raise ZeroDivisionError
    assert compared == []
    assert {x for (x,) in reasoner.facts("old")} == {literal(number) for number in range(5, 105)}
    assert {x for (x,) in reasoner.facts("older")} == {literal(number) for number in range(3, 103)}
    reasoner.add_program("q(?x) :- r(?x) . relation third(x: integer) delay q .")
    reasoner.add_facts("r", [(literal(7000),)])
    reasoner.add_facts("s", [(literal(1),)])
    assert set(reasoner.facts("old")) == set(reasoner.facts("third")) == set(reasoner.facts("q"))
