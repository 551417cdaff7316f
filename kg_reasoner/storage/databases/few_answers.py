"""Queries with few answers, ready to be asked while nothing changes: each finds its answers in one call of a kernel.

All of them can be asked by several threads at once. They belong to a state of the database: arrays of terms and the places of
relations are those of the time when they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.databases.workspaces import Workspace
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import Argument, address, allocate, argument
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.kernels.queries.small_queries import ANYTHING, PROPERTY, RESOURCE

__all__ = [
    "ANYTHING",
    "GIVEN",
    "IDS",
    "PROPERTY",
    "RESOURCE",
    "FewAnswers",
    "FewAround",
    "FewOfEach",
    "FewOfGiven",
    "FewOfPlan",
    "FewReached",
]

IDS: Final = 1 << 10
"""The number of ids of the largest answer."""

GIVEN: Final = 16
"""The maximal number of ids that are given."""

DIFFERENT: Final = 128
"""The maximal number of answers that are compared with each other."""

REACHED: Final = 64
"""The maximal number of nodes to which a path is followed."""


class FewAnswers(Protocol):
    """A query with few answers."""

    def __call__(self, enough: int | None = None, given: Sequence[int] = ()) -> Ids | None:
        """Return the answers, shape (columns, answers).

        Args:
            enough: A sufficient number of answers; there are no more.
            given: The ids of the given values, as many as were announced.

        Returns:
            The answers, in an array of their own; None if there are too many, or an index has to be built.
        """
        ...


class _Buffers(NamedTuple):
    """Memory for answers, used by one thread at a time."""

    array: Any
    address: Argument
    given: Any
    """Room for the ids of the given values."""
    given_address: Argument
    tables: dict[int, Ids]
    """The memory as tables, by the number of columns."""

    def table(self, width: int, room: int) -> Ids:
        """Return the memory as a table of columns."""
        found = self.tables.get(width)
        if found is None or found.shape[1] != room:
            found = self.tables[width] = np.asarray(self.array[: width * room]).reshape(width, room)
        return found


_unused: Final[list[_Buffers]] = []
"""Unused buffers: at most as much as threads have used at the same time."""


def _taken() -> _Buffers:
    try:
        return _unused.pop()
    except IndexError:
        array, given = allocate(IDS + 1, np.int32), allocate(GIVEN, np.int32)
        return _Buffers(array, argument(address(array)), given, argument(address(given)), {})


class FewOfPlan:
    """The few answers of a conjunctive query.

    Args:
        database: The database.
        key: The query, and `plan`, which makes its plan, see `Database.prepared`.
        plan: See `key`.
        kinds: What the columns may contain.
        first_bytes: The first bytes of all terms.
        shown: The number of columns, the first ones, that are wanted.
        is_distinct: Whether answers that are alike in these columns are returned once.
        given: The number of ids that are given, in the first slots of the plan.
    """

    __slots__ = ("_arguments", "_count", "_held", "_make", "_pool", "_room", "_shown", "_width")

    def __init__(
        self,
        database: Database,
        key: Hashable,
        plan: Callable[[Workspace], int],
        kinds: Sequence[int],
        first_bytes: Any,
        shown: int,
        *,
        is_distinct: bool = False,
        given: int = 0,
    ) -> None:
        self._pool = database.pool_of(key)
        self._make = database.prepared(key, plan).made
        self._shown, self._width = shown, len(kinds)
        self._room = min(IDS // max(1, len(kinds)), DIFFERENT if is_distinct else IDS)
        self._held = allocate(len(kinds), np.int32), first_bytes
        self._held[0][: len(kinds)] = list(kinds)
        self._count = given
        arguments = given, len(kinds), *map(address, self._held), shown if is_distinct else 0
        self._arguments = tuple(map(argument, arguments))

    def __call__(self, enough: int | None = None, given: Sequence[int] = ()) -> Ids | None:
        """See `FewAnswers`."""
        try:
            taken = self._pool.pop()
        except IndexError:
            taken = self._make()
        workspace, plan = taken
        workspace.look(self)
        buffers = _taken()
        size = self._room
        if self._count:
            buffers.given[: self._count] = given
        last = size + 1 if enough is None else enough
        found = native.fetch_few(workspace.address, plan, buffers.given_address, *self._arguments, buffers.address, size, last)
        self._pool.append(taken)
        answers = buffers.table(self._width, size)[: self._shown, :found].copy() if found >= 0 else None
        _unused.append(buffers)
        return answers


class FewOfEach:
    """The few answers for each of some ids that are given to a query.

    Args:
        few: Finds those for one id.
        numbers: The ids.
        width: The number of columns.
    """

    __slots__ = ("_few", "_given", "_width")

    def __init__(self, few: FewAnswers, numbers: Sequence[int], width: int) -> None:
        self._few, self._given, self._width = few, [(number,) for number in numbers], width

    def __call__(self, enough: int | None = None, given: Sequence[int] = ()) -> Ids | None:
        """See `FewAnswers`."""
        parts: list[Ids] = [np.empty((self._width, 0), np.int32)]
        for number in self._given:
            found = self._few(enough, number)
            if found is None:
                return None
            parts.append(found)
        return np.concatenate(parts, axis=1)[:, :enough]


class FewOfGiven:
    """The few answers for each of some ids that are given, if these differ.

    Args:
        few: Finds those for one id.
        width: The number of columns.
    """

    __slots__ = ("_few", "_width")

    def __init__(self, few: FewAnswers, width: int) -> None:
        self._few, self._width = few, width

    def __call__(self, enough: int | None = None, given: Sequence[int] = ()) -> Ids | None:
        """See `FewAnswers`."""
        different = dict.fromkeys(given)
        return FewOfEach(self._few, tuple(different), self._width)(enough) if len(different) == len(given) else None


class FewAround:
    """The few properties and other ends of the triples with a subject or value.

    Args:
        database: The database.
        around: The record of `kg_reasoner.storage.kernels.queries.around.Surroundings`.
        known: The subject or value; None: it is given.
        is_subject: Whether it is the subject.
    """

    __slots__ = ("_address", "_around", "_database", "_forwards", "_known")

    def __init__(self, database: Database, around: Record, known: int | None, *, is_subject: bool) -> None:
        self._database, self._around, self._address = database, around, argument(around.address)
        self._known, self._forwards = known, int(is_subject)

    def __call__(self, enough: int | None = None, given: Sequence[int] = ()) -> Ids | None:
        """See `FewAnswers`. The first column has the properties."""
        buffers, size = _taken(), IDS // 2
        known, last = given[0] if self._known is None else self._known, size + 1 if enough is None else enough
        found = native.match_around(self._database.address, self._address, known, self._forwards, buffers.address, size, last)
        answers = buffers.table(2, size)[:, :found].copy() if found >= 0 else None
        _unused.append(buffers)
        return answers


class FewReached:
    """The few nodes that are reached from a node by the steps of an index.

    Args:
        database: The database.
        index: The index on the end of a property's relation where a step begins.
        start: The node; None: it is given.
        takes_start: Whether the start counts as reached.
        forwards: Whether steps lead from subjects to values.
        first_bytes: The first bytes of all terms.
    """

    __slots__ = ("_arguments", "_database", "_first_bytes", "_hidden", "_index", "_start")

    def __init__(
        self, database: Database, index: int, start: int | None, first_bytes: Any, *, takes_start: bool, forwards: bool
    ) -> None:
        self._database, self._first_bytes = database, first_bytes
        self._index, self._start = argument(index), start
        self._arguments = tuple(map(argument, (int(takes_start), int(forwards), address(first_bytes))))
        self._hidden = 0 if takes_start else 1

    def __call__(self, enough: int | None = None, given: Sequence[int] = ()) -> Ids | None:
        """See `FewAnswers`."""
        buffers, start = _taken(), given[0] if self._start is None else self._start
        found = native.reach_few(self._database.address, self._index, start, *self._arguments, buffers.address, REACHED)
        last = found if enough is None else min(found, self._hidden + enough)
        answers = buffers.table(1, REACHED)[:, self._hidden : last].copy() if found >= 0 else None
        _unused.append(buffers)
        return answers
