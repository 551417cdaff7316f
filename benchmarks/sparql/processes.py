"""The process of a system, seen from outside: starts `benchmarks.sparql.worker`, asks it, and stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from benchmarks.contests.contest import ROOT, RunLimits
from benchmarks.sparql.data import DataSet
from benchmarks.sparql.worker import OVER, Request, as_line

__all__ = ["Failure", "Process"]


class Failure(Exception):
    """A worker ended, for the reason in the message."""


class Process:
    """The process of an adapter with a data set, started on demand and again after it was stopped.

    It runs the benchmark and the package of a checkout, by default this one.
    """

    def __init__(self, adapter: str, data: DataSet, limits: RunLimits, checkout: Path | None = None) -> None:
        self.adapter, self.data, self.limits, self.checkout = adapter, data, limits, checkout
        self.forms: list[str] = []
        self.version = ""
        self.load_seconds = 0.0
        self._process: subprocess.Popen[str] | None = None
        self._cannot_load = ""
        self._complaints: IO[str] | None = None

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and let it load the data, unless it has.

        Raises:
            Failure: It ended before it was ready, now or earlier.
        """
        if self._process is not None:
            return
        if self._cannot_load:
            raise Failure(self._cannot_load)
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by stop)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.sparql.worker", self.adapter, str(self.limits.bytes)],
            cwd=self.checkout or ROOT,
            env=os.environ | {"RUST_BACKTRACE": "0"} | ({"PYTHONPATH": str(self.checkout)} if self.checkout else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            start_new_session=True,
        )
        try:
            ready = next(self._told(self.data.as_json() + "\n"))
        except Failure as failure:
            self._cannot_load = f"cannot load {self.data.name}: {failure}"
            raise Failure(self._cannot_load) from None
        self.forms, self.version, self.load_seconds = ready["forms"], ready["version"], ready["load"]

    def ask(self, request: Request) -> Iterator[dict[str, Any]]:
        """Yield what the worker tells about a request, the last of which has ``rows`` or ``error``.

        Raises:
            Failure: It ended before.
        """
        self.start()
        yield from self._told(as_line(request))

    def _told(self, line: str) -> Iterator[dict[str, Any]]:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except BrokenPipeError:
            raise Failure(self._reason()) from None
        while told := process.stdout.readline():
            content = json.loads(told)
            yield content
            if "rows" in content or "error" in content:
                return
        raise Failure(self._reason())

    def _reason(self) -> str:
        """Return why the process ended, and forget it."""
        process, complaints = self._process, self._complaints
        assert process is not None and complaints is not None
        code = process.wait()
        complaints.seek(0)
        lines = complaints.read().strip().splitlines()
        self.stop()
        return OVER if code == -signal.SIGALRM else (lines or [f"exit code {code}"])[-1][:200]

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if self._complaints is not None:
            self._complaints.close()
