"""Answers on demand beside full materialisation: ``python -m benchmarks.on_demand``.

Each query is asked of a reasoner that has materialised nothing, and of one that has: SPARQL by `Reasoner.query`, bodies of rules by
`Reasoner.answers`. The answers must be the same. People of the same generation are the classic case for magic sets: nearly all
pairs follow from the data, and a person has few of them.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.inputs.update_data import data_folder, little_garbage, lubm
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import ReasonerWarning
from kg_reasoner.lubm import queries
from kg_reasoner.terms import Term, literal

__all__ = ["Comparison", "OnDemandWorkload", "compared", "generations", "table", "workloads"]

RULES: Final = """
    same(?x, ?y) :- parent(?x, ?p), parent(?y, ?p) .
    same(?x, ?y) :- parent(?x, ?a), same(?a, ?b), parent(?y, ?b) .
    sibling(?x, ?y) :- parent(?x, ?p), parent(?y, ?p) .
    cousin(?x, ?y) :- same(?x, ?y), NOT sibling(?x, ?y) .
"""

ABOUT_ONE: Final = "<http://www.Department0.University0.edu/FullProfessor0>"
"""An individual of LUBM."""


@dataclass(frozen=True)
class OnDemandWorkload:
    """Data, and the queries about them."""

    name: str
    load: Callable[[], Reasoner]
    """Returns a new reasoner with the data, not materialised."""
    queries: dict[str, str]
    """The queries, by name."""
    is_sparql: bool = False
    """Whether they are SPARQL, for `Reasoner.query`, or bodies of rules, for `Reasoner.answers`."""


@dataclass(frozen=True)
class Comparison:
    """One query on demand and over the materialisation. Times are CPU seconds."""

    workload: str
    query: str
    answers: int
    first: float
    """The time of the query when it is asked for the first time: it builds indexes."""
    again: float
    derived: int
    materialise: float
    inferred: int
    read: float
    """The time of the query over the materialisation."""


def generations(people: int, count: int, seed: int = 0) -> Iterator[tuple[Term, Term]]:
    """Yield persons with their parents: each person has two parents of the next generation."""
    random = Random(seed)
    for generation in range(count - 1):
        for number in range(people):
            for parent in random.sample(range(people), 2):
                yield literal(f"{generation}/{number}"), literal(f"{generation + 1}/{parent}")


def workloads(people: int, count: int, universities: tuple[int, ...], folder: Path) -> Iterator[OnDemandWorkload]:
    """Yield all workloads."""

    def family() -> Reasoner:
        reasoner = Reasoner(RULES)
        reasoner.add_facts("parent", list(generations(people, count)))
        return reasoner

    middle = count // 2
    asked = {
        "generation of one, near the top": f'same("{count - 3}/0", ?y)',
        "generation of one, in the middle": f'same("{middle}/0", ?y)',
        "cousins of one (negation)": f'cousin("{middle}/0", ?y)',
        "generation of one, at the bottom": 'same("0/0", ?y)',
    }
    yield OnDemandWorkload(f"same generation, {count} of {people:,}", family, asked)
    texts = queries()
    person = re.findall(r"PREFIX ub: <([^>]*)>", texts["q05"])[0]
    points = {
        "is one a person?": f"SELECT * {{ {ABOUT_ONE} a <{person}Person> }}",
        "classes of one": f"SELECT * {{ {ABOUT_ONE} a ?class }}",
        "all about one": f"SELECT * {{ {ABOUT_ONE} ?property ?value }}",
        **{name: texts[name] for name in ("q01", "q04", "q05", "q07", "q11", "q12", "q13")},
    }
    for number in universities:
        yield OnDemandWorkload(f"LUBM({number}), owl2rl", partial(_university, number, folder), points, is_sparql=True)


def _university(number: int, folder: Path) -> Reasoner:
    return lubm(number, folder, ruleset="owl2rl").reasoner


def compared(workload: OnDemandWorkload) -> Iterator[Comparison]:
    """Ask each query on demand, then materialise another reasoner with the same data, and ask it.

    Raises:
        ClickException: The answers differ, or a query was not answered on demand.
    """
    lazy, eager = workload.load(), workload.load()
    timed(workload, lazy, next(iter(workload.queries)), True)  # compiles kernels, reads axioms
    lazy = workload.load()
    found = {name: (timed(workload, lazy, name, True), timed(workload, lazy, name, True)) for name in workload.queries}
    if lazy.engine.is_current:
        raise click.ClickException(f"{workload.name}: a query was answered by materialisation")
    begin = time.process_time()
    eager.materialise()
    materialise, inferred = time.process_time() - begin, eager.sizes().inferred
    for name, ((first, answers, derived), (again, _, _)) in found.items():
        read, expected, _ = timed(workload, eager, name, False)
        if answers != expected:
            raise click.ClickException(f"{workload.name}, {name}: {len(answers)} answers on demand, not {len(expected)}")
        yield Comparison(workload.name, name, len(answers), first, again, derived, materialise, inferred, read)


def timed(workload: OnDemandWorkload, reasoner: Reasoner, name: str, on_demand: bool) -> tuple[float, set[tuple[Term, ...]], int]:
    """Return the CPU seconds of a query, its answers, and the number of facts that it derived."""
    text = workload.queries[name]
    begin = time.process_time()
    found: Any = (reasoner.query if workload.is_sparql else reasoner.answers)(text, on_demand=on_demand)
    rows = list(found)
    return time.process_time() - begin, set(map(tuple, rows)), found.derived


def table(comparisons: list[Comparison]) -> Table:
    """One line for each query."""
    columns = ("", "answers", "on demand", "again", "derived", "materialise", "inferred", "query", "time ×", "facts ×")
    made = report.new_table(
        columns,
        title="queries on demand, and over the materialisation",
        caption="on demand, again, materialise, query: CPU milliseconds; again: with the plans of the first time; query: over\n"
        "the materialisation. derived: facts for the query, magic sets included. time ×: materialise and query, divided\n"
        "by on demand. facts ×: inferred, divided by derived.",
    )
    workload = ""
    for each in comparisons:
        if each.workload != workload:
            workload = each.workload
            made.add_row(workload, style="bold")
        made.add_row(
            f"  {each.query}",
            f"{each.answers:,}",
            f"{1000 * each.first:,.1f}",
            f"{1000 * each.again:,.1f}",
            f"{each.derived:,}",
            f"{1000 * each.materialise:,.1f}",
            f"{each.inferred:,}",
            f"{1000 * each.read:,.1f}",
            report.ratio((each.materialise + each.read) / max(each.first, 1e-6)),
            report.ratio(each.inferred / max(each.derived, 1)),
        )
    return made


@click.command(context_settings=SETTINGS)
@click.option("-p", "--people", type=click.IntRange(2), default=1000, show_default=True, help="Persons of each generation.")
@click.option("-g", "--generations", "count", type=click.IntRange(4), default=8, show_default=True)
@click.option("-n", "--universities", type=click.IntRange(1), multiple=True, default=[1, 5], show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(people: int, count: int, universities: tuple[int, ...], cache: Path | None, json_file: Path | None) -> None:
    """Ask queries on demand and over the materialisation, and compare the times and the numbers of facts that are derived."""
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    found: list[Comparison] = []
    warnings.simplefilter("ignore", ReasonerWarning)
    with news.status("making data") as status, little_garbage():
        for workload in workloads(people, count, universities, data_folder(cache)):
            status.update(workload.name)
            found += compared(workload)
    console.print(table(found))
    if json_file is not None:
        content = {"machine": report.machine(), "comparisons": [asdict(each) for each in found]}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.on_demand")
