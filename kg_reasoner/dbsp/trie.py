"""Rules as directions: a trie of body prefixes. A prefix that rules share is one node, and is evaluated once.

Nodes are what identifies a prefix, exactly: a node is known by its parent and the next part of the body, in which variables have the
numbers in which they are bound. The end of a body is known by its head, too (its *grounding signal*), so that bindings of whole bodies
need not be kept to meet a head later.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from kg_reasoner.dbsp.clauses import Clause, Condition, Literal, Part

ROOT: Final = 0
"""The node of the empty prefix."""

Term: TypeAlias = int
"""A constant (0 or more), or ``~n`` for variable n."""


@dataclass(frozen=True, slots=True)
class Index:
    """An order of a predicate's columns, for joins: `key` columns first, then the others that are wanted.

    Facts that differ in a pair of columns that are to be equal do not take part.
    """

    predicate: int
    key: tuple[int, ...]
    rest: tuple[int, ...]
    equal: tuple[tuple[int, int], ...]
    negated: bool


@dataclass(slots=True)
class Node:
    """A prefix: what its last part does to the bindings of the prefix before."""

    number: int
    parent: int
    part: Part
    bound: int
    """How many variables the prefix before binds."""
    index: Index | None = None
    index_number: int = 0
    key: tuple[Term, ...] = ()
    """What the index's key columns must be."""
    tested: tuple[tuple[int, Term], ...] = ()
    """Places among the index's other columns, and what must stand there (without the index operator)."""
    binds: tuple[tuple[int, int], ...] = ()
    """Places among the index's columns, and the new variables that get their values."""
    arguments: tuple[Term, ...] = ()
    """Of a condition."""
    result: Term = 0
    """Of a condition: a variable not bound before is new."""
    head: tuple[int, tuple[Term, ...]] | None = None
    """At the end of a body: the head's predicate and terms."""
    uses: int = 0


@dataclass(slots=True)
class Changes:
    """What rules that come and go change: nodes, and indexes with their numbers. Numbers of what is gone are free after `settle`."""

    added: list[Node] = field(default_factory=list)
    removed: list[Node] = field(default_factory=list)
    new_indexes: list[tuple[int, Index]] = field(default_factory=list)
    old_indexes: list[tuple[int, Index]] = field(default_factory=list)


class Numbers:
    """Gives out the least numbers that are free."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._free: list[int] = []

    @property
    def end(self) -> int:
        """No number is as large."""
        return self._next

    def take(self) -> int:
        """A free number."""
        if self._free:
            return heappop(self._free)
        self._next += 1
        return self._next - 1

    def release(self, number: int) -> None:
        """Say that it is free."""
        heappush(self._free, number)


class Trie:
    """The prefixes of all clauses.

    Args:
        indexed: whether joins look facts up by what is bound; else only by their predicate.
    """

    def __init__(self, indexed: bool = True) -> None:
        self._indexed = indexed
        self._nodes: dict[Hashable, Node] = {}
        self._paths: dict[Clause, list[Hashable]] = {}
        self._indexes: dict[Index, list[int]] = {}
        self._node_numbers, self._index_numbers = Numbers(ROOT + 1), Numbers(1)
        self.variables = 0
        """As many variables as a clause ever had."""

    @property
    def node_end(self) -> int:
        """No node has as large a number."""
        return self._node_numbers.end

    @property
    def index_end(self) -> int:
        """No index has as large a number; 0 stands for no index."""
        return self._index_numbers.end

    def update(self, added: Sequence[Clause], removed: Sequence[Clause]) -> Changes:
        """Add and remove clauses; adding those that are there, or removing those that are not, changes nothing."""
        changes = Changes()
        for clause in removed:
            for key in self._paths.pop(clause, ()):
                self._leave(key, changes)
        for clause in added:
            if clause not in self._paths:
                self._paths[clause] = list(self._enter(clause, changes))
        both = {node.number for node in changes.added} & {node.number for node in changes.removed}
        assert not both
        return changes

    def settle(self, changes: Changes) -> None:
        """The rules that are gone have been forgotten by the circuit, too."""
        for node in changes.removed:
            self._node_numbers.release(node.number)
        for number, _ in changes.old_indexes:
            self._index_numbers.release(number)

    def _enter(self, clause: Clause, changes: Changes) -> list[Hashable]:
        """The keys of the nodes of a clause."""
        variables: dict[str, int] = {}
        parent, path = ROOT, list[Hashable]()

        def term(argument: int | str) -> Term:
            return argument if isinstance(argument, int) else ~variables[argument]

        for place, part in enumerate(clause.body):
            bound = len(variables)
            is_last = place == len(clause.body) - 1
            names = dict(variables)
            terms = part.terms if isinstance(part, Literal) else (*part.arguments, part.result)
            for argument in terms:
                if isinstance(argument, str):
                    names.setdefault(argument, len(names))
            canonical = tuple(argument if isinstance(argument, int) else ~names[argument] for argument in terms)
            if not (isinstance(part, Literal) and part.negated):
                variables = names
            self.variables = max(self.variables, len(names))
            head = (clause.head.predicate, tuple(map(term, clause.head.terms))) if is_last else None
            kind = (part.predicate, part.negated) if isinstance(part, Literal) else part.name
            key: Hashable = parent, kind, canonical, head
            node = self._nodes.get(key)
            if node is None:
                node = self._nodes[key] = self._make(Node(self._node_numbers.take(), parent, part, bound, head=head), canonical)
                self._index(node, changes)
                changes.added.append(node)
            node.uses += 1
            path.append(key)
            parent = node.number
        return path

    def _leave(self, key: Hashable, changes: Changes) -> None:
        node = self._nodes[key]
        node.uses -= 1
        if node.uses:
            return
        del self._nodes[key]
        changes.removed.append(node)
        if node.index is not None:
            counted = self._indexes[node.index]
            counted[1] -= 1
            if not counted[1]:
                del self._indexes[node.index]
                changes.old_indexes.append((counted[0], node.index))

    def _index(self, node: Node, changes: Changes) -> None:
        """Give a node the number of its index."""
        if node.index is None:
            return
        counted = self._indexes.get(node.index)
        if counted is None:
            counted = self._indexes[node.index] = [self._index_numbers.take(), 0]
            changes.new_indexes.append((counted[0], node.index))
        counted[1] += 1
        node.index_number = counted[0]

    def _make(self, node: Node, terms: tuple[Term, ...]) -> Node:
        """Work out what a part of a body does."""
        part, bound = node.part, node.bound
        if isinstance(part, Condition):
            node.arguments, node.result = terms[:-1], terms[-1]
            return node
        known, first, equal = [], dict[Term, int](), []
        for column, term in enumerate(terms):
            if term >= 0 or ~term < bound:
                known.append(column)
            elif term in first:
                equal.append((column, first[term]))
            else:
                first[term] = column
        new = [] if part.negated else sorted(first.values())
        key = tuple(known) if self._indexed or part.negated else ()
        rest = (*(column for column in known if column not in key), *new)
        node.index = Index(part.predicate, key, rest, tuple(equal), part.negated)
        node.key = tuple(terms[column] for column in key)
        columns = (*key, *rest)
        node.tested = tuple((columns.index(column), terms[column]) for column in known if column not in key)
        node.binds = tuple((columns.index(column), ~terms[column]) for column in new)
        return node
