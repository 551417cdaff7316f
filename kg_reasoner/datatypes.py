"""The datatype map: which literals denote the same value, and which datatypes a value belongs to.

Unlike SPARQL's comparison (see `values`), this is identity of values, as RDF 1.1 Semantics and the datatype map of OWL 2 define
it: xsd:decimal, xsd:double and xsd:float have no value in common, ``-0.0`` is not ``0.0``, and the same moment in two time zones is
two values. The datatypes are those of OWL 2 RL, rdf:langString and xsd:date.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Final, TypeAlias

from kg_reasoner.terms import RDF, RDFS, XSD, Literal
from kg_reasoner.values import INTEGER_RANGES, value_of

__all__ = ["DATATYPES", "datatypes_of", "identity", "is_ill_typed"]

_STRINGS: Final = {
    XSD.string.value: re.compile(r".*", re.DOTALL),
    XSD.normalizedString.value: re.compile(r"[^\t\n\r]*"),
    XSD.token.value: re.compile(r"(?:[^ \t\n\r]+(?: [^ \t\n\r]+)*)?"),
    XSD.language.value: re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*"),
    XSD.NMTOKEN.value: re.compile(r"[\w:.\-·]+"),
    XSD.Name.value: re.compile(r"(?:[^\W\d]|:)[\w:.\-·]*"),
    XSD.NCName.value: re.compile(r"[^\W\d][\w.\-·]*"),
}
"""xsd:string and the types derived from it: which strings they have."""

DATATYPES: Final = frozenset(
    [
        *INTEGER_RANGES,
        *_STRINGS,
        *(XSD[name].value for name in ("decimal", "double", "float", "boolean", "dateTime", "dateTimeStamp", "date")),
        *(XSD[name].value for name in ("anyURI", "hexBinary", "base64Binary")),
        *(RDF[name].value for name in ("langString", "PlainLiteral", "XMLLiteral")),
        RDFS.Literal.value,
    ]
)
"""The datatypes known here, as IRIs in text form."""

_Value: TypeAlias = tuple[str, Hashable]
"""A value space and what identifies a value in it."""
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2})*")


def identity(literal: Literal) -> Hashable | None:
    """What identifies the literal's value: two literals denote the same value if and only if theirs are equal.

    None if the literal is ill-typed or its datatype is not known.

    >>> from kg_reasoner.terms import literal
    >>> identity(literal(1)) == identity(Literal("1.0", XSD.decimal.value)), identity(literal(1)) == identity(literal(1.0))
    (True, False)
    """
    return _value(literal)


def is_ill_typed(literal: Literal) -> bool:
    """Whether the datatype is known and the lexical form is none of its."""
    return literal.datatype in DATATYPES and _value(literal) is None


def datatypes_of(literal: Literal) -> tuple[str, ...]:
    """The known datatypes whose value space has the literal's value, rdfs:Literal among them; none if `identity` is None.

    >>> [datatype.rpartition("#")[2] for datatype in datatypes_of(Literal("-1.0", XSD.decimal.value))][:4]
    ['Literal', 'decimal', 'integer', 'nonPositiveInteger']
    """
    value = _value(literal)
    if value is None:
        return ()
    space, key = value
    found = [RDFS.Literal.value]
    if isinstance(key, Decimal):
        found.append(XSD.decimal.value)
        if key == key.to_integral_value():
            found.extend(
                datatype
                for datatype, (low, high) in INTEGER_RANGES.items()
                if (low is None or low <= key) and (high is None or key <= high)
            )
    elif space == XSD.string.value:
        assert isinstance(key, str)
        found.append(RDF.PlainLiteral.value)
        found.extend(datatype for datatype, pattern in _STRINGS.items() if pattern.fullmatch(key))
    elif space == RDF.langString.value:
        found.extend((RDF.PlainLiteral.value, space))
    elif space == XSD.dateTime.value:
        assert isinstance(key, tuple)
        found.extend((space,) if key[1] is None else (space, XSD.dateTimeStamp.value))
    else:
        found.append(space)
    return tuple(found)


def _value(literal: Literal) -> _Value | None:
    lexical, datatype = literal.lexical, literal.datatype
    if literal.language is not None:
        return RDF.langString.value, (lexical, literal.language)
    if datatype in _STRINGS:
        return (XSD.string.value, lexical) if _STRINGS[datatype].fullmatch(lexical) else None
    known = value_of(literal)
    if known is not None:
        kind, key = known
        if kind == "number" and datatype in (XSD.double.value, XSD.float.value):
            return datatype, str(key)  # tells -0 from 0, and NaN is itself
        if kind in ("dateTime", "date"):
            return XSD[kind].value, (key, _zone(lexical))
        return (XSD.decimal.value if kind == "number" else datatype), key
    reader = _READERS.get(datatype)
    return None if reader is None else reader(lexical)


def _zone(lexical: str) -> str | None:
    """The time zone of a date or dateTime as +hh:mm, None if it has none."""
    if lexical.endswith("Z") or lexical[-6:] in ("+00:00", "-00:00"):
        return "+00:00"
    return lexical[-6:] if lexical[-6] in "+-" and lexical[-3] == ":" else None


def _plain(lexical: str) -> _Value | None:
    text, at, language = lexical.rpartition("@")
    if not at:
        return None
    return (RDF.langString.value, (text, language.lower())) if language else (XSD.string.value, text)


def _hex(lexical: str) -> _Value | None:
    return (XSD.hexBinary.value, lexical.upper()) if _HEX.fullmatch(lexical) else None


def _base64(lexical: str) -> _Value | None:
    try:
        return XSD.base64Binary.value, base64.b64decode(lexical.replace(" ", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def _xml(lexical: str) -> _Value | None:
    from xml.etree import ElementTree

    try:
        return RDF.XMLLiteral.value, ElementTree.canonicalize(f"<x>{lexical}</x>")
    except (ElementTree.ParseError, ValueError):  # the latter for lone surrogates
        return None


_READERS: Final[dict[str, Callable[[str], _Value | None]]] = {
    RDF.PlainLiteral.value: _plain,
    RDF.XMLLiteral.value: _xml,
    XSD.hexBinary.value: _hex,
    XSD.base64Binary.value: _base64,
    XSD.anyURI.value: lambda lexical: (XSD.anyURI.value, lexical),
}
