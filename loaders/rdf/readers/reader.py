"""RDF from any source in any syntax, as blocks of term ids.

Input is only data: no context, import or entity is fetched, and ``owl:imports`` remains a triple (see
`kg_reasoner.loaders.imports.closure`). The rules of N3 documents are returned separately on request.

Relative IRIs are resolved against the base that the document declares, or else the given `base`. Without a base, a relative IRI is
an error: paths of this machine never enter the data.

Blank nodes belong to their document, see `kg_reasoner.loaders.rdf.blank`; those of rdflib graphs and of triples keep their labels.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kg_reasoner.concurrency.cores import thread_count
from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds
from kg_reasoner.loaders.rdf.document_reading import PrefixSink, Reading
from kg_reasoner.loaders.rdf.formats import (
    FUNCTIONAL,
    MANCHESTER,
    N3,
    N_QUADS,
    N_TRIPLES,
    OBO,
    OWL_XML,
    RDF_XML,
    TRIG,
    TURTLE,
    Format,
    find_format,
)
from kg_reasoner.loaders.rdf.readers.parallel_lines import read_lines
from kg_reasoner.loaders.rdf.readers.statements import Encoder
from kg_reasoner.loaders.rdf.rule_sink import RuleSink
from kg_reasoner.loaders.rdf.sources import Document, OpenDocument, document_of, documents_under
from kg_reasoner.loaders.rdf.term_forecast import TermForecast
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.readers.syntax import Batch

__all__ = ["Block", "DocumentBounds", "Progress", "read"]

_STAGE: Final = "load"


@dataclass(frozen=True, slots=True)
class Block:
    """Triples of one source: ids of shape (n, 3), and the ids of their graphs, of shape (n,).

    -1 stands for the default graph; `graphs` is None where the source has no named graphs. Triples may occur more than once.
    """

    triples: Ids
    graphs: Ids | None
    source: str


def read(
    *sources: Any,
    dictionary: Dictionary,
    format: str | None = None,
    base: str | None = None,
    progress: Progress | None = None,
    block: int = 200_000,
    rules: RuleSink | None = None,
    bounds: DocumentBounds = DEFAULT_BOUNDS,
    scope: str | None = None,
    prefixes: PrefixSink | None = None,
    threads: int | None = None,
) -> Iterator[Block]:
    """Read RDF documents and graphs, and yield blocks of about `block` triples.

    Args:
        sources: Paths of files or folders (all RDF files below them), ``"-"`` for standard input, bytes, open files, rdflib
            Graphs and Datasets, Worlds and Ontologies of owlready2, iterables of triples. Compressed ones (gzip, zstd,
            bzip2, xz) are detected by content and unpacked.
        dictionary: Assigns the ids; a `kg_reasoner.storage.terms.dictionary.Dictionary`.
        format: The syntax of all documents, as a name (``turtle``), extension (``ttl``) or media type. By default, the extension or
            else the content determines it.
        base: The IRI against which relative IRIs are resolved in documents that declare no base.
        progress: Called with ``"load"``, the bytes read and the total (the stored size of compressed files), which is None if a
            source does not know its size.
        block: The approximate number of triples in a block, which determines the memory needed.
        rules: Collects the rules of N3 documents (see `loaders.rdf.rule_sink.RuleSink`); without it, rules are an error.
        bounds: Bounds on the size and depth of documents.
        scope: A prefix for the labels of the documents' blank nodes that no other label has; by default, one is made for each
            document.
        prefixes: Takes each prefix that the documents declare or that is bound in graphs, with its namespace.
        threads: The number of threads that read a long document together; None: one per core that the process may use. The result
            does not depend on it.

    Returns:
        An iterator of blocks.

    Raises:
        ValueError: The number of threads is wrong.
        UnknownNameError: The format is unknown.
        LoadError: A source is missing or malformed, or standard input is given twice. Missing files are reported before anything is
            read.
        UnsupportedError: A rule of an N3 document cannot be expressed.

    >>> from kg_reasoner.storage.terms.dictionary import Dictionary
    >>> dictionary = Dictionary()
    >>> blocks = read(b"@prefix : <http://example.org/> . :a :b 1, 2 .", dictionary=dictionary)
    >>> [dictionary.text(number) for block in blocks for number in block.triples[:, 2].tolist()]
    ['"1"^^<http://www.w3.org/2001/XMLSchema#integer>', '"2"^^<http://www.w3.org/2001/XMLSchema#integer>']
    """
    wanted = find_format(format) if format is not None else None
    if base is not None:
        from kg_reasoner.loaders.convert import check_absolute

        check_absolute(base, "base")
    if sum(isinstance(source, str) and source == "-" for source in sources) > 1:
        raise LoadError("standard input is given twice: it can be read once only")
    inputs = [found for source in sources for found in _inputs(source, wanted, bounds)]
    return _blocks(inputs, Reading(dictionary, block, base, prefixes, rules, scope, thread_count(threads)), progress)


_Input: TypeAlias = "Document | Any"


def _inputs(source: Any, format: Format | None, bounds: DocumentBounds) -> Iterable[_Input]:
    if isinstance(source, str | Path) and source != "-" and Path(source).is_dir():
        return documents_under(Path(source), format, bounds)
    if isinstance(source, Document):
        return (replace(source, bounds=bounds),)
    if _is_owlready(source):  # which has any attribute that is asked for, such as `read`
        return (source,)
    document = document_of(source, format, bounds)
    if document is None and not isinstance(source, Iterable):
        raise LoadError(f"{source!r} cannot be read", hint="a source is a path, bytes, an open file, an rdflib graph or triples")
    return (source if document is None else document,)


def _is_owlready(source: object) -> bool:
    """Return whether an object is a World or an Ontology of owlready2, without importing it."""
    owlready = sys.modules.get("owlready2")
    return owlready is not None and isinstance(source, owlready.World | owlready.Ontology)


def _blocks(inputs: list[_Input], reading: Reading, progress: Progress | None) -> Iterator[Block]:
    dictionary, block = reading.dictionary, reading.block
    sizes = [source.size if isinstance(source, Document) else None for source in inputs]
    total = sum(size for size in sizes if size is not None) if None not in sizes else None
    done = 0
    for source in inputs:
        if not isinstance(source, Document):
            for triples, graphs in _batches_in_memory(source, dictionary, block):
                yield Block(triples, graphs, type(source).__name__)
            if reading.prefixes is not None:
                for prefix, namespace in _prefixes_in_memory(source):
                    reading.prefixes(prefix, namespace)
            continue
        with TermForecast(dictionary, source.size) as forecast, source.open() as opened:
            for triples, graphs in _with_hint(opened, _batches(opened, reading)):
                forecast.look(opened.position())
                if progress is not None:
                    progress(_STAGE, done + opened.position(), total)
                if len(triples):
                    yield Block(triples, graphs, source.name)
            done += opened.position()
    if progress is not None:
        progress(_STAGE, done, total)


def _batches_in_memory(source: Any, dictionary: Dictionary, block: int) -> Iterator[Batch]:
    if _is_owlready(source):
        from kg_reasoner.loaders.rdf.readers.quadstore import read_quad_store

        return read_quad_store(source, dictionary, block)
    from kg_reasoner.loaders.rdf.readers.triples_in_memory import is_rdflib_graph, read_graph, read_triples

    return read_graph(source, dictionary, block) if is_rdflib_graph(source) else read_triples(source, dictionary, block)


def _prefixes_in_memory(source: Any) -> Iterable[tuple[str, str]]:
    if _is_owlready(source):
        from kg_reasoner.loaders.rdf.readers.quadstore import ontology_prefixes

        return ontology_prefixes(source)
    from kg_reasoner.loaders.rdf.readers.triples_in_memory import bound_prefixes, is_rdflib_graph

    return bound_prefixes(source) if is_rdflib_graph(source) else ()


def _with_hint(opened: OpenDocument, batches: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the same batches; if the document seems to be in another syntax, add a hint to an error without one."""
    try:
        yield from batches
    except LoadError as error:
        seems = opened.other_format()
        if error.hint is not None or seems is None:
            raise
        hint = f"it looks like {seems.name}: if it is, give {seems.name} as its format"
        raise LoadError(error.message, error.span, hint) from None


