"""Functions on strings (SPARQL 1.1 Query, section 17.4.3) and their hashes (17.4.6); characters are code points.

Two strings are compatible if they have the same language tag, or the second one has none (17.4.3.1.2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, SIMPLE, TEXT, Function
from kg_reasoner.expressions.functions.numbers import Number
from kg_reasoner.terms import Literal

__all__ = ["FUNCTIONS", "like"]


def like(model: Literal, text: str) -> Literal:
    """The text with the language tag of `model`, if that has one."""
    return Literal(text, model.datatype, model.language)


def _compatible(on_texts: Callable[[str, str], Any]) -> Callable[[Literal, Literal], Any]:
    def apply(a: Literal, b: Literal) -> Any:
        return on_texts(a.lexical, b.lexical) if b.language in (None, a.language) else None

    return apply


def _around(which: int) -> Callable[[Literal, Literal], Literal | None]:
    """The part before (0) or after (2) the first occurrence; the empty simple string where there is none."""

    def apply(a: Literal, b: Literal) -> Literal | None:
        if b.language not in (None, a.language):
            return None
        if not b.lexical:
            return like(a, a.lexical if which else "")
        parts = a.lexical.partition(b.lexical)
        return like(a, parts[which]) if parts[1] else Literal("")

    return apply


def _substring(a: Literal, start: Number, length: Number | None = None) -> Literal | None:
    """The characters at `start` (counted from 1) and after it, at most `length`: those of XPath's fn:substring."""
    if not isinstance(start, int) or not isinstance(length, int | None):
        return None
    end = len(a.lexical) if length is None else max(0, start - 1 + length)
    return like(a, a.lexical[max(0, start - 1) : end])


def _concatenate(*texts: Literal) -> Literal:
    languages = {text.language for text in texts}
    joined = "".join(text.lexical for text in texts)
    return like(texts[0], joined) if len(languages) == 1 else Literal(joined)


def _matches_language(tag: str, pattern: str) -> bool:
    """Basic filtering of RFC 4647: ``en`` matches ``en`` and ``en-GB``, ``*`` whatever is not empty."""
    if pattern == "*":
        return tag != ""
    return f"{tag.lower()}-".startswith(f"{pattern.lower()}-")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(name: str) -> Function:
    return Function((SIMPLE,), SIMPLE, lambda text: hashlib.new(name, _bytes(text), usedforsecurity=False).hexdigest())


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
