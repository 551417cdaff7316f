"""Reports of the queries: a table for each data set, a summary for each group of queries, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from statistics import geometric_mean
from typing import TYPE_CHECKING, Final

from benchmarks.contests.report import machine, new_table
from benchmarks.sparql.contest import CONTESTANTS, ELSEWHERE, OURS, Contestant, Score
from benchmarks.sparql.systems import NEW_TEXT, RDFLIB
from benchmarks.sparql.worker import OVER

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["WIDTH", "as_json", "best_ratio", "disagreements", "legend", "query_table", "summary_table"]

OURS_AS_GRAPH: Final = next(one.name for one in CONTESTANTS if one.adapter == "ours" and one.form == RDFLIB)
OURS_NEW: Final = next(one.name for one in CONTESTANTS if one.adapter == "ours" and one.form == NEW_TEXT)
WIDTH: Final = 200
"""The columns of text that the widest table needs."""
PAIRS: Final = ((OURS, "ours / best"), (OURS_NEW, "new text: ours / best"), (OURS_AS_GRAPH, "rdflib rows: ours / best"))
"""Our contestants that are compared with the best peer with the same kind of result, and the names of these columns."""


def legend() -> str:
    """Return the legend of the tables."""
    return (
        "CPU milliseconds of the process (all threads), medians of the repetitions. Results are complete.\n"
        "first: our first repetition, in which the text is parsed, and indexes are built that the query needs; parsed queries, "
        "plans and indexes are remembered. new text: each repetition has another comment at its end, so that only indexes are.\n"
        "kg-reasoner: the result of Reasoner.query, as ids, whose terms are made when they are read. pyoxigraph: all solutions. "
        "maplib: frames. kg-reasoner rdflib, oxrdflib, rdflib: rdflib's rows. kg-reasoner elsewhere: the other checkout.\n"
        "ours / best: our time as a multiple of the best peer's with the same kind of result; less than 1 is faster.\n"
        "Each query runs in a copy of a process with the data loaded; maplib, which cannot be copied, in the process itself."
    )


def _is_graph(name: str) -> bool:
    """Return whether a contestant's results are rdflib's rows."""
    return next(one.form for one in CONTESTANTS if one.name == name) == RDFLIB


def _adapter(name: str) -> str:
    return next(one.adapter for one in CONTESTANTS if one.name == name)


def best_ratio(scores: Iterable[Score], ours: str) -> float | None:
    """Return our CPU time for a query as a multiple of that of the best peer with the same kind of result; None without either."""
    measured = {score.contestant: score.median for score in scores if score.is_measured}
    peers = [
        taken
        for name, taken in measured.items()
        if _adapter(name) not in ("ours", ELSEWHERE) and _is_graph(name) == _is_graph(ours)
    ]
    return max(measured[ours], 1e-9) / max(min(peers), 1e-9) if ours in measured and peers else None


def query_table(rows: Sequence[Sequence[Score]], contestants: Sequence[Contestant]) -> Table:
    """The table of the queries on one data set, with remarks below it."""
    names = [one.name for one in contestants]
    columns = ("", "rows", "first", *names, *(title for _, title in PAIRS))
    made = new_table(columns, title=rows[0][0].data, caption="\n".join(remarks(rows)), wrapped=columns[1:])
    for scores in rows:
        by_name = {score.contestant: score for score in scores}
        counts = sorted({score.rows for score in scores if score.rows is not None})
        ratios = [best_ratio(scores, ours) for ours, _ in PAIRS]
        made.add_row(
            scores[0].query.label,
            " / ".join(f"{count:,}" for count in counts) or "-",
            f"{1000 * by_name[OURS].cpu[0]:,.1f}" if OURS in by_name and by_name[OURS].cpu else "-",
            *(_cell(by_name[name]) for name in names),
            *("-" if value is None else f"{value:.2f}" for value in ratios),
        )
    return made


def _cell(score: Score) -> str:
    if score.is_measured:
        return f"{1000 * score.median:,.2f}"
    return "failed" if score.failed else "over" if score.remark.startswith(OVER) else "-"


def remarks(rows: Iterable[Sequence[Score]]) -> Iterator[str]:
    """Yield a line for each process with its version and the time to load, then one for each reason not to have answered."""
    versions: dict[str, None] = {}
    reasons: dict[tuple[str, str], list[str]] = {}
    for score in (score for scores in rows for score in scores):
        if score.version:
            versions[f"{_adapter(score.contestant)} {score.version} loaded {score.data} in {score.load:.1f} CPU seconds"] = None
        if score.remark:
            reasons.setdefault((score.contestant, score.remark), []).append(score.query.label)
    yield from versions
    for (name, reason), labels in reasons.items():
        asked = ", ".join(labels) if len(labels) < 8 else f"{len(labels)} queries"
        yield f"{name}: {reason}: {asked}"


def summary_table(rows: Sequence[Sequence[Score]], contestants: Sequence[Contestant]) -> Table:
    """The table of sums and geometric means, with a line for each contestant in each group of queries."""
    columns = ("", "with", "answered", "sum", "ours on the same", "mean of ours / theirs")
    caption = "Sums of CPU milliseconds over the queries that both answered. Means are geometric."
    made = new_table(columns, ("", "with"), title="by group of queries", caption=caption)
    for data, group in dict.fromkeys((scores[0].data, scores[0].query.group) for scores in rows):
        some = [scores for scores in rows if (scores[0].data, scores[0].query.group) == (data, group)]
        title = f"{data} {group}"
        for one in contestants:
            pairs = list(_pairs(some, one.name))
            answered = sum(score.is_measured for scores in some for score in scores if score.contestant == one.name)
            sums = [f"{1000 * sum(side):,.1f}" for side in zip(*pairs, strict=True)] or ["-", "-"]
            made.add_row(title, one.name, f"{answered}/{len(some)}", *sums, _mean(ours / theirs for theirs, ours in pairs))
            title = ""
        for ours, kind in PAIRS:
            ratios = [value for scores in some if (value := best_ratio(scores, ours)) is not None]
            made.add_row("", kind, f"{len(ratios)}/{len(some)}", "", "", _mean(ratios), style="bold")
    return made


def _pairs(rows: Iterable[Sequence[Score]], name: str) -> Iterator[tuple[float, float]]:
    """Yield a contestant's time and ours, with the same kind of result, for each query that both answered."""
    ours = OURS_AS_GRAPH if _is_graph(name) else OURS
    for scores in rows:
        measured = {score.contestant: max(score.median, 1e-9) for score in scores if score.is_measured}
        if name in measured and ours in measured:
            yield measured[name], measured[ours]


def _mean(ratios: Iterable[float]) -> str:
    values = list(ratios)
    return f"{geometric_mean(values):.2f}" if values else "-"


def disagreements(scores: Sequence[Score]) -> Iterator[str]:
    """Yield a line if contestants have different numbers of rows for a query, or different checksums of their values."""
    for what in ("rows", "checksum"):
        found = {score.contestant: getattr(score, what) for score in scores if getattr(score, what) is not None}
        if len(set(found.values())) > 1:
            told = ", ".join(f"{name} {value}" for name, value in found.items())
            yield f"WARNING: {scores[0].query.label} on {scores[0].data}: the results differ ({what}): {told}"
            return


def as_json(rows: Iterable[Sequence[Score]]) -> str:
    """Return everything that was measured."""
    listed = []
    for score in (score for scores in rows for score in scores):
        times = {"min": min(score.cpu), "median": score.median} if score.cpu else {}
        listed.append(asdict(score) | {"query": score.query.label} | times)
    return json.dumps({"machine": machine(), "scores": listed}, indent=2)
