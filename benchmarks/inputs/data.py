"""The inputs of the benchmarks, generated once and cached in a folder. Their generation is not measured."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from benchmarks.inputs.closure import EDGE_IRI, PROGRAMS, node_iri
from benchmarks.inputs.jobs import DLP, DLP_RULES, OWL2RL, RDFS, Job
from benchmarks.translations import nemo_rules, relational, souffle_rules, sql_rules, vlog_rules
from benchmarks.translations.nemo_rules import Predicate
from benchmarks.translations.relational import ALL_TRIPLES

if TYPE_CHECKING:
    from kg_reasoner import Reasoner
    from kg_reasoner.program import Rule

__all__ = ["graph_job", "lubm_files", "lubm_job", "reasoned_lubm"]

SEED: Final = 0
RDF_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def lubm_job(universities: int, task: str, cache: Path) -> Job:
    """Return the job of a number of LUBM's universities under the rule set `task`."""
    folder = cache / f"lubm{universities}"
    files = lubm_files(universities, cache)
    ontology, data = files["ontology.nt"], files["ntriples"]
    files |= {"ontology.ttl": alias(ontology), "turtle": alias(data)}
    rules = our_rules(task, ontology)
    if task in (RDFS, DLP):
        files |= engine_files(task, rules, folder, [ontology, data])
    if task in (OWL2RL, DLP):
        relations = split(folder / "relations", [ontology, data])
        text, reads = nemo_rules.by_predicate(rules, relations), nemo_rules.by_predicate([], relations)
    else:
        triples = [str(ontology), str(data)]
        text, reads = nemo_rules.ternary(rules, triples), nemo_rules.ternary([], triples)
    return job(f"LUBM({universities})", task, folder, files, text, reads)


def lubm_files(universities: int, cache: Path) -> dict[str, Path]:
    """Return the ontology and the data of a number of LUBM's universities."""
    data = cache / f"lubm{universities}" / "data.nt"
    return {
        "ontology.nt": made(cache / "ontology.nt", write_ontology),
        "ntriples": made(data, lambda file: file.writelines(universities_as_ntriples(universities))),
    }


def graph_job(graph: Path, task: str, cache: Path) -> Job:
    """Return the job of the transitive closure of a graph: a file with lines ``from to label``, of which the label is left out."""
    from kg_reasoner.language.parser import parse

    folder = cache / graph.stem
    edges = list(dict.fromkeys(tuple(line.split()[:2]) for line in graph.read_text(encoding="ascii").splitlines()))

    def write_triples(file: BinaryIO) -> None:
        file.write(f"<{EDGE_IRI}> {RDF_TYPE} <http://www.w3.org/2002/07/owl#TransitiveProperty> .\n".encode())
        file.writelines(f"<{node_iri(start)}> <{EDGE_IRI}> <{node_iri(end)}> .\n".encode() for start, end in edges)

    triples = made(folder / "data.nt", write_triples)
    table = made(folder / "edge.tsv", lambda file: file.writelines(f"{start}\t{end}\n".encode() for start, end in edges))
    inputs = {"edge": f'tsv {{ resource = "{table}", format = (int, int) }}'}
    rules = parse(PROGRAMS[task]).rules
    text, reads = nemo_rules.plain(rules, inputs, ["edge", "path"]), nemo_rules.plain([], inputs, ["edge"])
    return job(graph.stem, task, folder, {"ntriples": triples, "turtle": alias(triples), "edges": table}, text, reads)


def engine_files(task: str, rules: Iterable[Rule], folder: Path, sources: list[Path]) -> dict[str, Path]:
    """Return the inputs of Soufflé, VLog and DuckDB, of which the programs are written each time."""
    facts = folder / f"{task}-facts"
    if task == DLP:
        filled = split(facts, sources, "facts", str, "\t")
        program = relational.by_predicate(rules, filled)
    else:
        program = relational.ternary(rules)
        made(facts / f"{ALL_TRIPLES}.facts", lambda file: file.writelines(tsv(sources)))
    texts = {f"souffle {part}": souffle_rules.program(program, part) for part in souffle_rules.PARTS}
    texts["vlog"] = vlog_rules.program(program)
    files = {"souffle facts": facts}
    for kind, text in texts.items():
        files[kind] = folder / f"{task}-{kind.replace(' ', '-')}.{'rules' if kind == 'vlog' else 'dl'}"
        files[kind].write_text(text, encoding="utf-8")
    files["duckdb"] = folder / f"{task}-duckdb.json"
    sql_rules.script(program, map(str, sources)).write_to(files["duckdb"])
    return files


def tsv(sources: Iterable[Path]) -> Iterator[bytes]:
    """Yield the lines of N-Triples files as TSV."""
    for source in sources:
        with source.open("rb") as lines:
            for line in lines:
                yield b"\t".join(line.rstrip(b" .\n").split(b" ", 2)) + b"\n"


