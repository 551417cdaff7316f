"""Evaluation of rules whose first atoms guard them, as those of magic sets: a rule is planned once its guard has facts.

The plans are kept, so that the rules can be evaluated again when the facts have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule, Stratum
from kg_reasoner.language.checks import analysis
from kg_reasoner.planning.aggregates.aggregate_relations import AggregateRelation
from kg_reasoner.planning.aggregates.groups import is_aggregate_rule, split
from kg_reasoner.planning.borrowed_catalog import BorrowedCatalog
from kg_reasoner.planning.catalog import StoredRule
from kg_reasoner.planning.planner import plan_trigger
from kg_reasoner.program import Atom, Rule
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels.layout import STATED

__all__ = ["GuardedRules"]


class GuardedRules:
    """Rules over the relations of a catalog and borrowed facts.

    Args:
        rules: Rules and facts. The first part of each body is an atom, and no rule with this atom has another first part.
        catalog: The relations, in which nothing has been derived.
        materialiser: A materialiser of its database, without rules.
    """

    def __init__(self, rules: Sequence[Rule], catalog: BorrowedCatalog, materialiser: Materialiser) -> None:
        self._catalog = catalog
        parts = list(split(rules))
        self._facts = _stored(catalog, [rule.head for rule in parts if not rule.body])
        strata: dict[int, _Stratum] = {}
        for rule, level in analysis.levels(parts).items():
            if rule.body:
                strata.setdefault(level, _Stratum(level, catalog, materialiser)).add(rule)
        self._strata = [strata[level] for level in sorted(strata)]

    @property
    def stated(self) -> int:
        """The number of facts among the rules."""
        return sum(map(len, self._facts.values()))

    def evaluate(self, facts: Mapping[int, Ids]) -> None:
        """Derive consequences into empty relations.

        Args:
            facts: Further facts, by relation.
        """
        for given in (self._facts, facts):
            for relation, rows in given.items():
                self._catalog.database.load(relation, rows, STATED)
        for stratum in self._strata:
            stratum.evaluate()


class _Stratum:
    """The rules of a stratum, which wait for facts of their guards."""

    def __init__(self, level: int, catalog: BorrowedCatalog, materialiser: Materialiser) -> None:
        self._level, self._catalog, self._materialiser = level, catalog, materialiser
        self._waiting: dict[tuple[str, int], list[Rule]] = {}
        self._aggregate_rules: list[Rule] = []
        self._aggregates: list[AggregateRelation] = []
        self._guards: list[int] = []
        self._planned = Stratum(level)

    def add(self, rule: Rule) -> None:
        """Add a rule."""
        if is_aggregate_rule(rule):
            self._aggregate_rules.append(rule)
            return
        guard = rule.body[0]
        assert isinstance(guard, Atom)
        self._waiting.setdefault((guard.predicate, guard.arity), []).append(rule)

    def evaluate(self) -> None:
        """Apply the rules until nothing is new. The strata below are complete."""
        database = self._catalog.database
        self._aggregates += map(self._aggregate, self._aggregate_rules)
        self._aggregate_rules = []
        for aggregate in self._aggregates:
            aggregate.forget()
            aggregate.refresh()
        database.mark_processed()
        ready = self._ready()
        unprocessed = [*self._guards]
        while ready or unprocessed:
            if ready:
                self._plan_all(ready)
            for relation in (*unprocessed, *ready):
                database.processed[relation] = 0
            unprocessed = []
            self._materialiser.enter(self._planned)
            self._materialiser.insert(self._planned)
            ready = self._ready()

    def _ready(self) -> dict[int, list[Rule]]:
        """Take the waiting rules whose guards have facts, by the relations of these."""
        relations = {guard: self._catalog.predicate(*guard) for guard in self._waiting}
        sizes = self._catalog.database.size
        return {relation: self._waiting.pop(guard) for guard, relation in relations.items() if sizes(relation)}

    def _plan_all(self, ready: Mapping[int, list[Rule]]) -> None:
        """Plan rules, by the relations of their guards."""
        planned = list(self._planned.rules.values())
        for rules in ready.values():
            for rule in rules:
                planned += [self._plan(stored, len(planned)) for stored in self._catalog.rules(rule)]
        self._guards += ready
        self._planned = Stratum(self._level, dict(enumerate(planned)))

    def _plan(self, rule: StoredRule, number: int) -> PlannedRule:
        """Plan a rule. Atoms over borrowed relations, which get no rows, and negated ones trigger nothing."""
        database = self._catalog.database
        triggers = [
            (atom, plan_trigger(database, rule, number, position))
            for position, atom in enumerate(rule.body)
            if not atom.negated and not database.is_borrowed(atom.relation)
        ]
        return PlannedRule(rule, number, self._level, triggers, [], rule.rule)

    def _aggregate(self, rule: Rule) -> AggregateRelation:
        """Return the groups of an aggregate."""
        catalog = self._catalog
        (source,) = rule.body[0].body  # type: ignore[union-attr]  # see `groups.split`
        relations = [catalog.predicate(atom.predicate, atom.arity) for atom in (source, rule.head)]  # type: ignore[union-attr]
        return AggregateRelation(catalog.functions, catalog.database, rule, self._level, *relations)


def _stored(catalog: BorrowedCatalog, facts: Sequence[Atom]) -> dict[int, Ids]:
    """Return facts as rows of their relations."""
    by_relation: dict[int, list[tuple[int | str, ...]]] = {}
    for fact in facts:
        atom = catalog.atom(fact)
        by_relation.setdefault(atom.relation, []).append(atom.terms)
    return {relation: np.array(rows, np.int32).reshape(len(rows), -1) for relation, rows in by_relation.items()}
