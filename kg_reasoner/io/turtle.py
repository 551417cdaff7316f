"""Turtle for people: triples grouped by subject, blank nodes and lists written where they are used.

A blank node that is the object of a single triple is written in brackets in its place. Nodes nested deeper than `DEPTH`, and one
node of each cycle of blank nodes, have labels instead. Apart from the triples, which are ids, only blank nodes are in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.terms import RDF, XSD

if TYPE_CHECKING:
    from kg_reasoner.storage.dictionary import Dictionary

__all__ = ["DEPTH", "turtle_lines"]

DEPTH: Final = 40
"""How deep blank nodes are nested."""

_LOCAL: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]*)")
_TYPED: Final = re.compile(r'("(?:[^"\\]|\\.)*")\^\^(<[^>]*>)', re.DOTALL)
_PLAIN: Final = {str(XSD.integer): re.compile(r'"[+-]?[0-9]+"'), str(XSD.boolean): re.compile('"(?:true|false)"')}


def turtle_lines(triples: TripleIds, dictionary: Dictionary, prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a document, given RDF triples as ids of shape (n, 3)."""
    for prefix, namespace in prefixes.items():
        yield f"@prefix {prefix}: <{namespace}> .\n"
    writer = _TurtleWriter(triples, dictionary, prefixes)
    for subject in writer.subjects():
        yield f"\n{writer.text(subject)}{writer.properties(subject, 1)} .\n"


class _TurtleWriter:
    def __init__(self, triples: TripleIds, dictionary: Dictionary, prefixes: Mapping[str, str]) -> None:
        self._texts = dictionary.texts()
        self._namespaces = {namespace: prefix for prefix, namespace in prefixes.items()}
        self._type, self._first, self._rest, self._nil = map(dictionary.find, (RDF.type, RDF.first, RDF.rest, RDF.nil))
        order = np.lexsort((triples[:, 2], triples[:, 1], triples[:, 1] != self._type, triples[:, 0]))
        self._triples = triples[order]
        self._blank = dictionary.first_bytes() == ord("_")
        objects, counts = np.unique(triples[self._blank[triples[:, 2]], 2], return_counts=True)
        self._nested = set(objects[counts == 1].tolist())
        self._no_lists: set[int] = set()
        """Nodes of what looks like a list and does not end like one."""
        self._written: set[int] = set()
        """The blank nodes that have been written in their places."""

    def subjects(self) -> Iterator[int]:
        """Yield the subjects with statements of their own."""
        found = np.unique(self._triples[:, 0])
        blank = self._blank[found]
        for subject in found[~blank].tolist():
            yield subject
        waiting = found[blank].tolist()
        for subject in waiting:
            if subject not in self._nested:
                yield subject
        for subject in waiting:  # what is left belongs to circles, or lies too deep
            if subject in self._nested and subject not in self._written:
                self._nested.discard(subject)
                yield subject

    def properties(self, subject: int, depth: int) -> str:
        """Return the statements about a subject."""
        rows = self._about(subject)
        indent = "\n" + "    " * depth
        parts: list[str] = []
        for start, end in _runs(rows[:, 1]):
            values = (self.value(value, depth + 1) for value in rows[start:end, 2].tolist())
            parts.append(f"{self.text(int(rows[start, 1]), is_property=True)} {', '.join(values)}")
        return (" " if len(parts) == 1 and depth == 1 else indent) + f" ;{indent}".join(parts)

    def value(self, value: int, depth: int) -> str:
        """Return the text of an object: a term, a list, or the statements about a blank node."""
        if value not in self._nested or depth > DEPTH:
            return self.text(value)
        items = self._list(value)
        if items is not None:
            return f"( {' '.join(self.value(item, depth + 1) for item in items)} )"
        self._written.add(value)
        if not len(self._about(value)):
            return "[]"
        return f"[{self.properties(value, depth)}\n{'    ' * (depth - 1)}]"

    def text(self, term: int, is_property: bool = False) -> str:
        text: str = self._texts[term]
        if is_property and term == self._type:
            return "a"
        if text.startswith("<"):
            return self._short(text)
        typed = _TYPED.fullmatch(text)
        if typed is None:
            return text
        plain = _PLAIN.get(typed[2])
        return typed[1][1:-1] if plain is not None and plain.fullmatch(typed[1]) else f"{typed[1]}^^{self._short(typed[2])}"

    def _short(self, iri: str) -> str:
        place = max(iri.rfind("#"), iri.rfind("/")) + 1
        prefix = self._namespaces.get(iri[1:place])
        return iri if prefix is None or not _LOCAL.fullmatch(iri, place, len(iri) - 1) else f"{prefix}:{iri[place:-1]}"

    def _about(self, subject: int) -> Ids:
        start, end = np.searchsorted(self._triples[:, 0], [subject, subject + 1])
        return self._triples[start:end]

    def _list(self, head: int) -> list[int] | None:
        """Return the items of a list that is written with parentheses, and mark its nodes as written."""
        items, cells = list[int](), list[int]()
        node = head
        while node != self._nil:
            is_open = node in self._nested and node not in self._no_lists
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


def _runs(column: Ids) -> Iterator[tuple[int, int]]:
    """Return where equal values begin and end."""
    bounds = [0, *(np.flatnonzero(column[1:] != column[:-1]) + 1).tolist(), len(column)]
    return pairwise(bounds)
