"""Joins that follow indexes: the solutions of a pattern that are compatible with given solutions.

A pattern can be *followed* from solutions if all variables that it shares with them are bound on both sides. Then its evaluation
from each solution gives what the join gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from kg_reasoner.program import Variable
from kg_reasoner.query.patterns import LOOK_UP
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Condition, Node
from kg_reasoner.sparql.evaluation.basic_graph_patterns import Matcher
from kg_reasoner.sparql.evaluation.operator_interface import ALL, Evaluator, Need
from kg_reasoner.sparql.evaluation.path_patterns import PathPatterns
from kg_reasoner.sparql.scope import certain, expressions_of, in_scope, names_in
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, concatenated
from kg_reasoner.sparql.solutions.table_joins import compatible, is_among, merged
from kg_reasoner.sparql.substitute import substitute
from kg_reasoner.storage.arrays import Flags, Numbers
from kg_reasoner.terms import OWL

__all__ = ["START", "Extending", "Matches"]

RATIO: Final = 4
"""The ratio of given solutions to those of a pattern up to which the pattern is followed from them."""

START: Final = 1 << 6
"""The number of solutions of the first pattern of a join, or of MINUS, with which it is tried, if not all are needed."""

GROWTH: Final = 16

FEW: Final = 1 << 10
"""Solutions from which a pattern is followed whatever its size is."""

LOOKED_UP: Final = 1 << 6
"""The maximal number of solutions from which a triple that cannot be extended is looked up one by one."""

SCANNED: Final = 100
"""The ratio of the triples' matches up to which a pattern is followed triple by triple."""

Matches: TypeAlias = tuple[Numbers, Table]
"""The numbers of solutions, in order, and for each the values of a pattern's variables."""


