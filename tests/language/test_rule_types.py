"""Types of rules: random well-typed programs never derive a fact of another type, and random ill-typed ones are refused."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import ColumnTypeError, RuleTypeError
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.expressions.types import kind_of
from kg_reasoner.language.checks.analysis import check
from kg_reasoner.language.parser import parse
from kg_reasoner.language.types.operator_types import OPERANDS as OPERANDS_OF
from kg_reasoner.language.types.operator_types import result_kinds
from kg_reasoner.program import COLUMN_TYPES, Call
from kg_reasoner.terms import Literal, literal
from tests.expressions.expression_texts import expression
from tests.helpers.effort import examples

VALUES = {
    "integer": ["1", "-7", "007"],
    "decimal": ["1.5", "0.0"],
    "string": ['"a"', '"7"'],
    "boolean": ["true"],
    "iri": ["<http://example.org/a>"],
    "list<integer>": ["LIST()", "LIST(1, 2)"],
    "Shape": ['RECORD("Dot")', 'RECORD("Circle", 3)'],
}
TYPES = list(VALUES)
EXPRESSIONS = {
    "integer": [
        "?i + 1",
        "?i * ?i - 2",
        "STRLEN(?s)",
        "SIZE(?l)",
        "IDIV(?i, 2)",
        "BAND(?i, 3)",
        "twice(?i)",
        "IF(?b, ?i, 0)",
        "-?i",
    ],
    "decimal": ["?d * 1.5", "?i / 2", "ABS(?d)"],
    "string": ["UCASE(?s)", "STR(?i)", "CONCAT(STR(?s), STR(?x))", 'JOIN(?l, ",")'],
    "boolean": ["?i < 3", 'CONTAINS(?s, "a")', "HAS(?l, ?i)", "!?b"],
    "iri": ["IRI(STR(?x))"],
    "list<integer>": ["APPEND(?l, ?i)", "LIST(?i)", "RANGE(0, 3)"],
    "Shape": ["Circle(?i)", "Dot()"],
}
BINDER = "i(?i), d(?d), s(?s), b(?b), x(?x), l(?l), c(?c)"
COLUMNS = dict(zip("idsbxlc", TYPES, strict=True))
HEADER = "\n".join(
    [
        "type Shape = Dot() | Circle(r: integer) .",
        "function twice(?n: integer): integer = ?n * 2 .",
        *(f"input relation {name}(v: {type_}) ." for name, type_ in COLUMNS.items()),
        *(f"{name}({value}) ." for name, type_ in COLUMNS.items() for value in VALUES[type_]),
    ]
)
TYPED = st.sampled_from(TYPES).flatmap(lambda type_: st.tuples(st.just(type_), st.sampled_from(EXPRESSIONS[type_])))
"""A type, and an expression of this type."""


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(TYPED, max_size=4))
def test_well_typed_programs_never_fail(chosen: list[tuple[str, str]]) -> None:
    rules = [f"relation h{n}(v: {type_}) . h{n}({value}) :- {BINDER} ." for n, (type_, value) in enumerate(chosen)]
    reasoner = Reasoner(HEADER + "\n".join(rules))
    for number in range(len(chosen)):
        list(reasoner.facts(f"h{number}"))


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_ill_typed_programs_are_refused(data: st.DataObject) -> None:
    type_ = data.draw(st.sampled_from(TYPES))
    other = data.draw(st.sampled_from([other for other in TYPES if other != type_]))
    value = data.draw(st.sampled_from([f"?{name}" for name, of in COLUMNS.items() if of == other]))
    heads = f"relation h(v: {type_}) . h({value}) :- {BINDER} ."
    name = next(name for name, of in COLUMNS.items() if of == type_)
    bodies = f"h() :- {BINDER}, {name}({value}) ."
    program = parse(HEADER + data.draw(st.sampled_from([heads, bodies])), "rules.dl")
    with pytest.raises(RuleTypeError) as caught:
        check(program)
    assert "in the rule for h, " in caught.value.message
    assert caught.value.span is not None


def passed_on(name: str, steps: int, extra: str = "") -> list[str]:
    """Rules that hand the values of a relation on, through relations that are not declared; the last is ``passed``."""
    names = [name, *(f"step{number}" for number in range(steps)), "passed"]
    return [f"{after}(?v) :- {before}(?v){extra} ." for before, after in pairwise(names)]


MAKERS = {
    "list<{}>": ("LIST({})", "?w IN {}"),
    "set<{}>": ("SET({})", "?w IN {}"),
    "tuple<{}, boolean>": ("TUPLE({}, true)", "{} = TUPLE(?w, ?_b)"),
    "optional<{}>": ("Some({})", "{} = Some(?w)"),
    "map<integer, {}>": ("MAP(1, {})", "(?_k, ?w) IN {}"),
}
"""Types with members: how to make a value, and how to get a member."""


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_types_of_members(data: st.DataObject) -> None:
    """A value goes into structures and is taken out again: with its own type all is well, with another one the rule is refused."""
    name, type_ = data.draw(st.sampled_from(list(COLUMNS.items())))
    makers = data.draw(st.lists(st.sampled_from(list(MAKERS.items())), min_size=1, max_size=3))
    whole, value = type_, "?v"
    for outer, (make, _) in makers:
        whole, value = outer.format(whole), make.format(value)
    rules = [f"relation whole(v: {whole}) . whole({value}) :- {name}(?v) ."]
    left = "?v0"
    body = ["whole(?v0)"]
    for number, (_, (_, take)) in enumerate(reversed(makers), 1):
        body.append(take.format(left).replace("?w", f"?v{number}").replace("?_", f"?_{number}"))
        left = f"?v{number}"
    rules.append(f"relation back(v: {type_}) . back({left}) :- {', '.join(body)} .")
    reasoner = Reasoner(HEADER + "\n".join(rules))
    assert set(reasoner.facts("back")) == set(reasoner.facts(name))
    other, wrong = data.draw(st.sampled_from([item for item in COLUMNS.items() if item[1] != type_]))
    into = f"relation whole(v: {whole}) . whole({value}) :- {other}(?v) ."
    out = f"{rules[0]} relation wrong(v: {wrong}) . wrong({left}) :- {', '.join(body)} ."
    with pytest.raises(RuleTypeError):
        check(parse(HEADER + data.draw(st.sampled_from([into, out]))))


CASES = {
    "Int(?v)": ("integer", ["?v + 1", "TWICE(?v)", "-?v"]),
    "Text(?v)": ("string", ["UCASE(?v)", "STR(?v)", 'CONCAT(?v, "x")']),
    "Both(Int(?v), _)": ("integer", ["?v", "IDIV(?v, 2)"]),
    "Both(Text(?v), ?w)": ("string", ["?v", "STR(?w)"]),
}
"""Patterns in a match: the type of their variable ?v, and expressions of this type."""
VARIANTS = """
type Simple = Int(value: integer) | Text(value: string) .
type Value = Both(first: Simple, second: integer) | Int2(value: integer) .
input relation simple(v: Simple) . input relation value(v: Value) .
simple(Int(3)) . simple(Text("a")) . value(Both(Int(3), 4)) . value(Both(Text("b"), 5)) . value(Int2(7)) .
"""


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_types_of_cases(data: st.DataObject) -> None:
    """A match is of a type if all its cases are, in heads, conditions and functions; one of another type is refused."""
    source = data.draw(st.sampled_from(["simple", "value"]))
    patterns = [pattern for pattern in CASES if pattern.startswith("Both") == (source == "value")]
    wanted = data.draw(st.sampled_from(["integer", "string"]))
    constant = {"integer": "0", "string": '"none"'}

    def case(pattern: str, type_: str) -> str:
        own, expressions = CASES[pattern]
        fitting = expressions if own == type_ else [constant[type_]]
        return f"{pattern} -> {data.draw(st.sampled_from(fitting)).replace('TWICE', 'twice')}"

    def program(types: list[str]) -> str:
        cases = " ; ".join([*map(case, patterns, types), f"_ -> {constant[wanted]}"])
        return (
            HEADER
            + VARIANTS
            + data.draw(
                st.sampled_from(
                    [
                        f"relation h(v: {wanted}) . h(match ?s {{ {cases} }}) :- {source}(?s) .",
                        f"relation h(v: {wanted}) . h(?r) :- {source}(?s), ?r = match ?s {{ {cases} }} .",
                        f"function f(?s: any): any = 1 . function g(?s: {'Value' if source == 'value' else 'Simple'}): {wanted} ="
                        f" match ?s {{ {cases} }} . h(g(?s)) :- {source}(?s) .",
                    ]
                )
            )
        )

    assert list(Reasoner(program([wanted] * len(patterns))).facts("h"))
    other = "string" if wanted == "integer" else "integer"
    types = data.draw(st.permutations([other, *[wanted] * (len(patterns) - 1)]))
    with pytest.raises(RuleTypeError):
        check(parse(program(types)))


OTHER_USES = {
    "integer": "UCASE(?v) = ?v",
    "decimal": "STRLEN(?v) > 1",
    "string": "?v * 2 > 1",
    "boolean": "s(?v)",
    "iri": "?v < 3",
    "list<integer>": "i(?v)",
    "Shape": "SIZE(APPEND(?v, 1)) > twice(?v)",
}
"""What no value of the type can be used for."""


@settings(max_examples=examples(100), deadline=None)
@given(st.sampled_from(TYPES), st.integers(0, 3), st.booleans(), st.randoms())
def test_types_of_undeclared_relations_follow_rules(type_: str, steps: int, is_recursive: bool, random: object) -> None:
    name = next(name for name, of in COLUMNS.items() if of == type_)
    rules = passed_on(name, steps)
    if is_recursive:
        rules += ["step0(?v) :- passed(?v) .", "passed(?v) :- step0(?v), NOT never(?v) ."]
    right = f"relation kept(v: {type_}) . kept(?v) :- passed(?v) ."
    random.shuffle(rules)  # type: ignore[attr-defined]
    reasoner = Reasoner(HEADER + "\n".join([*rules, right]))
    assert len(list(reasoner.facts("kept"))) == len(VALUES[type_])
    with pytest.raises(RuleTypeError) as caught:
        check(parse(HEADER + "\n".join([*rules, f"wrong() :- passed(?v), {OTHER_USES[type_]} ."])))
    assert "in the rule for wrong, " in caught.value.message
    assert "the rule for passed derives argument 1 of passed" in caught.value.message
    for other in TYPES:
        declared = f"relation kept(v: {other}) . kept(?v) :- passed(?v) ."
        if other == type_:
            continue
        with pytest.raises(RuleTypeError):
            check(parse(HEADER + "\n".join([*rules, declared])))


def test_several_rules_give_several_types() -> None:
    rules = [*passed_on("i", 1), *passed_on("s", 1)]
    check(parse(HEADER + "\n".join([*rules, "p() :- passed(?v), ?v + 1 > 2 . q() :- passed(?v), STRLEN(?v) > 1 ."])))
    with pytest.raises(RuleTypeError, match="an integer or string, as the rule for passed derives"):
        check(parse(HEADER + "\n".join([*rules, "p() :- passed(?v), d(?v) ."])))


def test_data_may_be_of_any_type() -> None:
    reasoner = Reasoner(HEADER + "h(?v) :- given(?v), STRLEN(?v) > 0 . given(1) .")
    reasoner.add_facts("given", [(literal("a"),)])
    assert list(reasoner.facts("h")) == [(literal("a"),)]


def test_records_have_the_type_of_their_constructor() -> None:
    check(parse(HEADER + "made(Dot()) :- i(?x) . round(?r) :- made(Circle(?r)) . o(Some(?x)) :- i(?x) . n() :- o(None()) ."))


@pytest.mark.parametrize(
    "text",
    [
        "?s + 1 > 0",
        "STRLEN(?i) > 0",
        "?i = ?s",
        "?x < 3",
        "SIZE(?s) = 1",
        "twice(?d) > 1",
        "?l = ?i",
        "YEAR(?i) = 2000",
        "?c * 2 > 1",
    ],
)
def test_operations_on_other_types_are_refused(text: str) -> None:
    with pytest.raises(RuleTypeError):
        check(parse(f"{HEADER} h() :- {BINDER}, {text} ."))


@pytest.mark.parametrize("text", ["?i = ?d", "?i < ?d", "COALESCE(?s + 1, ?i) = 1", "?x != ?i", "SAMETERM(?x, ?x)", "?any + 1 = 2"])
def test_what_may_be_true_is_not_refused(text: str) -> None:
    check(parse(f"{HEADER} h() :- {BINDER}, other(?any), {text} ."))


def test_what_is_not_known_is_checked_when_it_is_derived() -> None:
    reasoner = Reasoner("relation h(v: integer) . h(?x) :- other(?x) . other(1) .")
    assert len(list(reasoner.facts("h"))) == 1
    reasoner.add_program('other("a") .')
    with pytest.raises(ColumnTypeError, match='"a" is not an integer'):
        list(reasoner.facts("h"))


def test_every_type_is_enforced() -> None:
    for type_ in (*(name for name in COLUMN_TYPES if name not in ("any", "term")), "signed<8>", "list<iri>", "Shape"):
        reasoner = Reasoner(f"type Shape = Dot() | Circle(r: integer) . input relation r(v: {type_}) .")
        (row,) = parse('r("x"@en) .').rules[0].head.terms
        with pytest.raises(ColumnTypeError):
            reasoner.add_facts("r", [(row,)])
        with reasoner.transaction() as transaction, pytest.raises(ColumnTypeError):
            transaction.add_facts("r", [(row,)])
        assert list(reasoner.facts("r")) == []


SCOPES = """
type Shape = Circle(r: integer) | Box(name: string) .
relation shape(of: integer, shape: Shape) .
shape(1, Circle(2)) . shape(1, Box("b")) .
"""


def test_variables_of_an_aggregate_have_constructors_of_their_own() -> None:
    """Outside of the aggregate ?s is a circle, and inside another ?s is a box."""
    reasoner = Reasoner(
        SCOPES
        + """p(?x, ?r + 1, ?n) :- shape(?x, ?s), IS_RECORD(?s, "Circle"), ?r = ELEMENT(?s, 0), AGGREGATE(
            shape(?x, ?s), IS_RECORD(?s, "Box"), STRLEN(ELEMENT(?s, 0)) > 0 ON ?x BIND MAX(STRLEN(ELEMENT(?s, 0))) AS ?n) ."""
    )
    assert list(reasoner.facts("p")) == [(literal(1), literal(3), literal(1))]


@pytest.mark.parametrize("place", ['"abc"^^xsd:integer', '"0x1"^^xsd:integer', "-1", "1.0"])
def test_places_of_members_that_are_none(place: str) -> None:
    reasoner = Reasoner(f"relation p(x: tuple<integer, string>) . p(TUPLE(1, 'a')) . q(?y) :- p(?x), ?y = ELEMENT(?x, {place}) .")
    assert not list(reasoner.facts("q"))


def test_lists_of_pairs_are_no_maps() -> None:
    """GET is an error there, and has no type."""
    reasoner = Reasoner(
        'relation p(x: list<tuple<integer, string>>) . p(LIST(TUPLE(1, "a"))) . q(?z + 1) :- p(?x), ?z = GET(?x, 0) .'
    )
    assert not list(reasoner.facts("q"))


@pytest.mark.parametrize(
    "text",
    [
        "type A = list<A> . type B = list<B> . relation a(x: A) . relation b(x: B) . b(?x) :- a(?x) .",
        "relation a(x: list<any>) . relation b(x: list<integer>) . b(?x) :- a(?x) .",
        "relation a(x: list<signed<8>>) . relation b(x: list<integer>) . b(?x) :- a(?x) .",
        "type I = list<integer> . relation a(x: I) . relation b(x: list<integer>) . b(?x) :- a(?x) .",
        "relation a(x: integer) . relation b(x: list<integer>) . b(?l) :- AGGREGATE(a(?x) BIND LIST(?x + 1) AS ?l) .",
        "relation a(x: list<integer>) . relation b(x: list<integer>) . b(SORT(APPEND(?x, 3))) :- a(?x) . b(LIST()) :- a(_) .",
    ],
)
def test_collections_that_may_be_of_the_type_are_not_refused(text: str) -> None:
    check(parse(text))


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_whole_collections_of_other_members_are_refused(data: st.DataObject) -> None:
    """A collection is handed on, as it is or by way of an aggregate, to a column of collections of another type."""
    one, other = data.draw(st.permutations(TYPES))[:2]
    makers = data.draw(
        st.lists(st.sampled_from([maker for maker in MAKERS if maker != "tuple<{}, boolean>"]), min_size=1, max_size=3)
    )
    types = []
    for type_ in (one, other):
        for maker in makers:
            type_ = maker.format(type_)
        types.append(type_)
    body, value = data.draw(
        st.sampled_from([("whole(?v)", "?v"), ("AGGREGATE(whole(?v) BIND SAMPLE(?v) AS ?w)", "?w"), ("whole(?v), ?v = ?w", "?w")])
    )
    rules = f"relation whole(v: {types[0]}) . relation next(v: {{}}) . next({value}) :- {body} ."
    check(parse(HEADER + rules.format(types[0])))
    with pytest.raises(RuleTypeError):
        check(parse(HEADER + rules.format(types[1])))


OPERANDS = """
    1 "1"^^xsd:byte 1.5 1e0 "1"^^xsd:float "2024-01-01"^^xsd:date "2024-01-01T12:00:00Z"^^xsd:dateTime "12:00:00"^^xsd:time
    "P1Y"^^xsd:yearMonthDuration "PT2H"^^xsd:dayTimeDuration "P1Y1D"^^xsd:duration "a" true
"""


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_operators_have_results_of_their_types(operator: str) -> None:
    """Each result is of a known kind, and of each kind there is a result."""
    wanted, _ = OPERANDS_OF[operator]
    found: dict[tuple[str, str], set[str]] = {}
    terms = list(map(expression, OPERANDS.split()))
    for a, b in product(terms, terms):
        assert isinstance(a, Literal) and isinstance(b, Literal)
        kinds, result = (kind_of(a), kind_of(b)), compile_expression(Call(operator, (a, b)), [])(())
        possible = result_kinds(operator, frozenset([kinds[0]]), frozenset([kinds[1]]))
        found.setdefault(kinds, set())
        if result is not None:
            found[kinds].add(kind_of(result))
            assert kind_of(result) in possible & result_kinds(operator, None, None)
            assert set(kinds) <= wanted
    for (one, other), results in found.items():
        possible = result_kinds(operator, frozenset([one]), frozenset([other]))
        assert bool(results) == bool(possible) and results >= possible - {"integer", "decimal", "float", "double"}
