"""RDF terms: lightweight, immutable values shared by the rule language, the loaders and the engine.

Plain Datalog constants are RDF terms, too: ``5`` is ``"5"^^xsd:integer``, and ``"a"`` is an xsd:string. Two terms are equal if
they are the same *term*. A literal keeps its lexical form: ``"1"`` and ``"01"`` are different literals of the same integer.

The text of a term is its N-Triples form; the dictionary stores exactly these texts.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.lazy_regex import regular_expression

if TYPE_CHECKING:
    import numpy as np
    import pyoxigraph
    from rdflib.term import Node

__all__ = [
    "ABSOLUTE_IRI",
    "BUILT_IN_ANNOTATIONS",
    "IRI",
    "NOT_IN_IRI",
    "NOT_IN_LABEL",
    "OWL",
    "RDF",
    "RDFS",
    "XSD",
    "AnyTerm",
    "AnyTriple",
    "BlankNode",
    "Literal",
    "Term",
    "Triple",
    "is_iri",
    "is_language",
    "literal",
    "namespace_of",
    "plain_value",
    "scientific",
    "term_from_text",
    "term_of",
    "term_text",
    "unescape",
    "word_of",
]

ABSOLUTE_IRI: Final = regular_expression(r'[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*')
"""An IRI that is not relative."""
_PLAIN_IRI: Final = regular_expression(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9._~-]*(?::[0-9]*)?(?=[/?#]|\Z)|(?!//))"
    r"[A-Za-z0-9._~:/?@!$&'()*+,;=-]*(?:#[A-Za-z0-9._~:/?@!$&'()*+,;=-]*)?"
)
_PLAIN_TAG: Final = regular_expression("[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-[A-Za-z]{2})?")
_TAG: Final = regular_expression("[A-Za-z]+(?:-[A-Za-z0-9]+)*")
NOT_IN_IRI: Final = regular_expression(r'[\x00-\x20<>"{}|^`\\]')
"""The characters that IRIs cannot contain."""
NOT_IN_LABEL: Final = regular_expression(r'[<>"\\\x00-\x20\ud800-\udfff]')
"""The characters that the labels of blank nodes cannot contain."""


@dataclass(frozen=True, slots=True, order=True)
class IRI:
    """An absolute IRI, without angle brackets."""

    value: str

    if not TYPE_CHECKING:  # which takes the dataclass's own for more precise

        def __eq__(self, other: object) -> bool:
            return self.value == other.value if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, slots=True, order=True)
class BlankNode:
    """A blank node; `label` is without the leading ``_:``."""

    label: str

    if not TYPE_CHECKING:  # which takes the dataclass's own for more precise

        def __eq__(self, other: object) -> bool:
            return self.label == other.label if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self.label)

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A literal: its lexical form, its datatype IRI as text, and its language tag in lower case, or None."""

    lexical: str
    datatype: str = "http://www.w3.org/2001/XMLSchema#string"
    language: str | None = None

    def __str__(self) -> str:
        return term_text(self)


Term: TypeAlias = IRI | BlankNode | Literal
Triple: TypeAlias = tuple[Term, Term, Term]

if TYPE_CHECKING:
    AnyTerm: TypeAlias = Term | Node | pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal
    """A term of `kg_reasoner.terms`, rdflib or pyoxigraph: what public functions accept."""
    NumPyScalar: TypeAlias = np.generic
else:
    AnyTerm = NumPyScalar = Any  # at run time, so that the other libraries are not imported for their types
AnyTriple: TypeAlias = tuple[AnyTerm, AnyTerm, AnyTerm]


class Namespace:
    """A namespace that makes IRIs by attribute or item: ``RDF.type``, ``RDFS["subClassOf"]``; `str()` returns the namespace IRI."""

    def __init__(self, base: str) -> None:
        self._base = base

    def __getitem__(self, name: str) -> IRI:
        made = self.__dict__.get(name)
        if isinstance(made, IRI):
            return made
        iri = IRI(self._base + name)
        return iri if name == "_base" else self.__dict__.setdefault(name, iri)  # an attribute from now on, found without a call

    def __getattr__(self, name: str) -> IRI:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __contains__(self, term: object) -> bool:
        return isinstance(term, IRI) and term.value.startswith(self._base)

    def __str__(self) -> str:
        return self._base


RDF: Final = Namespace("http://www.w3.org/1999/02/22-rdf-syntax-ns#")
RDFS: Final = Namespace("http://www.w3.org/2000/01/rdf-schema#")
OWL: Final = Namespace("http://www.w3.org/2002/07/owl#")
XSD: Final = Namespace("http://www.w3.org/2001/XMLSchema#")

BUILT_IN_ANNOTATIONS: Final = frozenset(
    {
        *(RDFS.label, RDFS.comment, RDFS.seeAlso, RDFS.isDefinedBy),
        *(OWL.versionInfo, OWL.deprecated, OWL.priorVersion, OWL.backwardCompatibleWith, OWL.incompatibleWith),
    }
)
"""The annotation properties that need no declaration."""

