"""Triples to constructs: the reverse of the mapping of OWL 2 to RDF graphs (W3C, OWL 2 Mapping to RDF Graphs, section 3).

Every triple is part of a construct. A triple of the reserved vocabulary that is neither an axiom nor a part of one becomes an
assertion, which is mapped to the same triple again, and is reported: ``ObjectPropertyAssertion(rdf:first _:x :a)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from kg_reasoner.loaders.rules.swrl import SWRL
from kg_reasoner.loaders.syntaxes import vocabulary as tables
from kg_reasoner.loaders.syntaxes.constructs import Construct, Malformed, Part, check
from kg_reasoner.loaders.syntaxes.rdf_expressions import DEFINITIONS, GraphExpressions
from kg_reasoner.loaders.syntaxes.rdf_graph import RdfGraph
from kg_reasoner.loaders.syntaxes.rdf_rules import rule_of
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Literal, Term, Triple

__all__ = ["constructs_of"]

_ENTITIES: Final = {kind: name for name, kind in tables.ENTITIES.items()}
_CHARACTERISTICS: Final = {
    kind: name.replace("Object", "{}").replace("Data", "{}") for name, kind in tables.CHARACTERISTICS.items()
}
_GROUPS: Final = {
    OWL.AllDisjointClasses: "DisjointClasses",
    OWL.AllDisjointProperties: "Disjoint{}Properties",
    OWL.AllDifferent: "DifferentIndividuals",
}
_REIFIED: Final = (OWL.annotatedSource, OWL.annotatedProperty, OWL.annotatedTarget)
_PROPERTY_AXIOMS: Final = {
    RDFS.subPropertyOf: "Sub{}PropertyOf",
    OWL.equivalentProperty: "Equivalent{}Properties",
    OWL.propertyDisjointWith: "Disjoint{}Properties",
    OWL.inverseOf: "InverseObjectProperties",
    RDFS.domain: "{}PropertyDomain",
    RDFS.range: "{}PropertyRange",
}
_CLASS_AXIOMS: Final = {
    RDFS.subClassOf: "SubClassOf",
    OWL.equivalentClass: "EquivalentClasses",
    OWL.disjointWith: "DisjointClasses",
}
_INDIVIDUAL_AXIOMS: Final = {OWL.sameAs: "SameIndividual", OWL.differentFrom: "DifferentIndividuals"}
_LIST_AXIOMS: Final = frozenset({OWL.disjointUnionOf, OWL.hasKey, OWL.propertyChainAxiom})
_MEMBERS: Final = (OWL.Thing, OWL.Nothing, OWL.NamedIndividual)
"""Classes of the reserved vocabulary that individuals can have."""
_DEEPEST: Final = 200
"""The maximal depth of nested annotations that are read."""


def constructs_of(triples: Iterable[Triple], report: Callable[[Triple], object]) -> Iterator[Construct]:
    """Yield the ontology, its imports and annotations, the declarations and the axioms that triples state.

    Args:
        triples: The triples; subjects are not literals, properties are IRIs.
        report: Is called with each triple of the reserved vocabulary that is not an axiom.
    """
    return _Reverse(RdfGraph(triples), report).constructs()


class _Reverse:
    def __init__(self, graph: RdfGraph, report: Callable[[Triple], object]) -> None:
        self._graph = graph
        self._report = report
        self._expressions = GraphExpressions(graph)
        self._annotated: dict[Triple, list[Term]] = {}
        self._inner: dict[Triple, list[Term]] = {}
        for kind, found in ((OWL.Axiom, self._annotated), (OWL.Annotation, self._inner)):
            for node in graph.types.get(kind, ()):
                parts = [graph.values(node, property) for property in _REIFIED]
                if isinstance(node, BlankNode) and all(len(part) == 1 for part in parts):
                    subject, property, value = (part[0] for part in parts)
                    found.setdefault((subject, property, value), []).append(node)
        for nodes in (*self._annotated.values(), *self._inner.values()):
            nodes.sort(key=str)

    def constructs(self) -> Iterator[Construct]:
        graph = self._graph
        yield from self._header()
        for triple in list(graph.left):
            if triple[1] == RDF.type and triple[2] in _ENTITIES and isinstance(triple[0], IRI):
                name = _ENTITIES[triple[2]]
                yield from self._with_annotations(triple, Construct("Declaration", (Construct(name, (triple[0],)),)))
        later: list[Triple] = []
        for triple in list(graph.left):
            if triple in graph.left:
                found = self._axioms(triple)
                if found is None:
                    later.append(triple)
                else:
                    yield from found
        for triple in later:
            if triple in graph.left:
                yield from self._assertion(triple)

    # ---- the ontology

    def _header(self) -> Iterator[Construct]:
        graph = self._graph
        ontologies = sorted(graph.types.get(OWL.Ontology, ()), key=lambda term: (isinstance(term, BlankNode), str(term)))
        if not ontologies:
            yield Construct("Ontology", ())
            return
        ontology = ontologies[0]
        is_named = isinstance(ontology, IRI)
        versions = [version for version in graph.values(ontology, OWL.versionIRI) if isinstance(version, IRI)]
        version = versions[:1] if is_named and len(versions) == 1 else []
        graph.use((ontology, RDF.type, OWL.Ontology), *((ontology, OWL.versionIRI, each) for each in version))
        yield Construct("Ontology", (ontology, *version) if is_named else ())
        for property, value in graph.of_node[ontology]:
            if property == OWL.imports and isinstance(value, IRI):
                graph.use((ontology, property, value))
                yield Construct("Import", (value,))
        for property, value in graph.of_node[ontology]:
            triple = (ontology, property, value)
            if triple in graph.left and isinstance(property, IRI) and self._is_free(property) and triple not in self._annotated:
                annotation = self._annotation(triple, 0)
                graph.use(triple)
                yield annotation

    def _is_free(self, property: IRI) -> bool:
        """Return whether triples of a property can be annotations or assertions, because it is not reserved."""
        return self._graph.is_annotation(property) or not (property in OWL or property in RDF or property in RDFS)

    # ---- annotations

    def _annotation(self, triple: Triple, depth: int) -> Construct:
        _, property, value = triple
        inner: list[Construct] = []
        for node in self._inner.get(triple, ()):
            if depth < _DEEPEST:
                inner += self._annotations_of(node, OWL.Annotation, depth + 1)
        return Construct("Annotation", (property, value), tuple(inner))

    def _annotations_of(self, node: Term, kind: IRI, depth: int) -> list[Construct]:
        """Return the annotations that a node has, which reifies something."""
        graph = self._graph
        found = []
        for property, value in graph.of_node.get(node, ()):
            triple = (node, property, value)
            if property in _REIFIED or (property == RDF.type and value == kind):
                graph.use(triple)
            elif triple in graph.left and isinstance(property, IRI) and self._is_free(property):
                graph.use(triple)
                found.append(self._annotation(triple, depth))
        return found

    def _with_annotations(self, triple: Triple, construct: Construct) -> Iterator[Construct]:
        """Yield a construct for a triple: once for each node that reifies it, with the annotations of that."""
        self._graph.use(triple)
        nodes = self._annotated.get(triple)
        if not nodes:
            yield construct
            return
        for node in nodes:
            annotations = self._annotations_of(node, OWL.Axiom, 0)
            yield Construct(construct.name, construct.parts, tuple(annotations))

    # ---- axioms

    def _axioms(self, triple: Triple) -> Iterator[Construct] | None:
        """Return the axioms that a triple states; None if it states none, or belongs to one that follows later."""
        subject, property, value = triple
        if isinstance(property, IRI) and property == RDF.type:
            return self._typed(triple)
        name: str | None = None
        terms = (subject, value)
        if property in _CLASS_AXIOMS:
            name = _CLASS_AXIOMS[property]
            if name == "EquivalentClasses" and isinstance(subject, IRI) and self._graph.is_datatype(subject):
                name = "DatatypeDefinition"
        elif property in _PROPERTY_AXIOMS:
            if property == OWL.inverseOf and isinstance(subject, BlankNode):
                return None
            name = _PROPERTY_AXIOMS[property].format(
                self._kind(*terms) if property not in (RDFS.domain, RDFS.range) else self._kind(subject)
            )
        elif property in _INDIVIDUAL_AXIOMS:
            return self._checked(triple, Construct(_INDIVIDUAL_AXIOMS[property], terms))
        elif property in _LIST_AXIOMS:
            return self._list_axiom(triple)
        elif property in DEFINITIONS and isinstance(subject, IRI):
            expression = self._expressions.of(subject, property, value)
            if expression is None:
                return None
            name = "DatatypeDefinition" if expression.name.startswith("Data") else "EquivalentClasses"
            return self._with_annotations(triple, Construct(name, (subject, expression)))
        if name is None:
            return None
        parts = [self._expressions.part(term) for term in terms]
        return self._whole(triple, name, parts, terms)

    def _typed(self, triple: Triple) -> Iterator[Construct] | None:
        subject, _, kind = triple
        if kind in _CHARACTERISTICS:
            part = self._expressions.part(subject)
            word = "Object" if isinstance(part, Construct) else self._kind(subject)
            name = _CHARACTERISTICS[kind].format(word)
            return self._whole(triple, name, [part], (subject,))
        if kind in _GROUPS:
            return self._group(subject, kind)
        if kind == OWL.NegativePropertyAssertion:
            return self._negative(subject)
        if kind == SWRL.Imp and isinstance(subject, BlankNode):
            rule = rule_of(self._graph, self._expressions, subject)
            return None if rule is None else self._about_node(subject, kind, "DLSafeRule", *rule)
        if isinstance(kind, BlankNode):
            part = self._expressions.part(kind)
            if part is None:
                return None
            self._expressions.use(kind)
            return self._with_annotations(triple, Construct("ClassAssertion", (part, subject)))
        return None

    def _whole(self, triple: Triple, name: str, parts: list[Part | None], terms: tuple[Term, ...]) -> Iterator[Construct] | None:
        known = tuple(part for part in parts if part is not None)
        if len(known) < len(parts):
            return None
        found = self._checked(triple, Construct(name, known))
        if found is not None:
            self._expressions.use(*terms)
        return found

    def _checked(self, triple: Triple, construct: Construct) -> Iterator[Construct] | None:
        try:
            check(construct)
        except Malformed:
            return None
        return self._with_annotations(triple, construct)

    def _list_axiom(self, triple: Triple) -> Iterator[Construct] | None:
        subject, property, head = triple
        found = self._graph.items(head)
        if found is None:
            return None
        terms, triples = found
        parts = [self._expressions.part(term) for term in (subject, *terms)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        first, *others = known
        if property == OWL.propertyChainAxiom:
            construct = Construct("SubObjectPropertyOf", (Construct("ObjectPropertyChain", tuple(others)), first))
        elif property == OWL.disjointUnionOf:
            construct = Construct("DisjointUnion", (first, *others))
        else:
            data = [part for part in others if isinstance(part, IRI) and self._kind(part) == "Data"]
            objects = [part for part in others if part not in data]
            lists = (Construct("ObjectProperties", tuple(objects)), Construct("DataProperties", tuple(data)))
            construct = Construct("HasKey", (first, *lists))
        try:
            check(construct)
            for part in construct.parts:
                if isinstance(part, Construct):
                    check(part)
        except Malformed:
            return None
        self._graph.use(*triples)
        self._expressions.use(subject, *terms)
        return self._with_annotations(triple, construct)

    def _group(self, node: Term, kind: Term) -> Iterator[Construct] | None:
        members = [
            (property, head) for property, head in self._graph.of_node[node] if property in (OWL.members, OWL.distinctMembers)
        ]
        found = self._graph.items(members[0][1]) if len(members) == 1 and isinstance(node, BlankNode) else None
        if found is None:
            return None
        terms, triples = found
        name = _GROUPS[kind].format(self._kind(*terms))  # type: ignore[index]
        parts = terms if kind == OWL.AllDifferent else [self._expressions.part(term) for term in terms]
        known = tuple(part for part in parts if part is not None)
        return self._about_node(
            node, kind, name, known, [*triples, (node, *members[0])], terms if len(known) == len(terms) else None
        )

    def _negative(self, node: Term) -> Iterator[Construct] | None:
        graph = self._graph
        values = [graph.values(node, property) for property in (OWL.assertionProperty, OWL.sourceIndividual)]
        individuals, literals = graph.values(node, OWL.targetIndividual), graph.values(node, OWL.targetValue)
        if any(len(value) != 1 for value in (*values, individuals + literals)) or not isinstance(node, BlankNode):
            return None
        property, source, target = values[0][0], values[1][0], (individuals + literals)[0]
        part = self._expressions.part(property)
        if part is None:
            return None
        name = f"Negative{'Data' if literals else 'Object'}PropertyAssertion"
        target_property = OWL.targetValue if literals else OWL.targetIndividual
        triples = [
            (node, OWL.assertionProperty, property),
            (node, OWL.sourceIndividual, source),
            (node, target_property, target),
        ]
        return self._about_node(node, OWL.NegativePropertyAssertion, name, (part, source, target), triples, (property,))

    def _about_node(
        self, node: Term, kind: Term, name: str, parts: tuple[Part, ...], triples: Iterable[Triple], terms: Iterable[Term] | None
    ) -> Iterator[Construct] | None:
        """Return the axiom that a node stands for, whose further statements are annotations."""
        construct = Construct(name, parts)
        try:
            check(construct)
        except Malformed:
            return None
        if terms is None:
            return None
        self._graph.use((node, RDF.type, kind), *triples)
        self._expressions.use(*terms)
        assert isinstance(kind, IRI)
        return iter([Construct(name, parts, tuple(self._annotations_of(node, kind, 0)))])

    def _kind(self, *terms: Term) -> str:
        """Return the kind of some properties of an axiom, which is the same for all."""
        kinds = {self._graph.kind(term) for term in terms if isinstance(term, IRI)}
        if any(isinstance(term, BlankNode) for term in terms):
            return "Object"
        return (
            next((kind for kind in ("Data", "Annotation", "Object") if kind in kinds), "Object")
            if len(kinds) == 1
            else ("Data" if kinds == {"Data", "Object"} else "Object")
        )

    # ---- assertions

    def _assertion(self, triple: Triple) -> Iterator[Construct]:
        """Yield the assertion that is mapped to a triple."""
        subject, property, value = triple
        assert isinstance(property, IRI)
        if property == RDF.type and isinstance(value, IRI):
            if (value in OWL and value not in _MEMBERS) or subject in self._expressions.used:
                self._report(triple)
            yield from self._with_annotations(triple, Construct("ClassAssertion", (value, subject)))
            return
        if not self._is_free(property) or not self._expressions.used.isdisjoint((subject, value)):
            self._report(triple)
        kind = self._graph.kind(property)
        if kind == "Annotation":
            construct = Construct("AnnotationAssertion", (property, subject, value))
        elif isinstance(value, Literal):
            construct = Construct("DataPropertyAssertion", (property, subject, value))
        else:
            construct = Construct("ObjectPropertyAssertion", (property, subject, value))
        yield from self._with_annotations(triple, construct)
