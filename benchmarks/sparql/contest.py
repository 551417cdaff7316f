"""Runs every query on every system in turns: all systems hold the data at the same time, each in its process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.contests.contest import RunLimits
from benchmarks.sparql.data import DataSet
from benchmarks.sparql.processes import Failure, Process
from benchmarks.sparql.queries import Query
from benchmarks.sparql.systems import ARROW, NATIVE, NEW_TEXT, RDFLIB
from benchmarks.sparql.worker import OVER, Request

__all__ = ["CONTESTANTS", "ELSEWHERE", "OURS", "Contestant", "Score", "contest"]


@dataclass(frozen=True)
class Contestant:
    """A system with a form of its results: a column of the table."""

    name: str
    adapter: str
    form: str
    packages: tuple[str, ...] = ()
    """What has to be installed besides kg_reasoner."""
    cannot: dict[str, str] = field(default_factory=dict)
    """Why it does not answer queries that contain a keyword."""
    largest: int | None = None
    """The largest size of data that it is tried on."""


_NO_FORMS: Final = {"ASK": "has no ASK", "DESCRIBE": "has no DESCRIBE"}

CONTESTANTS: Final = (
    Contestant("kg-reasoner", "ours", NATIVE),
    Contestant("kg-reasoner new text", "ours", NEW_TEXT),
    Contestant("kg-reasoner elsewhere", "elsewhere", NATIVE),
    Contestant("pyoxigraph", "pyoxigraph", NATIVE),
    Contestant("maplib", "maplib", NATIVE, ("maplib",), cannot=_NO_FORMS),
    Contestant("kg-reasoner Arrow", "ours", ARROW),
    Contestant("kg-reasoner rdflib", "ours", RDFLIB),
    Contestant("oxrdflib", "pyoxigraph", RDFLIB, ("oxrdflib",)),
    Contestant("rdflib", "rdflib", RDFLIB, largest=5),
)
OURS: Final = CONTESTANTS[0].name
ELSEWHERE: Final = "elsewhere"
"""The adapter of another checkout of kg_reasoner."""


@dataclass
class Score:
    """The CPU seconds of a contestant's repetitions of a query on a data set, or a remark that says why there are none."""

    contestant: str
    query: Query
    data: str
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    rows: int | None = None
    checksum: str | None = None
    remark: str = ""
    failed: bool = False
    version: str = ""
    load: float = 0.0
    """CPU seconds for loading the data."""

    @property
    def median(self) -> float:
        """The median of the CPU seconds."""
        return median(self.cpu)

    @property
    def is_measured(self) -> bool:
        """Whether the query was answered."""
        return self.rows is not None


def contest(
    data: DataSet,
    queries: Iterable[Query],
    contestants: Sequence[Contestant],
    rounds: int,
    limits: RunLimits,
    earlier: Sequence[Score] = (),
    progress: Callable[[str], None] = lambda line: None,
    elsewhere: Path | None = None,
) -> Iterator[list[Score]]:
    """Yield the scores of all contestants for each query.

    Another checkout of kg_reasoner takes part as `elsewhere`.
    Who goes over the limit with a query is not asked the same on larger data of the same kind (`earlier`).
    """
    with ExitStack() as stack:
        workers: dict[str, Process] = {}
        for one in contestants:
            if one.adapter not in workers and not _too_large(one, data):
                process = (
                    Process("ours", data, limits, elsewhere) if one.adapter == ELSEWHERE else Process(one.adapter, data, limits)
                )
                workers[one.adapter] = stack.enter_context(process)
        for query in queries:
            scores = []
            for one in contestants:
                progress(f"{data.name}, {query.label}: {one.name}")
                score = Score(one.name, query, data.name, remark=_excuse(one, query, data, earlier))
                if not score.remark:
                    _run(workers[one.adapter], one.form, score, rounds, limits)
                scores.append(score)
            yield scores


def _too_large(contestant: Contestant, data: DataSet) -> bool:
    return contestant.largest is not None and data.size > contestant.largest


def _excuse(contestant: Contestant, query: Query, data: DataSet, earlier: Iterable[Score]) -> str:
    """Return why a contestant is not asked a query, or nothing."""
    if _too_large(contestant, data):
        return f"not tried on more than size {contestant.largest}: loading takes too much time and memory"
    for keyword, reason in contestant.cannot.items():
        if f"\n{keyword}" in query.text:
            return reason
    for score in earlier:
        if (score.contestant, score.query) == (contestant.name, query) and score.remark.startswith(OVER):
            return f"{OVER} on {score.data}" if score.remark == OVER else score.remark
    return ""


def _run(worker: Process, form: str, score: Score, rounds: int, limits: RunLimits) -> None:
    """Ask one contestant one query, and write the result to its score."""
    try:
        worker.start()
        score.version, score.load = worker.version, worker.load_seconds
        if form not in worker.forms:
            score.remark = f"has no results as {form}"
            return
        request = Request(score.query.text, form, rounds, limits.seconds, not score.query.counted)
        for told in worker.ask(request):
            if "cpu" in told:
                score.cpu.append(told["cpu"])
                score.wall.append(told["wall"])
            elif "rows" in told:
                score.rows, score.checksum = told["rows"], told["checksum"]
            else:
                score.remark = told["error"]
    except Failure as failure:
        score.remark = str(failure)
    score.failed = bool(score.remark) and score.remark != OVER
