"""Searches in many strings at once: CONTAINS, STRSTARTS, STRENDS and REGEX with constant patterns.

A kernel looks for a constant text in the dictionary's bytes. For REGEX that is what the pattern begins with, which excludes most
strings. Those that remain are joined to one text of lines, which is searched as a whole. Dictionaries write line breaks as escapes;
strings with escapes are left to the exact evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.expressions.functions.regex import line_finder
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.program import Call, Variable
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels.queries.searching import ANYWHERE, AS_IT_IS, AT_END, AT_START, LOWER, UPPER
from kg_reasoner.storage.terms.dictionary import VALUE_BLANK, VALUE_ESCAPED, VALUE_STRING, VALUE_TAGGED, Dictionary
from kg_reasoner.terms import XSD, Literal

__all__ = ["TextSearch", "search_of"]

_STRING: Final = XSD.string.value
_CASES: Final[dict[str, tuple[int, Callable[[bytes], bytes], Callable[[str], str]]]] = {
    "LCASE": (LOWER, bytes.lower, str.lower),
    "UCASE": (UPPER, bytes.upper, str.upper),
}
"""Conversions by the kernel, of ASCII, and of all characters."""
_PLACES: Final = {"CONTAINS": ANYWHERE, "STRSTARTS": AT_START, "STRENDS": AT_END}
_BEGINNING: Final = regular_expression(r"(\^?)([A-Za-z0-9 @_,:;=<>#%&~`'\"/!-]+)(.?)", re.ASCII)
"""The beginning of a regular expression: characters that stand for themselves, and the one after them."""
_BETWEEN: Final = regular_expression(r"\.\*\??")
"""Anything within a line."""

Convert: TypeAlias = Callable[[bytes], bytes]
Find: TypeAlias = Callable[[bytes], list[int]]
"""Returns a position in each line in which something is found."""

UNDECIDED: Final = -2
"""In a truth column: the exact evaluation decides."""


class Wanted(NamedTuple):
    """A text that values must have.

    Attributes:
        text: The text; anywhere it may be several, separated by line breaks, which occur one after the other.
        where: Where they must have it.
        case: What letters of the values are converted to before.
        is_all: Whether that is all that is searched.
    """

    text: bytes
    where: int
    case: int
    is_all: bool


class TextSearch:
    """A search in the values of one variable.

    Args:
        variable: The variable.
        takes_any: Whether its values are converted by STR.
        convert: Applied to the text of all values before.
        find: Finds something in lines.
        wanted: What values must have.
    """

    def __init__(self, variable: Variable, takes_any: bool, convert: Convert | None, find: Find, wanted: Wanted | None) -> None:
        self.variable = variable
        self._takes_any, self._convert, self._find, self._wanted = takes_any, convert, find, wanted

    def truth(self, ids: Ids, dictionary: Dictionary) -> npt.NDArray[np.int8]:
        """Return a truth column for different ids of the dictionary, with `UNDECIDED` where it is not known."""
        if self._wanted is None:
            return self._searched(ids, dictionary)
        text, where, case, is_all = self._wanted
        truth = dictionary.search(ids, text, where, case, takes_any=self._takes_any)
        rest = np.flatnonzero((truth == UNDECIDED) if is_all else (truth == UNDECIDED) | (truth == 1))
        if len(rest):
            truth[rest] = self._searched(ids[rest], dictionary)
        return truth

    def _searched(self, ids: Ids, dictionary: Dictionary) -> npt.NDArray[np.int8]:
        """Search lines."""
        values = dictionary.values_of(ids)
        kinds = values.kinds & ~np.uint8(VALUE_ESCAPED)
        truth = np.zeros(len(ids), np.int8)
        data = values.data[:-1].tobytes()
        text = data if self._convert is None else self._convert(data)
        ends = values.ends if text is data or data.isascii() else np.flatnonzero(np.frombuffer(text + b"\n", np.uint8) == ord("\n"))
        truth[np.searchsorted(ends, np.array(self._find(text), np.int64))] = 1
        truth[(kinds == VALUE_BLANK) if self._takes_any else (kinds != VALUE_STRING) & (kinds != VALUE_TAGGED)] = -1
        truth[(truth >= 0) & (values.kinds >= VALUE_ESCAPED)] = UNDECIDED
        return truth


def search_of(call: Call) -> TextSearch | None:
    """Return the search that a call represents; None for other calls."""
    if call.name not in ("CONTAINS", "STRSTARTS", "STRENDS", "REGEX") or not all(map(_is_simple, call.arguments[1:])):
        return None
    subject: Any = call.arguments[0]
    convert: Convert | None = None
    case = AS_IT_IS
    if isinstance(subject, Call) and subject.name in _CASES:
        case, of_ascii, of_all = _CASES[subject.name]
        convert, subject = _converting(of_ascii, of_all), subject.arguments[0]
    takes_any = isinstance(subject, Call) and subject.name == "STR"
    if takes_any:
        subject = subject.arguments[0]
    if not isinstance(subject, Variable):
        return None
    constants = [argument.lexical for argument in call.arguments[1:] if isinstance(argument, Literal)]
    if any("\n" in constant for constant in constants):
        return None
    if call.name == "REGEX":
        finder = line_finder(*constants)
        return (
            None
            if finder is None
            else TextSearch(subject, takes_any, convert, _by_expression(finder), _beginning(case, *constants))
        )
    wanted = Wanted(_bytes(constants[0]), _PLACES[call.name], case, is_all=True)
    return TextSearch(subject, takes_any, convert, _FINDERS[call.name](constants[0]), wanted)


def _beginning(case: int, pattern: str, flags: str = "") -> Wanted | None:
    """Return a condition that all strings matching a regular expression meet; None if there is no obvious one."""
    if flags not in ("", "i") or (flags and case != AS_IT_IS):
        return None
    parts = [_BEGINNING.fullmatch(part) for part in _BETWEEN.split(pattern)]
    if all(part is not None and not part[1] and not part[3] for part in parts):
        text = _BETWEEN.sub("\n", pattern)
        return Wanted(_bytes(text.lower() if flags else text), ANYWHERE, LOWER if flags else case, is_all=True)
    found = _BEGINNING.match(pattern)
    if found is None or "|" in pattern:
        return None
    start, text, after = found.groups()
    if after in ("?", "*", "{"):  # the last character may be missing
        text = text[:-1]
    if not text:
        return None
    return Wanted(_bytes(text.lower() if flags else text), AT_START if start else ANYWHERE, LOWER if flags else case, is_all=False)


def _is_simple(argument: Any) -> bool:
    return isinstance(argument, Literal) and argument.datatype == _STRING


def _converting(of_ascii: Callable[[bytes], bytes], of_all: Callable[[str], str]) -> Convert:
    return lambda data: of_ascii(data) if data.isascii() else _bytes(of_all(data.decode()))


def _containing(needle: str) -> Find:
    return lambda data: _occurrences(data, _bytes(needle), 0)


def _starting(needle: str) -> Find:
    return lambda data: _occurrences(b"\n" + data, b"\n" + _bytes(needle), 1)


def _ending(needle: str) -> Find:
    return lambda data: _occurrences(data + b"\n", _bytes(needle) + b"\n", 0)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_FINDERS: Final = {"CONTAINS": _containing, "STRSTARTS": _starting, "STRENDS": _ending}


def _occurrences(data: bytes, needle: bytes, shift: int) -> list[int]:
    """Return a position in each line with an occurrence; `shift` is how many line breaks precede the first line."""
    positions: list[int] = []
    place = data.find(needle)
    while place >= 0:
        positions.append(place)  # that of the line break before, if there is one, is that of the first character without it
        end = data.find(b"\n", place + shift)
        if end < 0:
            break
        place = data.find(needle, end + 1 - shift)
    return positions


def _by_expression(find: Callable[[bytes, int], tuple[int, int] | None]) -> Find:
    def apply(data: bytes) -> list[int]:
        start, positions = 0, list[int]()
        while start <= len(data) and (found := find(data, start)) is not None:
            positions.append(found[0])
            end = data.find(b"\n", found[0])
            if end < 0:
                break
            start = end + 1
        return positions

    return apply
