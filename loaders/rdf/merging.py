"""Dictionaries for parts of a document that threads read at the same time, and how they are merged into that of the document.

A dictionary has the terms of its part in the order of first occurrence. Merged in the order of the parts, they get the ids that
they would get if the document was read by one thread.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from kg_reasoner.storage.arrays import Ids, Numbers

__all__ = ["PartDictionaries", "PartTerms"]


class PartTerms(NamedTuple):
    """The terms of a part, and what its blank nodes are called."""

    dictionary: Dictionary
    scope: BlankScope

    def hashes(self) -> Numbers:
        """Return the hashes of the texts, which `PartDictionaries.merge` takes; any thread can compute them."""
        return self.dictionary.hashes_of_texts()


class PartDictionaries:
    """The dictionaries of the parts of one document, which are used again and again.

    Args:
        dictionary: The dictionary of the document.
        scope: The blank nodes of the document.
    """

    def __init__(self, dictionary: Dictionary, scope: BlankScope) -> None:
        self._dictionary = dictionary
        self._scope = scope
        self._spare: deque[Dictionary] = deque()

    def take(self) -> PartTerms:
        """Return an empty dictionary."""
        try:
            dictionary = self._spare.pop()
        except IndexError:
            dictionary = Dictionary()
        return PartTerms(dictionary, self._scope.in_part(dictionary))

    def give_back(self, terms: PartTerms) -> None:
        """Allow a dictionary to be used again."""
        terms.dictionary.clear()
        self._spare.append(terms.dictionary)

    def merge(self, terms: PartTerms, hashes: Numbers, rows: Ids) -> Ids:
        """Intern the terms of the next part, and return its rows with their ids in the document's dictionary; -1 stays -1."""
        numbers = self._dictionary.merge(terms.dictionary, hashes)
        found: Ids = np.append(numbers, np.int32(-1)).take(rows, mode="wrap")  # faster than indexing: ids are not made wider
        return found
