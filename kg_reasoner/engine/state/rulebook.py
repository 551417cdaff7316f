"""The rules in force: those that are planned, their levels, and the data that are discarded with them.

A rule is planned once it is relevant (see `language.selection.relevance`); until then it waits. With property tables, a rule with a
variable for a property or class continues to wait, as further properties and classes yield further copies of it. Such a rule is
planned only once there are facts for it: whether any two terms of an ontology are equal is often open, and the rules for equal
terms have a copy for each property and class. If rules derive the first of these facts, it is planned then, and applied to all
facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import NewRule, PlannedRule
from kg_reasoner.expressions.demands import demands, looks_at_demands
from kg_reasoner.expressions.given_relations import AskedOfLiterals
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.selection.relevance import Relevance
from kg_reasoner.language.strata.recursion import Recursion, lowered
from kg_reasoner.language.strata.stratification import Key, looks_down
from kg_reasoner.planning.aggregates.groups import is_aggregate_rule, split
from kg_reasoner.planning.catalog import RelationCatalog, StoredRule, StoredTerm, Values, asked_of_literals
from kg_reasoner.planning.layouts.triple_layout import NO_NAMES, Names
from kg_reasoner.planning.member_rules import without_places
from kg_reasoner.planning.told_rules import Told, copying_rules, with_told_only
from kg_reasoner.program import Rule
from kg_reasoner.storage.arrays import Flags
from kg_reasoner.storage.kernels.layout import STATED
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from kg_reasoner.engine.evaluation.recursive_results import Results
    from kg_reasoner.planning.aggregates.aggregate_relations import ComputedRelation


class RuleBook:
    """Maintains the plans of a materialiser for changing rules."""

    def __init__(self, catalog: RelationCatalog, materialiser: Materialiser, *, merges_equal_terms: bool = False) -> None:
        self.gone_rules: list[PlannedRule] = []
        """The plans that are out of use since the last `forget_gone`; the facts that they derived are candidates for deletion."""
        self.gone_aggregates: list[ComputedRelation] = []
        self._catalog = catalog
        self._merges_equal_terms = merges_equal_terms
        self._materialiser = materialiser
        self.told: tuple[Told, ...] = ()
        """The rules that copy told triples, and are not applied to conclusions."""
        self._sources: dict[Rule, Rule] = {}
        self._levels: dict[Rule, int] = {}
        self._has_strata = self._has_demands = False
        """Whether some rule negates or aggregates, and whether some rule uses `DEMAND_PREDICATES` (see
        `kg_reasoner.expressions.demands`).
        """
        self.asked_of_literals: Counter[AskedOfLiterals] = Counter()
        """What rules ask of literals, and the number of rules that do."""
        self._new: set[Rule] = set()
        self._relevance = Relevance(catalog.has_facts)
        self._filled: Flags = np.zeros(0, np.bool_)
        """The relations that had facts when relevance was checked last."""
        self._open: dict[Rule, Names] = {}
        """The relevant rules that further properties and classes expand, and what there was of these."""
        self._places: dict[Rule, int] = {}
        """The order of the rules with bodies."""
        self._next_place = 0
        self._plans_of: dict[Rule, dict[Values, PlannedRule]] = {}
        """The plans of each rule, or of its copies by the properties and classes in them."""
        self._aggregates_of: dict[Rule, ComputedRelation] = {}
        self._recursive: Mapping[Rule, tuple[Recursion, Key]] = {}
        self._results_of: dict[Recursion, Results] = {}
        self._checked: tuple[int, int] | None = None

    def use(self, rules: Sequence[Rule], asked: Collection[Term] = ()) -> None:
        """Replace the rules. New ones wait for `plan`; facts of the program are inserted, or lose their flag.

        Args:
            rules: The rules.
            asked: What queries ask of, see `kg_reasoner.expressions.demands`.
        """
        demanded = demands(rules, merges_equal_terms=self._merges_equal_terms, asked=asked)
        self._sources = split((*rules, *demanded))
        self.told = () if self._merges_equal_terms else copying_rules(self._sources)
        if self.told:
            self._sources = with_told_only(self._sources, self.told)
        program = lowered(tuple(self._sources))
        parts, self._recursive = program.rules, program.results
        made = {**program.copying, **{rule: recursion for rule, (recursion, _) in program.results.items()}}
        for rule, recursion in made.items():  # profiles count them for the rule with the aggregate
            self._sources[rule] = self._sources[next(filter(is_aggregate_rule, recursion.rules))]
        levels = analysis.levels(parts)
        gone = [rule for rule in self._levels if rule not in levels]
        new = [rule for rule in parts if rule not in self._levels]
        self._has_strata, self._has_demands = any(map(looks_down, parts)), bool(demanded)
        self._exchange(gone, new, levels)
        self.asked_of_literals = _asked_of_literals(self._sources)  # those in recursions through aggregates, too
        known = {recursion for recursion, _ in self._recursive.values()}
        self._results_of = {recursion: results for recursion, results in self._results_of.items() if recursion in known}
        for rule, plans in self._plans_of.items():
            for planned in plans.values():
                self._materialiser.set_level(planned, levels[rule])
        for rule, aggregate in self._aggregates_of.items():
            self._materialiser.set_level(aggregate, levels[rule])

    def change(self, gone: Collection[Rule], new: Collection[Rule]) -> bool:
        """Remove and add rules. Return False, and do nothing, if that can concern other rules, so that `use` has to be called.

        Args:
            gone: Rules in use.
            new: Rules that are not in use.
        """
        if self._has_strata or self._has_demands:
            return False
        gone_parts, new_parts = split(gone), split(new)
        if any(with_told_only(parts, self.told) != parts for parts in (gone_parts, new_parts)):
            return False
        if any(map(looks_down, new_parts)) or any(map(looks_at_demands, new_parts)):
            return False
        for rule in gone_parts:
            del self._sources[rule]
        self._sources.update(new_parts)
        self.asked_of_literals = self.asked_of_literals + _asked_of_literals(new_parts) - _asked_of_literals(gone_parts)
        self._exchange(tuple(gone_parts), tuple(new_parts), dict.fromkeys(new_parts, 0))
        return True

    def _exchange(self, gone: Sequence[Rule], new: Sequence[Rule], levels: dict[Rule, int]) -> None:
        """Remove and add rules. `levels` has those of the new ones, and of others that have changed."""
        self._drop(gone)
        self._new.difference_update(gone)
        for rule in gone:
            del self._levels[rule]
        self._levels.update(levels)
        # Until a deferred rule is planned, facts are missing, from which others must not draw conclusions.
        defers = not (self._has_strata or self._has_demands or self._merges_equal_terms)
        if not defers:
            self._relevance.defer_no_longer()
        for rule in new:
            if rule.body:
                self._places[rule] = self._next_place = self._next_place + 1
                self._relevance.add(rule, deferred=defers and self._catalog.layout.is_open(rule))
        if new:
            self._checked = None
        self._new.update(new)
        self._state_facts([rule for rule in gone if not rule.body], [rule for rule in new if not rule.body])

    @property
    def is_planned(self) -> bool:
        """Whether all relevant rules have plans."""
        return self._checked == self._catalog.filling and not self._new

    def note_derived(self) -> bool:
        """Note what rules have derived. Return whether deferred rules can fire now: then `plan` returns their plans as those of new
        rules, and nothing remains deferred.
        """
        if self._checked == self._catalog.filling:
            return False
        self._note_filled()  # so that the next update, which may be small, need not do so
        if not self._relevance.deferred or not (ready := self._relevance.ready()):
            return False
        self._new.update(ready)
        self._relevance.defer_no_longer()
        self._checked = None
        return True

    def plan(self) -> list[PlannedRule]:
        """Plan the relevant rules. Return the plans of new rules; older rules, planned only now, could not fire before, and all
        facts that they need are new rows.
        """
        late: list[PlannedRule] = []
        catalog = self._catalog
        while self._checked != (state := catalog.filling):
            self._checked = state  # plans may bring new properties, which expand further rules
            self._note_filled()
            ready = self._relevance.take()
            ready += [rule for rule, known in self._open.items() if known != catalog.layout.names]
            late += self._plan(sorted(ready, key=self._places.__getitem__))
        self._new = set()
        return late

    def _note_filled(self) -> None:
        """Note which relations have got their first facts."""
        self._filled, keys = self._catalog.filled(self._filled)
        for key in keys:
            self._relevance.note(key)

    def plans_of(self, rule: Rule) -> list[PlannedRule]:
        """Return the plans of a rule and its copies."""
        return list(self._plans_of.get(rule, {}).values())

    def forget_gone(self) -> None:
        """Discard the removed rules and aggregates, whose consequences have been deleted."""
        self.gone_rules, self.gone_aggregates = [], []

    def _plan(self, rules: Sequence[Rule]) -> list[PlannedRule]:
        """Plan relevant rules, or the copies that further properties and classes bring. Return the new plans of new rules."""
        catalog = self._catalog
        closed = [rule for rule in rules if not (self._is_computed(rule) or catalog.layout.is_open(rule))]
        stored_closed = dict(zip(closed, catalog.closed_rules(closed), strict=True))
        names = catalog.layout.names
        wanted: list[NewRule] = []
        owners: list[tuple[dict[Values, PlannedRule], bool]] = []
        for rule in rules:
            if self._is_computed(rule):
                self._plan_aggregate(rule)
                continue
            known = self._plans_of.setdefault(rule, {})
            level, source, owner = self._levels[rule], self._sources.get(rule), (known, rule in self._new)
            for stored in (stored_closed[rule],) if rule in stored_closed else self._copies(rule, names):
                if not known or stored.values not in known:
                    wanted.append(NewRule(level, without_places(stored, catalog.functions), source))
                    owners.append(owner)
        added = self._materialiser.add_rules(wanted)
        for (known, _), planned in zip(owners, added, strict=True):
            known[planned.rule.values] = planned
        return [planned for (_, is_new), planned in zip(owners, added, strict=True) if is_new]

    def _is_computed(self, rule: Rule) -> bool:
        """Return whether kernels do not evaluate a rule, which has an aggregate."""
        return rule in self._recursive or is_aggregate_rule(rule)

    def _copies(self, rule: Rule, names: Names) -> Iterable[StoredRule]:
        """Return the copies of a rule by properties and classes, but for most that there are."""
        since, self._open[rule] = self._open.get(rule, NO_NAMES), names
        return self._catalog.rules(rule, since)

    def _plan_aggregate(self, rule: Rule) -> None:
        """Plan the relation of an aggregate."""
        catalog, level = self._catalog, self._levels[rule]
        aggregate: ComputedRelation
        if rule in self._recursive:
            from kg_reasoner.engine.evaluation.recursive_results import RecursiveResult, Results

            recursion, key = self._recursive[rule]
            if recursion not in self._results_of:
                self._results_of[recursion] = Results(catalog, recursion, self._materialiser.watch)
            target = catalog.predicate(rule.head.predicate, rule.head.arity)
            aggregate = RecursiveResult(self._results_of[recursion], rule, key, level, target)
        else:
            from kg_reasoner.planning.aggregates.aggregate_relations import AggregateRelation

            (source,) = rule.body[0].body  # type: ignore[union-attr]  # see `groups.split`
            relations = [catalog.predicate(atom.predicate, atom.arity) for atom in (source, rule.head)]  # type: ignore[union-attr]
            aggregate = AggregateRelation(catalog.functions, catalog.database, rule, level, *relations)
        aggregate.source_rule = self._sources[rule]
        self._materialiser.add_aggregate(aggregate)
        self._aggregates_of[rule] = aggregate

    def _drop(self, rules: Iterable[Rule]) -> None:
        """Discard the plans of removed rules."""
        for rule in rules:
            if rule.body:
                self._relevance.remove(rule)
                self._open.pop(rule, None)
                self._places.pop(rule, None)
            if rule in self._aggregates_of:
                self.gone_aggregates.append(self._aggregates_of.pop(rule))
            self.gone_rules.extend(self._plans_of.pop(rule, {}).values())

    def _state_facts(self, gone: Iterable[Rule], new: Iterable[Rule]) -> None:
        """Flag facts of the program (rules without a body), and remove the flag from former ones."""
        catalog, database = self._catalog, self._catalog.database
        for change, facts in ((database.retract, gone), (database.load, new)):
            by_relation: dict[int, list[tuple[StoredTerm, ...]]] = {}
            for fact in facts:
                atom = catalog.atom(fact.head)
                by_relation.setdefault(atom.relation, []).append(atom.terms)
            for relation, rows in by_relation.items():
                change(relation, np.array(rows, np.int32).reshape(len(rows), -1), STATED)


def _asked_of_literals(rules: Iterable[Rule]) -> Counter[AskedOfLiterals]:
    """Return what rules ask of literals, and how many rules do."""
    return Counter([asked for rule in rules for asked in asked_of_literals(rule)])
