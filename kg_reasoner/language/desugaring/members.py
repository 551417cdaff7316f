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


def members(part: Each, body: Iterable[object], context: Context) -> tuple[BodyLiteral, ...]:
    """Return the parts that give the members of a collection to variables.

    The predicates have the variables of the collection's expression, so that they are joined by these, and not by a computed value.

    Args:
        part: The variables and the collection.
        body: The body that it is in.
        context: For new names.
    """
    whole, span = part.collection, part.span
    scope = tuple(dict.fromkeys(variables_of(whole)))
    low, high, middle, end = (context.variable(name) for name in ("low", "high", "middle", "end"))
    start: Variable | Literal = _ZERO
    if isinstance(whole, Call) and whole.name == "RANGE" and len(whole.arguments) == 2:
        start = context.variable("start")
        first, last = whole.arguments
        size: tuple[Bind, ...] = Bind(first, start, span), Bind(last, end, span)
        held: tuple[Bind, ...] = ()
        values: tuple[Expression, ...] = (low,)
    else:
        collection = context.variable("collection")
        held = (Bind(whole, collection, span),)
        size = (held[0], Bind(Call("SIZE", (collection,), span), end, span))
        values = (Call("ELEMENT", (collection, low), span),)
        if len(part.variables) > 1:
            member = context.variable("tuple")
            held = (*held, Bind(values[0], member, span))
            values = tuple(Call("ELEMENT", (member, literal(place)), span) for place in range(len(part.variables)))
    places = Atom(context.predicate("places"), (*scope, low, high), span)
    context.define(Atom(places.predicate, (*scope, start, end), span), (*_binders(set(scope), body), *size))
    several = Filter(Call(">", (Call("-", (high, low)), _ONE)), span)
    half = Call("IDIV", (Call("-", (high, low)), _TWO))
    cut = Bind(Call("+", (low, half)), middle, span)
    for ends in ((low, middle), (middle, high)):
        context.define(Atom(places.predicate, (*scope, *ends), span), (places, several, cut))
    results = tuple(context.variable("member") for _ in values)
    name = context.predicate("members")
    single = Filter(Call("=", (Call("-", (high, low)), _ONE)), span)
    given = (Bind(value, result, span) for value, result in zip(values, results, strict=True))
    context.define(Atom(name, (*scope, *results), span), (places, single, *held, *given))
    return (Atom(name, (*scope, *part.variables), span),)  # type: ignore[arg-type]  # patterns are gone


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
