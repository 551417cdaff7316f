"""Conjunctive queries over triples: basic graph patterns with all their solutions.

Patterns that each have a relation of their own become one plan for the kernels, which join in an order that goes by the sizes of
relations. Patterns that range over relations (a variable for the property or class, in the vertical layout), and queries over the
explicit or the inferred triples only, are joined one by one, as tables of ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.catalog import Catalog, StoredAtom, StoredTerm
from kg_reasoner.kernels import native
from kg_reasoner.kernels.layout import DONE
from kg_reasoner.kernels.memory import address, allocate
from kg_reasoner.matching import Ids, Matcher, Which
from kg_reasoner.planner import plan_query
from kg_reasoner.program import TRIPLE
from kg_reasoner.statistics import Statistics

if TYPE_CHECKING:
    from kg_reasoner.reasoner import Reasoner

Pattern: TypeAlias = tuple[StoredTerm, StoredTerm, StoredTerm]
"""A triple pattern: ids of constants, names of variables."""

FIRST_CHUNK, CHUNK = 64, 1 << 16
"""Solutions that are fetched at once: at first, and then."""

LOOK_UP = 150
"""What one look-up costs, in triples that are joined as a whole table."""


def answers(
    reasoner: Reasoner,
    patterns: Sequence[Pattern],
    variables: Sequence[str],
    which: Which = "all",
    limit: int | None = None,
) -> Ids:
    """The solutions of a basic graph pattern, as ids of shape (solutions, variables), with their multiplicities.

    Args:
        reasoner: is brought up to date first, unless only explicit triples are asked for.
        patterns: what a solution makes a triple, every one of them.
        variables: those whose values are wanted, each of them in some pattern.
        which: all triples, the explicit, or those that are only inferred.
        limit: how many solutions are enough; there may be more.

    Facts with a literal as the subject, or with anything but an IRI as the property, are no triples and match nothing.
    """
    return _queries(reasoner, which).solve(list(patterns), which, limit).columns(variables)


def match_triples(reasoner: Reasoner, pattern: Sequence[int | None], which: Which = "all") -> Ids:
    """The triples that match (subject, predicate, object) as ids, None matching all; shape (n, 3)."""
    subject, property, value = pattern
    return _queries(reasoner, which).matcher.match(subject, property, value, which)


def _queries(reasoner: Reasoner, which: Which) -> Queries:
    if which != "explicit":
        reasoner.materialise()
    return reasoner.queries


@dataclass(frozen=True, slots=True)
class Solutions:
    """A table of ids with a name for each column."""

    names: Sequence[str]
    rows: Ids

    def columns(self, names: Sequence[str]) -> Ids:
        """The table of some of the names, in their order."""
        return self.rows if names == self.names else self.rows[:, [self.names.index(name) for name in names]]


class Queries:
    """Answers queries over the relations of a catalog, as they are at the moment. See `Matcher` for `generalised`."""

    def __init__(self, catalog: Catalog, *, generalised: bool = False) -> None:
        self.catalog = catalog
        self.matcher = Matcher(catalog, generalised=generalised)
        self.statistics = Statistics(catalog.database)

    def solve(self, patterns: list[Pattern], which: Which, limit: int | None) -> Solutions:
        """The solutions of some patterns, with all their variables."""
        if len(patterns) == 1:
            return self._matches(patterns[0], which, limit)
        if not all(self.matcher.is_rdf(_constant(pattern[0]), _constant(pattern[1])) for pattern in patterns):
            names = variables_of(patterns)
            return Solutions(names, np.empty((0, len(names)), np.int32))
        if which == "all" and all(map(self._has_relation, patterns)):
            return self._planned(patterns, limit)
        return self._joined(patterns, which)

    def _matches(self, pattern: Pattern, which: Which, limit: int | None = None) -> Solutions:
        """The solutions of one pattern."""
        names: list[str] = []
        columns: list[int] = []
        repeated: list[tuple[int, int]] = []
        for column, term in enumerate(pattern):
            if isinstance(term, str):
                if term in names:
                    repeated.append((pattern.index(term), column))
                else:
                    names.append(term)
                    columns.append(column)
        subject, property, value = map(_constant, pattern)
        found = self.matcher.match(subject, property, value, which, None if repeated else limit)
        for first, second in repeated:
            found = found[found[:, first] == found[:, second]]
        return Solutions(names, found[:, columns])

    # --- patterns one by one ----------------------------------------------------------------------------------------

    def _joined(self, patterns: list[Pattern], which: Which) -> Solutions:
        """Join patterns one by one, small and connected ones first; those that can be planned together with the first one are."""
        sizes = {pattern: self._size(pattern, which) for pattern in patterns}
        start = min(patterns, key=sizes.__getitem__)
        group = _connected(start, [pattern for pattern in patterns if which == "all" and self._has_relation(pattern)])
        if len(group) > 1:
            solutions = self._planned(group, None)
        else:
            group = [start]
            solutions = self._matches(start, which)
        rest = [pattern for pattern in patterns if pattern not in group]
        while rest:
            following = min(rest, key=lambda pattern: (*_distance(pattern, solutions.names), sizes[pattern]))
            rest.remove(following)
            solutions = self._extended(solutions, following, which, sizes[following])
        return solutions

    def _size(self, pattern: Pattern, which: Which) -> float:
        """About how many triples match the constants of a pattern."""
        subject, property, value = map(_constant, pattern)
        if subject is None and value is None:
            atom = None if property is None else self._atom(pattern)
            return self.matcher.size() if atom is None else self.statistics.size(atom)
        return len(self.matcher.match(subject, property, value, which))

    def _extended(self, solutions: Solutions, pattern: Pattern, which: Which, size: float) -> Solutions:
        """Join solutions with one more pattern, by looking up each distinct key or as a whole, whichever is cheaper."""
        names = variables_of([pattern])
        shared = [name for name in names if name in solutions.names]
        new = [name for name in names if name not in solutions.names]
        keys = solutions.columns(shared)
        labels = labels_of(keys)
        firsts = np.unique(labels, return_index=True)[1]
        if len(firsts) * LOOK_UP < size:
            tables = [self._matches(_bound(pattern, shared, key), which).columns(new) for key in keys[firsts].tolist()]
            found = np.concatenate([np.empty((0, len(new)), np.int32), *tables])
            counts = np.array([len(table) for table in tables], np.int64)
        else:
            whole = self._matches(pattern, which)
            both = labels_of(np.concatenate([keys, whole.columns(shared)]))
            labels, theirs = both[: len(keys)], both[len(keys) :]
            found = whole.columns(new)[np.argsort(theirs, kind="stable")]
            counts = np.bincount(theirs, minlength=int(both.max(initial=-1)) + 1)
        rows, places = _spread(counts, labels)
        return Solutions([*solutions.names, *new], np.concatenate([solutions.rows[rows], found[places]], axis=1))

    # --- patterns with relations of their own -----------------------------------------------------------------------

    def _has_relation(self, pattern: Pattern) -> bool:
        """Whether all that can match a pattern lies in one relation (or nowhere)."""
        _, property, value = pattern
        catalog = self.catalog
        return catalog.ternary or (isinstance(property, int) and (property != catalog.type_id or isinstance(value, int)))

    def _atom(self, pattern: Pattern) -> StoredAtom | None:
        """The pattern over its relation; None if there is no such relation, or more than one."""
        catalog = self.catalog
        if catalog.ternary:
            return StoredAtom(catalog.predicates[TRIPLE], pattern)
        subject, property, value = pattern
        if property == catalog.type_id:
            relation = catalog.classes.get(value) if isinstance(value, int) else None
            return None if relation is None else StoredAtom(relation, (subject,))
        relation = catalog.properties.get(property) if isinstance(property, int) else None
        return None if relation is None else StoredAtom(relation, (subject, value))

    def _planned(self, patterns: Sequence[Pattern], limit: int | None) -> Solutions:
        """Plan a query, run it, and forget the plan."""
        names = variables_of(patterns)
        atoms = [atom for atom in map(self._atom, patterns) if atom is not None]
        chunks = [np.empty((0, len(names)), np.int32)]
        database = self.catalog.database
        with database.temporary_plans():
            if len(atoms) == len(patterns):
                plan = plan_query(database, atoms, (), names, self.statistics.join(atoms))
                while native.start_query(database.address, plan) != DONE:
                    database.build(database.context.wanted)
                size, count, total = FIRST_CHUNK, FIRST_CHUNK, 0
                while count == size and (limit is None or total < limit):
                    size = FIRST_CHUNK if total == 0 else CHUNK
                    out = allocate(size * len(names), np.int32)
                    count = native.fetch(database.address, len(names), address(out), size)
                    chunks.append(self._rdf_only(patterns, names, np.asarray(out[: count * len(names)]).reshape(count, len(names))))
                    total += len(chunks[-1])
        return Solutions(names, np.concatenate(chunks))

    def _rdf_only(self, patterns: Sequence[Pattern], names: Sequence[str], rows: Ids) -> Ids:
        """The solutions in which no literal is a subject, and every property an IRI."""
        if self.matcher.generalised:
            return rows
        first = self.catalog.dictionary.first_bytes()
        for column, name in enumerate(names):
            if any(pattern[0] == name for pattern in patterns):
                rows = rows[first[rows[:, column]] != ord('"')]
            if any(pattern[1] == name for pattern in patterns):
                rows = rows[first[rows[:, column]] == ord("<")]
        return rows


def variables_of(patterns: Sequence[Pattern]) -> list[str]:
    """The variables of some patterns, in the order in which they occur."""
    return list(dict.fromkeys(term for pattern in patterns for term in pattern if isinstance(term, str)))


def _constant(term: StoredTerm) -> int | None:
    return term if isinstance(term, int) else None


def _bound(pattern: Pattern, names: Sequence[str], values: Sequence[int]) -> Pattern:
    """The pattern with some variables replaced by ids."""
    known = dict(zip(names, values, strict=True))
    subject, property, value = (known.get(term, term) if isinstance(term, str) else term for term in pattern)
    return subject, property, value


def _distance(pattern: Pattern, names: Sequence[str]) -> tuple[bool, int]:
    """Whether a pattern has variables, but none of the named ones; and how many of its variables are not among them."""
    variables = variables_of([pattern])
    new = sum(name not in names for name in variables)
    return 0 < len(variables) == new, new


def _connected(start: Pattern, patterns: Sequence[Pattern]) -> list[Pattern]:
    """The patterns that share variables with the first one, or with others that do; none if the first is not among them."""
    group: list[Pattern] = []
    fresh = [start] if start in patterns else []
    while fresh:
        group += fresh
        names = set(variables_of(group))
        fresh = [pattern for pattern in patterns if pattern not in group and not names.isdisjoint(pattern)]
    return group


def labels_of(rows: Ids) -> npt.NDArray[np.int64]:
    """A number for each row of ids, 0, 1, 2 ...: equal rows have the same."""
    labels = np.zeros(len(rows), np.int64)
    for column in rows.T:
        labels = np.unique((labels << 32) | column, return_inverse=True)[1].reshape(-1)
    return labels


def _spread(counts: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pair each row with all items of its label: row numbers, and places of items that are ordered by label.

    Args:
        counts: how many items each label has.
        labels: the label of each row.
    """
    starts = np.cumsum(counts) - counts
    repeats = counts[labels]
    rows = np.repeat(np.arange(len(labels)), repeats)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return rows, starts[labels[rows]] + within
