"""Functions in rules: BIND and FILTER expressions as functions of ids, whose results are kept like facts.

Kernels look results up and ask for those that are missing; they are computed here, all that were asked for at once.
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
"""How many characters a text that is computed may have."""


@dataclass(frozen=True, slots=True)
class _Function:
    """An expression as a function of its variables, and the relation of its results: the arguments, then the result."""

    evaluate: Callable[[Sequence[Term]], int]
    relation: int
    arity: int
    rule: Rule | None
    """One that has the expression."""


class Functions:
    """The functions of a database's rules, by number. Equal expressions are one function."""

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        self.dictionary = dictionary
        self._database = database
        self._functions: list[_Function] = []
        self._numbers: dict[tuple[Expression, bool], int] = {}

    def number(self, expression: Expression, rule: Rule | None = None, *, is_filter: bool) -> tuple[int, int, tuple[Variable, ...]]:
        """The function of an expression in a rule: its number, the relation of its results, its arguments.

        The result of a filter is `HOLDS` or `FAILED`, that of any other the id of a term, or `FAILED` for SPARQL's type error.
        """
        variables = tuple(dict.fromkeys(variables_of(expression)))
        number = self._numbers.get((expression, is_filter))
        if number is None:
            number = self._numbers[expression, is_filter] = len(self._functions)
            evaluate = self._filter(expression, variables) if is_filter else self._bind(expression, variables)
            relation = self._database.add_relation(len(variables) + 1)
            self._database.build(self._database.index(relation, tuple(range(len(variables)))))
            self._functions.append(_Function(evaluate, relation, len(variables), rule))
            self._make_room(1 + len(variables))
        elif rule is not None and self._functions[number].rule != rule:
            self._functions[number] = replace(self._functions[number], rule=rule)
        return number, self._functions[number].relation, variables

    @property
    def relations(self) -> list[int]:
        """The relations of results, which hold no facts."""
        return [function.relation for function in self._functions]

    def call(self, function: int, arguments: Sequence[int]) -> int:
        """The result of a function for the ids of its arguments; it is not kept.

        Raises:
            ValueTooLargeError: the result is too large.
        """
        return _evaluated(self._functions[function], [self.dictionary.decode(number) for number in arguments])

    def answer(self) -> None:
        """Compute the results that kernels have asked for.

        Raises:
            ValueTooLargeError: one of them is too large.
        """
        context = self._database.context
        count, stride = context.request_count, context.request_stride
        requests = np.asarray(context.requests)[: count * stride].reshape(count, stride)
        for number in np.unique(requests[:, 0]).tolist():
            function = self._functions[number]
            calls = unique_rows(requests[requests[:, 0] == number, 1 : 1 + function.arity])
            terms = {term: self.dictionary.decode(term) for term in np.unique(calls).tolist()}
            results = [_evaluated(function, [terms[term] for term in call]) for call in calls.tolist()]
            rows = np.column_stack([calls, np.array(results, np.int32)]).astype(np.int32)
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


def _evaluated(function: _Function, terms: Sequence[Term]) -> int:
    """The result of a function for some arguments; what goes wrong is told with the rule and the arguments."""
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
