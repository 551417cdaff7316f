"""The standard library of graphs on a random graph: ``python -m benchmarks.library``.

CPU seconds of an import that nothing uses, and of each relation that a rule uses; networkx's for the same, where it has it.
`closure` and `steps` have a fact for each pair of nodes with a way, hundreds of facts for each edge: they are measured on smaller
graphs, two of them, and with the time for each fact, which shows that the time grows as what is derived does.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import literal

__all__ = ["measured", "networkx_seconds"]

_RELATIONS: Final = {"": "", "node": "?x", "source": "?x", "component": "?x, ?y", "strong": "?x, ?y", "order": "?x, ?y"}
_OF_PAIRS: Final = {"closure": "?x, ?y", "steps": "?x, ?y, ?n"}
"""The relations with a fact for each pair of nodes that a way connects."""


def random_edges(nodes: int, edges: int) -> list[tuple[int, int]]:
    """Return edges between random nodes, the same in each run."""
    chosen = random.Random(1)
    return [(chosen.randrange(nodes), chosen.randrange(nodes)) for _ in range(edges)]


def measured(relation: str, edges: list[tuple[int, int]]) -> tuple[float, int]:
    """Return the CPU seconds of a program that uses a relation of the library, or none, and the number of its facts."""
    arguments = (_RELATIONS | _OF_PAIRS)[relation]
    used = f"used({arguments}) :- g.{relation}({arguments}) ." if relation else ""
    reasoner = Reasoner(f'import "std/graph.dl" as g . {used}')
    reasoner.add_facts("g.edge", [(literal(a), literal(b)) for a, b in edges])
    began = time.process_time()
    reasoner.materialise()
    return time.process_time() - began, len(reasoner.facts("used"))


def networkx_seconds(relation: str, edges: list[tuple[int, int]]) -> float | None:
    """Return the CPU seconds that networkx takes for a relation; None if it has no such function, or is not installed."""
    try:
        nx: Any = import_module("networkx")
    except ImportError:
        return None
    functions: dict[str, Callable[[Any], object]] = {
        "component": lambda graph: list(nx.weakly_connected_components(graph)),
        "strong": lambda graph: list(nx.strongly_connected_components(graph)),
        "order": lambda graph: list(nx.topological_generations(nx.condensation(graph))),
        "closure": lambda graph: nx.transitive_closure(graph, reflexive=False),
        "steps": lambda graph: list(nx.all_pairs_shortest_path_length(graph)),
    }
    if relation not in functions:
        return None
    began = time.process_time()
    functions[relation](nx.DiGraph(edges))
    return time.process_time() - began


@click.command(context_settings=SETTINGS)
@click.option("--edges", type=click.IntRange(1), default=100_000, show_default=True, help="The edges, between as many nodes.")
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    help="The nodes for closure and steps; twice as many edges.",
)
def main(edges: int, pairs: int) -> None:
    """Measure the relations of the library."""
    given = random_edges(edges, edges)
    shown = Table("relation", "edges", "facts", "CPU seconds", "µs a fact", "networkx", "ratio")
    jobs = [(relation, given) for relation in _RELATIONS]
    jobs += [(relation, random_edges(nodes, 2 * nodes)) for relation in _OF_PAIRS for nodes in (pairs // 2, pairs)]
    for relation, graph in jobs:
        (own, facts), other = measured(relation, graph), networkx_seconds(relation, graph)
        beside = ("", "") if other is None else (f"{other:.2f}", f"{own / other:.2f}")
        each = f"{own / facts * 1e6:.2f}" if facts else ""
        shown.add_row(relation or "none", f"{len(graph):,}", f"{facts:,}", f"{own:.2f}", each, *beside)
    Console().print(shown)


if __name__ == "__main__":
    main()
