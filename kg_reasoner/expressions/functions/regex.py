"""REGEX and REPLACE (SPARQL 1.1 Query, sections 17.4.3.14 and 15): XPath's fn:matches and fn:replace, based on RE2.

MATCHES, for rules only, lists the matches. RE2 does not backtrack: the time to find a match is at most proportional to the length
of the text times the size of the pattern. `STEPS` bounds the remaining cases: large patterns on huge texts, and REPLACE if each
search may reach the end of the text. A pattern that XPath does not allow or RE2 cannot match is a type error, or is rejected if it
is a constant of a rule or query (`problem`).

With flag m, the end of a text that ends with a line break is not the end of a line, as in XPath. Unlike in XPath, ``^`` matches
at the start of the empty line there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.functions.kinds import BOOLEAN, SIMPLE, TERM, TEXT, Function
from kg_reasoner.expressions.functions.regex_errors import PatternError
from kg_reasoner.expressions.functions.strings import like
from kg_reasoner.expressions.structures import encode
from kg_reasoner.terms import Literal

if TYPE_CHECKING:
    import re2

__all__ = ["FUNCTIONS", "LONGEST", "all_matches", "line_finder", "matches", "problem", "replaced"]

LONGEST: Final = 1 << 22
"""The maximal number of characters of a result of REPLACE."""

STEPS: Final = 4_000_000_000
"""The maximal number of steps of a call, which take a few seconds."""

_MEMORY: Final = 1 << 23
"""The bytes that RE2 may use for a pattern."""
_MATCH: Final = 2000
"""The number of steps that replacing a match counts as."""
_SMALL: Final = 50
"""The maximal number of instructions of a pattern that is surely a deterministic automaton in RE2: it takes a step for each byte. A
larger one may take a step for each instruction.
"""
_REPLACEMENT: Final = re.compile(r"\\([\\$])|\$([0-9]+)|([^\\$]+)")


def matches(text: str, pattern: str, flags: str = "") -> bool:
    """Return whether a text contains a match of a pattern.

    Raises:
        PatternError: The pattern or the flags are wrong.
    """
    compiled = _compiled(pattern, flags, captures=False)
    data = _encoded(text)
    _check_size(compiled, len(data))
    searched, end = _searched(data, flags)
    return compiled.find(searched, 0, end) is not None


def replaced(text: str, pattern: str, replacement: str, flags: str = "") -> str | None:
    """Return the text with each match replaced, or None if the result is longer than `LONGEST` or takes too many steps.

    Args:
        text: The text.
        pattern: A regular expression of XPath.
        replacement: What replaces a match; ``$1`` is the text of its first group.
        flags: XPath's letters.

    Raises:
        PatternError: The pattern, the flags or the replacement are wrong, or the pattern matches the empty text.
    """
    compiled = _compiled(pattern, flags, captures=True)
    written = _prepared_replacement(pattern, replacement, flags)
    data = _encoded(text)
    _check_size(compiled, len(data))
    searched, end = _searched(data, flags)
    parts: list[bytes] = []
    size = len(data)
    last = 0
    steps = STEPS
    while (spans := compiled.find(searched, last, end)) is not None:
        first, after = spans[0]
        steps -= _MATCH if compiled.is_local else _MATCH + compiled.cost * (end - last)
        if steps < 0:
            return None
        parts.append(data[last:first])
        for part in written:
            parts.append(part if isinstance(part, bytes) else data[slice(*spans[part])])
            size += len(parts[-1])
        if size > 4 * LONGEST:
            return None
        last = after
    result = b"".join([*parts, data[last:]]).decode("utf-8", "surrogatepass")
    return result if len(result) <= LONGEST else None


def all_matches(text: str, pattern: str, flags: str = "") -> list[str] | None:
    """Return the texts that match a pattern, in order and without overlaps, or None if that takes too many steps.

    Raises:
        PatternError: The pattern or the flags are wrong, or the pattern matches the empty text.
    """
    _prepared_replacement(pattern, "", flags)
    compiled = _compiled(pattern, flags, captures=False)
    data = _encoded(text)
    _check_size(compiled, len(data))
    searched, end = _searched(data, flags)
    found: list[str] = []
    last, steps = 0, STEPS
    while (spans := compiled.find(searched, last, end)) is not None:
        first, last = spans[0]
        steps -= _MATCH if compiled.is_local else _MATCH + compiled.cost * (end - first)
        if steps < 0:
            return None
        found.append(data[first:last].decode("utf-8", "surrogatepass"))
    return found


def line_finder(pattern: str, flags: str = "") -> Callable[[bytes, int], tuple[int, int] | None] | None:
    """Return a function that finds a match in a text of lines, from a position on, within one line.

    A line has a match if and only if the line by itself has one. None: the pattern is invalid, or cannot be searched for like that.
    """
    if "s" in flags or "m" in flags:
        return None
    try:
        compiled = _compiled(pattern, f"{flags}m", captures=False, within_lines=True)
    except PatternError:
        return None

    def find(data: bytes, start: int) -> tuple[int, int] | None:
        found = compiled.find(data, start, len(data))
        return None if found is None else found[0]

    return find if compiled.cost == 1 else None


def problem(name: str, constants: Sequence[str | None]) -> str | None:
    """Return an error in the constant arguments of REGEX, REPLACE or MATCHES, or None. An argument that is not constant is None."""
    pattern, replacement, flags = constants[1], None, constants[2:3]
    if name == "REPLACE":
        replacement, flags = constants[2], constants[3:4]
    chosen = flags[0] if flags else ""
    from kg_reasoner.expressions.functions.regex_translation import translate

    try:
        if chosen is None or pattern is None:
            translate("", chosen or "")
        elif name == "REGEX":
            _compiled(pattern, chosen, captures=False)
        else:
            _prepared_replacement(pattern, replacement or "", chosen)
    except PatternError as error:
        return str(error)
    return None


@dataclass(frozen=True)
class _Compiled:
    """A pattern for texts in UTF-8; `cost` is the maximal number of steps per byte."""

    expression: re2._re2.RE2
    is_local: bool
    cost: int

    def find(self, data: bytes, start: int, end: int) -> list[tuple[int, int]] | None:
        """Return the spans of the first match and its groups; a group that did not match has (-1, -1)."""
        spans: list[tuple[int, int]] = self.expression.Match(self.expression.Anchor.UNANCHORED, data, start, end)
        return spans if spans[0][0] >= 0 else None


def _check_size(compiled: _Compiled, size: int) -> None:
    if compiled.cost * size > STEPS:
        raise PatternError("FORX0002", f"the pattern is too large for a text of {size} bytes")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _searched(data: bytes, flags: str) -> tuple[bytes, int]:
    """Return the text to search and the end of the search. After a final line break, one more byte prevents a match at the end."""
    return (data + b"." if "m" in flags and data.endswith(b"\n") else data), len(data)


@lru_cache(maxsize=512)
def _compiled(pattern: str, flags: str, captures: bool, within_lines: bool = False) -> _Compiled:
    """Return the compiled pattern; `within_lines` is whether no match contains a line break.

    Raises:
        PatternError: The pattern or the flags are wrong.
    """
    import re2

    from kg_reasoner.expressions.functions.regex_translation import translate

    translation = translate(pattern, flags)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    options.max_mem = _MEMORY
    options.never_nl = within_lines
    expression = re2._re2.RE2(translation.source.encode(), options)  # the layer above it takes most of the time
    if not expression.ok():
        reason = expression.error().decode("utf-8", "replace")
        raise PatternError("FORX0002", f"the pattern takes too much memory, or its repetitions multiply to too many ({reason})")
    size = expression.ProgramSize()
    return _Compiled(expression, translation.is_local, 1 if size < _SMALL else size)


@lru_cache(maxsize=512)
def _prepared_replacement(pattern: str, replacement: str, flags: str) -> tuple[bytes | int, ...]:
    """Return the parts of a replacement: texts and numbers of groups. ``$12`` is group 1 and the digit 2 if there are fewer than 12
    groups.

    Raises:
        PatternError: The replacement is wrong, or the pattern matches the empty text.
    """
    compiled = _compiled(pattern, flags, captures=True)
    if compiled.find(b"", 0, 0) is not None:
        raise PatternError("FORX0003", f"the pattern {pattern!r} matches the empty text, which is everywhere")
    if "q" in flags:
        return (_encoded(replacement),)
    return tuple(_replacement_parts(replacement, compiled.expression.NumberOfCapturingGroups()))


def _replacement_parts(replacement: str, groups: int) -> Iterator[bytes | int]:
    place = 0
    while place < len(replacement):
        found = _REPLACEMENT.match(replacement, place)
        if found is None:
            message = "in a replacement, $ is written \\$ unless a number follows, and \\ is written \\\\:"
            raise PatternError("FORX0004", message, replacement, place)
        place = found.end()
        escaped, digits, plain = found.groups()
        if digits is None:
            yield _encoded(escaped or plain)
            continue
        length = min(len(digits), 9)
        while length > 1 and int(digits[:length]) > groups:
            length -= 1
        if int(digits[:length]) <= groups:
            yield int(digits[:length])
        yield digits[length:].encode()


def _matching(text: str, pattern: str, flags: str = "") -> bool | None:
    try:
        return matches(text, pattern, flags)
    except PatternError:
        return None


def _matches(text: Literal, pattern: str, flags: str = "") -> Literal | None:
    try:
        found = all_matches(text.lexical, pattern, flags)
    except PatternError:
        return None
    return None if found is None else encode("list", [like(text, part) for part in found])


def _replacing(text: str, pattern: str, replacement: str, flags: str = "") -> str | None:
    try:
        return replaced(text, pattern, replacement, flags)
    except PatternError:
        return None


def _regex(text: Literal, pattern: str, flags: str = "") -> bool | None:
    return _matching(text.lexical, pattern, flags)


def _replace(text: Literal, pattern: str, replacement: str, flags: str = "") -> Literal | None:
    result = _replacing(text.lexical, pattern, replacement, flags)
    return None if result is None else like(text, result)


FUNCTIONS: Final = {
    "REGEX": Function(
        (TEXT, SIMPLE, SIMPLE), BOOLEAN, _regex, 1, overloads=(Function((SIMPLE, SIMPLE, SIMPLE), BOOLEAN, _matching, 1),)
    ),
    "REPLACE": Function(
        (TEXT, SIMPLE, SIMPLE, SIMPLE), TEXT, _replace, 1, overloads=(Function((SIMPLE,) * 4, SIMPLE, _replacing, 1),)
    ),
    "MATCHES": Function((TEXT, SIMPLE, SIMPLE), TERM, _matches, optional=1),
}
"""The functions on patterns."""
