"""The time of the first steps: ``python -m benchmarks.startup``. CPU seconds of separate processes, medians."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import click

ROOT: Final = Path(__file__).resolve().parents[1]

IMPORT: Final = "import kg_reasoner"
FIRST_TRIPLE: Final = """
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import IRI, RDF, RDFS
reasoner = Reasoner(ruleset="rdfs")
small, large, thing = (IRI(f"http://example.org/{name}") for name in ("Small", "Large", "thing"))
reasoner.add_triples([(small, RDFS.subClassOf, large), (thing, RDF.type, small)])
assert (thing, RDF.type, large) in set(reasoner.triples())
"""
TIMED: Final = """
import json, time
before = time.process_time()
{code}
print(json.dumps(time.process_time() - before))
"""


@dataclass(frozen=True)
class StartupStep:
    """A step that a new user waits for, and its limit in CPU seconds."""

    name: str
    code: str
    cold: bool
    """With an empty kernel cache; otherwise an earlier run has filled it."""
    limit: float


STEPS: Final = (
    StartupStep("first ever run, to the first materialised triple (compiles the kernels)", FIRST_TRIPLE, cold=True, limit=6.0),
    StartupStep("import kg_reasoner", IMPORT, cold=False, limit=0.15),
    StartupStep("import to the first materialised triple", FIRST_TRIPLE, cold=False, limit=0.7),
)


def cpu_seconds(code: str, cache: str) -> float:
    """Return the CPU seconds of code in a new interpreter, without the interpreter's own start."""
    environment = os.environ | {"KG_REASONER_CACHE": cache}
    command = [sys.executable, "-c", TIMED.format(code=code)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"this failed:\n{code}\n{done.stderr}")
    return float(json.loads(done.stdout))


def measure(step: StartupStep, runs: int, cache: str) -> list[float]:
    """Return the step's CPU seconds, run by run; cold steps get an empty cache each time."""
    seconds = []
    for _ in range(runs):
        if step.cold:
            with tempfile.TemporaryDirectory() as empty:
                seconds.append(cpu_seconds(step.code, empty))
        else:
            seconds.append(cpu_seconds(step.code, cache))
    return seconds


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-n", "--runs", type=click.IntRange(1), default=5, show_default=True, help="Warm runs of each step.")
@click.option("--cold-runs", type=click.IntRange(1), default=2, show_default=True, help="Runs with an empty cache.")
@click.option("--check", is_flag=True, help="Fail where a median is over its limit.")
def main(runs: int, cold_runs: int, check: bool) -> None:
    """Measure how long the first steps take."""
    too_slow = False
    with tempfile.TemporaryDirectory() as cache:
        cpu_seconds(FIRST_TRIPLE, cache)
        for step in STEPS:
            seconds = measure(step, cold_runs if step.cold else runs, cache)
            too_slow |= median(seconds) > step.limit
            click.echo(f"{median(seconds):7.3f} s  (at most {step.limit:g}; {min(seconds):.3f} to {max(seconds):.3f})  {step.name}")
    sys.exit(1 if check and too_slow else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.startup")
