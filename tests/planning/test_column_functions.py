"""FILTER and BIND on columns give what the functions give for one row after the other, also for values at the edges of types."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.concurrency.limits import Watch
from kg_reasoner.errors import CancelledError, ValueTooLargeError
from kg_reasoner.expressions.compile import compile_condition, compile_expression
from kg_reasoner.expressions.values import COMPARISONS, value_of
from kg_reasoner.planning.functions.column_functions import UNSURE, ColumnFunctions, is_for_columns
from kg_reasoner.planning.functions.function_relations import FEW
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import MONTHS, NO_DURATION, SECONDS
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.python_values import python_values
from kg_reasoner.storage.values.value_table import ValueTable, _value
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal, term_from_text, term_text
from tests.helpers.effort import thinned

_X, _Y = Variable("x"), Variable("y")
_LEXICAL: Final = {
    "integer": [
        "0",
        "-0",
        "+7",
        "007",
        "-3",
        str(2**31),
        str(2**53 - 1),
        str(2**53),
        str(-(2**53) - 1),
        str(2**63),
        "9" * 30,
        "1.0",
        "",
    ],
    "decimal": [
        "0.1",
        "0.10",
        "-0.0",
        "3",
        ".5",
        "5.",
        "9007199254740993",
        "0.30000000000000004",
        "1e3",
        "0.0000000000000000001",
        f"0.{'0' * 170}1",
        f"-0.{'0' * 330}1",
    ],
    "double": ["0.1", "-0.0E0", "0", "NaN", "INF", "-INF", "1e308", "4.9e-324", "9007199254740993", "1E400", "x", "3"],
    "float": ["0.1", "16777217", "NaN", "INF", "-0", "3", "3.4e38"],
    "int": ["7", "2147483648", "-1"],
    "unsignedByte": ["7", "256", "-1"],
    "boolean": ["true", "1", "false", "0", "yes"],
    "dateTime": [
        "2024-01-01T00:00:00Z",
        "2024-01-01T01:00:00+01:00",
        "2024-01-01T00:00:00",
        "2023-12-31T24:00:00",
        "2024-01-01T00:00:00.0000000000000000001Z",
        "2024-02-30T00:00:00Z",
        "-0001-01-01T00:00:00Z",
    ],
    "date": ["2024-01-01", "2024-01-01Z", "2023-12-31-14:00", "2024-13-01"],
    "time": ["12:00:00", "24:00:00Z"],
    "duration": ["P1D", "P1M1D"],
    "dayTimeDuration": ["PT24H", "-PT0.5S", "P1M"],
    "yearMonthDuration": ["P1M", "P0M"],
    "string": ["", "a", "ab", 'a"b', "a\nb", "b\\", "é", "7"],
}
_NASTY: Final[list[Term]] = [
    *(Literal(lexical, XSD[name].value) for name, forms in _LEXICAL.items() for lexical in forms),
    Literal("ab", RDF.langString.value, "en"),
    Literal("7", "http://example.org/unknown"),
    IRI("http://example.org/ab"),
    BlankNode("ab"),
]
_CONSTANTS: Final = st.sampled_from(_NASTY)
_LEAVES: Final[st.SearchStrategy[Expression]] = st.one_of(st.just(_X), st.just(_Y), _CONSTANTS)
_TEXTS: Final = st.sampled_from([literal("a"), literal("b"), literal(""), literal("7")])


def _extended(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    def call(names: list[str], *arguments: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.builds(Call, st.sampled_from(names), st.tuples(*arguments))

    return st.one_of(
        call(["+", "-", "*", "/", "%", "IDIV", *COMPARISONS, "&&", "||"], inner, inner),
        call(["neg", "!", "ISIRI", "ISBLANK", "ISLITERAL", "ABS", "STR", "STRLEN", str(XSD.integer)], inner),
        call(["CONTAINS", "STRSTARTS", "STRENDS", "REGEX"], st.one_of(st.just(_X), st.just(Call("STR", (_X,)))), _TEXTS),
        call(["IF"], inner, inner, inner),
        st.builds(
            lambda name, parts: Call(name, tuple(parts)), st.sampled_from(["IN", "NOT IN"]), st.lists(inner, min_size=1, max_size=3)
        ),
    )


_EXPRESSIONS: Final = _extended(st.recursive(_LEAVES, _extended, max_leaves=6))


def _one_by_one(evaluate: Any, rows: list[tuple[Term, Term]]) -> list[Any]:
    """The results, with the error's class where a value is too large."""

    def result(row: tuple[Term, Term]) -> Any:
        try:
            return evaluate(row)
        except ValueTooLargeError:
            return ValueTooLargeError

    return [result(row) for row in rows]


