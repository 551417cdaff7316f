"""The members of collections: ``?x IN SPLIT(?s, ",")`` has a solution for each.

A predicate of its own has them. Another one halves the places of a collection until each range has one place, so that the number
of rounds is the logarithm of the size.
"""

from __future__ import annotations

from collections.abc import Iterable

from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.surface import Each
from kg_reasoner.program import Aggregate, Atom, Bind, BodyLiteral, Call, Expression, Filter, Variable, variables_of
from kg_reasoner.terms import literal

__all__ = ["members"]

_ZERO, _ONE, _TWO = literal(0), literal(1), literal(2)
_LOW, _MIDDLE, _HIGH = Variable("low"), Variable("middle"), Variable("high")


def members(part: Each, body: Iterable[object], context: Context) -> tuple[BodyLiteral, ...]:
    """Return the parts that give the members of a collection to variables.

    Args:
        part: The variables and the collection.
        body: The body that it is in.
        context: For new names.
    """
    whole, span = part.collection, part.span
    around = _binders(set(variables_of(whole)), body)
    if isinstance(whole, Call) and whole.name == "RANGE":
        first, end = whole.arguments
        start, scope, values = first, (first, end), (_LOW,)
    else:
        start, scope, end = _ZERO, (whole,), Call("SIZE", (whole,), span)
        held = Variable("collection")
        member = Call("ELEMENT", (held, _LOW), span)
        values = (member,) if len(part.variables) == 1 else tuple(
            Call("ELEMENT", (member, literal(place)), span) for place in range(len(part.variables))
        )
    names = tuple(context.variable("collection") for _ in scope)
    computed = tuple(Bind(value, name, span) for name, value in zip(names, scope, strict=True))
    places = Atom(context.predicate("places"), (*_scope(scope), _LOW, _HIGH), span)
    first_place, last_place = context.variable("first"), context.variable("last")
    bounds = Bind(start, first_place, span), Bind(end, last_place, span), Filter(Call("<", (first_place, last_place)), span)
    context.define(Atom(places.predicate, (*names, first_place, last_place), span), (*around, *computed, *bounds))
    several = Filter(Call(">", (Call("-", (_HIGH, _LOW)), _ONE)), span)
    half = Call("IDIV", (Call("-", (_HIGH, _LOW)), _TWO))
    middle = Bind(Call("+", (_LOW, half)), _MIDDLE, span)
    for ends in ((_LOW, _MIDDLE), (_MIDDLE, _HIGH)):
        context.define(Atom(places.predicate, (*_scope(scope), *ends), span), (places, several, middle))
    results = tuple(Variable(f"member{place}") for place in range(len(values)))
    found = Atom(context.predicate("members"), (*_scope(scope), *results), span)
    single = Filter(Call("=", (Call("-", (_HIGH, _LOW)), _ONE)), span)
    given = (Bind(value, result, span) for value, result in zip(values, results, strict=True))
    context.define(found, (places, single, *given))
    return (*computed, Atom(found.predicate, (*names, *part.variables), span))


def _scope(scope: tuple[Expression, ...]) -> tuple[Variable, ...]:
    """Return the variables of what a range or a collection is identified by, in the rules of its places."""
    return (Variable("collection"),) if len(scope) == 1 else (Variable("first"), Variable("end"))


def _binders(wanted: set[Variable], body: Iterable[object]) -> tuple[BodyLiteral, ...]:
    """Return the parts of a body that give values to some variables, and to those that their values are computed from."""
    parts = [part for part in body if isinstance(part, Atom | Bind | Aggregate)]
    chosen: list[BodyLiteral] = []
    grows = True
    while grows:
        grows = False
        for part in parts:
            gives = {part.variable} if isinstance(part, Bind) else set(variables_of(part))
            if part not in chosen and gives & wanted:
                chosen.append(part)
                if isinstance(part, Bind):
                    wanted |= set(variables_of(part.expression))
                grows = True
    return tuple(part for part in parts if part in chosen)
