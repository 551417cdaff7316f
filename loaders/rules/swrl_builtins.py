"""The built-ins of SWRL (section 8 of the submission) as SPARQL's functions on terms.

The first argument is the result, if the built-in has one. Built-ins without a corresponding function in SPARQL (powers,
trigonometry, durations, times, URIs, lists) are rejected by name. ``swrlb:equal`` also binds an unbound variable; ``swrlb:date``
and ``swrlb:dateTime`` decompose a value but do not compose one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import plural, suggest
from kg_reasoner.loaders.rules.builtins import Builtin, Refused, computation, condition, equality, nested
from kg_reasoner.loaders.rules.swrl import SWRLB
from kg_reasoner.program import Argument, Call, Expression, unary_plus
from kg_reasoner.terms import IRI, XSD, Literal, literal

__all__ = ["SWRL_BUILTINS", "builtins_of"]

_Arguments: TypeAlias = Sequence[Argument]
_Make: TypeAlias = Callable[[str, _Arguments], list[Builtin]]

_BLANKS: Final = "[ \\t\\n\\r]+"


@dataclass(frozen=True, slots=True)
class _SwrlBuiltin:
    """How to translate a built-in, and its number of arguments (`most` is None: unlimited)."""

    make: _Make
    least: int
    most: int | None


def builtins_of(builtin: IRI, arguments: _Arguments, text: str) -> list[Builtin]:
    """Return the translation of a built-in atom; `text` is its written form, for messages.

    Raises:
        Refused: No function implements it, or the number of arguments is wrong.
    """
    name = builtin.value[len(str(SWRLB)) :] if builtin in SWRLB else None
    definition = SWRL_BUILTINS.get(name or "")
    if definition is None:
        hint = suggest(name, SWRL_BUILTINS) if name else ""
        shown = f"swrlb:{name}" if name else str(builtin)
        raise Refused(f"no function implements the built-in {shown}{hint}")
    if len(arguments) < definition.least or (definition.most is not None and len(arguments) > definition.most):
        few = "few" if len(arguments) < definition.least else "many"
        raise Refused(f"{text} has {plural(len(arguments), 'argument')}, which is too {few}")
    return definition.make(text, arguments)


def _holds(count: int, build: Callable[..., Expression]) -> _SwrlBuiltin:
    """Return a condition on all arguments."""
    return _SwrlBuiltin(lambda text, arguments: [condition(text, build(*arguments))], count, count)


def _gives(least: int, most: int | None, build: Callable[..., Expression]) -> _SwrlBuiltin:
    """Return a definition whose first argument is a function of `least` to `most` others."""

    def make(text: str, arguments: _Arguments) -> list[Builtin]:
        result, *inputs = arguments
        return [computation(text, result, build(*inputs))]

    return _SwrlBuiltin(make, least + 1, None if most is None else most + 1)


def _function(name: str) -> Callable[..., Expression]:
    return lambda *arguments: Call(name, arguments)


def _lower(name: str) -> Callable[..., Expression]:
    """Return a comparison of strings converted to lower case."""
    return lambda first, second: Call(name, (Call("LCASE", (first,)), Call("LCASE", (second,))))


def _normal_space(text: Expression) -> Expression:
    trimmed = Call("REPLACE", (text, literal(f"^{_BLANKS}|{_BLANKS}$"), literal("")))
    return Call("REPLACE", (trimmed, literal(_BLANKS), literal(" ")))


def _concatenation(*texts: Expression) -> Expression:
    """Return the definition of XPath's fn:concat, which takes all literals, whereas SPARQL's CONCAT takes strings."""
    return Call("CONCAT", tuple(text if _is_simple(text) else Call("STR", (text,)) for text in texts))


def _is_simple(text: Expression) -> bool:
    return isinstance(text, Literal) and text.datatype == XSD.string.value


def _parts(*functions: str) -> _SwrlBuiltin:
    """Return a definition whose other arguments are the parts of the first one; the last of them, the time zone, is optional."""

    def make(text: str, arguments: _Arguments) -> list[Builtin]:
        whole, *parts = arguments
        return [computation(text, part, Call(function, (whole,))) for function, part in zip(functions, parts, strict=False)]

    return _SwrlBuiltin(make, len(functions), len(functions) + 1)


_DATE: Final = ("YEAR", "MONTH", "DAY")
_TIME: Final = ("HOURS", "MINUTES", "SECONDS")

SWRL_BUILTINS: Final[dict[str, _SwrlBuiltin]] = {
    "equal": _SwrlBuiltin(lambda text, arguments: [equality(text, arguments[0], arguments[1])], 2, 2),
    **{
        name: _holds(2, _function(operator))
        for name, operator in {
            "notEqual": "!=",
            "lessThan": "<",
            "lessThanOrEqual": "<=",
            "greaterThan": ">",
            "greaterThanOrEqual": ">=",
        }.items()
    },
    "add": _gives(2, None, lambda *numbers: nested("+", numbers)),
    "subtract": _gives(2, 2, _function("-")),
    "multiply": _gives(2, None, lambda *numbers: nested("*", numbers)),
    "divide": _gives(2, 2, _function("/")),
    "integerDivide": _gives(2, 2, _function("IDIV")),
    "mod": _gives(2, 2, _function("%")),
    "unaryPlus": _gives(1, 1, unary_plus),
    "unaryMinus": _gives(1, 1, _function("neg")),
    "abs": _gives(1, 1, _function("ABS")),
    "ceiling": _gives(1, 1, _function("CEIL")),
    "floor": _gives(1, 1, _function("FLOOR")),
    "round": _gives(1, 1, _function("ROUND")),
    "booleanNot": _gives(1, 1, _function("!")),
    "stringEqualIgnoreCase": _holds(2, _lower("=")),
    "stringConcat": _gives(1, None, _concatenation),
    "substring": _gives(2, 3, _function("SUBSTR")),
    "stringLength": _gives(1, 1, _function("STRLEN")),
    "normalizeSpace": _gives(1, 1, _normal_space),
    "upperCase": _gives(1, 1, _function("UCASE")),
    "lowerCase": _gives(1, 1, _function("LCASE")),
    "contains": _holds(2, _function("CONTAINS")),
    "containsIgnoreCase": _holds(2, _lower("CONTAINS")),
    "startsWith": _holds(2, _function("STRSTARTS")),
    "endsWith": _holds(2, _function("STRENDS")),
    "substringBefore": _gives(2, 2, _function("STRBEFORE")),
    "substringAfter": _gives(2, 2, _function("STRAFTER")),
    "matches": _holds(2, _function("REGEX")),
    "replace": _gives(3, 3, _function("REPLACE")),
    "date": _parts(*_DATE, "TZ"),
    "dateTime": _parts(*_DATE, *_TIME, "TZ"),
}
"""The built-ins that have functions, by their names in the namespace swrlb."""
