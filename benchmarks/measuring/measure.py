"""Measurements of a contestant in its own process: CPU time, wall time and memory.

A contestant runs alone in a process, started as ``python -m benchmarks.contestants.NAME JOB.json BYTES``, and prints one JSON line.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.inputs.jobs import Job

__all__ = ["Count", "Measurement", "Stages", "contestant", "cpu", "in_child", "measure"]


@dataclass(frozen=True)
class Count:
    """The size of a materialisation."""

    facts: int
    """All facts held, explicit and derived: what memory is divided by."""
    answer: int | None = None
    """The number that must be the same for all contestants that compute the same thing; None where it is not comparable."""
    inputs: int | None = None
    """The explicit facts among them, where the contestant tells."""


@dataclass
class Measurement:
    """Seconds and bytes of one run. CPU seconds are those of the whole process: all its threads."""

    version: str
    start_cpu: float
    """From the birth of the process until the contestant is ready: interpreter, imports, a first tiny job."""
    load_cpu: float
    load_wall: float
    materialise_cpu: float
    materialise_wall: float
    baseline_bytes: int
    """Resident before loading."""
    steady_bytes: int
    """Resident after materialising and collecting garbage; 0 for programs of which only the peak is known."""
    peak_bytes: int
    """The most that was ever resident."""
    facts: int
    answer: int | None
    inputs: int | None
    own_bytes: dict[str, int] = field(default_factory=dict)
    """What the contestant itself counts: bytes by what they hold. Empty where it does not tell."""
    files_cpu: float | None = None
    """From the start of a process to the file with all triples; None where that is not measured."""
    files_wall: float | None = None
    translate_cpu: float = 0.0
    """For the rules that others are given; where none are, that is a part of materialising."""
    translate_wall: float = 0.0

    @property
    def total_cpu(self) -> float:
        return self.load_cpu + self.translate_cpu + self.materialise_cpu

    @property
    def total_wall(self) -> float:
        return self.load_wall + self.translate_wall + self.materialise_wall

    @property
    def bytes_per_fact(self) -> float | None:
        """The resident memory added by loading and materialising, per fact; None if only the peak is known."""
        return None if self.steady_bytes == 0 else (self.steady_bytes - self.baseline_bytes) / max(1, self.facts)


@dataclass(frozen=True)
class Stages:
    """The stages of a contestant's job, in the order of execution."""

    package: str
    """The distribution whose version is reported."""
    start: Callable[[], None]
    load: Callable[[Job], None]
    materialise: Callable[[Job], None]
    count: Callable[[Job], Count]
    own_bytes: Callable[[], dict[str, int]] = dict
    write: Callable[[Job, Path], None] | None = None
    """Writes all triples to a file, or to files in a folder of this name."""
    translate: Callable[[Job], None] | None = None
    """Makes the rules that other contestants are given."""


def cpu() -> float:
    """Return the CPU seconds of this process so far, user and system, all threads."""
    return time.process_time()


def age() -> float:
    """Return the seconds since the birth of this process, by the clock."""
    ticks = int(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def resident() -> int:
    """Return the resident bytes of this process."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """Return the maximal resident bytes of this process so far (``ru_maxrss`` would include the parent's, from before exec)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the benchmarks measure memory by /proc/self/status, which this system does not have")


def measure(stages: Stages, job: Job) -> Measurement:
    """Run the stages and measure each."""
    stages.start()
    gc.collect()
    baseline, start, start_wall = resident(), cpu(), age()
    marks = [(cpu(), time.perf_counter())]
    for stage in (stages.load, stages.translate, stages.materialise):
        if stage is not None:
            stage(job)
        marks.append((cpu(), time.perf_counter()))
    gc.collect()
    steady, highest, own_bytes = resident(), peak(), stages.own_bytes()
    counted = stages.count(job)
    (cpu0, wall0), (cpu1, wall1), (cpu2, wall2), (cpu3, wall3) = marks
    files_cpu, files_wall = None, None
    if stages.write is not None:
        with TemporaryDirectory() as folder:
            before = cpu(), time.perf_counter()
            stages.write(job, Path(folder) / "triples.nt")
            files_cpu = start + cpu3 - cpu0 + cpu() - before[0]
            files_wall = start_wall + wall3 - wall0 + time.perf_counter() - before[1]
    return Measurement(
        version=installed(stages.package),
        start_cpu=start,
        load_cpu=cpu1 - cpu0,
        load_wall=wall1 - wall0,
        materialise_cpu=cpu3 - cpu2,
        materialise_wall=wall3 - wall2,
        baseline_bytes=baseline,
        steady_bytes=steady,
        peak_bytes=highest,
        facts=counted.facts,
        answer=counted.answer,
        inputs=counted.inputs,
        own_bytes=own_bytes,
        files_cpu=files_cpu,
        files_wall=files_wall,
        translate_cpu=cpu2 - cpu1 if stages.translate is not None else 0.0,
        translate_wall=wall2 - wall1 if stages.translate is not None else 0.0,
    )


def installed(package: str) -> str:
    """Return the version of a distribution, or ``checkout`` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "checkout"


def in_child(work: Callable[[], None]) -> tuple[float, float]:
    """Run `work` in a copy of this process, and return its CPU and wall seconds. Memory and times of this process are
    unaffected.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            before = cpu(), time.perf_counter()
            work()
            os.write(writer, json.dumps([cpu() - before[0], time.perf_counter() - before[1]]).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    if not told:
        raise RuntimeError("the copy of the process that was to be measured failed")
    seconds: list[float] = json.loads(told)
    return seconds[0], seconds[1]


def contestant(main: Callable[[Job], Measurement]) -> None:
    """Run the body of a contestant's ``__main__``: read ``JOB.json BYTES`` from the command line, and print the measurement.

    The process may not have more than this many bytes of memory.
    """
    path, most = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(most), int(most)))
    measurement: dict[str, Any] = asdict(main(Job.read(Path(path))))
    print(json.dumps(measurement), flush=True)
