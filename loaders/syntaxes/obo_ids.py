"""The IRIs of OBO identifiers (OBO Flat File Format 1.4, section 5.9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final
from urllib.parse import quote

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import check_absolute
from kg_reasoner.loaders.syntaxes.obo_clauses import Clause, OboFrame
from kg_reasoner.terms import IRI, OWL, RDFS, XSD

__all__ = ["OBO", "OBO_IN_OWL", "Identifiers", "OboRelation", "relations_of"]

OBO: Final = "http://purl.obolibrary.org/obo/"
OBO_IN_OWL: Final = "http://www.geneontology.org/formats/oboInOwl#"

_URL: Final = re.compile(r"(?:https?|ftp|file|urn|mailto):\S")
_PREFIXED: Final = re.compile(r"([^\s:]*):(.*)")
_CANONICAL_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PREFERRED: Final = re.compile(r"(?:BFO|RO):")
_VOCABULARY: Final = {
    "comment": RDFS.comment,
    "is_obsolete": OWL.deprecated,
    "name": RDFS.label,
    **{
        tag: IRI(f"{OBO}IAO_{number}")
        for tag, number in {
            "def": "0000115",
            "definition": "0000115",
            "expand_assertion_to": "0000425",
            "expand_expression_to": "0000424",
            "is_anti_symmetric": "0000427",
            "replaced_by": "0100001",
        }.items()
    },
    **{
        tag: IRI(OBO_IN_OWL + name)
        for tag, name in {
            "BROAD": "hasBroadSynonym",
            "EXACT": "hasExactSynonym",
            "NARROW": "hasNarrowSynonym",
            "RELATED": "hasRelatedSynonym",
            "alt_id": "hasAlternativeId",
            "format-version": "hasOBOFormatVersion",
            "has_synonym_type": "hasSynonymType",
            "namespace": "hasOBONamespace",
            "namespace-id-rule": "NamespaceIdRule",
            "scope": "hasScope",
            "subset": "inSubset",
            "subsetdef": "SubsetProperty",
            "synonymtypedef": "SynonymTypeProperty",
            "xref": "hasDbXref",
        }.items()
    },
}
_KNOWN_SPACES: Final = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "oboInOwl": OBO_IN_OWL,
    "oio": OBO_IN_OWL,
    "owl": str(OWL),
    "rdfs": str(RDFS),
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": str(XSD),
}
"""Vocabularies whose names are written with a prefix, without a declaration."""


@dataclass(frozen=True, slots=True)
class OboRelation:
    """The meaning of a relation as its Typedef stanza states it: the identifier to use, and its kind."""

    instead: str | None
    is_class_level: bool
    is_metadata: bool


def relations_of(frames: Iterable[OboFrame]) -> dict[str, OboRelation]:
    """Return the relations that Typedef stanzas define."""
    found: dict[str, OboRelation] = {}
    for frame in frames:
        if frame.kind != "Typedef":
            continue
        values: dict[str, list[Clause]] = {}
        for clause in frame.clauses:
            values.setdefault(clause.tag, []).append(clause)
        for clause in values.get("id", ()):
            (name,), _ = clause.ids(1, 1)
            others = [reference.id for each in values.get("xref", ()) if (reference := each.reference()[0]).id != name]
            preferred = [other for other in others if _PREFERRED.match(other)] or others
            instead = preferred[0] if preferred and ":" not in name else None
            flags = [any(each.is_true() for each in values.get(tag, ())) for tag in ("is_class_level", "is_metadata_tag")]
            found[name] = OboRelation(instead, *flags)
    return found


@dataclass(slots=True)
class Identifiers:
    """The identifiers of a document, whose ontology has a name such as ``go``."""

    ontology: str | None
    spaces: dict[str, str] = field(default_factory=dict)
    """The namespaces that the header declares, by their prefixes."""
    relations: Mapping[str, OboRelation] = field(default_factory=dict)
    undeclared: list[IRI] = field(default_factory=list)
    """The annotation properties used so far that no construct has declared."""
    _iris: dict[str, IRI] = field(default_factory=dict)
    _used: set[IRI] = field(default_factory=set)

    def iri(self, name: str, clause: Clause) -> IRI:
        """Return the IRI of a class, an individual or a relation."""
        found = self._iris.get(name)
        if found is None:
            relation = self.relations.get(name)
            text = self._text(relation.instead if relation is not None and relation.instead else name)
            try:
                check_absolute(text, "IRI")
            except (LoadError, ValueError) as error:
                raise clause.error(error.message if isinstance(error, LoadError) else str(error)) from None
            found = self._iris[name] = IRI(text)
        return found

    def property(self, name: str, clause: Clause) -> IRI:
        """Return the annotation property of a tag, a qualifier or an identifier."""
        known = _VOCABULARY.get(name)
        if known is None and (":" in name or name in self.relations):
            return self.annotation_property(name, clause)
        return self._annotation(IRI(OBO_IN_OWL + quote(name)) if known is None else known)

    def annotation_property(self, name: str, clause: Clause) -> IRI:
        """Return the annotation property with an identifier."""
        relation = self.relations.get(name)
        found = self.iri(name, clause)
        return found if relation is not None and not relation.is_metadata else self._annotation(found)

    def _annotation(self, property: IRI) -> IRI:
        if property not in self._used:
            self._used.add(property)
            if property not in RDFS and property not in OWL:
                self.undeclared.append(property)
        return property

    def _text(self, name: str) -> str:
        if _URL.match(name):
            return name
        match = _PREFIXED.fullmatch(name)
        if match is None:
            space = OBO + (quote(self.ontology) if self.ontology else "TEMP") + "#"
            return space + quote(name, safe="~")
        prefix, local = match.groups()
        if prefix in self.spaces:
            return self.spaces[prefix] + quote(local, safe="~/:.")
        if prefix in _KNOWN_SPACES:
            return _KNOWN_SPACES[prefix] + quote(local)
        canonical = _CANONICAL_PREFIX.fullmatch(prefix) and local.isdecimal()
        return f"{OBO}{quote(prefix)}{'_' if canonical else '#_'}{quote(local, safe='~')}"
