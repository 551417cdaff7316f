"""Expressions over tables, column by column (SPARQL 1.1 Query, section 17).

The logical forms (``&& || ! IF COALESCE IN BOUND EXISTS``) are evaluated on whole columns. Comparisons and arithmetic use columns
of values (`kg_reasoner.storage.values.value_columns`) where these decide. Everything else is evaluated once for each different
combination of its arguments, by the functions that rules use, too.

A truth column has 1 for true, 0 for false and -1 for an error; a column of ids has `UNBOUND` for an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, cast

import numpy as np

from kg_reasoner.concurrency.watching import blocks, short_blocks, watched
from kg_reasoner.errors import UnsupportedError, ValueTooLargeError, suggest
from kg_reasoner.expressions.compile import check, check_patterns, compile_condition, compile_expression
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.expressions.functions.kinds import BOOLEAN, effective_boolean
from kg_reasoner.expressions.functions.regex import LONGEST
from kg_reasoner.expressions.result_texts import longest, texts_of
from kg_reasoner.expressions.values import OPERATORS
from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql.algebra import Exists, Expression, Foreign, Node
from kg_reasoner.sparql.scope import variables_in
from kg_reasoner.sparql.solutions.fresh_values import FRESH, FreshValues
from kg_reasoner.sparql.solutions.order_by import ranks
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.string_columns import STRINGS, LastColumn, ids_of_strings, strings_of
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, constant
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids, group_rows
from kg_reasoner.storage.terms.text_search import UNDECIDED, TextSearch, search_of
from kg_reasoner.storage.values.python_values import results_of_columns
from kg_reasoner.storage.values.truth_columns import Truth, negated, truth_column
from kg_reasoner.storage.values.value_arithmetic import are_terms, numbers_of, terms_of_numbers
from kg_reasoner.storage.values.value_columns import STRING, ValueCache, ValueColumn
from kg_reasoner.storage.values.value_comparisons import compared, members
from kg_reasoner.storage.values.value_order import ranks_of_values
from kg_reasoner.terms import IRI, XSD, Literal, Term

__all__ = ["Expressions", "PatternEvaluation", "check_expression", "is_too_long"]

SEARCHABLE: Final = 32
"""The number of solutions above which texts are searched together."""

MANY: Final = 256
"""Rows of which strings are searched together."""

SEARCHED: Final = 1 << 16
"""The number of strings that are searched between two checks of the limits."""

AT_ONCE: Final = 256
"""The maximal number of combinations of arguments that are evaluated between two checks of the limits: results can be long."""

_TRUE: Final = Literal("true", XSD.boolean.value)
_FALSE: Final = Literal("false", XSD.boolean.value)
_COMPARISONS: Final = ("=", "!=", "<", "<=", ">", ">=")
_ARITHMETIC: Final = ("+", "-", "*", "neg")
_KINDS: Final = {"ISIRI": "<", "ISURI": "<", "ISBLANK": "_", "ISLITERAL": '"'}
_GIVEN: Final = Variable("given")
_ABSOLUTE_IRI: Final = Call("IRI", (_GIVEN,))
_FORMS: Final = ("&&", "||", "!", "IN", "NOT IN", "IF", "COALESCE", "BOUND", *FRESH)


class PatternEvaluation(Protocol):
    """The part of the evaluation of patterns that expressions need."""

    def exists(self, node: Node, table: Table) -> Flags:
        """Return for which solutions a pattern has a compatible one."""
        ...

    def foreign(self, function: Foreign, arguments: Sequence[Ids], size: int) -> Ids:
        """Return the results of a function that is not ours."""
        ...


def check_expression(expression: Expression) -> None:
    """Reject an expression with an unknown function, a wrong number of arguments, or an invalid constant regular expression.

    Raises:
        UnsupportedError, ArityError: As `kg_reasoner.expressions.compile.check`.
    """
    if isinstance(expression, Foreign):
        for argument in expression.arguments:
            check_expression(argument)
    elif isinstance(expression, Call):
        if expression.name not in FUNCTIONS and expression.name not in _FORMS:
            raise UnsupportedError(f"unknown function {expression.name}{suggest(expression.name, list(FUNCTIONS))}")
        if expression.name in FUNCTIONS:
            shallow = Call(expression.name, tuple(_plain(argument) for argument in expression.arguments))
            check(shallow)
            check_patterns(shallow)
        for argument in expression.arguments:
            check_expression(argument)


def _plain(argument: Any) -> Any:
    return Variable("argument") if isinstance(argument, (Call, Exists, Foreign)) else argument


class Expressions:
    """Evaluates expressions over tables.

    Args:
        terms: The terms of the query.
        values: The values of the dictionary's terms.
        patterns: Evaluates the patterns of EXISTS.
        fresh: Makes what is different at each call.
        base: The IRI against which the function IRI resolves relative IRIs.
    """

    def __init__(
        self, terms: QueryTerms, values: ValueCache, patterns: PatternEvaluation, fresh: FreshValues, base: str | None
    ) -> None:
        self._terms, self._values, self._patterns, self._fresh, self._base = terms, values, patterns, fresh, base
        self._strings = LastColumn()

    # --- conditions -------------------------------------------------------------------------------------------------

    def holds(self, condition: Expression, table: Table) -> Flags:
        """Return for which solutions a condition is true."""
        return self.truth(condition, table) == 1

    def all_hold(self, conditions: Sequence[Expression], table: Table) -> Flags:
        """Return for which solutions all of some conditions are true. Each is evaluated where those before do not decide."""
        return self._and(conditions, table) == 1

    def truth(self, expression: Expression, table: Table) -> Truth:
        """Return the effective boolean value of an expression for each solution."""
        if isinstance(expression, Exists):
            return self._patterns.exists(expression.node, table).astype(np.int8)
        if isinstance(expression, Call):
            form = _TRUTHS.get(expression.name)
            if form is not None:
                return form(self, expression.arguments, table)
            if expression.name in _COMPARISONS:
                return self._comparison(expression, table)
            if expression.name in _KINDS:
                return self._kind(expression.name, self.ids(expression.arguments[0], table))
            search = search_of(expression)
            if search is not None and table.size >= SEARCHABLE:
                return self._searched(search, expression, table)
            function = FUNCTIONS.get(expression.name)
            if function is not None and function.result is BOOLEAN:
                return cast(Truth, self._by_rows(expression, table, wants_truth=True))
        return self._effective(self.ids(expression, table))

    def _kind(self, name: str, ids: Ids) -> Truth:
        """Test the kind of terms by the first byte of their texts."""
        truth = (self._terms.first_bytes(ids) == ord(_KINDS[name])).astype(np.int8)
        truth[ids == UNBOUND] = -1
        return truth

    def _searched(self, search: TextSearch, call: Call, table: Table) -> Truth:
        """Search the different values of a variable at once."""
        ids = table.column(search.variable.name)
        distinct, places = distinct_ids(ids)
        truth = np.where(distinct < UNBOUND, np.int8(UNDECIDED), np.int8(-1))
        stored = distinct >= 0
        searched = distinct[stored]
        parts = [search.truth(searched[part], self._terms.dictionary) for part in blocks(len(searched), SEARCHED)]
        truth[stored] = np.concatenate([np.empty(0, np.int8), *parts])
        found = truth[places.reshape(-1)]
        rest = np.flatnonzero(found == UNDECIDED)
        if len(rest):
            found[rest] = cast(Truth, self._by_rows(call, table.take(rest), wants_truth=True))
        return found

    def _effective(self, ids: Ids) -> Truth:
        distinct, places = distinct_ids(ids)
        terms = watched(self._terms.terms(distinct.tolist()))
        values = [None if term is None else effective_boolean(term) for term in terms]
        return truth_column(values)[places.reshape(-1)]

    def _and(self, arguments: Sequence[Any], table: Table) -> Truth:
        return self._until_decided(arguments, table, 0)

    def _or(self, arguments: Sequence[Any], table: Table) -> Truth:
        return self._until_decided(arguments, table, 1)

    def _until_decided(self, arguments: Sequence[Any], table: Table, decisive: int) -> Truth:
        """Return a conjunction (0 decides) or disjunction (1). An operand is evaluated where those before do not decide (17.2)."""
        result = self.truth(arguments[0], table).copy()
        for other in arguments[1:]:
            rows = np.flatnonzero(result != decisive)
            if not len(rows):
                break
            found = self.truth(other, table if len(rows) == table.size else table.among(rows))
            is_error = (result[rows] < 0) | (found < 0)
            result[rows] = np.where(found == decisive, np.int8(decisive), np.where(is_error, np.int8(-1), np.int8(1 - decisive)))
        return result

    def _not(self, arguments: Sequence[Any], table: Table) -> Truth:
        return negated(self.truth(arguments[0], table))

    def _in(self, arguments: Sequence[Any], table: Table) -> Truth:
        left = self.ids(arguments[0], table)
        if not arguments[1:]:
            return np.zeros(table.size, np.int8)
        others = [each for each in arguments[1:] if isinstance(each, (Variable, Call, Exists, Foreign))]
        constants = [each for each in arguments[1:] if not isinstance(each, (Variable, Call, Exists, Foreign))]
        numbers, bound = self._terms.ids_of(constants), left != UNBOUND
        column = self._values.column
        equal, groups = members(left, column(left, self._terms), numbers, column(numbers, self._terms))
        found = equal.astype(np.int8)
        wanted = table.extended(".left", left)
        alternatives = [(constants[place], rows) for places, rows in groups for place in places.tolist()]
        for alternative, unsure in [*alternatives, *((each, bound) for each in others)]:
            rows = np.flatnonzero(unsure & bound & (found != 1))
            if len(rows):
                same = self._comparison(Call("=", (Variable(".left"), alternative)), wanted.take(rows))
                found[rows] = np.where((same == 0) & (found[rows] < 0), np.int8(-1), same)
        return np.where(bound, found, np.int8(-1))

    def _not_in(self, arguments: Sequence[Any], table: Table) -> Truth:
        return negated(self._in(arguments, table))

    def _bound(self, arguments: Sequence[Any], table: Table) -> Truth:
        variable = arguments[0]
        if not isinstance(variable, Variable):  # a variable that the caller has bound
            return np.ones(table.size, np.int8)
        return (table.column(variable.name) != UNBOUND).astype(np.int8)

    def _comparison(self, call: Call, table: Table) -> Truth:
        """Compare by columns of values, and exactly where these do not decide."""
        if (by_bytes := self._texts_compared(call, table)) is not None:
            return by_bytes
        if len(set(variables_in(call))) > 1:  # each side once for each of its own values
            call, table = self._with_columns(call, table)
        left, right = (numbers_of(cast(Expression, side), table, self._column_values) for side in call.arguments)
        if left is None or right is None:
            return cast(Truth, self._by_rows(call, table, wants_truth=True))
        same = None
        if call.name in ("=", "!=") and all(not isinstance(side, Call) for side in call.arguments):
            same = self.ids(call.arguments[0], table) == self.ids(call.arguments[1], table)
        truth, unsure = compared(call.name, left, right, same)
        if same is None and len(unsure) >= MANY and call.name not in ("=", "!="):
            unsure = self._compare_strings(call, table, left, right, truth, unsure)
        if len(unsure):
            truth[unsure] = cast(Truth, self._by_rows(call, table.take(unsure), wants_truth=True))
        return truth

    def _texts_compared(self, call: Call, table: Table) -> Truth | None:
        """Compare what STR returns for two variables by the dictionary's bytes; None if these do not tell, or there are few."""
        if table.size < MANY or not all(isinstance(side, Call) and side.name == "STR" for side in call.arguments):
            return None
        variables = [cast(Call, side).arguments[0] for side in call.arguments]
        if not all(isinstance(variable, Variable) for variable in variables):
            return None
        columns = [table.column(cast(Variable, variable).name) for variable in variables]
        distinct, places = distinct_ids(np.concatenate(columns))
        if distinct[0] < 0:
            return None
        are_iris = self._terms.first_bytes(distinct) == ord("<")
        if not (are_iris | (self._values.column(distinct).kinds == STRING)).all():
            return None
        found = ranks_of_values(self._terms.dictionary, distinct)
        if found is None:
            return None
        mine, theirs = np.split(found[places], 2)
        return cast(Truth, OPERATORS[call.name](mine, theirs).astype(np.int8))

    def _with_columns(self, call: Call, table: Table) -> tuple[Call, Table]:
        """Return a comparison of columns: those of the sides that are neither variables, constants nor arithmetic."""
        sides: list[Any] = []
        for number, side in enumerate(call.arguments):
            if isinstance(side, (Call, Foreign, Exists)) and not (isinstance(side, Call) and side.name in _ARITHMETIC):
                name = f".side{number}"
                table = table.extended(name, self.ids(side, table))
                side = Variable(name)
            sides.append(side)
        return Call(call.name, tuple(sides)), table

    def _compare_strings(
        self, call: Call, table: Table, left: ValueColumn, right: ValueColumn, truth: Truth, unsure: Numbers
    ) -> Numbers:
        """Decide comparisons of strings by their ranks; return the rows that remain."""
        strings = (left.kinds[unsure] == STRING) & (right.kinds[unsure] == STRING)
        rows = unsure[strings]
        mine, theirs = (self.ids(cast(Expression, side), table)[rows] for side in call.arguments)
        rank = ranks(np.concatenate([mine, theirs]), self._terms, self._values)
        truth[rows] = OPERATORS[call.name](rank[: len(rows)], rank[len(rows) :])
        return unsure[~strings]

    def _column_values(self, expression: Expression, table: Table) -> Any:
        return self._values.column(self.ids(expression, table), self._terms)

    # --- terms ------------------------------------------------------------------------------------------------------

    def ids(self, expression: Expression, table: Table) -> Ids:
        """Return the value of an expression for each solution, as ids."""
        if isinstance(expression, Variable):
            return table.column(expression.name)
        if isinstance(expression, Foreign):
            arguments = [self.ids(argument, table) for argument in expression.arguments]
            return self._patterns.foreign(expression, arguments, table.size)
        if isinstance(expression, Exists):
            return self._ids_of_truth(self.truth(expression, table))
        if not isinstance(expression, Call):
            return constant(self._terms.find(expression), table.size)
        name = expression.name
        if name in _TRUTHS or name in _COMPARISONS:
            return self._ids_of_truth(self.truth(expression, table))
        form = _VALUES.get(name)
        if form is not None:
            return form(self, expression.arguments, table)
        if name in FRESH and (name != "BNODE" or not expression.arguments):
            return self._fresh.column(name, table.size)
        if name == "BNODE":
            return self._fresh.labelled(self.ids(expression.arguments[0], table), table)
        if name in _ARITHMETIC:
            return self._calculated(expression, table)
        strings = strings_of(expression, table, self._terms, self._strings) if name in STRINGS else None
        if strings is not None:
            return ids_of_strings(strings, table.size, self._terms)
        return cast(Ids, self._by_rows(expression, table, wants_truth=False))

    def _ids_of_truth(self, truth: Truth) -> Ids:
        true, false = self._terms.ids_of([_TRUE, _FALSE]).tolist()
        return np.array([false, true, UNBOUND], np.int32)[truth]

    def _calculated(self, call: Call, table: Table) -> Ids:
        numbers = numbers_of(call, table, self._column_values)
        if numbers is None:
            return cast(Ids, self._by_rows(call, table, wants_truth=False))
        found = terms_of_numbers(numbers, self._terms.ids_of_numbers)
        rest = np.flatnonzero(~are_terms(numbers))
        if len(rest):
            found[rest] = cast(Ids, self._by_rows(call, table.take(rest), wants_truth=False))
        return found

    def _if(self, arguments: Sequence[Any], table: Table) -> Ids:
        truth = self.truth(arguments[0], table)
        found = constant(UNBOUND, table.size)
        for wanted, argument in ((1, arguments[1]), (0, arguments[2])):
            rows = np.flatnonzero(truth == wanted)
            if len(rows):
                found[rows] = self.ids(argument, table.among(rows))
        return found

    def _coalesce(self, arguments: Sequence[Any], table: Table) -> Ids:
        found = constant(UNBOUND, table.size)
        for argument in arguments:
            rows = np.flatnonzero(found == UNBOUND)
            if not len(rows):
                break
            found[rows] = self.ids(argument, table.among(rows))
        return found

    def _iri(self, arguments: Sequence[Any], table: Table) -> Ids:
        distinct, places = distinct_ids(self.ids(arguments[0], table))
        parts = [self._iris(distinct[part]) for part in short_blocks(len(distinct), AT_ONCE)]
        return np.concatenate([np.empty(0, np.int32), *parts])[places.reshape(-1)]

    def _iris(self, given: Ids) -> Ids:
        found = cast("Ids | None", self._by_values(_ABSOLUTE_IRI, {_GIVEN: given}, wants_truth=False))
        if found is None:
            found = constant(UNBOUND, len(given))
        rest = np.flatnonzero((found == UNBOUND) & (given != UNBOUND))
        found[rest] = self._terms.ids_of(map(self._resolved, self._terms.terms(given[rest].tolist())))
        return found

    def _resolved(self, term: Term | None) -> Term | None:
        from urllib.parse import urljoin

        found = None if term is None else FUNCTIONS["IRI"].apply(term)
        if found is None and self._base and isinstance(term, Literal) and term.datatype == XSD.string.value:
            with suppress(ValueError):  # urljoin rejects invalid hosts
                found = FUNCTIONS["IRI"].apply(Literal(urljoin(self._base, term.lexical)))
        return cast("IRI | None", found)

    # --- by different arguments ---------------------------------------------------------------------------------------

    def _by_rows(self, call: Call, table: Table, *, wants_truth: bool) -> Any:
        """Evaluate a call once for each combination of its variables' values. An unbound variable is an error.

        Args:
            call: The call.
            table: The solutions.
            wants_truth: Whether the result is the effective boolean value for each solution; if not, it is the ids of the values.
        """
        further: dict[str, Ids] = {}
        skeleton = self._skeleton(call, table, further)
        variables = list(dict.fromkeys(variables_in(skeleton)))
        rows = Table({**table.columns, **further}, table.size).matrix([variable.name for variable in variables])
        collect = truth_column if wants_truth else self._terms.ids_of
        if not variables:
            evaluate = _guarded((compile_condition if wants_truth else compile_expression)(skeleton, variables))
            return np.repeat(collect([evaluate(())]), table.size)
        labels, firsts = group_rows(rows)
        found = []
        for part in short_blocks(len(firsts), AT_ONCE):
            columns = dict(zip(variables, rows[firsts[part]].T, strict=True))
            results = self._by_values(skeleton, columns, wants_truth=wants_truth)
            if results is None:
                evaluate = _guarded((compile_condition if wants_truth else compile_expression)(skeleton, variables))
                terms = [self._terms.terms(column.tolist()) for column in columns.values()]
                results = collect([None if None in values else evaluate(values) for values in zip(*terms, strict=True)])
            found.append(results)
        return (found[0] if len(found) == 1 else np.concatenate([collect([]), *found]))[labels]

    def _by_values(self, call: Call, columns: Mapping[Variable, Ids], *, wants_truth: bool) -> Any:
        """Evaluate a call on columns of Python values; None: terms are needed, or a result is too large.

        Args:
            call: The call; of a function with truth values, if these are wanted.
            columns: The ids of its variables.
            wants_truth: As for `_by_rows`.
        """
        results = results_of_columns(call, columns, self._terms.python_values)
        if results is None:
            return None
        found = np.empty(len(next(iter(columns.values()))), np.int8 if wants_truth else np.int32)
        for kind, rows, values in results:
            if wants_truth:
                found[rows] = truth_column(values)
                continue
            texts = texts_of(kind, values)
            if longest(texts) > LONGEST:
                return None
            found[rows] = self._terms.ids_of_results(texts)
        return found

    def _skeleton(self, expression: Any, table: Table, further: dict[str, Ids]) -> Any:
        """Return an expression whose parts with rules of their own are replaced by variables, with columns in `further`."""
        if isinstance(expression, Call) and expression.name in FUNCTIONS and expression.name not in _VALUES:
            return Call(expression.name, tuple(self._skeleton(argument, table, further) for argument in expression.arguments))
        if isinstance(expression, (Call, Exists, Foreign)):
            name = f".{len(further)}"
            further[name] = self.ids(expression, table)
            return Variable(name)
        return expression


def _guarded(evaluate: Callable[[Sequence[Term]], Any]) -> Callable[[Sequence[Term]], Any]:
    """Make numbers that are too large, and texts that are too long, a type error of the solution."""

    def apply(values: Sequence[Term]) -> Any:
        try:
            result = evaluate(values)
        except ValueTooLargeError:
            return None
        return None if is_too_long(result) else result

    return apply


def is_too_long(result: Any) -> bool:
    """Return whether the result of a function has more than `LONGEST` characters."""
    text = result.lexical if isinstance(result, Literal) else result.value if isinstance(result, IRI) else ""
    return len(text) > LONGEST


_TRUTHS: Final = {
    "&&": Expressions._and,
    "||": Expressions._or,
    "!": Expressions._not,
    "IN": Expressions._in,
    "NOT IN": Expressions._not_in,
    "BOUND": Expressions._bound,
}
_VALUES: Final = {
    "IF": Expressions._if,
    "COALESCE": Expressions._coalesce,
    "IRI": Expressions._iri,
    "URI": Expressions._iri,
}
