"""Streaming output of RDF/XML. (pyoxigraph's writer produces malformed XML for some triples.)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from kg_reasoner.errors import OutputError
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.blank import safe_label
from kg_reasoner.storage.writers.rdfxml_elements import ElementWriter
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Term

if TYPE_CHECKING:
    from kg_reasoner.io.lines import Blocks
    from kg_reasoner.storage.arrays import TripleIds
    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["rdfxml_blocks", "rdfxml_lines"]

_NAME: Final = regular_expression(r"[^\W\d][\w.-]*\Z")
_NOT_IN_XML: Final = regular_expression("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_RDF: Final = str(RDF)
_SYNTAX_NAMES: Final = "RDF ID about parseType resource nodeID datatype Description aboutEach aboutEachPrefix bagID li"
_SYNTAX: Final = frozenset(RDF[name] for name in _SYNTAX_NAMES.split())
"""The names that cannot be properties in RDF/XML (section 7.2.5), and ``rdf:li``, which stands for ``rdf:_1`` and so on."""
_KNOWN: Final = 100_000
"""The number of objects that are cached with their texts."""

Key = TypeVar("Key")


def rdfxml_lines(rows: Iterable[Sequence[Key]], term_of: Callable[[Key], Term], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of an RDF/XML document; adjacent triples of one subject share an element.

    Args:
        rows: Triples, as terms or as keys for them.
        term_of: Returns the term for a key.
        prefixes: The prefixes to use, with their namespaces.

    Raises:
        OutputError: XML cannot hold a triple (a property that does not end in a name, a control character).
    """
    header, short = _header(prefixes)
    yield header
    properties: dict[Key, tuple[str, str]] = {}
    values: dict[Key, tuple[str, bool]] = {}
    current: Key | None = None
    for subject, property, value in rows:
        if subject != current:
            if current is not None:
                yield "  </rdf:Description>\n"
            yield f"  <rdf:Description {_node(term_of(subject), 'about')}>\n"
            current = subject
        name = properties.get(property)
        if name is None:
            name = properties[property] = _name(term_of(property), short)
        found = values.get(value)
        if found is None:
            if len(values) == _KNOWN:
                values.clear()
            found = values[value] = _content(term_of(value))
        content, is_literal = found
        yield f"    <{name[0]}{name[1]}{content}</{name[0]}>\n" if is_literal else f"    <{name[0]}{name[1]} {content}/>\n"
    if current is not None:
        yield "  </rdf:Description>\n"
    yield "</rdf:RDF>\n"


def rdfxml_blocks(triples: TripleIds, dictionary: Dictionary, prefixes: Mapping[str, str]) -> Blocks:
    """Yield what `rdfxml_lines` does in blocks, for triples given as ids, shape (n, 3), grouped by subject.

    Raises:
        OutputError: As in `rdfxml_lines`.
    """
    header, short = _header(prefixes)
    ids, places = np.unique(triples[:, 1], return_inverse=True)
    nodes = np.flatnonzero(dictionary.first_bytes() == ord("_")).astype(np.int32)
    names = [safe_label(text[2:], as_name=True) for text in dictionary.texts_of(nodes)]
    others = np.arange(len(dictionary), dtype=np.int32)
    others[nodes] = len(dictionary) + np.arange(len(nodes), dtype=np.int32)
    writer = ElementWriter(dictionary, names)
    properties = [dictionary.decode(number) for number in ids.tolist()]
    if writer.refused[triples[:, 2]].any() or not all(map(_has_name, properties)):
        for _ in rdfxml_lines(triples.tolist(), dictionary.decode, prefixes):
            pass  # the first triple that cannot be written is an error
    found = [_name(property, short) for property in properties]
    yield header.encode(), 0
    rows = np.column_stack([others[triples[:, 0]], places.reshape(-1).astype(np.int32), others[triples[:, 2]]])
    yield from writer.elements(rows, [(f"<{name}{declared}", f"</{name}>\n") for name, declared in found])
    yield ("  </rdf:Description>\n" if len(triples) else "").encode() + b"</rdf:RDF>\n", 0


def _header(prefixes: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the beginning of a document, and the prefixes that it declares, by namespace."""
    names = {"rdf": _RDF}
    for prefix, namespace in prefixes.items():
        if _NAME.match(prefix) and _is_name(prefix) and prefix != "rdf" and not prefix.lower().startswith("xml"):
            names[prefix] = namespace
    declarations = "".join(f"\n    xmlns:{prefix}={_quoted(namespace)}" for prefix, namespace in names.items())
    short = {namespace: prefix for prefix, namespace in names.items()}
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF{declarations}>\n', short


def _has_name(property: Term) -> bool:
    """Return whether a property ends in a name, behind something else, and may be the name of an element."""
    return isinstance(property, IRI) and property not in _SYNTAX and 0 < _name_start(property.value) < len(property.value)


def _name(property: Term, short: Mapping[str, str]) -> tuple[str, str]:
    """Return the name of a property's element, and the declaration that it needs."""
    iri = property.value if isinstance(property, IRI) else ""
    start = _name_start(iri)
    namespace, local = iri[:start], iri[start:]
    if property in _SYNTAX:
        raise OutputError(f"RDF/XML cannot hold the property <{iri}>, which is part of its syntax: write Turtle or N-Triples")
    if not local or not namespace:
        message = f"RDF/XML cannot hold the property <{iri}>, which does not end in a name that all parsers of XML read"
        raise OutputError(f"{message}: write Turtle or N-Triples")
    if namespace in short:
        return f"{short[namespace]}:{local}", ""
    return f"p:{local}", f" xmlns:p={_quoted(namespace)}"


def _name_start(iri: str) -> int:
    """Return where the longest name at the end of an IRI begins; its length if it does not end in a name."""
    found = _NAME.search(iri)
    start = len(iri) if found is None else found.start()
    if not iri[start:].isascii():
        start = max((place + 1 for place in range(start, len(iri)) if not _is_name(f"n{iri[place]}")), default=start)
        while start < len(iri) and not _is_name(iri[start]):
            start += 1
    return start


@lru_cache(maxsize=1 << 10)
def _is_name(text: str) -> bool:
    """Return whether a text, in which expat would find no markup, is a name for expat: one of the fourth edition of XML, which has
    fewer of them than the fifth, so that every parser can read it.
    """
    from xml.parsers import expat

    try:
        expat.ParserCreate().Parse(f"<{text}/>", True)
    except expat.ExpatError:
        return False
    return True


def _content(value: Term) -> tuple[str, bool]:
    """Return an object: an attribute, or the end of a start tag and the text, with whether it is this."""
    if isinstance(value, IRI | BlankNode):
        return _node(value, "resource"), False
    bad = _NOT_IN_XML.search(value.lexical)
    if bad:
        raise OutputError(f"RDF/XML cannot hold the character U+{ord(bad[0]):04X} of a literal: write Turtle or N-Triples")
    kind = ""
    if value.language is not None:
        kind = f' xml:lang="{value.language}"'
    elif value.datatype != XSD.string.value:
        kind = f" rdf:datatype={_quoted(value.datatype)}"
    return f"{kind}>{_escaped(value.lexical)}", True


def _node(term: Term, attribute: str) -> str:
    if isinstance(term, IRI):
        return f"rdf:{attribute}={_quoted(term.value)}"
    label = term.label if isinstance(term, BlankNode) else ""
    return f'rdf:nodeID="{safe_label(label, as_name=True)}"'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', "&quot;") + '"'
