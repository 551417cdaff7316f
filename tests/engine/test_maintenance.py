"""Every strategy of maintenance against the oracle, after every transaction: facts, and what has changed.

``KG_REASONER_EFFORT=full python -m pytest tests/engine/test_maintenance.py`` goes on for hours (see `tests.helpers.effort`). In
checked mode (``KG_REASONER_KERNELS=checked``) the same kernels run as bounds-checked Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.program import FALSE, TRIPLE, Program, Rule
from kg_reasoner.query.delta import Changes
from kg_reasoner.terms import IRI, literal
from tests.helpers.checked import run_in_checked_mode
from tests.helpers.effort import CHECKED, PHASES, TRANSACTIONS
from tests.helpers.oracle import Facts, evaluate, without_empty
from tests.helpers.reasoners import applied
from tests.helpers.strategies import CYCLIC, Transaction, World, transactions, triple_worlds, worlds

STEPS = 20
STRATEGIES_TOGETHER = [name for name in STRATEGIES if name != "dbsp"]
"""Circuits are slower by far: they have runs of their own, and a tenth of the transactions."""


class Reasoners:
    """One reasoner for each strategy, and what they should say."""

    def __init__(self, strategies: Sequence[str]) -> None:
        self.reasoners = {name: Reasoner(maintenance=name) for name in strategies}
        self.rules: tuple[Rule, ...] = ()
        self.explicit: Facts = {}
        self.model: Facts = {}

    def apply(self, transaction: Transaction, following: Transaction | None = None) -> None:
        """Let all of them apply a transaction, if need be knowing the following one, and look whether they are right."""
        rules, explicit = transaction.after(self.rules, self.explicit)
        model = without_empty(evaluate(Program(rules), explicit))
        model.pop(FALSE, None)
        for name, reasoner in self.reasoners.items():
            if following is not None:
                reasoner.foresee(Update(removed={predicate: list(rows) for predicate, rows in following.removed.items()}))
            delta = applied(reasoner, transaction)
            assert everything(reasoner, "all") == model, name
            assert everything(reasoner, "explicit") == explicit, name
            for what, changes, expected in (
                ("added", delta.added, less(model, self.model)),
                ("removed", delta.removed, less(self.model, model)),
            ):
                assert facts_of(changes) == expected, (name, what)
            assert facts_of(delta.added, "explicit") == less(both(explicit, model), self.model), name
            assert facts_of(delta.removed, "explicit") == less(both(self.explicit, self.model), model), name
        self.rules, self.explicit, self.model = rules, explicit, model


def everything(reasoner: Reasoner, which: str) -> Facts:
    names = (*reasoner.predicates(), TRIPLE)
    return without_empty({name: set(reasoner.facts(name, which)) for name in names})  # type: ignore[arg-type]


def facts_of(changes: Changes, which: str = "all") -> Facts:
    found: Facts = {name: set(changes.facts(name, which)) for name in changes.predicates()}  # type: ignore[arg-type]
    return without_empty({**found, TRIPLE: set(changes.triples(which))})  # type: ignore[arg-type]


def less(facts: Facts, others: Facts) -> Facts:
    return without_empty({name: rows - others.get(name, set()) for name, rows in facts.items()})


def both(facts: Facts, others: Facts) -> Facts:
    return {name: rows & others.get(name, set()) for name, rows in facts.items()}


class Maintenance(RuleBasedStateMachine):
    """Random transactions of facts and rules over a random world."""

    world: World
    strategies: ClassVar[Sequence[str]] = STRATEGIES_TOGETHER
    features: ClassVar[dict[str, bool]] = {}

    def worlds(self) -> st.SearchStrategy[World]:
        return worlds(**self.features)

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.world = data.draw(self.worlds())
        self.reasoners = Reasoners(self.strategies)
        self.reasoners.apply(Transaction({}, (), {}, self.world.rules))

    @rule(data=st.data())
    def transaction(self, data: st.DataObject) -> None:
        self.reasoners.apply(data.draw(transactions(self.world)))


class Positive(Maintenance):
    features: ClassVar[dict[str, bool]] = {"negation": False}


class Negation(Maintenance):
    features: ClassVar[dict[str, bool]] = {"negation": True}


class Everything(Maintenance):
    features: ClassVar[dict[str, bool]] = {"negation": True, "functions": True, "aggregates": True}


class Marked(Maintenance):
    """Every transaction is known while the one before it is applied, but for some that never come. Some take away what it adds."""

    features: ClassVar[dict[str, bool]] = {"negation": True}
    following: Transaction | None = None

    @rule(data=st.data(), comes=st.booleans(), undoes=st.booleans())
    def transaction(self, data: st.DataObject, comes: bool, undoes: bool) -> None:
        current = self.following or data.draw(transactions(self.world))
        foreseen = data.draw(transactions(self.world))
        if undoes:
            foreseen = replace(foreseen, removed={**foreseen.removed, **current.added})
        self.reasoners.apply(current, foreseen)
        self.following = foreseen if comes else None


class Triples(Maintenance):
    """Triples that depend on the absence of others, of which one table may have several strata."""

    def worlds(self) -> st.SearchStrategy[World]:
        return triple_worlds()


class Cyclic(Maintenance):
    """Motik's example of facts that could hold each other up: C0 <- A, C0 <- B, Ci <- Ci-1, C0 <- Cn."""

    def worlds(self) -> st.SearchStrategy[World]:
        return st.just(cyclic_world())


