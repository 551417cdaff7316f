"""The tokens of SPARQL, also where rdflib's grammar reads them: strings and their escapes, names, and modifiers of paths."""

from __future__ import annotations

import pytest
import rdflib

from kg_reasoner import Reasoner
from kg_reasoner.errors import QuerySyntaxError
from kg_reasoner.terms import IRI, Literal, literal

STRINGS = [
    (r'"a\tb"', "a\tb"),
    ('"a\tb"', "a\tb"),
    ('"""a\tb"""', "a\tb"),
    (r'"\u000A1234"', "\n1234"),
    (r'"\u00e9cafe"', "écafe"),
    (r"'\U000000e9'", "é"),
    (r'"\\u0041"', r"\u0041"),
    (r'"\u0022"', '"'),
    (r'"it\'s"', "it's"),
    (r"'a\"b'", 'a"b'),
    (r'"""a\'b\"c"d"""', 'a\'b"c"d'),
    ("'''a\\'b\"'''", "a'b\""),
    ('""', ""),
]


@pytest.mark.parametrize(("string", "expected"), STRINGS)
def test_strings(string: str, expected: str) -> None:
    for query in ("SELECT (STRING AS ?x) {}", "BASE <http://b.org/> SELECT (STRING AS ?x) {}"):  # rdflib reads the second
        ((found,),) = Reasoner().query(query.replace("STRING", string)).tuples()
        assert isinstance(found, Literal) and found.lexical == expected
    graph = rdflib.Graph(store="KGReasoner")
    graph.update(f"INSERT DATA {{ <urn:s> <urn:p> {string} }}")
    assert [str(value) for value in graph.objects()] == [expected]


def test_escapes_in_names() -> None:
    reasoner = Reasoner()
    reasoner.add_triples([(IRI("http://e/s,x"), IRI("http://e/p"), literal(1))])
    assert len(reasoner.query(r"PREFIX : <http://e/> SELECT * { :s\,x :p ?o }")) == 1
    graph = rdflib.Graph(store="KGReasoner")
    graph.update(r"PREFIX : <http://e/> INSERT DATA { :a\~b :p\.q :c }")
    assert set(graph) == {tuple(map(rdflib.URIRef, ("http://e/a~b", "http://e/p.q", "http://e/c")))}


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("?a (<urn:q>) + ?b", 3),
        ("?a <urn:q> * <urn:c>", 3),
        ("?a <urn:q>\n? <urn:c>", 2),
        ("?a <urn:q> ?b", 2),
        ("?a <urn:q> +1", 0),
    ],
)
def test_space_before_the_modifier_of_a_path(pattern: str, count: int) -> None:
    reasoner = Reasoner()
    a, b, c, q = (IRI(f"urn:{name}") for name in "abcq")
    reasoner.add_triples([(a, q, b), (b, q, c)])
    assert len(reasoner.query(f"SELECT * {{ {pattern} }}")) == count


@pytest.mark.parametrize("escape", [r"\U001F600", r"\u00e", r"\x41"])
def test_escapes_that_are_none(escape: str) -> None:
    with pytest.raises(QuerySyntaxError):
        Reasoner().query(f'SELECT ("{escape}" AS ?x) {{}}')


def test_errors_behind_escapes_show_the_text_as_it_was_written() -> None:
    with pytest.raises(QuerySyntaxError) as error:
        Reasoner().query('SELECT * { ?a ?b "\\u00e9\\u00e9" ; }; }')
    assert error.value.span is not None and error.value.span.column > len('SELECT * { ?a ?b "\\u00e9\\u00e9"')
