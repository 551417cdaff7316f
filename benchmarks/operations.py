"""This checkout beside another one: ``python -m benchmarks.operations --against FOLDER``.

For each section, a process for each checkout imports its package, and they do one step after the other in turns, so that whatever
else the machine does slows both. Times are CPU times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console

from benchmarks.contests import report
from benchmarks.inputs.data import lubm_files
from benchmarks.measuring.commands import SETTINGS
from benchmarks.startup import FIRST_TRIPLE

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["MOST", "SECTIONS", "Comparison", "table"]

ROOT: Final = Path(__file__).resolve().parents[1]
STEPS: Final = Path(__file__).parent / "measuring" / "compared_steps.py"
CACHE: Final = Path(tempfile.gettempdir()) / "kg-reasoner-benchmarks"

MOST: Final = 1.05
"""The ratio to the other checkout that an operation may reach."""

UNITS: Final = {"operations": ("microseconds", 1e6), "updates": ("microseconds", 1e6)}
"""The units of sections; those of others are milliseconds."""

Measured = dict[str, float]
"""CPU seconds by what took them."""

FIRST_GRAPH: Final = """
from kg_reasoner import KGReasonerStore
from rdflib import Graph, Namespace, RDF, RDFS
ex, graph = Namespace("http://example.org/"), Graph(store=KGReasonerStore())
graph.add((ex.Small, RDFS.subClassOf, ex.Large))
graph.add((ex.thing, RDF.type, ex.Small))
assert (ex.thing, RDF.type, ex.Large) in graph
"""
STARTS: Final = {
    "import kg_reasoner": "import kg_reasoner",
    "import, Reasoner()": "from kg_reasoner import Reasoner\nReasoner()",
    "import to the first inferred triple, rdfs": FIRST_TRIPLE.format(ruleset="rdfs"),
    "import to the first inferred triple, owl2rl": FIRST_TRIPLE.format(ruleset="owl2rl"),
    "import to the first inferred triple of a Graph(store=...)": FIRST_GRAPH,
}
"""What new processes do."""
TIMED: Final = """
import time
{code}
import json
print(json.dumps({{{name!r}: time.process_time()}}))
"""
MATERIALISED: Final = """
import inspect, json, time
from kg_reasoner import Reasoner
Reasoner(ruleset="rdfs").materialise()
one = {{"threads": 1}} if "threads" in inspect.signature(Reasoner).parameters else {{}}
reasoner = Reasoner({rules}, **one)
begun = time.process_time()
reasoner.load("{folder}/ontology.nt", "{folder}/lubm{size}/data.nt")
loaded = time.process_time()
reasoner.materialise()
seconds = {{"load": loaded - begun, "materialise": time.process_time() - loaded, "both": time.process_time() - begun}}
print(json.dumps({{f"LUBM({size}), {task}: {{name}}": found for name, found in seconds.items()}}))
"""
"""The memory that the facts need is given by the system when it is touched first: while they are loaded, or later."""
TASKS: Final = {"dlp": "'@translate dlp .'", "rdfs": "ruleset='rdfs'", "owl2rl": "ruleset='owl2rl'"}


class Failed(click.ClickException):
    """A checkout does not do what is measured."""

    def __init__(self, checkout: Path, errors: str) -> None:
        super().__init__(f"{checkout}: {(errors.strip().splitlines() or ['no output'])[-1]}")


class Worker:
    """A process that does steps of a section with the package of a checkout."""

    def __init__(self, checkout: Path, section: str, folder: Path) -> None:
        self._checkout = checkout
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed in `close`
        command = [sys.executable, "-c", f"import runpy; runpy.run_path({str(STEPS)!r}, run_name='__main__')", section, str(folder)]
        self._process = subprocess.Popen(
            command,
            env=environment(checkout),
            cwd=checkout,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self.steps: list[str] = json.loads(self._line())

    def measure(self, step: str) -> Measured:
        """Do a step."""
        assert self._process.stdin is not None
        print(step, file=self._process.stdin, flush=True)
        measured: Measured = json.loads(self._line())
        return measured

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise Failed(self._checkout, self._errors.read())
        return line

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


class Starter:
    """Starts a process for each step, with the package of a checkout. They have bytecode, as after an installation."""

    def __init__(self, checkout: Path, section: str, folder: Path) -> None:
        self._checkout = checkout
        self._bytecode = tempfile.TemporaryDirectory()
        self._code = programs(section, folder)
        self.steps = list(self._code)
        self.measure(self.steps[-1])  # which makes most of the bytecode

    def measure(self, step: str) -> Measured:
        """Do a step in a new process."""
        variables = environment(self._checkout) | {"PYTHONPYCACHEPREFIX": self._bytecode.name}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-c", self._code[step]]
        done = subprocess.run(command, env=variables, cwd=self._checkout, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(self._checkout, done.stderr)
        measured: Measured = json.loads(done.stdout)
        return measured

    def close(self) -> None:
        """Discard the bytecode."""
        self._bytecode.cleanup()


SECTIONS: Final[dict[str, Callable[[Path, str, Path], Worker | Starter]]] = {
    "operations": Worker,
    "updates": Worker,
    "materialisation": Starter,
    "start-up": Starter,
}


def programs(section: str, folder: Path) -> dict[str, str]:
    """Return the programs of a section whose steps are processes."""
    if section == "start-up":
        return {name: TIMED.format(code=code, name=name) for name, code in STARTS.items()}
    return {
        f"LUBM({size}), {task}": MATERIALISED.format(rules=rules, folder=folder, size=size, task=task)
        for size in (1, 5)
        for task, rules in TASKS.items()
    }


def environment(checkout: Path) -> dict[str, str]:
    """Return the environment of a process that imports the package of a checkout."""
    return os.environ | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}


@dataclass
class Comparison:
    """CPU seconds of both checkouts, round by round."""

    here: list[float] = field(default_factory=list)
    there: list[float] = field(default_factory=list)

    @property
    def of_least(self) -> float:
        """The ratio of the least times."""
        return min(self.here) / min(self.there)

    @property
    def middle(self) -> float:
        """The median of the ratios of the rounds."""
        return median(here / there for here, there in zip(self.here, self.there, strict=True))

    @property
    def is_slower(self) -> bool:
        """Whether both ratios say that this checkout is slower than it may be: noise seldom moves both."""
        return min(self.of_least, self.middle) > MOST


def compare(
    section: str, checkouts: Sequence[Path], rounds: int, steps: Callable[[str], bool] = lambda _: True, folder: Path = CACHE
) -> dict[str, Comparison]:
    """Measure the steps of a section in both checkouts, in turns."""
    found: dict[str, Comparison] = {}
    with ExitStack() as stack:
        here, there = (stack.enter_context(closing(SECTIONS[section](checkout, section, folder))) for checkout in checkouts)
        for number in range(rounds):
            for step in filter(steps, here.steps):
                first, second = (here, there) if number % 2 else (there, here)
                measured = {first: first.measure(step), second: second.measure(step)}
                for name, seconds in measured[here].items():
                    comparison = found.setdefault(name, Comparison())
                    comparison.here.append(seconds)
                    comparison.there.append(measured[there][name])
    return found


def table(section: str, found: dict[str, Comparison]) -> Table:
    """Return the least times of both checkouts, and the ratios."""
    unit, scale = UNITS.get(section, ("milliseconds", 1e3))
    columns = "", "here", "there", "here / there", "median of rounds"
    made = report.new_table(columns, ("",), title=f"{section}: CPU {unit}")
    for name, comparison in found.items():
        least = (f"{min(seconds) * scale:,.2f}" for seconds in (comparison.here, comparison.there))
        ratios = (f"{ratio:.2f}" for ratio in (comparison.of_least, comparison.middle))
        made.add_row(name, *least, *ratios, style="bold red" if comparison.is_slower else "")
    return made


@click.command(context_settings=SETTINGS)
@click.option("--against", type=click.Path(path_type=Path, file_okay=False, exists=True), required=True, help="Another checkout.")
@click.option("-s", "--section", "sections", type=click.Choice(list(SECTIONS)), multiple=True, default=list(SECTIONS))
@click.option("-r", "--rounds", type=click.IntRange(min=1), default=20, show_default=True, help="Of each step in each checkout.")
@click.option("--step", "wanted", default="", help="Only the steps whose names contain this.")
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), default=CACHE, help="The folder of generated data.")
def main(against: Path, sections: tuple[str, ...], rounds: int, wanted: str, cache: Path) -> None:
    """Compare this checkout with another one: single operations, updates by each strategy, materialisation, start-up. The exit
    code is 1 if something is more than 5% slower.
    """
    console = Console(width=report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    if {"updates", "materialisation"} & set(sections):
        for universities in (1, 5):
            lubm_files(universities, cache)
    slower = False
    for section in sections:
        found = compare(section, (ROOT, against.resolve()), rounds, lambda name: wanted in name, cache)
        console.print(table(section, found))
        slower = slower or any(comparison.is_slower for comparison in found.values())
    sys.exit(slower)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.operations")
