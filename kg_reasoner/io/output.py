"""Output of triples in any RDF syntax, to atomically written files."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias, TypeVar, cast

import numpy as np

from kg_reasoner.concurrency.cores import thread_count
from kg_reasoner.errors import LoadError, OutputError, UnknownNameError
from kg_reasoner.io.atomic_files import Target, atomic_output, atomic_text
from kg_reasoner.io.lines import Blocks, Sink, are_rdf, line_blocks, write_lines
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.blank import safe_label
from kg_reasoner.loaders.rdf.formats import (
    FORMATS,
    FUNCTIONAL,
    MANCHESTER,
    N3,
    N_QUADS,
    N_TRIPLES,
    OBO,
    OWL_XML,
    PARQUET,
    RDF_XML,
    TRIG,
    TURTLE,
    Format,
    find_format,
    format_of_name,
    unpacked_name,
)
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import NO_TRIPLES, TripleIds, selected_rows, unique_rows
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, BlankNode, Literal, Term, Triple, term_text

if TYPE_CHECKING:
    import pyoxigraph

__all__ = [
    "QuadIds",
    "Target",
    "TripleWriter",
    "atomic_output",
    "atomic_text",
    "find_output_format",
    "format_of_output",
    "triple_writer",
    "write_triples",
]

QuadIds: TypeAlias = "tuple[TripleIds, str, Dictionary]"
"""Triples as ids, the name of their graph in N-Triples form (nothing: the default graph), and the dictionary of their terms."""

_Statement = TypeVar("_Statement")

_STAGE: Final = "write"
_PREFIX: Final = regular_expression(r"[^\W\d_](?:[\w.-]*[\w-])?")
_LINES: Final = 20_000
_OF_RULE_SETS: Final = "tag:kg-reasoner:"
_OF_AXIOMS: Final = (FUNCTIONAL, MANCHESTER, OWL_XML)
_NAMES: Final = (*(entry.name for entry in FORMATS if entry is not OBO), PARQUET.name)
_RDF_XML_EXTENSIONS: Final = (".rdf", ".owl", ".xml")
_EXTENSIONS: Final = (
    *(each for entry in FORMATS if entry is not OBO for each in entry.extensions),
    *_RDF_XML_EXTENSIONS,
    ".parquet",
)


def write_triples(
    triples: Iterable[Triple],
    target: Target,
    format: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> int:
    """Write triples to a file; return their number. See `triple_writer`."""
    with triple_writer(target, format, prefixes, progress) as write:
        return write(triples)


@contextlib.contextmanager
def triple_writer(
    target: Target,
    format: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Iterator[TripleWriter]:
    """Yield a function that writes triples to a file, which appears when the block ends without an error.

    The file is opened immediately, so an error is raised before the triples are computed.

    Args:
        target: The file; ``"-"`` is standard output.
        format: The syntax, by name, extension or media type; by default determined by the file name, else N-Triples.
        prefixes: Short names of namespaces, for the syntaxes that have them.
        progress: Called with ``"write"`` and the number of triples written.
        threads: The number of threads that make the text of N-Triples, N-Quads and Turtle; None: one per core that the process may
            use. The file does not depend on it.

    Raises:
        UnknownNameError: The format is unknown.
        OutputError: The file cannot be written.
        ValueError: The number of threads is wrong.
    """
    count = thread_count(threads)
    syntax = _output_format(os.fspath(target), format)
    for prefix in prefixes or ():
        if prefix and not _PREFIX.fullmatch(prefix):
            raise OutputError(f"{prefix!r} cannot be a prefix")
    with atomic_output(target) as file:
        yield TripleWriter(file, syntax, dict(prefixes or {}), progress, count)


def format_of_output(name: str) -> str:
    """Return the name of the syntax that the extension of a file to be written determines.

    Raises:
        OutputError: It determines none that can be written.

    >>> format_of_output("zoo.owl"), format_of_output("zoo.ofn.gz")
    ('rdfxml', 'functional')
    """
    extension = PurePath(unpacked_name(name)).suffix
    if extension in _EXTENSIONS:
        return _output_format(name, None).name
    what = f"{extension} is not an extension of" if extension else "there is no extension of"
    raise OutputError(f"{name}: {what} a syntax that can be written; use one of {', '.join(sorted(_EXTENSIONS))}")


def find_output_format(format: str) -> Format:
    """Return a syntax that can be written.

    Args:
        format: Its name, extension or media type.

    Raises:
        UnknownNameError: There is none of this name.
    """
    return _output_format("", format)


def _output_format(name: str, format: str | None) -> Format:
    if format is None and unpacked_name(name).endswith(_RDF_XML_EXTENSIONS):
        return RDF_XML
    if (format or unpacked_name(name).rpartition(".")[2]).lower().removeprefix(".") == PARQUET.name:
        return PARQUET
    try:
        found = find_format(format) if format is not None else format_of_name(name) or N_TRIPLES
    except UnknownNameError:
        raise UnknownNameError("output format", format or "", _NAMES) from None
    if found is OBO:
        raise UnknownNameError("output format", format or found.name, _NAMES)
    return found


class TripleWriter:
    """Writes triples to an open file in one syntax. To be called once; for N-Triples and N-Quads, repeatedly.

    Triples that are not RDF, because a literal is the subject or something else than an IRI the property, are left out.
    """

    def __init__(
        self, file: BinaryIO, format: Format, prefixes: Mapping[str, str], progress: Progress | None = None, threads: int = 1
    ) -> None:
        self._file = file
        self._threads = threads
        self._format = format
        self._prefixes = dict(prefixes)
        self._progress = progress
        self.written = 0

    def __call__(self, triples: Iterable[Triple]) -> int:
        """Write triples; return their number."""
        before = self.written
        rdf = (triple for triple in triples if not isinstance(triple[0], Literal) and isinstance(triple[1], IRI))
        if self._format in (N_TRIPLES, N_QUADS):
            self._lines(
                f"{_line_text(subject)} {term_text(property)} {_line_text(object)} .\n" for subject, property, object in rdf
            )
        elif self._format is PARQUET:
            dictionary = Dictionary()
            texts = [term_text(term) for triple in rdf for term in triple]
            self.ids(dictionary.encode_texts(texts).reshape(-1, 3), dictionary)
        elif self._format in _OF_AXIOMS:
            from kg_reasoner.io.owl_output import owl_lines

            self._lines(owl_lines(self._counted(rdf), self._format, self._prefixes), count=False)
        elif self._format is RDF_XML:
            from kg_reasoner.io.rdfxml import rdfxml_lines

            self._lines(rdfxml_lines(self._counted(rdf), _itself, self._prefixes), count=False)
        else:
            self._serialised(rdf)
        if self._progress is not None:
            self._progress(_STAGE, self.written, None)
        return self.written - before

    def ids(self, triples: TripleIds, dictionary: Dictionary) -> int:
        """Write triples given as ids, of shape (n, 3); return their number. Much faster than terms."""
        keep = are_rdf(triples, dictionary)
        triples = triples if keep.all() else selected_rows(triples, keep)
        if self._format in (N_TRIPLES, N_QUADS):
            return self._together(lambda sink: write_lines(triples, dictionary, "", sink, self._threads))
        if self._format in (TURTLE, TRIG, N3):
            from kg_reasoner.io.readable_turtle import write_turtle

            turtle = partial(write_turtle, triples, dictionary, self._prefixes, threads=self._threads)
            return self._together(lambda sink: turtle(sink=sink), len(triples))
        if self._format is PARQUET:
            return self._parquet([(triples, "", dictionary)], graphs=False)
        if self._format in _OF_AXIOMS:
            terms = {number: dictionary.decode(number) for number in np.unique(triples).tolist()}
            return self(cast("Triple", tuple(map(terms.__getitem__, row))) for row in triples.tolist())
        triples = triples.take(np.argsort(triples[:, 0], kind="stable"), axis=0)  # both group the statements about a subject
        if self._format is RDF_XML:
            from kg_reasoner.io.rdfxml import rdfxml_blocks

            return self._together(partial(_hand_over, rdfxml_blocks(triples, dictionary, self._prefixes)))
        return self._reserialised(line_blocks(triples, dictionary))

    def add_prefixes(self, prefixes: Mapping[str, str]) -> None:
        """Add prefixes, if they are valid and not yet in use. Those of the rule sets' own predicates are not for documents."""
        from kg_reasoner.loaders.convert import check_absolute

        for prefix, namespace in prefixes.items():
            if (not prefix or _PREFIX.fullmatch(prefix)) and not namespace.startswith(_OF_RULE_SETS):
                with contextlib.suppress(LoadError):
                    check_absolute(namespace, "namespace")
                    self._prefixes.setdefault(prefix, namespace)

    @property
    def has_prefixes(self) -> bool:
        """Whether the syntax has prefixes."""
        return self._format not in (N_TRIPLES, N_QUADS, PARQUET)

    @property
    def has_graphs(self) -> bool:
        """Whether the syntax has named graphs."""
        return self._format.graphs

    def quads(self, parts: Iterable[QuadIds]) -> int:
        """Write the triples of named graphs in one call; without the graphs, in a syntax without named graphs. Return their
        number.
        """
        if self._format is N_QUADS:
            return self._together(partial(_write_quads, parts, self._threads))
        if self._format is PARQUET:
            some = ((selected_rows(ids, are_rdf(ids, dictionary)), graph, dictionary) for ids, graph, dictionary in parts)
            return self._parquet(some, graphs=True)
        if self._format.graphs:
            return self._reserialised(_quad_lines(parts))
        union = Dictionary()
        return self.ids(unique_rows(np.concatenate([NO_TRIPLES, *(_in_dictionary(part, union) for part in parts)])), union)

    def _together(self, write: Callable[[Sink], None], total: int | None = None) -> int:
        """Write blocks of text that a function hands to another one, which it is called with."""
        before = self.written

        def sink(block: tuple[bytes | memoryview, int]) -> None:
            self._file.write(block[0])
            self.written += block[1]
            if self._progress is not None:
                self._progress(_STAGE, self.written, None)

        write(sink)
        if total is not None:  # statements within others are not counted in blocks
            self.written = before + total
        if self._progress is not None:
            self._progress(_STAGE, self.written, None)
        return self.written - before

    def _parquet(self, parts: Iterable[QuadIds], graphs: bool) -> int:
        from kg_reasoner.io.parquet import write_parquet

        before = self.written

        def count(rows: int) -> None:
            self.written = before + rows
            if self._progress is not None:
                self._progress(_STAGE, self.written, None)

        return write_parquet(parts, self._file, count, graphs=graphs)

    def _counted_blocks(self, blocks: Blocks) -> Blocks:
        for block, count in blocks:
            yield block, count
            self.written += count
            if self._progress is not None:
                self._progress(_STAGE, self.written, None)

    def _reserialised(self, blocks: Blocks) -> int:
        from kg_reasoner.io.reserialising import write_in_syntax

        before = self.written
        write_in_syntax(self._counted_blocks(blocks), self._file, self._format, self._prefixes)
        return self.written - before

    def _lines(self, lines: Iterator[str], count: bool = True) -> None:
        while block := list(itertools.islice(lines, _LINES)):
            self._file.write("".join(block).encode())
            if count:
                self.written += len(block)
                if self._progress is not None:
                    self._progress(_STAGE, self.written, None)

    def _counted(self, statements: Iterable[_Statement]) -> Iterator[_Statement]:
        for statement in statements:
            yield statement
            self.written += 1
            if self._progress is not None and self.written % _LINES == 0:
                self._progress(_STAGE, self.written, None)

    def _serialised(self, triples: Iterable[Triple]) -> None:
        self._serialise(_oxigraph_triple(triple, self._format.name) for triple in self._counted(triples))

    def _serialise(self, statements: Iterable[pyoxigraph.Triple] | Iterable[pyoxigraph.Quad]) -> None:
        """Write statements with pyoxigraph."""
        import pyoxigraph

        syntax = pyoxigraph.RdfFormat.from_media_type(self._format.media_type)
        try:
            pyoxigraph.serialize(statements, self._file, syntax, prefixes=dict(self._prefixes))
        except ValueError as error:
            raise OutputError(f"cannot write {self._format.name}: {error}") from None


