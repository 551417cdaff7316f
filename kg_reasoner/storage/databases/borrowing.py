"""A database that reads relations of another one in place: their rows, hashes and indexes are shared, not copied.

Borrowed relations do not change: neither this database nor the other one may insert into them or delete from them meanwhile.
Indexes that are missing are built in the other database, where later operations find them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import ABSENT, DEAD, EXPLICIT, Index, Relation
from kg_reasoner.storage.kernels.memory.buffers import allocate, grant
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.relations.lookups import Which

__all__ = ["BorrowingDatabase"]

_COUNTS = ("count", "capacity", "row_mask", "mask", "used", "limit")
_ARRAYS = ("rows", "slots")
"""The fields of a relation that are shared."""


class BorrowingDatabase(Database):
    """Relations of its own, beside relations of another database.

    Args:
        lender: The other database.
        which: The rows of borrowed relations to be seen: all, or the explicit ones.
        claim: See `Database`.
    """

    def __init__(self, lender: Database, which: Which = "all", claim: Callable[[int], None] = grant) -> None:
        super().__init__(claim)
        self._lender = lender
        self._which = which
        self._number_of: dict[int, int] = {}
        self._lent: dict[int, int] = {}
        self._wanted: dict[int, tuple[tuple[int, ...], int, int]] = {}
        self._version, self._seen = -1, np.empty((0, 0), np.int64)

    @property
    def allocated(self) -> int:
        """See `Database.allocated`; borrowed tables do not count."""
        relations = (record.nbytes for number, record in enumerate(self.relations.records) if number not in self._lent)
        return sum(relations) + sum(record.nbytes for record in self.indexes.records if record.relation not in self._lent)

    def borrow(self, relation: int) -> int:
        """Return the number, in this database, of a relation of the other one."""
        number = self._number_of.get(relation)
        if number is None:
            lent = self._lender.relations[relation]
            number = self._number_of[relation] = self.add_relation(lent.arity, lent.section_column)
            self._lent[number] = relation
            self._share(number, lent)
        return number

    def _share(self, number: int, lent: Record) -> None:
        """Read the rows of a lent relation, as they are now, in place."""
        flags, dead = self._flags(lent)
        shared = {name: getattr(lent, name) for name in (*_COUNTS, *_ARRAYS)}
        self.relations[number].publish(**shared, flags=flags, dead=dead)
        self.materialised[number] = self.processed[number] = lent.count

    def renew(self, version: int) -> None:
        """Read the borrowed relations as they are now.

        Args:
            version: A number that changes with the explicit facts.
        """
        words = self._lender.relations.words[list(self._lent.values())]
        if version == self._version and np.array_equal(words, self._seen):
            return
        for number, relation in self._lent.items():
            self._share(number, self._lender.relations[relation])
        for index in self._wanted:
            self.indexes[index].built = 0
        self._version, self._seen = version, words

    def clear(self, kept: Collection[int]) -> None:
        """Delete the rows of the relations that are not borrowed.

        Args:
            kept: Relations whose rows are kept.
        """
        for number, is_filled in enumerate(self.filled()):
            if is_filled and number not in self._lent and number not in kept:
                self._keep(number, EXPLICIT)
                self.materialised[number] = self.processed[number] = 0
        self.context.claimed_count = 0

    @property
    def borrowed(self) -> tuple[int, ...]:
        """The relations of the other database that are read."""
        return tuple(self._lent.values())

    def is_borrowed(self, relation: int) -> bool:
        """Return whether a relation, given its number here, belongs to the other database."""
        return relation in self._lent

    def mark_processed(self) -> None:
        """Let joins see all existing rows, and let none of them trigger plans."""
        count = len(self.relations)
        self.processed[:count] = self.relations.words[:count, Relation.fields["count"][0]]

    def build(self, index: int) -> None:
        """See `Database.build`. The index of a borrowed relation is that of the other database."""
        record = self.indexes[index]
        relation = self._lent.get(record.relation)
        if relation is None:
            super().build(index)
            return
        lender = self._lender
        number = lender.index(relation, *self._wanted[index])
        with lender.mutex:
            if not lender.indexes[number].built:
                lender.build(number)
            lent = lender.indexes[number]
            unused = "row_arena" if lent.has_values else "arena"
            shared = {name: getattr(lent, name) for name in Index.fields if name not in ("relation", "built", "next", unused)}
        record.publish(**shared, built=1)

    def _add_indexes(self, relations: Sequence[int], columns: tuple[int, ...], constants: Sequence[int], apart: int) -> int:
        first = super()._add_indexes(relations, columns, constants, apart)
        for number, (relation, constant) in enumerate(zip(relations, constants, strict=True), first):
            if relation in self._lent:
                self._wanted[number] = columns, constant, apart
        return first

    def _flags(self, lent: Record) -> tuple[object, int]:
        """Return the flags of the rows of a lent relation, and how many of the rows are not to be seen."""
        if self._which == "all":
            return lent.flags, lent.dead
        is_seen = (np.asarray(lent.flags)[: lent.count] & (ABSENT | EXPLICIT)) == EXPLICIT
        hidden = lent.count - int(np.count_nonzero(is_seen))
        if hidden == 0:
            return lent.flags, 0
        flags = allocate(lent.count, np.int16)
        flags[: lent.count] = np.where(is_seen, EXPLICIT, DEAD)
        return flags, hidden
