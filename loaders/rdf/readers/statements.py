"""N-Triples and N-Quads to ids: plain lines by a compiled reader, all other lines by pyoxigraph's parser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.readers.line_reading import read_lines
from kg_reasoner.storage.terms.dictionary import Buffer, Dictionary

__all__ = ["Encoder", "check_line", "encode_statements", "parse_lines"]

_LABEL: Final = rb'[^\s"<>@^]+'
_BLANK_NODE: Final = regular_expression(
    rb"_:(?:(?<=\n_:)(\S+)|(?<= _:)(" + _LABEL + rb')(?=(?: (?:<[^<>"\s]*>|_:' + _LABEL + rb"))? \.\n))"
)
"""A subject, or an object or graph; what it looks like in a literal is not before the end of a line. With a fixed beginning, it is
searched for much faster.
"""
_PASSED_OVER: Final = regular_expression(rb'"(?:[^"\\\n]|\\.)*"|<[^<>"\s]*>|#[^\n]*')
"""Tokens that may contain the mark of a triple term, ``<<``, without being one."""


class Encoder:
    """Encodes the statements of one document. `parsed` states that they come from pyoxigraph rather than from the document.

    `lines` is the number of lines encoded so far.
    """

    def __init__(self, dictionary: Dictionary, scope: BlankScope, parsed: bool) -> None:
        self._dictionary = dictionary
        self._scope = scope
        self._parsed = parsed
        self._label = scope.parsed if parsed else scope.written
        self.lines = 0

    def triples(self, data: Buffer) -> Ids:
        """Return the ids, of shape (triples, 3), of whole lines of N-Triples.

        Raises:
            SyntaxError: A line is not N-Triples.
            LoadError: A line has a term of RDF 1.2.
        """
        return self.rows(data, 3)

    def quads(self, data: Buffer) -> tuple[Ids, Ids]:
        """Return the ids, of shape (quads, 3), of whole lines of N-Quads, and the ids of their graphs (-1: the default graph).

        Raises:
            SyntaxError: A line is not N-Quads.
            LoadError: A line has a term of RDF 1.2.
        """
        rows = self.rows(data, 4)
        return rows[:, :3], rows[:, 3]

    def rows(self, data: Buffer, width: int) -> Ids:
        """Return the ids of whole lines of N-Triples (`width` 3) or N-Quads (4), see `triples` and `quads`."""
        label = self._label
        prefix: str | Callable[[], str] = ""
        if not self._parsed:
            prefix = self._prefix
        elif b"_:" in bytes(data):
            data = self._relabelled(bytes(data))
            label = _unchanged

        def others(lines: Sequence[bytes]) -> Ids:
            return encode_statements(self._dictionary, lines, label, width)

        rows, count = read_lines(self._dictionary, data, width, prefix, others)
        self.lines += count
        return rows

    def _prefix(self) -> str:
        return self._scope.prefix

    def _relabelled(self, data: bytes) -> bytes:
        """Return lines of canonical N-Triples or N-Quads with pyoxigraph's blank node labels replaced by ours."""
        labels = _Labels(self._label)
        pieces = _BLANK_NODE.split(b"\n" + data)
        pieces[1::3] = [labels[subject or other] for subject, other in zip(pieces[1::3], pieces[2::3], strict=True)]
        del pieces[2::3]
        return b"".join(pieces)[1:]


class _Labels(dict[bytes, bytes]):
    """Our blank nodes by pyoxigraph's labels, each found once."""

    def __init__(self, label: Callable[[str], str]) -> None:
        self._label = label

    def __missing__(self, label: bytes) -> bytes:
        found = self[label] = b"_:" + self._label(label.decode()).encode()
        return found


def _unchanged(label: str) -> str:
    return label


def encode_statements(dictionary: Dictionary, lines: Sequence[bytes], label: Callable[[str], str], width: int) -> Ids:
    """Return the ids, of shape (statements, `width`), of lines that need a full parser, see `parse_lines`.

    Raises:
        SyntaxError: A line is not N-Triples, or with a `width` of 4 not N-Quads.
        LoadError: A line has a term of RDF 1.2.
    """
    texts, graphs = parse_lines(lines, label, quads=width == 4)
    if width == 3:
        return dictionary.encode_texts(texts).reshape(-1, 3)
    places = np.ones((len(graphs), 4), bool)
    places[:, 3] = [bool(graph) for graph in graphs]
    quads = [texts[3 * number : 3 * number + 3] + [graph] * bool(graph) for number, graph in enumerate(graphs)]
    found: Ids = np.full((len(graphs), 4), -1, np.int32)
    found[places] = dictionary.encode_texts([text for quad in quads for text in quad])
    return found


def parse_lines(lines: Iterable[bytes], label: Callable[[str], str], quads: bool = False) -> tuple[list[str], list[str]]:
    """Return the dictionary texts of all terms of the lines, in order, and of each statement's graph (empty: the default graph).

    `label` gives the new label of a blank node's.

    Raises:
        SyntaxError: A line is not N-Triples, or with `quads` not N-Quads.
        LoadError: A line has a term of RDF 1.2.
    """
    import pyoxigraph

    from kg_reasoner.loaders.convert import text_from_oxigraph, triple_term_error

    def text(term: object) -> str:
        found = text_from_oxigraph(term)
        return "_:" + label(found[2:]) if found.startswith("_:") else found

    data = b"\n".join(lines)
    if b"<<" in data and b"<<" in _PASSED_OVER.sub(b"", data):
        raise triple_term_error()  # pyoxigraph reads triple terms, and crashes the process if they are nested too deeply
    texts: list[str] = []
    graphs: list[str] = []
    syntax = pyoxigraph.RdfFormat.N_QUADS if quads else pyoxigraph.RdfFormat.N_TRIPLES
    for quad in pyoxigraph.parse(data, syntax):
        texts += (text(quad.subject), text(quad.predicate), text(quad.object))
        graphs.append("" if isinstance(quad.graph_name, pyoxigraph.DefaultGraph) else text(quad.graph_name))
    return texts, graphs


def check_line(line: bytes, quads: bool) -> None:
    """Parse a line of a document, which may be empty or a comment, and raise its error.

    Raises:
        SyntaxError: It is not N-Triples, or with `quads` not N-Quads.
        LoadError: It has a term of RDF 1.2.
    """
    parse_lines([line], _unchanged, quads)