def _batches(opened: OpenDocument, reading: Reading) -> Iterator[Batch]:
    format = opened.format()
    if format is None:
        return iter(())
    if format in (N_TRIPLES, N_QUADS):
        return read_lines(opened, format, reading)
    if format is OWL_XML:
        from kg_reasoner.loaders.rdf.readers.owlxml import read_owlxml

        return read_owlxml(opened, reading)
    if format in (FUNCTIONAL, MANCHESTER, OBO):
        from kg_reasoner.loaders.rdf.readers.owl_texts import read_owl_text

        return read_owl_text(opened, format, reading)
    if format is N3:
        from kg_reasoner.loaders.rdf.readers.n3 import has_formulas, read_n3

        if has_formulas(opened):
            return read_n3(opened, reading)
    from kg_reasoner.loaders.rdf.parser_share import WINDOW

    is_compiled = isinstance(reading.dictionary, Dictionary) and opened.document.bounds.literal >= WINDOW
    if format in (TURTLE, TRIG) and is_compiled:
        from kg_reasoner.loaders.rdf.readers.turtle import read_turtle

        return read_turtle(opened, format, reading)
    if format is RDF_XML and is_compiled:
        from kg_reasoner.loaders.rdf.readers.rdfxml_documents import read_rdfxml

        return read_rdfxml(opened, reading)
    from kg_reasoner.loaders.rdf.readers.syntax import read_parsed

    encoder = Encoder(reading.dictionary, reading.scope_of(opened), parsed=True)
    return read_parsed(opened, format, reading.base, encoder, reading.block, reading.prefixes)
