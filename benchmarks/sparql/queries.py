"""The queries, in files: LUBM's own, those that applications ask of its data, and those on skewed data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import kg_reasoner.lubm

__all__ = ["LUBM", "SHOP", "UNIVERSITY", "Query", "all_queries", "read_queries"]

LUBM: Final = "LUBM"
"""The group of LUBM's 14 queries."""
UNIVERSITY: Final = "university"
"""The group of other queries on LUBM's data."""
SHOP: Final = "shop"
"""The group of queries on skewed data."""

HEADING: Final = re.compile(r"^### +(\S+)(?: +(count))? *$", re.MULTILINE)


@dataclass(frozen=True)
class Query:
    """A named query."""

    group: str
    name: str
    text: str
    counted: bool = False
    """Whether only the number of rows has to be the same everywhere."""

    @property
    def data(self) -> str:
        """The kind of data that the query is for: `LUBM` or `SHOP`."""
        return SHOP if self.group == SHOP else LUBM

    @property
    def label(self) -> str:
        """The group and the name."""
        return f"{self.group}/{self.name}"


def read_queries(text: str, group: str) -> list[Query]:
    """Return the queries of a text: each begins with a line ``### name``; what precedes the first one is prepended to each."""
    prologue, *parts = HEADING.split(text)
    prefixes = "".join(line + "\n" for line in prologue.splitlines() if line and not line.startswith("#"))
    blocks = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Query(group, name, f"{prefixes}\n{body.strip()}\n", bool(count)) for name, count, body in blocks]


def all_queries() -> list[Query]:
    """Return the queries of all groups, LUBM's own first."""
    found = [Query(LUBM, name, text) for name, text in kg_reasoner.lubm.queries().items()]
    for group in (UNIVERSITY, SHOP):
        found += read_queries(Path(__file__).with_name(f"{group}.rq").read_text(encoding="utf-8"), group)
    return found
