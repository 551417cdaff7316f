"""Moves rows with constants of rules before all others, so that rules see axioms before the data, whichever were loaded first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
from kg_reasoner.planning.catalog import StoredTerm
from kg_reasoner.storage import capacities
from kg_reasoner.storage.arrays import Ids, Rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import Relation
from kg_reasoner.storage.kernels.memory.buffers import address, lend

__all__ = ["put_axioms_first"]

_SAMPLE: Final = 1 << 16
"""About this many rows are sampled to find the rare constants."""
_CHUNK: Final = 1 << 20


def put_axioms_first(database: Database, rules: Collection[PlannedRule]) -> None:
    """Move the rows with rare constants of body atoms before all others, in tables of triples that no rule has looked at. Rows that
    belong to another database stay, as they count as materialised.

    A rule joins each new row with the rows before it. An axiom behind the data is joined with all of them at once: this takes
    indexes of all rows, and threads cannot share what a single row triggers. Data behind the axiom look it up in a small index.

    Args:
        database: The relations.
        rules: The rules that are to be evaluated.
    """
    sections = database.relations.words[: len(database.relations), Relation.fields["section_column"][0]]
    for number in np.flatnonzero(sections >= 0).tolist():
        record = database.relations[number]
        is_known = database.materialised[number] > 0 or database.built_indexes(number)
        if record.count < capacities.current.ordered_rows or record.dead or is_known:
            continue
        rows = database.rows(number)
        patterns = [atom.terms for planned in rules for atom in planned.rule.body if atom.relation == number]
        first = _rows_with(_rare_constants(rows, patterns), rows)
        moved = first[len(first) <= first]
        if len(moved):
            displaced = np.setdiff1d(np.arange(len(first)), first, assume_unique=True)
            lent = [lend(numbers.astype(np.int32)) for numbers in (displaced, moved)]
            database.renumbered[number] += 1
            native.exchange_rows(record.address, *map(address, lent), len(moved))


def _rare_constants(rows: Rows, patterns: Sequence[tuple[StoredTerm, ...]]) -> dict[int, Ids]:
    """Return by column the constants that patterns have there, and few rows."""
    step = max(1, len(rows) // _SAMPLE)
    rare = dict[int, Ids]()
    for column, terms in enumerate(zip(*patterns, strict=True)):
        constants = {term for term in terms if isinstance(term, int)}
        if constants:
            values, counts = np.unique(rows[::step, column], return_counts=True)
            constants -= set(values[counts * capacities.current.rare > len(rows) // step].tolist())
            rare[column] = np.array(sorted(constants), np.int32)
    return rare


def _rows_with(constants: Mapping[int, Ids], rows: Rows) -> npt.NDArray[np.int64]:
    """Return the numbers of the rows that have one of some constants in its column."""
    marks = {column: np.zeros(int(some.max(initial=0)) + 2, np.bool_) for column, some in constants.items()}
    for column, some in constants.items():
        marks[column][some] = True  # the last mark is for all larger ids
    found = [np.empty(0, np.int64)]
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        is_found = np.zeros(len(chunk), np.bool_)
        for column, marked in marks.items():
            is_found |= marked.take(chunk[:, column], mode="clip")
        found.append(start + np.flatnonzero(is_found))
    return np.concatenate(found)
