"""OWL's own text syntaxes to ids: functional syntax, Manchester syntax and OBO.

`kg_reasoner.loaders.syntaxes` reads them into constructs, which are mapped to triples one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kg_reasoner.loaders.convert import text_from_term
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import MANCHESTER, OBO, Format
from kg_reasoner.loaders.rdf.readers.n3 import decoded
from kg_reasoner.loaders.syntaxes.constructs import Construct
from kg_reasoner.loaders.syntaxes.document_text import Settings
from kg_reasoner.loaders.syntaxes.implied_declarations import with_declarations
from kg_reasoner.loaders.syntaxes.to_rdf import RdfMapping

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.readers.syntax import Batch
    from kg_reasoner.loaders.rdf.sources import OpenDocument

__all__ = ["read_owl_text"]


def read_owl_text(opened: OpenDocument, format: Format, reading: Reading) -> Iterator[Batch]:
    """Yield the triples of a document.

    Raises:
        LoadError: The document is malformed; the message says where, and what was expected.
    """
    bounds, scope = opened.document.bounds, reading.scope_of(opened)
    settings = Settings(reading.base, scope.written, reading.prefixes, bounds.depth, bounds.literal)
    mapping = RdfMapping(scope.fresh)
    texts = (
        text_from_term(term)
        for construct in with_declarations(_constructs(opened, format, settings))
        for triple in mapping.triples(construct)
        for term in triple
    )
    while batch := list(itertools.islice(texts, 3 * reading.block)):
        yield reading.dictionary.encode_texts(batch).reshape(-1, 3), None


def _constructs(opened: OpenDocument, format: Format, settings: Settings) -> Iterator[Construct]:
    name = opened.document.name
    text = decoded(opened.stream.read(), name)
    if format is OBO:
        from kg_reasoner.loaders.syntaxes.obo import read_obo

        return read_obo(text, name, settings)
    if format is MANCHESTER:
        from kg_reasoner.loaders.syntaxes.manchester import read_manchester

        return read_manchester(text, name, settings)
    from kg_reasoner.loaders.syntaxes.functional import read_functional

    return read_functional(text, name, settings)
