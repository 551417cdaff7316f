"""The benefit of looking one update ahead: ``python -m benchmarks.marking``.

Every stream (see `benchmarks.inputs.marking_streams`) is processed by each algorithm without and with marks; rule applications are
counted by phase, marked facts by kind, and in the end all must agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.inputs import streams
from benchmarks.inputs.marking_streams import CASES, FIRST, LATER, PATHS, SIZES, Case, Fact, Options, random_updates
from benchmarks.inputs.update_data import little_garbage
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import cpu
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.maintenance import Strategy
from kg_reasoner.language.parser import parse

__all__ = ["CASES", "STRATEGIES", "MarkingRun", "measure", "summary", "table"]

ALGORITHMS: Final = {"backward-forward": "B/F", "delete-rederive": "DRed"}
STRATEGIES: Final = tuple(ALGORITHMS)


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


# ---- runs


def measure(case: Case, strategies: Sequence[Strategy], rounds: int) -> list[MarkingRun]:
    """Process a stream by each strategy without and with marks, in turns. The next update is always available in advance.

    Raises:
        click.ClickException: they do not agree in the end.
    """
    runs: dict[tuple[str, bool], MarkingRun] = {}
    results: list[set[tuple[str, Fact]]] = []
    for number in range(rounds):
        for strategy in strategies:
            for marking in (False, True):
                reasoner = Reasoner(case.program, maintenance=strategy, threads=1)  # on which the counters depend
                for _ in reasoner.process([case.before], marking=False):
                    pass
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
    """The runs of one case: each algorithm without and with marks below each other."""
    caption = "CPU ms: of a whole stream, median. deletion to all: rule applications by phase. ×: without marks / with marks."
    made = report.new_table(COLUMNS, COLUMNS[:2], title=case, caption=caption)
    plain = {(run.size, run.strategy): run for run in runs if not run.marking}
    for run in runs:
        count, old = run.counters, plain[run.size, run.strategy]
        algorithm, faster, fewer = ALGORITHMS[run.strategy], "", ""
        if run.marking:
            algorithm += " + marks"
            faster, fewer = ratios(old, run)
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


def summary(measured: Mapping[str, list[MarkingRun]]) -> Table:
    """The ratios of all cases, without marks / with marks, by algorithm."""
    strategies = list(dict.fromkeys(run.strategy for runs in measured.values() for run in runs))
    columns = [f"{ALGORITHMS[strategy]}: {what}" for strategy in strategies for what in ("CPU time", "rule applications")]
    made = report.new_table(("stream", "update", *columns), ("stream", "update"), title="without marks / with marks")
    for title, runs in measured.items():
        rows: dict[str, list[str]] = {}
        for plain, marked in zip(runs[::2], runs[1::2], strict=True):
            rows.setdefault(plain.size, []).extend(ratios(plain, marked))
        for size, cells in rows.items():
            made.add_row(title, size, *cells)
    return made


def ratios(plain: MarkingRun, marked: MarkingRun) -> tuple[str, str]:
    """How many times the CPU time, and the rule applications, a stream takes without marks."""
    faster = median(plain.cpu) / max(median(marked.cpu), 1e-9)
    return f"{faster:.2f}", f"{plain.counters.applications / max(marked.counters.applications, 1):.2f}"


@click.command(context_settings=SETTINGS)
@click.option("-c", "--case", "names", type=click.Choice(list(CASES)), multiple=True, default=list(CASES), show_default=True)
@click.option("-s", "--strategy", "strategies", type=click.Choice(STRATEGIES), multiple=True, default=STRATEGIES, show_default=True)
@click.option(
    "--size", "sizes", type=click.IntRange(1, FIRST), multiple=True, default=SIZES, show_default=True, help="Of synthetic updates."
)
@click.option("--updates", type=click.IntRange(2), default=1 + LATER, show_default=True, help="In each synthetic stream.")
@click.option("-n", "--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    names: tuple[str, ...],
    strategies: tuple[Strategy, ...],
    sizes: tuple[int, ...],
    updates: int,
    rounds: int,
    seed: int,
    cache: Path | None,
    json_file: Path | None,
) -> None:
    """Measure update streams without and with marking: CPU time, rule applications by phase, marked facts."""
    console = Console()
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    warm_up = Case("", "", parse(PATHS), list(random_updates(20, 10, 2, Random(0))))
    measure(warm_up, strategies, rounds=1)
    measured: dict[str, list[MarkingRun]] = {}
    for name in dict.fromkeys(names):
        for case in CASES[name](Options(sizes, updates - 1, seed, cache)):
            with little_garbage():
                measured.setdefault(case.name, []).extend(measure(case, strategies, rounds))
        if name == "ways" and not streams.SUITE.is_dir():
            console.print("no map data: the shared suite of update streams is not here", highlight=False)
    for title, runs in measured.items():
        console.print(table(title, runs))
    console.print(summary(measured))
    if json_file is not None:
        content = {"machine": report.machine(), "runs": {title: [asdict(run) for run in runs] for title, runs in measured.items()}}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.marking")
