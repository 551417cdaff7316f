"""Conjunctive queries over triples: all solutions of basic graph patterns.

Patterns that match a single relation each are compiled to one plan for the kernels, with a join order by the sizes of relations.
Patterns that range over relations (with a variable for the property or class, over property tables), and queries over the
explicit or the inferred triples only, are joined one by one, as tables of ids.

A pattern of three terms matches all triples; a pattern of four matches the triples of a graph (see `kg_reasoner.query.quads`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from typing import Protocol, cast

import numpy as np

from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.planning.catalog import RelationCatalog, StoredAtom
from kg_reasoner.planning.planner import join_order, plan_query
from kg_reasoner.planning.statistics import RelationStatistics
from kg_reasoner.query.basic_patterns import AnyPattern, Pattern, bound, connected, constant, distance, variables_of
from kg_reasoner.query.batched_matches import fetched_in_batches, slots_of
from kg_reasoner.query.fetching import CHUNK, Prepare, Proper, fetched_one_by_one
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import GRAPH_COLUMN
from kg_reasoner.query.scans import counted_by_property, scanned
from kg_reasoner.query.single_patterns import SinglePatterns, Solutions
from kg_reasoner.storage.arrays import Ids, Numbers, selected_rows, unique_ids, unique_rows
from kg_reasoner.storage.databases.workspaces import Workspace
from kg_reasoner.storage.grouping import gathered, group_rows, pair_rows
from kg_reasoner.storage.kernels.memory.struct_tables import Record

__all__ = [
    "LOOK_UP",
    "AnyPattern",
    "Pattern",
    "Proper",
    "Queries",
    "Readable",
    "Solutions",
    "answers",
    "match_triples",
    "variables_of",
]

LOOK_UP = 150
"""The cost of one lookup, in triples of a table join."""


class Readable(Protocol):
    """A reasoner, as far as queries use it."""

    @property
    def core(self) -> ReadableCore: ...


class ReadableCore(Protocol):
    """The part of a reasoner's core that queries use."""

    @property
    def queries(self) -> Queries: ...

    def reading(self, which: Which = ...) -> Hold: ...


def answers(
    reasoner: Readable,
    patterns: Sequence[AnyPattern],
    variables: Sequence[str],
    which: Which = "all",
    limit: int | None = None,
) -> Ids:
    """Return the solutions of a basic graph pattern, as ids of shape (solutions, variables), with their multiplicities.

    Facts with a literal as the subject, or with anything but an IRI as the property, are not triples and match nothing. Hidden
    triples match the patterns that ask for them, see `kg_reasoner.query.visibility`.

    Args:
        reasoner: The reasoner, which is brought up to date first, unless only explicit triples are queried.
        patterns: The patterns; a solution makes each of them a triple.
        variables: The variables of the answer, each of which occurs in some pattern.
        which: All triples, the explicit, or the inferred ones.
        limit: A sufficient number of solutions; there may be more.
    """
    core = reasoner.core
    with core.reading(which):
        return core.queries.solve(list(patterns), which, limit).columns(variables)


def match_triples(reasoner: Readable, pattern: Sequence[int | None], which: Which = "all") -> Ids:
    """Return the triples that match (subject, predicate, object) as ids, shape (n, 3). None matches every term."""
    subject, property, value = pattern
    core = reasoner.core
    with core.reading(which):
        return core.queries.match(subject, property, value, which)


