"""Reasoners of random programs and facts, and random transactions applied to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import StratificationError
from kg_reasoner.language.checks.analysis import stratify
from kg_reasoner.program import TRIPLE, Program
from kg_reasoner.query.delta import Delta
from kg_reasoner.terms import Term, literal
from tests.helpers.oracle import Facts, evaluate, without_empty
from tests.helpers.strategies import Transaction

NumberChanges: TypeAlias = "list[tuple[bool, list[tuple[str, tuple[int, ...]]]]]"
"""Transactions, each of which adds or removes facts about numbers."""


def stratifiable(program: Program) -> bool:
    """Whether no recursion goes through negation or an aggregate."""
    try:
        stratify(program.rules)
    except StratificationError:
        return False
    return True


def reasoner_with(program: Program, facts: Facts) -> Reasoner:
    """A reasoner with a program and explicit facts, triples among them."""
    reasoner = Reasoner(program)
    for predicate, rows in facts.items():
        if predicate == TRIPLE:
            reasoner.add_triples(rows)  # type: ignore[arg-type]
        else:
            reasoner.add_facts(predicate, rows)
    return reasoner


def applied(reasoner: Reasoner, transaction: Transaction) -> Delta:
    """Apply a random transaction, and return what it changed."""
    with reasoner.transaction() as tx:
        for predicate, rows in transaction.removed.items():
            tx.remove_facts(predicate, rows)
        tx.remove_rules(transaction.removed_rules)
        for predicate, rows in transaction.added.items():
            tx.add_facts(predicate, rows)
        tx.add_program(Program(transaction.added_rules))
    return tx.delta


def number_changes(arities: Mapping[str, int], largest: int, size: int) -> st.SearchStrategy[NumberChanges]:
    """A few transactions of some facts of these predicates, about the numbers from 0."""
    numbers = st.integers(0, largest)
    rows = st.one_of(*(st.tuples(st.just(name), st.tuples(*[numbers] * arity)) for name, arity in arities.items()))
    return st.lists(st.tuples(st.booleans(), st.lists(rows, max_size=size)), min_size=1, max_size=5)


def check_after_each(changes: NumberChanges, program: Program, arities: Mapping[str, int], maintenance: Any) -> None:
    """Check that a reasoner has what the oracle finds, after each transaction."""
    reasoner = Reasoner(program, maintenance=maintenance)
    facts: dict[str, set[tuple[Term, ...]]] = {name: set() for name in arities}
    for adds, rows in changes:
        with reasoner.transaction() as transaction:
            for name, row in rows:
                fact = tuple(map(literal, row))
                (facts[name].add if adds else facts[name].discard)(fact)
                (transaction.add_facts if adds else transaction.remove_facts)(name, [fact])
        expected = without_empty(evaluate(program, facts))
        assert without_empty({name: set(reasoner.facts(name)) for name in reasoner.predicates()}) == expected
