"""Facts about equal terms as asserted and as stored, for explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kg_reasoner.engine.equality.contradictions import DIFFERENT_VALUES
from kg_reasoner.program import TRIPLE, Atom, Rule
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, Term

Names: TypeAlias = Callable[[str, Sequence[int]], Rows]
"""Maps a fact, given by its predicate and terms, to facts that differ in equal terms, shape (n, arity)."""


class Renaming:
    """Translation between ground atoms and their normal forms.

    Args:
        normal_form: Returns the normal form of a fact.
        asserted: Returns the asserted facts with a normal form.
        written: Returns a rule of the program for a rewritten one.
        dictionary: The dictionary of their terms.
    """

    def __init__(self, normal_form: Names, asserted: Names, written: Callable[[Rule], Rule], dictionary: Dictionary) -> None:
        self.written = written
        self._normal_form = normal_form
        self._asserted = asserted
        self._dictionary = dictionary

    def normal_form(self, atom: Atom) -> Atom:
        """Return the normal form of a fact, or the fact itself if it has an unknown term."""
        ids = self._ids(atom)
        return atom if -1 in ids else self._atom(atom.predicate, self._normal_form(atom.predicate, ids)[0].tolist())

    def asserted(self, atom: Atom) -> Atom:
        """Return an asserted fact with a normal form: the latter itself, if it is asserted."""
        facts = self._asserted(atom.predicate, self._ids(atom)).tolist()
        if not facts or self._ids(atom) in facts:
            return atom
        return self._atom(atom.predicate, facts[0])

    def contradiction(self, rule: Rule, terms: Mapping[str, Term]) -> Atom | None:
        """Return the stored equality of two literals with different values, if a violation is about such literals."""
        return self.normal_form(Atom(TRIPLE, (terms["x"], OWL.sameAs, terms["y"]))) if rule is DIFFERENT_VALUES else None

    def _ids(self, atom: Atom) -> list[int]:
        return [self._dictionary.find(term) for term in atom.terms]  # type: ignore[arg-type]  # facts have no variables

    def _atom(self, predicate: str, ids: list[int]) -> Atom:
        return Atom(predicate, tuple(map(self._dictionary.decode, ids)))
