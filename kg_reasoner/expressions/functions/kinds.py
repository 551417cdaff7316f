"""The kinds of values that functions take and return: each is read from a term and written as a term.

A function works on Python values. If the result of one function is an argument of another and their kinds agree, the value is
passed on directly; only the outermost values are converted from and to terms (see `compile`). Results do not change, because
reading a written value returns the same value. Reading returns None, SPARQL's type error, for a term of another kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.functions.numbers import NUMERIC, literal_of, number_of
from kg_reasoner.expressions.functions.operands import literal_of_operand, moment_of, operand_of
from kg_reasoner.expressions.moments import Moment
from kg_reasoner.expressions.values import value_of
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term

__all__ = [
    "BOOLEAN",
    "LEXICAL",
    "MOMENT",
    "NUMBER",
    "SIMPLE",
    "TERM",
    "TEXT",
    "TIME",
    "Function",
    "Kind",
    "effective_boolean",
]

_STRING: Final = XSD.string.value
_BOOLEAN: Final = XSD.boolean.value
_TRUE: Final = Literal("true", _BOOLEAN)
_FALSE: Final = Literal("false", _BOOLEAN)


def effective_boolean(term: Term) -> bool | None:
    """Return the effective boolean value (SPARQL 1.1 Query, section 17.2.2), or None for a type error.

    Ill-typed booleans and numbers are false, as are zero, NaN and the empty string, whether it has a language tag or not.

    >>> from kg_reasoner.terms import RDF, literal
    >>> effective_boolean(literal("x")), effective_boolean(literal(0.0)), effective_boolean(RDF.type)
    (True, False, None)
    """
    if not isinstance(term, Literal):
        return None
    if term.datatype == _BOOLEAN:
        return term.lexical in ("true", "1")
    if term.datatype == _STRING or term.language is not None:
        return term.lexical != ""
    if term.datatype not in NUMERIC:
        return None
    value = value_of(term)
    return value is not None and value[1] == value[1] and value[1] != 0


def _text(term: Term) -> Literal | None:
    return term if isinstance(term, Literal) and (term.datatype == _STRING or term.language is not None) else None


def _simple(term: Term) -> str | None:
    return term.lexical if isinstance(term, Literal) and term.datatype == _STRING else None


def _lexical(term: Term) -> str | None:
    return None if isinstance(term, BlankNode) else term.value if isinstance(term, IRI) else term.lexical


def _moment(term: Term) -> Moment | None:
    """Return the date, with or without a time."""
    moment = moment_of(term)
    return moment if moment is not None and moment.days is not None else None


def _time(term: Term) -> Moment | None:
    """Return the date with a time."""
    moment = _moment(term)
    return moment if moment is not None and moment.seconds is not None else None


def _same(term: Term) -> Term:
    return term


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of values. `name` appears in messages.

    Its values may be those of a wider kind for which `has` is true.
    """

    name: str
    read: Callable[[Term], Any]
    write: Callable[[Any], Term]
    wider: Kind | None = None
    has: Callable[[Any], bool] | None = None


TERM: Final = Kind("term", _same, _same)
"""Any term, as it is."""
BOOLEAN: Final = Kind("boolean", effective_boolean, lambda value: _TRUE if value else _FALSE)
"""A truth value as `bool`: the effective boolean value of a term."""
OPERAND: Final = Kind("number, date, time or duration", operand_of, literal_of_operand)
"""What is added, subtracted, multiplied or divided (see `operands`)."""
NUMBER: Final = Kind("number", number_of, literal_of, OPERAND, lambda value: not isinstance(value, tuple))
"""A number (see `numbers`)."""
SIMPLE: Final = Kind("simple string", _simple, Literal)
"""A string without a language tag, as `str`."""
LEXICAL: Final = Kind("term", _lexical, Literal)
"""What STR returns: a lexical form or an IRI, as `str`."""
TEXT: Final = Kind("string", _text, _same)
"""A string with or without a language tag, as the literal that it is."""
MOMENT: Final = Kind("date or dateTime", _moment, literal_of_operand)
"""An xsd:dateTime or xsd:date, as `Moment`."""
TIME: Final = Kind("dateTime", _time, literal_of_operand)
"""An xsd:dateTime, as `Moment`."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function that evaluates all its arguments; an error in an argument is an error of the call.

    `apply` takes values of the kinds of `parameters` (the last `optional` of them may be missing), then any number of the kind
    `rest`; it returns a value of the kind `result`, or None for a type error. It never raises, and its result depends on nothing
    but the arguments.

    Attributes:
        overloads: The same function for values of other kinds, which need no terms. Columns of values are evaluated by them (see
            `kg_reasoner.expressions.column_forms`).
        on_column: The same function for many first arguments: takes a list of them, and values for all the others. It returns the
            results, or None if these other values are a type error.
    """

    parameters: tuple[Kind, ...]
    result: Kind
    apply: Callable[..., Any]
    optional: int = 0
    rest: Kind | None = None
    overloads: tuple[Function, ...] = ()
    on_column: Callable[..., list[Any] | None] | None = None

    def kinds(self, count: int) -> tuple[Kind, ...]:
        """Return the kinds of `count` arguments."""
        further = count - len(self.parameters)
        return (*self.parameters, *[self.rest] * further) if self.rest is not None else self.parameters[:count]

    def accepts(self, count: int) -> bool:
        """Return whether the function accepts `count` arguments."""
        return len(self.parameters) - self.optional <= count and (self.rest is not None or count <= len(self.parameters))

    def usage(self, name: str) -> str:
        """Return the signature of the function, such as ``SUBSTR(string, number[, number])``."""
        required = len(self.parameters) - self.optional
        text = ", ".join(kind.name for kind in self.parameters[:required])
        text += "".join(f"[, {kind.name}]" for kind in self.parameters[required:])
        if self.rest is not None:
            text += f"{', ' if text else ''}{self.rest.name}, ..."
        return f"{name}({text})"
