"""Reading documents and graphs into rdflib graphs over the store, beside `Reasoner.load`: ``python -m benchmarks.parsing``.

CPU seconds for LUBM, the best of several runs that alternate; each ratio is that to `Reasoner.load` of the same document, that of
graphs in memory to `Reasoner.load` of N-Triples. The last rows have ratios to rdflib instead: to its iteration over all triples,
and to ``+=`` into its own store.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.measuring.commands import SETTINGS

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
    """The CPU seconds of one way in, and of what is beside it: `Reasoner.load`, if nothing else is said."""

    name: str
    seconds: float
    beside: float

    @property
    def ratio(self) -> float:
        """How many times as long it takes as what is beside it."""
        return self.seconds / self.beside


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

    for format, extension in SYNTAXES.items():
        path = folder / f"data.{extension}"
        yield Reading(f"parse, {format}", *best((partial(parse, path, format), partial(load, path)), runs))
    path = folder / "data.nt"
    ours = Graph(store=KGReasonerStore(Reasoner())).parse(path)
    ways = {
        "+= of rdflib's graph": partial(copy, Graph, graph),
        "+= of a graph over the store": partial(copy, Graph, ours),
        "+= of rdflib's dataset": partial(copy, Dataset, dataset),
        "attach, a graph": partial(attach_it, graph),
        "attach, a dataset": partial(attach_it, dataset),
    }
    for name, way in ways.items():
        yield Reading(name, *best((way, partial(load, path)), runs))


def beside_rdflib(graph: Any, dataset: Any, runs: int) -> Iterator[Reading]:
    """Measure the ways in of graphs in memory beside rdflib: its iteration over them, and ``+=`` into its own store."""
    for kind, source in ((type(graph), graph), (type(dataset), dataset)):
        copied, name = partial(copy, kind, source), f"a {kind.__name__}"
        iterate, add = partial(deque[Any], source, 0), partial(_add_to_rdflib, kind, source)
        yield Reading(f"attach, {name} / iteration", *best((partial(attach_it, source), iterate), runs))
        yield Reading(f"+= of {name} / iteration", *best((copied, iterate), runs))
        yield Reading(f"+= of {name} / rdflib's +=", *best((copied, add), runs))


def _add_to_rdflib(kind: Callable[..., Any], source: Any) -> None:
    target = kind()
    target += source


def copy(kind: Callable[..., Any], source: Any) -> None:
    """Add the triples or quads of a graph or dataset of rdflib to one over our store."""
    from kg_reasoner import KGReasonerStore

    target = kind(store=KGReasonerStore("owl2rl"))
    target += source
    target.store.flush()


def attach_it(source: Any) -> None:
    """Do what `attach` does with a graph or dataset, which remains as it is."""
    from kg_reasoner import KGReasonerStore
    from kg_reasoner.rdflib_store.attaching import copy_graph

    copy_graph(source, KGReasonerStore("owl2rl"))


def best(actions: tuple[Callable[[], object], Callable[[], object]], runs: int) -> tuple[float, float]:
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


@click.command(context_settings=SETTINGS)
@click.option("--universities", type=click.IntRange(1), default=1, show_default=True, help="The size of the data.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Times that each way is measured.")
def main(universities: int, runs: int) -> None:
    """Measure how long graphs over the store take to read documents and graphs, beside Reasoner.load."""
    from kg_reasoner.lubm import generate

    data = b"".join(generate(universities))
    lines = data.count(b"\n")
    click.echo(f"LUBM({universities}), {lines} triples\n")
    click.echo(f"{'way in':32} {'seconds':>8} {'beside':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as name:
        graphs = write_documents(Path(name), data)
        gc.collect()
        gc.freeze()  # or else what is measured includes looks at these graphs
        for found in chain(readings(Path(name), *graphs, runs), beside_rdflib(*graphs, runs)):
            click.echo(f"{found.name:32} {found.seconds:8.3f} {found.beside:8.3f} {found.ratio:6.2f}")
    click.echo(f"\nGraph(store='KGReasoner'): {making():.2f} ms")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.parsing")
