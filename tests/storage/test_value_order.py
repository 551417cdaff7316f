"""Terms are ranked by the dictionary's bytes as they are by their values; ORDER BY and comparisons of STR use these ranks."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import LimitError
from kg_reasoner.sparql.solutions import expressions, order_by
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values import value_order
from kg_reasoner.storage.values.value_order import ranks_of_values
from kg_reasoner.terms import IRI, BlankNode, Literal, Term
from tests.helpers.effort import examples

STARTS = st.sampled_from(["", "a", "http://example.org/", "http://example.org/a-long-name-in-common/"])
ENDS = st.text(st.sampled_from('aAzé\U0001f600 !~"\\\n0'), max_size=9)
TEXTS = st.builds(str.__add__, STARTS, ENDS)
IRIS = st.builds(str.__add__, STARTS, st.text(st.sampled_from("aAzé-./0"), max_size=9)).map(lambda text: IRI(f"urn:{text}"))
TERMS = st.lists(st.one_of(TEXTS.map(Literal), IRIS, st.sampled_from("abc").map(BlankNode)), max_size=40, unique=True)


def value(term: Term) -> str:
    return term.lexical if isinstance(term, Literal) else term.value if isinstance(term, IRI) else f"_:{term.label}"


@settings(max_examples=examples(300))
@given(TERMS)
@example([Literal("a"), Literal("a "), Literal("a!"), Literal("ab"), IRI("a")])
@example([Literal("seven b"), Literal("seven bytes"), Literal(""), IRI("seven b")])
def test_ranks_order_texts_as_python_does(terms: list[Term]) -> None:
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(term) for term in terms], np.int32)
    found = ranks_of_values(dictionary, ids)
    values = [value(term) for term in terms]
    if found is None:
        assert any(character in text for text in values for character in '"\\\n')
    else:
        expected = sorted(set(values))
        assert found.tolist() == [expected.index(text) + found.min() for text in values] or not values


@pytest.mark.parametrize("seed", range(3))
def test_many_ranks(seed: int) -> None:
    numbers = Random(seed).sample(range(3000), 2000)
    dictionary = Dictionary()
    texts = [f"http://www.Department{number % 7}.example.org/{number}" for number in numbers]
    ids = np.array([dictionary.encode(IRI(text)) for text in texts], np.int32)
    found = ranks_of_values(dictionary, ids)
    assert found is not None
    assert [texts[place] for place in np.argsort(found)] == sorted(texts)


def test_zeros_are_left_to_python() -> None:
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(Literal(text)) for text in ("a", "a\0", "b")], np.int32)
    assert ranks_of_values(dictionary, ids) is None


@settings(max_examples=examples(60))
@given(TERMS, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
def test_queries_order_and_compare_alike_in_columns_and_one_by_one(terms: list[Term], operator: str) -> None:
    made = Reasoner()
    made.add_triples([(IRI(f"urn:{number}"), IRI("urn:p"), term) for number, term in enumerate(terms)])
    ordered = "SELECT ?x { ?s <urn:p> ?x } ORDER BY ?x"
    compared = f"SELECT ?x ?y {{ ?s <urn:p> ?x . ?t <urn:p> ?y FILTER(STR(?x) {operator} STR(?y)) }}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order_by, "MANY", 10**9)
        patch.setattr(expressions, "MANY", 10**9)
        expected = list(made.query(ordered)), set(made.query(compared))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order_by, "MANY", 1)
        patch.setattr(expressions, "MANY", 1)
        assert (list(made.query(ordered)), set(made.query(compared))) == expected


def test_limits_are_checked_while_terms_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopping:
        calls = 0

        def check(self) -> None:
            self.calls += 1
            if self.calls > 3:
                raise LimitError("enough")

    stopping = Stopping()
    monkeypatch.setattr(value_order, "AT_ONCE", 1)
    dictionary = Dictionary()
    ids = np.array([dictionary.encode(Literal(str(number))) for number in range(500)], np.int32)
    expected = ranks_of_values(dictionary, ids)
    assert expected is not None and np.argsort(expected).tolist() == sorted(range(500), key=str)
    monkeypatch.setattr(value_order, "current_watch", lambda: stopping)
    with pytest.raises(LimitError):
        ranks_of_values(dictionary, ids)
