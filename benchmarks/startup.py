"""The first steps: ``python -m benchmarks.startup``. CPU seconds and peak memory of separate processes, medians.

The processes have bytecode, as after an installation, whatever ``PYTHONDONTWRITEBYTECODE`` says here.
"""

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

from benchmarks.measuring.commands import SETTINGS

ROOT: Final = Path(__file__).resolve().parents[1]

IMPORT: Final = "import kg_reasoner"
FIRST_TRIPLE: Final = """
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, RDF, RDFS
reasoner = Reasoner(ruleset="{ruleset}")
small, large, thing = (IRI(f"http://example.org/{{name}}") for name in ("Small", "Large", "thing"))
reasoner.add_triples([(small, RDFS.subClassOf, large), (thing, RDF.type, small)])
assert (thing, RDF.type, large) in set(reasoner.triples())
"""
TIMED: Final = """
import json, time
before = time.process_time()
{code}
seconds = time.process_time() - before
import re, sys
peak = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()) if sys.platform == "linux" else None
print(json.dumps([seconds, int(peak[1]) / 1024 if peak else 0]))
"""


@dataclass(frozen=True)
class StartupStep:
    """A step that a new user waits for, and its limits in CPU seconds and MB."""

    name: str
    code: str
    cold: bool
    """With an empty cache; otherwise an earlier run has filled it."""
    seconds: float
    megabytes: float | None = None


KERNELS: Final = """
from kg_reasoner.storage.kernels import kernel_groups
from kg_reasoner.storage.kernels.machine_code import loader
for group in kernel_groups.GROUPS:
    loader.load(group)
"""

RDFS: Final = FIRST_TRIPLE.format(ruleset="rdfs")
OWL: Final = FIRST_TRIPLE.format(ruleset="owl2rl")

STEPS: Final = (
    StartupStep("first ever run, to the first derived triple (compiles two groups of kernels)", RDFS, cold=True, seconds=4.0),
    StartupStep("compiling the kernels of all groups", KERNELS, cold=True, seconds=4.0),
    StartupStep("import kg_reasoner", IMPORT, cold=False, seconds=0.02),
    StartupStep("import to the first derived triple, rdfs", RDFS, cold=False, seconds=0.2, megabytes=60),
    StartupStep("import to the first derived triple, owl2rl", OWL, cold=False, seconds=0.2, megabytes=60),
)


def cost(code: str, cache: str) -> tuple[float, float]:
    """Return the CPU seconds of code in a new interpreter, without the interpreter's own start, and the peak memory in MB."""
    environment = os.environ | {"KG_REASONER_CACHE": cache, "PYTHONPYCACHEPREFIX": str(Path(cache).parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", TIMED.format(code=code)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"this failed:\n{code}\n{done.stderr}")
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def measure(step: StartupStep, runs: int, folder: Path) -> list[tuple[float, float]]:
    """Return the step's CPU seconds and MB, run by run; cold steps get an empty cache each time."""
    costs = []
    for _ in range(runs):
        if step.cold:
            with tempfile.TemporaryDirectory(dir=folder) as empty:
                costs.append(cost(step.code, empty))
        else:
            costs.append(cost(step.code, str(folder / "cache")))
    return costs


@click.command(context_settings=SETTINGS)
@click.option("-n", "--runs", type=click.IntRange(1), default=5, show_default=True, help="Warm runs of each step.")
@click.option("--cold-runs", type=click.IntRange(1), default=2, show_default=True, help="Runs with an empty cache.")
@click.option("--check", is_flag=True, help="Fail where a median is over its limit.")
def main(runs: int, cold_runs: int, check: bool) -> None:
    """Measure how long the first steps take, and how much memory."""
    too_much = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cost(RDFS, str(folder / "cache"))
        cost(OWL, str(folder / "cache"))
        for step in STEPS:
            costs = measure(step, cold_runs if step.cold else runs, folder)
            seconds = [each for each, _ in costs]
            peak = median(each for _, each in costs)
            too_much |= median(seconds) > step.seconds or (step.megabytes is not None and peak > step.megabytes)
            memory = "" if step.megabytes is None else f" (at most {step.megabytes:g})"
            click.echo(
                f"{median(seconds):7.3f} s  (at most {step.seconds:g}; {min(seconds):.3f} to {max(seconds):.3f})"
                f"  {peak:5.1f} MB{memory:13}  {step.name}"
            )
    sys.exit(1 if check and too_much else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.startup")
