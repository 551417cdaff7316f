"""All or nothing: what runs out of memory, or is interrupted, leaves the state before, and everything works on.

The sweeps (`tests.faults`) try every operation; here are the cases in which something was once lost, each by itself. What might
crash or never end runs in a forked process.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import pytest

from kg_reasoner import Reasoner
from kg_reasoner.api.explicit import documents
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.concurrency.limits import Limits, Unwatched
from kg_reasoner.engine import engine
from kg_reasoner.errors import CapacityError, LimitError, TransactionError
from kg_reasoner.storage.kernels.layout import MOST
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, Term, Triple, literal

if not hasattr(os, "fork"):
    pytest.skip("faults are tried in forked processes, and this platform has none", allow_module_level=True)

from tests.faults.injectors import Allocations, Injector, Lines, MemoryLines
from tests.faults.runner import distinct, in_child
from tests.helpers.effort import by_effort

T = TypeVar("T")

JOINS = "far(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) . wide(?x, ?y, ?z) :- edge(?x, ?y), edge(?y, ?z) ."


@pytest.fixture(autouse=True)
def no_watch_for_other_tests() -> Iterator[None]:
    """What a fault leaves current, where a watch ends, is used by the same test, but not by those after it."""
    with Unwatched():
        yield


def chain(count: int, first: int = 0) -> list[tuple[Term, Term]]:
    return [(literal(first + number), literal(first + number + 1)) for number in range(count)]


def joined(edges: int = 20) -> Reasoner:
    reasoner = Reasoner(JOINS)
    reasoner.add_facts("edge", chain(edges))
    reasoner.materialise()
    return reasoner


def numbers(reasoner: Reasoner, *predicates: str) -> list[int]:
    return [len(list(reasoner.facts(predicate))) for predicate in predicates]


def attempts(
    kind: type[Injector], make: Callable[[], T], operation: Callable[[T], object], step: int = 1
) -> Iterator[tuple[T, BaseException | None, str | None]]:
    """Do something to a subject made afresh, with a fault at each (n-th) of the places that are passed.

    Yields:
        The subject, what was raised, and where.
    """
    operation(make())  # what a process makes only once is there
    counter, subject = kind(), make()
    assert counter.call(lambda: operation(subject)) is None
    assert counter.places
    for at in distinct(counter.places)[::step]:
        subject, fault = make(), kind(at)
        error = fault.call(lambda subject=subject: operation(subject))  # type: ignore[misc]
        assert fault.where is not None
        yield subject, error, fault.where


kinds = pytest.mark.parametrize("kind", [Lines, MemoryLines, Allocations], ids=lambda kind: kind.__name__)

# --- transactions ----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_nothing_is_lost_after_a_transaction_that_ran_out_of_memory() -> None:
    """Indexes grow while facts are added: the next update has to find them as they were."""

    def add(reasoner: Reasoner) -> None:
        with reasoner.transaction() as transaction:
            transaction.add_facts("edge", [pair for number in range(3000) for pair in chain(1, 1000 + 2 * number)])

    for reasoner, error, where in attempts(Allocations, joined, add):
        assert isinstance(error, MemoryError)
        reasoner.add_facts("edge", chain(1, 20))
        assert numbers(reasoner, "edge", "far", "wide") == [21, 20, 20], where


@kinds
@pytest.mark.sample(3)
def test_a_change_that_is_interrupted_in_a_block_is_undone(kind: type[Injector]) -> None:
    def add(reasoner: Reasoner) -> None:
        with reasoner.transaction() as transaction:
            transaction.add_facts("edge", chain(1, 20))

    for reasoner, error, where in attempts(kind, joined, add, step=by_effort(21, 7, 7)):
        if reasoner.open_transaction is not None and "__exit__" in where.partition("<")[0]:
            reasoner.open_transaction.rollback()  # before the first line of `__exit__`, nothing can be done about it
        possible = [[20, 19, 19], [21, 20, 20]] if error is not None else [[21, 20, 20]]
        assert numbers(reasoner, "edge", "far", "wide") in possible, where
        assert reasoner.open_transaction is None, where


@kinds
@pytest.mark.sample(3)
def test_a_rollback_that_is_interrupted_can_be_repeated(kind: type[Injector]) -> None:
    def changed() -> Reasoner:
        reasoner = joined()
        transaction = reasoner.transaction().begin()
        transaction.add_facts("edge", chain(1, 20))
        transaction.add_program("end(?y) :- edge(?x, ?y), NOT edge(?y, _) .")
        assert numbers(reasoner, "edge", "far", "end") == [21, 20, 1]
        transaction.remove_facts("edge", chain(2))
        return reasoner

    def roll_back(reasoner: Reasoner) -> None:
        assert reasoner.open_transaction is not None
        reasoner.open_transaction.rollback()

    for reasoner, _, where in attempts(kind, changed, roll_back, step=5):
        if reasoner.open_transaction is not None:
            reasoner.open_transaction.rollback()
        assert numbers(reasoner, "edge", "far", "wide", "end") == [20, 19, 19, 0], where
        reasoner.add_facts("edge", chain(1, 20))
        assert numbers(reasoner, "edge", "far", "wide") == [21, 20, 20], where


@kinds
@pytest.mark.sample(3)
def test_a_large_load_that_is_interrupted_is_undone(kind: type[Injector], monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal has the facts of before instead of those that are loaded."""
    monkeypatch.setattr(documents, "_GROUP", 3)
    monkeypatch.setattr(engine, "_LARGE", 2)
    document = "".join(f"<http://e/s{number}> <http://e/{'pq'[number % 2]}> <http://e/o> .\n" for number in range(64)).encode()

    def made() -> Reasoner:
        reasoner = Reasoner(ruleset="owl2rl")
        reasoner.load(b"<http://e/s1> <http://e/q> <http://e/o> .\n<http://e/a> <http://e/p> <http://e/o> .", format="nt")
        return reasoner

    def load(reasoner: Reasoner) -> None:
        reasoner.load(document, format="nt")

    whole = Reasoner(ruleset="owl2rl")
    whole.load(document, b"<http://e/a> <http://e/p> <http://e/o> .", format="nt")
    states = [{*made().triples(which="explicit")}, {*whole.triples(which="explicit")}]
    for reasoner, error, where in attempts(kind, made, load, step=by_effort(41, 7, 7)):
        assert {*reasoner.triples(which="explicit")} in (states if error is not None else states[1:]), where
        reasoner.load(document, format="nt")
        assert {*reasoner.triples(which="explicit")} == states[1], where


