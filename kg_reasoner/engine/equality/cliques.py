"""Disjoint cliques of equal terms, each with a representative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.graphs import connected_components
from kg_reasoner.storage.arrays import Flags, Ids, unique_rows
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, RDF, RDFS, XSD, term_text

_FIRST = (term_text(RDF.type), term_text(OWL.sameAs))
_VOCABULARY = tuple(f"<{namespace}" for namespace in map(str, (RDF, RDFS, OWL, XSD)))
MANY_PAIRS = 1 << 12
"""More pairs of equal terms are thinned out before they are followed one by one."""

_KINDS = {'"': 3, "<": 4, "_": 5}


class _Listed(NamedTuple):
    """The terms of all cliques, one clique after the other, and the start and size of the clique of each representative."""

    sizes: Ids
    starts: npt.NDArray[np.int64]
    terms: Ids


class Cliques:
    """A partition of terms into cliques, most of which have one term.

    >>> from kg_reasoner.terms import IRI
    >>> dictionary = Dictionary()
    >>> a, b, c = (dictionary.encode(IRI(f"http://example.org/{name}")) for name in "abc")
    >>> cliques = Cliques(dictionary)
    >>> moved, _ = cliques.merge(np.array([[a, b]]))
    >>> moved.tolist()
    [1]
    >>> sorted(cliques.expand(np.array([[a, c]], np.int32)).tolist())
    [[0, 2], [1, 2]]
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._members: dict[int, list[int]] = {}
        self._representatives: Ids = np.empty(0, np.int32)
        self._listed: _Listed | None = None
        self._mutex = new_mutex()

    def __bool__(self) -> bool:
        """Return whether any two terms are equal."""
        return bool(self._members)

    def __len__(self) -> int:
        """Return the number of cliques of several terms."""
        return len(self._members)

    def representatives(self) -> list[int]:
        """Return the representatives of the cliques of several terms."""
        return list(self._members)

    def merged_terms(self) -> Ids:
        """Return all terms in cliques of several terms."""
        return np.fromiter((term for members in self._members.values() for term in members), np.int32)

    def members(self, term: int) -> Sequence[int]:
        """Return the terms that are equal to a term, including itself."""
        return self._members.get(self.of_term(term), (term,))

    def of(self, ids: Ids) -> Ids:
        """Return the representatives of terms, in the shape of `ids`."""
        if not self._members:
            return ids
        self._fit()
        return self._representatives[ids]

    def of_term(self, term: int) -> int:
        """Return the representative of one term."""
        return int(self._representatives[term]) if term < len(self._representatives) else term

    def sizes(self, ids: Ids) -> Ids:
        """Return the sizes of the cliques of some terms."""
        return self._list().sizes[self._representatives[ids]]

    def are_merged(self, ids: Ids) -> Flags:
        """Return whether terms belong to cliques of several terms, in the shape of `ids`."""
        return self.sizes(ids) > 1 if self._members else np.zeros(ids.shape, bool)

    def copy(self) -> Cliques:
        """Return a copy."""
        copied = Cliques(self._dictionary)
        copied._members = dict(self._members)
        copied._representatives = self._representatives.copy()
        return copied

    def count_members(self, chosen: Flags) -> npt.NDArray[np.int64]:
        """Return the number of chosen terms in the clique of each representative (of all terms, by id)."""
        counts = chosen.astype(np.int64)
        for representative, members in self._members.items():
            counts[representative] = np.count_nonzero(chosen[members])
        return counts

    # --- changes ----------------------------------------------------------------------------------------------------

    def merge(self, pairs: Ids) -> tuple[Ids, Ids]:
        """Merge the cliques of the terms of each pair, shape (n, 2).

        Returns:
            The terms that have another representative now, and those that were in no clique before.
        """
        self._fit()
        affected: list[int] = []
        alone: list[int] = []
        for group in _components(unique_rows(self.of(pairs))):
            best = min(group, key=self._preference)
            together: list[int] = []
            for representative in group:
                own = self._members.pop(representative, [representative])
                together += own
                if representative != best:
                    affected += own
                if len(own) == 1:
                    alone += own
            self._members[best] = together
            self._representatives[together] = best
        self._listed = None
        return np.array(affected, np.int32), np.array(alone, np.int32)

    def split(self, representative: int, pairs: Ids) -> Ids:
        """Split a clique into those that some pairs of its terms, shape (n, 2), still imply.

        Returns:
            The terms that have another representative now, or are in no clique.
        """
        members = self._members.pop(representative)
        groups = _components(pairs)
        groups += [[term] for term in set(members).difference(*groups)]
        affected: list[int] = []
        for group in groups:
            best = representative if representative in group else min(group, key=self._preference)
            if len(group) > 1:
                self._members[best] = group
            self._representatives[group] = best
            if best != representative or len(group) == 1:
                affected += group
        self._listed = None
        return np.array(affected, np.int32)

    def _preference(self, term: int) -> tuple[int, int, int]:
        """Return the sort key for representatives: terms in rules first, then literals, which filters use, then large cliques,
        whose renaming is costly.
        """
        text = self._dictionary.text(term)
        if text in _FIRST:
            rank = _FIRST.index(text)
        elif text.startswith(_VOCABULARY):
            rank = len(_FIRST)
        else:
            rank = _KINDS[text[0]]
        return rank, -len(self._members.get(term, (term,))), term

    def _fit(self) -> None:
        """Make new terms their own representatives."""
        known, count = len(self._representatives), len(self._dictionary)
        if known < count:
            with self._mutex:
                self._extend(known, count)

    def _extend(self, known: int, count: int) -> None:
        if known == len(self._representatives):
            self._representatives = np.append(self._representatives, np.arange(known, 2 * count, dtype=np.int32))
            self._listed = None

    # --- expansion --------------------------------------------------------------------------------------------------

    def expand(self, rows: Ids) -> Ids:
        """Return all rows that rows of representatives, shape (n, width), stand for: all combinations of equal terms."""
        if not self._members or len(rows) == 0:
            return rows
        listed = self._list()
        for column in range(rows.shape[1]):
            sizes = listed.sizes[rows[:, column]]
            if (sizes == 1).all():
                continue
            sources = np.repeat(np.arange(len(rows)), sizes)
            place = np.arange(len(sources)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            rows = rows[sources]
            several = np.flatnonzero(sizes[sources] > 1)
            rows[several, column] = listed.terms[listed.starts[rows[several, column]] + place[several]]
        return rows

    def _list(self) -> _Listed:
        """Return the cliques as lists."""
        self._fit()
        listed = self._listed
        if listed is None:
            with self._mutex:
                heads = np.fromiter(self._members, np.int64)
                lengths = np.fromiter(map(len, self._members.values()), np.int64, len(heads))
                sizes = np.ones(len(self._representatives), np.int32)
                sizes[heads] = lengths
                starts = np.zeros(len(self._representatives), np.int64)
                starts[heads] = np.cumsum(lengths) - lengths
                terms = np.fromiter((term for members in self._members.values() for term in members), np.int32)
                self._listed = listed = _Listed(sizes, starts, terms)
        return listed


def _components(pairs: Ids) -> list[list[int]]:
    if len(pairs) > MANY_PAIRS:
        pairs = _thinned(pairs)
    return list(connected_components(pairs[:, ::-1].tolist()).values())


def _thinned(pairs: Ids) -> Ids:
    """Return pairs that connect the same terms, about as many as the terms where all terms of a clique are paired with each other:
    those of each term and its smallest neighbour, and of the smallest neighbours of the terms of each pair.
    """
    smallest = np.arange(pairs.max() + 1, dtype=np.int32)
    terms = np.unique(pairs)
    np.minimum.at(smallest, pairs[:, 0], pairs[:, 1])
    np.minimum.at(smallest, pairs[:, 1], pairs[:, 0])
    return unique_rows(np.concatenate([np.stack([smallest[terms], terms], axis=1), smallest[pairs]]))
