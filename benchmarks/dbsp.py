"""The evaluation of the DYRE paper again: ``python -m benchmarks.dbsp``.

RDFS and OWL 2 RL (DLP) on LUBM(1), and the transitive closure of two graphs. Three updates: a share of the facts with all rules,
the other facts, and these gone again; by our circuit with and without its index operator, by the engine with it (``dbsp``)
and with its default strategy, and by pydbsp. Each contestant runs in a process of its own; figures are medians of CPU seconds.
``--soak`` looks at memory instead: small updates of a database of constant size, and the bytes that are held after each thousand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final

import click
import numpy as np
from rich.console import Console

from benchmarks.contestants.dbsp import CONTESTANTS, CircuitContestant, as_pattern
from benchmarks.contests import dbsp_report, report
from benchmarks.contests.dbsp_report import STAGES, Comparison, Figures, Outcome
from benchmarks.inputs.data import made, our_rules, universities_as_ntriples, write_ontology
from benchmarks.inputs.dbsp_jobs import RULE_SETS, Workload, closure_workload, lubm_workload
from benchmarks.inputs.update_data import data_folder
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import resident
from benchmarks.measuring.needs import plot_option

__all__ = ["main", "soak"]

SHARES: Final = (0.99, 0.5)
PYDBSP: Final = "pydbsp"
LONG: Final = 10.0
"""Seconds of CPU time after which a contestant is not run again."""
PEER: Final = Path(__file__).parent / "contestants" / "pydbsp_peer.py"
GRAPHS: Final = Path(__file__).resolve().parents[1].parent / "shared" / "suites" / "graphs"


def workloads(folder: Path, graphs: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names of the workloads, and their generated files."""
    from kg_reasoner.api.reasoner import Reasoner

    ontology = made(folder / "ontology.nt", write_ontology)
    data = made(folder / "lubm1" / "data.nt", lambda file: file.writelines(universities_as_ntriples(1)))
    reasoner = Reasoner()
    reasoner.load(str(ontology), str(data))
    triples: list[Any] = list(reasoner.triples())
    found: list[tuple[str, Workload]] = [
        (ruleset, lubm_workload(name, our_rules(ruleset, ontology), triples)) for name, ruleset in RULE_SETS.items()
    ]
    found += [(graph.stem, closure_workload(graph)) for graph in sorted(graphs.glob("*.txt"))]
    for stem, workload in found:
        path = folder / "dbsp" / f"{stem}.json"
        workload.write(path)
        yield workload.name, path


