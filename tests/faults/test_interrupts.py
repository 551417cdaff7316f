"""An update that is interrupted, wherever that happens, loses no explicit fact and no rule: what is read afterwards is right."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from inspect import CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeAlias

import pytest

import kg_reasoner
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import TransactionError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program, Rule
from kg_reasoner.storage import kernels
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.relations.indexes import IndexedRelations
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, Term, Triple, literal
from tests.helpers.effort import thinned

Make: TypeAlias = Callable[[], Reasoner]
Change: TypeAlias = Callable[[Reasoner], None]

PACKAGE = str(Path(kg_reasoner.__file__).parent)
KERNELS = str(Path(kernels.__file__).parent)
PLACES = 12
"""An update is interrupted at so many places, in a run each."""


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


A, B, P, Q, SUPER = map(ex, ["a", "b", "p", "q", "super"])
WIDE = "said(?p) :- [?s, ?p, ?o], [?p, rdfs:label, ?q] ."
"""A rule that asks for the other layout of triples."""


class Interrupts:
    """Raises KeyboardInterrupt when the package has called so many of its functions; None: never.

    Kernels do not count, as nothing interrupts compiled code; nor do generators: Python may ignore what is raised while one is
    being closed.
    """

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not _is_interruptible(frame.f_code):
            return
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt


def _is_interruptible(code: CodeType) -> bool:
    in_package = code.co_filename.startswith(PACKAGE) and not code.co_filename.startswith(KERNELS)
    return in_package and not code.co_flags & CO_GENERATOR


def calls_of(function: Callable[[], object], interrupt_at: int | None = None) -> int:
    """Call a function, maybe interrupt it, and say how many functions of the package it has called."""
    interrupts, former = Interrupts(interrupt_at), sys.getprofile()
    sys.setprofile(interrupts)
    try:
        function()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(former)
    return interrupts.calls


def state(reasoner: Reasoner) -> tuple[set[Triple], set[Triple], dict[str, set[tuple[Term, ...]]]]:
    facts = {name: set(reasoner.facts(name)) for name in reasoner.predicates()}
    return set(reasoner.triples()), set(reasoner.triples(which="explicit")), {name: rows for name, rows in facts.items() if rows}


def facts_and_rules(reasoner: Reasoner) -> None:
    reasoner.remove_facts("edge", [(literal("a"), literal("b"))])
    reasoner.add_facts("edge", [(literal("c"), literal("a"))])
    reasoner.add_program("end(?x) :- path(_, ?x), NOT edge(?x, _) .")
    reasoner.remove_rules(parse("back(?y, ?x) :- edge(?x, ?y) .").rules)


def schema_and_layout(reasoner: Reasoner) -> None:
    reasoner.add_triples([(Q, RDFS.subPropertyOf, SUPER)])
    reasoner.remove_triples([(P, RDFS.subPropertyOf, SUPER)])
    reasoner.add_program(WIDE)


def other_names(reasoner: Reasoner) -> None:
    reasoner.remove_triples([(A, OWL.sameAs, B)])
    reasoner.add_triples([(P, OWL.sameAs, Q), (ex("c"), OWL.sameAs, ex("d"))])


EDGES = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    back(?y, ?x) :- edge(?x, ?y) .
    edge("b", "c") .
"""
TRANSLATE = "@translate dlp ."
TRIPLES: list[Triple] = [
    (A, P, ex("c")),
    (B, Q, ex("d")),
    (P, RDFS.subPropertyOf, SUPER),
    (A, OWL.sameAs, B),
    (B, RDF.type, ex("Class")),
]


def with_edges(maintenance: str) -> Reasoner:
    reasoner = Reasoner(EDGES, maintenance=maintenance)
    reasoner.add_facts("edge", [(literal("a"), literal("b"))])
    return reasoner


def with_axioms(maintenance: str) -> Reasoner:
    reasoner = Reasoner(TRANSLATE, maintenance=maintenance)
    reasoner.add_triples(TRIPLES)
    return reasoner


def with_cliques(maintenance: str) -> Reasoner:
    reasoner = Reasoner(TRANSLATE, maintenance=maintenance, equality="rewrite")
    reasoner.add_triples(TRIPLES)
    reasoner.add_facts("about", [(B,)])
    return reasoner


CASES = [(with_edges, facts_and_rules), (with_axioms, schema_and_layout), (with_cliques, other_names)]

SUBCLASS: Triple = (A, RDFS.subClassOf, B)

cases = pytest.mark.parametrize(("make", "change"), CASES, ids=lambda function: function.__name__)


