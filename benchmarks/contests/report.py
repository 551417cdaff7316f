"""Reports of a contest as a table, as JSON, and as a plot."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.contests.contest import OURS, Entry
from benchmarks.inputs.jobs import Job
from benchmarks.measuring.measure import Measurement

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "WIDTH",
    "agreement",
    "disagreements",
    "legend",
    "machine",
    "milliseconds",
    "new_table",
    "table",
    "write_json",
    "write_plot",
]

COLUMNS = (
    "",
    "load",
    "rules",
    "materialise",
    "total",
    "wall",
    "peak MB",
    "bytes/fact",
    "facts",
    "materialise ×",
    "total ×",
    "file to file",
    "its wall",
    "runs",
)

WIDTH = 170
"""The columns of text that the widest table needs."""


def machine() -> str:
    """Return the processor and Python, in one line."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    model = found[1] if found else platform.machine()
    return f"{model}, {os.cpu_count()} cores; {platform.system()}; Python {platform.python_version()}"


def legend() -> str:
    """Return the legend of the table."""
    return (
        "load, rules, materialise, total: CPU seconds of the process, medians; wall: seconds for all. One thread, if that can "
        "be set.\n"
        "rules: the translation of an ontology's axioms to the rules of dlp, which the other engines are given.\n"
        "peak MB: the most resident memory of the process. bytes/fact: resident memory added by loading and materialising, "
        "divided by the number of facts.\n"
        "×: times our CPU seconds, median of the ratios of each round. owlrl, reasonable and maplib have rules of their own.\n"
        "file to file: CPU seconds of whole processes from start to end, which write all triples; its wall: by the clock."
    )


def new_table(
    columns: Iterable[str], left: Collection[str] = ("",), *, title: str = "", caption: str = "", wrapped: Collection[str] = ()
) -> Table:
    """A table without rows: columns of figures are aligned to the right, others to the `left`; `wrapped` ones may be broken."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        caption=Text(caption) if caption else None,
        caption_justify="left",
    )
    for name in columns:
        made.add_column(name, justify="left" if name in left else "right", no_wrap=name not in wrapped)
    return made


def table(job: Job, entries: list[Entry]) -> Table:
    """The table of one job, with the reasons for missing rows below it."""
    remarks = [f"{entry.contestant}: {entry.remark}" for entry in entries if entry.remark]
    for entry in entries:
        for run in entry.rounds[:1]:
            parts = [f"{size / max(1, run.facts):.0f} for {what}" for what, size in run.own_bytes.items()]
            remarks += [f"{entry.contestant} itself counts bytes a fact: {', '.join(parts)}"] if parts else []
    made = new_table(COLUMNS, title=f"{job.workload}: {job.task}", caption="\n".join(remarks))
    ours = next((entry for entry in entries if entry.contestant == OURS and entry.rounds), None)
    for entry in entries:
        made.add_row(*cells(entry, ours), style="bold" if entry is ours else "")
    return made


def cells(entry: Entry, ours: Entry | None) -> list[str]:
    """Return a row of the table."""
    if not entry.rounds:
        row = [entry.contestant, *["-"] * (len(COLUMNS) - 1)]
        if entry.over is not None and entry.remark == f"over {entry.over.seconds:.0f} s":
            row[COLUMNS.index("wall")] = f"> {entry.over.seconds:.0f}"
            if ours is not None:
                row[COLUMNS.index("total ×")] = f"> {ratio(entry.over.seconds / max(ours.middle(total_cpu), 1e-9))}"
        return row
    one = entry.rounds[0]
    compared = ["", ""]
    if ours is not None and entry is not ours:
        compared = [ratio(entry.ratio(ours, materialise_cpu)), ratio(entry.ratio(ours, total_cpu))]
    return [
        f"{entry.contestant} {one.version}",
        seconds(entry.middle(lambda run: run.load_cpu)),
        seconds(entry.middle(lambda run: run.translate_cpu)) if one.translate_cpu else "",
        seconds(entry.middle(materialise_cpu)),
        seconds(entry.middle(total_cpu)),
        seconds(entry.middle(lambda run: run.total_wall)),
        f"{entry.middle(lambda run: run.peak_bytes) / 1e6:,.0f}",
        "-" if one.bytes_per_fact is None else f"{entry.middle(lambda run: run.bytes_per_fact or 0):,.0f}",
        f"{one.facts:,}",
        *compared,
        "-" if one.files_cpu is None else seconds(entry.middle(lambda run: run.files_cpu or 0)),
        "-" if one.files_wall is None else seconds(entry.middle(lambda run: run.files_wall or 0)),
        str(len(entry.rounds)),
    ]


def job_title(entry: Entry) -> str:
    return f"{entry.job.workload}\n{entry.job.task}"


def materialise_cpu(run: Measurement) -> float:
    return run.materialise_cpu


def total_cpu(run: Measurement) -> float:
    return run.total_cpu


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def ratio(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def disagreements(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each job in which contestants with the same task have different numbers of facts."""
    answers = {f"{entry.contestant} {run.answer:,}" for entry in entries for run in entry.rounds if run.answer is not None}
    if len({answer.rpartition(" ")[2] for answer in answers}) > 1:
        yield f"WARNING: the numbers of facts differ: {', '.join(sorted(answers))}"


def agreement(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a line that says who derived the same number of facts, if several contestants with the same task did."""
    entries = list(entries)
    runs = {entry.contestant: entry.rounds[0] for entry in entries if entry.rounds and entry.rounds[0].answer is not None}
    explicit = next((run.inputs for entry in entries for run in entry.rounds if entry.contestant == OURS), None)
    answers = {run.answer for run in runs.values()}
    if len(runs) > 1 and len(answers) == 1:
        (answer,) = answers
        derived = f", {answer - explicit:,} of them derived" if answer is not None and explicit is not None else ""
        yield f"The same {answer:,} facts{derived}: {', '.join(runs)}."


def write_json(path: Path, entries: Iterable[Entry]) -> None:
    """Write all measurements."""
    content = {"machine": machine(), "entries": [asdict(entry) for entry in entries]}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def write_plot(path: Path, entries: list[Entry]) -> None:
    """Plot materialisation and total CPU seconds of all jobs on logarithmic scales, in the format of the file's suffix."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    measured = [entry for entry in entries if entry.rounds]
    names = list(dict.fromkeys(entry.contestant for entry in measured))
    jobs = {title: place for place, title in enumerate(dict.fromkeys(map(job_title, measured)))}
    thickness = 0.8 / len(names)
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 1.2 + 0.9 * len(jobs)), sharey=True, layout="constrained")
    panels = (("materialise", materialise_cpu), ("load and materialise", total_cpu))
    for axis, (title, value) in zip(axes, panels, strict=True):
        for number, name in enumerate(names):
            own = [entry for entry in measured if entry.contestant == name]
            places = [jobs[job_title(entry)] + (number + 0.5) * thickness - 0.4 for entry in own]
            bars = axis.barh(places, [max(entry.middle(value), 1e-3) for entry in own], height=thickness, label=name)
            axis.bar_label(bars, [seconds(entry.middle(value)) for entry in own], padding=2, fontsize=7)
        axis.set(title=title, xlabel="CPU seconds", xscale="log", yticks=list(jobs.values()), yticklabels=list(jobs))
        axis.margins(x=0.15)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, with three digits at least."""
    value = 1000 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
