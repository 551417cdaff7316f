"""IRIs and language tags that no reader accepts are not made either: by rules, by queries, or as constants in them."""

from __future__ import annotations

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import QuerySyntaxError, ReasonerError, RuleSyntaxError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Atom
from kg_reasoner.terms import IRI, BlankNode, Literal, Term, is_iri, is_language
from tests.helpers.effort import examples

WRONG_TAGS = [
    *("b", "x", "i", "en-a", "en-x", "en-a-b", "en-ab1", "en-a1", "a-b", "en-us-us", "en-abc-def-ghi-jkl", "zz-zz-zzzz"),
    *("abcdefghi", "en-abcdefghi"),
]
TAGS = ["en", "EN-gb", "zh-Hant-TW", "x-own", "de-1996", "i-klingon", "en-a-bc", "sl-rozaj-biske", "es-419"]
WRONG_IRIS = [
    "http://a/%zz",
    "http://a/%4",
    "http://[",
    "http://[::g]/",
    "http://a:b/",
    "urn:\ufffe",
    "urn:a#b#c",
    "urn:[",
    "a:\ue000",
]
IRIS = ["http://a/%41", "http://[::1]:80/", "http://a:/b", "urn:é", "a:", "http://a.org/b?c=d#e", "urn:?\ue000"]
PARTS = ["http:", "a", "%41", "%", *"/:?#[]@1+é-.~ <\ue000\ufffe\ud800", "::1", "//"]
SUBTAGS = ["a", "en", "US", "eng", "Latn", "x", "i", "1", "a1", "1994", "419", "klingon", "é", ""]


@settings(max_examples=examples(3000))
@given(st.sampled_from(["", "http://", "urn:", "a:", "http://a:", "http://a/"]), st.lists(st.sampled_from(PARTS), max_size=7))
def test_iris_are_those_of_the_parser(scheme: str, parts: list[str]) -> None:
    text = scheme + "".join(parts)
    try:
        expected = bool(pyoxigraph.NamedNode(text))
    except ValueError:
        expected = False
    assert is_iri(text) == expected


@settings(max_examples=examples(3000))
@given(st.lists(st.sampled_from(SUBTAGS), max_size=5))
def test_languages_are_those_of_the_parser(subtags: list[str]) -> None:
    tag = "-".join(subtags)
    try:
        expected = bool(pyoxigraph.Literal("", language=tag))
    except ValueError:
        expected = False
    assert is_language(tag) == expected


@pytest.mark.parametrize("tag", WRONG_TAGS)
def test_wrong_tags(tag: str) -> None:
    with pytest.raises(RuleSyntaxError, match=rf":2:6: '{tag}' is not a language tag"):
        parse(f'q(1) .\np("a"@{tag}) .')
    for query in (f'SELECT * {{\n?s ?p "a"@{tag} }}', f"SELECT * {{\n?s ?é 'a'@{tag} }}", f'ASK {{\n?s ?p """"a"""@{tag} }}'):
        with pytest.raises(QuerySyntaxError, match=rf":2:\d+: '{tag}' is not a language tag"):
            Reasoner().query(query)
    assert [row.made for row in Reasoner().query(f'SELECT (STRLANG("a", "{tag}") AS ?made) {{}}')] == [None]


@pytest.mark.parametrize("iri", WRONG_IRIS)
def test_wrong_iris(iri: str) -> None:
    escaped = iri.encode("unicode_escape").decode()
    for program in (f"q(1) .\np(<{iri}>) .", f"\np(<{escaped}>) .", f"\n@prefix a: <{iri}> .", f'\np("a"^^<{iri}>) .'):
        with pytest.raises(RuleSyntaxError, match=r":2:\d+: .* is not a valid IRI"):
            parse(program)
    for query in (
        f"SELECT * {{\n?s <{iri}> ?o }}",
        f"ASK {{\n?s ?é <{escaped}> }}",
        f"\nPREFIX a: <{iri}> SELECT * {{ ?s ?p a:b }}",
    ):
        with pytest.raises(QuerySyntaxError, match=r":2:\d+: .* is not a valid IRI"):
            Reasoner().query(query)
    for base in ("", "BASE <http://base/>"):
        made = [row.made for row in Reasoner().query(f'{base} SELECT (IRI("{iri}") AS ?made) {{}}')]
        assert made == [None]


HALF = "\ud800"


@pytest.mark.parametrize("term", [IRI(f"http://a/{HALF}"), BlankNode(HALF), Literal(HALF), Literal("a", f"http://a/{HALF}")])
def test_messages_about_half_of_a_surrogate_pair_can_be_printed(term: Term) -> None:
    reasoner = Reasoner("p(1) .")
    graphs, iri = reasoner.named_graphs, IRI("http://a/b")
    for call in (
        lambda: reasoner.explain((iri, iri, term)),
        lambda: reasoner.explain(Atom("p", (term,))),
        lambda: reasoner.explain(Atom(HALF, (iri,))),
        lambda: reasoner.answers(Atom("p", (term,))),
        lambda: reasoner.answers("p(?x)", {"x": term}),
        lambda: reasoner.add_triples([(iri, iri, term)]),
        lambda: graphs.add_triples([(iri, iri, iri)], term),
        lambda: reasoner.load(f"{HALF}.ttl"),
    ):
        with pytest.raises(ReasonerError) as caught:
            call()
        assert str(caught.value).encode()


def test_wrong_iris_of_names() -> None:
    with pytest.raises(RuleSyntaxError, match="it is <http://a:b>"):
        parse("@prefix a: <http://a> .\np(a::b) .")
    with pytest.raises(RuleSyntaxError, match="is not a valid IRI"):
        parse("@base <http://a/> .\np(<//[>) .")
    with pytest.raises(QuerySyntaxError, match="is not a valid IRI"):
        Reasoner().query("PREFIX a: <http://a> SELECT * { ?s ?p a::b }")


def test_updates_with_invalid_terms_are_syntax_errors() -> None:
    graph = rdflib.Graph(store="KGReasoner")
    for wrong in ('"c"@en-a', "<http://[>"):
        with pytest.raises(QuerySyntaxError, match=r":1:\d+: .* is not a"):
            graph.update(f"INSERT {{ <urn:a> <urn:b> {wrong} }} WHERE {{}}")
    assert len(graph) == 0


@pytest.mark.parametrize("tag", TAGS)
def test_tags(tag: str) -> None:
    parse(f'p("a"@{tag}) .')
    assert len(Reasoner().query(f'SELECT * {{ VALUES ?a {{ "a"@{tag} }} FILTER(?a = STRLANG("a", "{tag}")) }}')) == 1


@pytest.mark.parametrize("iri", IRIS)
def test_iris(iri: str) -> None:
    parse(f"p(<{iri}>) .")
    assert len(Reasoner().query(f'SELECT * {{ VALUES ?a {{ <{iri}> }} FILTER(?a = IRI("{iri}")) }}')) == 1


@pytest.mark.parametrize("text", ["'<urn:%zz>\"a\"@b'", '"""a"<urn:%zz>\'b\'@c"""', "'''\\'''@b '''", "'a' # <urn:%zz> \"a\"@b\n"])
def test_what_only_looks_like_a_term(text: str) -> None:
    assert len(Reasoner().query(f"SELECT ?é {{ VALUES ?é {{ {text} }} }}")) == 1


def test_operators_are_no_brackets() -> None:
    assert len(Reasoner().query("SELECT ?é { VALUES ?é { 1 2 3 } FILTER(?é<3&&?é>1) }")) == 1
