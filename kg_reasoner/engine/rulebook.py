"""The rules in force: which ones are planned, at which level, and what is discarded with them.

A rule is planned once it is relevant (see `language.relevance`); until then it waits. With property tables, a rule with a variable
for a property or class continues to wait, as further properties and classes yield further copies of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.engine.materialise import Materialiser, PlannedRule
from kg_reasoner.expressions.demands import demands
from kg_reasoner.language import analysis
from kg_reasoner.language.recursion import Recursion, lowered
from kg_reasoner.language.relevance import relevant_rules
from kg_reasoner.language.strata import Key
from kg_reasoner.planning.catalog import RelationCatalog, StoredTerm, asks_of_literals
from kg_reasoner.planning.groups import AggregateRelation, ComputedRelation, is_aggregate_rule, split
from kg_reasoner.program import Rule
from kg_reasoner.storage.kernels.layout import STATED

if TYPE_CHECKING:
    from kg_reasoner.engine.recursive_results import Results

_NOT_PLANNED = -1


class RuleBook:
    """Maintains the plans of a materialiser for changing rules."""

    def __init__(self, catalog: RelationCatalog, materialiser: Materialiser, *, merges_equal_terms: bool = False) -> None:
        self.gone_rules: list[PlannedRule] = []
        """The plans that are out of use since the last `forget_gone`; the facts that they derived are candidates for deletion."""
        self.gone_aggregates: list[ComputedRelation] = []
        self.asks_of_literals = False
        """Whether some rule uses facts about literals."""
        self._catalog = catalog
        self._merges_equal_terms = merges_equal_terms
        self._materialiser = materialiser
        self._levels: dict[Rule, int] = {}
        self._new: set[Rule] = set()
        self._stated: dict[Rule, None] = {}
        self._waiting: dict[Rule, int] = {}
        self._planned: dict[Rule, PlannedRule] = {}
        self._owners: Counter[Rule] = Counter()
        self._plans_of: dict[Rule, dict[Rule, PlannedRule]] = {}
        self._aggregates_of: dict[Rule, ComputedRelation] = {}
        self._recursive: Mapping[Rule, tuple[Recursion, Key]] = {}
        self._results_of: dict[Recursion, Results] = {}
        self._relevance_checked: tuple[int, int] | None = None

    def use(self, rules: Sequence[Rule]) -> None:
        """Replace the rules. New ones wait for `plan`; facts of the program are inserted, or lose their flag."""
        whole = tuple(split((*rules, *demands(rules, merges_equal_terms=self._merges_equal_terms))))
        program = lowered(whole)
        parts, self._recursive = program.rules, program.results
        levels = analysis.levels(parts)
        self._drop(self._levels.keys() - levels.keys())
        known = {recursion for recursion, _ in self._recursive.values()}
        self._results_of = {recursion: results for recursion, results in self._results_of.items() if recursion in known}
        self._new = levels.keys() - self._levels.keys()
        if self._new:
            self._waiting.update((rule, _NOT_PLANNED) for rule in parts if rule in self._new and rule.body)
            self._relevance_checked = None
        self._levels = levels
        for rule, plans in self._plans_of.items():
            for planned in plans.values():
                self._materialiser.set_level(planned, levels[rule])
        for rule, aggregate in self._aggregates_of.items():
            self._materialiser.set_level(aggregate, levels[rule])
        self.asks_of_literals = any(map(asks_of_literals, whole))
        self._state_facts(parts)

    def plan(self) -> list[PlannedRule]:
        """Plan the relevant rules. Return the plans of new rules; older rules, planned only now, could not fire before, and all
        facts that they need are new rows.
        """
        late: list[PlannedRule] = []
        catalog = self._catalog
        while self._relevance_checked != (state := catalog.filling):
            self._relevance_checked = state  # plans may bring new properties, which expand further rules
            for rule in relevant_rules(list(self._waiting), catalog.has_facts, (*self._plans_of, *self._aggregates_of)):
                added = self._plan(rule)
                if rule in self._new:
                    late += added
        self._new = set()
        return late

    def plans_of(self, rule: Rule) -> list[PlannedRule]:
        """Return the plans of a rule and its copies."""
        return list(self._plans_of.get(rule, {}).values())

    def forget_gone(self) -> None:
        """Discard the removed rules and aggregates, whose consequences have been deleted."""
        self.gone_rules, self.gone_aggregates = [], []

    def _plan(self, rule: Rule) -> list[PlannedRule]:
        """Plan a waiting rule, which continues to wait if further properties or classes can expand it. Return the new plans; a copy
        shared with another rule is planned once.
        """
        catalog = self._catalog
        names, is_open = len(catalog.layout.held), catalog.layout.is_open(rule)
        if self._waiting[rule] == names:
            return []
        if is_open:
            self._waiting[rule] = names
        else:
            del self._waiting[rule]
        if is_aggregate_rule(rule):
            self._plan_aggregate(rule)
            return []
        known = self._plans_of.setdefault(rule, {})
        copies = {stored.rule: stored for stored in catalog.rules(rule) if stored.rule not in known}
        new = [stored for copy, stored in copies.items() if copy not in self._planned]
        added = self._materialiser.add_rules(self._levels[rule], new)
        self._planned.update((planned.rule.rule, planned) for planned in added)
        self._owners.update(copies.keys())
        known.update((copy, self._planned[copy]) for copy in copies)
        return added

    def _plan_aggregate(self, rule: Rule) -> None:
        """Plan the relation of an aggregate."""
        catalog, level = self._catalog, self._levels[rule]
        aggregate: ComputedRelation
        if rule in self._recursive:
            from kg_reasoner.engine.recursive_results import RecursiveResult, Results

            recursion, key = self._recursive[rule]
            if recursion not in self._results_of:
                self._results_of[recursion] = Results(catalog, recursion, self._materialiser.watch)
            target = catalog.predicate(rule.head.predicate, rule.head.arity)
            aggregate = RecursiveResult(self._results_of[recursion], rule, key, level, target)
        else:
            (source,) = rule.body[0].body  # type: ignore[union-attr]  # see `groups.split`
            relations = [catalog.predicate(atom.predicate, atom.arity) for atom in (source, rule.head)]  # type: ignore[union-attr]
            aggregate = AggregateRelation(catalog.dictionary, catalog.database, rule, level, *relations)
        self._materialiser.add_aggregate(aggregate)
        self._aggregates_of[rule] = aggregate

    def _drop(self, rules: Iterable[Rule]) -> None:
        """Discard the plans of removed rules."""
        for rule in rules:
            self._waiting.pop(rule, None)
            if rule in self._aggregates_of:
                self.gone_aggregates.append(self._aggregates_of.pop(rule))
            for copy, planned in self._plans_of.pop(rule, {}).items():
                self._owners[copy] -= 1
                if not self._owners[copy]:
                    del self._owners[copy], self._planned[copy]
                    self.gone_rules.append(planned)

    def _state_facts(self, rules: Iterable[Rule]) -> None:
        """Flag the facts of the program (rules without a body), and remove the flag from former ones."""
        catalog, database = self._catalog, self._catalog.database
        facts = dict.fromkeys(rule for rule in rules if not rule.body)
        gone, new = self._stated.keys() - facts.keys(), [rule for rule in facts if rule not in self._stated]
        for change, some in ((database.retract, gone), (database.load, new)):
            by_relation: dict[int, list[tuple[StoredTerm, ...]]] = {}
            for rule in some:
                atom = catalog.atom(rule.head)
                by_relation.setdefault(atom.relation, []).append(atom.terms)
            for relation, rows in by_relation.items():
                change(relation, np.array(rows, np.int32).reshape(len(rows), -1), STATED)
        self._stated = facts
