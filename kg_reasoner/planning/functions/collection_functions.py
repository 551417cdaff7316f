"""Functions on many collections at once: ``SPLIT``, ``SIZE`` and ``ELEMENT``, which the members of collections need.

The kernels for collections read the texts of the terms. What is not in the common forms (escapes, nested structures, records, other
datatypes) is `UNDECIDED`, and the caller evaluates the expression for this row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from kg_reasoner.expressions.structures import decode, encode
from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels.layout import FAILED
from kg_reasoner.storage.kernels.list_texts import UNDECIDED
from kg_reasoner.storage.terms.collections import Collections
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import XSD, Literal, Term, literal, term_text

__all__ = ["CollectionFunction", "collection_function", "members_of"]

CollectionFunction: TypeAlias = Callable[[Dictionary, Collections, Ids], Ids]
"""A function of the ids of its only argument, with the dictionary and its collections."""

_STRING: Final = XSD.string.value
_PLACE_DIGITS: Final = 10
"""The minimal number of digits that no place in a collection has."""


def collection_function(expression: Expression) -> CollectionFunction | None:
    """Return the function that an expression of one variable is, or None."""
    if not isinstance(expression, Call) or not expression.arguments or not isinstance(expression.arguments[0], Variable):
        return None
    if expression.name == "SIZE":
        return _sizes
    others = expression.arguments[1:]
    if len(others) != 1 or not isinstance(others[0], Literal):
        return None
    lexical = others[0].lexical
    if expression.name == "SPLIT" and others[0].datatype == _STRING and not set(lexical) & set('"\\\n\r'):
        return lambda dictionary, collections, ids: collections.split(ids, lexical)
    is_place = lexical.isdecimal() and len(lexical) < _PLACE_DIGITS
    if expression.name == "ELEMENT" and is_place and others[0] == literal(int(lexical)):
        return lambda dictionary, collections, ids: _at(collections, ids, int(lexical))
    return None


def members_of(dictionary: Dictionary, collections: Collections, ids: Ids) -> tuple[Numbers, Ids]:
    """Return the number of members of each term, and the members of all of them, one after the other. What is not a structure has
    none; members of a map are tuples of keys and values.
    """
    sizes, members = collections.members(ids)
    if (sizes == UNDECIDED).any():
        sizes, members = _completed(ids, sizes, members, collections.entries)
    if (sizes == UNDECIDED).any():
        sizes, members = _completed(ids, sizes, members, lambda others: _members_of_each(dictionary, others))
    return sizes, members


def _completed(ids: Ids, sizes: Numbers, members: Ids, find: Callable[[Ids], tuple[Numbers, Ids]]) -> tuple[Numbers, Ids]:
    """Return the sizes and members of terms after others have been found for those that are undecided."""
    others = np.flatnonzero(sizes == UNDECIDED)
    found, rest = find(ids[others])
    sizes = sizes.copy()
    sizes[others] = found
    counts, is_other = np.maximum(sizes, 0), np.zeros(len(ids), np.bool_)
    is_other[others] = True
    table: Ids = np.empty(int(counts.sum()), np.int32)
    table[np.repeat(~is_other, counts)] = members
    table[np.repeat(is_other, counts)] = rest
    return sizes, table


def _members_of_each(dictionary: Dictionary, ids: Ids) -> tuple[Numbers, Ids]:
    found = [_members(dictionary.decode(number)) for number in ids.tolist()]
    sizes = np.array(list(map(len, found)), np.int64)
    return sizes, dictionary.encode_texts([term_text(member) for part in found for member in part])


def _members(term: Term) -> tuple[Term, ...]:
    structure = decode(term)
    if structure is None:
        return ()
    if structure.kind != "map":
        return structure.members
    pairs = zip(structure.members[::2], structure.members[1::2], strict=True)
    return tuple(encode("tuple", pair) for pair in pairs)


def _sizes(dictionary: Dictionary, collections: Collections, ids: Ids) -> Ids:
    sizes = collections.sizes(ids)
    if (sizes == UNDECIDED).any():
        sizes = np.where(sizes == UNDECIDED, collections.numbers_of_entries(ids), sizes)
    different, places = np.unique(sizes, return_inverse=True)
    texts = [term_text(literal(size)) for size in different.tolist()]
    found = dictionary.encode_texts(texts)
    found[different == UNDECIDED] = UNDECIDED
    return found[places.reshape(-1)]


def _at(collections: Collections, ids: Ids, place: int) -> Ids:
    sizes, members = collections.members(ids, place)
    found: Ids = np.full(len(ids), FAILED, np.int32)
    found[sizes == UNDECIDED] = UNDECIDED
    found[sizes > place] = members
    return found
