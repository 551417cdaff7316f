"""Blank nodes of documents: each document has its own, whatever labels it uses.

The label ``x`` of a document becomes ``b1f2e3d4c_x``: the eight digits are a checksum of how the document begins. So a document
gets the same labels in every run and on every machine, and blank nodes of two documents stay apart even when they meet later,
by way of rdflib or of a file that was written.

A document whose scope the dictionary has seen already (it is read a second time, or begins just like another) gets
``b1f2e3d4cv2_x``. Blank nodes without a label (``[]``, lists) are numbered: ``b1f2e3d4cg0``.
"""

from __future__ import annotations

import re
import zlib
from typing import Final, Protocol

from kg_reasoner.terms import BlankNode, Term

__all__ = ["BlankScope", "TermFinder", "safe_label"]

_MADE_BY_PARSER: Final = re.compile(r"[a-f][0-9a-f]{15,31}")


_SAFE: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_CODED: Final = "coded."


def safe_label(label: str, *, as_name: bool = False) -> str:
    """A label that can be written in every syntax: the same one, if it can, or one that has all of it in hexadecimal digits.

    XML's names (`as_name`) do not begin with a digit.

    >>> safe_label("b1"), safe_label("a:b")
    ('b1', 'coded.613a62')
    """
    is_safe = _SAFE.fullmatch(label) and not label.startswith(_CODED) and not (as_name and label[0].isdigit())
    return label if is_safe else _CODED + label.encode().hex()


class TermFinder(Protocol):
    """The part of `kg_reasoner.storage.dictionary.Dictionary` that scopes need."""

    def find(self, term: Term) -> int: ...

    def encode(self, term: Term) -> int: ...


class BlankScope:
    """The blank nodes of one document that begins with `head`. Nothing happens in the dictionary before the first of them."""

    def __init__(self, dictionary: TermFinder, head: bytes) -> None:
        self._dictionary = dictionary
        self._head = head
        self._name: str | None = None
        self._numbers: dict[str, int] = {}

    @property
    def name(self) -> str:
        """What the labels of this document begin with; taken from now on."""
        if self._name is None:
            stem = f"b{zlib.crc32(self._head):08x}"
            name, version = stem, 1
            while self._dictionary.find(BlankNode(name)) >= 0:
                version += 1
                name = f"{stem}v{version}"
            self._dictionary.encode(BlankNode(name))
            self._name = name
        return self._name

    @property
    def prefix(self) -> str:
        """What comes before the labels that are written in the document."""
        return f"{self.name}_"

    def written(self, label: str) -> str:
        """The new label of a label that is written in the document."""
        return f"{self.name}_{label}"

    def parsed(self, label: str) -> str:
        """The new label of a label that pyoxigraph gives: one that is written in the document, or a long random number."""
        return self.numbered(label) if _MADE_BY_PARSER.fullmatch(label) else self.written(label)

    def numbered(self, key: str) -> str:
        """The label of the unlabelled blank node that is known by this key, numbered in order of first sight."""
        return f"{self.name}g{self._numbers.setdefault(key, len(self._numbers))}"

    def fresh(self) -> str:
        """The label of a new blank node."""
        return self.numbered(f"_{len(self._numbers)}")
