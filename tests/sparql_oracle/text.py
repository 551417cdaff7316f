"""The SPARQL text of a query."""

from __future__ import annotations

import re
from typing import Final

from kg_reasoner.terms import IRI, XSD, Literal, Term, term_text

from . import ast

PREFIXES: Final = {"": "http://example.org/", "xsd": str(XSD)}
_LOCAL: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_OPERATORS: Final = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"])


def query_text(query: ast.Query) -> str:
    """Return the text of a query, with its prefixes."""
    prologue = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())
    if isinstance(query, ast.Select):
        return prologue + _select(query)
    where = f"WHERE {group_text(query.where)}{_modifiers(query.modifiers)}"
    if isinstance(query, ast.Ask):
        return f"{prologue}ASK {where}"
    return f"{prologue}CONSTRUCT {group_text(ast.Group(query.template))} {where}"


def group_text(group: ast.Group) -> str:
    """Return the text of a group, with its braces."""
    return "{ " + " ".join(_element(element) for element in group.elements) + " }"


def expression_text(expression: ast.Expression) -> str:
    """Return the text of an expression, with all of its parentheses."""
    match expression:
        case ast.Call("IN" | "NOT IN" as name, (first, *rest)):
            return f"({expression_text(first)} {name} ({', '.join(map(expression_text, rest))}))"
        case ast.Call(name, (first, second)) if name in _OPERATORS:
            return f"({expression_text(first)} {name} {expression_text(second)})"
        case ast.Call("!" | "-" | "+" as name, (argument,)):
            return f"({name} {expression_text(argument)})"
        case ast.Call(name, arguments):
            return f"{name if isinstance(name, str) else _term(name)}({', '.join(map(expression_text, arguments))})"
        case ast.Exists(group, negated):
            return f"{'NOT ' * negated}EXISTS {group_text(group)}"
        case ast.Aggregate(name, argument, distinct, separator):
            inner = "*" if argument is None else expression_text(argument)
            ending = "" if separator is None else f"; SEPARATOR = {term_text(Literal(separator))}"
            return f"{name}({'DISTINCT ' * distinct}{inner}{ending})"
        case _:
            return _term(expression)


def path_text(path: ast.Var | ast.Path) -> str:
    """Return the text of a path or a predicate, with all of its parentheses."""
    match path:
        case ast.Inverse(inner):
            return f"(^{path_text(inner)})"
        case ast.Sequence(first, second):
            return f"({path_text(first)}/{path_text(second)})"
        case ast.Alternative(first, second):
            return f"({path_text(first)}|{path_text(second)})"
        case ast.Repeated(inner, how):
            return f"({path_text(inner)}{how})"
        case ast.Negated(forward, backward):
            return f"!({'|'.join([*map(_term, forward), *(f'^{_term(iri)}' for iri in backward)])})"
        case _:
            return _term(path)


def _element(element: ast.Element) -> str:
    match element:
        case ast.Triple(subject, predicate, object_):
            return f"{_term(subject)} {path_text(predicate)} {_term(object_)} ."
        case ast.Optional(group):
            return f"OPTIONAL {group_text(group)}"
        case ast.Union(groups):
            return " UNION ".join(map(group_text, groups))
        case ast.Minus(group):
            return f"MINUS {group_text(group)}"
        case ast.Filter(condition):
            return f"FILTER ({expression_text(condition)})"
        case ast.Bind(expression, variable):
            return f"BIND ({expression_text(expression)} AS {_term(variable)})"
        case ast.Values():
            return _values(element)
        case ast.GraphPattern(name, group):
            return f"GRAPH {_term(name)} {group_text(group)}"
        case ast.SubSelect(select):
            return "{ " + _select(select) + " }"
        case _:
            return group_text(element)


def _select(select: ast.Select) -> str:
    items = "*" if select.items is None else " ".join(map(_item, select.items))
    duplicates = f"{select.duplicates} " if select.duplicates else ""
    return f"SELECT {duplicates}{items} WHERE {group_text(select.where)}{_modifiers(select.modifiers)}"


def _item(item: ast.Item) -> str:
    if item.expression is None:
        return _term(item.variable)
    return f"({expression_text(item.expression)}{'' if item.variable is None else f' AS {_term(item.variable)}'})"


def _modifiers(modifiers: ast.Modifiers) -> str:
    parts = []
    if modifiers.group_by:
        parts += ["GROUP BY", *map(_item, modifiers.group_by)]
    if modifiers.having:
        parts += ["HAVING", *(f"({expression_text(condition)})" for condition in modifiers.having)]
    if modifiers.order_by:
        parts += [
            "ORDER BY",
            *(f"{'DESC' if key.descending else 'ASC'}({expression_text(key.expression)})" for key in modifiers.order_by),
        ]
    if modifiers.limit is not None:
        parts.append(f"LIMIT {modifiers.limit}")
    if modifiers.offset is not None:
        parts.append(f"OFFSET {modifiers.offset}")
    if modifiers.values is not None:
        parts.append(_values(modifiers.values))
    return "".join(f" {part}" for part in parts)


def _values(values: ast.Values) -> str:
    rows = " ".join(f"({' '.join('UNDEF' if term is None else _term(term) for term in row)})" for row in values.rows)
    return f"VALUES ({' '.join(map(_term, values.variables))}) {{ {rows} }}"


def _term(term: ast.Var | Term | None) -> str:
    match term:
        case ast.Var(name):
            return f"?{name}"
        case IRI(value):
            return next(
                (
                    f"{prefix}:{value[len(namespace) :]}"
                    for prefix, namespace in PREFIXES.items()
                    if value.startswith(namespace) and _LOCAL.fullmatch(value[len(namespace) :])
                ),
                f"<{value}>",
            )
        case Literal(lexical, datatype, None) if datatype == XSD.boolean.value and lexical in ("true", "false"):
            return lexical
        case Literal(lexical, datatype, None) if datatype == XSD.integer.value and re.fullmatch(r"[0-9]+", lexical):
            return lexical
        case Literal(lexical, datatype, None) if datatype != XSD.string.value:
            return f"{term_text(Literal(lexical))}^^{_term(IRI(datatype))}"
        case None:
            raise TypeError("no term")
        case _:
            return term_text(term)
