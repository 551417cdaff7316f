"""Functions on the texts of many terms at once: ``SPLIT``, ``SIZE`` and ``ELEMENT``, which the members of collections need.

Terms are not made for them: texts in the form of `term_text` become texts. What is not in the common forms (escapes, nested structures,
records, other datatypes) is None, and the caller evaluates the expression for this row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from kg_reasoner.expressions.structures import NAMESPACE
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.terms import XSD, Literal, literal

__all__ = ["TextFunction", "is_element", "members_of", "text_function"]

TextFunction: TypeAlias = Callable[[Sequence[str]], list[str | None]]
"""A function of the texts of its only argument."""

_STRING: Final = XSD.string.value
_ENDS: Final = {f'"^^<{NAMESPACE}{kind}>': kind for kind in ("list", "set", "map", "tuple")}
_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'
_PLAIN: Final = "snib"
"""The first letters of members without structure, in the lexical forms of structures."""


def text_function(expression: Expression) -> TextFunction | None:
    """Return the function of texts that an expression of one variable is, or None."""
    if not isinstance(expression, Call) or not expression.arguments or not isinstance(expression.arguments[0], Variable):
        return None
    others = expression.arguments[1:]
    if expression.name == "SIZE":
        return lambda texts: [_size(text) for text in texts]
    if len(others) != 1 or not isinstance(others[0], Literal):
        return None
    lexical = others[0].lexical
    if expression.name == "SPLIT" and others[0].datatype == _STRING and not set(lexical) & set('"\\\n\r'):
        return lambda texts: [_split(text, lexical) for text in texts]
    if expression.name == "ELEMENT" and others[0] == literal(int(lexical) if lexical.isdecimal() else -1):
        return lambda texts: [_element(text, int(lexical)) for text in texts]
    return None


def is_element(expression: Expression) -> bool:
    """Return whether an expression is the member of a collection at a place, both of which are variables."""
    return (
        isinstance(expression, Call)
        and expression.name == "ELEMENT"
        and all(isinstance(argument, Variable) for argument in expression.arguments)
    )


def members_of(text: str) -> list[str] | None:
    """Return the texts of the members of a list, set, tuple or map; of a map, they are tuples of keys and values.

    >>> members_of('"2:n73:sab"^^<urn:kg-reasoner:list>')
    ['"7"^^<http://www.w3.org/2001/XMLSchema#integer>', '"ab"']
    """
    found = _inner(text)
    if found is None:
        return None
    kind, inner = found
    if kind != "map":
        return [_text(member) for member in inner]
    pairs = zip(inner[::2], inner[1::2], strict=True)
    return [f'"{len(key)}:{key}{len(value)}:{value}"^^<{NAMESPACE}tuple>' for key, value in pairs]


def _size(text: str) -> str | None:
    found = _inner(text)
    if found is None:
        return None
    kind, inner = found
    return f'"{len(inner) // 2 if kind == "map" else len(inner)}{_INTEGER_END}'


def _element(text: str, place: int) -> str | None:
    members = members_of(text)
    return members[place] if members is not None and place < len(members) else None


def _split(text: str, separator: str) -> str | None:
    if text[-1] != '"' or text[0] != '"' or "\\" in text:
        return None
    inner = text[1:-1]
    parts = inner.split(separator) if separator else list(inner)
    return '"' + "".join([f"{len(part) + 1}:s{part}" for part in parts]) + f'"^^<{NAMESPACE}list>'


def _inner(text: str) -> tuple[str, list[str]] | None:
    """Return the kind of a structure whose members have no structure, and its members, each with its first letter."""
    quote = text.rfind('"')
    kind = _ENDS.get(text[quote:])
    if kind is None or "\\" in text:
        return None
    found = []
    place = 1
    while place < quote:
        colon = text.find(":", place, quote)
        digits = text[place:colon] if colon > 0 else ""
        if not (digits.isascii() and digits.isdecimal()) or digits[0] == "0" or len(digits) > 9:
            return None
        place = colon + 1 + int(digits)
        member = text[colon + 1 : place]
        if place > quote or member[0] not in _PLAIN:
            return None
        found.append(member)
    keys = found[::2] if kind == "map" else found
    if kind in ("set", "map") and any(one >= other for one, other in zip(keys, keys[1:], strict=False)):
        return None
    return None if kind == "map" and len(found) % 2 else (kind, found)


def _text(member: str) -> str:
    """Return the text of the term that a member of a structure is. There is nothing to escape in it."""
    letter, rest = member[0], member[1:]
    if letter == "s":
        return f'"{rest}"'
    if letter == "n":
        return f'"{rest}{_INTEGER_END}'
    return f"<{rest}>" if letter == "i" else f"_:{rest}"
