"""The engine against the oracle: random programs and facts, additions and removals, compiled and checked."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.program import FALSE, TRIPLE, Program
from kg_reasoner.terms import Literal, Term
from tests.helpers.checked import run_in_checked_mode
from tests.helpers.effort import CHECKED, examples
from tests.helpers.oracle import Facts, evaluate, without_empty
from tests.helpers.reasoners import stratifiable
from tests.helpers.strategies import NODES, facts, programs, rules, triple_atoms, triple_programs, triples

STRATEGY = st.sampled_from(list(STRATEGIES))
EXAMPLES = settings(max_examples=examples(150))


def everything(reasoner: Reasoner) -> Facts:
    """All facts of a reasoner, by predicate."""
    return {name: set(reasoner.facts(name)) for name in reasoner.predicates()}


def expected(program: Program, given_facts: Facts) -> Facts:
    found = without_empty(evaluate(program, given_facts))
    found.pop(FALSE, None)
    return found


@pytest.mark.usefixtures("capacities")
@EXAMPLES
@given(programs(), facts(), st.lists(facts(), max_size=3), STRATEGY)
@pytest.mark.sample(3)
def test_general_programs(program: Program, first: Facts, updates: list[Facts], strategy: str) -> None:
    assume(stratifiable(program))
    reasoner = Reasoner(program, maintenance=strategy)
    current: Facts = {}
    for number, update in enumerate([first, *updates]):
        for predicate, rows in update.items():
            if number % 2 == 0:
                reasoner.add_facts(predicate, rows)
                current.setdefault(predicate, set()).update(rows)
            else:
                reasoner.remove_facts(predicate, rows)
                current.setdefault(predicate, set()).difference_update(rows)
        assert without_empty(everything(reasoner)) == expected(program, current)


def readable(found: set[tuple[Term, ...]]) -> set[tuple[Term, ...]]:
    return {row for row in found if not isinstance(row[0], Literal)}


@pytest.mark.usefixtures("capacities")
@EXAMPLES
@given(st.booleans().flatmap(triple_programs), triples(), triples(), triples(), STRATEGY)
@pytest.mark.sample(3)
def test_triple_programs(program: Program, first: set, added: set, removed: set, strategy: str) -> None:  # type: ignore[type-arg]
    """In both layouts: property tables, and for programs that need it the triple table."""
    reasoner = Reasoner(program, maintenance=strategy)
    reasoner.add_triples(first)
    assert set(reasoner.triples()) == readable(evaluate(program, {TRIPLE: first}).get(TRIPLE, set()))
    reasoner.add_triples(added)
    assert set(reasoner.triples()) == readable(evaluate(program, {TRIPLE: first | added}).get(TRIPLE, set()))
    reasoner.remove_triples(removed)
    left = (first | added) - removed
    whole = readable(evaluate(program, {TRIPLE: left}).get(TRIPLE, set()))
    assert set(reasoner.triples()) == whole
    assert set(reasoner.triples(which="explicit")) == left
    assert set(reasoner.triples(which="inferred")) == whole - left


@pytest.mark.usefixtures("capacities")
@EXAMPLES
@given(st.booleans().flatmap(triple_programs), rules(triple_atoms(), NODES), triples(), STRATEGY)
@pytest.mark.sample(3)
def test_rules_added_and_removed(program: Program, rule, data: set, strategy: str) -> None:  # type: ignore[no-untyped-def,type-arg]
    reasoner = Reasoner(program, maintenance=strategy)
    reasoner.add_triples(data)
    before = set(reasoner.triples())
    reasoner.add_program(Program((rule,)))
    both = program | Program((rule,))
    assert set(reasoner.triples()) == readable(evaluate(both, {TRIPLE: data}).get(TRIPLE, set()))
    if rule not in program.rules:
        reasoner.remove_rules([rule])
        assert set(reasoner.triples()) == before


@pytest.mark.long
@pytest.mark.skipif(CHECKED, reason="this is the checked run")
def test_the_same_in_checked_mode() -> None:
    """This file again, with kernels as bounds-checked Python."""
    run_in_checked_mode(__file__)
