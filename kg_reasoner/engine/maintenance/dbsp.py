"""DBSP: the materialisation as the output of an incremental circuit over facts and rules (see `kg_reasoner.dbsp`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.dbsp.encoded_rules import NO_RESULT, Computation, DatalogClause, Part, SignedAtom, ordered
from kg_reasoner.dbsp.interpreter import FactChanges
from kg_reasoner.dbsp.sorted_columns import Booleans, Integers
from kg_reasoner.dbsp.stratified import Strata, combined
from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import ZSet
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.recorder import Activity
from kg_reasoner.engine.maintenance import Finder, Work
from kg_reasoner.engine.maintenance.collect import collect
from kg_reasoner.expressions.values import satisfies
from kg_reasoner.planning.catalog import DISTINCT_TERMS, StoredAtom, StoredCall, StoredComparison, StoredRule
from kg_reasoner.program import Rule
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT, FAILED, HOLDS, STATED

Levelled: TypeAlias = tuple[int, DatalogClause]
"""A clause and its level."""

BASE = EXPLICIT | STATED
"""Flags of facts that are given."""

SAMPLE = 1024
"""The sample size for estimates of the matches of an atom."""


class Dbsp:
    """Computes the materialisation as the sum of all changes, without a deletion algorithm. It stores partial joins by
    iteration.
    """

    def __init__(self, materialiser: Materialiser) -> None:
        self.materialiser = materialiser
        self.database = materialiser.database
        self._instances = 0
        self._start_over()

    def _start_over(self) -> None:
        self._strata = Strata()
        self._clauses: dict[int, tuple[int, DatalogClause]] = {}
        self._version = -1
        self._given: dict[int, Trace] = {}
        self._level_of_aggregate: dict[int, int] = {}

    @property
    def counters(self) -> Counters:
        """Rule instances that were added or removed, by iteration; all count as insertions."""
        return Counters(insertion=self._instances + self._strata.instances)

    def expect(self, find: Finder | None) -> None:
        """See `Maintenance.expect`; what comes next makes no difference here."""

    def needs_restart(self) -> bool:
        """Return whether aggregates have moved to other strata."""
        return any(
            self._level_of_aggregate.get(aggregate.target, stratum.level) != stratum.level
            for stratum in self.materialiser.strata
            for aggregate in stratum.aggregates
        )

    def apply(self, work: Work) -> None:
        """See `Maintenance.apply`."""
        database = self.database
        if database.is_fresh:
            self._instances += self._strata.instances
            self._start_over()
        else:
            database.make_lists()
        before = self._clauses
        added, removed = self._changed_clauses()
        final = self._final_levels(removed)
        entering = {0: self._changes_of_given()}
        for aggregate in work.gone_aggregates:
            groups = database.rows(aggregate.target)
            gone = {aggregate.target: (groups.astype(np.int64), np.full(len(groups), -1, np.int64))}
            level = self._level_of_aggregate.pop(aggregate.target, 0)
            entering[level] = combined(entering.get(level, {}), gone)
            aggregate.clear()
        levels = 1 + max((stratum.level for stratum in self.materialiser.strata), default=0)
        recorder = self.materialiser.recorder
        sources = self._sources(work, before) if recorder.is_on else {}
        self._strata.count(clauses=bool(sources))

        def enter(level: int) -> FactChanges:
            return combined(entering.get(level, {}), self._changes_of_groups(level))

        with recorder.measure("circuit"):
            for level, changes in self._strata.step(levels, enter, added, removed):
                for relation, (rows, weights) in changes.items():
                    if final.get(relation, 0) == level:
                        self._store(relation, rows.astype(np.int32), weights)
        for clause, count in self._strata.counted().items():
            recorder.count(Activity("circuit", sources[clause]), count)
        self._strata.count(clauses=False)
        if work.collects:
            collect(database, work)
        native.finish_update(database.address)
        database.mark_materialised()

    def _sources(self, work: Work, before: Mapping[int, Levelled]) -> dict[DatalogClause, Rule]:
        """Return the rules that clauses come from, including the removed ones, which are as they were made: a new clause of the
        same rule may have its atoms in another order.
        """
        rules = {planned.number: planned.source_rule for planned in (*work.gone_rules, *self.materialiser.active_rules())}
        return {clause: rules[number] for number, (_, clause) in {**before, **self._clauses}.items()}

    # --- what comes in ----------------------------------------------------------------------------------------------------

    def _changed_clauses(self) -> tuple[list[Levelled], list[Levelled]]:
        """Return the new and the removed clauses. Clauses that have moved to another level are both."""
        if self._version == self.materialiser.version:
            return [], []
        self._version = self.materialiser.version
        before, self._clauses = self._clauses, {}
        for stratum in self.materialiser.strata:
            for planned in stratum.rules.values():
                known = before.get(planned.number)
                clause = known[1] if known is not None else self._clause(planned.rule.with_places or planned.rule)
                self._clauses[planned.number] = stratum.level, clause
        added = [entry for number, entry in self._clauses.items() if before.get(number) != entry]
        removed = [entry for number, entry in before.items() if self._clauses.get(number) != entry]
        return added, removed

    def _final_levels(self, removed: Sequence[Levelled]) -> dict[int, int]:
        """Return the level at which each relation is complete, for relations that rules derive or have derived until now."""
        final: dict[int, int] = {}
        for level, clause in (*self._clauses.values(), *removed):
            relation = clause.head.predicate
            final[relation] = max(level, final.get(relation, 0))
        return final

    def _changes_of_given(self) -> FactChanges:
        """Return the facts that have become explicit or stated, and those that no longer are."""
        database = self.database
        listed = np.unique(np.concatenate([database.listed("removed"), database.listed("claimed")]))
        touched = {
            relation: np.arange(database.materialised[relation], len(database.flags(relation))) for relation in database.grown()
        }
        for relation in np.unique(listed >> 32).tolist():
            rows = listed[listed >> 32 == relation] & 0xFFFFFFFF
            new = touched.get(relation)
            touched[relation] = rows if new is None else np.union1d(rows, new)
        changes = {}
        for relation, numbers in touched.items():
            if relation in self.materialiser.functions.relations:
                continue
            rows = database.rows_at(relation, numbers).astype(np.int64)
            flags = database.flags(relation)[numbers]
            change = self._given_changes(relation, rows, (flags & BASE > 0) & (flags & ABSENT == 0))
            if len(change):
                changes[relation] = np.stack(change.columns, axis=1)[:, : rows.shape[1]], change.weights
        return changes

    def _given_changes(self, relation: int, rows: Integers, is_given: Booleans) -> ZSet:
        """Return the changes of given facts, if these rows are now given or not."""
        columns = tuple(np.ascontiguousarray(rows.T)) or (np.zeros(len(rows), np.int64),)
        known = self._given.setdefault(relation, Trace(len(columns)))
        touched, now = ZSet.consolidated(columns), ZSet.consolidated(columns, is_given.astype(np.int64))
        before = [
            ZSet.consolidated(tuple(column[which] for column in touched.columns), run.weights[places])
            for which, places, run in known.between(touched.columns, touched.columns)
        ]
        change = now - ZSet.sum(before, len(columns))
        known.insert(change)
        return change

    def _changes_of_groups(self, level: int) -> FactChanges:
        """Update the aggregates that a level uses, and return their changes."""
        database = self.database
        changes: dict[int, tuple[Integers, Integers]] = {}
        for stratum in self.materialiser.strata:
            for aggregate in stratum.aggregates if stratum.level == level else ():
                target = aggregate.target
                self._level_of_aggregate[target] = level
                first = len(database.listed("gone"))
                with self.materialiser.recorder.measure("aggregation", aggregate.source_rule):
                    aggregate.refresh()
                gone = database.listed("gone")[first:]
                lost = database.rows_at(target, gone[gone >> 32 == target] & 0xFFFFFFFF)
                numbers = np.arange(database.materialised[target], len(database.flags(target)))
                new = database.rows_at(target, numbers[database.flags(target)[numbers] & ABSENT == 0])
                weights = np.concatenate([np.full(len(lost), -1, np.int64), np.ones(len(new), np.int64)])
                changes[target] = np.concatenate([lost, new]).astype(np.int64), weights
        return changes

    # --- what comes out ---------------------------------------------------------------------------------------------------

    def _store(self, relation: int, rows: Rows, weights: Integers) -> None:
        """Insert and delete facts of a relation. Given facts exist already."""
        new = rows[weights > 0]
        if len(new) < len(rows):
            self.database.delete(relation, rows[weights < 0])
        if len(new):
            self.database.load(relation, new, 0)

    # --- rules ------------------------------------------------------------------------------------------------------------

    def _clause(self, rule: StoredRule) -> DatalogClause:
        positive = [_literal(atom) for atom in rule.body if not atom.negated]
        negated = [_literal(atom) for atom in rule.body if atom.negated]
        checks: list[Part] = [
            self._comparison(check) if isinstance(check, StoredComparison) else self._call(check) for check in rule.checks
        ]
        return DatalogClause(_literal(rule.head), ordered(positive, [*checks, *negated], self._size))

    def _size(self, atom: SignedAtom) -> float:
        """Return an estimate of the number of facts that an atom matches."""
        rows = self.database.rows(atom.predicate)
        constants = [(column, term) for column, term in enumerate(atom.terms) if isinstance(term, int)]
        if not constants or not len(rows):
            return len(rows)
        sample = rows[:: 1 + len(rows) // SAMPLE]
        matches = np.ones(len(sample), bool)
        for column, term in constants:
            matches &= sample[:, column] == term
        return float(np.count_nonzero(matches)) * len(rows) / len(sample)

    def _comparison(self, check: StoredComparison) -> Computation:
        decode = self.materialiser.functions.dictionary.decode

        def holds(arguments: Sequence[int]) -> int:
            if check.operator == DISTINCT_TERMS:
                return HOLDS if arguments[0] != arguments[1] else NO_RESULT
            left, right = map(decode, arguments)
            return HOLDS if satisfies(check.operator, left, right) else NO_RESULT

        return Computation(check.operator, (check.left, check.right), HOLDS, holds)

    def _call(self, check: StoredCall) -> Computation:
        functions = self.materialiser.functions

        def result(arguments: Sequence[int]) -> int:
            found = functions.call(check.function, arguments)
            return NO_RESULT if found == FAILED else found

        return Computation(check.function, check.arguments, HOLDS if check.result is None else check.result, result)


def _literal(atom: StoredAtom) -> SignedAtom:
    return SignedAtom(atom.relation, atom.terms, atom.negated)
