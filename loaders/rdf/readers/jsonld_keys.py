"""Keys of a JSON-LD document beside its @graph that no context maps, such as comments.

JSON-LD drops them before it asks whether an object has nothing but a @graph, which then is the default graph. pyoxigraph's parser
does not, and gives the graph a blank node for its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any, Final

__all__ = ["without_unmapped_keys"]

_BEGIN: Final = re.compile(r"\s*\{\s*")
_COLON: Final = re.compile(r"\s*:\s*")
_COMMA: Final = re.compile(r"\s*,\s*")
_VISIBLE: Final = re.compile(rb"\S")
_MAPS_ANY: Final = frozenset({"@vocab", "@import"})


def without_unmapped_keys(head: bytes) -> bytes:
    """Return the beginning of a document with spaces in place of what is before its @graph, if that is not mapped by its context.

    Only what is before the @graph is decoded. If a key with a meaning is there, or no context, nothing is replaced.

    Args:
        head: The beginning, of any length.
    """
    if b'"@graph"' not in head:
        return head
    context: Any = None
    others: list[tuple[str, int, int]] = []
    try:
        for key, value, start, end in _entries(head.decode("latin-1")):  # in which positions are those of bytes
            if key == "@context":
                context = value
            else:
                others.append((key, start, end))
    except (ValueError, RecursionError):
        return head
    contexts = context if isinstance(context, list) else [context]
    if any(_may_map(part, key) for key, *_ in others for part in contexts):
        return head
    for _, start, end in others:
        head = head[:start] + _VISIBLE.sub(b" ", head[start:end]) + head[end:]
    return head


def _entries(text: str) -> Iterator[tuple[str, Any, int, int]]:
    """Yield the keys of the outermost object up to its @graph, their values, and from where to where they are.

    Raises:
        ValueError: The text is not as expected, or ends before the @graph.
    """
    decode = JSONDecoder().raw_decode
    place = _end(_BEGIN, text, 0)
    while True:
        start = place
        key, place = decode(text, start)
        if key == "@graph":
            return
        value, place = decode(text, _end(_COLON, text, place))
        place = _end(_COMMA, text, place)
        yield key, value, start, place


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    if found is None:
        raise ValueError(f"expected {pattern.pattern} at {place}")
    return found.end()


def _may_map(context: object, key: str) -> bool:
    """Return whether a key has a meaning of its own, or a context, or what that refers to, may give it one."""
    is_mapped = not isinstance(context, dict) or key in context or not _MAPS_ANY.isdisjoint(context)
    return is_mapped or ":" in key or key.startswith("@")
