"""Patterns and expressions with terms in the place of variables (SPARQL 1.1 Query, section 18.6, ``substitute``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.scope import in_scope
from kg_reasoner.terms import Term

__all__ = ["bound", "substitute", "substitute_expression"]

Bindings: TypeAlias = Mapping[Variable, Term]
Expressions: TypeAlias = Mapping[Variable, Expression]


def substitute(node: Node, bindings: Bindings) -> Node:
    """Return a pattern with terms for some variables, whose solutions no longer bind these."""
    if not bindings:
        return node
    if isinstance(node, algebra.Patterns):
        triples = tuple(cast(algebra.TriplePattern, tuple(_term(term, bindings) for term in triple)) for triple in node.triples)
        return algebra.Patterns(triples, _term(node.graph, bindings))
    if isinstance(node, algebra.PathPattern):
        start, end = _term(node.start, bindings), _term(node.end, bindings)
        return algebra.PathPattern(start, node.path, end, _term(node.graph, bindings))
    if isinstance(node, algebra.Values):
        return _values(node, bindings)
    if isinstance(node, (algebra.Join, algebra.Union)):
        return replace(node, parts=tuple(substitute(part, bindings) for part in node.parts))
    if isinstance(node, algebra.LeftJoin):
        condition = None if node.condition is None else substitute_expression(node.condition, bindings)
        return algebra.LeftJoin(substitute(node.left, bindings), substitute(node.right, bindings), condition)
    if isinstance(node, algebra.Minus):
        return algebra.Minus(substitute(node.left, bindings), substitute(node.right, bindings))
    if isinstance(node, algebra.Filter):
        conditions = tuple(substitute_expression(condition, bindings) for condition in node.conditions)
        return algebra.Filter(conditions, substitute(node.node, bindings))
    if isinstance(node, algebra.Extend):
        expression = substitute_expression(node.expression, bindings)
        below = substitute(node.node, {variable: term for variable, term in bindings.items() if variable != node.variable})
        if node.variable in bindings:
            return algebra.Filter((Call("SAMETERM", cast("tuple[Any, ...]", (expression, bindings[node.variable]))),), below)
        return algebra.Extend(below, node.variable, expression)
    if isinstance(node, algebra.EachGraph):
        return algebra.EachGraph(_term(node.name, bindings), substitute(node.node, bindings))
    if isinstance(node, algebra.Group):
        return _group(node, bindings)
    if isinstance(node, algebra.OrderBy):
        keys = tuple((substitute_expression(key, bindings), descends) for key, descends in node.keys)
        return replace(node, node=substitute(node.node, bindings), keys=keys)
    if isinstance(node, algebra.Project):
        visible = {variable: term for variable, term in bindings.items() if variable in node.variables}
        variables = tuple(variable for variable in node.variables if variable not in bindings)
        return algebra.Project(substitute(node.node, visible), variables)
    if isinstance(node, (algebra.Distinct, algebra.Slice)):
        return replace(node, node=substitute(node.node, bindings))
    return _service(node, bindings)


def _service(node: algebra.Service, bindings: Bindings) -> Node:
    """Return a SERVICE whose solutions are compatible with bindings, which its text does not have."""
    asked = replace(node, address=_term(node.address, bindings))
    known = {variable: bindings[variable] for variable in node.variables if variable in bindings}
    if not known:
        return asked
    rest = tuple(variable for variable in node.variables if variable not in known)
    return algebra.Project(algebra.Join((algebra.Values(tuple(known), (tuple(known.values()),)), asked)), rest)


def _group(node: algebra.Group, bindings: Bindings) -> Node:
    aggregates = tuple(
        aggregate
        if aggregate.argument is None
        else replace(aggregate, argument=substitute_expression(aggregate.argument, bindings))
        for aggregate in node.aggregates
    )
    keys = tuple(key for key in node.keys if key not in bindings)
    return algebra.Group(substitute(node.node, bindings), keys, aggregates, node.is_whole)


def _values(node: algebra.Values, bindings: Bindings) -> Node:
    kept = [column for column, variable in enumerate(node.variables) if variable not in bindings]
    rows = [
        tuple(row[column] for column in kept)
        for row in node.rows
        if all(row[column] in (None, bindings.get(variable, row[column])) for column, variable in enumerate(node.variables))
    ]
    return algebra.Values(tuple(node.variables[column] for column in kept), tuple(rows))


def substitute_expression(expression: Expression, bindings: Bindings | Expressions) -> Expression:
    """Return an expression with others, usually terms, for some variables; within EXISTS, with terms only."""
    if isinstance(expression, Variable):
        return bindings.get(expression, expression)
    if isinstance(expression, Call):
        arguments: tuple[Any, ...] = tuple(substitute_expression(argument, bindings) for argument in expression.arguments)
        return Call(expression.name, arguments)
    if isinstance(expression, algebra.Foreign):
        return replace(expression, arguments=tuple(substitute_expression(each, bindings) for each in expression.arguments))
    if isinstance(expression, algebra.Exists):
        return algebra.Exists(substitute(expression.node, cast(Bindings, bindings)))
    return expression


def bound(node: Node, bindings: Bindings, wanted: Collection[Variable] = ()) -> Node:
    """Return a pattern with some variables bound in advance: solutions bind them to these terms, everywhere.

    Args:
        node: The pattern.
        bindings: The variables and their terms.
        wanted: Variables that solutions bind although the pattern does not have them.
    """
    made = {variable: term for variable, term in bindings.items() if variable in wanted or variable in in_scope(node)}
    result = _with_values(node, bindings)
    for variable, term in made.items():
        if variable not in in_scope(result):
            result = algebra.Extend(result, variable, term)
    return result


def _with_values(node: Node, bindings: Bindings) -> Node:
    """Substitute below projections and other modifiers, which keep the variables."""
    if isinstance(node, algebra.Project):
        below = bound(node.node, bindings)
        for variable in node.variables:
            if variable in bindings and variable not in in_scope(below):
                below = algebra.Extend(below, variable, bindings[variable])
        return algebra.Project(below, node.variables)
    if isinstance(node, (algebra.Distinct, algebra.Slice)):
        return replace(node, node=_with_values(node.node, bindings))
    return substitute(node, bindings)


def _term(term: Any, bindings: Bindings) -> Any:
    return bindings.get(term, term) if isinstance(term, Variable) else term
