"""Lists, sets and texts of the values of many groups, made from the texts of the terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from kg_reasoner.expressions.structures import NAMESPACE, member_text
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.terms.collections import UNDECIDED, Collections
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import XSD, Literal, term_from_text, term_text

__all__ = ["lists", "map_of", "sets", "texts_in_order"]

_LETTERS: Final = {"<": "i", "_": "b"}
_STRING_END: Final = '"'
_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'
_SPECIAL: Final = '"\\\n\r'


def lists(dictionary: Dictionary, column: Ids, starts: Numbers) -> Ids:
    """Return the lists of the values of groups, which are in order.

    Args:
        dictionary: The terms.
        column: The values, one group after the other.
        starts: Where each group begins.
    """
    found = Collections(dictionary).lists(column, starts)
    others = np.flatnonzero(found == UNDECIDED)
    if len(others):
        ends = np.append(starts, len(column))
        parts = [column[ends[group] : ends[group + 1]] for group in others.tolist()]
        distinct, places = distinct_ids(np.concatenate(parts))
        sizes = np.array(list(map(len, parts)), np.int64)
        members = _members(dictionary.texts_of(distinct))
        found[others] = _structures(dictionary, "list", members, places, np.cumsum(sizes) - sizes)
    return found


def sets(dictionary: Dictionary, column: Ids, labels: Numbers, starts: Numbers) -> Ids:
    """Return the sets of the values of groups, none of which has a value twice.

    Args:
        dictionary: The terms.
        column: The values, one group after the other.
        labels: The number of the group of each value.
        starts: Where each group begins.
    """
    distinct, places = distinct_ids(column)
    members = sorted(zip(_members(dictionary.texts_of(distinct)), range(len(distinct)), strict=True))
    ranks = np.empty(len(distinct), np.int64)
    ranks[[place for _, place in members]] = np.arange(len(distinct))
    ordered = np.lexsort((ranks[places], labels))
    return _structures(dictionary, "set", [member for member, _ in members], ranks[places][ordered], starts)


def map_of(dictionary: Dictionary, keys: Ids, values: Ids) -> int:
    """Return the map of different keys to values."""
    distinct, places = distinct_ids(np.concatenate([keys, values]))
    members = _members(dictionary.texts_of(distinct))
    pairs = sorted((members[key], members[value]) for key, value in places.reshape(2, -1).T.tolist())
    texts = [member for pair in pairs for member in pair]
    found = _structures(dictionary, "map", texts, np.arange(len(texts)), np.zeros(1, np.int64))
    return int(found[0])


def texts_in_order(dictionary: Dictionary, column: Ids, starts: Numbers, separator: str) -> Ids | None:
    """Return the texts of the values of groups, one after the other with a separator; None if a value has none.

    Args:
        dictionary: The terms.
        column: The values, one group after the other, in order.
        starts: Where each group begins.
        separator: The text of the separator's term.
    """
    distinct, places = distinct_ids(column)
    terms = [term_from_text(text) for text in (separator, *dictionary.texts_of(distinct))]
    texts = [term.lexical for term in terms if isinstance(term, Literal)]
    if len(texts) < len(terms):
        return None
    between = texts.pop(0)
    return dictionary.encode_texts([term_text(Literal(between.join(group))) for group in _groups(texts, places, starts)])


def _structures(dictionary: Dictionary, kind: str, members: Sequence[str], places: Numbers, starts: Numbers) -> Ids:
    pieces = [f"{len(member)}:{member}" for member in members]
    datatype = f"{NAMESPACE}{kind}"
    joined = ("".join(group) for group in _groups(pieces, places, starts))
    if any(letter in "".join(pieces) for letter in _SPECIAL):
        return dictionary.encode_texts([term_text(Literal(text, datatype)) for text in joined])
    return dictionary.encode_texts([f'"{text}"^^<{datatype}>' for text in joined])


def _groups(items: Sequence[str], places: Numbers, starts: Numbers) -> Iterator[list[str]]:
    """Yield the items of each group."""
    found = [items[place] for place in places.tolist()]
    bounds = [*starts.tolist(), len(found)]
    for start, end in pairwise(bounds):
        yield found[start:end]


def _members(texts: list[str]) -> list[str]:
    """Return the texts of terms as members of structures; those of integers without a step for each."""
    joined = "".join(texts)
    parts = joined.split(_INTEGER_END)
    if len(parts) != len(texts) + 1 or parts[-1] or "\\" in joined:
        return list(map(_member, texts))
    return [f"n{part[1:]}" for part in parts[:-1]]


def _member(text: str) -> str:
    """Return the text of a term as a member of a structure, see `kg_reasoner.expressions.structures`."""
    if "\\" not in text:
        if text[0] != '"':
            return _LETTERS[text[0]] + (text[1:-1] if text[0] == "<" else text[2:])
        if text[-1] == _STRING_END:
            return f"s{text[1:-1]}"
        if text.endswith(_INTEGER_END):
            return f"n{text[1 : -len(_INTEGER_END)]}"
    return member_text(term_from_text(text))
