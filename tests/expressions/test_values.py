"""Comparison by value as SPARQL's filters do it, and identity of values as the datatype rules need it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.expressions.datatypes import datatypes_of, disjoint_datatypes, identity, is_ill_typed
from kg_reasoner.expressions.structures import encode
from kg_reasoner.expressions.values import COMPARISONS, INTEGER_RANGES, compare, equal, satisfies, value_of
from kg_reasoner.terms import IRI, RDF, RDFS, XSD, BlankNode, Literal, Term, literal


def lit(text: str) -> Term:
    """A term in a short form: ``5:int``, ``a@en``, ``a`` (a string), ``<iri>``, ``_:b``, ``list(1)``."""
    if text.startswith("<"):
        return IRI(text[1:-1])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    if text == "list(1)":
        return encode("list", [literal(1)])
    lexical, colon, name = text.rpartition(":")
    if colon and name[:1].isalpha():
        return Literal(lexical, XSD[name].value)
    lexical, at, tag = text.rpartition("@")
    return Literal(lexical, RDF.langString.value, tag) if at else Literal(text)


ASCENDING = [
    ["-INF:double", "-INF:float"],
    ["-100000000000000000000000:integer"],
    ["-1.5:decimal", "-1.5:double", "-15e-1:float"],
    ["0:integer", "-0:int", "-0.0:double", "0.0:decimal", "+0:byte"],
    ["0.1:decimal"],
    ["0.1:double"],  # 0.1000000000000000055...
    ["0.1:float"],  # 0.100000001490...
    ["9007199254740992:integer", "9007199254740992.0:double"],
    ["9007199254740993:integer", "9007199254740993.0:decimal"],
    ["340282346638528859811704183484516925440:integer", "3.4028234663852886e38:float"],
    ["INF:double", "1e39:float", "1e400:double"],
]


def test_numbers_of_all_types_have_one_order() -> None:
    ranked = [(rank, lit(text)) for rank, texts in enumerate(ASCENDING) for text in texts]
    for (i, a), (j, b) in product(ranked, ranked):
        assert compare(a, b) == (i > j) - (i < j)
        assert equal(a, b) == (i == j)


@pytest.mark.parametrize(
    ("smaller", "greater"),
    [
        ("false:boolean", "1:boolean"),
        ("", "a"),
        ("Z", "a"),
        ("a", "ab"),
        ("\uffff", "\U00010000"),
        ("10", "9"),
        ("2020-01-01T00:00:00Z:dateTime", "2020-01-01T00:00:00.001Z:dateTime"),
        ("2020-01-01T01:00:00+02:00:dateTime", "2020-01-01T00:00:00:dateTime"),
        ("-0001-12-31T23:59:59Z:dateTime", "0000-01-01T00:00:00Z:dateTimeStamp"),
        ("2019-12-31T23:59:59Z:dateTime", "12020-01-01T00:00:00Z:dateTime"),
        ("2020-02-29:date", "2020-03-01:date"),
        ("2020-03-01+01:00:date", "2020-03-01:date"),
        ("09:00:00:time", "10:00:00Z:time"),
        ("00:30:00+01:00:time", "00:00:00Z:time"),
        ("-P1D:dayTimeDuration", "PT0S:dayTimeDuration"),
        ("P0M:yearMonthDuration", "P1M:yearMonthDuration"),
        ("PT23H59M59.999S:dayTimeDuration", "P1D:duration"),
        ("P11M:duration", "P1Y:yearMonthDuration"),
    ],
)
def test_order_of_other_kinds(smaller: str, greater: str) -> None:
    a, b = lit(smaller), lit(greater)
    assert (compare(a, b), compare(b, a), compare(a, a), equal(a, b), equal(a, a)) == (-1, 1, 0, False, True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("true:boolean", "1:boolean"),
        ("2020-01-01T24:00:00Z:dateTime", "2020-01-02T00:00:00Z:dateTime"),
        ("2020-01-01T12:00:00+05:30:dateTime", "2020-01-01T06:30:00Z:dateTimeStamp"),
        ("2020-01-01T12:00:00.50:dateTime", "2020-01-01T12:00:00.5Z:dateTime"),
        ("2020-01-01-00:00:date", "2020-01-01Z:date"),
        ("24:00:00:time", "00:00:00.0Z:time"),
        ("PT24H:dayTimeDuration", "P1D:duration"),
        ("PT90M0.50S:duration", "PT1H30M0.5S:dayTimeDuration"),
        ("P12M:yearMonthDuration", "P1Y:duration"),
        ("-PT0S:dayTimeDuration", "P0M:yearMonthDuration"),
    ],
)
def test_one_value_in_two_forms(one: str, other: str) -> None:
    assert (equal(lit(one), lit(other)), compare(lit(one), lit(other))) == (True, 0)


EQUALITIES = [
    ("<http://example.org/a>", "<http://example.org/a>", True),
    ("<http://example.org/a>", "<http://example.org/b>", False),
    ("<http://example.org/a>", "_:a", False),
    ("_:a", "_:a", True),
    ("<http://example.org/a>", "http://example.org/a", False),
    ("1:integer", "1", False),
    ("1:integer", "true:boolean", False),
    ("a@en", "a@en", True),
    ("a@en", "a@de", False),
    ("a@en", "a", False),
    ("NaN:double", "NaN:double", False),
    ("NaN:double", "1:integer", False),
    ("1990:gYear", "1990:gYear", True),
    ("1990:gYear", "1991:gYear", None),
    ("1990:gYear", "1:integer", None),
    ("1990:gYear", "<http://example.org/a>", False),
    ("one:integer", "one:integer", True),
    ("one:integer", "two:integer", None),
    ("one:integer", "one", None),
    ("one:integer", "one@en", False),
    ("1990:gYear", "1990@en", False),
    ("one:integer", "1:integer", None),
    ("300:byte", "300:integer", None),
    ("P1Y1D:duration", "P12MT24H:duration", True),
    ("P1Y1D:duration", "P1Y2D:duration", False),
    ("P1Y1D:duration", "P1Y:yearMonthDuration", False),
    ("P30D:dayTimeDuration", "P1M:yearMonthDuration", False),
    ("P1D:duration", "1:integer", False),
    ("P1D:duration", "P1D", False),
    ("P1Y1D:duration", "P1Y1D@en", False),
    ("P1Y1D:duration", "list(1)", False),
    ("P1D:yearMonthDuration", "P1D:dayTimeDuration", None),
    ("12:00:00:time", "2020-01-01T12:00:00:dateTime", False),
    ("a@en", "list(1)", False),
    ("1990:gYear", "list(1)", None),
    ("list(1)", "list(1)", True),
]


@pytest.mark.parametrize(("one", "other", "are_equal"), EQUALITIES)
def test_what_has_no_order_may_still_be_equal_or_not(one: str, other: str, are_equal: bool | None) -> None:
    a, b = lit(one), lit(other)
    assert equal(a, b) is equal(b, a) is are_equal
    assert compare(a, b) is compare(b, a) is None
    assert satisfies("=", a, b) == (are_equal is True)
    assert satisfies("!=", a, b) == (are_equal is False)
    assert not any(satisfies(operator, a, b) for operator in ("<", "<=", ">", ">="))


@pytest.mark.parametrize(("one", "other", "are_equal"), EQUALITIES)
def test_rules_compare_in_the_same_way(one: str, other: str, are_equal: bool | None) -> None:
    """Rules compare columns by kinds of values and keys, not by `equal`."""
    reasoner = Reasoner(
        """
        equal(?x, ?y) :- pair(?x, ?y), FILTER(?x = ?y) .
        unequal(?x, ?y) :- pair(?x, ?y), FILTER(?x != ?y) .
        """
    )
    pairs = {(lit(one), lit(other)), (lit(other), lit(one))}
    reasoner.add_facts("pair", pairs)
    assert set(reasoner.facts("equal")) == (pairs if are_equal is True else set())
    assert set(reasoner.facts("unequal")) == (pairs if are_equal is False else set())


OF_TIME = """
    P0M:yearMonthDuration P1M:yearMonthDuration P1Y:duration -P1Y:yearMonthDuration PT0S:dayTimeDuration PT1S:dayTimeDuration
    P1D:duration -P1D:dayTimeDuration P1M1D:duration P1M2D:duration P:duration 2020-01-01:date 12:00:00:time 11:00:00Z:time
