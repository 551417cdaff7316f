"""The header and the stanzas of OBO documents as constructs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import text_from_term
from kg_reasoner.loaders.syntaxes.constructs import Construct, Part
from kg_reasoner.loaders.syntaxes.document_text import Settings, SourceText
from kg_reasoner.loaders.syntaxes.functional import read_functional
from kg_reasoner.loaders.syntaxes.obo_clauses import Clause, OboFrame, Reference
from kg_reasoner.loaders.syntaxes.obo_ids import OBO, Identifiers
from kg_reasoner.loaders.syntaxes.obo_treatments import TREATMENTS, treatments
from kg_reasoner.terms import IRI, RDFS, XSD, Literal, Term

__all__ = ["OboTranslation"]

_ENTITIES: Final = {"Term": "Class", "Typedef": "ObjectProperty", "Instance": "NamedIndividual"}
_LOGICAL: Final = frozenset(
    {"cardinality", "minCardinality", "maxCardinality", "all_some", "all_only", "gci_relation", "gci_filler"}
)
"""Qualifiers that are part of an axiom."""
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_TRUTHS: Final = frozenset(
    {"is_obsolete", "is_anonymous", "builtin", "is_cyclic", "is_anti_symmetric", "is_class_level", "is_metadata_tag"}
)
_ELSEWHERE: Final = frozenset({"id", "ontology", "data-version", "idspace", "import", "owl-axioms", "is_inferred"})
"""Tags that are not annotations."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")

_CHARACTERISTICS: Final = {
    "is_transitive": "TransitiveObjectProperty",
    "is_reflexive": "ReflexiveObjectProperty",
    "is_symmetric": "SymmetricObjectProperty",
    "is_asymmetric": "AsymmetricObjectProperty",
    "is_functional": "FunctionalObjectProperty",
    "is_inverse_functional": "InverseFunctionalObjectProperty",
}
_CLASS_AXIOMS: Final = {
    "is_a": "SubClassOf",
    "equivalent_to": "EquivalentClasses",
    "disjoint_from": "DisjointClasses",
}
_RELATION_AXIOMS: Final = {
    "is_a": "SubObjectPropertyOf",
    "equivalent_to": "EquivalentObjectProperties",
    "disjoint_from": "DisjointObjectProperties",
    "inverse_of": "InverseObjectProperties",
    "domain": "ObjectPropertyDomain",
    "range": "ObjectPropertyRange",
}
_METADATA_AXIOMS: Final = {
    "is_a": "SubAnnotationPropertyOf",
    "domain": "AnnotationPropertyDomain",
    "range": "AnnotationPropertyRange",
}
_CHAINS: Final = {"holds_over_chain": 2, "equivalent_to_chain": 2, "transitive_over": 1}

_Annotations: TypeAlias = "tuple[Construct, ...]"


