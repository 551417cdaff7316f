"""N3 documents: the fixtures of tests/loaders/n3, rules of ours written as N3 and read back, and broken documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.errors import LoadError, ReasonerError, SafetyError, UnsupportedError
from kg_reasoner.language.parser import PREFIXES, parse
from kg_reasoner.language.printer import format_term
from kg_reasoner.loaders.rdf.readers.n3 import read
from kg_reasoner.loaders.rules.n3_builtins import N3_BUILTINS, NAMESPACES
from kg_reasoner.program import TRIPLE, Atom, Bind, Call, Filter, Program, Rule, Variable, triple
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.fixtures import blocks
from tests.helpers.oracle import evaluate
from tests.rulesets.test_rulesets import facts_in

FIXTURES = Path(__file__).with_name("n3")
NAMES = ("math", "string", "log", "list", "time", "crypto")
N3_PREFIXES = "".join(f"@prefix {name}: <{NAMESPACES[name]}> . " for name in NAMES) + "@prefix : <http://example.org/> .\n"
EX = "http://example.org/"

# --------------------------------------------------------------------------------------------------------------------- fixtures


@dataclass
class Case:
    """One fixture: the texts of its sections by their headings (see tests/loaders/n3/rules.txt)."""

    title: str
    sections: dict[str, str] = field(default_factory=lambda: {"document": ""})

    @property
    def document(self) -> bytes:
        return f"{N3_PREFIXES}{self.sections['document']}".encode()


def cases(*needed: str) -> list[object]:
    """The fixtures that have one of these sections."""
    found = []
    for title, text in blocks(FIXTURES / "rules.txt"):
        case = Case(title)
        heading = "document"
        for line in text.splitlines(keepends=True):
            if line.startswith("=> "):
                heading = line[3:].strip()
                case.sections[heading] = ""
            else:
                case.sections[heading] += line
        if case.sections.keys() & set(needed):
            found.append(pytest.param(case, id=title))
    return found


def rules_in(text: str) -> set[Rule]:
    return set(parse(f"@prefix : <{EX}> . {text}").rules)


@pytest.mark.parametrize("case", cases("rules", "triples"))
def test_a_document_has_these_rules_and_triples(case: Case) -> None:
    found = read(case.document)
    assert set(found.program.rules) == rules_in(case.sections.get("rules", ""))
    if "triples" in case.sections:
        assert set(found.triples) == facts_in(case.sections["triples"])
    assert found.refused == ()


@pytest.mark.parametrize("case", cases("follows", "follows not"))
def test_and_this_follows(case: Case) -> None:
    found = read(case.document)
    model = evaluate(found.program, {TRIPLE: set(found.triples)})
    assert facts_in(case.sections["follows"]) <= model[TRIPLE]
    assert not facts_in(case.sections.get("follows not", "")) & model[TRIPLE]


@pytest.mark.parametrize("case", cases("refused"))
def test_what_rules_cannot_say_is_refused_with_its_place(case: Case) -> None:
    line, _, message = case.sections["refused"].strip().partition(": ")
    with pytest.raises(UnsupportedError) as caught:
        read(case.document)
    assert caught.value.message.startswith(message)
    assert caught.value.span is not None
    assert caught.value.span.line == int(line) + N3_PREFIXES.count("\n")


@pytest.mark.parametrize("case", cases("refused"))
def test_or_skipped_if_that_is_asked_for(case: Case) -> None:
    document = case.document + b"{ ?x a :Kept } => { ?x a :Still } . "
    found = read(document, skip_refused=True)
    assert rules_in(":Still[?x] :- :Kept[?x] .") <= set(found.program.rules)
    assert len(found.refused) == 1


def test_a_rule_is_skipped_with_all_of_its_conclusions() -> None:
    document = f"{N3_PREFIXES} {{ ?x a :A }} => {{ ?x a :B . ?x :p [] }} .".encode()
    assert read(document, skip_refused=True).program.rules == ()


def test_every_builtin_has_a_fixture() -> None:
    text = (FIXTURES / "rules.txt").read_text(encoding="utf-8")
    assert [name for name in N3_BUILTINS if name not in text and not name.startswith(("math:", "crypto:"))] == []


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        ("1 math:lessThan 2.0", True),
        ("2 math:lessThan 2.0", False),
        ("2 math:notLessThan 2.0", True),
        ("2 math:notGreaterThan 1", False),
        ("2 math:equalTo 2.0", True),
        ("2 math:notEqualTo 2.0", False),
        ('"a" math:lessThan 2', False),
        ('"b" string:lessThan "a"', False),
        ("2 log:equalTo 2.0", False),
        ("2 log:notEqualTo 2.0", True),
        ("(1 2) math:sum 3", True),
        ("(1 0) math:quotient 3", False),
        ('"" crypto:sha "da39a3ee5e6b4b0d3255bfef95601890afd80709"', True),
        ('"" crypto:sha256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"', True),
        ('"" crypto:sha512 "e3"', False),
    ],
)
def test_builtins_as_conditions(statement: str, holds: bool) -> None:
    found = read(f"{N3_PREFIXES}{{ {statement} }} => {{ :it :holds true }} .".encode())
    assert (len(evaluate(found.program, {TRIPLE: set()})[TRIPLE]) == 1) == holds


# -------------------------------------------------------------------------------------------------------------------- documents


@pytest.mark.parametrize(
    ("document", "line", "message"),
    [
        (b"@prefix : <http://x/> .\n{ :a :b :c ", 2, "EOF found after object"),
        (b"@prefix : <http://x/> .\n{ :a :b :c .\n\n", 4, "needed '}', found end"),
        (b"@prefix : <http://x/> .\n{ :a :b :c } => { :d\n:e } .", 3, "objectList expected"),
        (b"{ a:b a:c a:d } => {} .", 1, 'Prefix "a:" not bound'),
        (b"@prefix : <http://x/> .\n{} => { :a :b <c> } .", 2, "the IRI 'c' is relative"),
        (b"@prefix : <http://x/> .\n{} =>\n{ :a :b <http://x/ y> } .", 3, "'http://x/ y' is not a valid IRI"),
        (b"@prefix : <http://x/> .\n{} => { :a :b {$ 1 $} } .", 2, "sets {$ ... $} are not supported"),
        (b'@prefix : <http://x/> . {} => { :a :b "c', 1, "not N3"),
        (b"@prefix : <http://x/> . {} => " + b"{ :a :b " * 3000, 1, "not N3"),
    ],
)
def test_errors_have_a_place(document: bytes, line: int, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        read(document)
    assert message in caught.value.message
    assert caught.value.span is not None
    assert (caught.value.span.source, caught.value.span.line) == ("<bytes>", line)


def test_what_is_not_text_is_refused() -> None:
    with pytest.raises(LoadError, match="line 2: the byte 0xff is not UTF-8"):
        read(b"{} => {} .\n# \xff")
    with pytest.raises(LoadError, match="cannot be read"):
        read(5)


def test_relative_iris_have_the_base_of_the_document_or_the_given_one() -> None:
    rule = b"{ ?x a <#A> } => { ?x a <b> } ."
    expected = {Rule(_typed("http://x/y/b"), (_typed("http://x/y/z#A"),))}
    assert set(read(rule, "http://x/y/z").program.rules) == expected
    assert set(read(b"@base <http://x/y/z> . " + rule, "http://other/").program.rules) == expected


def _typed(cls: str) -> Atom:
    return triple(Variable("x"), IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), IRI(cls))


def test_an_rdf_loader_without_a_place_for_rules_refuses_them() -> None:
    from kg_reasoner.loaders.rdf.readers import reader as rdf
    from kg_reasoner.storage.terms.dictionary import Dictionary

    with pytest.raises(LoadError, match="the document contains a rule, and only triples can be read here"):
        list(rdf.read(b"{} => { <http://x/a> <http://x/b> 1 } .", dictionary=Dictionary()))


# ------------------------------------------------------------------------------------------------------------------- reasoners


def test_a_reasoner_loads_triples_and_rules(tmp_path: Path) -> None:
    path = tmp_path / "family.n3"
    path.write_text(
        f"{N3_PREFIXES}:ann :parent :eve . :eve :parent :ada . {{ ?x :parent ?y . ?y :parent ?z }} => {{ ?x :old ?z }} ."
    )
    reasoner = Reasoner()
    reasoner.load(path)
    old = [(IRI(f"{EX}ann"), IRI(f"{EX}old"), IRI(f"{EX}ada"))]
    assert list(reasoner.triples(which="inferred")) == old
    assert len(reasoner.program.rules) == 1
    proof = str(reasoner.explain(old[0]))
    assert "parent" in proof
    reasoner.load(b"<http://example.org/eve> <http://example.org/parent> <http://example.org/ida> .")
    assert len(list(reasoner.triples(which="inferred"))) == 2


def test_what_is_refused_leaves_a_reasoner_as_it_was() -> None:
    reasoner = Reasoner()
    unsafe = f"{N3_PREFIXES}:a :b :c . {{ ?x :b ?y }} => {{ ?x :c ?z }} .".encode()
    with pytest.raises(SafetyError, match=r"\?z of the head is not bound by the body"):
        reasoner.load(unsafe, format="n3")
    refused = f"{N3_PREFIXES}:a :b :c . {{ ?x :b ?y }} => {{ ?x :c [] }} . {{ ?x :b ?y }} => {{ ?y :d ?x }} .".encode()
    with pytest.raises(UnsupportedError, match="a blank node in the head"):
        reasoner.load(refused, format="n3")
    assert list(reasoner.triples()) == []
    reasoner.load(refused, format="n3", refused="skip")
    assert len(list(reasoner.triples(which="inferred"))) == 1
    (warning,) = reasoner.warnings
    assert warning.axiom == "the rule at <bytes>:2"
    assert "a blank node in the head" in warning.reason


# ---------------------------------------------------------------------------------------- our rules, written as N3 and read back

_IRIS: list[Term] = [IRI(f"{EX}{name}") for name in ("a", "b-c", "d1")]
_CONSTANTS = [*_IRIS, literal(5), literal("a\n\"b\\'é"), Literal("01", XSD.integer.value), Literal("1.50", XSD.decimal.value)]
_VARIABLES = [Variable(name) for name in ("x", "y", "long_name")]
_RESULT = Variable("result")
_BUILTINS = {
    "=": "math:equalTo",
    "!=": "math:notEqualTo",
    "<": "math:lessThan",
    ">": "math:greaterThan",
    "<=": "math:notGreaterThan",
    ">=": "math:notLessThan",
    "CONTAINS": "string:contains",
    "STRSTARTS": "string:startsWith",
}
_COMPUTED = {"+": "math:sum", "-": "math:difference", "*": "math:product", "/": "math:quotient"}


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    terms = st.one_of(st.sampled_from(_VARIABLES), st.sampled_from(_CONSTANTS))
    subjects = st.one_of(st.sampled_from(_VARIABLES), st.sampled_from(_IRIS))
    properties = st.one_of(st.sampled_from(_IRIS), st.sampled_from(_VARIABLES))
    atoms = draw(st.lists(st.builds(triple, subjects, properties, terms), min_size=1, max_size=3, unique=True))
    bound = sorted({term for atom in atoms for term in atom.terms if isinstance(term, Variable)}, key=str)
    values = st.sampled_from([*bound, *_CONSTANTS])
    parts: list[Filter | Bind] = []
    if draw(st.booleans()):
        parts.append(Filter(Call(draw(st.sampled_from(sorted(_BUILTINS))), (draw(values), draw(values)))))
    if draw(st.booleans()):
        parts.append(Bind(Call(draw(st.sampled_from(sorted(_COMPUTED))), (draw(values), draw(values))), _RESULT))
        bound.append(_RESULT)
    heads = st.sampled_from([*bound, *_IRIS])
    head = triple(draw(heads), draw(st.sampled_from([*bound, *_IRIS])), draw(st.sampled_from([*bound, *_CONSTANTS])))
    return Rule(head, (*atoms, *parts))


def as_n3(rule: Rule) -> str:
    body = []
    for part in rule.body:
        if isinstance(part, Atom):
            body.append(" ".join(map(_term, part.terms)))
            continue
        assert isinstance(part, Filter | Bind)
        assert isinstance(part.expression, Call)
        first, second = map(_term, part.expression.arguments)  # type: ignore[arg-type]
        if isinstance(part, Filter):
            body.append(f"{first} {_BUILTINS[part.expression.name]} {second}")
        else:
            body.append(f"({first} {second}) {_COMPUTED[part.expression.name]} {part.variable}")
    return f"{{ {' . '.join(body)} }} => {{ {' '.join(map(_term, rule.head.terms))} }} ."


def _term(term: Variable | Term) -> str:
    return format_term(term, PREFIXES)


@given(st.lists(rules(), max_size=4, unique=True))
@settings(max_examples=examples(100))
def test_our_rules_written_as_n3_are_read_back(written: list[Rule]) -> None:
    prefixes = "".join(f"@prefix {name}: <{space}> . " for name, space in PREFIXES.items())
    found = read(f"{N3_PREFIXES}{prefixes}{' '.join(map(as_n3, written))}".encode()).program
    # An equality is read in both directions and kept in the one that comes first.
    assert [_ordered(rule) for rule in found.rules] == [_ordered(rule) for rule in Program(tuple(written)).rules]


def _ordered(rule: Rule) -> Rule:
    body = tuple(
        Filter(Call("=", tuple(sorted(part.expression.arguments, key=str))))
        if isinstance(part, Filter) and isinstance(part.expression, Call) and part.expression.name == "="
        else part
        for part in rule.body
    )
    return Rule(rule.head, body)


# ------------------------------------------------------------------------------------------------------------- broken documents

_SOUND = (
    N3_PREFIXES
    + """@forAll :v . { ?x :p (1 "two" 3.0) ; a :C . :v :q [ :r 'five' ] } => { ?x :p :v } .