"""


def test_rules_order_durations_as_functions_do() -> None:
    reasoner = Reasoner("""
        below(?x, ?y) :- term(?x), term(?y), FILTER(?x < ?y) .
        at_most(?x, ?y) :- term(?x), term(?y), FILTER(?x <= ?y) .
    """)
    terms = [lit(text) for text in OF_TIME.split()]
    reasoner.add_facts("term", [(term,) for term in terms])
    pairs = list(product(terms, terms))
    assert set(reasoner.facts("below")) == {(a, b) for a, b in pairs if satisfies("<", a, b)}
    assert set(reasoner.facts("at_most")) == {(a, b) for a, b in pairs if satisfies("<=", a, b)}


NO_TIMES = """
    P:duration PT:duration P1DT:duration 1Y:duration P-1D:duration P1M1Y:duration PT1S1M:duration P1.5D:duration PT.5S:duration
    PT1.S:duration +P1D:duration P1W:duration P1Y:dayTimeDuration P:dayTimeDuration P1D:yearMonthDuration PT0S:yearMonthDuration
    P1YT:yearMonthDuration 24:00:01:time 12:00:time 1:00:00:time 12:60:00:time 12:00:00+14:01:time T12:00:00:time P١D:duration
"""


@pytest.mark.parametrize("text", NO_TIMES.split())
def test_no_times_and_durations(text: str) -> None:
    term = lit(text)
    assert isinstance(term, Literal)
    assert value_of(term) is None


INTEGERS = {datatype.removeprefix(str(XSD)) for datatype in INTEGER_RANGES}

ILL_TYPED = """
    1.0:integer 1e0:integer :integer +:integer ١:integer 128:byte -1:nonNegativeInteger 0:positiveInteger 1e0:decimal .:decimal
    inf:double 1.5.2:double TRUE:boolean yes:boolean 2020-13-01:date 2019-02-29:date 1900-02-29:date 2020-04-31:date 20-01-01:date
    2020-01-01T25:00:00:dateTime 2020-01-01T24:00:01:dateTime 2020-01-01:dateTime 2020-01-01T00:00:00:dateTimeStamp
    2020-01-01T00:00:00+15:00:dateTime 02020-01-01:date
