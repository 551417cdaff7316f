"""Strata, and the conditions of filters; the messages of the checks are in tests/language/wrong_rules.txt."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner import rulesets
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import ReasonerWarning, SafetyError, StratificationError
from kg_reasoner.language.checks.analysis import check, check_safety, conjuncts, homonyms, key_of, stratify
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import FALSE, Atom, BodyLiteral, Call, Filter, Negation, Program, Rule, Variable, triple
from kg_reasoner.terms import IRI, RDF, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import Facts, evaluate, is_stable, violations
from tests.helpers.strategies import facts, programs


def strata(text: str) -> list[list[str]]:
    """The strata of a text, each as the names of its rules."""
    program = parse(f"@prefix ex: <http://example.org/> .\n{dedent(text)}")
    return [[rule.origin.name or rule.head.predicate for rule in stratum] for stratum in stratify(program.rules)]


def test_without_negation_there_is_one_stratum() -> None:
    assert strata("a(?x) :- b(?x) . b(?x) :- c(?x) . c(1) . a(?x) :- a(?x), FILTER(?x > 1) .") == [["a", "b", "c", "a"]]
    assert stratify(()) == []


def test_strata_are_split_only_where_negation_demands_it() -> None:
    text = """
        d(?x) :- c(?x), NOT b(?x) .
        a(?x) :- e(?x) .
        c(?x) :- a(?x), NOT e(?x) .
        b(?x) :- c(?x) .
        f(?x) :- d(?x) .
        false :- f(?x), NOT d(?x) .
    """
    assert strata(text) == [["a", "c", "b"], ["d", "f"], ["false"]]


def test_aggregates_look_down_as_negation_does() -> None:
    assert strata("n(?c) :- AGGREGATE(p(?x), q(?x) BIND COUNT(?x) AS ?c) . p(?x) :- e(?x) . m(?c) :- n(?c) .") == [
        ["p"],
        ["n", "m"],
    ]


def test_what_no_rule_derives_is_known_before_the_first_stratum() -> None:
    assert strata("a(?x) :- e(?x) . b(?x) :- a(?x), NOT f(?x) .") == [["a", "b"]]
    assert strata("a(?x) :- e(?x) . b(?x) :- a(?x), NOT f(?x) . f(1) .") == [["a", "f"], ["b"]]
    assert strata("n(?c) :- AGGREGATE(e(?x) BIND COUNT(?x) AS ?c) . a(?x) :- n(?x) .") == [["n", "a"]]


def test_triples_are_distinguished_by_property_and_class() -> None:
    text = """
        @rule single
        ex:Single[?x] :- ex:Person[?x], NOT ex:Married[?x] .
        @rule person
        ex:Person[?x] :- ex:knows[?x, ?y] .
        @rule married
        ex:Married[?x] :- ex:spouse[?x, ?y] .
        @rule alone
        ex:alone[?x, ?x] :- ex:Person[?x], NOT ex:knows[?x, _] .
    """
    assert strata(text) == [["person", "married", "alone"], ["single"]]


def test_a_variable_class_may_be_any_class() -> None:
    text = """
        @rule typed
        [?x, rdf:type, ?c] :- e(?x, ?c) .
        @rule b
        ex:B[?x] :- n(?x), NOT ex:A[?x] .
    """
    assert strata(text) == [["typed"], ["b"]]
    with pytest.raises(StratificationError, match="depends on its own negation"):
        strata("[?x, rdf:type, ?c] :- e(?x, ?c), ex:B[?x] . ex:B[?x] :- n(?x), NOT ex:A[?x] .")


def test_a_variable_property_may_be_any_property_and_any_class() -> None:
    text = """
        @rule copy
        [?x, ?p, ?y] :- e(?x, ?p, ?y) .
        @rule no_class
        a(?x) :- n(?x), NOT ex:A[?x] .
        @rule no_property
        b(?x) :- n(?x), NOT ex:p[?x, _] .
        @rule nothing
        c(?x) :- n(?x), NOT [?x, _, _] .
        @rule another_literal
        ex:q[?x, ?x] :- n(?x), NOT a(?x) .
    """
    assert strata(text) == [["copy"], ["no_class", "no_property"], ["another_literal"], ["nothing"]]


def test_a_class_is_a_key_only_under_rdf_type() -> None:
    x = Variable("x")
    program = parse("""
        @prefix ex: <http://example.org/> .
        h() :- ex:C[?x], ex:p[?x, ex:C], [?x, rdf:type, ?c], [?x, ?p, ex:C], q(?x, 1) .
    """)
    keys = [key_of(atom) for atom in program.rules[0].body_atoms()]
    assert len({keys[0], keys[1], keys[2], keys[3], keys[4]}) == 5
    assert key_of(Atom("q", (x, literal(2)))) == keys[4]


def test_many_rules_are_stratified_quickly_and_without_recursion() -> None:
    chain = [f"p{n}(?x) :- p{n + 1}(?x) ." for n in range(1500)]
    program = parse("\n".join([*chain, "p1500(?x) :- e(?x), NOT f(?x) ."]))
    assert [len(stratum) for stratum in stratify(program.rules)] == [1501]


def test_rules_made_in_python_have_errors_without_places() -> None:
    with pytest.raises(SafetyError) as caught:
        check_safety(Program((Rule(Atom("p", (Variable("x"),))),)))
    assert str(caught.value).startswith("?x of the head is not bound by the body\nhint: a fact cannot have variables")


def test_the_conditions_of_a_filter() -> None:
    part = parse("p(?x) :- q(?x, ?y), FILTER((?x = ?y && (1 < ?x || ?y = 2)) && BOUND(?x)) .").rules[0].body[1]
    assert isinstance(part, Filter)
    x, y = Variable("x"), Variable("y")
    either = Call("||", (Call("<", (literal(1), x)), Call("=", (y, literal(2)))))
    assert list(conjuncts(part.expression)) == [Call("=", (x, y)), either, Call("BOUND", (x,))]


def test_all_variables_of_an_aggregate_are_checked() -> None:
    assert [len(stratum) for stratum in stratify(parse("p(?n) :- AGGREGATE(q(?x, ?y) BIND MAX(?x + ?y) AS ?n) .").rules)] == [1]
    with pytest.raises(SafetyError, match=r"\?z of the aggregate"):
        check(parse("p(?n) :- AGGREGATE(q(?x, ?y) BIND MAX(?x + ?z) AS ?n) ."))
    with pytest.raises(SafetyError, match=r"\?z of the filter"):
        check(parse("p(?n) :- AGGREGATE(q(?x, ?y), FILTER(?z > 1) BIND MAX(?x) AS ?n) ."))
    check_safety(parse("p(?z) :- q(?x), BIND(?y + 1 AS ?z), BIND(?x + 1 AS ?y), FILTER(?z > 3), NOT r(?z) ."))


# --- the oracle, and with it the strata


def test_the_oracle_on_a_program_whose_answer_is_plain() -> None:
    program = parse("""
        path(?x, ?y) :- edge(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        leaf(?x) :- edge(_, ?x), NOT edge(?x, _) .
        apart(?x, ?y) :- node(?x), node(?y), NOT path(?x, ?y), FILTER(?x < ?y) .
        @rule no_loops
        false :- path(?x, ?x) .
        edge(1, 2) .
    """)
    zero, one, two, three = (literal(n) for n in range(4))
    chain: Facts = {"edge": {(two, three)}, "node": {(zero,), (one,), (two,), (three,)}}
    model = evaluate(program, chain)
    assert model["path"] == {(one, two), (two, three), (one, three)}
    assert model["leaf"] == {(three,)}
    assert model["apart"] == {(zero, one), (zero, two), (zero, three)}
    assert violations(program, chain) == []
    loop: Facts = {"edge": {(two, three), (three, one)}}
    assert {(rule.origin.name, binding[Variable("x")]) for rule, binding in violations(program, loop)} == {
        ("no_loops", one),
        ("no_loops", two),
        ("no_loops", three),
    }
    assert evaluate(program, loop)[FALSE] == {()}


X, Y = Variable("x"), Variable("y")
A, B, P = (IRI(f"http://example.org/{name}") for name in "ABp")
START = Atom("start", (X, Y))
SHAPES = [
    *(Atom(name, (X,)) for name in "abc"),
    *(triple(X, RDF.type, cls) for cls in (A, B, Y)),
    *(triple(X, property, A) for property in (P, Y)),
]
"""Predicates, a property, classes, and variables for them: few, so that rules depend on each other often."""


@st.composite
def entangled(draw: st.DrawFn) -> Program:
    """Rules over `SHAPES`, each with a negation or not, in any order."""
    found = []
    for _ in range(draw(st.integers(2, 5))):
        body: list[BodyLiteral] = [START, *draw(st.lists(st.sampled_from(SHAPES), max_size=1))]
        body.extend(map(Negation, draw(st.lists(st.sampled_from(SHAPES), max_size=1))))
        found.append(Rule(draw(st.sampled_from(SHAPES)), tuple(body)))
    return Program(tuple(found))


@settings(max_examples=examples(400))
@given(entangled())
def test_strata_give_the_stable_model(program: Program) -> None:
    """A stratified program has one stable model; the strata are right if evaluating them one after another gives it."""
    try:
        order = stratify(program.rules)
    except StratificationError:
        assume(False)
    assert sorted(map(format_rule, set(program.rules))) == sorted(format_rule(rule) for stratum in order for rule in stratum)
    start: Facts = {"start": {(A, B), (A, P), (B, A), (B, RDF.type), (P, B)}}
    assert is_stable(program, start, evaluate(program, start))


@settings(max_examples=examples(50))
@given(programs(), facts())
def test_strata_give_the_stable_model_of_larger_programs(program: Program, given_facts: Facts) -> None:
    try:
        stratify(program.rules)
    except StratificationError:
        assume(False)
    assert is_stable(program, given_facts, evaluate(program, given_facts))


def test_the_rule_sets_stratify() -> None:
    counts = {name: len(stratify(rulesets.load(name).program.rules)) for name in rulesets.names()}
    assert counts == {"rdfs": 1, "owl2rl": 1, "rdfs-full": 1, "owl2rl-full": 1, "owl2el": 1}


# ---- homonyms


@pytest.mark.parametrize(
    ("rule", "variables"),
    [
        ("d(?x, ?y, ?n) :- e(?x, ?y), AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .", ["1:45: ?y"]),
        ("d(?y, ?n) :- f(?y), AGGREGATE(e(?x, ?z), NOT f(?y) ON ?x BIND COUNT(?z) AS ?n) .", ["1:48: ?y"]),
        ("d(?x, ?n) :- AGGREGATE(e(?x, ?y), NOT f(_, ?y) ON ?x BIND COUNT(?y) AS ?n), f(_) .", []),
        (
            "d(?x, ?n, ?m) :- AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), AGGREGATE(e(?y, ?x) ON ?x BIND COUNT(?y) AS ?m) .",
            [],
        ),
    ],
)
def test_a_variable_of_an_aggregate_that_is_another_one_outside(rule: str, variables: list[str]) -> None:
    told = list(homonyms(parse(rule, "rules.dl")))
    assert [text.partition(" in the AGGREGATE is a different variable")[0] for text in told] == [f"rules.dl:{v}" for v in variables]


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("p(?x) :- q(?x), isIRI(?x) .", "1:17: isIRI is a relation here"),
        ("p(?x) :- q(?x), NOT isBlank(?x) .", "1:21: isBlank is a relation here"),
        ("n(?n) :- AGGREGATE(q(?x), strStarts(?x, 'a') BIND COUNT(?x) AS ?n) .", "1:27: strStarts is a relation here"),
        ("p(?x) :- q(?x), isIRI(?x) . isIRI(1) .", ""),
        ("relation isIRI(x: any) . p(?x) :- q(?x), isIRI(?x) .", ""),
        ("p(?x) :- q(?x), FILTER(isIRI(?x)), ISIRI(?x), contains(?x, ?y), isMarried(?x) .", ""),
    ],
)
def test_a_relation_with_the_name_of_a_condition(rules: str, told: str) -> None:
    assert "".join(homonyms(parse(rules, "rules.dl"))).partition(", which")[0] == (told and f"rules.dl:{told}")


def test_a_reasoner_warns_of_homonyms() -> None:
    rule = "d(?x, ?y, ?n) :- e(?x, ?y), AGGREGATE(e(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) ."
    with pytest.warns(ReasonerWarning, match=r"\?y in the AGGREGATE is a different variable from \?y outside of it: list it"):
        Reasoner(rule)
