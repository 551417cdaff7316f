"""Function relations: BIND and FILTER expressions as functions of ids, whose results are stored as rows of relations.

Kernels look results up and request the missing ones, which are computed here, all requested ones at once: on columns of values
where these decide (`column_functions`), else one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.planning.functions.chains import Chains
from kg_reasoner.program import AUXILIARY, Call, Expression, Rule, Variable, variables_of
from kg_reasoner.storage.arrays import Flags, Ids, Numbers, Rows, unique_ids, unique_rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.databases.number_table import NumberTable
from kg_reasoner.storage.grouping import group_rows
from kg_reasoner.storage.kernels.calculation import NEEDS_ROOM, NEEDS_VALUES
from kg_reasoner.storage.kernels.layout import FAILED, HOLDS, STATED
from kg_reasoner.storage.kernels.list_texts import UNDECIDED
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.terms.collections import LONGEST, Collections
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.substitution import in_expression
from kg_reasoner.terms import Literal, Term, literal, term_of, term_text

if TYPE_CHECKING:
    from kg_reasoner.planning.functions.collection_functions import CollectionFunction
    from kg_reasoner.planning.functions.column_functions import ColumnFunctions

FEW: Final = 24
"""Fewer arguments are evaluated one by one, which costs less than columns of them."""

LONG: Final = 1 << 12
"""The size in bytes above which the text of a single collection is left to kernels."""

REQUESTS: Final = 1 << 14
"""The initial capacity of the list of function calls that wait for their results; when it is full, it grows by the factor `MORE`.
"""

MOST_REQUESTS: Final = 1 << 18
MORE: Final = 16

MEMBERS: Final = f"{AUXILIARY}members"
"""The prefix of the predicates for members of collections."""


@dataclass(frozen=True, slots=True)
class _FunctionRelation:
    """An expression as a function of its variables, and the relation of its results: columns for the arguments and the result."""

    expression: Expression
    variables: tuple[Variable, ...]
    is_filter: bool
    evaluate: Callable[[Sequence[Term]], Term | bool | None]
    by_columns: bool
    """Whether columns may decide."""
    relation: int
    rule: Rule | None
    """A rule with this expression, for error messages."""
    of_collections: CollectionFunction | None = None
    """The function of many collections or strings, if there is one."""
    gives_members: bool = False
    """Whether all members of a collection are wanted as soon as one is: in rules for the members of collections."""
    has_several: bool = False
    """Whether all members of a collection are its results, and not only the first one."""

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.variables)


class Functions:
    """The functions in the rules of a database, by number. Expressions that differ in names of variables only share a function."""

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        self.dictionary = dictionary
        self._database = database
        self._columns: ColumnFunctions | None = None
        self._comparisons: dict[str, Callable[[Sequence[Term]], Term | bool | None]] = {}
        self._chains = Chains(dictionary)
        self._collections = Collections(dictionary)
        self._functions: list[_FunctionRelation] = []
        self._members = -1
        """The number of the function for members of collections, once a rule uses it."""
        self._numbers: dict[tuple[Expression, bool], int] = {}
        self.calculation = NumberTable(dictionary, database)
        """The numbers and the expressions of the calculations that joins make themselves."""

    def number(self, expression: Expression, rule: Rule | None = None, *, is_filter: bool) -> tuple[int, int, tuple[Variable, ...]]:
        """Return the number of the function of an expression in a rule, the relation of its results, and its arguments.

        Results of filters are `HOLDS` or `FAILED`. Results of bindings are ids of terms, or `FAILED` for SPARQL's type error.
        """
        variables = tuple(dict.fromkeys(variables_of(expression)))
        key = _renamed(expression, variables), is_filter
        number = self._numbers.get(key)
        if number is None:
            from kg_reasoner.expressions.compile import compile_expression, compile_filter
            from kg_reasoner.planning.functions.calculations import program_of
            from kg_reasoner.planning.functions.collection_functions import collection_function
            from kg_reasoner.planning.functions.column_functions import is_for_columns

            number = self._numbers[key] = len(self._functions)
            evaluate = (compile_filter if is_filter else compile_expression)(expression, variables)
            relation = self._database.add_relation(len(variables) + 1)
            self._database.build(self._database.index(relation, tuple(range(len(variables)))))
            by_columns = bool(variables) and is_for_columns(expression)
            of_collections = None if is_filter else collection_function(expression)
            is_of_members = rule is not None and rule.head.predicate.startswith(MEMBERS) and is_element(expression)
            made = _FunctionRelation(
                expression, variables, is_filter, evaluate, by_columns, relation, rule, of_collections, is_of_members
            )
            self._make_room(1 + len(variables))
            self.calculation.add_program(program_of(expression, variables, is_filter=is_filter), is_filter)
            self._functions.append(made)
        elif rule is not None and self._functions[number].rule != rule:
            self._functions[number] = replace(self._functions[number], rule=rule)
        return number, self._functions[number].relation, variables

    def members(self, rule: Rule) -> tuple[int, int]:
        """Return the number and the relation of the function whose results are the members of a collection.

        Args:
            rule: A rule for members of collections.
        """
        if self._members < 0:
            from kg_reasoner.expressions.compile import compile_expression

            self._members = len(self._functions)
            relation = self._database.add_relation(2)
            self._database.build(self._database.index(relation, (0,)))
            scope = (Variable("collection"),)
            first = Call("ELEMENT", (*scope, literal(0)))
            evaluate = compile_expression(first, scope)
            self._make_room(2)
            self.calculation.add_program(None, False)
            self._functions.append(_FunctionRelation(first, scope, False, evaluate, False, relation, rule, has_several=True))
        return self._members, self._functions[self._members].relation

    @property
    def relations(self) -> list[int]:
        """The relations of results, which contain no facts."""
        return [function.relation for function in self._functions]

    @property
    def columns(self) -> ColumnFunctions:
        """The evaluation of expressions on columns of ids."""
        if self._columns is None:
            from kg_reasoner.planning.functions.column_functions import ColumnFunctions

            self._columns = ColumnFunctions(self.dictionary)
        return self._columns

    def decides_columns(self, function: int) -> bool:
        """Return whether a function is evaluated on columns, and calls no functions of the program."""
        known = self._functions[function]
        if known.has_several or known.of_collections is not None:
            return True
        return known.by_columns and _is_built_in(known.expression)

    def results_of(self, function: int, columns: Sequence[Ids]) -> Ids:
        """Return the results of a function for the rows of some columns, without storing them.

        Args:
            function: The number of the function.
            columns: The ids of its arguments, which may occur several times.

        Raises:
            ValueTooLargeError: A result is too large.
        """
        known = self._functions[function]
        arguments = np.stack(columns, axis=1)
        if known.of_collections is not None:
            return self._of_collections(known, known.of_collections, arguments)
        return self._by_columns(known, arguments)

    def members_of(self, collections: Ids) -> tuple[Numbers, Ids]:
        """Return the number of members of each term, and the members of all of them, one after the other, without storing them."""
        from kg_reasoner.planning.functions.collection_functions import members_of

        return members_of(self.dictionary, self._collections, collections)

    def compared(self, operator: str, left: Ids, right: Ids) -> Flags:
        """Return for which rows a comparison holds.

        Args:
            operator: One of SPARQL's operators.
            left: The ids on its left side.
            right: Those on its right side.
        """
        from kg_reasoner.planning.functions.column_functions import UNSURE

        sides = Variable("left"), Variable("right")
        call = Call(operator, sides)
        truth = self.columns.truth(call, dict(zip(sides, (left, right), strict=True)), len(left))
        unsure = np.flatnonzero(truth == UNSURE)
        if len(unsure):
            if operator not in self._comparisons:
                from kg_reasoner.expressions.compile import compile_filter

                self._comparisons[operator] = compile_filter(call, sides)
            holds, decode = self._comparisons[operator], self.dictionary.decode
            pairs = zip(left[unsure].tolist(), right[unsure].tolist(), strict=True)
            truth[unsure] = [bool(holds((decode(one), decode(other)))) for one, other in pairs]
        return np.asarray(truth == 1)

    def call(self, function: int, arguments: Sequence[int]) -> int:
        """Return the result of a function for the ids of its arguments, without storing it.

        Raises:
            ValueTooLargeError: The result is too large.
        """
        row = np.array([arguments], np.int32)
        return int(self._one_by_one(self._functions[function], row)[0])

    def prepare_comparisons(self) -> None:
        """Prepare for rules that compare terms, which kernels may request the values of."""
        self.calculation.use()
        self._make_room(1)

    def answer(self) -> bool:
        """Compute and store the results that kernels have requested.

        Returns:
            Whether they need the values of terms, too.

        Raises:
            ValueTooLargeError: A result is too large.
        """
        context = self._database.context
        count, stride = context.request_count, context.request_stride
        requests = np.asarray(context.requests)[: count * stride].reshape(count, stride)
        others = requests[requests[:, 0] < 0, 0]
        if len(others):
            requests = requests[requests[:, 0] >= 0]
            if (others == NEEDS_ROOM).any():
                self.calculation.make_room()
        for function, arguments in self._by_function(requests):
            if function.has_several:
                self._load_all_members(function, arguments[:, 0])
                continue
            if function.gives_members and len(arguments) >= FEW:
                arguments = self._load_members(function, arguments)
                if not len(arguments):
                    continue
            results = self._results(function, arguments)
            if len(arguments) == function.arity == 1 and results[0] != FAILED and not function.is_filter:
                argument, result = int(arguments[0, 0]), int(results[0])
                further = self._chains.further(function.relation, argument, result, function.evaluate)
                results = np.concatenate([results, further])
                arguments = np.concatenate([arguments[0], results[:-1]]).reshape(-1, 1)
            rows = np.empty((len(arguments), function.arity + 1), np.int32)
            rows[:, :-1], rows[:, -1] = arguments, results
            self._database.load(function.relation, rows, STATED)
        context.request_count = 0
        if count == context.request_room < MOST_REQUESTS:
            context.publish(requests=allocate(MORE * count * stride, np.int32), request_room=MORE * count)
        return bool((others == NEEDS_VALUES).any())

    def _load_all_members(self, function: _FunctionRelation, collections: Ids) -> None:
        """Store the members of some terms, or `FAILED` for a term without members."""
        sizes, members = self.members_of(collections)
        rows = np.empty((len(members) + int((sizes == 0).sum()), 2), np.int32)
        held = np.maximum(sizes, 1)
        rows[:, 0] = np.repeat(collections, held)
        rows[:, 1] = FAILED
        rows[np.repeat(sizes > 0, held), 1] = members
        self._database.load(function.relation, rows, STATED)

    def _load_members(self, function: _FunctionRelation, arguments: Rows) -> Rows:
        """Store the results for all places in the collections of some requests, and return the requests that have none by then."""
        collections, of = np.unique(arguments[:, 0], return_inverse=True)
        sizes, members = self.members_of(collections)
        longest = int(sizes.max())
        if longest < 1:
            return arguments
        places = self.dictionary.encode_texts([term_text(literal(place)) for place in range(longest)])
        rows = np.empty((len(members), 3), np.int32)
        rows[:, 0] = np.repeat(collections, sizes)
        rows[:, 1] = places[np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)]
        rows[:, 2] = members
        self._database.load(function.relation, rows, STATED)
        order = np.argsort(places)
        found = order[np.minimum(np.searchsorted(places, arguments[:, 1], sorter=order), longest - 1)]
        return arguments[(places[found] != arguments[:, 1]) | (found >= sizes[of.reshape(-1)])]

    def _by_function(self, requests: Rows) -> Iterator[tuple[_FunctionRelation, Rows]]:
        """Yield the different arguments of each function that is requested."""
        functions = self._functions
        if len(requests) < FEW:
            found: dict[int, dict[tuple[int, ...], None]] = {}
            for number, *row in requests.tolist():
                found.setdefault(number, {})[tuple(row[: functions[number].arity])] = None
            for number, rows in found.items():
                yield functions[number], np.array(list(rows), np.int32).reshape(len(rows), -1)
            return
        for number in unique_ids(requests[:, 0]).tolist():
            yield functions[number], unique_rows(requests[requests[:, 0] == number, 1 : 1 + functions[number].arity])

    def _results(self, function: _FunctionRelation, arguments: Rows) -> Ids:
        """Return the results of a function for different arguments."""
        is_few = len(arguments) < FEW
        if function.of_collections is not None and (not is_few or self._is_long(arguments)):
            return self._of_collections(function, function.of_collections, arguments)
        if is_few:
            return self._one_by_one(function, arguments)
        if not function.by_columns:
            return self._one_by_one(function, arguments)
        return self._by_columns(function, arguments)

    def _by_columns(self, function: _FunctionRelation, arguments: Rows) -> Ids:
        """Return the results of a function that columns may decide."""
        from kg_reasoner.planning.functions.column_functions import UNSURE

        columns = {variable: arguments[:, place] for place, variable in enumerate(function.variables)}
        if function.is_filter:
            truth = self.columns.truth(function.expression, columns, len(arguments))
            results = np.where(truth == 1, np.int32(HOLDS), np.int32(FAILED))
            unsure = np.flatnonzero(truth == UNSURE)
        else:
            results = self.columns.ids(function.expression, columns, len(arguments)).copy()
            unsure = np.flatnonzero(results == UNSURE)
            results[results < 0] = FAILED
        if len(unsure):
            labels, firsts = group_rows(arguments[unsure])
            results[unsure] = self._one_by_one(function, arguments[unsure[firsts]])[labels]
        return results

    def _is_long(self, arguments: Rows) -> bool:
        """Return whether the text of an argument is long."""
        starts, numbers = self.dictionary.buffers()[0], arguments[:, 0].astype(np.int64)
        return bool((starts[numbers + 1] - starts[numbers]).max(initial=0) > LONG)

    def _of_collections(self, function: _FunctionRelation, apply: CollectionFunction, arguments: Rows) -> Ids:
        """Return the results of a function that the kernels for collections decide for the most part."""
        results = apply(self.dictionary, self._collections, arguments[:, 0])
        others = np.flatnonzero(results == UNDECIDED)
        if len(others):
            results[others] = self._one_by_one(function, arguments[others])
        return results

    def _in_python(self, function: _FunctionRelation, arguments: Rows) -> Ids | None:
        """Return the results of a function in Python, or None: the expression is another one, it has expressions among its
        arguments, or an argument is in a form that needs terms.
        """
        call = function.expression
        if not isinstance(call, Call) or call.definition is None or function.is_filter:
            return None
        from kg_reasoner.expressions.defined_functions import PythonFunction
        from kg_reasoner.expressions.result_texts import longest
        from kg_reasoner.expressions.text_columns import called_on_texts

        if not isinstance(call.definition, PythonFunction):
            return None
        columns: list[list[str]] = []
        for part in call.arguments:
            if isinstance(part, Variable):
                columns.append(self.dictionary.texts_of(arguments[:, function.variables.index(part)]))
            elif isinstance(part, Call):
                return None
            else:
                columns.append([term_text(part)] * len(arguments))
        texts = called_on_texts(call.definition, columns, len(arguments))
        if texts is None:
            return None
        if longest(texts) > LONGEST:
            raise ValueTooLargeError(f"a result of the function {call.name} has more than {LONGEST} characters")
        return self.dictionary.encode_results(texts, FAILED)

    def _one_by_one(self, function: _FunctionRelation, arguments: Rows) -> Ids:
        """Return the results of a function, applied to one row of arguments after the other."""
        results = self._in_python(function, arguments)
        if results is not None:
            return results
        numbers = list(dict.fromkeys(arguments.reshape(-1).tolist()))
        terms = dict(zip(numbers, map(term_of, self.dictionary.texts_of(numbers)), strict=True))
        rows = [[terms[number] for number in row] for row in arguments.tolist()]
        found = _in_batch(function, rows) or [_evaluated(function, row) for row in rows]
        if function.is_filter:
            return np.where(np.array(found, np.bool_), np.int32(HOLDS), np.int32(FAILED))
        texts = [None if term is None else term_text(cast(Term, term)) for term in found]
        return self.dictionary.encode_results(texts, FAILED)

    def _make_room(self, stride: int) -> None:
        context = self._database.context
        if stride > context.request_stride:
            room = max(REQUESTS, context.request_room)
            context.publish(requests=allocate(room * stride, np.int32), request_stride=stride, request_room=room)


def _in_batch(function: _FunctionRelation, rows: Sequence[Sequence[Term]]) -> list[Term | bool | None] | None:
    """Return the results of a function in Python that takes columns; None for another expression."""
    call = function.expression
    if not isinstance(call, Call) or not getattr(call.definition, "batch", False) or function.is_filter:
        return None
    if any(isinstance(argument, Call) for argument in call.arguments):
        return None
    places = {variable: place for place, variable in enumerate(function.variables)}
    chosen = [[row[places[part]] if isinstance(part, Variable) else part for part in call.arguments] for row in rows]
    return [_checked(result) for result in call.definition.column(chosen)]


def _evaluated(function: _FunctionRelation, terms: Sequence[Term]) -> Term | bool | None:
    """Return the result of a function for some arguments. Errors name the rule and the arguments."""
    try:
        return _checked(function.evaluate(terms))
    except ValueTooLargeError as error:
        from kg_reasoner.language.printer import format_rule

        values = ", ".join(_shortened(term_text(term)) for term in terms)
        rule = function.rule
        where = "" if rule is None else f" in the rule {rule.origin.text or format_rule(rule)}"
        message = f"{error}{where}, for {values}; FILTER can bound what a recursion computes"
        raise ValueTooLargeError(message) from None


def _checked(result: Term | bool | None) -> Term | bool | None:
    """Return a result that is not too long."""
    if isinstance(result, Literal) and len(result.lexical) > LONGEST:
        raise ValueTooLargeError(f"the result has more than {LONGEST} characters")
    return result


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}... ({len(text)} characters)"


def _is_built_in(expression: Expression) -> bool:
    """Return whether an expression calls no functions of the program."""
    if not isinstance(expression, Call):
        return True
    return expression.definition is None and all(map(_is_built_in, expression.arguments))


def is_element(expression: Expression) -> bool:
    """Return whether an expression is the member of a collection at a place, both of which are variables."""
    return (
        isinstance(expression, Call)
        and expression.name == "ELEMENT"
        and all(isinstance(argument, Variable) for argument in expression.arguments)
    )


def _renamed(expression: Expression, variables: Sequence[Variable]) -> Expression:
    """Return an expression with numbers as the names of its variables. Elements of collections keep theirs, since rules for members
    use them in another way.
    """
    if is_element(expression):
        return expression
    return in_expression(expression, {variable: Variable(str(place)) for place, variable in enumerate(variables)})
