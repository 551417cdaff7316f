"""Results as tables of HTML for notebooks: the first rows, with everything from data escaped."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import Final

from kg_reasoner.sparql.results.result_columns import Columns
from kg_reasoner.sparql.results.rows import decoded

__all__ = ["table_page"]

ROWS: Final = 20
"""The number of rows that are shown."""
LONGEST: Final = 200
"""The number of characters of a term that are shown."""


def table_page(columns: Columns, unit: str) -> str:
    """Return columns as a table of HTML.

    Args:
        columns: The columns.
        unit: What a row is called.
    """
    terms = columns.terms

    def read(numbers: list[int]) -> list[str]:
        return [_shown(terms.texts([number])[0]) if number != -1 else "" for number in numbers]

    head = "".join(f"<th>{escape(name)}</th>" for name in columns.names)
    rows = islice(decoded(columns, [read] * len(columns.names)), ROWS)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    count = f"{columns.size:,} {unit}{'' if columns.size == 1 else 's'}"
    note = f"{count}, of which the first {ROWS} are shown" if columns.size > ROWS else count
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{note}</p>"


def _shown(text: str) -> str:
    return escape(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
