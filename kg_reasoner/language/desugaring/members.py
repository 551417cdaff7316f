"""The members of collections: ``?x IN SPLIT(?s, ",")`` has a solution for each.

An auxiliary predicate has them. Another one has the places of collections of a given size: it halves them until each range has one
place, so that the number of rounds is the logarithm of the size. Collections of one size share their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

from kg_reasoner.errors import RuleSyntaxError, Span, UnsupportedError
from kg_reasoner.expressions.functions.numbers import number_of
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.surface import Each, SurfaceBody
from kg_reasoner.program import Aggregate, Argument, Atom, Bind, BodyLiteral, Call, Expression, Filter, Variable, variables_of
from kg_reasoner.terms import Literal, literal

__all__ = ["is_range", "members", "membership"]

_MOST_FACTS: Final = 1 << 31
_ZERO, _ONE, _TWO = literal(0), literal(1), literal(2)


def is_range(collection: object) -> bool:
    """Return whether a collection is that of the integers between two numbers, which need not be enumerated to compare a value."""
    return isinstance(collection, Call) and collection.name == "RANGE" and len(collection.arguments) == 2


def membership(member: Expression, collection: Expression, span: Span | None) -> Call:
    """Return an expression for whether a collection has a member."""
    if not is_range(collection) or isinstance(member, Call):  # the comparisons would repeat the call four times
        return Call("HAS", (collection, member), span)
    is_integer, *compared = _within(member, collection)
    found = Call("COALESCE", (is_integer, literal(False)), span)
    for condition in compared:
        found = Call("&&", (found, condition), span)
    return found


def members(part: Each, bound: Set[Variable], body: Iterable[object], context: Context) -> tuple[BodyLiteral, ...]:
    """Return the parts that give the members of a collection to variables.

    The predicates have the variables of the collection's expression, so that they are joined by these, and not by a computed value.

    Args:
        part: The variables and the collection.
        bound: The variables that have values without it.
        body: The body that it is in.
        context: For new names.

    Raises:
        RuleSyntaxError: The parts of integers are asked for.
        UnsupportedError: They are the integers between two constants, and more than a relation can have.
    """
    whole, span = part.collection, part.span
    scope = tuple(dict.fromkeys(variables_of(whole)))
    binders = _binders(set(scope), body)
    name = context.predicate("members")
    results = tuple(context.variable("member") for _ in part.variables)
    head = Atom(name, (*scope, *results), span)
    if is_range(whole) and len(results) > 1:
        raise RuleSyntaxError("the members of a range are integers, which have no parts", span, "write ?x IN RANGE(...)")
    if is_range(whole) and part.variables[0] in bound:
        return tuple(Filter(condition, span) for condition in _within(part.variables[0], whole))
    if isinstance(whole, Call) and is_range(whole):
        _expect_enumerable(whole.arguments, span)
        start, end = context.variable("start"), context.variable("end")
        ends = Bind(_whole_number(whole.arguments[0], span), start, span), Bind(_whole_number(whole.arguments[1], span), end, span)
        place = _places(scope, start, (*binders, *ends), end, context, span)
        context.define(head, (place, Bind(place.terms[-1], results[0], span)))
    else:
        collection, size = context.variable("collection"), context.variable("size")
        held = Bind(whole, collection, span)
        sized = Atom(context.predicate("places"), (*scope, size), span)
        context.define(sized, (*binders, held, Bind(Call("SIZE", (collection,), span), size, span)))
        place = _places((size,), _ZERO, (sized,), size, context, span)
        context.define(head, (sized, place, held, *_values(collection, place.terms[-1], results, context, span)))
    return (Atom(name, (*scope, *part.variables), span),)  # type: ignore[arg-type]  # patterns are gone


def _within(value: Expression, whole: Expression) -> tuple[Call, Call, Call]:
    """Return the conditions that a value is a member of a range."""
    assert isinstance(whole, Call)
    (start, end), span = whole.arguments, whole.span
    return (
        Call("SAMETERM", (value, Call("BOR", (value, _ZERO), span)), span),
        Call(">=", (value, _whole_number(start, span)), span),
        Call("<", (value, _whole_number(end, span)), span),
    )


def _expect_enumerable(ends: Sequence[Expression], span: Span | None) -> None:
    start, end = (number_of(side) if isinstance(side, Literal) else None for side in ends)
    if isinstance(start, int) and isinstance(end, int) and end - start > _MOST_FACTS:
        hint = "give the variable its values by another part of the body, and they are compared with the ends"
        raise UnsupportedError("the range has more integers than a relation can have", span, hint)


def _whole_number(argument: Expression, span: Span | None) -> Expression:
    """Return an expression for the canonical literal of an integer, which is an error for other values, as they are for RANGE."""
    number = number_of(argument) if isinstance(argument, Literal) else None
    is_canonical = isinstance(number, int) and argument == literal(number)
    return argument if is_canonical else Call("BOR", (argument, _ZERO), span)


def _places(
    scope: tuple[Variable, ...], start: Variable | Literal, body: SurfaceBody, end: Variable, context: Context, span: Span | None
) -> Atom:
    """Return an atom for the places between two numbers, and define its predicate.

    Args:
        scope: What the places depend on.
        start: The first place.
        body: What gives values to the scope and the numbers.
        end: The place behind the last one.
        context: For new names.
        span: The position of the atom.
    """
    low, high, middle = (context.variable(name) for name in ("low", "high", "middle"))
    ranges = Atom(context.predicate("places"), (*scope, low, high), span)
    context.define(Atom(ranges.predicate, (*scope, start, end), span), body)
    several = Filter(Call(">", (Call("-", (high, low)), _ONE)), span)
    half = Call("IDIV", (Call("-", (high, low)), _TWO))
    cut = Bind(Call("+", (low, half)), middle, span)
    for ends in ((low, middle), (middle, high)):
        context.define(Atom(ranges.predicate, (*scope, *ends), span), (ranges, several, cut))
    place = Atom(context.predicate("places"), (*scope, low), span)
    context.define(place, (ranges, Filter(Call("=", (Call("-", (high, low)), _ONE)), span)))
    return place


def _values(
    collection: Variable, place: Argument, results: tuple[Variable, ...], context: Context, span: Span | None
) -> Iterator[Bind]:
    """Yield the parts that give the member at a place, or its own members, to variables."""
    if len(results) == 1:
        yield Bind(Call("ELEMENT", (collection, place), span), results[0], span)
        return
    member = context.variable("tuple")
    yield Bind(Call("ELEMENT", (collection, place), span), member, span)
    for number, result in enumerate(results):
        yield Bind(Call("ELEMENT", (member, literal(number)), span), result, span)


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
