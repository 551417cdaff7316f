"""Values with structure as literals: lists, sets, maps, tuples and records.

A structure is a literal of a datatype of its own (``urn:kg-reasoner:list`` ...), so that it is interned like every other term. Its
lexical form is canonical: two structures are the same term if they have the same members. Each member is its length, a colon and
its text, in which nothing is escaped, so that nested structures grow by their size only. A record begins with its constructor.

>>> from kg_reasoner.terms import literal
>>> print(encode("list", [literal(5), literal("a")]).lexical, encode("record", [literal("x")], "Ok").lexical)
2:n52:sa Ok 2:sx
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term

__all__ = ["KINDS", "NAMESPACE", "Structure", "decode", "encode", "is_structure", "member_text"]

NAMESPACE: Final = "urn:kg-reasoner:"
KINDS: Final = ("list", "set", "map", "tuple", "record")
"""The kinds of structures. A map has its keys and values as members in turn."""

_STRING: Final = XSD.string.value
_INTEGER: Final = XSD.integer.value
_LANGUAGE: Final = RDF.langString.value
_LETTERS: Final = {f"{NAMESPACE}{kind}": letter for kind, letter in zip(KINDS, "LSMTR", strict=True)}
_DATATYPES: Final = {letter: datatype for datatype, letter in _LETTERS.items()} | {"s": _STRING, "n": _INTEGER}


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure: its kind, its members, and the constructor of a record."""

    kind: str
    members: tuple[Term, ...]
    constructor: str = ""

    @property
    def size(self) -> int:
        """The number of members; of a map, of its keys."""
        return len(self.members) // 2 if self.kind == "map" else len(self.members)


def is_structure(term: Term) -> bool:
    """Return whether a term is a structure, by its datatype."""
    return isinstance(term, Literal) and term.datatype in _LETTERS


def encode(kind: str, members: Iterable[Term], constructor: str = "") -> Literal:
    """Return the literal of a structure. A set is sorted, and a map by its keys, of which the last one counts.

    Args:
        kind: One of `KINDS`.
        members: The members; of a map, its keys and values in turn.
        constructor: The constructor of a record.
    """
    texts = [member_text(member) for member in members]
    if kind == "set":
        texts = sorted(dict.fromkeys(texts))
    elif kind == "map":
        texts = [text for pair in sorted(dict(zip(texts[::2], texts[1::2], strict=True)).items()) for text in pair]
    joined = "".join(f"{len(text)}:{text}" for text in texts)
    return Literal(f"{constructor} {joined}" if kind == "record" else joined, NAMESPACE + kind)


def decode(term: Term) -> Structure | None:
    """Return the structure that a term denotes; None if it denotes none, or if its lexical form is not canonical."""
    return _decoded(term.datatype, term.lexical) if isinstance(term, Literal) and term.datatype in _LETTERS else None


@lru_cache(maxsize=4096)
def _decoded(datatype: str, lexical: str) -> Structure | None:
    kind = datatype.removeprefix(NAMESPACE)
    constructor, _, rest = lexical.partition(" ") if kind == "record" else ("", "", lexical)
    members: list[Term] = []
    place = 0
    while place < len(rest):
        end = rest.find(":", place)
        digits = rest[place:end] if end >= 0 else ""
        if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9 or end + 1 + int(digits) > len(rest):
            return None
        place = end + 1 + int(digits)
        member = _term(rest[end + 1 : place])
        if member is None:
            return None
        members.append(member)
    if kind == "map" and len(members) % 2:
        return None
    return Structure(kind, tuple(members), constructor) if encode(kind, members, constructor).lexical == lexical else None


def member_text(term: Term) -> str:
    """Return the text of a term as a member of a structure, without its length."""
    if isinstance(term, IRI):
        return f"i{term.value}"
    if isinstance(term, BlankNode):
        return f"b{term.label}"
    if term.language is not None:
        return f"@{term.language} {term.lexical}"
    if term.datatype == _STRING:
        return f"s{term.lexical}"
    if term.datatype == _INTEGER:
        return f"n{term.lexical}"
    letter = _LETTERS.get(term.datatype)
    return f"d{term.datatype} {term.lexical}" if letter is None else letter + term.lexical


def _term(text: str) -> Term | None:
    letter, rest = text[:1], text[1:]
    if letter == "i":
        return IRI(rest)
    if letter == "b":
        return BlankNode(rest)
    if letter == "@":
        language, _, lexical = rest.partition(" ")
        return Literal(lexical, _LANGUAGE, language)
    if letter == "d":
        datatype, _, lexical = rest.partition(" ")
        return Literal(lexical, datatype)
    return Literal(rest, _DATATYPES[letter]) if letter in _DATATYPES else None
