"""The plans that rows trigger, and their steps, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Flags, Numbers, ranges
from kg_reasoner.storage.kernels.layout import Plan, Relation, Section
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["TriggeredSteps", "field_of", "triggered_steps"]


class TriggeredSteps(NamedTuple):
    """Plans with the relations whose rows trigger them, and the steps of all plans, one plan after the other."""

    plans: npt.NDArray[np.int64]
    """The words of each plan, shape (n, words)."""
    owners: Numbers
    """The relation of each plan."""
    steps: npt.NDArray[np.int64]
    """The words of each step, shape (n, words)."""
    plan_of_step: Numbers
    """The place of each step's plan."""


def triggered_steps(database: IndexedRelations, wanted: Flags | None = None) -> TriggeredSteps:
    """Return the plans of the entered stratum that rows trigger.

    Args:
        database: The database.
        wanted: Whether the plans of each relation are returned; None: those of all.
    """
    owners = _owners(database)
    first, end = (field_of(database.sections, Section, f"{which}_trigger") for which in ("first", "end"))
    sizes = end - first if wanted is None else np.where(wanted[owners], end - first, 0)
    plans = database.plans.words[np.asarray(database.context.triggers)[ranges(first, sizes)]]
    counts = plans[:, Plan.fields["step_count"][0]]
    steps = database.steps.words[ranges(plans[:, Plan.fields["first_step"][0]], counts)]
    return TriggeredSteps(plans, np.repeat(owners, sizes), steps, np.repeat(np.arange(len(plans)), counts))


def field_of(table: StructTable, struct: type[Relation] | type[Section], name: str) -> Numbers:
    """Return a field of all structs of a table, which is a view of the table."""
    column: Numbers = table.words[: len(table), struct.fields[name][0]]
    return column


def _owners(database: IndexedRelations) -> Numbers:
    """Return the relation of each section."""
    owners = np.zeros(len(database.sections), np.int64)
    owners[field_of(database.relations, Relation, "section")] = np.arange(len(database.relations))
    for relation, section in database.sections_of_constants():
        owners[section] = relation
    return owners
