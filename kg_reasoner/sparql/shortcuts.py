"""Queries of one basic graph pattern, as what is left to do once their terms and relations are found, while nothing changes.
DESCRIBE of one resource, and paths from one node that reach few others, have shortcuts, too.

For such a query, finding a few solutions takes less time than the operators around them, and than finding out again where its terms
and relations are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.program import Variable
from kg_reasoner.query.few import few_answers, few_around, few_reached
from kg_reasoner.query.patterns import AnyPattern, Queries
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Query
from kg_reasoner.sparql.results.columns import Columns
from kg_reasoner.sparql.results.result import AskResult, GraphResult, QueryResult, SelectResult
from kg_reasoner.sparql.source import Caches
from kg_reasoner.sparql.table import Table
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.few_answers import FewAnswers
from kg_reasoner.terms import IRI, term_text

__all__ = ["Shortcut", "known_shortcut", "shortcut_of"]

Fetch: TypeAlias = Callable[[int | None], Ids | None]
"""Finds the values of variables, given a sufficient number of solutions; None: that is too much for a shortcut."""

REACHED: Final = 32
"""The number of nodes to which a path is followed one by one."""

REMEMBERED: Final = 256
"""The number of queries for which shortcuts are remembered."""

TRIES: Final = 2
"""How often few answers are looked for in vain: at first, indexes may have to be built."""

BLANK_NODE: Final = ord("_")

_TRIPLE: Final = ("subject", "predicate", "object")


class Shortcut:
    """A query that is ready to be answered, while nothing changes.

    Args:
        fetch: Finds the values of variables.
        places: The columns of the variables of SELECT; None for ASK.
        names: Their names.
        is_distinct: Whether repetitions are omitted.
        start: The first solution of the answer, and `end`, the one after its last, if that is known.
        few: Finds few answers at once, in which the columns in this `order` have the variables of SELECT.
        order: See `few`; None: in the order of SELECT.
    """

    __slots__ = ("_end", "_enough", "_fetch", "_few", "_is_distinct", "_names", "_order", "_places", "_start", "_terms", "_tries")

    def __init__(
        self,
        fetch: Fetch,
        places: Sequence[int] | None,
        names: tuple[str, ...] = (),
        *,
        is_distinct: bool = False,
        start: int = 0,
        end: int | None = None,
        few: FewAnswers | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        self._fetch, self._places, self._names, self._is_distinct = fetch, places, names, is_distinct
        self._start, self._end, self._enough = start, end, 1 if places is None else end
        self._few, self._order, self._tries = few, None if order is None else list(order), TRIES
        self._terms: QueryTerms | None = None

    def few(self, caches: Caches, prefixes: Callable[[], Mapping[str, Any]]) -> QueryResult | None:
        """Return the answer, within a reading, if there are few solutions, which one call of a kernel finds; otherwise None.

        Nothing here has to be watched: it takes microseconds.

        Args:
            caches: What queries remember of terms.
            prefixes: Returns the prefixes of the query.
        """
        ask = self._few
        if ask is None:
            return None
        found = ask(self._enough)
        if found is not None:
            return self._result(found, caches, prefixes)
        self._tries -= 1
        if self._tries <= 0:
            self._few = None
        return None

    def _result(self, found: Ids, caches: Caches, prefixes: Callable[[], Mapping[str, Any]]) -> QueryResult | None:
        """Return the result for few answers."""
        if self._places is None:
            return AskResult(found.shape[1] > 0)
        if self._start:
            found = found[:, self._start :]
        if self._order is not None:
            found = found[self._order]
        return SelectResult(self._columns(self._names, found, caches), caches.nodes)

    def _columns(self, names: tuple[str, ...], found: Ids, caches: Caches) -> Columns:
        terms = self._terms
        if terms is None:
            terms = self._terms = QueryTerms(caches.terms)
        return Columns.of_block(names, found, terms)

    def answer(self, caches: Caches, prefixes: Callable[[], Mapping[str, Any]]) -> QueryResult | None:
        """Return the answer, within a reading; None if finding it is too much for a shortcut.

        Args:
            caches: What queries remember of terms.
            prefixes: Returns the prefixes of the query.
        """
        rows = self._fetch(1 if self._places is None else self._end)
        if rows is None:
            return None
        if self._places is None:
            return AskResult(len(rows) > 0)
        current_watch().check(len(rows), rows.nbytes)
        if self._start or self._end is not None:
            rows = rows[self._start : self._end]
        size, columns = len(rows), [rows[:, place] for place in self._places]
        if self._is_distinct:
            table = Table(dict(zip(self._names, columns, strict=True)), size).distinct(self._names)
            size, columns = table.size, list(table.columns.values())
        return SelectResult(Columns(self._names, columns, size, QueryTerms(caches.terms)), caches.nodes)


class _Description(Shortcut):
    """DESCRIBE of one resource, of which `fetch` finds the triples."""

    __slots__ = ("_first_bytes", "_number")

    def __init__(self, fetch: Fetch, number: int, first_bytes: npt.NDArray[np.uint8], few: FewAnswers | None) -> None:
        super().__init__(fetch, (), few=few)
        self._number, self._first_bytes = number, first_bytes

    def _result(self, found: Ids, caches: Caches, prefixes: Callable[[], Mapping[str, Any]]) -> QueryResult | None:
        if (self._first_bytes[found[1]] == BLANK_NODE).any():
            return None
        triples = np.empty((3, found.shape[1]), np.int32)
        triples[0], triples[1:] = self._number, found
        return GraphResult(self._columns(_TRIPLE, triples, caches), caches.nodes, prefixes, "DESCRIBE")

    def answer(self, caches: Caches, prefixes: Callable[[], Mapping[str, Any]]) -> QueryResult | None:
        triples = self._fetch(None)
        if triples is None:
            return None
        columns = Columns(_TRIPLE, triples.T, len(triples), QueryTerms(caches.terms))
        return GraphResult(columns, caches.nodes, prefixes, "DESCRIBE")


def known_shortcut(caches: Caches, key: object, state: int, query: Callable[[], Query], queries: Queries) -> Shortcut | None:
    """Return the shortcut of a query, which is made when the query is first asked in a state; None: there is none.

    Args:
        caches: Has the shortcuts of recent queries.
        key: Identifies the query.
        state: Identifies the state of the data.
        query: Returns the query as it is evaluated.
        queries: Answers its patterns, which are for the default graph.
    """
    known = caches.shortcuts.get(key)
    if known is None or known[0] != state:
        if len(caches.shortcuts) >= REMEMBERED:
            caches.shortcuts.clear()
        known = caches.shortcuts[key] = state, shortcut_of(query(), queries)
    found: Shortcut | None = known[1]
    return found


def shortcut_of(query: Query, queries: Queries) -> Shortcut | None:
    """Return a query as a shortcut; None if it is more than one pattern, or some terms or relations do not exist."""
    if isinstance(query, algebra.Describe):
        return _description(query, queries)
    if not isinstance(query, (algebra.Select, algebra.Ask)):
        return None
    node, options = query.node, dict[str, Any]()
    if isinstance(node, algebra.Slice):
        options["start"], options["end"] = node.start, None if node.length is None else node.start + node.length
        node = node.node
    elif isinstance(node, algebra.Distinct) and not node.is_reduced:
        options["is_distinct"], node = True, node.node
    if isinstance(node, algebra.Project):
        node = node.node
    if isinstance(node, algebra.PathPattern) and isinstance(query, algebra.Select) and not options:
        return _path(query, node, queries)
    if not isinstance(node, algebra.Patterns) or node.graph is not None:
        return None
    patterns = [_with_ids(triple, queries) for triple in node.triples]
    known = [pattern for pattern in patterns if pattern is not None]
    if not known or len(known) < len(patterns) or queries.expands:
        return None
    wanted = tuple(variable.name for variable in query.variables) if isinstance(query, algebra.Select) else ()
    names, fetch = _fetching(known, wanted, queries)
    if fetch is None or not all(name in names for name in wanted):
        return None
    places = [names.index(name) for name in wanted] if isinstance(query, algebra.Select) else None
    few, order = _few(known, wanted, queries, is_distinct="is_distinct" in options)
    return Shortcut(fetch, places, wanted, few=few, order=order, **options)


def _few(
    patterns: Sequence[AnyPattern], wanted: tuple[str, ...], queries: Queries, *, is_distinct: bool
) -> tuple[FewAnswers | None, list[int] | None]:
    """Return what finds few answers, and the order of its columns."""
    around = few_around(queries, patterns[0]) if len(patterns) == 1 and not is_distinct else None
    if around is None:
        return few_answers(queries, patterns, wanted, is_distinct=is_distinct), None
    return around[1], [around[0].index(name) for name in wanted]


def _with_ids(triple: algebra.TriplePattern, queries: Queries) -> AnyPattern | None:
    find = queries.catalog.dictionary.find_text
    terms = [term.name if isinstance(term, Variable) else find(term_text(term)) for term in triple]
    return None if -1 in terms else (terms[0], terms[1], terms[2])


def _fetching(patterns: Sequence[AnyPattern], wanted: Sequence[str], queries: Queries) -> tuple[Sequence[str], Fetch | None]:
    """Return the variables of patterns, and what finds their values; a pattern that matches whole relations is left to scans."""
    if len(patterns) > 1:
        names = queries.needed(patterns, wanted)
        return names, queries.fetching(patterns, names) if queries.are_planned(patterns, "all") else None
    subject, _, value, *_ = patterns[0]
    return queries.matching(patterns[0]) if isinstance(subject, int) or isinstance(value, int) else ((), None)


def _description(query: algebra.Describe, queries: Queries) -> Shortcut | None:
    """Return DESCRIBE of one resource as a shortcut, which gives up where blank nodes must be described, too."""
    if query.node != algebra.UNIT or len(query.terms) != 1 or isinstance(query.terms[0], Variable):
        return None
    pattern = _with_ids((query.terms[0], Variable("property"), Variable("value")), queries)
    if pattern is None or queries.expands:
        return None
    number, fetch, first_bytes = pattern[0], queries.matching(pattern)[1], queries.catalog.dictionary.first_bytes()
    assert isinstance(number, int)

    def triples(limit: int | None) -> Ids | None:
        found = fetch(limit)
        if (first_bytes[found[:, 1]] == BLANK_NODE).any():
            return None
        table = np.empty((3, len(found)), np.int32)
        table[0], table[1:] = number, found.T
        return table.T

    around = few_around(queries, pattern)
    return _Description(triples, number, first_bytes, None if around is None else around[1])


def _path(query: algebra.Select, node: algebra.PathPattern, queries: Queries) -> Shortcut | None:
    """Return a path of one property, repeated from one node, as a shortcut."""
    ends = [isinstance(end, Variable) for end in (node.start, node.end)]
    path = node.path
    if sum(ends) != 1 or node.graph is not None or not isinstance(path, algebra.Repeat) or not path.is_endless:
        return None
    if not isinstance(path.path, IRI) or query.variables != (node.end if ends[1] else node.start,):
        return None
    pattern = _with_ids((node.start, path.path, node.end), queries)
    if pattern is None or queries.expands or queries.are_special([pattern, ("start", pattern[1], "end")], "all"):
        return None
    start, property, end, *_ = pattern
    assert isinstance(property, int)
    first, takes_start = (start if ends[1] else end), path.least == 0
    assert isinstance(first, int)
    fetch = _reached(first, property, queries, forwards=ends[1], takes_start=takes_start)
    few = few_reached(queries, first, property, takes_start=takes_start, forwards=ends[1])
    return Shortcut(fetch, [0], tuple(variable.name for variable in query.variables), few=few)


def _reached(start: int, property: int, queries: Queries, *, forwards: bool, takes_start: bool) -> Fetch:
    """Return what follows a property from a node, to each node once."""

    def fetch(limit: int | None) -> Ids | None:
        known = dict.fromkeys([start] if takes_start else [])
        waiting = [start]
        while waiting:
            node = waiting.pop()
            found = queries.match(node, property, None)[:, 2] if forwards else queries.match(None, property, node)[:, 0]
            new = [each for each in found.tolist() if each not in known] if len(found) <= REACHED else None
            if new is None or len(known) + len(new) > REACHED:
                return None
            known.update(dict.fromkeys(new))
            waiting += new
        return np.array([*known], np.int32).reshape(-1, 1)

    return fetch
