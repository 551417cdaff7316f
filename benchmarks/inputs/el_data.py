"""Ontologies in OWL 2 EL of any size, in the shape of well-known ones, as N-Triples and in functional-style syntax.

An expression is a name or a tuple: ``("and", expression, ...)`` or ``("some", property, expression)``. An axiom is a tuple, too:
the name of its kind (see `_WRITTEN`) and its parts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final, TextIO, TypeAlias

__all__ = ["DEEP", "EX", "SHAPES", "Axiom", "functional", "triples", "write_functional", "write_triples"]

EX: Final = "http://example.org/el#"

Expression: TypeAlias = "str | tuple[Any, ...]"
Axiom: TypeAlias = tuple[Any, ...]


def _parents(chance: random.Random, number: int, most: int) -> list[str]:
    """The names of one to `most` earlier classes: a hierarchy whose depth grows with the logarithm of its size."""
    below = max(1, number // 4)
    return sorted({f"C{chance.randrange(number // 12, below + 1)}" for _ in range(chance.randint(1, most))}) if number else []


def snomed(size: int, chance: random.Random) -> Iterator[Axiom]:
    """Role groups: ``C = P and some group (some r1 V1 and some r2 V2)``, a third of them defined, few roles in a hierarchy."""
    roles = [f"r{number}" for number in range(60)]
    for number in range(1, 12):
        yield "subproperty", roles[number], roles[number // 4]
    yield "transitive", "r0"
    yield "chain", ("r20", "r0"), "r20"
    for number in range(size):
        name, parents = f"C{number}", _parents(chance, number, 2)
        yield "class", name
        groups: list[Expression] = []
        for _ in range(chance.choice((0, 1, 1, 2)) if number > 100 else 0):
            values = [
                ("some", roles[min(59, int(chance.expovariate(0.12)))], f"C{chance.randrange(number)}")
                for _ in range(chance.choice((1, 1, 2, 3)))
            ]
            groups.append(("some", "group", values[0] if len(values) == 1 else ("and", *values)))
        if not parents:
            continue
        if groups and chance.random() < 0.4:
            yield "equivalent", name, ("and", *parents, *groups)
            continue
        for part in (*parents, *groups):
            yield "subclass", name, part


def go(size: int, chance: random.Random) -> Iterator[Axiom]:
    """A deep hierarchy with a transitive part_of, chains of regulation, disjoint branches and some definitions."""
    yield "transitive", "part_of"
    yield "subproperty", "positively_regulates", "regulates"
    yield "subproperty", "negatively_regulates", "regulates"
    yield "chain", ("regulates", "part_of"), "regulates"
    yield "chain", ("part_of", "regulates"), "regulates"
    yield "disjoint", "C1", "C2"
    yield "domain", "regulates", "C1"
    roles = ["part_of", "part_of", "regulates", "positively_regulates", "negatively_regulates", "occurs_in"]
    for number in range(size):
        name, branch = f"C{number}", 1 + number % 2  # even classes are below C1, odd ones below C2
        yield "class", name
        if number < 3:
            if number:
                yield "subclass", name, "C0"
            continue

        def of_branch(low: int, high: int, branch: int = branch) -> str:
            """A class below C1 or C2, or itself one of these, with a number in a range."""
            found = 2 * (chance.randrange(low, high + 1) // 2) + branch - 1
            return f"C{found if found > 2 else branch}"

        parents = sorted({of_branch(number // 6, number // 2) for _ in range(chance.choice((1, 1, 1, 2, 2)))})
        for parent in parents:
            yield "subclass", name, parent
        role = chance.choice(roles) if branch == 1 else "part_of"
        value = ("some", role, of_branch(1, number - 1))
        if chance.random() < 0.15:
            yield "equivalent", name, ("and", parents[0], value)
        elif chance.random() < 0.5:
            yield "subclass", name, value


def galen(size: int, chance: random.Random) -> Iterator[Axiom]:
    """Many roles in a hierarchy, transitive ones, chains along them, nested definitions, and inclusions between expressions."""
    roles = [f"r{number}" for number in range(400)]
    for number in range(1, 400):
        yield "subproperty", roles[number], roles[number // 5]
    for number in range(20, 44):
        yield "transitive", roles[number]
    for number in range(60, 80):
        yield "chain", (roles[number], roles[number - 40]), roles[number]
    for number in range(size):
        name, parents = f"C{number}", _parents(chance, number, 2)
        yield "class", name
        if not parents:
            continue
        values: list[Expression] = []
        for _ in range(chance.choice((0, 1, 1, 2))):
            filler: Expression = f"C{chance.randrange(number)}"
            if chance.random() < 0.3:
                filler = ("and", filler, ("some", chance.choice(roles), f"C{int(number * chance.random())}"))
            values.append(("some", chance.choice(roles), filler))
        kind = chance.random()
        if values and kind < 0.35:
            yield "equivalent", name, ("and", *parents, *values)
            continue
        for part in (*parents, *values):
            yield "subclass", name, part
        if values and kind > 0.85:
            yield "subclass", ("and", parents[0], values[0]), f"C{int(number * chance.random())}"


def path(size: int, _: random.Random) -> Iterator[Axiom]:
    """Classes each below the one before: as many inclusions as there are pairs."""
    for number in range(size):
        yield "class", f"C{number}"
        if number:
            yield "subclass", f"C{number}", f"C{number - 1}"


def chain(size: int, _: random.Random) -> Iterator[Axiom]:
    """Classes each part of the one before, by a transitive property: as many derived relations as there are pairs."""
    yield "transitive", "part_of"
    for number in range(size):
        yield "class", f"C{number}"
        if number:
            yield "subclass", f"C{number}", ("some", "part_of", f"C{number - 1}")
    yield "subclass", ("some", "part_of", "C0"), "C0"


Shape: TypeAlias = Callable[[int, random.Random], Iterator[Axiom]]
SHAPES: Final[dict[str, Shape]] = {"snomed": snomed, "go": go, "galen": galen}
DEEP: Final[dict[str, Shape]] = {"path": path, "chain": chain}
"""What no terminology is like: the cost of depth."""


# ---- functional-style syntax

_WRITTEN: Final = {
    "class": "Declaration(Class({}))",
    "property": "Declaration(ObjectProperty({}))",
    "subclass": "SubClassOf({} {})",
    "equivalent": "EquivalentClasses({} {})",
    "disjoint": "DisjointClasses({} {})",
    "subproperty": "SubObjectPropertyOf({} {})",
    "transitive": "TransitiveObjectProperty({})",
    "domain": "ObjectPropertyDomain({} {})",
    "range": "ObjectPropertyRange({} {})",
    "reflexive": "ReflexiveObjectProperty({})",
    "assertion": "ClassAssertion({1} {0})",
    "related": "ObjectPropertyAssertion({1} {0} {2})",
}


def functional(axiom: Axiom) -> str:
    """Return an axiom in functional-style syntax."""
    if axiom[0] == "chain":
        return f"SubObjectPropertyOf(ObjectPropertyChain({' '.join(map(_text, axiom[1]))}) {_text(axiom[2])})"
    return _WRITTEN[axiom[0]].format(*map(_text, axiom[1:]))


def _text(part: Expression) -> str:
    if isinstance(part, str):
        return f"owl:{part}" if part in _OWN else f":{part}"
    name = {"and": "ObjectIntersectionOf", "some": "ObjectSomeValuesFrom", "one": "ObjectOneOf", "self": "ObjectHasSelf"}[part[0]]
    return f"{name}({' '.join(map(_text, part[1:]))})"


_OWN: Final = ("Thing", "Nothing")


def write_functional(axioms: Iterator[Axiom], file: TextIO) -> None:
    """Write axioms as an ontology in functional-style syntax."""
    file.write(f"Prefix(:=<{EX}>)\nPrefix(owl:=<{_OWL}>)\nOntology(<{EX}>\n")
    file.writelines(functional(axiom) + "\n" for axiom in axioms)
    file.write(")\n")


# ---- triples

_OWL: Final = "http://www.w3.org/2002/07/owl#"
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_TYPE, _FIRST, _REST, _NIL = (f"<{_RDF}{name}>" for name in ("type", "first", "rest", "nil"))
_BETWEEN: Final = {
    "subclass": f"<{_RDFS}subClassOf>",
    "equivalent": f"<{_OWL}equivalentClass>",
    "disjoint": f"<{_OWL}disjointWith>",
    "subproperty": f"<{_RDFS}subPropertyOf>",
    "domain": f"<{_RDFS}domain>",
    "range": f"<{_RDFS}range>",
    "assertion": _TYPE,
}
_OF_ONE: Final = {
    "class": "Class",
    "property": "ObjectProperty",
    "transitive": "TransitiveProperty",
    "reflexive": "ReflexiveProperty",
}


def triples(axiom: Axiom, numbers: Iterator[int], label: str = "x") -> Iterator[tuple[str, str, str]]:
    """Yield the triples of an axiom, as texts of N-Triples; blank nodes are labelled by `label` and the numbers."""

    def fresh() -> str:
        return f"_:{label}{next(numbers)}"

    def listed(nodes: list[str], found: list[tuple[str, str, str]]) -> str:
        head = _NIL
        for node in reversed(nodes):
            cell = fresh()
            found += [(cell, _FIRST, node), (cell, _REST, head)]
            head = cell
        return head

    def node(part: Expression, found: list[tuple[str, str, str]]) -> str:
        if isinstance(part, str):
            return f"<{_OWL}{part}>" if part in _OWN else f"<{EX}{part}>"
        own = fresh()
        if part[0] in ("and", "one"):
            predicate = f"<{_OWL}{'intersectionOf' if part[0] == 'and' else 'oneOf'}>"
            found += [(own, _TYPE, f"<{_OWL}Class>"), (own, predicate, listed([node(each, found) for each in part[1:]], found))]
            return own
        found += [(own, _TYPE, f"<{_OWL}Restriction>"), (own, f"<{_OWL}onProperty>", node(part[1], found))]
        if part[0] == "self":
            found.append((own, f"<{_OWL}hasSelf>", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'))
        else:
            found.append((own, f"<{_OWL}someValuesFrom>", node(part[2], found)))
        return own

    found: list[tuple[str, str, str]] = []
    kind, *parts = axiom
    if kind in _BETWEEN:
        found.append((node(parts[0], found), _BETWEEN[kind], node(parts[1], found)))
    elif kind in _OF_ONE:
        found.append((node(parts[0], found), _TYPE, f"<{_OWL}{_OF_ONE[kind]}>"))
    elif kind == "related":
        found.append((node(parts[0], found), node(parts[1], found), node(parts[2], found)))
    else:
        head = listed([node(each, found) for each in parts[0]], found)
        found.append((node(parts[1], found), f"<{_OWL}propertyChainAxiom>", head))
    yield from found


def write_triples(axioms: Iterator[Axiom], file: TextIO) -> None:
    """Write axioms as N-Triples."""
    numbers = count()
    for axiom in axioms:
        file.writelines(f"{s} {p} {o} .\n" for s, p, o in triples(axiom, numbers))
