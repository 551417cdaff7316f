r"""Translate XPath's regular expressions (XPath and XQuery Functions and Operators 3.1, section 5.6.1) to RE2's syntax.

The dialect is that of XML Schema 1.1 (Datatypes, appendix G) with ``^``, ``$``, reluctant quantifiers, non-capturing groups,
and the flags i, m, s, x and q. RE2 takes time linear in the text for every pattern. Back-references, which linear time
excludes, are rejected, and so are constructs that XPath lacks: ``\b``, lookahead, lookbehind, named groups, possessive
quantifiers.

Each character or class is written as a set of code points, because XPath's classes and case variants differ from RE2's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.functions.characters import (
    ALL,
    Characters,
    block,
    category,
    complement,
    difference,
    one,
    union,
    with_case_variants,
)
from kg_reasoner.expressions.functions.regex_errors import PatternError

__all__ = ["FLAGS", "TranslatedPattern", "translate"]

FLAGS: Final = "imsxq"
LONGEST: Final = 1 << 16
"""The maximal number of characters of a pattern."""
_LARGEST: Final = 1 << 21
"""The maximal number of characters of all classes of a pattern, written out: ``\\w`` has about 13,000."""
MOST_REPETITIONS: Final = 1000
"""RE2 takes no higher number in braces."""
_DEEPEST: Final = 100
"""The maximal depth of nested groups, or of subtracted classes."""

_SPACES: Final = "\t\n\r "
_ESCAPED: Final = {**{c: one(c) for c in "\\|.?*+(){}-[]^$"}, "n": one("\n"), "r": one("\r"), "t": one("\t")}
_NAME_START: Final = union(
    *(one(c) for c in ":_"),
    ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D)),
    ((0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF)),
)
"""NameStartChar of XML 1.0."""
_NAME: Final = union(_NAME_START, ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040)))
"""NameChar of XML 1.0."""
_FOREIGN: Final = {
    **dict.fromkeys("bBAZzG", "XPath has no such escape; ^ and $ are the ends of the text"),
    **dict.fromkeys("xuUN0", "XPath has no such escape; write the character itself"),
}


@dataclass(frozen=True)
class TranslatedPattern:
    """A pattern in RE2's syntax, including its flags.

    `is_local`: the end of a match can be determined without reading far beyond it, because nothing follows an unbounded repetition.
    """

    source: str
    is_local: bool


def translate(pattern: str, flags: str = "") -> TranslatedPattern:
    r"""Return the pattern in RE2's syntax.

    >>> [translate(*each).source for each in [("a[b-z-[x]]+?$", ""), ("a.b", "q"), ("a.b", "i")]]
    ['a[b-wy-z]+?$', 'a\\x{2e}b', '[Aa][^\\x{a}\\x{d}][Bb]']
    >>> translate("x[0-9]+").is_local, translate("a.*b|a").is_local
    (True, False)

    Args:
        pattern: A pattern in XPath's syntax.
        flags: Any of the characters i, m, s, x and q.

    Raises:
        PatternError: The pattern or a flag is wrong, or the pattern is beyond what RE2 can do.
    """
    for flag in flags:
        if flag not in FLAGS:
            raise PatternError("FORX0001", f"unknown flag {flag!r}: the flags are i, m, s, x and q")
    if len(pattern) > LONGEST:
        raise PatternError("FORX0002", f"the pattern has more than {LONGEST:,} characters", pattern)
    if "q" in flags:
        return TranslatedPattern("".join(_written(_folded(one(character), flags)) for character in pattern), True)
    return _Translator(pattern, flags).translation()


class _Translator:
    """One pass over a pattern. `_characters` are its significant characters with their places, without ignored white space."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = pattern
        self._flags = flags
        self._characters = list(_without_spaces(pattern) if "x" in flags else enumerate(pattern))
        self._next = 0
        self._groups = 0
        self._open: list[tuple[int, int]] = []
        """Where each open group begins, and its number; 0: it is not captured."""

    def translation(self) -> TranslatedPattern:
        source: list[str] = []
        unlimited = classes = 0
        repeatable = False
        while (character := self._peek()) is not None:
            if character in "*+?{":
                if not repeatable:
                    raise self._error(f"{character} has nothing before it to repeat")
                quantifier = self._quantifier()
                if quantifier[0] in "*+" or ",}" in quantifier:
                    unlimited = unlimited or len(source)
                source.append(quantifier)
                repeatable = False
                continue
            repeatable = True
            if character == "(":
                source.append(self._group())
                repeatable = False
            elif character == ")":
                if not self._open:
                    raise self._error("unmatched ) (write \\) for the character itself)")
                self._open.pop()
                source.append(self._take())
            elif character == "|":
                source.append(self._take())
                repeatable = False
            elif character in "^$":
                self._take()
                source.append(f"(?m:{character})" if "m" in self._flags else character)
            else:
                source.append(_written(self._atom(character)))
                classes += len(source[-1])
                if classes > _LARGEST:
                    raise self._error("the classes of the pattern are too large together")
        if self._open:
            raise self._error("unmatched ( (write \\( for the character itself)", self._open[-1][0])
        return TranslatedPattern("".join(source), unlimited in (0, len(source) - 1))

    # --- parts of a pattern -------------------------------------------------------------------------------------------------

    def _atom(self, character: str) -> Characters:
        if character == "\\":
            return self._escape()
        if character == "[":
            return self._class(0)
        if character in "}]":
            raise self._error(f"write \\{character} for the character {character} itself")
        self._take()
        if character == ".":
            return ALL if "s" in self._flags else complement(union(one("\n"), one("\r")))
        return _folded(one(character), self._flags)

    def _group(self) -> str:
        begin = self._place()
        self._take()
        if len(self._open) == _DEEPEST:
            raise self._error(f"groups are nested more than {_DEEPEST} deep", begin)
        if self._peek() != "?":
            self._groups += 1
            self._open.append((begin, self._groups))
            return "("
        self._take()
        if self._peek() != ":":
            raise self._error("XPath has no groups of this kind: only (...) and (?:...)", begin)
        self._take()
        self._open.append((begin, 0))
        return "(?:"

    def _quantifier(self) -> str:
        begin = self._place()
        source = self._take()
        if source == "{":
            least = self._number()
            most: int | None = least
            if self._peek() == ",":
                self._take()
                most = None if self._peek() == "}" else self._number()
            if self._peek() != "}":
                raise self._error("a number of repetitions is written {2}, {2,} or {2,5}", begin)
            self._take()
            if most is not None and most < least:
                raise self._error(f"the least number of repetitions, {least}, is greater than the greatest, {most}", begin)
            if max(least, most or 0) > MOST_REPETITIONS:
                raise self._error(f"a number of repetitions is at most {MOST_REPETITIONS}", begin)
            source = f"{{{least}}}" if most == least else f"{{{least},{'' if most is None else most}}}"
        if self._peek() == "?":
            source += self._take()
        return source

    def _number(self) -> int:
        begin = self._place()
        digits = ""
        while (digit := self._peek()) is not None and digit in "0123456789":
            digits += self._take()
        if not digits:
            raise self._error("a number of repetitions is written {2}, {2,} or {2,5}", begin)
        return min(int(digits[:9]), MOST_REPETITIONS + 1) if len(digits.lstrip("0")) <= 9 else MOST_REPETITIONS + 1

    def _class(self, depth: int) -> Characters:
        """Return the character class in brackets that begins at the current character."""
        begin = self._place()
        if depth == _DEEPEST:
            raise self._error(f"classes are nested more than {_DEEPEST} deep", begin)
        self._take()
        negated = self._peek() == "^"
        if negated:
            self._take()
        parts: list[Characters] = []
        subtracted: Characters = ()
        while self._peek() != "]" or not parts:
            character = self._peek()
            if character is None:
                raise self._error("unmatched [ (write \\[ for the character itself)", begin)
            if character == "]":
                raise self._error("a class in brackets needs a character (write \\] for ] itself)")
            if character == "-" and self._peek(1) == "[" and parts:
                self._take()
                subtracted = self._class(depth + 1)
                if self._peek() != "]":
                    raise self._error("a class that is subtracted ends the class: [a-z-[aeiou]]")
                break
            parts.append(self._class_part())
        self._take()
        characters = union(*parts)
        return difference(complement(characters) if negated else characters, subtracted)

    def _class_part(self) -> Characters:
        """Return the set of a character, a range or an escape within brackets."""
        begin = self._place()
        first = self._class_character()
        follower = self._peek(1)
        if self._peek() != "-" or follower in ("]", "[", None) or not _is_one(first):
            return _folded(first, self._flags) if _is_one(first) else first
        self._take()
        last = self._class_character()
        if not _is_one(last):
            raise self._error("a range ends with a character", begin)
        if last[0][0] < first[0][0]:
            raise self._error(f"the range {chr(first[0][0])}-{chr(last[0][0])} is backwards", begin)
        return _folded(((first[0][0], last[0][0]),), self._flags)

    def _class_character(self) -> Characters:
        character = self._peek()
        if character == "\\":
            return self._escape(is_folded=False)
        if character == "[":
            raise self._error("write \\[ for the character [ itself; a class is subtracted at the end: [a-z-[aeiou]]")
        return one(self._take())

    def _escape(self, is_folded: bool = True) -> Characters:
        begin = self._place()
        self._take()
        character = self._peek()
        if character is None:
            raise self._error("the pattern ends with \\ (write \\\\ for the character itself)", begin)
        if character in _ESCAPED:
            self._take()
            return _folded(_ESCAPED[character], self._flags) if is_folded else _ESCAPED[character]
        if character in "pP":
            return self._property(begin)
        characters = _multiple(character)
        if characters is not None:
            self._take()
            return characters
        if character in "123456789":
            raise self._error("back-references are not supported: they cannot be matched in linear time", begin)
        hint = _FOREIGN.get(character, "XPath has no such escape")
        raise self._error(f"\\{character}: {hint}", begin)

    def _property(self, begin: int) -> Characters:
        kind = self._take()
        if self._peek() != "{":
            raise self._error(f"a category or block is written \\{kind}{{Lu}} or \\{kind}{{IsBasicLatin}}", begin)
        self._take()
        name = ""
        while (character := self._peek()) not in (None, "}"):
            name += character or ""
            self._take()
        if character is None:
            raise self._error("this \\p{ is not closed", begin)
        self._take()
        characters = block(name[2:]) if name.startswith("Is") else category(name)
        if characters is None:
            kind_of = "block" if name.startswith("Is") else "category"
            raise self._error(f"unknown {kind_of} of characters {name!r}", begin)
        return complement(characters) if kind == "P" else characters

    # --- characters ---------------------------------------------------------------------------------------------------------

    def _peek(self, further: int = 0) -> str | None:
        place = self._next + further
        return self._characters[place][1] if place < len(self._characters) else None

    def _take(self) -> str:
        self._next += 1
        return self._characters[self._next - 1][1]

    def _place(self) -> int:
        return self._characters[self._next][0] if self._next < len(self._characters) else len(self._pattern)

    def _error(self, message: str, place: int | None = None) -> PatternError:
        return PatternError("FORX0002", message, self._pattern, self._place() if place is None else place)


