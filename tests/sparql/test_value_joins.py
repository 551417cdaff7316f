"""FILTER(?a = ?b) over patterns without common variables: pairs of equal values are those that the product and the filter give."""

from __future__ import annotations

from typing import Final

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.sparql.evaluation import evaluate
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal

P, Q, R = (IRI(f"http://example.org/{name}") for name in "pqr")
TERMS: Final[list[Term]] = [
    *map(literal, ["", "a", "A", "1", "true", 'q"uote', "line\nbreak"]),
    *map(
        literal, [0, 1, -3, 10**18, 10**18 + 1, 2**53, 2**53 + 1, 10**40, 1.0, 0.1, -0.0, float("nan"), float("inf"), True, False]
    ),
    *(Literal(lexical, XSD.decimal.value) for lexical in ("0.1", "1.0", "1.50", "9007199254740993", "x", "-0.0")),
    *(Literal(lexical, XSD.float.value) for lexical in ("0.1", "1", "NaN")),
    *(Literal(lexical, XSD.integer.value) for lexical in ("01", "+1", "one")),
    Literal("1", XSD.byte.value),
    Literal("1", XSD.boolean.value),
    *(Literal(f"2024-01-01T{time}", XSD.dateTime.value) for time in ("00:00:00Z", "01:00:00+01:00", "00:00:00", "00:00:00.5Z")),
    *(Literal(lexical, XSD.date.value) for lexical in ("2024-01-01", "2024-01-01Z", "2024-13-01")),
    *(Literal(lexical, XSD.duration.value) for lexical in ("P1D", "PT24H", "P1Y")),
    Literal("PT24H", XSD.dayTimeDuration.value),
    Literal("P12M", XSD.yearMonthDuration.value),
    *(Literal("a", RDF.langString.value, tag) for tag in ("en", "fr")),
    *(Literal(lexical, "http://example.org/type") for lexical in ("a", "b")),
    IRI("http://example.org/a"),
    BlankNode("b"),
]


@pytest.fixture(scope="module")
def reasoner() -> Reasoner:
    found = Reasoner()
    for number, term in enumerate(TERMS):
        found.add_triples([(IRI(f"http://example.org/left{number}"), P, term), (IRI(f"http://example.org/right{number}"), Q, term)])
        found.add_triples([(IRI(f"http://example.org/right{number}"), R, literal(number % 5))])
    return found


def solutions(reasoner: Reasoner, text: str) -> list[str]:
    query = f"PREFIX : <http://example.org/> SELECT * {{ {text} }}"
    return sorted(map(str, reasoner.query(query)))


@pytest.mark.parametrize(
    ("text", "joins"),
    [
        ("?x :p ?a . ?y :q ?b FILTER(?a = ?b)", True),
        ("?x :p ?a . ?y :q ?b FILTER(?b = ?a)", True),
        ("?x :p ?a . ?y :q ?b FILTER(STR(?a) = STR(?b))", True),
        ("?x :p ?a . ?y :q ?b FILTER(LCASE(?a) = LCASE(?b) && ?x != ?y)", True),
        ("?x :p ?a . ?y :q ?b FILTER(LCASE(?a) = LCASE(?b)) FILTER(?x != ?y)", True),
        ("?x :p ?a . ?y :q ?b ; :r ?c FILTER(?a = ?c + 1)", True),
        ("?x :p ?a . ?y :q ?b ; :r ?c FILTER(?a = ?b) FILTER(?c > 2)", True),
        ("?x :p ?a . ?y :q ?b . ?z :r 3 FILTER(?a = ?b)", True),
        ("?x :p ?a . ?y :q ?b . ?y :r ?a FILTER(?a = ?b)", False),
        ("?x :p ?a OPTIONAL { ?x :r ?c } ?y :q ?b FILTER(?a = ?b)", True),
        ("?x :p ?a { ?y :q ?b } UNION { ?y :r ?b } FILTER(?a = ?b)", True),
        ("?x :p ?a . OPTIONAL { ?y :q ?b } FILTER(?a = ?b)", False),
        ("?x :p ?a . ?y :q ?b FILTER(?a = ?b || ?a != ?b)", False),
        ("?x :p ?a . ?y :q ?b FILTER(?a != ?b)", False),
        ("?x :p ?a . ?y :q ?b BIND(1 AS ?c) FILTER(?a + ?c = ?b)", False),
        ("VALUES ?a { 1 1.0 'a' UNDEF } ?y :q ?b FILTER(?a = ?b)", False),
        ("?x :p ?a . ?y :q ?b FILTER(?a = ?b && EXISTS { ?y :r 2 })", True),
        ("GRAPH ?g { ?x :p ?a . ?y :q ?b FILTER(?a = ?b) }", False),
    ],
)
def test_pairs_of_equal_values(reasoner: Reasoner, text: str, joins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found, usual = list[bool](), evaluate.value_join
    monkeypatch.setattr(evaluate, "value_join", lambda node: (join := usual(node), found.append(join is not None))[0])
    by_pairs = solutions(reasoner, text)
    assert any(found) == joins
    monkeypatch.setattr(evaluate, "value_join", lambda _: None)
    assert by_pairs == solutions(reasoner, text)


@pytest.mark.parametrize("most", [1, 1 << 16])
def test_a_limit(reasoner: Reasoner, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many pairs, some of the product are enough."""
    monkeypatch.setattr(evaluate, "MANY", most)
    for text in ("?x :p ?a . ?y :q ?b FILTER(?a = ?b)", "?x :r ?a . ?y :r ?b FILTER(?a = ?b)"):
        every = set(solutions(reasoner, text))
        query = f"PREFIX : <http://example.org/> SELECT * {{ {text} }} LIMIT 3"
        found = set(map(str, reasoner.query(query)))
        assert len(found) == 3 and found <= every
