"""Parts of a Turtle document in several threads, as long as it has only plain statements.

A part begins and ends where statements seem to end: a line ends with a full stop. That is right if the part before has been read up
to its end, since the compiled reader stops before whatever it does not know for certain, such as the beginning of a long string.
What comes after such a place is given back to the stream, and read again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from kg_reasoner.concurrency.ordered_work import ThreadPipeline
from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.rdf.merging import PartDictionaries, PartTerms
from kg_reasoner.storage.readers.turtle_reading import PlainTurtle
from kg_reasoner.storage.terms.texts import count_lines

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.blank import BlankScope
    from kg_reasoner.loaders.rdf.pushback import PushbackStream
    from kg_reasoner.storage.arrays import Ids, Numbers
    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["PART", "Ahead"]

PART: Final = 1 << 20
"""The bytes of a part."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the document, with a dictionary of its own."""

    text: PlainTurtle
    terms: PartTerms


@dataclass(frozen=True, slots=True)
class _Found:
    """The statements that a thread has read from a part."""

    rows: Ids
    hashes: Numbers
    is_read: bool
    bytes: int
    lines: int


class Ahead:
    """Reads plain statements of a document in several threads.

    Args:
        dictionary: Assigns the ids.
        scope: The blank nodes of the document.
        threads: The number of threads.
        counts_lines: Whether to count lines, which an error needs if the document cannot be read again.
        part: The bytes of a part.

    Attributes:
        bytes: How many bytes the last call of `rows` has read.
        lines: How many lines these have, or 0 if lines are not counted.
        is_tried: Whether threads have read up to a statement that is not plain, which has not been read since.
    """

    def __init__(self, dictionary: Dictionary, scope: BlankScope, threads: int, counts_lines: bool, part: int = PART) -> None:
        self._counts_lines = counts_lines
        self._terms = PartDictionaries(dictionary, scope)
        self._threads = threads
        self._size = part
        self._spare: deque[PlainTurtle] = deque()
        self._patience = part
        self._is_stopped = self.is_tried = False
        self._rest = self._after = b""
        self._error: Exception | None = None
        self.bytes = self.lines = 0

    def is_worthwhile(self, plain: int) -> bool:
        """Return whether enough bytes of plain statements have been read that more may follow."""
        return plain >= self._patience and not self.is_tried

    def has_stopped(self) -> None:
        """Wait longer next time: what threads have read behind a statement that is not plain is lost."""
        if self.is_tried:
            self._patience = self._size if self.bytes > 8 * self._threads * self._size else 2 * self._patience
        self.is_tried = False

    def rows(self, stream: PushbackStream, prefixes: Mapping[str, str]) -> Iterator[Ids]:
        """Yield the triples of plain statements, up to one that is not plain or the last one that ends with a line.

        Args:
            stream: The document; what has not been read is given back to it.
            prefixes: What is declared.
        """
        self.bytes = self.lines = 0
        self._is_stopped, self.is_tried, self._rest, self._after = False, True, b"", b""
        for text in self._spare:
            text.set_prefixes(prefixes)
        pipeline = ThreadPipeline(
            self._parts(stream, prefixes), self._read, self._collect, self._threads, lambda: not self._is_stopped
        )
        yield from pipeline
        stream.push_back([self._rest, *(bytes(part.text.whole) for part in pipeline.rest), self._after], self._error)

    def _parts(self, stream: PushbackStream, prefixes: Mapping[str, str]) -> Iterator[_Part]:
        while True:
            terms = self._terms.take()
            text = self._spare.pop() if self._spare else None
            if text is None:
                text = PlainTurtle(terms.dictionary, lambda: "", self._size, deepest=0)
                text.set_prefixes(prefixes)
            try:
                self._after = text.begin(terms.dictionary, partial(getattr, terms.scope, "prefix"), self._after, stream.readinto)
            except Exception as error:  # to be raised behind what was read before
                self._error = error
                return
            if not len(text.whole):
                return
            yield _Part(text, terms)

    def _read(self, part: _Part) -> _Found:
        part.text.check_encoding()
        rows, is_read = part.text.read()
        passed = part.text.whole if is_read else part.text.passed
        return _Found(rows, part.terms.hashes(), is_read, len(passed), count_lines(passed) if self._counts_lines else 0)

    def _collect(self, part: _Part, found: _Found) -> Ids:
        rows = self._terms.merge(part.terms, found.hashes, found.rows)
        self.bytes += found.bytes
        self.lines += found.lines
        if found.is_read:
            self._terms.give_back(part.terms)
            self._spare.append(part.text)
        else:
            self._is_stopped, self._rest = True, bytes(part.text.rest)
        return rows
