"""Walks through parse trees of rdflib."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

__all__ = ["children_of", "is_sequence", "parts_of", "terms_in"]


def is_sequence(part: Any) -> bool:
    """Return whether a part of a parse tree is a list of parts."""
    from pyparsing import ParseResults

    return isinstance(part, (list, tuple, ParseResults))


def children_of(part: Any) -> Iterable[Any]:
    """Return the parts that a part of a parse tree consists of."""
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(part, CompValue):
        return part.values()
    return part if is_sequence(part) else ()


def parts_of(tree: Any, stop: Collection[str] = ()) -> Iterator[Any]:
    """Yield the nodes of a tree that have names, except those named in `stop`, and what is inside of these."""
    from rdflib.plugins.sparql.parserutils import CompValue

    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, CompValue):
            if part.name in stop:
                continue
            yield part
        waiting.extend(children_of(part))


def terms_in(tree: Any, kind: type) -> Iterator[Any]:
    """Yield the terms of a kind in a tree."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            yield part
        else:
            waiting.extend(children_of(part))
