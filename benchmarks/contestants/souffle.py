"""Soufflé: a command on the PATH, which interprets programs or compiles them to C++.

Terms are symbols, read from TSV files that are made beforehand. Three programs run: one that reads, one that derives as well, and
one that also writes. The differences are the times for loading and for deriving.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final
from zlib import crc32

from benchmarks.inputs.jobs import Job
from benchmarks.measuring.children import Child, run
from benchmarks.measuring.measure import Measurement
from benchmarks.translations.souffle_rules import PARTS, Part, sizes

__all__ = ["COMMAND", "compile_programs", "compiled", "interpreted"]

COMMAND: Final = "souffle"


def version() -> str:
    """Return the version that the command states."""
    printed = subprocess.run([COMMAND, "--version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(?:Version|version):?\s*v?([\w.+-]+)", printed)
    return found[1] if found else "of unknown version"


def compile_programs(job: Job) -> None:
    """Compile a job's programs, unless there are executables of the same text. That takes much longer than running them."""
    for part in PARTS:
        program = executable(job, part)
        if not program.exists():
            program.parent.mkdir(parents=True, exist_ok=True)
            unfinished = program.with_name(f"unfinished-{program.name}")
            subprocess.run([COMMAND, "-o", str(unfinished), job.files[f"souffle {part}"]], check=True, capture_output=True)
            unfinished.replace(program)


def executable(job: Job, part: Part) -> Path:
    """Return where the compiled program is kept: by its text, and by the version of Soufflé."""
    text = Path(job.files[f"souffle {part}"])
    key = crc32(text.read_bytes() + version().encode())
    return text.parent.parent / "souffle" / f"{part}-{key:08x}"


def interpreted(job: Job) -> Measurement:
    """Measure the interpreter."""
    return measured(job, lambda part: [str(shutil.which(COMMAND)), job.files[f"souffle {part}"]])


def compiled(job: Job) -> Measurement:
    """Measure the compiled programs."""
    return measured(job, lambda part: [str(executable(job, part))])


def measured(job: Job, command: Callable[[Part], list[str]]) -> Measurement:
    """Run the three programs."""
    with tempfile.TemporaryDirectory() as folder:
        done: dict[Part, Child] = {}
        for part in PARTS:
            done[part] = run([*command(part), "-F", job.files["souffle facts"], "-D", folder])
    load, reason = done["load"], done["reason"]
    facts = sum(sizes(reason.printed).values())
    return Measurement(
        version=version(),
        start_cpu=0,
        load_cpu=load.cpu,
        load_wall=load.wall,
        materialise_cpu=reason.cpu - load.cpu,
        materialise_wall=reason.wall - load.wall,
        baseline_bytes=0,
        steady_bytes=0,
        peak_bytes=reason.peak_bytes,
        facts=facts,
        answer=facts,
        inputs=sum(sizes(load.printed).values()),
        files_cpu=done["write"].cpu,
        files_wall=done["write"].wall,
    )
