"""Patterns that match all triples, or all triples of some properties: only the wanted columns are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.planning.catalog import RelationCatalog, StoredTerm
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import Flags, Ids, Numbers

__all__ = ["counted_by_property", "scanned"]

BLOCK: Final = 1 << 16
"""The number of rows that are processed together: arrays for all rows would be large, and the system would have to clear their
memory.
"""


def scanned(
    catalog: RelationCatalog,
    pattern: tuple[StoredTerm, StoredTerm, StoredTerm],
    wanted: Collection[str],
    visibility: Visibility | None = None,
    *,
    is_set: bool = False,
) -> tuple[list[str], Ids] | None:
    """Return the wanted columns of the RDF triples that match a pattern; None if it is not such a pattern.

    Args:
        catalog: The relations.
        pattern: The pattern: variables, except possibly the property.
        wanted: The variables whose values are wanted.
        visibility: Says which inferred triples are hidden; None: none.
        is_set: Whether repetitions may be omitted.

    Returns:
        The names of the columns, and the table, shape (n, names), whose columns are consecutive in memory.
    """
    variables = [term for term in pattern if isinstance(term, str)]
    names = [name for name in variables if name in wanted]
    shown = _shown_parts(catalog, pattern, visibility)
    if shown is None:
        return None
    parts: list[tuple[int, list[Ids | int]]] = []
    for size, kept, columns in shown:
        chosen = [columns[name] for name in names]
        if is_set and all(isinstance(column, int) for column in chosen):
            size = min(size, 1)
        parts.append((size, [column if kept is None or isinstance(column, int) else column[kept] for column in chosen]))
    table = np.empty((len(names), sum(size for size, _ in parts)), np.int32)
    start = 0
    for size, chosen in parts:
        for place, column in enumerate(chosen):
            table[place, start : start + size] = column
        start += size
    return names, table.T


def counted_by_property(
    catalog: RelationCatalog, pattern: tuple[StoredTerm, StoredTerm, StoredTerm], visibility: Visibility | None = None
) -> tuple[Ids, Numbers] | None:
    """Return the properties of the RDF triples that match a pattern, and how many triples each has; None as for `scanned`.

    Args:
        catalog: The relations.
        pattern: The pattern: three variables.
        visibility: Says which inferred triples are hidden; None: none.
    """
    shown = _shown_parts(catalog, pattern, visibility) if isinstance(pattern[1], str) else None
    if shown is None:
        return None
    counts = Counter[int]()
    for size, kept, columns in shown:
        properties = columns[pattern[1]]
        if isinstance(properties, int):
            counts[properties] += size
        else:
            found, sizes = np.unique(properties if kept is None else properties[kept], return_counts=True)
            counts.update(dict(zip(found.tolist(), sizes.tolist(), strict=True)))
    used = +counts
    return np.array([*used], np.int32), np.array([*used.values()], np.int64)


_Part: TypeAlias = "tuple[int, Flags | None, dict[StoredTerm, Ids | int]]"


def _shown_parts(
    catalog: RelationCatalog, pattern: tuple[StoredTerm, StoredTerm, StoredTerm], visibility: Visibility | None
) -> Iterator[_Part] | None:
    """Return the relations that a pattern matches as a whole; None if it is not such a pattern.

    Each has the number of its rows that match, which these are (None: all), and the columns of the pattern's terms.
    """
    subject, property, value = pattern
    variables = [term for term in pattern if isinstance(term, str)]
    if not (isinstance(subject, str) and isinstance(value, str)) or len(set(variables)) < len(variables):
        return None
    known = None if isinstance(property, str) else property
    first = catalog.dictionary.first_bytes()
    if known is not None and first[known] != ord("<"):
        return None

    def parts() -> Iterator[_Part]:
        for relation in catalog.layout.relations(known):
            rows = catalog.database.rows(relation)
            columns = dict(zip(pattern, catalog.layout.columns(relation, rows), strict=True))
            kept = _matching(columns[subject], columns[property], known, first)
            hidden = None if visibility is None else visibility.hidden_in(columns[subject], columns[property], columns[value])
            if hidden is not None:
                shown = ~hidden | catalog.database.are_explicit(relation)
                kept = shown if kept is None else kept & shown
            yield len(rows) if kept is None else int(np.count_nonzero(kept)), kept, columns

    return parts()


def _matching(subjects: Ids | int, properties: Ids | int, known: int | None, first: npt.NDArray[np.uint8]) -> Flags | None:
    """Return which rows are RDF triples, with the known property if there is one; None: all."""
    if isinstance(properties, int):
        if first[properties] != ord("<"):
            return np.zeros(np.shape(subjects), np.bool_)
        return None if _are_no_literals(subjects, first) else np.asarray(first.take(subjects) != ord('"'))
    kept: Flags = np.asarray(first.take(subjects) != ord('"'))
    kept = kept & (first.take(properties) == ord("<") if known is None else properties == known)
    return None if kept.all() else kept


def _are_no_literals(ids: Ids | int, first: npt.NDArray[np.uint8]) -> bool:
    if isinstance(ids, int):
        return bool(first[ids] != ord('"'))
    return not any((first[ids[start : start + BLOCK]] == ord('"')).any() for start in range(0, len(ids), BLOCK))
