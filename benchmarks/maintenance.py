"""The time of updates: ``python -m benchmarks.maintenance``.

LUBM is materialised under an OWL 2 RL rule set. Parts of its data are removed and added again in turns, with every strategy,
including full rematerialisation. CPU times are those of the transaction, from its first statement to the end of its commit. Single
triples go through several interfaces, from ids to an rdflib graph. At the end, the facts must be the same as at the start.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.inputs.update_data import Lubm, LubmPart, data_folder, fingerprint, little_garbage, lubm, parts
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import cpu
from benchmarks.measuring.needs import plot_option
from benchmarks.measuring.update_interfaces import INTERFACES, SingleUpdates, Spread, single_updates
from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BASELINE", "MaintenanceRun", "Times", "measure", "plot", "singles_table", "table"]

BASELINE: Final = "rematerialise"
SMALL: Final = 1000
"""Changes of fewer triples than this are measured ten times as often, except by the baseline."""


@dataclass
class Times:
    """CPU seconds of one kind of change, round by round."""

    part: str
    triples: int
    """Explicit triples that are taken out and put back: the median of the rounds."""
    facts: int = 0
    """Facts that leave the materialisation with them: the median of the rounds."""
    delete: list[float] = field(default_factory=list)
    add: list[float] = field(default_factory=list)


@dataclass
class MaintenanceRun:
    """One strategy on one size of data."""

    universities: int
    strategy: str
    facts: int
    """The materialisation's triples."""
    materialise: float
    """CPU seconds of the first materialisation, of everything."""
    times: list[Times] = field(default_factory=list)
    singles: list[SingleUpdates] = field(default_factory=list)
    intact: bool = True
    """Whether the facts at the end were those at the beginning."""

    @property
    def workload(self) -> str:
        return f"LUBM({self.universities})"


def measure(universities: int, strategy: str, ruleset: str, folder: Path, rounds: int, singles: int, seed: int) -> MaintenanceRun:
    """Measure one strategy: all parts, then single triples through all interfaces."""
    loaded = lubm(universities, folder, ruleset=ruleset, maintenance=strategy)
    reasoner = loaded.reasoner
    before = cpu()
    reasoner.materialise()
    run = MaintenanceRun(universities, strategy, 0, cpu() - before)
    start = fingerprint(reasoner)
    run.facts = start[1]
    with little_garbage():
        for part in parts(loaded):
            more = 10 if part.triples < SMALL and part.chosen is None and strategy != BASELINE else 1
            run.times.append(changes(loaded, part, rounds * more, seed))
        if strategy != BASELINE and singles:
            run.singles = [single_updates(loaded, interface, singles, seed) for interface in INTERFACES]
    run.intact = fingerprint(reasoner) == start
    return run


def changes(loaded: Lubm, part: LubmPart, rounds: int, seed: int) -> Times:
    """Remove and add a different part of the data in each round. An uncounted first round builds the indexes."""
    times = Times(part.name, 0)
    sizes, facts = [], []
    for number, ids in enumerate(islice(part.draws(loaded.data, seed), rounds + 1)):
        delete, gone = change(loaded.reasoner, removed=ids)
        add, _ = change(loaded.reasoner, added=ids)
        if number:
            sizes.append(len(ids))
            facts.append(gone)
            times.delete.append(delete)
            times.add.append(add)
    times.triples, times.facts = int(median(sizes)), int(median(facts))
    return times


def change(reasoner: Reasoner, *, added: Ids | None = None, removed: Ids | None = None) -> tuple[float, int]:
    """Return the CPU seconds of a transaction, and the number of facts deleted from the materialisation.

    Rematerialising does not collect what has changed, which would take longer than the rest; all other strategies do.
    """
    collects = reasoner.maintenance != BASELINE
    before = 0 if collects else facts_of(reasoner)
    start = cpu()
    with reasoner.transaction(collects) as transaction:
        if removed is not None:
            transaction.remove_triples(removed)
        if added is not None:
            transaction.add_triples(added)
    taken = cpu() - start
    return taken, len(transaction.delta.removed) if collects else max(0, before - facts_of(reasoner))


def facts_of(reasoner: Reasoner) -> int:
    sizes = reasoner.sizes()
    return sizes.explicit + sizes.inferred


# ---- tables


def table(runs: list[MaintenanceRun]) -> Table:
    """Return the runs of one size: for each kind of change, the strategies, compared with the baseline."""
    baseline = {times.part: times for run in runs if run.strategy == BASELINE for times in run.times}
    one = runs[0]
    made = report.new_table(
        ("change", "triples", "facts", "strategy", "delete", "add", "delete ×", "add ×", "rounds"),
        ("change", "strategy"),
        title=f"{one.workload}: {one.facts:,} triples; CPU milliseconds, medians",
        caption="\n".join(notes(runs)),
    )
    for part in (times.part for times in one.times):
        rows = [(run, times) for run in runs for times in run.times if times.part == part]
        for number, (run, times) in enumerate(rows):
            compared = ["", ""]
            if part in baseline and run.strategy != BASELINE:
                pairs = ((baseline[part].delete, times.delete), (baseline[part].add, times.add))
                compared = [report.ratio(median(theirs) / max(median(ours), 1e-9)) for theirs, ours in pairs]
            cells = [part, f"{times.triples:,}", f"{times.facts:,}"] if number == 0 else ["", "", ""]
            cells += [run.strategy, report.milliseconds(median(times.delete)), report.milliseconds(median(times.add)), *compared]
            made.add_row(*cells, str(len(times.delete)), end_section=number == len(rows) - 1)
    return made


