"""The rules as a trie of body prefixes. A prefix shared by rules is one node, and is evaluated once.

A node is identified by its parent and the next part of the body, with variables numbered in the order of binding. The end of a body
is also identified by its head (its *grounding signal*), so bindings of whole bodies need not be stored until they meet a head.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.dbsp.encoded_rules import Argument, Computation, DatalogClause, Part, SignedAtom

ROOT: Final = 0
"""The node of the empty prefix."""

Term: TypeAlias = int
"""A constant (0 or more), or ``~n`` for variable n."""

Pattern: TypeAlias = "tuple[Term | None, ...]"
"""The terms of an atom; None is a variable that nothing else needs."""


@dataclass(frozen=True, slots=True)
class TrieIndex:
    """A column order of a predicate for joins: the `key` columns first, then the other needed columns.

    Facts that differ in a pair of columns that must be equal are left out. An index that is only asked whether there is some
    fact (by negations, and by atoms that bind nothing that is needed) holds each key once.
    """

    predicate: int
    key: tuple[int, ...]
    rest: tuple[int, ...]
    equal: tuple[tuple[int, int], ...]
    asks_only: bool


@dataclass(slots=True)
class PrefixNode:
    """A prefix: how its last part extends the rewrites of its parent, the shorter prefix.

    Inside of bodies, a rewrite has the values of all variables, in the order in which they are bound. At the end of a body, it only
    has those that the head or the last part itself needs.
    """

    number: int
    parent: int
    part: Part
    carried: tuple[Term, ...] = ()
    """The arguments of its rewrites: variables of the parent, or 0 for those that are bound now."""
    index: TrieIndex | None = None
    index_number: int = 0
    key: tuple[Term, ...] = ()
    """The values that the index's key columns must have, in terms of the parent's variables."""
    tested: tuple[tuple[int, Term], ...] = ()
    """Places among the index's other columns, and what must stand there (without the index operator)."""
    binds: tuple[tuple[int, int], ...] = ()
    """Places among the index's columns, and the variables that get their values."""
    arguments: tuple[Term, ...] = ()
    """Of a condition."""
    result: Term = 0
    """Of a condition."""
    binds_result: bool = False
    """Whether the result is a variable that gets its value now."""
    head: tuple[int, tuple[Term, ...]] | None = None
    """At the end of a body: the head's predicate and terms."""
    uses: int = 0


@dataclass(slots=True)
class TrieChanges:
    """Nodes and indexes (with their numbers) added and removed with rules. Numbers of removed ones are free after `release`."""

    added: list[PrefixNode] = field(default_factory=list)
    removed: list[PrefixNode] = field(default_factory=list)
    new_indexes: list[tuple[int, TrieIndex]] = field(default_factory=list)
    old_indexes: list[tuple[int, TrieIndex]] = field(default_factory=list)


