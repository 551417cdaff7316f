"""The bodies of NOT and AGGREGATE that are more than a body may contain: a predicate of their own in their place."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kg_reasoner.errors import RuleSyntaxError
from kg_reasoner.language.choice import chosen
from kg_reasoner.language.desugaring.alternatives import without_alternatives
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.structure_patterns import pattern_variables
from kg_reasoner.language.surface import Along, AnyOf, Applied, Chosen, Condition, Each, Grouped, NotAny, Same, SurfaceBody
from kg_reasoner.program import Aggregate, Atom, Bind, BodyLiteral, Negation, Variable, variables_of

__all__ = ["bound_by", "variables_in", "without_alternatives_in", "without_choice", "without_not"]


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
    atom = Atom(context.predicate("not"), shared, part.span)
    around = tuple(other for other in core if isinstance(other, Atom | Bind | Aggregate))
    bodies = [body if set(shared) <= bound_by(body) else (*around, *body) for body in alternatives]
    context.define(atom, *bodies)
    return Negation(atom, part.span)


def bound_by(body: SurfaceBody) -> set[Variable]:
    """Return the variables that a body binds, whatever its surroundings."""
    found: set[Variable] = set()
    for part in body:
        if isinstance(part, Atom):
            found.update(variables_of(part))
        elif isinstance(part, Applied):
            found.update(variable for argument in part.arguments for variable in pattern_variables(argument))
        elif isinstance(part, Aggregate | Grouped):
            found.update((*part.group, *(binding.variable for binding in part.bindings)))
        elif isinstance(part, Bind):
            found.add(part.variable)
        elif isinstance(part, Chosen):
            found.update(chosen_variables(part))
        elif isinstance(part, Each):
            found.update(variable for member in part.variables for variable in pattern_variables(member))
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
    """Return an atom of a new predicate in place of a choice; another new predicate has what is chosen from.

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
