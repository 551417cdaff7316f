"""Ontologies with data in the shape of real ones: how many superclasses, restrictions, chains and hubs for a number of classes.

The shapes follow public releases, roughly: the Gene Ontology (about 40,000 classes, 1.6 superclasses and some thirty ancestors, a
restriction for every second class, hardly any data), Brick (2,000 classes, few restrictions, buildings), FIBO (4,000 classes, many
restrictions and values), and schema.org (1,000 classes, 1,500 properties, data about few kinds of things).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["SHAPES", "Shape", "shaped"]

_OWL = "http://www.w3.org/2002/07/owl#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_TYPE = f"<{_RDF}type>"
_SUB = f"<{_RDFS}subClassOf>"


@dataclass(frozen=True, slots=True)
class Shape:
    """What there is for each class, on average, and some numbers of the whole."""

    superclasses: float = 1.0
    above: tuple[float, float] = (0.5, 1.0)
    """The superclasses of the n-th class are between these parts of n: the smaller, the flatter the hierarchy."""
    existentials: float = 0.0
    values: float = 0.0
    properties: float = 0.02
    individuals: float = 0.0
    edges: float = 0.0
    chains: int = 0
    transitive: int = 1
    hubs: int = 0
    """The number of individuals that have a tenth of all edges each."""


SHAPES = {
    "go": Shape(superclasses=1.6, above=(0.125, 0.4), existentials=0.5, properties=0.0005, transitive=2, chains=2, individuals=0.1),
    "brick": Shape(existentials=0.05, values=0.1, properties=0.05, individuals=5, edges=10, chains=3, hubs=1),
    "fibo": Shape(superclasses=1.3, existentials=1.5, values=0.2, properties=0.5, individuals=1, edges=2, transitive=4, chains=4),
    "schema": Shape(superclasses=1.1, properties=1.5, individuals=20, edges=40, transitive=0, hubs=2),
}
"""Shapes by name."""


def _(name: object) -> str:
    return f"<http://example.org/{name}>"


def shaped(shape: Shape, classes: int, seed: int = 1) -> Iterator[str]:
    """Yield the lines of an ontology with data, in N-Triples without full stops, always the same ones for a seed.

    >>> len(list(shaped(SHAPES["go"], 100))) > 200
    True
    """
    source = random.Random(seed)
    properties = max(4, round(shape.properties * classes))
    individuals = round(shape.individuals * classes)

    def times(average: float) -> range:
        return range(int(average) + (source.random() < average % 1))

    def superclass_of(number: int) -> int:
        low, high = (int(number * part) for part in shape.above)
        return source.randrange(max(1, low), max(2, high)) if number > 3 else 0

    def restriction(node: str, kind: str, value: str) -> Iterator[str]:
        yield f"{node} {_TYPE} <{_OWL}Restriction>"
        yield f"{node} <{_OWL}onProperty> {_(f'p{source.randrange(properties)}')}"
        yield f"{node} <{_OWL}{kind}> {value}"

    for number in range(classes):
        cls = _(f"C{number}")
        yield f"{cls} {_TYPE} <{_OWL}Class>"
        for _place in times(shape.superclasses) if number else ():
            yield f"{cls} {_SUB} {_(f'C{superclass_of(number)}')}"
        for place in times(shape.existentials):
            node = f"_:e{number}x{place}"
            yield from restriction(node, "someValuesFrom", _(f"C{source.randrange(classes)}"))
            yield f"{cls} {_SUB} {node}" if source.random() < 0.5 else f"{node} {_SUB} {cls}"
        for place in times(shape.values):
            node = f"_:v{number}x{place}"
            yield from restriction(node, "hasValue", _(f"i{source.randrange(max(1, individuals))}"))
            yield f"{cls} {_SUB} {node}" if source.random() < 0.5 else f"{node} {_SUB} {cls}"
    for number in range(properties):
        property = _(f"p{number}")
        if number:
            yield f"{property} <{_RDFS}subPropertyOf> {_(f'p{source.randrange(number)}')}"
        kind = source.choice(["domain", "range"])
        yield f"{property} <{_RDFS}{kind}> {_(f'C{source.randrange(classes)}')}"
        if number < shape.transitive:
            yield f"{_(f't{number}')} {_TYPE} <{_OWL}TransitiveProperty>"
    yield from _chains(shape.chains)
    for number in range(individuals):
        yield f"{_(f'i{number}')} {_TYPE} {_(f'C{source.randrange(classes)}')}"
    for number in range(round(shape.edges * classes)):
        hub = source.randrange(10)
        end = hub if hub < shape.hubs else source.randrange(individuals)
        if shape.transitive and number % 10 == 0:  # parts of something before them, so that paths are short
            part = source.randrange(1, individuals)
            yield f"{_(f'i{part}')} {_(f't{number % shape.transitive}')} {_(f'i{part // 4}')}"
        else:
            yield f"{_(f'i{source.randrange(individuals)}')} {_(f'p{source.randrange(properties)}')} {_(f'i{end}')}"


def _chains(count: int) -> Iterator[str]:
    """Yield axioms on chains of two properties."""
    for number in range(count):
        first, second = (f"_:c{number}x{place}" for place in (1, 2))
        yield f"{_(f'p{number}')} <{_OWL}propertyChainAxiom> {first}"
        for node, property, rest in ((first, f"p{number + 1}", second), (second, f"t{number % 2}", f"<{_RDF}nil>")):
            yield f"{node} <{_RDF}first> {_(property)}"
            yield f"{node} <{_RDF}rest> {rest}"