def interruptions(make: Make, change: Change) -> Iterator[Reasoner]:
    """Reasoners whose update by a change has been interrupted, each at another place."""

    def changed() -> Reasoner:
        reasoner = make()
        reasoner.materialise()
        change(reasoner)
        return reasoner

    calls = calls_of(changed().materialise)
    for place in range(PLACES):
        reasoner = changed()
        assert calls_of(reasoner.materialise, 1 + place * calls // PLACES) < calls
        yield reasoner


@cases
@pytest.mark.parametrize("maintenance", thinned(STRATEGIES, 2))
@pytest.mark.sample(3)
def test_an_interrupted_update_is_made_up_for(make: Callable[[str], Reasoner], change: Change, maintenance: str) -> None:
    expected = make(maintenance)
    change(expected)
    for reasoner in interruptions(lambda: make(maintenance), change):
        assert state(reasoner) == state(expected)


@cases
def test_an_interrupted_transaction_is_undone(make: Callable[[str], Reasoner], change: Change) -> None:
    expected = state(make("backward-forward"))

    def in_transaction() -> Reasoner:
        reasoner = make("backward-forward")
        reasoner.transaction().begin()
        return reasoner

    for reasoner in interruptions(in_transaction, change):
        assert reasoner.open_transaction is not None
        reasoner.open_transaction.rollback()
        assert state(reasoner) == expected


def test_what_a_transaction_has_changed_is_not_known_after_an_interrupt() -> None:
    reasoner = with_edges("backward-forward")
    before = state(reasoner)
    transaction = reasoner.transaction().begin()
    facts_and_rules(reasoner)
    calls_of(reasoner.materialise, interrupt_at=50)
    assert state(reasoner) != before
    with pytest.raises(TransactionError, match="roll it back"):
        _ = transaction.delta
    with pytest.raises(TransactionError, match="roll it back"):
        transaction.commit()
    assert state(reasoner) == before
    with reasoner.transaction(collects=False):
        facts_and_rules(reasoner)
        calls_of(reasoner.materialise, interrupt_at=50)
    expected = with_edges("backward-forward")
    facts_and_rules(expected)
    assert state(reasoner) == state(expected)


@pytest.mark.long
def test_nothing_remains_of_a_program_whose_addition_was_interrupted() -> None:
    """Neither does an axiom's rule count as one of the program, nor has a predicate the types that were to be declared."""
    added = parse("input relation e(who: integer) . [?x, rdf:type, ?y] :- [?x, rdf:type, ?z], sub(?z, ?y) .")
    added = Program((*added.rules, *_rules_of(SUBCLASS)), added.declarations)

    def prepared() -> Reasoner:
        reasoner = Reasoner(TRANSLATE)
        reasoner.add_triples([(ex("x"), RDF.type, A)])
        reasoner.materialise()
        return reasoner

    before = prepared().program.rules
    complete = prepared()
    for place in range(calls_of(lambda: complete.add_program(added))):
        reasoner = prepared()
        calls_of(lambda reasoner=reasoner: reasoner.add_program(added), interrupt_at=place + 1)  # type: ignore[misc]
        reasoner.materialise()
        if reasoner.program.rules == before:
            reasoner.add_facts("e", [(literal("no number"),)])
            reasoner.add_triples([SUBCLASS])
        assert (ex("x"), RDF.type, B) in set(reasoner.triples()), place


def _rules_of(axiom: Triple) -> tuple[Rule, ...]:
    reasoner = Reasoner(TRANSLATE)
    reasoner.add_triples([axiom])
    return reasoner.rules


@pytest.mark.parametrize("function", [Database._keep, IndexedRelations.drop_indexes])
def test_rows_are_dropped_at_once_or_not(function: FunctionType) -> None:
    """Whichever line of it is interrupted."""
    line, is_through = 0, False
    while not is_through:
        reasoner = Reasoner("b(?x, ?z) :- b(?x, ?y), b(?y, ?z) .", maintenance="rematerialise")
        reasoner.add_facts("b", [(literal(0), literal(1)), (literal(1), literal(2))])
        reasoner.materialise()
        reasoner.add_facts("b", [(literal(2), literal(3)), (literal(3), literal(4))])
        reasoner.materialise()
        reasoner.remove_facts("b", [(literal(0), literal(1))])
        line += 1
        is_through = not _interrupt_line(function.__code__, line, reasoner.materialise)
        assert set(reasoner.facts("b", "explicit")) == {(literal(n), literal(n + 1)) for n in (1, 2, 3)}
        assert len(list(reasoner.facts("b"))) == 6


def _interrupt_line(code: CodeType, number: int, function: Callable[[], object]) -> bool:
    """Call a function, and interrupt it before so many lines of some code are run. Says whether there were so many."""
    left = number

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code is code and event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace if frame.f_code is code else None

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(former)
    return False