class Queries(SinglePatterns):
    """Answers queries over the relations of a catalog, as they are at the moment. See `TripleMatcher` for `generalised`."""

    def __init__(self, catalog: RelationCatalog, *, generalised: bool = False) -> None:
        super().__init__(catalog, generalised=generalised)
        self.statistics = RelationStatistics(catalog.database)
        self.surroundings: dict[tuple[bool, bool], tuple[object, Record]] = {}
        """The relations around subjects, and values, that `kg_reasoner.query.repeated_queries` keeps."""

    def solve(
        self,
        patterns: Sequence[AnyPattern],
        which: Which,
        limit: int | None,
        wanted: Collection[str] | None = None,
        *,
        is_set: bool = False,
    ) -> Solutions:
        """Return the solutions of some patterns.

        Args:
            patterns: The patterns.
            which: All triples, the explicit, or the inferred ones.
            limit: A sufficient number of solutions; there may be more.
            wanted: The variables that must have a column; by default, all. The number of solutions does not depend on it.
            is_set: Whether repetitions may be omitted.
        """
        self.unstored.forget()
        scan = self._scanned(patterns[0], which, limit, wanted, is_set) if len(patterns) == 1 else None
        if scan is not None:
            return scan
        if wanted is not None and not self.are_special(patterns, which):
            return self._solve(patterns, which, limit, wanted)
        solutions = self._solve([pattern for pattern in patterns if not self._is_trivial(pattern, which)], which, limit)
        rows = self.visible(patterns, solutions, which)
        if limit is not None and len(rows) < limit <= len(solutions.rows):
            return self.solve(patterns, which, 16 * limit)
        return Solutions(solutions.names, rows)

    def estimate(self, patterns: Sequence[AnyPattern], which: Which) -> float:
        """Return an estimate of the number of solutions of some patterns, from samples."""
        sizes = [max(0.0, self._size(pattern, which)) for pattern in patterns]
        if len(patterns) < 2 or not self.are_planned(patterns, which):
            return min(sizes, default=1.0)
        atoms = self.atoms_of(patterns)
        if atoms is None:
            return 0.0
        estimate = self.statistics.join(atoms)
        waiting, total, bound = list(dict.fromkeys(atoms)), 1.0, set[str]()
        while waiting:
            best = min(waiting, key=lambda atom: estimate(atom, bound))
            waiting.remove(best)
            total *= estimate(best, bound)
            bound.update(term for term in best.terms if isinstance(term, str))
        return total

    def join_order(self, patterns: Sequence[AnyPattern], which: Which) -> list[int]:
        """Return the positions of some patterns in the order in which they are joined, as far as that is known in advance."""
        numbers = list(range(len(patterns)))
        atoms = self.atoms_of(patterns) if len(patterns) > 1 and self.are_planned(patterns, which) else None
        if atoms is None:
            return sorted(numbers, key=lambda number: self._size(patterns[number], which))
        order = join_order(atoms, self.statistics.join(atoms))
        return sorted(numbers, key=lambda number: order.index(atoms[number]))

    def matching(self, pattern: AnyPattern) -> tuple[list[str], Callable[[int | None], Ids]]:
        """Return the variables of a pattern, and what finds their values in its visible matches."""
        names, shows_all = variables_of([pattern]), not self.are_special([pattern], "all")

        def find(limit: int | None) -> Ids:
            return self._matches(pattern, "all", limit).rows if shows_all else self.solve([pattern], "all", limit).columns(names)

        return names, find

    def lookup(
        self, pattern: AnyPattern, given: Sequence[str], wanted: Sequence[str], which: Which
    ) -> Callable[[Sequence[int]], Ids]:
        """Return a plan for the values of wanted variables in the visible matches of a pattern, for values of the given ones.

        Args:
            pattern: The pattern.
            given: The variables whose values the plan is called with, in their order.
            wanted: The variables of the columns that it returns.
            which: Whether explicit triples, inferred ones or all are looked for.
        """
        self.unstored.forget()
        subject, property, value, *_ = bound(pattern, given, [0] * len(given))
        is_triple = isinstance(subject, int) and isinstance(value, int)
        shows_all = isinstance(pattern[1], int) and not is_triple and not self._hides_from((subject, property, value), which)

        def find(values: Sequence[int]) -> Ids:
            known = bound(pattern, given, values)
            return (self._matches(known, which) if shows_all else self.solve([known], which, None, wanted)).columns(wanted)

        return find

    def _solve(
        self, patterns: Sequence[AnyPattern], which: Which, limit: int | None, wanted: Collection[str] | None = None
    ) -> Solutions:
        """Return all solutions, including those with hidden triples."""
        if not patterns:
            return Solutions([], np.empty((1, 0), np.int32))
        if len(patterns) == 1:
            return self._matches(patterns[0], which, limit)
        if not all(self.matcher.is_rdf(constant(pattern[0]), constant(pattern[1])) for pattern in patterns):
            names = variables_of(patterns)
            return Solutions(names, np.empty((0, len(names)), np.int32))
        if which == "all" and all(map(self._is_planned, patterns)) and len(set(map(len, patterns))) == 1:
            return self._planned(patterns, limit, wanted)
        return self._joined(patterns, which)

    def _scanned(
        self, pattern: AnyPattern, which: Which, limit: int | None, wanted: Collection[str] | None, is_set: bool
    ) -> Solutions | None:
        """Return the wanted columns of the visible matches of a pattern that matches whole relations; None if it does not."""
        if limit is not None or wanted is None or not self._is_stored(pattern, which):
            return None
        visibility = self.visibility if self._hides_from(pattern, which) else None
        found = scanned(self.catalog, cast(Pattern, pattern), wanted, visibility, is_set=is_set)
        return None if found is None else Solutions(*found)

    def counts(self, pattern: AnyPattern, which: Which) -> tuple[Ids, Numbers] | None:
        """Return the properties of the visible matches of a pattern of three variables, and how many matches each has; None if
        they are not stored as they are.
        """
        if not self._is_stored(pattern, which):
            return None
        visibility = self.visibility if self._hides_from(pattern, which) else None
        return counted_by_property(self.catalog, cast(Pattern, pattern), visibility)

    def _is_stored(self, pattern: AnyPattern, which: Which) -> bool:
        """Return whether the matches of a pattern of triples are rows of relations."""
        if which != "all" or self.expands or self.matcher.generalised or len(pattern) > GRAPH_COLUMN:
            return False
        property = constant(pattern[1])
        return property is None or not self.unstored.covers(property)

    def are_planned(self, patterns: Sequence[AnyPattern], which: Which) -> bool:
        """Return whether some patterns can be planned together, and none of their triples is hidden."""
        return (
            which == "all"
            and all(map(self._is_planned, patterns))
            and len(set(map(len, patterns))) == 1
            and all(self.matcher.is_rdf(constant(pattern[0]), constant(pattern[1])) for pattern in patterns)
            and not self.are_special(patterns, which)
        )

    # --- patterns one by one ----------------------------------------------------------------------------------------

    def _joined(self, patterns: Sequence[AnyPattern], which: Which) -> Solutions:
        """Join patterns one by one, small and connected ones first. Patterns that can be planned with the first one are planned
        together.
        """
        sizes = {pattern: self._size(pattern, which) for pattern in patterns}
        are_of_triples = which == "all" and all(len(pattern) == GRAPH_COLUMN for pattern in patterns)
        start = min(patterns, key=sizes.__getitem__)
        alike = [pattern for pattern in patterns if which == "all" and self._is_planned(pattern) and len(pattern) == len(start)]
        group = connected(start, alike)
        if len(group) > 1:
            solutions = self._planned(group, None)
        else:
            group = [start]
            solutions = self._matches(start, which)
        rest = [pattern for pattern in patterns if pattern not in group]
        while rest:
            following = min(rest, key=lambda pattern: (*distance(pattern, solutions.names), sizes[pattern]))
            rest.remove(following)
            found = self._equalities(solutions, following) if are_of_triples else None
            if found is None:
                solutions = self._extended(solutions, following, which, sizes[following])
            else:
                solutions = _join(solutions, found)
        return solutions

    def _equalities(self, solutions: Solutions, pattern: AnyPattern) -> Solutions | None:
        """Return the matches of a pattern of owl:sameAs that may agree with solutions, where identities are not stored; None for
        other patterns.

        Args:
            solutions: Solutions of patterns of triples, so that all terms in them occur in triples.
            pattern: The pattern.
        """
        same_as, names = constant(pattern[1]), [name for name in (pattern[0], pattern[2]) if isinstance(name, str)]
        shared = [name for name in names if name in solutions.names]
        if same_as is None or len(set(names)) < 2 or not shared or not self.unstored.identities.covers(same_as):
            return None
        identities = self.unstored.identities.of(unique_ids(solutions.columns(shared).ravel()), same_as)
        found = unique_rows(np.concatenate([self.matcher.match(None, same_as, None), identities]))
        return Solutions(names, found[:, [0, 2]])

    def _size(self, pattern: AnyPattern, which: Which) -> float:
        """Return an estimate of the number of triples that match the constants of a pattern."""
        subject, property, value = map(constant, pattern[:GRAPH_COLUMN])
        if property is not None and subject is None and self.unstored.covers(property):
            return self.unstored.size(property) + self.matcher.size()
        if subject is None and value is None:
            atom = self._atom_of(pattern) if property is not None and self._is_planned(pattern) else None
            return self.matcher.size() if atom is None else self.statistics.size(atom)
        return len(self._found(pattern, which))

    def _extended(self, solutions: Solutions, pattern: AnyPattern, which: Which, size: float) -> Solutions:
        """Join solutions with a pattern, by looking up each distinct key or as a whole, whichever is cheaper."""
        names = variables_of([pattern])
        shared = [name for name in names if name in solutions.names]
        keys = solutions.columns(shared)
        labels, firsts = group_rows(keys)
        if len(firsts) * LOOK_UP >= size:
            return _join(solutions, self._matches(pattern, which))
        new = [name for name in names if name not in solutions.names]
        tables = [self._matches(bound(pattern, shared, key), which).columns(new) for key in keys[firsts].tolist()]
        found = np.concatenate([np.empty((0, len(new)), np.int32), *tables])
        owners = np.repeat(np.arange(len(tables), dtype=np.int32), [len(table) for table in tables])
        rows, places = pair_rows(labels[:, None], owners[:, None])
        return _side_by_side(solutions, rows, Solutions(new, found), places)

    # --- patterns with relations of their own -----------------------------------------------------------------------

    def _is_planned(self, pattern: AnyPattern) -> bool:
        """Return whether all matches of a pattern are in one relation (or none).

        Patterns of triples are planned together, and so are those of quads, but not both, as their names for terms may differ.
        """
        if len(pattern) > GRAPH_COLUMN:
            return self.quads.has_relation(pattern[GRAPH_COLUMN])
        return self._has_relation(pattern)

    def _atom_of(self, pattern: AnyPattern) -> StoredAtom | None:
        """Return a pattern over its relation, or None if there is none or more than one."""
        if len(pattern) > GRAPH_COLUMN:
            return self.quads.atom(pattern)
        return self._atom(pattern)

    def _has_relation(self, pattern: Pattern) -> bool:
        """Return whether all triples that can match a pattern are in one relation."""
        _, property, value = pattern
        return not self.unstored.covers(property) and self.catalog.layout.is_in_one(property, value)

    def _atom(self, pattern: Pattern) -> StoredAtom | None:
        """Return a pattern of triples over its relation."""
        relation, terms = self.catalog.layout.find(*pattern)
        return None if relation < 0 else StoredAtom(relation, terms)

    def atoms_of(self, patterns: Sequence[AnyPattern]) -> list[StoredAtom] | None:
        """Return patterns that are planned together over their relations; None if one of these does not exist."""
        atoms = [atom for atom in map(self._atom_of, patterns) if atom is not None]
        return atoms if len(atoms) == len(patterns) else None

    def needed(self, patterns: Sequence[AnyPattern], wanted: Collection[str] | None) -> list[str]:
        """Return the variables of some patterns whose values are wanted, or must be checked (see `proper`)."""
        names = variables_of(patterns)
        if wanted is None or self.expands:
            return names
        checked = {pattern[place] for pattern in patterns for place in (0, 1, 3)[: len(pattern) - 1]}
        return [name for name in names if name in wanted or name in checked]

    def _planned(self, patterns: Sequence[AnyPattern], limit: int | None, wanted: Collection[str] | None = None) -> Solutions:
        """Plan and run a query."""
        names = self.needed(patterns, wanted)
        fetch = self.fetching(patterns, names)
        return Solutions(names, np.empty((0, len(names)), np.int32) if fetch is None else fetch(limit))

    def fetching(self, patterns: Sequence[AnyPattern], names: Sequence[str]) -> Callable[[int | None], Ids] | None:
        """Return a function that fetches the solutions of patterns planned together, given a sufficient number, while facts and
        relations stay as they are; None if there are none.

        Args:
            patterns: The patterns, for which `are_planned` is true.
            names: The variables whose values are fetched, see `needed`.
        """
        atoms = self.atoms_of(patterns)
        if atoms is None:
            return None
        prepare, proper, slots = self.planned(atoms, names), self._proper(patterns, names), slots_of(atoms)

        def fetch(limit: int | None) -> Ids:
            if limit is not None and limit <= CHUNK:
                return fetched_one_by_one(prepare, proper, len(names), limit)
            with prepare() as (workspace, plan):
                return fetched_in_batches(workspace, plan, slots, len(names), proper, enough=limit)

        return fetch

    def planned(
        self, atoms: Sequence[StoredAtom], answer: Sequence[str], seeds: Sequence[str] = (), *, exact: bool = True
    ) -> Prepare:
        """Return a maker of the ``with`` block in which a query has a plan, see `kg_reasoner.planning.planner.plan_query`.

        Plans are remembered while the sizes of the relations are of the same order.

        Args:
            atoms: The atoms to match.
            answer: The variables of the columns of a solution.
            seeds: The variables whose values are given, in slots in this order.
            exact: Whether the plan finds an answer for every match; otherwise, at least one for each different answer.
        """
        database = self.catalog.database
        key, plan = self.plan_of(atoms, answer, seeds, exact=exact)
        return lambda: database.prepared(key, plan)

    def plan_of(
        self, atoms: Sequence[StoredAtom], answer: Sequence[str], seeds: Sequence[str] = (), *, exact: bool = True
    ) -> tuple[Hashable, Callable[[Workspace], int]]:
        """Return the key of a query's plan, and a function that makes the plan; see `planned` for the arguments."""
        sizes = tuple(self.catalog.database.size(atom.relation).bit_length() for atom in atoms)

        def plan(workspace: Workspace) -> int:
            return plan_query(workspace, atoms, (), answer, self.statistics.join(atoms), seeds, exact)

        return (tuple(atoms), tuple(answer), tuple(seeds), exact, sizes), plan

    def _proper(self, patterns: Sequence[AnyPattern], names: Sequence[str]) -> Proper | None:
        """Return `proper` for some patterns; None if it keeps all solutions."""
        if len(patterns[0]) == GRAPH_COLUMN:
            triples = cast(Sequence[Pattern], patterns)
            return None if self.matcher.generalised else partial(self._rdf_only, *self._checked(triples, names))
        return lambda rows: self.proper(patterns, names, rows)

    def proper(self, patterns: Sequence[AnyPattern], names: Sequence[str], rows: Ids) -> Ids:
        """Return the solutions in which all triples are RDF and no variable for a named graph is the default graph."""
        if len(patterns[0]) == GRAPH_COLUMN:
            proper = self._proper(patterns, names)
            return rows if proper is None else proper(rows)
        for graph in {graph for *_, graph in patterns}:
            if isinstance(graph, str) and graph in names:
                rows = selected_rows(rows, rows[:, names.index(graph)] != self.quads.default)
        return rows

    @staticmethod
    def _checked(patterns: Sequence[Pattern], names: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the columns of subjects, and those of properties."""
        subjects, properties = ({pattern[place] for pattern in patterns} for place in (0, 1))
        columns = list(enumerate(names))
        return (
            [column for column, name in columns if name in subjects and name not in properties],
            [column for column, name in columns if name in properties],
        )

    def _rdf_only(self, subjects: Sequence[int], properties: Sequence[int], rows: Ids) -> Ids:
        """Return the solutions in which no subject is a literal and every property is an IRI."""
        first = self.catalog.dictionary.first_bytes()
        for column in subjects:
            kept = first[rows[:, column]] != ord('"')
            rows = rows if kept.all() else selected_rows(rows, kept)
        for column in properties:
            kept = first[rows[:, column]] == ord("<")
            rows = rows if kept.all() else selected_rows(rows, kept)
        return rows


def _join(solutions: Solutions, others: Solutions) -> Solutions:
    """Return the natural join of two tables."""
    shared = [name for name in others.names if name in solutions.names]
    new = [name for name in others.names if name not in solutions.names]
    rows, places = pair_rows(solutions.columns(shared), others.columns(shared))
    return _side_by_side(solutions, rows, Solutions(new, others.columns(new)), places)


def _side_by_side(solutions: Solutions, rows: Numbers, others: Solutions, places: Numbers) -> Solutions:
    """Return rows of a table, each beside a row of another one."""
    table = np.concatenate([gathered(solutions.rows, rows), gathered(others.rows, places)], axis=1)
    return Solutions([*solutions.names, *others.names], table)
