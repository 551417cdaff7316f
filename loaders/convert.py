"""Conversion between the terms of rdflib and pyoxigraph and those of `kg_reasoner.terms`, and directly to dictionary texts.

Literals keep their lexical form in both directions; language tags become lower case; ``"a"`` and ``"a"^^xsd:string`` are the same
term, which has no datatype in rdflib. Blank nodes keep their labels, so a round trip through rdflib preserves them.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, cast

from kg_reasoner.errors import LoadError
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import IRI, NOT_IN_IRI, NOT_IN_LABEL, RDF, XSD, BlankNode, Literal, Term, is_language, term_from_text

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib
    from rdflib.term import Node

__all__ = [
    "check_absolute",
    "formula_error",
    "from_oxigraph",
    "from_rdflib",
    "in_our_terms",
    "plain_literal",
    "text_from_oxigraph",
    "text_from_rdflib",
    "text_from_term",
    "to_oxigraph",
    "to_rdflib",
    "triple_term_error",
]

_STRING: Final = XSD.string.value
_LANG_STRING: Final = RDF.langString.value
_OF_LANGUAGES: Final = (_LANG_STRING, RDF.dirLangString.value)
_FOREIGN: Final = {
    f"{library}.{kind}" for library in ("rdflib", "pyoxigraph") for kind in ("URIRef", "NamedNode", "BNode", "BlankNode", "Literal")
}
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_TO_ESCAPE: Final = regular_expression(r'[\\"\n\r\ud800-\udfff]')
_SURROGATE: Final = regular_expression(r"[\ud800-\udfff]")
_WRITTEN_ESCAPE: Final = regular_expression(r"\\(?:u([0-9A-F]{4})|U([0-9A-F]{8})|(.))")
_RDF_1_1: Final = "rdf:Statement with rdf:subject, rdf:predicate and rdf:object says the same in RDF 1.1"
_KEPT: Final = {'"': '\\"', "\\": "\\\\", "n": "\\n", "r": "\\r", "t": "\t", "b": "\b", "f": "\f", "'": "'"}


# ---- kg_reasoner's own terms


def in_our_terms(value: object) -> object:
    """Return a term of rdflib or pyoxigraph as one of `kg_reasoner.terms`, and any other object unchanged.

    >>> import rdflib
    >>> in_our_terms(rdflib.RDF.type) == RDF.type
    True

    Args:
        value: Any object.
    """
    return term_from_text(text_from_term(value)) if _is_foreign(value) else value


def _is_foreign(value: object) -> bool:
    """Return whether an object is an IRI, a blank node or a literal of rdflib or pyoxigraph."""
    return any(f"{cls.__module__.partition('.')[0]}.{cls.__name__}" in _FOREIGN for cls in type(value).__mro__)


def check_absolute(iri: str, what: str) -> None:
    """Check that a text is an absolute IRI; `what` describes its purpose in the message.

    Raises:
        LoadError: The text is not an absolute IRI.
    """
    import pyoxigraph

    try:
        pyoxigraph.NamedNode(iri)
    except (TypeError, ValueError) as error:
        raise LoadError(f"the {what} {iri!r} is not an absolute IRI: {error}") from None


def text_from_term(term: object) -> str:
    """Return the dictionary text of a term of `kg_reasoner.terms`, rdflib or pyoxigraph.

    Raises:
        LoadError: The object is not a term, or its parts do not form a valid term.
    """
    if isinstance(term, (IRI, BlankNode, Literal)):
        try:
            return _text_of_ours(term)
        except TypeError:
            raise LoadError(
                f"a part of {term!r} is not a string",
                hint="datatypes are text, for example XSD.integer.value; kg_reasoner.terms.literal() takes values of Python",
            ) from None
    origin = type(term).__module__.partition(".")[0]
    if origin == "pyoxigraph":
        return text_from_oxigraph(term)
    if any(cls.__module__.startswith("rdflib.") for cls in type(term).__mro__):
        return text_from_rdflib(cast("Node", term))
    raise LoadError(
        f"{term!r} is not an RDF term",
        hint="use kg_reasoner.terms or the terms of rdflib; kg_reasoner.terms.literal() makes one of a Python value",
    )


def _text_of_ours(term: IRI | BlankNode | Literal) -> str:
    if isinstance(term, IRI):
        return _iri_text(term.value)
    if isinstance(term, BlankNode):
        return _blank_text(term.label)
    if term.language is not None:
        return _language_text(term.lexical, term.language)
    return _literal_text(term.lexical, term.datatype)


@functools.lru_cache(maxsize=1 << 14)
def _iri_text(value: str) -> str:
    if bad := _not_in_iri(value):
        raise LoadError(f"{value!r} is not a valid IRI: it contains the character {bad!r}", hint=f"write it as %{ord(bad):02X}")
    return "".join(("<", value, ">"))


def _not_in_iri(value: str) -> str | None:
    """Return a character of a text that IRIs cannot contain, if there is one."""
    bad = NOT_IN_IRI.search(value)
    if bad is None and not value.isascii():  # one expression for both would take longer to compile than most calls together
        bad = _SURROGATE.search(value)
    return None if bad is None else bad[0]


def _blank_text(label: str) -> str:
    if not label or NOT_IN_LABEL.search(label):
        raise LoadError(f"{label!r} cannot be the label of a blank node")
    return "_:" + label


def _literal_text(lexical: str, datatype: str) -> str:
    if _TO_ESCAPE.search(lexical):
        lexical = _escaped(lexical)
    if datatype == _STRING:
        return f'"{lexical}"'
    if datatype in _OF_LANGUAGES:
        raise LoadError(f"the literal {lexical!r} has the datatype {datatype} and no language tag")
    if _not_in_iri(datatype):
        raise LoadError(f"the literal {lexical!r} has an invalid datatype IRI: {datatype!r}")
    return f'"{lexical}"^^<{datatype}>'


def _escaped(lexical: str) -> str:
    _check_characters(lexical)
    return lexical.translate(_ESCAPES)


def _check_characters(lexical: str) -> None:
    if _SURROGATE.search(lexical):
        raise LoadError(f"the literal {lexical!r} contains half of a surrogate pair, which is not a character")


def _language_text(lexical: str, language: str) -> str:
    if not is_language(language):
        raise LoadError(f"the literal {lexical!r} has an invalid language tag: {language!r}", hint="tags look like en or pt-BR")
    if _TO_ESCAPE.search(lexical):
        lexical = _escaped(lexical)
    return f'"{lexical}"@{language.lower()}'


def plain_literal(lexical: str) -> Literal:
    """Return the string that an rdf:PlainLiteral with the lexical form ``text@language`` or ``text@`` is.

    The OWL API omits the final ``@`` of texts without a language: an ``@`` before something that is not a language tag is text.

    >>> [str(plain_literal(lexical)) for lexical in ("a@EN", "a@", "a", "a@b c")]
    ['"a"@en', '"a"', '"a"', '"a@b c"']
    """
    text, at, language = lexical.rpartition("@")
    if not at or (language and not is_language(language)):
        return Literal(lexical)
    return Literal(text, _LANG_STRING, language.lower()) if language else Literal(text)


# ---- rdflib


def text_from_rdflib(term: Node) -> str:
    """Return the dictionary text of an rdflib term. Relative IRIs, which rdflib allows, are unchanged.

    >>> import rdflib
    >>> print(text_from_rdflib(rdflib.Literal("07", datatype=rdflib.XSD.integer, normalize=False)))
    "07"^^<http://www.w3.org/2001/XMLSchema#integer>

    Raises:
        LoadError: RDF graphs cannot contain the term (a variable, a formula), or it has an invalid character.
    """
    kind = _KINDS.get(type(term)) or _kind_of(term)
    text = str.__str__(cast(str, term))
    if kind is IRI:
        return _iri_text(text)
    if kind is BlankNode:
        return _blank_text(text)
    node = cast("rdflib.Literal", term)
    if node.language is not None:
        return _language_text(text, node.language)
    return _literal_text(text, _STRING if node.datatype is None else str.__str__(node.datatype))


def from_rdflib(term: Node) -> Term:
    """Return an rdflib term as one of `kg_reasoner.terms`; a normalised literal counts as written in its present form.

    Raises:
        LoadError: See `text_from_rdflib`.
    """
    kind = _KINDS.get(type(term)) or _kind_of(term)
    text = str.__str__(cast(str, term))
    if kind is IRI:
        _iri_text(text)
        return IRI(text)
    if kind is BlankNode:
        _blank_text(text)
        return BlankNode(text)
    node = cast("rdflib.Literal", term)
    if node.language is not None:
        _language_text(text, node.language)
        return Literal(text, _LANG_STRING, node.language.lower())
    if node.datatype is None:
        _check_characters(text)
        return Literal(text)
    datatype = str.__str__(node.datatype)
    _literal_text(text, datatype)
    return Literal(text, datatype)


def to_rdflib(term: Term) -> rdflib.URIRef | rdflib.BNode | rdflib.Literal:
    """Return a term as one of rdflib, with its lexical form unchanged.

    >>> to_rdflib(Literal("07", XSD.integer.value))
    rdflib.term.Literal('07', datatype=rdflib.term.URIRef('http://www.w3.org/2001/XMLSchema#integer'))
    """
    iri, blank_node, literal = _rdflib_classes()
    if isinstance(term, IRI):
        return iri(term.value)
    if isinstance(term, BlankNode):
        return blank_node(term.label)
    if term.language is not None:
        return literal(term.lexical, lang=term.language)
    if term.datatype == _STRING:
        return literal(term.lexical)
    made = literal(term.lexical, datatype=iri(term.datatype), normalize=False)
    return made if str.__str__(made) == term.lexical else _as_written(term.lexical, made)


def _as_written(lexical: str, literal: rdflib.Literal) -> rdflib.Literal:
    """Return a literal of rdflib with its original lexical form, because rdflib always normalises white space in xsd:token and its
    subtypes.
    """
    exact = str.__new__(type(literal), lexical)
    for part in ("_language", "_datatype", "_value", "_ill_typed"):
        setattr(exact, part, getattr(literal, part))
    return exact


_KINDS: Final[dict[type, type]] = {}
"""Our class for each class of rdflib terms seen so far: a look-up is cheaper than an import and `isinstance` for each term."""


def _kind_of(term: object) -> type:
    for theirs, ours in zip(_rdflib_classes(), (IRI, BlankNode, Literal), strict=True):
        if isinstance(term, theirs):
            _KINDS[type(term)] = ours
            return ours
    if hasattr(term, "triples"):
        raise formula_error()
    raise LoadError(f"{term!r} is not an RDF term: a triple consists of IRIs, blank nodes and literals")


def formula_error() -> LoadError:
    """Return the error for a formula of N3 where triples are expected."""
    return LoadError("an N3 formula { ... } is not an RDF term", hint="load documents with rules by Reasoner.load")


@functools.cache
def _rdflib_classes() -> tuple[type[rdflib.URIRef], type[rdflib.BNode], type[rdflib.Literal]]:
    from rdflib.term import BNode, URIRef
    from rdflib.term import Literal as RdflibLiteral

    return URIRef, BNode, RdflibLiteral


# ---- pyoxigraph


def text_from_oxigraph(term: object) -> str:
    """Return the dictionary text of a pyoxigraph term.

    Raises:
        LoadError: The term belongs to RDF 1.2 (a triple term, a literal with a base direction).
    """
    text = str(term)
    first = text[0]
    if first == '"':
        if "\\" in text:
            text = _WRITTEN_ESCAPE.sub(_rewrite, text)
        if text[-1] not in '">' and "--" in text[text.rindex('"') :]:
            raise LoadError(
                f"the base direction of {text} belongs to RDF 1.2, which is not supported", hint="leave the direction out"
            )
    elif first not in "<_":
        raise LoadError(f"{term!r} is not an RDF term: a triple consists of IRIs, blank nodes and literals")
    elif " " in text:
        raise triple_term_error()
    return text


def triple_term_error() -> LoadError:
    """Return the error for a triple term, or for a reifier or annotation, which contain one."""
    return LoadError("the triple term, reifier or annotation belongs to RDF 1.2, which is not supported", hint=_RDF_1_1)


def _rewrite(match: re.Match[str]) -> str:
    """Return an escape of canonical N-Triples in the dictionary's form, which escapes four characters only."""
    short, long, char = match.groups()
    return _KEPT[char] if char is not None else chr(int(short or long, 16))


def from_oxigraph(term: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | pyoxigraph.Triple) -> Term:
    """Return a pyoxigraph term as one of `kg_reasoner.terms`.

    Raises:
        LoadError: See `text_from_oxigraph`.
    """
    return term_from_text(text_from_oxigraph(term))


def to_oxigraph(term: Term) -> pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal:
    """Return a term as one of pyoxigraph.

    Raises:
        ValueError: pyoxigraph does not accept the term, for example because its IRI is relative.
    """
    iri, blank_node, literal = _oxigraph_classes()
    if isinstance(term, IRI):
        return iri(term.value)
    if isinstance(term, BlankNode):
        return blank_node(term.label)
    if term.language is not None:
        return literal(term.lexical, language=term.language)
    if term.datatype == _STRING:
        return literal(term.lexical)
    return literal(term.lexical, datatype=iri(term.datatype))


@functools.cache
def _oxigraph_classes() -> tuple[type[pyoxigraph.NamedNode], type[pyoxigraph.BlankNode], type[pyoxigraph.Literal]]:
    import pyoxigraph

    return pyoxigraph.NamedNode, pyoxigraph.BlankNode, pyoxigraph.Literal
