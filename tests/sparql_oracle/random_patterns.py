"""Random graph patterns that respect the grammar's rules for the scopes of variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kg_reasoner.terms import IRI, Term

from . import ast
from .alphabet import GRAPHS, NEW, NODES, PREDICATES, VARIABLES
from .random_expressions import condition, expression
from .source import Source
from .walk import in_scope

MakeSelect = Callable[[Source, int, "ast.Var | IRI | None"], ast.Select]


def path(source: Source, depth: int = 2) -> ast.Path:
    """Make a property path."""
    kind = source.up_to(6) if depth > 0 else 0
    match kind:
        case 0:
            return source.pick(PREDICATES)
        case 1:
            forward, backward = source.some(PREDICATES, 2), source.some(PREDICATES, 2)
            return ast.Negated(tuple(forward or ([] if backward else PREDICATES[:1])), tuple(backward))
        case 2:
            return ast.Inverse(path(source, depth - 1))
        case 3:
            return ast.Sequence(path(source, depth - 1), path(source, depth - 1))
        case 4:
            return ast.Alternative(path(source, depth - 1), path(source, depth - 1))
        case _:
            return ast.Repeated(path(source, depth - 1), source.pick("*+?"))


def triple(source: Source, graph: ast.Var | IRI | None) -> ast.Triple:
    """Make a triple pattern, usually of a fact in the graph in which it is evaluated."""
    facts = source.facts(graph)
    if facts and not source.once_in(8):
        subject, predicate, object_ = source.pick(facts)
        link: ast.Var | ast.Path = predicate if isinstance(predicate, IRI) else source.pick(PREDICATES)
        if source.once_in(5):
            link = path(source) if source.once_in(2) else source.pick(VARIABLES)
        return ast.Triple(source.standing_for(subject), link, source.standing_for(object_))
    subject = source.pick(VARIABLES) if source.once_in(2) else source.pick(NODES)
    object_ = source.pick(VARIABLES) if source.once_in(2) else source.constant()
    return ast.Triple(subject, path(source) if source.once_in(2) else source.pick(PREDICATES), object_)


def table(source: Source, among: Sequence[ast.Var] = VARIABLES) -> ast.Values:
    """Make a VALUES block, usually with values of the witness."""
    names = source.some(among, 2, 1)
    rows = [tuple(_cell(source, name) for name in names) for _ in range(source.up_to(3))]
    return ast.Values(tuple(names), tuple(rows))


def _cell(source: Source, variable: ast.Var) -> Term | None:
    if source.once_in(5):
        return None
    value = source.witness.get(variable)
    return source.constant() if source.once_in(3) or not isinstance(value, IRI) else value


def group(source: Source, depth: int, select: MakeSelect, graph: ast.Var | IRI | None = None) -> ast.Group:
    """Make a group.

    Args:
        source: What draws.
        depth: How deep groups may be nested in it.
        select: Makes subselects.
        graph: The name of the graph in which it is evaluated.
    """
    elements: list[ast.Element] = [triple(source, graph) for _ in range(source.up_to(2))]
    for _ in range(source.up_to(2 if elements else 1) + (not elements)):
        elements.append(_element(source, depth, select, graph, tuple(elements)))
    return ast.Group(tuple(elements))


def _element(
    source: Source, depth: int, select: MakeSelect, graph: ast.Var | IRI | None, before: tuple[ast.Element, ...]
) -> ast.Element:
    def inner() -> ast.Group:
        return group(source, depth - 1, select, graph)

    seen = sorted(ast.Var(name) for name in in_scope(before))
    kind = source.up_to(13 if depth > 0 else 5)
    match kind:
        case 2:
            return table(source)
        case 3:
            free = [variable for variable in (*NEW, *VARIABLES) if variable not in seen]
            return ast.Bind(expression(source, seen or VARIABLES), source.pick(free))
        case 4 | 5:
            among = [*seen, *seen, *seen, *VARIABLES]
            exists = (lambda: ast.Exists(inner(), source.once_in(2))) if depth > 0 else None
            return ast.Filter(condition(source, among, 2, exists))
        case 6 | 7 | 8:
            return ast.Optional(inner())
        case 9:
            return ast.Union((inner(), inner()))
        case 10:
            return ast.Minus(inner())
        case 11:
            name = source.pick((ast.Var("g"), *GRAPHS, *VARIABLES[:1]))
            return ast.GraphPattern(name, group(source, depth - 1, select, name))
        case 12:
            return ast.SubSelect(select(source, depth - 1, graph))
        case 13:
            return inner()
        case _:
            return triple(source, graph)
