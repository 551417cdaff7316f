"""N-Triples and N-Quads to ids: plain lines by the dictionary's compiled reader, all other lines by pyoxigraph's parser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, cast

import numpy as np

from kg_reasoner.loaders.convert import text_from_oxigraph, triple_term_error
from kg_reasoner.loaders.rdf.blank import BlankScope, TermFinder
from kg_reasoner.storage.arrays import Ids

__all__ = ["Encoder", "TermDictionary", "check_line", "parse_lines"]

_QUAD: Final = re.compile(
    rb"^((?:<[^<>\s]*>|_:\w+) <[^<>\s]*> "
    rb'(?:<[^<>\s]*>|_:\w+|"[^"\\\n]*(?:\\.[^"\\\n]*)*"(?:@[\w-]+|\^\^<[^<>\s]*>)?))(?: (<[^<>\s\\]*>|_:\w+))? \.\r?$|^(.+)$',
    re.MULTILINE,
)
_SUBJECT: Final = re.compile(rb"^_:(\S+)", re.MULTILINE)
_OBJECT: Final = re.compile(rb' _:([^\s"<>@^]+) \.$', re.MULTILINE)
_PASSED_OVER: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*"|<[^<>"\s]*>|#[^\n]*')
"""What may have the mark of a triple term, ``<<``, without being one."""
_MANY_GRAPHS: Final = 100_000


class TermDictionary(TermFinder, Protocol):
    """The part of `kg_reasoner.storage.dictionary.Dictionary` that loaders need."""

    def encode_texts(self, texts: Sequence[str]) -> Ids: ...

    def encode_pieces(self, pieces: Sequence[bytes]) -> Ids: ...

    def encode_ntriples(self, data: bytes, blank_scope: str = "") -> tuple[Ids, list[tuple[int, int]]]: ...


class Encoder:
    """Encodes the statements of one document. `parsed` states that they come from pyoxigraph rather than from the document."""

    def __init__(self, dictionary: TermDictionary, scope: BlankScope, parsed: bool) -> None:
        self._dictionary = dictionary
        self._scope = scope
        self._parsed = parsed
        self._label = scope.parsed if parsed else scope.written
        self._graphs: dict[bytes, int] = {}

    def triples(self, data: bytes) -> Ids:
        """Return the ids, of shape (triples, 3), of whole lines of N-Triples.

        Raises:
            SyntaxError: A line is not N-Triples.
            LoadError: A line has a term of RDF 1.2.
        """
        return self._triples(data, None)[0]

    def triples_in_graphs(self, data: bytes, graphs: Sequence[bytes]) -> tuple[Ids, Ids]:
        """Return the ids of lines of N-Triples, without empty and comment lines, and the ids of their graphs, given as N-Triples
        texts.

        Empty text stands for the default graph, which has the id -1. The order may change.
        """
        ids, found = self._triples(data, self._graph_ids(graphs))
        return ids, cast(Ids, found)

    def quads(self, data: bytes) -> tuple[Ids, Ids]:
        """Return the ids, of shape (quads, 3), of whole lines of N-Quads, and the ids of their graphs (-1: the default graph).

        Raises:
            SyntaxError: A line is not N-Quads.
            UnicodeDecodeError: The name of a graph is not UTF-8.
            LoadError: A line has a term of RDF 1.2.
        """
        found = _QUAD.findall(data)
        others = [other for _, _, other in found if other]
        if others:
            found = [quad for quad in found if not quad[2]]
        text = b"".join([triple + b" .\n" for triple, _, _ in found])
        ids, graphs = self.triples_in_graphs(text, [graph for _, graph, _ in found])
        if others:
            texts, names = parse_lines(others, self._label, quads=True)
            known = {name: int(self._dictionary.encode_texts([name])[0]) if name else -1 for name in sorted(set(names))}
            ids = np.concatenate([ids, self._dictionary.encode_texts(texts).reshape(-1, 3)])
            graphs = np.concatenate([graphs, np.array([known[name] for name in names], np.int32)])
        return ids, graphs

    def _triples(self, data: bytes, graphs: Ids | None) -> tuple[Ids, Ids | None]:
        prefix = ""
        label = self._label
        if b"_:" in data:
            if self._parsed:
                data = self._relabelled(data)
                label = _unchanged
            else:
                prefix = self._scope.prefix
        ids, rejects = self._dictionary.encode_ntriples(data, prefix)
        if rejects:
            texts, _ = parse_lines([data[start:end] for start, end in rejects], label)
            ids = np.concatenate([ids, self._dictionary.encode_texts(texts).reshape(-1, 3)])
            if graphs is not None:
                ends = np.cumsum([len(line) for line in data.splitlines(keepends=True)])
                rejected = np.searchsorted(ends, [start for start, _ in rejects], side="right")
                graphs = np.concatenate([np.delete(graphs, rejected), graphs[rejected]])
        return ids, graphs

    def _relabelled(self, data: bytes) -> bytes:
        """Return lines of canonical N-Triples with pyoxigraph's blank node labels replaced by ours."""
        label = self._label
        data = _SUBJECT.sub(lambda match: b"_:" + label(match[1].decode()).encode(), data)
        return _OBJECT.sub(lambda match: b" _:" + label(match[1].decode()).encode() + b" .", data)

    def _graph_ids(self, names: Sequence[bytes]) -> Ids:
        known = self._graphs
        if len(known) > _MANY_GRAPHS:
            known.clear()
        known[b""] = -1
        for name in dict.fromkeys(names):
            if name in known:
                continue
            text = name.decode()
            if text.startswith("_:"):
                text = "_:" + self._label(text[2:])
            else:
                _check_iri(text)
            known[name] = int(self._dictionary.encode_texts([text])[0])
        return np.fromiter(map(known.__getitem__, names), np.int32, len(names))


def _unchanged(label: str) -> str:
    return label


def _check_iri(text: str) -> None:
    import pyoxigraph

    try:
        pyoxigraph.NamedNode(text[1:-1])
    except ValueError as error:
        raise SyntaxError(f"{text}: {error}") from None


def parse_lines(lines: Iterable[bytes], label: Callable[[str], str], quads: bool = False) -> tuple[list[str], list[str]]:
    """Return the dictionary texts of all terms of the lines, in order, and of each statement's graph (empty: the default graph).

    `label` gives the new label of a blank node's.

    Raises:
        SyntaxError: A line is not N-Triples, or with `quads` not N-Quads.
        LoadError: A line has a term of RDF 1.2.
    """
    import pyoxigraph

    def text(term: object) -> str:
        found = text_from_oxigraph(term)
        return "_:" + label(found[2:]) if found.startswith("_:") else found

    data = b"\n".join(lines)
    if b"<<" in data and b"<<" in _PASSED_OVER.sub(b"", data):
        raise triple_term_error()  # pyoxigraph reads them, and ends the process if they are inside each other too often
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
