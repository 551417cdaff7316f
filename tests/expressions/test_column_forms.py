"""Columns give what functions give for one row after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.column_forms import column_forms, values_by_form
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.expressions.functions import FUNCTIONS
from kg_reasoner.expressions.functions import kinds as all_kinds
from kg_reasoner.expressions.functions.kinds import Kind
from kg_reasoner.expressions.result_texts import texts_of
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.python_values import python_values
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal, term_text
from tests.expressions.expression_texts import expression

VARIABLES: Final = [Variable("x"), Variable("y")]
TERMS: Final[list[Term]] = [
    *map(literal, ["", "a", "abc", "Straße", "İ", "a b", 'q"uote', "back\\slash", "line\nbreak", "x:y", "2024-02-29", "1", " 7 "]),
    *map(literal, ["1.50", "1e3", "^a", "[", "$1", "en", "b", "P1D", "-0", "NaN", "true", "x\tz", "\U0001f40b"]),
    *map(literal, [0, 1, -3, 7, 10**18, 2**63, 10**40, 1.5, -0.0, float("nan"), float("inf"), 1e300, True, False]),
    *(Literal(lexical, XSD.decimal.value) for lexical in ("0.1", "1.50", "-2", "0", "9007199254740993.5", "x")),
    *(Literal(lexical, XSD.float.value) for lexical in ("0.1", "16777217")),
    *(Literal(lexical, XSD.integer.value) for lexical in ("007", "+1", "-0", "one", "")),
    *(
        Literal(lexical, XSD.dateTime.value)
        for lexical in ("2024-02-28T24:00:00Z", "2024-01-01T00:00:00.25", "2023-02-30T00:00:00")
    ),
    *(Literal(lexical, XSD.date.value) for lexical in ("2024-02-29", "2024-01-01+05:30")),
    *(Literal(lexical, XSD.dayTimeDuration.value) for lexical in ("PT1H", "-P1DT0.5S")),
    Literal("P1Y", XSD.yearMonthDuration.value),
    Literal("abc", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en"),
    Literal("b", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "fr"),
    Literal('esc"aped', "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en"),
    Literal("a", "x:type"),
    IRI("http://example.org/a"),
    IRI("x:y"),
    XSD.integer,
    BlankNode("b"),
]
KINDS: Final = [value for value in vars(all_kinds).values() if isinstance(value, Kind)]
CHOICES: Final = {"&&": (2, 2), "||": (2, 2), "!": (1, 1), "IN": (1, 4), "NOT IN": (1, 4), "IF": (3, 3), "COALESCE": (1, 4)}
"""The forms with rules of their own, with their least and greatest numbers of arguments."""


def read(kind: Kind, terms: Sequence[Term]) -> list[Any]:
    return [kind.read(term) for term in terms]


def by_columns(call: Expression, columns: dict[Variable, list[Term]], size: int) -> list[str | None]:
    """Return the texts of the results of an expression that has forms."""
    found: list[str | None] = ["missing"] * size

    def values(variable: Variable, kind: Kind, rows: Sequence[int] | None) -> list[Any]:
        terms = columns[variable]
        return read(kind, terms if rows is None else [terms[row] for row in rows])

    for kind, rows, results in values_by_form(call, size, values):
        for row, text in zip(range(size) if rows is None else rows, texts_of(kind, results), strict=True):
            found[row] = text
    return found


def one_by_one(call: Expression, columns: dict[Variable, list[Term]], size: int) -> list[str | None]:
    """Return the texts of the results for each row; ``too large`` where there is none."""
    evaluate = compile_expression(call, VARIABLES)
    found: list[str | None] = []
    for row in range(size):
        try:
            term = evaluate([columns[variable][row] for variable in VARIABLES])
        except ValueTooLargeError:
            found.append("too large")
        else:
            found.append(None if term is None else term_text(term))
    return found


def expect_the_same(call: Expression, columns: dict[Variable, list[Term]], size: int) -> None:
    expected = one_by_one(call, columns, size)
    safe = [row for row in range(size) if expected[row] != "too large"]
    for row in set(range(size)).difference(safe):
        with pytest.raises(ValueTooLargeError):
            by_columns(call, {variable: [column[row]] for variable, column in columns.items()}, 1)
    chosen = {variable: [column[row] for row in safe] for variable, column in columns.items()}
    assert by_columns(call, chosen, len(safe)) == [expected[row] for row in safe]


@st.composite
def calls(draw: st.DrawFn, depth: int = 2) -> Call:
    name = draw(st.one_of(st.sampled_from(sorted(FUNCTIONS)), st.sampled_from(sorted(CHOICES))))
    if name in CHOICES:
        least, most = CHOICES[name]
    else:
        function = FUNCTIONS[name]
        least, most = len(function.parameters) - function.optional, len(function.parameters) + (2 if function.rest else 0)
    count = draw(st.integers(least, most))
    leaves = st.sampled_from([*VARIABLES, *TERMS])
    parts = st.one_of(leaves, calls(depth - 1)) if depth else leaves
    return Call(name, tuple(draw(parts) for _ in range(count)))


@pytest.mark.parametrize("name", [name for name, each in FUNCTIONS.items() if any(some.on_column for some in each.overloads)])
def test_columns_of_first_arguments_give_what_each_gives(name: str) -> None:
    """With any other arguments, also those that are a type error, and for columns with and without line breaks."""
    (function,) = (each for each in FUNCTIONS[name].overloads if each.on_column is not None)
    columns = [[kind.read(term) for term in TERMS if kind.read(term) is not None] for kind in function.parameters]
    lines = [text for text in columns[0] if "\n" not in text]
    for count in range(len(columns) - function.optional, len(columns) + 1):
        for others in product(*columns[1:count]):
            for texts in (columns[0], lines, []):
                found = function.on_column(texts, *others)
                assert (found or [None] * len(texts)) == [function.apply(text, *others) for text in texts]


@given(calls(), st.lists(st.tuples(st.sampled_from(TERMS), st.sampled_from(TERMS)), min_size=1, max_size=12))
def test_random_expressions(call: Call, rows: list[tuple[Term, Term]]) -> None:
    columns = {variable: [row[place] for row in rows] for place, variable in enumerate(VARIABLES)}
    if column_forms(call):
        expect_the_same(call, columns, len(rows))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_on_all_pairs(name: str) -> None:
    """In columns of all pairs of terms, every assumption of a form is wrong for some rows."""
    function = FUNCTIONS[name]
    pairs = [(first, second) for first in TERMS for second in TERMS]
    columns = {variable: [pair[place] for pair in pairs] for place, variable in enumerate(VARIABLES)}
    counts = {len(function.parameters) - function.optional, len(function.parameters)} | ({2} if function.rest else set())
    for count in sorted(counts - {0}):
        call = Call(name, (*VARIABLES, literal("a"), literal("b"))[:count])
        size = len(pairs) if count > 1 else len(TERMS)
        expect_the_same(call, columns, size)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("times", [1, 3])
def test_values_of_terms(kind: Kind, times: int) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_texts([term_text(term) for term in TERMS * times])
    for some in (ids, ids[:3], ids[:0]):
        expected = read(kind, [dictionary.decode(number) for number in some.tolist()])
        assert repr(python_values(kind, some, dictionary)) == repr(expected)


@pytest.mark.parametrize("text", ["?x", "5", "CONCAT('a', 'b')", "IF(true, 1, 2)"])
def test_expressions_without_forms(text: str) -> None:
    assert column_forms(expression(text)) == ()


def test_terms_are_kept_as_they_are_written() -> None:
    """What is chosen among calls and terms is not rewritten."""
    seven = Literal("007", XSD.integer.value)
    call = Call("IF", (Call("ISNUMERIC", (VARIABLES[0],)), VARIABLES[0], Call("+", (VARIABLES[0], literal(1)))))
    assert by_columns(call, {VARIABLES[0]: [seven, literal("a")]}, 2) == [term_text(seven), None]


@pytest.mark.parametrize(("divisor", "result"), [('"PT8M"^^xsd:dayTimeDuration', "8.5"), ("2", None)])
def test_constants_of_a_wider_kind(divisor: str, result: str | None) -> None:
    """A constant quotient may be a number or a duration; here a number is wanted."""
    call = expression(f'ABS("PT1H"^^xsd:dayTimeDuration / {divisor}) + ?x')
    expected = None if result is None else term_text(Literal(result, XSD.decimal.value))
    assert by_columns(call, {VARIABLES[0]: [literal(1), literal(1)]}, 2) == [expected] * 2


def test_a_result_that_is_too_large_names_its_rule_and_arguments() -> None:
    reasoner = Reasoner("q(?x, ?y) :- p(?x), BIND(STRLEN(STR(?x)) / POW(?x, 999) AS ?y) .")
    reasoner.add_facts("p", [(literal(number),) for number in range(1, 100)])
    with pytest.raises(ValueTooLargeError, match=r"in the rule q\(\?x, \?y\) :- p\(\?x\)"):
        reasoner.materialise()


@pytest.mark.parametrize("size", [3, 100])
def test_rules_and_queries_agree(size: int) -> None:
    """Terms of all kinds in one column, few and many."""
    functions = [
        "STRLEN(?x)",
        "CONCAT(?x, STR(?y))",
        "STR(?x)",
        "xsd:integer(?x)",
        "xsd:string(?x)",
        "IRI(?x)",
        "UCASE(?x)",
        "?x / ?y",
    ]
    terms = (TERMS * 2)[:size] if size < len(TERMS) else TERMS
    rules = [f"f{number}(?x, ?y, ?z) :- p(?x, ?y), BIND({each} AS ?z) ." for number, each in enumerate(functions)]
    reasoner = Reasoner("\n".join(rules))
    reasoner.add_facts("p", [(first, second) for first in terms for second in TERMS[:9]])
    for number, each in enumerate(functions):
        evaluate = compile_expression(expression(each), VARIABLES)
        expected = {(a, b, value) for a, b in reasoner.facts("p") if (value := evaluate([a, b])) is not None}
        assert set(reasoner.facts(f"f{number}")) == expected


def test_columns_of_numbers() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_texts([term_text(literal(number)) for number in range(100)])
    assert python_values(all_kinds.NUMBER, np.concatenate([ids, ids]), dictionary) == [*range(100), *range(100)]
