"""Insertion of the heads of rules over one atom for many new rows at once, see `kg_reasoner.planning.column_rules`."""

from __future__ import annotations

from collections.abc import Callable, Set
from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple

import numpy as np

from kg_reasoner.engine.evaluation.planned_rules import PlannedRule, Stratum
from kg_reasoner.planning.column_rules import ColumnRule, column_rule
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import Relation

__all__ = ["ColumnInsertion"]

MANY: Final = 1 << 12
"""For fewer rows, kernels look up the results of functions, which are kept for the next update."""
BLOCK: Final = 1 << 17
"""The number of rows whose heads are calculated together."""
_COUNT: Final = Relation.fields["count"][0]
_LEVEL: Final = Relation.fields["level"][0]
_SECTION_COLUMN: Final = Relation.fields["section_column"][0]


class _Entry(NamedTuple):
    """A rule for columns, and its only trigger."""

    planned: PlannedRule
    rule: ColumnRule
    source: int
    plan: int


class ColumnInsertion:
    """The rules of a materialisation that columns can evaluate.

    Args:
        database: The relations.
        functions: The functions of the rules.
    """

    def __init__(self, database: Database, functions: Functions) -> None:
        self._database, self._functions = database, functions
        self._entries: dict[int, _Entry] = {}
        self._sources: Numbers | None = None
        """The relations of the entries, in order."""

    def add(self, planned: PlannedRule) -> None:
        """Consider a new rule."""
        rule = column_rule(self._functions, planned.rule) if planned.rule.checks and len(planned.triggers) == 1 else None
        if rule is not None:
            ((atom, plan),) = planned.triggers
            self._entries[planned.number] = _Entry(planned, rule, atom.relation, plan)
            self._sources = None

    def remove(self, planned: PlannedRule) -> None:
        """Forget a rule."""
        if self._entries.pop(planned.number, None) is not None:
            self._sources = None

    def insert(
        self,
        stratum: Stratum,
        check: Callable[[], None],
        around: Callable[[PlannedRule], AbstractContextManager[object]] = lambda planned: nullcontext(),
    ) -> set[int]:
        """Insert the heads of rules whose body relations have many unprocessed rows and receive no further ones in this stratum.

        Args:
            stratum: The rules of the stratum are considered.
            check: Called before each block of rows: it ends the operation if that exceeds its limits.
            around: Returns a context for the insertion of a rule's heads.

        Returns:
            The plans that these rows need not trigger; none while heads are marked for the next update (see `kernels.marks`).

        Raises:
            ValueTooLargeError: The result of a function is too large.
        """
        done: set[int] = set()
        finished: set[int] = set()
        while entries := self._wanted(stratum, finished):
            for entry in entries:
                with around(entry.planned):
                    self._insert(entry, check)
                done.add(entry.plan)
                finished.add(entry.planned.number)
        return done

    def is_wanted(self, stratum: Stratum) -> bool:
        """Return whether `insert` would do something."""
        return bool(self._wanted(stratum))

    def _wanted(self, stratum: Stratum, finished: Set[int] = frozenset()) -> list[_Entry]:
        """Return the rules of a stratum whose relations have many unprocessed rows, and get no more in it.

        Args:
            stratum: The stratum.
            finished: The numbers of rules whose heads have been inserted.
        """
        if not self._entries or self._database.context.marking:
            return []
        if self._sources is None:
            self._sources = np.array([entry.source for entry in self._entries.values()], np.int64)
        words = self._database.relations.words[self._sources]
        new = words[:, _COUNT] - np.asarray(self._database.processed)[self._sources]
        has_many = (new >= MANY) & (words[:, _SECTION_COLUMN] < 0)
        is_below = words[:, _LEVEL] != stratum.level
        if not (has_many & (is_below | bool(finished))).any():
            return []
        entries = list(self._entries.values())
        found = [entries[place] for place in np.flatnonzero(has_many & is_below).tolist()]
        if finished:
            derivers = _derivers(stratum)
            others = (entries[place] for place in np.flatnonzero(has_many & ~is_below).tolist())
            found += (entry for entry in others if entry.source in derivers and derivers[entry.source] <= finished)
        return [entry for entry in found if entry.planned.number in stratum.rules and entry.planned.number not in finished]

    def _insert(self, entry: _Entry, check: Callable[[], None]) -> None:
        database = self._database
        head, count = entry.planned.rule.head.relation, database.relations[entry.source].count
        for low in range(int(database.processed[entry.source]), count, BLOCK):
            check()
            found = entry.rule.heads(database.rows_from(entry.source, low, min(low + BLOCK, count)))
            database.context.instances += len(found)
            if len(found):
                database.load(head, found, 0)


def _derivers(stratum: Stratum) -> dict[int, set[int]]:
    """Return the numbers of the rules of a stratum by the relations of their heads."""
    found: dict[int, set[int]] = {}
    for number, planned in stratum.rules.items():
        found.setdefault(planned.rule.head.relation, set()).add(number)
    return found
