"""The terms of a query, as ids: those of a dictionary, and those that only the query knows.

A term that a query computes, and the dictionary does not contain, has an id below `UNBOUND`. Equal terms have equal ids, so that
joins, DISTINCT and groups compare ids only; no relation has such ids, so that nothing matches them. A term keeps its id where it
comes to the dictionary during the query: other threads may add terms, and so may answers on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.concurrency.watching import blocks
from kg_reasoner.expressions.functions.kinds import Kind
from kg_reasoner.sparql.solutions.table import UNBOUND
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.python_values import python_values
from kg_reasoner.terms import IRI, Literal, Term, term_from_text, term_of, term_text

__all__ = ["FIRST_LOCAL", "QueryTerms", "TermCache"]

FIRST_LOCAL: Final = UNBOUND - 1

REMEMBERED: Final = 1 << 18
"""The maximal number of terms in a cache."""

AT_ONCE: Final = 1 << 16
"""The number of terms that are decoded between two checks of the limits."""


class TermCache:
    """The terms of a dictionary that queries have decoded, by id.

    Args:
        dictionary: The dictionary.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.known: dict[Term, int] = {}
        """The ids of constants in queries that the dictionary contains: it only grows."""
        self._terms: dict[int, Term] = {}

    def terms(self, ids: Sequence[int]) -> list[Term]:
        """Return the terms of ids."""
        known = self._terms
        missing = list(set(ids).difference(known))
        if missing:
            if len(known) + len(missing) > REMEMBERED:
                known = self._terms = {}
                missing = list(set(ids))
            known.update(zip(missing, map(_term, self.dictionary.texts_of(missing)), strict=True))
        return [known[number] for number in ids]


def _term(text: str) -> Term:
    """Return the term of a dictionary's text, which is valid."""
    if "\\" not in text:
        if text[0] == "<":
            return IRI(text[1:-1])
        if text[-1] == '"':
            return Literal(text[1:-1])
    return term_from_text(text)


