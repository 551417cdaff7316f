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
from pathlib import Path
from statistics import median
from typing import Any, Final

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks import report
from benchmarks.contestants.dbsp import CONTESTANTS, Circuit, as_pattern
from benchmarks.data import made, our_rules, universities_as_ntriples, write_ontology
from benchmarks.dbsp_jobs import RULE_SETS, Workload, closure_workload, lubm_workload
from benchmarks.maintenance import milliseconds
from benchmarks.measure import resident
from benchmarks.update_data import data_folder

__all__ = ["STAGES", "main", "plot", "soak", "table"]

STAGES: Final = ("initial", "add", "remove")
SHARES: Final = (0.99, 0.5)
PYDBSP: Final = "pydbsp"
PEER: Final = Path(__file__).parent / "contestants" / "pydbsp_peer.py"
GRAPHS: Final = Path(__file__).resolve().parents[1].parent / "shared" / "suites" / "graphs"

Result = dict[str, Any]


def workloads(folder: Path, graphs: Path) -> Iterator[tuple[str, Path]]:
    """The names of the workloads, and their files, which are made if need be."""
    from kg_reasoner.reasoner import Reasoner

    ontology = made(folder / "ontology.nt", write_ontology)
    data = made(folder / "lubm1" / "data.nt", lambda file: file.writelines(universities_as_ntriples(1)))
    triples: list[Any] = []
    for name, ruleset in RULE_SETS.items():
        path = folder / "dbsp" / f"{ruleset}.json"
        if not path.exists():
            if not triples:
                reasoner = Reasoner()
                reasoner.load(str(ontology), str(data))
                triples = list(reasoner.triples())
            lubm_workload(name, our_rules(ruleset, ontology), triples).write(path)
        yield f"LUBM(1), {name}", path
    for graph in sorted(graphs.glob("*.txt")) if graphs.is_dir() else ():
        path = folder / "dbsp" / f"{graph.stem}.json"
        workload: Workload = closure_workload(graph)
        workload.write(path)
        yield workload.name, path


def run(contestant: str, path: Path, share: float, python: str, seconds: float) -> Result | str:
    """The figures of one contestant, or what went wrong."""
    if contestant == PYDBSP:
        command = [python, str(PEER), str(path), str(share)]
    else:
        command = [sys.executable, "-m", "benchmarks.contestants.dbsp", contestant, str(path), str(share)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=os.environ, check=False)
    except subprocess.TimeoutExpired:
        return f"not within {seconds:.0f} s"
    if process.returncode:
        return process.stderr.strip().splitlines()[-1] if process.stderr.strip() else f"exit code {process.returncode}"
    result: Result = json.loads(process.stdout)
    return result


def middle(results: list[Result]) -> Result:
    """The medians of some runs."""
    return {key: median(result[key] for result in results) for key in results[0]}


def table(name: str, share: float, found: dict[str, Result | str]) -> Table:
    """What the contestants took for one workload, and how many times as long as our circuit."""
    made_table = Table(
        title=f"{name}: {share:.0%}, then {1 - share:.0%}; CPU milliseconds", box=box.SIMPLE_HEAD, title_justify="left"
    )
    for column in ("contestant", *STAGES, *(f"{stage} ×" for stage in STAGES), "peak MB", "facts"):
        made_table.add_column(column, justify="left" if column == "contestant" else "right", no_wrap=True)
    ours = next(iter(found.values()))
    for contestant, result in found.items():
        if isinstance(result, str):
            made_table.add_row(contestant, result[:60])
            continue
        ratios = [f"{result[stage] / max(ours[stage], 1e-9):.2f}" for stage in STAGES] if isinstance(ours, dict) else [""] * 3
        cells = [*(milliseconds(result[stage]) for stage in STAGES), *ratios]
        made_table.add_row(contestant, *cells, f"{result['bytes'] / 1e6:,.0f}", f"{result['facts']:,.0f}")
    return made_table


def disagreements(found: dict[str, Result | str]) -> list[str]:
    """Contestants that do not have as many facts as the first one, after adding or after removing."""
    counts = {name: (result["facts"], result["left"]) for name, result in found.items() if isinstance(result, dict)}
    expected = next(iter(counts.values()), None)
    return [f"{name} has {one} facts, expected {expected}" for name, one in counts.items() if one != expected]


