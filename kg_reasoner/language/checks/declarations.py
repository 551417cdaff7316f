"""Checks of declarations, and of rules against them: keys and indexes."""

from __future__ import annotations

from collections.abc import Mapping

from kg_reasoner.errors import KeyViolationError, RuleSyntaxError, Span, suggest
from kg_reasoner.language.checks.stream_checks import check_streams
from kg_reasoner.language.choice import check_choice
from kg_reasoner.program import Argument, Atom, Declaration, Index, Program, Rule

__all__ = ["check_declarations", "key_places", "key_violation"]


def check_declarations(program: Program) -> None:
    """Check that clauses of declarations stand where they may, and that relations with a key are not derived.

    Raises:
        RuleSyntaxError: One of them does not hold; the error is at the first violation.
    """
    if not program.declarations and not program.indexes:
        return
    declared: dict[str, Declaration] = {}
    for declaration in program.declarations:
        first = declared.setdefault(declaration.predicate, declaration)
        if first.key != declaration.key:
            raise RuleSyntaxError(f"{declaration.predicate} has already been declared with another primary key", declaration.span)
        if _nature(first) != _nature(declaration) or first.columns != declaration.columns:
            raise RuleSyntaxError(f"{declaration.predicate} has already been declared differently", declaration.span)
        if declaration.key and (declaration.role, declaration.kind) != ("input", "relation"):
            hint = f"write input relation {declaration.predicate}(...); facts that rules derive are not replaced by key"
            raise RuleSyntaxError("only an input relation has a primary key", declaration.span, hint)
        if len(set(declaration.key)) < len(declaration.key):
            raise RuleSyntaxError("the primary key repeats a column", declaration.span)
    for rule in program.rules:
        if rule.body and (found := declared.get(rule.head.predicate)) is not None and found.key:
            hint = "derive another relation, and declare that without a key"
            span = rule.head.span or rule.origin.span
            raise RuleSyntaxError(f"a rule derives {found.predicate}, which has a primary key", span, hint)
    _check_keys_of_facts(program, declared)
    for declaration in declared.values():
        if declaration.per:
            check_choice(declaration, program)
    if any(declaration.is_temporal for declaration in program.declarations):
        check_streams(program, declared)
    _check_indexes(program, declared)


def _nature(declaration: Declaration) -> tuple[str, str, str, int, tuple[str, ...]]:
    return declaration.kind, declaration.operator, declaration.source, declaration.steps, declaration.per


def key_places(declaration: Declaration) -> tuple[int, ...]:
    """Return the places of the columns of a primary key."""
    names = [column.name for column in declaration.columns]
    return tuple(names.index(name) for name in declaration.key)


def _check_keys_of_facts(program: Program, declared: Mapping[str, Declaration]) -> None:
    """Check that facts of the program have different keys.

    Raises:
        KeyViolationError: Two have the same.
    """
    places = {name: key_places(declaration) for name, declaration in declared.items() if declaration.key}
    known: dict[tuple[str, tuple[Argument, ...]], Atom] = {}
    for rule in program.rules if places else ():
        head = rule.head
        if head.predicate in places:
            first = known.setdefault((head.predicate, tuple(head.terms[place] for place in places[head.predicate])), head)
            if first != head:
                raise key_violation(declared[head.predicate], head, first, head.span)


def key_violation(
    declaration: Declaration, new: Atom, known: Atom, span: Span | None = None, *, is_stored: bool = False
) -> KeyViolationError:
    """Return the error for two facts with the same primary key.

    Args:
        declaration: That of their relation.
        new: A fact that is given.
        known: The other one.
        span: The place of the former.
        is_stored: Whether the latter was there before, so that it can be replaced; otherwise, both are given.
    """
    from kg_reasoner.language.printer import format_rule

    texts = (format_rule(Rule(atom)).removesuffix(" .") for atom in (new, known))
    message = f"{' and '.join(texts)} have the same primary key ({', '.join(declaration.key)})"
    replaces, at_once = "insert_or_update replaces the fact with a key", "both are given at once: leave out one of them"
    return KeyViolationError(message, span, replaces if is_stored else at_once)


def _check_indexes(program: Program, declared: Mapping[str, Declaration]) -> None:
    known: dict[str, Index] = {}
    for index in program.indexes:
        found = declared.get(index.predicate)
        if found is None:
            hint = "declare the relation, so that its columns have names"
            raise RuleSyntaxError(f"an index on {index.predicate}, which is not declared", index.span, hint)
        columns = [column.name for column in found.columns]
        for name in index.columns:
            if name not in columns:
                raise RuleSyntaxError(f"unknown column of {index.predicate} {name}{suggest(name, columns)}", index.span)
        if known.setdefault(index.name, index) != index or len(set(index.columns)) < len(index.columns):
            raise RuleSyntaxError(f"the index {index.name} has already been declared differently, or repeats a column", index.span)