class OboTranslation:
    """The translation of one document."""

    def __init__(self, identifiers: Identifiers, header: OboFrame, settings: Settings) -> None:
        self._ids = identifiers
        self._header = header
        self._settings = settings
        self._xrefs = treatments(header)
        self._namespace: Literal | None = None
        """The namespace of stanzas that have none of their own."""
        for clause in header.clauses:
            if clause.tag == "default-namespace":
                self._namespace = Literal(clause.text()[0])

    # ---- the header

    def header(self) -> Iterator[Construct]:
        """Yield what the header says."""
        clauses = self._header.clauses
        yield Construct("Ontology", tuple(self._ontology()))
        for clause in clauses:
            if clause.tag == "import":
                location = clause.ids(1, 1)[0][0]
                yield Construct("Import", (self._ids.iri(location if _URL.match(location) else f"{OBO}{location}.owl", clause),))
        axioms = []
        for clause in clauses:
            tag = clause.tag
            if tag in ("subsetdef", "synonymtypedef"):
                axioms.append(clause)
            elif tag == "property_value":
                property, value, annotations = self._property_value(clause)
                yield Construct("Annotation", (property, value), annotations)
            elif tag not in _ELSEWHERE:
                text, qualifiers = clause.text()
                property = RDFS.comment if tag == "remark" else self._ids.property(tag, clause)
                yield Construct("Annotation", (property, Literal(text)), self._annotations(qualifiers, clause))
        for clause in axioms:
            yield from self._definition(clause)
        for clause in clauses:
            if clause.tag == "owl-axioms":
                yield from self._owl_axioms(clause)

    def _ontology(self) -> Iterator[IRI]:
        name = self._ids.ontology
        if name is None:
            return
        version: str | None = None
        place = self._header.clauses[0]
        for clause in self._header.clauses:
            if clause.tag == "data-version":
                version = clause.text()[0]
            elif clause.tag == "ontology":
                place = clause
        yield self._ids.iri(name if _URL.match(name) else f"{OBO}{name}.owl", place)
        if version and not _URL.match(name):
            yield self._ids.iri(f"{OBO}{name}/{version}/{name}.owl", place)

    def _definition(self, clause: Clause) -> Iterator[Construct]:
        """Yield the axioms for a subset or a type of synonyms."""
        name, label, scope, qualifiers = clause.named()
        property = self._ids.iri(name, clause)
        annotations = self._annotations(qualifiers, clause)
        kind = "subsetdef" if clause.tag == "subsetdef" else "synonymtypedef"
        yield Construct("Declaration", (Construct("AnnotationProperty", (property,)),))
        yield Construct("SubAnnotationPropertyOf", (property, self._ids.property(kind, clause)), annotations)
        text_property = RDFS.comment if kind == "subsetdef" else RDFS.label
        yield Construct("AnnotationAssertion", (text_property, property, Literal(label)))
        if scope:
            yield Construct(
                "AnnotationAssertion", (self._ids.property("scope", clause), property, self._ids.property(scope, clause))
            )

    def _owl_axioms(self, clause: Clause) -> Iterator[Construct]:
        """Yield the axioms in functional syntax that OBO cannot express."""
        text = clause.text()[0].strip()
        document = text if "Ontology(" in text else f"Ontology(\n{text}\n)"
        try:
            found = list(read_functional(document, clause.source.name, self._settings))
        except LoadError as error:
            raise clause.error(f"the axioms are not in functional syntax: {error.message}", error.hint) from None
        yield from (construct for construct in found if construct.name not in ("Ontology", "Import", "Annotation"))

    # ---- stanzas

    def stanza(self, frame: OboFrame, source: SourceText) -> Iterator[Construct]:
        """Yield the axioms of a stanza."""
        if not frame.clauses or frame.clauses[0].tag != "id":
            place = frame.clauses[0].start if frame.clauses else frame.start
            raise source.error(
                f"expected the `id:` of the [{frame.kind}] first", frame.start, max(place, frame.start + len(frame.kind) + 2)
            )
        first = frame.clauses[0]
        name = first.ids(1, 1)[0][0]
        subject = self._ids.iri(name, first)
        is_metadata = frame.kind == "Typedef" and self._ids.relations[name].is_metadata
        entity = "AnnotationProperty" if is_metadata else _ENTITIES[frame.kind]
        yield Construct("Declaration", (Construct(entity, (subject,)),))
        yield Construct("AnnotationAssertion", (self._ids.property("id", first), subject, Literal(name)))
        relation = self._ids.relations.get(name) if frame.kind == "Typedef" else None
        if relation is not None and relation.instead:
            yield Construct("AnnotationAssertion", (self._ids.property("shorthand", first), subject, Literal(name)))
        if self._namespace is not None and all(clause.tag != "namespace" for clause in frame.clauses):
            yield Construct("AnnotationAssertion", (self._ids.property("namespace", first), subject, self._namespace))
        together: dict[str, list[Clause]] = {}
        axioms = {"Term": self._term_axioms, "Typedef": self._relation_axioms, "Instance": self._instance_axioms}[frame.kind]
        for clause in frame.clauses[1:]:
            if clause.tag in ("intersection_of", "union_of") and frame.kind == "Term":
                together.setdefault(clause.tag, []).append(clause)
                continue
            found = axioms(subject, clause, is_metadata)
            if found is None:
                found = self._annotation(subject, clause)
                if clause.tag == "xref" and frame.kind == "Term" and self._xrefs:
                    yield from self._treated(subject, clause)
            yield from found
        for tag, clauses in together.items():
            if len(clauses) < 2:
                raise clauses[0].error(f"expected at least two `{tag}:` in a [Term], found one")
            parts = [self._operand(clause) for clause in clauses]
            kind = "ObjectIntersectionOf" if tag == "intersection_of" else "ObjectUnionOf"
            annotations = tuple(annotation for _, each in parts for annotation in each)
            yield Construct("EquivalentClasses", (subject, Construct(kind, tuple(part for part, _ in parts))), annotations)

    def _term_axioms(self, subject: IRI, clause: Clause, _: bool) -> list[Construct] | None:
        tag = clause.tag
        if tag in _CLASS_AXIOMS:
            (other,), qualifiers = clause.ids(1, 1)
            left = self._with_context(subject, qualifiers, clause)
            return [Construct(_CLASS_AXIOMS[tag], (left, self._ids.iri(other, clause)), self._annotations(qualifiers, clause))]
        if tag == "relationship":
            (relation, other), qualifiers = clause.ids(2, 2)
            annotations = self._annotations(qualifiers, clause)
            known = self._ids.relations.get(relation)
            if known is not None and known.is_metadata:
                parts = (self._ids.iri(relation, clause), subject, self._ids.iri(other, clause))
                return [Construct("AnnotationAssertion", parts, annotations)]
            left = self._with_context(subject, qualifiers, clause)
            return [Construct("SubClassOf", (left, self._related(relation, other, qualifiers, clause)), annotations)]
        return None

    def _relation_axioms(self, subject: IRI, clause: Clause, is_metadata: bool) -> list[Construct] | None:
        tag = clause.tag
        axioms = _METADATA_AXIOMS if is_metadata else _RELATION_AXIOMS
        if tag in axioms:
            (other,), qualifiers = clause.ids(1, 1)
            return [Construct(axioms[tag], (subject, self._ids.iri(other, clause)), self._annotations(qualifiers, clause))]
        if is_metadata or tag in ("is_class_level", "is_metadata_tag"):
            return None
        if tag in _CHARACTERISTICS:
            qualifiers = clause.text()[1]
            if not clause.is_true():
                return []
            return [Construct(_CHARACTERISTICS[tag], (subject,), self._annotations(qualifiers, clause))]
        if tag in _CHAINS:
            count = _CHAINS[tag]
            others, qualifiers = clause.ids(count, count)
            chain: list[Part] = [subject] if count == 1 else []
            chain += (self._ids.iri(other, clause) for other in others)
            parts = (Construct("ObjectPropertyChain", tuple(chain)), subject)
            return [Construct("SubObjectPropertyOf", parts, self._annotations(qualifiers, clause))]
        if tag in ("intersection_of", "union_of"):
            (other,), qualifiers = clause.ids(1, 1)
            pair = (subject, self._ids.iri(other, clause))
            return [
                Construct(
                    "SubObjectPropertyOf", pair if tag == "intersection_of" else pair[::-1], self._annotations(qualifiers, clause)
                ),
                Construct("AnnotationAssertion", (self._ids.property(tag, clause), *pair)),
            ]
        if tag in ("relationship", "disjoint_over"):
            names, qualifiers = clause.ids(2, 2) if tag == "relationship" else clause.ids(1, 1)
            property = self._ids.iri(names[0], clause) if tag == "relationship" else self._ids.property(tag, clause)
            triple = (property, subject, self._ids.iri(names[-1], clause))
            return [Construct("AnnotationAssertion", triple, self._annotations(qualifiers, clause))]
        return None

    def _instance_axioms(self, subject: IRI, clause: Clause, _: bool) -> list[Construct] | None:
        if clause.tag == "instance_of":
            (cls,), qualifiers = clause.ids(1, 1)
            return [Construct("ClassAssertion", (self._ids.iri(cls, clause), subject), self._annotations(qualifiers, clause))]
        if clause.tag == "relationship":
            (relation, other), qualifiers = clause.ids(2, 2)
            parts = (self._ids.iri(relation, clause), subject, self._ids.iri(other, clause))
            return [Construct("ObjectPropertyAssertion", parts, self._annotations(qualifiers, clause))]
        return None

    # ---- class expressions

    def _operand(self, clause: Clause) -> tuple[Part, _Annotations]:
        names, qualifiers = clause.ids(1, 2)
        annotations = self._annotations(qualifiers, clause)
        if len(names) == 1:
            return self._ids.iri(names[0], clause), annotations
        return self._related(names[0], names[1], qualifiers, clause), annotations

    def _with_context(self, subject: IRI, qualifiers: Mapping[str, str], clause: Clause) -> Part:
        """Return a class, restricted by the qualifiers ``gci_relation`` and ``gci_filler``."""
        if "gci_relation" not in qualifiers or "gci_filler" not in qualifiers:
            return subject
        relation, filler = (self._ids.iri(qualifiers[name], clause) for name in ("gci_relation", "gci_filler"))
        return Construct("ObjectIntersectionOf", (subject, Construct("ObjectSomeValuesFrom", (relation, filler))))

    def _related(self, relation: str, other: str, qualifiers: Mapping[str, str], clause: Clause) -> Construct:
        """Return the class expression for a relation to a class."""
        property, cls = self._ids.iri(relation, clause), self._ids.iri(other, clause)
        numbers: dict[str, int] = {}
        for name in ("cardinality", "minCardinality", "maxCardinality"):
            if name in qualifiers:
                if not _NUMBER.fullmatch(qualifiers[name]):
                    raise clause.error(f"unexpected `{qualifiers[name]}`, expected a number as the {name}")
                numbers[name] = int(qualifiers[name])
        if 0 in (numbers.get("cardinality"), numbers.get("maxCardinality")):
            return Construct("ObjectAllValuesFrom", (property, Construct("ObjectComplementOf", (cls,))))
        found = [Construct(_CARDINALITIES[name], (number, property, cls)) for name, number in numbers.items()]
        if not found:
            if qualifiers.get("all_only") == "true":
                found.append(Construct("ObjectAllValuesFrom", (property, cls)))
            if qualifiers.get("all_only") != "true" or qualifiers.get("all_some") == "true":
                known = self._ids.relations.get(relation)
                kind = "ObjectHasValue" if known is not None and known.is_class_level else "ObjectSomeValuesFrom"
                found.insert(0, Construct(kind, (property, cls)))
        return found[0] if len(found) == 1 else Construct("ObjectIntersectionOf", tuple(found))

    # ---- annotations

    def _annotation(self, subject: IRI, clause: Clause) -> list[Construct]:
        property, value, annotations = self._value(clause)
        return [Construct("AnnotationAssertion", (property, subject, value), annotations)]

    def _value(self, clause: Clause) -> tuple[IRI, Term, _Annotations]:
        """Return the property, the value and the annotations of an annotation."""
        tag, ids = clause.tag, self._ids
        if tag in ("def", "expand_expression_to", "expand_assertion_to"):
            text, references, qualifiers = clause.quoted()
            annotations = self._references(references, clause) + self._annotations(qualifiers, clause)
            return ids.property(tag, clause), Literal(text), annotations
        if tag == "synonym":
            text, scope, kind, references, qualifiers = clause.synonym()
            annotations = self._references(references, clause) + self._annotations(qualifiers, clause)
            if kind is not None:
                annotations = (
                    Construct("Annotation", (ids.property("has_synonym_type", clause), ids.iri(kind, clause))),
                    *annotations,
                )
            return ids.property(scope, clause), Literal(text), annotations
        if tag == "xref":
            reference, qualifiers = clause.reference()
            annotations = self._annotations(qualifiers, clause)
            if reference.description is not None:
                annotations = (Construct("Annotation", (RDFS.label, Literal(reference.description))), *annotations)
            return ids.property(tag, clause), Literal(reference.id), annotations
        if tag == "property_value":
            return self._property_value(clause)
        if tag in ("subset", "replaced_by"):
            (name,), qualifiers = clause.ids(1, 1)
            return ids.property(tag, clause), ids.iri(name, clause), self._annotations(qualifiers, clause)
        text, qualifiers = clause.text()
        annotations = self._annotations(qualifiers, clause)
        if tag in _TRUTHS:
            clause.is_true()
            return ids.property(tag, clause), Literal(text, XSD.boolean.value), annotations
        return ids.property(tag, clause), Literal(text), annotations

    def _property_value(self, clause: Clause) -> tuple[IRI, Term, _Annotations]:
        if '"' not in clause.value.partition("{")[0]:
            names, qualifiers = clause.ids(2, 3)
            property = self._ids.annotation_property(names[0], clause)
            if len(names) == 2:
                return property, self._ids.iri(names[1], clause), self._annotations(qualifiers, clause)
            text, datatype = names[1], names[2]
        else:
            name, text, kind, qualifiers = clause.named()
            property, datatype = self._ids.annotation_property(name, clause), kind or "xsd:string"
        value = Literal(text, self._ids.iri(datatype, clause).value)
        try:
            text_from_term(value)
        except LoadError as error:
            raise clause.error(error.message, error.hint) from None
        return property, value, self._annotations(qualifiers, clause)

    def _references(self, references: list[Reference], clause: Clause) -> _Annotations:
        return tuple(
            Construct(
                "Annotation",
                (self._ids.property("xref", clause), Literal(reference.id)),
                () if reference.description is None else (Construct("Annotation", (RDFS.label, Literal(reference.description))),),
            )
            for reference in references
        )

    def _annotations(self, qualifiers: Mapping[str, str], clause: Clause) -> _Annotations:
        if not qualifiers:
            return ()
        return tuple(
            Construct("Annotation", (self._ids.property(name, clause), Literal(value)))
            for name, value in qualifiers.items()
            if name not in _LOGICAL
        )

    # ---- references that are axioms

    def _treated(self, subject: IRI, clause: Clause) -> Iterator[Construct]:
        """Yield the axioms that the header asks for in place of a reference."""
        reference, _ = clause.reference()
        for treat, arguments in self._xrefs.get(reference.id.partition(":")[0], ()):
            other = self._ids.iri(reference.id, clause)
            yield TREATMENTS[treat](subject, other, [self._ids.iri(name, clause) for name in arguments])


_CARDINALITIES: Final = {
    "cardinality": "ObjectExactCardinality",
    "minCardinality": "ObjectMinCardinality",
    "maxCardinality": "ObjectMaxCardinality",
}
