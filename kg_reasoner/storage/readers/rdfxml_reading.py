"""Plain RDF/XML directly to ids: the elements that most data consists of, without objects of Python or a parser's events.

`PlainRDFXML` has a part of a document in a buffer. `PlainRDFXML.read` stops before an element that a full parser has to read, and
`PlainRDFXML.elements_end` says up to where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.readers.xml_markup import ATTRIBUTE, GUESSES, MOST_ATTRIBUTES, Element, XmlText, markup_classes
from kg_reasoner.storage.kernels.readers.xml_names import BINDING, CONSTANTS, KNOWN, KNOWN_FACT, KNOWN_LENGTH
from kg_reasoner.storage.kernels.token_ends import byte_classes
from kg_reasoner.storage.readers.text_windows import SLACK, TextWindow
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import concatenated, is_utf8

__all__ = ["PlainRDFXML"]

_WORK: Final = 1 << 17
"""The longest literal with a datatype; IRIs may have a quarter of that."""
_ROWS: Final = 1 << 12
_BYTES_OF_A_TRIPLE: Final = 64
"""No more bytes than most triples have: there is room for those of a window."""
_DEEPEST: Final = 100
"""The elements that may be open; deeper ones are left to the full parser."""
_BINDINGS: Final = 1 << 12
_HELD: Final = 1 << 18
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PLAIN_ENTITY: Final = re.compile(r"[^&<\x00-\x1f\ufffe\uffff\ud800-\udfff]*")
"""Entities that mean the same as the text that they stand for."""
_PREDEFINED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@cache
def _tables() -> dict[str, Any]:
    """Return the arrays that all windows share."""
    constants, constant_offsets = concatenated([constant.encode() for constant in CONSTANTS])
    classes, _ = concatenated([byte_classes()])
    return {"classes": classes, "markup": _markup(False), "constants": constants, "constant_offsets": constant_offsets}


@cache
def _markup(ascii_only: bool) -> Any:
    return concatenated([markup_classes(ascii_only)])[0]


class PlainRDFXML(TextWindow):
    """A window on an RDF/XML document.

    Args:
        dictionary: Assigns the ids.
        scope: Returns what the labels of blank nodes begin with; called before the first of them is read.
        size: The size of the window in bytes.
        deepest: How many elements may be open.

    Attributes:
        names: The ids of the names that rdf:ID has given so far.
    """

    def __init__(self, dictionary: Dictionary, scope: Callable[[], str], size: int, deepest: int = _DEEPEST) -> None:
        self.names: set[int] = set()
        self._ascii_only = False
        text = allocate(size + SLACK, np.uint8)
        document = StructTable(XmlText, capacity=1).add(
            **_tables(),
            text=text,
            held=allocate(_HELD, np.uint8),
            held_room=_HELD,
            bindings=allocate(BINDING * _BINDINGS, np.int64),
            binding_room=_BINDINGS,
            outer_bindings=-1,
            attributes=allocate(ATTRIBUTE * MOST_ATTRIBUTES, np.int32),
            known_names=allocate(KNOWN_LENGTH * KNOWN + SLACK, np.uint8, 0),
            known_facts=allocate(KNOWN_FACT * KNOWN, np.int32, 0),
            deepest=min(deepest, _DEEPEST),
            work=allocate(_WORK + SLACK, np.uint8),
            work_room=_WORK,
            properties=allocate(2 * MOST_ATTRIBUTES, np.int32),
            scope=allocate(1, np.uint8),
            scope_length=-1,
        )
        StructTable(Element, document, "elements", _DEEPEST).add_many(_DEEPEST)
        super().__init__(dictionary, scope, document, text)
        self._make_room(max(_ROWS, size // _BYTES_OF_A_TRIPLE))

    @property
    def is_closed(self) -> bool:
        """Whether rdf:RDF has ended."""
        return bool(self._document.is_closed)

    def check_encoding(self) -> None:
        """Find out whether the text in the window is UTF-8; if not, only its ASCII part is read."""
        self._document.markup = _markup(self._ascii_only or not is_utf8(self.whole))

    def begin(self, root: int, entities: Mapping[str, str], base: str | None, ascii_only: bool = False) -> bool:
        """Skip the text before rdf:RDF, read its start tag, and return whether that was possible.

        Args:
            root: Where it begins in the window.
            entities: The texts of the entities.
            base: The base of the document, if it declares no other one.
            ascii_only: Whether other bytes than ASCII are not UTF-8.
        """
        document = self._document
        self._ascii_only = ascii_only
        self.check_encoding()
        plain = {name: text for name, text in entities.items() if _NAME.fullmatch(name) and _PLAIN_ENTITY.fullmatch(text)}
        plain |= _PREDEFINED
        names, name_offsets = concatenated([name.encode() for name in plain])
        texts, offsets = concatenated([text.encode() for text in plain.values()])
        document.publish(
            entity_names=names,
            entity_name_offsets=name_offsets,
            entities=texts,
            entity_offsets=offsets,
            entity_count=len(plain),
            entity_guesses=allocate(GUESSES, np.int32, 0),
            position=root,
        )
        given = (base or "").encode()
        if len(given) > _WORK >> 2:
            return False
        document.work[: len(given)] = np.frombuffer(given, np.uint8)
        with self._dictionary.mutex:
            is_read = bool(native.read_root(self._dictionary.address, document.address, len(given)))
        if not is_read:
            document.position = 0
        return is_read

    def read(self) -> tuple[Ids, bool]:
        """Read elements; return the ids of their triples, shape (n, 3), and whether all of the window is read.

        Raises:
            ValueError: An rdf:ID has been given before.
        """
        document = self._document
        document.row_count = document.name_count = 0
        document.known_facts[:] = 0
        is_read = self._read_by(native.read_rdfxml)
        names = document.names[: document.name_count].tolist()
        if len(set(names)) < len(names) or not self.names.isdisjoint(names):
            raise ValueError("an rdf:ID is given twice")
        self.names.update(names)
        rows: Ids = np.array(document.rows[: 3 * document.row_count]).reshape(-1, 3)
        return rows, is_read

    def declared(self) -> Iterator[tuple[str, str]]:
        """Yield the prefixes that have been declared since the last call, with their namespaces."""
        document = self._document
        lines = bytes(document.declared[: document.declared_length]).decode().splitlines()
        document.declared_length = 0
        for line in lines:
            prefix, _, namespace = line.partition(" ")
            yield prefix, namespace

    def elements_end(self, least: int) -> int:
        """Return the length of the elements that a full parser is to read next, or 0 if the window has no end of an element.

        Args:
            least: The minimal number of bytes, if the elements that end in the window are that long.
        """
        return self._end_by(native.elements_end, least)

    def _make_room(self, room: int) -> None:
        document = self._document
        kept = {"rows": 3 * document.row_count, "names": document.name_count, "declared": document.declared_length}
        arrays = {
            "rows": allocate(3 * room, np.int32),
            "names": allocate(room, np.int32),
            "declared": allocate(32 * room, np.uint8),
        }
        for name, count in kept.items():
            if count:
                arrays[name][:count] = getattr(document, name)[:count]
        document.publish(
            **arrays,
            row_room=room,
            declared_room=32 * room,
            items=allocate(room, np.int32),
            fresh_ids=allocate(room, np.int32),
        )
