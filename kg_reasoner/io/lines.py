"""Triples given as ids, as lines of N-Triples and N-Quads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from kg_reasoner.loaders.rdf.blank import safe_label
from kg_reasoner.storage.arrays import Flags, Ids, TripleIds
from kg_reasoner.storage.writers.writing import NOTHING, TextTable, TextWriter, Writers, WrittenText, are_plain_labels

if TYPE_CHECKING:
    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["ROWS_OF_A_PART", "ROWS_TOGETHER", "Blocks", "RenamedNodes", "Sink", "are_rdf", "line_blocks", "write_lines"]

ROWS_OF_A_PART: Final = 1 << 12
"""The number of rows that a thread converts to text at a time."""

ROWS_TOGETHER: Final = 1 << 18
"""Fewer rows than this are written by one thread, in a few hundredths of a second."""

Blocks: TypeAlias = Iterator["tuple[bytes | memoryview, int]"]
"""Blocks of text, each valid until the next one, with the number of statements in each."""

Sink: TypeAlias = Callable[["tuple[bytes | memoryview, int]"], None]
"""Takes a block of text with the number of statements in it."""


def are_rdf(triples: TripleIds, dictionary: Dictionary) -> Flags:
    """Return a mask of the triples that are RDF: the subject is not a literal, and the property is an IRI."""
    first = dictionary.first_bytes()
    found: Flags = (first.take(triples[:, 0]) != ord('"')) & (first.take(triples[:, 1]) == ord("<"))
    return found


class RenamedNodes:
    """The blank nodes whose labels not every syntax can express, with other labels as further texts of a `TextWriter`."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._count = len(dictionary)
        blank = np.flatnonzero(dictionary.first_bytes()[: self._count] == ord("_")).astype(np.int32)
        unusual = blank[~are_plain_labels(dictionary, blank)]
        texts = dictionary.texts_of(unusual)
        safe = [f"_:{safe_label(text[2:])}" for text in texts]
        differs = [one != other for one, other in zip(texts, safe, strict=True)]
        self.texts = [text.encode() for text, is_other in zip(safe, differs, strict=True) if is_other]
        """The texts of those that have others now."""
        self._ids = unusual[np.array(differs, bool)]

    def text(self, number: int) -> str | None:
        """Return the other text of a node, if it has one."""
        place = int(np.searchsorted(self._ids, number))
        return self.texts[place].decode() if place < len(self._ids) and self._ids[place] == number else None

    def in_rows(self, rows: Ids) -> Ids:
        """Return rows with the ids of the further texts in place of those of the nodes."""
        if not self.texts:
            return rows
        others = np.arange(self._count, dtype=np.int32)
        others[self._ids] = self._count + np.arange(len(self.texts), dtype=np.int32)
        renamed: Ids = np.where(rows == NOTHING, NOTHING, others[rows]).astype(np.int32)
        return renamed


def line_blocks(triples: TripleIds, dictionary: Dictionary, graph: str = "") -> Blocks:
    """Yield the lines for RDF triples, given as ids of shape (n, 3), that are all in one graph.

    Args:
        triples: The triples.
        dictionary: Their terms.
        graph: The graph's name in N-Triples form, or nothing for the default graph.
    """
    rows, further, table = _named(triples, dictionary, graph)
    writer = TextWriter(table)
    writer.set_further(further)
    yield from writer.lines(rows)


def write_lines(triples: TripleIds, dictionary: Dictionary, graph: str, sink: Sink, threads: int) -> None:
    """Hand the blocks of `line_blocks` to a function; several threads make them if there are many."""
    if threads == 1 or len(triples) < ROWS_TOGETHER:
        for block, count in line_blocks(triples, dictionary, graph):
            sink((block, count))
        return
    from kg_reasoner.concurrency.ordered_work import deliver

    rows, further, table = _named(triples, dictionary, graph)
    writers = Writers(table, sink)

    def text(part: Ids) -> WrittenText:
        writer = writers.writer(further)
        return WrittenText(writer.text_of_lines(part), len(part), writer)

    size = max(ROWS_OF_A_PART, len(further))
    parts = (rows[start : start + size] for start in range(0, len(rows), size))
    deliver(parts, text, writers.pass_on, threads)


def _named(triples: TripleIds, dictionary: Dictionary, graph: str) -> tuple[Ids, list[bytes], TextTable]:
    """Return rows with the ids that a writer understands, the further texts that it needs, and the texts of terms."""
    renamed = RenamedNodes(dictionary)
    table = TextTable.of(dictionary)
    further, rows = renamed.texts, renamed.in_rows(triples)
    if graph:
        rows = np.column_stack([rows, np.full(len(rows), table.known + len(further), np.int32)])
        further = [*further, (f"_:{safe_label(graph[2:])}" if graph.startswith("_:") else graph).encode()]
    return rows, further, table
