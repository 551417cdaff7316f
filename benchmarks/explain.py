"""The time of proofs: ``python -m benchmarks.explain``.

Random inferred triples of LUBM are each proved once, after a warm-up round in which join plans are made and indexes built on
demand. Times are those of `Reasoner.explain` as a user sees it: from a triple of terms to a proof with all its terms, rules and
values. Proofs are discarded.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import click
from rich.console import Console

from benchmarks.contests import report
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import BeyondProfileWarning, lubm, rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import Triple

AIM = 5.0
"""Milliseconds that a proof may take on LUBM(5)."""


@click.command(context_settings=SETTINGS)
@click.option("-n", "--universities", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("-s", "--sample", type=click.IntRange(min=1), default=2000, show_default=True, help="How many triples are proved.")
@click.option(
    "-r", "--ruleset", type=click.Choice(rulesets.names()), multiple=True, default=["owl2rl", "owl2rl-full"], show_default=True
)
@click.option("--seed", type=int, default=0, show_default=True)
def main(universities: int, sample: int, ruleset: tuple[str, ...], seed: int) -> None:
    """Prove inferred triples of LUBM and print the median and the worst time, in milliseconds of CPU time and of wall time."""
    warnings.simplefilter("ignore", BeyondProfileWarning)
    console = Console()
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    times = ("CPU median", "99%", "worst", "wall median", "99%", "worst")
    columns = ("rule set", *times, f"over {AIM:g} ms CPU", "first of all", "heights")
    title = f"proofs of {sample} inferred triples of LUBM({universities}), milliseconds"
    table = report.new_table(columns, ("rule set", "heights"), title=title)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "lubm.nt"
        lubm.write(data, universities, seed=0)
        for name in ruleset:
            table.add_row(name, *measured(loaded(name, data), sample, seed))
    console.print(table)


def loaded(ruleset: str, data: Path) -> Reasoner:
    reasoner = Reasoner(ruleset=ruleset)
    reasoner.load(lubm.ontology_path(), data)
    reasoner.materialise()
    return reasoner


def measured(reasoner: Reasoner, sample: int, seed: int) -> list[str]:
    """Return the row of a rule set."""
    inferred = reasoner.triple_ids("inferred")
    rows = random.Random(seed).sample(range(len(inferred)), min(sample, len(inferred)))
    triples: list[Triple] = []
    for row in inferred[rows].tolist():
        subject, property, value = map(reasoner.dictionary.decode, row)
        triples.append((subject, property, value))
    first = timed(reasoner, triples[0])[0]
    for triple in triples:
        reasoner.explain(triple)
    results = [timed(reasoner, triple) for triple in triples]
    cpu = sorted(time for time, _, _ in results)
    wall = sorted(time for _, time, _ in results)
    heights = Counter(height for _, _, height in results)
    return [
        *(f"{figure:.2f}" for times in (cpu, wall) for figure in (statistics.median(times), percentile(times, 99), times[-1])),
        str(sum(time > AIM for time in cpu)),
        f"{first:.1f}",
        ", ".join(f"{height}: {count}" for height, count in sorted(heights.items())),
    ]


def timed(reasoner: Reasoner, triple: Triple) -> tuple[float, float, int]:
    """Return the milliseconds of CPU time and of wall time, and the proof's height."""
    cpu, wall = time.process_time(), time.perf_counter()
    proof = reasoner.explain(triple)
    taken = time.process_time() - cpu, time.perf_counter() - wall
    return 1000 * taken[0], 1000 * taken[1], proof.height


def percentile(times: list[float], percent: int) -> float:
    """Return the smallest of the sorted times that is not exceeded by this percentage of them."""
    return times[min(len(times) - 1, len(times) * percent // 100)]


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.explain")
