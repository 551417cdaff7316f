"""Sets of characters for regular expressions: the classes of XML Schema and XPath, as sorted ranges of code points.

Categories, case and names follow the Unicode version of Python (`unicodedata.unidata_version`). The tables are built on
first use.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Final, TypeAlias

__all__ = ["ALL", "Characters", "block", "category", "complement", "difference", "one", "union", "with_case_variants"]

Characters: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of code points, both ends included: sorted, and with a gap between any two."""

_LAST: Final = 0x10FFFF
_CASED: Final = 0x20000
"""All characters with upper and lower case are below this one."""

ALL: Final[Characters] = ((0, _LAST),)


def one(character: str) -> Characters:
    """Return the set with one character."""
    return ((ord(character), ord(character)),)


def union(*sets: Iterable[tuple[int, int]]) -> Characters:
    """Return the union of sets.

    >>> union([(97, 99)], [(50, 50), (100, 101)])
    ((50, 50), (97, 101))
    """
    joined: list[tuple[int, int]] = []
    for first, last in sorted(part for each in sets for part in each):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return tuple(joined)


def complement(characters: Characters) -> Characters:
    """Return the complement of a set."""
    starts = [0, *(last + 1 for _, last in characters)]
    ends = [*(first - 1 for first, _ in characters), _LAST]
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)


def difference(these: Characters, those: Characters) -> Characters:
    """Return the characters of `these` that are not among `those`."""
    return complement(union(complement(these), those))


def with_case_variants(characters: Characters) -> Characters:
    """Return the characters and their case variants (XPath Functions 3.1, section 5.6.2, flag i)."""
    variants = _case_variants()
    cased = _cased()
    found = set()
    for first, last in characters:
        for code in cased[bisect_left(cased, first) : bisect_left(cased, last + 1)]:
            found.update(variants[code])
    return union(characters, ((code, code) for code in found))


@lru_cache(maxsize=1)
def _case_variants() -> dict[int, list[int]]:
    """Return the characters with the same upper or lower case, by character."""
    same: dict[tuple[str, str], list[int]] = {}
    keys = {}
    for code in range(_CASED):
        character = chr(code)
        lower, upper = character.lower(), character.upper()
        if lower != character or upper != character:
            keys[code] = ("lower", lower), ("upper", upper)
            for key in keys[code]:
                same.setdefault(key, []).append(code)
    return {code: [*same[lower], *same[upper]] for code, (lower, upper) in keys.items()}


@lru_cache(maxsize=1)
def _cased() -> list[int]:
    return list(_case_variants())


@lru_cache(maxsize=1)
def _categories() -> dict[str, Characters]:
    """Return the characters of each two-letter category."""
    found: dict[str, list[tuple[int, int]]] = {}
    first = 0
    for name, run in groupby(map(unicodedata.category, map(chr, range(_LAST + 1)))):
        end = first + sum(1 for _ in run)
        found.setdefault(name, []).append((first, end - 1))
        first = end
    return {name: tuple(ranges) for name, ranges in found.items()}


@lru_cache(maxsize=128)
def category(name: str) -> Characters | None:
    """Return the characters of a general category, such as ``Lu`` or ``L``, or None for an unknown name."""
    tables = _categories()
    if name in tables:
        return tables[name]
    parts = [characters for part, characters in tables.items() if part[0] == name]
    return union(*parts) if parts else None


@lru_cache(maxsize=1)
def _blocks() -> dict[str, Characters]:
    return dict(_read_blocks())


def _read_blocks() -> Iterator[tuple[str, Characters]]:
    for line in Path(__file__).with_name("unicode_blocks.txt").read_text("ascii").splitlines():
        if not line.startswith("#"):
            first, last, name = line.split()
            yield name, ((int(first, 16), int(last, 16)),)


def block(name: str) -> Characters | None:
    """Return the characters of a block, such as ``BasicLatin``, or None for an unknown name."""
    return _blocks().get(name)
