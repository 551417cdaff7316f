"""Fuzzing: whatever a document says, its reader gives triples or an error of ours. It does not end the process, and it ends.

`tests.helpers.effort` says how many documents; run by itself, ``python -m tests.loaders.test_fuzz 5000 turtle n3``, it prints what
it finds.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.effort import DOCUMENTS, by_effort
from tests.loaders.fuzz_mutations import KINDS, broken, seeds

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""The seconds that one document may take; the first one has the imports, too."""


@dataclass
class Findings:
    """What went wrong, with the numbers of the documents."""

    aborts: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([*self.aborts, *self.hangs, *self.foreign])


def fuzz(numbers: Mapping[str, int]) -> dict[str, Findings]:
    """Let a process read so many documents of each kind; where it ends or hangs, another one goes on behind that document."""
    found = {kind: Findings() for kind in numbers}
    left = dict.fromkeys(numbers, 0)
    while left := {kind: first for kind, first in left.items() if first < numbers[kind]}:
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.loaders.fuzz_worker",
                *(f"{kind}:{first}:{numbers[kind]}" for kind, first in left.items()),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        kind, number = next(iter(left.items()))
        for line in _lines(worker):
            if line is None:
                found[kind].hangs.append(f"{kind} {number}: hangs")
                break
            if line.startswith("foreign"):
                found[kind].foreign.append(f"{kind} {number}: {line.strip()}")
            else:
                kind, number = line.split()[0], int(line.split()[1])
        else:
            if worker.wait() == 0:
                return found
            found[kind].aborts.append(f"{kind} {number}: ends with {worker.returncode}")
        worker.kill()
        worker.wait()
        left = dict(list(left.items())[list(left).index(kind) :]) | {kind: number + 1}
    return found


def _lines(worker: subprocess.Popen[str]) -> Iterator[str | None]:
    """What a process writes, and None where it is silent for too long."""
    written: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            written.put(line)
        written.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = written.get(timeout=PATIENCE)
        except queue.Empty:
            yield None
            return
        if line is None:
            return
        yield line


@cache
def findings(kinds: tuple[str, ...]) -> dict[str, Findings]:
    """What is found in the documents of this run."""
    return fuzz({kind: max(DOCUMENTS, len(seeds(kind))) for kind in kinds})


@pytest.mark.parametrize("kind", KINDS)
def test_readers_survive(kind: str) -> None:
    """Each kind in a process of its own, where there is time for as many."""
    assert str(findings(by_effort(KINDS, (kind,), (kind,)))[kind]) == ""


def test_a_document_is_the_same_in_every_process() -> None:
    script = "import sys; from tests.loaders.fuzz_mutations import broken; sys.stdout.buffer.write(broken('turtle', 7))"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True).stdout == broken("turtle", 7)


if __name__ == "__main__":
    for kind in sys.argv[2:] or KINDS:
        found = fuzz({kind: int(sys.argv[1])})[kind]
        counts = f"{len(found.aborts)} aborts, {len(found.hangs)} hangs, {len(found.foreign)} foreign tracebacks"
        print(f"{kind}: {sys.argv[1]} documents, {counts}", flush=True)
        if str(found):
            print(found, flush=True)
