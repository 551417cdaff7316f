"""Ontologies in the syntaxes of OWL, for tests: reading, writing, and what makes two of them the same."""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from kg_reasoner.errors import ReasonerWarning
from kg_reasoner.io.output import write_triples
from kg_reasoner.loaders.rdf.readers.reader import read
from kg_reasoner.loaders.syntaxes.constructs import Construct
from kg_reasoner.loaders.syntaxes.from_rdf import constructs_of
from kg_reasoner.loaders.syntaxes.functional_writer import construct_text
from kg_reasoner.loaders.syntaxes.to_rdf import RdfMapping
from kg_reasoner.loaders.syntaxes.written_names import WrittenNames
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import Triple, term_from_text

_LABEL = re.compile(r"(?<=[( ])_:[\w.-]+")
_COUNT = itertools.count()
_NAMES = WrittenNames({})


def triples_of(source: bytes | Path, format: str | None = None) -> list[Triple]:
    """The triples of a document."""
    dictionary = Dictionary()
    found = []
    for block in read(source, dictionary=dictionary, format=format):
        for row in block.triples.tolist():
            subject, property, value = (term_from_text(dictionary.text(number)) for number in row)
            found.append((subject, property, value))
    return found


def mapped(constructs: Iterable[Construct]) -> list[Triple]:
    """The triples that constructs are mapped to."""
    mapping = RdfMapping(lambda: f"made{next(_COUNT)}")  # never twice: constructs can have labels made before
    return [triple for construct in constructs for triple in mapping.triples(construct)]


def axioms(triples: Iterable[Triple]) -> list[Construct]:
    """The constructs that triples state."""
    return list(constructs_of(triples, lambda _: None))


def texts(constructs: Iterable[Construct], without: Iterable[str] = ("Ontology",)) -> Counter[str]:
    """The constructs as text with anonymous individuals of any label; an ontology without an IRI is no matter."""
    hidden = set(without)
    return Counter(_LABEL.sub("_:", construct_text(in_order(found), _NAMES)) for found in constructs if found.name not in hidden)


def in_order(construct: Construct) -> Construct:
    """An axiom with its annotations, and two parts whose order does not matter, in the order of their texts."""
    construct = construct._replace(annotations=tuple(sorted(construct.annotations, key=str)))
    if construct.name.startswith(("Equivalent", "Disjoint", "Same", "Different", "Inverse")) and len(construct.parts) == 2:
        first, second = construct.parts
        return construct._replace(parts=(first, second) if str(first) <= str(second) else (second, first))
    return construct


def written(triples: Iterable[Triple], path: Path, format: str, warned: Callable[[str], object] = lambda _: None) -> Path:
    """The file that triples are written to; `warned` is told warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ReasonerWarning)
        write_triples(triples, path, format)
    for warning in found:
        warned(str(warning.message))
    return path
