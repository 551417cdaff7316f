"""REGEX and REPLACE (SPARQL 1.1 Query, sections 17.4.3.14 and 15), with XPath's flags, on Python's regular expressions.

Patterns are XPath's as far as Python knows them: categories (``\\p{L}``) and the subtraction of character classes it does not, and
a pattern that cannot be compiled is a type error. What Python knows beyond XPath is let through. Python may take very long over
patterns such as ``(a+)+b``: patterns are as trusted as the rules, so do not take them from data that you do not trust.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from kg_reasoner.functions.kinds import BOOLEAN, SIMPLE, TEXT, Function
from kg_reasoner.functions.strings import like
from kg_reasoner.terms import Literal

__all__ = ["FUNCTIONS"]

_FLAGS: Final = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE, "x": re.RegexFlag(0), "q": re.RegexFlag(0)}
_TOKEN: Final = re.compile(r"(\\.)|(\[\^?\]?(?:\\.|[^\\\]])*\])|([ \t\n\r])|(\$)|(.)", re.DOTALL)
"""An escape, a character class, white space, the end, anything else."""
_SUBTRACTION: Final = re.compile(r"(?:\\.|[^\\])-\[", re.DOTALL)
_REPLACEMENT: Final = re.compile(r"\\([\\$])|\$([0-9]+)|([^\\$]+)")

_Replacement: TypeAlias = Callable[[re.Match[str]], str]


@lru_cache(maxsize=512)
def _compiled(pattern: str, flags: str) -> re.Pattern[str] | None:
    """The pattern, or None if it or the flags are wrong."""
    if not _FLAGS.keys() >= set(flags):
        return None
    options = re.RegexFlag(0)
    for flag in flags:
        options |= _FLAGS[flag]
    source = re.escape(pattern) if "q" in flags else _translated(pattern, flags)
    if source is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(source, options)
    except (re.error, ValueError, OverflowError, RecursionError, MemoryError):
        return None


def _translated(pattern: str, flags: str) -> str | None:
    """The pattern with what XPath means by ``$`` and by the flag x."""
    source = []
    for escape, group, space, end, other in _TOKEN.findall(pattern):
        if group and _SUBTRACTION.search(group):
            return None
        if end and "m" not in flags:
            source.append(r"\Z")
        elif not (space and "x" in flags):
            source.append(escape or group or space or end or other)
    return "".join(source)


def _matches(text: Literal, pattern: str, flags: str = "") -> bool | None:
    compiled = _compiled(pattern, flags)
    return None if compiled is None else compiled.search(text.lexical) is not None


def _replaced(text: Literal, pattern: str, replacement: str, flags: str = "") -> Literal | None:
    """fn:replace: an error if the pattern matches the empty string, or a ``$`` or ``\\`` of the replacement stands for nothing."""
    compiled = _compiled(pattern, flags)
    if compiled is None or compiled.search("") is not None:
        return None
    written = (lambda _: replacement) if "q" in flags else _replacement(replacement, compiled.groups)
    return None if written is None else like(text, compiled.sub(written, text.lexical))


@lru_cache(maxsize=512)
def _replacement(replacement: str, groups: int) -> _Replacement | None:
    """What a match is replaced by. ``$12`` is group 1 and the digit 2 where there are not so many groups."""
    parts: list[str | int] = []
    place = 0
    while place < len(replacement):
        found = _REPLACEMENT.match(replacement, place)
        if found is None:
            return None
        place = found.end()
        escaped, digits, plain = found.groups()
        if digits is None:
            parts.append(escaped or plain)
            continue
        digits, rest = digits[:9], digits[9:]
        while len(digits) > 1 and int(digits) > groups:
            digits, rest = digits[:-1], digits[-1] + rest
        if int(digits) <= groups:
            parts.append(int(digits))
        parts.append(rest)
    return lambda match: "".join(part if isinstance(part, str) else match[part] or "" for part in parts)


FUNCTIONS: Final = {
    "REGEX": Function((TEXT, SIMPLE, SIMPLE), BOOLEAN, _matches, optional=1),
    "REPLACE": Function((TEXT, SIMPLE, SIMPLE, SIMPLE), TEXT, _replaced, optional=1),
}
"""The functions on patterns."""