:a :b "c"@en , 1.5e3 ; :d _:e . { :a :q :b } <= { @forSome :s . :s!:t^:u :v :w } . @base <http://b/> . <c> = <d> . # end
"""
)


def test_the_document_that_is_broken_below_is_sound() -> None:
    found = read(_SOUND.encode())
    assert (len(found.program.rules), len(found.triples)) == (2, 4)


@given(
    st.integers(0, len(_SOUND)),
    st.integers(0, 12),
    st.sampled_from(["", "{", "}", "(", ")", '"', "?", "<", ".", "@", "é", "\0", "a:", "[=", "{$"]),
)
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
@example(0, 0, "\ufeff")
def test_broken_documents_are_read_or_refused_with_an_error_of_ours(place: int, gone: int, put: str) -> None:
    broken = _SOUND[:place] + put + _SOUND[place + gone :]
    try:
        read(broken.encode(), skip_refused=True)
    except ReasonerError as error:
        assert "<bytes>" in str(error)


def test_an_operator_of_very_many_values() -> None:
    """Each value makes the expression deeper by one."""
    prefix = "@prefix math: <http://www.w3.org/2000/10/swap/math#> . "
    rule = prefix + "{ ?x <http://x/p> ?y . (%s) math:sum ?s } => { ?x <http://x/q> ?s } ."
    assert len(read((rule % ("?y " * 100)).encode()).program.rules) == 1
    with pytest.raises(UnsupportedError, match="of 5000 values exceeds the maximum of 100"):
        read((rule % ("?y " * 5000)).encode())


def test_membership_in_a_long_list() -> None:
    prefix = "@prefix list: <http://www.w3.org/2000/10/swap/list#> . @prefix : <http://x/> . "
    items = " ".join(f":i{number}" for number in range(5000))
    rule = f"{prefix} {{ ?x :p ?y . ?y list:in ({items}) }} => {{ ?x :q ?y }} . :a :p :i4999 , :other ."
    reasoner = Reasoner()
    reasoner.load(rule.encode(), format="n3")
    assert {str(value) for _, property, value in reasoner.triples() if str(property) == "<http://x/q>"} == {"<http://x/i4999>"}
