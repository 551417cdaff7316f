"""GROUP BY and aggregates (SPARQL 1.1 Query, section 18.5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.concurrency.watching import watched
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.aggregate_functions import FUNCTIONS
from kg_reasoner.sparql.algebra import Aggregation, is_hidden
from kg_reasoner.sparql.solutions.order_by import ranks
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.sums import averages, sums
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, constant
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.grouping import group_rows, ordered_by_group
from kg_reasoner.storage.values.value_arithmetic import number_texts
from kg_reasoner.storage.values.value_columns import INTEGER, ValueCache
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term

__all__ = ["Groups", "aggregate", "grouped", "integers"]


class Groups:
    """The groups of a table: a label for each solution.

    Args:
        labels: The labels.
        count: How many there are.
    """

    def __init__(self, labels: Ids, count: int) -> None:
        self.labels, self.count = labels, count

    def sizes(self, rows: Flags | None = None) -> Numbers:
        """Return the number of solutions of each group, among some."""
        if self.count == 1:
            return np.array([len(self.labels) if rows is None else np.count_nonzero(rows)])
        labels = self.labels if rows is None else self.labels[rows]
        return np.bincount(labels, minlength=self.count)

    def ordered(self) -> tuple[Numbers, Numbers]:
        """Return the numbers of the solutions, those of a group together, and where each group starts."""
        return ordered_by_group(self.labels, self.count)


def grouped(table: Table, keys: Sequence[str], *, is_whole: bool) -> tuple[Groups, Table]:
    """Group solutions by their values of some variables.

    Args:
        table: The solutions.
        keys: The variables.
        is_whole: Whether there is one group, even of no solutions.

    Returns:
        The groups, and the table of their keys.
    """
    if is_whole:
        return Groups(np.zeros(table.size, np.int32), 1), Table({}, 1)
    labels, firsts = group_rows(table.matrix(keys))
    return Groups(labels, len(firsts)), Table({name: table.column(name)[firsts] for name in keys}, len(firsts))


def aggregate(
    aggregation: Aggregation, column: Ids | None, table: Table, groups: Groups, terms: QueryTerms, values: ValueCache
) -> Ids:
    """Return an aggregate of each group, as ids.

    Args:
        aggregation: The aggregate.
        column: The values of its argument; None for ``*``.
        table: The solutions.
        groups: Their groups.
        terms: The terms of the query.
        values: Their values.
    """
    if column is None:
        if aggregation.is_distinct:
            names = [name for name in table.columns if not is_hidden(name)]
            _, firsts = group_rows(np.concatenate([groups.labels[:, None], table.matrix(names)], axis=1))
            return integers(np.bincount(groups.labels[firsts], minlength=groups.count), terms)
        return integers(groups.sizes(), terms)
    if aggregation.is_distinct:
        _, firsts = group_rows(np.stack([groups.labels, column], axis=1))
        groups, column = Groups(np.ascontiguousarray(groups.labels[firsts]), groups.count), column[firsts]
    function = _FUNCTIONS.get(aggregation.function)
    found = None if function is None else function(column, groups, terms, values)
    return _each(aggregation, column, groups, terms) if found is None else found


def _count(column: Ids, groups: Groups, terms: QueryTerms, values: ValueCache) -> Ids:
    return integers(groups.sizes(column != UNBOUND), terms)


def _sum(column: Ids, groups: Groups, terms: QueryTerms, values: ValueCache) -> Ids | None:
    return sums(column, groups.labels, groups.count, terms, values)


def _avg(column: Ids, groups: Groups, terms: QueryTerms, values: ValueCache) -> Ids | None:
    return averages(column, groups.labels, groups.count, terms, values)


def _extreme(is_greatest: bool) -> Callable[[Ids, Groups, QueryTerms, ValueCache], Ids]:
    def find(column: Ids, groups: Groups, terms: QueryTerms, values: ValueCache) -> Ids:
        """Return the first or last term of each group; an error among the values is an error."""
        rank = ranks(column, terms, values)
        best = np.full(groups.count, -1 if is_greatest else np.iinfo(np.int64).max, np.int64)
        (np.maximum if is_greatest else np.minimum).at(best, groups.labels, rank)
        found = constant(UNBOUND, groups.count)
        rows = np.flatnonzero(rank == best[groups.labels])[::-1]
        found[groups.labels[rows]] = column[rows]
        found[groups.labels[column == UNBOUND]] = UNBOUND
        return found

    return find


def _sample(column: Ids, groups: Groups, terms: QueryTerms, values: ValueCache) -> Ids:
    found = constant(UNBOUND, groups.count)
    rows = np.flatnonzero(column != UNBOUND)[::-1]
    found[groups.labels[rows]] = column[rows]
    return found


_FUNCTIONS: Final = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _avg,
    "MIN": _extreme(False),
    "MAX": _extreme(True),
    "SAMPLE": _sample,
}


def _each(aggregation: Aggregation, column: Ids, groups: Groups, terms: QueryTerms) -> Ids:
    """Aggregate the terms of one group after the other."""
    order, starts = groups.ordered()
    given = terms.terms(column[order].tolist())
    ends = starts.tolist()
    results: list[Term | None] = []
    for group in watched(range(groups.count)):
        members = given[ends[group] : ends[group + 1]]
        results.append(_result(aggregation, members))
    return terms.ids_of(results)


def _result(aggregation: Aggregation, members: Sequence[Term | None]) -> Term | None:
    if aggregation.function == "GROUP_CONCAT":
        return _concatenated(members, aggregation.separator)
    try:
        return FUNCTIONS[aggregation.function](members)
    except ValueTooLargeError:
        return None


def _concatenated(members: Sequence[Any], separator: str) -> Literal | None:
    if any(term is None or isinstance(term, BlankNode) for term in members):
        return None
    texts = [term.value if isinstance(term, IRI) else term.lexical for term in watched(members)]
    current_watch().check(0, sum(map(len, texts)) + len(separator) * len(texts))
    return Literal(separator.join(texts))


def integers(numbers: Numbers, terms: QueryTerms) -> Ids:
    """Return the ids of integers."""
    distinct, places = np.unique(numbers, return_inverse=True)
    texts = number_texts(distinct, np.zeros(len(distinct), np.int8), XSD.integer.value)
    values = zip(repeat(INTEGER), distinct.astype(np.float64).tolist(), repeat(0), strict=False)
    return terms.ids_of_numbers(texts, list(values))[places.reshape(-1)]
