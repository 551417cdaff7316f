"""The rule language: what it accepts and how it is printed, what it refuses and what it says then (fixtures in tests/language)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import program as program_classes
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import LoadError, RuleSyntaxError, SourceError, UnsupportedError
from kg_reasoner.expressions.aggregate_functions import NAMES as AGGREGATES
from kg_reasoner.expressions.compile import CASTS, NAMES
from kg_reasoner.language.checks.analysis import check
from kg_reasoner.language.parser import PREFIXES, parse, parse_file
from kg_reasoner.language.printer import format_program, format_rule, format_term
from kg_reasoner.program import (
    AUXILIARY,
    COLUMN_TYPES,
    FALSE,
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Column,
    Declaration,
    Expression,
    Filter,
    Negation,
    Origin,
    Program,
    Rule,
    Variable,
    triple,
)
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, is_iri, literal
from tests.helpers.fixtures import blocks
from tests.helpers.oracle import Facts, evaluate

FIXTURES = Path(__file__).parent


def pairs(name: str) -> Sequence[object]:
    """The fixtures of a file: (text, expected) after each heading, with ``=>`` between them."""
    found = []
    for title, content in blocks(FIXTURES / f"{name}.txt"):
        text, _, expected = content.partition("\n=>\n")
        found.append(pytest.param(text, expected.strip("\n"), id=title))
    return found


# --- fixtures


@pytest.mark.parametrize(("text", "printed"), pairs("accepted"))
def test_a_text_is_accepted_and_printed(text: str, printed: str) -> None:
    program = parse(text)
    assert format_program(program).rstrip("\n") == printed
    assert parse(printed) == program


@pytest.mark.parametrize(("text", "message"), pairs("syntax_errors"))
def test_a_syntax_error_says_where_what_and_why(text: str, message: str) -> None:
    with pytest.raises(RuleSyntaxError) as caught:
        parse(text, "rules.dl")
    assert str(caught.value) == message


@pytest.mark.parametrize(("text", "message"), pairs("wrong_rules"))
def test_a_wrong_rule_is_refused(text: str, message: str) -> None:
    program = parse(text, "rules.dl")
    with pytest.raises(SourceError) as caught:
        check(program)
    assert f"{type(caught.value).__name__}\n{caught.value}" == message


@pytest.mark.parametrize(("text", "message"), pairs("wrong_parts"))
def test_a_program_of_wrong_parts_is_refused(text: str, message: str) -> None:
    names = {**vars(program_classes), "p": Atom("p", (literal(1),)), "x": Variable("x")}
    with pytest.raises(RuleSyntaxError) as caught:
        Reasoner(eval(text, names))  # a text of ours
    assert str(caught.value) == message


@pytest.mark.parametrize(("text", "expected"), pairs("evaluated"))
def test_a_program_means_what_it_should(text: str, expected: str) -> None:
    """Said by the oracle and by the engine."""
    program = parse(text)
    derived = {rule.head.predicate for rule in program.rules if rule.body and not rule.head.predicate.startswith(AUXILIARY)}
    facts = {name: rows for name, rows in evaluate(program, {}).items() if name in derived}
    assert written(facts, program) == expected
    reasoner = Reasoner(program)
    found = {name: set(reasoner.facts(name)) for name in derived - {FALSE, TRIPLE}}
    found[TRIPLE] = set(reasoner.triples()) if TRIPLE in derived else set()
    found[FALSE] = {()} if reasoner.inconsistencies() else set()
    assert written(found, program) == expected


def test_a_range_that_nobody_can_enumerate() -> None:
    with pytest.raises(UnsupportedError, match=r"rules\.dl:1:10: the range has more integers than a relation can have"):
        parse("p(?n) :- ?n IN RANGE(0, 1000000000000000000000000000000) .", "rules.dl")


def written(facts: Facts, program: Program) -> str:
    prefixes = {**PREFIXES, **dict(program.prefixes)}
    return "\n".join(sorted(format_rule(Rule(Atom(name, row)), prefixes) for name, rows in facts.items() for row in rows))


# --- what fixtures cannot show


def test_a_program_is_data() -> None:
    program = parse("""
        @rule grow
        path(?x, ?z) :- path(?x, ?y), NOT edge(?y, _), FILTER(?x != "a") .
    """)
    x, y, z = Variable("x"), Variable("y"), Variable("z")
    negation = Negation(Atom("edge", (y, Variable("_1"))))
    body = (Atom("path", (x, y)), negation, Filter(Call("!=", (x, Literal("a")))))
    assert program == Program((Rule(Atom("path", (x, z)), body),))
    assert program.rules[0].origin.name == "grow"


def test_places_are_kept() -> None:
    rule = parse("p(?x) :-\n  q(?x),\n  FILTER(?y > 1) .", "f.dl").rules[0]
    spans = [rule.head.span, *(part.span for part in rule.body)]
    assert [(span.line, span.column, span.end_column) for span in spans if span] == [(1, 1, 6), (2, 3, 8), (3, 3, 17)]
    assert rule.origin.span is not None
    assert rule.origin.span.source == "f.dl"


def test_a_literal_keeps_its_form() -> None:
    (rule,) = parse('p(007, 1.50, 1E0, "x"@EN, true) .').rules
    assert rule.head.terms == (
        Literal("007", XSD.integer.value),
        Literal("1.50", XSD.decimal.value),
        Literal("1E0", XSD.double.value),
        Literal("x", RDF.langString.value, "en"),
        Literal("true", XSD.boolean.value),
    )


def test_line_ends_and_byte_order_marks_of_windows() -> None:
    assert parse("\ufeffp(1) .\r\n# comment\r\nq(2) .\r\n") == parse("p(1) . q(2) .")
    with pytest.raises(RuleSyntaxError) as caught:
        parse("p(1) .\r\nq(2 .\r\n")
    assert caught.value.span is not None
    assert caught.value.span.text == "q(2 ."


@pytest.mark.parametrize("half", ["\ud800", "\udfff"])
def test_half_of_a_surrogate_pair(half: str) -> None:
    for read, span in ((Reasoner, "<string>:2:5"), (Reasoner("p(1) .").answers, "<query>:2:5")):
        with pytest.raises(RuleSyntaxError, match="is half of a surrogate pair") as caught:
            read(f'p("a"),\np("b{half}")')
        assert str(caught.value).startswith(span)
        str(caught.value).encode()
    assert [*Reasoner("p(1) .").facts("p", arguments=[half])] == []


def test_every_function_aggregate_type_and_cast_is_known() -> None:
    for name in NAMES:
        assert parse(f"p(?x) :- q(?x), FILTER({name.lower()}(?x)) .").rules[0].body[1] == Filter(Call(name, (Variable("x"),)))
    for name in CASTS:
        assert parse(f"p(?x) :- q(?x), FILTER({name}(?x)) .").rules[0].body[1] == Filter(Call(name, (Variable("x"),)))
    for name in AGGREGATES:
        assert name in format_rule(parse(f"p(?n) :- AGGREGATE(q(?x) BIND {name}(?x) AS ?n) .").rules[0])
    for name in COLUMN_TYPES:
        assert parse(f"relation p(x: {name}) .").declarations[0].columns == (Column("x", name),)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "rules.dl"
    path.write_text('p("é") .', encoding="utf-8")
    assert parse_file(path) == parse_file(str(path)) == parse('p("é") .')
    path.write_text("p( .", encoding="utf-8")
    with pytest.raises(RuleSyntaxError, match=r"rules\.dl:1:4: unexpected `\.`"):
        parse_file(path)
    path.write_bytes(b'p("\xe9") .')
    with pytest.raises(LoadError, match=r"rules\.dl: it is not UTF-8 \(byte 3\)"):
        parse_file(path)
    with pytest.raises(LoadError, match="absent: No such file or directory"):
        parse_file(tmp_path / "absent")
    with pytest.raises(LoadError, match="cannot read the rule file"):
        parse_file(tmp_path)


def test_lark_is_imported_only_to_parse() -> None:
    code = (
        "import sys, kg_reasoner.language.parser, kg_reasoner.language.printer, kg_reasoner.rulesets; print('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_longest_prefix_is_used() -> None:
    prefixes = {"a": "http://example.org/", "b": "http://example.org/x/"}
    assert format_term(IRI("http://example.org/x/y"), prefixes) == "b:y"
    assert format_term(IRI("http://example.org/x/y/z"), prefixes) == "<http://example.org/x/y/z>"
    assert format_term(IRI("http://example.org/x"), prefixes) == "a:x"


# --- random programs there and back

names = st.from_regex(r"[a-z]\w{0,3}", fullmatch=True).filter(
    lambda name: name.lower() not in {"not", "filter", "bind", "aggregate", "false"}
)
variables = st.builds(Variable, st.from_regex(r"[a-z_][a-z0-9_]{0,3}", fullmatch=True).filter(lambda name: name != "_"))
iri_text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"], exclude_characters='<>"{}|^`\\'), max_size=8)
iris = st.builds(
    lambda base, rest: IRI(base + rest), st.sampled_from(["http://example.org/", "urn:x:", str(RDF), str(XSD)]), iri_text
).filter(lambda iri: is_iri(iri.value))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
literals = st.one_of(
    st.builds(Literal, texts),
    st.builds(lambda lexical, datatype: Literal(lexical, datatype.value), texts, iris),
    st.builds(lambda text, tag: Literal(text, RDF.langString.value, tag), texts, st.sampled_from(["en", "de-ch", "x-1a"])),
    st.builds(lambda number, name: Literal(number, XSD[name].value), st.from_regex(r"[+-]?[0-9.eE]{1,5}", fullmatch=True), names),
    st.builds(lambda n: Literal(str(n), XSD.integer.value), st.integers()),
    st.builds(lambda n: Literal(str(n), XSD.decimal.value), st.decimals(allow_nan=False, allow_infinity=False)),
    st.builds(lambda n: Literal(str(n), XSD.double.value), st.floats()),
)
blank_nodes = st.builds(BlankNode, st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,3}[A-Za-z0-9_-])?", fullmatch=True))
terms: st.SearchStrategy[Term] = st.one_of(iris, literals, blank_nodes)
arguments = st.one_of(variables, variables, terms)
predicates = st.one_of(names, st.builds(str, iris))
atoms = st.one_of(
    st.builds(lambda name, row: Atom(name, tuple(row)), predicates, st.lists(arguments, max_size=4)),
    st.builds(triple, arguments, st.one_of(arguments, st.just(RDF.type)), arguments),
)
OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "&&", "||"]


def calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(lambda name, a, b: Call(name, (a, b)), st.sampled_from(OPERATORS), inner, inner),
        st.builds(lambda name, a: Call(name, (a,)), st.sampled_from(["!", "neg"]), inner),
        st.builds(lambda name, a, rest: Call(name, (a, *rest)), st.sampled_from(["IN", "NOT IN"]), inner, some),
        st.builds(Call, st.sampled_from(["STRLEN", "COALESCE", str(XSD.integer)]), some),
    )


expressions: st.SearchStrategy[Expression] = st.recursive(arguments, calls, max_leaves=8)
simple: st.SearchStrategy[BodyLiteral] = st.one_of(
    atoms, st.builds(Negation, atoms), st.builds(Filter, expressions), st.builds(Bind, expressions, variables)
)
bindings = st.builds(AggregateBinding, st.sampled_from(AGGREGATES), st.one_of(st.none(), expressions), variables, st.booleans())
aggregates = st.builds(
    Aggregate,
    st.lists(simple, min_size=1, max_size=2).map(tuple),
    st.lists(variables, max_size=2).map(tuple),
    st.lists(bindings, min_size=1, max_size=2).map(tuple),
)
origins = st.builds(Origin, st.one_of(st.none(), st.from_regex(r"[a-z][a-z0-9]{0,3}(-[a-z0-9]{1,3})?(/[a-z]+)?", fullmatch=True)))
rules = st.builds(
    Rule, st.one_of(atoms, atoms, st.just(Atom(FALSE, ()))), st.lists(st.one_of(simple, aggregates), max_size=3).map(tuple), origins
)
declarations = st.builds(
    Declaration,
    predicates,
    st.lists(st.builds(Column, names, st.sampled_from(COLUMN_TYPES)), max_size=3, unique_by=lambda column: column.name).map(tuple),
    st.sampled_from(["input", "output", ""]),
)
namespaces = st.builds(lambda iri: iri.value, iris)
prefixes = st.dictionaries(st.from_regex(r"([a-z]([a-z0-9.-]?[a-z0-9])?)?", fullmatch=True), namespaces, max_size=2)
programs = st.builds(
    Program,
    st.lists(rules, max_size=3, unique=True).map(tuple),
    st.lists(declarations, max_size=2, unique=True).map(tuple),
    prefixes.map(lambda found: tuple(found.items())),
    st.sampled_from([None, "dlp"]),
)


@given(programs)
def test_what_is_printed_is_read_back(program: Program) -> None:
    again = parse(format_program(program))
    assert again == program
    assert [rule.origin.name for rule in again.rules] == [rule.origin.name for rule in program.rules]


@given(arguments)
def test_what_is_printed_of_a_term_is_read_back(term: Variable | Term) -> None:
    assert parse(f"p({format_term(term)}) .").rules[0].head.terms == (term,)


@given(
    st.lists(st.sampled_from([*"p(?x) :-,.[]\"'<>@#_1=!&|\n", "?x", "p(", ":-", "NOT ", "FILTER", "relation "]), max_size=30).map(
        "".join
    )
)
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        program = parse(text)
    except RuleSyntaxError as error:
        assert error.span is not None
        assert 1 <= error.span.line <= text.count("\n") + 1
        assert 1 <= error.span.column <= len(error.span.text) + 1
    else:
        assert parse(format_program(program)) == program


def test_the_predicate_of_triples_cannot_be_written() -> None:
    with pytest.raises(RuleSyntaxError):
        parse(f"{TRIPLE}(1, 2, 3) .")
