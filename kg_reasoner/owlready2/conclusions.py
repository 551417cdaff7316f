"""Conclusions from a World, in the numbers of its resources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kg_reasoner.classification.hierarchy import NOTHING
from kg_reasoner.classification.taxonomy import Taxonomy
from kg_reasoner.data_classes import dataclass
from kg_reasoner.graphs import reachable
from kg_reasoner.storage.arrays import selected_rows
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, Term

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.classification.hierarchy import Hierarchy
    from kg_reasoner.owlready2.following import Attached

__all__ = ["Conclusions", "conclusions_of"]

_RESERVED: Final = tuple(f"<{base}" for base in (RDF, RDFS, OWL, XSD))


@dataclass
class Conclusions:
    """Conclusions, in which each resource is a number of the quad store.

    Attributes:
        parents: The nearest classes above each class, nearest properties above each property, and nearest classes of each
            individual, if there are any.
        kinds: Whether these are a ``class``, a ``property`` or an ``individual``.
        punned: Individuals that are classes or properties, too, each with one of its nearest classes.
        equivalents: The equivalent classes or properties of each, also ``Nothing``.
        relations: Inferred values of object properties.
        values: Inferred values of data properties: the last is the id of a literal.
    """

    parents: dict[int, list[int]] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)
    punned: list[tuple[int, int]] = field(default_factory=list)
    equivalents: dict[int, list[int]] = field(default_factory=dict)
    relations: list[tuple[int, int, int]] = field(default_factory=list)
    values: list[tuple[int, int, int]] = field(default_factory=list)

    def above(self, number: int) -> frozenset[int]:
        """Return all resources above one, near and far, and their equivalents."""
        known = self._above.get(number)
        if known is None:
            reached = reachable([number], lambda each: (*self.parents.get(each, ()), *self.equivalents.get(each, ())))
            known = self._above[number] = frozenset(reached) - {number, *self.equivalents.get(number, ())}
        return known

    _above: dict[int, frozenset[int]] = field(default_factory=dict, repr=False)


def conclusions_of(attached: Attached, hierarchy: Hierarchy, *, objects: bool, values: bool) -> Conclusions:
    """Return the conclusions from a World.

    Args:
        attached: The World and its reasoner, which is up to date.
        hierarchy: The hierarchy of its classes and properties.
        objects: Whether to include values of object properties.
        values: Whether to include values of data properties.
    """
    return _Reading(attached, hierarchy).read(objects, values)


class _Reading:
    def __init__(self, attached: Attached, hierarchy: Hierarchy) -> None:
        self.reasoner: Reasoner = attached.current
        self.abbreviate = attached.world._abbreviate
        self.hierarchy = hierarchy
        self.found = Conclusions()
        self.numbers: dict[int, int] = {}

    def number(self, name: Term) -> int | None:
        """Return the number of a resource; None if it has none."""
        number: int | None = self.abbreviate(name.value, False) if isinstance(name, IRI) else None
        return number

    def read(self, objects: bool, values: bool) -> Conclusions:
        self.read_order(self.hierarchy.classes, "class", RDFS.subClassOf)
        self.read_order(self.hierarchy.object_properties, "property", RDFS.subPropertyOf)
        self.read_order(self.hierarchy.data_properties, "property", RDFS.subPropertyOf)
        for each in self.hierarchy.unsatisfiable:
            number, nothing = self.number(each.name), self.number(NOTHING[each.kind])
            if number is not None and nothing is not None:
                self.found.equivalents[number] = [nothing]
                self.found.kinds[number] = "class" if each.kind == "class" else "property"
        self.read_types()
        if objects:
            self.found.relations = list(self.related(self.hierarchy.object_properties.names, of_literals=False))
        if values:
            self.found.values = list(self.related(self.hierarchy.data_properties.names, of_literals=True))
        return self.found

    def read_order(self, taxonomy: Taxonomy, kind: str, below: IRI) -> None:
        for members, above in taxonomy.places():
            known = {name: number for name in members if (number := self.number(name)) is not None}
            for name, number in known.items():
                self.found.kinds[number] = kind
                if len(known) > 1:
                    self.found.equivalents[number] = [other for other in known.values() if other != number]
                uppers = [self.preferred(taxonomy, name, below, upper) for upper in above]
                found = [upper for upper in map(self.number, uppers) if upper is not None]
                if found:
                    self.found.parents[number] = found

    def preferred(self, taxonomy: Taxonomy, name: IRI, below: IRI, upper: IRI) -> IRI:
        """Return one of equivalent names: the one that is stated above a name, or else the first."""
        others = taxonomy.equivalents(upper)
        if others:
            stated = {value for _, _, value in self.reasoner.triples(name, below, None, "explicit")}
            return next((other for other in (upper, *others) if other in stated), upper)
        return upper

    def read_types(self) -> None:
        """Read the nearest classes of each individual."""
        reasoner, taxonomy = self.reasoner, self.hierarchy.classes
        find = reasoner.dictionary.find
        classes = {find(name): name for name in taxonomy.names}
        ids = reasoner.triple_ids("all")
        ids = selected_rows(ids, (ids[:, 1] == find(RDF.type)) & np.isin(ids[:, 2], list(classes)))
        ids = ids[np.lexsort((ids[:, 2], ids[:, 0]))]
        starts = np.flatnonzero(np.r_[True, ids[1:, 0] != ids[:-1, 0]][: len(ids)])
        nearest: dict[tuple[int, ...], list[IRI]] = {}
        groups = np.split(ids[:, 2], starts[1:]) if len(ids) else []
        for subject, group in zip(ids[starts, 0].tolist(), groups, strict=True):
            text = reasoner.dictionary.text(subject)
            if not text.startswith("<") or text.startswith(_RESERVED):
                continue
            number = self.number(IRI(text[1:-1]))
            if number is None:
                continue
            key = tuple(group.tolist())
            if key not in nearest:
                nearest[key] = _nearest(taxonomy, [classes[cls] for cls in key])
            found = [each for each in map(self.number, nearest[key]) if each is not None]
            if number in self.found.kinds:
                self.found.punned += ((number, each) for each in found)
            else:
                self.found.parents[number] = found
                self.found.kinds[number] = "individual"

    def related(self, properties: Iterable[IRI], *, of_literals: bool) -> Iterator[tuple[int, int, int]]:
        """Yield the inferred triples of some properties between named individuals, or with literals."""
        reasoner = self.reasoner
        numbers = {reasoner.dictionary.find(name): self.number(name) for name in properties}
        ids = reasoner.triple_ids("inferred")
        ids = ids[np.isin(ids[:, 1], [number for number in numbers if number >= 0])]
        first = reasoner.dictionary.first_bytes()
        ids = ids[(first[ids[:, 0]] == ord("<")) & (first[ids[:, 2]] == ord('"' if of_literals else "<"))]
        for subject, property, value in ids.tolist():
            lower, middle = self.of_id(subject), numbers[property]
            upper = value if of_literals else self.of_id(value)
            if lower is not None and middle is not None and upper is not None:
                yield lower, middle, upper

    def of_id(self, number: int) -> int | None:
        if number not in self.numbers:
            found = self.number(self.reasoner.dictionary.decode(number))
            self.numbers[number] = -1 if found is None else found
        return None if self.numbers[number] == -1 else self.numbers[number]


def _nearest(taxonomy: Taxonomy, classes: list[IRI]) -> list[IRI]:
    """Return the classes with no other ones below them."""
    above: set[Any] = set()
    for cls in classes:
        above.update(taxonomy.ancestors(cls))
    return [cls for cls in classes if cls not in above]
