"""Lines of N-Triples and N-Quads directly to ids: those of a strict grammar, without objects of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.dictionary import Buffer, Dictionary
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.interning import DONE, IS_FULL, NEEDS_PARSER, NEEDS_SCOPE, byte_classes
from kg_reasoner.storage.kernels.memory import address, allocate, borrow
from kg_reasoner.storage.texts import is_utf8
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
    text = borrow(data)
    scope = None if callable(blank_scope) else _constant(blank_scope.encode())
    state = allocate(16, np.int64, 0)
    rows = allocate((len(data) // 40 + 16) * width, np.int32)
    rejects = allocate(64, np.int64)
    ascii_only = int(not is_utf8(data))
    parts: list[Ids] = []
    while True:
        window = (address(text), len(text), ascii_only, address(state), width)
        results = (address(rows), len(rows) // width, address(rejects), len(rejects) // 2)
        with dictionary.mutex:
            status = native.read_lines(dictionary.address, *_constants(scope), *window, *results)
            if status == IS_FULL:
                rest = text[int(state[0]) :]
                ends = np.flatnonzero(rest[:_LONG_LINE] == ord("\n"))
                dictionary.make_room((int(ends[0]) + 1 if len(ends) else len(rest)) + 3 * (0 if scope is None else len(scope)))
        if status == NEEDS_SCOPE and callable(blank_scope):
            scope = _constant(blank_scope().encode())
        if status == NEEDS_PARSER or (status == DONE and state[2]):
            ranges = rejects[: 2 * state[2]].reshape(-1, 2).tolist()
            parts.append(np.array(rows[: width * state[1]]).reshape(-1, width))
            parts.append(others([bytes(data[start:end]) for start, end in ranges]))
            state[1] = state[2] = 0
        if status == DONE:
            break
        if state[1] == len(rows) // width:
            rows = _doubled(rows)
        if state[2] == len(rejects) // 2:
            rejects = _doubled(rejects)
    last = np.array(rows[: width * state[1]]).reshape(-1, width)
    return Lines(np.concatenate([*parts, last]) if parts else last, int(state[3]))


def _constants(scope: npt.NDArray[np.uint8] | None) -> tuple[int, ...]:
    """Return the classes of bytes, the scope of blank nodes, and the IRI of xsd:string, the latter two with their lengths."""
    classes, string_type = _scanning_tables()
    label = (address(classes), -1) if scope is None else (address(scope), len(scope) - 1)
    return (address(classes), *label, address(string_type), len(string_type) - 1)


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
