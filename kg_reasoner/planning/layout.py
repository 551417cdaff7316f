"""How triples lie in the relations of a database: what every layout can tell and do.

There are two, in `planning.property_tables` and `planning.triple_table`. `planning.catalog.layout_for` chooses one by the rules;
nothing else asks which of them there is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from kg_reasoner.planning.expansion import substitute, triple_atoms
from kg_reasoner.program import Atom, Rule, Variable
from kg_reasoner.storage.arrays import Changed, Flags, Rows
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.lookups import Lookups, Which
from kg_reasoner.storage.relation import Database
from kg_reasoner.terms import RDF

Columns: TypeAlias = tuple[Rows, Rows | int, Rows | int]
"""The subjects, properties and values of triples; one id for a column that is constant."""

Part: TypeAlias = tuple[int, Rows, Flags]
"""A relation, some of its rows, and a flag for each."""

T = TypeVar("T", bound="int | str")
"""A constant's id, or a variable's name."""


class TripleLayout(ABC):
    """Which triples lie in which relations. Terms are ids; what is found is what is stored at the moment.

    Attributes:
        held: The relations of triples: for each the property of its triples, and if that is rdf:type their class; -1 for any.
        lookups: Of rows by their columns.
        store: Make triples, shape (n, 3), explicit. Says of each whether it was not.
        retract: Make triples explicit no longer. Says of each whether it was.
        are_explicit: Says of each triple whether it is explicit.
        joined: Makes rows of relations of triples, each with a flag, one table of triples.
    """

    store: Callable[[Rows], Changed]
    retract: Callable[[Rows], Changed]
    are_explicit: Callable[[Rows], Changed]
    joined: Callable[[Sequence[Part]], tuple[Rows, Flags]]

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        self.held: dict[int, tuple[int, int]] = {}
        self.lookups = Lookups(database)
        self._dictionary, self._database = dictionary, database
        self._type = dictionary.encode(RDF.type)

    # --- relations --------------------------------------------------------------------------------------------------

    @abstractmethod
    def place(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        """Return the relation of a triple or pattern, made if need be, and the tuple that it is there."""

    @abstractmethod
    def find(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        """Return the same; -1 if there is no such relation, or if there are several."""

    @abstractmethod
    def is_in_one(self, property: int | str, value: int | str) -> bool:
        """Return whether all triples that match a pattern lie in one relation, or nowhere."""

    @abstractmethod
    def relations(self, property: int | None = None, cls: int | None = None) -> Collection[int]:
        """Return the relations that can have triples of a property, and if that is rdf:type of a class."""

    @abstractmethod
    def columns(self, relation: int, rows: Rows) -> Columns:
        """Rows of a relation as triples."""

    def found(self, triples: Rows) -> list[tuple[int, Rows]]:
        """Triples as rows of the relations that hold them; those that no relation can hold are left out."""
        rows: dict[int, list[tuple[int, ...]]] = {}
        for triple in triples.tolist():
            relation, values = self.find(*triple)
            if relation >= 0:
                rows.setdefault(relation, []).append(values)
        return [(relation, np.array(values, np.int32)) for relation, values in rows.items()]

    # --- triples ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def match(self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None) -> Rows:
        """Return the triples that match, shape (n, 3). With a limit, at least so many are enough."""

    @abstractmethod
    def triples(self, which: Which = "all") -> Rows:
        """Return all triples."""

    @abstractmethod
    def triples_of(self, property: int, cls: int | None = None, which: Which = "all") -> Rows:
        """Return the triples of a property, and if that is rdf:type of a class; no index is made for them."""

    @abstractmethod
    def select(self, wanted: Callable[[Rows, Rows], Flags], which: Which) -> Rows:
        """Return the triples whose property and class are wanted: a function of both, that looks at the class of rdf:type only."""

    def triples_in(self, relation: int, rows: Rows) -> Rows:
        """Rows of a relation as triples, shape (n, 3)."""
        return as_triples(*self.columns(relation, rows))

    # --- names ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def names_related_by(self, property: int) -> list[int]:
        """Properties and classes that are used: at least those that triples of a property relate."""

    # --- rules ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def is_open(self, rule: Rule) -> bool:
        """Return whether further properties or classes make further copies of a rule."""

    @abstractmethod
    def choices(self, atoms: Collection[Atom]) -> tuple[Variable, list[int]] | None:
        """Return a variable of atoms of triples that says which relations are meant, and the values there are; None: there is
        none.
        """

    def copies(self, rule: Rule) -> Iterator[Rule]:
        """Yield the rule, or copies without variables that say which relations are meant: one for each value there is at the
        moment.
        """
        choice = self.choices(tuple(triple_atoms(rule.body))) if self.is_open(rule) else None
        if choice is None:
            yield rule
            return
        variable, values = choice
        for value in values:
            copy = substitute(rule, {variable: self._dictionary.decode(value)})
            if copy is not None:
                yield from self.copies(copy)

    def kind(self, relation: int, values: Sequence[int]) -> tuple[int, int, int]:
        """Return what of a fact decides which rules can derive it: the relation, and names that not all of its triples have."""
        return relation, -1, -1


def as_triples(subjects: Rows | int, properties: Rows | int, values: Rows | int) -> Rows:
    """Triples from three columns, of which the constant ones are given as one id."""
    count = next((len(column) for column in (subjects, properties, values) if not isinstance(column, int)), 1)
    table = np.empty((count, 3), np.int32)
    for number, column in enumerate((subjects, properties, values)):
        table[:, number] = column
    return table


def concatenated(parts: Sequence[Part]) -> tuple[Rows, Flags]:
    """Rows of relations of one width, each with a flag, as one table."""
    return np.concatenate([rows for _, rows, _ in parts]), np.concatenate([flags for _, _, flags in parts])
