"""The best values of the groups of a recursion that follows edges: least sums of weights, and least or greatest labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.storage.arrays import Ids, Numbers, Rows
from kg_reasoner.storage.grouping import distinct_ids, distinct_numbers, group_rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.graphs.shortest_paths import FAR, EdgeSearch
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.term_order import TermOrder
from kg_reasoner.storage.values.value_arithmetic import integer_buffer
from kg_reasoner.storage.values.value_columns import INTEGER, ValueCache

__all__ = ["Edges", "best_paths"]

_BLOCK: Final = 1 << 20
"""The maximal number of nodes for which a call of the kernel has room."""


class Edges(NamedTuple):
    """Edges along which values are passed on.

    Attributes:
        ends: Where each edge begins and ends, shape (n, 2).
        weights: What each edge adds to a value; None: nothing.
    """

    ends: Rows
    weights: Numbers | None


def integers(column: Ids, values: ValueCache) -> Numbers | None:
    """Return the values of a column of integers that are not negative; None if there is another value."""
    found = values.column(column)
    if not (found.kinds == INTEGER).all() or (found.doubles < 0).any():
        return None
    return found.doubles.astype(np.int64)


def best_paths(
    dictionary: Dictionary,
    values: ValueCache,
    initial: Rows,
    column: int,
    edges: Sequence[Edges],
    claim: Callable[[int], None],
    *,
    is_greatest: bool,
) -> Rows | None:
    """Return the best value of each group.

    Args:
        dictionary: The terms.
        values: The values of its terms.
        initial: Groups with their first values, in the last column.
        column: The column of the groups that edges lead from and to; the others stay the same along edges.
        edges: The edges, of one or several kinds.
        claim: Called with the size of the groups so far in bytes, before they are put together; it raises an error if that exceeds
            a limit.
        is_greatest: Whether the greatest value is the best one.

    Returns:
        The groups that are reached, each with its value; None if this algorithm does not find them.
    """
    weighted = any(each.weights is not None for each in edges)
    keys, table = _keys(dictionary, values, initial[:, -1], weighted=weighted, is_greatest=is_greatest)
    if keys is None:
        return None
    ends = np.concatenate([each.ends for each in edges])
    nothing = (np.zeros(len(each.ends), np.int64) if each.weights is None else each.weights for each in edges)
    weights = np.concatenate([*nothing])
    if len(ends) * float(weights.max(initial=0)) + float(keys.max(initial=0)) >= FAR:
        return None
    graph = _Graph(ends, weights, initial[:, column])
    others = np.delete(initial[:, :-1], column, axis=1)
    labels, firsts = group_rows(others) if others.shape[1] else (np.zeros(len(initial), np.int32), np.zeros(1, np.int64))
    order = np.lexsort((keys, labels))
    bounds = np.searchsorted(labels[order], np.arange(len(firsts) + 1))
    parts, nbytes = [np.empty((0, initial.shape[1]), np.int32)], 0
    for groups, nodes, found in graph.reached(order, keys[order], bounds):
        rows = np.empty((len(nodes), initial.shape[1]), np.int32)
        rows[:, :-1] = np.insert(others[firsts[groups]], column, nodes, axis=1)
        rows[:, -1] = table[found] if table is not None else _texts(dictionary, found)
        parts.append(rows)
        nbytes += rows.nbytes
        claim(2 * nbytes)
    return np.concatenate(parts)


def _keys(
    dictionary: Dictionary, values: ValueCache, column: Ids, *, weighted: bool, is_greatest: bool
) -> tuple[Numbers | None, Ids | None]:
    """Return numbers in the order of values, and the value of each number, unless they are integers that are added to."""
    if not weighted:
        ranks = TermOrder(dictionary, values).ranks(column)
        _, firsts, keys = np.unique(-ranks if is_greatest else ranks, return_index=True, return_inverse=True)
        return keys.reshape(-1), column[firsts]
    numbers = None if is_greatest else integers(column, values)
    if numbers is None or (_texts(dictionary, numbers) != column).any():
        return None, None
    return numbers, None


def _texts(dictionary: Dictionary, numbers: Numbers) -> Ids:
    """Return the ids of integers."""
    distinct, places = distinct_numbers(numbers)
    return dictionary.encode_buffers(*integer_buffer(distinct))[places]


class _Graph:
    """Edges by the nodes that they begin at, for the kernel.

    Args:
        ends: The beginnings and ends of edges.
        weights: Their weights.
        origins: The nodes to begin with.
    """

    def __init__(self, ends: Rows, weights: Numbers, origins: Ids) -> None:
        self._nodes, numbered = distinct_ids(np.concatenate([ends.reshape(-1), origins]))
        count, edges = len(self._nodes), len(ends)
        pairs, self._origins = numbered[: 2 * edges].reshape(edges, 2), numbered[2 * edges :]
        order = np.argsort(pairs[:, 0], kind="stable")
        starts = allocate(count + 1, np.int64)
        starts[: count + 1] = np.searchsorted(pairs[order, 0], np.arange(count + 1))
        targets, edge_weights = allocate(max(edges, 1), np.int32), allocate(max(edges, 1), np.int64)
        targets[:edges], edge_weights[:edges] = pairs[order, 1], weights[order]
        self._search = StructTable(EdgeSearch, capacity=1).add(
            starts=starts,
            targets=targets,
            weights=edge_weights,
            best=allocate(max(count, 1), np.int64, FAR),
            heap_keys=allocate(edges + count + 1, np.int64),
            heap_nodes=allocate(edges + count + 1, np.int32),
            most=count,
        )

    def reached(self, order: Numbers, keys: Numbers, bounds: Numbers) -> Iterator[tuple[Numbers, Ids, Numbers]]:
        """Yield, in blocks, the groups, the nodes that each of them reaches, and the least key of each node.

        Args:
            order: The numbers of the origins, one group after the other.
            keys: The first key of each.
            bounds: Where each group begins, and the last one ends.
        """
        search, most, groups = self._search, len(self._nodes), len(bounds) - 1
        room = max(most, min(_BLOCK, most * groups))
        origins, first_sums = allocate(max(len(order), 1), np.int32), allocate(max(len(order), 1), np.int64)
        firsts, ends = allocate(groups + 1, np.int64), allocate(max(groups, 1), np.int64)
        origins[: len(order)], first_sums[: len(order)], firsts[: groups + 1] = self._origins[order], keys, bounds
        nodes, sums = allocate(max(room, 1), np.int32), allocate(max(room, 1), np.int64)
        search.publish(origins=origins, first_sums=first_sums, bounds=firsts, group_count=groups, group=0)
        search.publish(reached=nodes, sums=sums, ends=ends, room=room)
        first = 0
        while first < groups:
            current_watch().check()
            total = native.follow_from_groups(search.address)
            following = search.group
            counts = np.diff(np.asarray(ends[first:following]), prepend=0)
            yield np.repeat(np.arange(first, following), counts), self._nodes[nodes[:total]], np.array(sums[:total])
            first = following
