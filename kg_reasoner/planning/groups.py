"""Aggregates and constraints as relations.

A rule with AGGREGATE becomes rules without it, over the solutions of its atoms and over its groups.

``degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .`` becomes::

    solutions(?x, ?y) :- edge(?x, ?y) .
    groups(?x, ?n) :- AGGREGATE(solutions(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .
    degree(?x, ?n) :- groups(?x, ?n) .

Kernels do not evaluate the second rule. `AggregateRelation` computes it, and updates the groups whose solutions have changed.

A constraint ``false :- cat(?x), dog(?x) .`` becomes a rule for its violations: ``violations(?x) :- cat(?x), dog(?x) .``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions import aggregates
from kg_reasoner.expressions import compile as expressions
from kg_reasoner.language.printer import format_rule
from kg_reasoner.planning.catalog import INTERNAL, VIOLATIONS
from kg_reasoner.program import (
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Rule,
    Variable,
    remembered,
    variables_of,
)
from kg_reasoner.storage.arrays import Ids, Numbers, Rows, contains, unique_rows
from kg_reasoner.storage.database import Database
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.kernels.layout import ABSENT
from kg_reasoner.terms import Term

_SOLUTIONS = f"{INTERNAL}solutions of"

if TYPE_CHECKING:
    from kg_reasoner.planning.group_values import GroupValues

FEW: Final = 16
"""So many groups are computed one by one."""
SORTED_FOR_ONE: Final = 64
"""How many solutions can be sorted in the time in which an index finds those of one group."""


def split(rules: Iterable[Rule]) -> dict[Rule, Rule]:
    """Return the rules after replacing aggregates and constraints, each with the rule that it comes from."""
    result: dict[Rule, Rule] = {}
    for rule in rules:
        for part in (rule,) if _is_whole(rule) else _parts(rule):
            result.setdefault(part, rule)
    return result


@remembered
def is_aggregate_rule(rule: Rule) -> bool:
    """Return whether a rule computes the groups of an aggregate (see `split`)."""
    return len(rule.body) == 1 and isinstance(rule.body[0], Aggregate) and rule.head.predicate.startswith(INTERNAL)


@remembered
def is_solutions_rule(rule: Rule) -> bool:
    """Return whether a rule computes the solutions over which another one aggregates (see `split`)."""
    return rule.head.predicate.startswith(_SOLUTIONS)


@remembered
def _is_whole(rule: Rule) -> bool:
    """Return whether a rule has no aggregate or constraint to replace."""
    return is_aggregate_rule(rule) or not (rule.is_constraint or any(isinstance(part, Aggregate) for part in rule.body))


@remembered
def _parts(rule: Rule) -> tuple[Rule, ...]:
    return tuple(part for part, _ in pieces(rule))


@remembered
def pieces(rule: Rule) -> tuple[tuple[Rule, Rule], ...]:
    """Return the parts of a rule, each with its form before aggregates were replaced in its body. The last part is the rule
    itself.
    """
    return tuple(_split(rule))


def violation_atom(constraint: Rule) -> Atom:
    """Return the atom whose facts are the variable bindings that violate a constraint."""
    return pieces(constraint)[-1][0].head


def _split(rule: Rule) -> Iterator[tuple[Rule, Rule]]:
    if _is_whole(rule):
        yield rule, rule
        return
    body = []
    for part in rule.body:
        if not isinstance(part, Aggregate):
            body.append(part)
            continue
        name = format_rule(Rule(rule.head, (part,))).partition(":-")[2]
        variables: tuple[Argument, ...] = tuple(dict.fromkeys(v for inner in part.body for v in _given_by(inner)))
        solutions = Atom(f"{_SOLUTIONS}{name}", variables)
        groups = Atom(f"{INTERNAL}groups of{name}", (*part.group, *(binding.variable for binding in part.bindings)))
        yield from _split(Rule(solutions, part.body, rule.origin))
        grouping = Rule(groups, (Aggregate((solutions,), part.group, part.bindings),), rule.origin)
        yield grouping, Rule(groups, (part,), rule.origin)
        body.append(groups)
    head = rule.head
    if rule.is_constraint:
        positive = (part for part in body if isinstance(part, Atom))
        head = Atom(f"{VIOLATIONS}{format_rule(rule)}", tuple(dict.fromkeys(v for atom in positive for v in variables_of(atom))))
    yield Rule(head, tuple(body), rule.origin), rule


def _given_by(part: BodyLiteral) -> Iterator[Variable]:
    """Yield the variables that a part of a body binds."""
    if isinstance(part, Bind):
        yield part.variable
    elif isinstance(part, Atom | Aggregate):
        yield from variables_of(part)


@dataclass(frozen=True, slots=True)
class _AggregateFunction:
    """An aggregate function over the columns of the solutions."""

    binding: AggregateBinding
    column: int
    """The column of its argument, or -1 for an expression or ``*``."""
    value: Callable[[Sequence[Term]], Term | None] | None


class ComputedRelation(Protocol):
    """A relation whose facts are computed from those of lower strata, and not derived by plans."""

    rule: Rule
    source_rule: Rule
    """The rule with the aggregate, as its author wrote it, once it is known."""
    level: int
    target: int

    def refresh(self) -> None:
        """Compute the facts that this update has changed."""
        ...

    def forget(self) -> None:
        """Compute all facts in the next update, as their rows are lost."""
        ...

    def clear(self) -> None:
        """Delete the facts, as there are no rules for them any more."""
        ...


class AggregateRelation:
    """The groups of an aggregate: maps a relation of solutions to a relation with one row for each group."""

    def __init__(self, dictionary: Dictionary, database: Database, rule: Rule, level: int, source: int, target: int) -> None:
        (part,) = rule.body
        assert isinstance(part, Aggregate)
        (solutions,) = part.body
        assert isinstance(solutions, Atom)
        self.rule, self.level, self.source, self.target = rule, level, source, target
        self.source_rule = rule
        self.is_new = True
        self._dictionary, self._database = dictionary, database
        self._many: GroupValues | None = None
        variables = tuple(term for term in solutions.terms if isinstance(term, Variable))
        self._columns = [variables.index(variable) for variable in part.group]
        self._functions = [self._function(binding, variables) for binding in part.bindings]

    def _function(self, binding: AggregateBinding, variables: tuple[Variable, ...]) -> _AggregateFunction:
        argument = binding.argument
        if argument is None:
            return _AggregateFunction(binding, -1, None)
        if isinstance(argument, Variable):
            return _AggregateFunction(binding, variables.index(argument), None)
        return _AggregateFunction(binding, -1, expressions.compile_expression(argument, variables))

    def refresh(self) -> None:
        """Compute the groups whose solutions this update has added or removed."""
        database, width = self._database, len(self._columns)
        if self.is_new:
            changed = database.rows(self.source)[:, self._columns]
        else:
            changed = np.concatenate([database.new_rows(self.source), database.gone_rows(self.source)])[:, self._columns]
        if width == 0:
            keys = np.empty((int(self.is_new or len(changed) > 0), 0), np.int32)
        else:
            keys = unique_rows(changed)
        self.is_new = False
        if len(keys) == 0:
            return
        if width and len(keys) > FEW and len(keys) * SORTED_FOR_ONE >= database.size(self.source):
            self._replace(keys, self._all_at_once(keys))
            return
        results = []
        for key, rows in self._solutions(keys):
            old = database.matching(self.target, range(width), key)
            values = [self._apply(function, rows) for function in self._functions] if len(rows) or width == 0 else [-1]
            new = None if -1 in values else (*key, *values)
            for row in old.tolist():
                if tuple(database.tuple_of(self.target, row)) == new:
                    new = None
                else:
                    database.delete_row(self.target, row)
            if new is not None:
                results.append(new)
        if results:
            database.load(self.target, np.array(results, np.int32).reshape(len(results), -1), 0)

    def _replace(self, keys: Rows, new: Rows) -> None:
        """Replace the rows of some groups."""
        database, width = self._database, len(self._columns)
        rows = database.rows(self.target)
        old = rows[contains(keys, rows[:, :width])]
        gone, added = old[~contains(new, old)], new[~contains(old, new)]
        if len(gone):
            database.delete(self.target, gone)
        if len(added):
            database.load(self.target, added, 0)

    def _all_at_once(self, keys: Rows) -> Rows:
        """Return the rows of groups that have solutions, from all solutions in their order."""
        from kg_reasoner.planning.group_values import GroupValues, sorted_groups

        if self._many is None:
            self._many = GroupValues(self._dictionary)
        rows, starts = sorted_groups(self._database.rows(self.source), self._columns)
        chosen = contains(keys, rows[starts][:, self._columns])
        sizes = np.diff(np.append(starts, len(rows)))
        if not chosen.all():
            rows, sizes = rows[np.repeat(chosen, sizes)], sizes[chosen]
            starts = np.cumsum(sizes) - sizes
        if not len(rows):
            return np.empty((0, len(self._columns) + len(self._functions)), np.int32)
        labels = np.repeat(np.arange(len(starts)), sizes)
        results = [rows[starts][:, self._columns]]
        for function in self._functions:
            found = _values_of(self._many, function, rows, labels, starts)
            if found is None:
                ends = np.append(starts[1:], len(rows))
                parts = (rows[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True))
                found = np.array([self._apply(function, part) for part in parts], np.int32)
            results.append(found.reshape(-1, 1))
        table = np.concatenate(results, axis=1).astype(np.int32)
        return table[(table >= 0).all(axis=1)]

    def forget(self) -> None:
        """Compute all groups in the next update, as their rows are lost."""
        self.is_new = True

    def clear(self) -> None:
        """Delete the rows of all groups, for an aggregate without rules."""
        for row in np.flatnonzero((self._database.flags(self.target) & ABSENT) == 0).tolist():
            self._database.delete_row(self.target, row)

    def _solutions(self, keys: Rows) -> Iterator[tuple[tuple[int, ...], Rows]]:
        """Yield the solutions of some groups, which an index finds."""
        database = self._database
        if not self._columns:
            yield (), database.rows(self.source)
            return
        for key in map(tuple, keys.tolist()):
            found = database.matching(self.source, self._columns, key)
            yield key, database.rows_at(self.source, found)

    def _apply(self, function: _AggregateFunction, rows: Rows) -> int:
        """Return the id of the value of an aggregate function over some solutions, or -1 for an error."""
        binding, decode = function.binding, self._dictionary.decode
        if binding.argument is None:
            count = len(rows)
            return self._dictionary.encode(aggregates.count_literal(count))
        if binding.function == "COUNT" and binding.definition is None and function.column >= 0:
            column = rows[:, function.column]
            return self._dictionary.encode(aggregates.count_literal(len(np.unique(column)) if binding.distinct else len(column)))
        values: Iterable[Term | None]
        try:
            if function.column >= 0:
                values = map(decode, rows[:, function.column].tolist())
            else:
                assert function.value is not None
                values = [function.value([decode(number) for number in row]) for row in rows.tolist()]
            result = aggregates.value_of_group(binding, values)
        except ValueTooLargeError as error:
            shown = self.rule.head.predicate.removeprefix(f"{INTERNAL}groups of")
            raise ValueTooLargeError(f"{error} in{shown}") from None
        return -1 if result is None else self._dictionary.encode(result)


def _values_of(many: GroupValues, function: _AggregateFunction, rows: Rows, labels: Numbers, starts: Numbers) -> Ids | None:
    """Return the values of a function by group, or None if columns do not give them."""
    binding = function.binding
    if binding.argument is None:
        return many.of("COUNT", rows[:, 0], labels, starts, distinct=False)
    if function.column < 0 or binding.definition is not None:
        return None
    return many.of(binding.function, rows[:, function.column], labels, starts, distinct=binding.distinct)
