"""OWL 2 RL by the book, over triples: ``python -m benchmarks.by_the_book``.

The rule set owl2rl-full on LUBM, or on the files given by ``--ontology``, beside owl2rl (axioms translated to rules), beside
reasonable, whose rules are those of the book too, and beside another checkout of this package. Each run is a process of its own;
they take turns. CPU seconds, the best of several runs; owl2rl-full of this checkout is the unit of the ratios.

The start is measured by itself: Python's, the imports, and the materialisation of two triples, before which this package has not
imported what translates axioms.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.contests.contest import environment
from benchmarks.inputs.data import lubm_job, made
from benchmarks.inputs.jobs import OWL2RL
from benchmarks.inputs.update_data import data_folder
from benchmarks.measuring.commands import SETTINGS

ROOT = Path(__file__).resolve().parents[1]

SMALL = b"""
<http://example.org/a> a <http://example.org/A> .
<http://example.org/A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://example.org/B> .
"""

OURS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from kg_reasoner import Reasoner
small = Reasoner(ruleset=sys.argv[1])
small.load(sys.argv[4])
small.materialise()
times = [0, time.process_time()]
reasoner = Reasoner(ruleset=sys.argv[1])
reasoner.load(*json.loads(sys.argv[2]))
times.append(time.process_time())
reasoner.materialise()
times.append(time.process_time())
print(json.dumps([*(after - before for before, after in zip(times, times[1:])), len(reasoner.triple_ids("inferred"))]))
"""

REASONABLE = """
import json, sys, time
import rdflib, reasonable
small = reasonable.PyReasoner()
small.load_file(sys.argv[4])
small.reason()
times = [0, time.process_time()]
reasoner = reasonable.PyReasoner()
for file in json.loads(sys.argv[3]):
    reasoner.load_file(file)
times.append(time.process_time())
triples = reasoner.reason()
times.append(time.process_time())
print(json.dumps([*(after - before for before, after in zip(times, times[1:])), len(triples)]))
"""


@click.command(context_settings=SETTINGS)
@click.option("-n", "--universities", type=click.IntRange(min=1), multiple=True, default=(1, 5), show_default=True)
@click.option("-r", "--repeats", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--ontology", "files", type=click.Path(path_type=Path, exists=True), multiple=True, help="Turtle instead of LUBM.")
@click.option("--against", type=click.Path(path_type=Path, file_okay=False, exists=True), help="Another checkout of this package.")
@click.option("--limit", type=click.FloatRange(1), default=300, show_default=True, help="Seconds (wall) that a run may take.")
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), help="The folder of the data.")
def main(
    universities: tuple[int, ...], repeats: int, files: tuple[Path, ...], against: Path | None, limit: float, cache: Path | None
) -> None:
    """Print CPU seconds of starting, loading and materialisation."""
    console = Console(width=report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    contestants = {"owl2rl-full": (OURS, ROOT, "owl2rl-full"), "owl2rl": (OURS, ROOT, "owl2rl")}
    if against is not None:
        contestants |= {f"{ruleset} in {against.name}": (OURS, against, ruleset) for ruleset in tuple(contestants)}
    contestants["reasonable"] = REASONABLE, ROOT, ""
    jobs = [(file.name, [str(file.resolve())], [str(file.resolve())]) for file in files]
    small = made(data_folder(cache) / "small.ttl", lambda file: file.writelines([SMALL]))
    for title, ours, theirs in jobs or [university_files(size, cache) for size in universities]:
        runs: dict[str, list[list[float]]] = {name: [] for name in contestants}
        for _ in range(repeats):
            for name, (program, checkout, ruleset) in contestants.items():
                found = run(program, checkout, [ruleset, json.dumps(ours), json.dumps(theirs), str(small)], limit)
                if found is not None:
                    runs[name].append(found)
        best = {name: [min(column) for column in zip(*some, strict=True)] for name, some in runs.items() if some}
        if best:
            console.print(table(title, best))
        for name in runs.keys() - best.keys():
            console.print(f"{title}: {name} is not installed, or took more than {limit:g} s")


def university_files(size: int, cache: Path | None) -> tuple[str, list[str], list[str]]:
    """Return a title, and LUBM's files for this package and for reasonable."""
    files = lubm_job(size, OWL2RL, data_folder(cache)).files
    ours, theirs = ([str(files[name]) for name in names] for names in (("ontology.nt", "ntriples"), ("ontology.ttl", "turtle")))
    return f"LUBM({size})", ours, theirs


def table(title: str, best: dict[str, list[float]]) -> Table:
    """Return the table of one job: the times and the number of triples of each contestant."""
    made = report.new_table(("", "start", "load", "materialise", "ratio", "both", "ratio", "inferred"), title=title)
    _, *first, _ = next(iter(best.values()))
    for name, (start, loading, reasoning, inferred) in best.items():
        count = f"{int(inferred):,}" if name != "reasonable" else f"{int(inferred):,} in all"
        both, unit = loading + reasoning, sum(first)
        times = report.seconds(start), report.seconds(loading), report.seconds(reasoning), report.ratio(reasoning / first[1])
        made.add_row(name, *times, report.seconds(both), report.ratio(both / unit), count)
    return made


def run(program: str, checkout: Path, arguments: list[str], limit: float) -> list[float] | None:
    """Return the times of a program in a new process that imports the package of a checkout, or None if it cannot be run or takes
    longer than a limit in seconds.
    """
    variables = environment() | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", program, *arguments]
    try:
        done = subprocess.run(command, env=variables, cwd=checkout, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        if "No module named 'reasonable'" not in done.stderr:
            raise click.ClickException(done.stderr.strip().splitlines()[-1])
        return None
    numbers: list[float] = json.loads(done.stdout)
    return numbers


if __name__ == "__main__":
    main()