class Extending:
    """Joins tables with patterns.

    Args:
        evaluator: Evaluates patterns.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._paths = PathPatterns(evaluator)

    # --- joins ------------------------------------------------------------------------------------------------------

    def join(self, parts: Sequence[Node], need: Need) -> Table:
        """Return the join of some patterns, in an order by their estimated sizes.

        Args:
            parts: The patterns.
            need: What is needed of the solutions.
        """
        occurring = [variable.name for part in parts for variable in in_scope(part)]
        inner = need.whole().with_names(name for name in occurring if occurring.count(name) > 1)
        start, *others = self.order(parts)
        enough = None if need.enough is None else max(START, need.enough)
        while True:
            table = self._evaluator.table(start, replace(inner, enough=enough))
            first, nodes = table.size, _nodes_of(start)
            for part in others:
                if not table.size:
                    return Table({}, 0)
                rows, right = self.matches(table, part, inner, nodes, need.enough if part is others[-1] else None)
                table = merged(table, right, rows, np.arange(right.size))
                nodes |= _nodes_of(part)
            if need.enough is None or enough is None or table.size >= need.enough or first < enough:
                return table
            enough = max(GROWTH * enough, first + 1)

    def order(self, parts: Sequence[Node]) -> list[Node]:
        """Return patterns in the order in which `join` joins them: connected and small ones first, a SERVICE after its address."""
        estimates = self._evaluator.estimates
        rest, order, known = list(parts), list[Node](), set[Variable]()
        while rest:
            following = min(
                rest, key=lambda part: (_waits(part, known), bool(order) and known.isdisjoint(in_scope(part)), estimates.of(part))
            )
            rest = [part for part in rest if part is not following]
            order.append(following)
            known.update(in_scope(following))
        return order

    def matches(
        self,
        left: Table,
        node: Node,
        need: Need = ALL,
        nodes: frozenset[str] | set[str] = frozenset(),
        enough: int | None = None,
    ) -> Matches:
        """Return the pairs of solutions and compatible solutions of a pattern.

        Args:
            left: The solutions.
            node: The pattern.
            need: What is needed of the pattern's solutions.
            nodes: The variables known to be bound to nodes of the active graph.
            enough: A sufficient number of pairs.
        """
        found = self.follow(left, node, need, nodes) if left.size else None
        if found is not None:
            return found
        if isinstance(node, algebra.Service) and isinstance(node.address, Variable):
            return self._asked(left, node, node.address)
        shared = [variable.name for variable in in_scope(node) if variable.name in left.columns]
        if isinstance(node, algebra.Patterns) and self._is_looked_up(left, node, shared):
            return self._looked_up(left, node, shared, need, enough)
        self._evaluator.report.note(node, "hash join")
        right = self._evaluator.table(node, need.whole().with_names(shared))
        rows, others = compatible(left, right)
        return rows, right.take(others)

    def has_match(self, left: Table, node: Node) -> Flags:
        """Return a mask of the solutions with a compatible solution of a pattern that shares a bound variable with them (MINUS)."""
        shared = [variable.name for variable in in_scope(node) if variable.name in left.columns]
        if not shared or not left.size:
            return np.zeros(left.size, np.bool_)
        found = self.follow(left, node, Need(frozenset(), is_set=True))
        if found is not None:
            return is_among(found[0], left.size)
        self._evaluator.report.note(node, "hash join")
        right = self._evaluator.table(node, Need(frozenset(shared), is_set=True)).distinct(shared)
        return is_among(compatible(left, right, only_overlapping=True)[0], left.size)

    def _is_looked_up(self, left: Table, node: algebra.Patterns, shared: Sequence[str]) -> bool:
        """Return whether looking a triple up for each of few solutions costs less than a hash join with all its matches."""
        is_bound = bool(shared) and all(map(left.is_bound_everywhere, shared))
        if not is_bound or len(node.triples) != 1 or not 0 < left.size <= LOOKED_UP:
            return False
        return LOOK_UP * left.size < self._evaluator.estimates.of(node)

    def _looked_up(
        self, left: Table, node: algebra.Patterns, shared: Sequence[str], need: Need, enough: int | None = None
    ) -> Matches:
        """Return the matches of a pattern, found for the values of one solution after the other."""
        self._evaluator.report.note(node, "lookups")
        matcher = self._evaluator.matcher(node.graph)
        if isinstance(matcher, Matcher) and matcher.looks_up:
            return matcher.looked_up(node.triples[0], shared, left.matrix(shared), need.names, enough)
        rows, tables = list[Numbers](), list[Table]()
        for row, numbers in enumerate(left.matrix(shared).tolist()):
            terms = zip(map(Variable, shared), self._evaluator.terms.terms(numbers), strict=True)
            known = {variable: term for variable, term in terms if term is not None}
            tables.append(self._evaluator.table(substitute(node, known), need.whole()))
            rows.append(np.full(tables[-1].size, row, np.int64))
        return np.concatenate(rows), concatenated(tables)

    def _asked(self, left: Table, node: algebra.Service, address: Variable) -> Matches:
        """Ask each of the addresses that solutions bind."""
        column = left.column(address.name)
        rows, tables = [np.empty(0, np.int64)], list[Table]()
        for number in np.unique(column[column != UNBOUND]).tolist():
            found = self._evaluator.service(node, self._evaluator.terms.term(number))
            mine = np.flatnonzero(column == number)
            numbers, others = compatible(left.take(mine), found)
            rows.append(mine[numbers])
            tables.append(found.take(others))
        order = np.argsort(np.concatenate(rows), kind="stable")
        return np.concatenate(rows)[order], (concatenated(tables) if tables else Table({}, 0)).take(order)

    # --- following --------------------------------------------------------------------------------------------------

    def path(self, node: algebra.PathPattern, table: Table, enough: int | None = None) -> Matches:
        """Return the solutions of a path pattern that are compatible with solutions; see `PathPatterns.matches`."""
        return self._paths.matches(node, table, enough=enough)

    def follow(self, table: Table, node: Node, need: Need, nodes: frozenset[str] | set[str] = frozenset()) -> Matches | None:
        """Return the pairs of solutions and compatible solutions of a pattern, if it can be followed from them.

        Args:
            table: The solutions.
            node: The pattern.
            need: What is needed; with `is_set`, one match of each solution is sufficient unless values are wanted.
            nodes: The variables known to be bound to nodes of the active graph.
        """
        if not self._can_follow(node, table, set(table.columns)):
            return None
        self._evaluator.report.note(node, "index")
        with self._evaluator.report.step(node) as step:
            found = self._follow(table, node, need, nodes)
            step.rows = (step.rows or 0) + found[1].size
        return found

    def _can_follow(self, node: Node, table: Table, columns: set[str]) -> bool:
        """Return whether a pattern can be followed from solutions with some variables; `columns` may have more than `table`."""
        shared = [variable.name for variable in in_scope(node) if variable.name in columns]
        if not shared or any(name in table.columns and not table.is_bound_everywhere(name) for name in shared):
            return False
        if isinstance(node, algebra.Patterns):
            matcher = self._evaluator.matcher(node.graph)
            if matcher is None:
                return True
            is_cheap = table.size <= RATIO * self._evaluator.estimates.of(node) + FEW
            return is_cheap and (matcher.extends(node.triples) or self._by_triples(node))
        if isinstance(node, algebra.PathPattern):
            return True
        if isinstance(node, algebra.Join):
            known = set(columns)
            for part in node.parts:
                if not self._can_follow(part, table, known):
                    return False
                known.update(variable.name for variable in in_scope(part))
            return bool(node.parts)
        if isinstance(node, algebra.Union):
            return all(self._can_follow(part, table, columns) for part in node.parts)
        if isinstance(node, (algebra.Filter, algebra.Extend)):
            used = names_in(node.conditions if isinstance(node, algebra.Filter) else [node.variable, node.expression])
            return used & columns <= _sure(node.node) and self._can_follow(node.node, table, columns)
        if isinstance(node, (algebra.LeftJoin, algebra.Minus)):
            used = frozenset(variable.name for variable in in_scope(node.right))
            if isinstance(node, algebra.LeftJoin) and node.condition is not None:
                used |= names_in([node.condition])
            return used & columns <= _sure(node.left) and self._can_follow(node.left, table, columns)
        return False

    def _follow(self, table: Table, node: Node, need: Need, nodes: frozenset[str] | set[str]) -> Matches:
        if isinstance(node, algebra.Patterns):
            matcher = self._evaluator.matcher(node.graph)
            if matcher is None:
                return np.empty(0, np.int64), Table({}, 0)
            if not matcher.extends(node.triples):
                return self._follow_each(table, self._connected(node, table), need, nodes)
            names = [variable.name for variable in in_scope(node) if variable.name in table.columns]
            once = need.is_set and need.names is not None and not need.names
            matches = matcher.extend(table, names, node.triples, need.names, once=once)
            if matcher.method is not None:
                self._evaluator.report.note(node, matcher.method)
            return matches
        if isinstance(node, algebra.PathPattern):
            return self._paths.matches(node, table, nodes)
        if isinstance(node, algebra.Filter):
            rows, right = self._follow(table, node.node, need.whole().with_names(names_in(node.conditions)), nodes)
            whole = merged(table, right, rows, np.arange(right.size))
            kept = self._evaluator.expressions.all_hold(node.conditions, whole)
            return rows[kept], right.take(kept)
        if isinstance(node, algebra.Join):
            return self._follow_each(table, node.parts, need, nodes)
        if isinstance(node, algebra.Union):
            parts = [self._follow(table, part, need, nodes) for part in node.parts]
            rows = np.concatenate([part[0] for part in parts])
            order = np.argsort(rows, kind="stable")
            return rows[order], concatenated([part[1] for part in parts]).take(order)
        return self._follow_left(table, node, need, nodes)

    def _follow_left(self, table: Table, node: Node, need: Need, nodes: frozenset[str] | set[str]) -> Matches:
        """Follow the inner part of a BIND, or the left side of an OPTIONAL or MINUS, and apply the operator to the solutions."""
        assert isinstance(node, (algebra.Extend, algebra.LeftJoin, algebra.Minus))
        below = node.node if isinstance(node, algebra.Extend) else node.left
        names = [variable.name for variable in in_scope(below)]
        inner = Need(None if need.names is None else need.names.union(names, _names_used(node)))
        rows, right = self._follow(table, below, inner, nodes)
        whole = merged(table, right, rows, np.arange(right.size))
        if isinstance(node, algebra.Extend):
            return rows, right.extended(node.variable.name, self._evaluator.expressions.ids(node.expression, whole))
        if isinstance(node, algebra.Minus):
            kept = np.flatnonzero(~self.has_match(whole.project(names), node.right))
            return rows[kept], right.take(kept)
        numbers, found = self.optional(whole, node.right, node.condition, inner)
        return rows[numbers], merged(right, found, numbers, np.arange(found.size))

    def optional(self, left: Table, node: Node, condition: Condition | None, need: Need) -> Matches:
        """Return the pairs of solutions and compatible solutions of a pattern for which a condition is true, and each solution for
        which there is none once, with nothing.
        """
        rows, right = self.matches(left, node, need.whole())
        if condition is not None:
            kept = self._evaluator.expressions.holds(condition, merged(left, right, rows, np.arange(right.size)))
            rows, right = rows[kept], right.take(kept)
        alone = np.flatnonzero(~is_among(rows, left.size))
        if not len(alone):
            return rows, right
        every = np.concatenate([rows, alone])
        order = np.argsort(every, kind="stable")
        return every[order], concatenated([right, Table({}, len(alone))]).take(order)

    def _follow_each(self, table: Table, parts: Sequence[Node], need: Need, nodes: frozenset[str] | set[str]) -> Matches:
        """Follow one part of a join after the other."""
        inner = need.whole().with_names(variable.name for part in parts for variable in in_scope(part))
        numbers, found = np.arange(table.size), Table({}, table.size)
        for part in parts:
            whole = merged(table, found, numbers, np.arange(found.size))
            rows, right = self.matches(whole, part, inner, nodes)
            found = merged(found, right, rows, np.arange(right.size))
            numbers = numbers[rows]
        return numbers, found

    def _by_triples(self, node: algebra.Patterns) -> bool:
        """Return whether a pattern that cannot be extended as a whole, and may have very many solutions, is followed by triples."""
        sizes = [self._evaluator.estimates.of(part) for part in _triples_of(node)]
        return len(sizes) > 1 and max(sizes) <= SCANNED * min(sizes)

    def _connected(self, node: algebra.Patterns, table: Table) -> list[Node]:
        """Return the triples of a pattern, those first that share variables with solutions, or with triples before."""
        rest, order, known = _triples_of(node), list[Node](), {Variable(name) for name in table.columns}
        while rest:
            following = min(rest, key=lambda part: known.isdisjoint(in_scope(part)))
            rest.remove(following)
            order.append(following)
            known.update(in_scope(following))
        return order


def _sure(node: Node) -> set[str]:
    return {variable.name for variable in certain(node)}


def _names_used(node: Node) -> frozenset[str]:
    """Return the variables that a BIND, OPTIONAL or MINUS needs from its operand."""
    used = names_in(expressions_of(node))
    return used if isinstance(node, algebra.Extend) else used.union(variable.name for variable in in_scope(node))


def _triples_of(node: algebra.Patterns) -> list[Node]:
    return [replace(node, triples=(triple,)) for triple in node.triples]


def _waits(node: Node, known: set[Variable]) -> bool:
    """Return whether a pattern is a SERVICE whose address is a variable that is not known yet."""
    return isinstance(node, algebra.Service) and isinstance(node.address, Variable) and node.address not in known


def _nodes_of(node: Node) -> frozenset[str]:
    """Return the variables that a pattern binds to nodes of the active graph: subjects and objects of triples that are not hidden.

    Properties, which need not be such nodes, are the same as themselves.
    """
    if not isinstance(node, algebra.Patterns) or node.graph is not None:
        return frozenset()
    triples = (triple for triple in node.triples if triple[1] != OWL.sameAs)
    return frozenset(term.name for s, _, o in triples for term in (s, o) if isinstance(term, Variable))
