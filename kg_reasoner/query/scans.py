"""Patterns that all triples match, or all of some properties: only the columns that are wanted are made."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from kg_reasoner.planning.catalog import RelationCatalog, StoredTerm
from kg_reasoner.storage.arrays import Flags, Ids

__all__ = ["scanned"]


def scanned(
    catalog: RelationCatalog, pattern: tuple[StoredTerm, StoredTerm, StoredTerm], wanted: Collection[str]
) -> tuple[list[str], Ids] | None:
    """Return the wanted columns of the RDF triples that match a pattern; None if it is not such a pattern.

    Args:
        catalog: The relations.
        pattern: The pattern: variables, except possibly the property.
        wanted: The variables whose values are wanted.

    Returns:
        The names of the columns, and the table, shape (n, names).
    """
    subject, property, value = pattern
    variables = [term for term in pattern if isinstance(term, str)]
    if not (isinstance(subject, str) and isinstance(value, str)) or len(set(variables)) < len(variables):
        return None
    known = None if isinstance(property, str) else property
    first = catalog.dictionary.first_bytes()
    if known is not None and first[known] != ord("<"):
        return None
    names = [name for name in variables if name in wanted]
    blocks = [np.empty((0, len(names)), np.int32)]
    for relation in catalog.layout.relations(known):
        rows = catalog.database.rows(relation)
        columns = dict(zip(pattern, catalog.layout.columns(relation, rows), strict=True))
        kept = _matching(columns[subject], columns[property], known, first)
        size = len(rows) if kept is None else int(np.count_nonzero(kept))
        block = np.empty((size, len(names)), np.int32)
        for place, name in enumerate(names):
            column = columns[name]
            block[:, place] = column if kept is None or isinstance(column, int) else column[kept]
        blocks.append(block)
    return names, np.concatenate(blocks)


def _matching(subjects: Ids | int, properties: Ids | int, known: int | None, first: npt.NDArray[np.uint8]) -> Flags | None:
    """Return which rows are RDF triples, with the known property if there is one; None: all."""
    kept: Flags = np.asarray(first[subjects] != ord('"'))
    if not isinstance(properties, int):
        kept = kept & (first[properties] == ord("<") if known is None else properties == known)
    elif first[properties] != ord("<"):
        return np.zeros(kept.shape, np.bool_)
    return None if kept.all() else kept
