"""Rewrites of a query's pattern: a list of functions, applied one after the other. None changes the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast, get_args, get_type_hints

from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.scope import certain, connected, in_scope, mentioned, variables_in
from kg_reasoner.sparql.substitute import substitute_expression
from kg_reasoner.terms import IRI, XSD, Literal, Term

__all__ = ["REWRITES", "Rewrite", "rewritten"]

Rewrite: TypeAlias = Callable[[Node], Node]


def rewritten(node: Node, *, joins_graphs: bool = True) -> Node:
    """Apply all rewrites to a pattern.

    Args:
        node: The pattern.
        joins_graphs: Whether a variable can stand for any named graph in a join.
    """
    kinds = _kinds(node)
    for kind, rewrite in REWRITES:
        if kind in kinds and (joins_graphs or rewrite is not _ANY_GRAPH):
            before, node = node, rewrite(node)
            if node is not before:
                kinds = _kinds(node)
    return node


def _kinds(node: Node) -> set[type]:
    """Return the kinds of patterns in a pattern, those in EXISTS included."""
    found: set[type] = set()
    waiting: list[Any] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += part
        elif (inside := _INSIDE.get(type(part))) is not None:
            found.add(type(part))
            waiting += [getattr(part, name) for name in inside]
    return found


def everywhere(change: Callable[[Node], Node]) -> Rewrite:
    """Return a rewrite that changes every pattern from the bottom up, those in EXISTS included."""

    def walk(node: Node) -> Node:
        changes: dict[str, Any] = {}
        for name in _INSIDE[type(node)]:
            before = getattr(node, name)
            after = _walked(before)
            if after is not before:
                changes[name] = after
        return change(replace(node, **changes) if changes else node)

    def _walked(value: Any) -> Any:
        if isinstance(value, _NODES):
            return walk(value)
        if isinstance(value, algebra.Exists):
            node = walk(value.node)
            return value if node is value.node else algebra.Exists(node)
        if isinstance(value, (Call, algebra.Foreign)):
            arguments = _walked(value.arguments)
            return value if arguments is value.arguments else replace(value, arguments=arguments)
        if isinstance(value, algebra.Aggregation):
            argument = _walked(value.argument)
            return value if argument is value.argument else replace(value, argument=argument)
        if isinstance(value, tuple):
            items = tuple(map(_walked, value))
            return value if all(one is other for one, other in zip(items, value, strict=True)) else items
        return value

    return walk


_NODES: Final = get_args(Node)

_HOLDERS: Final = (*_NODES, algebra.Exists, algebra.Foreign, algebra.Aggregation, Call)


def _types_in(hint: Any) -> Iterator[Any]:
    """Yield the types that an annotation names."""
    yield hint
    for part in get_args(hint):
        yield from _types_in(part)


_INSIDE: Final[dict[type, tuple[str, ...]]] = {
    kind: tuple(name for name, hint in get_type_hints(kind).items() if not {*_HOLDERS}.isdisjoint(_types_in(hint)))
    for kind in _HOLDERS
}
"""The fields of each kind of pattern and expression in which there are patterns, or expressions."""

# --- graphs -----------------------------------------------------------------------------------------------------------


def place_in_graph(node: Node) -> Node:
    """Give the patterns inside GRAPH with a name this name."""
    if not isinstance(node, algebra.EachGraph) or isinstance(node.name, Variable):
        return node
    return _placed(node.node, node.name) or node


def place_in_any_graph(node: Node) -> Node:
    """Give the patterns inside GRAPH with a variable this variable, where that is the same as matching graph by graph.

    The variable stands for the same graph in all patterns of a join. In other forms, patterns could be matched in different graphs,
    or the variable would be seen where it is not bound yet.
    """
    if not isinstance(node, algebra.EachGraph) or not isinstance(node.name, Variable):
        return node
    inner = node.node.node if isinstance(node.node, algebra.Filter) else node.node
    parts = inner.parts if isinstance(inner, algebra.Join) else (inner,)
    if not parts or not all(isinstance(part, algebra.Patterns) and part.graph is None for part in parts):
        return node
    if node.name in (in_scope(inner) if inner is node.node else mentioned(node.node)):
        return node
    return _placed(node.node, node.name) or node


def _placed(node: Node, graph: algebra.PatternTerm) -> Node | None:
    """Return a pattern with the graph in all its basic patterns; None if it has forms for which the graph must be active."""
    if isinstance(node, (algebra.Patterns, algebra.PathPattern)):
        return replace(node, graph=graph) if node.graph is None else node
    if isinstance(node, (algebra.Join, algebra.Union)):
        parts = [_placed(part, graph) for part in node.parts]
        return None if not parts or None in parts else replace(node, parts=tuple(cast("list[Node]", parts)))
    if isinstance(node, (algebra.LeftJoin, algebra.Minus)):
        left, right = _placed(node.left, graph), _placed(node.right, graph)
        conditions = [node.condition] if isinstance(node, algebra.LeftJoin) and node.condition is not None else []
        return None if left is None or right is None or _look_around(conditions) else replace(node, left=left, right=right)
    if isinstance(node, algebra.Filter):
        inner = _placed(node.node, graph)
        return None if inner is None or _look_around(node.conditions) else replace(node, node=inner)
    return None


def _look_around(expressions: Iterable[Expression]) -> bool:
    """Return whether expressions match patterns."""
    return any(
        isinstance(expression, algebra.Exists)
        or (isinstance(expression, (Call, algebra.Foreign)) and _look_around(expression.arguments))
        for expression in expressions
    )


# --- joins ------------------------------------------------------------------------------------------------------------


def flatten_joins(node: Node) -> Node:
    """Merge joins inside joins, and the basic graph patterns of a join that are for the same graph."""
    if not isinstance(node, algebra.Join):
        return node
    parts: list[Node] = []
    for part in node.parts:
        parts += part.parts if isinstance(part, algebra.Join) else [part]
    merged: list[Node] = []
    places: dict[algebra.PatternTerm | None, int] = {}
    for part in parts:
        if isinstance(part, algebra.Patterns) and part.graph in places:
            known = cast(algebra.Patterns, merged[places[part.graph]])
            merged[places[part.graph]] = replace(known, triples=tuple(dict.fromkeys((*known.triples, *part.triples))))
        else:
            if isinstance(part, algebra.Patterns):
                places[part.graph] = len(merged)
            merged.append(part)
    return merged[0] if len(merged) == 1 else algebra.Join(tuple(merged))


# --- filters ----------------------------------------------------------------------------------------------------------


def push_filters(node: Node) -> Node:
    """Move conditions to the part of a pattern that binds all of their variables."""
    if not isinstance(node, algebra.Filter):
        return node
    inner, kept = node.node, list[Expression]()
    if isinstance(inner, algebra.Filter):
        return push_filters(algebra.Filter((*node.conditions, *inner.conditions), inner.node))
    for condition in node.conditions:
        moved = None if _look_around([condition]) else _pushed(inner, condition)
        if moved is None:
            kept.append(condition)
        else:
            inner = moved
    return algebra.Filter(tuple(kept), inner) if kept else inner


def _pushed(node: Node, condition: Expression) -> Node | None:
    """Return a pattern with a condition on one of its parts; None if it belongs to the whole."""
    used = set(variables_in(condition))
    if isinstance(node, algebra.Patterns):
        inside = _connected(node, used)
        if used and used <= certain(inside).keys() and len(inside.triples) < len(node.triples):
            others = tuple(triple for triple in node.triples if triple not in inside.triples)
            return algebra.Join((push_filters(algebra.Filter((condition,), inside)), replace(node, triples=others)))
    elif isinstance(node, algebra.Join):
        for number, part in enumerate(node.parts):
            if used and used <= certain(part).keys() and len(node.parts) > 1:
                filtered = push_filters(algebra.Filter((condition,), part))
                return algebra.Join((*node.parts[:number], filtered, *node.parts[number + 1 :]))
    elif isinstance(node, algebra.Union):
        if used and all(used <= certain(part).keys() for part in node.parts):
            return algebra.Union(tuple(push_filters(algebra.Filter((condition,), part)) for part in node.parts))
    elif isinstance(node, (algebra.LeftJoin, algebra.Minus)):
        if used and used <= certain(node.left).keys():
            return replace(node, left=push_filters(algebra.Filter((condition,), node.left)))
    elif isinstance(node, algebra.Extend):
        if node.variable in used and _is_calculation(node.expression) and _is_comparison(condition):
            condition = substitute_expression(condition, {node.variable: node.expression})
            used = set(variables_in(condition))
        if node.variable not in used and used <= certain(node.node).keys():
            return replace(node, node=push_filters(algebra.Filter((condition,), node.node)))
    return None


def _connected(patterns: algebra.Patterns, variables: Collection[Variable]) -> algebra.Patterns:
    """Return the triple patterns that share variables with some variables, directly or through others. The rest makes a product."""
    if isinstance(patterns.graph, Variable):
        return patterns

    def variables_of(triple: algebra.TriplePattern) -> list[Variable]:
        return [term for term in triple if isinstance(term, Variable)]

    return replace(patterns, triples=tuple(connected(patterns.triples, variables, variables_of)))


def _is_calculation(expression: Expression) -> bool:
    """Return whether an expression is arithmetic, which comparisons need not carry out exactly for most solutions."""
    if isinstance(expression, Call):
        return expression.name in ("+", "-", "*") and all(map(_is_calculation, expression.arguments))
    return isinstance(expression, (Variable, Literal))


def _is_comparison(condition: Expression) -> bool:
    """Return whether a condition compares variables and constants."""
    return (
        isinstance(condition, Call)
        and condition.name in ("<", "<=", ">", ">=", "=", "!=")
        and all(isinstance(side, (Variable, Literal)) for side in condition.arguments)
    )


def join_with_values(node: Node) -> Node:
    """Replace a condition that a variable is one of some IRIs or strings by a join with VALUES, so that indexes find the solutions.

    For other literals, being equal is not being the same term. A triple with a known property has to bind the variable.
    """
    if not isinstance(node, algebra.Filter):
        return node
    inner, kept = node.node, list[Expression]()
    for condition in node.conditions:
        table = _as_values(condition)
        joined = None if table is None else _with_table(inner, table)
        if joined is None:
            kept.append(condition)
        else:
            inner = joined
    return replace(node, conditions=tuple(kept), node=inner) if kept else inner


def _with_table(node: Node, table: algebra.Values) -> Node | None:
    """Return a pattern joined with a table of values of one variable; None if none of its triples binds the variable."""
    if isinstance(node, algebra.Patterns):
        found = (end for start, property, end in node.triples if not isinstance(property, Variable) for end in (start, end))
        return algebra.Join((table, node)) if table.variables[0] in found else None
    if isinstance(node, algebra.Join):
        is_bound = any(isinstance(part, algebra.Patterns) and _with_table(part, table) is not None for part in node.parts)
        return algebra.Join((table, *node.parts)) if is_bound else None
    if isinstance(node, (algebra.LeftJoin, algebra.Minus)):
        left = _with_table(node.left, table)
        return None if left is None else replace(node, left=left)
    return None


def _as_values(condition: Expression) -> algebra.Values | None:
    """Return a condition that a variable is one of some terms as a table; None for other conditions."""
    if not isinstance(condition, Call) or condition.name not in ("=", "IN"):
        return None
    variable, *terms = condition.arguments
    if condition.name == "=" and isinstance(terms[0], Variable):
        variable, terms = terms[0], [variable]
    if not isinstance(variable, Variable) or not terms or not all(map(_is_only_itself, terms)):
        return None
    return algebra.Values((variable,), tuple((cast(Term, term),) for term in dict.fromkeys(terms)))


def _is_only_itself(term: Any) -> bool:
    """Return whether no other term is equal to a term."""
    return isinstance(term, IRI) or (isinstance(term, Literal) and term.language is None and term.datatype == XSD.string.value)


# --- aggregates -------------------------------------------------------------------------------------------------------


def count_solutions(node: Node) -> Node:
    """Count solutions instead of the values of a variable that all of them bind, so that these need not be found."""
    if not isinstance(node, algebra.Group):
        return node
    bound = certain(node.node)
    changed = tuple(
        replace(one, argument=None) if one.function == "COUNT" and not one.is_distinct and one.argument in bound else one
        for one in node.aggregates
    )
    return node if changed == node.aggregates else replace(node, aggregates=changed)


# --- solution modifiers -----------------------------------------------------------------------------------------------


def extend_after_slice(node: Node) -> Node:
    """Compute expressions of SELECT only for the solutions that LIMIT leaves, where neither ORDER BY nor DISTINCT sees them."""
    if not isinstance(node, algebra.Slice) or not isinstance(node.node, algebra.Project):
        return node
    below = node.node.node
    made: list[algebra.Extend] = []
    while isinstance(below, algebra.Extend):
        made.append(below)
        below = below.node
    if not made:
        return node
    inner: Node = replace(node, node=below)
    for extend in reversed(made):
        inner = replace(extend, node=inner)
    return algebra.Project(inner, node.node.variables)


_ANY_GRAPH: Final = everywhere(place_in_any_graph)

REWRITES: Final[tuple[tuple[type, Rewrite], ...]] = (
    (algebra.EachGraph, everywhere(place_in_graph)),
    (algebra.EachGraph, _ANY_GRAPH),
    (algebra.Filter, everywhere(join_with_values)),
    (algebra.Join, everywhere(flatten_joins)),
    (algebra.Filter, everywhere(push_filters)),
    (algebra.Group, everywhere(count_solutions)),
    (algebra.Slice, everywhere(extend_after_slice)),
)
"""The rewrites, in order, each with the kind of pattern that it changes."""
