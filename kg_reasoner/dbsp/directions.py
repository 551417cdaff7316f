"""Tables that interpret the directions of the rule trie: for each node and index, how packed rows are matched and built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from kg_reasoner.dbsp.encoded_rules import NO_RESULT, Computation
from kg_reasoner.dbsp.join import Range
from kg_reasoner.dbsp.packed_rows import Layout, Shapes
from kg_reasoner.dbsp.sorted_columns import Booleans, Columns, Integers, fields_of, packed
from kg_reasoner.dbsp.trie import PrefixNode, TrieChanges, TrieIndex
from kg_reasoner.dbsp.zset import ZSet

POSITIVE, NEGATED, CONDITION = 0, 1, 2

LARGEST_TERM: Final = (1 << 31) - 1
"""The largest number that a condition can compute."""


class Directions:
    """Tables over the nodes and indexes of a trie, for rows packed in two layouts.

    *Facts* are packed as predicate and arguments, *indexed* facts as index and columns in its order, *rewrites* as node and values.
    What is *wanted* is a key (packed as indexed facts are, with zeros beyond the key's columns) and the rewrite.
    """

    def __init__(self) -> None:
        self.facts, self.rewrites = Layout(1, 1, 0), Layout(1, 1, 0)
        self.nodes: dict[int, PrefixNode] = {}
        self._node_room = self._index_room = 1
        self.instances = 0
        """The number of rewrites of whole bodies that have been made into facts."""
        self.ended: Counter[int] | None = None
        """The same by node, if they are counted."""
        self._indexes: dict[int, TrieIndex] = {}
        self._of_index = Shapes(self.facts, self.facts)
        self._keys, self._tests, self._heads = (Shapes(self.rewrites, self.facts) for _ in range(3))
        self._bindings = Shapes(self.facts, self.rewrites)
        self._carried = Shapes(self.rewrites, self.rewrites)
        self._fill_tables()

    def use(self, facts: Layout, rewrites: Layout) -> None:
        """Switch to other layouts."""
        self.facts, self.rewrites = facts, rewrites
        self._of_index.use(facts, facts)
        for shapes in (self._keys, self._tests, self._heads):
            shapes.use(rewrites, facts)
        self._bindings.use(facts, rewrites)
        self._carried.use(rewrites, rewrites)
        self._fill_tables()

    def add(self, changes: TrieChanges) -> None:
        """Add new nodes and indexes."""
        for number, index in changes.new_indexes:
            self._indexes[number] = index
            self._of_index.define(number, number, [~column for column in (*index.key, *index.rest)])
        for node in changes.added:
            self.nodes[node.number] = node
            self._keys.define(node.number, node.index_number, node.key)
            self._carried.define(node.number, node.number, node.carried)
            self._tests.define(node.number, 0, _slots(node.tested))
            self._bindings.define(node.number, 0, _slots((slot, ~place) for place, slot in node.binds))
            if node.head is not None:
                self._heads.define(node.number, *node.head)
        if changes.added or changes.new_indexes:
            self._fill_tables()

    def forget(self, changes: TrieChanges) -> None:
        """Remove deleted nodes and indexes; their numbers can be reused."""
        for number, _ in changes.old_indexes:
            del self._indexes[number]
            self._of_index.forget(number)
        for node in changes.removed:
            del self.nodes[node.number]
            for shapes in (self._keys, self._tests, self._bindings, self._carried):
                shapes.forget(node.number)
            if node.head is not None:
                self._heads.forget(node.number)
        if changes.removed or changes.old_indexes:
            self._fill_tables()

    def _fill_tables(self) -> None:
        """Rebuild the tables. They never shrink: a trace may hold rows of deleted nodes and indexes, which cancel out but have not
        been merged yet. Such rows are processed like all others, and cancel out then.
        """
        self._node_room = nodes = max(self._node_room, 1 + max(self.nodes, default=0))
        self._index_room = indexes = max(self._index_room, 1 + max(self._indexes, default=0))
        facts = self.facts
        self._kinds, self._ends, self._test_masks = np.zeros(nodes, np.int8), np.zeros(nodes, bool), None
        self._asks_only = np.zeros(indexes, bool)
        self._keep = np.full((facts.words, indexes), -1, np.int64)
        self._fill = np.zeros((facts.words, indexes), np.int64)
        self._unequal = [number for number, index in self._indexes.items() if index.equal]
        for number, node in self.nodes.items():
            self._kinds[number] = CONDITION if isinstance(node.part, Computation) else NEGATED if node.part.negated else POSITIVE
            self._ends[number] = node.head is not None
            if node.tested:
                if self._test_masks is None:
                    self._test_masks = np.zeros((facts.words, nodes), np.int64)
                for place, _ in node.tested:
                    self._test_masks[:, number] |= np.array(facts.masks(range(place, place + 1)))
        for number, index in self._indexes.items():
            rest = np.array(facts.masks(range(len(index.key), facts.slots)), np.int64)
            self._keep[:, number], self._fill[:, number] = ~rest, rest
            self._asks_only[number] = index.asks_only
        self._has_kind = [bool((self._kinds == kind).any()) for kind in (POSITIVE, NEGATED, CONDITION)]

    # --- gatekeep, index, product ---------------------------------------------------------------------------------------

    def wanted(self, nodes: Integers, rewrites: Columns) -> Columns:
        """Return the matches that the nodes require next for rewrites of their parents."""
        return self._keys.apply(nodes, rewrites) + self._carried.apply(nodes, rewrites)

    def indexed(self, indexes: Integers, facts: Columns) -> tuple[Columns, Booleans | None]:
        """Return facts in the column order of indexes, and a mask of those that are included (None: all)."""
        meant = None
        for number in self._unequal:
            if (mine := indexes == number).any():
                meant = np.ones(len(indexes), bool) if meant is None else meant
                for column, other in self._indexes[number].equal:
                    meant &= ~mine | (self.facts.slot(facts, column) == self.facts.slot(facts, other))
        return self._of_index.apply(indexes, facts), meant

    def facts_for(self, wanted: Columns) -> Range:
        """Return the ranges of indexed facts that match the requested keys."""
        low = wanted[: self.facts.words]
        indexes = self.facts.first(low)
        return low, [word | fill[indexes] for word, fill in zip(low, self._fill, strict=True)]

    def keys_of(self, indexed: Columns) -> Columns:
        """Return the keys under which indexed facts are wanted."""
        indexes = self.facts.first(indexed)
        return tuple(word & keep[indexes] for word, keep in zip(indexed, self._keep, strict=True))

    def bound(self, wanted: Columns, indexed: Columns) -> tuple[Columns, Booleans | None]:
        """Return rewrites joined with facts, extended by the variables that the facts bind, and a mask of those that match (None:
        all).
        """
        rewrites = wanted[self.facts.words :]
        nodes = self.rewrites.first(rewrites)
        added = self._bindings.apply(nodes, indexed)
        meant = None
        if self._test_masks is not None:
            meant = np.ones(len(nodes), bool)
            for word, masks, expected in zip(indexed, self._test_masks, self._tests.apply(nodes, rewrites), strict=True):
                meant &= (word & masks[nodes]) == expected
        return tuple(word + more for word, more in zip(rewrites, added, strict=True)), meant

    # --- linear functions -----------------------------------------------------------------------------------------------

    def of_kind(self, kind: int, wanted: ZSet) -> ZSet:
        """Return the wanted rows of one kind: matching facts, the absence of facts, or conditions."""
        if not self._has_kind[kind]:
            return ZSet.empty(wanted.arity)
        if sum(self._has_kind) == 1:
            return wanted
        return wanted.at(np.flatnonzero(self._kinds[self.rewrites.first(wanted.columns[self.facts.words :])] == kind))

    def for_questions(self, asked: bool, indexed: ZSet) -> ZSet:
        """Return the indexed facts of existence-only indexes, or those of the other indexes."""
        if not self._asks_only.any():
            return ZSet.empty(indexed.arity) if asked else indexed
        return indexed.at((self._asks_only[self.facts.first(indexed.columns)] == asked).nonzero()[0])

    def unfinished(self, rewrites: ZSet) -> ZSet:
        """Return the rewrites of incomplete bodies."""
        return rewrites.at(np.flatnonzero(~self._ends[self.rewrites.first(rewrites.columns)]))

    def grounded(self, rewrites: ZSet) -> ZSet:
        """Return the heads of rewrites of complete bodies."""
        nodes = self.rewrites.first(rewrites.columns)
        ends = np.flatnonzero(self._ends[nodes])
        self.instances += len(ends)
        if self.ended is not None:
            numbers, counts = np.unique(nodes[ends], return_counts=True)
            self.ended.update(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))
        return ZSet.consolidated(
            self._heads.apply(nodes[ends], tuple(column[ends] for column in rewrites.columns)), rewrites.weights[ends]
        )

    def satisfied(self, wanted: ZSet) -> ZSet:
        """Return the rewrites whose conditions hold, extended by the variables that these bind."""
        rewrites = wanted.columns[self.facts.words :]
        numbers = self.rewrites.first(rewrites)
        parts = []
        for number in np.unique(numbers).tolist():
            mine = np.flatnonzero(numbers == number)
            part = self._satisfied(self.nodes[number], tuple(column[mine] for column in rewrites), wanted.weights[mine])
            parts.append(part)
        return ZSet.sum(parts, self.rewrites.words)

    def _satisfied(self, node: PrefixNode, rewrites: Columns, weights: Integers) -> ZSet:
        condition = node.part
        assert isinstance(condition, Computation)

        def values(term: int) -> Integers:
            return np.full(len(weights), term, np.int64) if term >= 0 else self.rewrites.slot(rewrites, ~term)

        results = _called(condition, [values(term) for term in node.arguments], len(weights))
        if node.binds_result:
            kept = np.flatnonzero(results != NO_RESULT)
            word, shift = self.rewrites.places[~node.result]
            columns = [column[kept] for column in rewrites]
            columns[word] = columns[word] + (results[kept] << shift)
        else:
            kept = np.flatnonzero(results == values(node.result))
            columns = [column[kept] for column in rewrites]
        return ZSet.consolidated(columns, weights[kept])


def _slots(terms: Iterable[tuple[int, int]]) -> list[int]:
    """Return terms in their slots, with 0 in the unused slots."""
    known = dict(terms)
    return [known.get(slot, 0) for slot in range(1 + max(known, default=-1))]


def _called(condition: Computation, arguments: Sequence[Integers], count: int) -> Integers:
    """Return the results of a condition, called once for each combination of arguments."""
    if not arguments:
        return np.full(count, condition.function(()), np.int64)
    fields = fields_of(arguments)
    if fields is None:
        _, first, places = np.unique(np.stack(arguments), axis=1, return_index=True, return_inverse=True)
    else:
        _, first, places = np.unique(packed(arguments, fields), return_index=True, return_inverse=True)
    calls = zip(*(column[first].tolist() for column in arguments), strict=True)
    results: Integers = np.array([condition.function(call) for call in calls], np.int64)[places.reshape(-1)]
    return results
