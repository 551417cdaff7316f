"""The texts of terms, as dictionaries store them, and the terms of these texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, term_from_text, term_of, term_text

LEXICAL = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\\n\r\t@^<>'))
LITERALS = (
    st.builds(Literal, LEXICAL)
    | st.builds(Literal, LEXICAL, st.sampled_from([XSD.integer.value, "http://example.org/é#type"]))
    | st.builds(Literal, LEXICAL, st.just(RDF.langString.value), st.sampled_from(["en", "de-ch-1901"]))
)
TERMS = LITERALS | st.sampled_from([IRI("http://example.org/ü"), IRI(""), BlankNode("b1")])


@given(TERMS)
def test_a_text_is_read_as_its_term(term: Term) -> None:
    text = term_text(term)
    assert term_of(text) == term_from_text(text) == term


@given(st.lists(TERMS, min_size=1))
def test_a_dictionary_returns_the_terms_that_it_was_given(terms: list[Term]) -> None:
    dictionary = Dictionary()
    numbers = [dictionary.encode(term) for term in terms]
    assert [dictionary.decode(number) for number in numbers] == terms


@given(st.lists(LITERALS, min_size=1, unique=True))
def test_facts_have_the_terms_that_were_given(terms: list[Literal]) -> None:
    reasoner = Reasoner("q(?x) :- p(?x) .")
    reasoner.add_facts("p", [(term,) for term in terms])
    assert {term for (term,) in reasoner.facts("q")} == set(terms)
