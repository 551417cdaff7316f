"""Tables of solutions: a column of ids for each variable.

`UNBOUND` stands where a solution does not bind the variable. A variable without a column is bound by no solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import numpy as np

from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.grouping import gathered, group_rows

__all__ = ["UNBOUND", "Table", "concatenated", "constant", "unit"]

UNBOUND: Final = -1
"""No term. Ids below stand for terms that only a query knows, see `kg_reasoner.sparql.solutions.query_terms`."""


FEW: Final = 32
"""The number of solutions that are compared without the kernels."""


class Table:
    """Solutions as columns of ids, all of length `size`.

    Args:
        columns: A column for each variable, by name.
        size: The number of solutions.
        origin: An object that tables of the same solutions, or of some of them, share, whatever their columns are; None: a new one.
        numbers: The numbers that the solutions have among those of the origin; None: their positions.
    """

    __slots__ = ("columns", "numbers", "origin", "size")

    def __init__(self, columns: Mapping[str, Ids], size: int, origin: object = None, numbers: Numbers | None = None) -> None:
        self.columns: dict[str, Ids] = dict(columns)
        self.size = size
        self.origin: object = object() if origin is None else origin
        self.numbers = numbers

    def __len__(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        """The size of the columns in bytes."""
        return sum(column.nbytes for column in self.columns.values())

    def column(self, name: str) -> Ids:
        """Return the column of a variable, which may be bound nowhere."""
        found = self.columns.get(name)
        return constant(UNBOUND, self.size) if found is None else found

    def take(self, rows: Numbers | Flags) -> Table:
        """Return some of the solutions, by their numbers or as flags."""
        numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else cast(Numbers, rows)
        return Table({name: gathered(column, numbers) for name, column in self.columns.items()}, len(numbers))

    def among(self, rows: Numbers) -> Table:
        """Return some of the solutions, by their numbers, as the same solutions."""
        numbers = rows if self.numbers is None else self.numbers[rows]
        return Table({name: column[rows] for name, column in self.columns.items()}, len(rows), self.origin, numbers)

    def part(self, start: int, end: int | None) -> Table:
        """Return a range of the solutions."""
        end = self.size if end is None else min(end, self.size)
        return Table({name: column[start:end] for name, column in self.columns.items()}, max(0, end - start))

    def project(self, names: Iterable[str]) -> Table:
        """Return the table of some variables."""
        return Table({name: self.columns[name] for name in names if name in self.columns}, self.size)

    def extended(self, name: str, column: Ids) -> Table:
        """Return the table with a further column."""
        return Table({**self.columns, name: column}, self.size, self.origin, self.numbers)

    def matrix(self, names: Sequence[str]) -> Ids:
        """Return the columns of some variables as an array of shape (size, variables)."""
        if len(names) == 1:
            return self.column(names[0]).reshape(-1, 1)
        rows = np.empty((self.size, len(names)), np.int32)
        for place, name in enumerate(names):
            rows[:, place] = self.columns.get(name, UNBOUND)
        return rows

    def is_bound_everywhere(self, name: str) -> bool:
        """Return whether all solutions bind a variable."""
        column = self.columns.get(name)
        return column is not None and not bool((column == UNBOUND).any())

    def distinct(self, names: Sequence[str]) -> Table:
        """Return the first of all solutions with the same values of some variables, projected to them."""
        names = [name for name in names if name in self.columns]
        if self.size <= FEW:
            rows = zip(*(self.columns[name].tolist() for name in names), strict=True) if names else [()] * self.size
            known: dict[tuple[int, ...], int] = {}
            for number, row in enumerate(rows):
                known.setdefault(row, number)
            chosen = self.project(names)
            return chosen if len(known) == self.size else chosen.take(np.array([*known.values()], np.int64))
        _, firsts = group_rows(self.matrix(names))
        return self.project(names).take(firsts)

    def without_runs(self, names: Sequence[str]) -> Table:
        """Return the first of all solutions in a row with the same values of some variables, projected to them."""
        is_first = np.zeros(self.size, np.bool_)
        is_first[:1] = True
        for name in names:
            column = self.columns[name]
            is_first[1:] |= column[1:] != column[:-1]
        return self.project(names).take(is_first)


def constant(value: int, size: int) -> Ids:
    """Return a column with the same id everywhere."""
    return np.full(size, value, np.int32)


def unit() -> Table:
    """Return the table with one solution, which binds nothing."""
    return Table({}, 1)


def concatenated(tables: Sequence[Table]) -> Table:
    """Return the solutions of some tables, one after the other."""
    if len(tables) == 1:
        return tables[0]
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {name: np.concatenate([table.column(name) for table in tables]) for name in names}
    return Table(columns, sum(table.size for table in tables))