def _agree(expression: Expression, rows: list[tuple[Term, Term]]) -> int:
    """Compare columns with functions; return how many rows columns decide."""
    dictionary = Dictionary()
    ids = np.array([[dictionary.encode(term) for term in row] for row in rows], np.int32)
    columns = {_X: ids[:, 0].copy(), _Y: ids[:, 1].copy()}
    functions = ColumnFunctions(dictionary)
    truth = functions.truth(expression, columns, len(rows)).tolist()
    wanted = _one_by_one(compile_condition(expression, [_X, _Y]), rows)
    for row, found, value in zip(rows, truth, wanted, strict=True):
        assert found in (UNSURE, -1 if value is None else value), (row, value)
    numbers = functions.ids(expression, columns, len(rows)).tolist()
    terms = _one_by_one(compile_expression(expression, [_X, _Y]), rows)
    for row, number, term in zip(rows, numbers, terms, strict=True):
        assert number == UNSURE or (None if number < 0 else dictionary.decode(number)) == term, (row, term)
    return sum(found != UNSURE for found in truth) + sum(number != UNSURE for number in numbers)


@given(_EXPRESSIONS, st.lists(st.tuples(_CONSTANTS, _CONSTANTS), min_size=1, max_size=20))
def test_columns_give_what_functions_give(expression: Expression, rows: list[tuple[Term, Term]]) -> None:
    _agree(expression, rows)


@pytest.mark.parametrize("name", ["+", "-", "*", "%", "IDIV", *COMPARISONS])
@pytest.mark.sample(3)
def test_operators_on_all_pairs(name: str) -> None:
    decided = _agree(Call(name, (_X, _Y)), list(product(_NASTY, _NASTY)))
    assert decided > len(_NASTY) ** 2 / 2


@pytest.mark.parametrize("name", thinned(COMPARISONS, 3))
@pytest.mark.long
def test_products_too_small_for_doubles(name: str) -> None:
    for left, right in [("*", "*"), ("*", "-"), ("-", "*")]:
        _agree(Call(name, (Call(left, (_X, _Y)), Call(right, (_X, _X)))), list(product(_NASTY, _NASTY)))


