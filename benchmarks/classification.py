"""Classification: ``python -m benchmarks.classification``. CPU seconds of one process; with ``--hermit``, seconds beside HermiT.

The ontologies are hierarchies like those of life sciences: each class is below one or two others, and some are defined by a class
and a value of a property.
"""

from __future__ import annotations

import io
import random
import time
from collections.abc import Iterator

import click

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Triple, term_text

EX = "http://example.org/"


def ontology(count: int, defined: int) -> Iterator[Triple]:
    """The triples of an ontology with so many classes, of which every `defined`-th is defined (0: none)."""
    chance = random.Random(count)
    classes = [IRI(f"{EX}C{number}") for number in range(count)]
    part_of = IRI(f"{EX}partOf")
    yield part_of, RDF.type, OWL.ObjectProperty
    for number, cls in enumerate(classes):
        yield cls, RDF.type, OWL.Class
        for _ in range(1 + (number % 3 == 0) if number else 0):
            yield cls, RDFS.subClassOf, classes[chance.randrange(number // 8, number // 4 + 1)]
        if defined and number % defined == 1:
            whole, first, second, some = (BlankNode(f"n{number}{letter}") for letter in "abcd")
            yield cls, OWL.equivalentClass, whole
            parts: list[Triple] = [
                *((whole, RDF.type, OWL.Class), (whole, OWL.intersectionOf, first)),
                *((first, RDF.first, classes[number // 2]), (first, RDF.rest, second)),
                *((second, RDF.first, some), (second, RDF.rest, RDF.nil), (some, RDF.type, OWL.Restriction)),
                *((some, OWL.onProperty, part_of), (some, OWL.hasValue, IRI(f"{EX}i{number % 7}"))),
            ]
            yield from parts


@click.command(context_settings=SETTINGS, help=__doc__)
@click.option("--classes", "sizes", multiple=True, type=click.IntRange(1), default=(1_000, 10_000, 100_000), show_default=True)
@click.option(
    "--defined", type=click.IntRange(0), default=0, show_default=True, help="Define every so manieth class by a value; 0: none."
)
@click.option("--hermit", is_flag=True, help="Through owlready2, beside HermiT, which needs Java; its start is included.")
def main(sizes: tuple[int, ...], defined: int, hermit: bool) -> None:
    for size in sizes:
        triples = list(ontology(size, defined))
        if hermit:
            beside_hermit(size, triples)
        else:
            alone(size, triples)


def alone(size: int, triples: list[Triple]) -> None:
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples(triples)
    start = time.process_time()
    hierarchy = reasoner.hierarchy()
    first = time.process_time() - start
    reasoner.add_triples([(IRI(f"{EX}C{size - 1}"), RDFS.subClassOf, IRI(f"{EX}C5"))])
    start = time.process_time()
    reasoner.hierarchy()
    again = time.process_time() - start
    click.echo(f"{size:>9,} classes ({len(hierarchy.unsatisfiable)} unsatisfiable): {first:.2f} s; after one change {again:.2f} s")


def beside_hermit(size: int, triples: list[Triple]) -> None:
    import owlready2

    from kg_reasoner.owlready2 import sync_reasoner

    data = "".join(f"{' '.join(map(term_text, triple))} .\n" for triple in triples).encode()

    def fresh() -> object:
        world = owlready2.World()
        world.get_ontology(EX).load(fileobj=io.BytesIO(data), format="ntriples")
        return world

    theirs, ours = fresh(), fresh()
    start = time.perf_counter()
    owlready2.sync_reasoner_hermit(theirs, debug=0)
    hermit = time.perf_counter() - start
    start = time.perf_counter()
    sync_reasoner(ours, debug=0)
    first = time.perf_counter() - start
    onto = ours.get_ontology(EX)  # type: ignore[attr-defined]
    onto[f"C{size - 1}"].is_a.append(onto.C5)
    start = time.perf_counter()
    sync_reasoner(ours, debug=0)
    again = time.perf_counter() - start
    click.echo(
        f"{size:>9,} classes: HermiT {hermit:.2f} s, ours {first:.2f} s ({hermit / first:.1f} times as fast), "
        f"after one change {again:.2f} s"
    )


if __name__ == "__main__":
    main()
