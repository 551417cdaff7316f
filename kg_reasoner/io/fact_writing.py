"""Facts written as sorted tables of text, see `kg_reasoner.io.facts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from kg_reasoner.expressions.types import Types
from kg_reasoner.expressions.values import value_of
from kg_reasoner.io.atomic_files import as_cells
from kg_reasoner.io.facts import NO_COLUMNS
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.cells.cell_texts import format_cell
from kg_reasoner.storage.cells.table_terms import NO_TYPES
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import XSD, Literal, Term, term_of, term_text

__all__ = ["write_ids"]


def write_ids(
    file: IO[str], ids: Ids, dictionary: Dictionary, types: Sequence[str], separator: str = "\t", defined: Types = NO_TYPES
) -> int:
    """Write facts, given as ids of shape (n, arity), to an open text file; return their number.

    They are sorted, so that the output is reproducible: numbers come first, ordered by value, then other cells, ordered by text.
    Each term of a column is formatted once.

    Raises:
        OutputError: A ``string`` column of a TSV file cannot hold a string with a tab or a line break.
    """
    if not types:
        file.write(f"{NO_COLUMNS}\n" * len(ids))
        return len(ids)
    is_alone = _may_be_empty_lines(types, separator, defined)
    columns: list[Any] = []
    ranks: list[Any] = []
    for place, type_ in enumerate(types):
        numbers, places = distinct_ids(ids[:, place])
        terms = list(map(term_of, dictionary.texts_of(numbers)))
        cells = [_cell(term, type_, defined, is_alone) for term in terms]
        keys = list(map(_rank, cells, terms))
        rank = np.empty(len(keys), np.int64)
        rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        shown = np.empty(len(cells), object)
        shown[:] = as_cells(cells, separator, len(types))
        columns.append(shown[places])
        ranks.append(rank[places])
    order = np.lexsort(ranks[::-1])
    lines = zip(*(column[order].tolist() for column in columns), strict=True)
    file.writelines(f"{separator.join(line)}\n" for line in lines)
    return len(ids)


def _may_be_empty_lines(types: Sequence[str], separator: str, defined: Types) -> bool:
    """Return whether an empty cell would be a line that is read as no fact."""
    return separator == "\t" and len(types) == 1 and defined.meant(types[0]) != "string"


def _cell(term: Term, type_: str, defined: Types, is_alone: bool) -> str:
    cell = format_cell(term, type_, defined)
    return cell or term_text(term) if is_alone else cell


def _rank(cell: str, term: Term) -> tuple[bool, Any, str]:
    """Return the sort key of a cell in a column: numbers by value, before all others."""
    if isinstance(term, Literal) and term.datatype != XSD.string.value:
        value = value_of(term)
        if value is not None and value[0] == "number" and value[1] == value[1]:  # NaN has no place among numbers
            return False, value[1], cell
    return True, 0, cell
