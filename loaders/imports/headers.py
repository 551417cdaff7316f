"""Ontology headers: the ontology IRI, version IRI and imports of a document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.rdf.readers import reader as rdf
from kg_reasoner.loaders.rdf.rule_sink import RuleSink
from kg_reasoner.loaders.rdf.sources import Document
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, Term

__all__ = ["Header", "headers_in", "headers_of"]

_NO_BASE: Final = "x-no-base:/"
"""Marks relative IRIs without a base, which identify nothing."""


@dataclass(frozen=True, slots=True)
class Header:
    """The IRI and version IRI of an ontology, as far as present, and its imports: IRIs, in a valid document."""

    ontology: str | None
    version: str | None
    imports: tuple[Term, ...] = ()


def headers_of(document: Document) -> list[Header]:
    """Return the headers in a document, which is read up to the first block that has one.

    Raises:
        LoadError: The document cannot be read.
    """
    dictionary = Dictionary()
    rules, bounds = RuleSink(skips_refused=True), document.bounds
    for block in rdf.read(document, dictionary=dictionary, base=_NO_BASE, block=20_000, rules=rules, bounds=bounds):
        found = headers_in([block.triples], dictionary)
        if found:
            return found
    return []


def headers_in(blocks: Iterable[Ids], dictionary: Dictionary) -> list[Header]:
    """Return the headers among the triples of a document."""
    is_a, ontology, version, imports = map(dictionary.find, (RDF.type, OWL.Ontology, OWL.versionIRI, OWL.imports))
    if ontology < 0 and imports < 0:
        return []
    subjects: dict[int, None] = {}
    versions: dict[int, Term] = {}
    imported: dict[int, list[Term]] = {}
    for ids in blocks:
        typed = (ids[:, 1] == is_a) & (ids[:, 2] == ontology)
        for subject, property, value in ids[typed | np.isin(ids[:, 1], (version, imports))].tolist():
            subjects[subject] = None
            if property == version:
                versions[subject] = dictionary.decode(value)
            elif property == imports:
                imported.setdefault(subject, []).append(dictionary.decode(value))
    return [
        Header(_iri(dictionary.decode(subject)), _iri(versions.get(subject)), tuple(imported.get(subject, ())))
        for subject in subjects
    ]


def _iri(term: Term | None) -> str | None:
    return term.value if isinstance(term, IRI) else None
