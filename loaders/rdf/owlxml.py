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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar
from urllib.parse import urljoin

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import is_language, text_from_term
from kg_reasoner.loaders.rdf import owlxml_tables as tables
from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.loaders.rdf.scan import too_long
from kg_reasoner.loaders.rdf.xml import XMLReader
from kg_reasoner.loaders.rules.swrl import SWRL
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.sources import OpenDocument
    from kg_reasoner.loaders.rdf.statements import TermDictionary
    from kg_reasoner.loaders.rdf.syntax import Batch

__all__ = ["read_owlxml"]

_SPACE: Final = " "
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_PREFIXES: Final = {"rdf": str(RDF), "rdfs": str(RDFS), "xsd": str(XSD), "owl": str(OWL), "xml": _XML}


@dataclass(slots=True)
class _Element:
    """An XML element below the root; `name` is its local name, `base` the base IRI in scope."""

    name: str
    attributes: dict[str, str]
    line: int
    base: str
    children: list[_Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    length: int = 0
    """The bytes of the text so far, roughly."""
    term: Term | None = None
    """The term of an expression that is complete."""

    def content(self) -> str:
        return "".join(self.text).strip()

    def annotations(self) -> list[_Element]:
        return [child for child in self.children if child.name == "Annotation"]


def read_owlxml(
    opened: OpenDocument, base: str | None, dictionary: TermDictionary, scope: BlankScope, block: int
) -> Iterator[Batch]:
    """Yield the triples of an OWL/XML document, at most `block` at a time.

    Relative IRIs are resolved against xml:base, else `base`, else the ontology's IRI.

    Raises:
        LoadError: The document is not well-formed or not OWL/XML, with the line.
    """
    triples = _OwlXmlTranslation(opened, base, scope).triples()
    texts = (text_from_term(term) for triple in triples for term in triple)
    while batch := list(itertools.islice(texts, 3 * block)):
        yield dictionary.encode_texts(batch).reshape(-1, 3), None


class _OwlXmlTranslation:
    """The translation of one document."""

    def __init__(self, opened: OpenDocument, base: str | None, scope: BlankScope) -> None:
        self._reader = reader = XMLReader(opened, self._start, self._end)
        self._base = base
        self._scope = scope
        self._ontology: Term = IRI("")
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
        if len(self._open) > 1:
            outer = self._open[-1]
            outer.children.append(element)
            if element.name in _EXPRESSIONS and outer.name in _EXPRESSIONS:
                element.term = self._term(element)  # now: later, expressions inside each other would be calls inside each other
        elif self._open:
            for triple in self._known(_AXIOMS, element)(self, element):
                self._add(*triple)
                self._annotate(triple, element)

    def _error(self, element: _Element, message: str, hint: str | None = None) -> LoadError:
        return self._reader.document.error(message, element.line, hint=hint)

    def _known(self, table: dict[str, _Method[_T]], element: _Element) -> _Method[_T]:
        if element.name not in table:
            raise self._error(element, f"the element {element.name} is not understood here")
        return table[element.name]

    # ---- building blocks

    def _add(self, subject: Term, predicate: Term, object: Term) -> None:
        self._out.append((subject, predicate, object))

    def _fresh(self) -> BlankNode:
        return BlankNode(self._scope.fresh())

    def _parts(self, element: _Element, least: int, most: int | None = None) -> list[_Element]:
        """Return the children of an element that are not annotations, after checking their number."""
        parts = [child for child in element.children if child.name != "Annotation"]
        if len(parts) < least or (most is not None and len(parts) > most):
            raise self._error(
                element, f"{element.name} has {len(parts)} parts, which is too {'few' if len(parts) < least else 'many'}"
            )
        return parts

    def _terms(self, element: _Element, least: int, most: int | None = None) -> list[Term]:
        return [self._term(part) for part in self._parts(element, least, most)]

    def _term(self, element: _Element) -> Term:
        """Return the term of an entity, a literal or an expression, and add the triples of the expression."""
        return self._known(_TERMS, element)(self, element) if element.term is None else element.term

    def _list(self, terms: list[Term]) -> Term:
        head: Term = RDF.nil
        for term in reversed(terms):
            node = self._fresh()
            self._add(node, RDF.first, term)
            self._add(node, RDF.rest, head)
            head = node
        return head

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

    # ---- the ontology

    def _begin(self, root: _Element) -> None:
        iri = root.attributes.get("ontologyIRI")
        self._ontology = self._iri(root, iri) if iri else self._fresh()
        self._add(self._ontology, RDF.type, OWL.Ontology)
        version = root.attributes.get("versionIRI")
        if version:
            self._add(self._ontology, OWL.versionIRI, self._iri(root, version))

    def _prefix(self, element: _Element) -> list[Triple]:
        self._prefixes[self._attribute(element, "name")] = str(self._iri(element, self._attribute(element, "IRI")).value)
        return []

    def _import(self, element: _Element) -> list[Triple]:
        return [(self._ontology, OWL.imports, self._iri(element, element.content()))]

    def _ontology_annotation(self, element: _Element) -> list[Triple]:
        self._annotation(self._ontology, element)
        return []

    # ---- annotations

    def _annotation(self, subject: Term, annotation: _Element) -> None:
        """Add an annotation of a subject, with the annotations of that annotation, recursively."""
        waiting = [(subject, annotation)]
        while waiting:
            subject, annotation = waiting.pop()
            property, value = self._terms(annotation, 2, 2)
            self._add(subject, property, value)
            inner = annotation.annotations()
            if inner:
                node = self._reified((subject, property, value), OWL.Annotation)
                waiting += ((node, each) for each in reversed(inner))

    def _annotate(self, triple: Triple, element: _Element) -> None:
        """Add the annotations of an axiom, to a node that reifies its triple."""
        if element.annotations():
            self._annotate_node(self._reified(triple, OWL.Axiom), element)

    def _annotate_node(self, node: Term, element: _Element) -> None:
        for annotation in element.annotations():
            self._annotation(node, annotation)

    def _reified(self, triple: Triple, kind: IRI) -> Term:
        """Return a node that reifies a triple."""
        node = self._fresh()
        self._add(node, RDF.type, kind)
        for property, term in zip((OWL.annotatedSource, OWL.annotatedProperty, OWL.annotatedTarget), triple, strict=True):
            self._add(node, property, term)
        return node

    # ---- entities, individuals, literals

    def _entity(self, element: _Element) -> Term:
        if "abbreviatedIRI" in element.attributes:
            return self._abbreviated(element, element.attributes["abbreviatedIRI"])
        return self._iri(element, self._attribute(element, "IRI"))

    def _abbreviated(self, element: _Element, text: str) -> IRI:
        prefix, _, local = text.partition(":")
        if prefix not in self._prefixes:
            raise self._error(element, f"the prefix {prefix}: is not declared", "declare it with a Prefix element")
        return self._iri(element, self._prefixes[prefix] + local)

    def _iri_content(self, element: _Element) -> Term:
        return self._iri(element, element.content())

    def _abbreviated_content(self, element: _Element) -> Term:
        return self._abbreviated(element, element.content())

    def _anonymous(self, element: _Element) -> Term:
        return BlankNode(self._scope.written(self._attribute(element, "nodeID").removeprefix("_:")))

    def _literal(self, element: _Element) -> Term:
        text = "".join(element.text)
        datatype = element.attributes.get("datatypeIRI", XSD.string.value)
        language = element.attributes.get(f"{_XML}{_SPACE}lang") or None
        if datatype == RDF.PlainLiteral.value:
            datatype = XSD.string.value
            if language is None:
                text, language = self._plain_literal(text)
        if language:
            literal = Literal(text, RDF.langString.value, language.lower())
        else:
            literal = Literal(text, self._iri(element, datatype).value)
        try:
            text_from_term(literal)
        except LoadError as error:
            raise self._error(element, error.message, error.hint) from None
        return literal

    @staticmethod
    def _plain_literal(text: str) -> tuple[str, str | None]:
        """Return the text and the language of an rdf:PlainLiteral, with the lexical form ``text@language`` or ``text@``.

        The OWL API omits the final ``@`` of texts without a language: an ``@`` before something that is not a language tag is text.
        """
        before, at, language = text.rpartition("@")
        if at and (not language or is_language(language)):
            return before, language or None
        return text, None

    # ---- expressions

    def _inverse(self, element: _Element) -> Term:
        node = self._fresh()
        self._add(node, OWL.inverseOf, self._terms(element, 1, 1)[0])
        return node

    def _nary_expression(self, element: _Element) -> Term:
        kind, property = tables.NARY_EXPRESSIONS[element.name]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        self._add(node, property, self._list(self._terms(element, 1)))
        return node

    def _complement(self, element: _Element) -> Term:
        kind, property = tables.COMPLEMENTS[element.name]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        self._add(node, property, self._terms(element, 1, 1)[0])
        return node

    def _datatype_restriction(self, element: _Element) -> Term:
        datatype, *facets = self._parts(element, 2)
        node = self._fresh()
        self._add(node, RDF.type, RDFS.Datatype)
        self._add(node, OWL.onDatatype, self._term(datatype))
        self._add(node, OWL.withRestrictions, self._list([self._facet(facet) for facet in facets]))
        return node

    def _facet(self, element: _Element) -> Term:
        node = self._fresh()
        facet = self._iri(element, self._attribute(element, "facet"))
        self._add(node, facet, self._terms(element, 1, 1)[0])
        return node

    def _restriction(self, properties: list[Term]) -> Term:
        node = self._fresh()
        self._add(node, RDF.type, OWL.Restriction)
        if len(properties) == 1:
            self._add(node, OWL.onProperty, properties[0])
        else:
            self._add(node, OWL.onProperties, self._list(properties))
        return node

    def _value_restriction(self, element: _Element) -> Term:
        *properties, value = self._terms(element, 2)
        node = self._restriction(properties)
        self._add(node, tables.VALUE_RESTRICTIONS[element.name], value)
        return node

    def _has_self(self, element: _Element) -> Term:
        node = self._restriction(self._terms(element, 1, 1))
        self._add(node, OWL.hasSelf, Literal("true", XSD.boolean.value))
        return node

    def _cardinality(self, element: _Element) -> Term:
        property, *qualification = self._terms(element, 1, 2)
        plain, qualified, filler = tables.CARDINALITIES[element.name]
        number = Literal(self._attribute(element, "cardinality"), XSD.nonNegativeInteger.value)
        node = self._restriction([property])
        self._add(node, qualified if qualification else plain, number)
        for term in qualification:
            self._add(node, filler, term)
        return node

    # ---- axioms: the triples that annotations are about; the others are added

    def _declaration(self, element: _Element) -> list[Triple]:
        (entity,) = self._parts(element, 1, 1)
        if entity.name not in tables.ENTITIES:
            raise self._error(entity, f"a {entity.name} cannot be declared")
        return [(self._entity(entity), RDF.type, tables.ENTITIES[entity.name])]

    def _binary_axiom(self, element: _Element) -> list[Triple]:
        subject, object = self._terms(element, 2, 2)
        return [(subject, tables.BINARY_AXIOMS[element.name], object)]

    def _sub_property(self, element: _Element) -> list[Triple]:
        sub, sup = self._parts(element, 2, 2)
        if sub.name == "ObjectPropertyChain":
            return [(self._term(sup), OWL.propertyChainAxiom, self._list(self._terms(sub, 2)))]
        return [(self._term(sub), RDFS.subPropertyOf, self._term(sup))]

    def _chained_axiom(self, element: _Element) -> list[Triple]:
        terms = self._terms(element, 2)
        return [(one, tables.CHAINED_AXIOMS[element.name], next_one) for one, next_one in itertools.pairwise(terms)]

    def _disjointness(self, element: _Element) -> list[Triple]:
        terms = self._terms(element, 2)
        property, kind = tables.DISJOINTNESS[element.name]
        if len(terms) == 2:
            return [(terms[0], property, terms[1])]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        self._add(node, OWL.members, self._list(terms))
        self._annotate_node(node, element)
        return []

    def _disjoint_union(self, element: _Element) -> list[Triple]:
        union, *members = self._terms(element, 3)
        return [(union, OWL.disjointUnionOf, self._list(members))]

    def _characteristic(self, element: _Element) -> list[Triple]:
        return [(self._terms(element, 1, 1)[0], RDF.type, tables.CHARACTERISTICS[element.name])]

    def _has_key(self, element: _Element) -> list[Triple]:
        keyed, *properties = self._terms(element, 2)
        return [(keyed, OWL.hasKey, self._list(properties))]

    def _class_assertion(self, element: _Element) -> list[Triple]:
        cls, individual = self._terms(element, 2, 2)
        return [(individual, RDF.type, cls)]

    def _property_assertion(self, element: _Element) -> list[Triple]:
        property, subject, object = self._parts(element, 3, 3)
        if property.name == "ObjectInverseOf":
            (property,) = self._parts(property, 1, 1)
            subject, object = object, subject
        return [(self._term(subject), self._term(property), self._term(object))]

    def _negative_assertion(self, element: _Element) -> list[Triple]:
        property, subject, object = self._terms(element, 3, 3)
        node = self._fresh()
        self._add(node, RDF.type, OWL.NegativePropertyAssertion)
        self._add(node, OWL.sourceIndividual, subject)
        self._add(node, OWL.assertionProperty, property)
        self._add(node, tables.NEGATIVE_TARGETS[element.name], object)
        self._annotate_node(node, element)
        return []

    # ---- SWRL rules

    def _rule(self, element: _Element) -> list[Triple]:
        node = self._fresh()
        self._add(node, RDF.type, SWRL.Imp)
        for part in self._parts(element, 2, 2):
            atoms = self._known(_RULE_PARTS, part)(self, part)
            self._add(node, SWRL[part.name.lower()], self._list(atoms))
        self._annotate_node(node, element)
        return []

    def _atoms(self, element: _Element) -> list[Term]:
        return [self._known(_ATOMS, atom)(self, atom) for atom in self._parts(element, 0)]

    def _atom(self, element: _Element) -> Term:
        kind, predicate, arity = tables.ATOMS[element.name]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        terms = self._terms(element, arity, arity)
        if predicate is not None:
            self._add(node, predicate, terms.pop(0))
        for place, term in enumerate(terms, start=1):
            self._add(node, SWRL[f"argument{place}"], term)
        return node

    def _builtin_atom(self, element: _Element) -> Term:
        node = self._fresh()
        self._add(node, RDF.type, SWRL.BuiltinAtom)
        self._add(node, SWRL.builtin, self._entity(element))
        self._add(node, SWRL.arguments, self._list(self._terms(element, 1)))
        return node

    def _variable(self, element: _Element) -> Term:
        variable = self._entity(element)
        self._add(variable, RDF.type, SWRL.Variable)
        return variable


_T = TypeVar("_T")
_Method: TypeAlias = Callable[[_OwlXmlTranslation, _Element], _T]

_TERMS: Final[dict[str, _Method[Term]]] = {
    **dict.fromkeys(tables.ENTITIES, _OwlXmlTranslation._entity),
    "AnonymousIndividual": _OwlXmlTranslation._anonymous,
    "Literal": _OwlXmlTranslation._literal,
    "Variable": _OwlXmlTranslation._variable,
    "IRI": _OwlXmlTranslation._iri_content,
    "AbbreviatedIRI": _OwlXmlTranslation._abbreviated_content,
    "ObjectInverseOf": _OwlXmlTranslation._inverse,
    **dict.fromkeys(tables.NARY_EXPRESSIONS, _OwlXmlTranslation._nary_expression),
    **dict.fromkeys(tables.COMPLEMENTS, _OwlXmlTranslation._complement),
    "DatatypeRestriction": _OwlXmlTranslation._datatype_restriction,
    **dict.fromkeys(tables.VALUE_RESTRICTIONS, _OwlXmlTranslation._value_restriction),
    "ObjectHasSelf": _OwlXmlTranslation._has_self,
    **dict.fromkeys(tables.CARDINALITIES, _OwlXmlTranslation._cardinality),
}
"""The elements that stand for a term, and how."""

_AXIOMS: Final[dict[str, _Method[list[Triple]]]] = {
    "Prefix": _OwlXmlTranslation._prefix,
    "Import": _OwlXmlTranslation._import,
    "Annotation": _OwlXmlTranslation._ontology_annotation,
    "Declaration": _OwlXmlTranslation._declaration,
    **dict.fromkeys(tables.BINARY_AXIOMS, _OwlXmlTranslation._binary_axiom),
    "SubObjectPropertyOf": _OwlXmlTranslation._sub_property,
    **dict.fromkeys(tables.CHAINED_AXIOMS, _OwlXmlTranslation._chained_axiom),
    **dict.fromkeys(tables.DISJOINTNESS, _OwlXmlTranslation._disjointness),
    "DisjointUnion": _OwlXmlTranslation._disjoint_union,
    **dict.fromkeys(tables.CHARACTERISTICS, _OwlXmlTranslation._characteristic),
    "HasKey": _OwlXmlTranslation._has_key,
    "ClassAssertion": _OwlXmlTranslation._class_assertion,
    "ObjectPropertyAssertion": _OwlXmlTranslation._property_assertion,
    "DataPropertyAssertion": _OwlXmlTranslation._property_assertion,
    "AnnotationAssertion": _OwlXmlTranslation._property_assertion,
    **dict.fromkeys(tables.NEGATIVE_TARGETS, _OwlXmlTranslation._negative_assertion),
    "DLSafeRule": _OwlXmlTranslation._rule,
}
"""The elements below the root, and the triples that their annotations are about."""

_EXPRESSIONS: Final = _TERMS.keys() - {
    *tables.ENTITIES,
    *("AnonymousIndividual", "Literal", "Variable", "IRI", "AbbreviatedIRI"),
}
"""The elements that have others inside them and stand for a term."""

_RULE_PARTS: Final[dict[str, _Method[list[Term]]]] = {"Body": _OwlXmlTranslation._atoms, "Head": _OwlXmlTranslation._atoms}
"""The elements of a rule."""

_ATOMS: Final[dict[str, _Method[Term]]] = {
    **dict.fromkeys(tables.ATOMS, _OwlXmlTranslation._atom),
    "BuiltInAtom": _OwlXmlTranslation._builtin_atom,
}
"""The atoms of rules."""
