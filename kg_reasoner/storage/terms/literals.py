"""Axiomatic facts about literals and datatypes, for the rules on datatypes.

See table 8 of OWL 2 Profiles, and sections 7 to 9 of RDF 1.1 Semantics.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Hashable, Sequence
from itertools import compress
from typing import Final

import numpy as np

from kg_reasoner.expressions.datatypes import (
    DATATYPES,
    described,
    described_tagged,
    disjoint_datatypes,
    is_ill_typed,
    types_of_string,
)
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES, LITERAL_TYPE, AskedOfLiterals
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import VALUE_STRING, Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, Literal, term_of

VALUES: Final = "tag:kg-reasoner:value/"
"""The prefix of the IRIs that represent values."""

_STRING: Final = XSD.string.value
_EVERY: Final = RDFS.Literal.value
"""The class of all literals, which is the value space of no datatype."""

_MEMBERSHIP: Final = regular_expression(re.escape(f"<{RDF}_") + "[1-9][0-9]*>")

_SHAPE: Final = re.sub(rb"[A-Za-z]", b"a", re.sub(rb"[0-9]", b"0", bytes(range(256))))
"""A translation table that maps all ASCII letters to one letter, and all digits to one digit."""

_OF_LITERALS: Final = {LITERAL_TYPE, "literal_value", "ill_typed"}
_ALL: Final[tuple[AskedOfLiterals, ...]] = tuple((name, None) for name in LITERAL_PREDICATES)
_Facts = dict[str, Ids]
_Tables = dict[str, list[Ids]]
"""The tables of facts of each predicate that is asked for."""
_Types = Container[str | None]
"""The datatypes that are asked for."""


class LiteralFacts:
    """The facts of `LITERAL_PREDICATES` about the terms of a dictionary, produced as terms are added to it.

    >>> from kg_reasoner.terms import XSD, literal
    >>> dictionary = Dictionary()
    >>> one, same = dictionary.encode(literal(1)), dictionary.encode(Literal("01", XSD.byte.value))
    >>> facts = LiteralFacts(dictionary)
    >>> dict(facts.new()["literal_value"].tolist())[one] == dictionary.find(IRI(VALUES + "0"))
    True
    >>> len(facts.new()["literal_value"])
    0
    """

    def __init__(self, dictionary: Dictionary, recognised: Collection[str] = DATATYPES) -> None:
        self._dictionary = dictionary
        self._recognised = recognised
        self._done: dict[AskedOfLiterals, int] = {}
        """The number of terms about which what was asked for has been returned."""
        self._values: dict[Hashable, int] = {}
        """The ids of values: of strings, and of pairs of a value space and a key for all others."""
        self._datatypes: dict[str, int] = {}

    def new(self, asked: Collection[AskedOfLiterals] = _ALL) -> _Facts:
        """Return the facts of some predicates, as ids, about the terms that have been added since each was asked for last; nothing
        for a predicate if there are no such terms. Types may be among those that were asked for one by one before.
        """
        if not self._datatypes:
            self._begin()
        end, behind = len(self._dictionary), defaultdict[int, list[AskedOfLiterals]](list)
        for name, datatype in asked:
            first = max(self._done.get((name, each), 0) for each in (datatype, None))
            if first < end:
                behind[first].append((name, datatype))
        tables = defaultdict[str, list[Ids]](list)
        for first, wanted in behind.items():
            found: _Tables = {name: [_table([], LITERAL_PREDICATES[name])] for name, _ in wanted}
            types = {datatype for name, datatype in wanted if name == LITERAL_TYPE}
            self._add(first, end, found, self._datatypes if None in types else types)
            for name, parts in found.items():
                tables[name] += parts
        self._done.update(dict.fromkeys(asked, end))
        return {name: np.concatenate(parts) for name, parts in tables.items()}

    def _begin(self) -> None:
        """Intern the datatypes."""
        ids = {name: self._dictionary.encode(IRI(name)) for name in sorted({*self._recognised, _EVERY})}
        self._dictionary.encode(OWL.differentFrom)  # holds between literals, so that queries may ask for it
        self._datatypes = ids

    def _add_datatypes(self, found: _Tables) -> None:
        """Add the facts about datatypes."""
        ids = self._datatypes
        if "recognised_datatype" in found:
            recognised = [number for name, number in ids.items() if name != _EVERY]
            found["recognised_datatype"].append(_table(recognised, 1))
        if "disjoint_datatypes" in found:
            pairs = sorted((ids[one], ids[other]) for one, other in disjoint_datatypes() if one in ids and other in ids)
            found["disjoint_datatypes"].append(_table(pairs, 2))

    def _add(self, first: int, end: int, found: _Tables, types: _Types) -> None:
        """Add the facts about terms, and with the first ones those about datatypes."""
        if first == 0:
            self._add_datatypes(found)
        if not _OF_LITERALS.isdisjoint(found):
            literals = first + np.flatnonzero(self._dictionary.first_bytes()[first:end] == ord('"'))
            if len(literals):
                self._describe(literals.astype(np.int32), found, types)
        if "container_membership_property" in found:
            members = self._dictionary.with_prefix(f"<{RDF}_", np.arange(first, end, dtype=np.int32)).tolist()
            members = [number for number in members if _MEMBERSHIP.fullmatch(self._dictionary.text(number))]
            found["container_membership_property"].append(_table(members, 1))

    def _describe(self, literals: Ids, found: _Tables, types: _Types) -> None:
        """Add the facts about literals. Most are strings without escapes and language, which are described together."""
        valued: list[int] = []
        values: list[Hashable] = []
        ill_typed: list[int] = []
        members: dict[tuple[str, ...], list[int]] = {}
        inside = self._dictionary.values_of(literals)
        is_string = inside.kinds == VALUE_STRING
        contents = bytes(inside.data).decode().split("\n")[:-1]  # a text has no line break but an escaped one
        self._describe_strings(literals[is_string], list(compress(contents, is_string.tolist())), found, types)
        others = literals[~is_string]
        for number, text in zip(others.tolist(), self._dictionary.texts_of(others), strict=True):
            literal: Literal | None = None
            if "\\" in text or text[-1] == ">":
                term = term_of(text)
                assert isinstance(term, Literal)
                literal = term
                known = described(literal, self._recognised)
            else:
                lexical, _, language = text[1:].rpartition('"@')
                known = described_tagged(lexical, language, self._recognised)
            if known is not None:
                valued.append(number)
                values.append(known[0])
                members.setdefault(known[1], []).append(number)
            elif literal is None or is_ill_typed(literal, self._recognised):
                ill_typed.append(number)
        if "literal_value" in found:
            keys = [(value[1] if value[0] == _STRING else value) for value in values]  # type: ignore[index]  # pairs
            found["literal_value"].append(self._table_of_values(valued, keys, list(dict.fromkeys(keys))))
        if "ill_typed" in found:
            found["ill_typed"].append(_table(ill_typed, 1))
        if LITERAL_TYPE in found:
            found[LITERAL_TYPE] += [
                self._table_of_types(numbers, [name for name in names if name in types]) for names, numbers in members.items()
            ]

    def _describe_strings(self, ids: Ids, contents: list[str], found: _Tables, types: _Types) -> None:
        """Add the facts about strings, given with their ids."""
        kinds, kind_of = _kinds_of_strings(contents)
        for number, kind in enumerate(kinds):
            of_kind = ids[kind_of == number]
            if kind is None and "ill_typed" in found:
                found["ill_typed"].append(of_kind[:, np.newaxis])
            if kind is not None and LITERAL_TYPE in found:
                wanted = [name for name in kind if name in self._datatypes and name in types]
                found[LITERAL_TYPE].append(self._table_of_types(of_kind, wanted))
        if "literal_value" not in found:
            return
        if None in kinds:
            is_valid = kind_of != kinds.index(None)
            ids, contents = ids[is_valid], list(compress(contents, is_valid.tolist()))
        found["literal_value"].append(self._table_of_values(ids, contents, contents))

    def _table_of_values(self, literals: Sequence[int] | Ids, values: Sequence[Hashable], each: Sequence[Hashable]) -> Ids:
        """Return the facts ``literal_value(?literal, ?value)``.

        Args:
            literals: The literals.
            values: Their values; for strings, the strings.
            each: The same values, each once.
        """
        known = self._values
        new = [value for value in each if value not in known]
        texts = [f"<{VALUES}{number}>" for number in range(len(known), len(known) + len(new))]
        known.update(zip(new, self._dictionary.encode_texts(texts).tolist(), strict=True))
        table = np.empty((len(literals), 2), np.int32)
        table[:, 0], table[:, 1] = literals, [known[value] for value in values]
        return table

    def _table_of_types(self, literals: Sequence[int] | Ids, types: Sequence[str]) -> Ids:
        """Return the facts ``literal_type(?literal, ?datatype)`` of literals that have the same types."""
        each = np.array([self._datatypes[name] for name in types], np.int32)
        return np.stack([np.repeat(np.array(literals, np.int32), len(each)), np.tile(each, len(literals))], axis=1)


def _kinds_of_strings(strings: Sequence[str]) -> tuple[list[tuple[str, ...] | None], Ids]:
    """Return the different results of `types_of_string` for some strings, and the number of each string's result.

    Which ASCII letters and digits a string has makes no difference.
    """
    shapes: Sequence[str] = "\n".join(strings).encode().translate(_SHAPE).decode().split("\n")
    if len(shapes) != len(strings):  # there is no string, or one with a line break
        shapes = strings
    types = {shape: types_of_string(shape) for shape in dict.fromkeys(shapes)}
    kinds = list(dict.fromkeys(types.values()))
    numbers = {kind: number for number, kind in enumerate(kinds)}
    number_of = {shape: numbers[kind] for shape, kind in types.items()}
    return kinds, np.fromiter(map(number_of.__getitem__, shapes), np.int32, len(shapes))


def _table(rows: Sequence[int] | Sequence[tuple[int, int]], arity: int) -> Ids:
    return np.array(rows, np.int32).reshape(-1, arity)
