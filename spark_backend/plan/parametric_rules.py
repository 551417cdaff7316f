"""Rules of the same shape as one rule with parameters: axioms as data.

An ontology has thousands of axioms such as ``SubClassOf(ObjectSomeValuesFrom(p C) D)``. Each is a rule of its own, but they differ
only in their constants. One join of the data with a table of these constants evaluates all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from kg_reasoner.program import TRIPLE, Argument, Atom, Rule, Variable
from kg_reasoner.spark_backend.plan.logical_plan import Axioms, Choice, Join, TermFeatures
from kg_reasoner.terms import RDF, Term

__all__ = ["NUMBER", "by_shape", "numbered_by_shape", "numbers_of"]


NUMBER: Final = Variable("number")
"""The parameter that says which of some rules an axiom is."""


def by_shape(joins: Iterable[Join]) -> tuple[Join, ...]:
    """Return joins with all of the same shape as one, in the order of the first of each."""
    shapes: dict[object, list[tuple[Join, tuple[Term | int, ...]]]] = {}
    for join in dict.fromkeys(joins):
        key, constants = _shape(join)
        shapes.setdefault(key, []).append((join, tuple(constants)))
    return tuple(found[0][0] if len(found) == 1 else _with_parameters(found) for found in shapes.values())


def numbered_by_shape(joins: Iterable[tuple[Join, object]]) -> tuple[Join, ...]:
    """Return joins with all of the same shape as one, whose last parameter is the number of the join.

    Args:
        joins: Joins, each with the parts that must be equal for joins of the same shape.
    """
    shapes: dict[object, tuple[list[tuple[Join, tuple[Term | int, ...]]], list[int]]] = {}
    for number, (join, kind) in enumerate(joins):
        key, constants = _shape(join)
        found, numbers = shapes.setdefault((key, kind), ([], []))
        found.append((join, tuple(constants)))
        numbers.append(number)
    return tuple(_with_parameters(found, numbers) for found, numbers in shapes.values())


def numbers_of(join: Join) -> list[int]:
    """Return the numbers of the joins that `numbered_by_shape` made one."""
    rows = join.axioms.rows if join.axioms else ()
    return [row[-1] for row in rows if isinstance(row[-1], int)]


def _shape(join: Join) -> tuple[object, dict[Term, int]]:
    """Return the part that all axioms of a shape have in common, and the constants of a join with their positions."""
    constants: dict[Term, int] = {}

    def term(some: Argument) -> object:
        return some if isinstance(some, Variable) else constants.setdefault(some, len(constants))

    def atom(some: Atom) -> object:
        if some.predicate != TRIPLE:
            return some.predicate, tuple(map(term, some.terms))
        return TRIPLE, tuple(some.terms[1] if _is_type(some, place) else term(value) for place, value in enumerate(some.terms))

    key = (
        tuple(term(group.term) for group in join.groups),
        tuple(map(atom, join.atoms)),
        (True, term(join.feature[0])) if join.feature is not None else (False, atom(join.rule.head)),
        join.negations,
        join.filters,
        join.binds,
        join.unequal,
    )
    return key, constants


def _is_type(atom: Atom, place: int) -> bool:
    return atom.predicate == TRIPLE and place == 1 and atom.terms[1] == RDF.type


def _with_parameters(found: Sequence[tuple[Join, tuple[Term | int, ...]]], numbers: Sequence[int] = ()) -> Join:
    """Return one join for several of the same shape, given with their constants and perhaps with numbers."""
    first, constants = found[0]
    places = {constant: Variable(f"constant {place}") for place, constant in enumerate(constants)}
    groups = []
    columns: list[list[int]] = []
    parameters = [*places.values()]
    for number, group in enumerate(first.groups):
        choices: dict[Choice, int] = {}
        columns.append([choices.setdefault(join.groups[number].choices[0], len(choices)) for join, _ in found])
        parameters.append(Variable(f"choice {number}"))
        groups.append(TermFeatures(_term(group.term, places), tuple(choices), parameters[-1]))
    feature: tuple[Argument, int | Variable] | None = None
    if first.feature is not None:
        columns.append([join.feature[1] for join, _ in found])  # type: ignore[index,misc]  # like the first one
        parameters.append(Variable("feature"))
        feature = _term(first.feature[0], places), parameters[-1]
    if numbers:
        columns.append(list(numbers))
        parameters.append(NUMBER)
    rows = tuple((*values, *(column[row] for column in columns)) for row, (_, values) in enumerate(found))
    head = first.rule.head if feature is not None else _atom(first.rule.head, places)
    return replace(
        first,
        rule=Rule(head, first.rule.body, first.rule.origin),
        groups=tuple(groups),
        atoms=tuple(_atom(atom, places) for atom in first.atoms),
        feature=feature,
        axioms=Axioms(tuple(parameters), rows, tuple(join for join, _ in found)),
    )


def _term(term: Argument, places: dict[Term | int, Variable]) -> Argument:
    return term if isinstance(term, Variable) else places[term]


def _atom(atom: Atom, places: dict[Term | int, Variable]) -> Atom:
    terms = (value if _is_type(atom, place) else _term(value, places) for place, value in enumerate(atom.terms))
    return Atom(atom.predicate, tuple(terms), atom.span)
