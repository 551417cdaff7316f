"""A statement of a text as plain rules: the passes in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kg_reasoner.language.desugaring.alternatives import without_alternatives
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.equations import given_by, without_conditions
from kg_reasoner.language.desugaring.negated_equations import with_values_in_place
from kg_reasoner.language.desugaring.nested import (
    as_condition,
    bound_by,
    negated_atom,
    unbound_groups,
    with_groups,
    without_alternatives_in,
    without_choice,
    without_not,
)
from kg_reasoner.language.desugaring.nested_expressions import without_expressions
from kg_reasoner.language.desugaring.structure_patterns import is_pattern, taken_apart
from kg_reasoner.language.surface import Applied, Chosen, Each, Grouped, NotAny, SurfaceBody
from kg_reasoner.program import Aggregate, Atom, Bind, BodyLiteral, Origin, Rule, Variable

__all__ = ["is_plain", "rules_of"]


def is_plain(heads: Sequence[object], alternatives: Sequence[SurfaceBody]) -> bool:
    """Return whether a statement has nothing to rewrite."""
    parts = (*heads, *(part for body in alternatives for part in body))
    return len(alternatives) <= 1 and all(isinstance(part, BodyLiteral) for part in parts)


def rules_of(heads: Sequence[Atom | Applied], alternatives: Sequence[SurfaceBody], origin: Origin, context: Context) -> list[Rule]:
    """Return the rules of a statement: a rule for each head and each alternative, then those for its auxiliary predicates.

    Args:
        heads: The heads.
        alternatives: The bodies of which one has to hold; none for a fact.
        origin: The origin of the rules.
        context: For new names.

    Raises:
        RuleSyntaxError, UnsupportedError: Something in it has no meaning.
    """
    found: list[Rule] = []
    for head in heads:
        atom, values = (head, ()) if isinstance(head, Atom) else without_expressions(head, context, is_head=True)
        for body in without_alternatives(alternatives or [()], context, head.span):
            found.append(Rule(atom, _plain((*body, *values), context), origin))
    if origin.text is not None:
        origin = replace(origin, text=f"part of {origin.text}")
    while context.waiting:
        atom, bodies = context.waiting.pop(0)
        for body in without_alternatives(bodies, context, atom.span):
            found.append(Rule(atom, _plain(body, context), origin))
    return list(dict.fromkeys(found))


def _plain(body: SurfaceBody, context: Context) -> tuple[BodyLiteral, ...]:
    """Return a body without alternatives as parts of a plain rule."""
    parts: list[object] = []
    for part in body:
        if isinstance(part, Applied):
            atom, values = without_expressions(part, context)
            parts += [atom, *values]
        elif isinstance(part, Each) and not isinstance(part.variables[0], Variable):
            parts += _with_pattern(part, context)
        elif isinstance(part, Chosen):
            parts.append(without_choice(part, context))
        else:
            parts.append(part)
    core = without_conditions(_with_aggregates(parts, context), context)
    binders = [part for part in core if isinstance(part, BodyLiteral)]
    bound = given_by(binders)
    plain: list[BodyLiteral] = []
    for part in core:
        if isinstance(part, NotAny):
            plain += _without_not(part, binders, bound, context)
        else:
            plain.append(part)
    return tuple(plain)


def _without_not(part: NotAny, binders: Sequence[BodyLiteral], bound: set[Variable], context: Context) -> Sequence[BodyLiteral]:
    """Return a negation as conditions and negated atoms as far as it can be, and one of an atom of a new predicate for the rest."""
    plain: list[BodyLiteral] = []
    rest: list[SurfaceBody] = []
    for body in part.alternatives:
        conditions = with_values_in_place(body, bound, bound_by)
        found = as_condition(conditions, bound, part.span) or negated_atom(body, bound, part.span, context)
        plain += found
        rest += () if found else [body]
    return [*plain, without_not(NotAny(tuple(rest), part.span), bound, binders, context)] if rest else plain


def _with_pattern(part: Each, context: Context) -> SurfaceBody:
    """Return the members of a collection that fit a pattern, or are equal to an expression."""
    pattern, member = part.variables[0], context.variable("member")
    each = Each((member,), part.collection, part.span)
    if is_pattern(pattern):
        return (each, *taken_apart(pattern, member, context))  # type: ignore[arg-type]  # a call
    return (Bind(pattern, member, part.span), each)


def _with_aggregates(parts: Sequence[object], context: Context) -> SurfaceBody:
    """Return a body whose aggregates are plain. Groups that the body of an aggregate does not bind are those around it, which may
    be values of other aggregates.
    """
    found = list(parts)
    waiting = [place for place, part in enumerate(parts) if isinstance(part, Grouped)]
    while waiting:
        for place in waiting:
            aggregate = _aggregate(parts[place], found, context)
            if aggregate is not None:
                break
        else:  # the checks of the rule say which variable has no value
            place = waiting[0]
            aggregate = _as_plain(parts[place], context)
        found[place] = aggregate
        waiting.remove(place)
    return tuple(found)


def _aggregate(part: object, around: Sequence[object], context: Context) -> Aggregate | None:
    """Return a plain aggregate, or None if its groups have no values yet."""
    assert isinstance(part, Grouped)
    missing = unbound_groups(part)
    if missing:
        others = (other for other in around if not isinstance(other, Grouped))
        groups = with_groups(missing, without_conditions(tuple(others), context), context, part.span)
        if groups is None:
            return None
        part = replace(part, alternatives=tuple((*body, groups) for body in part.alternatives))
    return _as_plain(part, context)


def _as_plain(part: object, context: Context) -> Aggregate:
    assert isinstance(part, Grouped)
    (body,) = without_alternatives_in(part, context).alternatives
    return Aggregate(_plain(body, context), part.group, part.bindings, part.span)