_XSD_STRING: Final = XSD.string.value
_LANG_STRING: Final = RDF.langString.value
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_ESCAPED: Final = regular_expression(r'["\\\n\r]')
_UNESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE: Final = regular_expression(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LITERAL: Final = regular_expression(
    r'"((?:[^"\\]|\\.)*)"(?:\^\^<([^<>"{}|^`\\\x00-\x20]*)>|@([A-Za-z]+(?:-[A-Za-z0-9]+)*))?', re.DOTALL
)
_IRI: Final = regular_expression(r'<([^<>"{}|^`\x00-\x20]*)>')
_WORD: Final = regular_expression(r"[A-Za-z][\w.-]*")
_CALENDAR: Final = ("Y", "M", "W", "D")
"""The units of NumPy in which moments are dates."""
_WITHOUT_DIGITS: Final = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}


def is_iri(text: str) -> bool:
    """Return whether a text is an absolute IRI (RFC 3987), as the parsers of all syntaxes require.

    Args:
        text: The text, without angle brackets.

    Returns:
        Whether it is one.

    >>> is_iri("http://example.org/%C3%A9"), is_iri("http://example.org/%"), is_iri("a")
    (True, False, False)
    """
    if _PLAIN_IRI.fullmatch(text):
        return True
    import pyoxigraph

    try:
        pyoxigraph.NamedNode(text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1 << 12)
def is_language(tag: str) -> bool:
    """Return whether a language tag is well-formed (BCP 47), as the parsers of all syntaxes require.

    Args:
        tag: The tag.

    Returns:
        Whether it is.

    >>> is_language("zh-Hant-TW"), is_language("en-a")
    (True, False)
    """
    if _PLAIN_TAG.fullmatch(tag):
        return True
    if not _TAG.fullmatch(tag):
        return False
    import pyoxigraph

    try:
        pyoxigraph.Literal("", language=tag)
    except ValueError:
        return False
    return True


