"""Reading and writing RDF files, beside pyoxigraph and maplib: ``python -m benchmarks.files``.

Thousands of triples a CPU second (of all threads together) for LUBM, the best of several runs that alternate. pyoxigraph only
parses, and writes triples that it has as objects; maplib reads into a model, and writes from it. Then ``kg-reasoner materialise``
from file to file, in CPU seconds: start, load, reason, write. With files as arguments, only how fast these are read.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import is_installed

UB: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
SYNTAXES: Final = ("nt", "nq", "ttl", "trig", "rdf", "jsonld")
"""By their file extensions."""
PACKINGS: Final = ("nt.gz", "nt.zst")
PARQUET: Final = "parquet"
MAPLIB: Final[Mapping[str, str]] = {"nt": "ntriples", "ttl": "turtle", "rdf": "rdf/xml"}
"""What maplib reads and writes, by extension."""
GRAPHS: Final = 5
BASE: Final = "http://example.org/"
"""For relative IRIs in documents of others."""

_CHILD: Final = """
import json, sys, time
from kg_reasoner.cli import main
import kg_reasoner.cli.commands.materialise
marks = {"start": time.process_time()}
def marked(owner, name, label):
    function = getattr(owner, name)
    def call(*arguments, **options):
        before = time.process_time()
        result = function(*arguments, **options)
        marks[label] = marks.get(label, 0.0) + time.process_time() - before
        return result
    setattr(owner, name, call)
