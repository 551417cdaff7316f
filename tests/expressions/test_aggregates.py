"""Aggregates: the functions on values, and AGGREGATE, BIND and FILTER in rules as the oracle understands them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import UnsupportedError, ValueTooLargeError
from kg_reasoner.expressions.aggregate_functions import FUNCTIONS, aggregate, check, count_literal, order_key
from kg_reasoner.expressions.collecting import FUNCTIONS as COLLECTING
from kg_reasoner.expressions.functions.numbers import DIGITS, Single, number_of
from kg_reasoner.expressions.values import compare, equal
from kg_reasoner.language.checks.analysis import check_arity, check_safety, stratify
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_term
from kg_reasoner.loaders.convert import from_oxigraph
from kg_reasoner.program import Aggregate, Atom, Bind, Program, Rule
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate, is_stable, without_empty
from tests.helpers.strategies import CYCLIC, Transaction, histories, programs, worlds

OF_SPARQL = ("COUNT", "SUM", "MIN", "MAX", "AVG")


def terms(text: str) -> list[Term | None]:
    """The terms of a text in rule syntax, with ``error`` for what is none."""
    arguments = ", ".join("<urn:error>" if part == "error" else part for part in text.split())
    (rule,) = parse(f"h({arguments}) .").rules
    return [None if term == IRI("urn:error") else term for term in rule.head.terms]  # type: ignore[misc]


# -------------------------------------------------------------------------------------------------------------------- functions

ROWS = """
    COUNT           |                                   | 0
    COUNT           | 1 2 2 "a" <urn:a>                 | 5
    COUNT           | 1 error 2 error                   | 2
    COUNT           | error                             | 0
    COUNT DISTINCT  | 1 2 2 "a" <urn:a> 1               | 4
    COUNT DISTINCT  | 1 "01"^^xsd:integer 1.0           | 3
    COUNT DISTINCT  | 1 error error                     | 1
    SUM             |                                   | 0
    SUM             | 1 2 2                             | 5
    SUM DISTINCT    | 1 2 2                             | 3
    SUM DISTINCT    | 1 "01"^^xsd:integer               | 2
    SUM             | "1"^^xsd:byte "2"^^xsd:long       | 3
    SUM             | 0.1 0.2 1                         | 1.3
    SUM             | 0.5 0.5                           | "1"^^xsd:decimal
    SUM             | 1.5e0 1 0.5                       | 3.0E0
    SUM             | 1e16 1 -1e16                      | 1.0E0
    SUM             | "1.5"^^xsd:float 1                | "2.5E0"^^xsd:float
    SUM             | "16777216"^^xsd:float "1"^^xsd:float "1e-12"^^xsd:float    | "1.6777218E7"^^xsd:float
    SUM             | "16777218"^^xsd:float "1"^^xsd:float "-1e-12"^^xsd:float   | "1.6777218E7"^^xsd:float
    SUM             | "-16777216"^^xsd:float "-1"^^xsd:float "-1e-12"^^xsd:float | "-1.6777218E7"^^xsd:float
    SUM             | "16777216"^^xsd:float "1"^^xsd:float    | "1.6777216E7"^^xsd:float
    AVG             | "16777216"^^xsd:float "16777218"^^xsd:float "1"^^xsd:float "1e-12"^^xsd:float | "8.388609E6"^^xsd:float
    SUM             | "3e38"^^xsd:float "2e38"^^xsd:float     | "INF"^^xsd:float
    AVG             | "1"^^xsd:float "2"^^xsd:float 1         | "1.3333334E0"^^xsd:float
    SUM             | "0.1"^^xsd:float 0.1e0            | 2.0000000149011612E-1
    SUM             | 1e308 1e308 -1e308                | 1.0E308
    SUM             | 1e308 1e308                       | "INF"^^xsd:double
    SUM             | -1e308 -1e308                     | "-INF"^^xsd:double
    SUM             | "INF"^^xsd:double 1               | "INF"^^xsd:double
    SUM             | "INF"^^xsd:double "-INF"^^xsd:double 1e308 1e308  | "NaN"^^xsd:double
    SUM             | -0e0                              | 0.0E0
    SUM             | 1 "a"                             | error
    SUM             | 1 <urn:a>                         | error
    SUM             | 1 error                           | error
    SUM             | 1 "300"^^xsd:byte                 | error
    AVG             |                                   | 0
    AVG             | 1 2                               | 1.5
    AVG             | 1 2 3                             | "2"^^xsd:decimal
    AVG             | 1 1 2                             | 1.333333333333333333
    AVG DISTINCT    | 1 1 2                             | 1.5
    AVG             | 1e0 2                             | 1.5E0
    AVG             | 1 "a"                             | error
    AVG             | error                             | error
    MIN             |                                   | error
    MAX             |                                   | error
    MIN             | 3 1 2                             | 1
    MAX             | 3 10 2                            | 10
    MAX             | "3" "10" "2"                      | "3"
    MIN             | 1 error                           | error
    MAX             | 1 error                           | error
    MIN             | 1 "01"^^xsd:integer 1.0           | "01"^^xsd:integer
    MAX             | 1 "01"^^xsd:integer 1.0           | 1.0
    MIN             | "2"^^xsd:int "2"^^xsd:byte        | "2"^^xsd:byte
    MIN             | "a" 5 <urn:a> _:b                 | _:b
    MIN             | "a" 5 <urn:b> <urn:a>             | <urn:a>
    MIN             | "a" 5 "x"^^<urn:t>                | 5
    MAX             | "a" 5 "x"^^<urn:t>                | "x"^^<urn:t>
    MAX             | "b" "a"@en                        | "a"@en
    MIN             | 1 "NaN"^^xsd:double               | "NaN"^^xsd:double
    MAX             | 1 "NaN"^^xsd:double               | 1
    MAX             | "2020-01-01Z"^^xsd:date "2020-01-01-01:00"^^xsd:date   | "2020-01-01-01:00"^^xsd:date
