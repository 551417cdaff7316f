"""Checks of a program before it is evaluated. Each check raises an error for the first fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kg_reasoner.errors import ArityError, RuleSyntaxError, SafetyError, Span
from kg_reasoner.expressions.given_relations import GIVEN_RELATIONS
from kg_reasoner.language.strata.recursion import lowered
from kg_reasoner.language.strata.stratification import Key, head_key, key_of, levels, needed_keys, signed_atoms, stratify
from kg_reasoner.program import (
    AUXILIARY,
    FALSE,
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
    is_reserved,
    remembered,
    variables_of,
)

__all__ = [
    "Key",
    "arities",
    "check",
    "check_arity",
    "check_expressions",
    "check_safety",
    "conjuncts",
    "head_key",
    "homonyms",
    "key_of",
    "levels",
    "needed_keys",
    "stratify",
]

_UNBOUND: Final = "use it in an atom that is not negated"
_UNBOUND_INSIDE: Final = (
    "use it in an atom that is not negated, or list it after ON if an atom or an equation outside of the AGGREGATE gives it a value"
)
_UNBOUND_PATH: Final = "a path that may have length zero connects every term with itself: use an end of it in another atom"
_UNBOUND_GROUP: Final = "use it in an atom of the AGGREGATE, or of the body around it, that is not negated"
"""Hints about variables without a value: in a body, in the body of an aggregate, at the ends of a path, and after ON."""


def check(program: Program) -> list[list[Rule]]:
    """Check the names, arity, safety, stratification, expressions and types of a program, in this order.

    Returns:
        Its strata (see `stratify`).

    Raises:
        RuleSyntaxError, ArityError, SafetyError, StratificationError, UnsupportedError, RuleTypeError: The first error in the
            program.
    """
    check_names(program)
    check_arity(program)
    if program.declarations or program.indexes:
        from kg_reasoner.language.checks.declarations import check_declarations

        check_declarations(program)
    check_safety(program)
    strata = stratify(lowered(program.rules).rules)
    check_expressions(program)
    defined = program.types or program.functions or program.reductions
    if defined or any(column.type != "any" for declaration in program.declarations for column in declaration.columns):
        from kg_reasoner.language.types.rule_types import check_types

        check_types(program)
    return strata


# --------------------------------------------------------------------------------------------------------------------- names


def check_names(program: Program) -> None:
    """Check that no predicate has a name that is kept for parts of rules: it would not be listed.

    Raises:
        RuleSyntaxError: At the first one that has.
    """
    for declaration in program.declarations:
        for name in (declaration.predicate, declaration.source):
            _expect_free(name, declaration.span)
    for rule in program.rules:
        _check_names(rule)


@remembered
def _check_names(rule: Rule) -> None:
    """Check the names of the predicates of one rule."""
    for atom in _general_atoms(rule):
        _expect_free(atom.predicate, atom.span)


def _expect_free(predicate: str, span: Span | None) -> None:
    if is_reserved(predicate):
        hint = f"names that begin with {AUXILIARY} are those of parts of rules: choose another one"
        raise RuleSyntaxError(f"{predicate} is not the name of a predicate of yours", span, hint)


# --------------------------------------------------------------------------------------------------------------------- arity


def check_arity(program: Program) -> None:
    """Check that each predicate always has the same number of arguments, and that of its declaration if it has one. Those whose
    facts the reasoner gives have theirs.

    Args:
        program: The program to check.

    Raises:
        ArityError: At the first use that differs.
    """
    known: dict[str, tuple[int, Span | None]] = {name: (arity, None) for name, arity in GIVEN_RELATIONS.items()}
    for declaration in program.declarations:
        _expect_arity(declaration.predicate, declaration.arity, declaration.span, known)
    for declaration in program.declarations:
        if declaration.operator and declaration.source not in known:
            _expect_arity(declaration.source, declaration.arity, declaration.span, known)
    for rule in program.rules:
        for atom in _general_atoms(rule):
            _expect_arity(atom.predicate, atom.arity, atom.span, known)


def arities(program: Program) -> dict[str, int]:
    """Return the number of arguments of each general predicate of a program that passed `check_arity`."""
    found = {declaration.predicate: declaration.arity for declaration in program.declarations}
    for rule in program.rules:
        for atom in _general_atoms(rule):
            found[atom.predicate] = atom.arity
    return found


@remembered
def _general_atoms(rule: Rule) -> tuple[Atom, ...]:
    """Yield the atoms of a rule over general predicates."""
    return tuple(
        atom for atom in (rule.head, *(atom for atom, _ in signed_atoms(rule.body))) if atom.predicate not in (TRIPLE, FALSE)
    )


def _expect_arity(predicate: str, arity: int, span: Span | None, known: dict[str, tuple[int, Span | None]]) -> None:
    expected, where = known.setdefault(predicate, (arity, span))
    if arity != expected:
        first = f" in {where.source}, line {where.line}" if where else ""
        hint = "its facts are given by the reasoner: name a relation of yours differently" if predicate in GIVEN_RELATIONS else None
        raise ArityError(f"{predicate} has {_arguments(arity)} here and {_arguments(expected)}{first}", span, hint)


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


# -------------------------------------------------------------------------------------------------------------------- safety


def check_safety(program: Program) -> None:
    """Check that positive atoms of a rule's body bind the variables of its head and filters, and those shared by negations.

    A variable that occurs in one negated atom and nowhere else is existential there (`lonely(?x) :- node(?x), NOT edge(?x, ?y) .`).

    Raises:
        SafetyError: Names the variable.
    """
    for rule in program.rules:
        _check_rule(rule)


@remembered
def _check_rule(rule: Rule) -> None:
    """Check the safety of one rule."""
    bound = _check_body(rule.body, outside=set(variables_of(rule.head)))
    for variable in variables_of(rule.head):
        if variable not in bound:
            if not rule.body:
                hint = "a fact cannot have variables: use constants, or add a body that binds them"
            elif variable.name.startswith("_"):
                hint = "a wildcard in the head has no value: use a variable that occurs in the body"
            else:
                hint = f"use {variable} in an atom of the body that is not negated"
            raise SafetyError(f"{_name(variable)} of the head is not bound by the body", variable.span or rule.head.span, hint)


_NO_PATTERNS: Final = ("LIST", "SET", "MAP")
_NO_PATTERN: Final = (
    "patterns are records and tuples; members of other collections: ?x IN ?list, ELEMENT(?list, 0), GET(?map, ?key), SIZE(?list)"
)


def _check_body(body: Sequence[BodyLiteral], outside: set[Variable], hint: str = _UNBOUND) -> set[Variable]:
    """Check the filters and negations of a body with variables from `outside`; return the variables that the body binds."""
    bound: set[Variable] = set()
    occurrences = Counter(outside)
    for part in body:
        occurrences.update(set(variables_of(part)))
        if isinstance(part, Atom):
            bound.update(variables_of(part))
        elif isinstance(part, Aggregate):
            inner = _check_body(part.body, set(part.group), _UNBOUND_INSIDE)
            _expect_bound(part.group, inner, "the aggregate", part.span, _UNBOUND_GROUP)
            _expect_bound(_aggregated(part), inner, "the aggregate", part.span, _UNBOUND_INSIDE)
            bound.update(variables_of(part))
    waiting = [part for part in body if isinstance(part, Bind)]
    while ready := [part for part in waiting if bound.issuperset(variables_of(part.expression))]:
        bound.update(part.variable for part in ready)
        waiting = [part for part in waiting if part not in ready]
    for part in waiting:
        is_collection = isinstance(part.expression, Call) and part.expression.name in _NO_PATTERNS
        what = _NO_PATTERN if is_collection else hint
        _expect_bound(variables_of(part.expression), bound, "the expression of BIND", part.span, what)
    for part in body:
        if isinstance(part, Filter):
            is_path = part.span is not None and part.span.text[part.span.column - 1 :].startswith("[")
            where, how = ("the path", _UNBOUND_PATH) if is_path else ("the filter", hint)
            _expect_bound(variables_of(part.expression), bound, where, part.span, how)
        elif isinstance(part, Negation):
            shared = (variable for variable in variables_of(part) if occurrences[variable] > 1)
            _expect_bound(shared, bound, "the negated atom", part.span, hint)
    return bound


def homonyms(program: Program) -> Iterator[str]:
    """Yield a warning for each variable local to an AGGREGATE that has the name of a variable outside of it, and for each relation
    that bodies only mention and that has the name of a condition, as SPARQL writes it (isIRI).
    """
    for atom in _named_as_conditions(program):
        name = atom.predicate
        yield (
            f"{_place(atom.span)}{name} is a relation here, which the program neither derives nor declares: "
            f"did you mean the function {name.upper()}(...), or FILTER({name}(...))?"
        )
    for rule in program.rules:
        for place, part in enumerate(rule.body):
            if isinstance(part, Aggregate):
                others = (rule.head, *rule.body[:place], *rule.body[place + 1 :])
                outside = {variable for other in others for variable in variables_of(other)}.difference(part.group)
                inside = dict.fromkeys(variable for inner in part.body for variable in variables_of(inner))
                for variable in inside:
                    if variable in outside and not variable.name.startswith("_"):
                        where = _place(variable.span or part.span)
                        yield (
                            f"{where}{variable} in the AGGREGATE is a different variable from {variable} outside of it: "
                            "list it after ON to make them the same, or rename one of them"
                        )


def _named_as_conditions(program: Program) -> list[Atom]:
    """Return the first atom of each relation in small and capital letters that is named as a condition, and has neither a rule nor
    a declaration.
    """
    found: dict[str, Atom] = {}
    for rule in program.rules:
        for atom in _general_atoms(rule):
            name = atom.predicate
            if name.isalpha() and not name.islower() and not name.isupper():
                found.setdefault(name, atom)
    if found:
        from kg_reasoner.expressions.compile import CONDITIONS

        known = {rule.head.predicate for rule in program.rules} | {each.predicate for each in program.declarations}
        return [atom for name, atom in found.items() if name.upper() in CONDITIONS and name not in known]
    return []


def _place(span: Span | None) -> str:
    """Return where something is, for the beginning of a message."""
    return "" if span is None else f"{span.source}:{span.line}:{span.column}: "


def _aggregated(part: Aggregate) -> Iterator[Variable]:
    return (v for binding in part.bindings if binding.argument is not None for v in variables_of(binding.argument))


def _expect_bound(variables: Iterable[Variable], bound: set[Variable], where: str, span: Span | None, hint: str) -> None:
    for variable in variables:
        if variable not in bound:
            raise SafetyError(f"{_name(variable)} of {where} is not bound by the body", variable.span or span, hint)


def _name(variable: Variable) -> str:
    return "the wildcard _" if variable.name.startswith("_") else str(variable)


# ---------------------------------------------------------------------------------------------------------------- expressions


def check_expressions(program: Program) -> None:
    """Check that every function and aggregate exists, is deterministic, and has the right number of arguments.

    Raises:
        UnsupportedError: Names the function or aggregate, or the error in a regular expression.
    """
    for definition in program.functions:
        _check_bodies([definition.body], definition.span)
    for reduction in program.reductions:
        _check_bodies([reduction.initial, reduction.add, reduction.remove, reduction.final], reduction.span)
    for rule in program.rules:
        _check_parts(rule)


def _check_bodies(bodies: Iterable[Expression | None], span: Span | None) -> None:
    """Check the expressions of a definition."""
    for body in bodies:
        if body is not None:
            _check_expression(body, span)


@remembered
def _check_parts(rule: Rule) -> None:
    """Check the expressions of one rule."""
    for part in rule.body:
        _check_part(part, rule.head.span)


def _check_part(part: BodyLiteral, span: Span | None) -> None:
    if isinstance(part, Filter | Bind):
        _check_expression(part.expression, part.span or span)
    elif isinstance(part, Aggregate):
        from kg_reasoner.expressions.aggregate_functions import check

        for binding in part.bindings:
            if binding.definition is None:
                check(binding.function, part.span or span)
            _check_arguments(binding, part.span or span)
            if binding.argument is not None:
                _check_expression(binding.argument, part.span or span)
        for inner in part.body:
            _check_part(inner, part.span or span)


def _check_expression(expression: Expression, span: Span | None) -> None:
    from kg_reasoner.expressions.compile import check, check_patterns

    check(expression, span)
    check_patterns(expression, span)


def _check_arguments(binding: AggregateBinding, span: Span | None) -> None:
    """Check that an aggregate function has its arguments.

    Raises:
        ArityError: Says which it takes.
    """
    from kg_reasoner.expressions.collecting import ARGUMENTS

    function, argument = binding.function, binding.argument
    count = len(argument.arguments) if isinstance(argument, Call) and argument.name == "TUPLE" else 1
    if binding.definition is not None:
        wanted = len(binding.definition.parameters)
        if argument is None or (wanted > 1 and count != wanted):
            raise ArityError(f"{function} takes {wanted} argument{'s' * (wanted > 1)}", span)
        return
    if function in ARGUMENTS and function != "GROUP_CONCAT" and (argument is None or count != ARGUMENTS[function]):
        raise ArityError(f"{function} takes two arguments", span, f"write {function}(?x, ?y)")
    if argument is None and function != "COUNT":
        raise ArityError(f"{function}(*) has no value", span, f"write {function}(?x)")


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the conjuncts of a filter: ``?x != ?y && ?x > 5`` has two."""
    if isinstance(expression, Call) and expression.name == "&&":
        for argument in expression.arguments:
            yield from conjuncts(argument)
    else:
        yield expression
