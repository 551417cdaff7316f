"""Random queries: SELECT with and without groups, ASK and CONSTRUCT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from typing import Literal as OneOf

from kg_reasoner.terms import IRI, literal

from . import ast
from .alphabet import NEW, NODES, PREDICATES, VARIABLES
from .random_expressions import expression
from .random_patterns import group, table
from .source import Source
from .walk import in_scope

_AGGREGATES: Final = ("COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")
_DUPLICATES: Final[tuple[OneOf["", "DISTINCT", "REDUCED"], ...]] = ("", "", "", "", "DISTINCT", "DISTINCT", "REDUCED")


def query(source: Source, depth: int = 3) -> ast.Query:
    """Make a query whose groups are nested to some depth."""
    kind = source.up_to(7)
    if kind == 6:
        return ast.Ask(group(source, depth, select))
    if kind == 7:
        where = group(source, depth, select)
        among = (*_seen(where), *VARIABLES[:1])
        template = [
            ast.Triple(source.pick((*among, *NODES)), source.pick((*PREDICATES, *among)), source.pick((*among, source.constant())))
            for _ in range(1 + source.up_to(1))
        ]
        return ast.Construct(tuple(template), where)
    return select(source, depth)


def select(source: Source, depth: int, graph: ast.Var | IRI | None = None) -> ast.Select:
    """Make a SELECT query, which is evaluated in a graph."""
    where = group(source, depth, select, graph)
    return _grouped(source, where) if source.once_in(3) else _plain(source, where)


def _plain(source: Source, where: ast.Group) -> ast.Select:
    seen = _seen(where)
    items: list[ast.Item] | None = None
    selected = seen
    if not seen or source.once_in(2):
        selected = source.some(seen or VARIABLES, 3, 1)
        items = [ast.Item(variable) for variable in selected]
        if source.once_in(4):
            new = _unused(source, [*seen, *selected])
            items.append(ast.Item(new, expression(source, seen or VARIABLES)))
            selected.append(new)
    orders = _orders(source, selected, expression(source, selected or VARIABLES, 1))
    limit, offset = _slice(source)
    values = table(source, seen or VARIABLES) if source.once_in(10) else None
    modifiers = ast.Modifiers((), (), orders, limit, offset, values)
    return ast.Select(None if items is None else tuple(items), where, modifiers, source.pick(_DUPLICATES))


def _grouped(source: Source, where: ast.Group) -> ast.Select:
    seen = _seen(where) or list(VARIABLES)
    keys = [ast.Item(variable) for variable in source.some(seen, 2)]
    if source.once_in(4):
        made = expression(source, seen)
        keys.append(ast.Item(_unused(source, seen), ast.Call("STR", (made,)) if isinstance(made, ast.Var) else made))
    names = [key.variable for key in keys if key.variable is not None]
    items = [ast.Item(name) for name in names if not source.once_in(4)]
    used = [*seen, *names]
    for _ in range(source.up_to(2) if items else 1 + source.up_to(1)):
        used.append(_unused(source, used))
        items.append(ast.Item(used[-1], _of_group(source, seen, names)))
    having = ()
    if source.once_in(4):
        bound = source.pick([literal(0), literal(1), literal(2)])
        having = (ast.Call(source.pick((">", "<", "=", "!=")), (aggregate(source, seen), bound)),)
    selected = [item.variable for item in items if item.variable is not None]
    orders = _orders(source, selected, aggregate(source, seen))
    limit, offset = _slice(source)
    modifiers = ast.Modifiers(tuple(keys), having, orders, limit, offset)
    return ast.Select(tuple(items), where, modifiers, source.pick(_DUPLICATES))


def aggregate(source: Source, among: Sequence[ast.Var]) -> ast.Aggregate:
    """Make an aggregate over some variables."""
    is_distinct = source.once_in(3)
    if source.once_in(4):
        return ast.Aggregate("COUNT", None, is_distinct)
    name = source.pick(_AGGREGATES)
    argument = expression(source, among, 1) if source.once_in(4) else source.pick(among)
    return ast.Aggregate(name, argument, is_distinct, ", " if name == "GROUP_CONCAT" and source.once_in(2) else None)


def _of_group(source: Source, among: Sequence[ast.Var], keys: Sequence[ast.Var]) -> ast.Expression:
    """An aggregate, or an expression of one and a constant or key."""
    if not source.once_in(3):
        return aggregate(source, among)
    other = source.pick([literal(1), literal(2), *keys])
    return ast.Call(source.pick(("+", "*", "=", "<", "COALESCE")), (aggregate(source, among), other))


def _orders(source: Source, selected: Sequence[ast.Var], other: ast.Expression) -> tuple[ast.OrderKey, ...]:
    """Keys of ORDER BY, usually none."""
    if not source.once_in(3):
        return ()
    keys = [source.pick((*selected, *selected, other)) for _ in range(1 + source.up_to(2))]
    return tuple(ast.OrderKey(key, source.once_in(2)) for key in keys)


def _slice(source: Source) -> tuple[int | None, int | None]:
    """LIMIT and OFFSET, usually none."""
    if not source.once_in(6):
        return None, None
    return None if source.once_in(3) else source.up_to(4), None if source.once_in(2) else source.up_to(2)


def _seen(where: ast.Group) -> list[ast.Var]:
    return sorted(ast.Var(name) for name in in_scope(where.elements))


def _unused(source: Source, used: Sequence[ast.Var]) -> ast.Var:
    numbered = (ast.Var(f"n{number}") for number in range(len(used) + 1))
    return source.pick([variable for variable in NEW if variable not in used] or [v for v in numbered if v not in used])
