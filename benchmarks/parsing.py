"""Reading documents and graphs into rdflib graphs over the store, beside `Reasoner.load`: ``python -m benchmarks.parsing``.

CPU seconds for LUBM, the best of several runs that alternate; each ratio is that to `Reasoner.load` of the same document, that of
graphs in memory to `Reasoner.load` of N-Triples.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

SYNTAXES: Final[Mapping[str, str]] = {
    "nt": "nt",
    "turtle": "ttl",
    "xml": "rdf",
    "json-ld": "jsonld",
    "nquads": "nq",
    "trig": "trig",
}
"""The names of syntaxes in rdflib, with file extensions."""

QUADS: Final = ("nquads", "trig")
GRAPHS: Final = 5


@dataclass(frozen=True)
class Reading:
    """The CPU seconds of one way in, and of `Reasoner.load`."""

    name: str
    seconds: float
    load: float

    @property
    def ratio(self) -> float:
        """How many times as long as `Reasoner.load` it takes."""
        return self.seconds / self.load


def write_documents(folder: Path, data: bytes) -> tuple[Any, Any]:
    """Write N-Triples to a folder in each syntax, with named graphs where there are such.

    Returns:
        The graph and the dataset of rdflib.
    """
    from rdflib import Dataset, Graph, URIRef

    graph = Graph().parse(data=data, format="nt")
    dataset = Dataset()
    for number, triple in enumerate(graph):
        dataset.add((*triple, URIRef(f"http://example.org/graph{number % GRAPHS}")))  # type: ignore[arg-type]
    for format, extension in SYNTAXES.items():
        source = dataset if format in QUADS else graph
        source.serialize(folder / f"data.{extension}", format=format)
    return graph, dataset


def readings(folder: Path, graph: Any, dataset: Any, runs: int) -> Iterator[Reading]:
    """Measure each way in: `parse` of each syntax, and graphs in memory."""
    from rdflib import Dataset, Graph

    from kg_reasoner import KGReasonerStore, Reasoner

    def load(path: Path) -> None:
        Reasoner(ruleset="owl2rl").load(path)

    def parse(path: Path, format: str) -> None:
        (Dataset if format in QUADS else Graph)(store="KGReasoner").parse(path, format=format)

    def copy(kind: Callable[..., Any], source: Any) -> None:
        target = kind(store=KGReasonerStore("owl2rl"))
        target += source
        target.store.flush()

    def attach_it(source: Any) -> None:
        from kg_reasoner.rdflib_store.attaching import copy_graph

        copy_graph(source, KGReasonerStore("owl2rl"))

    for format, extension in SYNTAXES.items():
        path = folder / f"data.{extension}"
        yield Reading(f"parse, {format}", *best((partial(parse, path, format), partial(load, path)), runs))
    path = folder / "data.nt"
    ours = Graph(store=KGReasonerStore(Reasoner())).parse(path)
    ways = {
        "+= of rdflib's graph": lambda: copy(Graph, graph),
        "+= of a graph over the store": lambda: copy(Graph, ours),
        "+= of rdflib's dataset": lambda: copy(Dataset, dataset),
        "attach, a graph": lambda: attach_it(graph),
        "attach, a dataset": lambda: attach_it(dataset),
    }
    for name, way in ways.items():
        yield Reading(name, *best((way, partial(load, path)), runs))


def best(actions: tuple[Callable[[], None], Callable[[], None]], runs: int) -> tuple[float, float]:
    """Return the shortest CPU time of each of two actions, which alternate."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs + 1):  # the first time is not counted
        for action, times in zip(actions, taken, strict=True):
            before = time.process_time()
            action()
            times.append(time.process_time() - before)
    return min(taken[0][1:]), min(taken[1][1:])


def making(runs: int = 200) -> float:
    """Return the CPU milliseconds to make a graph over a new store."""
    from rdflib import Graph

    Graph(store="KGReasoner")
    before = time.process_time()
    for _ in range(runs):
        Graph(store="KGReasoner")
    return (time.process_time() - before) / runs * 1000


@click.command()
@click.option("--universities", default=1, show_default=True, help="The size of the data.")
@click.option("--runs", default=3, show_default=True, help="Times that each way is measured.")
def main(universities: int, runs: int) -> None:
    """Measure how long graphs over the store take to read documents and graphs, beside Reasoner.load."""
    from kg_reasoner.lubm import generate

    data = b"".join(generate(universities))
    lines = data.count(b"\n")
    click.echo(f"LUBM({universities}), {lines} triples\n")
    click.echo(f"{'way in':32} {'seconds':>8} {'load':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as name:
        graphs = write_documents(Path(name), data)
        gc.collect()
        gc.freeze()  # or else what is measured includes looks at these graphs
        for found in readings(Path(name), *graphs, runs):
            click.echo(f"{found.name:32} {found.seconds:8.3f} {found.load:8.3f} {found.ratio:6.2f}")
    click.echo(f"\nGraph(store='KGReasoner'): {making():.2f} ms")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.parsing")