class QueryTerms:
    """The ids of a query's terms.

    Args:
        cache: Decoded terms of the dictionary.
    """

    def __init__(self, cache: TermCache) -> None:
        self.dictionary = cache.dictionary
        self.known = cache.known
        self._cache = cache
        self.values: dict[int, tuple[int, float, int]] = {}
        """The values of numbers that the query has made, see `kg_reasoner.storage.values.value_columns.Value`."""
        self._texts: list[str] = []
        self._local: dict[str, int] = {}
        self._size = len(cache.dictionary)
        self._written = 0

    def find(self, term: Term) -> int:
        """Return the id of a term, which is made up if the dictionary does not contain the term."""
        return int(self.ids_of_texts([term_text(term)])[0])

    def ids_of(self, terms: Iterable[Term | None]) -> Ids:
        """Return the ids of terms; `UNBOUND` for None."""
        return self.ids_of_results([None if term is None else term_text(term) for term in terms])

    def ids_of_results(self, texts: Sequence[str | None]) -> Ids:
        """Return the ids of terms in the form of `term_text`, of which many may be equal; `UNBOUND` for None."""
        different = [text for text in dict.fromkeys(texts) if text is not None]
        known: dict[str | None, int] = dict(zip(different, self.ids_of_texts(different).tolist(), strict=True))
        known[None] = UNBOUND
        return np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))

    def ids_of_texts(self, texts: Sequence[str]) -> Ids:
        """Return the ids of terms in the form of `term_text`."""
        found = self.kept(self.dictionary.find_texts(texts)) if texts else np.empty(0, np.int32)
        missing = np.flatnonzero(found < 0).tolist()
        if missing:
            known, made = self._local, self._texts
            wanted = [texts[place] for place in missing] if len(missing) < len(texts) else texts
            start = FIRST_LOCAL - len(made)
            for part in blocks(len(wanted), AT_ONCE):
                new = (
                    [text for text in dict.fromkeys(wanted[part]) if text not in known] if known else [*dict.fromkeys(wanted[part])]
                )
                first = FIRST_LOCAL - len(made)
                known.update(zip(new, range(first, first - len(new), -1), strict=True))
                made += new
                self._written += sum(map(len, new))
            if start - len(wanted) == FIRST_LOCAL - len(made):  # all are new, and different
                found[missing] = np.arange(start, start - len(wanted), -1)
            else:
                found[missing] = [*map(known.__getitem__, wanted)]
            current_watch().check(0, self._written)
        return found

    def ids_of_numbers(self, texts: Sequence[str], values: Sequence[tuple[int, float, int]]) -> Ids:
        """Return the ids of numbers in the form of `term_text`. Values of terms that only the query knows are remembered."""
        found = self.ids_of_texts(texts)
        is_local = found < UNBOUND
        self.values.update(zip(found[is_local].tolist(), compress(values, is_local.tolist()), strict=True))
        return found

    def kept(self, ids: Ids) -> Ids:
        """Return ids of the dictionary as ids of the query: some may stand for terms to which the query has given ids before."""
        if not self._local or not len(ids) or ids.max() < self._size:
            return ids
        late = np.unique(ids[ids >= self._size])
        for number, text in zip(late.tolist(), self.dictionary.texts_of(late), strict=True):
            if text in self._local:
                ids = np.where(ids == number, np.int32(self._local[text]), ids)
        return ids

    def texts(self, ids: Sequence[int] | Ids) -> list[str]:
        """Return the texts of ids, none of which is `UNBOUND`."""
        numbers = np.asarray(ids, np.int32)
        if not len(numbers) or numbers.min() >= 0:
            return self.dictionary.texts_of(numbers)
        stored = numbers >= 0
        texts = iter(self.dictionary.texts_of(numbers[stored]))
        return [next(texts) if number >= 0 else self._texts[FIRST_LOCAL - number] for number in numbers.tolist()]

    def terms(self, ids: Sequence[int]) -> list[Term | None]:
        """Return the terms of ids; None for `UNBOUND`."""
        if len(ids) > AT_ONCE:
            return [term for part in blocks(len(ids), AT_ONCE) for term in self.terms(ids[part])]
        stored = [number for number in ids if number >= 0]
        if len(stored) == len(ids):
            return list(self._cache.terms(stored))
        found = iter(self._cache.terms(stored))
        return [next(found) if number >= 0 else self._local_term(number) for number in ids]

    def python_values(self, kind: Kind, ids: Ids) -> list[Any]:
        """Return the values that terms have as a kind; None for a term of another kind, and for `UNBOUND`."""
        if not len(ids) or ids.min() >= 0:
            return python_values(kind, ids, self.dictionary)
        stored = iter(python_values(kind, ids[ids >= 0], self.dictionary))
        numbers, texts, read = ids.tolist(), self._texts, kind.read
        others = {number: read(term_of(texts[FIRST_LOCAL - number])) for number in set(numbers) if number < UNBOUND}
        return [next(stored) if number >= 0 else others.get(number) for number in numbers]

    def term(self, number: int) -> Term | None:
        """Return the term of an id; None for `UNBOUND`."""
        return self.terms([number])[0]

    def _local_term(self, number: int) -> Term | None:
        return None if number == UNBOUND else term_from_text(self._texts[FIRST_LOCAL - number])

    def first_bytes(self, ids: Ids) -> npt.NDArray[np.uint8]:
        """Return the first byte of each term's text (``<``, ``_`` or ``"``), or 0 for `UNBOUND`."""
        known = self.dictionary.first_bytes()
        if len(ids) and ids.min() >= 0:
            return known[ids]
        found = np.zeros(len(ids), np.uint8)
        stored = ids >= 0
        found[stored] = known[ids[stored]]
        local = ids < UNBOUND
        if local.any():
            first = np.frombuffer("".join([text[0] for text in self._texts]).encode(), np.uint8)
            found[local] = first[FIRST_LOCAL - ids[local]]
        return found

    def interned(self, ids: Ids) -> Ids:
        """Return the ids that terms have in the dictionary, which are added to it, in one batch, where it does not contain them."""
        local = ids < UNBOUND
        if not local.any():
            return ids
        numbers, places = distinct_ids(ids[local])
        found = ids.copy()
        found[local] = self.dictionary.encode_texts(self.texts(numbers))[places.reshape(-1)]
        return found
