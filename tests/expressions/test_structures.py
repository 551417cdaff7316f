"""Lists, sets, maps, tuples and records as literals, and the functions that only rules have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import ColumnTypeError, UnsupportedError, ValueTooLargeError
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.expressions.functions import conversions, floats, integers, structure_functions
from kg_reasoner.expressions.structures import KINDS, NAMESPACE, Structure, decode, encode, is_structure
from kg_reasoner.expressions.types import Types, kind_of
from kg_reasoner.expressions.values import compare, equal
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_term
from kg_reasoner.program import Atom, Bind, Call, TypeDefinition
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, literal, term_from_text, term_text

LEAVES: st.SearchStrategy[Term] = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(Literal),
    st.integers().map(literal),
    st.sampled_from([IRI("http://example.org/a"), BlankNode("b"), Literal("a b", RDF.langString.value, "en"), literal(1.5)]),
    st.builds(Literal, st.text(max_size=3, alphabet='a :1"\\'), st.just(XSD.date.value)),
)
NESTED: st.SearchStrategy[Term] = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda kind, members, name: encode(kind, members[: len(members) // 2 * 2] if kind == "map" else members, name),
        st.sampled_from(KINDS),
        st.lists(inner, max_size=4),
        st.sampled_from(["Ok", "Error"]),
    ),
    max_leaves=10,
)


@given(NESTED)
def test_what_is_encoded_is_decoded(term: Term) -> None:
    found = decode(term)
    assert (found is not None) is is_structure(term)
    if found is not None:
        assert encode(found.kind, found.members, found.constructor) == term
    assert term_from_text(term_text(term)) == term
    assert parse(f"p({format_term(term)}) .").rules[0].head.terms == (term,)


@given(st.lists(NESTED, max_size=5), st.randoms())
def test_sets_and_maps_have_no_order(members: list[Term], random: object) -> None:
    shuffled = list(members)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert encode("set", members) == encode("set", [*shuffled, *members])
    pairs = dict.fromkeys(members, literal(1))
    assert encode("map", [part for pair in pairs.items() for part in pair]) == encode(
        "map", [part for member in shuffled for part in (member, literal(1))]
    )


@given(NESTED, NESTED)
def test_structures_are_equal_if_they_are_the_same(one: Term, other: Term) -> None:
    if is_structure(one) and is_structure(other):
        assert equal(one, other) is (one == other)
        assert compare(one, other) is None
    elif is_structure(one) != is_structure(other):
        assert not equal(one, other)


def test_nesting_adds_a_bounded_number_of_characters() -> None:
    term: Literal = literal('"')
    for _ in range(50):
        term = encode("list", [term])
    assert len(term_text(term)) < 400


@pytest.mark.parametrize(
    ("kind", "lexical"),
    [
        ("list", "x"),
        ("list", "3:n1"),
        ("list", "2:q1"),
        ("list", "02:n1"),
        ("set", "2:n22:n1"),
        ("map", "2:n1"),
        ("list", "9" * 20),
    ],
)
def test_other_lexical_forms_are_not_structures(kind: str, lexical: str) -> None:
    assert decode(Literal(lexical, NAMESPACE + kind)) is None


ROWS = """
    -7 % 3                                    | -1
    7 % -3                                    | 1
    7.5 % 2                                   | 1.5
    7e0 % 2                                   | 1.0E0
    7 % 0                                     | error
    7e0 % 0                                   | NAN
    1E400 % 2                                 | NAN
    7 % -1E400                                | 7.0E0
    "7.5"^^xsd:float % 2                      | "1.5E0"^^xsd:float
    123456789012345678901234567890.5 % 7      | 0.5
    123456789012345678901234567891 % 0.7      | 0.3
    7.5 % 0.0                                 | error
    IDIV(7, 5e-324)                           | error
    IDIV(1e0, 0)                              | error
    IDIV(-7, 2)                               | -3
    IDIV(7.5, 2)                              | 3
    IDIV(7e0, 2)                              | 3
    IDIV(1, 0)                                | error
    POW(2, 100)                               | 1267650600228229401496703205376
    POW(2, -1)                                | error
    POW(1.5, 2)                               | 2.25
    POW(1.0, 20000)                           | "1"^^xsd:decimal
    POW(-1.0, 20001)                          | "-1"^^xsd:decimal
    POW(0.0, 0)                               | "1"^^xsd:decimal
    POW(2e0, 0.5)                             | 1.4142135623730951E0
    BAND(12, 10)                              | 8
    BAND(12, 1.5)                             | error
    BOR(12, 10)                               | 14
    BXOR(12, 10)                              | 6
    BNOT(5)                                   | -6
    SHL(1, 70)                                | 1180591620717411303424
    SHL(1, -1)                                | error
    SHR(-5, 1)                                | -3
    SHR(5, 1000000)                           | 0
    SHR(SHL(1, 3321), 1000000)                | 0
    LEAST(3, 1.5, 2)                          | 1.5
    LEAST(3, "a")                             | error
    GREATEST("a", "b")                        | "b"
    LIST(1, "a")                              | LIST(1, "a")
    SET(2, 1, 2)                              | SET(1, 2)
    MAP("a", 1, "a", 2)                       | MAP("a", 2)
    MAP(?y)                                   | error
    TUPLE()                                   | TUPLE()
    RECORD("Ok", 1)                           | RECORD("Ok", 1)
    IS_RECORD(RECORD("Ok"), "Ok")             | true
    IS_RECORD(1, "Ok")                        | false
    SIZE(MAP("a", 1))                         | 1
    SIZE("a")                                 | error
    ELEMENT(LIST(1, 2), 1)                    | 2
    ELEMENT(LIST(1, 2), 2)                    | error
    ELEMENT(LIST(1, 2), -1)                   | error
    ELEMENT(MAP("a", 1), 0)                   | TUPLE("a", 1)
    GET(MAP("a", 1), "a")                     | 1
    GET(MAP("a", 1), "b")                     | error
    GET(LIST(1), 0)                           | error
    HAS(LIST(1), 1)                           | true
    HAS(MAP("a", 1), 1)                       | false
    KEYS(MAP("a", 1))                         | LIST("a")
    VALUES(MAP("a", 1))                       | LIST(1)
    KEYS(LIST())                              | error
    AS_LIST(SET(2, 1))                        | LIST(1, 2)
    AS_SET(LIST(2, 1, 2))                     | SET(1, 2)
    AS_SET(MAP())                             | error
    APPEND(LIST(1), 2, 2)                     | LIST(1, 2, 2)
    APPEND(SET(1), 1)                         | SET(1)
    APPEND(MAP(), 1)                          | error
    UNION(SET(1), SET(2))                     | SET(1, 2)
    UNION(MAP("a", 1), MAP("a", 2))           | MAP("a", 2)
    UNION(SET(1), LIST(2))                    | error
    WITHOUT(LIST(1, 2, 1), LIST(1))           | LIST(2)
    WITHOUT(MAP(), LIST(1))                   | error
    SPLIT("a,b", ",")                         | LIST("a", "b")
    SPLIT("ab", "")                           | LIST("a", "b")
    JOIN(LIST(1, "a", xsd:int), " ")          | "1 a <http://www.w3.org/2001/XMLSchema#int>"
    JOIN(MAP(), " ")                          | error
    RANGE(1, 4)                               | LIST(1, 2, 3)
    RANGE(4, 1)                               | LIST()
    RANGE(1, 1.5)                             | error
    RANGE(0, 10000000)                        | error
    RANGE(0, 1000000000000000000000000000000) | error
    RANGE(5, 0, -2)                           | LIST(5, 3, 1)
    RANGE(5, 9, 0)                            | LIST()
    INTERSECTION(SET(1, 2), LIST(2, 3))       | SET(2)
    INTERSECTION(MAP(), LIST())               | error
    PUT(LIST(1, 2), 1, "a")                   | LIST(1, "a")
    PUT(LIST(1, 2), 2, "a")                   | error
    PUT(MAP("a", 1), "a", 2)                  | MAP("a", 2)
    PUT(SET(1), 0, 2)                         | error
    SLICE(LIST(1, 2, 3), 1, 9)                | LIST(2, 3)
    SLICE(LIST(1, 2, 3), 1)                   | LIST(2, 3)
    SLICE(LIST(1, 2, 3), -1)                  | error
    SORT(LIST("b", 10, 9, "a"))               | LIST(9, 10, "a", "b")
    SORT(MAP("b", 1, "a", 2))                 | LIST("a", "b")
    REVERSE(LIST(1, 2))                       | LIST(2, 1)
    REVERSE(SET(1, 2))                        | error
    ZIP(LIST(1, 2), LIST("a"))                | LIST(TUPLE(1, "a"))
    ZIP(LIST(1), SET(1))                      | error
    AS_MAP(LIST(TUPLE("a", 1), TUPLE("a", 2))) | MAP("a", 2)
    AS_MAP(MAP("a", 1))                       | MAP("a", 1)
    AS_MAP(LIST(1))                           | error
    SQRT(16)                                  | 4.0E0
    SQRT(-1)                                  | NAN
    SQRT(xsd:float("2"))                      | "1.4142135E0"^^xsd:float
    SQRT("4")                                 | error
    EXP(0)                                    | 1.0E0
    EXP(1000)                                 | INFINITE
    LN(1)                                     | 0.0E0
    LN(0)                                     | -INFINITE
    LN(-1)                                    | NAN
    LOG2(8)                                   | 3.0E0
    LOG10(1000)                               | 3.0E0
    SIN(0)                                    | 0.0E0
    COS(0)                                    | 1.0E0
    TAN(0)                                    | 0.0E0
    ASIN(2)                                   | NAN
    ACOS(1)                                   | 0.0E0
    ATAN(0)                                   | 0.0E0
    ATAN2(0, 1)                               | 0.0E0
    SINH(-1000)                               | -INFINITE
    COSH(-1000)                               | INFINITE
    TANH(0)                                   | 0.0E0
    FLOOR(PI())                               | 3.0E0
    TRUNC(-2.7)                               | "-2"^^xsd:decimal
    TRUNC(-2.7e0)                             | -2.0E0
    TRUNC(5)                                  | 5
    SIGN(-2.5)                                | "-1"^^xsd:decimal
    SIGN(0)                                   | 0
    SIGN(-3e0)                                | -1.0E0
    ISNAN(SQRT(-1))                           | true
    ISNAN(1)                                  | false
    ISFINITE(EXP(1000))                       | false
    POW(10e0, 400)                            | INFINITE
    POW(-10e0, 401)                           | -INFINITE
    POW(-1e0, 0.5)                            | NAN
    POW(0e0, -1)                              | INFINITE
    MATCHES("a111b22", "[0-9]+")              | LIST("111", "22")
    MATCHES("Ab, aB"@en, "b.?", "i")          | LIST("b,"@en, "B"@en)
    MATCHES("abc", "x")                       | LIST()
    MATCHES("abc", STR("["))                  | error
    MATCHES("abc", STR("x*"))                 | error
    TRIM(" a b ")                             | "a b"
    TRIM(" a"@en)                             | "a"@en
    CODEPOINTS("aé")                          | LIST(97, 233)
    FROM_CODEPOINTS(LIST(97, 233))            | "aé"
    FROM_CODEPOINTS(LIST(55296))              | error
    FROM_CODEPOINTS(SET(97))                  | error
    FROM_BASE("ff", 16)                       | 255
    FROM_BASE("-101", 2)                      | -5
    FROM_BASE("12", 2)                        | error
    FROM_BASE("", 10)                         | error
    FROM_BASE("1", 37)                        | error
    TO_BASE(255, 16)                          | "ff"
    TO_BASE(-5, 2)                            | "-101"
    TO_BASE(0, 7)                             | "0"
    TO_BASE(1.5, 10)                          | error
    0xFF                                      | 255
    -0x10                                     | -16
    0b101                                     | 5