def notes(runs: list[MaintenanceRun]) -> Iterator[str]:
    yield "facts: those that leave with the triples. ×: times faster than rematerialising, which does not collect what has changed."
    told = ", ".join(f"{run.strategy} {report.milliseconds(run.materialise)}" for run in runs)
    yield f"The first materialisation, of everything: {told}."


def singles_table(runs: list[MaintenanceRun]) -> Table | None:
    """Return a table of single triples: microseconds by strategy and interface, for all sizes side by side."""
    with_singles = [run for run in runs if run.singles]
    if not with_singles:
        return None
    sizes = sorted({run.universities for run in with_singles})
    left = ("strategy", "interface", "update")
    figures_of = (name for size in sizes for name in (f"LUBM({size}) median", "mean", "99%"))
    made = report.new_table(
        (*left, *figures_of, *(["growth"] if len(sizes) > 1 else [])),
        left,
        title=f"single triples: CPU microseconds of {with_singles[0].singles[0].count:,} updates of each kind",
        caption="\n".join(f"{interface.name}: {interface.what}" for interface in INTERFACES),
    )
    for strategy in dict.fromkeys(run.strategy for run in with_singles):
        own = {run.universities: run for run in with_singles if run.strategy == strategy}
        for place, interface in enumerate(INTERFACES):
            for update in ("delete", "add"):
                figures: dict[int, Spread] = {size: getattr(run.singles[place], update) for size, run in own.items()}
                cells = [cell for size in sizes for cell in (figures[size].cells() if size in figures else ["-"] * 3)]
                if len(sizes) > 1:
                    cells.append(
                        f"{figures[sizes[-1]].median / figures[sizes[0]].median:.2f}" if len(figures) == len(sizes) else "-"
                    )
                made.add_row(strategy, interface.name, update, *cells)
    return made


# ---- picture


def plot(runs: list[MaintenanceRun], path: Path) -> None:
    """Draw the medians of all changes, on logarithmic scales: a row of panels for each size of data. Needs matplotlib."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    sizes = sorted({run.universities for run in runs})
    figure, grid = pyplot.subplots(len(sizes), 2, figsize=(12, 1 + 3.6 * len(sizes)), squeeze=False, layout="constrained")
    for size, row in zip(sizes, grid, strict=True):
        own = [run for run in runs if run.universities == size]
        limits = [draw(axes, own, update) for axes, update in zip(row, ("delete", "add"), strict=True)]
        for axes in row:
            axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(STRATEGIES), frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def draw(axes: Axes, runs: list[MaintenanceRun], update: str) -> tuple[float, float]:
    """Draw one panel: a group of bars for each kind of change, a bar for each strategy. Return the range of its values."""
    width = 0.8 / len(runs)
    for number, run in enumerate(runs):
        values = [1000 * max(median(getattr(times, update)), 1e-7) for times in run.times]
        places = [place + (number + 0.5) * width - 0.4 for place in range(len(values))]
        style: dict[str, Any] = {"color": "gray"} if run.strategy == BASELINE else {}
        axes.bar(places, values, width, label=run.strategy, **style)
    labels = [f"{times.part}\n({times.triples:,})" for times in runs[0].times]
    axes.set_title(f"{runs[0].workload}: {update}")
    axes.set_yscale("log")
    axes.set_ylabel("CPU milliseconds")
    axes.set_xticks(range(len(labels)), labels, fontsize=7)
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    low, high = axes.get_ylim()
    return low, high


# ---- command


@click.command(context_settings=SETTINGS)
@click.option(
    "-u", "--universities", type=click.IntRange(1), multiple=True, default=(1, 5), show_default=True, help="LUBM's sizes."
)
@click.option(
    "-s",
    "--strategy",
    "strategies",
    type=click.Choice(list(STRATEGIES)),
    multiple=True,
    default=list(STRATEGIES),
    help="Only these.",
)
@click.option("-r", "--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True)
@click.option(
    "-n", "--rounds", type=click.IntRange(1), default=5, show_default=True, help="Rounds; of small changes ten times as many."
)
@click.option("--singles", type=click.IntRange(0), default=3000, show_default=True, help="Updates of single triples, each way.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
@plot_option("the medians")
def main(
    universities: tuple[int, ...],
    strategies: tuple[str, ...],
    ruleset: str,
    rounds: int,
    singles: int,
    seed: int,
    cache: Path | None,
    json_file: Path | None,
    plot_file: Path | None,
) -> None:
    """Measure additions and deletions of parts of LUBM by every strategy, against materialising anew.

    Parts: 1 triple, 100, 1% and 10% of the triples, at random and by whole departments. The exit code is 1 if the facts at the end
    are not those at the start.
    """
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    Reasoner("first(1) . second(?x) :- first(?x) .").materialise()  # loads the kernels
    runs: list[MaintenanceRun] = []
    for size in sorted(set(universities)):
        with news.status("") as status:
            for strategy in dict.fromkeys(strategies):
                status.update(f"LUBM({size}), {strategy}")
                runs.append(measure(size, strategy, ruleset, data_folder(cache), rounds, singles, seed))
                gc.collect()
        console.print(table([run for run in runs if run.universities == size]))
    overview = singles_table(runs)
    if overview is not None:
        console.print(overview)
    if json_file is not None:
        content = {"machine": report.machine(), "ruleset": ruleset, "runs": [asdict(run) for run in runs]}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if plot_file is not None:
        plot(runs, plot_file)
    broken = [f"{run.workload}, {run.strategy}: the facts at the end are not those at the start" for run in runs if not run.intact]
    for line in broken:
        console.print(line, style="bold red", highlight=False)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.maintenance")
