"""Conjunctive queries over triples: basic graph patterns, joined by the kernels in an order that goes by the sizes of relations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.catalog import Catalog, StoredAtom, StoredTerm
from kg_reasoner.kernels import native
from kg_reasoner.kernels.layout import DONE
from kg_reasoner.kernels.memory import address, allocate
from kg_reasoner.planner import plan_query
from kg_reasoner.program import TRIPLE
from kg_reasoner.relation import Database

if TYPE_CHECKING:
    from kg_reasoner.reasoner import Reasoner, Which

Pattern: TypeAlias = tuple[StoredTerm, StoredTerm, StoredTerm]
"""A triple pattern: ids of constants, names of variables."""

Answers: TypeAlias = npt.NDArray[np.int32]

CHUNK = 1 << 16
SAMPLE = 512


def answers(reasoner: Reasoner, patterns: Sequence[Pattern], variables: Sequence[str]) -> Answers:
    """All solutions of a basic graph pattern, as ids of shape (solutions, variables), with their multiplicities.

    Solutions in which a literal is a subject, or anything but an IRI a predicate, are no RDF and left out.
    """
    reasoner.materialise()
    tables = list(_solve(reasoner, list(patterns), list(variables), {}))
    table = np.concatenate(tables) if tables else np.empty((0, len(variables)), np.int32)
    first = reasoner.dictionary.first_bytes()
    keep = np.ones(len(table), bool)
    for column, variable in enumerate(variables):
        if any(pattern[0] == variable for pattern in patterns):
            keep &= first[table[:, column]] != ord('"')
        if any(pattern[1] == variable for pattern in patterns):
            keep &= first[table[:, column]] == ord("<")
    return table if keep.all() else table[keep]


def match_triples(reasoner: Reasoner, pattern: Sequence[int | None], which: Which = "all") -> Answers:
    """The triples that match (subject, predicate, object) as ids, None matching all; shape (n, 3)."""
    if pattern[0] is pattern[1] is pattern[2] is None:
        return reasoner.triple_ids(which)
    if which != "all":
        ids = reasoner.triple_ids(which)
        for column, term in enumerate(pattern):
            if term is not None:
                ids = ids[ids[:, column] == term]
        return ids
    names = ("s", "p", "o")
    query = tuple(name if term is None else term for name, term in zip(names, pattern, strict=True))
    variables = [name for name in names if name in query]
    found = answers(reasoner, [query], variables)  # type: ignore[list-item]  # it has three terms
    table = np.empty((len(found), 3), np.int32)
    for column, term in enumerate(pattern):
        table[:, column] = found[:, variables.index(names[column])] if term is None else term
    return table


def _solve(reasoner: Reasoner, patterns: list[Pattern], variables: list[str], bound: dict[str, int]) -> Iterator[Answers]:
    """Solutions of patterns; in the vertical layout, variables for properties and classes take each value they can have in turn."""
    catalog = reasoner.catalog
    variable = None if catalog.ternary else _predicate_variable(catalog, patterns)
    if variable is None:
        atoms = [_atom(catalog, pattern) for pattern in patterns]
        if None not in atoms:
            table = _run(reasoner.database, [atom for atom in atoms if atom is not None], [v for v in variables if v not in bound])
            yield _with_constants(table, variables, bound)
        return
    for value in _values(reasoner, patterns, variable):
        concrete = [_replace(pattern, variable, value) for pattern in patterns]
        certain = [pattern for pattern in concrete if _predicate_variable(catalog, [pattern]) is None]
        if len(certain) == len(concrete) or _is_possible(reasoner, certain):
            yield from _solve(reasoner, concrete, variables, {**bound, variable: value})


def _predicate_variable(catalog: Catalog, patterns: Sequence[Pattern]) -> str | None:
    """A variable for a property, or for a class after rdf:type."""
    for _, property, value in patterns:
        if isinstance(property, str):
            return property
        if property == catalog.type_id and isinstance(value, str):
            return value
    return None


def _values(reasoner: Reasoner, patterns: Sequence[Pattern], variable: str) -> Collection[int]:
    """The values that a variable for properties or classes can have."""
    catalog = reasoner.catalog
    certain = [pattern for pattern in patterns if _predicate_variable(catalog, [pattern]) is None]
    if any(variable in pattern for pattern in certain):
        return sorted({row[0] for table in _solve(reasoner, certain, [variable], {}) for row in table.tolist()})
    if any(property == variable for _, property, _ in patterns):
        return [*catalog.properties, catalog.type_id]
    return list(catalog.classes)


def _is_possible(reasoner: Reasoner, patterns: list[Pattern]) -> bool:
    return all(len(table) for table in _solve(reasoner, patterns, [], {})) if patterns else True


def _replace(pattern: Pattern, variable: str, value: int) -> Pattern:
    subject, property, object = (value if term == variable else term for term in pattern)
    return subject, property, object


def _atom(catalog: Catalog, pattern: Pattern) -> StoredAtom | None:
    """The pattern over its relation; None if there is no such relation, and so no match."""
    if catalog.ternary:
        return StoredAtom(catalog.predicates[TRIPLE], pattern)
    subject, property, value = pattern
    assert isinstance(property, int)
    if property == catalog.type_id:
        relation = catalog.classes.get(value) if isinstance(value, int) else None
        return None if relation is None else StoredAtom(relation, (subject,))
    relation = catalog.properties.get(property)
    return None if relation is None else StoredAtom(relation, (subject, value))


def _run(database: Database, atoms: list[StoredAtom], variables: list[str]) -> Answers:
    """Plan a query, run it, and forget the plan."""
    width = len(variables)
    chunks: list[Answers] = []
    with database.temporary_plans():
        plan = plan_query(database, atoms, (), variables, Statistics(database).estimate)
        while native.start_query(database.address, plan) != DONE:
            database.build(database.context.wanted)
        size = 64
        while True:
            out = allocate(size * width, np.int32)
            count = native.fetch(database.address, width, address(out), size)
            chunks.append(np.asarray(out[: count * width]).reshape(count, width))
            if count < size:
                return np.concatenate(chunks)
            size = CHUNK


def _with_constants(table: Answers, variables: list[str], bound: dict[str, int]) -> Answers:
    """Put the columns of variables whose values are known between the others."""
    if not any(variable in bound for variable in variables):
        return table
    whole = np.empty((len(table), len(variables)), np.int32)
    found = iter(range(table.shape[1]))
    for column, variable in enumerate(variables):
        whole[:, column] = bound[variable] if variable in bound else table[:, next(found)]
    return whole


class Statistics:
    """Estimates of how many rows an atom matches, from relation sizes and samples of their columns."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._shares: dict[tuple[int, int, int | None], float] = {}

    def estimate(self, atom: StoredAtom, bound: Collection[str]) -> float:
        """The expected number of rows for one value of each bound variable; unconnected atoms count as a product."""
        size = float(self.database.size(atom.relation))
        for column, term in enumerate(atom.terms):
            if isinstance(term, int) or term in bound:
                size *= self._share(atom.relation, column, term if isinstance(term, int) else None)
        return size

    def _share(self, relation: int, column: int, constant: int | None) -> float:
        """The share of a relation's rows that have one value in a column: of a constant, or of a typical value."""
        key = relation, column, constant
        if key not in self._shares:
            rows = self.database.rows(relation)
            sample = rows[:: max(1, len(rows) // SAMPLE), column]
            if len(sample) == 0:
                self._shares[key] = 0.0
            elif constant is not None and self.database.relations[relation].arity == 3:
                self._shares[key] = max(float(np.count_nonzero(sample == constant)), 0.5) / len(sample)
            else:
                distinct = len(np.unique(sample))
                # a sample without repetitions says that values are nearly unique
                self._shares[key] = 1 / (distinct if distinct < len(sample) // 2 else distinct / len(sample) * len(rows))
        return self._shares[key]
