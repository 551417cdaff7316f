"""Basic graph patterns in a place, as tables.

The ids of a place are those of its dictionary. Where that is not the dictionary of the query (graphs that are reasoned over
separately have one each), terms are translated.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.program import Variable
from kg_reasoner.query.as_sets import parts_of, solved_as_set
from kg_reasoner.query.extension import extend, reached
from kg_reasoner.query.patterns import AnyPattern, variables_of
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.sparql.algebra import TriplePattern
from kg_reasoner.sparql.evaluation.datasets import Place
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import Table, concatenated, unit
from kg_reasoner.sparql.solutions.table_joins import compatible, is_among, merged
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.terms import Term, term_text

__all__ = ["Matcher", "MergedMatcher"]

REMEMBERED: Final = 1 << 16
"""The maximal number of constants whose ids are remembered."""


class Matcher:
    """Matches patterns in one place.

    Args:
        place: The place.
        terms: The terms of the query.
        graph: The variable that stands for the graph of all patterns; None: they are matched in the graph of the place.
    """

    method: str | None = None

    def __init__(self, place: Place, terms: QueryTerms, graph: Variable | None = None) -> None:
        self.place, self._graph = place, graph
        self._queries = place.queries
        self._terms = terms
        self._is_native = place.dictionary is terms.dictionary
        self._found = terms.known if self._is_native else dict[Term, int]()

    def solve(
        self,
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        limit: int | None = None,
        *,
        is_set: bool = False,
    ) -> Table:
        """Return the solutions of a basic graph pattern, see `PatternMatcher.solve`."""
        patterns = self._patterns(triples)
        if patterns is None:
            return self._empty(triples)
        names = None if wanted is None or limit is not None else [name for name in variables_of(patterns) if name in wanted]
        parts = parts_of(self._queries, patterns, names) if is_set and names and self.place.which == "all" else None
        if parts is not None and names is not None:
            found = solved_as_set(self._queries, parts, names)
        else:
            found = self._queries.solve(patterns, self.place.which, limit, wanted, is_set=is_set)
        names = [name for name in found.names if wanted is None or name in wanted]
        return Table({name: self._taken_over(found.rows[:, found.names.index(name)]) for name in names}, len(found.rows))

    def looked_up(
        self,
        triple: TriplePattern,
        names: Sequence[str],
        seeds: Ids,
        wanted: Collection[str] | None,
        enough: int | None = None,
    ) -> tuple[Numbers, Table]:
        """Return the matches of a pattern that agree with solutions, found for one after the other. They do not bind the same.

        Args:
            triple: The pattern.
            names: Variables of the pattern that the solutions bind.
            seeds: Their values, shape (solutions, names).
            wanted: The other variables whose values are wanted; by default, all.
            enough: A sufficient number of matches.
        """
        patterns, watch = self._patterns([triple]), current_watch()
        new = [term.name for term in dict.fromkeys(triple) if isinstance(term, Variable) and term.name not in names]
        new = [name for name in new if wanted is None or name in wanted]
        rows, blocks, total = list[Numbers](), [np.empty((0, len(new)), np.int32)], 0
        find = None if patterns is None else self._queries.lookup(patterns[0], names, new, self.place.which)
        for row, ids in enumerate(seeds.tolist()):
            watch.check()
            if find is None or min(ids) < 0:
                continue
            blocks.append(find(ids))
            rows.append(np.full(len(blocks[-1]), row, np.int64))
            total += len(blocks[-1])
            if enough is not None and total >= enough:
                break
        found = np.concatenate(blocks)
        columns = {name: np.ascontiguousarray(found[:, place]) for place, name in enumerate(new)}
        return np.concatenate([np.empty(0, np.int64), *rows]), Table(columns, len(found))

    @property
    def looks_up(self) -> bool:
        """Whether patterns have the ids of the query, so that `looked_up` finds their matches."""
        return self._is_native and self._graph is None and not self._queries.expands

    def extends(self, triples: Sequence[TriplePattern]) -> bool:
        """Return whether solutions can be extended by patterns, see `extend`."""
        patterns = self._patterns(triples)
        if patterns is None:
            return True
        is_stored = self._is_native and not self._queries.expands
        return is_stored and self._queries.are_planned(patterns, self.place.which)

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
        patterns = self._patterns(triples)
        seeds = table.matrix(names)
        known = (seeds >= 0).all(axis=1)
        rows = np.flatnonzero(known)
        if patterns is None:
            return np.empty(0, np.int64), self._empty(triples)
        found, new, values = extend(self._queries, patterns, seeds[rows], names, wanted, once=once)
        kept = [name for name in new if wanted is None or name in wanted]
        return rows[found], Table({name: np.array(values[:, new.index(name)]) for name in kept}, len(found))

    def reached(self, triple: TriplePattern, start: int) -> Ids | None:
        """Return the nodes that a repeated step leads to, see `PatternMatcher.reached`."""
        patterns = self._patterns([triple])
        if patterns is None or start < 0:
            return np.empty(0, np.int32)
        if self._graph is not None or not self.extends([triple]):
            return None
        return reached(self._queries, patterns[0], start)

    def estimate(self, triples: Sequence[TriplePattern]) -> float:
        """Return an estimate of the number of solutions."""
        patterns = self._patterns(triples)
        return 0.0 if patterns is None else self._queries.estimate(patterns, self.place.which)

    def counts(self, triple: TriplePattern) -> tuple[Ids, Numbers] | None:
        """Return the properties of a pattern's matches with their numbers, see `PatternMatcher.counts`."""
        patterns = self._patterns([triple])
        return self._queries.counts(patterns[0], self.place.which) if patterns is not None and self._is_native else None

    def ids(self, terms: Sequence[Term]) -> Ids:
        """Return the query's ids of terms."""
        return self._terms.ids_of(terms)

    def join_order(self, triples: Sequence[TriplePattern]) -> Sequence[TriplePattern]:
        """Return patterns in the order in which they are joined, as far as that is known in advance."""
        patterns = self._patterns(triples)
        return triples if patterns is None else [triples[place] for place in self._queries.join_order(patterns, self.place.which)]

    def _patterns(self, triples: Sequence[TriplePattern]) -> list[AnyPattern] | None:
        """Return patterns of ids and names; None if a term does not occur."""
        place: GraphTerm | None = self.place.graph if self._graph is None else self._graph.name
        patterns: list[AnyPattern] = []
        for triple in triples:
            terms = [term.name if isinstance(term, Variable) else self._id(term) for term in triple]
            if -1 in terms:
                return None
            subject, property, value = terms
            patterns.append((subject, property, value) if place is None else (subject, property, value, place))
        return patterns

    def _empty(self, triples: Sequence[TriplePattern]) -> Table:
        """Return no solutions of patterns."""
        terms = [*(term for triple in triples for term in triple), self._graph]
        return Table({term.name: np.empty(0, np.int32) for term in terms if isinstance(term, Variable)}, 0)

    def _id(self, term: Term) -> int:
        """Return the id of a term in the place; -1 if it does not occur there."""
        known = self._found
        number = known.get(term)
        if number is None:
            number = self.place.dictionary.find_text(term_text(term))
            if number >= 0 and len(known) < REMEMBERED:
                known[term] = number
        return number

    def _taken_over(self, ids: Ids) -> Ids:
        """Return ids of the place as ids of the query."""
        current_watch().check()
        if self._is_native:
            return np.ascontiguousarray(ids)
        distinct, places = distinct_ids(ids)
        texts = self.place.dictionary.texts_of(distinct)
        return self._terms.ids_of_texts(texts)[places.reshape(-1)]


