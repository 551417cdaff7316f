"""Constructs as OWL/XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from kg_reasoner.errors import OutputError
from kg_reasoner.loaders.blank_node_labels import safe_label
from kg_reasoner.loaders.syntaxes.constructs import AXIOMS, Construct, Part, slots_of
from kg_reasoner.terms import IRI, OWL, RDF, XSD, BlankNode, Literal

__all__ = ["owlxml_lines"]

_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ELEMENTS: Final = {
    "class": "Class",
    "class-name": "Class",
    "data-range": "Datatype",
    "datatype": "Datatype",
    "object-property": "ObjectProperty",
    "object-property-name": "ObjectProperty",
    "object-property-or-chain": "ObjectProperty",
    "data-property": "DataProperty",
    "annotation-property": "AnnotationProperty",
    "individual": "NamedIndividual",
    "individual-argument": "NamedIndividual",
}
"""The elements of names, by the kind of part that they are."""
_IN_ATTRIBUTES: Final = frozenset({"Class", "Datatype", "ObjectProperty", "DataProperty", "AnnotationProperty", "NamedIndividual"})
_LISTS: Final = ("ObjectProperties", "DataProperties")


def owlxml_lines(constructs: Iterable[Construct], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a document; the first construct is the ontology.

    Raises:
        OutputError: XML cannot hold a character of a literal.
    """
    yield '<?xml version="1.0"?>\n'
    for construct in constructs:
        if construct.name == "Ontology":
            attributes = zip(("ontologyIRI", "versionIRI"), construct.parts, strict=False)
            shown = "".join(f" {name}={_attribute(iri)}" for name, iri in attributes if isinstance(iri, IRI))
            yield f"<Ontology xmlns={quoteattr(str(OWL))}{shown}>\n"
            for prefix, namespace in prefixes.items():
                yield f"  <Prefix name={quoteattr(prefix)} IRI={quoteattr(namespace)}/>\n"
        elif construct.name == "Import":
            yield f"  <Import>{_text(str(construct.parts[0])[1:-1])}</Import>\n"
        else:
            yield f"  {_element(construct)}\n"
    yield "</Ontology>\n"


def _element(construct: Construct) -> str:
    """Return a construct as an element. Constructs may be inside each other to any depth."""
    pieces: list[str] = []
    waiting: list[str | tuple[Part, str]] = [(construct, "axiom" if construct.name in AXIOMS else "")]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            pieces.append(found)
            continue
        part, kind = found
        if not isinstance(part, Construct):
            pieces.append(_term(part, kind))
            continue
        kinds = slots_of(part.name, len(part.parts))
        inner: list[tuple[Part, str]] = [(annotation, "") for annotation in part.annotations]
        inner += zip(part.parts, kinds, strict=True)
        if part.name in _LISTS:
            waiting += reversed(inner)
            continue
        attributes, count = _attributes(part)
        del inner[len(part.annotations) : len(part.annotations) + count]
        if not inner and count:
            pieces.append(f"<{part.name}{attributes}/>")
            continue
        pieces.append(f"<{part.name}{attributes}>")
        waiting.append(f"</{part.name}>")
        waiting += reversed(inner)
    return "".join(pieces)


def _attributes(construct: Construct) -> tuple[str, int]:
    """Return the attributes of an element, and how many of the first parts they hold."""
    name, parts = construct.name, construct.parts
    if name in _IN_ATTRIBUTES or name in ("Variable", "BuiltInAtom"):
        return f" IRI={_attribute(parts[0])}", 1
    if name == "FacetRestriction":
        return f" facet={_attribute(parts[0])}", 1
    if name.endswith("Cardinality"):
        return f' cardinality="{parts[0]}"', 1
    return "", 0


def _term(part: Part, kind: str) -> str:
    if isinstance(part, IRI):
        element = _ELEMENTS.get(kind)
        return f"<IRI>{_text(part.value)}</IRI>" if element is None else f"<{element} IRI={_attribute(part)}/>"
    if isinstance(part, BlankNode):
        return f"<AnonymousIndividual nodeID={quoteattr('_:' + safe_label(part.label, as_name=True))}/>"
    assert isinstance(part, Literal)
    if part.language is not None:
        return f'<Literal xml:lang="{part.language}">{_text(part.lexical)}</Literal>'
    if part.datatype in (XSD.string.value, RDF.PlainLiteral.value):
        return f"<Literal>{_text(part.lexical)}</Literal>"
    return f"<Literal datatypeIRI={quoteattr(part.datatype)}>{_text(part.lexical)}</Literal>"


def _attribute(part: Part) -> str:
    assert isinstance(part, IRI)
    return quoteattr(part.value)


def _text(text: str) -> str:
    bad = _NOT_IN_XML.search(text)
    if bad:
        raise OutputError(f"XML cannot hold the character U+{ord(bad[0]):04X} of {text!r}; N-Triples can hold it")
    return escape(text, {"\r": "&#13;"})
