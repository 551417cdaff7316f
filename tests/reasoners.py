"""Reasoners of random programs and facts, and random transactions applied to them."""

from __future__ import annotations

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import StratificationError
from kg_reasoner.language.analysis import stratify
from kg_reasoner.program import TRIPLE, Program
from kg_reasoner.query.delta import Delta

from .oracle import Facts
from .strategies import Transaction


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
