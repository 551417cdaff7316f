"""Rules over one atom whose functions and comparisons are evaluated on columns of many rows.

Kernels look up the result of a function for each row, in a relation of all results. For many rows, it takes less time to evaluate
the function on their columns, and to store nothing but the heads.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kg_reasoner.planning.catalog import DISTINCT_TERMS, StoredCall, StoredComparison, StoredRule, StoredTerm
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.planning.join_order import by_shape, in_join_order, names_of, parts_of_body
from kg_reasoner.storage.arrays import Flags, Ids, Rows
from kg_reasoner.storage.kernels.layout import FAILED, HOLDS

__all__ = ["ColumnRule", "column_rule"]


class ColumnRule:
    """A rule over one atom, see `column_rule`.

    Args:
        functions: The functions of rules.
        rule: The rule.
    """

    def __init__(self, functions: Functions, rule: StoredRule) -> None:
        self._functions, self._rule = functions, rule
        (atom,) = rule.body
        self._order = [part for part, _ in in_join_order(parts_of_body(rule.body, rule.checks), 0, by_shape, names_of(atom))]

    def heads(self, rows: Rows) -> Rows:
        """Return the heads that follow from rows of the atom's relation.

        Raises:
            ValueTooLargeError: The result of a function is too large.
        """
        columns = self._matched(rows)
        size = len(next(iter(columns.values())))
        for part in self._order:
            assert isinstance(part, StoredCall | StoredComparison)
            if isinstance(part, StoredComparison):
                kept = self._compared(part, columns, size)
            elif part.has_several:
                columns, kept = self._with_members(part, columns, size)
            else:
                kept = self._called(part, columns, size)
            if not kept.all():
                columns = {name: column[kept] for name, column in columns.items()}
            size = int(kept.sum())
        found = np.empty((size, len(self._rule.head.terms)), np.int32)
        for place, term in enumerate(self._rule.head.terms):
            found[:, place] = term if isinstance(term, int) else columns[term]
        return found

    def _matched(self, rows: Rows) -> dict[str, Ids]:
        """Return the columns of the atom's variables in the rows that match it."""
        terms = self._rule.body[0].terms
        first = {term: terms.index(term) for term in terms}
        kept = np.ones(len(rows), np.bool_)
        for place, term in enumerate(terms):
            if isinstance(term, int):
                kept &= rows[:, place] == term
            elif first[term] != place:
                kept &= rows[:, place] == rows[:, first[term]]
        if not kept.all():
            rows = rows[kept]
        return {term: np.ascontiguousarray(rows[:, place]) for term, place in first.items() if isinstance(term, str)}

    def _compared(self, part: StoredComparison, columns: Mapping[str, Ids], size: int) -> Flags:
        sides = [_column(side, columns, size) for side in (part.left, part.right)]
        if part.operator == DISTINCT_TERMS:
            return sides[0] != sides[1]
        return self._functions.compared(part.operator, *sides)

    def _called(self, part: StoredCall, columns: dict[str, Ids], size: int) -> Flags:
        """Return for which rows a function gives the expected result. A new variable for its results becomes one of the columns."""
        results = self._functions.results_of(part.function, [_column(term, columns, size) for term in part.arguments])
        if part.result is None:
            return results == HOLDS
        if isinstance(part.result, int) or part.result in columns:
            return results == _column(part.result, columns, size)
        columns[part.result] = results
        return results != FAILED

    def _with_members(self, part: StoredCall, columns: Mapping[str, Ids], size: int) -> tuple[dict[str, Ids], Flags]:
        """Return the columns with a row for each member of a collection, and which of these rows have the expected one."""
        sizes, members = self._functions.members_of(_column(part.arguments[0], columns, size))
        repeated = {name: np.repeat(column, sizes) for name, column in columns.items()}
        assert part.result is not None
        if isinstance(part.result, int) or part.result in columns:
            return repeated, members == _column(part.result, repeated, len(members))
        return {**repeated, part.result: members}, np.ones(len(members), np.bool_)


def _column(term: StoredTerm, columns: Mapping[str, Ids], size: int) -> Ids:
    return np.full(size, term, np.int32) if isinstance(term, int) else columns[term]


def column_rule(functions: Functions, rule: StoredRule) -> ColumnRule | None:
    """Return a rule for columns, or None if kernels are to evaluate it.

    Args:
        functions: The functions of rules.
        rule: The rule.
    """
    if len(rule.body) != 1 or not rule.checks or rule.body[0].negated or not rule.head.terms or not names_of(rule.body[0]):
        return None
    calls = (part for part in rule.checks if isinstance(part, StoredCall))
    return ColumnRule(functions, rule) if all(functions.decides_columns(call.function) for call in calls) else None