def run(contestant: str, path: Path, share: float, python: str, seconds: int) -> Outcome:
    """Return the measurements of one contestant, as far as it gets within `seconds` of CPU time."""
    if contestant == PYDBSP:
        command = [python, str(PEER), str(path), str(share)]
    else:
        command = [sys.executable, "-m", "benchmarks.contestants.dbsp", contestant, str(path), str(share)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stopped = False
    while True:
        try:
            printed, said = process.communicate(timeout=0.2)
            break
        except subprocess.TimeoutExpired:
            stopped = cpu_seconds(process.pid) >= seconds
            if stopped:
                process.kill()
    if stopped:
        return Outcome(figures_in(printed), f"stopped at {seconds} s", seconds)
    last = (said.decode().strip().splitlines() or [f"exit code {process.returncode}"])[-1]
    return Outcome(figures_in(printed), last if process.returncode else "")


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds of another process. (A system limit on it would make its own clock coarse.)"""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def figures_in(lines: bytes) -> Figures:
    """Return the measurements that a contestant has printed."""
    figures: Figures = {}
    for line in lines.splitlines():
        figures |= json.loads(line)
    return figures


def measure(contestant: str, path: Path, share: float, python: str, seconds: int, runs: int) -> Outcome:
    """Return the medians of some runs (no more after those that took `LONG`), or the first run that fails."""
    done: list[Figures] = []
    spent = 0.0
    while len(done) < runs and spent < LONG:
        outcome = run(contestant, path, share, python, seconds)
        if outcome.failure:
            return outcome
        done.append(outcome.figures)
        spent += sum(outcome.figures[stage] for stage in STAGES)
    return Outcome({key: median(figures[key] for figures in done) for key in done[0]})


def soak(path: Path, updates: int, show: Callable[[str], object]) -> bool:
    """Apply small updates to a database of constant size; return whether memory is stable over the last thousandth of them."""
    workload = json.loads(path.read_text(encoding="utf-8"))
    circuit = CircuitContestant([(as_pattern(head), list(map(as_pattern, body))) for head, body in workload["rules"]], indexed=True)
    facts = workload["facts"]
    circuit.update(circuit.prepare(facts), 1)
    random = np.random.default_rng(0)
    held: dict[int, int] = {}
    highest = 0
    for number in range(1, updates + 1):
        some = circuit.prepare([facts[place] for place in random.choice(len(facts), min(10, len(facts)), replace=False)])
        circuit.update(some, -1)
        circuit.update(some, 1)
        highest = max(highest, circuit.nbytes)
        if number == 100 or number % 1000 == 0:
            held[number] = highest
            show(f"{number:>6} updates: traces {highest / 1e6:.1f} MB at most, process {resident() / 1e6:.0f} MB")
            highest = 0
    return held[max(held)] <= 1.1 * held[min(held)]


@click.command(context_settings=SETTINGS)
@click.option("-c", "--contestant", "contestants", multiple=True, type=click.Choice([*CONTESTANTS, PYDBSP]), help="Only these.")
@click.option("-w", "--workload", "wanted", multiple=True, help="Only workloads whose name has this in it.")
@click.option("-n", "--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs of each, fewer of long ones.")
@click.option(
    "--limit", type=click.IntRange(1), default=60, show_default=True, help="Seconds of CPU time after which a run is stopped."
)
@click.option(
    "--pydbsp-python", "python", default=sys.executable, help="A Python (3.12 or later) that has pydbsp 2. [default: this]"
)
@click.option("--graphs", type=click.Path(path_type=Path), default=GRAPHS, help="Folder of the graphs: lines `from to label`.")
@click.option("--soak", "updates", type=click.IntRange(100), help="Look at memory: so many updates, each taken back.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
@plot_option("the figures")
def main(
    contestants: tuple[str, ...],
    wanted: tuple[str, ...],
    runs: int,
    limit: int,
    python: str,
    graphs: Path,
    updates: int | None,
    cache: Path | None,
    json_file: Path | None,
    plot_file: Path | None,
) -> None:
    """Measure initial materialisation, additions and deletions by DBSP circuits, beside the default strategy and pydbsp.

    The exit code is 1 if contestants do not agree on the numbers of facts, or if memory grows under --soak.
    """
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    if not list(graphs.glob("*.txt")):
        console.print(f"No transitive closure: no graph is in {graphs}; --graphs says where they are.", highlight=False)
    chosen = [(name, path) for name, path in workloads(data_folder(cache), graphs) if all(part in name for part in wanted)]
    if updates is not None:
        sys.exit(0 if soak(chosen[0][1], updates, console.print) else 1)
    measured: list[Comparison] = []
    for name, path in chosen:
        for share in SHARES:
            found = Comparison(name, share)
            for contestant in contestants or (*CONTESTANTS, PYDBSP):
                with news.status(f"{found.title}: {contestant}"):
                    found.outcomes[contestant] = measure(contestant, path, share, python, limit, runs)
            console.print(dbsp_report.table(found))
            measured.append(found)
    if json_file is not None:
        everything = {"machine": report.machine(), "measured": list(map(asdict, measured))}
        json_file.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
    if plot_file is not None:
        dbsp_report.plot(measured, plot_file)
    wrong = [line for found in measured for line in dbsp_report.disagreements(found)]
    for line in wrong:
        console.print(line, style="bold red", highlight=False)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.dbsp")
