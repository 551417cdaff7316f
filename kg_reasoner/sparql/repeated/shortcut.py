"""Shortcuts: the remaining steps of repeated queries, once their terms and relations are found, while nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.sparql.evaluation.datasets import Caches
from kg_reasoner.sparql.results.result import AskResult, GraphResult, QueryResult, SelectResult
from kg_reasoner.sparql.results.result_columns import Columns
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.few_answers import FewAnswers

__all__ = ["ALWAYS", "BLANK_NODE", "Description", "Fetch", "GivenShortcut", "Prefixes", "Shortcut", "ValuesShortcut"]

Fetch: TypeAlias = Callable[[int | None], Ids | None]
"""Finds the values of variables, given a sufficient number of solutions; None: that is too much for a shortcut."""

Prefixes: TypeAlias = Callable[[], Mapping[str, Any]]

TRIES: Final = 2
"""The number of failed attempts to find few answers before no more are made: for the first, indexes may have to be built."""

ALWAYS: Final = 1 << 62
"""An unlimited number of attempts: constants differ, so the next query may have few answers."""

BLANK_NODE: Final = ord("_")

_TRIPLE: Final = ("subject", "predicate", "object")


class Shortcut:
    """A query that is ready to be answered, while nothing changes.

    Args:
        fetch: Finds the values of variables.
        places: The columns of the variables of SELECT; None for ASK.
        names: Their names.
        is_distinct: Whether repetitions are omitted.
        start: The first solution of the answer.
        end: The solution after its last, if that is known.
        few: Finds few answers at once, in which the columns in this `order` have the variables of SELECT.
        order: See `few`; None: in the order of SELECT.
    """

    __slots__ = ("_end", "_enough", "_fetch", "_few", "_is_distinct", "_names", "_order", "_places", "_start", "_terms", "tries")

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
        self._few, self._order = few, None if order is None else list(order)
        self.tries = TRIES
        """The number of failed attempts to find few answers that are left, also after a change."""
        self._terms: QueryTerms | None = None

    def few(self, caches: Caches, prefixes: Prefixes, given: Sequence[int] = ()) -> QueryResult | None:
        """Return the answer, within a reading, if there are few solutions, which one call of a kernel finds; otherwise None.

        Nothing here has to be watched: it takes microseconds.

        Args:
            caches: What queries remember of terms.
            prefixes: Returns the prefixes of the query.
            given: The ids of the given values, see `GivenShortcut`.
        """
        ask = self._few
        if ask is None:
            return None
        found = ask(self._enough, given)
        if found is not None:
            self.tries = max(self.tries, TRIES)
            return self._result(found, caches, prefixes, given)
        self.tries -= 1
        if self.tries <= 0:
            self._few = None
        return None

    def few_of_known(self, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
        """Return the answer where some of the terms that are given are in no triple, and have the id -1, as `few` does."""
        return None

    def _result(self, found: Ids, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
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

    def answer(self, caches: Caches, prefixes: Prefixes) -> QueryResult | None:
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


class Description(Shortcut):
    """DESCRIBE of one resource, of which `fetch` finds the triples; its id is -1 if it is given."""

    __slots__ = ("_first_bytes", "_number")

    def __init__(self, fetch: Fetch, number: int, first_bytes: npt.NDArray[np.uint8], few: FewAnswers | None) -> None:
        super().__init__(fetch, (), few=few)
        self._number, self._first_bytes = number, first_bytes

    def _result(self, found: Ids, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
        if (self._first_bytes[found[1]] == BLANK_NODE).any():
            return None
        triples = np.empty((3, found.shape[1]), np.int32)
        triples[0], triples[1:] = given[0] if given else self._number, found
        return GraphResult(self._columns(_TRIPLE, triples, caches), caches.nodes, prefixes, "DESCRIBE")

    def answer(self, caches: Caches, prefixes: Prefixes) -> QueryResult | None:
        triples = self._fetch(None)
        if triples is None:
            return None
        columns = Columns(_TRIPLE, triples.T, len(triples), QueryTerms(caches.terms))
        return GraphResult(columns, caches.nodes, prefixes, "DESCRIBE")

    def few_of_known(self, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
        return self._result(np.empty((2, 0), np.int32), caches, prefixes, given)


class GivenShortcut(Shortcut):
    """A query some of whose variables have values that the caller gives, and that differ from time to time.

    Args:
        few: Finds few answers.
        width: The number of columns, those in the `order` included; None if terms that are in no triple may have answers.
        is_ask: Whether the query is an ASK.
        names: The variables of SELECT.
        order: The columns of these among what is found and, behind that, what is given; None: in the order of SELECT.
        start: See `Shortcut`.
        end: See `Shortcut`.
    """

    __slots__ = ("_width",)

    def __init__(
        self,
        few: FewAnswers,
        width: int | None,
        names: tuple[str, ...],
        *,
        is_ask: bool,
        order: Sequence[int] | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        super().__init__(lambda limit: None, None if is_ask else (), names, start=start, end=end, few=few, order=order)
        self._width = width

    def _result(self, found: Ids, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
        if self._order is not None and max(self._order, default=-1) >= len(found):
            found = np.concatenate([found, np.full((len(given), found.shape[1]), [[number] for number in given], np.int32)])
        return super()._result(found, caches, prefixes, given)

    def few_of_known(self, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
        if self._width is None:
            return None
        return super()._result(np.empty((self._width, 0), np.int32), caches, prefixes, ())


class ValuesShortcut(GivenShortcut):
    """A query with VALUES of one variable, all of which are given. See `GivenShortcut`."""

    __slots__ = ()

    def few_of_known(self, caches: Caches, prefixes: Prefixes, given: Sequence[int]) -> QueryResult | None:
        return self.few(caches, prefixes, [number for number in given if number >= 0])
