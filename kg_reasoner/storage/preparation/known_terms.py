"""A bit for each term that a relation certainly has, so that most heads of copying rules need no look-up in its hash table.

Several rules often derive the same type: each property whose domain or range is a class, and each subclass. A bit for each term is
found in the processor's cache, where the hash table is not. The bits are those of one first materialisation, which deletes nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels.layout import Plan, Relation
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.preparation.triggered_steps import TriggeredSteps, field_of
from kg_reasoner.storage.relations.growing_relations import NO_BITS
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["discard_bits", "give_bits"]

_SOURCES: Final = 2
"""The number of copying plans from which a relation gets bits."""
_TERMS: Final = 4
"""It gets bits if its copying plans read at least as many rows as there are terms, divided by this."""


def give_bits(database: IndexedRelations, found: TriggeredSteps, rows: Numbers, terms: int) -> None:
    """Give bits to relations to which several plans copy many rows.

    Args:
        database: The database.
        found: The plans.
        rows: About how many rows relations will have.
        terms: The number of terms.
    """
    copies, semijoin, head = (found.plans[:, Plan.fields[name][0]] for name in ("copies", "semijoin", "head_relation"))
    arity = field_of(database.relations, Relation, "arity")
    unary = (copies + semijoin > 0) & (arity[head] == 1)
    head, source, count = head[unary], found.owners[unary], len(rows)
    read, plans = np.bincount(head, rows[source], count), np.bincount(head, minlength=count)
    discard_bits(database)
    for relation in np.flatnonzero((plans >= _SOURCES) & (read * _TERMS >= terms)).tolist():
        database.claim(terms // 8)
        database.relations[relation].publish(known=allocate(terms // 8 + 1, np.uint8, 0), known_room=terms)


def discard_bits(database: IndexedRelations) -> None:
    """Discard all bits."""
    rooms = field_of(database.relations, Relation, "known_room")
    for relation in np.flatnonzero(rooms).tolist():
        database.relations[relation].publish(known=NO_BITS, known_room=0)
