"""Whether updates cost the same whatever the size of the data: ``python -m benchmarks.flatness``.

LUBM is materialised in several sizes. Then new triples come, one by one, and go again. Each has the subject of a triple of the data
and the value of another one with the same property, so it has consequences as those have. Times are CPU times from the change to
the end of its consequences, from the very first update on.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from time import thread_time_ns
from typing import Any, Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report, tails
from benchmarks.inputs.update_data import Ids, data_folder, little_garbage, lubm
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import BeyondProfileWarning, rulesets
from kg_reasoner.api.reasoner import Reasoner

__all__ = ["WAYS", "new_triples", "spread", "updates"]

FLAT: Final = 1.5
"""The most by which the median of the largest data exceeds that of the smallest."""


def lazily(reasoner: Reasoner, change: str, triples: Ids) -> None:
    """Change triples, and bring the materialisation up to date."""
    getattr(reasoner, change)(triples)
    reasoner.materialise()


def in_transaction(reasoner: Reasoner, change: str, triples: Ids) -> None:
    """Change triples in a transaction, which collects all changes."""
    with reasoner.transaction() as transaction:
        getattr(transaction, change)(triples)


WAYS: Final[dict[str, Callable[[Reasoner, str, Ids], None]]] = {"materialise": lazily, "transaction": in_transaction}


def new_triples(data: Ids, count: int, seed: int) -> Ids:
    """Return different triples that are not in the data, though their subjects, properties and values are."""
    random = np.random.default_rng(seed)
    known = {tuple(row) for row in data.tolist()} if len(data) < 1 << 20 else set()
    by_property = data[np.argsort(data[:, 1], kind="stable")]
    first = np.searchsorted(by_property[:, 1], by_property[:, 1], "left")
    end = np.searchsorted(by_property[:, 1], by_property[:, 1], "right")
    made: dict[tuple[int, ...], None] = {}
    while len(made) < count:
        place = int(random.integers(len(data)))
        subject, property, _ = by_property[place].tolist()
        value = int(by_property[int(random.integers(first[place], end[place])), 2])
        triple = subject, property, value
        if triple not in known and not (data[data[:, 0] == subject] == triple).all(axis=1).any():
            made[triple] = None
    return np.array(list(made), np.int32)


def updates(universities: int, ruleset: str, way: str, count: int, seed: int, folder: Path) -> Iterator[tails.Tail]:
    """Yield how long it takes to add triples, and to remove them."""
    loaded = lubm(universities, folder, ruleset=ruleset)
    reasoner = loaded.reasoner
    triples = new_triples(loaded.data, count, seed)
    reasoner.materialise()
    for change in ("add_triples", "remove_triples"):
        times = []
        with little_garbage():
            for row in range(count):
                before = thread_time_ns()
                WAYS[way](reasoner, change, triples[row : row + 1])
                times.append(thread_time_ns() - before)
        yield tails.Tail.of(f"LUBM({universities}), {ruleset}, {way}: {change.partition('_')[0]}", times)


def spread(measured: list[list[tails.Tail]]) -> Table:
    """Return the medians of each kind of update for the smallest and the largest data, and their ratio."""
    made = report.new_table(("", "smallest", "largest", "ratio"), ("",), title="median milliseconds by the size of the data")
    for ones in zip(*measured, strict=True):
        ratio = ones[-1].median / max(ones[0].median, 1e-9)
        name = ones[0].name.partition(", ")[2]
        cells = (f"{ones[0].median:.4f}", f"{ones[-1].median:.4f}", f"{ratio:.2f}")
        made.add_row(name, *cells, style="" if ratio <= FLAT else "bold red")
    return made


@click.command(context_settings=SETTINGS)
@click.option("-u", "--universities", "sizes", type=click.IntRange(1), multiple=True, default=(1, 5, 50), show_default=True)
@click.option("-r", "--ruleset", "names", type=click.Choice(rulesets.names()), multiple=True, default=("owl2rl", "rdfs"))
@click.option("-w", "--way", "ways", type=click.Choice(list(WAYS)), multiple=True, default=tuple(WAYS), show_default=True)
@click.option("-n", "--updates", "count", type=click.IntRange(2), default=2000, show_default=True, help="Of each kind.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    sizes: tuple[int, ...],
    names: tuple[str, ...],
    ways: tuple[str, ...],
    count: int,
    seed: int,
    cache: Path | None,
    json_file: Path | None,
) -> None:
    """Add and remove single triples in data of several sizes. The exit code is 1 if the median grows with the data."""
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    warnings.simplefilter("ignore", BeyondProfileWarning)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    Reasoner("first(1) . second(?x) :- first(?x) .").materialise()  # loads the kernels
    measured: list[list[tails.Tail]] = []
    with news.status("") as status:
        for universities in sorted(dict.fromkeys(sizes)):
            found: list[tails.Tail] = []
            for ruleset in dict.fromkeys(names):
                for way in dict.fromkeys(ways):
                    status.update(f"LUBM({universities}), {ruleset}, {way}")
                    found += updates(universities, ruleset, way, count, seed, data_folder(cache))
            measured.append(found)
    console.print(tails.table([tail for found in measured for tail in found]))
    console.print(spread(measured))
    if json_file is not None:
        content: dict[str, Any] = {"machine": report.machine(), "updates": [asdict(tail) for found in measured for tail in found]}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    flat = all(ones[-1].median <= FLAT * ones[0].median for ones in zip(*measured, strict=True))
    sys.exit(0 if flat else 1)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.flatness")
