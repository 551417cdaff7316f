"""Triple patterns and property paths, as sections 18.3 to 18.5 define them."""

from __future__ import annotations

from collections.abc import Set
from itertools import count
from typing import TypeAlias

from kg_reasoner.terms import IRI, Term
from kg_reasoner.terms import Triple as Fact

from . import ast
from .solutions import Solution, Solutions, distinct, join, without

Graph: TypeAlias = Set[Fact]
End: TypeAlias = "ast.Var | Term"

_numbers = count()


def triple_solutions(subject: End, predicate: End | ast.Path, object_: End, graph: Graph) -> Solutions:
    """Return the solutions of a triple or path pattern. Blank nodes in it are terms of the data, not variables."""
    if isinstance(predicate, ast.Inverse | ast.Sequence | ast.Alternative | ast.Repeated | ast.Negated):
        return path_solutions(subject, predicate, object_, graph)
    return [solution for fact in graph if (solution := _match((subject, predicate, object_), fact)) is not None]


def _match(pattern: tuple[End, End, End], fact: Fact) -> Solution | None:
    solution: dict[str, Term] = {}
    for part, term in zip(pattern, fact, strict=True):
        if isinstance(part, ast.Var):
            if solution.setdefault(part.name, term) != term:
                return None
        elif part != term:
            return None
    return solution


def path_solutions(subject: End, path: ast.Path, object_: End, graph: Graph) -> Solutions:
    """Return the solutions of a path pattern."""
    if isinstance(subject, ast.Var) and subject == object_:
        other = _fresh()
        found = path_solutions(subject, path, other, graph)
        return without([solution for solution in found if solution[subject.name] == solution[other.name]], other.name)
    match path:
        case IRI():
            return triple_solutions(subject, path, object_, graph)
        case ast.Inverse(inner):
            return path_solutions(object_, inner, subject, graph)
        case ast.Sequence(first, second):
            middle = _fresh()
            found = join(path_solutions(subject, first, middle, graph), path_solutions(middle, second, object_, graph))
            return without(found, middle.name)
        case ast.Alternative(first, second):
            return [*path_solutions(subject, first, object_, graph), *path_solutions(subject, second, object_, graph)]
        case ast.Negated(forward, backward):
            return [
                *(_except(subject, forward, object_, graph) if forward else ()),
                *(_except(object_, backward, subject, graph) if backward else ()),
            ]
        case ast.Repeated(inner, how):
            return _repeated(subject, inner, how, object_, graph)


def _except(subject: End, predicates: tuple[IRI, ...], object_: End, graph: Graph) -> Solutions:
    predicate = _fresh()
    found = triple_solutions(subject, predicate, object_, graph)
    return without([solution for solution in found if solution[predicate.name] not in predicates], predicate.name)


def _repeated(subject: End, path: ast.Path, how: str, object_: End, graph: Graph) -> Solutions:
    if isinstance(subject, ast.Var):
        if not isinstance(object_, ast.Var):
            return _repeated(object_, ast.Inverse(path), how, subject, graph)
        nodes = {term for fact in graph for term in (fact[0], fact[2])}
        return [{subject.name: node, **solution} for node in nodes for solution in _repeated(node, path, how, object_, graph)]
    reached = _reached(subject, path, how, graph)
    if isinstance(object_, ast.Var):
        return distinct([{object_.name: node} for node in reached])
    return [{}] if object_ in reached else []


def _reached(start: Term, path: ast.Path, how: str, graph: Graph) -> set[Term]:
    """The terms at the end of a repeated path; a path of no step ends at its start, which need not be in the graph."""
    first = _steps(start, path, graph)
    if how == "?":
        return {start} | first
    seen: set[Term] = set()
    waiting = [start] if how == "*" else list(first)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += _steps(node, path, graph)
    return seen


def _steps(start: Term, path: ast.Path, graph: Graph) -> set[Term]:
    end = _fresh()
    return {solution[end.name] for solution in path_solutions(start, path, end, graph)}


def _fresh() -> ast.Var:
    """A variable that no query has."""
    return ast.Var(f".{next(_numbers)}")
