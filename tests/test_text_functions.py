"""Functions on the texts of many terms give what they give for one term after the other, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.expressions.definitions import PythonFunction
from kg_reasoner.expressions.structures import NAMESPACE, encode
from kg_reasoner.expressions.text_columns import called_on_texts
from kg_reasoner.expressions.types import Types
from kg_reasoner.planning.text_functions import members_of, text_function
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal, term_text

from .effort import examples
from .test_structures import NESTED

X = Variable("x")
EXPRESSIONS = [
    Call("SIZE", (X,)),
    Call("ELEMENT", (X, literal(0))),
    Call("ELEMENT", (X, literal(2))),
    *(Call("SPLIT", (X, Literal(separator))) for separator in ("a", "", ", ")),
]
BROKEN = st.builds(
    lambda text, kind: Literal(text, NAMESPACE + kind),
    st.text(alphabet="0123:snLab", max_size=12),
    st.sampled_from(["list", "set", "map", "tuple", "record"]),
)


def slow(expression: Expression, term: Term) -> Term | None:
    return compile_expression(expression, [X])([term])


@settings(max_examples=examples(2000))
@given(st.sampled_from(EXPRESSIONS), NESTED | BROKEN)
def test_texts_give_what_terms_give(expression: Call, term: Term) -> None:
    function = text_function(expression)
    assert function is not None
    (found,) = function([term_text(term)])
    expected = slow(expression, term)
    assert found is None or (expected is not None and found == term_text(expected))


@settings(max_examples=examples(1000))
@given(NESTED | BROKEN)
def test_members_are_the_elements(term: Term) -> None:
    found = members_of(term_text(term))
    if found is not None:
        places = range(len(found) + 1)
        members = [slow(Call("ELEMENT", (X, literal(place))), term) for place in places]
        assert [None if member is None else term_text(member) for member in members] == [*found, None]


@pytest.mark.parametrize("text", ["a,b", "", ",", "x"])
def test_common_forms_are_decided(text: str) -> None:
    term = encode("list", map(Literal, text.split(",")))
    assert members_of(term_text(term)) == [term_text(Literal(part)) for part in text.split(",")]
    for expression in EXPRESSIONS:
        subject = Literal(text) if expression.name == "SPLIT" else term
        expected = slow(expression, subject)
        function = text_function(expression)
        assert function is not None
        assert function([term_text(subject)]) == [None if expected is None else term_text(expected)]


def test_other_expressions_have_none() -> None:
    for other in (Call("STRLEN", (X,)), Call("SPLIT", (Literal("a"), X)), Call("ELEMENT", (X, Literal("1"))), X):
        assert text_function(other) is None


TYPES = ["integer", "signed<8>", "string", "double", "boolean", "any"]
ARGUMENTS = st.one_of(
    st.integers(-200, 200).map(literal),
    st.sampled_from(
        [Literal("007", XSD.integer.value), Literal("x", XSD.integer.value), literal(1.5), IRI("urn:a"), literal(True)]
    ),
    st.text(alphabet='ab"\\\n', max_size=3).map(Literal),
    st.sampled_from(["1e3", "INF", " 1", "1_0"]).map(lambda text: Literal(text, XSD.double.value)),
)


def mixed(value: Any) -> Any:
    """A result of another type for some values."""
    return value if isinstance(value, str) else None if value == 3 else "text" if value == 4 else value


@pytest.mark.filterwarnings("ignore:the function f has no result")
@pytest.mark.parametrize("batch", [False, True])
@settings(max_examples=examples(400))
@given(st.sampled_from(TYPES), st.sampled_from(TYPES), st.lists(ARGUMENTS, min_size=1, max_size=5))
def test_columns_of_texts_are_called_as_terms_are(batch: bool, parameter: str, result: str, terms: list[Term]) -> None:
    types = Types()
    callee = (lambda column: [mixed(value) for value in column]) if batch else mixed
    function = PythonFunction("f", (types.type_of(parameter),), types.type_of(result), callee, batch)
    found = called_on_texts(function, [[term_text(term) for term in terms]], len(terms))
    expected = function.column([[term] for term in terms])
    assert found is None or found == [None if term is None else term_text(term) for term in expected]


PROGRAM = """
    word(?n, ?w) :- line(?n, ?t), ?w IN SPLIT(?t, ",") .
    pair(?k, ?v) :- line(?n, ?t), (?k, ?v) IN MAP(?t, ?n, "k", STRLEN(?t)) .
    zipped(?a, ?b) :- line(?n, ?t), (?a, ?b) IN ZIP(SPLIT(?t, ","), RANGE(?n, ?n + 9)) .
    back(?n, ?x) :- line(?n, ?t), ?x IN LIST(?n, ?t, ?n) .
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_lists_at_once(strategy: Any) -> None:
    reasoner = Reasoner(PROGRAM, maintenance=strategy)
    texts = {number: ",".join(["a", f"b{number % 7}", '"', "x\\y", ""][: number % 6]) for number in range(60)}
    reasoner.add_facts("line", [(literal(number), literal(text)) for number, text in texts.items()])
    for gone in ((), range(0, 60, 2)):
        reasoner.remove_facts("line", [(literal(number), literal(texts.pop(number))) for number in gone])
        splits = {number: text.split(",") for number, text in texts.items()}
        expected: dict[str, set[tuple[Any, ...]]] = {
            "word": {(number, word) for number, words in splits.items() for word in words},
            "pair": {(text, n) for n, text in texts.items()} | {("k", len(text)) for text in texts.values()},
            "zipped": {(word, n + place) for n, words in splits.items() for place, word in enumerate(words)},
            "back": {(number, member) for number, text in texts.items() for member in (number, text)},
        }
        for predicate, rows in expected.items():
            assert set(reasoner.facts(predicate)) == {tuple(map(literal, row)) for row in rows}, predicate
