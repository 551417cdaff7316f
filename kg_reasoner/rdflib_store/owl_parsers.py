"""Parsers of rdflib for the syntaxes of OWL, which it has none for: OWL/XML, functional syntax, Manchester syntax and OBO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rdflib import plugin
from rdflib.parser import Parser

from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.loaders.rdf.formats import FUNCTIONAL, MANCHESTER, OBO, OWL_XML, Format
from kg_reasoner.loaders.rdf.reader import read
from kg_reasoner.rdflib_store.block_stores import BlockStore
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import term_from_text

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.parser import InputSource

__all__ = ["FunctionalParser", "ManchesterParser", "OBOParser", "OWLXMLParser", "register_owl_parsers"]


class _OwlParser(Parser):
    """Parses a document into any graph; into one over a `KGReasonerStore` in blocks."""

    FORMAT: Format

    def parse(self, source: InputSource, sink: Graph, **options: Any) -> None:
        """Add the triples of a document to a graph, and bind its prefixes.

        Raises:
            LoadError: The document is malformed. Nothing has been added.
        """
        if isinstance(sink.store, BlockStore) and sink.store.reads_blocks_for(sink):
            sink.store.parse_blocks(source, sink, self.FORMAT, lambda again: self._into(again, sink), **options)
        else:
            self._into(source, sink, **options)

    def _into(self, source: InputSource, graph: Graph, **options: Any) -> None:
        dictionary = Dictionary()
        prefixes: dict[str, str] = {}
        stream = source.getByteStream() or source.getCharacterStream()
        blocks = list(
            read(
                stream,
                dictionary=dictionary,
                format=self.FORMAT.name,
                base=source.getPublicId() or None,
                prefixes=prefixes.__setitem__,
                **options,
            )
        )
        for prefix, namespace in prefixes.items():
            graph.bind(prefix, namespace, override=True)
        for block in blocks:
            for row in block.triples.tolist():
                graph.add(tuple(to_rdflib(term_from_text(dictionary.text(number))) for number in row))  # type: ignore[arg-type]


class FunctionalParser(_OwlParser):
    FORMAT = FUNCTIONAL


class ManchesterParser(_OwlParser):
    FORMAT = MANCHESTER


class OBOParser(_OwlParser):
    FORMAT = OBO


class OWLXMLParser(_OwlParser):
    FORMAT = OWL_XML


_PARSERS: Final = (FunctionalParser, ManchesterParser, OBOParser, OWLXMLParser)


def register_owl_parsers() -> None:
    """Register the parsers with the names, media types and extensions of their syntaxes."""
    for parser in _PARSERS:
        entry = parser.FORMAT
        for name in (entry.name, entry.media_type, *(extension[1:] for extension in entry.extensions)):
            plugin.register(name, Parser, __name__, parser.__name__)
