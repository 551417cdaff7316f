"""Layouts of triples in the relations of a database: their common interface.

There are two, in `property_tables` and `triple_table`. `planning.catalog.layout_for` chooses one for the rules; other modules do
not distinguish them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np

from kg_reasoner.program import Atom, Rule, Variable
from kg_reasoner.storage.arrays import Changed, Flags, Rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.relations.lookups import Which
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import RDF

Columns: TypeAlias = tuple[Rows, Rows | int, Rows | int]
"""The subjects, properties and values of triples; one id for a constant column."""

Part: TypeAlias = tuple[int, Rows, Flags]
"""A relation, some of its rows, and a flag for each."""

Names: TypeAlias = tuple[int, int]
"""A number of properties, and of classes."""

NO_NAMES: Final[Names] = (0, 0)

T = TypeVar("T", bound="int | str")
"""A constant's id, or a variable's name."""


class TripleLayout(ABC):
    """A layout of triples in relations. Terms are ids; queries return stored triples.

    Attributes:
        held: The relations of triples: the property of their triples and, for rdf:type, their class; -1 for any.
        lookups: Those of the database.
        store: Makes triples, shape (n, 3), explicit. Returns whether each was not explicit before.
        retract: Makes triples no longer explicit. Returns whether each was explicit before.
        are_explicit: Returns whether each triple is explicit.
        joined: Combines flagged rows of relations of triples into one table of triples.
        is_split: Whether properties and classes have relations of their own, so that rules about any property are copied for each.
    """

    is_split: ClassVar[bool]
    store: Callable[[Rows], Changed]
    retract: Callable[[Rows], Changed]
    are_explicit: Callable[[Rows], Changed]
    joined: Callable[[Sequence[Part]], tuple[Rows, Flags]]

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        self.held: dict[int, tuple[int, int]] = {}
        self.lookups = database.lookups
        self._dictionary, self._database = dictionary, database
        self._type = dictionary.encode(RDF.type)

    def expect(self, blocks: Sequence[Rows]) -> None:
        """Make room for triples that will be stored, which is faster than repeated growth. By default, nothing is done."""
        del blocks

    def make(self, pairs: Iterable[tuple[int | str, int | str]]) -> None:
        """Create the relations of triples, given their properties and values, together, which is faster than one by one. By
        default, nothing is done.
        """
        del pairs

    # --- relations --------------------------------------------------------------------------------------------------

    @abstractmethod
    def place(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        """Return the relation of a triple or pattern, created on demand, and its tuple in the relation."""

    @abstractmethod
    def find(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        """Return the same without creating the relation; -1 if there is none or several."""

    @abstractmethod
    def is_in_one(self, property: int | str, value: int | str) -> bool:
        """Return whether all triples that match a pattern are in one relation, or in none."""

    @abstractmethod
    def relations(self, property: int | None = None, cls: int | None = None) -> Collection[int]:
        """Return the relations that can contain triples of a property and, for rdf:type, of a class."""

    @abstractmethod
    def columns(self, relation: int, rows: Rows) -> Columns:
        """Return rows of a relation as columns of triples."""

    def found(self, triples: Rows) -> list[tuple[int, Rows]]:
        """Return triples as rows of their relations. Triples that no relation can contain are omitted."""
        rows: dict[int, list[tuple[int, ...]]] = {}
        for triple in triples.tolist():
            relation, values = self.find(*triple)
            if relation >= 0:
                rows.setdefault(relation, []).append(values)
        return [(relation, np.array(values, np.int32)) for relation, values in rows.items()]

    # --- triples ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def match(self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None) -> Rows:
        """Return the matching triples, shape (n, 3). With a limit, at least that number is sufficient."""

    @abstractmethod
    def surroundings(self, *, forwards: bool, of_classes: bool) -> Mapping[str, Any]:
        """Return the relations of all properties and classes as fields of `Surroundings` (`kernels.queries.around`).

        Args:
            forwards: Whether the indexes are for a known subject; otherwise, for a known value.
            of_classes: Whether only triples of rdf:type are wanted, of a known subject.
        """

    @abstractmethod
    def triples(self, which: Which = "all") -> Rows:
        """Return all triples."""

    @abstractmethod
    def triples_of(self, property: int, cls: int | None = None, which: Which = "all") -> Rows:
        """Return the triples of a property and, for rdf:type, of a class, without building an index."""

    @abstractmethod
    def select(self, wanted: Callable[[Rows, Rows], Flags], which: Which) -> Rows:
        """Return the triples selected by a function of their properties and classes. It uses the class for rdf:type only."""

    def triples_in(self, relation: int, rows: Rows) -> Rows:
        """Return rows of a relation as triples, shape (n, 3)."""
        return as_triples(*self.columns(relation, rows))

    # --- names ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def names_related_by(self, property: int, since: Names = NO_NAMES) -> list[int]:
        """Return properties and classes in use: at least those in triples of a property.

        Args:
            property: The property.
            since: Omit those that there were when `names` had this value.
        """

    def has_name(self, term: int) -> bool:
        """Return whether a term is a property or class in use."""
        return bool(self.relations(term)) or bool(self.relations(self._type, term))

    # --- rules ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def is_open(self, rule: Rule) -> bool:
        """Return whether further properties or classes yield further copies of a rule."""

    @property
    @abstractmethod
    def names(self) -> Names:
        """The number of properties and classes in use."""

    @abstractmethod
    def choices(self, atoms: Collection[Atom], since: Names = NO_NAMES) -> tuple[Variable, list[int]] | None:
        """Return a variable in atoms of triples that ranges over relations, and its current values, or None.

        Args:
            atoms: The positive atoms of a body: a negated one does not limit the values of a variable.
            since: Omit the values that there were when `names` had this value.
        """

    def kind(self, relation: int, values: Sequence[int]) -> tuple[int, int, int]:
        """Return the part of a fact that determines which rules can derive it: the relation, and property and class if they vary in
        it.
        """
        return relation, -1, -1


def as_triples(subjects: Rows | int, properties: Rows | int, values: Rows | int) -> Rows:
    """Return triples from three columns. Constant columns are given as one id."""
    count = next((len(column) for column in (subjects, properties, values) if not isinstance(column, int)), 1)
    table = np.empty((count, 3), np.int32)
    for number, column in enumerate((subjects, properties, values)):
        table[:, number] = column
    return table


def concatenated(parts: Sequence[Part]) -> tuple[Rows, Flags]:
    """Return flagged rows of relations of the same arity as one table."""
    return np.concatenate([rows for _, rows, _ in parts]), np.concatenate([flags for _, _, flags in parts])
