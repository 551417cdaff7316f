"""Facts about equal terms in the names of users, and in those that are stored: for explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kg_reasoner.engine.equality.contradictions import DIFFERENT_VALUES
from kg_reasoner.program import TRIPLE, Atom, Rule
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import OWL, Term

Names: TypeAlias = Callable[[str, Sequence[int]], Rows]
"""Other names of a fact, given by its predicate and its terms: facts of shape (n, arity)."""


class Renaming:
    """Atoms of constants in other names.

    Args:
        image: the fact that is stored for one.
        asserted: the facts that were asserted, of which one is the image.
        dictionary: has the terms.
    """

    def __init__(self, image: Names, asserted: Names, dictionary: Dictionary) -> None:
        self._image = image
        self._asserted = asserted
        self._dictionary = dictionary

    def image(self, atom: Atom) -> Atom:
        """The fact as it is stored; with an unknown term, the fact itself."""
        ids = self._ids(atom)
        return atom if -1 in ids else self._atom(atom.predicate, self._image(atom.predicate, ids)[0].tolist())

    def asserted(self, atom: Atom) -> Atom:
        """An explicit fact that a stored one stands for: itself, if it is asserted."""
        facts = self._asserted(atom.predicate, self._ids(atom)).tolist()
        if not facts or self._ids(atom) in facts:
            return atom
        return self._atom(atom.predicate, facts[0])

    def contradiction(self, rule: Rule, terms: Mapping[str, Term]) -> Atom | None:
        """The stored fact by which literals of different values are the same, if that is what a violation is about."""
        return self.image(Atom(TRIPLE, (terms["x"], OWL.sameAs, terms["y"]))) if rule is DIFFERENT_VALUES else None

    def _ids(self, atom: Atom) -> list[int]:
        return [self._dictionary.find(term) for term in atom.terms]  # type: ignore[arg-type]  # facts have no variables

    def _atom(self, predicate: str, ids: list[int]) -> Atom:
        return Atom(predicate, tuple(map(self._dictionary.decode, ids)))
