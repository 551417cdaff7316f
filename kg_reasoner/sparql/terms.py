"""The terms of a query, as ids: those of a dictionary, and those that only the query knows.

A term that a query computes, and the dictionary does not contain, has an id below `UNBOUND`. Equal terms have equal ids, so that
joins, DISTINCT and groups compare ids only; no relation has such ids, so that nothing matches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from kg_reasoner.sparql.table import UNBOUND
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import Term, term_from_text, term_text

__all__ = ["FIRST_LOCAL", "QueryTerms", "TermCache"]

FIRST_LOCAL: Final = UNBOUND - 1

REMEMBERED: Final = 1 << 18
"""The maximal number of terms in a cache."""


class TermCache:
    """The terms of a dictionary that queries have decoded, by id.

    Args:
        dictionary: The dictionary.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._terms: dict[int, Term] = {}

    def terms(self, ids: Sequence[int]) -> list[Term]:
        """Return the terms of ids."""
        known = self._terms
        missing = list(set(ids).difference(known))
        if missing:
            if len(known) + len(missing) > REMEMBERED:
                known = self._terms = {}
                missing = list(set(ids))
            known.update(zip(missing, map(term_from_text, self.dictionary.texts_of(missing)), strict=True))
        return [known[number] for number in ids]


class QueryTerms:
    """The ids of a query's terms.

    Args:
        cache: Decoded terms of the dictionary.
    """

    def __init__(self, cache: TermCache) -> None:
        self.dictionary = cache.dictionary
        self._cache = cache
        self._texts: list[str] = []
        self._local: dict[str, int] = {}

    def find(self, term: Term) -> int:
        """Return the id of a term, which is made up if the dictionary does not contain the term."""
        return int(self.ids_of_texts([term_text(term)])[0])

    def ids_of(self, terms: Iterable[Term | None]) -> Ids:
        """Return the ids of terms; `UNBOUND` for None."""
        given = list(terms)
        texts = list(dict.fromkeys(term_text(term) for term in set(given) if term is not None))
        known = dict(zip(texts, self.ids_of_texts(texts).tolist(), strict=True))
        made: dict[Term | None, int] = {term: known[term_text(term)] for term in set(given) if term is not None}
        made[None] = UNBOUND
        return np.fromiter((made[term] for term in given), np.int32, len(given))

    def ids_of_texts(self, texts: Sequence[str]) -> Ids:
        """Return the ids of terms in the form of `term_text`."""
        found = self.dictionary.find_texts(texts) if texts else np.empty(0, np.int32)
        for place in np.flatnonzero(found < 0).tolist():
            text = texts[place]
            number = self._local.get(text)
            if number is None:
                number = self._local[text] = FIRST_LOCAL - len(self._texts)
                self._texts.append(text)
            found[place] = number
        return found

    def texts(self, ids: Sequence[int] | Ids) -> list[str]:
        """Return the texts of ids, none of which is `UNBOUND`."""
        numbers = np.asarray(ids, np.int64)
        if not len(numbers) or numbers.min() >= 0:
            return self.dictionary.texts_of(numbers)
        stored = numbers >= 0
        texts = iter(self.dictionary.texts_of(numbers[stored]))
        return [next(texts) if number >= 0 else self._texts[FIRST_LOCAL - number] for number in numbers.tolist()]

    def terms(self, ids: Sequence[int]) -> list[Term | None]:
        """Return the terms of ids; None for `UNBOUND`."""
        stored = [number for number in ids if number >= 0]
        if len(stored) == len(ids):
            return list(self._cache.terms(stored))
        found = iter(self._cache.terms(stored))
        return [next(found) if number >= 0 else self._local_term(number) for number in ids]

    def term(self, number: int) -> Term | None:
        """Return the term of an id; None for `UNBOUND`."""
        return self.terms([number])[0]

    def _local_term(self, number: int) -> Term | None:
        return None if number == UNBOUND else term_from_text(self._texts[FIRST_LOCAL - number])

    def first_bytes(self, ids: Ids) -> Ids:
        """Return the first byte of each term's text (``<``, ``_`` or ``"``), or 0 for `UNBOUND`."""
        known = self.dictionary.first_bytes()
        found = np.zeros(len(ids), np.uint8)
        stored = ids >= 0
        found[stored] = known[ids[stored]]
        for place in np.flatnonzero(ids < UNBOUND).tolist():
            found[place] = ord(self._texts[FIRST_LOCAL - int(ids[place])][0])
        return found

    def once_each(self, ids: Ids, decode: Callable[[list[int]], list[object]]) -> tuple[list[object], Numbers]:
        """Return what a function makes of the distinct ids of a column, and for each row its place in that list."""
        distinct, places = np.unique(ids, return_inverse=True)
        return decode(distinct.tolist()), places.reshape(-1)
