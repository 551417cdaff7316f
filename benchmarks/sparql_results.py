"""Large results of SPARQL queries: their memory, and the time to Arrow. ``python -m benchmarks.sparql_results [ROWS]``.

All pairs of the members of two classes are at least as many rows as wanted; the growth of the process is compared with the ids of
the result. Then as many types as LUBM(5) has, 240,000, become a table of Arrow: in a process that has made none, and again.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from math import isqrt
from typing import Final

import click
import numpy as np

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import Reasoner
from kg_reasoner.sparql.results.result import SelectResult

__all__ = ["Memory", "main", "memory_of_pairs", "seconds_to_arrow"]

PAIRS: Final = "SELECT ?x ?y { ?x a <urn:X> . ?y a <urn:Y> }"
TYPES: Final = "SELECT ?x ?class { ?x a ?class }"
TYPED: Final = 240_000


@dataclass(frozen=True)
class Memory:
    """The memory of a result."""

    rows: int
    ids: int
    """The bytes of its ids."""
    growth: int
    """By how many bytes the process grew at most while the query was answered."""


def reasoner_of(members: dict[str, int]) -> Reasoner:
    """Return a reasoner with members of classes."""
    made = Reasoner()
    lines = (f"<urn:{name}/{number}> a <urn:{name}> .\n" for name, size in members.items() for number in range(size))
    made.load("".join(lines).encode(), format="turtle")
    made.materialise()
    return made


def memory_of_pairs(rows: int) -> Memory:
    """Ask for at least so many pairs."""
    size = isqrt(rows - 1) + 1
    made = reasoner_of({"X": size, "Y": size})
    made.query(f"{PAIRS} LIMIT 1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = made.query(PAIRS)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert isinstance(found, SelectResult)
    return Memory(len(found), sum(np.asarray(column).nbytes for column in found.ids.values()), 1024 * growth)


def seconds_to_arrow(rows: int, repetitions: int = 5) -> list[float]:
    """Return the CPU seconds of a query and the table of its result, first and again."""
    made = reasoner_of({f"C{number}": rows // 10 for number in range(10)})
    taken: list[float] = []
    for _ in range(repetitions):
        start = time.process_time()
        result = made.query(TYPES)
        assert isinstance(result, SelectResult)
        assert result.to_arrow().num_rows == rows
        taken.append(time.process_time() - start)
    return taken


@click.command(context_settings=SETTINGS)
@click.argument("rows", type=click.IntRange(1), default=10_000_000)
def main(rows: int) -> None:
    """Print what was measured."""
    first, *again = seconds_to_arrow(TYPED)
    print(f"{TYPED:,} rows to Arrow: first {first:.3f} s of CPU, again {min(again):.3f} s")
    memory = memory_of_pairs(rows)
    print(f"{memory.rows:,} rows: {memory.ids / 1e6:.0f} MB of ids, the process grew by {memory.growth / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
