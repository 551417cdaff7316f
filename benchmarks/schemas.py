"""Schema-heavy data: ontologies of many axioms, and single axioms that come and go: ``python -m benchmarks.schemas``.

Generated trees of classes with a tenth as many properties, half as many existentials (half of them as superclasses, which rules
cannot express), and a fact for each class and property; the largest has 100,000 classes. The growth is that of the time per triple
to load and materialise, from the size before: 1 is linear. Then one axiom is added and removed again, several times; its
consequences are few. Another one changes the order of restrictions besides, and with it rules of anonymous classes. The last is
that a class is equivalent to a new restriction. With ``--ontology``, files are measured instead, and with ``--reasonable``, the
Rust reasoner besides, in a process of its own.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import cpu
from kg_reasoner import ReasonerWarning, rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple

__all__ = ["Measured", "main", "measured", "table", "tree"]

BRANCHES: Final = 3
SIZES: Final = (1_000, 10_000, 100_000)


def name(kind: str, number: int) -> IRI:
    """Return a name of the generated data."""
    return IRI(f"http://example.org/{kind}{number}")


def tree(classes: int, properties: int | None = None, existentials: int | None = None) -> Iterator[Triple]:
    """Yield an ontology of classes in a tree, of properties with domain and range, and of existentials; and facts about an
    individual of each class.

    Args:
        classes: The number of classes.
        properties: The number of properties, by default a tenth of that.
        existentials: The number of existentials, by default half of that.
    """
    for number in range(classes):
        yield name("C", number), RDF.type, OWL.Class
        yield name("x", number), RDF.type, name("C", number)
        if number:
            yield name("C", number), RDFS.subClassOf, name("C", (number - 1) // BRANCHES)
    count = -(-classes // 10) if properties is None else properties
    for number in range(count):
        property = name("p", number)
        yield property, RDF.type, OWL.ObjectProperty
        yield property, RDFS.domain, name("C", number % classes)
        yield property, RDFS.range, name("C", (7 * number + 1) % classes)
        yield name("x", number % classes), property, name("x", (3 * number + 2) % classes)
    for number in range(classes // 2 if existentials is None else existentials):
        node, cls = BlankNode(f"b{number}"), name("C", number % classes)
        yield node, RDF.type, OWL.Restriction
        yield node, OWL.onProperty, name("p", number % count)
        yield node, OWL.someValuesFrom, name("C", (3 * number + 2) % classes)
        yield (node, RDFS.subClassOf, cls) if number % 2 else (cls, RDFS.subClassOf, node)


@dataclass(frozen=True)
class Measured:
    """CPU seconds for one ontology."""

    what: str
    triples: int
    rules: int
    load: float
    materialise: float
    add: float
    remove: float
    """Medians of one axiom."""
    restriction: float
    """The median of a restriction, added or removed."""
    order: float | None = None
    """The median of an axiom that changes the order of restrictions, added or removed."""
    peer: float | None = None
    """reasonable's time to load and reason."""


def measured(
    what: str, reasoner: Reasoner, load: Iterable[Triple] | Path, axiom: Triple, rounds: int, ordering: Triple | None = None
) -> Measured:
    """Load and materialise an ontology; then add and remove an axiom repeatedly, and one that orders restrictions."""
    gc.collect()
    begin = cpu()
    if isinstance(load, Path):
        reasoner.load(load)
    else:
        reasoner.add_triples(load)
    loaded = cpu()
    reasoner.materialise()
    done = cpu()
    explicit, rules = reasoner.sizes().explicit, len(reasoner.rules)
    adding, removing = changes(reasoner, [axiom], rounds)
    order = None if ordering is None else median([median(times) for times in changes(reasoner, [ordering], rounds)])
    restricted = median([median(times) for times in changes(reasoner, restriction(axiom[0], axiom[2]), rounds)])
    times = loaded - begin, done - loaded, median(adding), median(removing)
    return Measured(what, explicit, rules, *times, restricted, order)


def restriction(cls: Term, filler: Term) -> list[Triple]:
    """Return the triples that say that a class is equivalent to a new restriction."""
    node = BlankNode("new")
    parts = (node, RDF.type, OWL.Restriction), (node, OWL.onProperty, name("p", 0)), (node, OWL.someValuesFrom, filler)
    return [(cls, OWL.equivalentClass, node), *parts]


def changes(reasoner: Reasoner, axiom: list[Triple], rounds: int) -> tuple[list[float], list[float]]:
    """Add and remove an axiom repeatedly. Return the CPU seconds for each addition, and for each removal."""
    adding, removing = [], []
    for _ in range(rounds + 1):  # the first change plans what others use, too
        start = cpu()
        reasoner.add_triples(axiom)
        reasoner.materialise()
        between = cpu()
        reasoner.remove_triples(axiom)
        reasoner.materialise()
        adding.append(between - start)
        removing.append(cpu() - between)
    return adding[1:], removing[1:]


