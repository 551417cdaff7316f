"""The benefit of looking one update ahead: ``python -m benchmarks.marking``.

The cases are those of Illich and Glimm ("Backward/Forward with Marking for Update Streams", 2025): transitive paths in a graph of
20 nodes, chains of renamed predicates over 100 nodes, and map data along a GPS track. The synthetic streams are generated: a
first update of 100 facts, then updates that delete and add equally many. Every stream is processed by each algorithm without and
with marks; rule applications are counted by phase, marked facts by kind, and finally all results must agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

import click
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks import report, streams
from benchmarks.measure import cpu
from benchmarks.update_data import little_garbage
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.engine.counters import Counters
from kg_reasoner.engine.maintenance import Strategy
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.terms import Term, literal

__all__ = ["CASES", "SIZES", "STRATEGIES", "MarkingCase", "MarkingRun", "chains", "measure", "paths", "table", "ways"]

ALGORITHMS: Final = {"backward-forward": "B/F", "delete-rederive": "DRed"}
STRATEGIES: Final = tuple(ALGORITHMS)
SIZES: Final = tuple(range(10, 90, 10))
FIRST: Final = 100
LATER: Final = 49
"""Updates after the first."""

PATHS: Final = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- edge(?x, ?y), path(?y, ?z) ."
CHAINS: Final = " ".join(f"edge{link}(?x, ?y) :- edge{link - 1 or ''}(?x, ?y) ." for link in range(1, 5))

Fact = tuple[Term, ...]


@dataclass(frozen=True)
class MarkingCase:
    """A stream and its program."""

    name: str
    size: str
    """What each update after the first deletes and adds."""
    program: Program
    updates: Sequence[Update]


@dataclass
class MarkingRun:
    """One algorithm on one stream."""

    size: str
    strategy: str
    marking: bool
    counters: Counters
    facts: int
    """At the end."""
    cpu: list[float] = field(default_factory=list)
    """Seconds for the whole stream, round by round."""


# ---- streams


def paths(sizes: Sequence[int] = SIZES, later: int = LATER, seed: int = 0) -> Iterator[MarkingCase]:
    """Yield cases of transitive paths in a graph of 20 nodes."""
    yield from synthetic("transitive paths, 20 nodes", PATHS, 20, sizes, later, seed)


def chains(sizes: Sequence[int] = SIZES, later: int = LATER, seed: int = 0) -> Iterator[MarkingCase]:
    """Yield a chain of renamed predicates over 100 nodes."""
    yield from synthetic("renamed predicates, 100 nodes", CHAINS, 100, sizes, later, seed)


def synthetic(name: str, rules: str, nodes: int, sizes: Sequence[int], later: int, seed: int) -> Iterator[MarkingCase]:
    for size in sizes:
        updates = random_updates(nodes, size, later, Random(f"{name} {size} {seed}"))
        yield MarkingCase(name, f"-{size} +{size}", parse(rules), list(updates))


def random_updates(nodes: int, size: int, later: int, random: Random) -> Iterator[Update]:
    """Yield a first update that adds `FIRST` edges, then updates that delete `size` random edges and add as many new ones."""
    terms = [literal(node) for node in range(nodes)]
    edges: list[Fact] = [(x, y) for x in terms for y in terms if x != y]
    random.shuffle(edges)
    there, away = edges[:FIRST], edges[FIRST:]
    yield Update(added={"edge": list(there)})
    for _ in range(later):
        random.shuffle(there)
        random.shuffle(away)
        removed, added = there[:size], away[:size]
        there, away = there[size:] + added, away[size:] + removed
        yield Update({"edge": added}, {"edge": removed})


def ways(sizes: Sequence[int] = SIZES, later: int = LATER, seed: int = 0) -> Iterator[MarkingCase]:
    """Yield the map-data streams of the shared suite of update streams, or none if it is absent."""
    for name in streams.names():
        if streams.rule_set(name) == "ways":
            stream = streams.read(name)
            updates = [step.update for step in stream.steps]
            yield MarkingCase("map data along a GPS track", "recorded", stream.program, updates)


CASES: Final[dict[str, Callable[[Sequence[int], int, int], Iterator[MarkingCase]]]] = {
    "paths": paths,
    "chains": chains,
    "ways": ways,
}


# ---- runs


def measure(case: MarkingCase, strategies: Sequence[Strategy], rounds: int) -> list[MarkingRun]:
    """Process a stream by each strategy without and with marks, in turns. The next update is always available in advance.

    Raises:
        click.ClickException: they do not agree in the end.
    """
    runs: dict[tuple[str, bool], MarkingRun] = {}
    results: list[set[tuple[str, Fact]]] = []
    for number in range(rounds):
        for strategy in strategies:
            for marking in (False, True):
                reasoner = Reasoner(case.program, maintenance=strategy)
                reasoner.materialise()
                before = cpu()
                for _ in reasoner.process(case.updates, marking=marking):
                    pass
                taken = cpu() - before
                if number == 0:
                    results.append({(name, fact) for name in reasoner.predicates() for fact in reasoner.facts(name)})
                    runs[strategy, marking] = MarkingRun(case.size, strategy, marking, reasoner.counters, len(results[-1]))
                runs[strategy, marking].cpu.append(taken)
    if any(result != results[0] for result in results):
        raise click.ClickException(f"{case.name}, {case.size}: the results differ")
    return list(runs.values())


COLUMNS: Final = (
    *("update", "algorithm", "CPU ms", "×", "deletion", "backward", "forward", "insertion", "all", "×"),
    *("explicit marks", "implicit"),
)


def table(case: str, runs: list[MarkingRun]) -> Table:
    """Return the runs of one case: each algorithm without and with marks."""
    made = Table(
        title=case,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption="CPU ms: of a whole stream, median. deletion to all: rule applications by phase. ×: without marks / with marks.",
        caption_justify="left",
    )
    for name in COLUMNS:
        made.add_column(name, justify="left" if name in COLUMNS[:2] else "right")
    plain = {(run.size, run.strategy): run for run in runs if not run.marking}
    for run in runs:
        count, old = run.counters, plain[run.size, run.strategy]
        algorithm, faster, fewer = ALGORITHMS[run.strategy], "", ""
        if run.marking:
            algorithm += " + marks"
            faster = f"{median(old.cpu) / max(median(run.cpu), 1e-9):.2f}"
            fewer = f"{old.counters.applications / max(count.applications, 1):.2f}"
        made.add_row(
            "" if run.marking else run.size,
            algorithm,
            f"{1000 * median(run.cpu):.1f}",
            faster,
            *(f"{figure:,}" for figure in (count.deletion, count.backward, count.forward, count.insertion, count.applications)),
            fewer,
            *(f"{figure:,}" if run.marking else "" for figure in (count.marked_explicit, count.marked_implicit)),
            end_section=run.marking,
        )
    return made


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("-c", "--case", "names", type=click.Choice(list(CASES)), multiple=True, default=list(CASES), show_default=True)
@click.option("-s", "--strategy", "strategies", type=click.Choice(STRATEGIES), multiple=True, default=STRATEGIES, show_default=True)
@click.option(
    "--size", "sizes", type=click.IntRange(1, FIRST), multiple=True, default=SIZES, show_default=True, help="Of synthetic updates."
)
@click.option("--updates", type=click.IntRange(2), default=1 + LATER, show_default=True, help="In each synthetic stream.")
@click.option("-n", "--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    names: tuple[str, ...],
    strategies: tuple[Strategy, ...],
    sizes: tuple[int, ...],
    updates: int,
    rounds: int,
    seed: int,
    json_file: Path | None,
) -> None:
    """Measure update streams without and with marking: CPU time, rule applications by phase, marked facts."""
    console = Console()
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    warm_up = MarkingCase("", "", parse(PATHS), list(random_updates(20, 10, 2, Random(0))))
    measure(warm_up, strategies, rounds=1)
    measured: dict[str, list[MarkingRun]] = {}
    for name in dict.fromkeys(names):
        for case in CASES[name](sizes, updates - 1, seed):
            with little_garbage():
                measured.setdefault(case.name, []).extend(measure(case, strategies, rounds))
        if name == "ways" and not streams.SUITE.is_dir():
            console.print("no map data: the shared suite of update streams is not here", highlight=False)
    for title, runs in measured.items():
        console.print(table(title, runs))
    if json_file is not None:
        content = {"machine": report.machine(), "runs": {title: [asdict(run) for run in runs] for title, runs in measured.items()}}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.marking")