def _itself(term: Term) -> Term:
    return term


def _line_text(term: Term) -> str:
    """Return the text of a term in N-Triples."""
    return f"_:{safe_label(term.label)}" if isinstance(term, BlankNode) else term_text(term)


def _quad_lines(parts: Iterable[QuadIds]) -> Blocks:
    for triples, graph, dictionary in parts:
        yield from line_blocks(selected_rows(triples, are_rdf(triples, dictionary)), dictionary, graph)


def _hand_over(blocks: Blocks, sink: Sink) -> None:
    for block in blocks:
        sink(block)


def _write_quads(parts: Iterable[QuadIds], threads: int, sink: Sink) -> None:
    for triples, graph, dictionary in parts:
        write_lines(selected_rows(triples, are_rdf(triples, dictionary)), dictionary, graph, sink, threads)


def _in_dictionary(part: QuadIds, dictionary: Dictionary) -> TripleIds:
    """Return triples as ids of another dictionary."""
    triples, _, known = part
    numbers, places = np.unique(triples, return_inverse=True)
    ids = dictionary.encode_texts(known.texts_of(numbers))
    return ids[places].reshape(triples.shape)


def _oxigraph_triple(triple: Triple, format: str) -> pyoxigraph.Triple:
    import pyoxigraph

    from kg_reasoner.loaders.convert import to_oxigraph

    try:
        subject, property, object = (
            to_oxigraph(BlankNode(safe_label(term.label)) if isinstance(term, BlankNode) else term) for term in triple
        )
        return pyoxigraph.Triple(subject, property, object)  # type: ignore[arg-type]
    except ValueError as error:
        text = " ".join(map(term_text, triple))
        raise OutputError(f"cannot write {text} as {format}: {error}; N-Triples can hold it") from None
