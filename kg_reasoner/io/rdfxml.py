"""Streaming output of RDF/XML. (pyoxigraph's writer produces malformed XML for some triples.)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kg_reasoner.errors import OutputError
from kg_reasoner.loaders.rdf.blank import safe_label
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Term, Triple

__all__ = ["rdfxml_lines"]

_LOCAL: Final = re.compile(r"[^\W\d][\w.-]*\Z")
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_LANG_STRING: Final = RDF.langString.value
_RDF: Final = str(RDF)


def rdfxml_lines(triples: Iterable[Triple], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of an RDF/XML document; adjacent triples of one subject share an element.

    Raises:
        OutputError: XML cannot hold a triple (a property that does not end in a name, a control character).
    """
    names = {"rdf": _RDF}
    for prefix, namespace in prefixes.items():
        if prefix and not prefix.lower().startswith("xml"):
            names[prefix] = namespace
    short = {namespace: prefix for prefix, namespace in names.items()}
    declarations = "".join(f"\n    xmlns:{prefix}={_quoted(namespace)}" for prefix, namespace in names.items())
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF{declarations}>\n'
    current: Term | None = None
    for subject, property, object in triples:
        if subject != current:
            if current is not None:
                yield "  </rdf:Description>\n"
            yield f"  <rdf:Description {_node(subject, 'about')}>\n"
            current = subject
        yield f"    {_property(property, object, short)}\n"
    if current is not None:
        yield "  </rdf:Description>\n"
    yield "</rdf:RDF>\n"


def _property(property: Term, object: Term, short: Mapping[str, str]) -> str:
    iri = property.value if isinstance(property, IRI) else ""
    local = _LOCAL.search(iri)
    namespace = iri[: local.start()] if local else ""
    if local is None or not namespace:
        raise OutputError(f"RDF/XML cannot hold the property <{iri}>, which does not end in a name: write Turtle or N-Triples")
    if namespace in short:
        name, declaration = f"{short[namespace]}:{local[0]}", ""
    else:
        name, declaration = f"p:{local[0]}", f" xmlns:p={_quoted(namespace)}"
    if isinstance(object, IRI | BlankNode):
        return f"<{name}{declaration} {_node(object, 'resource')}/>"
    bad = _NOT_IN_XML.search(object.lexical)
    if bad:
        raise OutputError(f"RDF/XML cannot hold the character U+{ord(bad[0]):04X} of a literal: write Turtle or N-Triples")
    kind = ""
    if object.language is not None:
        kind = f' xml:lang="{object.language}"'
    elif object.datatype != XSD.string.value:
        kind = f" rdf:datatype={_quoted(object.datatype)}"
    return f"<{name}{declaration}{kind}>{_escaped(object.lexical)}</{name}>"


def _node(term: Term, attribute: str) -> str:
    if isinstance(term, IRI):
        return f"rdf:{attribute}={_quoted(term.value)}"
    label = term.label if isinstance(term, BlankNode) else ""
    return f'rdf:nodeID="{safe_label(label, as_name=True)}"'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', "&quot;") + '"'
