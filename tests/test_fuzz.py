"""Fuzzing: whatever a document says, its reader gives triples or an error of ours. It does not end the process, and it ends.

`tests.effort` says how many documents; run by itself, ``python -m tests.test_fuzz 5000 turtle n3``, it prints what it finds.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.effort import DOCUMENTS
from tests.fuzz_mutations import KINDS, broken, seeds

ROOT = Path(__file__).resolve().parents[1]
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


def fuzz(kind: str, first: int, end: int) -> Findings:
    """Let processes read the documents of these numbers; where one ends or hangs, the next goes on behind that document."""
    found = Findings()
    while first < end:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz_worker", kind, str(first), str(end)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        number = first - 1
        for line in _lines(worker):
            if line is None:
                found.hangs.append(f"{kind} {number}: hangs")
                break
            if line.startswith("foreign"):
                found.foreign.append(f"{kind} {number}: {line.strip()}")
            else:
                number = int(line)
        else:
            if worker.wait() == 0:
                return found
            found.aborts.append(f"{kind} {number}: ends with {worker.returncode}")
        worker.kill()
        worker.wait()
        first = max(number, first) + 1
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


@pytest.mark.parametrize("kind", KINDS)
def test_readers_survive(kind: str) -> None:
    assert str(fuzz(kind, 0, max(DOCUMENTS, len(seeds(kind))))) == ""


def test_a_document_is_the_same_in_every_process() -> None:
    script = "import sys; from tests.fuzz_mutations import broken; sys.stdout.buffer.write(broken('turtle', 7))"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True).stdout == broken("turtle", 7)


if __name__ == "__main__":
    for kind in sys.argv[2:] or KINDS:
        findings = fuzz(kind, 0, int(sys.argv[1]))
        counts = f"{len(findings.aborts)} aborts, {len(findings.hangs)} hangs, {len(findings.foreign)} foreign tracebacks"
        print(f"{kind}: {sys.argv[1]} documents, {counts}", flush=True)
        if str(findings):
            print(findings, flush=True)
