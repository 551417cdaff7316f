"""Grouping and the solution modifiers: what happens to the solutions of a WHERE clause (sections 18.2.4 and 18.2.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kg_reasoner.terms import Term

from . import ast
from .expressions import Scope, holds, value_or_none
from .solutions import Solution, Solutions, are_compatible, distinct
from .values import Key, is_decided, order_key
from .walk import has_aggregate

ScopeOf = Callable[[Solution, "Solutions | None"], Scope]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to a SELECT.

    Attributes:
        rows: The answers, one of those that are right.
        pool: The answers without LIMIT and OFFSET.
        keys: For each solution before DISTINCT, what is selected of it and its keys of ORDER BY.
        descending: Which of the keys are descending.
        is_open: Whether LIMIT or OFFSET cut between solutions without a defined order, so that others of `pool` are right, too.
        is_reduced: Whether REDUCED permits to leave out duplicates.
    """

    rows: Solutions
    pool: Solutions
    keys: Sequence[tuple[Solution, tuple[Key, ...]]] = ()
    descending: tuple[bool, ...] = ()
    is_open: bool = False
    is_reduced: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """A solution, and the members of its group if the query has groups."""

    bindings: Solution
    members: Solutions | None = None


def modified(select: ast.Select, solutions: Solutions, scope_of: ScopeOf) -> Answers:
    """Return the answers to a SELECT whose WHERE clause has given solutions."""
    modifiers = select.modifiers
    rows = _grouped(select, solutions, scope_of)
    if modifiers.values is not None:
        rows = _joined(rows, modifiers.values)
    for item in select.items or ():
        if item.expression is not None and item.variable is not None:
            name, expression = item.variable.name, item.expression
            rows = [_extended(row, name, value_or_none(expression, scope_of(row.bindings, row.members))) for row in rows]
    keyed = [
        (
            _projected(row.bindings, select.items),
            tuple(order_key(value_or_none(key.expression, scope_of(row.bindings, row.members))) for key in modifiers.order_by),
        )
        for row in rows
    ]
    descending = tuple(key.descending for key in modifiers.order_by)
    for position in reversed(range(len(descending))):
        keyed.sort(key=lambda pair: pair[1][position], reverse=descending[position])
    pool = [solution for solution, _ in keyed]
    if select.duplicates == "DISTINCT":
        pool = list(distinct(pool))
    is_reduced = select.duplicates == "REDUCED"
    start = modifiers.offset or 0
    end = len(pool) if modifiers.limit is None else start + modifiers.limit
    return Answers(
        pool[start:end],
        pool,
        keyed,
        descending,
        any(_is_open(pool, keyed, cut) for cut in (start, end)) or (is_reduced and len(pool[start:end]) < len(pool)),
        is_reduced,
    )


def _grouped(select: ast.Select, solutions: Solutions, scope_of: ScopeOf) -> list[_Row]:
    modifiers = select.modifiers
    if not (modifiers.group_by or modifiers.having or has_aggregate((select.items or (), modifiers.order_by))):
        return [_Row(solution) for solution in solutions]
    groups: dict[tuple[Term | None, ...], list[Solution]] = {} if modifiers.group_by else {(): []}
    for solution in solutions:
        scope = scope_of(solution, None)
        values = (
            value_or_none(item.variable if item.expression is None else item.expression, scope) for item in modifiers.group_by
        )  # type: ignore[arg-type]
        groups.setdefault(tuple(values), []).append(solution)
    rows = []
    for key, members in groups.items():
        bindings = {
            item.variable.name: term
            for item, term in zip(modifiers.group_by, key, strict=True)
            if item.variable is not None and term is not None
        }
        if all(holds(condition, scope_of(bindings, members)) for condition in modifiers.having):
            rows.append(_Row(bindings, members))
    return rows


def _joined(rows: list[_Row], values: ast.Values) -> list[_Row]:
    table = [
        {variable.name: term for variable, term in zip(values.variables, row, strict=True) if term is not None}
        for row in values.rows
    ]
    return [replace(row, bindings={**row.bindings, **data}) for row in rows for data in table if are_compatible(row.bindings, data)]


def _extended(row: _Row, name: str, term: Term | None) -> _Row:
    return row if term is None else replace(row, bindings={**row.bindings, name: term})


def _projected(solution: Solution, items: Sequence[ast.Item] | None) -> Solution:
    if items is None:
        return solution
    names = [item.variable.name for item in items if item.variable is not None]
    return {name: solution[name] for name in names if name in solution}


def _is_open(pool: Solutions, keyed: Sequence[tuple[Solution, tuple[Key, ...]]], cut: int) -> bool:
    """Whether other solutions than these could stand before a cut."""
    if not 0 < cut < len(pool):
        return False
    keys: dict[frozenset[tuple[str, Term]], set[tuple[Key, ...]]] = {}
    for solution, key in keyed:
        keys.setdefault(frozenset(solution.items()), set()).add(key)
    before, after = ([frozenset(solution.items()) for solution in part] for part in (pool[:cut], pool[cut:]))
    return any(a != b and not (len(keys[a]) == len(keys[b]) == 1 and is_before(*keys[a], *keys[b])) for a in before for b in after)


def is_before(first: tuple[Key, ...], second: tuple[Key, ...]) -> bool:
    """Return whether the specification puts one of two different keys before the other, whichever it is."""
    for one, other in zip(first, second, strict=True):
        if not is_decided(one, other):
            return False
        if one != other:
            return True
    return False
