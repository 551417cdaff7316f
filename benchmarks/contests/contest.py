"""Runs contestants in separate processes, in turns (A B C, A B C), so that disturbances affect all of them alike."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.contestants import differential_dataflow, souffle
from benchmarks.inputs.jobs import DLP, LINEAR, NONLINEAR, OWL2RL, RDFS, Job
from benchmarks.measuring import needs
from benchmarks.measuring.measure import Measurement
from benchmarks.measuring.needs import INSTALL

__all__ = ["CONTESTANTS", "OURS", "Contestant", "Entry", "RunLimits", "contest"]

ROOT: Final = Path(__file__).resolve().parents[2]

NO_MEMORY: Final = re.compile(
    "MemoryError|bad_alloc|allocate memory|memory allocation|out of memory|failed to map|error return without exception set"
    "|returned NULL without setting an exception",
    re.IGNORECASE,
)
"""What processes print for want of memory; the last two are CPython, which has none left for the exception."""


@dataclass(frozen=True)
class Contestant:
    """A compared reasoner."""

    name: str
    module: str
    package: str = ""
    """What has to be installed for it."""
    command: str = ""
    """What has to be on the PATH for it."""
    source: str = ""
    """Where the command comes from."""
    prepare: Callable[[Job], None] = lambda job: None
    """Makes what need not be made for each run; it is not measured."""
    cannot: dict[str, str] = field(default_factory=dict)
    """Why it has no part in some tasks."""

    def missing(self) -> str:
        """Return what is missing and where it comes from, in one line; nothing if the contestant can run."""
        if self.command and shutil.which(self.command) is None:
            return f"{self.name}: there is no `{self.command}` on the PATH ({self.source})"
        if self.package and not needs.is_installed(self.package):
            return f"{self.name}: not installed; run {INSTALL}"
        return "" if self.module else f"{self.name}: {self.source}"


def engine(name: str, module: str, package: str = "", command: str = "", source: str = "") -> Contestant:
    """Return an engine for Datalog or SQL, which gets our rules translated."""
    cannot = dict.fromkeys((OWL2RL, LINEAR, NONLINEAR), "its rules are translated for rdfs and dlp only")
    return Contestant(name, module and f"benchmarks.contestants.{module}", package, command, source, cannot=cannot)


SOUFFLE: Final = "https://souffle-lang.github.io"
CONTESTANTS: Final = (
    Contestant("kg-reasoner", "benchmarks.contestants.ours", "kg_reasoner"),
    Contestant("nemo", "benchmarks.contestants.nemo", "nmo_python"),
    Contestant(
        "reasonable", "benchmarks.contestants.reasonable", "reasonable", cannot=dict.fromkeys((RDFS, DLP), "has OWL 2 RL only")
    ),
    Contestant("owlrl", "benchmarks.contestants.owlrl", "owlrl", cannot={DLP: "has rule sets of its own only"}),
    engine("vlog", "vlog", command="vlog", source="https://github.com/karmaresearch/vlog"),
    replace(engine("souffle compiled", "souffle_compiled", command="souffle", source=SOUFFLE), prepare=souffle.compile_programs),
    engine("souffle interpreted", "souffle_interpreted", command="souffle", source=SOUFFLE),
    engine("duckdb", "duckdb", "duckdb"),
    Contestant(
        "maplib",
        "benchmarks.contestants.maplib",
        "maplib",
        cannot=dict.fromkeys((DLP, OWL2RL, LINEAR, NONLINEAR), "its package has RDFS only, Datalog is sold separately"),
    ),
    Contestant(
        "differential-dataflow",
        "benchmarks.contestants.differential_dataflow",
        command=differential_dataflow.COMMAND,
        source="https://rustup.rs",
        prepare=differential_dataflow.prepare,
        cannot=dict.fromkeys((DLP, OWL2RL, LINEAR, NONLINEAR), "its program, written by hand, has RDFS only"),
    ),
)
OURS: Final = CONTESTANTS[0].name


@dataclass(frozen=True)
class RunLimits:
    """Limits on a run."""

    seconds: float
    """By the clock."""
    bytes: int
    """Of memory."""


@dataclass
class Entry:
    """The result of one contestant in one job: a measurement for each round, or the reason for its absence."""

    contestant: str
    job: Job
    rounds: list[Measurement] = field(default_factory=list)
    over: RunLimits | None = None
    """The limits, where it went over one of them."""
    remark: str = ""
    failed: bool = False

    def middle(self, value: Callable[[Measurement], float]) -> float:
        """Return the median over the rounds."""
        return median(map(value, self.rounds))

    def ratio(self, ours: Entry, value: Callable[[Measurement], float]) -> float:
        """Return this value as a multiple of ours: the median of the ratios of each round."""
        return median(value(theirs) / max(value(mine), 1e-9) for theirs, mine in zip(self.rounds, ours.rounds, strict=False))


def contest(
    job: Job,
    contestants: Sequence[Contestant],
    rounds: int,
    limits: RunLimits,
    earlier: Iterable[Entry] = (),
    progress: Callable[[str], None] = lambda line: None,
) -> list[Entry]:
    """Return the entries of all contestants in one job.

    Who goes over a limit is stopped, and does not start in larger workloads of the same task (`earlier`). Who takes more than a
    tenth of the time allowed runs once.
    """
    entries = [enter(contestant, job, earlier) for contestant in contestants]
    for contestant, entry in zip(contestants, entries, strict=True):
        if not entry.remark:
            progress(f"{job.workload}, {job.task}: {contestant.name}, preparing")
            contestant.prepare(job)
    for number in range(rounds):
        for contestant, entry in zip(contestants, entries, strict=True):
            slow = bool(entry.rounds) and entry.middle(lambda run: run.total_wall) > limits.seconds / 10
            if not entry.remark and not slow:
                progress(f"{job.workload}, {job.task}: {contestant.name}, round {number + 1} of {rounds}")
                run(contestant, entry, limits)
    return entries


def enter(contestant: Contestant, job: Job, earlier: Iterable[Entry]) -> Entry:
    """Return an entry without measurements, possibly with a reason not to run."""
    entry = Entry(contestant.name, job, remark=contestant.cannot.get(job.task, ""))
    for other in earlier:
        same = other.contestant == contestant.name and other.job.task == job.task
        if same and other.over is not None and not job.is_closure:
            entry.over = other.over
            entry.remark = other.remark if other.remark.endswith(")") else f"not started ({other.remark} on {other.job.workload})"
    return entry


def environment() -> dict[str, str]:
    """Return the environment of contestants: one thread, where it can be set, and bytecode, as after an installation."""
    once = Path(tempfile.gettempdir()) / "kg-reasoner-benchmarks" / "bytecode"
    threads = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"), "1")
    variables = os.environ | threads | {"PYTHONPYCACHEPREFIX": str(once), "RUST_BACKTRACE": "0"}
    return {name: value for name, value in variables.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(contestant: Contestant, entry: Entry, limits: RunLimits) -> None:
    """Run one round of a contestant, and add the result to its entry."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        entry.job.write(path)
        with subprocess.Popen(
            [sys.executable, "-m", contestant.module, str(path), str(limits.bytes)],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                printed, complaint = process.communicate(timeout=limits.seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                entry.over, entry.remark = limits, f"over {limits.seconds:.0f} s"
                return
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
    if process.returncode == 0:
        entry.rounds.append(Measurement(**json.loads(printed.splitlines()[-1])))
        return
    last = (complaint.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
    if NO_MEMORY.search(complaint) or process.returncode == -signal.SIGABRT:
        entry.over, entry.remark = limits, f"over {limits.bytes / 1e9:.1f} GB of memory"
    elif "No module named" in last and contestant.name != OURS:
        entry.failed, entry.remark = True, f"not installed: {INSTALL}"
    else:
        entry.failed, entry.remark = True, f"failed: {last}"
