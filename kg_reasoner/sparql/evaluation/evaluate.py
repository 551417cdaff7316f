"""Evaluation of patterns as tables (SPARQL 1.1 Query, section 18.5).

Each operator takes whole tables. A basic graph pattern is joined by the engine's kernels. Where some solutions are at hand, and a
pattern shares variables with them (OPTIONAL, EXISTS, MINUS and joins), the kernels follow the indexes from these solutions, see
`kg_reasoner.sparql.evaluation.extending`; otherwise both sides are evaluated and joined by hashing.

Two demands are passed down: the variables whose values are wanted, and a sufficient number of solutions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Foreign, Node
from kg_reasoner.sparql.evaluation.basic_graph_patterns import Matcher, MergedMatcher
from kg_reasoner.sparql.evaluation.datasets import Dataset
from kg_reasoner.sparql.evaluation.estimates import Estimates
from kg_reasoner.sparql.evaluation.exists import exists
from kg_reasoner.sparql.evaluation.extending import START, Extending
from kg_reasoner.sparql.evaluation.operator_interface import ALL, Need
from kg_reasoner.sparql.evaluation.paths import PathFollower
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.sparql.evaluation.report import EvaluationReport
from kg_reasoner.sparql.evaluation.value_joins import ValueJoin, value_join
from kg_reasoner.sparql.scope import in_scope, names_in
from kg_reasoner.sparql.solutions.aggregation import aggregate, grouped, integers
from kg_reasoner.sparql.solutions.expressions import Expressions
from kg_reasoner.sparql.solutions.fresh_values import FreshValues
from kg_reasoner.sparql.solutions.order_by import order, ranks
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, concatenated, constant, unit
from kg_reasoner.sparql.solutions.table_joins import merged
from kg_reasoner.sparql.solutions.value_keys import value_keys
from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.storage.grouping import few_pairs, group_rows
from kg_reasoner.terms import Term

__all__ = ["Evaluation", "ForeignParts"]

GROWTH: Final = 16
"""The factor by which more solutions are asked for where some were dropped."""

MANY: Final = 1 << 16
"""The number of pairs of solutions above which it takes less time to find enough of them by other means."""


class ForeignParts(Protocol):
    """The parts of queries that rdflib evaluates."""

    def call(self, function: Foreign, arguments: Sequence[Sequence[Term | None]]) -> list[Term | None]:
        """Return the results of a function for rows of arguments."""
        ...

    def service(self, node: algebra.Service, address: Term | None) -> list[dict[str, Term]]:
        """Return the solutions of a SERVICE at an address."""
        ...


class Evaluation:
    """Evaluates the patterns of one query.

    Args:
        dataset: The dataset.
        terms: The terms of the query.
        foreign_parts: What is left to rdflib.
        base: The base IRI of the query.
        report: Receives what was done.
    """

    def __init__(
        self, dataset: Dataset, terms: QueryTerms, foreign_parts: ForeignParts, base: str | None, report: EvaluationReport
    ) -> None:
        self.dataset, self.terms, self.report = dataset, terms, report
        self._foreign_parts = foreign_parts
        self._active: Term | None = None
        """The name of the active graph, if it is a named one."""
        self._matchers: dict[algebra.PatternTerm | None, PatternMatcher | None] = {}
        self._paths: dict[int, PathFollower] = {}
        self.values = dataset.caches.values
        self.expressions = Expressions(terms, self.values, self, FreshValues(terms), base)
        self.extending = Extending(self)
        self.estimates = Estimates(self)

    def close(self) -> None:
        """Release the parts, which refer to the whole: Python's collector of cycles is not needed then."""
        del self.expressions, self.extending, self.estimates
        self._paths.clear()

    # --- expressions ------------------------------------------------------------------------------------------------

    def exists(self, node: Node, table: Table) -> Flags:
        """Return for which solutions a pattern has a compatible one, see `kg_reasoner.sparql.evaluation.exists`."""
        with self.report.step(node):
            return exists(self, self.extending, node, table)

    def foreign(self, function: Foreign, arguments: Sequence[Ids], size: int) -> Ids:
        """Return the results of a function that is not ours, called once for each combination of arguments."""
        rows = np.stack(arguments, axis=1) if arguments else np.empty((size, 0), np.int32)
        labels, firsts = group_rows(rows)
        columns = [self.terms.terms(column.tolist()) for column in rows[firsts].T]
        given = list(zip(*columns, strict=True)) if columns else [()] * len(firsts)
        return self.terms.ids_of(self._foreign_parts.call(function, given))[labels]

    # --- places -----------------------------------------------------------------------------------------------------

    def matcher(self, graph: algebra.PatternTerm | None) -> PatternMatcher | None:
        """Return a matcher for the patterns of a graph, by default the active one; None if there is no such graph."""
        key = self._active if graph is None else graph
        if key not in self._matchers:
            self._matchers[key] = self._new_matcher(key)
        return self._matchers[key]

    def _new_matcher(self, graph: algebra.PatternTerm | None) -> PatternMatcher | None:
        if isinstance(graph, Variable):
            place = self.dataset.joined()
            assert place is not None, "variables are given to patterns only where the dataset joins graphs"
            return Matcher(place, self.terms, graph)
        places = self.dataset.default() if graph is None else self.dataset.named(graph)
        if not places:
            return None
        if len(places) == 1 and places[0].match is not None:
            return places[0].match(self.terms)
        matchers = [Matcher(place, self.terms) for place in places]
        without = next((Matcher(place.without, self.terms) for place in places if place.without is not None), None)
        return matchers[0] if len(matchers) == 1 and without is None else MergedMatcher(matchers, without)

    def join_order(self, node: algebra.Patterns) -> Sequence[algebra.TriplePattern]:
        """Return the patterns of a basic graph pattern in the order in which they are joined."""
        matcher = self.matcher(node.graph)
        return node.triples if matcher is None else matcher.join_order(node.triples)

    def paths(self, matcher: PatternMatcher) -> PathFollower:
        """Return the evaluator of property paths over a matcher's graph."""
        found = self._paths.get(id(matcher))
        if found is None:
            found = self._paths[id(matcher)] = PathFollower(matcher)
        return found

    @contextmanager
    def _within(self, name: Term) -> Iterator[None]:
        before, self._active = self._active, name
        try:
            yield
        finally:
            self._active = before

    # --- patterns ---------------------------------------------------------------------------------------------------

    def table(self, node: Node, need: Need = ALL) -> Table:
        """Return the solutions of a pattern.

        Args:
            node: The pattern.
            need: What is needed of them.
        """
        step, watch = self.report.of(node), current_watch()
        step.calls += 1
        start = time.perf_counter()
        found: Table = _EVALUATE[type(node)](self, node, need)
        watch.check(found.size, 0 if watch.limits.memory is None else found.nbytes)
        step.rows, step.seconds = found.size, step.seconds + time.perf_counter() - start
        return found

    def _patterns(self, node: algebra.Patterns, need: Need) -> Table:
        matcher = self.matcher(node.graph)
        if matcher is None:
            return Table({}, 0)
        if need.enough is not None and len(node.triples) > 1 and not matcher.extends(node.triples):
            return self.extending.join([replace(node, triples=(triple,)) for triple in node.triples], need)
        found = matcher.solve(node.triples, need.names, need.enough, is_set=need.is_set)
        if matcher.method is not None:
            self.report.note(node, matcher.method)
        return found

    def _path(self, node: algebra.PathPattern, need: Need) -> Table:
        return self.extending.path(node, unit(), need.enough)[1]

    def _join(self, node: algebra.Join, need: Need) -> Table:
        if not node.parts:
            return unit()
        return self.extending.join(node.parts, need)

    def _left_join(self, node: algebra.LeftJoin, need: Need) -> Table:
        inner = self._joining(node.right, need, node.condition)
        left = self.table(node.left, replace(inner, enough=need.enough))
        rows, right = self.extending.optional(left, node.right, node.condition, inner)
        return merged(left, right, rows, np.arange(right.size))

    def _joining(self, node: Node, need: Need, *conditions: Any) -> Need:
        """Return the variables that both sides of a join must bind: shared ones, and those of conditions."""
        if need.names is None:
            return need.whole()
        further = {variable.name for variable in in_scope(node)}
        further |= names_in(condition for condition in conditions if condition is not None)
        return need.whole().with_names(further)

    def _minus(self, node: algebra.Minus, need: Need) -> Table:
        below = replace(self._joining(node.right, need), enough=need.enough)
        return self._until_enough(
            node.left, below, lambda left: left.take(~self.extending.has_match(left, node.right)), least=START
        )

    def _union(self, node: algebra.Union, need: Need) -> Table:
        tables: list[Table] = []
        total = 0
        for part in node.parts:
            if need.enough is not None and total >= need.enough:
                break
            tables.append(self.table(part, need))
            total += tables[-1].size
        return concatenated(tables)

    def _filter(self, node: algebra.Filter, need: Need) -> Table:
        def kept(table: Table) -> Table:
            return table.take(self.expressions.all_hold(node.conditions, table)) if table.size else table

        below = need.with_names(names_in(node.conditions))
        joined = value_join(node)
        table = None if joined is None else self._paired(joined, below)
        if table is None:
            return self._until_enough(node.node, below, kept)
        self.report.note(node, "pairs of equal values")
        return kept(table)

    def _paired(self, join: ValueJoin, need: Need) -> Table | None:
        """Return the pairs of solutions whose values may be equal; None if there are so many that some will be enough."""
        left, right = self.table(join.left, need.whole()), self.table(join.right, need.whole())
        most = left.size * right.size if need.enough is None else max(MANY, GROWTH * need.enough)
        columns = [self.expressions.ids(side, table) for side, table in zip(join.sides, (left, right), strict=True)]
        mine, theirs = value_keys(columns, self.terms, self.values)
        pairs = few_pairs(mine, theirs, most)
        return None if pairs is None else merged(left, right, *pairs)

    def _until_enough(self, node: Node, need: Need, reduce: Any, least: int = 0) -> Table:
        """Return a reduction of a pattern's solutions, `least` at first, of which more are found while they are not enough."""
        wanted = need.enough
        enough = None if wanted is None else max(least, wanted)
        while True:
            table = self.table(node, need if enough == need.enough else replace(need, enough=enough))
            found: Table = reduce(table)
            if wanted is None or enough is None or found.size >= wanted or table.size < enough:
                return found
            enough = max(GROWTH * enough, table.size + 1)

    def _extend(self, node: algebra.Extend, need: Need) -> Table:
        name = node.variable.name
        if need.names is not None and name not in need.names:
            return self.table(node.node, need)
        table = self.table(node.node, need.with_names(names_in([node.expression])))
        return table.extended(name, self.expressions.ids(node.expression, table))

    def _values(self, node: algebra.Values, need: Need) -> Table:
        columns = {
            variable.name: self.terms.ids_of(row[place] for row in node.rows) for place, variable in enumerate(node.variables)
        }
        return Table(columns, len(node.rows))

    def _each_graph(self, node: algebra.EachGraph, need: Need) -> Table:
        if not isinstance(node.name, Variable):
            if self.dataset.named(node.name) is None:
                return Table({}, 0)
            with self._within(node.name):
                return self.table(node.node, need)
        tables = [Table({}, 0)]
        for name in self.dataset.names():
            with self._within(name):
                table = self.table(node.node, need.whole().with_names([node.name.name]))
            number = self.terms.find(name)
            own = table.columns.get(node.name.name)
            if own is not None:
                table = table.take((own == number) | (own == UNBOUND))
            tables.append(table.extended(node.name.name, constant(number, table.size)))
        return concatenated(tables)

    def _service(self, node: algebra.Service, need: Need) -> Table:
        return self.service(node, None if isinstance(node.address, Variable) else node.address)

    def service(self, node: algebra.Service, address: Term | None) -> Table:
        """Return the solutions of a SERVICE."""
        solutions = self._foreign_parts.service(node, address)
        names = list(dict.fromkeys(name for solution in solutions for name in solution))
        columns = {name: self.terms.ids_of(solution.get(name) for solution in solutions) for name in names}
        return Table(columns, len(solutions))

    # --- solution modifiers -----------------------------------------------------------------------------------------

    def _group(self, node: algebra.Group, need: Need) -> Table:
        keys = [key.name for key in node.keys]
        wanted = [each for each in node.aggregates if need.names is None or each.variable.name in need.names]
        counted = self._counted(node, wanted)
        if counted is not None:
            return counted
        below: Need = Need(frozenset(keys))
        for each in wanted:
            if each.argument is not None:
                below = below.with_names(names_in([each.argument]))
            elif each.is_distinct:
                below = ALL
        table = self.table(node.node, below)
        groups, result = grouped(table, keys, is_whole=node.is_whole)
        for each in wanted:
            column = None if each.argument is None else self.expressions.ids(each.argument, table)
            result = result.extended(each.variable.name, aggregate(each, column, table, groups, self.terms, self.values))
        return result

    def _counted(self, node: algebra.Group, wanted: Sequence[algebra.Aggregation]) -> Table | None:
        """Return the numbers of triples with each property, which need not be found; None if that is not what is asked for."""
        below = node.node
        if not isinstance(below, algebra.Patterns) or len(below.triples) != 1 or node.keys != below.triples[0][1:2]:
            return None
        if any(each.function != "COUNT" or each.argument is not None or each.is_distinct for each in wanted):
            return None
        matcher = self.matcher(below.graph)
        found = None if matcher is None else matcher.counts(below.triples[0])
        if found is None:
            return None
        self.report.note(node, "sizes")
        table = Table({node.keys[0].name: found[0]}, len(found[0]))
        for each in wanted:
            table = table.extended(each.variable.name, integers(found[1], self.terms))
        return table

    def _order_by(self, node: algebra.OrderBy, need: Need) -> Table:
        table = self.table(node.node, need.whole().with_names(names_in(key for key, _ in node.keys)))
        if table.size < 2:
            return table
        columns = [self.expressions.ids(key, table) for key, _ in node.keys]
        keys = [
            (lambda rows, column=column: ranks(column[rows], self.terms, self.values), descends)
            for column, (_, descends) in zip(columns, node.keys, strict=True)
        ]
        return table.take(order(table.size, keys, need.enough))

    def _project(self, node: algebra.Project, need: Need) -> Table:
        names = [variable.name for variable in node.variables]
        wanted = names if need.names is None else [name for name in names if name in need.names]
        return self.table(node.node, Need(frozenset(wanted), need.enough, need.is_set)).project(wanted)

    def _distinct(self, node: algebra.Distinct, need: Need) -> Table:
        below_it = node.node
        visible = below_it.variables if isinstance(below_it, algebra.Project) else in_scope(below_it)
        names = [variable.name for variable in visible]
        below = Need(frozenset(names), need.enough, is_set=True)
        omit = Table.without_runs if node.is_reduced else Table.distinct
        return self._until_enough(node.node, below, lambda table: omit(table, [name for name in names if name in table.columns]))

    def _slice(self, node: algebra.Slice, need: Need) -> Table:
        end = None if node.length is None else node.start + node.length
        if need.enough is not None:
            end = node.start + need.enough if end is None else min(end, node.start + need.enough)
        if end is not None and end <= node.start:
            return Table({}, 0)
        return self.table(node.node, replace(need, enough=end)).part(node.start, end)


_EVALUATE: Final[dict[type, Any]] = {
    algebra.Patterns: Evaluation._patterns,
    algebra.PathPattern: Evaluation._path,
    algebra.Join: Evaluation._join,
    algebra.LeftJoin: Evaluation._left_join,
    algebra.Minus: Evaluation._minus,
    algebra.Union: Evaluation._union,
    algebra.Filter: Evaluation._filter,
    algebra.Extend: Evaluation._extend,
    algebra.Values: Evaluation._values,
    algebra.EachGraph: Evaluation._each_graph,
    algebra.Service: Evaluation._service,
    algebra.Group: Evaluation._group,
    algebra.OrderBy: Evaluation._order_by,
    algebra.Project: Evaluation._project,
    algebra.Distinct: Evaluation._distinct,
    algebra.Slice: Evaluation._slice,
}
