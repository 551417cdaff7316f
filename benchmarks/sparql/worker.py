"""A system in its own process: ``python -m benchmarks.sparql.worker ADAPTER BYTES``, then requests on standard input.

Each line of input is JSON. The first is the data set; the answer says how long loading took. Each other line is a `Request`; the
answer is a line for every repetition, and one for the result. A repetition over the limit of time is ended by an alarm of the
operating system, whatever code it is in. Requests run in a copy of the process, which has no traces of earlier queries, unless the
adapter cannot be copied.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from benchmarks.measuring.measure import cpu, installed
from benchmarks.sparql.checksums import checksum
from benchmarks.sparql.data import DataSet
from benchmarks.sparql.systems import ADAPTERS, Adapter

__all__ = ["CHECKED_ROWS", "OVER", "Request", "as_line"]

CHECKED_ROWS: Final = 20_000
"""Results with at most so many rows have a checksum."""

OVER: Final = "over the limit of time"
PACKAGES: Final = {"ours": "kg-reasoner"}
BRIEF: Final = 0.05
"""Repetitions that take fewer seconds together, after the first one, are followed by others."""
MOST: Final = 5
"""How many times as many repetitions there are at most. With a few, the median of brief queries is of a process that still gets
pages of memory of its own."""
FIRST: Final = "SELECT ?s WHERE { ?s <urn:example:none> ?o }"
"""A query before all others, which imports what queries need."""


@dataclass(frozen=True)
class Request:
    """A query to run several times."""

    text: str
    form: str
    rounds: int
    seconds: float
    """The limit of each repetition, by the clock: with an alarm on CPU time, Linux tells CPU times in ticks of milliseconds."""
    checked: bool
    """Whether the result needs a checksum."""


Tell = Callable[[dict[str, Any]], None]


def repeat(adapter: Adapter, request: Request, tell: Tell) -> None:
    """Run a query repeatedly and tell the CPU seconds of each repetition, then what the result is.

    A query is not repeated again after a repetition that takes more than a tenth of the limit, half of it for the first one, in
    which indexes are built. Brief ones run up to `MOST` times as often as requested.
    """
    run = adapter.forms[request.form]
    spent = 0.0
    for number in range(MOST * request.rounds):
        if number >= request.rounds and spent >= BRIEF:
            break
        signal.setitimer(signal.ITIMER_REAL, request.seconds)
        before = cpu(), time.perf_counter()
        result = run(request.text)
        taken = cpu() - before[0], time.perf_counter() - before[1]
        signal.setitimer(signal.ITIMER_REAL, 0)
        tell({"cpu": taken[0], "wall": taken[1]})
        spent += taken[1] if number else 0.0
        if taken[1] > request.seconds / (10 if number else 2):
            break
    rows = adapter.size(result)
    summed = checksum(adapter.rows(result)) if request.checked and rows <= CHECKED_ROWS else None
    tell({"rows": rows, "checksum": summed})


def answer(adapter: Adapter, request: Request, tell: Tell) -> None:
    """Run a request, and tell a last line that says why if it has failed."""
    try:
        repeat(adapter, request, tell)
    except Exception as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        lines = str(error).strip().splitlines()
        tell({"error": f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]})


def answer_in_copy(adapter: Adapter, request: Request, tell: Tell) -> None:
    """Do the same in a copy of this process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            answer(adapter, request, tell)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        tell({"error": OVER if number == signal.SIGALRM else f"ended by signal {number}"})
    elif os.WEXITSTATUS(status):
        tell({"error": f"ended with exit code {os.WEXITSTATUS(status)}"})


def main(name: str, most: int) -> None:
    """Load the data set, then answer requests until the input ends."""
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is not an answer
    resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def tell(content: dict[str, Any]) -> None:
        os.write(out, json.dumps(content).encode() + b"\n")

    data = DataSet.from_json(sys.stdin.readline())
    adapter = ADAPTERS[name]()
    before = cpu()
    adapter.load(data)
    loaded = cpu() - before
    for run in adapter.forms.values():
        run(FIRST)
    gc.collect()
    gc.freeze()
    tell({"load": loaded, "version": installed(PACKAGES.get(name, name)), "forms": list(adapter.forms)})
    for line in sys.stdin:
        (answer_in_copy if adapter.forks else answer)(adapter, Request(**json.loads(line)), tell)


def as_line(request: Request) -> str:
    """Return a request as a line of input."""
    return json.dumps(asdict(request)) + "\n"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
