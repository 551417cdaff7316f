"""Aggregates out of expressions: each becomes a variable of the group (18.2.4.1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Aggregation, Expression
from kg_reasoner.sparql.building import call
from kg_reasoner.sparql.syntax.expression_syntax import AggregateCall

__all__ = ["AggregateCollector"]


class AggregateCollector:
    """Collects the aggregates of a SELECT.

    Args:
        keys: The keys of its groups.
        known: The variables of its pattern.
    """

    def __init__(self, keys: Collection[Variable], known: Collection[Variable]) -> None:
        self._keys, self._known = keys, known
        self._count = 0
        self.found: list[Aggregation] = []

    def without(self, expression: Expression, target: Variable | None = None) -> Expression:
        """Return an expression with variables for its aggregates.

        A variable outside of aggregates has the value of any solution of the group, which is an aggregate as well, unless it is a
        key, or the `target` to which the expression is assigned.
        """
        if isinstance(expression, AggregateCall):
            return self._collected(expression)
        if isinstance(expression, Variable):
            return expression if expression == target else self.sample(expression)
        if isinstance(expression, Call):
            return call(expression.name, *(self.without(argument, target) for argument in expression.arguments))
        if isinstance(expression, algebra.Foreign):
            arguments = tuple(self.without(argument, target) for argument in expression.arguments)
            return algebra.Foreign(expression.iri, arguments, expression.is_distinct)
        return expression

    def sample(self, variable: Variable) -> Expression:
        """Return the variable for the value of a variable in any solution of the group."""
        return self._collected(AggregateCall("SAMPLE", variable))

    def _collected(self, aggregate: AggregateCall) -> Variable:
        self._count += 1
        argument = aggregate.argument
        is_sample = aggregate.function == "SAMPLE" and isinstance(argument, Variable)
        if is_sample and (argument in self._keys or argument not in self._known):
            return cast(Variable, argument)
        variable = Variable(f"__agg_{self._count}__")
        self.found.append(Aggregation(variable, aggregate.function, argument, aggregate.is_distinct, aggregate.separator))
        return variable
