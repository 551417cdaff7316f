"""The members of collections: ``?x IN SPLIT(?s, ",")`` has a solution for each.

A predicate of its own has them. Another one halves the places of a collection until each range has one place, so that the number
of rounds is the logarithm of the size.
"""

from __future__ import annotations

from collections.abc import Iterable

from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.surface import Each
from kg_reasoner.program import Aggregate, Atom, Bind, BodyLiteral, Call, Expression, Filter, Variable, variables_of
from kg_reasoner.terms import Literal, literal

__all__ = ["members"]

_ZERO, _ONE, _TWO = literal(0), literal(1), literal(2)
_COLLECTION = Variable("collection")
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
    end = context.variable("end")
    start: Variable | Literal
    if isinstance(whole, Call) and whole.name == "RANGE":
        start = context.variable("start")
        values: tuple[Expression, ...] = (_LOW,)
        scope: tuple[Variable, ...] = (start, end)
        computed = tuple(Bind(limit, name, span) for limit, name in zip(whole.arguments, scope, strict=True))
        size = computed
    else:
        held = context.variable("collection")
        start, scope, computed = _ZERO, (held,), (Bind(whole, held, span),)
        size = (*computed, Bind(Call("SIZE", (held,), span), end, span))
        member = Call("ELEMENT", (_COLLECTION, _LOW), span)
        places_in = (Call("ELEMENT", (member, literal(place)), span) for place in range(len(part.variables)))
        values = (member,) if len(part.variables) == 1 else tuple(places_in)
    places = Atom(context.predicate("places"), (*_scope(scope), _LOW, _HIGH), span)
    context.define(Atom(places.predicate, (*scope, start, end), span), (*around, *size))
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
    return (*computed, Atom(found.predicate, (*scope, *part.variables), span))  # type: ignore[arg-type]  # patterns are gone


def _scope(scope: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """Return the variables of what a range or a collection is identified by, in the rules of its places."""
    return (_COLLECTION,) if len(scope) == 1 else (Variable("first"), Variable("end"))


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
