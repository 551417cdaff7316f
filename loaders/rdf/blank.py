"""Blank nodes of documents: each document has its own, whatever labels it uses.

The label ``x`` of a document becomes ``b1f2e3d4c_x``, where the eight digits are a checksum of the beginning of the document. A
document therefore gets the same labels in every run and on every machine. Blank nodes of different documents stay distinct, even
if they meet later through rdflib or a written file.

If the dictionary already has the scope of a document (it is read again, or has the same beginning as another one), the label is
``b1f2e3d4cv2_x``. Blank nodes without a label (``[]``, lists) are numbered: ``b1f2e3d4cg0``.
"""

from __future__ import annotations

import re
import weakref
import zlib
from typing import Final, Protocol

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.loaders.blank_node_labels import safe_label
from kg_reasoner.terms import BlankNode, Term

__all__ = ["BlankScope", "TermFinder", "safe_label"]

_MADE_BY_PARSER: Final = re.compile(r"[a-f][0-9a-f]{15,31}")


class TermFinder(Protocol):
    """The part of `kg_reasoner.storage.terms.dictionary.Dictionary` that blank node scopes need."""

    def find(self, term: Term) -> int: ...

    def encode(self, term: Term) -> int: ...


_promising: weakref.WeakSet[BlankScope] = weakref.WeakSet()
_choosing: Final = new_mutex()


class BlankScope:
    """The blank nodes of a document that begins with `head`. The dictionary is not used before the first of them.

    With `name`, this is the prefix of the labels, which must be unique, instead of one that depends on the document.
    `fresh_nodes` is the number of those without a label so far.
    """

    def __init__(self, dictionary: TermFinder, head: bytes, name: str | None = None) -> None:
        self._dictionary = dictionary
        self._head = head
        self._name = name
        self._promised: str | None = None
        self._numbers: dict[str, int] = {}
        self.fresh_nodes = 0

    @property
    def name(self) -> str:
        """The prefix of this document's labels, reserved on first use."""
        if self._name is None:
            name = self._promise()
            self._dictionary.encode(BlankNode(name))
            self._name = name
        return self._name

    def in_part(self, dictionary: TermFinder) -> BlankScope:
        """Return the same scope for a part of the document that is encoded in a dictionary of its own, to be merged."""
        part = BlankScope(dictionary, b"", self._name)
        part._promised = self._promise() if self._name is None else None
        return part

    def _promise(self) -> str:
        """Return the name that will be used, which no other document in the dictionary gets meanwhile."""
        with _choosing:
            if self._promised is None:
                taken = {scope._promised for scope in list(_promising) if scope._dictionary is self._dictionary}
                stem = f"b{zlib.crc32(self._head):08x}"
                name, version = stem, 1
                while name in taken or self._dictionary.find(BlankNode(name)) >= 0:
                    version += 1
                    name = f"{stem}v{version}"
                self._promised = name
                _promising.add(self)
            return self._promised

    @property
    def prefix(self) -> str:
        """The prefix of labels that occur in the document."""
        return f"{self.name}_"

    def written(self, label: str) -> str:
        """Return the new label for a label in the document."""
        return f"{self.name}_{label}"

    def parsed(self, label: str) -> str:
        """Return the new label for a label from pyoxigraph: a label in the document, or a long random number."""
        return self.numbered(label) if _MADE_BY_PARSER.fullmatch(label) else self.written(label)

    def numbered(self, key: str) -> str:
        """Return the label of the unlabelled blank node with this key, numbered in order of first occurrence."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self.fresh_nodes
            self.fresh_nodes += 1
        return f"{self.name}g{number}"

    def fresh(self) -> str:
        """Return the label of a new blank node."""
        self.fresh_nodes += 1
        return f"{self.name}g{self.fresh_nodes - 1}"
