"""Texts as numbers and numbers as texts: bases other than ten, code points; and texts without blanks around them."""

from __future__ import annotations

from typing import Final, TypeGuard

from kg_reasoner.expressions.functions.kinds import NUMBER, SIMPLE, TERM, TEXT, Function
from kg_reasoner.expressions.functions.numbers import DIGITS, Number, exactly
from kg_reasoner.expressions.functions.strings import converting
from kg_reasoner.expressions.functions.structure_functions import STRUCTURE
from kg_reasoner.expressions.structures import Structure, encode
from kg_reasoner.terms import Literal, literal

__all__ = ["FUNCTIONS"]

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_LAST_CODE_POINT: Final = 0x10FFFF


def _is_base(base: Number) -> TypeGuard[int]:
    return isinstance(base, int) and 2 <= base <= len(_DIGITS)


def _from_base(text: str, base: Number) -> Number | None:
    """Return the integer that a text of digits and lower or upper case letters is, with a sign or not."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not _is_base(base) or not digits or len(digits) > 4 * DIGITS or not set(digits.lower()) <= set(_DIGITS[:base]):
        return None
    number = 0
    for digit in digits.lower():
        number = number * base + _DIGITS.index(digit)
    return exactly(-number if text[0] == "-" else number)


def _to_base(number: Number, base: Number) -> str | None:
    """Return the digits of an integer, with lower case letters after 9."""
    if not (isinstance(number, int) and _is_base(base)):
        return None
    digits: list[str] = []
    rest = abs(number)
    while rest or not digits:
        rest, digit = divmod(rest, base)
        digits.append(_DIGITS[digit])
    return ("-" if number < 0 else "") + "".join(reversed(digits))


def _code_points(text: Literal) -> Literal:
    return encode("list", [literal(ord(character)) for character in text.lexical])


def _from_code_points(points: Structure) -> str | None:
    """Return the text of a list of code points; None if one of them is none, or half of a surrogate pair."""
    numbers = [NUMBER.read(point) for point in points.members]
    if points.kind != "list" or not all(_is_code_point(number) for number in numbers):
        return None
    return "".join(map(chr, numbers))


def _is_code_point(number: Number | None) -> bool:
    return isinstance(number, int) and 0 < number <= _LAST_CODE_POINT and not 0xD800 <= number <= 0xDFFF


FUNCTIONS: Final = {
    "TRIM": converting(str.strip),
    "CODEPOINTS": Function((TEXT,), TERM, _code_points),
    "FROM_CODEPOINTS": Function((STRUCTURE,), SIMPLE, _from_code_points),
    "FROM_BASE": Function((SIMPLE, NUMBER), NUMBER, _from_base),
    "TO_BASE": Function((NUMBER, NUMBER), SIMPLE, _to_base),
}
"""The functions by name."""