class MergedMatcher(PatternMatcher):
    """Matches patterns in the merge of several places, one triple pattern after the other.

    Args:
        matchers: The matchers of the places.
        without: The matcher of a place whose triples are omitted.
    """

    def __init__(self, matchers: Sequence[Matcher], without: Matcher | None = None) -> None:
        self.method: str | None = None
        self._matchers, self._without = matchers, without

    def solve(
        self,
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        limit: int | None = None,
        *,
        is_set: bool = False,
    ) -> Table:
        """Return the solutions of a basic graph pattern."""
        found = unit()
        for triple in triples:
            matches = concatenated([matcher.solve([triple]) for matcher in self._matchers])
            matches = matches.distinct(list(matches.columns)) if matches.columns else matches.part(0, 1)
            if self._without is not None:
                matches = matches.take(~is_among(compatible(matches, self._without.solve([triple]))[0], matches.size))
            rows, others = compatible(found, matches)
            found = merged(found, matches, rows, others)
        return found

    def estimate(self, triples: Sequence[TriplePattern]) -> float:
        """Return an estimate of the number of solutions."""
        return sum(matcher.estimate(triples) for matcher in self._matchers)

    def ids(self, terms: Sequence[Term]) -> Ids:
        """Return the query's ids of terms."""
        return self._matchers[0].ids(terms)
