"""Programs as child processes: their CPU time, and the most memory that they had."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Child", "run"]

INTERVAL = 0.005
"""Seconds between looks at a process's memory."""


@dataclass(frozen=True)
class Child:
    """A program that has ended."""

    cpu: float
    """Seconds, with those of its own children."""
    wall: float
    peak_bytes: int
    printed: str
    """Standard output and standard error together."""


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Child:
    """Run a program and measure it.

    Its memory is looked at while it runs: what the system tells afterwards includes this process's, from before exec.

    Raises:
        RuntimeError: It failed; the message ends with what it printed.
    """
    with tempfile.TemporaryFile() as output:
        start, peak = time.perf_counter(), 0
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(os.environ) | dict(environment or {}),
        )
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            peak = max(peak, _peak(process.pid))
            time.sleep(INTERVAL)
        wall = time.perf_counter() - start
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read().decode(errors="replace")
    if process.returncode != 0:
        print(printed[-2000:], file=sys.stderr)
        raise RuntimeError(f"{command[0]} ended with code {process.returncode}: {(printed.strip().splitlines() or [''])[-1]}")
    return Child(usage.ru_utime + usage.ru_stime, wall, peak, printed)


def _peak(process: int) -> int:
    try:
        found = re.search(r"^VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
