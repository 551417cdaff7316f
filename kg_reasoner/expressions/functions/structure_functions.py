"""Functions on structures: lists, sets, maps, tuples and records (see `kg_reasoner.expressions.structures`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, SIMPLE, TERM, Function, Kind
from kg_reasoner.expressions.functions.numbers import Number
from kg_reasoner.expressions.ordering import order_key
from kg_reasoner.expressions.structures import Structure, decode, encode
from kg_reasoner.terms import Literal, Term, literal

__all__ = ["FUNCTIONS", "STRUCTURE"]

STRUCTURE: Final = Kind("collection", decode, lambda value: encode(value.kind, value.members, value.constructor))
"""A structure, as `Structure`."""

_LONGEST_RANGE: Final = 1_000_000


def _maker(kind: str) -> Callable[..., Literal | None]:
    def apply(*members: Term) -> Literal | None:
        return None if kind == "map" and len(members) % 2 else encode(kind, members)

    return apply


def _element(collection: Structure, place: Number) -> Term | None:
    """Return the member at a place, counted from 0; of a map, a tuple of the key and its value."""
    if not isinstance(place, int) or not 0 <= place < collection.size:
        return None
    if collection.kind == "map":
        return encode("tuple", collection.members[2 * place : 2 * place + 2])
    return collection.members[place]


def _get(collection: Structure, key: Term) -> Term | None:
    """Return the value of a key of a map."""
    if collection.kind != "map":
        return None
    keys = collection.members[::2]
    return collection.members[2 * keys.index(key) + 1] if key in keys else None


def _has(collection: Structure, member: Term) -> bool:
    return member in (collection.members[::2] if collection.kind == "map" else collection.members)


def _split(text: str, separator: str) -> Literal:
    parts = text.split(separator) if separator else list(text)
    return encode("list", map(Literal, parts))


def _join(collection: Structure, separator: str) -> str | None:
    texts = [member.lexical if isinstance(member, Literal) else str(member) for member in collection.members]
    return None if collection.kind == "map" else separator.join(texts)


def _range(first: Number, end: Number, step: Number = 1) -> Literal | None:
    """Return the integers from `first` to `end`, which is not included; none if the step is 0."""
    if not (isinstance(first, int) and isinstance(end, int) and isinstance(step, int)):
        return None
    size = max(0, -((first - end) // step)) if step else 0
    if size > _LONGEST_RANGE:
        return None
    return encode("list", (literal(first + step * place) for place in range(size)))


def _appended(collection: Structure, *members: Term) -> Literal | None:
    if collection.kind not in ("list", "set"):
        return None
    return encode(collection.kind, (*collection.members, *members))


def _union(first: Structure, second: Structure) -> Literal | None:
    if first.kind != second.kind or first.kind not in ("list", "set", "map"):
        return None
    return encode(first.kind, (*first.members, *second.members))


def _without(first: Structure, second: Structure) -> Literal | None:
    gone = set(second.members)
    if first.kind not in ("list", "set"):
        return None
    return encode(first.kind, [member for member in first.members if member not in gone])


def _common(first: Structure, second: Structure) -> Literal | None:
    kept = set(second.members)
    if first.kind not in ("list", "set"):
        return None
    return encode(first.kind, [member for member in first.members if member in kept])


def _put(collection: Structure, place: Term, value: Term) -> Literal | None:
    """Return a list with another member at a place, counted from 0, or a map with a value for a key."""
    if collection.kind == "map":
        return encode("map", (*collection.members, place, value))
    number = NUMBER.read(place)
    if collection.kind != "list" or not isinstance(number, int) or not 0 <= number < collection.size:
        return None
    return encode("list", (*collection.members[:number], value, *collection.members[number + 1 :]))


def _slice(collection: Structure, first: Number, end: Number | None = None) -> Literal | None:
    """Return the members of a list from one place to another, which is not included."""
    if end is None:
        end = collection.size
    if collection.kind != "list" or not isinstance(first, int) or not isinstance(end, int) or min(first, end) < 0:
        return None
    return encode("list", collection.members[first:end])


def _sorted(collection: Structure) -> Literal | None:
    members = collection.members[::2] if collection.kind == "map" else collection.members
    return encode("list", sorted(members, key=order_key))


def _reversed(collection: Structure) -> Literal | None:
    return encode("list", collection.members[::-1]) if collection.kind == "list" else None


def _zip(first: Structure, second: Structure) -> Literal | None:
    if first.kind != "list" or second.kind != "list":
        return None
    return encode("list", [encode("tuple", pair) for pair in zip(first.members, second.members, strict=False)])


def _as_map(collection: Structure) -> Literal | None:
    """Return the map of a list or set of tuples of a key and a value; the last one of a key counts."""
    if collection.kind == "map":
        return encode("map", collection.members)
    pairs = [decode(member) for member in collection.members]
    if any(pair is None or pair.kind != "tuple" or pair.size != 2 for pair in pairs):
        return None
    return encode("map", [part for pair in pairs if pair is not None for part in pair.members])


def _part(which: int) -> Callable[[Structure], Literal | None]:
    """Return the function of a map that gives its keys (0) or values (1)."""

    def apply(collection: Structure) -> Literal | None:
        return encode("list", collection.members[which::2]) if collection.kind == "map" else None

    return apply


def _as(kind: str) -> Callable[[Structure], Any]:
    return lambda collection: None if collection.kind == "map" else encode(kind, collection.members)


def _is_record(term: Term, name: str) -> bool:
    found = decode(term)
    return found is not None and found.kind == "record" and found.constructor == name


FUNCTIONS: Final = {
    "LIST": Function((), TERM, _maker("list"), rest=TERM),
    "SET": Function((), TERM, _maker("set"), rest=TERM),
    "MAP": Function((), TERM, _maker("map"), rest=TERM),
    "TUPLE": Function((), TERM, _maker("tuple"), rest=TERM),
    "RECORD": Function((SIMPLE,), TERM, lambda name, *members: encode("record", members, name), rest=TERM),
    "IS_RECORD": Function((TERM, SIMPLE), BOOLEAN, _is_record),
    "SIZE": Function((STRUCTURE,), NUMBER, lambda collection: collection.size),
    "ELEMENT": Function((STRUCTURE, NUMBER), TERM, _element),
    "GET": Function((STRUCTURE, TERM), TERM, _get),
    "HAS": Function((STRUCTURE, TERM), BOOLEAN, _has),
    "KEYS": Function((STRUCTURE,), TERM, _part(0)),
    "VALUES": Function((STRUCTURE,), TERM, _part(1)),
    "AS_LIST": Function((STRUCTURE,), TERM, _as("list")),
    "AS_SET": Function((STRUCTURE,), TERM, _as("set")),
    "APPEND": Function((STRUCTURE,), TERM, _appended, rest=TERM),
    "UNION": Function((STRUCTURE, STRUCTURE), TERM, _union),
    "WITHOUT": Function((STRUCTURE, STRUCTURE), TERM, _without),
    "SPLIT": Function((SIMPLE, SIMPLE), TERM, _split),
    "JOIN": Function((STRUCTURE, SIMPLE), SIMPLE, _join),
    "RANGE": Function((NUMBER, NUMBER, NUMBER), TERM, _range, optional=1),
    "INTERSECTION": Function((STRUCTURE, STRUCTURE), TERM, _common),
    "PUT": Function((STRUCTURE, TERM, TERM), TERM, _put),
    "SLICE": Function((STRUCTURE, NUMBER, NUMBER), TERM, _slice, optional=1),
    "SORT": Function((STRUCTURE,), TERM, _sorted),
    "REVERSE": Function((STRUCTURE,), TERM, _reversed),
    "ZIP": Function((STRUCTURE, STRUCTURE), TERM, _zip),
    "AS_MAP": Function((STRUCTURE,), TERM, _as_map),
}
"""The functions on structures; places count from 0."""
