"""Datalog as a circuit: one circuit for all programs, in which the rules are data like the facts.

In each iteration, the bindings of rule prefixes (*rewrites*) go one part of a body further:

* *gatekeep* joins the rewrites with the directions that lead on from their prefixes, and says which facts are wanted next;
* *index* joins the facts with the orders of columns in which the rules want to find them;
* *product* joins what is wanted with the indexed facts, which binds further variables;
* *ground* makes facts of the rewrites of whole bodies;
* new facts and new rewrites come round in the next iteration, until there are none.

All of it is incremental in both times, so facts and rules come and go in any mixture.

Source of the idea: Carneiro Alves de Lima, Kramer, Apinis and Micinski, Incremental Evaluation of Dynamic Datalog Programs as a
Higher-order DBSP Program (the system DYRE; Datalog 2.0 2024, CEUR Workshop Proceedings 3801). Here, rewrites need no `distinct` of
their own: they keep all their variables, so that each of them has one derivation at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from kg_reasoner.dbsp.circuit import Circuit
from kg_reasoner.dbsp.directions import CONDITION, LARGEST_TERM, NEGATED, POSITIVE, Directions
from kg_reasoner.dbsp.encoded_rules import Computation, DatalogClause, SignedAtom
from kg_reasoner.dbsp.groupwise import DistinctOperator
from kg_reasoner.dbsp.join import Range
from kg_reasoner.dbsp.packed_rows import Layout
from kg_reasoner.dbsp.sorted_columns import Booleans, Columns, Integers
from kg_reasoner.dbsp.trie import ROOT, Trie
from kg_reasoner.dbsp.wiring import Stream
from kg_reasoner.dbsp.zset import ZSet

FactChanges: TypeAlias = Mapping[int, tuple[Integers, Integers]]
"""By predicate: facts, shape (n, arity), and the weights by which they change."""


class Interpreter:
    """A circuit that evaluates clauses over facts, both of which are streams of changes.

    Negation is right if what is negated does not depend on clauses of this interpreter: `Strata` makes a chain of interpreters.
    In an evaluation from scratch, iterations then only add facts and never remove any, so that it terminates.

    Args:
        indexed: Whether the circuit has an index operator. Without one, facts are looked up by predicate only.
    """

    def __init__(self, indexed: bool = True) -> None:
        self._trie = Trie(indexed)
        self._directions = Directions()
        self._arities: dict[int, int] = {}
        self._seeded = False
        self.counted: Counter[DatalogClause] | None = None
        """The `instances` of each clause, if they are counted. Clauses that differ in the names of variables only count as one."""
        self.circuit = self._make()

    def step(self, facts: FactChanges, added: Sequence[DatalogClause] = (), removed: Sequence[DatalogClause] = ()) -> FactChanges:
        """Apply changes of facts and of clauses. Return the changes of all facts, given and derived.

        Weights of given facts add up; a fact holds if its weight is positive, or a clause derives it.
        """
        ends = {} if self.counted is None else dict(self._trie.ends())
        changes = self._trie.update(added, removed)
        self._make_room(facts, added)
        self._directions.add(changes)
        self._directions.ended = None if self.counted is None else Counter()
        results = self.circuit.step(
            facts=self._packed(facts),
            directions=_changed(
                [(node.parent, node.number) for node in changes.added], [(n.parent, n.number) for n in changes.removed]
            ),
            indexes=_changed(
                [(index.predicate, number) for number, index in changes.new_indexes],
                [(index.predicate, number) for number, index in changes.old_indexes],
            ),
            seed=ZSet.empty(self._directions.rewrites.words) if self._seeded else self._seed(),
        )
        self._seeded = True
        if self.counted is not None and self._directions.ended is not None:
            ends.update(self._trie.ends())
            self.counted.update({ends[node]: count for node, count in self._directions.ended.items()})
        self._directions.forget(changes)
        self._trie.release(changes)
        return dict(self._unpacked(results["facts"]))

    def facts(self) -> FactChanges:
        """Return all facts, given and derived."""
        return dict(self._unpacked(self._distinct.integral().distinct()))

    @property
    def instances(self) -> int:
        """The numbers of rewrites of whole bodies added or removed so far, by iteration."""
        return self._directions.instances

    @property
    def size(self) -> int:
        """The number of clauses."""
        return len(self._trie)

    @property
    def nbytes(self) -> int:
        """The size of all traces in bytes."""
        return sum(trace.nbytes for _, trace in self.circuit.traces())

    # --- the circuit ----------------------------------------------------------------------------------------------------

    def _make(self) -> Circuit:
        directions = self._directions
        fact, rewrite = directions.facts.words, directions.rewrites.words
        circuit = Circuit()
        loop = circuit.nested("interpreter")
        given = loop.introduce(circuit.input("facts", fact))
        leads = loop.introduce(circuit.input("directions", 2))
        orders = loop.introduce(circuit.input("indexes", 2))
        seed = loop.introduce(circuit.input("seed", rewrite))
        facts, rewrites = loop.feedback(fact), loop.feedback(rewrite)

        # Given facts come round at iteration 1, so bodies begin then. A negation that came first in a body at iteration 0 would see
        # no facts, and derive a head that is withdrawn at iteration 1: its consequences could then support each other without end.
        wanted = (rewrites + seed.delay()).match(leads, _Gatekeep(directions), fact + rewrite, "gatekeep")
        indexed = facts.match(orders, _IndexOrder(directions), fact, "index")

        def some(kind: int, name: str) -> Stream:
            return wanted.linear(lambda rows: directions.of_kind(kind, rows), fact + rewrite, name)

        plain = indexed.linear(lambda rows: directions.for_questions(False, rows), fact, "facts")
        asked = indexed.linear(lambda rows: directions.for_questions(True, rows), fact, "facts that are asked for").distinct()
        product = some(POSITIVE, "atoms").match(plain + asked, _Product(directions), rewrite, "product")
        negated = some(NEGATED, "negations")
        free = negated.map(lambda columns: columns[fact:], rewrite, "rewrites")
        unfree = negated.match(asked, _Blocked(directions), rewrite, "antiproduct")
        satisfied = some(CONDITION, "conditions").linear(directions.satisfied, rewrite, "conditions that hold")
        further = loop.sum(product, free, -unfree, satisfied)

        rewrites.connect(further.linear(directions.unfinished, rewrite, "unfinished"))
        ground = further.linear(directions.grounded, fact, "ground")
        all_facts = (ground + given).distinct()
        facts.connect(all_facts)
        assert isinstance(all_facts.operator, DistinctOperator)
        self._distinct = all_facts.operator
        circuit.output("facts", loop.eliminate(all_facts))
        circuit.build()
        return circuit

    def _make_room(self, facts: FactChanges, clauses: Sequence[DatalogClause]) -> None:
        """Switch to wider row layouts, if these changes need them."""
        literals = [part for clause in clauses for part in (clause.head, *clause.body) if isinstance(part, SignedAtom)]
        conditions = [part for clause in clauses for part in clause.body if isinstance(part, Computation)]
        predicates, arities, values = [0], [0], [0]
        for predicate, (rows, _) in facts.items():
            self._arities[predicate] = rows.shape[1]
            predicates.append(predicate)
            values.append(int(rows.max(initial=0)))
        for literal in literals:
            self._arities[literal.predicate] = len(literal.terms)
            predicates.append(literal.predicate)
            values += [term for term in literal.terms if isinstance(term, int)]
        if conditions:
            values.append(LARGEST_TERM)
        arities = [0, *self._arities.values()]
        old_facts, old_rewrites = self._directions.facts, self._directions.rewrites
        largest = max(values)
        new_facts = old_facts.widened(max(self._trie.index_end, *predicates), largest, max(arities))
        new_rewrites = old_rewrites.widened(self._trie.node_end, max(largest, 1), self._trie.variables)
        if new_facts is not old_facts or new_rewrites is not old_rewrites:
            self._directions.use(new_facts, new_rewrites)
            self._rebuild(old_facts, old_rewrites)

    def _rebuild(self, facts: Layout, rewrites: Layout) -> None:
        """Rebuild the circuit for the current layouts with the traces of the old one, whose layouts are given."""
        new_facts, new_rewrites = self._directions.facts, self._directions.rewrites
        kinds = {
            "gatekeep": (("rewrites",), ()),
            "index": (("facts",), ()),
            "product": (("facts", "rewrites"), ("facts",)),
            "antiproduct": (("facts", "rewrites"), ("facts",)),
            "distinct": (("facts",), ("facts",)),
        }
        old, self.circuit = self.circuit, self._make()
        by_stream: dict[int, int] = {}
        for (stream, before), (_, after) in zip(old.traces(), self.circuit.traces(), strict=True):
            place = by_stream[stream.number] = by_stream.get(stream.number, -1) + 1
            kind = kinds[stream.operator.name][place]
            for run in before.runs:
                rest, columns = run.columns, list[Integers]()
                for name in kind:
                    source, target = (facts, new_facts) if name == "facts" else (rewrites, new_rewrites)
                    columns += source.converted(rest[: source.words], target)
                    rest = rest[source.words :]
                after.runs.append(ZSet((*columns, *rest), run.weights))

    # --- rows -----------------------------------------------------------------------------------------------------------

    def _seed(self) -> ZSet:
        """Return the rewrite of the empty prefix."""
        return ZSet(self._directions.rewrites.pack(np.array([ROOT]), ()), np.ones(1, np.int64))

    def _packed(self, facts: FactChanges) -> ZSet:
        layout = self._directions.facts
        parts = [
            layout.pack(np.full(len(rows), predicate, np.int64), list(rows.T))
            for predicate, (rows, _) in facts.items()
            if len(rows)
        ]
        if not parts:
            return ZSet.empty(layout.words)
        weights = np.concatenate([weights for rows, weights in facts.values() if len(rows)])
        return ZSet.consolidated([np.concatenate(column) for column in zip(*parts, strict=True)], weights)

    def _unpacked(self, facts: ZSet) -> Iterator[tuple[int, tuple[Integers, Integers]]]:
        layout = self._directions.facts
        if not len(facts):
            return
        predicates = layout.first(facts.columns)
        starts = [0, *(np.flatnonzero(predicates[1:] != predicates[:-1]) + 1).tolist(), len(facts)]
        for start, end in pairwise(starts):
            predicate = int(predicates[start])
            words = tuple(column[start:end] for column in facts.columns)
            rows = np.empty((end - start, self._arities[predicate]), np.int64)
            for column in range(rows.shape[1]):
                rows[:, column] = layout.slot(words, column)
            yield predicate, (rows, facts.weights[start:end])


class _Gatekeep:
    """Matching of rewrites and directions, rows (prefix, longer prefix), by prefix."""

    def __init__(self, directions: Directions) -> None:
        self._directions = directions

    def right_range(self, left: Columns) -> Range:
        nodes = (self._directions.rewrites.first(left),)
        return nodes, nodes

    def left_range(self, right: Columns) -> Range:
        return _first_between(right[0], self._directions.rewrites)

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, None]:
        return self._directions.wanted(right[1], left), None


class _IndexOrder:
    """Matching of facts and indexes, rows (predicate, index), by predicate."""

    def __init__(self, directions: Directions) -> None:
        self._directions = directions

    def right_range(self, left: Columns) -> Range:
        predicates = (self._directions.facts.first(left),)
        return predicates, predicates

    def left_range(self, right: Columns) -> Range:
        return _first_between(right[0], self._directions.facts)

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, Booleans | None]:
        return self._directions.indexed(right[1], left)


class _Product:
    """Matching of wanted rows and indexed facts."""

    def __init__(self, directions: Directions) -> None:
        self._directions = directions

    def right_range(self, left: Columns) -> Range:
        return self._directions.facts_for(left)

    def left_range(self, right: Columns) -> Range:
        keys = self._directions.keys_of(right)
        return keys, keys

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, Booleans | None]:
        return self._directions.bound(left, right)


class _Blocked:
    """Matching of wanted absences and the keys of existing facts."""

    def __init__(self, directions: Directions) -> None:
        self._width = directions.facts.words

    def right_range(self, left: Columns) -> Range:
        return left[: self._width], left[: self._width]

    def left_range(self, right: Columns) -> Range:
        return right, right

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, None]:
        return left[self._width :], None


def _first_between(first: Integers, layout: Layout) -> Range:
    """Return the ranges of packed rows with these leading numbers."""
    low = first << layout.first_shift
    return (low,), (low + ((1 << layout.first_shift) - 1),)


def _changed(added: Sequence[tuple[int, int]], removed: Sequence[tuple[int, int]]) -> ZSet:
    rows = np.array([*added, *removed], np.int64).reshape(-1, 2)
    weights = np.ones(len(rows), np.int64)
    weights[len(added) :] = -1
    return ZSet.consolidated(tuple(np.ascontiguousarray(rows.T)), weights)
