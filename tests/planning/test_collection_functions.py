"""Functions on many collections give what they give for one term after the other, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.expressions import structures
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.expressions.defined_functions import PythonFunction
from kg_reasoner.expressions.structures import NAMESPACE, encode
from kg_reasoner.expressions.text_columns import called_on_texts
from kg_reasoner.expressions.types import Types
from kg_reasoner.planning.functions.collection_functions import collection_function, members_of
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.storage.kernels.layout import FAILED
from kg_reasoner.storage.terms.collections import Collections
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal, term_text
from tests.expressions.test_structures import NESTED
from tests.helpers.effort import examples

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


def apply(expression: Expression, terms: Sequence[Term]) -> list[Term | str | None]:
    """The results of a function of many collections; "undecided" for what is left to others."""
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(term) for term in terms], np.int32)
    function = collection_function(expression)
    assert function is not None
    found = function(dictionary, Collections(dictionary), ids).tolist()
    return [None if number == FAILED else "undecided" if number < 0 else dictionary.decode(number) for number in found]


PLAIN = st.one_of(
    st.integers(-3, 100).map(literal),
    st.text(alphabet="aé,😀 1:s", max_size=12).map(Literal),
    st.sampled_from([IRI("urn:ä"), BlankNode("b")]),
)
KINDS = st.sampled_from(["list", "set", "tuple", "map"])
COLLECTIONS = st.builds(encode, KINDS, st.lists(PLAIN, max_size=6).map(lambda members: members * 2))
TEXTS = st.text(alphabet="aaé,😀 ", max_size=12).map(Literal)


@settings(max_examples=examples(2000))
@given(st.sampled_from(EXPRESSIONS), st.lists(NESTED | BROKEN | COLLECTIONS | TEXTS, max_size=5))
def test_many_collections_give_what_each_gives(expression: Call, terms: list[Term]) -> None:
    for term, found in zip(terms, apply(expression, terms), strict=True):
        assert found in ("undecided", slow(expression, term))


@settings(max_examples=examples(1000))
@given(st.lists(NESTED | BROKEN | COLLECTIONS, max_size=5))
def test_members_are_the_elements(terms: list[Term]) -> None:
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(term) for term in terms], np.int32)
    sizes, members = members_of(dictionary, Collections(dictionary), ids)
    found = list(map(dictionary.decode, members.tolist()))
    expected = []
    for term, size in zip(terms, sizes.tolist(), strict=True):
        elements = [slow(Call("ELEMENT", (X, literal(place))), term) for place in range(size + 1)]
        assert elements[-1] is None
        expected += elements[:-1]
    assert found == expected


@pytest.mark.parametrize("text", ["a,b", "", ",", "x", "é,😀😀,ä1", "a," * 600])
def test_common_forms_are_decided(text: str) -> None:
    term = encode("list", map(Literal, text.split(",")))
    for expression in EXPRESSIONS:
        subject = Literal(text) if expression.name == "SPLIT" else term
        assert apply(expression, [subject, subject]) == 2 * [slow(expression, subject)]


@given(st.lists(PLAIN, max_size=6, unique=True), st.sampled_from(["list", "set", "tuple"]))
def test_plain_members_are_decided(members: list[Term], kind: str) -> None:
    term = encode(kind, members)
    assert apply(Call("SIZE", (X,)), [term]) == [literal(len(members))]


@settings(max_examples=examples(200))
@given(st.dictionaries(PLAIN, PLAIN, max_size=6))
def test_plain_maps_are_decided(entries: dict[Term, Term]) -> None:
    term = encode("map", [part for entry in entries.items() for part in entry])
    assert apply(Call("SIZE", (X,)), [term]) == [literal(len(entries))]
    dictionary = Dictionary()
    sizes, members = Collections(dictionary).entries(np.array([dictionary.encode(term)], np.int32))
    assert sizes.tolist() == [len(entries)]
    assert set(map(dictionary.decode, members.tolist())) == {encode("tuple", entry) for entry in entries.items()}


@settings(max_examples=examples(500))
@given(st.lists(st.lists(NESTED | PLAIN, max_size=4), min_size=1, max_size=5))
def test_lists_of_groups(groups: list[list[Term]]) -> None:
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(term) for group in groups for term in group], np.int32)
    sizes = np.array(list(map(len, groups)))
    found = Collections(dictionary).lists(ids, np.cumsum(sizes) - sizes).tolist()
    for group, number in zip(groups, found, strict=True):
        is_plain = all(term_text(term)[0] != '"' or term_text(term)[-1] == '"' or term == literal_or_none(term) for term in group)
        assert number >= 0 or "\\" in "".join(map(term_text, group)) or not is_plain
        assert number < 0 or dictionary.decode(number) == encode("list", group)


def literal_or_none(term: Term) -> Term | None:
    """An integer, or None for any other term."""
    return term if isinstance(term, Literal) and term.datatype == XSD.integer.value else None


def test_a_single_long_collection_is_left_to_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner("p(?k, ?v) :- given(?m), (?k, ?v) IN ?m . n(SIZE(?m)) :- given(?m) .")
    entries = [literal(number) for number in range(3000)]
    reasoner.add_facts("given", [(encode("map", entries),)])
    monkeypatch.setattr(structures, "_decoded", None)
    assert len(list(reasoner.facts("p"))) == 1500
    assert list(reasoner.facts("n")) == [(literal(1500),)]


def test_other_expressions_have_none() -> None:
    beyond = Call("ELEMENT", (X, Literal("9" * 5000, XSD.integer.value)))
    for other in (beyond, Call("STRLEN", (X,)), Call("SPLIT", (Literal("a"), X)), Call("ELEMENT", (X, Literal("1"))), X):
        assert collection_function(other) is None


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
