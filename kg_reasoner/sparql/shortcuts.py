"""Queries of one basic graph pattern, as what is left to do once their terms and relations are found, while nothing changes.
DESCRIBE of one resource, and paths from one node that reach few others, have shortcuts, too.

For such a query, finding a few solutions takes less time than the operators around them, and than finding out again where its terms
and relations are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.program import Variable
from kg_reasoner.query.patterns import AnyPattern, Queries
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Query
from kg_reasoner.sparql.results.columns import Columns
from kg_reasoner.sparql.results.result import AskResult, GraphResult, QueryResult, SelectResult
from kg_reasoner.sparql.source import Caches
from kg_reasoner.sparql.table import Table
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import IRI, term_text

__all__ = ["Shortcut", "known_shortcut", "shortcut_of"]

Fetch: TypeAlias = Callable[[int | None], Ids | None]
"""Finds the values of variables, given a sufficient number of solutions; None: that is too much for a shortcut."""

REACHED: Final = 32
"""The number of nodes to which a path is followed one by one."""

REMEMBERED: Final = 256
"""The number of queries for which shortcuts are remembered."""


class Shortcut:
    """A query that is ready to be answered, while nothing changes.

    Args:
        fetch: Finds the values of variables.
        places: The columns of the variables of SELECT; None for ASK.
        names: Their names.
        is_distinct: Whether repetitions are omitted.
        start: The first solution of the answer, and `end`, the one after its last, if that is known.
    """

    __slots__ = ("_end", "_fetch", "_is_distinct", "_names", "_places", "_start")

    def __init__(
        self,
        fetch: Fetch,
        places: Sequence[int] | None,
        names: tuple[str, ...] = (),
        *,
        is_distinct: bool = False,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        self._fetch, self._places, self._names, self._is_distinct = fetch, places, names, is_distinct
        self._start, self._end = start, end

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

    __slots__ = ()

    def answer(self, caches: Caches, prefixes: Callable[[], Mapping[str, Any]]) -> QueryResult | None:
        triples = self._fetch(None)
        if triples is None:
            return None
        columns = Columns(("subject", "predicate", "object"), triples.T, len(triples), QueryTerms(caches.terms))
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
    return Shortcut(fetch, [names.index(name) for name in wanted] if isinstance(query, algebra.Select) else None, wanted, **options)


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
    number, fetch = pattern[0], queries.matching(pattern)[1]

    def triples(limit: int | None) -> Ids | None:
        found = fetch(limit)
        if (queries.catalog.dictionary.first_bytes()[found[:, 1]] == ord("_")).any():
            return None
        table = np.empty((3, len(found)), np.int32)
        table[0], table[1:] = number, found.T
        return table.T

    return _Description(triples, ())


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
    fetch = _reached(start if ends[1] else end, property, queries, forwards=ends[1], takes_start=path.least == 0)
    return Shortcut(fetch, [0], tuple(variable.name for variable in query.variables))


def _reached(start: int | str, property: int, queries: Queries, *, forwards: bool, takes_start: bool) -> Fetch:
    """Return what follows a property from a node, to each node once."""
    assert isinstance(start, int)

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
