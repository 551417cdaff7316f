"""Expressions that joins calculate by themselves: against the oracle, by every strategy, and what they leave to other functions."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.functions.calculations import program_of
from kg_reasoner.program import Bind
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

INTEGERS: Final = [0, 1, 2, 3, -1, -7, 10, 2**30, -(2**31), 2**53, 10**17, 10**18 - 1, 1 - 10**18, 10**18, 2**63, -(2**64)]
OTHERS: Final[list[Term]] = [
    *(Literal(text, XSD.integer.value) for text in ("05", "+5", "-0", "00", "000000000000000000005", "x", "", "-")),
    *map(literal, (1.5, float("nan"), "a", "5", True)),
    *(Literal(text, XSD.decimal.value) for text in ("5.0", "0.5", "-7")),
    Literal("5", XSD.int.value),
    Literal("2024-01-01", XSD.date.value),
    Literal("a", RDF.langString.value, "en"),
    IRI("urn:a"),
    BlankNode("b"),
]
TERMS: Final = [*map(literal, INTEGERS), *OTHERS]

LEAVES: Final = st.sampled_from(["?a", "?b", "0", "1", "3", "-2", "1000000007", "999999999999999999", "1.5", "?a", "?b"])


def _numbers(inner: Any) -> Any:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        *(st.builds(f"({{0[0]}} {sign} {{0[1]}})".format, pairs) for sign in "+-*%"),
        st.builds("IDIV({0[0]}, {0[1]})".format, pairs),
        st.builds("ABS({0})".format, inner),
        st.builds("(-{0})".format, inner),
        st.builds("FLOOR({0})".format, inner),
        st.builds("IF({0}, {1[0]}, {1[1]})".format, _conditions(inner), pairs),
    )


def _conditions(inner: Any) -> Any:
    pairs = st.tuples(inner, inner)
    plain = st.one_of(
        *(st.builds(f"({{0[0]}} {sign} {{0[1]}})".format, pairs) for sign in ("<", "<=", ">", ">=", "=", "!=")),
        st.builds("({0[0]} IN ({0[1]}, 3))".format, pairs),
        st.builds("({0[0]} NOT IN ({0[1]}))".format, pairs),
        st.sampled_from(["SAMETERM(?a, ?b)", "SAMEVALUE(?a, ?b)", "SAMEVALUE(?b, 5)"]),
    )
    both = st.tuples(plain, plain)
    return st.one_of(
        plain,
        st.builds("({0[0]} && {0[1]})".format, both),
        st.builds("({0[0]} || {0[1]})".format, both),
        st.builds("(!{0})".format, plain),
    )


NUMBERS: Final = st.recursive(LEAVES, _numbers, max_leaves=5)
ROWS: Final = st.sets(st.tuples(st.sampled_from(TERMS), st.sampled_from(TERMS)), max_size=12)

PROGRAM: Final = """
sum(?x, ?y, ?a + ?b) :- v(?x, ?a), w(?y, ?b), ?a + ?b < 100 .
less(?x, ?y) :- v(?x, ?a), w(?y, ?b), ?a < ?b .
same(?x, ?y) :- v(?x, ?a), w(?y, ?b), ?a = ?b .
differ(?x, ?y) :- v(?x, ?a), w(?y, ?b), ?a != ?b .
bucket(?k, ?x) :- v(?x, ?a), w(?x, ?b), ?k = IDIV(?a * ?b, 10) .
hit(?x) :- v(?x, ?a), w(?a + 1, _) .
way(?x, ?y, 1) :- v(?x, ?y) .
way(?x, ?z, ?n + 1) :- way(?x, ?y, ?n), v(?y, ?z), ?n < 4 .
count(?x) :- v(_, ?x) . count(?x - 1) :- count(?x), ?x > 0, ?x < 20 .
odd(?x) :- count(?x), ?x % 2 = 1 .
far(?x, ?y) :- v(?x, ?a), w(?y, ?b), NOT near(?x, ?y), ?a < ?b + 5 .
near(?x, ?y) :- v(?x, ?a), w(?y, ?b), ABS(?a - ?b) < 3 .
most(?x, ?m) :- AGGREGATE(v(?x, ?a), w(?a, ?b), ?c = ?a * 2 + ?b ON ?x BIND MAX(?c) AS ?m) .
shown(?x, IF(?a < ?b, ?a, ?b)) :- v(?x, ?a), w(?x, ?b) .
"""
SMALL: Final[list[Term]] = [*map(literal, (0, 1, 2, 3, 5, 17, -4)), *OTHERS[:4], literal(1.5), literal("a"), IRI("urn:a")]
PAIRS: Final = st.sets(st.tuples(st.sampled_from(SMALL), st.sampled_from(SMALL)), max_size=8)
CHANGES: Final = st.tuples(PAIRS, PAIRS, st.sampled_from([True, True, False]))


def _check(reasoner: Reasoner, facts: dict[str, set[tuple[Term, ...]]]) -> None:
    expected = evaluate(reasoner.program, facts)
    for name in sorted({rule.head.predicate for rule in reasoner.program.rules}):
        if not name.startswith("_"):
            assert set(reasoner.facts(name)) == expected.get(name, set()), name


@settings(max_examples=examples(600))
@given(number=NUMBERS, condition=_conditions(NUMBERS), rows=ROWS)
@example(number="?a", condition="(?a != IF((?a < ?a), ?a, ?b))", rows={(literal(0), IRI("urn:a"))})
def test_expressions_against_the_oracle(number: str, condition: str, rows: Any) -> None:
    reasoner = Reasoner(f"n(?a, ?b, ?n) :- v(?a), v(?b), p(?a, ?b), ?n = {number} . f(?a, ?b) :- v(?a), p(?a, ?b), {condition} .")
    facts = {"p": set(rows), "v": {(term,) for row in rows for term in row}}
    for name, members in facts.items():
        reasoner.add_facts(name, list(members))
    _check(reasoner, facts)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(45))
@given(first=st.tuples(PAIRS, PAIRS), changes=st.lists(st.tuples(CHANGES, CHANGES), max_size=4), late=st.booleans())
def test_strategies_agree_with_the_oracle(strategy: Any, first: Any, changes: Any, late: bool) -> None:
    reasoner = Reasoner("" if late else PROGRAM, maintenance=strategy)
    present = dict(zip("vw", map(set, first), strict=True))
    for name, rows in present.items():
        reasoner.add_facts(name, list(rows))
    if late:
        reasoner.add_program(PROGRAM)
    _check(reasoner, present)
    for change in changes:
        transaction = reasoner.transaction().begin()
        wanted = {}
        for name, (removed, added, _) in zip("vw", change, strict=True):
            transaction.remove_facts(name, removed)
            transaction.add_facts(name, added)
            wanted[name] = (present[name] - removed) | added
        if change[0][2]:
            transaction.commit()
            present = wanted
        else:
            transaction.rollback()
        _check(reasoner, present)
    reasoner.remove_rules(parse("way(?x, ?z, ?n + 1) :- way(?x, ?y, ?n), v(?y, ?z), ?n < 4 .").rules)
    _check(reasoner, present)


@pytest.mark.usefixtures("capacities")
def test_tables_of_all_sizes() -> None:
    """Counters, products and comparisons in tables that are always full, and by threads."""
    reasoner = Reasoner(PROGRAM)
    present = {name: {(literal(x), literal(x * step % 11)) for x in range(-3, 12)} for name, step in (("v", 3), ("w", 7))}
    for name, rows in present.items():
        reasoner.add_facts(name, list(rows))
    _check(reasoner, present)
    gone = {(literal(x), literal(x * 3 % 11)) for x in range(0, 12, 3)}
    reasoner.remove_facts("v", list(gone))
    present["v"] -= gone
    _check(reasoner, present)


def test_nothing_is_stored_for_integers() -> None:
    reasoner = Reasoner("n(0) . n(?y) :- n(?x), ?y = ?x + 1, ?y < 500 . p(?x, ?y) :- n(?x), n(?y), ?x * ?x = ?y + 3 .")
    assert set(reasoner.facts("n")) == {(literal(number),) for number in range(500)}
    assert set(reasoner.facts("p")) == {(literal(x), literal(x * x - 3)) for x in range(2, 23)}
    engine = reasoner.core.engine
    assert not any(engine.database.relations[relation].count for relation in engine.catalog.functions.relations)


def test_nothing_is_stored_for_individuals() -> None:
    """Values of a functional property differ if they are literals; whether individuals do is no question."""
    prefixes = "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    values = ", ".join(f":x{number}" for number in range(9))
    reasoner = Reasoner(ruleset="owl2rl", equality="rewrite")
    reasoner.load(f"{prefixes} :p a owl:FunctionalProperty . :hub :p {values} .".encode(), format="turtle")
    assert reasoner.is_consistent()
    engine = reasoner.core.engine
    assert not any(engine.database.relations[relation].count for relation in engine.catalog.functions.relations)
    for value, is_consistent in (("01", True), ("2", False)):
        reasoner.load(f"{prefixes} :one :p 1, {value} .".encode(), format="turtle")
        assert reasoner.is_consistent() == is_consistent


def test_terms_are_interned_once() -> None:
    reasoner = Reasoner("n(0) . n(?y) :- n(?x), ?y = ?x + 1, ?y < 300 . u(?x) :- n(?x), v(?x) .")
    reasoner.add_facts("v", [(literal(7),), (Literal("07", XSD.integer.value),), (literal(299),)])
    assert set(reasoner.facts("u")) == {(literal(7),), (literal(299),)}
    texts = reasoner.dictionary.texts()
    assert len(texts) == len(set(texts))
    reasoner.add_facts("v", [(literal(8),)])
    assert set(reasoner.facts("u")) == {(literal(7),), (literal(8),), (literal(299),)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_counters_of_several_updates(strategy: Any) -> None:
    reasoner = Reasoner("n(?x, ?x) :- v(?x) . n(?z, ?y + 1) :- n(?z, ?x), ?y = ?x, ?x < 200 .", maintenance=strategy)
    for number in (5, 150, 7):
        reasoner.add_facts("v", [(literal(number),)])
    reasoner.remove_facts("v", [(literal(5),)])
    expected = {(literal(start), literal(number)) for start in (7, 150) for number in range(start, 201)}
    assert set(reasoner.facts("n")) == expected


def test_overflow_is_left_to_other_functions() -> None:
    reasoner = Reasoner("p(1) . p(?y) :- p(?x), ?y = ?x * 1000, ?x < 1000000000000000000000000000000 .")
    assert set(reasoner.facts("p")) == {(literal(1000**power),) for power in range(11)}


def test_all_pairs_of_operands() -> None:
    signs = ("+", "-", "*", "%", "<", "<=", "=", "!=")
    rules = [f"o{place}(?a, ?b, ?n) :- p(?a, ?b), q(?b), BIND(?a {sign} ?b AS ?n) ." for place, sign in enumerate(signs)]
    rules += [f"f{place}(?a, ?b) :- p(?a, ?b), q(?b), ?a {sign} ?b ." for place, sign in enumerate(signs[4:])]
    rules += [f"s{name}(?a, ?b, ?n) :- p(?a, ?b), q(?b), BIND({name}(?a, ?b) AS ?n) ." for name in ("SAMETERM", "SAMEVALUE")]
    rules += [f"t{name}(?a, ?b) :- p(?a, ?b), q(?b), {name}(?a, ?b) ." for name in ("SAMETERM", "SAMEVALUE")]
    rules += [f"n{name}(?a, ?b) :- p(?a, ?b), q(?b), !{name}(?a, ?b) ." for name in ("SAMETERM", "SAMEVALUE")]
    rules += ["d(?a, ?b, IDIV(?a, ?b)) :- p(?a, ?b), q(?b) ."]
    facts: dict[str, set[tuple[Term, ...]]] = {"p": set(product(TERMS, TERMS)), "q": {(term,) for term in TERMS}}
    reasoner = Reasoner("\n".join(rules))
    for name, members in facts.items():
        reasoner.add_facts(name, list(members))
    _check(reasoner, facts)


@pytest.mark.parametrize(
    ("expression", "is_compiled"),
    [
        ("?x + 1", True),
        ("IF(?x > 1, ?x, 1)", False),
        ("IF(?x > 1, ?x + 0, 1)", True),
        ("IF(?x > 1, 0, -1)", True),
        ('IF(?x > 1, "05"^^<http://www.w3.org/2001/XMLSchema#integer>, 1)', False),
        ("?x / 2", False),
        ("?x + 1000000000000000000", False),
        ("?x + 1.0", False),
        ("STRLEN(?x) + 1", False),
        ("?x < 1", False),
        (" + ".join(["?x"] * 200), True),
        ("".join("(?x + " for _ in range(70)) + "1" + ")" * 70, False),
    ],
)
def test_what_has_a_program(expression: str, is_compiled: bool) -> None:
    (rule,) = parse(f"p(?y) :- v(?x), BIND({expression} AS ?y) .").rules
    (bind,) = (part for part in rule.body if isinstance(part, Bind))
    from kg_reasoner.program import variables_of

    found = program_of(bind.expression, tuple(dict.fromkeys(variables_of(bind.expression))), is_filter=False)
    assert (found is not None) == is_compiled
