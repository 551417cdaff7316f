"""Queries whose texts were never seen: ``python -m benchmarks.unseen [UNIVERSITIES]``.

Each of the queries of `benchmarks.sparql` is asked many times of kg_reasoner and of pyoxigraph in turns, each time with other
constants: the last number of an IRI, a string or a limit differs. A query without such a constant has another comment each time.

*new shape* is such a query when nothing is remembered of others that differ in constants only; *read* is the part of it from the
text to the algebra. *new constants* is the same while those are remembered. Times are medians of CPU microseconds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any, Final

import click
from rich.console import Console

from benchmarks.contests.report import machine, new_table
from benchmarks.inputs.update_data import data_folder
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import need_peers
from benchmarks.sparql.data import DataSet, data_set
from benchmarks.sparql.queries import LUBM, SHOP, Query, all_queries
from kg_reasoner.errors import ReasonerError
from kg_reasoner.sparql.queries.parsed import parsed_query
from kg_reasoner.sparql.syntax.query_syntax import read_common_query

__all__ = ["Measured", "measured", "variants"]

TEXTS: Final = 24
"""The number of texts of each query."""
WARM: Final = 4
"""The number of those that come first, and do not count."""
BRIEF: Final = 0.005
"""Queries that take pyoxigraph fewer seconds than this are those with few answers."""
LONGEST: Final = 0.3
"""The seconds of the longest query that is asked with all texts."""

_CHANGED: Final = re.compile(r'<http://www\.(?:Department|University)[^>]*>|\bs:[a-z]+\d+|"[A-Za-z]+\d+"|LIMIT \d+')
"""Constants outside of vocabularies that have a number."""

Ask = Callable[[str], Any]


@dataclass
class Measured:
    """Medians of a query, in CPU seconds."""

    query: Query
    read: float
    new_shape: float
    new_constants: float
    peer: float


def variants(text: str) -> Iterator[str]:
    """Yield texts that differ from a query in a constant, or in a comment."""
    places = list(_CHANGED.finditer(text))
    for number in range(TEXTS):
        if places:
            (*_, digits) = re.finditer(r"\d+", places[-1][0])
            start, end = (places[-1].start() + place for place in digits.span())
            yield f"{text[:start]}{int(digits[0]) + number}{text[end:]}"
        else:
            yield f"{text}\n# {number}"


def measured(data: DataSet, queries: list[Query]) -> Iterator[Measured]:
    """Yield what is measured of each query."""
    import pyoxigraph

    reasoner = data.reasoner()
    store = pyoxigraph.Store()
    store.bulk_load(path=data.materialised, format=pyoxigraph.RdfFormat.N_TRIPLES)
    store.optimize()

    def peer(text: str) -> Any:
        found = store.query(text)
        return found if isinstance(found, pyoxigraph.QueryBoolean) else list(found)

    def alone(text: str) -> Any:
        reasoner.core.caches.shapes.clear()
        return reasoner.query(text)

    for query in queries:
        texts = list(variants(query.text))
        shape = _medians([f"{text}\n#" for text in texts], [alone, _read])
        constants = _medians(texts, [reasoner.query, peer])
        yield Measured(query, shape[1], shape[0], constants[0], constants[1])


def _medians(texts: list[str], ways: list[Ask]) -> list[float]:
    """Return the median of the times of each way to ask, which take turns."""
    times: list[list[float]] = [[] for _ in ways]
    for text in texts:
        for ask, taken in zip(ways, times, strict=True):
            if taken and taken[0] > LONGEST:
                continue
            start = time.process_time()
            ask(text)
            taken.append(time.process_time() - start)
    return [median(taken[WARM:] or taken) for taken in times]


def _read(text: str) -> None:
    if read_common_query(text, {}) is None:
        raise ReasonerError("the query is not of the common part of the grammar")


@click.command(context_settings=SETTINGS)
@click.argument("universities", type=click.IntRange(1), default=1)
def main(universities: int) -> None:
    """Measure all queries, and print a table, and how often pyoxigraph is faster."""
    need_peers([("pyoxigraph", "pyoxigraph")], "nothing else")
    parsed_query("ASK { }")  # imports what queries need
    columns = ("", "read", "new shape", "new constants", "pyoxigraph", "new shape: ratio", "new constants: ratio")
    table, rows = new_table(columns, title="CPU microseconds", caption="Ratios are those to pyoxigraph's times."), list[Measured]()
    for kind in (LUBM, SHOP):
        queries = [query for query in all_queries() if query.data == kind]
        for row in measured(data_set(kind, universities, data_folder(None)), queries):
            rows.append(row)
            times = (row.read, row.new_shape, row.new_constants, row.peer)
            both = (row.new_shape / row.peer, row.new_constants / row.peer)
            table.add_row(row.query.label, *(f"{1e6 * each:,.0f}" for each in times), *(f"{ratio:.2f}" for ratio in both))
    console = Console()
    console.width = max(console.width, 140)
    console.print(machine(), table, sep="\n")
    for name, some in (("all queries", rows), ("few answers", [row for row in rows if row.peer < BRIEF])):
        shapes = [row.new_shape / row.peer for row in some]
        constants = [row.new_constants / row.peer for row in some if _CHANGED.search(row.query.text)]
        for which, ratios in (("new shapes", shapes), ("new constants", constants)):
            slower = sum(ratio > 1 for ratio in ratios)
            console.print(f"{name}, {which}: mean {geometric_mean(ratios):.2f}, slower than pyoxigraph {slower} of {len(ratios)}")


if __name__ == "__main__":
    main()
