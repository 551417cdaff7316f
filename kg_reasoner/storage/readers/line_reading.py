"""Lines of N-Triples and N-Quads directly to ids: those of a strict grammar, without objects of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import allocate, borrow
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.kernels.readers.line_statements import DONE, IS_FULL, NEEDS_PARSER, NEEDS_SCOPE, LineText
from kg_reasoner.storage.kernels.token_ends import byte_classes
from kg_reasoner.storage.terms.dictionary import Buffer, Dictionary
from kg_reasoner.storage.terms.texts import is_utf8
from kg_reasoner.terms import XSD

__all__ = ["Lines", "read_lines"]

_LONG_LINE: Final = 1 << 12


class Lines(NamedTuple):
    """The statements read from lines of N-Triples or N-Quads.

    Attributes:
        rows: The ids, shape (n, 3); of N-Quads (n, 4), where -1 is the default graph.
        lines: The number of lines.
    """

    rows: Ids
    lines: int


def read_lines(
    dictionary: Dictionary, data: Buffer, width: int, blank_scope: str | Callable[[], str], others: Callable[[Sequence[bytes]], Ids]
) -> Lines:
    """Read whole lines of N-Triples or N-Quads. Empty lines and comment lines are skipped.

    Only lines of a strict grammar are read: absolute IRIs of plain ASCII, canonical escapes, language tags in lower case, no
    comments behind a statement. A full parser is needed for the others.

    Args:
        dictionary: Assigns the ids.
        data: The lines, as bytes or in a buffer.
        width: 3 for N-Triples, 4 for N-Quads.
        blank_scope: A blank node ``_:x`` becomes ``_:`` + `blank_scope` + ``x``. A function is called for it at the first blank
            node.
        others: Returns the ids, shape (n, width), of adjacent lines that need a full parser.
    """
    if not len(data):
        return Lines(np.empty((0, width), np.int32), 0)
    if data[-1] != ord("\n"):
        data = bytes(data) + b"\n"
    lines = _lines(data, width, None if callable(blank_scope) else _constant(blank_scope.encode()))
    parts: list[Ids] = []
    while True:
        with dictionary.mutex:
            status = native.read_lines(dictionary.address, lines.address)
            if status == IS_FULL:
                dictionary.make_room(_length_of_line(lines) + 3 * max(lines.scope_length, 0))
        if status == NEEDS_SCOPE and callable(blank_scope):
            scope = _constant(blank_scope().encode())
            lines.publish(scope=scope, scope_length=len(scope) - 1)
        if status == NEEDS_PARSER or (status == DONE and lines.reject_count):
            ranges = lines.rejects[: 2 * lines.reject_count].reshape(-1, 2).tolist()
            parts.append(_rows(lines))
            parts.append(others([bytes(data[start:end]) for start, end in ranges]))
            lines.publish(row_count=0, reject_count=0)
        if status == DONE:
            break
        if lines.row_count == lines.row_room:
            lines.publish(rows=_doubled(lines.rows), row_room=2 * lines.row_room)
        if lines.reject_count == lines.reject_room:
            lines.publish(rejects=_doubled(lines.rejects), reject_room=2 * lines.reject_room)
    last = _rows(lines)
    return Lines(np.concatenate([*parts, last]) if parts else last, lines.line_count)


def _lines(data: Buffer, width: int, scope: npt.NDArray[np.uint8] | None) -> Record:
    """Return the record of lines that have not been read, with the scope of blank nodes if it is known."""
    classes, string_type = _scanning_tables()
    room = len(data) // 40 + 16
    return StructTable(LineText, capacity=1).add(
        classes=classes,
        text=borrow(data),
        end=len(data),
        ascii_only=int(not is_utf8(data)),
        scope=classes if scope is None else scope,
        scope_length=-1 if scope is None else len(scope) - 1,
        string_type=string_type,
        string_type_length=len(string_type) - 1,
        width=width,
        rows=allocate(room * width, np.int32),
        row_room=room,
        rejects=allocate(64, np.int64),
        reject_room=32,
        spans=allocate(8, np.int64, 0),
    )


def _length_of_line(lines: Record) -> int:
    """Return the length of the next line, or of all others if it is very long."""
    rest = lines.text[lines.position :]
    ends = np.flatnonzero(rest[:_LONG_LINE] == ord("\n"))
    return int(ends[0]) + 1 if len(ends) else len(rest)


def _rows(lines: Record) -> Ids:
    """Return a copy of the rows that have been read."""
    return np.array(lines.rows[: lines.width * lines.row_count]).reshape(-1, lines.width)


@cache
def _scanning_tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the classes of bytes and the IRI of xsd:string for the kernels that scan texts."""
    return _constant(byte_classes()), _constant(str(XSD.string).encode())


def _constant(data: bytes) -> npt.NDArray[np.uint8]:
    """Return bytes as an array that kernels can read, with one spare byte."""
    array = allocate(len(data) + 1, np.uint8)
    array[:-1] = np.frombuffer(data, np.uint8)
    array[-1] = 0
    return array


def _doubled(array: Any) -> Any:
    grown = allocate(2 * len(array), array.dtype)
    grown[: len(array)] = array
    return grown
