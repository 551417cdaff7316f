"""Comparisons of columns of values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kg_reasoner.expressions.values import OPERATORS
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.values.value_columns import (
    DATE,
    DATE_TIME,
    DOUBLE,
    INTEGER,
    NOTHING,
    RESOURCE,
    STRING,
    UNSURE,
    ValueColumn,
    are_exact,
    is_number,
)

__all__ = ["compared", "members"]


def compared(name: str, left: ValueColumn, right: ValueColumn, same: Flags | None) -> tuple[npt.NDArray[np.int8], Numbers]:
    """Compare two columns.

    Args:
        name: The operator.
        left: A column.
        right: Another one.
        same: For ``=`` and ``!=``, which rows have the same term in both; None if that is unknown.

    Returns:
        A truth column, and the rows where the columns do not decide.
    """
    mine, theirs = left.kinds, right.kinds
    numeric = is_number(mine) & is_number(theirs)
    timed = ((mine == DATE_TIME) | (mine == DATE)) & (mine == theirs)
    by_double = numeric | timed
    truth = np.full(len(mine), -1, np.int8)
    sure = by_double
    with np.errstate(invalid="ignore"):
        if left.errors is not None or right.errors is not None:
            margin = (0.0 if left.errors is None else left.errors) + (0.0 if right.errors is None else right.errors)
            sure = by_double & ((margin == 0) | (np.abs(left.doubles - right.doubles) > margin))
            sure |= by_double & are_exact(left) & are_exact(right)
        truth[sure] = OPERATORS[name](left.doubles, right.doubles)[sure]
    nothing = (mine == NOTHING) | (theirs == NOTHING)
    sure |= nothing
    known = (mine != UNSURE) & (theirs != UNSURE)
    if same is not None:
        by_term = known & ~nothing & ((mine == RESOURCE) | (theirs == RESOURCE) | ((mine == STRING) & (theirs == STRING)))
        truth[by_term] = (same if name == "=" else ~same)[by_term]
        sure |= by_term
    elif name not in ("=", "!="):
        sure |= known & ((mine == RESOURCE) | (theirs == RESOURCE))  # without an order: an error
    return truth, np.flatnonzero(~sure)


def members(ids: Ids, values: ValueColumn, others: Ids, theirs: ValueColumn) -> tuple[Flags, list[tuple[Numbers, Flags]]]:
    """Compare the terms of a column with some constants at once.

    Args:
        ids: The column.
        values: Its values.
        others: The constants.
        theirs: Their values.

    Returns:
        Which rows are equal to a constant; and groups of constants, by their numbers, each with the rows for which it is not known
        that they differ from these constants.
    """
    mine, kinds = values.kinds, theirs.kinds
    resources = mine == RESOURCE
    exact = (mine == INTEGER) | (mine == DOUBLE)
    found = np.zeros(len(ids), np.bool_)
    rest = np.ones(len(others), np.bool_)
    groups: list[tuple[Numbers, Flags]] = []
    for chosen, comparable in (
        (kinds == RESOURCE, np.ones(len(ids), np.bool_)),
        (kinds == STRING, mine == STRING),
        ((kinds == INTEGER) | (kinds == DOUBLE), exact),
    ):
        if not chosen.any():
            continue
        if comparable is exact:
            known = theirs.doubles[chosen]
            found |= exact & np.isin(values.doubles, known[~np.isnan(known)])
        else:
            found |= comparable & np.isin(ids, others[chosen])
        groups.append((np.flatnonzero(chosen), ~(comparable | resources)))
        rest &= ~chosen
    groups.append((np.flatnonzero(rest), np.ones(len(ids), np.bool_)))
    return found, groups
