"""Types of expressions: the kinds of the values that they may have, given those of their variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import RuleTypeError, Span
from kg_reasoner.expressions.functions import FUNCTIONS, floats
from kg_reasoner.expressions.functions.kinds import BOOLEAN, MOMENT, NUMBER, SIMPLE, TEXT, TIME, Function, Kind
from kg_reasoner.expressions.structures import decode
from kg_reasoner.expressions.types import NUMBERS, Types, kind_of, parts
from kg_reasoner.language.surface import NO_CASE, NO_VALUE
from kg_reasoner.language.types.inferred_types import Kinds
from kg_reasoner.language.types.operator_types import NUMERIC, OPERANDS, result_kinds
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.terms import XSD, Literal, Term, literal

__all__ = ["ExpressionTypes", "KnownKinds", "in_words", "shown"]

_EXACT: Final = frozenset(["integer", "decimal"])
_MAKERS: Final = ("LIST", "SET", "TUPLE", "MAP", "RECORD")
"""The functions that make structures of their arguments."""
_STRUCTURES: Final = frozenset(["list", "set", "map", "tuple"])
_OF_KIND: Final[dict[Kind, frozenset[str]]] = {
    NUMBER: NUMERIC,
    SIMPLE: frozenset(["string"]),
    TEXT: frozenset(["string", "text"]),
    MOMENT: frozenset(["date", "dateTime", "other"]),
    TIME: frozenset(["dateTime", "other"]),
}
"""The kinds of terms that functions read as values of a kind."""
_RESULTS: Final = {
    **dict.fromkeys(("STRLEN", "SIZE", "IDIV", "BAND", "BOR", "BXOR", "BNOT", "SHL", "SHR", "FROM_BASE"), "integer"),
    **dict.fromkeys(("YEAR", "MONTH", "DAY", "HOURS", "MINUTES"), "integer"),
    **dict.fromkeys(
        ("LIST", "SPLIT", "RANGE", "KEYS", "VALUES", "AS_LIST", "SLICE", "SORT", "REVERSE", "ZIP", "CODEPOINTS"), "list"
    ),
    "SET": "set",
    "AS_SET": "set",
    "MAP": "map",
    "AS_MAP": "map",
    "TUPLE": "tuple",
    "IRI": "iri",
    "URI": "iri",
    "DATATYPE": "iri",
    **{f"<{XSD}{name}>": name for name in ("string", *NUMBERS, "boolean", "date", "dateTime")},
    **{f"<{XSD}{name}>": "other" for name in ("time", "duration", "dayTimeDuration", "yearMonthDuration")},
    "TIMEZONE": "other",
}
"""The kind of the results of functions with one."""
_TYPES: Final = {"SPLIT": "list<string>", "MATCHES": "list<string>", "RANGE": "list<integer>", "CODEPOINTS": "list<integer>"}
"""The types of the results of functions that have one with members."""
_SAME: Final = ("SORT", "REVERSE", "SLICE")
"""The functions whose results are of the type of their first argument."""
_INEXACT: Final = frozenset(floats.FUNCTIONS) - {"TRUNC", "SIGN", "ISNAN", "ISFINITE"}
"""The functions with floats or doubles as results, whatever their arguments are."""
_COMPARABLE: Final = (
    NUMERIC,
    *(frozenset([kind, "other"]) for kind in ("string", "boolean", "date", "dateTime")),
)
"""The kinds of terms that have an order among each other."""


@dataclass(frozen=True)
class KnownKinds:
    """The known kinds of a variable, and their names; and its type as a text, if it is known, for the types of its members."""

    kinds: frozenset[str]
    what: str
    type: str = ""


class ExpressionTypes:
    """The types of expressions in one place of a program.

    Args:
        where: Names the place for errors, as in ``in the rule path``.
        span: Its place in the text, where parts have none of their own.
        hint: What to do about errors.
        types: The types of the program.
    """

    def __init__(self, where: str, span: Span | None, hint: str, types: Types) -> None:
        self.where, self.span, self.hint, self.types = where, span, hint, types
        self.constructors: dict[Expression, str] = {}
        """The constructors of expressions that are records, where conditions say so."""

    def kinds(self, expression: Expression, known: Mapping[Variable, KnownKinds], span: Span | None) -> Kinds:
        """Return the kinds of the values of an expression."""
        if isinstance(expression, Variable):
            return known[expression].kinds if expression in known else None
        if not isinstance(expression, Call):
            self.expect_fields(expression, span)
            return frozenset([kind_of(expression)])
        if expression == NO_CASE:
            return frozenset()
        if _constructor(expression) in self.types.constructors:
            return self.fit_members(expression, "", "", known, span)
        if expression.name == "IF":
            return self.kinds_of_either(expression, known, span)
        if expression.name == "COALESCE":  # the first may be an error, which types do not show
            first, *others = expression.arguments or (None,)
            return self.kinds(first, known, span) if first is not None and others == [NO_VALUE] else None
        return self.kinds_of_call(expression, known, expression.span or span)

    def kinds_of_call(self, expression: Call, known: Mapping[Variable, KnownKinds], span: Span | None) -> Kinds:
        """Return the kinds of the results of a call that evaluates all its arguments, after a check of these."""
        name, arguments = expression.name, [self.kinds(part, known, span) for part in expression.arguments]
        if expression.definition is not None:
            for type_, kinds, argument in zip(expression.definition.parameters, arguments, expression.arguments, strict=False):
                self.expect(kinds, type_.kinds, f"{name} takes {type_.noun}", span, self.origin(argument, known))
            result: Kinds = expression.definition.result.kinds
            return result
        if name in ("ELEMENT", "GET"):
            type_ = self.type_of(expression, known)
            if type_:
                return self.types.type_of(type_).kinds
        if name == "IS_RECORD":
            self.expect_constructor(expression, arguments[0], known, span)
        if name in ("<", "<=", ">", ">=", "="):
            if name == "=":
                self.expect_value(expression, known, span)
                self.expect_size(expression, known, span)
            self.compare(name, arguments, span, [self.origin(argument, known) for argument in expression.arguments])
            return frozenset(["boolean"])
        if name in OPERANDS:
            return self.operate(expression, arguments, known, span)
        function = FUNCTIONS.get(name)
        if function is None:
            return frozenset(["boolean"])
        self.expect_parameters(function, expression, arguments, known, span)
        return self.result(name, function.result, arguments, expression)

    def expect_parameters(
        self, function: Function, call: Call, arguments: Sequence[Kinds], known: Mapping[Variable, KnownKinds], span: Span | None
    ) -> None:
        """Expect arguments of the kinds that a built-in function takes."""
        kinds_of = (*function.parameters, *(function.rest for _ in arguments))
        for kind, kinds, argument in zip(kinds_of, arguments, call.arguments, strict=False):
            if kind is not None and (kind in _OF_KIND or kind.name == "collection"):
                what = f"{call.name.upper() if call.name != 'neg' else '-'} takes a {kind.name}"
                self.expect(kinds, _OF_KIND.get(kind, _STRUCTURES), what, span, self.origin(argument, known))

    def kinds_of_either(self, choice: Call, known: Mapping[Variable, KnownKinds], span: Span | None) -> Kinds:
        """Return the kinds of the values of ``IF``; in its second argument, the condition holds."""
        condition, then, otherwise = choice.arguments
        with self.under(condition):
            self.kinds(condition, known, choice.span or span)
            kinds = self.kinds(then, known, choice.span or span)
        return _union([kinds, self.kinds(otherwise, known, choice.span or span)])

    @contextmanager
    def under(self, condition: Expression) -> Iterator[None]:
        """Note the constructors of the records that a condition names, where it holds."""
        outside, self.constructors = self.constructors, dict(self.constructors)
        self.learn_constructors(condition)
        try:
            yield
        finally:
            self.constructors = outside

    def learn_constructors(self, condition: Expression) -> None:
        """Note the constructors of the records that a condition names."""
        if isinstance(condition, Call) and condition.name == "&&":
            for part in condition.arguments:
                self.learn_constructors(part)
        elif isinstance(condition, Call) and condition.name == "IS_RECORD":
            whole, name = condition.arguments
            if isinstance(name, Literal):
                self.constructors[whole] = name.lexical

    def expect_constructor(self, test: Call, kinds: Kinds, known: Mapping[Variable, KnownKinds], span: Span | None) -> None:
        """Check that a value may be a record of the constructor of a pattern."""
        whole, name = test.arguments
        if kinds is None or not isinstance(name, Literal) or f"record {name.lexical}" in kinds:
            return
        type_, span = self.type_of(whole, known), test.span or span
        type_ = self.types.type_of(type_).noun if type_ else in_words(kinds)
        what = self.origin(whole, known) or f"the value is {type_}"
        owner = self.types.constructors.get(name.lexical)
        whose = f"is a constructor of {owner[0].name}" if owner else "makes optional values"
        raise self.error(f"{name.lexical} {whose}, and {what}", span)

    def expect_fields(self, term: Term, span: Span | None) -> None:
        """Check that records of constructors that the program defines have fields of the declared types, in collections, too."""
        waiting = [term]
        while waiting:
            part = waiting.pop()
            structure = decode(part)
            if structure is None:
                continue
            owner = self.types.constructors.get(structure.constructor)
            if owner is None:
                waiting += structure.members
            elif not (type_ := self.types.type_of(owner[0].name)).accepts(part):
                raise self.error(f"{shown(part)} is not {type_.noun}", span)

    def expect_size(self, equation: Call, known: Mapping[Variable, KnownKinds], span: Span | None) -> None:
        """Check that a tuple may have as many members as its pattern."""
        size, count = equation.arguments
        if not isinstance(size, Call) or size.name != "SIZE" or not isinstance(count, Literal) or not equation.span:
            return
        name, *members = parts(self.types.meant(self.type_of(size.arguments[0], known)))
        if name == "tuple" and count != literal(len(members)):
            what = self.origin(size.arguments[0], known) or f"the value is a tuple of {len(members)}"
            raise self.error(f"the pattern is a tuple of {count.lexical}, and {what}", equation.span or span)

    def type_of(self, expression: Expression, known: Mapping[Variable, KnownKinds]) -> str:
        """Return the declared type of the values of an expression, or nothing if it is not known."""
        if isinstance(expression, Variable):
            return known[expression].type if expression in known else ""
        if not isinstance(expression, Call):
            return ""
        if expression.definition is not None:
            name: str = expression.definition.result.name
            return name if name not in ("any", "term") else ""
        if expression.name == "IF":
            return self.type_of_either(expression, known)
        if expression.name in _TYPES:
            return _TYPES[expression.name]
        if expression.name in _SAME:
            return self.type_of(expression.arguments[0], known)
        if expression.name not in ("ELEMENT", "GET"):
            return ""
        whole, place = expression.arguments
        type_ = self.type_of(whole, known)
        if not type_:
            return ""
        constructor = self.constructors.get(whole)
        number = NUMBER.read(place) if isinstance(place, Literal) else None
        found = self.types.member_type(type_, number if isinstance(number, int) else None, constructor)
        if expression.name == "GET":
            is_map = self.types.type_of(type_).kinds == frozenset(["map"])
            found = self.types.member_type(found, 1) if found and is_map else None
        return found if found and found not in ("any", "term") else ""

    def type_of_either(self, choice: Call, known: Mapping[Variable, KnownKinds]) -> str:
        """Return the type of the values of ``IF``, if both have the same."""
        condition, then, otherwise = choice.arguments
        with self.under(condition):
            type_ = self.type_of(then, known)
        return type_ if otherwise == NO_CASE or type_ == self.type_of(otherwise, known) else ""

    def expect_value(self, equation: Call, known: Mapping[Variable, KnownKinds], span: Span | None) -> None:
        """Check that a constant that is compared with a variable is a value of its enumeration."""
        for variable, value in (equation.arguments, equation.arguments[::-1]):
            if isinstance(variable, Variable) and variable in known and not isinstance(value, Variable | Call):
                definition = self.types.definitions.get(known[variable].type)
                while definition is not None and definition.alias:
                    definition = self.types.definitions.get(definition.alias)
                if definition is not None and definition.values and value not in definition.values:
                    what = f"{shown(value)} is not a value of {definition.name}"
                    raise self.error(f"{what}, and {variable} is {known[variable].what}", span)

    def fit(self, expression: Expression, type_: str, what: str, known: Mapping[Variable, KnownKinds], span: Span | None) -> Kinds:
        """Return the kinds of the values of an expression, after checking that they, and their members, may be of a type.

        Args:
            expression: The expression.
            type_: The type that its values are to be of.
            what: Names the value in the message.
            known: The types of the variables.
            span: The place of the expression.
        """
        if expression == NO_CASE:
            return frozenset()
        span = (expression.span if isinstance(expression, Call) else None) or span
        if isinstance(expression, Call) and expression.name == "IF":
            condition, then, otherwise = expression.arguments
            with self.under(condition):
                self.kinds(condition, known, span)
                kinds = self.fit(then, type_, what, known, span)
            return _union([kinds, self.fit(otherwise, type_, what, known, span)])
        own = self.type_of(expression, known)
        if own and self.types.are_apart(own, type_) and self.types.type_of(own).kinds == self.types.type_of(type_).kinds:
            nouns = self.types.type_of(type_).noun, self.types.type_of(own).noun
            raise self.error(f"{what} is {nouns[0]}, and gets {nouns[1]}", span)
        if isinstance(expression, Call) and (expression.name in _MAKERS or self.appends_to(expression, type_)):
            kinds = self.fit_members(expression, type_, what, known, span)
        else:
            kinds = self.kinds(expression, known, span)
        wanted = self.types.type_of(type_)
        self.expect(kinds, wanted.kinds, f"{what} is {wanted.noun}", span, self.origin(expression, known))
        return kinds

    def appends_to(self, call: Call, type_: str) -> bool:
        """Return whether a call appends to a collection of a type with known members."""
        return call.name == "APPEND" and self.types.member_type(type_, None) is not None

    def fit_members(self, maker: Call, type_: str, what: str, known: Mapping[Variable, KnownKinds], span: Span | None) -> Kinds:
        """Return the kinds of the values of a call that makes structures, after checking its members as `fit` does."""
        span = maker.span or span
        for member, inner, of_member in self.members(maker, type_, what):
            if inner is None:
                self.kinds(member, known, span)
            else:
                self.fit(member, inner, of_member, known, span)
        return self.result(maker.name, FUNCTIONS[maker.name].result, (), maker)

    def members(self, maker: Call, type_: str, what: str) -> Iterator[tuple[Expression, str | None, str]]:
        """Return what a call puts into a structure of a type, the types that it has to be of, and its names in messages.

        Records of constructors that the program defines have the types of their fields, whatever the type is.
        """
        constructor, member = _constructor(maker), f"a member of {what}"
        if constructor in self.types.constructors:
            _, variant = self.types.constructors[constructor]
            for field, part in zip(variant.fields, maker.arguments[1:], strict=False):
                yield part, field.type, f"field {field.name} of {constructor}"
        elif maker.name == "APPEND":
            whole, part = maker.arguments
            yield whole, type_, what
            yield part, self.types.member_type(type_, None), member
        else:
            for place, part in enumerate(maker.arguments[1:] if constructor else maker.arguments):
                inner = self.types.member_type(type_, place, constructor or None)
                if maker.name == "MAP" and inner is not None:
                    inner = self.types.member_type(inner, place % 2)
                yield part, inner, member

    def result(self, name: str, kind: Kind, arguments: Sequence[Kinds], call: Call) -> Kinds:
        """Return the kinds of the results of a function of the language."""
        if name in _INEXACT:
            return frozenset(["float", "double"])
        if name in _RESULTS:
            return frozenset([_RESULTS[name]])
        if _constructor(call):
            return frozenset([f"record {_constructor(call)}"])
        if kind is NUMBER:
            if None in arguments:
                return frozenset(NUMBERS)
            used = frozenset[str]().union(*(kinds for kinds in arguments if kinds is not None))
            return used if used <= {"integer"} else _EXACT if used <= _EXACT else frozenset(NUMBERS)
        if kind is BOOLEAN:
            return frozenset(["boolean"])
        return _OF_KIND[kind] if kind in (SIMPLE, TEXT) else None

    def origin(self, argument: Expression, known: Mapping[Variable, KnownKinds]) -> str:
        """Return a description of an argument and, if it is a variable, of where its type comes from."""
        if not isinstance(argument, Variable) or argument not in known or argument.name.startswith("_"):
            return ""
        return f"{argument} is {known[argument].what}"

    def compare(self, operator: str, arguments: Sequence[Kinds], span: Span | None, origins: Sequence[str]) -> None:
        """Check that a comparison may be true."""
        left, right = arguments
        if left is None or right is None or (operator == "=" and left & right):
            return
        if not any(left & group and right & group for group in _COMPARABLE):
            raise self.error(
                f"{in_words(left)} and {in_words(right)} are compared by {operator}, which is never true{_joined(origins)}", span
            )

    def operate(self, call: Call, arguments: Sequence[Kinds], known: Mapping[Variable, KnownKinds], span: Span | None) -> Kinds:
        """Return the kinds of the results of an operator, after checking that it may have results."""
        operator, (wanted, noun), (left, right) = call.name, OPERANDS[call.name], arguments
        origins = [self.origin(argument, known) for argument in call.arguments]
        for kinds, origin in zip(arguments, origins, strict=True):
            self.expect(kinds, wanted, f"{operator} takes {noun}", span, origin)
        found = result_kinds(operator, left, right)
        if not found and left is not None and right is not None:
            what = f"{in_words(left)} and {in_words(right)} are operands of {operator}, which has no value for them"
            raise self.error(f"{what}{_joined(origins)}", span)
        return found

    def expect(self, kinds: Kinds, wanted: Kinds, what: str, span: Span | None, origin: str = "") -> None:
        """Check that an argument may be of a type."""
        if kinds is None or wanted is None or kinds & wanted:
            return
        if wanted is _STRUCTURES and any(kind.startswith("record") for kind in kinds):
            return
        raise self.error(f"{what}, and {origin or f'gets {in_words(kinds)}'}", span)

    def error(self, message: str, span: Span | None) -> RuleTypeError:
        return RuleTypeError(f"{self.where}, {message}", span or self.span, self.hint)


def _constructor(call: Call) -> str:
    """Return the constructor of the record that a call makes, or nothing if it makes none."""
    first = call.arguments[0] if call.name == "RECORD" and call.arguments else None
    return first.lexical if isinstance(first, Literal) else ""


def _joined(origins: Sequence[str]) -> str:
    text = ", and ".join(filter(None, origins))
    return f": {text}" if text else ""


def _union(several: Iterable[Kinds]) -> Kinds:
    found: frozenset[str] = frozenset()
    for kinds in several:
        if kinds is None:
            return None
        found |= kinds
    return found


def in_words(kinds: frozenset[str]) -> str:
    """Return kinds in words."""
    if kinds >= set(NUMBERS):
        return "a number"
    words = [kind if kind != "text" else "string with a language" for kind in sorted(kinds) if kind != "other"]
    if not words:
        return "another term"
    names = " or ".join(words)
    return f"{'an' if names[0] in 'aeiou' else 'a'} {names}".replace("iri", "IRI").replace("a IRI", "an IRI")


def shown(term: Term) -> str:
    from kg_reasoner.language.printer import format_term

    return format_term(term)
