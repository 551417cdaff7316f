"""Whether answers are those that the oracle gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Context, Decimal
from itertools import permutations
from typing import TypeAlias

from kg_reasoner.terms import BlankNode, Literal, Term, Triple

from .modifiers import Answers, is_before
from .times import duration, moment
from .values import Key, number

Row: TypeAlias = Mapping[str, Term]
Renaming: TypeAlias = Mapping[BlankNode, BlankNode]
Normal: TypeAlias = "frozenset[tuple[str, object]]"

MOST_BLANK_NODES = 6


def same_answers(expected: Answers | bool | Set[Triple], found: Sequence[Row] | bool | Set[Triple], ordered: bool = False) -> bool:
    """Return whether answers are right: equal as multisets up to the names of blank nodes and the spelling of numbers.

    Args:
        expected: The result of the oracle.
        found: Rows of a SELECT without the unbound variables, the bool of an ASK, or the triples of a CONSTRUCT.
        ordered: Whether the rows must come in the order of the query's ORDER BY.
    """
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if not isinstance(expected, Answers):
        rows = [dict(zip("spo", triple, strict=True)) for triple in expected]
        triples = [dict(zip("spo", triple, strict=True)) for triple in found]  # type: ignore[arg-type]
        return same_answers(Answers(rows, rows), triples)
    solutions: list[Row] = [dict(row) for row in found]  # type: ignore[arg-type]
    return any(
        _same_rows(expected, solutions, renaming) and (not ordered or _are_in_order(expected, solutions, renaming))
        for renaming in _renamings(solutions, expected.pool)
    )


def normalise(term: Term) -> object:
    """Return the type and value of a number, the instant of a time, and other terms as they are.

    Decimals and doubles are rounded to ten digits, since systems divide with different precision.
    """
    value, when, span = number(term), moment(term), duration(term)
    if value is not None and isinstance(term, Literal):
        rounded = value.value
        if isinstance(rounded, Decimal):
            rounded = Context(prec=10).plus(rounded)
        elif isinstance(rounded, float):
            rounded = float(f"{rounded:.9e}")
        return term.datatype, "NaN" if rounded != rounded else rounded
    if span is not None:
        return span
    return (when.datatype, when.instant, when.zone is None) if when is not None else term


def _renamings(found: Sequence[Row], expected: Sequence[Row]) -> Iterator[Renaming]:
    """All ways to give the blank nodes of some rows the names of blank nodes in others."""
    old, new = _blank_nodes(found), _blank_nodes(expected)
    if max(len(old), len(new)) > MOST_BLANK_NODES:
        raise ValueError(f"more than {MOST_BLANK_NODES} blank nodes are too many to try all of their renamings")
    for chosen in permutations(new, len(old)):
        yield dict(zip(old, chosen, strict=True))


def _blank_nodes(rows: Sequence[Row]) -> list[BlankNode]:
    return sorted({term for row in rows for term in row.values() if isinstance(term, BlankNode)})


def _normal(row: Row, renaming: Renaming) -> Normal:
    return frozenset(
        (name, normalise(renaming.get(term, term) if isinstance(term, BlankNode) else term)) for name, term in row.items()
    )


def _same_rows(expected: Answers, found: Sequence[Row], renaming: Renaming) -> bool:
    rows = Counter(_normal(row, renaming) for row in found)
    pool = Counter(_normal(row, {}) for row in expected.pool)
    if expected.is_reduced:
        return rows <= pool and (expected.is_open or set(rows) == {_normal(row, {}) for row in expected.rows})
    if expected.is_open:
        return rows <= pool and len(found) == len(expected.rows)
    return rows == Counter(_normal(row, {}) for row in expected.rows)


def _are_in_order(expected: Answers, found: Sequence[Row], renaming: Renaming) -> bool:
    """Whether no row comes before one that it must follow. Rows that the oracle gives with different keys may be anywhere."""
    keys: dict[Normal, set[tuple[Key, ...]]] = {}
    for row, key in expected.keys:
        keys.setdefault(_normal(row, {}), set()).add(key)
    known = [next(iter(row_keys)) for row in found if len(row_keys := keys[_normal(row, renaming)]) == 1]
    return not any(
        is_before(earlier, later) and _is_greater(earlier, later, expected.descending)
        for position, earlier in enumerate(known)
        for later in known[position + 1 :]
    )


def _is_greater(first: tuple[Key, ...], second: tuple[Key, ...], descending: tuple[bool, ...]) -> bool:
    """Whether the first of two keys that differ says that the first row comes after the second."""
    one, other, is_descending = next(triple for triple in zip(first, second, descending, strict=True) if triple[0] != triple[1])
    return one < other if is_descending else one > other
