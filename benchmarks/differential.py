"""Six-rule RDFS beside differential-dataflow: ``python -m benchmarks.differential``.

LUBM in several sizes: loading, materialisation, one random triple of the data that goes and comes back, and one in a hundred. Times
are CPU times, the two systems in turns; needs Cargo, which builds the other program (see
`benchmarks.contestants.differential_dataflow`).
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import process_time_ns

import click
import numpy as np
from rich.console import Console

from benchmarks.contestants.differential_dataflow import COMMAND, Run, build, measured
from benchmarks.contests import report
from benchmarks.inputs.data import made, universities_as_ntriples, write_ontology
from benchmarks.inputs.update_data import Ids, data_folder, little_garbage, triples_of
from benchmarks.measuring.children import run
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import IRI, RDF

HUNDREDTHS = 5
"""How often one in a hundred triples go and come."""

ROWS = {
    "load": "load",
    "materialise": "materialise",
    "remove": "remove one",
    "add": "add one",
    "remove_hundredth": "remove 1 %",
    "add_hundredth": "add 1 %",
}


def seconds_of_changes(reasoner: Reasoner, data: Ids, size: int, times: int) -> tuple[float, float]:
    """Remove random triples of the data and add them again. Return the median CPU seconds of both."""
    random = np.random.default_rng(size)
    removed: list[float] = []
    added: list[float] = []
    with little_garbage():
        for _ in range(times):
            chosen = data[np.unique(random.integers(len(data), size=size))]
            for change, spent in ((reasoner.remove_triples, removed), (reasoner.add_triples, added)):
                before = process_time_ns()
                change(chosen)
                reasoner.materialise()
                spent.append((process_time_ns() - before) / 1e9)
    return (median(removed), median(added)) if times else (0.0, 0.0)


def ours(files: list[str], changes: int) -> Run:
    """Measure kg_reasoner, by one thread."""
    first = Reasoner(ruleset="rdfs", threads=1)
    first.add_triples([(IRI("http://example.org/a"), RDF.type, IRI("http://example.org/A"))])
    first.materialise()
    reasoner = Reasoner(ruleset="rdfs", show_hidden=True, threads=1)
    before = process_time_ns()
    reasoner.load(*files)
    loaded = process_time_ns()
    reasoner.materialise()
    done = process_time_ns()
    facts = len(reasoner.triple_ids())
    data = triples_of(Path(files[-1]), reasoner)
    single = seconds_of_changes(reasoner, data, 1, changes)
    hundredth = seconds_of_changes(reasoner, data, len(data) // 100, HUNDREDTHS)
    intact = len(reasoner.triple_ids()) == facts
    return Run((loaded - before) / 1e9, (done - loaded) / 1e9, facts, *single, *hundredth, intact)


def data_files(universities: int, folder: Path) -> list[str]:
    """Return the files of LUBM: the ontology, and the data."""
    data = folder / f"lubm{universities}" / "data.nt"
    made(data, lambda file: file.writelines(universities_as_ntriples(universities)))
    return [str(made(folder / "ontology.nt", write_ontology)), str(data)]


@click.command(context_settings=SETTINGS)
@click.option("-u", "--universities", "sizes", type=click.IntRange(1), multiple=True, default=(1, 5), show_default=True)
@click.option("-n", "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each, in turns.")
@click.option("--changes", type=click.IntRange(1), default=500, show_default=True, help="Of single triples, in each run.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--ours", "own", nargs=2, type=str, hidden=True)
def main(sizes: tuple[int, ...], rounds: int, changes: int, cache: Path | None, own: tuple[str, str] | None) -> None:
    """Compare with differential-dataflow: milliseconds, and its multiples of ours. The exit code is 1 if results differ."""
    if own is not None:
        print(json.dumps(asdict(ours(json.loads(own[0]), int(own[1])))))
        return
    if shutil.which(COMMAND) is None:
        raise click.ClickException(f"there is no `{COMMAND}` on the PATH, which builds differential-dataflow (https://rustup.rs)")
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    agree = True
    with news.status("building") as status:
        build()
        for size in sorted(dict.fromkeys(sizes)):
            files = data_files(size, data_folder(cache))
            found: list[tuple[Run, Run]] = []
            for number in range(rounds):
                status.update(f"LUBM({size}), round {number + 1} of {rounds}")
                command = [sys.executable, "-m", "benchmarks.differential", "--ours", json.dumps(files), str(changes)]
                mine = Run(**json.loads(run(command).printed.splitlines()[-1]))
                found.append((mine, measured(files, changes)[0]))
            table = report.new_table(("", "kg-reasoner", "differential", "ratio"), ("",), title=f"LUBM({size}), milliseconds")
            for name, title in ROWS.items():
                left, right = (median(getattr(pair[side], name) for pair in found) for side in (0, 1))
                ratio = median(getattr(theirs, name) / getattr(mine, name) for mine, theirs in found)
                table.add_row(title, f"{1e3 * left:.3f}", f"{1e3 * right:.3f}", f"{ratio:.2f}")
            console.print(table)
            counts = {one.facts for pair in found for one in pair}
            console.print(f"facts: {', '.join(map(str, sorted(counts)))}", highlight=False)
            agree = agree and len(counts) == 1 and all(one.intact for pair in found for one in pair)
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.differential")
