"""The time of SHACL validation with inference: ``python -m benchmarks.shacl``.

pySHACL validates a part of LUBM after each change of one triple, in three ways: a plain graph that owlrl expands within pySHACL
(``inference="owlrl"``), a plain graph that `kg_reasoner.owlrl` expands, and a graph with a reasoner, which follows the change. The
shapes name superclasses and inverse properties, so the reports depend on inference; all ways must find the same violations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import islice
from statistics import median

import click
from rdflib import RDF, SH, Graph, Namespace
from rich.console import Console

from benchmarks.contests import report
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import need_peers
from kg_reasoner import BeyondProfileWarning, attach, lubm, owlrl

UB = Namespace("http://swat.cse.lehigh.edu/onto/univ-bench.owl#")
SHAPES = f"""
@prefix sh: <{SH}> .
@prefix ub: <{UB}> .
ub:PersonShape a sh:NodeShape ; sh:targetClass ub:Person ; sh:property [ sh:path ub:name ; sh:minCount 1 ] .
ub:DepartmentShape a sh:NodeShape ; sh:targetClass ub:Department ; sh:property [ sh:path ub:member ; sh:minCount 1 ] .
ub:FacultyShape a sh:NodeShape ; sh:targetClass ub:Faculty ; sh:property [ sh:path ub:worksFor ; sh:class ub:Organization ] .
"""
NAMELESS = (Namespace("http://example.org/").nobody, RDF.type, UB.FullProfessor)
"""By the ontology a person, who has no name."""

Violations = set[tuple[object, object]]


def data(count: int) -> Graph:
    """Return LUBM's ontology and the first triples of its data."""
    lines = (line for part in lubm.generate(1) for line in part.splitlines())
    graph = Graph().parse(lubm.ontology_path())
    return graph.parse(data=b"\n".join(islice(lines, count)), format="nt")


def violations(graph: Graph, inference: str) -> Violations:
    """Return what pySHACL finds: nodes, and the paths of their shapes."""
    import pyshacl

    shapes = Graph().parse(data=SHAPES, format="turtle")
    found = pyshacl.validate(graph, shacl_graph=shapes, inference=inference)[1]
    return {
        (found.value(result, SH.focusNode), found.value(result, SH.resultPath))
        for result in found.subjects(RDF.type, SH.ValidationResult)
    }


def expanded(graph: Graph) -> Violations:
    """Expand a copy of a plain graph and validate it."""
    copy = Graph()
    copy += graph
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(copy)
    return violations(copy, "none")


def attached(graph: Graph) -> Violations:
    """Validate a graph with a reasoner."""
    return violations(graph, "none")


def measured(graph: Graph, way: Callable[[Graph], Violations], rounds: int) -> tuple[Violations, float]:
    """Return the violations after a change, and the median of the CPU seconds from the change to the report."""
    times = []
    found: Violations = set()
    for _ in range(rounds):
        start = time.process_time()
        graph.add(NAMELESS)
        found = way(graph)
        times.append(time.process_time() - start)
        graph.remove(NAMELESS)
    return found, median(times)


@click.command(context_settings=SETTINGS)
@click.option("-n", "--triples", type=click.IntRange(min=1), default=2000, show_default=True, help="How many of LUBM(1).")
@click.option("-r", "--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--without-owlrl", is_flag=True, help="Omit the first way, which takes by far the longest.")
def main(triples: int, rounds: int, without_owlrl: bool) -> None:
    """Validate after a change, in each way; print the median of the CPU seconds, and the time to attach the reasoner."""
    need_peers([(name, name) for name in ("pyshacl", "owlrl")[: 2 - without_owlrl]], "--without-owlrl")
    warnings.simplefilter("ignore", BeyondProfileWarning)  # the ontology's axioms
    console = Console()
    console.print(report.machine(), highlight=False, soft_wrap=True)
    plain = data(triples)
    start = time.process_time()
    graph = attach(data(triples))
    len(graph)
    to_attach = time.process_time() - start
    ways: dict[str, tuple[Graph, Callable[[Graph], Violations]]] = {
        'plain graph, inference="owlrl"': (plain, lambda graph: violations(graph, "owlrl")),
        "plain graph, kg_reasoner.owlrl": (plain, expanded),
        "graph with a reasoner": (graph, attached),
    }
    table = report.new_table(("way", "CPU s", "violations"), ("way",), title=f"validation after a change of {len(plain)} triples")
    expected: Violations | None = None
    for name, (subject, way) in list(ways.items())[without_owlrl:]:
        found, seconds = measured(subject, way, rounds)
        expected = found if expected is None else expected
        if found != expected:
            raise click.ClickException(f"{name} finds {len(found)} violations, and the first way {len(expected)}")
        table.add_row(name, f"{seconds:.2f}", str(len(found)))
    console.print(table)
    console.print(f"to attach the reasoner, once: {to_attach:.2f} s")


if __name__ == "__main__":
    main()
