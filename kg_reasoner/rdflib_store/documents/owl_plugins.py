"""Parsers and serializers of rdflib for OWL/XML, functional syntax, Manchester syntax and OBO, for which it has none."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final, cast

from rdflib import plugin
from rdflib.parser import Parser
from rdflib.serializer import Serializer
from rdflib.util import SUFFIX_FORMAT_MAP

from kg_reasoner.loaders.rdf.formats import FUNCTIONAL, MANCHESTER, OBO, OWL_XML, Format
from kg_reasoner.rdflib_store.documents.block_stores import BlockStore

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.parser import InputSource

    from kg_reasoner.terms import Triple

__all__ = [
    "FunctionalParser",
    "FunctionalSerializer",
    "ManchesterParser",
    "ManchesterSerializer",
    "OBOParser",
    "OWLXMLParser",
    "OWLXMLSerializer",
    "register_owl_plugins",
]


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
        from kg_reasoner.loaders.convert import to_rdflib
        from kg_reasoner.loaders.rdf.readers.reader import read
        from kg_reasoner.storage.terms.dictionary import Dictionary
        from kg_reasoner.terms import term_from_text

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


class _OwlSerializer(Serializer):
    """Writes the axioms that any graph states, see `kg_reasoner.io.owl_output.owl_lines`."""

    FORMAT: Format

    def serialize(self, stream: IO[bytes], base: str | None = None, encoding: str | None = None, **options: Any) -> None:
        """Write the graph to a stream; of a dataset, the triples that its patterns match, as rdflib's serializers of graphs do.

        Raises:
            OutputError: The syntax cannot express an axiom.
        """
        from kg_reasoner.io.owl_output import owl_lines
        from kg_reasoner.loaders.convert import from_rdflib

        triples = (cast("Triple", tuple(map(from_rdflib, triple))) for triple in self.store.triples((None, None, None)))
        prefixes = {str(prefix): str(namespace) for prefix, namespace in self.store.namespaces()}
        for line in owl_lines(triples, self.FORMAT, prefixes):
            stream.write(line.encode())


class FunctionalSerializer(_OwlSerializer):
    FORMAT = FUNCTIONAL


class ManchesterSerializer(_OwlSerializer):
    FORMAT = MANCHESTER


class OWLXMLSerializer(_OwlSerializer):
    FORMAT = OWL_XML


_PLUGINS: Final[tuple[tuple[Any, tuple[Any, ...]], ...]] = (
    (Parser, (FunctionalParser, ManchesterParser, OBOParser, OWLXMLParser)),
    (Serializer, (FunctionalSerializer, ManchesterSerializer, OWLXMLSerializer)),
)


def register_owl_plugins() -> None:
    """Register the parsers and serializers with the names, media types and extensions of their syntaxes.

    With the extensions, ``graph.parse("x.ofn")`` finds the parser, too; rdflib has no entry points for this.
    """
    for kind, classes in _PLUGINS:
        for found in classes:
            entry: Format = found.FORMAT
            for name in (entry.name, entry.media_type, *(extension[1:] for extension in entry.extensions)):
                plugin.register(name, kind, __name__, found.__name__)
    for found in _PLUGINS[0][1]:
        for extension in found.FORMAT.extensions:
            SUFFIX_FORMAT_MAP.setdefault(extension[1:], found.FORMAT.name)  # for `graph.parse` without a format
