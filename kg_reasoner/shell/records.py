"""Facts as records, in DDlog's format: ``Path{.from = "a", .to = "b"}``, sorted by their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kg_reasoner.expressions.structures import decode, is_structure
from kg_reasoner.expressions.values import double_of, value_of
from kg_reasoner.language.printer import format_term
from kg_reasoner.terms import XSD, Literal, Term

__all__ = ["format_value", "record", "sorted_records"]


def record(name: str, columns: Sequence[str], row: Sequence[Term], prefixes: Mapping[str, str]) -> str:
    """Return a fact as a record; columns without names stand in their order.

    >>> record("age", ["who", "years"], [Literal("tim"), Literal("7", XSD.integer.value)], {})
    'age{.who = "tim", .years = 7}'
    """
    values = [format_value(term, prefixes) for term in row]
    parts = [f".{column} = {value}" for column, value in zip(columns, values, strict=True)] if columns else values
    return f"{name}{{{', '.join(parts)}}}"


def format_value(term: Term, prefixes: Mapping[str, str]) -> str:
    """Return a term as it is printed: doubles without an exponent where they can be, records as ``Name{value, ...}``."""
    if isinstance(term, Literal) and is_structure(term) and (found := decode(term)) is not None:
        members = [format_value(member, prefixes) for member in found.members]
        if found.kind == "map":
            members = [f"({key}, {value})" for key, value in zip(members[::2], members[1::2], strict=True)]
        begin, end = {"tuple": ("(", ")"), "record": ("{", "}")}.get(found.kind, ("[", "]"))
        return f"{found.constructor}{begin}{', '.join(members)}{end}"
    if isinstance(term, Literal) and term.datatype == XSD.double.value:
        number = double_of(term.lexical)
        if number is not None:
            return repr(number).removesuffix(".0")
    return format_term(term, prefixes)


def sorted_records(
    name: str, columns: Sequence[str], rows: Iterable[tuple[Sequence[Term], str]], prefixes: Mapping[str, str]
) -> list[str]:
    """Return facts as records, each with the text that follows it, sorted: numbers by value, before other terms."""
    keyed = sorted((([_key(term) for term in row], record(name, columns, row, prefixes) + after) for row, after in rows))
    return [text for _, text in keyed]


def _key(term: Term) -> tuple[bool, Any, str]:
    if isinstance(term, Literal) and term.datatype != XSD.string.value:
        value = value_of(term)
        if value is not None and value[0] == "number" and value[1] == value[1]:
            return False, value[1], term.lexical
    return True, 0, term.lexical if isinstance(term, Literal) else str(term)
