"""Random expressions and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kg_reasoner.terms import XSD, BlankNode, literal

from . import ast
from .alphabet import NUMBERS
from .source import Source

_COMPARISONS: Final = ("=", "!=", "<", ">", "<=", ">=", "sameTerm")
_TESTS: Final = ("isIRI", "isBlank", "isLiteral", "isNumeric")
_OF_TEXTS: Final = ("CONTAINS", "STRSTARTS", "STRENDS", "CONCAT")
_OF_ONE: Final = ("STR", "LANG", "DATATYPE", "STRLEN", "UCASE", "LCASE", "ABS", "-", "isNumeric")
_CASTS: Final = tuple(XSD[name] for name in ("integer", "decimal", "double", "string", "boolean"))
_PATTERNS: Final = tuple(map(literal, ("a", "^a", "b$", "[a-z]+")))

MakeExists = Callable[[], ast.Exists]


def leaf(source: Source, among: Sequence[ast.Var]) -> ast.Expression:
    """Make a variable or a constant."""
    return source.pick(among) if among and not source.once_in(3) else source.constant()


def expression(source: Source, among: Sequence[ast.Var], depth: int = 2) -> ast.Expression:
    """Make an expression over some variables, without aggregates and EXISTS."""
    kind = source.up_to(8) if depth > 0 else 0

    def inner() -> ast.Expression:
        return expression(source, among, depth - 1)

    match kind:
        case 0 | 1:
            return leaf(source, among)
        case 2:
            return ast.Call(source.pick("+-*/"), (inner(), source.pick(NUMBERS) if source.once_in(2) else inner()))
        case 3:
            return ast.Call(source.pick(_OF_ONE), (inner(),))
        case 4:
            return ast.Call(source.pick(_CASTS), (inner(),))
        case 5:
            return ast.Call(source.pick(_OF_TEXTS), (inner(), inner()))
        case 6:
            return ast.Call("IF", (condition(source, among, depth - 1), inner(), inner()))
        case 7:
            return ast.Call("COALESCE", (inner(), inner()))
        case _:
            return condition(source, among, depth - 1)


def condition(source: Source, among: Sequence[ast.Var], depth: int = 2, exists: MakeExists | None = None) -> ast.Expression:
    """Make an expression that is usually true, false or an error.

    Args:
        source: What draws.
        among: The variables.
        depth: How deep it may be nested.
        exists: Makes an EXISTS, if there may be some.
    """
    kind = source.up_to(11) if depth > 0 else source.up_to(4)
    match kind:
        case 0 if among:
            return ast.Call("BOUND", (source.pick(among),))
        case 1:
            return ast.Call(source.pick(_TESTS), (leaf(source, among),))
        case 2 if among:
            return _of_witness(source, source.pick(among))
        case 0 | 1 | 2 | 3 | 4:
            return ast.Call(source.pick(_COMPARISONS), (leaf(source, among), leaf(source, among)))
        case 5 | 6 if exists is not None:
            return exists()
        case 5:
            return ast.Call("!", (condition(source, among, depth - 1, exists),))
        case 6 | 7:
            sides = condition(source, among, depth - 1, exists), condition(source, among, depth - 1, exists)
            return ast.Call(source.pick(("||", "&&")), sides)
        case 8:
            choices = (leaf(source, among), expression(source, among, depth - 1))
            return ast.Call(source.pick(("IN", "NOT IN")), (leaf(source, among), *choices[: source.up_to(2)]))
        case 9:
            return ast.Call("REGEX", (expression(source, among, depth - 1), source.pick(_PATTERNS)))
        case 10:
            sides = expression(source, among, depth - 1), expression(source, among, depth - 1)
            return ast.Call(source.pick(_COMPARISONS), sides)
        case _:
            return expression(source, among, depth - 1)


def _of_witness(source: Source, variable: ast.Var) -> ast.Expression:
    """A comparison of a variable with its value in the witness, if it has one that can be written."""
    value = source.witness.get(variable)
    if value is None or isinstance(value, BlankNode):
        return ast.Call("!=", (variable, source.constant()))
    return ast.Call(source.pick(("=", "<=", "!=")), (variable, value))