@pytest.mark.parametrize(
    "text",
    [
        "BIND(?x + ?y AS ?z)",
        "BIND(?x * ?y - 1 AS ?z)",
        "FILTER(?x < ?y) BIND(1 AS ?z)",
        "FILTER(?x + 1 >= ?y || ?x = ?y) BIND(1 AS ?z)",
        "FILTER(?x * 2 IN (6, 14, 2.0e0)) BIND(1 AS ?z)",
        "BIND(IF(?x < ?y, ?x, ?y) AS ?z)",
    ],
)
def test_rules_give_what_functions_give(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rule with blocks of many rows, and one row after the other."""
    rule = f"o(?x, ?y, ?z) :- v(?x), v(?y), {text.replace(') BIND', '), BIND')} ."

    def derived() -> set[tuple[Term, ...]]:
        reasoner = Reasoner()
        reasoner.add_program(rule)
        reasoner.add_facts("v", [(term,) for term in _NASTY if not isinstance(term, Literal) or len(term.lexical) < 1000])
        return set(reasoner.facts("o"))

    assert len(_NASTY) ** 2 > FEW
    by_columns = derived()
    monkeypatch.setattr("kg_reasoner.planning.functions.column_functions.is_for_columns", lambda _: False)
    assert derived() == by_columns
    assert by_columns


def test_limits_are_checked_between_blocks_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled operation does not evaluate the rest of a long column."""
    dictionary, watch, read = Dictionary(), Watch(), []
    ids = dictionary.encode_texts([term_text(literal(str(number))) for number in range(1000)])

    def cancelling(kind: Any, some: Any, dictionary: Dictionary) -> list[Any]:
        read.append(len(some))
        watch.cancel()
        return python_values(kind, some, dictionary)

    monkeypatch.setattr("kg_reasoner.storage.values.python_values.python_values", cancelling)
    with watch, pytest.raises(CancelledError):
        ColumnFunctions(dictionary).ids(Call("MD5", (_X,)), {_X: ids}, len(ids))
    assert len(read) == 1
    assert read[0] < len(ids)


def test_only_blocks_with_a_result_that_is_too_large_are_left_to_functions() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_texts([term_text(literal(number)) for number in (*range(1, 3000), 10**100)])
    found = ColumnFunctions(dictionary).ids(Call("POW", (_X, literal(20))), {_X: ids}, len(ids))
    assert found[-1] == UNSURE
    assert dictionary.decode(int(found[6])) == literal(7**20)


def test_what_is_left_to_functions() -> None:
    assert is_for_columns(Call("<", (_X, _Y)))
    assert is_for_columns(Call("!", (Call("CONTAINS", (_X, literal("a"))),)))
    assert is_for_columns(Call("STRLEN", (_X,)))
    assert is_for_columns(Call("CONTAINS", (_X, _Y)))
    assert is_for_columns(Call("STRLEN", (Call("COALESCE", (_X, _Y)),)))
    assert not is_for_columns(Call("CONCAT", (literal("a"), literal("b"))))


class TestValueTable:
    """The keys by which kernels compare values."""

    @given(st.lists(st.lists(st.integers(0, len(_NASTY) - 1), max_size=12), max_size=6))
    def test_the_order_of_keys_is_that_of_values(self, batches: list[list[int]]) -> None:
        dictionary, context = Dictionary(), Database().context
        table = ValueTable(dictionary, context)
        for batch in batches:
            for place in batch:
                dictionary.encode(_NASTY[place])
            table.update()
        terms = [dictionary.decode(number) for number in range(len(dictionary))]
        _expect_order(context, terms)

    @given(
        st.text(max_size=6),
        st.sampled_from(["", "@en", "@EN-us", f"^^{XSD.string}", f"^^{XSD.int}", f"^^{XSD.decimal}", "^^<x:@en>"]),
    )
    def test_texts_have_the_values_of_their_literals(self, lexical: str, end: str) -> None:
        text = term_text(literal(lexical)) + end
        term = term_from_text(text)
        assert isinstance(term, Literal)
        assert _value(text) == value_of(term)

    def test_counting_keeps_its_labels(self) -> None:
        """A limit and many values below it, one after the other: no label is given twice."""
        dictionary, context = Dictionary(), Database().context
        table = ValueTable(dictionary, context)
        dictionary.encode(literal(1000))
        table.update()
        first = int(context.value_keys[0])
        for number in range(200):
            dictionary.encode(literal(number))
            table.update()
        assert int(context.value_keys[0]) == first
        _expect_order(context, [dictionary.decode(number) for number in range(len(dictionary))])


def _expect_order(context: Record, terms: list[Term]) -> None:
    kinds, keys = context.value_kinds, context.value_keys
    for (i, a), (j, b) in product(enumerate(terms), repeat=2):
        less = COMPARISONS["<"](a, b)
        if less is not None:
            assert {int(kinds[i]), int(kinds[j])} in ({int(kinds[i])}, {NO_DURATION, SECONDS}, {NO_DURATION, MONTHS})
            assert (int(keys[i]) < int(keys[j])) == less


def test_names_of_variables_make_no_functions_of_their_own() -> None:
    reasoner = Reasoner("""
        big(?x) :- pair(?x, ?y), FILTER(?x - ?y > 10) .
        small(?b) :- pair(?a, ?b), FILTER(?a - ?b > 10) .
        swapped(?y) :- pair(?y, ?x), FILTER(?x - ?y > 10) .
        twice(?x) :- pair(?x, ?y), FILTER(?x - ?x > 10) .
    """)
    reasoner.add_facts("pair", [(literal(one), literal(other)) for one, other in ((20, 1), (1, 20), (3, 4))])
    found = {name: list(reasoner.facts(name)) for name in ("big", "small", "swapped", "twice")}
    assert found == {"big": [(literal(20),)], "small": [(literal(1),)], "swapped": [(literal(1),)], "twice": []}
    assert len(reasoner.engine.catalog.functions.relations) == 2