def job(workload: str, task: str, folder: Path, files: dict[str, Path], nemo: str, nemo_load: str) -> Job:
    """Return the job with these files, and with two programs for Nemo, which are written each time: they depend on our rules."""
    for kind, text in (("nemo", nemo), ("nemo load", nemo_load)):
        files[kind] = folder / f"{task} {kind}.rls".replace(" ", "-")
        files[kind].write_text(text, encoding="utf-8")
    return Job(workload, task, {kind: str(path) for kind, path in files.items()})


# ---- files


def made(path: Path, write: Callable[[BinaryIO], None]) -> Path:
    """Return the file, written completely or not at all if it does not exist yet."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        with unfinished.open("wb") as file:
            write(file)
        unfinished.replace(path)
    return path


def alias(path: Path) -> Path:
    """Return a link to the N-Triples under a Turtle file name."""
    other = path.with_suffix(".ttl")
    if not other.exists():
        try:
            other.hardlink_to(path)
        except OSError:
            shutil.copyfile(path, other)
    return other


# ---- LUBM


def universities_as_ntriples(universities: int) -> Iterator[bytes]:
    from kg_reasoner.lubm import generate

    return generate(universities, SEED)


def write_ontology(file: BinaryIO) -> None:
    """Write LUBM's ontology as N-Triples."""
    import rdflib

    from kg_reasoner.lubm import ontology_path

    rdflib.Graph().parse(ontology_path()).serialize(file, format="nt", encoding="utf-8")


def our_rules(ruleset: str, ontology: Path) -> tuple[Rule, ...]:
    """Return the active rules of our reasoner with the ontology loaded, under a rule set or `DLP`."""
    from kg_reasoner.api.reasoner import Reasoner

    reasoner = Reasoner(DLP_RULES) if ruleset == DLP else Reasoner(ruleset=ruleset)
    reasoner.load(str(ontology))
    return reasoner.rules


def csv_cell(term: str) -> str:
    """Return a term in N-Triples form as a CSV cell for Nemo; blank nodes become IRIs, because files share them."""
    if term.startswith("_:"):
        return f"<bnode:{term[2:]}>"
    return f'"{term.replace(chr(34), chr(34) * 2)}"' if '"' in term or "," in term else term


def split(
    folder: Path, sources: Iterable[Path], suffix: str = "csv", cell: Callable[[str], str] = csv_cell, separator: str = ","
) -> dict[Predicate, str]:
    """Return the N-Triples files as one file for each class and each property; by default as Nemo reads them.

    Args:
        folder: Where the files are, or will be.
        sources: The N-Triples files.
        suffix: The suffix of the files' names.
        cell: How a term is written.
        separator: What is between the cells.
    """
    index = folder / "index.tsv"
    if not index.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with relation_files(folder, suffix) as file_of:
            for source in sources:
                with source.open(encoding="utf-8") as lines:
                    for line in lines:
                        subject, predicate, object = line.rstrip(" .\n").split(" ", 2)
                        if predicate == RDF_TYPE and object.startswith("<"):
                            file_of(Predicate(object[1:-1], 1)).write(f"{cell(subject)}\n")
                        else:
                            file_of(Predicate(predicate[1:-1], 2)).write(f"{cell(subject)}{separator}{cell(object)}\n")
    rows = (line.split("\t") for line in index.read_text(encoding="utf-8").splitlines())
    return {Predicate(iri, int(arity)): path for iri, arity, path in rows}


@contextmanager
def relation_files(folder: Path, suffix: str) -> Iterator[Callable[[Predicate], TextIO]]:
    """Open the files of relations on demand; at the end, write the list of them to ``index.tsv``."""
    opened: dict[Predicate, TextIO] = {}

    def file_of(predicate: Predicate) -> TextIO:
        if predicate not in opened:
            opened[predicate] = (folder / f"{predicate.name}.{suffix}").open("w", encoding="utf-8")
        return opened[predicate]

    try:
        yield file_of
        rows = [f"{predicate.iri}\t{predicate.arity}\t{file.name}\n" for predicate, file in opened.items()]
    finally:
        for file in opened.values():
            file.close()
    (folder / "index.tsv").write_text("".join(rows), encoding="utf-8")


def reasoned_lubm(universities: int) -> Reasoner:
    """Return a reasoner with LUBM's data and what follows by ``owl2rl``."""
    from kg_reasoner import BeyondProfileWarning, Reasoner, lubm

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "lubm.nt"
        lubm.write(data, universities, seed=SEED)
        reasoner = Reasoner(ruleset="owl2rl")
        reasoner.load(lubm.ontology_path(), data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondProfileWarning)
        reasoner.materialise()
    return reasoner
