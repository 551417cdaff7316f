"""The bodies of NOT and AGGREGATE that plain rules cannot contain: atoms of auxiliary predicates take their place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from kg_reasoner.errors import RuleSyntaxError, Span
from kg_reasoner.language.choice import chosen
from kg_reasoner.language.desugaring.alternatives import without_alternatives
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.equations import given_by
from kg_reasoner.language.desugaring.members import membership
from kg_reasoner.language.desugaring.negated_equations import sides_of
from kg_reasoner.language.desugaring.nested_expressions import without_expressions
from kg_reasoner.language.desugaring.structure_patterns import is_pattern, pattern_variables
from kg_reasoner.language.strata.stratification import CORRELATED, key_of
from kg_reasoner.language.surface import (
    NO_VALUE,
    Along,
    AnyOf,
    Applied,
    Chosen,
    Condition,
    Each,
    Grouped,
    NotAny,
    Same,
    SurfaceBody,
)
from kg_reasoner.program import Aggregate, Atom, Bind, BodyLiteral, Call, Expression, Filter, Negation, Variable, variables_of
from kg_reasoner.terms import XSD, Literal

__all__ = [
    "as_condition",
    "bound_by",
    "negated_atom",
    "not_holding",
    "unbound_groups",
    "variables_in",
    "with_groups",
    "without_alternatives_in",
    "without_choice",
    "without_not",
]

_FALSE: Final = Literal("false", XSD.boolean.value)
_TRUE: Final = Literal("true", XSD.boolean.value)


def variables_in(part: object) -> list[Variable]:
    """Return the variables of a part that are visible outside of it, or may be the same as outside of it."""
    if isinstance(part, Applied):
        return [variable for argument in part.arguments for variable in variables_of(argument)]
    if isinstance(part, Condition):
        return list(variables_of(part.expression))
    if isinstance(part, Same):
        return list(variables_of((part.first, part.second)))
    if isinstance(part, Each):
        return [*(variable for member in part.variables for variable in variables_of(member)), *variables_of(part.collection)]
    if isinstance(part, Along):
        return list(variables_of((part.subject, part.object)))
    if isinstance(part, NotAny | AnyOf):
        return [variable for body in part.alternatives for inner in body for variable in variables_in(inner)]
    if isinstance(part, Grouped):
        return [*part.group, *(binding.variable for binding in part.bindings)]
    if isinstance(part, Chosen):
        return list(chosen_variables(part))
    return list(variables_of(part))  # type: ignore[arg-type]  # a part of a body


def without_not(part: NotAny, bound: Collection[Variable], core: Sequence[BodyLiteral], context: Context) -> Negation:
    """Return the negation of an atom in place of one of a conjunction or disjunction.

    Args:
        part: The negation.
        bound: The variables that have values outside of it. Others are local to it.
        core: What gives them these values.
        context: For the new predicate.
    """
    shared = tuple(dict.fromkeys(variable for variable in variables_in(part) if variable in bound))
    alternatives = without_alternatives(part.alternatives, context, part.span)
    needs_values = any(not set(shared) <= bound_by(body) for body in alternatives)
    atom = Atom(context.predicate(CORRELATED if needs_values else "not"), shared, part.span)
    around = giving(shared, core, context) or () if needs_values else ()
    bodies = [body if set(shared) <= bound_by(body) else (*around, *body) for body in alternatives]
    context.define(atom, *bodies)
    return Negation(atom, part.span)


def not_holding(condition: Expression) -> Call:
    """Return an expression that is true where a condition is false or an error, as a negation holds if there is no solution."""
    return Call("COALESCE", (Call("IF", (condition, _FALSE, _TRUE)), _TRUE))


def as_condition(body: SurfaceBody, bound: Collection[Variable], span: Span | None) -> list[BodyLiteral]:
    """Return a condition in place of negated conditions; nothing if something else is negated, or has variables of its own."""
    conditions = [condition for part in body for condition in _condition(part)]
    if len(conditions) < len(body) or not {variable for part in conditions for variable in variables_of(part)} <= set(bound):
        return []
    return [Filter(not_holding(_all_of(conditions)), span)]


def _condition(part: object) -> tuple[Expression, ...]:
    if isinstance(part, Condition | Filter):
        return (part.expression,)
    if isinstance(part, Same):
        return (Call("SAMETERM", (part.first, part.second), part.span),)
    if isinstance(part, Each) and len(part.variables) == 1 and not is_pattern(part.variables[0]):
        return (membership(part.variables[0], part.collection, part.span),)
    return ()


def _all_of(conditions: Sequence[Expression]) -> Expression:
    first, *others = conditions
    for condition in others:
        first = Call("&&", (first, condition))
    return first


def negated_atom(body: SurfaceBody, bound: Collection[Variable], span: Span | None, context: Context) -> list[BodyLiteral]:
    """Return values and the negation of an atom that has them as arguments; nothing if more than an atom is negated.

    Where an argument is an error, no fact matches.
    """
    if len(body) > 1 or not isinstance(body[0], Applied):
        return []
    calls = [argument for argument in body[0].arguments if isinstance(argument, Call)]
    if not all(set(variables_of(call)) <= set(bound) for call in calls):
        return []
    atom, values = without_expressions(body[0], context, is_head=True)
    given = [
        Bind(Call("COALESCE", (value.expression, NO_VALUE)), value.variable, value.span)
        for value in values
        if isinstance(value, Bind)
    ]
    return [*given, Negation(atom, span)]


def with_groups(group: Sequence[Variable], around: SurfaceBody, context: Context, span: Span | None) -> Atom | None:
    """Return an atom that binds the groups of an aggregate to their values around it; None if not all have some."""
    parts = giving(group, around, context)
    if parts is None:
        return None
    atom = Atom(context.predicate(CORRELATED), tuple(group), span)
    context.define(atom, parts)
    return atom


def giving(wanted: Collection[Variable], around: Sequence[object], context: Context) -> tuple[BodyLiteral, ...] | None:
    """Return parts of a body that give values to some variables; None if it does not.

    Other aggregates are among them if they have to be, and so are atoms of the statement's own head: without these, what is
    negated or aggregated with the values does not depend on itself. Then there may be further values, which the rest of the rule
    leaves out.
    """
    atoms: list[BodyLiteral] = [part for part in around if isinstance(part, Atom)]
    others: list[BodyLiteral] = [part for part in atoms if isinstance(part, Atom) and key_of(part) not in context.heads]
    aggregates: list[BodyLiteral] = [part for part in around if isinstance(part, Aggregate)]
    for kept in (others, others + aggregates, atoms, atoms + aggregates):
        parts = _with_binds(kept, around)
        if given_by(parts).issuperset(wanted):
            return tuple(parts)
    return None


def _with_binds(kept: Sequence[BodyLiteral], around: Sequence[object]) -> list[BodyLiteral]:
    """Return parts of a body, and its values that are computed from them."""
    parts = list(kept)
    while True:
        known = given_by(parts)
        ready = [
            part
            for part in around
            if isinstance(part, Bind) and part not in parts and known.issuperset(variables_of(part.expression))
        ]
        if not ready:
            return parts
        parts += ready


def bound_by(body: SurfaceBody) -> set[Variable]:
    """Return the variables that a body binds, whatever its surroundings."""
    found: set[Variable] = set()
    for part in body:
        if isinstance(part, Atom):
            found.update(variables_of(part))
        elif isinstance(part, Applied):
            found.update(variable for argument in part.arguments for variable in pattern_variables(argument))
        elif isinstance(part, Aggregate | Grouped):
            found.update(binding.variable for binding in part.bindings)
            found.update(part.group if isinstance(part, Aggregate) else set(part.group) - set(unbound_groups(part)))
        elif isinstance(part, Bind):
            found.add(part.variable)
        elif isinstance(part, Chosen):
            found.update(chosen_variables(part))
        elif isinstance(part, AnyOf):
            found.update(set.intersection(*map(bound_by, part.alternatives)))
        elif isinstance(part, Each):
            found.update(variable for member in part.variables for variable in pattern_variables(member))
    return found


def unbound_groups(part: Grouped) -> list[Variable]:
    """Return the groups of an aggregate to which its body gives no values, or not in all of its alternatives."""
    given = set.intersection(*map(_given_in, part.alternatives))
    return [variable for variable in part.group if variable not in given]


def _given_in(body: SurfaceBody) -> set[Variable]:
    """Return the variables that a body binds, by equations, too."""
    found = bound_by(body)
    equations = [sides for part in body if (sides := sides_of(part)) is not None]
    both = [each for left, right in equations for each in ((left, right), (right, left))]
    while more := {
        variable
        for target, value in both
        if found.issuperset(variables_of(value))
        for variable in pattern_variables(target)
        if variable not in found
    }:
        found |= more
    return found


def without_alternatives_in(part: Grouped, context: Context) -> Grouped:
    """Return an aggregate whose body has no alternatives: where it had several, they are rules for a new predicate."""
    bodies = without_alternatives(part.alternatives, context, part.span)
    if len(bodies) == 1:
        return Grouped((bodies[0],), part.group, part.bindings, part.span)
    kept = (variable for inner in bodies[0] for variable in variables_in(inner) if not variable.name.startswith("_"))
    common = tuple(variable for variable in dict.fromkeys(kept) if all(_has(body, variable) for body in bodies[1:]))
    atom = Atom(context.predicate("any"), common, part.span)
    context.define(atom, *bodies)
    return Grouped(((atom,),), part.group, part.bindings, part.span)


def chosen_variables(part: Chosen) -> tuple[Variable, ...]:
    """Return the variables to which a choice gives values: those of its body that have names, in all of its alternatives."""
    first, *others = part.alternatives
    named = dict.fromkeys(variable for inner in first for variable in variables_in(inner) if not variable.name.startswith("_"))
    return tuple(variable for variable in named if all(_has(body, variable) for body in others))


def without_choice(part: Chosen, context: Context) -> Atom:
    """Return an atom of a new predicate in place of a choice; another new predicate has the facts to choose from.

    Raises:
        RuleSyntaxError: A variable of the key is not in the body, or there is nothing to choose.
    """
    variables = chosen_variables(part)
    for variable in part.key:
        if variable not in variables:
            raise RuleSyntaxError(f"{variable} has no value in the body of CHOOSE", variable.span or part.span)
    if set(part.key) == set(variables):
        raise RuleSyntaxError("the key of CHOOSE has all variables, so that there is nothing to choose", part.span)
    candidates = Atom(context.predicate("candidates"), variables, part.span)
    context.define(candidates, *without_alternatives(part.alternatives, context, part.span))
    found = Atom(context.predicate("chosen"), variables, part.span)
    context.define(found, chosen(candidates.predicate, variables, part.key))
    return found


def _has(body: SurfaceBody, variable: Variable) -> bool:
    return any(variable in variables_in(part) for part in body)
