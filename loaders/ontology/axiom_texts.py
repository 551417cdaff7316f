"""Axioms as text in OWL 2 functional-style syntax with short names, for messages, explanations and listings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    Characteristic,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    DatatypeRestriction,
    Definition,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    EquivalentClasses,
    EquivalentProperties,
    HasKey,
    HasSelf,
    HasValue,
    IntersectionOf,
    InverseProperties,
    NegativeAssertion,
    OneOf,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    SameNames,
    SomeValuesFrom,
    SubClassOf,
    SubPropertyOf,
    UnionOf,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple, namespace_of, term_text, word_of

__all__ = ["Texts", "brief", "call"]

_STANDARD: Final = {"rdf": str(RDF), "rdfs": str(RDFS), "owl": str(OWL), "xsd": str(XSD)}
_LONGEST: Final = 2000
"""The most characters of an expression's text."""
_DEEPEST: Final = 100
"""The most expressions inside each other that are written out."""
_NOWHERE: Final = sys.maxsize
_LOCAL_NAME: Final = regular_expression(r"\w(?:[\w.-]*[\w-])?")


def call(function: str, *arguments: str) -> str:
    """Return ``function(argument argument ...)``."""
    return f"{function}({' '.join(arguments)})"


def brief(text: str) -> str:
    """Return a text of limited length. Written out, an expression with shared parts can be exponentially long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


class Texts:
    """Writes the nodes, expressions and axioms of one ontology.

    `prefixes` maps prefixes to namespaces; rdf, rdfs, owl and xsd are known, and the namespaces of further classes and properties
    get prefixes from the last part of their IRIs (``univ-bench:Chair``). An IRI of no such namespace is written in full.

    Attributes:
        namespaces: The namespaces of the ontology's classes and properties, each with the number of these.
    """

    def __init__(self, ontology: Ontology, prefixes: Mapping[str, str] | None = None) -> None:
        self.ontology = ontology
        given = {**_STANDARD, **(prefixes or {})}
        # The longest namespace first, so that a namespace inside another one wins.
        self._given = sorted(((space, prefix) for prefix, space in given.items() if space), key=lambda pair: -len(pair[0]))
        self._made: dict[str, str] = {}
        self._words = Counter(given.keys())
        self.namespaces = Counter(namespace_of(name.value) for name in ontology.vocabulary)
        for namespace in sorted(self.namespaces.keys() - {"", *given.values()}):
            word = word_of(namespace)
            self._words[word] += 1
            self._made[namespace] = word if self._words[word] == 1 else f"{word}_{self._words[word]}"
        self._names: dict[str, str] = {}
        self._nodes: dict[Term, str] = {}
        self._whole: dict[Term, str] = {}
        """The texts of nodes with one expression that are complete: not shortened, nor cut off in a cycle."""
        self._open: dict[Term, int] = {}
        self._cut = _NOWHERE

    def add_namespace(self, namespace: str) -> bool:
        """Make a prefix for the namespace of further classes and properties. Return False, and do nothing, if it needs a number."""
        word = word_of(namespace)
        if self._words[word]:
            return False
        self._words[word], self._made[namespace] = 1, word
        return True

    def remove_namespace(self, namespace: str) -> bool:
        """Remove a prefix that was made. Return False, and do nothing, if there are numbered ones with the same word."""
        word = word_of(namespace)
        if self._words[word] != 1 or namespace not in self._made:
            return False
        del self._words[word], self._made[namespace]
        return True

    def forget(self, name: IRI) -> None:
        """Forget the text of a name whose namespace may get another prefix."""
        self._names.pop(name.value, None)

    def forget_expression(self, node: Term) -> None:
        """Forget the text of an expression that is gone."""
        self._nodes.pop(node, None)
        self._whole.pop(node, None)

    def name(self, term: Term) -> str:
        """Return a prefixed name for a term if its namespace has a prefix, else its N-Triples form."""
        if isinstance(term, IRI):
            found = self._names.get(term.value)
            if found is None:
                found = self._names[term.value] = self._short(term.value) or f"<{term.value}>"
            return found
        if isinstance(term, Literal) and term.language is None and term.datatype != XSD.string.value:
            quoted = term_text(Literal(term.lexical))
            return f"{quoted}^^{self.name(IRI(term.datatype))}"
        return term_text(term)

    def _short(self, iri: str) -> str | None:
        for namespace, prefix in self._given:
            if iri.startswith(namespace) and _LOCAL_NAME.fullmatch(iri, len(namespace)):
                return f"{prefix}:{iri[len(namespace) :]}"
        namespace = namespace_of(iri)
        made = self._made.get(namespace)
        return None if made is None or len(namespace) == len(iri) else f"{made}:{iri[len(namespace) :]}"

    def names(self, terms: Iterable[Term]) -> list[str]:
        return [self.name(term) for term in terms]

    def triple(self, triple: Triple) -> str:
        return " ".join(self.names(triple))

    # ---- classes and properties

    def node(self, node: Term) -> str:
        """Return the text of a class or data range: its name, or the expression attached to a blank node."""
        if not isinstance(node, BlankNode):
            return self.name(node)
        found = self._nodes.get(node)
        if found is not None:
            return found
        expressions = self.ontology.expressions.get(node, ())
        if not expressions:
            return self.name(node)
        if node in self._open or len(self._open) >= _DEEPEST:
            self._cut = min(self._cut, self._open.get(node, _NOWHERE))
            return self.name(node)
        depth = self._open[node] = len(self._open)
        parts = sorted(self.expression(expression) for expression in expressions)
        del self._open[node]
        found = brief(parts[0] if len(parts) == 1 else call("EquivalentClasses", *parts))
        if self._cut == _NOWHERE and found is parts[0]:
            self._whole[node] = found
        # Inside a cycle the text is cut off where the cycle closes, which is elsewhere for those who come another way.
        if self._cut >= depth:
            self._cut = _NOWHERE
            self._nodes[node] = found
        return found

    def expression_of(self, node: Term, expression: ClassExpression) -> str:
        """Return the text of one of the expressions of a node. If there is no other, it is most often that of the node."""
        if node not in self._nodes:
            self.node(node)
        return self._whole.get(node) or self.expression(expression)

    def nodes(self, nodes: Iterable[Term]) -> list[str]:
        return [self.node(node) for node in nodes]

    def property(self, property: Term) -> str:
        """Return the text of a property: its name, or ``ObjectInverseOf(name)`` for the anonymous inverse of a named one."""
        if isinstance(property, BlankNode) and property in self.ontology.inverses:
            name, inverted = self.ontology.inverses[property]
            return call("ObjectInverseOf", self.name(name)) if inverted else self.name(name)
        return self.name(property)

    def properties(self, properties: Iterable[Term]) -> list[str]:
        return [self.property(property) for property in properties]

    def kind(self, property: Term | None = None, filler: Term | None = None) -> str:
        """Return ``Data`` if the property or the filler is about literals, else ``Object``."""
        if filler is not None and self.ontology.is_datatype(filler):
            return "Data"
        is_data = property in self.ontology.data_properties and property not in self.ontology.object_properties
        return "Data" if is_data else "Object"

    def expression(self, expression: ClassExpression) -> str:
        match expression:
            case IntersectionOf(operands):
                return call(f"{self.kind(filler=operands[0])}IntersectionOf", *self.nodes(operands))
            case UnionOf(operands):
                return call(f"{self.kind(filler=operands[0])}UnionOf", *self.nodes(operands))
            case OneOf(members):
                kind = "Data" if all(isinstance(member, Literal) for member in members) else "Object"
                return call(f"{kind}OneOf", *self.names(members))
            case ComplementOf(operand):
                return call(f"{self.kind(filler=operand)}ComplementOf", self.node(operand))
            case SomeValuesFrom(property, filler):
                return call(f"{self.kind(property, filler)}SomeValuesFrom", self.property(property), self.node(filler))
            case AllValuesFrom(property, filler):
                return call(f"{self.kind(property, filler)}AllValuesFrom", self.property(property), self.node(filler))
            case HasValue(property, value):
                kind = "Data" if isinstance(value, Literal) else "Object"
                return call(f"{kind}HasValue", self.property(property), self.name(value))
            case HasSelf(property):
                return call("ObjectHasSelf", self.property(property))
            case Cardinality(bound, number, property, qualifier):
                filling = () if qualifier is None else (self.node(qualifier),)
                return call(f"{self.kind(property, qualifier)}{bound}Cardinality", str(number), self.property(property), *filling)
            case DatatypeRestriction(datatype, facets):
                pairs = (text for facet in facets for text in self.names(facet))
                return call("DatatypeRestriction", self.name(datatype), *pairs)

    # ---- axioms

    def axiom(self, axiom: Axiom) -> str:
        match axiom:
            case SubClassOf(sub, sup):
                return call("SubClassOf", *self.nodes((sub, sup)))
            case EquivalentClasses(first, second):
                is_data = self.ontology.is_datatype(first) or self.ontology.is_datatype(second)
                return call("DatatypeDefinition" if is_data else "EquivalentClasses", *self.nodes((first, second)))
            case Definition(name, expression):
                kind = "DatatypeDefinition" if self.ontology.is_datatype(name) else "EquivalentClasses"
                return call(kind, self.name(name), self.expression(expression))
            case DisjointClasses(classes):
                return call("DisjointClasses", *self.nodes(classes))
            case DisjointUnion(whole, parts):
                return call("DisjointUnion", *self.nodes((whole, *parts)))
            case ClassAssertion(cls, individual):
                return call("ClassAssertion", self.node(cls), self.name(individual))
            case HasKey(cls, keys):
                data = [self.property(key) for key in keys if self.kind(key) == "Data"]
                objects = [self.property(key) for key in keys if self.kind(key) == "Object"]
                return call("HasKey", self.node(cls), f"({' '.join(objects)})", f"({' '.join(data)})")
            case SameNames(first, second):
                return call("SameIndividual", *self.names((first, second)))
            case DifferentIndividuals(individuals):
                return call("DifferentIndividuals", *self.names(individuals))
            case NegativeAssertion(property, source, target):
                kind = "Data" if isinstance(target, Literal) else "Object"
                return call(f"Negative{kind}PropertyAssertion", self.property(property), *self.names((source, target)))
            case _:
                return self._property_axiom(axiom)

    def _property_axiom(self, axiom: Axiom) -> str:
        match axiom:
            case SubPropertyOf(sub, sup):
                return call(f"Sub{self.kind(sub)}PropertyOf", *self.properties((sub, sup)))
            case PropertyChain(chain, sup):
                return call("SubObjectPropertyOf", call("ObjectPropertyChain", *self.properties(chain)), self.property(sup))
            case EquivalentProperties(first, second):
                return call(f"Equivalent{self.kind(first)}Properties", *self.properties((first, second)))
            case InverseProperties(first, second):
                return call("InverseObjectProperties", *self.properties((first, second)))
            case DisjointProperties(properties):
                return call(f"Disjoint{self.kind(properties[0])}Properties", *self.properties(properties))
            case PropertyDomain(property, domain):
                return call(f"{self.kind(property)}PropertyDomain", self.property(property), self.node(domain))
            case PropertyRange(property, range):
                return call(f"{self.kind(property, range)}PropertyRange", self.property(property), self.node(range))
            case Characteristic(kind, property):
                what = kind.value.rpartition("#")[2].removesuffix("Property")
                return call(f"{what}{self.kind(property)}Property", self.property(property))
        raise TypeError(f"not an axiom: {axiom!r}")
