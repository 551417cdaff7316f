"""Function relations: BIND and FILTER expressions as functions of ids, whose results are stored as rows of relations.

Kernels look results up and request the missing ones, which are computed here, all requested ones at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions import compile as expressions
from kg_reasoner.program import Expression, Rule, Variable, variables_of
from kg_reasoner.storage.arrays import unique_rows
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.kernels.layout import FAILED, HOLDS, STATED
from kg_reasoner.storage.kernels.memory import allocate
from kg_reasoner.storage.relation import REQUESTS, Database
from kg_reasoner.terms import Literal, Term, term_text

LONGEST: Final = 1 << 24
"""The maximum number of characters of a computed text."""


@dataclass(frozen=True, slots=True)
class _FunctionRelation:
    """An expression as a function of its variables, and the relation of its results: columns for the arguments and the result."""

    evaluate: Callable[[Sequence[Term]], int]
    relation: int
    arity: int
    rule: Rule | None
    """A rule with this expression, for error messages."""


class Functions:
    """The functions in the rules of a database, by number. Equal expressions share one function."""

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        self.dictionary = dictionary
        self._database = database
        self._functions: list[_FunctionRelation] = []
        self._numbers: dict[tuple[Expression, bool], int] = {}

    def number(self, expression: Expression, rule: Rule | None = None, *, is_filter: bool) -> tuple[int, int, tuple[Variable, ...]]:
        """Return the number of the function of an expression in a rule, the relation of its results, and its arguments.

        Results of filters are `HOLDS` or `FAILED`. Results of bindings are ids of terms, or `FAILED` for SPARQL's type error.
        """
        variables = tuple(dict.fromkeys(variables_of(expression)))
        number = self._numbers.get((expression, is_filter))
        if number is None:
            number = self._numbers[expression, is_filter] = len(self._functions)
            evaluate = self._filter(expression, variables) if is_filter else self._bind(expression, variables)
            relation = self._database.add_relation(len(variables) + 1)
            self._database.build(self._database.index(relation, tuple(range(len(variables)))))
            self._functions.append(_FunctionRelation(evaluate, relation, len(variables), rule))
            self._make_room(1 + len(variables))
        elif rule is not None and self._functions[number].rule != rule:
            self._functions[number] = replace(self._functions[number], rule=rule)
        return number, self._functions[number].relation, variables

    @property
    def relations(self) -> list[int]:
        """The relations of results, which contain no facts."""
        return [function.relation for function in self._functions]

    def call(self, function: int, arguments: Sequence[int]) -> int:
        """Return the result of a function for the ids of its arguments, without storing it.

        Raises:
            ValueTooLargeError: The result is too large.
        """
        return _evaluated(self._functions[function], [self.dictionary.decode(number) for number in arguments])

    def answer(self) -> None:
        """Compute and store the results that kernels have requested.

        Raises:
            ValueTooLargeError: A result is too large.
        """
        context = self._database.context
        count, stride = context.request_count, context.request_stride
        requests = np.asarray(context.requests)[: count * stride].reshape(count, stride)
        for number in np.unique(requests[:, 0]).tolist():
            function = self._functions[number]
            arguments = unique_rows(requests[requests[:, 0] == number, 1 : 1 + function.arity])
            terms = {term: self.dictionary.decode(term) for term in np.unique(arguments).tolist()}
            results = [_evaluated(function, [terms[term] for term in row]) for row in arguments.tolist()]
            rows = np.column_stack([arguments, np.array(results, np.int32)]).astype(np.int32)
            self._database.load(function.relation, rows, STATED)
        context.request_count = 0

    def _filter(self, expression: Expression, variables: tuple[Variable, ...]) -> Callable[[Sequence[Term]], int]:
        holds = expressions.compile_filter(expression, variables)
        return lambda terms: HOLDS if holds(terms) else FAILED

    def _bind(self, expression: Expression, variables: tuple[Variable, ...]) -> Callable[[Sequence[Term]], int]:
        value = expressions.compile_expression(expression, variables)
        encode = self.dictionary.encode

        def evaluate(terms: Sequence[Term]) -> int:
            result = value(terms)
            if isinstance(result, Literal) and len(result.lexical) > LONGEST:
                raise ValueTooLargeError(f"the result has more than {LONGEST} characters")
            return FAILED if result is None else encode(result)

        return evaluate

    def _make_room(self, stride: int) -> None:
        context = self._database.context
        if stride > context.request_stride:
            context.request_stride, context.request_room = stride, REQUESTS
            context.requests = allocate(REQUESTS * stride, np.int32)


def _evaluated(function: _FunctionRelation, terms: Sequence[Term]) -> int:
    """Return the result of a function for some arguments. Errors name the rule and the arguments."""
    try:
        return function.evaluate(terms)
    except ValueTooLargeError as error:
        from kg_reasoner.language.printer import format_rule

        values = ", ".join(_shortened(term_text(term)) for term in terms)
        where = "" if function.rule is None else f" in the rule {format_rule(function.rule)}"
        message = f"{error}{where}, for {values}; FILTER can bound what a recursion computes"
        raise ValueTooLargeError(message) from None


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"
