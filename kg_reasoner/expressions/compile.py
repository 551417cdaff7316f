"""Check the expressions of BIND, FILTER and AGGREGATE, and compile each once into a function.

None represents SPARQL's type error: a BIND with an error drops the solution, and so does a FILTER. The operators ``&& || !``
follow SPARQL 1.1 Query, section 17.2: ``true || error`` is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ArityError, SafetyError, Span, UnsupportedError, suggest
from kg_reasoner.expressions.functions import FUNCTIONS, REFUSED
from kg_reasoner.expressions.functions.kinds import BOOLEAN, TERM, Kind
from kg_reasoner.expressions.functions.regex import problem
from kg_reasoner.expressions.values import equal
from kg_reasoner.program import Call, Expression, Variable, variables_of
from kg_reasoner.terms import XSD, Literal, Term

__all__ = [
    "CASTS",
    "CONDITIONS",
    "DEPTH",
    "NAMES",
    "check",
    "check_patterns",
    "compile_condition",
    "compile_expression",
    "compile_filter",
    "too_deep",
]

DEPTH: Final = 200
"""The maximal depth of nested calls."""

_Row: TypeAlias = Sequence[Term]
_Places: TypeAlias = Mapping[Variable, int]
_Evaluate: TypeAlias = Callable[[_Row], Any]
_Typed: TypeAlias = tuple[Kind, _Evaluate]
"""The results of an expression: values of a kind, or None for a type error."""

# --------------------------------------------------------------------------------------------------------------------- checks


def check(expression: Expression, span: Span | None = None) -> None:
    """Reject expressions that cannot be evaluated.

    Args:
        expression: The expression to check.
        span: The place that an error shows if a part of the expression has no place of its own.

    Raises:
        UnsupportedError: A function that does not exist or gives another value each time, or calls nested deeper than `DEPTH`.
        ArityError: A function is called with too few or too many arguments, or BOUND with something other than a variable.
    """
    level: list[Expression] = [expression]
    depth = 0
    while calls := [part for part in level if isinstance(part, Call)]:
        depth += 1
        for call in calls:
            _check_call(call, call.span or span)
        if depth > DEPTH:
            raise too_deep(calls[0].span or span)
        level = [argument for call in calls for argument in call.arguments]


def check_patterns(expression: Expression, span: Span | None = None) -> None:
    """Reject regular expressions in a rule that would give an error for all facts.

    Args:
        expression: The expression to check.
        span: The place that an error shows if a part of the expression has no place of its own.

    Raises:
        UnsupportedError: The pattern is invalid; the message gives the position in it.
    """
    waiting: list[Expression] = [expression]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Call):
            continue
        waiting += part.arguments
        if part.name in ("REGEX", "REPLACE", "MATCHES"):
            constants = [argument.lexical if isinstance(argument, Literal) else None for argument in part.arguments]
            reason = problem(part.name, constants)
            if reason is not None:
                hint = "regular expressions are those of XPath 3.1, without back-references"
                raise UnsupportedError(f"{part.name} cannot be evaluated: {reason}", part.span or span, hint)


def too_deep(span: Span | None) -> UnsupportedError:
    """Return the error for calls nested deeper than `DEPTH`."""
    hint = "compute parts of it with BIND, write a FILTER for each condition; alternatives of one variable are shorter with IN"
    return UnsupportedError(f"an expression is nested more than {DEPTH} deep", span, hint)


def _check_call(call: Call, span: Span | None) -> None:
    name = _shown(call.name)
    if call.name in REFUSED and call.definition is None:
        hint = "add such values to the facts as arguments"
        raise UnsupportedError(f"{name} is not deterministic, so facts derived from it cannot be maintained", span, hint)
    callee = call.definition or FUNCTIONS.get(call.name) or _FORMS.get(call.name)
    if callee is None:
        known = [*NAMES, *CASTS.values()]
        hint = "functions are those of SPARQL 1.1, SAMEVALUE and VALUE, and casts such as xsd:integer(?x)"
        raise UnsupportedError(f"unknown function {name}{suggest(name, known)}", span, hint)
    if not callee.accepts(len(call.arguments)):
        count = len(call.arguments)
        raise ArityError(f"{name} is called with {count} argument{'' if count == 1 else 's'}", span, f"write {callee.usage(name)}")
    if call.name == "BOUND" and not isinstance(call.arguments[0], Variable):
        raise ArityError("the argument of BOUND is not a variable", span, "write BOUND(?x)")


def _shown(name: str) -> str:
    """Return the name of a function in its usual spelling."""
    if name.startswith(f"<{XSD}"):
        return f"xsd:{name[len(str(XSD)) + 1 : -1]}"
    return "-" if name == "neg" else name


# ------------------------------------------------------------------------------------------------------------------ compilation


def compile_expression(expression: Expression, variables: Sequence[Variable]) -> Callable[[Sequence[Term]], Term | None]:
    """Return a function from the values of the variables to the value of the expression, or to None for a type error.

    >>> from kg_reasoner.terms import literal
    >>> width, height = Variable("w"), Variable("h")
    >>> area = compile_expression(Call("*", (width, height)), [width, height])
    >>> print(area([literal(6), literal(7)]), area([literal(6), literal("wide")]))
    "42"^^<http://www.w3.org/2001/XMLSchema#integer> None

    Args:
        expression: The expression to compile.
        variables: The variables, in the order in which the function takes their values.

    Raises:
        SafetyError: The expression has a variable that is not among `variables`.
        UnsupportedError, ArityError: As `check`.
    """
    return _prepared(expression, variables, TERM)


def compile_filter(expression: Expression, variables: Sequence[Variable]) -> Callable[[Sequence[Term]], bool]:
    """Return a function from the values of the variables to whether the expression has the effective boolean value true.

    Raises:
        SafetyError, UnsupportedError, ArityError: As `compile_expression`.
    """
    evaluate = _prepared(expression, variables, BOOLEAN)
    return lambda row: evaluate(row) is True


def compile_condition(expression: Expression, variables: Sequence[Variable]) -> Callable[[Sequence[Term]], bool | None]:
    """Return a function from the values of the variables to the effective boolean value of the expression, or to None for a type
    error.

    Raises:
        SafetyError, UnsupportedError, ArityError: As `compile_expression`.
    """
    return _prepared(expression, variables, BOOLEAN)


def _prepared(expression: Expression, variables: Sequence[Variable], kind: Kind) -> _Evaluate:
    check(expression)
    places = {variable: place for place, variable in enumerate(variables)}
    for variable in variables_of(expression):
        if variable not in places:
            raise SafetyError(f"{variable} of the expression is not bound", variable.span)
    return _to(kind, expression, places)


def _to(kind: Kind, expression: Expression, places: _Places) -> _Evaluate:
    """Return a function that evaluates an expression to a value of the requested kind."""
    if isinstance(expression, Variable) and kind is not TERM:
        place, read = places[expression], kind.read
        return lambda row: read(row[place])
    have, evaluate = _compiled(expression, places)
    if have is kind or have.wider is kind:
        return evaluate
    if not any(variables_of(expression)):
        value = evaluate(())
        return _constant(None if value is None else kind.read(have.write(value)))
    return _narrowed(evaluate, kind) if kind.wider is have else _converted(have, evaluate, kind)


def _compiled(expression: Expression, places: _Places) -> _Typed:
    if isinstance(expression, Variable):
        place = places[expression]
        return TERM, lambda row: row[place]
    if not isinstance(expression, Call):
        return TERM, _constant(expression)
    function = FUNCTIONS.get(expression.name) if expression.definition is None else expression.definition.as_function
    if function is None:
        return _FORMS[expression.name].build(expression.arguments, places)
    kinds = function.kinds(len(expression.arguments))
    arguments = [_to(kind, argument, places) for kind, argument in zip(kinds, expression.arguments, strict=True)]
    return function.result, _strict(function.apply, arguments)


def _constant(value: Any) -> _Evaluate:
    return lambda row: value


def _converted(have: Kind, evaluate: _Evaluate, want: Kind) -> _Evaluate:
    write, read = have.write, want.read

    def convert(row: _Row) -> Any:
        value = evaluate(row)
        return None if value is None else read(write(value))

    return convert


def _narrowed(evaluate: _Evaluate, want: Kind) -> _Evaluate:
    has = want.has
    assert has is not None

    def narrow(row: _Row) -> Any:
        value = evaluate(row)
        return value if value is not None and has(value) else None

    return narrow


def _strict(apply: Callable[..., Any], arguments: Sequence[_Evaluate]) -> _Evaluate:
    """Return a function for a call that is an error if one of its arguments is an error."""
    if len(arguments) == 1:
        (argument,) = arguments

        def call_one(row: _Row) -> Any:
            value = argument(row)
            return None if value is None else apply(value)

        return call_one
    if len(arguments) == 2:
        first, second = arguments

        def call_two(row: _Row) -> Any:
            a, b = first(row), second(row)
            return None if a is None or b is None else apply(a, b)

        return call_two

    def call(row: _Row) -> Any:
        values = [argument(row) for argument in arguments]
        return None if None in values else apply(*values)

    return call


# ------------------------------------------------------------------------------------------------ forms with rules of their own


@dataclass(frozen=True, eq=False)
class _Form:
    """A functional form: it does not evaluate all of its arguments, or takes terms instead of values."""

    build: Callable[[tuple[Expression, ...], _Places], _Typed]
    shape: str
    least: int
    most: int | None

    def accepts(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def usage(self, _: str) -> str:
        return self.shape


def _connective(deciding: bool, arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    """Return ``&&`` (false decides) or ``||`` (true decides): one deciding argument is enough, whatever becomes of the other."""
    left, right = (_to(BOOLEAN, argument, places) for argument in arguments)

    def evaluate(row: _Row) -> bool | None:
        a = left(row)
        if a is deciding:
            return deciding
        b = right(row)
        return b if b is deciding or a is not None else None

    return BOOLEAN, evaluate


def _not(arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    return BOOLEAN, _negated(_to(BOOLEAN, arguments[0], places))


def _negated(evaluate: _Evaluate) -> _Evaluate:
    def negate(row: _Row) -> bool | None:
        value = evaluate(row)
        return None if value is None else not value

    return negate


def _in(arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    """Return true if an alternative is equal; otherwise an error if a comparison is an error, or false."""
    wanted, *alternatives = (_to(TERM, argument, places) for argument in arguments)

    def evaluate(row: _Row) -> bool | None:
        term = wanted(row)
        found: bool | None = False
        for alternative in alternatives:
            other = None if term is None else alternative(row)
            same = None if term is None or other is None else equal(term, other)
            if same:
                return True
            if same is None:
                found = None
        return found

    return BOOLEAN, evaluate


def _not_in(arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    kind, evaluate = _in(arguments, places)
    return kind, _negated(evaluate)


def _if(arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    condition = _to(BOOLEAN, arguments[0], places)
    kind, (then, otherwise) = _alternatives(arguments[1:], places)

    def evaluate(row: _Row) -> Any:
        holds = condition(row)
        return None if holds is None else then(row) if holds else otherwise(row)

    return kind, evaluate


def _coalesce(arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    kind, alternatives = _alternatives(arguments, places)

    def evaluate(row: _Row) -> Any:
        for alternative in alternatives:
            value = alternative(row)
            if value is not None:
                return value
        return None

    return kind, evaluate


def _alternatives(arguments: Sequence[Expression], places: _Places) -> tuple[Kind, list[_Evaluate]]:
    """Compile expressions of which one is the result: to their common kind, or to terms if their kinds differ."""
    compiled = [_compiled(argument, places) for argument in arguments]
    for kind, _ in compiled:
        if all(kind in (have, have.wider) for have, _ in compiled):
            return kind, [evaluate for _, evaluate in compiled]
    return TERM, [_to(TERM, argument, places) for argument in arguments]


def _bound(arguments: tuple[Expression, ...], places: _Places) -> _Typed:
    """Return true: safety guarantees that the variables of a rule have values before its expressions are evaluated."""
    return BOOLEAN, _constant(True)


_FORMS: Final = {
    "&&": _Form(partial(_connective, False), "?a && ?b", 2, 2),
    "||": _Form(partial(_connective, True), "?a || ?b", 2, 2),
    "!": _Form(_not, "!?a", 1, 1),
    "IN": _Form(_in, "?a IN (1, 2)", 1, None),
    "NOT IN": _Form(_not_in, "?a NOT IN (1, 2)", 1, None),
    "IF": _Form(_if, "IF(condition, then, else)", 3, 3),
    "COALESCE": _Form(_coalesce, "COALESCE(term, ...)", 1, None),
    "BOUND": _Form(_bound, "BOUND(?x)", 1, 1),
}

NAMES: Final = tuple(sorted(name for name in {*FUNCTIONS, *_FORMS, *REFUSED} - {"IN", "NOT IN"} if name.isupper()))
"""The functions that are called by their names: those of SPARQL 1.1, and SAMEVALUE and VALUE, which compare literals by value."""

CONDITIONS: Final = tuple(name for name in NAMES if name in _FORMS or (name in FUNCTIONS and FUNCTIONS[name].result is BOOLEAN))
"""The named functions whose results are truth values, or may be, as those of IF and COALESCE."""

CASTS: Final = {name: _shown(name) for name in sorted(FUNCTIONS) if name.startswith("<") and name.endswith(">")}
"""The functions that are called by IRIs, which are those of datatypes, and their usual spellings."""
