"""The frames of Manchester syntax as constructs: what Lark calls when it has parsed a part of a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.syntaxes.constructs import KINDS, Construct, Part
from kg_reasoner.loaders.syntaxes.document_text import DocumentNames, Settings
from kg_reasoner.loaders.syntaxes.vocabulary import is_built_in_datatype
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term

if TYPE_CHECKING:
    from lark import Token

__all__ = ["BUILT_INS", "CHARACTERISTICS", "FACETS", "VARIABLES", "FrameParser", "ManchesterNames"]

FACETS: Final = {
    **{name: XSD[name] for name in ("length", "minLength", "maxLength", "pattern", "totalDigits", "fractionDigits")},
    "langRange": RDF.langRange,
    "<=": XSD.maxInclusive,
    "<": XSD.maxExclusive,
    ">=": XSD.minInclusive,
    ">": XSD.minExclusive,
}
"""Facets, as Manchester syntax writes them."""
CHARACTERISTICS: Final = ("Functional", "InverseFunctional", "Reflexive", "Irreflexive", "Symmetric", "Asymmetric", "Transitive")
"""The characteristics of properties."""
BUILT_INS: Final = "http://www.w3.org/2003/11/swrlb#"
"""The namespace of SWRL's built-ins. Others are known by a literal where an individual would be, or by more than two arguments."""
VARIABLES: Final = "urn:swrl:var#"
"""The namespace of variables that are written without one."""

_BARE_DATATYPES: Final = ("integer", "decimal", "float", "string")
_NUMBERS: Final = {"NATURAL": XSD.integer, "INTEGER": XSD.integer, "DECIMAL": XSD.decimal, "FLOAT": XSD.float, "TRUTH": XSD.boolean}
_ENTITIES: Final = {
    "CLASS": "Class",
    "OBJECT_PROPERTY": "ObjectProperty",
    "DATA_PROPERTY": "DataProperty",
    "ANNOTATION_PROPERTY": "AnnotationProperty",
    "DATATYPE": "Datatype",
    "INDIVIDUAL": "NamedIndividual",
}
_LOOKED_UP: Final = frozenset({"ObjectProperty", "DataProperty", "AnnotationProperty", "Datatype"})
"""The kinds of names whose declarations are looked up before the frames are read."""
_SWAPPED: Final = {"SUPER_CLASS_OF": "SUB_CLASS_OF", "SUPER_PROPERTY_OF": "SUB_PROPERTY_OF"}
"""Sections that say the same as others with their subject and value in the other order."""
_CLASS_SECTIONS: Final = {"SUB_CLASS_OF": "SubClassOf", "EQUIVALENT_TO": "EquivalentClasses", "DISJOINT_WITH": "DisjointClasses"}
_PROPERTY_SECTIONS: Final = {
    "SUB_PROPERTY_OF": "Sub{}PropertyOf",
    "EQUIVALENT_TO": "Equivalent{}Properties",
    "DISJOINT_WITH": "Disjoint{}Properties",
    "INVERSE_OF": "Inverse{}Properties",
}
_CLASS_VALUED: Final = {"DOMAIN": "{}PropertyDomain", "RANGE": "{}PropertyRange"}
_DATA_RANGES: Final = KINDS["data-range"].constructs


_Section: TypeAlias = "tuple[str, Any]"


class ManchesterNames(DocumentNames):
    """Names as in other syntaxes, and names without a prefix, which have the empty one; four datatypes need none."""

    __slots__ = ()

    def iri(self, text: str, start: int) -> IRI:
        if text.startswith("<") or ":" in text:
            return super().iri(text, start)
        if text in _BARE_DATATYPES:
            return XSD[text]
        return super().iri(f":{text}", start)


@dataclass(frozen=True, slots=True)
class _Annotated:
    value: Any
    annotations: tuple[Construct, ...]


