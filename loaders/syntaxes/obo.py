"""OBO documents to constructs, by the mapping of the OBO Flat File Format 1.4 to OWL 2 (section 5).

The header and the stanzas are read twice: the first time for the relations, which are defined at the end of most documents. What
the format leaves open is as the OWL API has it: ``oboInOwl:id`` keeps the identifier, ``xref`` is ``oboInOwl:hasDbXref``, and a tag
that the format does not know is an annotation in the namespace of oboInOwl.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from kg_reasoner.loaders.syntaxes.constructs import Construct
from kg_reasoner.loaders.syntaxes.document_text import Settings, SourceText
from kg_reasoner.loaders.syntaxes.obo_clauses import Clause, OboFrame, frames
from kg_reasoner.loaders.syntaxes.obo_frames import OboTranslation
from kg_reasoner.loaders.syntaxes.obo_ids import OBO, OBO_IN_OWL, Identifiers, relations_of

__all__ = ["read_obo"]

_LONE_RETURN: Final = re.compile(r"\r(?!\n)")
"""The end of a line in old documents. In the other syntaxes it is ordinary white space."""

_TYPEDEF: Final = re.compile(r"^[^\S\n]*\[Typedef\]", re.MULTILINE)


def read_obo(text: str, name: str, settings: Settings) -> Iterator[Construct]:
    """Yield the ontology, imports, annotations and axioms of a document.

    Args:
        text: The document.
        name: Its name in messages.
        settings: How it is read.

    Raises:
        LoadError: The document is malformed; the message says where, and what was expected.
    """
    source = SourceText(_LONE_RETURN.sub("\n", text), name)
    all_frames = frames(source, settings)
    header = next(all_frames)
    identifiers = Identifiers(_ontology(header), relations=relations_of(frames(_from_first_relation(source), settings)))
    for clause in header.clauses:
        if clause.tag == "idspace":
            _declare(identifiers, clause, settings)
    if settings.prefixes is not None:
        settings.prefixes("obo", OBO)
        settings.prefixes("oboInOwl", OBO_IN_OWL)
    translation = OboTranslation(identifiers, header, settings)
    for frame in itertools.chain([None], all_frames):
        for construct in translation.header() if frame is None else translation.stanza(frame, source):
            if construct.name not in ("Ontology", "Import", "Annotation"):
                yield from _declarations(identifiers)
            yield construct
    yield from _declarations(identifiers)


def _declarations(identifiers: Identifiers) -> Iterator[Construct]:
    """Yield the declarations of annotation properties that have been used since the last ones."""
    for property in identifiers.undeclared:
        yield Construct("Declaration", (Construct("AnnotationProperty", (property,)),))
    identifiers.undeclared.clear()


def _from_first_relation(source: SourceText) -> SourceText:
    """Return the document with nothing but space before its first Typedef stanza, whose lines keep their numbers."""
    found = _TYPEDEF.search(source.text)
    if found is None:
        return SourceText("", source.name)
    start = found.start()
    return SourceText("\n" * source.text.count("\n", 0, start) + source.text[start:], source.name)


def _ontology(header: OboFrame) -> str | None:
    for clause in header.clauses:
        if clause.tag == "ontology":
            return clause.text()[0]
    return None


def _declare(identifiers: Identifiers, clause: Clause, settings: Settings) -> None:
    prefix, namespace = clause.space()
    identifiers.spaces[prefix] = namespace
    if settings.prefixes is not None:
        settings.prefixes(prefix, namespace)
