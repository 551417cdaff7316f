"""Functions on strings (SPARQL 1.1 Query, section 17.4.3) and hashes (17.4.6); characters are code points.

Two strings are compatible if they have the same language tag or if the second one has none (17.4.3.1.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, SIMPLE, TEXT, Function, Kind
from kg_reasoner.expressions.functions.numbers import Number
from kg_reasoner.terms import Literal

__all__ = ["FUNCTIONS", "converting", "like"]


def like(model: Literal, text: str) -> Literal:
    """Return the text with the language tag of `model`, if it has one."""
    return Literal(text, model.datatype, model.language)


def converting(convert: Callable[[str], str], on_column: Callable[[list[str]], list[str]] | None = None) -> Function:
    """Return the function that converts a string, and keeps its language tag.

    Args:
        convert: Converts one string.
        on_column: Converts many strings, if that takes less time.
    """
    on_strings = Function((SIMPLE,), SIMPLE, convert, on_column=on_column)
    return Function((TEXT,), TEXT, lambda a: like(a, convert(a.lexical)), overloads=(on_strings,))


def _in_case(convert: Callable[[str], str]) -> Function:
    """Return the function that converts the letters of a string. Many strings are converted at once, as lines."""

    def on_column(texts: list[str]) -> list[str]:
        lines = convert("\n".join(texts)).split("\n")
        return lines if len(lines) == len(texts) else list(map(convert, texts))

    return converting(convert, on_column)


def _measuring(measure: Callable[[str], Any], result: Kind) -> Function:
    """Return a function of a string whatever its language tag is."""
    return Function((TEXT,), result, lambda a: measure(a.lexical), overloads=(Function((SIMPLE,), result, measure),))


def _test(holds: Callable[[str, str], bool]) -> Function:
    """Return a test of two compatible strings."""

    def apply(a: Literal, b: Literal) -> bool | None:
        return holds(a.lexical, b.lexical) if b.language in (None, a.language) else None

    return Function((TEXT, TEXT), BOOLEAN, apply, overloads=(Function((SIMPLE, SIMPLE), BOOLEAN, holds),))


def _around(part: Callable[[str, str], str | None], on_column: Callable[[list[str], str], list[str]]) -> Function:
    """Return a function that takes a part of a string; where it has none, the result is the empty simple string.

    Args:
        part: Returns the part of a string, or None.
        on_column: Returns the parts of many strings, empty where there is none.
    """

    def apply(a: Literal, b: Literal) -> Literal | None:
        if b.language not in (None, a.language):
            return None
        found = part(a.lexical, b.lexical)
        return Literal("") if found is None else like(a, found)

    on_strings = Function((SIMPLE, SIMPLE), SIMPLE, lambda a, b: part(a, b) or "", on_column=on_column)
    return Function((TEXT, TEXT), TEXT, apply, overloads=(on_strings,))


def _before(text: str, mark: str) -> str | None:
    """Return the part before the first occurrence, or None if there is none."""
    place = text.find(mark)
    return text[:place] if place >= 0 else None


def _all_before(texts: list[str], mark: str) -> list[str]:
    return [text[:place] if (place := text.find(mark)) >= 0 else "" for text in texts]


def _after(text: str, mark: str) -> str | None:
    """Return the part after the first occurrence, or None if there is none."""
    place = text.find(mark)
    return text[place + len(mark) :] if place >= 0 else None


def _all_after(texts: list[str], mark: str) -> list[str]:
    return [text.partition(mark)[2] for text in texts] if mark else texts


def _place(start: Number, length: Number | None = None) -> slice | None:
    """Return the place of at most `length` characters from `start` (counted from 1), as in XPath's fn:substring."""
    if not isinstance(start, int) or not isinstance(length, int | None):
        return None
    return slice(max(0, start - 1), None if length is None else max(0, start - 1 + length))


def _part(text: str, start: Number, length: Number | None = None) -> str | None:
    place = _place(start, length)
    return None if place is None else text[place]


def _parts(texts: list[str], start: Number, length: Number | None = None) -> list[str] | None:
    place = _place(start, length)
    return None if place is None else [text[place] for text in texts]


def _substring(a: Literal, start: Number, length: Number | None = None) -> Literal | None:
    found = _part(a.lexical, start, length)
    return None if found is None else like(a, found)


def _concatenate(*texts: Literal) -> Literal:
    languages = {text.language for text in texts}
    joined = "".join(text.lexical for text in texts)
    return like(texts[0], joined) if len(languages) == 1 else Literal(joined)


def _matches_language(tag: str, pattern: str) -> bool:
    """Return whether a tag matches by basic filtering (RFC 4647): ``en`` matches ``en`` and ``en-GB``, ``*`` any tag but the empty
    one.
    """
    if pattern == "*":
        return tag != ""
    return f"{tag.lower()}-".startswith(f"{pattern.lower()}-")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(name: str) -> Function:
    def hexadecimal(text: str) -> str:
        from hashlib import new

        return new(name, _bytes(text), usedforsecurity=False).hexdigest()

    return Function((SIMPLE,), SIMPLE, hexadecimal)


FUNCTIONS: Final = {
    "STRLEN": _measuring(len, NUMBER),
    "SUBSTR": Function(
        (TEXT, NUMBER, NUMBER),
        TEXT,
        _substring,
        1,
        overloads=(Function((SIMPLE, NUMBER, NUMBER), SIMPLE, _part, 1, on_column=_parts),),
    ),
    "UCASE": _in_case(str.upper),
    "LCASE": _in_case(str.lower),
    "STRSTARTS": _test(str.startswith),
    "STRENDS": _test(str.endswith),
    "CONTAINS": _test(str.__contains__),
    "STRBEFORE": _around(_before, _all_before),
    "STRAFTER": _around(_after, _all_after),
    "ENCODE_FOR_URI": _measuring(lambda text: quote(_bytes(text), safe=""), SIMPLE),
    "CONCAT": Function(
        (), TEXT, _concatenate, rest=TEXT, overloads=(Function((), SIMPLE, lambda *texts: "".join(texts), rest=SIMPLE),)
    ),
    "LANGMATCHES": Function((SIMPLE, SIMPLE), BOOLEAN, _matches_language),
    **{name: _hash(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
}
"""The functions on strings."""
