"""Values of terms for comparison in kernels: by id, a kind, and a key whose order is the order of the values.

Keys are 64-bit labels, not values: exact for integers of any size, decimals, strings and dates. A number that is not too large is
labelled with its multiple of 2 ** -32, as long as these labels are different for different numbers. Any other value gets a label
between those of its neighbours; if none is left in between, all labels of its kind are distributed again.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from kg_reasoner.concurrency.garbage import without_collection
from kg_reasoner.expressions.values import lang_string, value_of
from kg_reasoner.storage.kernels.layout import (
    LANG_STRING,
    MIXED_DURATION,
    MONTHS,
    NAN,
    NO_DURATION,
    OPAQUE,
    OTHERS,
    RESOURCE,
    SECONDS,
    STRUCTURE,
)
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import XSD, Literal, term_from_text

_SPACE = 1 << 32
_LIMIT = 1 << 62
_LARGEST: Final = _LIMIT // _SPACE
_MANY: Final = 1000
"""With more new terms than this, the garbage collector is switched off meanwhile."""
_ENDS: Final = {Decimal("-Infinity"): -_LIMIT, Decimal("Infinity"): _LIMIT}
_CODES: Final = {
    "langString": LANG_STRING,
    "structure": STRUCTURE,
    **{kind: OTHERS + place for place, kind in enumerate(("number", "string", "boolean", "dateTime", "date", "time"))},
}
"""The codes of kinds of values; those of durations depend on the value."""
_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'


class _Numbers:
    """The labels of numbers by their size, see `_label`."""

    def __init__(self) -> None:
        self.terms: dict[Any, list[int]] = {}
        self._value_of: dict[int, Any] = {}

    def add(self, members: list[tuple[Any, int]]) -> list[tuple[int, int]] | None:
        """Add (value, term id) pairs. Return their (term id, label) pairs, or None if a value has no label of its own."""
        found = []
        for value, number in members:
            label = _label(value)
            if label is None or self._value_of.setdefault(label, value) != value:
                return None
            found.append((number, label))
        for value, number in members:
            self.terms.setdefault(value, []).append(number)
        return found


def _label(value: Any) -> int | None:
    """Return the label of a number, or None if the number is too large."""
    if not -_LARGEST < value < _LARGEST:
        return _ENDS.get(value)
    return value * _SPACE if isinstance(value, int) else (Fraction(value) * _SPACE).__floor__()


class _Order:
    """The labels of the values of one kind, distributed by their order."""

    def __init__(self, terms: dict[Any, list[int]] | None = None) -> None:
        self.values: list[Any] = []
        self.labels: list[int] = []
        self.terms: dict[Any, list[int]] = {} if terms is None else terms

    def add(self, members: list[tuple[Any, int]]) -> list[tuple[int, int]]:
        """Add (value, term id) pairs. Return the (term id, label) pairs that are new or have changed."""
        new = {value for value, _ in members if value not in self.terms}
        for value, number in members:
            self.terms.setdefault(value, []).append(number)
        if len(new) > 16 or len(self.values) + len(new) < len(self.terms) or not all(map(self._insert, sorted(new))):
            self.values = sorted(self.terms)
            self.labels = [(place + 1) * _SPACE for place in range(len(self.values))]
            changed = dict(zip(self.values, self.labels, strict=True))
            return [(number, changed[value]) for value, numbers in self.terms.items() for number in numbers]
        return [(number, self.labels[bisect_left(self.values, value)]) for value, number in members]

    def _insert(self, value: Any) -> bool:
        """Assign a label between its neighbours' to a new value. Return false if none is left."""
        place = bisect_left(self.values, value)
        low = self.labels[place - 1] if place else 0
        high = self.labels[place] if place < len(self.labels) else min(low + 2 * _SPACE, _LIMIT)
        label = (low + high) // 2
        if label in (low, high):
            return False
        self.values.insert(place, value)
        self.labels.insert(place, label)
        return True


class ValueTable:
    """Keeps `value_kinds` and `value_keys` of a context consistent with a dictionary."""

    def __init__(self, dictionary: Dictionary, context: Record) -> None:
        self.dictionary = dictionary
        self._context = context
        self._count = 0
        self._orders: dict[str, _Order | _Numbers] = {}
        self._kinds = allocate(64, np.uint8)
        self._keys = allocate(64, np.int64)

    def expire(self) -> None:
        """Make kernels request an update before they compare terms, if the dictionary has grown."""
        if self._count and self._count != len(self.dictionary):
            self._context.valued = 0

    def update(self) -> None:
        """Add the terms that are new in the dictionary since the last call."""
        first, count = self._count, len(self.dictionary)
        with without_collection() if count - first > _MANY else nullcontext():  # all values are kept
            self._extend(first, count)
        self._count = self._context.value_count = count
        self._context.valued = 1

    def _extend(self, first: int, count: int) -> None:
        """Add the terms from one id to another."""
        if count > len(self._kinds) or first == 0:
            kinds, keys = allocate(2 * count, np.uint8), allocate(2 * count, np.int64)
            kinds[:first], keys[:first] = self._kinds[:first], self._keys[:first]
            self._kinds, self._keys = kinds, keys
            self._context.value_kinds, self._context.value_keys = kinds, keys
        is_literal = self.dictionary.first_bytes()[first:count] == ord('"')  # other threads may add terms meanwhile
        self._kinds[first:count] = RESOURCE
        groups: dict[str, list[tuple[Any, int]]] = {}
        literals = (np.flatnonzero(is_literal) + first).tolist()
        for number, text in zip(literals, self.dictionary.texts_of(literals), strict=True):
            value = _value(text)
            if value is None:
                self._kinds[number] = OPAQUE
            elif isinstance(value[1], Decimal) and value[1].is_nan():
                self._kinds[number] = NAN
            else:
                groups.setdefault(value[0], []).append((value[1], number))
        for kind, members in groups.items():
            order = self._orders.get(kind)
            if order is None:
                order = self._orders[kind] = _Numbers() if kind == "number" else _Order()
            labels = order.add(members)
            if labels is None:
                order = self._orders[kind] = _Order(order.terms)
                labels = order.add(members)
                assert labels is not None
            numbers = [number for _, number in members]
            self._kinds[numbers] = _CODES[kind] if kind in _CODES else [_code_of_duration(value) for value, _ in members]
            self._keys[[number for number, _ in labels]] = [label for _, label in labels]


def _code_of_duration(value: tuple[int, Fraction]) -> int:
    months, seconds = value
    if months:
        return MIXED_DURATION if seconds else MONTHS
    return SECONDS if seconds else NO_DURATION


def _value(text: str) -> tuple[str, Any] | None:
    """Return the kind and the value of a literal, given its text; see `kg_reasoner.expressions.values.value_of`."""
    digits = text[1 : -len(_INTEGER_END)]
    if len(digits) < 19 and text.endswith(_INTEGER_END) and digits.isascii() and digits.isdecimal():
        return "number", int(digits)
    if "\\" not in text and text[-1] != ">":
        lexical, _, language = text[1:].rpartition('"')
        return lang_string(lexical, language[1:].lower()) if language else ("string", lexical)
    term = term_from_text(text)
    assert isinstance(term, Literal)
    return value_of(term)
