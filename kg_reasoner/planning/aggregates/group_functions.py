"""Aggregate functions on the solutions of groups, as rows of ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions import aggregate_functions
from kg_reasoner.expressions import compile as expressions
from kg_reasoner.expressions.collecting import ARGUMENTS
from kg_reasoner.expressions.reductions import Arguments, LanguageReduction, StatefulReduction
from kg_reasoner.planning.aggregates.group_states import Group, GroupStates
from kg_reasoner.planning.aggregates.group_values import GroupValues
from kg_reasoner.planning.aggregates.groups import shown
from kg_reasoner.planning.functions.column_functions import is_for_columns
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.program import AggregateBinding, Call, Expression, Rule, Variable, variables_of
from kg_reasoner.storage.arrays import Ids, Numbers, Rows
from kg_reasoner.terms import Term

__all__ = ["GroupFunction"]

MANY: Final = 48
"""The minimal number of solutions with which a single group is evaluated on columns."""


class GroupFunction:
    """An aggregate function over the columns of the solutions. Values are ids, or -1 for errors.

    Args:
        binding: The function and its argument.
        variables: The columns of the solutions.
        functions: Evaluates expressions on columns, and has the terms.
        rule: The rule of the groups, for error messages.
    """

    def __init__(self, binding: AggregateBinding, variables: tuple[Variable, ...], functions: Functions, rule: Rule) -> None:
        self._binding, self._functions, self._rule, self._variables = binding, functions, rule, variables
        self._dictionary = functions.dictionary
        argument = binding.argument
        self._parts: Sequence[Any] = (argument,)
        if isinstance(argument, Call) and argument.name == "TUPLE" and binding.function in ARGUMENTS:
            self._parts = argument.arguments
        self._column = variables.index(argument) if isinstance(argument, Variable) else -1
        self._value: Callable[[Sequence[Term]], Term | None] | None = None
        if argument is not None and self._column < 0:
            self._value = expressions.compile_expression(argument, variables)
        self._states: GroupStates | None = None
        definition = binding.definition
        if isinstance(definition, StatefulReduction | LanguageReduction) and definition.remove is not None and not binding.distinct:
            self._states = GroupStates(definition, self._arguments)

    # --- states -----------------------------------------------------------------------------------------------------

    @property
    def keeps(self) -> bool:
        """Whether the function keeps a state for each group."""
        return self._states is not None

    def open(self, *, forget: bool) -> None:
        """Begin an update, see `GroupStates.open`."""
        if self._states is not None:
            self._states.open(forget=forget)

    def follow(self, added: Mapping[Group, Rows], removed: Mapping[Group, Rows]) -> None:
        """Change the states of groups by the solutions that were added and removed."""
        assert self._states is not None
        with self._naming_the_rule():
            self._states.follow(added, removed)

    def settle(self) -> None:
        """End an update."""
        if self._states is not None:
            self._states.settle()

    def knows(self, group: Group) -> bool:
        """Return whether there is a state of a group."""
        return self._states is not None and group in self._states

    def kept(self, group: Group) -> int:
        """Return the value of a group that has a state."""
        assert self._states is not None
        with self._naming_the_rule():
            return self._id(self._states.value(group))

    # --- solutions --------------------------------------------------------------------------------------------------

    def computed(self, values: GroupValues, group: Group, rows: Rows) -> int:
        """Return the value of a group.

        Args:
            values: Evaluates functions on columns.
            group: The group.
            rows: Its solutions.
        """
        binding = self._binding
        if binding.argument is None:
            return self._id(aggregate_functions.count_literal(len(rows)))
        if binding.function == "COUNT" and binding.definition is None and self._column >= 0:
            column = rows[:, self._column]
            return self._id(aggregate_functions.count_literal(len(np.unique(column)) if binding.distinct else len(column)))
        if len(rows) and len(rows) >= MANY and (found := self.of_all(values, rows, np.zeros(1, np.int64))) is not None:
            return int(found[0])
        with self._naming_the_rule():
            if self._states is not None:
                arguments = aggregate_functions.arguments_of_group(binding, self._terms(rows))
                return self._id(None if arguments is None else self._states.computed(group, arguments))
            return self._id(aggregate_functions.value_of_group(binding, self._terms(rows)))

    @contextmanager
    def _naming_the_rule(self) -> Iterator[None]:
        """Add the rule to the message of values that grow too large."""
        try:
            yield
        except ValueTooLargeError as error:
            raise ValueTooLargeError(f"{error} in {shown(self._rule)}") from None

    def of_all(self, values: GroupValues, rows: Rows, starts: Numbers) -> Ids | None:
        """Return the values of groups, or None if columns do not give them.

        Args:
            values: Evaluates functions on columns.
            rows: The solutions, one group after the other.
            starts: Where each group begins.
        """
        binding = self._binding
        if binding.argument is None:
            return values.of("COUNT", [rows[:, 0]], starts, distinct=False)
        if binding.definition is not None:
            return None
        columns = [self._argument(part, rows) for part in self._parts]
        known = [column for column in columns if column is not None]
        return values.of(binding.function, known, starts, distinct=binding.distinct) if len(known) == len(columns) else None

    def _argument(self, part: Expression, rows: Rows) -> Ids | None:
        """Return the values of an argument, or None if it cannot be computed on columns, or has errors."""
        if isinstance(part, Variable):
            return rows[:, self._variables.index(part)]
        if isinstance(part, Call) and not is_for_columns(part):
            return None
        columns = {variable: rows[:, self._variables.index(variable)] for variable in variables_of(part)}
        found = self._functions.columns.ids(part, columns, len(rows))
        return None if (found < 0).any() else found

    def _terms(self, rows: Rows) -> Sequence[Term | None]:
        """Return the argument of each solution; None for an error."""
        decode = self._dictionary.decode
        if self._column >= 0:
            return [decode(number) for number in rows[:, self._column].tolist()]
        assert self._value is not None
        return [self._value([decode(number) for number in row]) for row in rows.tolist()]

    def _arguments(self, rows: Rows) -> Sequence[Arguments | None]:
        """Return the arguments of each solution, for a function of the program's own."""
        return [None if term is None else aggregate_functions.arguments_of(self._binding, term) for term in self._terms(rows)]

    def _id(self, term: Term | None) -> int:
        return -1 if term is None else self._dictionary.encode(term)
