"""Reports of the DBSP benchmark: tables, plots, and whether the contestants agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.table import Table

from benchmarks.contests.report import milliseconds, new_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["STAGES", "Comparison", "Figures", "Outcome", "disagreements", "plot", "table"]

STAGES: Final = ("initial", "add", "remove")

Figures: TypeAlias = dict[str, float]
"""Of each stage that was reached: CPU seconds (under its name), wall seconds and facts afterwards; and the bytes at most."""


@dataclass(frozen=True)
class Outcome:
    """The result of one contestant on one workload."""

    figures: Figures
    failure: str = ""
    """Why there are no figures of later stages, if there are none."""
    limit: float = 0
    """The seconds after which it was stopped, if it was."""


@dataclass
class Comparison:
    """The results of all contestants on a workload with one share of its facts in the first update."""

    workload: str
    share: float
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.workload}: {self.share:.0%}, then {1 - self.share:.0%}"


def table(found: Comparison) -> Table:
    """What the contestants took, and how many times as long as the first one. Says where one was stopped."""
    columns = ("contestant", *STAGES, *(f"{stage} ×" for stage in STAGES), "peak MB", "facts")
    made = new_table(columns, ("contestant",), title=f"{found.title}; CPU milliseconds")
    ours = next(iter(found.outcomes.values())).figures
    for contestant, outcome in found.outcomes.items():
        figures = outcome.figures
        cells = [milliseconds(figures[stage]) for stage in STAGES if stage in figures]
        ratios = [f"{figures[stage] / max(ours[stage], 1e-9):.2f}" for stage in STAGES if stage in figures and stage in ours]
        gap = [""] * (len(STAGES) - len(cells))
        if gap:
            gap[0] = outcome.failure[:60]
        rest = [f"{figures['bytes'] / 1e6:,.0f}" if figures else "", f"{figures.get('add facts', 0):,.0f}" if not gap[1:] else ""]
        made.add_row(contestant, *cells, *gap, *ratios, *[""] * (len(STAGES) - len(ratios)), *rest)
    return made


def disagreements(found: Comparison) -> list[str]:
    """Yield the contestants whose number of facts differs from the first one's after a stage that both reached."""
    wrong = []
    first, *others = found.outcomes.items()
    for stage in STAGES:
        key = f"{stage} facts"
        wrong += [
            f"{found.title}, {stage}: {name} has {outcome.figures[key]:.0f} facts, {first[0]} has {first[1].figures[key]:.0f}"
            for name, outcome in others
            if outcome.figures.get(key, 0) != first[1].figures.get(key, 0) and key in outcome.figures and key in first[1].figures
        ]
    return wrong


def plot(measured: Sequence[Comparison], path: Path) -> None:
    """Draw the figures on logarithmic scales: a row of panels for each workload, one for each share, and one for memory.

    Where a contestant was stopped, a hatched bar goes up to its time limit. Needs matplotlib.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    rows: dict[str, list[Comparison]] = {}
    for found in measured:
        rows.setdefault(found.workload, []).append(found)
    contestants = list(dict.fromkeys(name for found in measured for name in found.outcomes))
    colours = {name: f"C{place}" for place, name in enumerate(contestants)}
    width = 1 + max(map(len, rows.values()))
    ratios = [3] * (width - 1) + [2]
    size = (4.4 * width, 0.8 + 2.7 * len(rows))
    figure, grid = pyplot.subplots(len(rows), width, figsize=size, squeeze=False, layout="constrained", width_ratios=ratios)
    for panels, (workload, group) in zip(grid, rows.items(), strict=True):
        for axes, found in zip(panels, group, strict=False):
            draw_times(axes, found, colours)
        for axes in panels[len(group) : -1]:
            axes.set_axis_off()
        draw_memory(panels[-1], workload, group, colours)
    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    if any(outcome.limit for found in measured for outcome in found.outcomes.values()):
        handles.append(Patch(facecolor="white", edgecolor="grey", hatch="////", label="stopped"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def draw_times(axes: Axes, found: Comparison, colours: Mapping[str, str]) -> None:
    """Draw a group of bars for each stage."""
    step = 0.8 / len(colours)
    for place, (name, colour) in enumerate(colours.items()):
        outcome = found.outcomes.get(name, Outcome({}))
        for number, stage in enumerate(STAGES):
            where = number + (place + 0.5) * step - 0.4
            if stage in outcome.figures:
                axes.bar(where, 1000 * outcome.figures[stage], step, color=colour)
            elif outcome.limit:
                axes.bar(where, 1000 * outcome.limit, step, facecolor="white", edgecolor=colour, hatch="////", linewidth=0.7)
                break
    finish(axes, found.title, "CPU milliseconds", STAGES)


def draw_memory(axes: Axes, workload: str, group: Sequence[Comparison], colours: Mapping[str, str]) -> None:
    """Draw a group of bars for each share."""
    step = 0.8 / len(colours)
    for number, found in enumerate(group):
        for place, (name, colour) in enumerate(colours.items()):
            if figures := found.outcomes.get(name, Outcome({})).figures:
                axes.bar(number + (place + 0.5) * step - 0.4, figures["bytes"] / 1e6, step, color=colour)
    finish(axes, workload, "peak MB", [f"{found.share:.0%}" for found in group])


def finish(axes: Axes, title: str, label: str, ticks: Sequence[str]) -> None:
    """Complete a panel; its scale begins and ends at powers of ten."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(label)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
