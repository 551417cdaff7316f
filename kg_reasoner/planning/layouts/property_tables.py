"""Property tables (vertical partitioning): a binary relation for each property, a unary one for each class.

A rule with a variable for the property or class is expanded, one copy for each property or class there is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from kg_reasoner.planning import expansion
from kg_reasoner.planning.layouts.triple_layout import NO_NAMES, Columns, Names, Part, T, TripleLayout, as_triples
from kg_reasoner.program import Atom, Rule, Variable
from kg_reasoner.storage.arrays import NO_TRIPLES, Changed, Flags, Rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.relations.lookups import Buffer, Which
from kg_reasoner.storage.terms.dictionary import Dictionary

SUBJECT, OBJECT = 0, 1
"""The columns of a property's relation."""

FEW: Final = 16
"""The maximum number of triples to examine one by one, where NumPy is slower."""

MANY: Final = 100_000
"""The number of triples from which they are counted by a kernel, in tables as long as the dictionary."""

SPARE: Final = 1 << 12
"""The number of terms, at least, for which the maps have room in advance: rules bring some after the data."""

RESERVED: Final = 64
"""The number of new triples of a property or class from which room is allocated in advance."""


class PropertyTables(TripleLayout):
    """The relations of properties and classes, created on demand. See `TripleLayout`."""

    is_split = True

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        super().__init__(dictionary, database)
        self._properties: dict[int, int] = {}
        self._classes: dict[int, int] = {}
        self._property_map = allocate(1, np.int32, -1)
        self._class_map = allocate(1, np.int32, -1)
        self._surroundings: _Surroundings | None = None
        context = database.context
        context.type_id, context.property_relations, context.class_relations = self._type, self._property_map, self._class_map

    # --- relations --------------------------------------------------------------------------------------------------

    def place(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        known, term = (self._classes, value) if property == self._type else (self._properties, property)
        assert isinstance(term, int)
        if term not in known:
            self._make(known, term)
        return self.find(subject, property, value)

    def make(self, pairs: Iterable[tuple[int | str, int | str]]) -> None:
        """See `TripleLayout`."""
        properties, classes = dict[int, None](), dict[int, None]()
        for property, value in pairs:
            names, name = (classes, value) if property == self._type else (properties, property)
            assert isinstance(name, int)
            names[name] = None
        for known, names in ((self._properties, properties), (self._classes, classes)):
            if new := [name for name in names if name not in known]:
                self._make(known, *new)

    def find(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        if property == self._type:
            return self._classes.get(value, -1), (subject,)  # type: ignore[arg-type]  # variables' names are not keys
        return self._properties.get(property, -1), (subject, value)  # type: ignore[arg-type]

    def is_in_one(self, property: int | str, value: int | str) -> bool:
        return isinstance(property, int) and (property != self._type or isinstance(value, int))

    def relations(self, property: int | None = None, cls: int | None = None) -> Collection[int]:
        if property is None:
            return [*self._properties.values(), *self._classes.values()]
        if property == self._type and cls is None:
            return self._classes.values()
        known, term = (self._properties, property) if cls is None else (self._classes, cls)
        return (known[term],) if term in known else ()

    def columns(self, relation: int, rows: Rows) -> Columns:
        property, cls = self.held[relation]
        return rows[:, 0], property, rows[:, 1] if cls < 0 else cls

    def _make(self, known: dict[int, int], *terms: int) -> None:
        """Create the relations of new properties or classes."""
        if max(terms) >= len(self._property_map):
            self._extend_maps()
        is_class = known is self._classes
        first = self._database.add_relations(len(terms), 1 if is_class else 2)
        numbers = range(first, first + len(terms))
        self.held.update(zip(numbers, [(self._type, term) if is_class else (term, -1) for term in terms], strict=True))
        (self._class_map if is_class else self._property_map)[np.array(terms)] = numbers
        known.update(zip(terms, numbers, strict=True))

    def _extend_maps(self) -> None:
        """Extend the kernels' maps from terms to relations to the size of the dictionary, and somewhat further."""
        count = len(self._dictionary)
        size = count + max(SPARE, min(count // 8, 1 << 20))
        for name in ("_property_map", "_class_map"):
            old = getattr(self, name)
            new = allocate(size, np.int32, -1)
            new[: len(old)] = old
            setattr(self, name, new)
        self._database.context.property_relations = self._property_map
        self._database.context.class_relations = self._class_map

    # --- explicit triples -------------------------------------------------------------------------------------------

    def store(self, triples: Rows) -> Changed:
        """See `TripleLayout`. Relations are created first, then all triples are stored at once."""
        if len(triples) <= FEW:
            for _, property, value in triples.tolist():
                known, term = (self._classes, value) if property == self._type else (self._properties, property)
                if term not in known:
                    self._make(known, term)
            return self._database.load_triples(triples)
        if len(self._dictionary) > len(self._property_map):
            self._extend_maps()
        sizes: dict[int, int] = {}
        for known, terms, counts in self._names_in([triples]):
            self._expect_in(known, terms, counts)
            sizes.update((known[term], count) for term, count in zip(terms, counts, strict=True))
        return self._database.load_triples(triples, sizes)

    def expect(self, blocks: Sequence[Rows]) -> None:
        """See `TripleLayout`. Room is made for each relation once."""
        if len(self._dictionary) > len(self._property_map):
            self._extend_maps()
        for known, terms, counts in self._names_in(blocks):
            self._expect_in(known, terms, counts)

    def _expect_in(self, known: dict[int, int], terms: Sequence[int], counts: Sequence[int]) -> None:
        """Create the relations of those of some properties or classes that are new, and make room in them."""
        new = [term for term in terms if term not in known]
        if new:
            self._make(known, *new)
        for term, count in zip(terms, counts, strict=True):
            if count > RESERVED:
                self._database.reserve(known[term], count)

    def _names_in(self, blocks: Sequence[Rows]) -> Iterator[tuple[dict[int, int], list[int], list[int]]]:
        """Yield, of triples, the properties with their numbers of triples, then the classes; each with the relations known."""
        count = sum(map(len, blocks))
        if count < MANY:
            triples = np.concatenate(blocks)
            typed = triples[:, 1] == self._type
            for column, known, part in ((1, self._properties, triples[~typed]), (2, self._classes, triples[typed])):
                found, sizes = np.unique(part[:, column], return_counts=True)
                yield known, found.tolist(), sizes.tolist()
            return
        from kg_reasoner.storage.name_counts import count_names

        counts = count_names(blocks, self._type, len(self._dictionary))
        relations = self._properties, self._classes
        names = [np.fromiter(known, np.int64) for known in relations]
        if sum(int(of_name[some].sum()) for of_name, some in zip(counts, names, strict=True)) < count:  # there are new ones
            names = [np.flatnonzero(of_name).astype(np.int64) for of_name in counts]
        for known, of_name, some in zip(relations, counts, names, strict=True):
            yield known, some.tolist(), of_name[some].tolist()

    def retract(self, triples: Rows) -> Changed:
        """See `TripleLayout`."""
        if len(self._dictionary) > len(self._property_map):
            self._extend_maps()
        return self._database.retract_triples(triples)

    def are_explicit(self, triples: Rows) -> Changed:
        """See `TripleLayout`."""
        if len(self._dictionary) > len(self._property_map):
            self._extend_maps()
        return self._database.triples_have_flag(triples)

    # --- triples ----------------------------------------------------------------------------------------------------

    def match(self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None) -> Rows:
        if subject is None and (value is None or property == self._type):
            return self._whole(self.relations(property, value), which, limit)
        if property is None:
            typed = self.match(subject, self._type, value, which, limit)
            return np.concatenate([self._of_all_properties(subject, value, which), typed])
        if subject is not None and value is not None:
            relation, values = self.find(subject, property, value)
            there = relation >= 0 and self.lookups.holds(relation, values, which)
            return as_triples(np.full(int(there), subject, np.int32), property, value)
        if property == self._type:
            assert subject is not None
            around = self._look_around()
            found = self.lookups.find(around.class_relations, len(around.classes), (subject,), which)
            return as_triples(subject, property, around.classes[found])
        if property not in self._properties:
            return NO_TRIPLES
        column, key = (SUBJECT, subject) if subject is not None else (OBJECT, value)
        assert key is not None
        found = self.lookups.probe(self._database.index(self._properties[property], (column,)), key, which)[:, 2]
        return as_triples(key, property, found) if column == SUBJECT else as_triples(found, property, key)

    def _of_all_properties(self, subject: int | None, value: int | None, which: Which) -> Rows:
        """Return the triples of all properties except rdf:type with a subject, a value, or both."""
        around = self._look_around()
        terms = around.properties
        if subject is not None and value is not None:
            found = self.lookups.find(around.property_relations, len(terms), (subject, value), which)
            return as_triples(subject, terms[found], value)
        column, key = (SUBJECT, subject) if subject is not None else (OBJECT, value)
        assert key is not None
        found = self.lookups.probe(around.indexes[column], key, which)
        properties, others = terms[found[:, 0]], found[:, 2]
        return as_triples(key, properties, others) if column == SUBJECT else as_triples(others, properties, key)

    def _whole(self, relations: Iterable[int], which: Which, limit: int | None = None) -> Rows:
        """Return the triples of some relations, up to a limit."""
        parts, count = list[tuple[int, Rows]](), 0
        for relation in relations:
            parts.append((relation, self._database.rows(relation, which)[:limit]))
            count += len(parts[-1][1])
            if limit is not None and count >= limit:
                break
        return self._table(parts)

    def _table(self, parts: Sequence[tuple[int, Rows]]) -> Rows:
        """Return rows of relations as triples, in one table."""
        triples, place = np.empty((sum(len(rows) for _, rows in parts), 3), np.int32), 0
        for relation, rows in parts:
            for number, column in enumerate(self.columns(relation, rows)):
                triples[place : place + len(rows), number] = column
            place += len(rows)
        return triples

    def _look_around(self) -> _Surroundings:
        """Return all relations of properties and classes, computed again when there are new ones."""
        database, known = self._database, self._surroundings
        if known is None or len(database.relations) != known.relations:
            with database.mutex:
                columns = (
                    Buffer.of([database.index(relation, (column,)) for relation in self._properties.values()])
                    for column in (SUBJECT, OBJECT)
                )
                self._surroundings = known = _Surroundings(
                    len(database.relations),
                    Buffer.of(self._properties),
                    Buffer.of(self._classes),
                    Buffer.of(self._properties.values()),
                    Buffer.of(self._classes.values()),
                    tuple(columns),
                )
        return known

    def surroundings(self, *, forwards: bool, of_classes: bool) -> Mapping[str, Any]:
        """See `TripleLayout`."""
        around = self._look_around()
        return {
            "properties": around.property_names.array,
            "indexes": around.indexes[SUBJECT if forwards else OBJECT].array,
            "property_count": 0 if of_classes else around.property_names.size,
            "classes": around.class_names.array,
            "class_relations": around.class_relations.array,
            "class_count": around.class_names.size,
        }

    def triples(self, which: Which = "all") -> Rows:
        return self._whole(self.relations(), which)

    def triples_of(self, property: int, cls: int | None = None, which: Which = "all") -> Rows:
        return self._whole(self.relations(property, cls), which)

    def select(self, wanted: Callable[[Rows, Rows], Flags], which: Which) -> Rows:
        names = np.array(list(self.held.values()), np.int32).reshape(-1, 2)
        chosen = np.flatnonzero(wanted(names[:, 0], names[:, 1]))
        return self._whole(np.fromiter(self.held, np.int32)[chosen].tolist(), which)

    def joined(self, parts: Sequence[Part]) -> tuple[Rows, Flags]:
        """See `TripleLayout`."""
        if len(parts) == 1:
            relation, rows, flags = parts[0]
            return self.triples_in(relation, rows), flags
        return self._table([(relation, rows) for relation, rows, _ in parts]), np.concatenate([flags for _, _, flags in parts])

    # --- names ------------------------------------------------------------------------------------------------------

    def names_related_by(self, property: int, since: Names = NO_NAMES) -> list[int]:
        if not any(map(self._database.size, self.relations(property))):
            return []
        return [*_later(self._properties, since[0]), *_later(self._classes, since[1])]

    # --- rules ------------------------------------------------------------------------------------------------------

    def is_open(self, rule: Rule) -> bool:
        return expansion.is_open(rule)

    @property
    def names(self) -> Names:
        """See `TripleLayout.names`."""
        return len(self._properties), len(self._classes)

    def choices(self, atoms: Collection[Atom], since: Names = NO_NAMES) -> tuple[Variable, list[int]] | None:
        """See `TripleLayout.choices`."""
        choice = expansion.ranging(atoms)
        if choice is None:
            return None
        variable, is_class = choice
        if is_class:
            return variable, _later(self._classes, since[1])
        return variable, [*_later(self._properties, since[0]), self._type]


def _later(names: Mapping[int, int], count: int) -> list[int]:
    """Return the names after the first ones."""
    return [*islice(reversed(names), len(names) - count)][::-1]


class _Surroundings(NamedTuple):
    """The relations of all properties and classes, in the order of their terms."""

    relations: int
    """The number of all relations."""
    property_names: Buffer
    class_names: Buffer
    property_relations: Buffer
    class_relations: Buffer
    indexes: tuple[Buffer, ...]
    """For the subject and the object, the indexes of the properties' relations."""

    @property
    def properties(self) -> Rows:
        """The ids of the properties that have a relation."""
        return self.property_names.array[: self.property_names.size]

    @property
    def classes(self) -> Rows:
        """The ids of the classes that have a relation."""
        return self.class_names.array[: self.class_names.size]
