"""Plans ordered by the sections of the atoms that trigger them, as kernels read them; single plans can be added and removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.planning.catalog import StoredAtom
from kg_reasoner.planning.plan_drafts import section_constant
from kg_reasoner.storage.arrays import ranges
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import Relation
from kg_reasoner.storage.kernels.memory.buffers import allocate

__all__ = ["SectionPlans"]

_LEAST: Final = 64
"""The least room for further plans and sections."""


class SectionPlans:
    """One array of plans, with a range of it for each section.

    A range that is full moves to the end of the array, with twice the room. What it leaves behind is reclaimed when the array
    grows.

    Args:
        database: The database of the sections.
        plans: The first plans, each with the atom that triggers it.

    Attributes:
        plans: The array.
        ranges: For each section, the first plan and the end of its range.
    """

    def __init__(self, database: Database, plans: Iterable[tuple[StoredAtom, int]]) -> None:
        self._database = database
        entries = list(plans)
        atoms, numbers = [atom for atom, _ in entries], [plan for _, plan in entries]
        sections = self._sections(atoms)
        order = np.argsort(sections, kind="stable")
        self._top = len(atoms)
        self._room: dict[int, int] = {}
        """The rooms of ranges that have more than they need."""
        self.plans: Any = allocate(2 * self._top + _LEAST, np.int32)  # for those that are added, untouched until then
        self.plans[: self._top] = np.array(numbers, np.int32)[order]
        self.ranges = np.zeros((2 * len(database.sections) + _LEAST, 2), np.int64)
        used, first, counts = np.unique(sections[order], return_index=True, return_counts=True)
        self.ranges[used, 0], self.ranges[used, 1] = first, first + counts

    def _sections(self, atoms: Sequence[StoredAtom]) -> npt.NDArray[np.int64]:
        """Return the sections of the rows that atoms range over."""
        words = self._database.relations.words[[atom.relation for atom in atoms]]
        sections = words[:, Relation.fields["section"][0]]
        for place in np.flatnonzero(words[:, Relation.fields["section_column"][0]] >= 0).tolist():
            sections[place] = self.section(atoms[place])
        return sections

    def section(self, atom: StoredAtom) -> int:
        """Return the section of the rows that an atom ranges over."""
        return self._database.section(atom.relation, section_constant(self._database, atom))

    def fit(self) -> None:
        """Add empty ranges for new sections."""
        missing = len(self._database.sections) - len(self.ranges)
        if missing > 0:
            room = np.zeros((max(missing, len(self.ranges)), 2), np.int64)
            self.ranges = np.concatenate([self.ranges, room])

    def add(self, atom: StoredAtom, plan: int) -> int:
        """Add a plan that an atom triggers. Return its section."""
        section = self.section(atom)
        self.fit()
        first, end = self.ranges[section].tolist()
        size = end - first
        if self._room.get(section, size) == size:
            first, end = self._move(section, first, end)
        self.plans[end] = plan
        self.ranges[section] = first, end + 1
        return section

    def remove(self, atom: StoredAtom, plan: int) -> int:
        """Remove a plan that an atom triggers. Return its section."""
        section = self.section(atom)
        first, end = self.ranges[section].tolist()
        self._room.setdefault(section, end - first)
        place = first + int(np.flatnonzero(self.plans[first:end] == plan)[0])
        self.plans[place] = self.plans[end - 1]
        self.ranges[section, 1] = end - 1
        return section

    def _move(self, section: int, first: int, end: int) -> tuple[int, int]:
        """Give a section twice the room. Return its range."""
        size = end - first
        room = max(2, 2 * size)
        if self._top + room > len(self.plans):
            self._grow(room)
            first, end = self.ranges[section].tolist()
        start = self._top
        self.plans[start : start + size] = self.plans[first:end]
        self._top += room
        self._room[section] = room
        self.ranges[section] = start, start + size
        return start, start + size

    def _grow(self, room: int) -> None:
        """Copy the ranges without gaps into an array with room for more."""
        used = np.flatnonzero(self.ranges[:, 1] > self.ranges[:, 0])
        first, end = self.ranges[used].T
        sizes = end - first
        starts = np.cumsum(sizes) - sizes
        count = int(sizes.sum())
        plans = allocate(2 * (count + room) + _LEAST, np.int32)
        plans[:count] = self.plans[ranges(first, sizes)]
        self.ranges[:] = 0
        self.ranges[used, 0], self.ranges[used, 1] = starts, starts + sizes
        self.plans, self._top, self._room = plans, count, {}