"""


ILL_TYPED_FOR_IDENTITY = """
    TWE:base64Binary TWE=a:base64Binary TWF=:base64Binary TR==:base64Binary =:base64Binary abc:hexBinary 0g:hexBinary
    a@1:language toolonglanguage:language -en:language 1a:Name -a:NCName a:b:NCName a×b:NMTOKEN :NMTOKEN :Name
"""


@pytest.mark.parametrize("text", ILL_TYPED_FOR_IDENTITY.split())
def test_lexical_spaces(text: str) -> None:
    lexical, _, name = text.rpartition(":")
    assert is_ill_typed(Literal(lexical, XSD[name].value))


@pytest.mark.parametrize(
    "literal",
    [
        Literal(" a", XSD.token.value),
        Literal("a  b", XSD.token.value),
        Literal("a\n", XSD.normalizedString.value),
        Literal("\x00"),
        Literal("\ufffe"),
        Literal("\x00", XSD.anyURI.value),
        Literal("TW  Fu", XSD.base64Binary.value),
        Literal("TWFu ", XSD.base64Binary.value),
        Literal("a@-", RDF.PlainLiteral.value),
        Literal("a@en-", RDF.PlainLiteral.value),
        Literal(" true", XSD.boolean.value),
    ],
)
def test_lexical_spaces_with_blanks_and_control_characters(literal: Literal) -> None:
    assert is_ill_typed(literal)
    assert identity(literal) is None


def test_names_as_xml_has_them() -> None:
    for text in ("é", "日本", "_a-b.c·d", "a\u0301"):
        assert XSD.NCName.value in datatypes_of(Literal(text))
    for text in ("²", "a²", "a b", "·a", "\u0301a", ""):
        assert XSD.NCName.value not in datatypes_of(Literal(text))


def test_numbers_of_single_precision_are_rounded_once() -> None:
    half = Fraction(1, 2**24)  # in the middle between 1 and the next number of single precision
    tiny = Fraction(1, 10**40)
    for number, expected in ((1 + half - tiny, 1.0), (1 + half, 1.0), (1 + half + tiny, 1.00000012), (1 + 3 * half, 1.00000024)):
        digits = Literal(f"{number.numerator * 10**60 // number.denominator}e-60", XSD.float.value)
        assert identity(digits) == identity(Literal(repr(expected), XSD.float.value)), number
    largest = 2**128 - 2**103  # from here on it is infinite
    assert identity(Literal(str(largest), XSD.float.value)) == identity(Literal("INF", XSD.float.value))
    assert identity(Literal(str(largest - 1), XSD.float.value)) == identity(Literal("3.4028235e38", XSD.float.value))
    assert identity(Literal(str(-largest), XSD.float.value)) == identity(Literal("-INF", XSD.float.value))
    smallest = Literal(
        "7.00649232162408535461864791644958065640130970938257885878534141944895541342930300743319094181060791015626e-46"
    )
    assert identity(Literal(smallest.lexical, XSD.float.value)) == identity(Literal("1e-45", XSD.float.value))
    assert identity(Literal("7e-46", XSD.float.value)) == identity(Literal("0", XSD.float.value))
    assert identity(Literal("-7e-46", XSD.float.value)) == identity(Literal("-0", XSD.float.value))


def test_datatypes_without_a_common_value() -> None:
    pairs = disjoint_datatypes()
    assert all((other, one) in pairs for one, other in pairs)
    samples = [lit(text) for texts in (*ASCENDING, ["a", "en", "true:boolean", "a:anyURI", "00:hexBinary"]) for text in texts]
    for sample in samples:
        assert isinstance(sample, Literal)
        assert not pairs & set(product(datatypes_of(sample), datatypes_of(sample)))
    for one, other in (
        ("byte", "float"),
        ("negativeInteger", "unsignedByte"),
        ("positiveInteger", "nonPositiveInteger"),
        ("anyURI", "string"),
    ):
        assert (XSD[one].value, XSD[other].value) in pairs
    assert (XSD.nonPositiveInteger.value, XSD.nonNegativeInteger.value) not in pairs  # both have zero
    assert (RDF.langString.value, XSD.string.value) in pairs
    assert (RDF.PlainLiteral.value, XSD.token.value) not in pairs


def test_xml_literals() -> None:
    def xml(text: str) -> object:
        return identity(Literal(text, RDF.XMLLiteral.value))

    assert xml('<a x="1" y="2"/>') == xml("<a y='2' x='1'></a>") != xml("<a x='1'/>")
    assert xml("<![CDATA[a]]>") == xml("a") != xml("<!--a-->") != xml("")
    assert xml("<a/><b/>") is not None
    assert xml("</x><x>") is None
    assert xml("<r:a/>") is None
    assert xml("<r:a xmlns:r='http://example.org/'/>") is not None


@pytest.mark.parametrize("text", ILL_TYPED.split())
def test_an_ill_typed_literal_has_no_value(text: str) -> None:
    term = lit(text)
    assert isinstance(term, Literal)
    assert value_of(term) is None
    assert is_ill_typed(term)
    assert identity(term) is None
    assert datatypes_of(term) == ()


def test_blanks_around_a_number_are_not_taken_away() -> None:
    assert value_of(Literal(" 1", XSD.integer.value)) is None
    assert value_of(Literal("1\n", XSD.integer.value)) is None


def test_very_long_forms() -> None:
    digits = "7" * 10_000
    assert compare(Literal(digits, XSD.integer.value), Literal(f"{digits}.5", XSD.decimal.value)) == -1
    assert equal(Literal(digits, XSD.integer.value), Literal(f"{digits}.0", XSD.decimal.value))
    assert value_of(Literal(f"{digits}-01-01", XSD.date.value)) is None
    assert value_of(Literal(f"P{digits}D", XSD.duration.value)) is None
    assert compare(Literal("1e" + "9" * 50, XSD.double.value), Literal("INF", XSD.double.value)) == 0


def test_every_integer_type_has_exactly_its_range() -> None:
    for datatype, (low, high) in INTEGER_RANGES.items():
        for bound, step in ((low, -1), (high, 1)):
            if bound is not None:
                assert value_of(Literal(str(bound), datatype)) is not None
                assert value_of(Literal(str(bound + step), datatype)) is None


numbers = st.one_of(st.integers(), st.floats(), st.decimals(allow_nan=False, allow_infinity=False)).map(literal)


@given(numbers, numbers, numbers)
def test_comparison_is_an_order(a: Literal, b: Literal, c: Literal) -> None:
    if None not in (compare(a, b), compare(b, c), compare(a, c)):
        assert compare(a, b) == -(compare(b, a) or 0)
        assert equal(a, b) == (compare(a, b) == 0)
        if satisfies("<=", a, b) and satisfies("<=", b, c):
            assert satisfies("<=", a, c)
    assert set(COMPARISONS) == {"=", "!=", "<", "<=", ">", ">="}


@pytest.mark.parametrize(
    ("texts", "together"),
    [
        (["1:integer", "01:int", "1.0:decimal", "+1:byte"], True),
        (["1:integer", "1:double", "1:float", "1", "1:boolean"], False),
        (["0.0:double", "-0.0:double"], False),
        (["1.0:double", "1e0:double", "10e-1:double"], True),
        (["3.4028235e38:float", "3.4028234663852886e38:float"], True),
        (["NaN:double", "NaN:double"], True),
        (["a", "a:token", "a:NCName"], True),
        (["a", "a@en", "a:anyURI", "a@de"], False),
        (["0a0B:hexBinary", "0A0b:hexBinary"], True),
        (["TWFu:base64Binary", "TW Fu:base64Binary", "T W F u:base64Binary"], True),
        (["TWE=:base64Binary", "TWE =:base64Binary"], True),
        (["4d61:hexBinary", "TWE=:base64Binary"], False),
        (["1.5:decimal", "1.50:decimal", "+01.5:decimal"], True),
        (["-0:integer", "0:byte", "-0.0:decimal", "+0:unsignedByte"], True),
        (["INF:double", "INF:float"], False),
        (["INF:double", "+INF:double", "1e999:double"], True),
        (["0.1:double", "0.1:float", "0.1:decimal"], False),
        (["true:boolean", "1:boolean"], True),
        (["http://example.org/:anyURI", "http://example.org:anyURI", "HTTP://example.org/:anyURI"], False),
        (["2020-01-01T00:00:00Z:dateTime", "2020-01-01T00:00:00+00:00:dateTimeStamp"], True),
        (["2020-01-01T00:00:00Z:dateTime", "2020-01-01T01:00:00+01:00:dateTime", "2020-01-01T00:00:00:dateTime"], False),
        (["2020-01-01T24:00:00Z:dateTime", "2020-01-02T00:00:00Z:dateTimeStamp", "2020-01-02T00:00:00.0-00:00:dateTime"], True),
        (["2020-01-01T00:00:00+14:00:dateTime", "2020-01-01T00:00:00-10:00:dateTime", "2019-12-31T10:00:00Z:dateTime"], False),
        (["2020-01-01:date", "2020-01-01Z:date", "2020-01-01+01:00:date", "2020-01-01T00:00:00:dateTime"], False),
    ],
)
def test_identity_of_values(texts: list[str], together: bool) -> None:
    values = [identity(term) for term in map(lit, texts) if isinstance(term, Literal)]
    assert None not in values
    assert len(set(values)) == (1 if together else len(texts))


def test_literals_of_rdf() -> None:
    plain, xml = RDF.PlainLiteral.value, RDF.XMLLiteral.value
    assert identity(Literal("a@", plain)) == identity(Literal("a"))
    assert identity(Literal("a@b@EN", plain)) == identity(Literal("a@b", RDF.langString.value, "en"))
    assert is_ill_typed(Literal("a", plain))
    assert identity(Literal("<a b='1'/>", xml)) == identity(Literal('<a b="1"></a>', xml))
    assert is_ill_typed(Literal("<a>", xml))
    assert is_ill_typed(Literal("a\ud800", xml))
    assert is_ill_typed(Literal("a", RDF.langString.value))
    assert not is_ill_typed(Literal("a", RDFS.Literal.value))  # it has no lexical forms
    assert identity(Literal("a", RDFS.Literal.value)) is None
    assert not is_ill_typed(Literal("a", "http://example.org/unknown"))
    assert identity(Literal("a", "http://example.org/unknown")) is None


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("5:integer", f"decimal {' '.join(INTEGERS - {'nonPositiveInteger', 'negativeInteger'})}"),
        ("-129.0:decimal", "decimal integer nonPositiveInteger negativeInteger long int short"),
        ("0.5:decimal", "decimal"),
        ("5:double", "double"),
        ("en-GB", "string normalizedString token language NMTOKEN Name NCName"),
        ("a:b", "string normalizedString token NMTOKEN Name"),
        ("1 2", "string normalizedString token"),
        (" 1", "string normalizedString"),
        ("a\tb", "string"),
        ("", "string normalizedString token"),
        ("true:boolean", "boolean"),
        ("2020-01-01T00:00:00Z:dateTime", "dateTime dateTimeStamp"),
        ("2020-01-01T00:00:00:dateTime", "dateTime"),
        ("2020-01-01:date", "date"),
        ("00:hexBinary", "hexBinary"),
    ],
)
def test_the_datatypes_of_a_value(text: str, types: str) -> None:
    term = Literal(text) if text in ("a:b",) else lit(text)
    assert isinstance(term, Literal)
    of_xsd = {datatype.removeprefix(str(XSD)) for datatype in datatypes_of(term) if datatype.startswith(str(XSD))}
    assert of_xsd == set(types.split())
    assert RDFS.Literal.value in datatypes_of(term)
    assert (RDF.PlainLiteral.value in datatypes_of(term)) == ("string" in types)


def test_the_datatypes_of_a_text_in_a_language() -> None:
    types = datatypes_of(Literal("a", RDF.langString.value, "en"))
    assert set(types) == {RDFS.Literal.value, RDF.langString.value, RDF.PlainLiteral.value}
