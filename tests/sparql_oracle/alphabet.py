"""The terms and variables of random datasets and queries: few, so that joins have solutions, and all kinds of literals meet."""

from __future__ import annotations

from typing import Final

from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term

from . import ast

EX: Final = "http://example.org/"
NODES: Final = tuple(IRI(EX + name) for name in "abc")
PREDICATES: Final = tuple(IRI(EX + name) for name in "pqr")
GRAPHS: Final = tuple(IRI(EX + name) for name in ("g1", "g2"))
BLANK_NODES: Final = (BlankNode("b1"), BlankNode("b2"))
VARIABLES: Final = tuple(ast.Var(name) for name in "xyzu")
"""Variables of triple patterns."""
NEW: Final = tuple(ast.Var(name) for name in "vwkmn")
"""Variables of BIND and of SELECT expressions."""


def _typed(name: str, *lexical: str) -> tuple[Literal, ...]:
    return tuple(Literal(text, XSD[name].value) for text in lexical)


NUMBERS: Final = (*_typed("integer", "0", "1", "2"), *_typed("decimal", "1.5"), *_typed("double", "1.0E0", "2.5E0"))
STRINGS: Final = (
    *_typed("string", "", "a", "ab", "1"),
    Literal("a", RDF.langString.value, "en"),
    Literal("b", RDF.langString.value, "fr"),
)
OTHERS: Final = (
    *_typed("boolean", "true", "false", "x"),
    *_typed("date", "2020-01-01", "2021-01-01"),
    *_typed("dateTime", "2020-01-01T00:00:00Z", "2020-01-01T01:00:00+01:00", "2021-01-01T00:00:00Z"),
    *_typed("dayTimeDuration", "P1D", "-PT1H"),
    *_typed("yearMonthDuration", "P1M"),
    *_typed("integer", "x"),
    Literal("a", EX + "type"),
)
LITERALS: Final[tuple[Term, ...]] = (*NUMBERS, *STRINGS, *OTHERS)