def _without_spaces(pattern: str) -> Iterator[tuple[int, str]]:
    """Yield the characters that remain under flag x, which removes white space outside brackets."""
    depth = 0
    escaped = False
    for place, character in enumerate(pattern):
        if not depth and character in _SPACES:
            continue
        if not escaped:
            depth = max(0, depth + (character == "[") - (character == "]"))
        escaped = character == "\\" and not escaped
        yield place, character


def _is_one(characters: Characters) -> bool:
    return len(characters) == 1 and characters[0][0] == characters[0][1]


def _folded(characters: Characters, flags: str) -> Characters:
    return with_case_variants(characters) if "i" in flags else characters


@lru_cache(maxsize=16)
def _multiple(name: str) -> Characters | None:
    r"""Return the characters of a multi-character escape such as ``\d``."""
    if name.isupper():
        others = _multiple(name.lower())
        return None if others is None else complement(others)
    if name == "s":
        return union(*(one(space) for space in _SPACES))
    if name == "i":
        return _NAME_START
    if name == "c":
        return _NAME
    if name == "d":
        return category("Nd")
    if name == "w":
        return complement(union(*(category(part) or () for part in "PZC")))
    return None


@lru_cache(maxsize=256)
def _written(characters: Characters) -> str:
    """Return a set of characters in RE2's syntax, written as a class or as a negated class."""
    if _is_one(characters):
        return _code(characters[0][0])
    negative = bool(characters) and (characters[0][0] == 0 and characters[-1][1] == 0x10FFFF)
    ranges = complement(characters) if negative else characters
    if not ranges:
        return "(?s:.)" if negative else r"[^\x{0}-\x{10ffff}]"
    text = "".join(_code(first) if first == last else f"{_code(first)}-{_code(last)}" for first, last in ranges)
    return f"[{'^' if negative else ''}{text}]"


def _code(code: int) -> str:
    return chr(code) if code < 128 and chr(code).isalnum() else f"\\x{{{code:x}}}"
