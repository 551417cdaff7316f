"""Output of triples in any RDF syntax, to atomically written files."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias, TypeVar, cast

import numpy as np

from kg_reasoner.errors import LoadError, OutputError, UnknownNameError
from kg_reasoner.io.files import Target, atomic_output, atomic_text
from kg_reasoner.io.rdfxml import rdfxml_lines
from kg_reasoner.io.turtle import turtle_lines
from kg_reasoner.loaders.convert import check_absolute, to_oxigraph
from kg_reasoner.loaders.rdf.blank import safe_label
from kg_reasoner.loaders.rdf.formats import (
    FORMATS,
    N_QUADS,
    N_TRIPLES,
    OWL_XML,
    RDF_XML,
    TURTLE,
    Format,
    find_format,
    format_of_name,
)
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.terms import IRI, BlankNode, Literal, Term, Triple, term_from_text, term_text

if TYPE_CHECKING:
    import pyoxigraph

    from kg_reasoner.storage.dictionary import Dictionary

__all__ = [
    "QuadTexts",
    "Target",
    "TripleWriter",
    "atomic_output",
    "atomic_text",
    "triple_writer",
    "write_triples",
]

QuadTexts: TypeAlias = tuple[str, str, str, str]
"""The N-Triples forms of a triple's terms, and of its graph's name; no text is the default graph."""

_Statement = TypeVar("_Statement")

_STAGE: Final = "write"
_PREFIX: Final = re.compile(r"[^\W\d_](?:[\w.-]*[\w-])?")
_LINES: Final = 20_000
_RDF_XML_EXTENSIONS: Final = (".rdf", ".owl", ".xml")


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
    target: Target, format: str | None = None, prefixes: Mapping[str, str] | None = None, progress: Progress | None = None
) -> Iterator[TripleWriter]:
    """Yield a function that writes triples to a file, which appears when the block ends without an error.

    The file is opened immediately, so an error is raised before the triples are computed.

    Args:
        target: The file; ``"-"`` is standard output.
        format: The syntax, by name, extension or media type; by default determined by the file name, else N-Triples.
        prefixes: Short names of namespaces, for the syntaxes that have them.
        progress: Called with ``"write"`` and the number of triples written.

    Raises:
        UnknownNameError: The format is unknown.
        OutputError: The file cannot be written.
    """
    syntax = _output_format(os.fspath(target), format)
    for prefix in prefixes or ():
        if prefix and not _PREFIX.fullmatch(prefix):
            raise OutputError(f"{prefix!r} cannot be a prefix")
    with atomic_output(target) as file:
        yield TripleWriter(file, syntax, dict(prefixes or {}), progress)


def _output_format(name: str, format: str | None) -> Format:
    if format is None and name.lower().removesuffix(".gz").endswith(_RDF_XML_EXTENSIONS):
        return RDF_XML
    found = find_format(format) if format is not None else format_of_name(name) or N_TRIPLES
    if found is OWL_XML:
        raise UnknownNameError("output format", format or found.name, (entry.name for entry in FORMATS if entry is not OWL_XML))
    return found


class TripleWriter:
    """Writes triples to an open file in one syntax. To be called once; for N-Triples and N-Quads, repeatedly.

    Triples that are not RDF, because a literal is the subject or something else than an IRI the property, are left out.
    """

    def __init__(self, file: BinaryIO, format: Format, prefixes: Mapping[str, str], progress: Progress | None = None) -> None:
        self._file = file
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
        elif self._format is RDF_XML:
            self._lines(rdfxml_lines(self._counted(rdf), self._prefixes), count=False)
        else:
            self._serialised(rdf)
        if self._progress is not None:
            self._progress(_STAGE, self.written, None)
        return self.written - before

    def ids(self, triples: TripleIds, dictionary: Dictionary) -> int:
        """Write triples given as ids, of shape (n, 3); return their number. For N-Triples, much faster than terms."""
        first = dictionary.first_bytes()
        keep = (first[triples[:, 0]] != ord('"')) & (first[triples[:, 1]] == ord("<"))
        triples = triples if keep.all() else triples[keep]
        texts = dictionary.texts()
        for number in np.flatnonzero(first == ord("_")).tolist():
            texts[number] = "_:" + safe_label(texts[number][2:])
        rows = (row for start in range(0, len(triples), _LINES) for row in triples[start : start + _LINES].tolist())
        if self._format in (N_TRIPLES, N_QUADS):
            before = self.written
            self._lines(f"{texts[subject]} {texts[property]} {texts[object]} .\n" for subject, property, object in rows)
            if self._progress is not None:
                self._progress(_STAGE, self.written, None)
            return self.written - before
        if self._format is TURTLE:
            self._lines(turtle_lines(triples, dictionary, self._prefixes), count=False)
            self.written += len(triples)
            return len(triples)
        return self(cast(Triple, tuple(term_from_text(texts[number]) for number in row)) for row in rows)

    def add_prefixes(self, prefixes: Mapping[str, str]) -> None:
        """Add prefixes, if they are valid and not yet in use."""
        for prefix, namespace in prefixes.items():
            if not prefix or _PREFIX.fullmatch(prefix):
                with contextlib.suppress(LoadError):
                    check_absolute(namespace, "namespace")
                    self._prefixes.setdefault(prefix, namespace)

    @property
    def has_prefixes(self) -> bool:
        """Whether the syntax has prefixes."""
        return self._format not in (N_TRIPLES, N_QUADS)

    @property
    def has_graphs(self) -> bool:
        """Whether the syntax has named graphs."""
        return self._format.graphs

    def quads(self, quads: Iterable[QuadTexts]) -> int:
        """Write the triples of named graphs in one call; without the graphs, in a syntax without named graphs. Return their
        number.
        """
        if not self._format.graphs:
            triples = dict.fromkeys((subject, property, value) for subject, property, value, _ in quads)
            return self(cast(Triple, tuple(map(term_from_text, triple))) for triple in triples)
        before = self.written
        if self._format is N_QUADS:
            self._lines(f"{' '.join(filter(None, map(_safe_text, quad)))} .\n" for quad in quads)
        else:
            self._serialise(_oxigraph_quad(quad) for quad in self._counted(quads))
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


def _line_text(term: Term) -> str:
    """Return the text of a term in N-Triples."""
    return f"_:{safe_label(term.label)}" if isinstance(term, BlankNode) else term_text(term)


def _safe_text(text: str) -> str:
    return "_:" + safe_label(text[2:]) if text.startswith("_:") else text


def _oxigraph_quad(quad: QuadTexts) -> pyoxigraph.Quad:
    import pyoxigraph

    subject, property, value = (to_oxigraph(term_from_text(_safe_text(text))) for text in quad[:3])
    graph = to_oxigraph(term_from_text(_safe_text(quad[3]))) if quad[3] else pyoxigraph.DefaultGraph()
    return pyoxigraph.Quad(subject, property, value, graph)  # type: ignore[arg-type]


def _oxigraph_triple(triple: Triple, format: str) -> pyoxigraph.Triple:
    import pyoxigraph

    try:
        subject, property, object = (
            to_oxigraph(BlankNode(safe_label(term.label)) if isinstance(term, BlankNode) else term) for term in triple
        )
        return pyoxigraph.Triple(subject, property, object)  # type: ignore[arg-type]
    except ValueError as error:
        text = " ".join(map(term_text, triple))
        raise OutputError(f"cannot write {text} as {format}: {error}; N-Triples can hold it") from None