class Numbers:
    """Assigns the smallest free numbers."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._free: list[int] = []

    @property
    def end(self) -> int:
        """An upper bound of the numbers in use."""
        return self._next

    def take(self) -> int:
        """Return a free number."""
        if self._free:
            return heappop(self._free)
        self._next += 1
        return self._next - 1

    def release(self, number: int) -> None:
        """Declare a number free."""
        heappush(self._free, number)


class Trie:
    """The prefixes of all clauses.

    Args:
        indexed: Whether joins look facts up by their bound arguments; otherwise only by their predicate.
    """

    def __init__(self, indexed: bool = True) -> None:
        self._indexed = indexed
        self._nodes: dict[Hashable, PrefixNode] = {}
        self._paths: dict[DatalogClause, list[Hashable]] = {}
        self._uses: Counter[DatalogClause] = Counter()
        self._indexes: dict[TrieIndex, list[int]] = {}
        self._node_numbers, self._index_numbers = Numbers(ROOT + 1), Numbers(1)
        self.variables = 0
        """The largest number of variables that a clause has had."""

    def __len__(self) -> int:
        """Return the number of different clauses."""
        return len(self._paths)

    @property
    def node_end(self) -> int:
        """An upper bound of the numbers of nodes."""
        return self._node_numbers.end

    @property
    def index_end(self) -> int:
        """An upper bound of the numbers of indexes; 0 means no index."""
        return self._index_numbers.end

    def update(self, added: Sequence[DatalogClause], removed: Sequence[DatalogClause]) -> TrieChanges:
        """Add and remove clauses. A clause added twice has to be removed twice; removing an unknown clause has no effect."""
        changes = TrieChanges()
        for clause in removed:
            if self._uses[clause] > 1:
                self._uses[clause] -= 1
            elif clause in self._paths:
                del self._uses[clause]
                for key in self._paths.pop(clause):
                    self._leave(key, changes)
        for clause in added:
            self._uses[clause] += 1
            if clause not in self._paths:
                self._paths[clause] = list(self._enter(clause, changes))
        return changes

    def ends(self) -> Iterator[tuple[int, DatalogClause]]:
        """Yield the number of the last node of each clause, with the clause."""
        for clause, keys in self._paths.items():
            if keys:
                yield self._nodes[keys[-1]].number, clause

    def release(self, changes: TrieChanges) -> None:
        """Release the numbers of removed rules, once the circuit no longer uses them."""
        for node in changes.removed:
            self._node_numbers.release(node.number)
        for number, _ in changes.old_indexes:
            self._index_numbers.release(number)

    def _enter(self, clause: DatalogClause, changes: TrieChanges) -> Iterator[Hashable]:
        """Add a clause, and yield the keys of its nodes."""
        variables: dict[str, int] = {}
        occurrences = Counter(_terms(clause.head) + tuple(term for part in clause.body for term in _terms(part)))
        parent = ROOT
        for place, part in enumerate(clause.body):
            is_last = place == len(clause.body) - 1
            names = dict(variables)
            terms = _terms(part)
            new = {argument for argument in terms if isinstance(argument, str) and argument not in variables}
            is_question = isinstance(part, SignedAtom) and all(occurrences[variable] == 1 for variable in new)
            for argument in terms:
                if isinstance(argument, str) and not is_question:
                    names.setdefault(argument, len(names))
            canonical = tuple(None if is_question and term in new else _numbered(term, names) for term in terms)
            head = (clause.head.predicate, tuple(_numbered(term, names) for term in clause.head.terms)) if is_last else None
            kind = (part.predicate, part.negated) if isinstance(part, SignedAtom) else part.name
            key: Hashable = parent, kind, canonical, head
            node = self._nodes.get(key)
            if node is None:
                node = self._nodes[key] = PrefixNode(self._node_numbers.take(), parent, part, head=head)
                self._work_out(node, canonical, len(variables))
                self._index(node, changes)
                changes.added.append(node)
            node.uses += 1
            parent = node.number
            if not (isinstance(part, SignedAtom) and part.negated):
                variables = names
            yield key

    def _leave(self, key: Hashable, changes: TrieChanges) -> None:
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

    def _index(self, node: PrefixNode, changes: TrieChanges) -> None:
        """Assign an index number to a node."""
        if node.index is None:
            return
        counted = self._indexes.get(node.index)
        if counted is None:
            counted = self._indexes[node.index] = [self._index_numbers.take(), 0]
            changes.new_indexes.append((counted[0], node.index))
        counted[1] += 1
        node.index_number = counted[0]

    def _work_out(self, node: PrefixNode, terms: Pattern, bound: int) -> None:
        """Determine the effect of a part of a body after a prefix with this number of bound variables."""
        part = node.part
        if isinstance(part, Computation):
            *arguments, node.result = (term for term in terms if term is not None)
            node.arguments = tuple(arguments)
            node.binds_result = node.result < 0 and ~node.result >= bound
            needed = (*node.arguments, node.result)
        else:
            self._match(node, part, terms, bound)
            needed = tuple(term for _, term in node.tested)
        if node.head is None:
            count = max((bound, *(1 + variable for _, variable in node.binds), *(1 + ~term for term in needed if term < 0)))
            kept = list(range(count))
        else:
            kept = list(dict.fromkeys(~term for term in (*node.head[1], *needed) if term < 0))
        node.carried = tuple(~variable if variable < bound else 0 for variable in kept)
        self.variables = max(self.variables, len(kept))
        slots = {variable: slot for slot, variable in enumerate(kept)}

        def own(term: Term) -> Term:
            return term if term >= 0 else ~slots[~term]

        node.arguments, node.result = tuple(map(own, node.arguments)), own(node.result)
        node.tested = tuple((place, own(term)) for place, term in node.tested)
        node.binds = tuple((place, slots[variable]) for place, variable in node.binds if variable in slots)
        if node.head is not None:
            node.head = node.head[0], tuple(map(own, node.head[1]))

    def _match(self, node: PrefixNode, part: SignedAtom, terms: Pattern, bound: int) -> None:
        """Determine how an atom matches facts: which columns are known, and which bind variables."""
        known, first, equal = dict[int, Term](), dict[Term, int](), []
        for column, term in enumerate(terms):
            if term is None:
                continue
            if term >= 0 or ~term < bound:
                known[column] = term
            elif term in first:
                equal.append((column, first[term]))
            else:
                first[term] = column
        new = {} if part.negated else {column: ~variable for variable, column in first.items()}
        asks_only = part.negated or None in terms
        key = tuple(known) if self._indexed or asks_only else ()
        columns = (*key, *(column for column in known if column not in key), *new)
        node.index = TrieIndex(part.predicate, key, columns[len(key) :], tuple(equal), asks_only)
        node.key = tuple(known[column] for column in key)
        node.tested = tuple((columns.index(column), term) for column, term in known.items() if column not in key)
        node.binds = tuple((columns.index(column), variable) for column, variable in new.items())


def _terms(part: Part) -> tuple[Argument, ...]:
    """Return all terms of a part of a rule."""
    return part.terms if isinstance(part, SignedAtom) else (*part.arguments, part.result)


def _numbered(term: Argument, names: Mapping[str, int]) -> Term:
    """Return a constant, or the number of a variable."""
    return term if isinstance(term, int) else ~names[term]
