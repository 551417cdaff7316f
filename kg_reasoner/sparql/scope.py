"""The variables that a pattern can bind, always binds, and mentions (SPARQL 1.1 Query, section 18.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node, children

__all__ = ["certain", "connected", "expressions_of", "in_scope", "mentioned", "names_in", "variables_in"]

Part = TypeVar("Part")


def in_scope(node: Node) -> dict[Variable, None]:
    """Return the variables that solutions of a pattern can bind, in order of occurrence."""
    return _bound(node, is_certain=False)


def certain(node: Node) -> dict[Variable, None]:
    """Return the variables that every solution of a pattern binds."""
    return _bound(node, is_certain=True)


def connected(
    parts: Sequence[Part], variables: Iterable[Variable], variables_of: Callable[[Part], Collection[Variable]]
) -> list[Part]:
    """Return the parts of a join that share variables with some variables, directly or through other parts.

    Args:
        parts: The parts.
        variables: The variables.
        variables_of: Returns the variables of a part.
    """
    known, found, waiting = set(variables), set[int](), dict(enumerate(map(variables_of, parts)))
    while reached := [place for place, names in waiting.items() if not known.isdisjoint(names)]:
        found.update(reached)
        for place in reached:
            known.update(waiting.pop(place))
    return [part for place, part in enumerate(parts) if place in found]


def _bound(node: Node, *, is_certain: bool) -> dict[Variable, None]:
    if isinstance(node, (algebra.Patterns, algebra.PathPattern)):
        return dict.fromkeys(_pattern_variables(node))
    if isinstance(node, algebra.Join):
        return {variable: None for part in node.parts for variable in _bound(part, is_certain=is_certain)}
    if isinstance(node, algebra.LeftJoin):
        left = _bound(node.left, is_certain=is_certain)
        return left if is_certain else {**left, **_bound(node.right, is_certain=False)}
    if isinstance(node, algebra.Minus):
        return _bound(node.left, is_certain=is_certain)
    if isinstance(node, algebra.Union):
        parts = [_bound(part, is_certain=is_certain) for part in node.parts]
        found = {variable: None for part in parts for variable in part}
        return {variable: None for variable in found if not is_certain or all(variable in part for part in parts)}
    if isinstance(node, algebra.Extend):
        below = _bound(node.node, is_certain=is_certain)
        return below if is_certain else {**below, node.variable: None}
    if isinstance(node, algebra.Values):
        return {
            variable: None
            for column, variable in enumerate(node.variables)
            if not is_certain or all(row[column] is not None for row in node.rows)
        }
    if isinstance(node, algebra.EachGraph):
        own = {node.name: None} if isinstance(node.name, Variable) else {}
        return {**own, **_bound(node.node, is_certain=is_certain)}
    if isinstance(node, algebra.Service):
        return {} if is_certain else dict.fromkeys(_service_variables(node))
    if isinstance(node, algebra.Group):
        below = _bound(node.node, is_certain=is_certain)
        keys = {key: None for key in node.keys if not is_certain or key in below}
        return keys if is_certain else {**keys, **{aggregate.variable: None for aggregate in node.aggregates}}
    below = _bound(node.node, is_certain=is_certain)
    if isinstance(node, algebra.Project):
        return {variable: None for variable in node.variables if not is_certain or variable in below}
    return below


def _pattern_variables(node: algebra.Patterns | algebra.PathPattern) -> Iterator[Variable]:
    terms = [term for triple in node.triples for term in triple] if isinstance(node, algebra.Patterns) else [node.start, node.end]
    if node.graph is not None:
        terms.append(node.graph)
    return (term for term in terms if isinstance(term, Variable))


def _service_variables(node: algebra.Service) -> tuple[Variable, ...]:
    return (node.address, *node.variables) if isinstance(node.address, Variable) else node.variables


def mentioned(node: Node) -> dict[Variable, None]:
    """Return all variables of a pattern, those in its expressions included."""
    found: dict[Variable, None] = {}
    if isinstance(node, (algebra.Patterns, algebra.PathPattern)):
        found = dict.fromkeys(_pattern_variables(node))
    elif isinstance(node, algebra.Values):
        found = dict.fromkeys(node.variables)
    elif isinstance(node, algebra.Service):
        found = dict.fromkeys(_service_variables(node))
    elif isinstance(node, algebra.EachGraph) and isinstance(node.name, Variable):
        found = {node.name: None}
    elif isinstance(node, algebra.Extend):
        found = {node.variable: None, **dict.fromkeys(variables_in(node.expression))}
    elif isinstance(node, algebra.Project):
        found = dict.fromkeys(node.variables)
    elif isinstance(node, algebra.Group):
        found = dict.fromkeys(node.keys)
    for expression in expressions_of(node):
        found.update(dict.fromkeys(variables_in(expression)))
    for child in children(node):
        found.update(mentioned(child))
    return found


def variables_in(expression: Expression) -> Iterator[Variable]:
    """Yield the variables of an expression, those that patterns of EXISTS mention included."""
    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, (Call, algebra.Foreign)):
        for argument in expression.arguments:
            yield from variables_in(argument)
    elif isinstance(expression, algebra.Exists):
        yield from mentioned(expression.node)


def names_in(expressions: Iterable[Expression]) -> frozenset[str]:
    """Return the names of the variables of some expressions."""
    return frozenset(variable.name for expression in expressions for variable in variables_in(expression))


def expressions_of(node: Node) -> Iterator[Expression]:
    """Yield the expressions directly in a pattern."""
    if isinstance(node, algebra.Filter):
        yield from node.conditions
    elif isinstance(node, algebra.LeftJoin) and node.condition is not None:
        yield node.condition
    elif isinstance(node, algebra.Extend):
        yield node.expression
    elif isinstance(node, algebra.OrderBy):
        yield from (key for key, _ in node.keys)
    elif isinstance(node, algebra.Group):
        yield from (aggregate.argument for aggregate in node.aggregates if aggregate.argument is not None)
