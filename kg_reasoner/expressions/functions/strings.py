"""Functions on strings (SPARQL 1.1 Query, section 17.4.3) and hashes (17.4.6); characters are code points.

Two strings are compatible if they have the same language tag or if the second one has none (17.4.3.1.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, SIMPLE, TEXT, Function
from kg_reasoner.expressions.functions.numbers import Number
from kg_reasoner.terms import Literal

__all__ = ["FUNCTIONS", "like"]


def like(model: Literal, text: str) -> Literal:
    """Return the text with the language tag of `model`, if it has one."""
    return Literal(text, model.datatype, model.language)


def _compatible(on_texts: Callable[[str, str], Any]) -> Callable[[Literal, Literal], Any]:
    def apply(a: Literal, b: Literal) -> Any:
        return on_texts(a.lexical, b.lexical) if b.language in (None, a.language) else None

    return apply


def _around(which: int) -> Callable[[Literal, Literal], Literal | None]:
    """Return the part before (0) or after (2) the first occurrence, or the empty simple string if the text has no occurrence."""

    def apply(a: Literal, b: Literal) -> Literal | None:
        if b.language not in (None, a.language):
            return None
        if not b.lexical:
            return like(a, a.lexical if which else "")
        parts = a.lexical.partition(b.lexical)
        return like(a, parts[which]) if parts[1] else Literal("")

    return apply


def _substring(a: Literal, start: Number, length: Number | None = None) -> Literal | None:
    """Return at most `length` characters from `start` (counted from 1), as XPath's fn:substring does."""
    if not isinstance(start, int) or not isinstance(length, int | None):
        return None
    end = len(a.lexical) if length is None else max(0, start - 1 + length)
    return like(a, a.lexical[max(0, start - 1) : end])


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
    "STRLEN": Function((TEXT,), NUMBER, lambda a: len(a.lexical)),
    "SUBSTR": Function((TEXT, NUMBER, NUMBER), TEXT, _substring, optional=1),
    "UCASE": Function((TEXT,), TEXT, lambda a: like(a, a.lexical.upper())),
    "LCASE": Function((TEXT,), TEXT, lambda a: like(a, a.lexical.lower())),
    "STRSTARTS": Function((TEXT, TEXT), BOOLEAN, _compatible(str.startswith)),
    "STRENDS": Function((TEXT, TEXT), BOOLEAN, _compatible(str.endswith)),
    "CONTAINS": Function((TEXT, TEXT), BOOLEAN, _compatible(str.__contains__)),
    "STRBEFORE": Function((TEXT, TEXT), TEXT, _around(0)),
    "STRAFTER": Function((TEXT, TEXT), TEXT, _around(2)),
    "ENCODE_FOR_URI": Function((TEXT,), SIMPLE, lambda a: quote(_bytes(a.lexical), safe="")),
    "CONCAT": Function((), TEXT, _concatenate, rest=TEXT),
    "LANGMATCHES": Function((SIMPLE, SIMPLE), BOOLEAN, _matches_language),
    **{name: _hash(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
}
"""The functions on strings."""
