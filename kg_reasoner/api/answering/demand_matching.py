"""Basic graph patterns of SPARQL, answered without materialisation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.engine.magic_sets.demand import Demand, abstracted
from kg_reasoner.engine.magic_sets.on_demand import by_magic
from kg_reasoner.engine.state.engine_state import State
from kg_reasoner.language.selection.magic import ANSWER
from kg_reasoner.program import TRIPLE, Argument, Atom, Variable
from kg_reasoner.query.patterns import Pattern, Queries, Solutions
from kg_reasoner.sparql.algebra import TriplePattern
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, unit
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import group_rows, pair_rows
from kg_reasoner.terms import RDF, Term, term_from_text

__all__ = ["DemandMatcher", "Effort", "NotOnDemandError"]


class NotOnDemandError(Exception):
    """Only the materialisation can tell the answer to a query."""


class Effort:
    """The work done for the patterns of a query.

    Attributes:
        derived: The number of facts that were derived, those of magic sets included.
        by_magic: Whether all answers were derived by magic sets.
    """

    def __init__(self) -> None:
        self.derived = 0
        self.by_magic = True


class DemandMatcher(PatternMatcher):
    """Matches patterns of all triples, of which only those are derived that a pattern needs, within a reading of explicit facts.

    Args:
        state: The facts and rules.
        queries: The queries over the explicit facts.
        effort: Records the work done.
        terms: The terms of the query.
    """

    def __init__(self, state: State, queries: Queries, effort: Effort, terms: QueryTerms) -> None:
        self.method: str | None = None
        self._state, self._queries, self._terms, self._effort = state, queries, terms, effort
        self._solved: dict[tuple[TriplePattern, ...], Table] = {}

    def solve(
        self,
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        limit: int | None = None,
        *,
        is_set: bool = False,
    ) -> Table:
        """Return the solutions of a basic graph pattern, see `PatternMatcher.solve`."""
        key = tuple(triples)
        found = self._solved.get(key)
        if found is None:
            found = self._solved[key] = self._asked(key, (), np.empty((1, 0), np.int32)) if key else unit()
        return found if wanted is None else found.project([name for name in found.columns if name in wanted])

    def extends(self, triples: Sequence[TriplePattern]) -> bool:
        """Return that solutions can be extended by all patterns: their values are asked for."""
        return True

    def extend(
        self,
        table: Table,
        names: Sequence[str],
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        *,
        once: bool = False,
    ) -> tuple[Numbers, Table]:
        """Return the matches of patterns that agree with solutions, see `PatternMatcher.extend`."""
        seeds = table.matrix(names)
        known = np.flatnonzero((seeds != UNBOUND).all(axis=1))
        found = self._asked(tuple(triples), names, seeds[known][group_rows(seeds[known])[1]])
        rows, others = pair_rows(seeds[known], found.matrix(names))
        kept = [name for name in found.columns if name not in names and (wanted is None or name in wanted)]
        return known[rows], found.project(kept).take(others)

    def estimate(self, triples: Sequence[TriplePattern]) -> float:
        """Return a guess, as the facts that will be derived are unknown: the fewer variables a triple has, the fewer solutions."""
        total = float(max(1, self._state.database.count()))
        return min((total ** _freedom(triple) for triple in triples), default=1.0)

    def ids(self, terms: Sequence[Term]) -> Ids:
        """Return the query's ids of terms."""
        return self._terms.ids_of(terms)

    def _asked(self, triples: tuple[TriplePattern, ...], names: Sequence[str], seeds: Ids) -> Table:
        """Return the solutions of a pattern that have one of some combinations of values.

        Args:
            triples: The pattern.
            names: The variables with given values.
            seeds: Different rows of values, as ids of the query.

        Raises:
            NotOnDemandError: Only the materialisation has the answer.
        """
        variables = dict.fromkeys(term for triple in triples for term in triple if isinstance(term, Variable))
        head = Atom(ANSWER, tuple[Argument, ...](variables))
        shape, constants = abstracted(head, [Atom(TRIPLE, triple) for triple in triples], [Variable(name) for name in names])
        encode = self._state.dictionary.encode
        patterns: list[Pattern] = []
        for triple in triples:
            subject, property, value = (term.name if isinstance(term, Variable) else encode(term) for term in triple)
            patterns.append((subject, property, value))
        if any(map(self._queries.equates, patterns)):
            raise NotOnDemandError
        rows = np.empty((len(seeds), len(shape.given)), np.int32)
        rows[:, : len(names)] = self._stored(seeds)
        rows[:, len(names) :] = [encode(term) for term in constants]
        found = by_magic(self._state, Demand(shape, rows))
        if found is None:
            raise NotOnDemandError
        self._effort.derived += found.derived
        self._effort.by_magic &= found.by_magic
        self.method = "magic sets" if found.by_magic else "bottom-up"
        return self._table([variable.name for variable in variables], patterns, found.rows)

    def _table(self, names: list[str], patterns: Sequence[Pattern], rows: Ids) -> Table:
        """Return those answers that are triples of RDF and not hidden, with the query's ids."""
        is_rdf = self._queries.matcher.is_rdf
        if not all(is_rdf(*(term if isinstance(term, int) else None for term in pattern[:2])) for pattern in patterns):
            rows = rows[:0]
        rows = self._queries.proper(patterns, names, rows)
        rows = self._queries.visible(patterns, Solutions(names, rows), "all")
        current_watch().check(len(rows), rows.nbytes)
        return Table({name: self._terms.kept(np.array(rows[:, place])) for place, name in enumerate(names)}, len(rows))

    def _stored(self, ids: Ids) -> Ids:
        """Return ids of the query as ids of the dictionary, which gets the terms that it does not have."""
        local = np.unique(ids[ids < UNBOUND])
        if not len(local):
            return ids
        encode = self._state.dictionary.encode
        for number, text in zip(local.tolist(), self._terms.texts(local), strict=True):
            ids = np.where(ids == number, np.int32(encode(term_from_text(text))), ids)
        return ids


def _freedom(triple: TriplePattern) -> float:
    """Return the exponent of the guessed number of solutions of a triple pattern, for a number of facts."""
    subject, property, value = triple
    free = sum(isinstance(term, Variable) for term in (subject, value))
    if property == RDF.type and isinstance(subject, Variable):
        return 0.8
    return free / 2
