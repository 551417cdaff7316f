"""Searches in many strings at once, and functions on columns of strings, give what single strings give."""

from __future__ import annotations

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.sparql.solutions import expressions
from kg_reasoner.terms import IRI, Literal, Term, term_text
from tests.helpers.effort import examples

TEXTS = st.text(st.sampled_from('aBé ßİΣςK@.\n\\"İ'), max_size=6)
TERMS = st.lists(
    st.one_of(TEXTS.map(Literal), st.just(IRI("urn:aB")), TEXTS.map(lambda text: Literal(text, language="en"))),
    min_size=1,
    max_size=12,
)
CONDITIONS = [
    f"{function}({argument}, {constant})"
    for function in ("CONTAINS", "STRSTARTS", "STRENDS", "REGEX")
    for argument in ("?x", "STR(?x)", "LCASE(STR(?x))", "UCASE(?x)")
    for constant in ("'a'", "''", "'aB'", "'é'", "'SS'")
]
CONDITIONS += [
    f"REGEX({argument}, {constant})"
    for argument in ("?x", "STR(?x)", "LCASE(STR(?x))")
    for constant in ("'a.*B'", "'a.*?B.*a'", "'a.*b', 'i'", "'k.*', 'i'", "'.*a'", "'a.*a.*a'", "'a.*@$'", "'^a.*B'", "'aB'")
]
FUNCTIONS = [
    "LCASE(?x)",
    "UCASE(STR(?x))",
    "STRBEFORE(?x, '@')",
    "CONCAT('www.', STRAFTER(STR(?x), '@'))",
    "SUBSTR(LCASE(?x), 2, 2)",
]


def loaded(terms: list[Term]) -> Reasoner:
    made = Reasoner()
    made.add_triples([(IRI(f"urn:{number}"), IRI("urn:p"), term) for number, term in enumerate(terms)])
    return made


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search few strings together."""
    monkeypatch.setattr(expressions, "MANY", 1)


@settings(max_examples=examples(60))
@given(terms=TERMS, condition=st.sampled_from(CONDITIONS))
def test_a_search_in_many_texts_finds_what_single_filters_do(terms: list[Term], condition: str) -> None:
    found = loaded(terms).query(f"SELECT ?s {{ ?s <urn:p> ?x FILTER({condition}) }}")
    single = {
        f"urn:{number}" for number, term in enumerate(terms) if Reasoner().query(f"ASK {{ FILTER({condition}) }}", {"x": term})
    }
    assert {row.s.value for row in found} == single


@settings(max_examples=examples(40))
@given(terms=TERMS, function=st.sampled_from(FUNCTIONS))
def test_functions(terms: list[Term], function: str) -> None:
    found = loaded(terms).query(f"SELECT ?s ({function} AS ?y) {{ ?s <urn:p> ?x }}")
    one = Reasoner()
    for row in found:
        term = terms[int(row.s.value.removeprefix("urn:"))]
        (single,) = one.query(
            f"SELECT ({function} AS ?y) {{ VALUES ?x {{ {term_text(term)} }} BIND(RAND() AS ?z) FILTER(?z >= 0) }}"
        )
        assert row.y == single.y


NUMBERS = ["01", "1e0", "1.0E0", ".5", "+1", "-01", "+1.50", "-.5", "-1e+1", "+0.10e2"]
IN_TRIPLES = [(number, pattern) for number in NUMBERS for pattern in ("?x <urn:p> NUMBER", "VALUES ?n { NUMBER } ?x <urn:p> ?n")]
IN_EXPRESSIONS = [(number, "?x <urn:p> ?n FILTER(SAMETERM(?n, NUMBER))") for number in NUMBERS]


@pytest.mark.parametrize(("number", "pattern"), IN_TRIPLES + IN_EXPRESSIONS)
def test_numbers_are_terms_as_they_are_written(number: str, pattern: str) -> None:
    """A reasoner keeps data as they are written; a graph of rdflib normalises data and queries."""
    datatype = "double" if "e" in number.lower() else "decimal" if "." in number else "integer"
    data = f'<urn:s> <urn:p> "{number}"^^<http://www.w3.org/2001/XMLSchema#{datatype}> .'
    query = f"SELECT ?x {{ {pattern} }}"
    reasoner = Reasoner()
    reasoner.load(data.encode(), format="ntriples")
    assert len(reasoner.query(query.replace("NUMBER", number))) == 1
    assert len(reasoner.query(query.replace("NUMBER", f"0{number.lstrip('+-')}"))) == 0
    for graph in (rdflib.Graph(), graph_of(Reasoner())):
        graph.parse(data=data, format="nt")
        assert len(graph.query(query.replace("NUMBER", number))) == 1


def test_numbers_in_answers_of_other_stores_look_as_rdflib_makes_them() -> None:
    Reasoner().query("ASK {}")
    ((found,),) = rdflib.Graph().query("SELECT (01 AS ?x) {}")
    assert repr(found) == repr(rdflib.Literal(1))


SIGNS = """
-1.50                 | -1.50
+1.50                 | +1.50
- 1.50                | -1.5
-(1.50)               | -1.5
STR(+1.50)            | +1.50
SAMETERM(-1.50, "-1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>) | true
1 -1                  | 0
3 -1*2                | 1
3 - -1                | 4
2*-1                  | -2
- -1                  | 1
""".strip()


@pytest.mark.parametrize("line", SIGNS.splitlines())
@pytest.mark.parametrize("variable", ["?x", "$x"])  # $x is read by rdflib only
def test_a_sign_belongs_to_the_number_that_it_touches(line: str, variable: str) -> None:
    expression, value = map(str.strip, line.split("|"))
    ((found,),) = Reasoner().query(f"SELECT {variable} {{ BIND({expression} AS {variable}) }}").tuples()
    assert isinstance(found, Literal) and found.lexical == value
