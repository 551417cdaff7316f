"""Conjunctive queries over triples: all solutions of basic graph patterns.

Patterns that match a single relation each are compiled to one plan for the kernels, with a join order by the sizes of relations.
Patterns that range over relations (with a variable for the property or class, over property tables), and queries over the
explicit or the inferred triples only, are joined one by one, as tables of ids.

A pattern of three terms matches all triples; a pattern of four matches the triples of a graph (see `kg_reasoner.query.quads`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias, cast

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.planning.catalog import RelationCatalog, StoredAtom, StoredTerm
from kg_reasoner.planning.planner import join_order, plan_query
from kg_reasoner.planning.statistics import RelationStatistics
from kg_reasoner.query.batches import fetched_in_batches, slots_of
from kg_reasoner.query.literal_triples import LiteralTriples
from kg_reasoner.query.matching import TripleMatcher, Which
from kg_reasoner.query.quads import GRAPH_COLUMN, INFERRED, GraphTerm, QuadPattern, Quads
from kg_reasoner.query.scans import scanned
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import Flags, Ids, unique_rows
from kg_reasoner.storage.grouping import among, gathered, group_rows, pair_rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory import Record, address, allocate
from kg_reasoner.storage.workspaces import Workspace
from kg_reasoner.terms import OWL, Term

Prepare: TypeAlias = Callable[[], AbstractContextManager[tuple[Workspace, int]]]
"""Makes the ``with`` block in which a query has a plan."""

Proper: TypeAlias = Callable[[Ids], Ids]

Pattern: TypeAlias = tuple[StoredTerm, StoredTerm, StoredTerm]
"""A triple pattern: ids of constants, names of variables."""

AnyPattern: TypeAlias = Pattern | QuadPattern
"""A pattern of all triples, or of the triples of a graph."""

FIRST_CHUNK, CHUNK = 64, 1 << 16
"""The numbers of solutions fetched at once: the first time, and later."""

FEW = 64
"""The maximum number of triples to look up one by one."""

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


@dataclass(frozen=True, slots=True)
class Solutions:
    """A table of ids with a name for each column."""

    names: Sequence[str]
    rows: Ids

    def columns(self, names: Sequence[str]) -> Ids:
        """Return the table of the named columns, in this order."""
        return self.rows if names == self.names else self.rows[:, [self.names.index(name) for name in names]]


class Queries:
    """Answers queries over the relations of a catalog, as they are at the moment. See `TripleMatcher` for `generalised`."""

    visibility: Visibility | None = None
    """Decides which triples are hidden; None if none are."""

    def __init__(self, catalog: RelationCatalog, *, generalised: bool = False) -> None:
        self.catalog = catalog
        self.matcher = TripleMatcher(catalog, generalised=generalised)
        self.quads = Quads(catalog, self.matcher)
        self.literals = LiteralTriples(catalog, self.matcher)
        self.statistics = RelationStatistics(catalog.database)
        self.surroundings: dict[tuple[bool, bool], tuple[object, Record]] = {}
        """What `kg_reasoner.query.few` knows of the relations around subjects, and values."""

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
        self.literals.forget()
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

    def are_special(self, patterns: Sequence[AnyPattern], which: Which) -> bool:
        """Return whether hidden triples match some pattern, or a pattern holds without being derived."""
        if self.visibility is None or which == "explicit":
            return False
        return any(self._hides_from(pattern, which) or self._is_trivial(pattern, which) for pattern in patterns)

    def visible(self, patterns: Sequence[AnyPattern], solutions: Solutions, which: Which) -> Ids:
        """Return the solutions in which no triple is hidden from its pattern."""
        rows = solutions.rows
        for pattern in patterns:
            if self._hides_from(pattern, which):
                triples = np.empty((len(rows), GRAPH_COLUMN), np.int32)
                for column, term in enumerate(pattern[:GRAPH_COLUMN]):
                    triples[:, column] = rows[:, solutions.names.index(term)] if isinstance(term, str) else term
                rows = rows[self._shown(triples, which)]
        return rows

    def match(self, subject: int | None, property: int | None, value: int | None, which: Which = "all") -> Ids:
        """Return the matching triples as ids, shape (n, 3)."""
        if subject is None or property is None or value is None:
            self.literals.forget()
            return self.seen(self._matching(subject, property, value, which), property, value, which)
        triple = subject, property, value
        return np.array([triple] if self.contains(*triple, which) else [], np.int32).reshape(-1, GRAPH_COLUMN)

    def contains(self, subject: int, property: int, value: int, which: Which = "all") -> bool:
        """Return whether a triple holds."""
        if self.matcher.contains(subject, property, value, which) or self._is_trivial((subject, property, value), which):
            return True
        self.literals.forget()
        return self.literals.covers(property) and len(self._matching(subject, property, value, which)) > 0

    @property
    def expands(self) -> bool:
        """Whether a stored fact stands for several solutions, in other names of its terms."""
        return False

    def count(self, which: Which = "all") -> int:
        """Return the number of triples."""
        total = self.matcher.count(which)
        if which == "explicit" or self.visibility is None or not self.visibility.is_active:
            return total
        return total - int(np.count_nonzero(self.visibility.hides(self.matcher.match(None, None, None, "inferred"))))

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

    def naming(self) -> Callable[[Term], Term]:
        """Return a function from terms to one name for all equal terms."""
        dictionary = self.catalog.dictionary
        same_as = dictionary.find(OWL.sameAs)
        matcher = TripleMatcher(self.catalog, generalised=True)
        pairs = matcher.match(None, same_as, None)[:, [0, 2]] if same_as >= 0 else np.empty((0, 2), np.int32)
        names: dict[int, list[int]] = {}
        for one, other in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
            group, further = names.setdefault(one, [one]), names.setdefault(other, [other])
            if group is not further:
                group += further
                names.update(dict.fromkeys(further, group))

        def name(term: Term) -> Term:
            group = names.get(dictionary.find(term)) if names else None
            return term if group is None else dictionary.decode(min(group))

        return name

    def seen(self, found: Ids, property: int | None = None, value: int | None = None, which: Which = "all") -> Ids:
        """Return the triples that are not hidden from a pattern, among those that match its constants, shape (n, 3)."""
        if which == "explicit" or len(found) == 0 or self.visibility is None or not self.visibility.covers(property, value):
            return found
        return found if self.visibility.hides_none(found) else found[self._shown(found, which)]

    def _hides_from(self, pattern: AnyPattern, which: Which) -> bool:
        """Return whether hidden triples are omitted for a pattern. Explicit triples, such as those of named graphs, never are."""
        graph = INFERRED if len(pattern) == GRAPH_COLUMN else pattern[GRAPH_COLUMN]
        is_explicit = which == "explicit" or not (graph == INFERRED or isinstance(graph, frozenset))
        if is_explicit or self.matcher.generalised or self.visibility is None:
            return False
        return self.visibility.covers(pattern[1], pattern[2])

    def _shown(self, triples: Ids, which: Which) -> Flags:
        """Return whether each of some triples is not hidden."""
        assert self.visibility is not None
        hidden = self.visibility.hides(triples)
        if which == "all" and hidden.any():
            hidden[hidden] = ~self._are_explicit(triples[hidden])
        return ~hidden

    def _are_explicit(self, triples: Ids) -> Flags:
        """Return whether each of some triples, which would otherwise be hidden, is explicit."""
        assert self.visibility is not None
        if len(triples) <= FEW:
            return np.array([self.matcher.contains(s, p, o, "explicit") for s, p, o in triples.tolist()], np.bool_)
        explicit = self.matcher.match(None, None, None, "explicit")
        return among(triples, explicit[self.visibility.hides(explicit)])

    def equates(self, pattern: AnyPattern) -> bool:
        """Return whether a pattern equates a term with itself."""
        if self.visibility is None or pattern[0] != pattern[2]:
            return False
        subject, property, _ = map(_constant, pattern[:GRAPH_COLUMN])
        return subject is not None and property is not None and self.visibility.is_trivial(property)

    def _is_trivial(self, pattern: AnyPattern, which: Which) -> bool:
        """Return whether a pattern equates a term with itself, which holds whether or not a rule derives it."""
        if which == "explicit" or len(pattern) > GRAPH_COLUMN or not self.equates(pattern):
            return False
        subject = _constant(pattern[0])
        places = ((subject, None, None), (None, subject, None), (None, None, subject))
        return any(len(self.matcher.match(s, p, o, limit=1)) > 0 for s, p, o in places)

    def matching(self, pattern: AnyPattern) -> tuple[list[str], Callable[[int | None], Ids]]:
        """Return the variables of a pattern, and what finds their values in its visible matches."""
        names, shows_all = variables_of([pattern]), not self.are_special([pattern], "all")

        def find(limit: int | None) -> Ids:
            return self._matches(pattern, "all", limit).rows if shows_all else self.solve([pattern], "all", limit).columns(names)

        return names, find

    def _solve(
        self, patterns: Sequence[AnyPattern], which: Which, limit: int | None, wanted: Collection[str] | None = None
    ) -> Solutions:
        """Return all solutions, including those with hidden triples."""
        if not patterns:
            return Solutions([], np.empty((1, 0), np.int32))
        if len(patterns) == 1:
            return self._matches(patterns[0], which, limit)
        if not all(self.matcher.is_rdf(_constant(pattern[0]), _constant(pattern[1])) for pattern in patterns):
            names = variables_of(patterns)
            return Solutions(names, np.empty((0, len(names)), np.int32))
        if which == "all" and all(map(self._is_planned, patterns)) and len(set(map(len, patterns))) == 1:
            return self._planned(patterns, limit, wanted)
        return self._joined(patterns, which)

    def _scanned(
        self, pattern: AnyPattern, which: Which, limit: int | None, wanted: Collection[str] | None, is_set: bool
    ) -> Solutions | None:
        """Return the wanted columns of the visible matches of a pattern that matches whole relations; None if it does not."""
        if limit is not None or wanted is None or which != "all" or self.expands or self.matcher.generalised:
            return None
        property = _constant(pattern[1])
        if len(pattern) > GRAPH_COLUMN or (property is not None and self.literals.covers(property)):
            return None
        visibility = self.visibility if self._hides_from(pattern, which) else None
        found = scanned(self.catalog, pattern, wanted, visibility, is_set=is_set)
        return None if found is None else Solutions(*found)

    def are_planned(self, patterns: Sequence[AnyPattern], which: Which) -> bool:
        """Return whether some patterns can be planned together, and none of their triples is hidden."""
        return (
            which == "all"
            and all(map(self._is_planned, patterns))
            and len(set(map(len, patterns))) == 1
            and all(self.matcher.is_rdf(_constant(pattern[0]), _constant(pattern[1])) for pattern in patterns)
            and not self.are_special(patterns, which)
        )

    def _matches(self, pattern: AnyPattern, which: Which, limit: int | None = None) -> Solutions:
        """Return the solutions of one pattern."""
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
        found = self._found(pattern, which, None if repeated else limit)
        for first, second in repeated:
            found = found[found[:, first] == found[:, second]]
        return Solutions(names, found[:, columns])

    def _found(self, pattern: AnyPattern, which: Which, limit: int | None = None) -> Ids:
        """Return the matches of a pattern's constants, with one column for each term except a constant graph."""
        subject, property, value = map(_constant, pattern[:GRAPH_COLUMN])
        if len(pattern) == GRAPH_COLUMN:
            return self._matching(subject, property, value, which, limit)
        graph = pattern[GRAPH_COLUMN]
        if isinstance(graph, str):
            return self.quads.match_quads(subject, property, value, None)
        return self.quads.match(subject, property, value, graph)

    def _matching(
        self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None = None
    ) -> Ids:
        """Return the matching triples, stored or not."""
        found = self.matcher.match(subject, property, value, which, limit)
        if which == "explicit" or property is None or not self.literals.covers(property):
            return found
        further = self.literals.match(subject, property, value)
        if which == "inferred":
            further = further[~among(further, self.matcher.match(subject, property, value, "explicit"))]
        return unique_rows(np.concatenate([found, further]))

    # --- patterns one by one ----------------------------------------------------------------------------------------

    def _joined(self, patterns: Sequence[AnyPattern], which: Which) -> Solutions:
        """Join patterns one by one, small and connected ones first. Patterns that can be planned with the first one are planned
        together.
        """
        sizes = {pattern: self._size(pattern, which) for pattern in patterns}
        start = min(patterns, key=sizes.__getitem__)
        alike = [pattern for pattern in patterns if which == "all" and self._is_planned(pattern) and len(pattern) == len(start)]
        group = _connected(start, alike)
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

    def _size(self, pattern: AnyPattern, which: Which) -> float:
        """Return an estimate of the number of triples that match the constants of a pattern."""
        subject, property, value = map(_constant, pattern[:GRAPH_COLUMN])
        if property is not None and subject is None and self.literals.covers(property):
            return self.literals.size(property) + self.matcher.size()
        if subject is None and value is None:
            atom = self._atom_of(pattern) if property is not None and self._is_planned(pattern) else None
            return self.matcher.size() if atom is None else self.statistics.size(atom)
        return len(self._found(pattern, which))

    def _extended(self, solutions: Solutions, pattern: AnyPattern, which: Which, size: float) -> Solutions:
        """Join solutions with a pattern, by looking up each distinct key or as a whole, whichever is cheaper."""
        names = variables_of([pattern])
        shared = [name for name in names if name in solutions.names]
        new = [name for name in names if name not in solutions.names]
        keys = solutions.columns(shared)
        labels, firsts = group_rows(keys)
        if len(firsts) * LOOK_UP < size:
            tables = [self._matches(_bound(pattern, shared, key), which).columns(new) for key in keys[firsts].tolist()]
            found = np.concatenate([np.empty((0, len(new)), np.int32), *tables])
            owners = np.repeat(np.arange(len(tables), dtype=np.int32), [len(table) for table in tables])
            rows, places = pair_rows(labels[:, None], owners[:, None])
        else:
            whole = self._matches(pattern, which)
            found = whole.columns(new)
            rows, places = pair_rows(keys, whole.columns(shared))
        return Solutions(
            [*solutions.names, *new], np.concatenate([gathered(solutions.rows, rows), gathered(found, places)], axis=1)
        )

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
        return not self.literals.covers(property) and self.catalog.layout.is_in_one(property, value)

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
        """Return what fetches the solutions of patterns that are planned together, given a sufficient number, as long as facts and
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
                return self._fetched(prepare, proper, len(names), limit)
            with prepare() as (workspace, plan):
                return fetched_in_batches(workspace, plan, slots, len(names), proper, enough=limit)

        return fetch

    @staticmethod
    def _fetched(prepare: Prepare, proper: Proper | None, width: int, limit: int) -> Ids:
        """Run a plan for a few solutions, one after the other."""
        chunks: list[Ids] = []
        with prepare() as (workspace, plan):
            watch = current_watch()
            if watch is not NOBODY:
                watch.attach(workspace.context)
            try:
                workspace.start(plan)
                size = count = min(FIRST_CHUNK, max(1, limit))
                total = fetched = 0
                while count == size and total < limit:
                    size = CHUNK if fetched else size
                    out = allocate(size * width, np.int32)
                    count = native.fetch(workspace.address, width, address(out), size)
                    fetched += count
                    watch.check(fetched, 4 * width * fetched)
                    found: Ids = np.asarray(out[: count * width]).reshape(count, width)
                    chunks.append(found if proper is None else proper(found))
                    total += len(chunks[-1])
            finally:
                if watch is not NOBODY:
                    watch.detach(workspace.context)
        return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty((0, width), np.int32), *chunks])

    def planned(
        self, atoms: Sequence[StoredAtom], answer: Sequence[str], seeds: Sequence[str] = (), *, exact: bool = True
    ) -> Prepare:
        """Return what makes the ``with`` block in which a query has a plan, see `kg_reasoner.planning.planner.plan_query`.

        Plans are remembered while the sizes of the relations are of the same order.
        """
        database = self.catalog.database
        key, plan = self.plan_of(atoms, answer, seeds, exact=exact)
        return lambda: database.prepared(key, plan)

    def plan_of(
        self, atoms: Sequence[StoredAtom], answer: Sequence[str], seeds: Sequence[str] = (), *, exact: bool = True
    ) -> tuple[Hashable, Callable[[Workspace], int]]:
        """Return what identifies the plan of a query, and what makes it; see `planned`."""
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
                rows = rows[rows[:, names.index(graph)] != self.quads.default]
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
            rows = rows if kept.all() else rows[kept]
        for column in properties:
            kept = first[rows[:, column]] == ord("<")
            rows = rows if kept.all() else rows[kept]
        return rows


def variables_of(patterns: Sequence[AnyPattern]) -> list[str]:
    """Return the variables of some patterns, in order of occurrence."""
    return list(dict.fromkeys(term for pattern in patterns for term in pattern if isinstance(term, str)))


def _constant(term: GraphTerm) -> int | None:
    return term if isinstance(term, int) else None


def _bound(pattern: AnyPattern, names: Sequence[str], values: Sequence[int]) -> AnyPattern:
    """Return the pattern with some variables replaced by ids."""
    known = dict(zip(names, values, strict=True))
    return cast(AnyPattern, tuple(known.get(term, term) if isinstance(term, str) else term for term in pattern))


def _distance(pattern: AnyPattern, names: Sequence[str]) -> tuple[bool, int]:
    """Return whether a pattern has variables but shares none with `names`, and the number of its variables not in `names`."""
    variables = variables_of([pattern])
    new = sum(name not in names for name in variables)
    return 0 < len(variables) == new, new


def _connected(start: AnyPattern, patterns: Sequence[AnyPattern]) -> list[AnyPattern]:
    """Return the patterns connected by shared variables to the first one, or none if the first is not among them."""
    group: list[AnyPattern] = []
    fresh = [start] if start in patterns else []
    while fresh:
        group += fresh
        names = set(variables_of(group))
        fresh = [pattern for pattern in patterns if pattern not in group and not names.isdisjoint(pattern)]
    return group
