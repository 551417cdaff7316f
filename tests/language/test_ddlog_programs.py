"""The tasks of DDlog's own test programs, in our language: the changes of each transaction are the expected ones.

A step is a transaction: ``+ fact`` adds, ``- fact`` removes, ``~ fact`` is insert_or_update, ``k fact`` is delete_key (its
arguments are the key), ``m relation(key) <- column = term`` modifies. A first step without changes has the facts of the program.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import Atom, Rule
from tests.helpers.effort import thinned
from tests.helpers.fixtures import blocks
from tests.language.ddlog_functions import register

FILES = sorted(Path(__file__).with_name("ddlog").glob("*.txt"))
PROGRAMS = [(f"{file.stem}: {title}", text) for file in FILES for title, text in blocks(file)]
DEEP = "65,599"
CASES = [
    pytest.param(text, strategy, id=f"{title}, {strategy}", marks=[pytest.mark.long] if DEEP in title else [])
    for title, text in PROGRAMS
    for strategy in STRATEGIES
    if DEEP not in title or strategy != "dbsp"  # a round of a circuit is milliseconds
]


def head_of(text: str) -> Atom:
    (rule,) = parse(text).rules
    return rule.head


def change(transaction: Transaction, line: str) -> None:
    sign, text = line[0], line[2:]
    if sign == "m":
        fact, _, changes = text.removesuffix(" .").partition(" <- ")
        column, _, value = changes.partition(" = ")
        atom = head_of(f"{fact} .")
        transaction.modify(
            atom.predicate, atom.terms if len(atom.terms) > 1 else atom.terms[0], **{column: head_of(f"value({value}) .").terms[0]}
        )
        return
    atom = head_of(text)
    rows = [atom.terms]
    if sign == "+":
        transaction.add_facts(atom.predicate, rows)  # type: ignore[arg-type]  # facts have no variables
    elif sign == "-":
        transaction.remove_facts(atom.predicate, rows)  # type: ignore[arg-type]
    elif sign == "~":
        transaction.insert_or_update(atom.predicate, rows)  # type: ignore[arg-type]
    else:
        transaction.delete_key(atom.predicate, rows if len(atom.terms) > 1 else atom.terms)


@pytest.mark.parametrize(("text", "strategy"), thinned(CASES, 9))
@pytest.mark.sample(2)
def test_changes(text: str, strategy: str) -> None:
    rules, *steps = text.split("\n--\n")
    reasoner = Reasoner(maintenance=strategy)  # type: ignore[arg-type]
    register(reasoner)
    reasoner.add_program(rules)
    outputs = [declaration.predicate for declaration in reasoner.program.declarations if declaration.role == "output"]
    for number, step in enumerate(steps):
        changes, _, expected = f"\n{step}\n".partition("\n=>\n")
        if number == 0 and not changes:
            found = [f"+ {format_rule(Rule(Atom(name, row)))}" for name in outputs for row in reasoner.facts(name)]
        else:
            with reasoner.transaction() as transaction:
                for line in changes.strip().splitlines():
                    change(transaction, line)
            delta = transaction.delta
            found = [
                f"{sign} {format_rule(Rule(Atom(predicate, row)))}"
                for sign, side in (("+", delta.added), ("-", delta.removed))
                for predicate in outputs
                for row in side.facts(predicate)
            ]
        assert sorted(found) == sorted(expected.strip().splitlines())