def soak(path: Path, updates: int, show: Callable[[str], object]) -> bool:
    """Small updates of a database of constant size. Whether the last thousandth of them holds no more than the first."""
    workload = json.loads(path.read_text(encoding="utf-8"))
    circuit = Circuit([(as_pattern(head), list(map(as_pattern, body))) for head, body in workload["rules"]], indexed=True)
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


def plot(found: dict[tuple[str, float], dict[str, Result | str]], path: Path) -> None:
    """Draw the figures on logarithmic scales: a panel for each workload and share. Needs matplotlib."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(name for name, _ in found))
    shares = list(dict.fromkeys(share for _, share in found))
    figure, grid = pyplot.subplots(len(names), len(shares), figsize=(12, 3 * len(names)), squeeze=False, layout="constrained")
    contestants = list(dict.fromkeys(contestant for results in found.values() for contestant in results))
    for (name, share), results in found.items():
        axes = grid[names.index(name)][shares.index(share)]
        for place, contestant in enumerate(contestants):
            result = results.get(contestant)
            if isinstance(result, dict):
                values = [1000 * result[stage] for stage in STAGES]
                axes.bar(
                    np.arange(len(STAGES)) + place / (1 + len(contestants)), values, 1 / (1 + len(contestants)), label=contestant
                )
        axes.set_yscale("log")
        axes.set_ylabel("CPU milliseconds")
        axes.set_title(f"{name}: {share:.0%}")
        axes.set_xticks(np.arange(len(STAGES)) + 0.4, STAGES)
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(contestants), frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("-c", "--contestant", "contestants", multiple=True, type=click.Choice([*CONTESTANTS, PYDBSP]), help="Only these.")
@click.option("-w", "--workload", "wanted", multiple=True, help="Only workloads whose name has this in it.")
@click.option("-n", "--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs of each; of pydbsp one.")
@click.option("--timeout", type=float, default=600, show_default=True, help="Seconds for a run.")
@click.option(
    "--pydbsp-python", "python", default=sys.executable, help="A Python (3.12 or later) that has pydbsp 2. [default: this]"
)
@click.option("--graphs", type=click.Path(path_type=Path), default=GRAPHS, help="Folder of the graphs: lines `from to label`.")
@click.option("--soak", "updates", type=click.IntRange(100), help="Look at memory: so many updates, each taken back.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
@click.option("--plot", "plot_file", type=click.Path(path_type=Path), help="Draw the medians (PNG, SVG, PDF; needs matplotlib).")
def main(
    contestants: tuple[str, ...],
    wanted: tuple[str, ...],
    runs: int,
    timeout: float,
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
    chosen = [(name, path) for name, path in workloads(data_folder(cache), graphs) if all(part in name for part in wanted)]
    if updates is not None:
        sys.exit(0 if soak(chosen[0][1], updates, console.print) else 1)
    found: dict[tuple[str, float], dict[str, Result | str]] = {}
    wrong: list[str] = []
    for name, path in chosen:
        for share in SHARES:
            results: dict[str, Result | str] = {}
            for contestant in contestants or (*CONTESTANTS, PYDBSP):
                with news.status(f"{name}, {share:.0%}, {contestant}"):
                    done = [run(contestant, path, share, python, timeout) for _ in range(1 if contestant == PYDBSP else runs)]
                failed = [result for result in done if isinstance(result, str)]
                results[contestant] = failed[0] if failed else middle([result for result in done if isinstance(result, dict)])
            found[name, share] = results
            console.print(table(name, share, results))
            wrong += [f"{name}, {share:.0%}: {line}" for line in disagreements(results)]
    if json_file is not None:
        measured = [{"workload": name, "share": share, "contestants": results} for (name, share), results in found.items()]
        json_file.write_text(json.dumps({"machine": report.machine(), "measured": measured}, indent=2) + "\n", encoding="utf-8")
    if plot_file is not None:
        plot(found, plot_file)
    for line in wrong:
        console.print(line, style="bold red", highlight=False)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.dbsp")
