"""Stability of speed and memory over many updates: ``python -m benchmarks.soak``.

Small random transactions run one after another: on LUBM under an OWL 2 RL rule set, and on a small recursive program. Every
transaction removes some random facts and adds as many others, so their number is constant. A soak is divided into windows of 1% of
the transactions; the first windows, in which tables reach their sizes, are the warm-up. The distribution of the times of single
transactions has a table of its own, which includes the warm-up. At the end, the same reasoner and a new one with the same facts do
further transactions in turns: unlike the times of the windows, this comparison does not depend on what else the machine does. With
``--axioms 100``, every hundredth transaction removes an axiom of LUBM's ontology, or adds the one that was removed last.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from time import thread_time_ns
from typing import Any, Final

import click
from rich.console import Console
from rich.status import Status
from rich.table import Table

from benchmarks.contests import report, tails
from benchmarks.inputs.update_data import data_folder, fingerprint, little_garbage, lubm
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import resident
from kg_reasoner import ReasonerWarning, rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import DEFAULT, STRATEGIES, Strategy
from kg_reasoner.terms import RDFS, literal

__all__ = ["LIMIT", "Soak", "Window", "World", "graph_world", "lubm_world", "soak", "table"]

WINDOWS: Final = 100
WARM_UP: Final = 2
"""Windows before the start."""

EDGE: Final = 10
"""Windows whose median is the start, and the end."""

AXIOMS: Final = (RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range)
"""The properties of the axioms that come and go."""

LIMIT: Final = 1.2
MOST: Final = 5
"""Facts that a transaction takes away, and adds, at most."""

GRAPH: Final = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .
    cyclic(?x) :- path(?x, ?x) .
    meet(?x, ?y) :- path(?z, ?x), path(?z, ?y), FILTER(?x < ?y) .
"""
NODES: Final = 24
EDGES: Final = 36


@dataclass(frozen=True)
class World:
    """A reasoner, and the facts that are removed and added."""

    name: str
    reasoner: Reasoner
    there: list[Any]
    away: list[Any]
    remove: Callable[[Any, list[Any]], None]
    """From a transaction."""
    add: Callable[[Any, list[Any]], None]
    anew: Callable[[World], Reasoner]
    """A new reasoner with the facts that are there now."""
    axioms: Sequence[Any] = ()
    """The triples of the ontology that may come and go."""

    def is_right(self) -> bool:
        """Return whether the materialisation equals that of a new reasoner with the current facts."""
        return contents(self.reasoner) == contents(self.anew(self))


@dataclass(frozen=True)
class Window:
    """A part of a soak."""

    microseconds: float
    """CPU time of a transaction: the mean."""
    resident: int
    """Bytes of the process at the end."""
    engine: int
    """Bytes of the engine's facts, indexes and terms at the end, as it counts them."""


