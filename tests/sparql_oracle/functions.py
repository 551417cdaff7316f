"""The functions and operators of section 17.4 that take values; those that take expressions are in `expressions.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, localcontext
from fractions import Fraction
from typing import Final

from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal

from . import times
from .values import ExpressionError, Number, boolean, converted, equal, less, number, number_term, promoted, string


def _number(term: Term) -> Number:
    found = number(term)
    if found is None:
        raise ExpressionError("not a number")
    return found


def _operand(term: Term) -> times.Moment | times.Duration | Fraction | None:
    """A date, a duration, or a number as it is multiplied with: the shortest digits of a double."""
    value = number(term)
    if value is None or value.value != value.value:
        return times.moment(term) or times.duration(term)
    return None if abs(value.value) == math.inf else Fraction(str(value.value))


def _arithmetic(first: Term, second: Term, operator: str) -> Term:
    if number(first) is None or number(second) is None:
        mine, theirs, divisor = _operand(first), _operand(second), number(second)
        if operator == "/" and divisor is not None and abs(divisor.value) == math.inf:
            operator, theirs = "*", Fraction(0)
        found = None if mine is None or theirs is None else times.calculated(operator, mine, theirs)
        if found is None:
            raise ExpressionError("not numbers, and without a result")
        return found
    one, other = promoted(_number(first), _number(second))
    if operator == "/" and one.kind == "integer":
        one, other = converted(one, "decimal"), converted(other, "decimal")
    a, b = one.value, other.value
    if isinstance(a, float) and isinstance(b, float) and operator == "/" and b == 0:
        sign = str(b).startswith("-") != str(a).startswith("-")
        result: int | Decimal | float = float("nan") if a == 0 or a != a else float("-inf" if sign else "inf")
    else:
        try:
            with localcontext(Context(prec=40)):
                result = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[operator]()  # type: ignore
        except (DivisionByZero, InvalidOperation, ZeroDivisionError) as error:
            raise ExpressionError("a division by zero") from error
    return number_term(converted(Number(one.kind, result), one.kind))


def _negated(term: Term) -> Term:
    found = _number(term)
    return number_term(Number(found.kind, -found.value))


def _plus(term: Term) -> Term:
    return number_term(_number(term))


def _absolute(term: Term) -> Term:
    found = _number(term)
    return number_term(Number(found.kind, abs(found.value)))


def _text(term: Term) -> Literal:
    """A string literal, with or without a language."""
    if not isinstance(term, Literal) or term.datatype not in (XSD.string.value, RDF.langString.value):
        raise ExpressionError("not a string")
    return term


def _like(model: Literal, text: str) -> Literal:
    return Literal(text, model.datatype, model.language)


def _compatible(first: Term, second: Term) -> tuple[str, str]:
    one, other = _text(first), _text(second)
    if other.language is not None and one.language != other.language:
        raise ExpressionError("strings in different languages")
    return one.lexical, other.lexical


def _about(test: Callable[[str, str], bool]) -> Callable[[Term, Term], Term]:
    return lambda first, second: literal(test(*_compatible(first, second)))


def _simple(term: Term) -> str:
    found = string(term)
    if found is None:
        raise ExpressionError("not a string without a language")
    return found


def _str(term: Term) -> Term:
    if isinstance(term, BlankNode):
        raise ExpressionError("a blank node has no text")
    return Literal(term.value if isinstance(term, IRI) else term.lexical)


def _literal(term: Term) -> Literal:
    if not isinstance(term, Literal):
        raise ExpressionError("not a literal")
    return term


def _concat(*terms: Term) -> Term:
    texts = [_text(term) for term in terms]
    languages = {text.language for text in texts}
    joined = "".join(text.lexical for text in texts)
    return _like(texts[0], joined) if len(languages) == 1 else Literal(joined)


def _regex(text: Term, pattern: Term, flags: Term | None = None) -> Term:
    letters = "" if flags is None else _simple(flags)
    if set(letters) - {"i"}:
        raise ExpressionError("only the flag i is known here")
    return literal(re.search(_simple(pattern), _text(text).lexical, re.IGNORECASE if "i" in letters else 0) is not None)


def _to_number(kind: str) -> Callable[[Term], Term]:
    def cast(term: Term) -> Term:
        text, truth = string(term), boolean(term)
        if text is not None:
            return number_term(_number(Literal(text.strip(" \t\r\n"), XSD[kind].value)))
        return number_term(converted(Number("integer", int(truth)) if truth is not None else _number(term), kind))

    return cast


def _to_string(term: Term) -> Term:
    found, truth = number(term), boolean(term)
    if truth is not None:
        return literal("true" if truth else "false")
    if found is not None:
        is_whole = found.kind in ("float", "double") and found.value == found.value and 1e-6 <= abs(found.value) < 1e6
        return _str(number_term(converted(found, "decimal") if is_whole else found))
    return _str(term)


def _to_boolean(term: Term) -> Term:
    text, found = string(term), number(term)
    if found is not None:
        return literal(found.value == found.value and found.value != 0)
    truth = boolean(term) if text is None else boolean(Literal(text, XSD.boolean.value))
    if truth is None:
        raise ExpressionError("not a boolean")
    return literal(truth)


FUNCTIONS: Final[dict[str | IRI, Callable[..., Term]]] = {
    **{operator: lambda a, b, operator=operator: _arithmetic(a, b, operator) for operator in "+-*/"},
    "=": lambda a, b: literal(equal(a, b)),
    "!=": lambda a, b: literal(not equal(a, b)),
    "<": lambda a, b: literal(less(a, b)),
    ">": lambda a, b: literal(less(b, a)),
    "<=": lambda a, b: literal(less(a, b) or equal(a, b)),
    ">=": lambda a, b: literal(less(b, a) or equal(a, b)),
    "unary -": _negated,
    "unary +": _plus,
    "sameTerm": lambda a, b: literal(a == b),
    "isIRI": lambda a: literal(isinstance(a, IRI)),
    "isBlank": lambda a: literal(isinstance(a, BlankNode)),
    "isLiteral": lambda a: literal(isinstance(a, Literal)),
    "isNumeric": lambda a: literal(number(a) is not None),
    "STR": _str,
    "LANG": lambda a: Literal(_literal(a).language or ""),
    "DATATYPE": lambda a: IRI(_literal(a).datatype),
    "STRLEN": lambda a: literal(len(_text(a).lexical)),
    "UCASE": lambda a: _like(_text(a), _text(a).lexical.upper()),
    "LCASE": lambda a: _like(_text(a), _text(a).lexical.lower()),
    "CONTAINS": _about(lambda a, b: b in a),
    "STRSTARTS": _about(str.startswith),
    "STRENDS": _about(str.endswith),
    "CONCAT": _concat,
    "REGEX": _regex,
    "ABS": _absolute,
    "STRLANG": lambda a, b: Literal(_simple(a), RDF.langString.value, _simple(b).lower()),
    "STRDT": lambda a, b: Literal(_simple(a), b.value),
    XSD.integer: _to_number("integer"),
    XSD.decimal: _to_number("decimal"),
    XSD.double: _to_number("double"),
    XSD.string: _to_string,
    XSD.boolean: _to_boolean,
}
"""The functions by name; each gets terms, and raises ExpressionError where it is not defined."""
