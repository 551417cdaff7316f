"""differential-dataflow: a library for Rust. The six rules of RDFS are written by hand in a program of ours, which Cargo builds.

It derives from property to class without a loop over the data: only hierarchies are closed by iteration. Its dictionary is a plain
hash table, and it writes no file.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.inputs.jobs import Job
from benchmarks.measuring.children import Child, run
from benchmarks.measuring.measure import Measurement, contestant

__all__ = ["Run", "build", "measured", "prepare", "program"]

SOURCE: Final = Path(__file__).resolve().parents[1] / "differential_dataflow"
COMMAND: Final = "cargo"


@dataclass(frozen=True)
class Run:
    """What the program prints: CPU seconds; those of changes are medians."""

    load: float
    materialise: float
    facts: int
    remove: float
    add: float
    remove_hundredth: float
    add_hundredth: float
    intact: bool
    """Whether there are as many facts at the end as before the changes."""


def folder() -> Path:
    """Return where the program is built."""
    return Path(tempfile.gettempdir()) / "kg-reasoner-benchmarks" / "differential-dataflow"


def program() -> Path:
    """Return the path of the program once it is built."""
    return folder() / "release" / "differential_dataflow_peer"


def build() -> Path:
    """Build the program, unless that has been done, and return its path. The first time takes minutes."""
    command = [str(shutil.which(COMMAND)), "build", "--release", "--quiet", "--manifest-path", str(SOURCE / "Cargo.toml")]
    subprocess.run([*command, "--target-dir", str(folder())], check=True)
    return program()


def prepare(job: Job) -> None:
    """Build the program, which is the same for all jobs."""
    build()


def measured(files: list[str], changes: int) -> tuple[Run, Child]:
    """Run the program on files, with a number of single changes in the last one."""
    child = run([str(program()), str(changes), *files])
    return Run(**json.loads(child.printed.splitlines()[-1])), child


def version() -> str:
    """Return the version of the library."""
    found = re.search(r'^differential-dataflow = "(.*)"', (SOURCE / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "of unknown version"


def main(job: Job) -> Measurement:
    """Load and derive. The program computes in one thread, so that its CPU time is taken for its time by the clock."""
    done, child = measured([job.files["ontology.nt"], job.files["ntriples"]], 0)
    return Measurement(
        version=version(),
        start_cpu=0,
        load_cpu=done.load,
        load_wall=done.load,
        materialise_cpu=done.materialise,
        materialise_wall=done.materialise,
        baseline_bytes=0,
        steady_bytes=0,
        peak_bytes=child.peak_bytes,
        facts=done.facts,
        answer=done.facts,
        inputs=None,
    )


if __name__ == "__main__":
    contestant(main)
