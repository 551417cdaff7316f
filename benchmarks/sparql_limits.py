"""The first rows: the time of SPARQL queries with LIMIT 10, on LUBM. ``python -m benchmarks.sparql_limits [UNIVERSITIES]``.

Each query is asked once, so that it is parsed and indexes are built, and then several times; the smallest CPU time counts. Rows are
the most that an operator had.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import click

from benchmarks.inputs.data import reasoned_lubm
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import Reasoner
from kg_reasoner.sparql.queries.query_plan import PlanOperator
from kg_reasoner.sparql.results.result import SelectResult

__all__ = ["QUERIES", "Measured", "main", "measured"]

PREFIXES: Final = {"ub": "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"}

QUERIES: Final = {
    "pattern": "?s a ub:Student",
    "everything": "?s ?p ?o",
    "join": "?s a ub:GraduateStudent ; ub:advisor ?a . ?a ub:worksFor ?d",
    "large join": "?s ub:takesCourse ?c . ?t ub:takesCourse ?c",
    "property variable": "?s a ub:Student ; ?p ?o",
    "filter": '?s ub:emailAddress ?e FILTER(CONTAINS(?e, "7@"))',
    "rare filter": '?s ub:emailAddress ?e FILTER(CONTAINS(?e, "Chair0"))',
    "optional": "?s a ub:Student OPTIONAL { ?s ub:advisor ?a }",
    "union": "{ ?s ub:teacherOf ?c } UNION { ?s ub:takesCourse ?c }",
    "minus": "?s a ub:Student MINUS { ?s ub:advisor ?a }",
    "exists": "?s a ub:Course FILTER EXISTS { ?t ub:takesCourse ?s }",
    "path": "?s ub:subOrganizationOf+ ?o",
    "path after a pattern": "?s ub:worksFor ?d . ?d ub:subOrganizationOf+ ?o",
    "sub-select": "?s ub:advisor ?a { SELECT ?a { ?a a ub:FullProfessor } }",
    "distinct": "{ SELECT DISTINCT ?d { ?s ub:memberOf ?d } }",
    "bind": '?s ub:name ?n BIND(CONCAT(?n, "!") AS ?m)',
}
"""Patterns; order and groups need all solutions, and are not among them."""


@dataclass(frozen=True)
class Measured:
    """What was measured of a query."""

    name: str
    seconds: float
    most_rows: int


def measured(reasoner: Reasoner, repetitions: int = 5) -> Iterator[Measured]:
    """Ask each query, and yield its time."""
    for name, pattern in QUERIES.items():
        text = f"SELECT * {{ {pattern} }} LIMIT 10"
        plan = reasoner.plan(text, prefixes=PREFIXES, run=True)
        times: list[float] = []
        for _ in range(repetitions):
            start = time.process_time()
            _solutions(reasoner, text)
            times.append(time.process_time() - start)
        yield Measured(name, min(times), max(_rows(plan.root)))


def _solutions(reasoner: Reasoner, text: str) -> list[tuple[Any, ...]]:
    result = reasoner.query(text, prefixes=PREFIXES)
    assert isinstance(result, SelectResult)
    return list(result.tuples())


def _rows(operator: PlanOperator) -> Iterator[int]:
    yield operator.rows or 0
    for part in operator.parts:
        yield from _rows(part)


@click.command(context_settings=SETTINGS)
@click.argument("universities", type=click.IntRange(1), default=5)
def main(universities: int) -> None:
    """Print the times on LUBM's data, reasoned with ``owl2rl``."""
    reasoner = reasoned_lubm(universities)
    (row,) = _solutions(reasoner, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    print(f"LUBM({universities}), {int(row[0].lexical):,} triples, LIMIT 10")
    for each in measured(reasoner):
        print(f"{each.name:22} {1000 * each.seconds:9.2f} ms {each.most_rows:11,} rows")


if __name__ == "__main__":
    main()
