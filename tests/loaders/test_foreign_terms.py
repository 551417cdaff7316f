"""Terms of rdflib and of pyoxigraph, wherever terms can be given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pyoxigraph
import pytest
import rdflib

from kg_reasoner.api.entailment import bindings, entails
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.update import Update
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import to_oxigraph, to_rdflib
from kg_reasoner.program import TRIPLE, Atom, Variable
from kg_reasoner.terms import IRI, RDF, RDFS, XSD, BlankNode, Literal, Term, literal

WRITTEN = [
    pytest.param(lambda term: term, id="ours"),
    pytest.param(to_rdflib, id="rdflib"),
    pytest.param(to_oxigraph, id="pyoxigraph"),
]
Write = Callable[[Any], Any]


def ex(name: str) -> IRI:
    return IRI(f"http://example.org/{name}")


TOM, CAT, ANIMAL, AGE, GRAPH = ex("tom"), ex("Cat"), ex("Animal"), ex("age"), ex("graph")
SOMEBODY = BlankNode("somebody")


@pytest.fixture(params=WRITTEN)
def write(request: pytest.FixtureRequest) -> Write:
    return request.param  # type: ignore[no-any-return]


def written(write: Write, *terms: Term) -> Any:
    return tuple(map(write, terms))


@pytest.fixture
def reasoner(write: Write) -> Reasoner:
    reasoner = Reasoner("near(?y, ?x) :- near(?x, ?y) .", ruleset="rdfs-full")
    reasoner.add_triples([written(write, CAT, RDFS.subClassOf, ANIMAL), written(write, TOM, RDF.type, CAT)])
    reasoner.add_triples([written(write, TOM, AGE, Literal("07", literal(7).datatype)), written(write, SOMEBODY, RDF.type, CAT)])
    reasoner.add_facts("near", [written(write, TOM, literal("rex"))])
    return reasoner


def test_adding_and_reading(reasoner: Reasoner, write: Write) -> None:
    assert list(reasoner.triples(*written(write, TOM, RDF.type, ANIMAL))) == [(TOM, RDF.type, ANIMAL)]
    assert list(reasoner.triples(None, write(AGE), write(Literal("07", literal(7).datatype)))) == [
        (TOM, AGE, Literal("07", literal(7).datatype))
    ]
    assert {s for s, *_ in reasoner.triples(predicate=write(RDF.type), object=write(ANIMAL))} == {TOM, SOMEBODY}
    assert list(reasoner.triples(write(SOMEBODY), write(RDF.type), which="explicit")) == [(SOMEBODY, RDF.type, CAT)]
    assert set(reasoner.facts("near")) == {(TOM, literal("rex")), (literal("rex"), TOM)}


def test_removing(reasoner: Reasoner, write: Write) -> None:
    reasoner.remove_triples([written(write, TOM, RDF.type, CAT)])
    reasoner.remove_facts("near", [written(write, TOM, literal("rex"))])
    assert list(reasoner.triples(write(TOM), write(RDF.type), write(ANIMAL))) == []
    assert list(reasoner.facts("near")) == []


def test_entailment(reasoner: Reasoner, write: Write) -> None:
    """A blank node stands for something, and a literal for its value."""
    assert entails(reasoner, [written(write, TOM, AGE, literal(7)), written(write, TOM, RDF.type, ANIMAL)])
    assert entails(reasoner, [written(write, BlankNode("x"), AGE, literal(7))])
    assert not entails(reasoner, [written(write, TOM, AGE, literal(8))])
    assert not entails(reasoner, [written(write, BlankNode("x"), AGE, literal(8))])
    assert entails(reasoner, [written(write, RDF._17, RDFS.subPropertyOf, RDFS.member)])
    assert list(bindings(reasoner, [written(write, BlankNode("x"), AGE, BlankNode("y"))])) == [
        {BlankNode("x"): TOM, BlankNode("y"): Literal("07", literal(7).datatype)}
    ]


def test_explanations(reasoner: Reasoner, write: Write) -> None:
    fact = written(write, TOM, RDF.type, ANIMAL)
    proof = reasoner.explain((TOM, RDF.type, ANIMAL)).text()
    assert reasoner.explain(fact).text() == reasoner.explain(Atom(TRIPLE, fact)).text() == proof
    assert next(reasoner.all_proofs(fact)).text() == proof
    assert reasoner.explain(Atom("near", written(write, literal("rex"), TOM))).text()
    assert "rex" in str(reasoner.why_not(Atom("near", written(write, literal("rex"), CAT))).text())
    assert reasoner.why_not(written(write, CAT, RDF.type, ANIMAL)).text()


def test_knowing(reasoner: Reasoner, write: Write) -> None:
    version = reasoner.version
    reasoner.know([write(TOM)])
    assert reasoner.version == version
    reasoner.know([write(RDF._18)])
    assert (RDF._18, RDFS.subPropertyOf, RDFS.member) in set(reasoner.triples(write(RDF._18), write(RDFS.subPropertyOf)))


def test_subscriptions_and_transactions(reasoner: Reasoner, write: Write) -> None:
    heard: list[str] = []
    reasoner.subscribe((None, write(RDF.type), write(ANIMAL)), lambda delta: heard.append(delta.text()))
    reasoner.subscribe(Atom("near", (write(CAT), Variable("x"))), lambda delta: heard.append(delta.text()))
    feed = reasoner.changes((write(ex("tim")), None, None))
    with reasoner.transaction() as transaction:
        transaction.add_triples([written(write, ex("tim"), RDF.type, CAT)])
        transaction.add_facts("near", [written(write, CAT, TOM)])
        transaction.remove_triples([written(write, TOM, RDF.type, CAT)])
        transaction.remove_facts("near", [written(write, TOM, literal("rex"))])
    assert len(heard) == 2
    assert len(feed.poll()) == 1
    assert (TOM, literal("rex")) not in set(reasoner.facts("near"))


def test_streams(reasoner: Reasoner, write: Write) -> None:
    first = Update.of_triples([written(write, ex("tim"), RDF.type, CAT)])
    second = Update(
        removed={TRIPLE: [written(write, ex("tim"), RDF.type, CAT)], "near": [written(write, TOM, literal("rex"))]},
        added={"near": [written(write, TOM, CAT)]},
    )
    reasoner.foresee(second)
    added, removed = reasoner.process([first, second], marking=True)
    assert len(added.added) > 0
    assert len(removed.removed) > 0
    assert set(reasoner.facts("near")) == {(TOM, CAT), (CAT, TOM)}


def test_named_graphs(reasoner: Reasoner, write: Write) -> None:
    graphs = reasoner.named_graphs
    graphs.add_triples([written(write, TOM, AGE, literal(8))], write(GRAPH))
    assert graphs.names() == [GRAPH]
    assert list(graphs.triples(write(GRAPH))) == [(TOM, AGE, literal(8))]
    assert list(graphs.triples(write(ex("other")))) == []
    graphs.remove_triples([written(write, TOM, AGE, literal(8))], write(GRAPH))
    assert list(graphs.triples(write(GRAPH))) == []
    with pytest.raises(LoadError, match="cannot name a graph"):
        graphs.add_triples([written(write, TOM, AGE, literal(8))], write(literal("graph")))


@pytest.mark.parametrize("bad", ["tom", 5, rdflib.Variable("x"), None, pyoxigraph.Variable("x")])
def test_what_is_not_a_term(bad: object) -> None:
    reasoner = Reasoner("near(?y, ?x) :- near(?x, ?y) .", ruleset="rdfs")
    calls: list[Callable[[], object]] = [
        lambda: reasoner.add_triples([(TOM, RDF.type, bad)]),  # type: ignore[list-item]
        lambda: reasoner.remove_triples([(TOM, RDF.type, bad)]),  # type: ignore[list-item]
        lambda: reasoner.add_facts("near", [(TOM, bad)]),  # type: ignore[list-item]
        lambda: reasoner.know([bad]),  # type: ignore[list-item]
        lambda: entails(reasoner, [(TOM, RDF.type, bad)]),  # type: ignore[list-item]
        lambda: reasoner.explain((TOM, RDF.type, bad)),  # type: ignore[arg-type]
        lambda: reasoner.why_not((TOM, RDF.type, bad)),  # type: ignore[arg-type]
        lambda: reasoner.why_not(Atom("near", (TOM, bad))),  # type: ignore[arg-type]
    ]
    if bad is not None:  # where it stands for any term
        calls.append(lambda: list(reasoner.triples(TOM, None, bad)))  # type: ignore[arg-type]
        calls.append(lambda: reasoner.subscribe((TOM, None, bad), print))
    for call in calls:
        with pytest.raises(LoadError, match="is not an RDF term"):
            call()
    assert list(reasoner.triples()) == []


class Level(IntEnum):
    HIGH = 3


class Shape(str, Enum):
    BOX = "box"


def test_literals_of_values_of_subclasses() -> None:
    values = {np.float64(2.5): 2.5, np.float64("-inf"): float("-inf"), Level.HIGH: 3, Shape.BOX: "box", np.str_("text"): "text"}
    for value, plain in values.items():
        assert literal(value) == literal(plain)
        assert type(literal(value).lexical) is str
    assert literal(np.float64("nan")) == literal(float("nan"))


@pytest.mark.parametrize(
    "value", [np.int8(-3), np.uint64(2**64 - 1), np.float32(1.5), np.float16(0.5), np.bool_(True), np.str_("a")]
)
def test_scalars_of_numpy_are_values_of_python(value: Any) -> None:
    plain = value.item()
    reasoner = Reasoner("p(?x) :- q(?x) .")
    reasoner.add_facts("q", [(literal(value),)])
    assert list(reasoner.facts("p", arguments=[value])) == [(literal(plain),)]
    (row,) = reasoner.query("SELECT ?x { BIND(?given AS ?x) }", {"given": value})
    assert row.x == literal(plain) == literal(value)


@pytest.mark.parametrize(
    ("value", "lexical"),
    [
        (np.datetime64("2026-01-31"), "2026-01-31"),
        (np.datetime64("2026-01-31T12:30:00", "ns"), "2026-01-31T12:30:00"),
        (np.datetime64("2026-01-31T12:30:00.000001"), "2026-01-31T12:30:00.000001"),
        (np.datetime64("2026-01-31T12:30:00.000000001"), None),
        (np.datetime64("20026-01-31T12:30:00"), None),
        (np.datetime64("NaT"), None),
        (np.timedelta64(1, "ns"), None),
        (np.longdouble(1) / 3, None),
        (np.complex64(1), None),
        (np.arange(3), None),
    ],
)
def test_other_scalars_of_numpy(value: Any, lexical: str | None) -> None:
    """Moments are dates where Python has them; nothing is rounded or taken for a number of nanoseconds."""
    if lexical is None:
        with pytest.raises(LoadError, match="is not the value of a literal"):
            Reasoner().query("SELECT ?x { BIND(?given AS ?x) }", {"given": value})
    else:
        (row,) = Reasoner().query("SELECT ?x { BIND(?given AS ?x) }", {"given": value})
        assert row.x == Literal(lexical, XSD.dateTime.value if "T" in lexical else XSD.date.value)


@pytest.mark.parametrize(
    "value",
    [None, b"text", time(1), np.datetime64("NaT"), np.timedelta64(1, "ns"), IRI("http://example.org/"), [1]],
)
def test_literals_of_other_values_are_refused(value: Any) -> None:
    with pytest.raises(LoadError, match="is not a bool, int, float, Decimal, str, date or datetime"):
        literal(value)


@pytest.mark.parametrize(
    ("value", "lexical"),
    [
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (datetime(2026, 1, 2, 3, 4, 5, 500_000), "2026-01-02T03:04:05.5"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc), "2026-01-02T03:04:05Z"),
    ],
)
def test_dates_are_one_term_wherever_they_are_given(value: Any, lexical: str) -> None:
    expected = Literal(lexical, XSD.dateTime.value if "T" in lexical else XSD.date.value)
    assert literal(value) == expected
    reasoner = Reasoner()
    reasoner.add_table("given", {"x": [value]})
    assert list(reasoner.facts("given", arguments=[value])) == [(expected,)]
    (row,) = reasoner.query("SELECT ?x { BIND(?given AS ?x) }", {"given": value})
    assert row.x == expected


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_decimals_are_finite(text: str) -> None:
    with pytest.raises(LoadError, match="is not a value of xsd:decimal"):
        literal(Decimal(text))
    with pytest.raises(LoadError, match="is not a value of xsd:decimal"):
        Reasoner().query("SELECT * { BIND(?given AS ?x) }", bindings={"given": Decimal(text)})


DOUBLES = """
12.5 = 1.25E1
25.0 = 2.5E1
1.0 = 1.0E0
-100.0 = -1.0E2
0.1 = 1.0E-1
0.00123 = 1.23E-3
0.0 = 0.0E0
-0.0 = -0.0E0
5e-324 = 5.0E-324
2.2250738585072014e-308 = 2.2250738585072014E-308
-1e+16 = -1.0E16
1e+22 = 1.0E22
123456789.125 = 1.23456789125E8
1.7976931348623157e+308 = 1.7976931348623157E308
inf = INF
-inf = -INF
nan = NaN
"""
GIVEN = {
    "literal": lambda reasoner, number: reasoner.add_facts("given", [(literal(number),)]),
    "table": lambda reasoner, number: reasoner.add_table("given", {"x": [number]}),
    "function": lambda reasoner, number: (
        reasoner.function("number", returns="double")(lambda: number),
        reasoner.add_program("given(number()) ."),
    ),
    "variable": lambda reasoner, number: reasoner.add_facts(
        "given", reasoner.query("SELECT ?x { BIND(?y AS ?x) }", bindings={"y": number})
    ),
}


@pytest.mark.parametrize("line", DOUBLES.strip().splitlines())
@pytest.mark.parametrize("way", GIVEN)
def test_given_doubles_are_the_terms_of_computed_ones(way: str, line: str) -> None:
    number, text = line.split(" = ")
    reasoner = Reasoner(f'both(?x) :- given(?x), computed(?x) . computed(?x) :- BIND("{text}"^^xsd:double + -0e0 AS ?x) .')
    GIVEN[way](reasoner, float(number))
    assert list(reasoner.facts("both")) == [(Literal(text, XSD.double.value),)]


def test_literals_of_rdflib_remain_as_they_are_written() -> None:
    reasoner = Reasoner()
    reasoner.add_triples([(TOM, AGE, rdflib.Literal(12.5))])
    (found,) = reasoner.query("SELECT ?x { BIND(?y AS ?x) }", bindings={"y": rdflib.Literal(12.5)})
    assert [*found, next(iter(reasoner.triples()))[2]] == 2 * [Literal("12.5", XSD.double.value)]


def test_functions_in_python_may_return_floats_of_numpy() -> None:
    reasoner = Reasoner()
    reasoner.function("half", "integer", returns="double")(lambda number: np.float64(number) / 2)
    reasoner.add_program("p(half(?x)) :- q(?x) . q(5) .")
    assert list(reasoner.facts("p")) == [(literal(2.5),)]


def test_values_of_variables(reasoner: Reasoner) -> None:
    reasoner.add_triples([(TOM, AGE, literal(4)), (TOM, AGE, literal(5))])
    for name in ("age", "?age", "$age"):
        assert len(reasoner.query("SELECT ?who { ?who <http://example.org/age> ?age }", {name: 4})) == 1
    with pytest.raises(LoadError, match="digits"):
        reasoner.query("SELECT ?who { ?who <http://example.org/age> ?age }", {"age": 10**10_000})
