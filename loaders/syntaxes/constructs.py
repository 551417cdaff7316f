"""The constructs of OWL 2: one model for all of its syntaxes and for its mapping to RDF.

A construct has the name and the parts that it has in functional syntax, so ``SubClassOf(:A ObjectComplementOf(:B))`` is
``Construct("SubClassOf", (a, Construct("ObjectComplementOf", (b,))))``. The parts are constructs, terms, and the numbers of
cardinalities; annotations are kept apart. `SIGNATURES` says which parts a construct may have.

A document is a sequence of constructs: ``Ontology`` with its IRI and version IRI as far as present, then each ``Import``,
``Annotation`` and axiom.

Source: W3C, OWL 2 Web Ontology Language Structural Specification and Functional-Style Syntax. The rules (``DLSafeRule``) are those
that the OWL API writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.terms import IRI, BlankNode, Literal, Term

__all__ = ["AXIOMS", "KINDS", "SIGNATURES", "Construct", "Malformed", "Part", "PartKind", "Slot", "check", "slots_of"]


class Construct(NamedTuple):
    """A construct: its name in functional syntax, its parts and its annotations (constructs named ``Annotation``)."""

    name: str
    parts: tuple[Part, ...]
    annotations: tuple[Construct, ...] = ()


Part: TypeAlias = Construct | Term | int


class Malformed(Exception):
    """A construct does not have the parts that it needs. `part` is the number of the wrong part, if there is one."""

    def __init__(self, message: str, part: int | None = None) -> None:
        super().__init__(message)
        self.part = part


@dataclass(frozen=True, slots=True)
class PartKind:
    """The alternatives for a part: in words, as types of terms, and as names of constructs."""

    words: str
    terms: tuple[type, ...] = (IRI,)
    constructs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Slot:
    """The places for parts of one kind: at least `least`, and at most `most` unless that is None."""

    kind: str
    least: int = 1
    most: int | None = 1


_CLASSES: Final = """
ObjectIntersectionOf    class 1+
ObjectUnionOf           class 1+
ObjectComplementOf      class
ObjectOneOf             individual 1+
ObjectSomeValuesFrom    object-property class
ObjectAllValuesFrom     object-property class
ObjectHasValue          object-property individual
ObjectHasSelf           object-property
ObjectMinCardinality    number object-property class?
ObjectMaxCardinality    number object-property class?
ObjectExactCardinality  number object-property class?
DataSomeValuesFrom      data-property 1+ data-range
DataAllValuesFrom       data-property 1+ data-range
DataHasValue            data-property literal
DataMinCardinality      number data-property data-range?
DataMaxCardinality      number data-property data-range?
DataExactCardinality    number data-property data-range?
"""
_DATA_RANGES: Final = """
DataIntersectionOf      data-range 1+
DataUnionOf             data-range 1+
DataComplementOf        data-range
DataOneOf               literal 1+
DatatypeRestriction     datatype facet 1+
"""
_AXIOMS: Final = """
Declaration             entity
SubClassOf              class class
EquivalentClasses       class 2+
DisjointClasses         class 2+
DisjointUnion           class-name class 2+
SubObjectPropertyOf     object-property-or-chain object-property
EquivalentObjectProperties  object-property 2+
DisjointObjectProperties    object-property 2+
InverseObjectProperties     object-property object-property
ObjectPropertyDomain        object-property class
ObjectPropertyRange         object-property class
FunctionalObjectProperty        object-property
InverseFunctionalObjectProperty object-property
ReflexiveObjectProperty         object-property
IrreflexiveObjectProperty       object-property
SymmetricObjectProperty         object-property
AsymmetricObjectProperty        object-property
TransitiveObjectProperty        object-property
SubDataPropertyOf           data-property data-property
EquivalentDataProperties    data-property 2+
DisjointDataProperties      data-property 2+
DataPropertyDomain          data-property class
DataPropertyRange           data-property data-range
FunctionalDataProperty      data-property
DatatypeDefinition          datatype data-range
HasKey                      class object-properties data-properties
SameIndividual              individual 2+
DifferentIndividuals        individual 2+
ClassAssertion              class individual
ObjectPropertyAssertion     object-property individual individual
NegativeObjectPropertyAssertion object-property individual individual
DataPropertyAssertion           data-property individual literal
NegativeDataPropertyAssertion   data-property individual literal
AnnotationAssertion         annotation-property subject value
SubAnnotationPropertyOf     annotation-property annotation-property
AnnotationPropertyDomain    annotation-property iri
AnnotationPropertyRange     annotation-property iri
DLSafeRule                  body head
"""
_ATOMS: Final = """
ClassAtom                   class individual-argument
DataRangeAtom               data-range data-argument
ObjectPropertyAtom          object-property individual-argument individual-argument
DataPropertyAtom            data-property individual-argument data-argument
BuiltInAtom                 iri data-argument 1+
SameIndividualAtom          individual-argument individual-argument
DifferentIndividualsAtom    individual-argument individual-argument
"""
_ENTITIES: Final = """
Class               iri
Datatype            iri
ObjectProperty      iri
DataProperty        iri
AnnotationProperty  iri
NamedIndividual     iri
"""
_OTHERS: Final = """
Annotation              annotation-property value
Import                  iri
ObjectInverseOf         object-property-name
ObjectPropertyChain     object-property 2+
FacetRestriction        iri literal
ObjectProperties        object-property 0+
DataProperties          data-property 0+
Body                    atom 0+
Head                    atom 0+
Variable                iri
"""


def _table(text: str) -> dict[str, tuple[Slot, ...]]:
    found = {}
    for line in filter(None, text.splitlines()):
        name, *words = line.split()
        slots: list[Slot] = []
        for word in words:
            if word.endswith("+"):
                slots[-1] = Slot(slots[-1].kind, int(word[:-1]), None)
            else:
                slots.append(Slot(word.removesuffix("?"), 0 if word.endswith("?") else 1))
        found[name] = tuple(slots)
    return found


AXIOMS: Final[Mapping[str, tuple[Slot, ...]]] = _table(_AXIOMS)
"""The axioms, and their parts."""

SIGNATURES: Final[Mapping[str, tuple[Slot, ...]]] = {
    **AXIOMS,
    **_table(_CLASSES + _DATA_RANGES + _ATOMS + _ENTITIES + _OTHERS),
}
"""All constructs but the ontology itself, and their parts."""

_EXPRESSIONS: Final = frozenset(_table(_CLASSES))
_INVERSE: Final = frozenset({"ObjectInverseOf"})
_VARIABLE: Final = frozenset({"Variable"})

KINDS: Final[Mapping[str, PartKind]] = {
    "class": PartKind("a class expression", (IRI,), _EXPRESSIONS),
    "class-name": PartKind("a class"),
    "data-range": PartKind("a data range", (IRI,), frozenset(_table(_DATA_RANGES))),
    "datatype": PartKind("a datatype"),
    "facet": PartKind("a facet with its value", (), frozenset({"FacetRestriction"})),
    "object-property-name": PartKind("an object property"),
    "object-property": PartKind("an object property", (IRI,), _INVERSE),
    "object-property-or-chain": PartKind(
        "an object property or an ObjectPropertyChain", (IRI,), _INVERSE | frozenset({"ObjectPropertyChain"})
    ),
    "object-properties": PartKind("object properties in parentheses", (), frozenset({"ObjectProperties"})),
    "data-property": PartKind("a data property"),
    "data-properties": PartKind("data properties in parentheses", (), frozenset({"DataProperties"})),
    "annotation-property": PartKind("an annotation property"),
    "individual": PartKind("an individual", (IRI, BlankNode)),
    "literal": PartKind("a literal", (Literal,)),
    "number": PartKind("a number", (int,)),
    "iri": PartKind("an IRI"),
    "subject": PartKind("an IRI or an anonymous individual", (IRI, BlankNode)),
    "value": PartKind("an IRI, an anonymous individual or a literal", (IRI, BlankNode, Literal)),
    "entity": PartKind("an entity such as Class(...)", (), frozenset(_table(_ENTITIES))),
    "body": PartKind("a Body", (), frozenset({"Body"})),
    "head": PartKind("a Head", (), frozenset({"Head"})),
    "atom": PartKind("an atom", (), frozenset(_table(_ATOMS))),
    "individual-argument": PartKind("an individual or a Variable", (IRI, BlankNode), _VARIABLE),
    "data-argument": PartKind("a literal or a Variable", (Literal,), _VARIABLE),
}
"""The kinds of parts."""

_COUNTS: Final = {
    name: (sum(slot.least for slot in slots), None if any(slot.most is None for slot in slots) else len(slots))
    for name, slots in SIGNATURES.items()
}

_KEPT: Final = 8
"""Up to how many parts the kinds are kept."""
_known_kinds: Final[dict[tuple[str, int], Sequence[PartKind]]] = {}


def slots_of(name: str, count: int) -> list[str]:
    """Return the kinds of the parts of a construct that has `count` parts, which must be an admissible number.

    >>> slots_of("DataSomeValuesFrom", 3)
    ['data-property', 'data-property', 'data-range']
    """
    slots = SIGNATURES[name]
    spare = count - sum(slot.least for slot in slots)
    kinds: list[str] = []
    for slot in slots:
        more = spare if slot.most is None else min(spare, slot.most - slot.least)
        spare -= more
        kinds += [slot.kind] * (slot.least + more)
    return kinds


def check(construct: Construct) -> None:
    """Check the number and kinds of a construct's parts; the parts themselves have been checked.

    Raises:
        Malformed: A part is missing, or is something else than it should be.
    """
    name, parts, annotations = construct
    kinds = _known_kinds.get((name, len(parts))) or _kinds(name, len(parts))
    for number, part in enumerate(parts):
        kind, type_of_part = kinds[number], type(part)
        if (part.name not in kind.constructs) if type_of_part is Construct else (type_of_part not in kind.terms):  # type: ignore[union-attr]
            raise Malformed(f"{_words(part)} is not {kind.words}", number)
    if annotations and name not in AXIOMS and name != "Annotation":
        raise Malformed(f"{name} cannot have annotations")
    if name == "HasKey" and not any(part.parts for part in parts[1:] if isinstance(part, Construct)):
        raise Malformed("HasKey has no properties")


def _kinds(name: str, count: int) -> Sequence[PartKind]:
    """Return the kinds of the parts of a construct.

    Raises:
        Malformed: The construct is unknown, or cannot have this number of parts.
    """
    if name not in _COUNTS:
        raise Malformed(f"{name} is not a construct of OWL 2")
    least, most = _COUNTS[name]
    if count < least or (most is not None and count > most):
        raise Malformed(f"{name} has {count} part{'s' * (count != 1)}, which is too {'few' if count < least else 'many'}")
    kinds = [KINDS[kind] for kind in slots_of(name, count)]
    if count <= _KEPT:
        _known_kinds[name, count] = kinds
    return kinds


def _words(part: Part) -> str:
    return part.name if isinstance(part, Construct) else f"the {type(part).__name__} {part}"
