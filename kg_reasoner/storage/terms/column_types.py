"""Type checks of declared columns for facts that users add, programs state, or rules derive."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from kg_reasoner.errors import ColumnTypeError, Span
from kg_reasoner.program import Column, Program, Rule, Variable, typed_columns
from kg_reasoner.storage.arrays import Ids, unique_ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from kg_reasoner.expressions.types import Type, Types

__all__ = ["ColumnTypes", "check_heads"]


class ColumnTypes:
    """Finds facts that violate the column types declared in a program.

    Args:
        dictionary: What the ids mean.
        program: Has the declarations.
    """

    def __init__(self, dictionary: Dictionary, program: Program) -> None:
        self._dictionary = dictionary
        self.typed = typed_columns(program)
        """The columns of the predicates that have a type in one of them."""
        heads = {rule.head.predicate for rule in program.rules if rule.body} if self.typed else set()
        self.derived = tuple(predicate for predicate in self.typed if predicate in heads)
        """Those of these predicates that rules derive. The facts of the others are checked when they are added."""
        self._definitions = program.types
        self._known: dict[str, set[int]] = {column.type: set() for columns in self.typed.values() for column in columns}

    @cached_property
    def _types(self) -> Types:
        """The types of the program."""
        from kg_reasoner.expressions.types import Types

        return Types(self._definitions)

    def check(self, predicate: str, facts: Ids, rules: Iterable[Rule] = ()) -> None:
        """Check facts of a predicate, shape (n, arity).

        Args:
            predicate: The predicate.
            facts: The facts.
            rules: Those that may have derived them, for the message.

        Raises:
            ColumnTypeError: A term is not of its column's type.
        """
        if predicate not in self.typed:
            return
        for number, column in enumerate(self.typed[predicate]):
            known, type_ = self._known[column.type], self._types.type_of(column.type)
            for term in unique_ids(facts[:, number]).tolist() if column.type != "any" else ():
                if term not in known:
                    decoded = self._dictionary.decode(term)
                    if not type_.accepts(decoded):
                        raise _mismatch(predicate, column, type_, decoded, rules)
                    known.add(term)


def check_heads(program: Program) -> None:
    """Check the constants in rule heads, which include the facts of the program.

    Args:
        program: The program to check.

    Raises:
        ColumnTypeError: A constant is not of its column's type.
    """
    typed = typed_columns(program)
    if not typed:
        return
    from kg_reasoner.expressions.types import Types

    types = Types(program.types)
    for rule in program.rules:
        for column, term in zip(typed.get(rule.head.predicate, ()), rule.head.terms, strict=False):
            type_ = types.type_of(column.type)
            if not isinstance(term, Variable) and not type_.accepts(term):
                raise _mismatch(rule.head.predicate, column, type_, term, [rule] if rule.body else [], rule.head.span)


def _mismatch(
    predicate: str, column: Column, type_: Type, term: Term, rules: Iterable[Rule], span: Span | None = None
) -> ColumnTypeError:
    from kg_reasoner.language.printer import format_rule, format_term

    shown = format_term(term)
    message = f"{shown} is not {type_.noun}, as column {column.name} of {predicate} is declared"
    derivers = dict.fromkeys(rule.origin.text or format_rule(rule) for rule in rules)
    if derivers:
        message += f"; derived by {' or '.join(derivers)}"
    return ColumnTypeError(message, span, f"declare the column as any, or make sure that it gets only {column.type}")
