"""Bytes of each fact and term: ``python -m benchmarks.memory``.

Each line is a process that loads LUBM and materialises a rule set. What facts and terms occupy is counted in the tables, as far as
these are used: rows with flags, hashes and indexes; for terms all tables beside their texts. Then comes by how much the resident
memory has grown: after loading, after materialising, and at most. The limits are those of the project's design.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchmarks.inputs.data import made, universities_as_ntriples, write_ontology
from benchmarks.inputs.update_data import data_folder
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import peak, resident
from kg_reasoner import rulesets

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner

ROOT: Final = Path(__file__).resolve().parents[1]

PER_FACT: Final = 30.0
PER_TERM: Final = 60.0
"""The most bytes that a fact with its indexes, and a term beside its text, are to occupy."""


@dataclass(frozen=True)
class MemoryUse:
    """What one materialisation occupies, in bytes."""

    facts: int
    terms: int
    rows: int
    """Tuples and flags."""
    hashes: int
    """Hash tables of tuples."""
    indexes: int
    texts: int
    """The texts of terms."""
    term_tables: int
    """The tables of terms beside their texts."""
    loaded: int
    materialised: int
    peak: int
    """Resident, beside what is resident without data."""

    @property
    def per_fact(self) -> float:
        return (self.rows + self.hashes + self.indexes) / max(self.facts, 1)

    @property
    def per_term(self) -> float:
        return self.term_tables / max(self.terms, 1)


def count(reasoner: Reasoner, loaded: int, materialised: int, most: int) -> MemoryUse:
    """Return what the tables of a reasoner occupy."""
    database, context = reasoner.core.engine.database, reasoner.core.engine.database.context
    relations = database.relations.records
    rows = sum(record.count * (4 * record.arity + 2) for record in relations)
    hashes = sum(record.slots.nbytes for record in relations)
    offsets, _ = reasoner.dictionary.buffers()
    terms = len(reasoner.dictionary)
    maps = sum(array.nbytes for array in (context.property_relations, context.class_relations) if array is not None)
    texts = int(offsets[terms])
    tables = reasoner.dictionary.nbytes - len(reasoner.dictionary.buffers()[1]) + maps
    return MemoryUse(
        facts=sum(record.count for record in relations),
        terms=terms,
        rows=rows,
        hashes=hashes,
        indexes=database.nbytes - rows - hashes,
        texts=texts,
        term_tables=tables,
        loaded=loaded,
        materialised=materialised,
        peak=most,
    )


def use(ruleset: str, files: list[str]) -> MemoryUse:
    """Load and materialise in this process."""
    from kg_reasoner import Reasoner

    warnings.simplefilter("ignore")
    first = Reasoner(ruleset=ruleset)
    first.load(files[0])
    first.materialise()
    del first
    gc.collect()
    before = resident()
    reasoner = Reasoner(ruleset=ruleset, show_hidden=True)
    reasoner.load(*files)
    loaded = resident()
    reasoner.materialise()
    return count(reasoner, loaded - before, resident() - before, peak() - before)


def in_process(ruleset: str, files: list[str]) -> MemoryUse:
    """Return what a process of its own says."""
    command = [sys.executable, "-m", "benchmarks.memory", "--one", ruleset, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(done.stderr)
    return MemoryUse(**json.loads(done.stdout))


def lubm_data(universities: int, folder: Path) -> Path:
    """Return the file of LUBM's data, made where it is missing."""
    return made(folder / f"lubm{universities}" / "data.nt", lambda file: file.writelines(universities_as_ntriples(universities)))


def row(name: str, use: MemoryUse) -> str:
    """Return a line of the table."""
    parts = (part / max(use.facts, 1) for part in (use.rows, use.hashes, use.indexes))
    resident = (each / 1e6 for each in (use.loaded, use.materialised, use.peak))
    return (
        f"{name:20}{use.facts:>12,}{use.per_fact:>9.1f}  ({' + '.join(f'{part:.1f}' for part in parts)})".ljust(64)
        + f"{use.terms:>12,}{use.per_term:>9.1f}{use.texts / max(use.terms, 1):>8.1f}"
        + "".join(f"{each:>9.0f}" for each in resident)
    )


@click.command(context_settings=SETTINGS)
@click.option("-u", "--universities", type=click.IntRange(1), multiple=True, default=(1, 5), show_default=True)
@click.option(
    "-r", "--ruleset", "names", type=click.Choice(rulesets.names()), multiple=True, default=("owl2rl", "rdfs"), show_default=True
)
@click.option("--data", "given", type=click.Path(file_okay=False, path_type=Path), help="The folder for the data.")
@click.option("--one", hidden=True)
@click.argument("files", nargs=-1)
def main(
    universities: tuple[int, ...], names: tuple[str, ...], given: Path | None, one: str | None, files: tuple[str, ...]
) -> None:
    """Measure the memory of facts and terms."""
    if one is not None:
        print(json.dumps(asdict(use(one, list(files)))))
        return
    folder = data_folder(given)
    ontology = made(folder / "ontology.nt", write_ontology)
    print(f"{'':20}{'facts':>12}{'bytes':>9}  (rows + hashes + indexes)".ljust(64), end="")
    print(f"{'terms':>12}{'bytes':>9}{'text':>8}{'loaded':>9}{'after':>9}{'peak MB':>9}")
    print(f"{'at most':20}{'':12}{PER_FACT:>9.1f}".ljust(64) + f"{'':12}{PER_TERM:>9.1f}")
    for size in universities:
        data = lubm_data(size, folder)
        for ruleset in names:
            print(row(f"LUBM({size}) {ruleset}", in_process(ruleset, [str(ontology), str(data)])), flush=True)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.memory")
