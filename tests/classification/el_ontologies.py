"""Random ontologies in OWL 2 EL, in the form of `benchmarks.inputs.el_data`, and what a reasoner says of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import count

from benchmarks.inputs.el_data import EX, Axiom, Expression, triples
from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple

__all__ = ["CLASSES", "DECLARATIONS", "axioms", "derived", "triples_of"]

CLASSES = tuple(f"C{number}" for number in range(6))
PROPERTIES = tuple(f"r{number}" for number in range(4))
INDIVIDUALS = tuple(f"i{number}" for number in range(3))
DECLARATIONS: list[Axiom] = [*(("class", name) for name in CLASSES), *(("property", name) for name in PROPERTIES)]


def axioms(chance: random.Random, most: int = 14) -> list[Axiom]:
    """Different axioms, with ranges or with chains: the profile restricts both together."""
    found = list(DECLARATIONS)
    kinds = ["subclass"] * 9 + ["equivalent"] * 2 + ["assertion", "related"] * 2
    kinds += ["disjoint", "subproperty", "transitive", "chain", "reflexive", "domain", "range"]
    for _ in range(chance.randint(2, most)):
        found.append(_axiom(chance.choice(kinds), chance))
    if any(kind == "chain" for kind, *_ in found):
        found = [axiom for axiom in found if axiom[0] != "range"]
    return list(dict.fromkeys(found))


def _axiom(kind: str, chance: random.Random) -> Axiom:
    properties = chance.choices(PROPERTIES, k=3)
    match kind:
        case "subclass":
            return kind, _expression(chance, 2), _expression(chance, 2)
        case "equivalent" | "disjoint":
            return kind, chance.choice(CLASSES), _expression(chance, 2 if kind == "equivalent" else 0)
        case "subproperty":
            return kind, *properties[:2]
        case "chain":
            return kind, tuple(properties[:2]), properties[2]
        case "domain":
            return kind, properties[0], _expression(chance, 1)
        case "range":
            return kind, properties[0], chance.choice(CLASSES)
        case "assertion":
            return kind, chance.choice(INDIVIDUALS), _expression(chance, 1)
        case "related":
            return kind, chance.choice(INDIVIDUALS), properties[0], chance.choice(INDIVIDUALS)
    return kind, properties[0]


def _expression(chance: random.Random, depth: int) -> Expression:
    kind = chance.random()
    if depth == 0 or kind < 0.45:
        return chance.choice(CLASSES)
    if kind < 0.75:
        return "some", chance.choice(PROPERTIES), _expression(chance, depth - 1)
    if kind < 0.8:
        return "self", PROPERTIES[2]
    if kind < 0.83:
        return chance.choice(("Thing", "Nothing"))
    return "and", *(_expression(chance, depth - 1) for _ in range(chance.choice((2, 2, 3))))


def triples_of(axioms: Iterable[Axiom], label: str = "x") -> list[Triple]:
    """The triples of axioms; the blank nodes of each begin with the label and the number of the axiom."""
    found = []
    for number, axiom in enumerate(axioms):
        found += [
            (_term(subject), _term(predicate), _term(value))
            for subject, predicate, value in triples(axiom, count(), f"{label}{number}n")
        ]
    return found


def _term(text: str) -> Term:
    if text.startswith("_:"):
        return BlankNode(text[2:])
    return IRI(text[1:-1]) if text.startswith("<") else Literal("true", XSD.boolean.value)


def derived(reasoner: Reasoner) -> Iterator[tuple[str, str]]:
    """Names of a class or individual, and of a class that it is below or in."""
    for subject, predicate, value in reasoner.triples():
        if predicate not in (RDFS.subClassOf, RDF.type) or not isinstance(subject, IRI) or not isinstance(value, IRI):
            continue
        if subject.value.startswith(EX) and (value.value.startswith(EX) or value in (OWL.Nothing, OWL.Thing)):
            yield subject.value.rpartition("#")[2], value.value.rpartition("#")[2]
