"""Aggregates and constraints as relations.

A rule with AGGREGATE becomes rules without it, over the solutions of its atoms and over its groups.

``degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .`` becomes::

    solutions(?x, ?y) :- edge(?x, ?y) .
    groups(?x, ?n) :- AGGREGATE(solutions(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .
    degree(?x, ?n) :- groups(?x, ?n) .

Kernels do not evaluate the second rule. `aggregate_relations` computes it, and updates the groups whose solutions have changed.
Such a rule is known by the name of its head: the body of an AGGREGATE may be a single AGGREGATE, so that a rule for solutions can
look like one for groups before it is split.

A constraint ``false :- cat(?x), dog(?x) .`` becomes a rule for its violations: ``violations(?x) :- cat(?x), dog(?x) .``
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kg_reasoner.language.printer import format_rule
from kg_reasoner.planning.catalog import INTERNAL, VIOLATIONS
from kg_reasoner.program import (
    Aggregate,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Rule,
    Variable,
    kinds_of_parts,
    remembered,
    variables_of,
)

__all__ = ["is_aggregate_rule", "is_solutions_rule", "pieces", "shown", "solutions_of", "split", "violation_atom"]

_SOLUTIONS = f"{INTERNAL}solutions of"
_GROUPS = f"{INTERNAL}groups of"


def split(rules: Iterable[Rule]) -> dict[Rule, Rule]:
    """Return the rules after replacing aggregates and constraints, each with the rule that it comes from."""
    result: dict[Rule, Rule] = {}
    for rule in rules:
        for part in (rule,) if _is_whole(rule) else _parts(rule):
            result.setdefault(part, rule)
    return result


def is_aggregate_rule(rule: Rule) -> bool:
    """Return whether a rule computes the groups of an aggregate (see `split`)."""
    return len(rule.body) == 1 and isinstance(rule.body[0], Aggregate) and rule.head.predicate.startswith(_GROUPS)


@remembered
def is_solutions_rule(rule: Rule) -> bool:
    """Return whether a rule computes the solutions over which another one aggregates (see `split`)."""
    return rule.head.predicate.startswith(_SOLUTIONS)


def solutions_of(rule: Rule) -> Atom:
    """Return the atom over the solutions of a rule that computes the groups of an aggregate (see `is_aggregate_rule`)."""
    (part,) = rule.body
    assert isinstance(part, Aggregate)
    (solutions,) = part.body
    assert isinstance(solutions, Atom)
    return solutions


def _is_whole(rule: Rule) -> bool:
    """Return whether a rule has no aggregate or constraint to replace."""
    return is_aggregate_rule(rule) or not (rule.is_constraint or Aggregate in kinds_of_parts(rule))


@remembered
def _parts(rule: Rule) -> tuple[Rule, ...]:
    return tuple(part for part, _ in pieces(rule))


@remembered
def pieces(rule: Rule) -> tuple[tuple[Rule, Rule], ...]:
    """Return the parts of a rule, each with its form before aggregates were replaced in its body. The last part is the rule
    itself.
    """
    return tuple(_split(rule))


def shown(rule: Rule) -> str:
    """Return the aggregate that a rule computes the groups of, as it is written."""
    return rule.head.predicate.removeprefix(_GROUPS).lstrip()


def violation_atom(constraint: Rule) -> Atom:
    """Return the atom whose facts are the variable bindings that violate a constraint."""
    return pieces(constraint)[-1][0].head


def _split(rule: Rule) -> Iterator[tuple[Rule, Rule]]:
    if _is_whole(rule):
        yield rule, rule
        return
    body = []
    for part in rule.body:
        if not isinstance(part, Aggregate):
            body.append(part)
            continue
        name = format_rule(Rule(rule.head, (part,))).partition(":-")[2]
        variables: tuple[Argument, ...] = tuple(dict.fromkeys(v for inner in part.body for v in _given_by(inner)))
        solutions = Atom(f"{_SOLUTIONS}{name}", variables)
        groups = Atom(f"{_GROUPS}{name}", (*part.group, *(binding.variable for binding in part.bindings)))
        yield from _split(Rule(solutions, part.body, rule.origin))
        grouping = Rule(groups, (Aggregate((solutions,), part.group, part.bindings),), rule.origin)
        yield grouping, Rule(groups, (part,), rule.origin)
        body.append(groups)
    head = rule.head
    if rule.is_constraint:
        positive = (part for part in body if isinstance(part, Atom))
        head = Atom(f"{VIOLATIONS}{format_rule(rule)}", tuple(dict.fromkeys(v for atom in positive for v in variables_of(atom))))
    yield Rule(head, tuple(body), rule.origin), rule


def _given_by(part: BodyLiteral) -> Iterator[Variable]:
    """Yield the variables that a part of a body binds."""
    if isinstance(part, Bind):
        yield part.variable
    elif isinstance(part, Atom | Aggregate):
        yield from variables_of(part)