def literal(value: bool | int | float | Decimal | str | date | NumPyScalar) -> Literal:
    """Return the literal of a Python value. That of a float has the canonical form of XML Schema 1.1, as results of arithmetic do.

    >>> print(literal(5), literal(12.5), literal("a"))
    "5"^^<http://www.w3.org/2001/XMLSchema#integer> "1.25E1"^^<http://www.w3.org/2001/XMLSchema#double> "a"

    Args:
        value: A bool, int, float, Decimal, str, date or datetime, also of a subclass, such as a member of an IntEnum, or a scalar
            of NumPy.

    Returns:
        The literal.

    Raises:
        LoadError: The value is none of these, or a Decimal that is not finite, or the absence of a time.
    """
    if isinstance(value, bool):
        return Literal("true" if value else "false", XSD.boolean.value)
    if isinstance(value, int):
        return Literal(int.__repr__(value), XSD.integer.value)
    if isinstance(value, float):
        return Literal(scientific(float.__repr__(value)), XSD.double.value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise LoadError(f"{value!r} is not a value of xsd:decimal", hint="floats can be infinite or NaN")
        return Literal(format(value, "f"), XSD.decimal.value)
    if isinstance(value, str):
        return Literal(value if type(value) is str else str.__str__(value))
    if isinstance(value, date) and value == value:  # the missing time of pandas is not equal to itself
        return _moment(value) if isinstance(value, datetime) else Literal(value.isoformat(), XSD.date.value)
    plain = plain_value(value)
    if plain is not value:
        return literal(plain)
    hint = "give a text, str(value), or a Literal with its datatype"
    raise LoadError(f"{value!r} is not a bool, int, float, Decimal, str, date or datetime", hint=hint)


def _moment(value: datetime) -> Literal:
    """Return the literal of a point in time."""
    seconds, point, fraction = value.replace(tzinfo=None).isoformat().partition(".")
    zone = value.isoformat()[len(seconds + point + fraction) :]
    text = seconds + (f".{fraction.rstrip('0')}" if point else "") + ("Z" if zone == "+00:00" else zone)
    return Literal(text, XSD.dateTime.value)


def plain_value(value: Any) -> Any:
    """Return the bool, int, float, str, date or datetime that a scalar of NumPy is, and any other object as it is.

    >>> import numpy as np
    >>> plain_value(np.int64(5)), plain_value(np.datetime64("2026-01-31"))
    (5, datetime.date(2026, 1, 31))

    Args:
        value: The object.

    Returns:
        The value, unless Python has none that is equal, as for a moment in nanoseconds.
    """
    import numpy as np

    if not isinstance(value, np.generic) or value.dtype.kind not in "biufUM":
        return value
    if value.dtype.kind == "M":
        plain = (value if np.datetime_data(value.dtype)[0] in _CALENDAR else value.astype("M8[us]")).item()
        return plain if isinstance(plain, date) and np.datetime64(plain) == value else value
    plain = value.item()
    return value if isinstance(plain, np.generic) else plain


def scientific(digits: str) -> str:
    """Return the canonical form of a float or double according to XML Schema 1.1.

    >>> scientific("12.5"), scientific("-1e-07"), scientific("0.0"), scientific("inf"), scientific("nan")
    ('1.25E1', '-1.0E-7', '0.0E0', 'INF', 'NaN')

    Args:
        digits: The number in one of the notations of Python, with as many digits as the form shall have.

    Returns:
        The form.
    """
    if digits in _WITHOUT_DIGITS:
        return _WITHOUT_DIGITS[digits]
    sign = "-" if digits[0] == "-" else ""
    mantissa, _, exponent = digits[len(sign) :].partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    power = int(exponent or 0) + len(significant) - len(fraction) - 1 if significant else 0
    significant = significant.rstrip("0") or "0"
    return f"{sign}{significant[0]}.{significant[1:] or '0'}E{power}"


def term_text(term: Term) -> str:
    """Return the N-Triples form of a term, which escapes only backslashes, quotation marks and line breaks.

    Args:
        term: The term.

    Returns:
        The text.

    >>> print(term_text(Literal("chat", language="fr", datatype=RDF.langString.value)))
    "chat"@fr
    """
    if isinstance(term, IRI):
        return f"<{term.value}>"
    if isinstance(term, BlankNode):
        return f"_:{term.label}"
    lexical = term.lexical
    quoted = f'"{lexical.translate(_ESCAPES)}"' if _ESCAPED.search(lexical) else f'"{lexical}"'
    if term.language is not None:
        return f"{quoted}@{term.language}"
    return quoted if term.datatype == _XSD_STRING else f"{quoted}^^<{term.datatype}>"


def unescape(text: str) -> str:
    r"""Return a text with the escapes of N-Triples and Turtle (``\n``, ``\"``, ``\u00E9`` ...) replaced by their characters.

    Args:
        text: The text.

    Returns:
        The text with the characters.

    Raises:
        ValueError: An escape is invalid.
    """
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(match: re.Match[str]) -> str:
    short, long, char = match.groups()
    if char is not None:
        if char not in _UNESCAPES:
            raise ValueError(f"unknown escape \\{char}")
        return _UNESCAPES[char]
    code = int(short or long, 16)
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise ValueError(f"\\{'u' if short else 'U'}{short or long} is not a character")
    return chr(code)


def namespace_of(iri: str) -> str:
    """Return an IRI up to its last ``#``, ``/`` or ``:``.

    Args:
        iri: The IRI.

    Returns:
        The namespace.
    """
    return iri[: max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1]


def word_of(namespace: str) -> str:
    """Return a word for a namespace: the last name in it.

    Args:
        namespace: The namespace.

    Returns:
        The word.

    >>> word_of("http://swat.cse.lehigh.edu/onto/univ-bench.owl#"), word_of("http://www.Department0.University0.edu/")
    ('univ-bench', 'Department0')
    """
    words = _WORD.findall(namespace.partition(":")[2])
    return words[-1].removeprefix("www.").partition(".")[0] if words else "ns"


def term_of(text: str) -> Term:
    """Return the term of a text that `term_text` has made, such as those of a dictionary; it is not checked.

    Args:
        text: The text.

    Returns:
        The term.

    >>> term_of('"chat"@fr')
    Literal(lexical='chat', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', language='fr')
    """
    if text[0] == "<":
        return IRI(text[1:-1])
    if text[0] == "_":
        return BlankNode(text[2:])
    end = text.rindex('"')
    lexical, rest = text[1:end], text[end + 1 :]
    if "\\" in lexical:
        lexical = unescape(lexical)
    if not rest:
        return Literal(lexical, _XSD_STRING)
    return Literal(lexical, _LANG_STRING, rest[1:].lower()) if rest[0] == "@" else Literal(lexical, intern(rest[3:-1]))


def term_from_text(text: str) -> Term:
    """Return the term with an N-Triples form (the inverse of `term_text`).

    Args:
        text: The text.

    Returns:
        The term.

    >>> term_from_text('"a\\\\nb"')
    Literal(lexical='a\\nb', datatype='http://www.w3.org/2001/XMLSchema#string', language=None)

    Raises:
        ValueError: The text is not a term.
    """
    if text.startswith("<"):
        found = _IRI.fullmatch(unescape(text))
        if found:
            return IRI(found[1])
    elif text.startswith("_:") and len(text) > 2:
        return BlankNode(text[2:])
    else:
        found = _LITERAL.fullmatch(text)
        if found:
            lexical, datatype, language = found.groups()
            lexical = unescape(lexical)
            if language is not None:
                return Literal(lexical, _LANG_STRING, language.lower())
            return Literal(lexical, datatype if datatype is not None else _XSD_STRING)
    raise ValueError(f"not an RDF term in N-Triples form: {text!r}")
