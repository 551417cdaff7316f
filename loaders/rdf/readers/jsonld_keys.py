"""Keys of a JSON-LD document beside its @graph that no context maps, such as comments.

JSON-LD drops them before it asks whether an object has nothing but a @graph, which then is the default graph. pyoxigraph's parser
does not, and gives the graph a blank node for its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Any, Final

__all__ = ["without_unmapped_keys"]

_BEGIN: Final = re.compile(r"\s*\{\s*")
_COLON: Final = re.compile(r"\s*:\s*")
_BETWEEN: Final = re.compile(r"\s*([,}])\s*")
_SKIPPING: Final = JSONDecoder(object_pairs_hook=lambda pairs: None, parse_int=len, parse_float=len)
"""Finds the ends of values without keeping them."""


def without_unmapped_keys(text: bytes) -> bytes | None:
    """Return a document without the keys beside its @graph and its context, if the context maps none of them.

    Args:
        text: The document, or its beginning.

    Returns:
        The shorter document; None if it has no such keys, or others, or is no object with a @graph.
    """
    context: Any = None
    parts: dict[str, bytes] = {}
    try:
        for key, value, start, end in _entries(text.decode("latin-1")):  # in which positions are those of bytes
            if key == "@context":
                context = value
            elif key != "@graph" and _has_meaning(key):
                return None
            parts[key] = text[start:end]
    except (ValueError, RecursionError):
        return None
    terms = _terms(context if isinstance(context, list) else [context])
    if terms is None:
        return None
    kept = [key for key in parts if key == "@context" or terms.get(key, terms.get("@vocab")) is not None]
    graphs = [key for key in parts if key == "@graph" or terms.get(key) == "@graph"]
    if len(graphs) != 1 or len(parts) == len({*kept, *graphs}) or not {*kept} <= {"@context", *graphs}:
        return None
    return b"{" + b",".join(parts[key] for key in parts if key in ("@context", *graphs)) + b"}"


def _has_meaning(key: str) -> bool:
    """Return whether a key has a meaning without a context, or may have one by a prefix."""
    return ":" in key or key.startswith("@")


def _terms(contexts: list[Any]) -> Mapping[str, object] | None:
    """Return what the keys of some contexts, one after the other, are mapped to; None if they refer to another document."""
    found: dict[str, object] = {}
    for context in contexts:
        if context is None:
            found.clear()
        elif not isinstance(context, dict) or "@import" in context:
            return None
        else:
            for key, value in context.items():
                found[key] = value.get("@id", key) if isinstance(value, dict) else value
    return found


def _entries(text: str) -> Iterator[tuple[str, Any, int, int]]:
    """Yield the keys of the outermost object, the value of its context, and from where to where each entry is.

    Raises:
        ValueError: The text is not an object.
    """
    decode = JSONDecoder().raw_decode
    place, sign = _end(_BEGIN, text, 0), ","
    while sign == ",":
        start = place
        key, place = decode(text, start)
        skip_or_decode = decode if key == "@context" else _SKIPPING.raw_decode
        value, end = skip_or_decode(text, _end(_COLON, text, place))
        yield key, value, start, end
        place = _end(_BETWEEN, text, end)
        sign = text[end:place].strip()
    if place < len(text):
        raise ValueError("more than an object")


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    if found is None:
        raise ValueError(f"expected {pattern.pattern} at {place}")
    return found.end()