def cyclic_world() -> World:
    rules = CYCLIC.rules
    names = sorted({atom.predicate for rule in rules for atom in rule.body_atoms()})
    return World(rules, tuple((name, (literal(number),)) for name in names for number in range(2)))


MACHINES = [Positive, Negation, Everything, Marked, Cyclic, Triples]


@pytest.mark.usefixtures("capacities")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__.lower())
@pytest.mark.sample(3)
def test_random_transactions(machine: type[Maintenance]) -> None:
    run_machine(machine, TRANSACTIONS // (2 * len(MACHINES)))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__.lower())
@pytest.mark.sample(3)
def test_random_transactions_by_circuits(machine: type[Maintenance]) -> None:
    by_circuits = type(machine.__name__, (machine,), {"strategies": ["dbsp"]})
    run_machine(by_circuits, TRANSACTIONS // (10 * len(MACHINES)))


def run_machine(machine: type[Maintenance], transactions: int) -> None:
    """Run a machine for about so many transactions, those of each reasoner counted."""
    examples = max(1, transactions // (STEPS * len(machine.strategies)))
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            suppress_health_check=list(HealthCheck),
            phases=PHASES,
            print_blob=True,
        ),
    )


ONE_TABLE = """
    @prefix : <http://example.org/> .
    linked(?x) :- [?x, :link, ?y], NOT hidden(?x) .
    [?x, a, ?y] :- [?x, :kind, ?y], NOT linked(?x) .
    seen(?x) :- linked(?x) .
"""
"""The variable for a class puts all triples in one table; links are read below the stratum in which types are derived."""
SEVERAL_STRATA = """
    [?x, a, :Linked] :- [?x, :link, ?y], NOT hidden(?x) .
    [?x, :is, ?x] :- [?x, :link, ?y], NOT [?y, a, :Linked] .
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_triples_of_a_table_are_of_several_strata(strategy: str) -> None:
    rules = parse(ONE_TABLE + SEVERAL_STRATA).rules
    a, b, c, link, kind = (IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "link", "kind"))
    given: Facts = {TRIPLE: {(a, link, b), (b, link, c), (a, kind, c), (c, kind, a)}}
    nothing: Facts = {}
    reasoners = Reasoners([strategy])
    for transaction in (
        Transaction(nothing, (), given, rules),
        Transaction({TRIPLE: {(a, link, b)}}, (), nothing, ()),
        Transaction(nothing, (), {"hidden": {(b,)}}, ()),
        Transaction(nothing, rules[3:], {TRIPLE: {(a, link, b)}}, ()),
        Transaction({TRIPLE: {(a, link, b)}}, (), nothing, ()),
        Transaction({"hidden": {(b,)}}, rules[1:2], nothing, rules[3:4]),
        Transaction({TRIPLE: {(b, link, c)}}, (), nothing, ()),
    ):
        reasoners.apply(transaction)


def test_counts_go_with_the_last_rule_of_a_relation() -> None:
    rules = parse("back(?y, ?x) :- edge(?x, ?y) . two(?x, ?z) :- back(?x, ?y), back(?y, ?z) .").rules
    edges: Facts = {"edge": {(literal(number), literal(number % 7)) for number in range(20)}, "back": {(literal(3), literal(3))}}
    reasoners = Reasoners(["counting"])
    context = reasoners.reasoners["counting"].engine.database.context
    reasoners.apply(Transaction({}, (), edges, ()))
    sizes = []
    for _ in range(3):
        reasoners.apply(Transaction({}, (), {}, rules))
        reasoners.apply(Transaction({}, rules[:1], {}, ()))
        reasoners.apply(Transaction({}, rules[1:], {}, ()))
        sizes.append(context.tally_count)
    assert sizes[0] == sizes[2] > 0


@pytest.mark.long
@pytest.mark.skipif(CHECKED, reason="this is the checked run")
def test_the_same_in_checked_mode() -> None:
    """This file again, with kernels as bounds-checked Python."""
    run_in_checked_mode(__file__)
