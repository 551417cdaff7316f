"""What the members of collections and functions in Python cost, beside a rule without either: seconds of CPU, and their ratios.

python -m benchmarks.flat_maps [ROWS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from kg_reasoner import Reasoner
from kg_reasoner.terms import literal


def seconds(program: str, rows: list[tuple[str, int]], prepare: Callable[[Reasoner], None] = lambda reasoner: None) -> float:
    """Return the seconds in which a program derives `out` from rows of `line`."""
    reasoner = Reasoner()
    prepare(reasoner)
    reasoner.add_program(program)
    reasoner.add_facts("line", [(literal(text), literal(number)) for text, number in rows])
    began = time.process_time()
    reasoner.materialise()
    return time.process_time() - began


def registered(*, batch: bool) -> Callable[[Reasoner], None]:
    """Return what registers a function."""

    def prepare(reasoner: Reasoner) -> None:
        one: Callable[[int], int] = lambda number: number + 7  # noqa: E731  # of one row, and of a column
        reasoner.function("f", "integer", returns="integer", batch=batch)((lambda column: [*map(one, column)]) if batch else one)

    return prepare


def main(count: int) -> None:
    """Print a line for each way, and how many times as long it takes as copying."""
    rows = [(",".join(f"{number}-{place}" for place in range(5)), number) for number in range(count)]
    called = "out(?n, f(?n)) :- line(_, ?n) ."
    copying = seconds("out(?t, ?n) :- line(?t, ?n) .", rows)
    results = {
        "copy rows": copying,
        "add numbers": seconds("out(?n, ?n + 7) :- line(_, ?n) .", rows),
        "a function in Python, row by row": seconds(called, rows, registered(batch=False)),
        "a function in Python, of columns": seconds(called, rows, registered(batch=True)),
        "the five members of each list": seconds('out(?n, ?x) :- line(?t, ?n), ?x IN SPLIT(?t, ",") .', rows),
        "lists of groups": seconds("out(?k, ?l) :- AGGREGATE(line(?t, ?n), ?k = ?n % 1000 ON ?k BIND LIST(?n) AS ?l) .", rows),
    }
    for name, taken in results.items():
        print(f"{name:34} {taken:7.2f} s  {taken / count * 1e6:7.1f} µs a row  {taken / max(copying, 1e-9):8.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
