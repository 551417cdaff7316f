"""Broken documents for the fuzzing of readers: small ones that we wrote, in `fuzz/`, changed at random, always in the same way."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).with_name("fuzz")

KINDS: Final = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))

_BRACKETS: Final = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"<<( ", b" )>>"), (b"<a>", b"</a>"), (b'{"a":', b"}"), (b"- ", b""))
_PIECES: Final = (
    *(
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b"\\",
        b"\\u0000",
        b"\\uD800",
        b"%",
        b"%zz",
    ),
    *(
        b'"',
        b"'",
        b'"""',
        b"<",
        b">",
        b"<<",
        b"{|",
        b"~",
        b"&lt;",
        b"&x;",
        b"&#0;",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?x ?>",
    ),
    *(
        b"@",
        b"^^",
        b"_:",
        b"_:a.",
        b"?x",
        b"[]",
        b"()",
        b"{}",
        b"#",
        b".",
        b";",
        b",",
        b":",
        b"@prefix",
        b"@base <x> .",
        b"=>",
        b"!",
        b"^",
    ),
    *(b"-1", b"1e999", b"99999999999999999999", b"null", b"@id", b"@context", b"xmlns", b"NOT ", b"FILTER(", b"SELECT ", b"a b c"),
)
_REPEATED: Final = tuple(character.encode() for character in "a1 \n\"'<&@é-.\\")


@cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """The documents of a kind."""
    return tuple(part.strip(b"\n") + b"\n" for part in (FOLDER / f"{kind}.txt").read_bytes().split(b"=====\n"))


def broken(kind: str, number: int) -> bytes:
    """The document of this number: the first are as they were written, all others have one change or a few."""
    known = seeds(kind)
    if number < len(known):
        return known[number]
    chance = random.Random(f"{kind} {number}")
    data = chance.choice(known)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        data = chance.choice(_CHANGES)(chance, data, kind)
    return data


def _cut(chance: random.Random, data: bytes) -> tuple[int, int]:
    """A piece of the data, often a short one."""
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice((1, 2, 5, 20, 100, 1000)))


def _flip(chance: random.Random, data: bytes, kind: str) -> bytes:
    place = chance.randrange(max(1, len(data)))
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _insert(chance: random.Random, data: bytes, kind: str) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(_PIECES) + data[place:]


def _delete(chance: random.Random, data: bytes, kind: str) -> bytes:
    start, end = _cut(chance, data)
    return data[:start] + data[end:]


def _duplicate(chance: random.Random, data: bytes, kind: str) -> bytes:
    start, end = _cut(chance, data)
    return data[:start] + data[start:end] * chance.choice((2, 2, 3, 50)) + data[end:]


def _splice(chance: random.Random, data: bytes, kind: str) -> bytes:
    other = chance.choice(seeds(kind if chance.random() < 0.8 else chance.choice(KINDS)))
    start, end = _cut(chance, other)
    place = chance.randrange(len(data) + 1)
    return data[:place] + other[start:end] + data[place:]


def _truncate(chance: random.Random, data: bytes, kind: str) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _nest(chance: random.Random, data: bytes, kind: str) -> bytes:
    opening, closing = chance.choice(_BRACKETS)
    depth = chance.choice((3, 40, 400, 4_000, 40_000))
    start, end = _cut(chance, data)
    return data[:start] + opening * depth + data[start:end] + closing * chance.choice((depth, depth, 0)) + data[end:]


def _lengthen(chance: random.Random, data: bytes, kind: str) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(_REPEATED) * chance.choice((300, 9_000, 70_000)) + data[place:]


_CHANGES: Final[tuple[Callable[[random.Random, bytes, str], bytes], ...]] = (
    *(_flip, _insert, _insert, _delete, _duplicate, _splice, _truncate),
    *(_nest, _lengthen),
)
