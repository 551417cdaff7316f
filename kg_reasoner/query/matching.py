"""The triples that match one pattern, read straight from the relations and their indexes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from kg_reasoner.errors import UnknownNameError
from kg_reasoner.planning.catalog import PROPERTY_COLUMN, Catalog
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT
from kg_reasoner.storage.kernels.memory import address, allocate

Which = Literal["all", "explicit", "inferred"]

FLAGS: dict[Which, tuple[int, int]] = {
    "all": (ABSENT, 0),
    "explicit": (ABSENT | EXPLICIT, EXPLICIT),
    "inferred": (ABSENT | EXPLICIT, 0),
}
"""The flags to look at, and what they must be."""


def check_which(which: str) -> None:
    """Raise UnknownNameError if that is not a kind of facts."""
    if which not in FLAGS:
        raise UnknownNameError("kind of facts", which, FLAGS)


SUBJECT, OBJECT = 0, 1
"""The columns of a property's relation."""


class Matcher:
    """Finds triples by any of their terms, whichever way they are laid out. Terms are ids, None stands for every term.

    Facts with a literal as the subject, or with a property that is not an IRI, are not RDF triples and are left out, unless the
    matcher is for `generalised` RDF. What is found is what is stored at the moment; nothing is materialised here.
    """

    def __init__(self, catalog: Catalog, *, generalised: bool = False) -> None:
        self.catalog = catalog
        self.generalised = generalised
        self.database = catalog.database
        self._out = _Buffer(3 * 64)
        self._tuple = _Buffer(3)
        self._one = _Buffer(1)
        self._surroundings: _Surroundings | None = None

    def contains(self, subject: int, property: int, value: int, which: Which = "all") -> bool:
        """Whether there is this one triple."""
        relation, values = self.catalog.stored_triple(subject, property, value)
        return relation >= 0 and self.is_rdf(subject, property) and self._holds(relation, values, which)

    def match(
        self, subject: int | None, property: int | None, value: int | None, which: Which = "all", limit: int | None = None
    ) -> Ids:
        """The triples that match, as ids of shape (n, 3). With a limit, at least so many are enough."""
        if not self.is_rdf(subject, property):
            return NO_TRIPLES
        find = self._ternary if self.catalog.ternary else self._vertical
        found: Ids = find(subject, property, value, which, limit)
        if len(found) == 0 or self.generalised or (subject is not None and property is not None):
            return found
        first = self.catalog.dictionary.first_bytes()
        keep = first[found[:, 0]] != ord('"')
        if property is None:
            keep &= first[found[:, 1]] == ord("<")
        if keep.all():
            return found
        if limit is not None and np.count_nonzero(keep) < limit <= len(found):
            return self.match(subject, property, value, which)
        kept: Ids = found[keep]
        return kept

    def count(self, which: Which = "all") -> int:
        """How many triples there are."""
        catalog, total = self.catalog, 0
        first = catalog.dictionary.first_bytes()
        if catalog.ternary:
            rows = self.database.rows(catalog.predicates[TRIPLE], which)
            return int(np.count_nonzero((first[rows[:, 0]] != ord('"')) & (first[rows[:, 1]] == ord("<"))))
        relations = [
            *(relation for term, relation in catalog.properties.items() if first[term] == ord("<")),
            *catalog.classes.values(),
        ]
        for relation in relations:
            total += int(np.count_nonzero(first[self.database.rows(relation, which)[:, 0]] != ord('"')))
        return total

    def size(self) -> int:
        """About how many triples there are: those with literal subjects are counted, too."""
        catalog, size = self.catalog, self.database.size
        if catalog.ternary:
            return size(catalog.predicates[TRIPLE])
        return sum(map(size, catalog.properties.values())) + sum(map(size, catalog.classes.values()))

    def is_rdf(self, subject: int | None, property: int | None) -> bool:
        """Whether triples can have this subject and property."""
        if self.generalised:
            return True
        first = self.catalog.dictionary.first_bytes()
        return (subject is None or bool(first[subject] != ord('"'))) and (property is None or bool(first[property] == ord("<")))

    # --- one relation of all triples --------------------------------------------------------------------------------

    def _ternary(self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None) -> Ids:
        terms = (subject, property, value)
        relation = self.catalog.predicates[TRIPLE]
        columns = tuple(column for column, term in enumerate(terms) if term is not None and column != PROPERTY_COLUMN)
        if property is None and not columns:
            every: Ids = self._rows(relation, which, limit).copy()
            return every
        if None not in terms:
            there = self._holds(relation, [term for term in terms if term is not None], which)
            return np.array([terms] if there else [], np.int32).reshape(-1, 3)
        key = 0
        for column in columns:
            key = (key << 32) | (terms[column] or 0)
        index = self.database.index(relation, columns, -1 if property is None else property)
        rows = self._probe(index, key, which)[:, 1]
        record = self.database.relations[relation]
        table: Ids = np.asarray(record.rows)[: 3 * record.count].reshape(-1, 3)[rows]
        return table

    # --- a relation for each property and class ---------------------------------------------------------------------

    def _vertical(self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None) -> Ids:
        catalog = self.catalog
        if property is None:
            parts = [self._of_all_properties(subject, value, which, limit), self._of_types(subject, value, which, limit)]
            return np.concatenate(parts)
        if property == catalog.type_id:
            return self._of_types(subject, value, which, limit)
        relation = catalog.properties.get(property)
        if relation is None:
            return NO_TRIPLES
        if subject is None and value is None:
            rows = self._rows(relation, which, limit)
            return _table(rows[:, SUBJECT], property, rows[:, OBJECT])
        if subject is not None and value is not None:
            there = self._holds(relation, (subject, value), which)
            return _table(np.full(int(there), subject, np.int32), property, value)
        column, key = (SUBJECT, subject) if subject is not None else (OBJECT, value)
        assert key is not None
        found = self._probe(self.database.index(relation, (column,)), key, which)[:, 2]
        return _table(key, property, found) if column == SUBJECT else _table(found, property, key)

    def _of_all_properties(self, subject: int | None, value: int | None, which: Which, limit: int | None) -> Ids:
        """The triples of all properties but rdf:type."""
        around = self._look_around()
        terms = around.properties
        if subject is None and value is None:
            columns = self._all_rows(self.catalog.properties, which, limit)
            tables = [_table(rows[:, 0], term, rows[:, 1]) for term, rows in columns]
            return np.concatenate([NO_TRIPLES, *tables])
        if subject is not None and value is not None:
            return _table(subject, terms[self._find(around.property_relations, len(terms), (subject, value), which)], value)
        column, key = (SUBJECT, subject) if subject is not None else (OBJECT, value)
        assert key is not None
        found = self._probe(around.indexes[column], key, which)
        properties, others = terms[found[:, 0]], found[:, 2]
        return _table(key, properties, others) if column == SUBJECT else _table(others, properties, key)

    def _of_types(self, subject: int | None, value: int | None, which: Which, limit: int | None) -> Ids:
        """The triples whose property is rdf:type."""
        catalog = self.catalog
        kind = catalog.type_id
        if value is None:
            if subject is None:
                tables = [_table(rows[:, 0], kind, term) for term, rows in self._all_rows(catalog.classes, which, limit)]
                return np.concatenate([NO_TRIPLES, *tables])
            around = self._look_around()
            found = self._find(around.class_relations, len(around.classes), (subject,), which)
            return _table(subject, kind, around.classes[found])
        relation = catalog.classes.get(value)
        if relation is None:
            return NO_TRIPLES
        if subject is None:
            return _table(self._rows(relation, which, limit)[:, 0], kind, value)
        return _table(np.full(int(self._holds(relation, (subject,), which)), subject, np.int32), kind, value)

    def _rows(self, relation: int, which: Which, limit: int | None) -> Ids:
        return self.database.rows(relation, which)[:limit]

    def _all_rows(self, relations: dict[int, int], which: Which, limit: int | None) -> Iterator[tuple[int, Ids]]:
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
        catalog, database = self.catalog, self.database
        known = self._surroundings
        if known is None or len(database.relations) != known.relations:
            with database.mutex:
                columns = (
                    _Buffer.of([database.index(relation, (column,)) for relation in catalog.properties.values()])
                    for column in (SUBJECT, OBJECT)
                )
                self._surroundings = known = _Surroundings(
                    len(database.relations),
                    np.fromiter(catalog.properties, np.int32),
                    np.fromiter(catalog.classes, np.int32),
                    _Buffer.of(catalog.properties.values()),
                    _Buffer.of(catalog.classes.values()),
                    tuple(columns),
                )
        return known

    # --- kernels ----------------------------------------------------------------------------------------------------

    def _holds(self, relation: int, values: Sequence[int], which: Which) -> bool:
        return len(self._find(relation, 1, values, which)) > 0

    def _find(self, relations: _Buffer | int, count: int, values: Sequence[int], which: Which) -> Ids:
        """The positions, in a list of relations, of those that hold a tuple."""
        if count == 0:
            return np.empty(0, np.int32)
        mask, flags = FLAGS[which]
        with self.database.mutex:
            if 3 * count > self._out.size:
                self._out = _Buffer(3 * count)
            self._tuple.array[: len(values)] = values
            listed = self._listed(relations)
            found = native.find_each(
                self.database.address, listed.address, count, self._tuple.address, mask, flags, self._out.address
            )
            return np.array(self._out.array[:found])

    def _listed(self, numbers: _Buffer | int) -> _Buffer:
        """Some numbers as kernels read them; a single one lies where the next one will."""
        if isinstance(numbers, _Buffer):
            return numbers
        self._one.array[0] = numbers
        return self._one

    def _probe(self, numbers: _Buffer | int, key: int, which: Which) -> Ids:
        """The entries of a key in some indexes, which are built if need be: (position, row, value), shape (n, 3)."""
        mask, flags = FLAGS[which]
        with self.database.mutex:
            indexes = self._listed(numbers)
            count = indexes.size
            while count:
                out = self._out
                found = native.probe_each(
                    self.database.address, indexes.address, count, key, mask, flags, out.address, out.size // 3
                )
                if found < 0:
                    self.database.build(int(indexes.array[-1 - found]))
                elif 3 * found > out.size:
                    self._out = _Buffer(3 * (found + found // 2))
                else:
                    return np.array(out.array[: 3 * found]).reshape(-1, 3)
        return NO_TRIPLES


class _Surroundings(NamedTuple):
    """The relations of all properties and classes, in the order of their terms."""

    relations: int
    """How many relations there are in all."""
    properties: Ids
    classes: Ids
    property_relations: _Buffer
    class_relations: _Buffer
    indexes: tuple[_Buffer, ...]
    """For the subject and the object, the indexes of the properties' relations."""


class _Buffer:
    """Ids in memory that kernels may read and write, with their address."""

    __slots__ = ("address", "array", "size")

    def __init__(self, size: int) -> None:
        self.array: Ids = allocate(size, np.int32)
        self.address = address(self.array)
        self.size = size

    @classmethod
    def of(cls, numbers: Collection[int]) -> _Buffer:
        """A buffer with some numbers in it."""
        buffer = cls(len(numbers))
        buffer.array[: len(numbers)] = list(numbers)
        return buffer


def _table(subjects: Ids | int, properties: Ids | int, values: Ids | int) -> Ids:
    """Triples from three columns, of which the constant ones are given as one id."""
    count = next((len(column) for column in (subjects, properties, values) if not isinstance(column, int)), 1)
    table = np.empty((count, 3), np.int32)
    for number, column in enumerate((subjects, properties, values)):
        table[:, number] = column
    return table
