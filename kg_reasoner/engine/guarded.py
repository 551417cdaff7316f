"""Evaluation of rules whose first atoms guard them, as those of magic sets: a rule is planned once its guard has facts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_reasoner.engine.materialise import Materialiser, PlannedRule, Stratum
from kg_reasoner.language import analysis
from kg_reasoner.planning.borrowed_catalog import BorrowedCatalog
from kg_reasoner.planning.catalog import StoredRule
from kg_reasoner.planning.groups import AggregateRelation, is_aggregate_rule, split
from kg_reasoner.planning.planner import plan_trigger
from kg_reasoner.program import Atom, Rule
from kg_reasoner.storage.kernels.layout import STATED

__all__ = ["evaluate"]


def evaluate(rules: Sequence[Rule], catalog: BorrowedCatalog, materialiser: Materialiser) -> None:
    """Derive what follows from rules, their facts and borrowed facts.

    Args:
        rules: Rules and facts. The first part of each body is an atom, and no rule with this atom has another first part.
        catalog: The relations, in which nothing has been derived.
        materialiser: A materialiser of its database, without rules.
    """
    parts = list(split(rules))
    _state(catalog, [rule.head for rule in parts if not rule.body])
    strata: dict[int, _Stratum] = {}
    for rule, level in analysis.levels(parts).items():
        if rule.body:
            strata.setdefault(level, _Stratum(level, catalog, materialiser)).add(rule)
    for level in sorted(strata):
        strata[level].evaluate()


class _Stratum:
    """The rules of a stratum, which wait for facts of their guards."""

    def __init__(self, level: int, catalog: BorrowedCatalog, materialiser: Materialiser) -> None:
        self._level, self._catalog, self._materialiser = level, catalog, materialiser
        self._waiting: dict[tuple[str, int], list[Rule]] = {}
        self._aggregates: list[Rule] = []
        self._planned: list[PlannedRule] = []

    def add(self, rule: Rule) -> None:
        """Add a rule."""
        if is_aggregate_rule(rule):
            self._aggregates.append(rule)
            return
        guard = rule.body[0]
        assert isinstance(guard, Atom)
        self._waiting.setdefault((guard.predicate, guard.arity), []).append(rule)

    def evaluate(self) -> None:
        """Apply the rules until nothing is new. The strata below are complete."""
        database, materialiser = self._catalog.database, self._materialiser
        for rule in self._aggregates:
            self._group(rule)
        database.mark_processed()
        while ready := self._ready():
            for relation, rules in ready.items():
                self._planned += [self._plan(stored) for rule in rules for stored in self._catalog.rules(rule)]
                database.processed[relation] = 0
            stratum = Stratum(self._level, self._planned)
            materialiser.enter(stratum)
            materialiser.insert(stratum)

    def _ready(self) -> dict[int, list[Rule]]:
        """Take the waiting rules whose guards have facts, by the relations of these."""
        relations = {guard: self._catalog.predicate(*guard) for guard in self._waiting}
        sizes = self._catalog.database.size
        return {relation: self._waiting.pop(guard) for guard, relation in relations.items() if sizes(relation)}

    def _plan(self, rule: StoredRule) -> PlannedRule:
        """Plan a rule. Atoms over borrowed relations, which get no rows, and negated ones trigger nothing."""
        database, number = self._catalog.database, len(self._planned)
        triggers = [
            (atom, plan_trigger(database, rule, number, position))
            for position, atom in enumerate(rule.body)
            if not atom.negated and not database.is_borrowed(atom.relation)
        ]
        return PlannedRule(rule, number, self._level, triggers, [])

    def _group(self, rule: Rule) -> None:
        """Compute the groups of an aggregate, whose solutions are complete."""
        catalog = self._catalog
        (source,) = rule.body[0].body  # type: ignore[union-attr]  # see `groups.split`
        relations = [catalog.predicate(atom.predicate, atom.arity) for atom in (source, rule.head)]  # type: ignore[union-attr]
        AggregateRelation(catalog.dictionary, catalog.database, rule, self._level, *relations).refresh()


def _state(catalog: BorrowedCatalog, facts: Sequence[Atom]) -> None:
    """Insert facts."""
    by_relation: dict[int, list[tuple[int | str, ...]]] = {}
    for fact in facts:
        atom = catalog.atom(fact)
        by_relation.setdefault(atom.relation, []).append(atom.terms)
    for relation, rows in by_relation.items():
        catalog.database.load(relation, np.array(rows, np.int32).reshape(len(rows), -1), STATED)