class FrameParser:
    """Has a method for each rule of the grammar. `found` is what the frames parsed so far say; `offset` is where a frame begins."""

    def __init__(self, names: ManchesterNames, settings: Settings) -> None:
        self.names = names
        self.settings = settings
        self.offset = 0
        self.found: list[Construct] = []
        self._data_properties: set[IRI] = set()
        self._datatypes: set[IRI] = set()
        self._object_properties: set[IRI] = set()
        self._annotation_properties: set[IRI] = set()

    def declare(self, kind: str, iri: IRI) -> None:
        """Take note of a declaration of a property or a datatype, which may follow its use."""
        {
            "DataProperty": self._data_properties,
            "Datatype": self._datatypes,
            "ObjectProperty": self._object_properties,
            "AnnotationProperty": self._annotation_properties,
        }[kind].add(iri)

    # ---- terms

    def IRI(self, token: Token) -> Any:
        return self.names.iri(str(token), self.offset + (token.start_pos or 0))

    FULL_IRI = IRI

    def NODE(self, token: Token) -> Any:
        return BlankNode(self.settings.label(str(token)[2:]))

    def literal(self, children: list[Any]) -> Literal:
        (token,) = children
        if token.type == "QUOTED":
            return self.names.literal(str(token), self.offset + token.start_pos)
        text = str(token)
        return Literal(text[:-1] if token.type == "FLOAT" else text, _NUMBERS[token.type].value)

    # ---- the beginning of a document

    def prefix(self, children: list[Any]) -> None:
        """Prefixes are declared before a document is parsed."""

    def importing(self, children: list[Any]) -> Construct:
        return Construct("Import", (children[1],))

    def head(self, children: list[Any]) -> None:
        iris = [child for child in children if isinstance(child, IRI)]
        self.found.append(Construct("Ontology", tuple(iris)))
        self.found += (child for child in children if isinstance(child, Construct) and child.name == "Import")
        self.found += (annotation for child in children if isinstance(child, _Annotated) for annotation in child.value)

    # ---- annotations

    def annotation(self, children: list[Any]) -> Construct:
        *annotations, property, value = children
        return Construct("Annotation", (property, value), self._all(annotations))

    def annotations(self, children: list[Any]) -> _Annotated:
        return _Annotated(tuple(children[1:]), ())

    def annotated(self, children: list[Any]) -> _Annotated:
        return _Annotated(children[-1], self._all(children[:-1]))

    annotated_property = annotated_individual = annotated

    def characteristic(self, children: list[Any]) -> _Annotated:
        return _Annotated(str(children[-1]), self._all(children[:-1]))

    def _all(self, children: Iterable[Any]) -> tuple[Construct, ...]:
        return tuple(annotation for child in children if isinstance(child, _Annotated) for annotation in child.value)

    # ---- frames

    def class_frame(self, children: list[Any]) -> None:
        subject = self._declared(children)
        for kind, value in self._sections(subject, children):
            if kind in _CLASS_SECTIONS or kind in _SWAPPED:
                self.found += (self._related(_CLASS_SECTIONS, "", kind, subject, each) for each in value)
            elif kind == "DISJOINT_UNION_OF":
                self._needs_name(subject, children)
                self.found.append(Construct("DisjointUnion", (subject, *value.value), value.annotations))
            else:
                data = [property for property in value.value if self._is_data_property(property)]
                objects = [property for property in value.value if not self._is_data_property(property)]
                lists = (Construct("ObjectProperties", tuple(objects)), Construct("DataProperties", tuple(data)))
                self.found.append(Construct("HasKey", (subject, *lists), value.annotations))

    @staticmethod
    def _related(sections: Mapping[str, str], word: str, kind: str, subject: Any, each: _Annotated) -> Construct:
        """Return what a section says of the subject and one of its values."""
        parts = (each.value, subject) if kind in _SWAPPED else (subject, each.value)
        return Construct(sections[_SWAPPED.get(kind, kind)].format(word), parts, each.annotations)

    def object_property_frame(self, children: list[Any]) -> None:
        self._property_frame(children, "Object")

    def data_property_frame(self, children: list[Any]) -> None:
        self._property_frame(children, "Data")

    def annotation_property_frame(self, children: list[Any]) -> None:
        self._property_frame(children, "Annotation")

    def _property_frame(self, children: list[Any], word: str) -> None:
        subject = self._declared(children)
        for kind, value in self._sections(subject, children):
            if kind == "SUB_PROPERTY_CHAIN":
                for each in value:
                    chain = Construct("ObjectPropertyChain", each.value)
                    self.found.append(Construct("SubObjectPropertyOf", (chain, subject), each.annotations))
                continue
            if kind == "CHARACTERISTICS":
                self.found += (Construct(f"{each.value}{word}Property", (subject,), each.annotations) for each in value)
                continue
            self.found += (self._related(_CLASS_VALUED | _PROPERTY_SECTIONS, word, kind, subject, each) for each in value)

    def datatype_frame(self, children: list[Any]) -> None:
        subject = self._declared(children)
        for _, value in self._sections(subject, children):
            self.found += (Construct("DatatypeDefinition", (subject, each.value), each.annotations) for each in value)

    def individual_frame(self, children: list[Any]) -> None:
        subject = self._declared(children)
        for kind, value in self._sections(subject, children):
            for each in value:
                if kind == "TYPES":
                    self.found.append(Construct("ClassAssertion", (each.value, subject), each.annotations))
                elif kind == "FACTS":
                    self.found.append(self._fact(subject, each))
                else:
                    name = "SameIndividual" if kind == "SAME_AS" else "DifferentIndividuals"
                    self.found.append(Construct(name, (subject, each.value), each.annotations))

    def _fact(self, subject: Term, fact: _Annotated) -> Construct:
        is_negative, property, value = fact.value
        word = "Data" if isinstance(value, Literal) else "Object"
        name = f"{'Negative' if is_negative else ''}{word}PropertyAssertion"
        return Construct(name, (property, subject, value), fact.annotations)

    def several_classes(self, children: list[Any]) -> None:
        names = {"EQUIVALENT_CLASSES": "EquivalentClasses", "DISJOINT_CLASSES": "DisjointClasses"}
        self._several(names[children[0].type], children)

    def several_properties(self, children: list[Any]) -> None:
        word = "Data" if any(map(self._is_data_property, self._plain(children[1:]))) else "Object"
        self._several(f"{'Equivalent' if children[0].type.startswith('EQ') else 'Disjoint'}{word}Properties", children)

    def several_individuals(self, children: list[Any]) -> None:
        names = {"SAME_INDIVIDUAL": "SameIndividual", "DIFFERENT_INDIVIDUALS": "DifferentIndividuals"}
        self._several(names[children[0].type], children)

    def _several(self, name: str, children: list[Any]) -> None:
        self.found.append(Construct(name, self._plain(children[1:]), self._all(children)))

    def _declared(self, children: list[Any]) -> Any:
        """Return the subject of a frame, after its declaration. What has no name is not declared."""
        keyword = children[0]
        place = self._place_of_subject(children)
        subject, annotations = children[place], self._all(children[1:place])
        if isinstance(subject, IRI):
            kind = _ENTITIES[keyword.type]
            if annotations and kind in _LOOKED_UP:
                self.declare(kind, subject)  # that the name is not right after the keyword hid it from the reader
            self.found.append(Construct("Declaration", (Construct(kind, (subject,)),), annotations))
        elif annotations:
            self._needs_name(subject, children)
        return subject

    @staticmethod
    def _place_of_subject(children: list[Any]) -> int:
        return next(place for place, child in enumerate(children) if place and not isinstance(child, _Annotated))

    def _needs_name(self, subject: Any, children: list[Any]) -> None:
        """Raise an error unless the subject of a frame has a name."""
        if not isinstance(subject, IRI):
            start = self.offset + (children[0].start_pos or 0)
            message = "annotations and disjoint unions need the name of a class or property"
            raise self.names.source.error(message, start, start + len(children[0]))

    def _sections(self, subject: Any, children: list[Any]) -> list[_Section]:
        """Return the sections of a frame; those that are annotations are axioms at once."""
        sections = children[self._place_of_subject(children) + 1 :]
        for child in sections:
            if isinstance(child, _Annotated):
                if not isinstance(subject, BlankNode):
                    self._needs_name(subject, children)
                for annotation in child.value:
                    property, value = annotation.parts
                    self.found.append(Construct("AnnotationAssertion", (property, subject, value), annotation.annotations))
        return [child for child in sections if isinstance(child, tuple)]

    # ---- rules

    def rule_frame(self, children: list[Any]) -> None:
        body, head = children[-3], children[-1]
        parts = (Construct("Body", body), Construct("Head", head))
        self.found.append(Construct("DLSafeRule", parts, self._all(children[1:-3])))

    def atoms(self, children: list[Any]) -> tuple[Construct, ...]:
        return tuple(child for child in children if child is not None)

    def named_atom(self, children: list[Any]) -> Construct:
        predicate, *arguments = children
        is_wide = len(arguments) > 2 or (len(arguments) > 1 and isinstance(arguments[0], Literal))
        if is_wide or predicate.value.startswith(BUILT_INS):
            return Construct("BuiltInAtom", tuple(children))
        if len(arguments) == 1:
            return self.described_atom(children)
        word = "Data" if isinstance(arguments[1], Literal) or self._is_data_property(predicate) else "Object"
        return Construct(f"{word}PropertyAtom", tuple(children))

    def described_atom(self, children: list[Any]) -> Construct:
        predicate, argument = children
        is_data = isinstance(argument, Literal) or self._is_data_range(predicate)
        return Construct("DataRangeAtom" if is_data else "ClassAtom", (predicate, argument))

    def equality_atom(self, children: list[Any]) -> Construct:
        keyword, *arguments = children
        return Construct("SameIndividualAtom" if keyword.type == "SAME_AS_ATOM" else "DifferentIndividualsAtom", tuple(arguments))

    def variable(self, children: list[Any]) -> Construct:
        (token,) = children
        text = str(token)[1:]
        is_whole = text.startswith("<") or ":" in text
        name = self.names.iri(text if is_whole else f"<{VARIABLES}{text}>", self.offset + token.start_pos + 1)
        return Construct("Variable", (name,))

    # ---- sections: their keyword, and what they list

    def class_section(self, children: list[Any]) -> _Section:
        return children[0].type, children[1:]

    class_valued = property_section = datatype_section = types = facts = same_section = class_section
    characteristics = chain_section = class_section

    def union_section(self, children: list[Any]) -> _Section:
        return children[0].type, _Annotated(self._plain(children[1:]), self._all(children))

    key_section = union_section

    def chain(self, children: list[Any]) -> _Annotated:
        return _Annotated(self._operands(self._plain(children)), self._all(children))

    def fact(self, children: list[Any]) -> _Annotated:
        *before, property, value = children
        is_negative = any(getattr(child, "type", None) == "NOT" for child in before)
        return _Annotated((is_negative, property, value), self._all(before))

    @staticmethod
    def _plain(children: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(child for child in children if not isinstance(child, _Annotated))

    # ---- descriptions

    def union(self, children: list[Any]) -> Construct:
        return self._nary("UnionOf", self._operands(children))

    def intersection(self, children: list[Any]) -> Construct:
        return self._nary("IntersectionOf", self._operands(children))

    that = intersection

    def complement(self, children: list[Any]) -> Construct:
        return self._nary("ComplementOf", tuple(children[1:]))

    def one_of(self, children: list[Any]) -> Construct:
        return Construct("DataOneOf" if isinstance(children[0], Literal) else "ObjectOneOf", tuple(children))

    def datatype_restriction(self, children: list[Any]) -> Construct:
        return Construct("DatatypeRestriction", tuple(children))

    def facet(self, children: list[Any]) -> Construct:
        return Construct("FacetRestriction", (FACETS[str(children[0])], children[1]))

    def values(self, children: list[Any]) -> Construct:
        property, quantifier, filler = children
        word = self._word(property, filler)
        kind = "SomeValuesFrom" if quantifier.type == "SOME" else "AllValuesFrom"
        return Construct(f"{word}{kind}", (property, filler))

    def has_value(self, children: list[Any]) -> Construct:
        property, _, value = children
        return Construct("DataHasValue" if isinstance(value, Literal) else "ObjectHasValue", (property, value))

    def has_self(self, children: list[Any]) -> Construct:
        return Construct("ObjectHasSelf", (children[0],))

    def cardinality(self, children: list[Any]) -> Construct:
        property, bound, number, *fillers = children
        filler = fillers[0] if fillers else None
        name = f"{self._word(property, filler)}{str(bound).removesuffix('ly').capitalize()}Cardinality"
        return Construct(name, (int(number), property) if filler is None else (int(number), property, filler))

    def inverse(self, children: list[Any]) -> Construct:
        return Construct("ObjectInverseOf", (children[1],))

    @staticmethod
    def _operands(children: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(child for child in children if not hasattr(child, "type"))

    def _nary(self, name: str, parts: tuple[Part, ...]) -> Construct:
        return Construct(f"{'Data' if any(map(self._is_data_range, parts)) else 'Object'}{name}", parts)

    def _word(self, property: Any, filler: Any) -> str:
        if property in self._object_properties:
            return "Object"
        return "Data" if self._is_data_property(property) or self._is_data_range(filler) else "Object"

    def _is_data_property(self, property: Any) -> bool:
        return property in self._data_properties and property not in self._object_properties

    def _is_data_range(self, part: Any) -> bool:
        if isinstance(part, Construct):
            return part.name in _DATA_RANGES
        return isinstance(part, IRI) and (part in self._datatypes or is_built_in_datatype(part))
