"""Types of rules: the kinds of terms that each variable may have, from declarations, functions and constants.

A rule is wrong if a variable would need two types that have no term in common, or if an operation has no result for any argument of
the types. Relations without a declaration have the types that rules derive (`inferred_types`). What is not known may be anything:
then facts are checked when they are derived (`storage.terms.column_types`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kg_reasoner.errors import RuleTypeError, Span
from kg_reasoner.expressions.types import NUMBERS, Types, kind_of
from kg_reasoner.language.types.definition_types import check_definition_types
from kg_reasoner.language.types.expression_types import ExpressionTypes, KnownKinds, in_words, shown
from kg_reasoner.language.types.inferred_types import Inferred, Kinds, infer, rule_name
from kg_reasoner.language.types.operator_types import NUMERIC
from kg_reasoner.program import (
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Column,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
    typed_columns,
)

__all__ = ["check_types"]

_HINT: Final = "declare a column as any if it has terms of several types"
_OPTIONAL: Final = ("Some", "None")
_COLLECTING: Final = {"COUNT": "integer", "LIST": "list", "SET": "set", "MAP": "map", "GROUP_CONCAT": "string"}


def check_types(program: Program) -> None:
    """Check that the types of each rule fit together.

    Raises:
        RuleTypeError: Names the rule, the value with two types, and both types.
    """
    declared = typed_columns(program)
    if not (declared or program.types or program.functions or program.reductions):
        return
    types = Types(program.types)
    check_definition_types(program, types)

    def kinds_of(rule: Rule, inferred: Inferred) -> Sequence[tuple[Kinds, str]]:
        return _RuleTypes(rule, declared, types, inferred).head()

    inferred = infer(program.rules, declared, kinds_of)
    for rule in program.rules:
        checked = _RuleTypes(rule, declared, types, inferred)
        if rule.body:
            checked.check()
        elif rule.head.predicate not in declared:  # otherwise they are checked when they are added
            checked.constants(rule.head)


class _RuleTypes(ExpressionTypes):
    """The types of one rule."""

    def __init__(self, rule: Rule, declared: Mapping[str, tuple[Column, ...]], types: Types, inferred: Inferred) -> None:
        where = f"in the rule {rule_name(rule)}" if rule.body else f"in a fact of {rule.head.predicate}"
        super().__init__(where, rule.head.span, _HINT, types)
        self.rule, self.declared, self.inferred = rule, declared, inferred
        self.values = {part.variable: part.expression for part in rule.body if isinstance(part, Bind)}

    def head(self) -> Sequence[tuple[Kinds, str]]:
        """Return the kinds and the types of the head's arguments; they may be any if those of the body do not fit together."""
        try:
            known = self.body(self.rule.body, {})
        except RuleTypeError:
            return [(None, "")] * len(self.rule.head.terms)
        return [(self.whole(self.kinds(term, known, None)), self.type_of(term, known)) for term in self.rule.head.terms]

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

    def body(self, body: Sequence[BodyLiteral], known: dict[Variable, KnownKinds]) -> dict[Variable, KnownKinds]:
        """Return the known types of the variables of a body."""
        for part in body:
            if isinstance(part, Filter):
                self.learn_constructors(part.expression)
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
                    type_ = self.type_of(part.expression, known)
                    found = KnownKinds(kinds, f"{in_words(kinds)}, as {_origin(type_)}", type_)
                    self.narrow(part.variable, found, known, part.span)
        for part in body:
            if isinstance(part, Filter):
                self.kinds(part.expression, known, part.span)
            elif isinstance(part, Negation):
                self.atom(part.atom, dict(known))
        return known

    def aggregate(self, part: Aggregate, known: dict[Variable, KnownKinds]) -> None:
        outside, self.constructors = self.constructors, {}  # variables of the same name are others there
        inner = self.body(part.body, {})
        for variable in part.group:
            if variable in inner:
                self.narrow(variable, inner[variable], known, part.span)
        for binding in part.bindings:
            kinds = None if binding.argument is None else self.kinds(binding.argument, inner, part.span)
            type_ = "" if binding.argument is None else self.type_of(binding.argument, inner)
            if binding.definition is not None:
                self.arguments(binding, inner, part.span)
                kinds, type_ = binding.definition.result.kinds, binding.definition.result.name
            elif binding.function in _COLLECTING:
                kinds = frozenset([_COLLECTING[binding.function]])
                type_ = self.type_of_collected(binding, type_, inner)
            elif binding.function in ("SUM", "AVG"):
                self.expect(kinds, NUMERIC, f"{binding.function} takes numbers", part.span)
                kinds, type_ = frozenset(NUMBERS), ""
            elif binding.function in ("ARGMIN", "ARGMAX") and isinstance(binding.argument, Call):
                chosen = binding.argument.arguments[0]
                kinds, type_ = self.kinds(chosen, inner, part.span), self.type_of(chosen, inner)
            elif binding.function not in ("MIN", "MAX", "SAMPLE"):
                kinds = None
            if kinds is not None:
                given = f"{in_words(kinds)}, as {binding.function} gives"
                self.narrow(binding.variable, KnownKinds(kinds, given, type_), known, part.span)
        self.constructors = outside

    def type_of_collected(self, binding: AggregateBinding, type_: str, known: Mapping[Variable, KnownKinds]) -> str:
        """Return the type of a list, set or map of the values of a group, or nothing if it is not known."""
        if binding.function == "MAP" and isinstance(binding.argument, Call):
            types = [self.type_of(part, known) for part in binding.argument.arguments]
            return f"map<{', '.join(types)}>" if all(types) else ""
        return f"{binding.function.lower()}<{type_}>" if binding.function in ("LIST", "SET") and type_ else ""

    def arguments(self, binding: AggregateBinding, known: Mapping[Variable, KnownKinds], span: Span | None) -> None:
        """Check the arguments of an aggregate function of the program's own."""
        argument, parameters = binding.argument, binding.definition.parameters
        if argument is None:
            return
        parts = argument.arguments if isinstance(argument, Call) and len(parameters) > 1 else (argument,)
        for type_, part in zip(parameters, parts, strict=False):
            what = f"{binding.function} takes {type_.noun}"
            self.expect(self.kinds(part, known, span), type_.kinds, what, span, self.origin(part, known))

    def atom(self, atom: Atom, known: dict[Variable, KnownKinds]) -> None:
        """Learn from the declared types of an atom's columns."""
        if atom.predicate in self.inferred and atom is not self.rule.head:
            self.derived(atom, known)
        for column, term in zip(self.declared.get(atom.predicate, ()), atom.terms, strict=False):
            type_ = self.types.type_of(column.type)
            if type_.kinds is None:
                continue
            declared = f"{type_.noun}, as column {column.name} of {atom.predicate} is declared"
            if isinstance(term, Variable):
                if atom is self.rule.head and term in self.values:
                    what = f"column {column.name} of {atom.predicate}"
                    self.fit(self.values[term], column.type, what, known, term.span or atom.span)
                self.narrow(term, KnownKinds(type_.kinds, declared, type_.name), known, term.span or atom.span)
            elif not type_.accepts(term) and atom is not self.rule.head:  # heads are checked with the facts
                raise self.error(f"{shown(term)} is not {declared}", atom.span)
        if atom is not self.rule.head:
            self.constants(atom)

    def constants(self, atom: Atom) -> None:
        """Check the fields of the constant records of an atom."""
        for term in atom.terms:
            if not isinstance(term, Variable):
                self.expect_fields(term, atom.span)

    def derived(self, atom: Atom, known: dict[Variable, KnownKinds]) -> None:
        """Learn from the types that other rules derive for an atom's columns."""
        for place, (column, term) in enumerate(zip(self.inferred[atom.predicate], atom.terms, strict=False)):
            if column is None:
                continue
            derived = f"{in_words(column.kinds)}, {column.of(atom.predicate, place)}"
            if isinstance(term, Variable):
                self.narrow(term, KnownKinds(column.kinds, derived, column.type), known, term.span or atom.span)
            elif kind_of(term) not in column.kinds:
                raise self.error(f"{shown(term)} is not {derived}", atom.span)

    def narrow(self, variable: Variable, found: KnownKinds, known: dict[Variable, KnownKinds], span: Span | None) -> None:
        """Add the types that were found for a variable."""
        before = known.get(variable)
        if before is None:
            known[variable] = found
            return
        both = before.kinds & found.kinds
        if not both:
            name = "a value" if variable.name.startswith("_") else str(variable)
            raise self.error(f"{name} is {before.what}, and {found.what}", span)
        if before.type and found.type and self.types.are_apart(before.type, found.type):
            first, second = (self.types.type_of(type_).noun for type_ in (before.type, found.type))
            raise self.error(f"{variable} is {first}, {_where(before)}, and {second}, {_where(found)}", span)
        if both != before.kinds or (found.type and not before.type):
            known[variable] = KnownKinds(both, found.what if both != before.kinds else before.what, before.type or found.type)


def _where(found: KnownKinds) -> str:
    """Return where a type comes from."""
    return found.what[found.what.index(", as ") + 2 :]


def _origin(type_: str) -> str:
    return "it is declared" if type_ else "its value is computed"
