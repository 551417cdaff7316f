"""Types of rules: the kinds of terms that each variable may have, from declarations, functions and constants.

A rule is wrong if a variable would need two types that have no term in common, or if an operation has no result for any argument of
the types. Relations without a declaration have the types that rules derive (`inferred_types`). What is not known may be anything: then
facts are checked when they are derived (`storage.column_types`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kg_reasoner.errors import RuleTypeError, Span
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.expressions.functions.kinds import BOOLEAN, MOMENT, NUMBER, SIMPLE, TEXT, TIME, Kind
from kg_reasoner.expressions.types import NUMBERS, Types, kind_of
from kg_reasoner.language.inferred_types import Inferred, Kinds, infer, rule_name
from kg_reasoner.program import (
    Aggregate,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Column,
    Expression,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
)
from kg_reasoner.terms import XSD, Literal, Term

__all__ = ["check_types"]

_OPTIONAL: Final = ("Some", "None")
_EXACT: Final = frozenset(["integer", "decimal"])
_STRUCTURES: Final = frozenset(["list", "set", "map", "tuple"])
_NUMERIC: Final = frozenset([*NUMBERS, "other"])
_OF_KIND: Final[dict[Kind, frozenset[str]]] = {
    NUMBER: _NUMERIC,
    SIMPLE: frozenset(["string"]),
    TEXT: frozenset(["string", "text"]),
    MOMENT: frozenset(["date", "dateTime", "other"]),
    TIME: frozenset(["dateTime", "other"]),
}
"""The kinds of terms that functions read as values of a kind."""
_RESULTS: Final = {
    **dict.fromkeys(("STRLEN", "SIZE", "IDIV", "BAND", "BOR", "BXOR", "BNOT", "SHL", "SHR"), "integer"),
    **dict.fromkeys(("YEAR", "MONTH", "DAY", "HOURS", "MINUTES"), "integer"),
    **dict.fromkeys(("LIST", "SPLIT", "RANGE", "KEYS", "VALUES", "AS_LIST", "SLICE", "SORT", "REVERSE", "ZIP"), "list"),
    "SET": "set",
    "AS_SET": "set",
    "MAP": "map",
    "AS_MAP": "map",
    "TUPLE": "tuple",
    "IRI": "iri",
    "URI": "iri",
    "DATATYPE": "iri",
    **{f"<{XSD}{name}>": name for name in ("string", *NUMBERS, "boolean", "date", "dateTime")},
}
"""The kind of the results of functions with one."""
_COLLECTING: Final = {"COUNT": "integer", "LIST": "list", "SET": "set", "MAP": "map", "GROUP_CONCAT": "string"}
_COMPARABLE: Final = (
    _NUMERIC,
    *(frozenset([kind, "other"]) for kind in ("string", "boolean", "date", "dateTime")),
)
"""The kinds of terms that have an order among each other."""


@dataclass(frozen=True)
class _Known:
    """What is known of a variable: its kinds, and how they are called."""

    kinds: frozenset[str]
    what: str


def check_types(program: Program) -> None:
    """Check that the types of each rule fit together.

    Raises:
        RuleTypeError: Names the rule, what has two types, and both of them.
    """
    declared = {declaration.predicate: declaration.columns for declaration in program.declarations}
    declared = {name: columns for name, columns in declared.items() if any(column.type != "any" for column in columns)}
    if not declared and not program.functions:
        return
    types = Types(program.types)

    def kinds_of(rule: Rule, inferred: Inferred) -> Sequence[Kinds]:
        return _RuleTypes(rule, declared, types, inferred).head()

    inferred = infer(program.rules, declared, kinds_of)
    for rule in program.rules:
        if rule.body:
            _RuleTypes(rule, declared, types, inferred).check()


class _RuleTypes:
    """The types of one rule."""

    def __init__(self, rule: Rule, declared: Mapping[str, tuple[Column, ...]], types: Types, inferred: Inferred) -> None:
        self.rule, self.declared, self.types, self.inferred = rule, declared, types, inferred

    def head(self) -> Sequence[Kinds]:
        """Return the kinds of the head's arguments; all of them may be any if the types of the body do not fit together."""
        try:
            known = self.body(self.rule.body, {})
        except RuleTypeError:
            return [None] * len(self.rule.head.terms)
        return [self.whole(self.kinds(term, known, None)) for term in self.rule.head.terms]

    def whole(self, kinds: Kinds) -> Kinds:
        """Return kinds with all constructors of the types of which some are among them."""
        found = set(kinds or ())
        for kind in kinds or ():
            name = kind.removeprefix("record ") if kind.startswith("record ") else ""
            if name in self.types.constructors:
                found.update(f"record {variant.name}" for variant in self.types.constructors[name][0].variants)
            elif name in _OPTIONAL:
                found.update(f"record {name}" for name in _OPTIONAL)
        return None if kinds is None else frozenset(found)

    def check(self) -> None:
        """Check the rule."""
        known = self.body(self.rule.body, {})
        self.atom(self.rule.head, known)

    def body(self, body: Sequence[BodyLiteral], known: dict[Variable, _Known]) -> dict[Variable, _Known]:
        """Return what is known of the variables of a body."""
        for part in body:
            if isinstance(part, Atom):
                self.atom(part, known)
            elif isinstance(part, Aggregate):
                self.aggregate(part, known)
        waiting = [part for part in body if isinstance(part, Bind)]
        for _ in waiting:  # values of values
            for part in waiting:
                kinds = self.kinds(part.expression, known, part.span)
                if kinds is not None:
                    self.narrow(part.variable, _Known(kinds, f"{_noun(kinds)}, as its value is computed"), known, part.span)
        for part in body:
            if isinstance(part, Filter):
                self.kinds(part.expression, known, part.span)
            elif isinstance(part, Negation):
                self.atom(part.atom, dict(known))
        return known

    def aggregate(self, part: Aggregate, known: dict[Variable, _Known]) -> None:
        inner = self.body(part.body, {})
        for variable in part.group:
            if variable in inner:
                self.narrow(variable, inner[variable], known, part.span)
        for binding in part.bindings:
            kinds = None if binding.argument is None else self.kinds(binding.argument, inner, part.span)
            if binding.definition is not None:
                kinds = binding.definition.result.kinds
            elif binding.function in _COLLECTING:
                kinds = frozenset([_COLLECTING[binding.function]])
            elif binding.function in ("SUM", "AVG"):
                self.expect(kinds, _NUMERIC, f"{binding.function} takes numbers", part.span)
                kinds = frozenset(NUMBERS)
            elif binding.function not in ("MIN", "MAX", "SAMPLE"):
                kinds = None
            if kinds is not None:
                self.narrow(binding.variable, _Known(kinds, f"{_noun(kinds)}, as {binding.function} gives"), known, part.span)

    def atom(self, atom: Atom, known: dict[Variable, _Known]) -> None:
        """Learn from the declared types of an atom's columns."""
        if atom.predicate in self.inferred and atom is not self.rule.head:
            self.derived(atom, known)
        for column, term in zip(self.declared.get(atom.predicate, ()), atom.terms, strict=False):
            type_ = self.types.type_of(column.type)
            if type_.kinds is None:
                continue
            declared = f"{type_.noun}, as column {column.name} of {atom.predicate} is declared"
            if isinstance(term, Variable):
                self.narrow(term, _Known(type_.kinds, declared), known, term.span or atom.span)
            elif not type_.accepts(term) and atom is not self.rule.head:  # heads are checked with the facts
                raise self.error(f"{_shown(term)} is not {declared}", atom.span)

    def derived(self, atom: Atom, known: dict[Variable, _Known]) -> None:
        """Learn from what other rules derive for an atom's columns."""
        for place, (column, term) in enumerate(zip(self.inferred[atom.predicate], atom.terms, strict=False)):
            if column is None:
                continue
            derived = f"{_noun(column.kinds)}, {column.of(atom.predicate, place)}"
            if isinstance(term, Variable):
                self.narrow(term, _Known(column.kinds, derived), known, term.span or atom.span)
            elif kind_of(term) not in column.kinds:
                raise self.error(f"{_shown(term)} is not {derived}", atom.span)

    def narrow(self, variable: Variable, found: _Known, known: dict[Variable, _Known], span: Span | None) -> None:
        """Add what was found out about a variable."""
        before = known.get(variable)
        if before is None:
            known[variable] = found
            return
        both = before.kinds & found.kinds
        if not both:
            name = "a value" if variable.name.startswith("_") else str(variable)
            raise self.error(f"{name} is {before.what}, and {found.what}", span)
        if both != before.kinds:
            known[variable] = _Known(both, found.what)

    def kinds(self, expression: Expression, known: Mapping[Variable, _Known], span: Span | None) -> Kinds:
        """Return the kinds of the values of an expression."""
        if isinstance(expression, Variable):
            return known[expression].kinds if expression in known else None
        if not isinstance(expression, Call):
            return frozenset([kind_of(expression)])
        if expression.name == "COALESCE":  # which is there for errors
            return None
        span = expression.span or span
        name, arguments = expression.name, [self.kinds(part, known, span) for part in expression.arguments]
        if expression.definition is not None:
            for type_, kinds, argument in zip(expression.definition.parameters, arguments, expression.arguments, strict=False):
                self.expect(kinds, type_.kinds, f"{name} takes {type_.noun}", span, self.origin(argument, known))
            result: Kinds = expression.definition.result.kinds
            return result
        if name in ("<", "<=", ">", ">=", "="):
            self.compare(name, arguments, span, [self.origin(argument, known) for argument in expression.arguments])
            return frozenset(["boolean"])
        if name == "IF":
            return _union(arguments[1:])
        function = FUNCTIONS.get(name)
        if function is None:
            return frozenset(["boolean"])
        kinds_of = (*function.parameters, *(function.rest for _ in arguments))
        for kind, kinds, argument in zip(kinds_of, arguments, expression.arguments, strict=False):
            if kind is not None and (kind in _OF_KIND or kind.name == "collection"):
                wanted = _OF_KIND.get(kind, _STRUCTURES)
                what = f"{name.upper() if name != 'neg' else '-'} takes a {kind.name}"
                self.expect(kinds, wanted, what, span, self.origin(argument, known))
        return self.result(name, function.result, arguments, expression)

    def result(self, name: str, kind: Kind, arguments: Sequence[Kinds], call: Call) -> Kinds:
        """Return the kinds of the results of a function of the language."""
        if name in _RESULTS:
            return frozenset([_RESULTS[name]])
        if name == "RECORD" and isinstance(call.arguments[0], Literal):
            return frozenset([f"record {call.arguments[0].lexical}"])
        if kind is NUMBER:
            if None in arguments:
                return frozenset(NUMBERS)
            used = frozenset[str]().union(*(kinds for kinds in arguments if kinds is not None))
            if name == "/":
                return frozenset(["decimal"]) if used <= _EXACT else frozenset(NUMBERS) - {"integer"}
            return used if used <= {"integer"} else _EXACT if used <= _EXACT else frozenset(NUMBERS)
        if kind is BOOLEAN:
            return frozenset(["boolean"])
        return _OF_KIND[kind] if kind in (SIMPLE, TEXT) else None

    def origin(self, argument: Expression, known: Mapping[Variable, _Known]) -> str:
        """Return what an argument is and where its type comes from, if it is a variable."""
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
                f"{_noun(left)} and {_noun(right)} are compared by {operator}, which is never true{_joined(origins)}", span
            )

    def expect(self, kinds: Kinds, wanted: Kinds, what: str, span: Span | None, origin: str = "") -> None:
        """Check that an argument may be of a type."""
        if kinds is None or wanted is None or kinds & wanted:
            return
        if wanted is _STRUCTURES and any(kind.startswith("record") for kind in kinds):
            return
        raise self.error(f"{what}, and {origin or f'gets {_noun(kinds)}'}", span)

    def error(self, message: str, span: Span | None) -> RuleTypeError:
        hint = "declare a column as any if it has terms of several types"
        return RuleTypeError(f"in the rule {rule_name(self.rule)}, {message}", span or self.rule.head.span, hint)


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


def _noun(kinds: frozenset[str]) -> str:
    """Return kinds in words."""
    if kinds >= set(NUMBERS):
        return "a number"
    words = [kind if kind != "text" else "string with a language" for kind in sorted(kinds) if kind != "other"]
    names = " or ".join(words) or "another term"
    return f"{'an' if names[0] in 'aeiou' else 'a'} {names}".replace("iri", "IRI").replace("a IRI", "an IRI")


def _shown(term: Term) -> str:
    from kg_reasoner.language.printer import format_term

    return format_term(term)