"""
PAIRS = [tuple(part.strip() for part in row.split("|")) for row in filter(None, map(str.strip, ROWS.splitlines()))]


NUMBERS = {"NAN": "NaN", "INFINITE": "INF", "-INFINITE": "-INF"}


@pytest.mark.parametrize(("text", "expected"), PAIRS)
def test_functions(text: str, expected: str) -> None:
    (rule,) = parse(f"p(?x) :- q(?y), BIND(COALESCE({text}, ?y) AS ?x) .").rules
    bind = rule.body[1]
    assert isinstance(bind, Bind)
    value = compile_expression(bind.expression, [next(iter(rule.body[0].terms))])([IRI("urn:error")])  # type: ignore[union-attr,list-item]
    assert value is not None
    named = {"error": "<urn:error>", **{name: f'"{text}"^^xsd:double' for name, text in NUMBERS.items()}}
    assert format_term(value) == named.get(expected, expected)


def test_every_function_is_tried() -> None:
    tried = " ".join(text for text, _ in PAIRS)
    assert [
        name
        for name in {**integers.FUNCTIONS, **structure_functions.FUNCTIONS, **floats.FUNCTIONS, **conversions.FUNCTIONS}
        if name not in tried
    ] == []


@pytest.mark.parametrize("call", [Call("POW", (literal(10), literal(5000))), Call("SHL", (literal(1), literal(10**6)))])
def test_results_that_are_too_large(call: Call) -> None:
    with pytest.raises(ValueTooLargeError):
        compile_expression(call, ())(())


@given(st.integers(-50, 50), st.integers(-50, 50).filter(bool))
def test_quotient_and_remainder_fit(a: int, b: int) -> None:
    def number(name: str) -> int:
        value = compile_expression(Call(name, (literal(a), literal(b))), ())(())
        assert isinstance(value, Literal)
        return int(value.lexical)

    assert number("IDIV") * b + number("%") == a
    assert abs(number("%")) < abs(b)


TYPES = Types([TypeDefinition("Small", values=(literal("a"),)), TypeDefinition("Ids", alias="list<unsigned<8>>")])


@pytest.mark.parametrize(
    ("type_", "fitting", "others"),
    [
        ("term", ["1", "<urn:a>"], []),
        ("unsigned<9>", ["0", "511"], ["512", "-1"]),
        ("signed<8>", ["-128", "127", "007"], ["128", "-129", "1.0", '"1"', '"x"^^xsd:integer']),
        ("unsigned<16>", ["0", "65535"], ["-1", "65536"]),
        ("date", ['"2026-01-01"^^xsd:date'], ['"2026-13-01"^^xsd:date', '"2026-01-01"']),
        ("float", ['"1.5"^^xsd:float'], ["1.5", "1e0"]),
        ("list<integer>", ["LIST()", "LIST(1, 2)"], ["LIST(1.5)", "SET(1)", "1"]),
        ("map<string, list<integer>>", ['MAP("a", LIST(1))'], ["MAP(1, LIST(1))", 'MAP("a", 1)']),
        ("tuple<integer, string>", ['TUPLE(1, "a")'], ["TUPLE(1)", 'TUPLE("a", 1)', 'TUPLE(1, "a", 2)']),
        ("optional<iri>", ['RECORD("Some", <urn:a>)', 'RECORD("None")'], ['RECORD("Some", 1)', '"a"', 'RECORD("Other")']),
        ("Small", ['"a"'], ['"b"']),
        ("Ids", ["LIST(255)"], ["LIST(256)"]),
    ],
)
def test_types(type_: str, fitting: list[str], others: list[str]) -> None:
    type_of = TYPES.type_of(type_)
    for text, is_of in (*((text, True) for text in fitting), *((text, False) for text in others)):
        (term,) = parse(f"p({text}) .").rules[0].head.terms
        assert type_of.accepts(term) is is_of, text  # type: ignore[arg-type]
        if is_of and type_of.kinds is not None:
            assert kind_of(term) in type_of.kinds  # type: ignore[arg-type]


def nested(depth: int) -> Term:
    value: Term = encode("record", (), "Nil")
    for number in range(depth):
        value = encode("record", (literal(number), value), "Cons")
    return value


@pytest.mark.long
def test_values_are_nested_deeper_than_calls() -> None:
    reasoner = Reasoner("""
        type Chain = Nil() | Cons(head: integer, tail: Chain) .
        input relation given(chain: Chain) .
        rest(?t) :- given(?c), ?c = Cons(_, ?t) .
        rest(?t) :- rest(?c), ?c = Cons(_, ?t) .
        relation made(chain: Chain, size: integer) .
        made(Nil(), 0) .
        made(Cons(?n, ?c), ?n + 1) :- made(?c, ?n), ?n < 500 .
    """)
    reasoner.add_facts("given", [(nested(1500),)])
    assert (len(reasoner.facts("rest")), len(reasoner.facts("made"))) == (1500, 501)
    assert str(reasoner.explain(Atom("rest", (nested(1400),)))).count("Cons") > 1400
    with pytest.raises(ColumnTypeError, match='"wrong"'):
        reasoner.add_facts("given", [(encode("record", [Literal("wrong"), nested(2)], "Cons"),)])


def test_what_is_nested_too_deep_for_python_is_an_error() -> None:
    reasoner = Reasoner()
    reasoner.function("length", "list<any>", returns="integer")(len)
    reasoner.add_program("sized(length(?x)) :- given(?x) .")
    value: Term = literal(1)
    for _ in range(1500):
        value = encode("list", [value])
    with reasoner.transaction():
        reasoner.add_facts("given", [(encode("list", ()),)])
    assert len(reasoner.facts("sized")) == 1
    reasoner.add_facts("given", [(value,)])
    with pytest.raises(ValueTooLargeError, match="nested too deep to be a value in Python"):
        reasoner.materialise()
    reasoner.remove_facts("given", [(value,)])
    assert len(reasoner.facts("sized")) == 1


def test_types_nested_too_deep_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="a type is nested more than 200 deep"):
        Reasoner(f"relation a(x: {'list<' * 300}integer{'>' * 300}) .")


def test_a_structure_says_what_it_is() -> None:
    assert decode(encode("record", [literal(1)], "Ok")) == Structure("record", (literal(1),), "Ok")
