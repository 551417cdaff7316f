"""Making shortcuts for queries of one basic graph pattern: the steps that remain once terms and relations are found.
DESCRIBE of one resource, and paths from one node that reach few others, have shortcuts, too.

For such a query, finding a few solutions takes less time than the operators around them, and than finding out again where its terms
and relations are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from kg_reasoner.concurrency.limits import UNLIMITED, current_watch
from kg_reasoner.program import Variable
from kg_reasoner.query.as_sets import parts_of, solved_as_set
from kg_reasoner.query.patterns import AnyPattern, Queries, variables_of
from kg_reasoner.query.repeated_queries import few_answers, few_around, few_reached
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Query
from kg_reasoner.sparql.evaluation.datasets import Caches
from kg_reasoner.sparql.queries.parsed import Translated
from kg_reasoner.sparql.repeated.shortcut import BLANK_NODE, Description, Fetch, GivenShortcut, Prefixes, Shortcut, ValuesShortcut
from kg_reasoner.sparql.results.result import QueryResult
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.few_answers import GIVEN, FewAnswers, FewOfEach, FewOfGiven
from kg_reasoner.terms import IRI, Term, term_text

__all__ = ["answer_at_once", "few_at_once", "known_shortcut", "shortcut_of"]

AROUND: Final = 2
"""The columns of the results of `few_around`."""

REACHED: Final = 32
"""The number of nodes to which a path is followed one by one."""

VALUES: Final = 16
"""The maximal number of values in VALUES for which answers are looked for one after the other."""

REMEMBERED: Final = 256
"""The number of queries for which shortcuts are remembered."""


def answer_at_once(
    caches: Caches,
    parsed: Translated,
    given: Mapping[Variable, Term],
    state: int,
    queries: Queries,
    prefixes: Prefixes,
) -> tuple[Shortcut | None, QueryResult | None]:
    """Return the shortcut of a query, and its answer, within a reading; None where there is none.

    Args:
        caches: What queries remember.
        parsed: The query, whose default graph has all triples.
        given: Values of variables.
        state: Identifies the state of the data.
        queries: Answers its patterns.
        prefixes: Returns the prefixes of the query.
    """
    names = tuple(variable.name for variable in given)
    key = (parsed, names) if names else parsed
    shortcut = known_shortcut(caches, key, state, lambda: parsed.prepared({}, joins_graphs=True), queries, names)
    if shortcut is None:
        return None, None
    found = few_at_once(shortcut, caches, given.values(), prefixes) if current_watch().limits == UNLIMITED else None
    if found is None and not names:
        found = shortcut.answer(caches, prefixes)
        if found is None:
            caches.shortcuts[key] = state, None
    return shortcut, found


def few_at_once(shortcut: Shortcut, caches: Caches, given: Collection[Term], prefixes: Prefixes) -> QueryResult | None:
    """Return the answer of a shortcut, within a reading, if there are few solutions; otherwise None.

    Args:
        shortcut: The shortcut.
        caches: What queries remember.
        given: The values of the variables that it expects.
        prefixes: Returns the prefixes of the query.
    """
    if not given:
        return shortcut.few(caches, prefixes)
    numbers = [caches.dictionary.find(term) for term in given]
    if -1 in numbers:
        return shortcut.few_of_known(caches, prefixes, numbers)
    return shortcut.few(caches, prefixes, numbers)


def known_shortcut(
    caches: Caches,
    key: object,
    state: int,
    query: Callable[[], Query],
    queries: Queries,
    given: tuple[str, ...] = (),
) -> Shortcut | None:
    """Return the shortcut of a query, which is made when the query is first asked in a state; None: there is none.

    Args:
        caches: Has the shortcuts of recent queries.
        key: Identifies the query.
        state: Identifies the state of the data.
        query: Returns the query as it is evaluated.
        queries: Answers its patterns, which are for the default graph.
        given: Variables whose values are given when it is answered.
    """
    known = caches.shortcuts.get(key)
    if known is None or known[0] != state:
        if len(caches.shortcuts) >= REMEMBERED:
            caches.shortcuts.clear()
        former: Shortcut | None = None if known is None else known[1]
        found = shortcut_of(query(), queries, given, takes_few=former is None or former.tries > 0)
        if found is not None and former is not None:
            found.tries = former.tries
        known = caches.shortcuts[key] = state, found
    shortcut: Shortcut | None = known[1]
    return shortcut


def shortcut_of(query: Query, queries: Queries, given: tuple[str, ...] = (), *, takes_few: bool = True) -> Shortcut | None:
    """Return a query as a shortcut; None if it is more than one pattern, or some terms or relations do not exist.

    Args:
        query: The query as it is evaluated.
        queries: Answers its patterns, which are for the default graph.
        given: Variables whose values are given when it is answered.
        takes_few: Whether the patterns may have few answers.
    """
    if isinstance(query, algebra.Describe):
        return _description(query, given, queries)
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
        return _path(query, node, given, queries)
    wanted = tuple(variable.name for variable in query.variables) if isinstance(query, algebra.Select) else ()
    if isinstance(node, algebra.Join) and takes_few:
        return _with_values(node, wanted, given, queries, is_ask=isinstance(query, algebra.Ask), **options)
    if not isinstance(node, algebra.Patterns) or node.graph is not None:
        return None
    patterns = [_with_ids(triple, queries) for triple in node.triples]
    known = [pattern for pattern in patterns if pattern is not None]
    if not known or len(known) < len(patterns) or queries.expands:
        return None
    if given:
        return _with_given(known, wanted, given, queries, is_ask=isinstance(query, algebra.Ask), **options)
    if len(known) == 1 and not (isinstance(known[0][0], int) or isinstance(known[0][2], int)):
        return None  # whole relations are scanned
    few, order = _few(known, wanted, (), queries, is_distinct="is_distinct" in options) if takes_few else (None, None)
    make = partial(_fetching, known, wanted, queries, is_distinct="is_distinct" in options)
    fetch = make() if few is None else _made_later(make)
    if fetch is None:
        return None
    places = list(range(len(wanted))) if isinstance(query, algebra.Select) else None
    return Shortcut(fetch, places, wanted, few=few, order=order, **options)


def _made_later(make: Callable[[], Fetch | None]) -> Fetch:
    """Return a function that is made when it is called first: few answers are found without it."""
    made: list[Fetch | None] = []

    def fetch(limit: int | None) -> Ids | None:
        if not made:
            made.append(make())
        return None if made[0] is None else made[0](limit)

    return fetch


def _with_given(
    patterns: Sequence[AnyPattern],
    wanted: tuple[str, ...],
    given: tuple[str, ...],
    queries: Queries,
    *,
    is_ask: bool,
    is_distinct: bool = False,
    start: int = 0,
    end: int | None = None,
) -> Shortcut | None:
    """Return patterns with variables whose values are given as a shortcut.

    A part of the answers of several patterns is left to the operators, whose order depends on the values: pages must not overlap.
    """
    if (
        (len(patterns) > 1 and (start > 0 or end is not None))
        or _equates(patterns, queries)
        or len(set(given)) > GIVEN
        or len(set(given)) < len(given)
        or not set(given) <= set(variables_of(patterns))
    ):
        return None
    few, order = _few(patterns, wanted, given, queries, is_distinct=is_distinct)
    if few is None:
        return None
    width = len(wanted) if order is None else AROUND + len(given)
    return GivenShortcut(few, width, wanted, is_ask=is_ask, order=order, start=start, end=end)


def _with_values(
    join: algebra.Join,
    wanted: tuple[str, ...],
    given: tuple[str, ...],
    queries: Queries,
    *,
    is_ask: bool,
    is_distinct: bool = False,
    start: int = 0,
    end: int | None = None,
) -> Shortcut | None:
    """Return the join of a pattern with a few values of one of its variables as a shortcut."""
    if len(join.parts) != 2 or queries.expands:
        return None
    table, node = join.parts if isinstance(join.parts[0], algebra.Values) else join.parts[::-1]
    if not isinstance(table, algebra.Values) or not isinstance(node, algebra.Patterns) or node.graph is not None:
        return None
    names = [variable.name for variable in table.variables]
    terms = [row[0] for row in table.rows if len(row) == 1 and row[0] is not None]
    patterns = [pattern for triple in node.triples if (pattern := _with_ids(triple, queries)) is not None]
    if len(terms) < len(table.rows) or len(terms) > VALUES or len(patterns) < len(node.triples) or not names:
        return None
    if not set(names) <= set(variables_of(patterns)) or _equates(patterns, queries) or (is_distinct and names[0] not in wanted):
        return None
    if given and [getattr(term, "name", None) for term in terms] != [*given]:
        return None
    few = few_answers(queries, patterns, wanted, names, is_distinct=is_distinct)
    if few is None:
        return None
    if given:
        return ValuesShortcut(FewOfGiven(few, len(wanted)), len(wanted), wanted, is_ask=is_ask, start=start, end=end)
    numbers = [number for term in terms if (number := queries.catalog.dictionary.find(term)) >= 0]
    if is_distinct:
        numbers = list(dict.fromkeys(numbers))
    places = None if is_ask else range(len(wanted))
    return Shortcut(lambda limit: None, places, wanted, few=FewOfEach(few, numbers, len(wanted)), start=start, end=end)


def _equates(patterns: Sequence[AnyPattern], queries: Queries) -> bool:
    """Return whether a pattern is for a property by which terms are equal."""
    return any(isinstance(pattern[1], int) and queries.equates((0, pattern[1], 0)) for pattern in patterns)


def _few(
    patterns: Sequence[AnyPattern], wanted: tuple[str, ...], given: tuple[str, ...], queries: Queries, *, is_distinct: bool
) -> tuple[FewAnswers | None, list[int] | None]:
    """Return a plan for few answers, and the order of its columns, which end with the given ones."""
    around = few_around(queries, patterns[0], given) if len(patterns) == 1 and not is_distinct else None
    if around is None:
        return few_answers(queries, patterns, wanted, given, is_distinct=is_distinct), None
    names = [*around[0], *given]
    return (around[1], [names.index(name) for name in wanted]) if set(wanted) <= set(names) else (None, None)


def _with_ids(triple: algebra.TriplePattern, queries: Queries) -> AnyPattern | None:
    find = queries.catalog.dictionary.find_text
    terms = [term.name if isinstance(term, Variable) else find(term_text(term)) for term in triple]
    return None if -1 in terms else (terms[0], terms[1], terms[2])


def _fetching(patterns: Sequence[AnyPattern], wanted: Sequence[str], queries: Queries, *, is_distinct: bool) -> Fetch | None:
    """Return a plan that finds the values of variables in the matches of patterns; None if there is none."""
    parts = parts_of(queries, patterns, wanted) if is_distinct else None
    if parts is not None:
        return lambda limit: solved_as_set(queries, parts, wanted).rows
    if len(patterns) > 1:
        needed = queries.needed(patterns, wanted)
        names = [*wanted, *(name for name in needed if name not in wanted)]
        is_planned = set(wanted) <= set(needed) and queries.are_planned(patterns, "all")
        return queries.fetching(patterns, names) if is_planned else None
    names, find = queries.matching(patterns[0])
    if not set(wanted) <= set(names):
        return None
    places = [names.index(name) for name in wanted]
    return lambda limit: find(limit)[:, places]


def _description(query: algebra.Describe, given: tuple[str, ...], queries: Queries) -> Shortcut | None:
    """Return DESCRIBE of one resource as a shortcut, which gives up where blank nodes must be described, too."""
    if query.node != algebra.UNIT or query.terms[1:] or [isinstance(term, Variable) for term in query.terms] != [bool(given)]:
        return None
    pattern = _with_ids((query.terms[0], Variable("property"), Variable("value")), queries)
    if pattern is None or queries.expands:
        return None
    if given:
        found = few_around(queries, pattern, given)
        return None if found is None else Description(lambda limit: None, -1, queries.catalog.dictionary.first_bytes(), found[1])
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
    return Description(triples, number, first_bytes, None if around is None else around[1])


def _path(query: algebra.Select, node: algebra.PathPattern, given: tuple[str, ...], queries: Queries) -> Shortcut | None:
    """Return a path of one property, repeated from one node, as a shortcut."""
    ends = [isinstance(end, Variable) and end.name not in given for end in (node.start, node.end)]
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
    if isinstance(first, str):
        few = few_reached(queries, None, property, takes_start=takes_start, forwards=ends[1])
        names = tuple(variable.name for variable in query.variables)
        return None if few is None else GivenShortcut(few, None if takes_start else 1, names, is_ask=False)
    fetch = _reached(first, property, queries, forwards=ends[1], takes_start=takes_start)
    few = few_reached(queries, first, property, takes_start=takes_start, forwards=ends[1])
    return Shortcut(fetch, [0], tuple(variable.name for variable in query.variables), few=few)


def _reached(start: int, property: int, queries: Queries, *, forwards: bool, takes_start: bool) -> Fetch:
    """Return a function that follows a property from a node, to each node once."""

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
