"""Turtle for people: triples grouped by subject, blank nodes and lists written where they are used.

A blank node that is the object of a single triple is written in brackets in its place. Nodes nested deeper than `DEPTH`, and one
node of each cycle of blank nodes, have labels instead. Subjects and their statements are copied by a kernel, with the blank nodes
in them as further texts; only these pass through Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kg_reasoner.concurrency.ordered_work import deliver
from kg_reasoner.io.lines import ROWS_OF_A_PART, ROWS_TOGETHER, Blocks, RenamedNodes, Sink
from kg_reasoner.storage.arrays import Ids, TripleIds, in_order, selected_rows, unique_ids
from kg_reasoner.storage.parallel.row_ranges import in_ranges
from kg_reasoner.storage.writers.writing import TextTable, TextWriter, Writers, WrittenText, rows_for_statements, short_texts
from kg_reasoner.terms import RDF

if TYPE_CHECKING:
    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["DEPTH", "turtle_blocks", "write_turtle"]

DEPTH: Final = 40
"""The maximal depth of nested blank nodes."""

_ROWS: Final = 1 << 16


def turtle_blocks(triples: TripleIds, dictionary: Dictionary, prefixes: Mapping[str, str], rows: int = _ROWS) -> Blocks:
    """Yield a document in blocks, given RDF triples as ids of shape (n, 3).

    Args:
        triples: The triples.
        dictionary: Their terms.
        prefixes: The prefixes to use, with their namespaces.
        rows: How many triples have their blank nodes in memory as text at a time.
    """
    yield _header(prefixes), 0
    yield from _TurtleWriter(triples, dictionary, prefixes).blocks(rows)


def write_turtle(triples: TripleIds, dictionary: Dictionary, prefixes: Mapping[str, str], sink: Sink, threads: int) -> None:
    """Hand the blocks of `turtle_blocks` to a function; several threads make them if there are many triples.

    An empty line is between the prefixes and each subject: without prefixes, the document does not begin with one.
    """
    if not prefixes:
        sink = _without_first_byte(sink)
    if threads == 1 or len(triples) < ROWS_TOGETHER:
        for block, count in turtle_blocks(triples, dictionary, prefixes):
            sink((block, count))
        return
    sink((_header(prefixes), 0))
    _TurtleWriter(triples, dictionary, prefixes, threads).write(ROWS_OF_A_PART, sink)


def _without_first_byte(sink: Sink) -> Sink:
    """Return a function that passes on blocks of text, without the first byte of the first text that is not empty."""
    is_first = True

    def pass_on(block: tuple[bytes | memoryview, int]) -> None:
        nonlocal is_first
        text, count = block
        sink((text[1:] if is_first else text, count))
        is_first = is_first and not len(text)

    return pass_on


def _header(prefixes: Mapping[str, str]) -> bytes:
    return "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in prefixes.items()).encode()


class _TurtleWriter:
    def __init__(self, triples: TripleIds, dictionary: Dictionary, prefixes: Mapping[str, str], threads: int = 1) -> None:
        self._threads = threads
        self._type, self._first, self._rest, self._nil = map(dictionary.find, (RDF.type, RDF.first, RDF.rest, RDF.nil))
        self._renamed = RenamedNodes(dictionary)
        blank = dictionary.first_bytes()[: len(dictionary)] == ord("_")
        has_blank = blank[triples[:, 0]]
        tables = list[TextTable]()
        shorten = partial(short_texts, dictionary, {namespace: prefix for prefix, namespace in prefixes.items()})
        named_subjects = triples[~has_blank] if has_blank.any() else triples
        self._named_subjects = self._sorted(named_subjects, len(blank), lambda: tables.append(shorten()))
        (self._table,) = tables
        self._triples = self._sorted(selected_rows(triples, has_blank), len(blank))
        """The statements about blank nodes."""
        objects, counts = np.unique(triples[blank[triples[:, 2]], 2], return_counts=True)
        self._nested = np.zeros(self._table.known, np.bool_)
        self._nested[objects[counts == 1]] = True
        self._no_lists: set[int] = set()
        """Nodes of lists that do not end as lists do."""
        self._written: set[int] = set()
        """The blank nodes that have been written in their places."""

    def _sorted(self, triples: TripleIds, terms: int, beside: Callable[[], object] = lambda: None) -> TripleIds:
        """Return triples by subject, property (rdf:type first) and object, and do something else meanwhile."""
        ranks, named = _ranks(triples[:, 1], self._type, terms)

        def arrange(some: TripleIds) -> TripleIds:
            ordered = in_order(np.column_stack([some[:, 0], ranks[some[:, 1]], some[:, 2]]))
            ordered[:, 1] = named[ordered[:, 1]]
            return ordered

        if self._threads > 1 and len(triples) >= ROWS_TOGETHER:
            return in_ranges(triples, arrange, self._threads, [beside])
        beside()
        return arrange(triples)

    def blocks(self, rows: int) -> Blocks:
        """Yield the statements about IRIs, then those about blank nodes that are not written in another place."""
        writer = TextWriter(self._table)
        outer = ~self._nested[self._triples[:, 0]]
        waiting = np.unique(self._triples[~outer, 0]).tolist()
        yield from self._statements(writer, self._named_subjects, rows)
        yield from self._statements(writer, self._triples[outer], rows)
        yield from self._about_waiting(writer, waiting, rows)

    def _about_waiting(self, writer: TextWriter, waiting: list[int], rows: int) -> Blocks:
        """Yield the statements about those blank nodes that have not been written in their places."""
        for subject in waiting:  # the rest belongs to cycles, or is nested too deep
            if subject not in self._written:
                self._nested[subject] = False
                yield from self._statements(writer, self._about(subject), rows)

    def _statements(self, writer: TextWriter, triples: TripleIds, rows: int) -> Blocks:
        given = rows_for_statements(self._renamed.in_rows(triples))
        for start, end, texts in self._parts(triples, given, rows):
            writer.set_further(texts)
            yield from writer.statements(given, self._type, start, end)

    def _parts(self, triples: TripleIds, given: Ids, rows: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield where parts of the triples begin and end, and the further texts that they need, for which they get ids."""
        names = self._renamed.texts
        rows = max(rows, len(names))
        for start in range(0, len(given), rows):
            values = triples[start : start + rows, 2]
            places = np.flatnonzero(self._nested[values])
            texts = [self._value(value, 2).encode() for value in values[places].tolist()]
            given[start + places, 2] = np.arange(len(texts)) + (self._table.known + len(names))
            yield start, start + len(values), [*names, *texts]

    def write(self, rows: int, sink: Sink) -> None:
        """Hand what `blocks` yields to a function, made by several threads."""
        writers = Writers(self._table, sink)
        outer = ~self._nested[self._triples[:, 0]]
        waiting = np.unique(self._triples[~outer, 0]).tolist()
        for triples in (self._named_subjects, self._triples[outer]):
            given = rows_for_statements(self._renamed.in_rows(triples))

            def text(part: tuple[int, int, list[bytes]], given: Ids = given) -> WrittenText:
                start, end, texts = part
                writer = writers.writer(texts)
                return WrittenText(writer.text_of_statements(given, self._type, start, end), end - start, writer)

            deliver(self._parts(triples, given, rows), text, writers.pass_on, self._threads)
        for block, count in self._about_waiting(TextWriter(self._table), waiting, rows):
            sink((block, count))

    def _value(self, value: int, depth: int) -> str:
        """Return the text of an object: a term, a list, or the statements about a blank node."""
        if not self._nested[value] or depth > DEPTH:
            return self._text(value)
        items = self._list(value)
        if items is not None:
            return f"( {' '.join(self._value(item, depth + 1) for item in items)} )"
        self._written.add(value)
        rows = self._about(value)
        if not len(rows):
            return "[]"
        indent = "\n" + "    " * depth
        parts: list[str] = []
        for start, end in _runs(rows[:, 1]):
            values = (self._value(value, depth + 1) for value in rows[start:end, 2].tolist())
            property = int(rows[start, 1])
            parts.append(f"{'a' if property == self._type else self._text(property)} {', '.join(values)}")
        return f"[{indent}{f' ;{indent}'.join(parts)}\n{'    ' * (depth - 1)}]"

    def _text(self, term: int) -> str:
        renamed = self._renamed.text(term)
        if renamed is not None:
            return renamed
        texts, offsets, _ = self._table
        return str(memoryview(texts)[int(offsets[term]) : int(offsets[term + 1])], "utf-8")

    def _about(self, subject: int) -> Ids:
        start, end = np.searchsorted(self._triples[:, 0], [subject, subject + 1])
        return self._triples[start:end]

    def _list(self, head: int) -> list[int] | None:
        """Return the items of a list that is written with parentheses, and mark its nodes as written."""
        items, cells = list[int](), list[int]()
        node = head
        while node != self._nil:
            is_open = self._nested[node] and node not in self._no_lists
            rows: Any = self._about(node).tolist() if is_open else []
            found = {property: value for _, property, value in rows}
            if len(rows) != 2 or found.keys() != {self._first, self._rest}:
                self._no_lists.update(cells)
                return None
            items.append(found[self._first])
            cells.append(node)
            node = found[self._rest]
        self._written.update(cells)
        return items


def _ranks(properties: Ids, first: int, terms: int) -> tuple[Ids, Ids]:
    """Return the rank of each property by its id, and the property of each rank: one is first, then they come by their ids."""
    found = unique_ids(properties)
    named = np.concatenate([found[found == first], found[found != first]])
    ranks: Ids = np.zeros(terms, np.int32)
    ranks[named] = np.arange(len(named), dtype=np.int32)
    return ranks, named


def _runs(column: Ids) -> Iterator[tuple[int, int]]:
    """Return the starts and ends of runs of equal values."""
    bounds = [0, *(np.flatnonzero(column[1:] != column[:-1]) + 1).tolist(), len(column)]
    return pairwise(bounds)
