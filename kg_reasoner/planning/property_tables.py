"""Property tables (vertical partitioning): a binary relation for each property, a unary one for each class.

A rule with a variable for the property or class is expanded, one copy for each property or class there is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from kg_reasoner.planning import expansion
from kg_reasoner.planning.layout import NO_TRIPLES, Columns, Flags, Part, T, TripleLayout, as_triples
from kg_reasoner.program import Atom, Rule, Variable
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.kernels.memory import allocate
from kg_reasoner.storage.lookups import Buffer, Which
from kg_reasoner.storage.relation import Changed, Database, Rows
from kg_reasoner.terms import RDF

SUBJECT, OBJECT = 0, 1
"""The columns of a property's relation."""

FEW: Final = 16
"""So many triples are looked at one by one: NumPy would take longer."""

RESERVED: Final = 64
"""For more new triples of one property or class than these, room is made at once."""


class PropertyTables(TripleLayout):
    """The relations of properties and classes, made as they are met. See `TripleLayout`."""

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
        assert isinstance(property, int)
        if property == self._type:
            assert isinstance(value, int)
            return self._class(value), (subject,)
        return self._property(property), (subject, value)

    def find(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        if property == self._type:
            return self._classes.get(value, -1), (subject,)  # type: ignore[arg-type]  # variables' names are no keys
        return self._properties.get(property, -1), (subject, value)  # type: ignore[arg-type]

    def is_in_one(self, property: int | str, value: int | str) -> bool:
        return isinstance(property, int) and (property != self._type or isinstance(value, int))

    def relations(self, property: int | None = None, cls: int | None = None) -> Collection[int]:
        if property is None:
            return self.held
        if property == self._type and cls is None:
            return self._classes.values()
        known, term = (self._properties, property) if cls is None else (self._classes, cls)
        return (known[term],) if term in known else ()

    def columns(self, relation: int, rows: Rows) -> Columns:
        property, cls = self.held[relation]
        return rows[:, 0], property, rows[:, 1] if cls < 0 else cls

    def _property(self, term: int) -> int:
        """The relation of a property, made if need be."""
        number = self._properties.get(term)
        if number is None:
            if term >= len(self._property_map):
                self._extend_maps()
            number = self._database.add_relation(2)
            self.held[number] = term, -1
            self._properties[term] = self._property_map[term] = number
        return number

    def _class(self, term: int) -> int:
        """The relation of a class, made if need be."""
        number = self._classes.get(term)
        if number is None:
            if term >= len(self._class_map):
                self._extend_maps()
            number = self._database.add_relation(1)
            self.held[number] = self._type, term
            self._classes[term] = self._class_map[term] = number
        return number

    def _extend_maps(self) -> None:
        """Make the kernels' maps from terms to relations as long as the dictionary."""
        count = len(self._dictionary)
        for name in ("_property_map", "_class_map"):
            old = getattr(self, name)
            new = allocate(max(count, min(2 * len(old), count + (1 << 20))), np.int32, -1)
            new[: len(old)] = old
            setattr(self, name, new)
        self._database.context.property_relations = self._property_map
        self._database.context.class_relations = self._class_map

    # --- explicit triples -------------------------------------------------------------------------------------------

    def store(self, triples: Rows) -> Changed:
        """See `TripleLayout`. Relations are made first, then all triples are stored at once."""
        if len(self._dictionary) > len(self._property_map):
            self._extend_maps()
        if len(triples) > FEW:
            typed = triples[:, 1] == self._type
            for column, make, part in ((1, self._property, triples[~typed]), (2, self._class, triples[typed])):
                terms, counts = np.unique(part[:, column], return_counts=True)
                for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
                    relation = make(term)
                    if count > RESERVED:
                        self._database.reserve(relation, count)
        else:
            for _, property, value in triples.tolist():
                if property == self._type:
                    self._class(value)
                else:
                    self._property(property)
        return self._database.load_triples(triples)

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
        if property is None:
            parts = [self._of_all_properties(subject, value, which, limit), self._of_types(subject, value, which, limit)]
            return np.concatenate(parts)
        if property == self._type:
            return self._of_types(subject, value, which, limit)
        relation = self._properties.get(property)
        if relation is None:
            return NO_TRIPLES
        if subject is None and value is None:
            rows = self._rows(relation, which, limit)
            return as_triples(rows[:, SUBJECT], property, rows[:, OBJECT])
        if subject is not None and value is not None:
            there = self.lookups.holds(relation, (subject, value), which)
            return as_triples(np.full(int(there), subject, np.int32), property, value)
        column, key = (SUBJECT, subject) if subject is not None else (OBJECT, value)
        assert key is not None
        found = self.lookups.probe(self._database.index(relation, (column,)), key, which)[:, 2]
        return as_triples(key, property, found) if column == SUBJECT else as_triples(found, property, key)

    def _of_all_properties(self, subject: int | None, value: int | None, which: Which, limit: int | None) -> Rows:
        """The triples of all properties but rdf:type."""
        around = self._look_around()
        terms = around.properties
        if subject is None and value is None:
            columns = self._all_rows(self._properties, which, limit)
            tables = [as_triples(rows[:, 0], term, rows[:, 1]) for term, rows in columns]
            return np.concatenate([NO_TRIPLES, *tables])
        if subject is not None and value is not None:
            found = self.lookups.find(around.property_relations, len(terms), (subject, value), which)
            return as_triples(subject, terms[found], value)
        column, key = (SUBJECT, subject) if subject is not None else (OBJECT, value)
        assert key is not None
        found = self.lookups.probe(around.indexes[column], key, which)
        properties, others = terms[found[:, 0]], found[:, 2]
        return as_triples(key, properties, others) if column == SUBJECT else as_triples(others, properties, key)

    def _of_types(self, subject: int | None, value: int | None, which: Which, limit: int | None) -> Rows:
        """The triples whose property is rdf:type."""
        kind = self._type
        if value is None:
            if subject is None:
                tables = [as_triples(rows[:, 0], kind, term) for term, rows in self._all_rows(self._classes, which, limit)]
                return np.concatenate([NO_TRIPLES, *tables])
            around = self._look_around()
            found = self.lookups.find(around.class_relations, len(around.classes), (subject,), which)
            return as_triples(subject, kind, around.classes[found])
        relation = self._classes.get(value)
        if relation is None:
            return NO_TRIPLES
        if subject is None:
            return as_triples(self._rows(relation, which, limit)[:, 0], kind, value)
        return as_triples(np.full(int(self.lookups.holds(relation, (subject,), which)), subject, np.int32), kind, value)

    def _rows(self, relation: int, which: Which, limit: int | None) -> Rows:
        return self._database.rows(relation, which)[:limit]

    def _all_rows(self, relations: dict[int, int], which: Which, limit: int | None) -> Iterator[tuple[int, Rows]]:
        """The rows of the relations of some terms, until there are enough."""
        count = 0
        for term, relation in relations.items():
            rows = self._rows(relation, which, limit)
            yield term, rows
            count += len(rows)
            if limit is not None and count >= limit:
                return

    def _look_around(self) -> _Surroundings:
        """All relations of properties and classes, looked up again once there are further ones."""
        database, known = self._database, self._surroundings
        if known is None or len(database.relations) != known.relations:
            with database.mutex:
                columns = (
                    Buffer.of([database.index(relation, (column,)) for relation in self._properties.values()])
                    for column in (SUBJECT, OBJECT)
                )
                self._surroundings = known = _Surroundings(
                    len(database.relations),
                    np.fromiter(self._properties, np.int32),
                    np.fromiter(self._classes, np.int32),
                    Buffer.of(self._properties.values()),
                    Buffer.of(self._classes.values()),
                    tuple(columns),
                )
        return known

    def triples_of(self, property: int, cls: int | None = None, which: Which = "all") -> Rows:
        return self._joined_triples(self.relations(property, cls), which)

    def select(self, wanted: Callable[[Rows, Rows], Flags], which: Which) -> Rows:
        names = np.array(list(self.held.values()), np.int32).reshape(-1, 2)
        chosen = np.flatnonzero(wanted(names[:, 0], names[:, 1]))
        return self._joined_triples(np.fromiter(self.held, np.int32)[chosen].tolist(), which)

    def joined(self, parts: Sequence[Part]) -> tuple[Rows, Flags]:
        """See `TripleLayout`."""
        triples = np.empty((sum(len(rows) for _, rows, _ in parts), 3), np.int32)
        place = 0
        for relation, rows, _ in parts:
            part = triples[place : place + len(rows)]
            property, cls = self.held[relation]
            part[:, 0], part[:, 1], part[:, 2] = rows[:, 0], property, rows[:, 1] if cls < 0 else cls
            place += len(rows)
        return triples, np.concatenate([flags for _, _, flags in parts])

    # --- names ------------------------------------------------------------------------------------------------------

    def may_have(self, property: int) -> bool:
        relation = self._properties.get(property)
        return relation is not None and self._database.size(relation) > 0

    def names_related_by(self, property: int) -> list[int]:
        return [*self._properties, *self._classes] if self.may_have(property) else []

    # --- rules ------------------------------------------------------------------------------------------------------

    def is_open(self, rule: Rule) -> bool:
        return expansion.is_open(rule)

    def choices(self, atoms: Collection[Atom]) -> tuple[Variable, list[int]] | None:
        found = map(expansion.predicate_variable, atoms)
        variable = next((variable for variable in found if variable is not None), None)
        if variable is None:
            return None
        is_class = any(atom.terms[1] == RDF.type and atom.terms[2] == variable for atom in atoms)
        return variable, list(self._classes) if is_class else [*self._properties, self._type]


class _Surroundings(NamedTuple):
    """The relations of all properties and classes, in the order of their terms."""

    relations: int
    """How many relations there are in all."""
    properties: Rows
    classes: Rows
    property_relations: Buffer
    class_relations: Buffer
    indexes: tuple[Buffer, ...]
    """For the subject and the object, the indexes of the properties' relations."""