@dataclass(frozen=True)
class Soak:
    """The measurements in one world."""

    world: str
    transactions: int
    facts: int
    windows: list[Window]
    right: bool
    """Whether the facts at the end are those that they should be."""
    tails: list[tails.Tail] = field(default_factory=list)
    """The times of transactions with facts, and of those with an axiom."""
    aged: float = 1.0
    """The median time of a transaction at the end, to that in a new reasoner with the same facts."""

    def ends(self, figure: str) -> tuple[float, float]:
        """Return the start and the end of a measurement: medians of the first windows after the warm-up, and of the last ones."""
        values = [getattr(window, figure) for window in self.windows]
        few = min(EDGE, max(1, len(values) // 4))
        return median(values[WARM_UP : WARM_UP + few]), median(values[-few:])

    def ratio(self, figure: str) -> float:
        start, end = self.ends(figure)
        return end / max(start, 1e-9)


FIGURES: Final = {
    "microseconds": ("CPU µs a transaction", lambda value: f"{value:,.1f}"),
    "resident": ("resident MB", lambda value: f"{value / 1e6:,.1f}"),
    "engine": ("engine's own MB", lambda value: f"{value / 1e6:,.2f}"),
}


def lubm_world(universities: int, ruleset: str, folder: Path, strategy: str, seed: int) -> World:
    """Return LUBM without a tenth of its triples, which are added later."""
    loaded = lubm(universities, folder, ruleset=ruleset, maintenance=strategy)
    triples = list(loaded.reasoner.dictionary.decode_rows(loaded.data))
    Random(seed).shuffle(triples)
    tenth = len(triples) // 10

    def without(reasoner: Reasoner, away: list[Any]) -> Reasoner:
        reasoner.remove_triples(away)
        return reasoner

    return World(
        name=f"LUBM({universities}), {ruleset}",
        reasoner=without(loaded.reasoner, triples[:tenth]),
        there=triples[tenth:],
        away=triples[:tenth],
        remove=lambda transaction, rows: transaction.remove_triples(rows),
        add=lambda transaction, rows: transaction.add_triples(rows),
        anew=lambda world: without(lubm(universities, folder, ruleset=ruleset).reasoner, world.away),
        axioms=[axiom for axiom in loaded.reasoner.dictionary.decode_rows(loaded.ontology) if axiom[1] in AXIOMS],
    )


def graph_world(strategy: Strategy, seed: int) -> World:
    """Return a random graph under a recursive program."""
    nodes = [literal(number) for number in range(NODES)]
    edges = [(x, y) for x in nodes for y in nodes if x != y]
    Random(seed).shuffle(edges)

    def graph(there: list[Any]) -> Reasoner:
        reasoner = Reasoner(GRAPH, maintenance=strategy)
        reasoner.add_facts("edge", there)
        return reasoner

    return World(
        name=f"paths, {NODES} nodes",
        reasoner=graph(edges[:EDGES]),
        there=edges[:EDGES],
        away=edges[EDGES:],
        remove=lambda transaction, rows: transaction.remove_facts("edge", rows),
        add=lambda transaction, rows: transaction.add_facts("edge", rows),
        anew=lambda world: graph(world.there),
    )


def contents(reasoner: Reasoner) -> tuple[object, ...]:
    """Return the contents of a reasoner, for comparison with another one. Triples are compared by their ids."""
    facts = {(name, row) for name in reasoner.predicates() for row in reasoner.facts(name)}
    return facts, fingerprint(reasoner)


def soak(
    world: World, transactions: int, seed: int, tell: Callable[[int], object] = lambda window: None, *, axioms: int = 0
) -> Soak:
    """Run random transactions of up to `MOST` facts each way.

    Args:
        world: Where they run.
        transactions: How many.
        seed: For random numbers.
        tell: Called with the number of each finished window.
        axioms: After how many transactions an axiom is removed or added again; 0: never.
    """
    random = Random(seed)
    world.reasoner.materialise()
    each = max(1, transactions // WINDOWS)
    windows = []
    times, of_axioms = array("q"), array("q")  # lists would grow by 40 bytes for each transaction
    axiom_changes = coming_and_going(world.axioms, random)
    with little_garbage():
        for number in range(WINDOWS):
            changes = [exchange(world, random) for _ in range(each)]
            for removed, added in changes:
                times.append(timed(world, removed, added))
                if axioms and world.axioms and len(times) % axioms == 0:
                    of_axioms.append(timed(world, *next(axiom_changes)))
            del changes
            gc.collect()
            sizes = world.reasoner.sizes()
            taken = sum(times[-each:]) / 1000
            windows.append(Window(taken / each, resident(), sizes.fact_bytes + sizes.term_bytes))
            tell(number + 1)
    if len(of_axioms) % 2:
        timed(world, *next(axiom_changes))
    found = [
        tails.Tail.of(f"{world.name}: {what}", measured)
        for what, measured in (("facts", times), ("axioms", of_axioms))
        if len(measured) > 1
    ]
    right = world.is_right()
    aged = compared(world, replace(world, reasoner=world.anew(world), there=[*world.there], away=[*world.away]), each, random)
    return Soak(world.name, each * WINDOWS, sizes.explicit + sizes.inferred, windows, right, found, aged)


def compared(old: World, new: World, warm_up: int, random: Random) -> float:
    """Run transactions in two worlds in turns, and return the ratio of their medians.

    Args:
        old: The first world.
        new: The second world, which has run no transactions.
        warm_up: After how many transactions in the second world its times count.
        random: For the transactions.
    """
    new.reasoner.materialise()
    with little_garbage():
        for _ in range(warm_up):
            timed(new, *exchange(new, random))
        both = [(timed(old, *exchange(old, random)), timed(new, *exchange(new, random))) for _ in range(2 * warm_up)]
    return median(one for one, _ in both) / max(1, median(other for _, other in both))


def timed(world: World, removed: list[Any], added: list[Any]) -> int:
    """Return the CPU time of a transaction, in nanoseconds."""
    before = thread_time_ns()
    with world.reasoner.transaction() as transaction:
        world.remove(transaction, removed)
        world.add(transaction, added)
    return thread_time_ns() - before


def coming_and_going(axioms: Sequence[Any], random: Random) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield what to remove and to add: a random axiom goes, then it comes back, without end."""
    while axioms:
        axiom = random.choice(axioms)
        yield [axiom], []
        yield [], [axiom]


def exchange(world: World, random: Random) -> tuple[list[Any], list[Any]]:
    """Choose facts to remove and as many to add, and swap them in the world's lists."""
    count = random.randint(1, MOST)
    here, there = (random.sample(range(len(facts)), count) for facts in (world.there, world.away))
    removed, added = [world.there[place] for place in here], [world.away[place] for place in there]
    for place, other in zip(here, there, strict=True):
        world.there[place], world.away[other] = world.away[other], world.there[place]
    return removed, added


def table(soaks: list[Soak]) -> Table:
    """Start, end and ratio of each figure."""
    columns = ("", "transactions", "facts", "figure", "start", "end", "end / start")
    caption = f"start and end: medians over windows of 1% of the transactions, of which the first {WARM_UP} are left out"
    made = report.new_table(columns, ("", "figure"), caption=caption)
    for one in soaks:
        for number, (figure, (title, text)) in enumerate(FIGURES.items()):
            ratio = one.ratio(figure)
            cells = [one.world, f"{one.transactions:,}", f"{one.facts:,}"] if number == 0 else ["", "", ""]
            style = "bold red" if ratio > LIMIT else ""
            made.add_row(*cells, title, *map(text, one.ends(figure)), f"{ratio:.2f}", style=style)
        made.add_row(
            "", "", "", "CPU µs, in turns with a new reasoner", "", "", f"{one.aged:.2f}", style="bold red" * (one.aged > LIMIT)
        )
    return made


def tell(status: Status, world: str, window: int) -> None:
    status.update(f"{world}: {100 * window // WINDOWS}%")


@click.command(context_settings=SETTINGS)
@click.option("-t", "--transactions", type=click.IntRange(WINDOWS), default=200_000, show_default=True, help="In each world.")
@click.option("-w", "--world", "names", type=click.Choice(["lubm", "paths"]), multiple=True, default=("lubm", "paths"))
@click.option("-s", "--strategy", type=click.Choice(list(STRATEGIES)), default=DEFAULT, show_default=True)
@click.option("-u", "--universities", type=click.IntRange(1), default=1, show_default=True, help="LUBM's size.")
@click.option("-r", "--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True)
@click.option("-a", "--axioms", type=click.IntRange(0), default=0, help="Change an axiom after so many transactions.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    transactions: int,
    names: tuple[str, ...],
    strategy: Strategy,
    universities: int,
    ruleset: str,
    axioms: int,
    seed: int,
    cache: Path | None,
    json_file: Path | None,
) -> None:
    """Apply many small transactions, and compare time and memory at the end with those at the start.

    The exit code is 1 if a figure has grown by more than 20%, or time against that of a new reasoner, if the facts at the end are
    wrong, or if a transaction of facts took too long (see `benchmarks.contests.tails`).
    """
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    soaks = []
    with news.status("") as status, warnings.catch_warnings():
        warnings.simplefilter("ignore", ReasonerWarning)  # of axioms that rules cannot express
        for name in dict.fromkeys(names):
            world = graph_world(strategy, seed)
            if name == "lubm":
                world = lubm_world(universities, ruleset, data_folder(cache), strategy, seed)
            status.update(world.name)
            soaks.append(soak(world, transactions, seed, partial(tell, status, world.name), axioms=axioms))
    console.print(table(soaks))
    console.print(tails.table([tail for one in soaks for tail in one.tails]))
    for one in soaks:
        if not one.right:
            console.print(f"{one.world}: the facts at the end are wrong", style="bold red", highlight=False)
    if json_file is not None:
        content = {"machine": report.machine(), "strategy": strategy, "soaks": [asdict(one) for one in soaks]}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    steady = all(one.right and max(one.aged, *map(one.ratio, FIGURES)) <= LIMIT for one in soaks)
    sys.exit(0 if steady and all(one.tails[0].is_short for one in soaks) else 1)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.soak")
