"""The values of literals: numbers and their promotion, equality, order and the effective boolean value (sections 17.2 and 17.3)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal

from .times import duration, moment

KINDS: Final = ("integer", "decimal", "float", "double")
"""The numeric types in the order of promotion."""
_SUBTYPES: Final = """
    integer nonPositiveInteger negativeInteger long int short byte nonNegativeInteger unsignedLong unsignedInt unsignedShort
    unsignedByte positiveInteger
"""
_INTEGERS: Final = frozenset(XSD[name].value for name in _SUBTYPES.split())
_LEXICAL: Final = {
    "integer": re.compile(r"[+-]?[0-9]+"),
    "decimal": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"),
    "double": re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
}
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


class ExpressionError(Exception):
    """An expression has no value: a type error, an unbound variable, a division by zero ..."""


@dataclass(frozen=True, slots=True)
class Number:
    """The value of a numeric literal; `value` is an int, a Decimal or a float according to `kind`, one of `KINDS`."""

    kind: str
    value: int | Decimal | float


def number(term: Term) -> Number | None:
    """Return the number that a term is, or None if it is none."""
    if not isinstance(term, Literal):
        return None
    kind = "integer" if term.datatype in _INTEGERS else term.datatype.removeprefix(str(XSD))
    if kind not in KINDS or not _LEXICAL["double" if kind == "float" else kind].fullmatch(term.lexical):
        return None
    if kind == "integer":
        return Number(kind, int(term.lexical))
    if kind == "decimal":
        return Number(kind, Decimal(term.lexical))
    return Number(kind, _single(float(term.lexical)) if kind == "float" else float(term.lexical))


def number_term(value: Number) -> Literal:
    """Return a literal of a number."""
    if isinstance(value.value, Decimal):
        text = format(value.value, "f")
        return literal(Decimal(text.rstrip("0").rstrip(".") if "." in text else text))
    made = literal(value.value)
    return Literal(made.lexical, XSD[value.kind].value)


def promoted(first: Number, second: Number) -> tuple[Number, Number]:
    """Return two numbers as numbers of the wider of their kinds."""
    kind = max(first.kind, second.kind, key=KINDS.index)
    return converted(first, kind), converted(second, kind)


def converted(value: Number, kind: str) -> Number:
    """Return a number as a number of another kind, as casts and promotions do.

    Raises:
        ExpressionError: The number is infinite or NaN, and `kind` has no such numbers.
    """
    try:
        if kind == "integer":
            return Number(kind, int(value.value))
        if kind == "decimal":
            return Number(kind, Decimal(value.value))
        return Number(kind, _single(float(value.value)) if kind == "float" else float(value.value))
    except (ValueError, OverflowError, InvalidOperation) as error:
        raise ExpressionError("there is no such number") from error


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def string(term: Term) -> str | None:
    """Return the text of a literal without a language whose type is xsd:string, or None."""
    return term.lexical if isinstance(term, Literal) and term.language is None and term.datatype == XSD.string.value else None


def boolean(term: Term) -> bool | None:
    """Return the value of a literal of xsd:boolean, or None."""
    return _BOOLEANS.get(term.lexical) if isinstance(term, Literal) and term.datatype == XSD.boolean.value else None


def comparable(term: Term) -> tuple[str, object] | None:
    """Return the class of a literal of a known type and its value: values of one class are ordered. None for other terms."""
    found = number(term)
    if found is not None:
        return ("number", found.value) if found.value == found.value else ("NaN", 0)
    text, truth, when, span = string(term), boolean(term), moment(term), duration(term)
    if text is not None:
        return "string", text
    if truth is not None:
        return "boolean", truth
    if when is not None:
        return f"{when.datatype} {'without' if when.zone is None else 'with'} a zone", when.instant
    if span is not None:
        return f"a duration of {span.kind}", (span.months, span.seconds)
    return None


def equal(first: Term, second: Term) -> bool:
    """Return whether two terms are equal by the operator ``=``.

    Values of different known types are different, as section 17.3.1 permits and the W3C's tests expect (``"a" = 1`` is false).

    Raises:
        ExpressionError: Both are literals without a language tag, and one of them has no value that we know.
    """
    one, other = number(first), number(second)
    if one is not None and other is not None:
        a, b = promoted(one, other)
        return bool(a.value == b.value)
    if first == second:
        return True
    if not isinstance(first, Literal) or not isinstance(second, Literal):
        return False
    known, known_too = comparable(first), comparable(second)
    if None in (known, known_too) and first.language is None and second.language is None:
        raise ExpressionError("literals whose values are not known")
    if known is not None and known_too is not None:
        if known[0] != known_too[0] and {known[0], known_too[0]} == {
            f"{XSD.dateTime.value} {how} a zone" for how in ("with", "without")
        }:
            raise ExpressionError("only one of two times has a zone")
        return known == known_too
    return False


def less(first: Term, second: Term) -> bool:
    """Return whether a term is less than another by the operator ``<``.

    Raises:
        ExpressionError: The operator is not defined for them.
    """
    one, other = number(first), number(second)
    if one is not None and other is not None:
        a, b = promoted(one, other)
        return bool(a.value < b.value)
    known, known_too = comparable(first), comparable(second)
    if known is None or known_too is None or not _have_order(known[0], known_too[0]):
        raise ExpressionError("terms that < does not compare")
    return bool(known[1] < known_too[1])  # type: ignore[operator]


def _have_order(one: str, other: str) -> bool:
    spans = {"a duration of none", "a duration of months", "a duration of seconds"}
    if one.startswith("a duration") or other.startswith("a duration"):
        return {one, other} <= spans and (one == other or "a duration of none" in (one, other))
    return one == other


def truth(term: Term) -> bool:
    """Return the effective boolean value.

    Raises:
        ExpressionError: The term has none.
    """
    if not isinstance(term, Literal):
        raise ExpressionError("an IRI or blank node is neither true nor false")
    if term.datatype == XSD.boolean.value:
        return boolean(term) or False
    if term.datatype in (XSD.string.value, RDF.langString.value):
        return term.lexical != ""
    if term.datatype in _INTEGERS or term.datatype.removeprefix(str(XSD)) in KINDS:
        found = number(term)
        return found is not None and found.value == found.value and found.value != 0
    raise ExpressionError("a literal of this type is neither true nor false")


Key = tuple[int, str, object]
"""Where ORDER BY puts a value: keys with equal first and second parts can be compared, the others as `before` says."""


def order_key(term: Term | None) -> Key:
    """Return the place of a value in the order of section 15.1; None is unbound."""
    match term:
        case None:
            return 0, "", 0
        case BlankNode(label):
            return 1, label, 0
        case IRI(value):
            return 2, "", value
        case _:
            known = comparable(term)
            return (3, *known) if known is not None else (3, f"~{term}", 0)


def is_decided(first: Key, second: Key) -> bool:
    """Return whether the specification orders two values, or they are equal."""
    return first[0] != second[0] or first[1] == second[1]
