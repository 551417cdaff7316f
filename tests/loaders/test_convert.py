"""Terms of rdflib and pyoxigraph become ours and come back as they were."""

from __future__ import annotations

import pyoxigraph
import pytest
import rdflib
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import (
    from_oxigraph,
    from_rdflib,
    text_from_oxigraph,
    text_from_rdflib,
    text_from_term,
    to_oxigraph,
    to_rdflib,
)
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, term_from_text, term_text
from tests.helpers.effort import examples

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_DATATYPES = st.sampled_from([XSD.string.value, f"{XSD}token", "http://example.org/type"])

terms: st.SearchStrategy[Term] = st.one_of(
    st.from_regex(r"http://example\.org/[A-Za-z0-9é/._~-]{0,12}(#[a-z]{0,3})?", fullmatch=True).map(IRI),
    st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,6}[A-Za-z0-9_-])?", fullmatch=True).map(BlankNode),
    st.builds(Literal, _TEXT, _DATATYPES),
    st.builds(lambda text, tag: Literal(text, RDF.langString.value, tag), _TEXT, st.sampled_from(["en", "zh-hant-hk", "x-1"])),
)


@settings(max_examples=examples(200))
@given(terms)
@example(Literal("\t\b\f\r\n\"\\'\x00\x7f\x85\ufffe\U0010ffff \\u0041 \\t \\\\n"))
@example(Literal("007", XSD.integer.value))
@example(Literal("not a number", XSD.integer.value))
@example(Literal("1e0", XSD.double.value))
@example(Literal("<b>x</b>", f"{RDF}XMLLiteral"))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_there_and_back(term: Term) -> None:
    text = term_text(term)
    assert term_from_text(text) == term
    assert text_from_term(term) == text
    theirs = to_rdflib(term)
    assert from_rdflib(theirs) == term
    assert text_from_rdflib(theirs) == text_from_term(theirs) == text
    oxigraph = to_oxigraph(term)
    assert from_oxigraph(oxigraph) == term
    assert text_from_oxigraph(oxigraph) == text_from_term(oxigraph) == text


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (rdflib.URIRef("http://example.org/a"), IRI("http://example.org/a")),
        (rdflib.URIRef("relative"), IRI("relative")),
        (rdflib.Namespace("http://example.org/")["a"], IRI("http://example.org/a")),
        (rdflib.RDF.type, RDF.type),
        (rdflib.BNode("x"), BlankNode("x")),
        (rdflib.Literal("a"), Literal("a")),
        (rdflib.Literal("a", datatype=rdflib.XSD.string), Literal("a")),
        (rdflib.Literal("a", lang="EN-gb"), Literal("a", RDF.langString.value, "en-gb")),
        (rdflib.Literal(5), Literal("5", XSD.integer.value)),
        (rdflib.Literal("05", datatype=rdflib.XSD.integer), Literal("5", XSD.integer.value)),  # rdflib has normalised it
        (rdflib.Literal("05", datatype=rdflib.XSD.integer, normalize=False), Literal("05", XSD.integer.value)),
        (rdflib.Literal(True), Literal("true", XSD.boolean.value)),
        (rdflib.Literal(2.5), Literal("2.5", XSD.double.value)),
    ],
)
def test_from_rdflib(theirs: rdflib.term.Node, ours: Term) -> None:
    assert from_rdflib(theirs) == ours
    assert text_from_rdflib(theirs) == term_text(ours)


def test_subclasses_of_rdflib_terms() -> None:
    class MyIRI(rdflib.URIRef):
        pass

    assert from_rdflib(MyIRI("http://example.org/a")) == IRI("http://example.org/a")


def test_to_rdflib_does_not_normalise() -> None:
    literal = to_rdflib(Literal("007", XSD.integer.value))
    assert str(literal) == "007"
    assert isinstance(literal, rdflib.Literal) and literal.value == 7
    assert to_rdflib(Literal("a")) == rdflib.Literal("a")
    assert to_rdflib(Literal("a")) != rdflib.Literal("a", datatype=rdflib.XSD.string)  # rdflib tells the two apart, RDF does not


@pytest.mark.parametrize(
    "term",
    [
        rdflib.Variable("x"),
        rdflib.Graph(identifier="urn:x-graph"),
        rdflib.URIRef("http://example.org/<a>"),
        rdflib.URIRef("http://example.org/\n"),
        rdflib.URIRef("http://example.org/\ud800"),
        rdflib.BNode("a b"),
        rdflib.Literal("a", datatype=rdflib.URIRef("a b")),
        rdflib.Literal("a", datatype=rdflib.RDF.langString),
        rdflib.Literal("half \ud800"),
    ],
    ids=repr,
)
def test_what_is_not_a_valid_term(term: rdflib.term.Node) -> None:
    for convert in (from_rdflib, text_from_rdflib, text_from_term):
        with pytest.raises(LoadError):
            convert(term)


@pytest.mark.parametrize(
    "term", [IRI("a b"), BlankNode(""), Literal("a", "a b"), Literal("a", RDF.langString.value, "e_n"), "text", None]
)
def test_own_terms_that_are_not_valid(term: object) -> None:
    with pytest.raises(LoadError):
        text_from_term(term)


def test_terms_of_rdf_1_2() -> None:
    node = pyoxigraph.NamedNode("http://example.org/a")
    with pytest.raises(LoadError, match="triple term"):
        from_oxigraph(pyoxigraph.Triple(node, node, node))
    (quad,) = pyoxigraph.parse(b'<http://a> <http://b> "x"@en--ltr .', pyoxigraph.RdfFormat.N_TRIPLES)
    with pytest.raises(LoadError, match="base direction"):
        from_oxigraph(quad.object)  # type: ignore[arg-type]
    assert from_oxigraph(pyoxigraph.Literal("a--b", language="en")) == Literal("a--b", RDF.langString.value, "en")


@pytest.mark.parametrize("term", [IRI("relative"), IRI("http://a b"), Literal("a", "relative"), BlankNode("a b")])
def test_to_oxigraph_refuses_what_it_does_not_know(term: Term) -> None:
    with pytest.raises(ValueError):
        to_oxigraph(term)
