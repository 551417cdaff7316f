"""Relations of groups: one row for each group of the solutions of an aggregate, see `groups`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from kg_reasoner.planning.aggregates.group_functions import GroupFunction
from kg_reasoner.planning.aggregates.group_states import Group
from kg_reasoner.planning.aggregates.group_values import GroupValues, sorted_groups
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.program import Aggregate, Atom, Rule, Variable
from kg_reasoner.storage.arrays import Numbers, Rows, contains, selected_rows, unique_rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import ABSENT

__all__ = ["AggregateRelation", "ComputedRelation"]

FEW: Final = 16
"""The maximum number of groups that are computed one by one."""
SORTED_FOR_ONE: Final = 64
"""The number of solutions that can be sorted in the time in which an index finds those of one group."""
SORTED_FOR_VALUE: Final = 16
"""The number of solutions that can be sorted in the time in which a value of a group is read."""


class ComputedRelation(Protocol):
    """A relation whose facts are computed from those of lower strata, and not derived by plans."""

    rule: Rule
    source_rule: Rule
    """The rule with the aggregate, as its author wrote it, once it is known."""
    level: int
    target: int

    def refresh(self) -> None:
        """Compute the facts that this update has changed."""
        ...

    def forget(self) -> None:
        """Compute all facts in the next update, as their rows are lost."""
        ...

    def clear(self) -> None:
        """Delete the facts, for which there are no longer any rules."""
        ...


class AggregateRelation:
    """The groups of an aggregate: maps a relation of solutions to a relation with one row for each group."""

    def __init__(self, functions: Functions, database: Database, rule: Rule, level: int, source: int, target: int) -> None:
        (part,) = rule.body
        assert isinstance(part, Aggregate)
        (solutions,) = part.body
        assert isinstance(solutions, Atom)
        self.rule, self.level, self.source, self.target = rule, level, source, target
        self.source_rule = rule
        self.is_new = True
        self._database = database
        self._values = GroupValues(functions.dictionary, functions.columns.values)
        variables = tuple(term for term in solutions.terms if isinstance(term, Variable))
        self._columns = [variables.index(variable) for variable in part.group]
        self._functions = [GroupFunction(binding, variables, functions, rule) for binding in part.bindings]
        self._keeping = [function for function in self._functions if function.keeps]

    def refresh(self) -> None:
        """Compute the groups whose solutions this update has added or removed."""
        is_new, self.is_new = self.is_new, False
        for function in self._keeping:
            function.open(forget=is_new)
        database, width = self._database, len(self._columns)
        if is_new:
            added, removed = database.rows(self.source), np.empty((0, database.relations[self.source].arity), np.int32)
        else:
            removed = database.lost_rows(self.source) if self._keeping else database.gone_rows(self.source)
            added = database.new_rows(self.source)
        changed = np.concatenate([added, removed])[:, self._columns]
        keys = unique_rows(changed) if width else np.empty((int(is_new or len(changed) > 0), 0), np.int32)
        if len(keys):
            if self._keeping and not is_new:
                self._follow(added, removed)
            if width and len(keys) > FEW and self._is_sorted_for(len(keys), is_new=is_new):
                self._replace(keys, self._all_at_once(keys))
            else:
                self._replace_each(map(tuple, keys.tolist()))
        for function in self._keeping:
            function.settle()

    def _is_sorted_for(self, keys: int, *, is_new: bool) -> bool:
        """Return whether sorting all solutions is cheaper than finding and reading the solutions of this number of groups."""
        if not is_new and len(self._keeping) == len(self._functions):
            return False
        size, groups = self._database.size(self.source), max(self._database.size(self.target), keys)
        return keys * (SORTED_FOR_ONE + SORTED_FOR_VALUE * size // groups) >= size

    def _follow(self, added: Rows, removed: Rows) -> None:
        """Report the changes to the functions that keep states."""
        more, less = self._by_group(added), self._by_group(removed)
        for function in self._keeping:
            function.follow(more, less)

    def _by_group(self, rows: Rows) -> Mapping[Group, Rows]:
        if not len(rows):
            return {}
        if not self._columns:
            return {(): rows}
        ordered, starts = sorted_groups(rows, self._columns)
        groups = map(tuple, ordered[starts][:, self._columns].tolist())
        return dict(zip(groups, np.split(ordered, starts[1:]), strict=True))

    def _replace_each(self, groups: Iterable[Group]) -> None:
        """Replace the rows of some groups, one by one."""
        database, width = self._database, len(self._columns)
        results = []
        for group in groups:
            old = database.matching(self.target, range(width), group)
            values = self._values_of(group)
            new = None if -1 in values else (*group, *values)
            for row in old.tolist():
                if tuple(database.tuple_of(self.target, row)) == new:
                    new = None
                else:
                    database.delete_row(self.target, row)
            if new is not None:
                results.append(new)
        if results:
            database.load(self.target, np.array(results, np.int32).reshape(len(results), -1), 0)

    def _values_of(self, group: Group) -> Sequence[int]:
        """Return the ids of the values of a group, or -1 for an error or a group without solutions."""
        if len(self._keeping) == len(self._functions) and all(function.knows(group) for function in self._keeping):
            return [function.kept(group) for function in self._functions]
        rows = self._solutions(group)
        if not len(rows) and self._columns:
            return [-1]
        return [function.computed(self._values, group, rows) for function in self._functions]

    def _solutions(self, group: Group) -> Rows:
        """Return the solutions of a group, which an index finds."""
        database = self._database
        if not self._columns:
            return database.rows(self.source)
        return database.rows_at(self.source, database.matching(self.source, self._columns, group))

    def _replace(self, keys: Rows, new: Rows) -> None:
        """Replace the rows of some groups."""
        database, width = self._database, len(self._columns)
        rows = database.rows(self.target)
        old = selected_rows(rows, contains(keys, rows[:, :width]))
        gone, added = old[~contains(new, old)], new[~contains(old, new)]
        if len(gone):
            database.delete(self.target, gone)
        if len(added):
            database.load(self.target, added, 0)

    def _all_at_once(self, keys: Rows) -> Rows:
        """Return the rows of groups that have solutions, from all solutions in their order."""
        rows, starts = sorted_groups(self._database.rows(self.source), self._columns)
        chosen = contains(keys, rows[starts][:, self._columns])
        sizes = np.diff(np.append(starts, len(rows)))
        if not chosen.all():
            rows, sizes = selected_rows(rows, np.repeat(chosen, sizes)), sizes[chosen]
            starts = np.cumsum(sizes) - sizes
        if not len(rows):
            return np.empty((0, len(self._columns) + len(self._functions)), np.int32)
        groups = rows[starts][:, self._columns]
        results = [groups]
        for function in self._functions:
            found = function.of_all(self._values, rows, starts)
            if found is None:
                parts = zip(map(tuple, groups.tolist()), _parts(rows, starts), strict=True)
                found = np.array([function.computed(self._values, group, part) for group, part in parts], np.int32)
            results.append(found.reshape(-1, 1))
        table = np.concatenate(results, axis=1).astype(np.int32)
        return table[(table >= 0).all(axis=1)]

    def forget(self) -> None:
        """Compute all groups in the next update, as their rows are lost."""
        self.is_new = True

    def clear(self) -> None:
        """Delete the rows of all groups, for an aggregate without rules."""
        for row in np.flatnonzero((self._database.flags(self.target) & ABSENT) == 0).tolist():
            self._database.delete_row(self.target, row)


def _parts(rows: Rows, starts: Numbers) -> Iterator[Rows]:
    """Yield the rows of each group."""
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
        yield rows[start:end]
