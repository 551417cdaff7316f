"""Columns of numbers and dates give what the exact evaluation of one term after the other gives."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.expressions.aggregate_functions import FUNCTIONS, order_key
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql.solutions.order_by import ranks
from kg_reasoner.sparql.solutions.query_terms import QueryTerms, TermCache
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.value_arithmetic import decimal_digits
from kg_reasoner.storage.values.value_columns import ValueCache
from kg_reasoner.terms import XSD, Literal, Term, term_text
from tests.helpers.effort import examples

DECIMALS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=2).map(
        lambda number: format(number, "f")
    ),
    st.sampled_from(["0", "0.1", "0.10", "-0.0", "1", "1.0", "999999999999999", "9999999999999999.1", "0.000000000000001"]),
    st.sampled_from(
        [
            "0.3",
            "0.30000000000000001",
            "0.2999999999999999888977697537484345957636833190918",
            "1" + "0" * 30,
            "12.5000",
            f"0.{'0' * 330}1",
            f"-0.{'0' * 170}1",
        ]
    ),
    st.integers(-(10**17), 10**17).map(lambda number: format(Decimal(number).scaleb(-5), "f")),
)
NUMBERS = st.one_of(
    DECIMALS.map(lambda text: Literal(text, XSD.decimal.value)),
    st.one_of(st.integers(-1000, 1000), st.integers(-(10**17), 10**17)).map(lambda number: Literal(str(number), XSD.integer.value)),
    st.sampled_from(["0.1", "0.3", "1", "1E15", "-0.0", "1E400", "INF"]).map(lambda text: Literal(text, XSD.double.value)),
    st.sampled_from(["0.1", "3"]).map(lambda text: Literal(text, XSD.float.value)),
    st.just(Literal("7", XSD.byte.value)),
)
EXACT = st.one_of(
    DECIMALS.map(lambda text: Literal(text, XSD.decimal.value)),
    st.integers(-(10**16), 10**16).map(lambda number: Literal(str(number), XSD.integer.value)),
)
MOMENTS = st.sampled_from(
    [
        "2024-06-01",
        "2024-06-01Z",
        "2024-06-01+02:00",
        "2023-12-31",
        "-0044-03-15",
        "1" + "0" * 40 + "-01-01",
        "1" + "0" * 40 + "-01-02",
    ]
).map(lambda text: Literal(text, XSD.date.value))


def texts(terms: Sequence[Term | None]) -> list[str | None]:
    return [None if term is None else term_text(term) for term in terms]


def asked(query: str, rows: Sequence[Sequence[Term]]) -> list[list[str | None]]:
    """The answers to a query in which VALUES stands for rows of ?x and ?y."""
    values = " ".join(f"({' '.join(map(term_text, row))})" for row in rows)
    names = "(?x ?y)" if rows and len(rows[0]) == 2 else "(?x)"
    made = Reasoner()
    made.load("".join(f"<urn:s> <urn:p> {term_text(term)} .\n" for row in rows for term in row[:1]).encode(), format="nt")
    return [texts(row) for row in made.query(query.replace("VALUES", f"VALUES {names} {{ {values} }}"))]


@pytest.mark.parametrize("operator", ["+", "-", "*"])
@settings(max_examples=examples(60))
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_arithmetic(operator: str, rows: list[tuple[Literal, Literal]]) -> None:
    apply = compile_expression(Call(operator, (Variable("x"), Variable("y"))), (Variable("x"), Variable("y")))
    expected = texts([apply(row) for row in rows])
    found = asked(f"SELECT (?x {operator} ?y AS ?z) {{ VALUES }}", rows)
    assert [row[0] for row in found] == expected


@pytest.mark.parametrize("function", ["SUM", "AVG"])
@settings(max_examples=examples(60))
@given(members=st.lists(st.one_of(EXACT, NUMBERS), max_size=8), others=st.lists(EXACT, max_size=3))
def test_sums(function: str, members: list[Literal], others: list[Literal]) -> None:
    rows = [(term, Literal("a")) for term in members] + [(term, Literal("b")) for term in others]
    if not rows:
        return
    found = asked(f"SELECT ?y ({function}(?x) AS ?z) {{ VALUES }} GROUP BY ?y", rows)
    expected = [[f'"{name}"', *texts([FUNCTIONS[function](group)])] for name, group in (("a", members), ("b", others)) if group]
    assert sorted(found) == sorted(expected)


@settings(max_examples=examples(100))
@given(terms=st.one_of(st.lists(NUMBERS, min_size=1), st.lists(MOMENTS, min_size=1)))
def test_ranks_order_literals_as_their_values_do(terms: list[Literal]) -> None:
    cache = TermCache(Dictionary())
    known = QueryTerms(cache)
    cache.dictionary.encode_texts(texts(terms)[::2])
    found = ranks(known.ids_of(terms), known, ValueCache(cache.dictionary))
    keys = [order_key(term)[:3] for term in terms]
    for one, mine in zip(found.tolist(), keys, strict=True):
        for other, theirs in zip(found.tolist(), keys, strict=True):
            assert (one < other, one == other) == (mine < theirs, mine == theirs)


@pytest.mark.parametrize("operator", ["=", "<", "<=", "!="])
@settings(max_examples=examples(60))
@given(rows=st.lists(st.one_of(st.tuples(NUMBERS, NUMBERS), st.tuples(MOMENTS, MOMENTS)), min_size=1, max_size=8))
def test_comparisons(operator: str, rows: list[tuple[Literal, Literal]]) -> None:
    apply = compile_expression(Call(operator, (Variable("x"), Variable("y"))), (Variable("x"), Variable("y")))
    found = asked(f"SELECT (?x {operator} ?y AS ?z) {{ VALUES }}", rows)
    assert [row[0] for row in found] == texts([apply(row) for row in rows])


def test_a_mean_is_compared_and_ordered_by_its_value() -> None:
    made = Reasoner()
    made.load(b"".join(b"<urn:s%d> <urn:p> %d .\n" % (number % 3, number) for number in range(10)), format="turtle")
    query = "SELECT ?s { ?s <urn:p> ?x } GROUP BY ?s HAVING (AVG(?x) * 2 > 8.5) ORDER BY DESC(AVG(?x))"
    assert [row.s.value for row in made.query(query)] == ["urn:s2", "urn:s0"]


def test_decimals_are_written_in_canonical_form() -> None:
    numbers = [(0, 3), (-5, 2), (100, 2), (-100, 0), (1, 15), (12345, 1)]
    assert [decimal_digits(*each) for each in numbers] == ["0", "-0.05", "1", "-100", "0.000000000000001", "1234.5"]


def test_scales_stay_when_the_dictionary_grows() -> None:
    dictionary = Dictionary()
    values, terms = ValueCache(dictionary), QueryTerms(TermCache(dictionary))
    first = dictionary.encode_texts([term_text(Literal("1.25", XSD.decimal.value))])
    assert values.column(first, terms).scales.tolist() == [2]
    more = dictionary.encode_texts([term_text(Literal(f"{number}.5", XSD.decimal.value)) for number in range(100)])
    assert values.column(np.concatenate([first, more]), terms).scales.tolist() == [2, *[1] * 100]