"""


@pytest.mark.parametrize("row", list(filter(None, map(str.strip, ROWS.splitlines()))))
def test_an_aggregate_has_the_result_in_the_table_in_any_order(row: str) -> None:
    function, values, result = (part.strip() for part in row.split("|"))
    name, _, distinct = function.partition(" ")
    (expected,) = terms(result)
    found = terms(values) if values else []
    for order in list(permutations(found))[:24]:
        assert aggregate(name, bool(distinct), order) == expected


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("MEDIAN", ["unknown aggregate function MEDIAN", "hint: aggregates: COUNT, SUM, MIN, MAX, AVG, LIST, SET, MAP, ARGMIN"]),
        ("CONT", ["unknown aggregate function CONT, did you mean 'COUNT'?", "hint: aggregates: COUNT"]),
        ("count", ["unknown aggregate function count"]),
    ],
)
def test_what_is_refused(name: str, parts: list[str]) -> None:
    (rule,) = parse("h(?n) :- AGGREGATE(p(?x) BIND SUM(?x) AS ?n) .", "rules.dl").rules
    (part,) = rule.body
    assert isinstance(part, Aggregate)
    with pytest.raises(UnsupportedError) as caught:
        check(name, part.span)
    for text in ["rules.dl:1:10: ", *parts]:
        assert text in str(caught.value)


def test_what_is_not_refused() -> None:
    for name in FUNCTIONS:
        check(name)
    assert tuple(FUNCTIONS) == (*OF_SPARQL, *COLLECTING)
    assert count_literal(3) == literal(3)


def test_sums_may_be_large_on_the_way() -> None:
    large = literal(10**DIGITS - 1)
    minus = literal(-(10**DIGITS - 1))
    assert aggregate("SUM", False, [large, large, minus]) == large
    assert aggregate("SUM", False, [large, literal(Decimal("0.5")), minus]) == literal(Decimal("0.5"))
    for function in ("SUM", "AVG"):
        with pytest.raises(ValueTooLargeError, match=f"more than {DIGITS} digits"):
            aggregate(function, False, [large, large])


NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.decimals(-(10**6), 10**6, places=3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda number: Literal(repr(number), XSD.float.value)),
).map(lambda number: number if isinstance(number, Literal) else literal(number))
MIXED = st.one_of(
    NUMBERS,
    st.sampled_from(["a", "b", ""]).map(literal),
    st.booleans().map(literal),
    st.builds(
        Literal,
        st.sampled_from(["1", "01", "x", "NaN", "2020-01-01", "true"]),
        st.sampled_from([XSD[n].value for n in ["int", "date", "boolean", "float"]]),
    ),
    st.sampled_from([IRI("urn:a"), BlankNode("b"), Literal("1", "urn:t")]),
)


@given(st.lists(st.one_of(NUMBERS, MIXED), max_size=6), st.randoms(), st.booleans())
def test_nothing_depends_on_the_order(values: list[Term], random: object, distinct: bool) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for name in FUNCTIONS:
        assert aggregate(name, distinct, values) == aggregate(name, distinct, shuffled)


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_sums_are_rounded_once(values: list[Literal]) -> None:
    singles = [value for value in values if value.datatype == XSD.float.value]
    doubles = [value for value in values if value.datatype == XSD.double.value]
    floats = [float(value.lexical) for value in (*singles, *doubles)]
    exact = sum(Fraction(value.lexical) for value in values if value.datatype in (XSD.integer.value, XSD.decimal.value))
    found = aggregate("SUM", False, values)
    assert isinstance(found, Literal)
    if not floats:
        assert Fraction(Decimal(found.lexical)) == exact
        return
    total = sum(map(Fraction, floats)) + Fraction(float(exact))
    try:
        expected = float(total)
    except OverflowError:
        expected = math.inf if total > 0 else -math.inf
    assert found.datatype == (XSD.double.value if doubles else XSD.float.value)
    assert number_of(found) == (expected if doubles else Single(expected))


@given(MIXED, MIXED)
def test_the_order_is_total_and_goes_by_value(a: Term, b: Term) -> None:
    assert (order_key(a) == order_key(b)) == (a == b)
    less = order_key(a) < order_key(b)
    assert (order_key(b) < order_key(a)) == (not less and a != b)
    if compare(a, b) in (-1, 1):
        assert less == (compare(a, b) == -1)


SMALL = st.one_of(st.integers(-5, 5), st.sampled_from([Decimal("0.25"), Decimal("1.5")]), st.sampled_from([0.5, 2.0])).map(literal)
STORE = pyoxigraph.Store()


@settings(max_examples=examples(150))
@given(st.lists(st.one_of(SMALL, SMALL, SMALL, SMALL, st.sampled_from([literal("a")])), max_size=5), st.booleans())
def test_small_groups_next_to_pyoxigraph(values: list[Term], distinct: bool) -> None:
    """Not compared: AVG that does not end (it divides as we do) and MIN and MAX of equal values, of which it takes the first."""
    table = " ".join(f"({number} {format_term(value)})" for number, value in enumerate(values))
    for name in OF_SPARQL:
        call = f"{name}({'DISTINCT ' if distinct else ''}?x)"
        query = f"PREFIX xsd: <{XSD}> SELECT ({call} AS ?result) {{ VALUES (?row ?x) {{ {table} }} }}"
        (solution,) = STORE.query(query)  # type: ignore[misc]
        theirs = None if solution["result"] is None else from_oxigraph(solution["result"])
        ours = aggregate(name, distinct, values)
        assert (ours is None) == (theirs is None), (name, ours, theirs)
        if ours is not None and theirs is not None:
            assert equal(ours, theirs), (name, ours, theirs)


# -------------------------------------------------------------------------------------------------------- in rules, by the oracle


def consequences(text: str) -> str:
    """The derived facts of a program, as text."""
    program = parse(text)
    check_arity(program)
    check_safety(program)
    stated = {rule.head for rule in program.rules if not rule.body}
    found = [
        f"{predicate}({', '.join(map(format_term, row))})"
        for predicate, rows in evaluate(program, {}).items()
        for row in rows
        if not any(atom.predicate == predicate and atom.terms == row for atom in stated)
    ]
    return " ".join(sorted(found))


EDGES = "edge(1, 2) . edge(1, 3) . edge(2, 3) . edge(3, 3) . node(1) . node(2) . node(3) . node(4) . "


NESTED = [
    (f"d(?n) :- AGGREGATE({inner} BIND {outer} AS ?n) .", facts)
    for inner, outer, facts in [
        ("AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?m)", "SUM(?m)", "d(4)"),
        ("AGGREGATE(edge(?x, 3) ON ?x BIND COUNT(*) AS ?m)", "SUM(?m)", "d(3)"),
        ("AGGREGATE(edge(?x, ?x) ON ?x BIND COUNT(*) AS ?m)", "SUM(?m)", "d(1)"),
        ("AGGREGATE(edge(?x, ?y), FILTER(?y > 2) ON ?x BIND COUNT(?y) AS ?m)", "MAX(?m)", "d(1)"),
        ("AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?m BIND MIN(?y) AS ?m)", "SUM(?m)", "d(2)"),
        ("AGGREGATE(AGGREGATE(edge(?x, ?y) ON ?x ?y BIND COUNT(*) AS ?k) ON ?x BIND SUM(?k) AS ?m)", "MAX(?m)", "d(2)"),
    ]
]
"""Aggregates whose body is another one, and nothing else."""


@pytest.mark.parametrize(
    ("rules", "facts"),
    [
        ("d(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .", "d(1, 2) d(2, 1) d(3, 1)"),
        ("d(?x, ?n) :- node(?x), AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(*) AS ?n) .", "d(1, 2) d(2, 1) d(3, 1)"),
        ("d(?n) :- AGGREGATE(edge(?x, ?y) BIND COUNT(*) AS ?n) .", "d(4)"),
        ("d(?n, ?m) :- AGGREGATE(edge(?x, ?y) BIND COUNT(?y) AS ?n BIND COUNT(DISTINCT ?y) AS ?m) .", "d(4, 2)"),
        # Solutions are distinct bindings of all variables inside, wildcards included:
        ("d(?n) :- AGGREGATE(edge(_, ?y) BIND SUM(?y) AS ?n) .", "d(11)"),
        ("d(?n) :- AGGREGATE(edge(?x, ?y), node(_) BIND COUNT(*) AS ?n) .", "d(16)"),
        # Without ON there is always one group:
        ("d(?n, ?m) :- AGGREGATE(edge(?x, 9) BIND COUNT(?x) AS ?n BIND SUM(?x) AS ?m) .", "d(0, 0)"),
        ("d(?n) :- AGGREGATE(edge(?x, 9) BIND AVG(?x) AS ?n) .", "d(0)"),
        ("d(?n) :- AGGREGATE(edge(?x, 9) BIND MIN(?x) AS ?n) .", ""),
        ("d(?x, ?n) :- AGGREGATE(edge(?x, 9) ON ?x BIND COUNT(*) AS ?n) .", ""),
        # An error drops the instance, of all results:
        ('d(?n) :- AGGREGATE(edge(?x, ?y), BIND(IF(?x = 1, "a", ?y) AS ?z) ON ?x BIND SUM(?z) AS ?n) .', "d(3)"),
        ("d(?n) :- AGGREGATE(edge(?x, ?y) BIND COUNT(*) AS ?n BIND SUM(STR(?y)) AS ?m) .", ""),
        ("d(?n) :- AGGREGATE(edge(?x, ?y) BIND COUNT(6 / (?x - 1)) AS ?n) .", "d(2)"),
        # Expressions, filters and negation inside:
        ("d(?n) :- AGGREGATE(edge(?x, ?y) BIND SUM(?x * ?y) AS ?n) .", "d(20)"),
        ("d(?x, ?n) :- AGGREGATE(edge(?x, ?y), FILTER(?x < ?y) ON ?x BIND MAX(?y) AS ?n) .", "d(1, 3) d(2, 3)"),
        ("d(?n) :- AGGREGATE(node(?x), NOT edge(?x, _) BIND MIN(?x) AS ?n) .", "d(4)"),
        (
            "d(?x, ?y, ?n) :- AGGREGATE(edge(?x, ?z), edge(?z, ?y) ON ?x ?y BIND COUNT(?z) AS ?n) .",
            "d(1, 3, 2) d(2, 3, 1) d(3, 3, 1)",
        ),
        # What is not in ON stays inside; a result that is bound elsewhere must be the same term:
        ("d(?y, ?n) :- node(?y), AGGREGATE(edge(?x, ?y) BIND MAX(?y) AS ?n), FILTER(?y > 2) .", "d(3, 3) d(4, 3)"),
        ("d(?x) :- edge(?x, ?n), AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .", "d(1)"),
        ("d(?x) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?x) .", ""),
        (
            "d(?x) :- AGGREGATE(edge(?x, ?y) ON ?x BIND MIN(?y) AS ?n), AGGREGATE(edge(?x, ?y) ON ?x BIND MAX(?y) AS ?n) .",
            "d(2) d(3)",
        ),
        # Results can be used at once, and in strata above:
        ("d(?x, ?m) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), BIND(?n * 10 AS ?m), FILTER(?m > 10) .", "d(1, 20)"),
        (
            "d(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) . most(?x) :- d(?x, ?n), "
            "AGGREGATE(d(?y, ?m) BIND MAX(?m) AS ?n) .",
            "d(1, 2) d(2, 1) d(3, 1) most(1)",
        ),
        *NESTED,
        # BIND: in any order, as an equality where the variable is bound, and no instance where it is an error:
        ("d(?x, ?z) :- BIND(?y + 1 AS ?z), BIND(?x * 2 AS ?y), edge(?x, 3) .", "d(1, 3) d(2, 5) d(3, 7)"),
        ("d(?x) :- edge(?x, ?y), BIND(?x + 1 AS ?y) .", "d(1) d(2)"),
        ("d(?x) :- edge(?x, ?y), BIND(?x + 1.0 AS ?y) .", ""),
        ("d(?x, ?z) :- node(?x), BIND(6 / (?x - 2) AS ?z), FILTER(?z > 4) .", 'd(3, "6"^^xsd:decimal)'),
        ("d(?x, ?z) :- node(?x), BIND(?x > 3 AS ?z), FILTER(?z || ?x = 1) .", "d(1, false) d(4, true)"),
        ("up(?x) :- edge(?x, 2) . up(?y) :- up(?x), BIND(IF(?x < 3, ?x + 1, ?x) AS ?y) .", "up(1) up(2) up(3)"),
        ("d(?x) :- node(?x), BIND(?x + 1 AS ?y), NOT node(?y) .", "d(4)"),
    ],
)
def test_rules(rules: str, facts: str) -> None:
    assert consequences(EDGES + rules) == facts


@pytest.mark.parametrize("maintenance", STRATEGIES)
@pytest.mark.parametrize(("rules", "facts"), NESTED)
def test_nested_aggregates_are_maintained_and_explained(rules: str, facts: str, maintenance: Any) -> None:
    reasoner = Reasoner(EDGES + rules, maintenance=maintenance)
    found = [Atom("d", row) for row in reasoner.facts("d")]
    assert " ".join(f"d({', '.join(map(format_term, fact.terms))})" for fact in found) == facts  # type: ignore[arg-type]
    assert all(reasoner.explain(fact).conclusion == fact for fact in found)
    more = [(literal(1), literal(1)), (literal(4), literal(2))]
    reasoner.add_facts("edge", more)
    edges = {"edge": set(reasoner.facts("edge"))}
    expected = evaluate(parse(EDGES + rules), edges)["d"]
    assert set(reasoner.facts("d")) == expected
    reasoner.remove_facts("edge", more)
    assert {Atom("d", row) for row in reasoner.facts("d")} == set(found)


def test_the_cyclic_example() -> None:
    one = literal(1)
    found = evaluate(CYCLIC, {"a": {(one,)}, "b": set()})
    assert without_empty(found) == {name: {(one,)} for name in ("a", "c0", "c1", "c2", "c3")}


# ------------------------------------------------------------------------------------------------------ random programs are sane


def kinds(rules: Sequence[Rule]) -> set[type]:
    return {type(part) for rule in rules for part in rule.body}


@settings(max_examples=examples(60))
@given(histories(functions=True, aggregates=True))
def test_histories_are_checked_stratified_and_end(transactions: list[Transaction]) -> None:
    rules: tuple[Rule, ...] = ()
    facts: dict[str, set[tuple[Term, ...]]] = {}
    for transaction in transactions:
        rules, facts = transaction.after(rules, facts)
        program = Program(rules)
        check_arity(program)
        check_safety(program)
        stratify(rules)
        model = evaluate(program, facts)
        assert all(rows <= model[predicate] for predicate, rows in facts.items())
        assert is_stable(program, facts, model)


def test_random_programs_have_what_is_asked_for() -> None:
    seen: set[type] = set()

    @settings(max_examples=50, database=None)
    @given(programs(functions=True, aggregates=True))
    def collect(program: Program) -> None:
        seen.update(kinds(program.rules))

    @settings(max_examples=examples(50), database=None)
    @given(worlds(negation=False))
    def none(world: object) -> None:
        assert not {Bind, Aggregate} & kinds(world.rules)  # type: ignore[attr-defined]

    collect()
    none()
    assert {Bind, Aggregate} <= seen


def test_what_a_transaction_does() -> None:
    first, second = parse("p(?x) :- q(?x) . p(?x) :- r(?x) .").rules
    one, two, three = ((literal(number),) for number in (1, 2, 3))
    transaction = Transaction({"q": {one, three}}, (first,), {"q": {one}, "r": {two}}, (second,))
    assert transaction.after([first], {"q": {one, two}, "s": {one}}) == ((second,), {"q": {one, two}, "s": {one}, "r": {two}})
    assert Transaction({}, (first,), {}, (first,)).after([first], {"q": set()}) == ((first,), {})