def test_a_large_load_that_exceeds_a_limit_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_GROUP", 3)
    monkeypatch.setattr(engine, "_LARGE", 2)
    reasoner = Reasoner("")
    reasoner.load(b"<http://e/s1> <http://e/p> <http://e/o> .", format="nt")
    before = {*reasoner.triples()}
    document = "".join(f"<http://e/s{number}> <http://e/p> <http://e/o> .\n" for number in range(64)).encode()
    with pytest.raises(LimitError):
        reasoner.load(document, format="nt", limits=Limits(facts=20))
    assert {*reasoner.triples()} == before
    reasoner.load(document, format="nt")
    assert len({*reasoner.triples()}) == 64


def undoing(monkeypatch: pytest.MonkeyPatch) -> tuple[Reasoner, Transaction]:
    """A transaction whose rollback was interrupted before its first step."""
    reasoner = joined()
    transaction = reasoner.transaction().begin()
    transaction.add_facts("edge", chain(1, 20))

    def interrupt() -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(reasoner.engine, "roll_back", interrupt)
    with pytest.raises(KeyboardInterrupt):
        transaction.rollback()
    return reasoner, transaction


def test_what_is_being_undone_cannot_be_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner, transaction = undoing(monkeypatch)
    with pytest.raises(TransactionError, match="has been undone"):
        transaction.commit()
    assert reasoner.open_transaction is None
    assert numbers(reasoner, "edge", "far") == [20, 19]


def test_what_is_being_undone_cannot_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner, transaction = undoing(monkeypatch)
    with pytest.raises(TransactionError, match="has been undone"):
        transaction.add_facts("edge", chain(1, 30))
    assert numbers(reasoner, "edge", "far") == [20, 19]


def test_a_block_ends_whose_rollback_was_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner, transaction = undoing(monkeypatch)
    with transaction:
        pass
    assert reasoner.open_transaction is None
    assert numbers(reasoner, "edge", "far") == [20, 19]


@kinds
def test_an_open_transaction_survives_a_change_that_is_interrupted(kind: type[Injector]) -> None:
    """What was changed before it stays in the transaction; after the rollback, nothing of either is there."""

    def changed() -> Transaction:
        transaction = joined().transaction().begin()
        transaction.add_facts("edge", chain(1, 20))
        return transaction

    for transaction, _, where in attempts(kind, changed, lambda transaction: transaction.add_facts("edge", chain(1, 30)), step=5):
        assert numbers(transaction.reasoner, "edge", "far") in ([21, 20], [22, 20]), where
        transaction.rollback()
        assert numbers(transaction.reasoner, "edge", "far") == [20, 19], where


# --- out of memory ---------------------------------------------------------------------------------------------------------