def generated(size: int, properties: int | None, existentials: int | None, ruleset: str, rounds: int) -> Measured:
    """Measure a generated ontology."""
    triples = list(tree(size, properties, existentials))
    axiom = name("C", size - 1), RDFS.subClassOf, name("C", size - 2)
    count = -(-size // 10) if properties is None else properties
    lower, upper = ((3 * number + 2) % size for number in (2 * count + 1, count + 1))  # the second and third filler of p1
    ordering = name("C", lower), RDFS.subClassOf, name("C", upper)
    return measured(f"{size:,} classes", Reasoner(ruleset=ruleset), triples, axiom, rounds, ordering)


def from_file(path: Path, ruleset: str, rounds: int) -> Measured:
    """Measure an ontology in a file."""
    axiom = name("C", 1), RDFS.subClassOf, name("C", 2)
    return measured(path.name, Reasoner(ruleset=ruleset), path, axiom, rounds)


def peer_time(path: Path, limit: float) -> float | None:
    """Return reasonable's CPU seconds to load an ontology and reason, or None if it fails or takes longer than the limit."""
    command = [sys.executable, "-c", _PEER, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return float(done.stdout)


_PEER: Final = """
import sys, time
import reasonable
begin = time.process_time()
reasoner = reasonable.PyReasoner()
reasoner.load_file(sys.argv[1])
reasoner.reason()
print(time.process_time() - begin)
"""


def table(rows: list[Measured]) -> Table:
    """Return the table of all ontologies."""
    columns = (
        "",
        "triples",
        "rules",
        "load",
        "materialise",
        "us/triple",
        "growth",
        "add ms",
        "remove ms",
        "restriction ms",
        "order ms",
        "reasonable",
        "×",
    )
    made = report.new_table(columns)
    before: float | None = None
    for row in rows:
        each = (row.load + row.materialise) / max(1, row.triples)
        growth = "" if before is None else f"{each / before:.2f}"
        peer = ("", "") if row.peer is None else (f"{row.peer:.2f}", f"{(row.load + row.materialise) / row.peer:.2f}")
        made.add_row(
            row.what,
            *(f"{count:,}" for count in (row.triples, row.rules)),
            *(f"{time:.2f}" for time in (row.load, row.materialise)),
            f"{1e6 * each:.1f}",
            growth,
            *("" if time is None else f"{1000 * time:.2f}" for time in (row.add, row.remove, row.restriction, row.order)),
            *peer,
        )
        before = each
    return made


@click.command(context_settings=SETTINGS)
@click.option("-n", "--classes", "sizes", type=click.IntRange(3), multiple=True, default=SIZES, show_default=True, help="Sizes.")
@click.option("--properties", type=click.IntRange(1), help="Properties of each ontology. [default: a tenth of the classes]")
@click.option("--existentials", type=click.IntRange(0), help="Existentials of each ontology. [default: half of the classes]")
@click.option("--ontology", "files", type=click.Path(exists=True, path_type=Path), multiple=True, help="Measure files instead.")
@click.option("--reasonable", "with_peer", is_flag=True, help="Measure reasonable on the files, too.")
@click.option("--limit", type=click.FloatRange(1), default=60, show_default=True, help="Seconds (wall) that it may take.")
@click.option("-r", "--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True, help="The rule set.")
@click.option("--rounds", type=click.IntRange(1), default=9, show_default=True, help="How often the axiom is added and removed.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    sizes: tuple[int, ...],
    properties: int | None,
    existentials: int | None,
    files: tuple[Path, ...],
    with_peer: bool,
    limit: float,
    ruleset: str,
    rounds: int,
    json_file: Path | None,
) -> None:
    """Measure ontologies of many axioms: CPU seconds to load and materialise, milliseconds for one axiom more or less."""
    warnings.simplefilter("ignore", ReasonerWarning)
    console = Console()
    console.width = max(console.width, report.WIDTH)
    generated(min(SIZES), None, None, ruleset, 1)  # compiles the kernels
    if files:
        rows = [from_file(file, ruleset, rounds) for file in files]
        if with_peer:
            rows = [replace(row, peer=peer_time(file, limit)) for row, file in zip(rows, files, strict=True)]
    else:
        rows = [generated(size, properties, existentials, ruleset, rounds) for size in sizes]
    console.print(report.machine(), highlight=False, soft_wrap=True)
    console.print(table(rows))
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    sys.exit(main())