import kg_reasoner.cli.options.reasoner_options
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.io.output import TripleWriter
marked(kg_reasoner.cli.options.reasoner_options, "load_documents", "load")
marked(Reasoner, "materialise", "reason")
marked(TripleWriter, "ids", "write")
sys.argv = ["kg-reasoner", "materialise", "--quiet", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
marks["start"] = time.process_time() - sum(seconds for label, seconds in marks.items() if label != "start")
print(json.dumps(marks))
"""
"""Runs the command line; what is neither loading, reasoning nor writing is the start."""


@dataclass(frozen=True)
class Speed:
    """Triples a CPU second of each system for one syntax; 0 where a system does not have it."""

    syntax: str
    ours: float
    pyoxigraph: float
    maplib: float

    def beside(self, other: float) -> str:
        """Return the speed of another system, and how many times as fast we are."""
        return f"{other / 1000:9.0f} {self.ours / other:5.1f}x" if other else f"{'-':>16}"


def write_documents(folder: Path, data: bytes) -> int:
    """Write N-Triples to a folder in each syntax, with named graphs where there are such; return the number of triples."""
    import pyoxigraph

    triples = [quad.triple for quad in pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_TRIPLES)]
    names = [pyoxigraph.NamedNode(f"http://example.org/graph{number}") for number in range(GRAPHS)]
    quads = [
        pyoxigraph.Quad(triple.subject, triple.predicate, triple.object, names[number * GRAPHS // len(triples)])
        for number, triple in enumerate(triples)
    ]
    for extension in SYNTAXES:
        syntax = _syntax(extension)
        source: Any = quads if extension in ("nq", "trig", "jsonld") else triples
        prefixes = {} if extension in ("nt", "nq") else {"ub": UB}
        pyoxigraph.serialize(source, folder / f"data.{extension}", syntax, prefixes=prefixes)
    (folder / "data.nt.gz").write_bytes(gzip.compress(data))
    if is_installed("zstandard"):
        import zstandard

        (folder / "data.nt.zst").write_bytes(zstandard.ZstdCompressor().compress(data))
    return len(triples)


def reading(folder: Path, count: int, runs: int) -> Iterator[Speed]:
    """Measure how fast each document is read: parsed and encoded by us, parsed by pyoxigraph, loaded by maplib."""
    for extension in (*SYNTAXES, *PACKINGS):
        path = folder / f"data.{extension}"
        if not path.exists():
            continue
        yield reading_of(path, extension, count, runs)


def reading_of(path: Path, name: str, count: int, runs: int) -> Speed:
    """Measure how fast a document is read, which is called by a name."""
    extension = path.suffix[1:]
    actions: list[Callable[[], object] | None] = [partial(_encode, path), None, None]
    if extension in SYNTAXES or extension == "owl":
        actions[1] = partial(_parse, path)
    if extension in MAPLIB and is_installed("maplib"):
        actions[2] = partial(_maplib_of, path)
    return Speed(name, *_speeds(actions, count, runs))


def writing(folder: Path, count: int, runs: int) -> Iterator[Speed]:
    """Measure how fast each syntax is written: from ids by us, from objects by pyoxigraph, from its model by maplib."""
    import numpy as np
    import pyoxigraph

    from kg_reasoner.io.output import triple_writer
    from kg_reasoner.loaders.rdf.readers.reader import read
    from kg_reasoner.storage.terms.dictionary import Dictionary

    source, prefixes = folder / "data.nt", {"ub": UB}
    dictionary = Dictionary()
    ids = np.concatenate([block.triples for block in read(source, dictionary=dictionary)])
    objects = [quad.triple for quad in pyoxigraph.parse(path=source)]
    model = _maplib_of(source) if is_installed("maplib") else None

    def ours(path: Path) -> None:
        with triple_writer(path, prefixes=prefixes) as write:
            write.ids(ids, dictionary)

    for extension in (*SYNTAXES, *PACKINGS, PARQUET):
        if extension == "nt.zst" and not is_installed("zstandard"):
            continue
        path = folder / f"written.{extension}"
        actions: list[Callable[[], object] | None] = [partial(ours, path), None, None]
        if extension in SYNTAXES:
            names = None if extension in ("nt", "nq") else prefixes
            actions[1] = partial(pyoxigraph.serialize, objects, path, _syntax(extension), prefixes=names)
        if extension in MAPLIB and model is not None:
            actions[2] = partial(model.write, str(path), format=MAPLIB[extension])
        yield Speed(extension, *_speeds(actions, count, runs))


def materialising(source: Path, folder: Path, extension: str, runs: int) -> dict[str, float]:
    """Return the CPU seconds of the parts of ``kg-reasoner materialise`` from file to file, of the fastest run."""
    best: dict[str, float] = {}
    for _ in range(runs):
        command = [sys.executable, "-c", _CHILD, str(source), "-o", str(folder / f"materialised.{extension}")]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if not best or sum(found.values()) < sum(best.values()):
            best = found
    return best


def _syntax(extension: str) -> Any:
    import pyoxigraph

    return pyoxigraph.RdfFormat.from_extension("rdf" if extension == "owl" else extension)


def _encode(path: Path) -> None:
    from kg_reasoner.loaders.rdf.readers.reader import read
    from kg_reasoner.storage.terms.dictionary import Dictionary

    for _ in read(path, dictionary=Dictionary(), base=BASE):
        pass


def _parse(path: Path) -> int:
    """Parse a document by pyoxigraph; return the number of triples."""
    import pyoxigraph

    return sum(1 for _ in pyoxigraph.parse(path=path, format=_syntax(path.suffix[1:]), base_iri=BASE))


def _maplib_of(path: Path) -> Any:
    import maplib

    model = maplib.Model()
    model.read(str(path))
    return model


def _speeds(actions: list[Callable[[], object] | None], count: int, runs: int) -> list[float]:
    """Return the best speed of each action; the actions alternate."""
    times: list[list[float]] = [[] for _ in actions]
    for number in range(runs + 1):  # the first time is not counted
        for action, taken in zip(actions, times, strict=True):
            if action is not None:
                before = time.process_time()
                action()
                if number:
                    taken.append(time.process_time() - before)
    return [count / min(taken) if taken else 0.0 for taken in times]


def _print_speeds(what: str, speeds: Iterable[Speed]) -> None:
    click.echo(f"{what:12} {'ours':>8} {'pyoxigraph':>16} {'maplib':>16}")
    for speed in speeds:
        others = (speed.beside(other) if other else "-" for other in (speed.pyoxigraph, speed.maplib))
        click.echo(f"{speed.syntax:12} {speed.ours / 1000:8.0f} " + " ".join(f"{text:>16}" for text in others))
    click.echo()


@click.command(context_settings=SETTINGS)
@click.option("--universities", type=click.IntRange(1), default=1, show_default=True, help="The size of the data.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Times that each way is measured.")
@click.argument("documents", type=click.Path(path_type=Path, exists=True, dir_okay=False), nargs=-1)
def main(universities: int, runs: int, documents: tuple[Path, ...]) -> None:
    """Measure how fast RDF files are read and written, beside pyoxigraph and maplib, and the command line from file to file.

    With DOCUMENTS, only how fast these are read.
    """
    from kg_reasoner.lubm import generate

    if documents:
        click.echo("thousands of triples a CPU second, and how many times as fast we are\n")
        _print_speeds("read", (reading_of(path, path.name, _parse(path), runs) for path in documents))
        return
    data = b"".join(generate(universities))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_documents(folder, data)
        click.echo(f"LUBM({universities}), {count} triples; thousands a CPU second, and how many times as fast we are\n")
        for what, speeds in (("read", reading(folder, count, runs)), ("write", writing(folder, count, runs))):
            _print_speeds(what, speeds)
        click.echo("kg-reasoner materialise, CPU seconds\n")
        for extension in ("nt", "nq", "ttl", "jsonld"):
            parts = materialising(folder / "data.nt", folder, extension, runs)
            shown = ", ".join(f"{label} {seconds:.2f}" for label, seconds in parts.items())
            click.echo(f"to {extension:8} {sum(parts.values()):6.2f} ({shown})")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.files")