def test_a_removal_that_ran_out_of_memory_can_be_repeated() -> None:
    """It once left a null pointer behind, and the next removal wrote there."""

    def remove(reasoner: Reasoner) -> None:
        reasoner.remove_facts("edge", chain(1))

    def repeat() -> list[str | None]:
        wrong = []
        for reasoner, _, where in attempts(Allocations, joined, remove):
            remove(reasoner)
            if numbers(reasoner, "edge", "far", "wide") != [19, 18, 18]:
                wrong.append(where)
        return wrong

    assert in_child(repeat) == []


@pytest.mark.long
def test_a_dictionary_that_cannot_grow_keeps_every_term() -> None:
    """No term gets a second id, and no look-up goes on for ever."""

    def encode(dictionary: Dictionary) -> None:
        for number in range(200):
            dictionary.encode(literal(number))

    def fill() -> list[str | None]:
        wrong = []
        for dictionary, _, where in attempts(Allocations, Dictionary, encode):
            there = [dictionary.find(literal(number)) for number in range(len(dictionary))]
            again = [dictionary.encode(literal(number)) for number in range(5000)]
            if there != list(range(len(there))) or again != list(range(5000)):
                wrong.append(where)
        return wrong

    assert in_child(fill) == []


def test_a_document_that_does_not_fit_adds_nothing() -> None:
    there: Triple = IRI("http://example.org/0"), IRI("http://example.org/p"), literal(0)
    text = "".join(f"<http://example.org/{number}> <http://example.org/p> <http://example.org/o> .\n" for number in range(500))

    def with_a_triple() -> Reasoner:
        reasoner = Reasoner("")
        reasoner.add_triples([there])
        return reasoner

    def load(reasoner: Reasoner) -> None:
        reasoner.load(text.encode(), format="ntriples")

    for reasoner, error, where in attempts(Allocations, with_a_triple, load):
        assert isinstance(error, MemoryError)
        assert list(reasoner.triples()) == [there], where
        load(reasoner)
        assert len(list(reasoner.triples())) == 501, where


# --- numbers that do not fit -----------------------------------------------------------------------------------------------


def reserved(items: int, dtype: type[np.generic], there: Any) -> Any:
    """An array that is too large for the memory, of which nothing but the beginning is touched."""
    if sys.platform != "linux":
        pytest.skip("this system reserves more memory than it has")
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE, which Python knows since 3.13
    array = np.frombuffer(mmap.mmap(-1, items * np.dtype(dtype).itemsize, flags=flags), dtype)
    array[: len(there)] = there
    return array


def is_refused(change: Callable[[], object]) -> str:
    """The message of the error that a change must end with."""
    with pytest.raises(CapacityError) as caught:
        change()
    return str(caught.value)


def test_more_terms_than_there_are_numbers_are_one_clear_error() -> None:
    def fill() -> str:
        dictionary = Dictionary()
        known = [dictionary.encode(literal(number)) for number in range(20)]
        terms = dictionary._terms
        used = int(terms.offsets[terms.count])
        terms.offsets = reserved(MOST + 2, np.int64, terms.offsets)
        terms.count = terms.room = MOST
        terms.offsets[MOST] = used
        message = is_refused(lambda: dictionary.encode_texts(['"a"', '"b"', '"c"', '"d"']))
        assert [dictionary.find(literal(number)) for number in range(20)] == known
        return message

    assert "terms" in in_child(fill)


def test_more_facts_than_there_are_numbers_are_one_clear_error() -> None:
    def fill() -> str:
        reasoner = Reasoner("")
        reasoner.add_facts("edge", chain(10))
        reasoner.materialise()
        relation = reasoner.engine.database.relations[reasoner.engine.catalog.predicates["edge"]]
        count = relation.count
        relation.count = relation.capacity = MOST
        message = is_refused(lambda: reasoner.add_facts("edge", chain(10, 100)))
        relation.count = count
        return message

    assert "the maximal number" in in_child(fill)


def test_an_index_that_is_too_large_is_one_clear_error() -> None:
    """Its vectors begin at numbers of 31 bits. Nobody has touched the memory before them."""

    def fill() -> str:
        reasoner = joined(10)
        index = next(index for index in reasoner.engine.database.indexes.records if index.built)
        index.arena = reserved(MOST + 1 + MOST // 2, np.int64, index.arena[: index.top])
        index.capacity, index.top = len(index.arena), MOST

        def add() -> None:
            reasoner.add_facts("edge", chain(20, 100))
            reasoner.materialise()

        message = is_refused(add)
        assert numbers(reasoner, "edge", "far") == [10, 9]
        return message

    assert "index" in in_child(fill)
