"""Answers to queries without materialisation: magic sets over the explicit facts, or plain queries over the materialised ones.

The rules are transformed for the query (`language.selection.magic`) and evaluated in a database of their own, which reads the
engine's facts in place. Nothing of the engine's changes but its indexes, so any number of threads may do this at once while none
writes.

Plans are kept by the shapes of queries: those that differ in constants only have the same. If magic sets request far more than
there are facts, they are abandoned, and everything that the query depends on is derived.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.engine.magic_sets.demand import Demand, DemandPlans, Found, Shape, TooManyDemandsError
from kg_reasoner.engine.magic_sets.demand_rules import demanded_rules, may_yield_rules
from kg_reasoner.engine.state.engine_state import State
from kg_reasoner.expressions.demands import demands
from kg_reasoner.language.selection.magic import ANSWER
from kg_reasoner.language.selection.relevance import relevant_rules
from kg_reasoner.language.strata.recursion import recursions
from kg_reasoner.planning.aggregates.groups import split
from kg_reasoner.planning.catalog import asked_of_literals
from kg_reasoner.program import Rule

__all__ = ["FEW_DEMANDS", "MOST_SHAPES", "by_magic", "by_reading", "is_applicable"]

MOST_SHAPES: Final = 64
"""The number of shapes of queries whose plans are kept."""

FEW_DEMANDS: Final = 10_000
DEMANDS_PER_FACT: Final = 4
"""The number of facts that magic sets may have for each explicit fact; `FEW_DEMANDS` are always permitted."""


def by_reading(state: State, query: Sequence[Rule]) -> Found:
    """Return the answers to a query over all facts. The materialisation is up to date.

    Args:
        state: The facts.
        query: The rule whose head has the answers, and facts for it.
    """
    equality = state.base.equality
    rules = demanded_rules(state.catalog, (), [equality.rewritten_query(rule) for rule in query])
    assert rules is not None  # nothing depends on the query, so it can be stratified
    found = DemandPlans(state, rules, query[0].head, which="all").answers()
    return Found(equality.in_all_names(ANSWER, lambda which: found.rows, "all"), found.derived)


def is_applicable(state: State) -> bool:
    """Return whether queries can be answered from the explicit facts, by magic sets or without.

    That is not so where equal terms are merged, where rules ask for facts about literals, and where derived axioms may yield
    further rules. The rules from explicit axioms are up to date.
    """
    return not state.base.equality.merges and state.axioms.are_stated and _demands_of(state).is_applicable


def by_magic(state: State, demand: Demand) -> Found | None:
    """Return the answers to a query that follow from the explicit facts; None if only the materialisation can tell.

    That is so where `is_applicable` says so, and where a recursion through variables for properties does not let triples be told
    apart in negations.

    Args:
        state: The facts.
        demand: The query.
    """
    return _demands_of(state).answers(demand) if is_applicable(state) else None


def _demands_of(state: State) -> _Demands:
    """Return the cached plans of queries, which are valid until rules change or properties are added."""
    base, given, filling = state.base, state.rules, state.catalog.filling
    found: _Demands | None = base.demands
    if found is None or found.given is not given or found.filling != filling:
        found = base.demands = _Demands(state, given, filling)
    return found


class _Demands:
    """The relevant rules without a query, and the plans of queries.

    Args:
        state: The facts.
        given: The rules.
        filling: Tells whether predicates have got their first facts, see `RelationCatalog.filling`.
    """

    def __init__(self, state: State, given: tuple[Rule, ...], filling: tuple[int, int]) -> None:
        self.given, self.filling = given, filling
        self._state = state
        parts = list(split((*given, *demands(given, merges_equal_terms=False))))
        self._rules = tuple(relevant_rules(parts, state.catalog.has_facts))
        # before it is known which are relevant: the facts about literals come with an update
        asks = any(map(asked_of_literals, split(given)))
        self.is_applicable = (
            not asks
            and not recursions(given)
            and not (state.axioms.is_wanted and may_yield_rules(self._rules, state.catalog.has_facts))
        )
        self._mutex = new_mutex()
        self._plans: OrderedDict[tuple[Shape, bool], list[DemandPlans]] = OrderedDict()
        self._unanswerable: set[Shape] = set()

    def answers(self, demand: Demand) -> Found | None:
        """Return the answers to a query, or None if the rules for it cannot be stratified."""
        if demand.shape in self._unanswerable:
            return None
        try:
            found = self._evaluated(demand, max(FEW_DEMANDS, DEMANDS_PER_FACT * self._state.database.count()))
        except TooManyDemandsError:
            return self._evaluated(demand, None)
        return found if found is None else Found(found.rows, found.derived, by_magic=True)

    def _evaluated(self, demand: Demand, most: int | None) -> Found | None:
        """Answer a query with plans that are not in use: by magic sets within a limit of facts, or without."""
        shape = demand.shape
        key = shape, most is None
        with self._mutex:
            waiting = self._plans.get(key)
            plans = waiting.pop() if waiting else None
        if plans is None:
            rules = demanded_rules(self._state.catalog, self._rules, [shape.rule], shape.given, whole=most is None)
            if rules is None:
                if len(self._unanswerable) >= MOST_SHAPES:
                    self._unanswerable.clear()
                self._unanswerable.add(shape)
                return None
            plans = DemandPlans(self._state, rules, shape.head, len(shape.given))
        found = plans.answers(demand.rows, most)
        if plans.is_small:
            with self._mutex:
                self._plans.setdefault(key, []).append(plans)
                self._plans.move_to_end(key)
                while len(self._plans) > MOST_SHAPES:
                    self._plans.popitem(last=False)
        return found
