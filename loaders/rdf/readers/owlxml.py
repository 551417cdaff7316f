"""OWL/XML to triples, by the mapping of OWL 2 to RDF graphs (W3C, OWL 2 Mapping to RDF Graphs, section 2).

One axiom at a time is in memory. The reader covers every element of the OWL 2 XML serialisation, and the SWRL rules
(``DLSafeRule``) that the OWL API writes, which become triples of SWRL's RDF form.

The reader does not use owlready2's, which skips keys, negative assertions, datatype definitions and all but two members of
equivalences, changes the lexical form of numbers, and removes a slash at the end of IRIs. The tests compare with it where it is
faithful.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import plain_literal, text_from_term
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.readers.xml import XMLReader, text_of
from kg_reasoner.loaders.rdf.scan import too_long
from kg_reasoner.loaders.syntaxes.constructs import AXIOMS, SIGNATURES, Construct, Malformed, Part, check
from kg_reasoner.loaders.syntaxes.to_rdf import RdfMapping
from kg_reasoner.loaders.syntaxes.vocabulary import ENTITIES
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Triple

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.readers.syntax import Batch
    from kg_reasoner.loaders.rdf.sources import OpenDocument

__all__ = ["read_owlxml"]

_SPACE: Final = " "
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NUMBER: Final = re.compile(r"\s*[0-9]{1,9}\s*")
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_PREFIXES: Final = {"rdf": str(RDF), "rdfs": str(RDFS), "xsd": str(XSD), "owl": str(OWL), "xml": _XML}


@dataclass(slots=True)
class _Element:
    """An XML element below the root; `name` is its local name, `base` the base IRI in scope."""

    name: str
    attributes: dict[str, str]
    line: int
    base: str
    parts: list[Part] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """The line of each part."""
    data_properties: set[int] | None = None
    """Which parts are data properties."""
    annotations: list[Construct] | None = None
    text: list[str] = field(default_factory=list)
    length: int = 0
    """The bytes of the text so far, roughly."""

    def content(self) -> str:
        return "".join(self.text).strip()


def read_owlxml(opened: OpenDocument, reading: Reading) -> Iterator[Batch]:
    """Yield the triples of an OWL/XML document.

    Relative IRIs are resolved against xml:base, else the base of the reading, else the ontology's IRI.

    Raises:
        LoadError: The document is not well-formed or not OWL/XML, with the line.
    """
    triples = _OwlXmlTranslation(opened, reading).triples()
    texts = (text_from_term(term) for triple in triples for term in triple)
    while batch := list(itertools.islice(texts, 3 * reading.block)):
        yield reading.dictionary.encode_texts(batch).reshape(-1, 3), None


class _OwlXmlTranslation:
    """The translation of one document."""

    def __init__(self, opened: OpenDocument, reading: Reading) -> None:
        self._sink = reading.prefixes
        self._reader = reader = XMLReader(opened.document, text_of(opened), self._start, self._end)
        self._base = reading.base
        self._scope = reading.scope_of(opened)
        self._mapping = RdfMapping(self._scope.fresh)
        self._prefixes = dict(_PREFIXES)
        self._open: list[_Element] = []
        self._out: list[Triple] = []
        self._iris: dict[tuple[str, str], IRI] = {}
        reader.parser.StartDoctypeDeclHandler = self._doctype
        reader.parser.CharacterDataHandler = self._characters

    def triples(self) -> Iterator[Triple]:
        more = True
        while more:
            more = bool(self._reader.feed())
            yield from self._out
            self._out.clear()

    # ---- XML

    def _doctype(self, name: str, system_id: str | None, *_: object) -> None:
        if system_id is not None:
            raise self._reader.error(
                "the document type is defined outside the document", "nothing is fetched: leave its address out"
            )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        namespace, _, name = tag.rpartition(_SPACE)
        outer = self._open[-1] if self._open else None
        base = outer.base if outer else self._base or attributes.get("ontologyIRI", "")
        element = _Element(name, attributes, self._reader.line, attributes.get(f"{_XML}{_SPACE}base", base))
        if namespace != str(OWL) or (outer is None and name != "Ontology"):
            raise self._error(element, f"the element {name} is not part of OWL/XML")
        self._open.append(element)
        if outer is None:
            self._begin(element)

    def _characters(self, data: str) -> None:
        if len(self._open) > 1:
            element = self._open[-1]
            element.text.append(data)
            element.length += len(data)
            if element.length > self._reader.document.bounds.literal:
                raise too_long(self._reader.document, self._reader.line)

    def _end(self, tag: str) -> None:
        element = self._open.pop()
        if not self._open:
            return
        outer = self._open[-1]
        if element.name == "Prefix" and len(self._open) == 1:
            self._prefix(element)
            return
        part = self._part(element)
        if len(self._open) == 1:
            if not isinstance(part, Construct) or (part.name not in AXIOMS and part.name not in _HEADER):
                raise self._not_understood(element)
            self._out += self._mapping.triples(part)
        elif isinstance(part, Construct) and part.name == "Annotation":
            outer.annotations = outer.annotations or []
            outer.annotations.append(part)
        else:
            if element.name == "DataProperty":
                outer.data_properties = outer.data_properties or set()
                outer.data_properties.add(len(outer.parts))
            outer.parts.append(part)
            outer.lines.append(element.line)

    def _error(self, element: _Element, message: str, hint: str | None = None) -> LoadError:
        return self._reader.document.error(message, element.line, hint=hint)

    def _not_understood(self, element: _Element) -> LoadError:
        return self._error(element, f"the element {element.name} is not understood here")

    def _part(self, element: _Element) -> Part:
        """Return the term or the construct that an element stands for."""
        name = element.name
        if name in _TERMS and not (name in ENTITIES and self._open[-1].name == "Declaration"):
            return _TERMS[name](self, element)
        if name not in SIGNATURES:
            raise self._not_understood(element)
        construct = Construct(name, self._parts(element), tuple(element.annotations or ()))
        try:
            check(construct)
        except Malformed as error:
            lines = [*[element.line] * (len(construct.parts) - len(element.lines)), *element.lines]  # some parts are attributes
            line = element.line if error.part is None or name == "HasKey" else lines[error.part]
            raise self._reader.document.error(str(error), line) from None
        return construct

    def _parts(self, element: _Element) -> tuple[Part, ...]:
        """Return the parts of a construct, in the places that they have in functional syntax."""
        name, parts = element.name, element.parts
        if name not in _WITH_ATTRIBUTES:
            return tuple(parts)
        if name in ENTITIES:
            return (self._entity(element),)
        if name == "Import":
            return (self._iri(element, element.content()),)
        if name == "Variable":
            return (self._entity(element),)
        if name == "BuiltInAtom":
            return (self._entity(element), *parts)
        if name == "FacetRestriction":
            return (self._iri(element, self._attribute(element, "facet")), *parts)
        if name.endswith("Cardinality"):
            return (self._number(element, self._attribute(element, "cardinality")), *parts)
        if name == "HasKey":
            keys = [(number in (element.data_properties or ()), part) for number, part in enumerate(parts) if number]
            lists = (("ObjectProperties", False), ("DataProperties", True))
            return (
                *parts[:1],
                *(Construct(kind, tuple(part for is_data, part in keys if is_data == data)) for kind, data in lists),
            )
        return tuple(parts)

    # ---- the ontology

    def _begin(self, root: _Element) -> None:
        iris = [root.attributes.get(name) for name in ("ontologyIRI", "versionIRI")]
        self._out += self._mapping.triples(Construct("Ontology", tuple(self._iri(root, iri) for iri in iris if iri)))

    def _prefix(self, element: _Element) -> None:
        name, namespace = self._attribute(element, "name"), self._iri(element, self._attribute(element, "IRI")).value
        self._prefixes[name] = namespace
        if self._sink is not None:
            self._sink(name, namespace)

    # ---- entities, individuals, literals, numbers

    def _iri(self, element: _Element, text: str) -> IRI:
        key = (text, element.base)
        if key not in self._iris:
            self._iris[key] = IRI(self._absolute(element, text))
        return self._iris[key]

    def _absolute(self, element: _Element, text: str) -> str:
        import pyoxigraph

        is_relative = not _SCHEME.match(text)
        if is_relative and not element.base:
            raise self._error(element, f"the IRI {text!r} is relative", "add xml:base to the document, or pass base='http://...'")
        try:
            if is_relative:
                document = element.base.partition("#")[0]
                text = document + text if not text or text.startswith("#") else urljoin(document, text)
            pyoxigraph.NamedNode(text)
        except ValueError as error:
            raise self._error(element, f"the IRI {text!r} is not valid: {error}") from None
        return text

    def _attribute(self, element: _Element, name: str) -> str:
        if name not in element.attributes:
            raise self._error(element, f"{element.name} has no {name}")
        return element.attributes[name]

    def _entity(self, element: _Element) -> IRI:
        if "abbreviatedIRI" in element.attributes:
            return self._abbreviated(element, element.attributes["abbreviatedIRI"])
        return self._iri(element, self._attribute(element, "IRI"))

    def _abbreviated(self, element: _Element, text: str) -> IRI:
        prefix, _, local = text.partition(":")
        if prefix not in self._prefixes:
            raise self._error(element, f"the prefix {prefix}: is not declared", "declare it with a Prefix element")
        return self._iri(element, self._prefixes[prefix] + local)

    def _iri_content(self, element: _Element) -> IRI:
        return self._iri(element, element.content())

    def _abbreviated_content(self, element: _Element) -> IRI:
        return self._abbreviated(element, element.content())

    def _anonymous(self, element: _Element) -> BlankNode:
        return BlankNode(self._scope.written(self._attribute(element, "nodeID").removeprefix("_:")))

    def _literal(self, element: _Element) -> Literal:
        text = "".join(element.text)
        datatype = element.attributes.get("datatypeIRI", XSD.string.value)
        language = element.attributes.get(f"{_XML}{_SPACE}lang") or None
        if language:
            literal = Literal(text, RDF.langString.value, language.lower())
        elif datatype == RDF.PlainLiteral.value:
            literal = plain_literal(text)
        else:
            literal = Literal(text, self._iri(element, datatype).value)
        try:
            text_from_term(literal)
        except LoadError as error:
            raise self._error(element, error.message, error.hint) from None
        return literal

    def _number(self, element: _Element, text: str) -> int:
        if not _NUMBER.fullmatch(text):
            raise self._error(element, f"the cardinality {text!r} is not a number")
        return int(text)


_TERMS: Final[dict[str, Callable[[_OwlXmlTranslation, _Element], Part]]] = {
    **dict.fromkeys(ENTITIES, _OwlXmlTranslation._entity),
    "AnonymousIndividual": _OwlXmlTranslation._anonymous,
    "Literal": _OwlXmlTranslation._literal,
    "IRI": _OwlXmlTranslation._iri_content,
    "AbbreviatedIRI": _OwlXmlTranslation._abbreviated_content,
}
"""The elements that stand for a term, and how."""

_WITH_ATTRIBUTES: Final = frozenset(
    {
        *ENTITIES,
        *("Import", "Variable", "BuiltInAtom", "FacetRestriction", "HasKey"),
        *(name for name in SIGNATURES if name.endswith("Cardinality")),
    }
)
"""The constructs some of whose parts are attributes or text of their element, or in other places than in functional syntax."""

_HEADER: Final = frozenset({"Import", "Annotation"})
"""The constructs below the root that are not axioms."""
