"""Cells of terms without members: the lexical forms of numbers and truth values, and what is written without quotation marks."""

from __future__ import annotations

from typing import Final

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import XSD, Literal, Term, term_text

__all__ = ["DECIMAL", "DOUBLE", "FORMS", "INTEGER", "TURTLE_DECIMAL", "TURTLE_DOUBLE", "plain_cell"]

INTEGER: Final = regular_expression(r"[+-]?[0-9]+")
DECIMAL: Final = regular_expression(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
DOUBLE: Final = regular_expression(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
TURTLE_DECIMAL: Final = regular_expression(r"[+-]?[0-9]*\.[0-9]+")
TURTLE_DOUBLE: Final = regular_expression(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+")

FORMS: Final = {
    "integer": (XSD.integer.value, INTEGER),
    "decimal": (XSD.decimal.value, DECIMAL),
    "double": (XSD.double.value, DOUBLE),
    "boolean": (XSD.boolean.value, regular_expression("true|false|0|1")),
}
"""The datatypes of the types of columns, and their lexical forms."""

_BREAKS: Final = regular_expression(r"[\t\n\r]")

_PLAIN: Final = {
    **{(type_, datatype): form for type_, (datatype, form) in FORMS.items()},
    ("date", XSD.date.value): regular_expression(r"[0-9Z:+-]+"),
    ("dateTime", XSD.dateTime.value): regular_expression(r"[0-9TZ:.+-]+"),
    ("float", XSD.float.value): DOUBLE,
    ("any", XSD.integer.value): INTEGER,
    ("any", XSD.decimal.value): TURTLE_DECIMAL,
    ("any", XSD.double.value): TURTLE_DOUBLE,
}
"""The lexical forms that a column holds without quotation marks and datatype, by its type and the datatype."""

_NUMBER_LIKE: Final = regular_expression(f"{INTEGER.pattern}|{TURTLE_DECIMAL.pattern}|{TURTLE_DOUBLE.pattern}")


def plain_cell(term: Term, type_: str) -> str:
    """Return the cell that denotes a term in a column of a type that has no members, or as in an ``any`` column."""
    if isinstance(term, Literal) and term.language is None:
        text = term.lexical
        if term.datatype == XSD.string.value:
            if type_ == "string":
                return text
            if not (text.startswith(("<", '"', "_:")) or _BREAKS.search(text) or _NUMBER_LIKE.fullmatch(text)):
                return text
        else:
            plain = _PLAIN.get((type_, term.datatype)) or _PLAIN.get(("any", term.datatype))
            if plain is not None and plain.fullmatch(text):
                return text
    return term_text(term).replace("\t", "\\t")
