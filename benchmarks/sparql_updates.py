"""The CPU time of SPARQL updates, small and large: kg_reasoner, pyoxigraph and rdflib's memory store on LUBM(1), in one run.

``python -m benchmarks.sparql_updates --before FOLDER`` also measures another version of kg_reasoner, whose tree is in the folder.
Each measurement has a process of its own, in which a small update comes first. With rules, the time includes the maintenance of
the materialisation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Final

__all__ = ["JOBS", "SYSTEMS", "measured"]

UB: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
LEAVES: Final = (
    "name",
    "emailAddress",
    "telephone",
    "takesCourse",
    "publicationAuthor",
    "advisor",
    "teacherOf",
    "researchInterest",
)
"""Properties of which LUBM's ontology does not infer triples."""

_VALUES: Final = " ".join(f"<{UB}{name}>" for name in LEAVES)
_RENAMED: Final = "DELETE { ?s ?p ?o } INSERT { ?s ?q ?o } WHERE"
_NEW: Final = 'BIND(IRI(CONCAT(STR(?p), "-new")) AS ?q)'

SINGLE: Final = 500
DATA: Final = 2_000

JOBS: Final[dict[str, Sequence[str]]] = {
    "one by one": [f"INSERT DATA {{ <urn:s{number}> <{UB}name-new> {number} }}" for number in range(SINGLE)],
    "INSERT DATA": ["".join(["INSERT DATA {\n", *(f"<urn:s{row}> <{UB}name-new> {row} .\n" for row in range(DATA)), "}"])],
    "10,000 triples": [
        f"DELETE {{ ?s <{UB}takesCourse> ?o }} INSERT {{ ?s <{UB}takesCourse-new> ?o }} "
        f"WHERE {{ {{ SELECT ?s ?o {{ ?s <{UB}takesCourse> ?o }} LIMIT 10000 }} }}"
    ],
    "eight properties": [f"{_RENAMED} {{ VALUES ?p {{ {_VALUES} }} ?s ?p ?o {_NEW} }}"],
    "all triples": [f"{_RENAMED} {{ ?s ?p ?o {_NEW} }}"],
}
"""The requests of each job. The first two jobs insert data, the others delete triples and insert as many."""

WARM_UP: Final = f'<urn:a> <{UB}takesCourse> <urn:b> .\n<urn:a> <{UB}name> "a" .\n'

Run = tuple[Callable[[str], object], Callable[[], int]]
"""What performs an update, and what counts the triples with new properties."""


def kg_reasoner(rules: str | None, files: list[Path], data: str | None) -> Run:
    import warnings

    from kg_reasoner import Reasoner, graph_of
    from kg_reasoner.errors import BeyondProfileWarning

    warnings.simplefilter("ignore", BeyondProfileWarning)
    reasoner = Reasoner(ruleset=rules) if rules else Reasoner()
    for file in files:
        reasoner.load(file)
    graph = graph_of(reasoner)
    if data is not None:
        graph.parse(data=data, format="nt")
    graph.commit()
    reasoner.materialise()

    def update(text: str) -> None:
        graph.update(text)
        graph.commit()

    return update, lambda: sum(1 for _, p, _ in graph if str(p).endswith("-new"))


def rdflib(rules: str | None, files: list[Path], data: str | None) -> Run:
    from rdflib import Graph

    graph = Graph()
    for file in files:
        graph.parse(file, format="nt")
    if data is not None:
        graph.parse(data=data, format="nt")
    return graph.update, lambda: sum(1 for _, p, _ in graph if str(p).endswith("-new"))


def pyoxigraph(rules: str | None, files: list[Path], data: str | None) -> Run:
    from pyoxigraph import RdfFormat, Store

    store = Store()
    for file in files:
        store.load(path=str(file), format=RdfFormat.N_TRIPLES)
    if data is not None:
        store.load(data, format=RdfFormat.N_TRIPLES)
    return store.update, lambda: sum(1 for quad in store if quad.predicate.value.endswith("-new"))


SYSTEMS: Final[dict[str, Callable[[str | None, list[Path], str | None], Run]]] = {
    "kg_reasoner": kg_reasoner,
    "before": kg_reasoner,
    "pyoxigraph": pyoxigraph,
    "rdflib": rdflib,
}


def measured(system: str, rules: str | None, job: str, files: list[Path]) -> tuple[float, int]:
    """Return the CPU seconds of an update in this process, and how many triples it inserts."""
    requests = JOBS[job]
    SYSTEMS[system](rules, [], WARM_UP)[0](requests[0])
    update, count = SYSTEMS[system](rules, files, None)
    start = process_time()
    for request in requests:
        update(request)
    return process_time() - start, count()


def _elsewhere(system: str, rules: str | None, job: str, files: list[Path], tree: Path) -> tuple[float, int]:
    """Return what `measured` returns in a process with the modules of a tree."""
    command = [sys.executable, __file__, json.dumps([system, rules, job, list(map(str, files))])]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree, stdout=subprocess.PIPE, check=True)
    seconds, count = json.loads(done.stdout.splitlines()[-1])
    return seconds, count


def _command() -> Any:
    import click

    from benchmarks.inputs.data import made, universities_as_ntriples, write_ontology
    from benchmarks.inputs.update_data import data_folder
    from benchmarks.measuring.commands import SETTINGS

    @click.command(context_settings=SETTINGS, help="Measure SPARQL updates of LUBM(1).")
    @click.option("--before", type=click.Path(exists=True, path_type=Path), help="The tree of another version of kg_reasoner.")
    @click.option("-n", "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each, taken in turns.")
    @click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data.")
    def main(before: Path | None, rounds: int, cache: Path | None) -> None:
        folder, here = data_folder(cache), Path(__file__).parents[1]
        data = made(folder / "lubm1" / "data.nt", lambda file: file.writelines(universities_as_ntriples(1)))
        ontology = made(folder / "ontology.nt", write_ontology)
        names = [name for name in SYSTEMS if name != "before" or before]
        for rules, jobs, files in ((None, list(JOBS), [data]), ("owl2rl", list(JOBS)[:4], [ontology, data])):
            for job in jobs:
                runs: dict[str, list[tuple[float, int]]] = {}
                for _ in range(rounds):
                    for name in names:
                        if rules is None or SYSTEMS[name] is kg_reasoner:
                            tree = before if name == "before" and before else here
                            runs.setdefault(name, []).append(_elsewhere(name, rules, job, files, tree))
                for name, found in runs.items():
                    seconds = median(time for time, _ in found)
                    click.echo(f"{rules or 'no rules':10} {job:18} {found[0][1]:8,} {name:12} {seconds:8.3f} s CPU")

    return main


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("["):
        _system, _rules, _job, _files = json.loads(sys.argv[1])
        print(json.dumps(measured(_system, _rules, _job, list(map(Path, _files)))))
    else:
        _command()()
