"""The datatype map: which literals denote the same value, and which datatypes contain a value.

Unlike SPARQL's comparison (see `values`), this is identity of values as RDF 1.1 Semantics and the datatype map of OWL 2 define
it: the value spaces of xsd:decimal, xsd:double and xsd:float are disjoint, ``-0.0`` is not ``0.0``, NaN is identical to itself,
and the same moment in two time zones is two values. Lexical forms are not normalised: ``" 1"`` is not an integer.

The map has the datatypes of OWL 2 RL, rdf:langString and xsd:date. The values of literals of other datatypes (owl:rational,
xsd:duration ...) are unknown. Functions take the set of `recognised` datatypes and treat all others as unknown.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable, Collection, Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Final, TypeAlias, cast

from kg_reasoner.errors import LoadError, expect_name
from kg_reasoner.expressions.values import INTEGER_RANGES, value_of
from kg_reasoner.terms import RDF, RDFS, XSD, Literal, Term

__all__ = [
    "ALWAYS_RECOGNISED",
    "DATATYPES",
    "canonical",
    "datatypes_of",
    "disjoint_datatypes",
    "identity",
    "is_ill_typed",
    "narrower",
    "recognised_datatypes",
    "same_value",
]

_NAME_START: Final = (
    "A-Za-z_\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME: Final = _NAME_START + r"\-.0-9\xb7\u0300-\u036f\u203f\u2040"
_CHARACTER: Final = "\x01-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
"""NameStartChar and NameChar without the colon, and Char, as in XML 1.1."""

_LANGUAGE_TAG: Final = "[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*"

_STRINGS: Final = {
    XSD.string.value: f"[{_CHARACTER}]*",
    XSD.normalizedString.value: r"[^\t\n\r]*",
    XSD.token.value: r"(?:[^ \t\n\r]+(?: [^ \t\n\r]+)*)?",
    XSD.language.value: _LANGUAGE_TAG,
    XSD.NMTOKEN.value: f"[{_NAME}:]+",
    XSD.Name.value: f"[{_NAME_START}:][{_NAME}:]*",
    XSD.NCName.value: f"[{_NAME_START}][{_NAME}]*",
}
"""xsd:string and the types derived from it: which strings they have. All of them are values of xsd:string, too.
The patterns are compiled when they are first used, as most data have no literals of these types."""

_ABOVE_STRINGS: Final = {
    datatype: frozenset(XSD[name].value for name in names.split())
    for datatype, names in {
        XSD.string.value: "",
        XSD.normalizedString.value: "string",
        XSD.token.value: "normalizedString string",
        XSD.language.value: "NCName Name NMTOKEN token normalizedString string",
        XSD.NMTOKEN.value: "token normalizedString string",
        XSD.Name.value: "NMTOKEN token normalizedString string",
        XSD.NCName.value: "Name NMTOKEN token normalizedString string",
    }.items()
}
"""The wider types of strings."""

_STRING, _PLAIN_LITERAL, _LITERAL = XSD.string.value, RDF.PlainLiteral.value, RDFS.Literal.value
_LANG_STRING: Final = RDF.langString.value
_TAGGED: Final = (_LITERAL, _PLAIN_LITERAL, _LANG_STRING)
_NMTOKEN, _NAME_TYPE, _LANGUAGE = XSD.NMTOKEN.value, XSD.Name.value, XSD.language.value
_NORMALIZED: Final = (_LITERAL, _PLAIN_LITERAL, _STRING, XSD.normalizedString.value)
_TOKENS: Final = (*_NORMALIZED, XSD.token.value)
_NMTOKENS: Final = (*_TOKENS, _NMTOKEN)
_NAMES: Final = (*_NMTOKENS, _NAME_TYPE)
_NCNAMES: Final = (*_NAMES, XSD.NCName.value)
_LANGUAGES: Final = (*_NCNAMES, _LANGUAGE)
_UNUSUAL: Final[dict[tuple[str, ...], tuple[str, ...]]] = {}
"""The types of strings with characters that are not printable."""
"""The types of strings from the widest to the narrowest."""

ALWAYS_RECOGNISED: Final = frozenset([XSD.string.value, RDF.langString.value])
"""The datatypes that RDF 1.1 never treats as unknown."""

DATATYPES: Final = frozenset(
    [
        *INTEGER_RANGES,
        *_STRINGS,
        *ALWAYS_RECOGNISED,
        *(XSD[name].value for name in ("decimal", "double", "float", "boolean", "dateTime", "dateTimeStamp", "date")),
        *(XSD[name].value for name in ("anyURI", "hexBinary", "base64Binary")),
        *(RDF[name].value for name in ("PlainLiteral", "XMLLiteral")),
        RDFS.Literal.value,
    ]
)
"""The datatypes known here, as IRIs in text form."""

VALUE: Final = "tag:kg-reasoner:value"
"""The datatype of the literals that `canonical` gives."""

_Value: TypeAlias = tuple[str, Hashable]
"""A value space and what identifies a value in it."""

_HEX: Final = r"(?:[0-9A-Fa-f]{2})*"
_BASE64: Final = (
    r"(?:(?:[A-Za-z0-9+/] ?){4})*(?:(?:[A-Za-z0-9+/] ?){3}[A-Za-z0-9+/]"
    r"|(?:[A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?=|[A-Za-z0-9+/] ?[AQgw] ?= ?=)|"
)
"""Groups of four characters, each of which may have a space behind it, except for the last; no bits that belong to no octet."""


def recognised_datatypes(datatypes: Iterable[str] | None) -> frozenset[str]:
    """Return the IRIs of the datatypes to recognise: the given ones and `ALWAYS_RECOGNISED`, or all known ones for None.

    Raises:
        UnknownNameError: One of them is not known.
        LoadError: A text is given, which would be taken for its characters, or nothing to iterate over.
    """
    if datatypes is None:
        return DATATYPES
    if isinstance(datatypes, str) or not isinstance(datatypes, Iterable):
        raise LoadError(f"{datatypes!r} is not a collection of datatypes", hint="give a list, even for a single one")
    wanted = tuple(datatypes)
    for name in wanted:
        expect_name("datatype", name, DATATYPES)
    return ALWAYS_RECOGNISED.union(wanted)


def identity(literal: Literal, recognised: Collection[str] = DATATYPES) -> Hashable | None:
    """Return a key of the literal's value: two literals denote the same value if and only if their keys are equal.

    None if the literal is ill-typed or its datatype is not recognised.

    >>> from kg_reasoner.terms import literal
    >>> identity(literal(1)) == identity(Literal("1.0", XSD.decimal.value)), identity(literal(1)) == identity(literal(1.0))
    (True, False)
    """
    return _value(literal) if literal.datatype in recognised else None


def same_value(a: Term, b: Term) -> bool | None:
    """Return whether two terms denote the same value, or None if that is unknown: for IRIs and for literals of unknown datatypes.

    >>> from kg_reasoner.terms import literal
    >>> same_value(literal(1), Literal("01", XSD.byte.value)), same_value(literal(1), literal(1.0)), same_value(literal(1), RDF.nil)
    (True, False, None)
    """
    if a == b:
        return True
    one, other = (identity(term) if isinstance(term, Literal) else None for term in (a, b))
    return None if one is None or other is None else one == other


def canonical(term: Term) -> Term:
    """Return one representative of all literals with the value of `term`, for joins by value; return other terms unchanged.

    >>> canonical(Literal("1.0", XSD.decimal.value)) == canonical(Literal("01", XSD.byte.value)), canonical(RDF.nil) == RDF.nil
    (True, True)
    """
    value = identity(term) if isinstance(term, Literal) else None
    if value is None:
        return term
    space, key = cast(_Value, value)
    return Literal(f"{space} {_key_text(key)}", VALUE)


def _key_text(key: Hashable) -> str:
    """Return a text that is unique to the key."""
    if isinstance(key, tuple):
        return f"({', '.join(map(_key_text, key))})"
    if isinstance(key, Decimal):  # its digits may be more than those of an integer that Python writes
        digits = f"{key:f}" if key else "0"
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return str(key) if isinstance(key, Fraction) else repr(key)


def is_ill_typed(literal: Literal, recognised: Collection[str] = DATATYPES) -> bool:
    """Return whether the datatype is recognised and its lexical space lacks the lexical form. Every form is valid for
    rdfs:Literal.
    """
    return literal.datatype in recognised and literal.datatype != RDFS.Literal.value and _value(literal) is None


def datatypes_of(literal: Literal, recognised: Collection[str] = DATATYPES) -> tuple[str, ...]:
    """Return rdfs:Literal and the recognised datatypes that contain the literal's value, or an empty result if `identity` is None.

    >>> [datatype.rpartition("#")[2] for datatype in datatypes_of(Literal("-1.0", XSD.decimal.value))][:4]
    ['Literal', 'decimal', 'integer', 'nonPositiveInteger']
    """
    found = described(literal, recognised)
    return () if found is None else found[1]


def types_of_string(text: str) -> tuple[str, ...] | None:
    """Return rdfs:Literal and the known datatypes that contain a string, or None if it has characters that strings cannot have.

    The same types are always the same object.
    """
    if text.isprintable():
        if text and " " not in text:
            return _types_of_word(text)
        is_token = not text or (text[0] != " " != text[-1] and "  " not in text)
        return _TOKENS if is_token else _NORMALIZED
    types = tuple(datatype for datatype, has in _string_tests().items() if has(text))
    if _STRING not in types:
        return None
    found = (_LITERAL, _PLAIN_LITERAL, *types)
    return _UNUSUAL.setdefault(found, found)


def described_tagged(text: str, language: str, recognised: Collection[str] = DATATYPES) -> tuple[Hashable, tuple[str, ...]]:
    """Return the result of `described` for the literal with this text and language tag, whose type is always recognised."""
    identity = _LANG_STRING, (text, language.lower())
    return identity, _TAGGED if recognised is DATATYPES else tuple(n for n in _TAGGED if n == _LITERAL or n in recognised)


def _types_of_word(word: str) -> tuple[str, ...]:
    """Return the types of strings that have a word of printable characters."""
    tests = _string_tests()
    if not tests[_NMTOKEN](word):
        return _TOKENS
    if not tests[_NAME_TYPE](word):
        return _NMTOKENS
    if ":" in word:
        return _NAMES
    return _LANGUAGES if tests[_LANGUAGE](word) else _NCNAMES


def described(literal: Literal, recognised: Collection[str] = DATATYPES) -> tuple[Hashable, tuple[str, ...]] | None:
    """Return both the `identity` and the `datatypes_of` a literal, or None if it has no value."""
    value = _value(literal) if literal.datatype in recognised else None
    if value is None:
        return None
    return value, (RDFS.Literal.value, *(datatype for datatype in _spaces_with(*value) if datatype in recognised))


@cache
def disjoint_datatypes() -> frozenset[tuple[str, str]]:
    """Return the pairs of known datatypes, in both orders, whose value spaces are disjoint.

    >>> (XSD.byte.value, XSD.float.value) in disjoint_datatypes(), (XSD.byte.value, XSD.decimal.value) in disjoint_datatypes()
    (True, False)
    """
    known = sorted(DATATYPES - {RDFS.Literal.value})
    return frozenset(pair for pair in product(known, known) if _are_disjoint(*pair))


@cache
def narrower(datatype: str) -> frozenset[str]:
    """Return the known datatypes whose value spaces are proper subsets of that of `datatype`.

    >>> sorted(name.rpartition("#")[2] for name in narrower(XSD.short.value))
    ['byte', 'unsignedByte']
    """
    return frozenset(name for name in DATATYPES if name != datatype and _is_within_datatype(name, datatype))


def _is_within_datatype(one: str, other: str) -> bool:
    if other == RDFS.Literal.value or one == RDFS.Literal.value:
        return other == RDFS.Literal.value
    if one in INTEGER_RANGES and other in INTEGER_RANGES:
        (low, high), (lower, higher) = INTEGER_RANGES[one], INTEGER_RANGES[other]
        return (lower is None or (low is not None and low >= lower)) and (higher is None or (high is not None and high <= higher))
    if one in _STRINGS and other in _STRINGS:
        return other in _ABOVE_STRINGS[one]
    return other in (XSD.decimal.value, RDF.PlainLiteral.value, XSD.dateTime.value) and _primitives(one) <= _primitives(other)


def _are_disjoint(one: str, other: str) -> bool:
    if one in INTEGER_RANGES and other in INTEGER_RANGES:
        (low, high), (lower, higher) = INTEGER_RANGES[one], INTEGER_RANGES[other]
        return _is_below(high, lower) or _is_below(higher, low)
    return _primitives(one).isdisjoint(_primitives(other))


def _is_below(high: int | None, low: int | None) -> bool:
    return high is not None and low is not None and high < low


def _primitives(datatype: str) -> frozenset[str]:
    """Return the primitive value spaces that a datatype takes its values from."""
    if datatype in INTEGER_RANGES:
        return frozenset([XSD.decimal.value])
    if datatype in _STRINGS:
        return frozenset([XSD.string.value])
    if datatype == RDF.PlainLiteral.value:
        return frozenset([XSD.string.value, RDF.langString.value])
    return frozenset([XSD.dateTime.value if datatype == XSD.dateTimeStamp.value else datatype])


def _spaces_with(space: str, key: Hashable) -> list[str]:
    """Return the known datatypes that contain a value."""
    if space == XSD.decimal.value:
        assert isinstance(key, Decimal)
        whole = int(key)
        if whole != key:
            return [space]
        return [space, *(name for name, bounds in INTEGER_RANGES.items() if _is_within(whole, *bounds))]
    if space == XSD.string.value:
        assert isinstance(key, str)
        return [RDF.PlainLiteral.value, *(datatype for datatype, has in _string_tests().items() if has(key))]
    if space == RDF.langString.value:
        return [RDF.PlainLiteral.value, space]
    if space == XSD.dateTime.value:
        assert isinstance(key, tuple)
        return [space] if key[1] is None else [space, XSD.dateTimeStamp.value]
    return [space]


@cache
def _string_tests() -> dict[str, Callable[[str], object]]:
    """Return a test for each type of strings."""
    return {datatype: re.compile(pattern).fullmatch for datatype, pattern in _STRINGS.items()}


def _is_within(number: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= number) and (high is None or number <= high)


def _value(literal: Literal) -> _Value | None:
    lexical, datatype = literal.lexical, literal.datatype
    if literal.language is not None:
        return RDF.langString.value, (lexical, literal.language.lower())
    if datatype in _STRINGS:
        tests = _string_tests()
        is_value = tests[XSD.string.value](lexical) and tests[datatype](lexical)
        return (XSD.string.value, lexical) if is_value else None
    reader = _READERS.get(datatype)
    if reader is not None:
        return reader(lexical)
    known = value_of(literal)
    if known is None:
        return None
    kind, key = known
    if kind == "number" and datatype in (XSD.double.value, XSD.float.value):
        return datatype, str(key)  # tells -0 from 0, and NaN is itself
    if kind in ("dateTime", "date"):
        return XSD[kind].value, (key, _zone(lexical))
    return (XSD.decimal.value if kind == "number" else datatype), key


def _zone(lexical: str) -> str | None:
    """Return the time zone of a date or dateTime as +hh:mm, None if it has none."""
    if lexical.endswith("Z") or lexical[-6:] in ("+00:00", "-00:00"):
        return "+00:00"
    return lexical[-6:] if lexical[-6] in "+-" and lexical[-3] == ":" else None


def _plain(lexical: str) -> _Value | None:
    text, at, language = lexical.rpartition("@")
    if not at or not re.fullmatch(_STRINGS[XSD.string.value], text):
        return None
    if not language:
        return XSD.string.value, text
    return (RDF.langString.value, (text, language.lower())) if re.fullmatch(_LANGUAGE_TAG, language) else None


def _uri(lexical: str) -> _Value | None:
    return (XSD.anyURI.value, lexical) if re.fullmatch(_STRINGS[XSD.string.value], lexical) else None


def _hex(lexical: str) -> _Value | None:
    return (XSD.hexBinary.value, lexical.upper()) if re.fullmatch(_HEX, lexical) else None


def _base64(lexical: str) -> _Value | None:
    return (XSD.base64Binary.value, a2b_base64(lexical)) if re.fullmatch(_BASE64, lexical) else None


def _xml(lexical: str) -> _Value | None:
    """Return the canonical form of an XML fragment. Differences that canonical XML ignores (the order of attributes, CDATA
    sections) vanish.
    """
    from xml.etree import ElementTree

    try:
        return RDF.XMLLiteral.value, ElementTree.canonicalize(f"<x>{lexical}</x>", with_comments=True)
    except (ElementTree.ParseError, ValueError):  # the latter for lone surrogates
        return None


_READERS: Final[dict[str, Callable[[str], _Value | None]]] = {
    RDF.PlainLiteral.value: _plain,
    RDF.XMLLiteral.value: _xml,
    XSD.hexBinary.value: _hex,
    XSD.base64Binary.value: _base64,
    XSD.anyURI.value: _uri,
}
