"""What lies in a part of a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from . import ast


def parts(node: object) -> Iterator[object]:
    """Yield a part of a query and all parts in it."""
    yield node
    if isinstance(node, tuple):
        for member in node:
            yield from parts(member)
    elif is_dataclass(node):
        for field in fields(node):
            yield from parts(getattr(node, field.name))


def variables(node: object) -> set[str]:
    """Return the names of all variables in a part of a query, in scope or not."""
    return {part.name for part in parts(node) if isinstance(part, ast.Var)}


def has_aggregate(node: object) -> bool:
    """Return whether an aggregate is in an expression, or in one of many."""
    if isinstance(node, ast.Exists):
        return False
    if isinstance(node, ast.Aggregate):
        return True
    if isinstance(node, tuple):
        return any(map(has_aggregate, node))
    return is_dataclass(node) and any(has_aggregate(getattr(node, field.name)) for field in fields(node))


def in_scope(elements: tuple[ast.Element, ...]) -> set[str]:
    """Return the names of the variables that elements of a group bring into scope (section 18.2.1)."""
    found: set[str] = set()
    for element in elements:
        match element:
            case ast.Triple(subject, predicate, object_):
                found |= {part.name for part in (subject, predicate, object_) if isinstance(part, ast.Var)}
            case ast.Optional(group):
                found |= in_scope(group.elements)
            case ast.Group(inner):
                found |= in_scope(inner)
            case ast.Union(groups):
                found |= in_scope(groups)
            case ast.GraphPattern(name, group):
                found |= in_scope(group.elements) | ({name.name} if isinstance(name, ast.Var) else set())
            case ast.Bind(_, variable):
                found.add(variable.name)
            case ast.Values(names):
                found |= {variable.name for variable in names}
            case ast.SubSelect(ast.Select(None, where)):
                found |= in_scope(where.elements)
            case ast.SubSelect(select):
                found |= {item.variable.name for item in select.items or () if item.variable is not None}
    return found
