"""Reads to which classes and properties the new members belong, and which of them contradict the axioms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.classification.forked_reasoners import Fork, Member
from kg_reasoner.classification.selection import KINDS, Kind
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.program import Rule
from kg_reasoner.storage.arrays import Flags, Numbers
from kg_reasoner.terms import RDF, Term

__all__ = ["MemberFacts", "SingleMembers"]

_Key: TypeAlias = tuple[Rule, frozenset[tuple[str, Term]]]
"""What identifies a violation."""


class MemberFacts:
    """What holds in a fork of its members, which are numbered, first those of classes.

    Args:
        fork: The fork.
        members: The members of each kind.
    """

    def __init__(self, fork: Fork, members: Mapping[Kind, Sequence[Member]]) -> None:
        self._fork = fork
        self._triples = fork.triple_ids("all")
        self._of_kind = members
        self.members: list[Member] = []
        """All members; their places are their numbers."""
        self._first: dict[Kind, int] = {}
        """The number of the first member of each kind."""
        for kind in KINDS:
            self._first[kind] = len(self.members)
            self.members += members[kind]
        self._owner = np.full(len(fork.dictionary), -1, np.int64)
        """The number of the member to which each term belongs, or -1."""
        self._is_subject: Flags = np.zeros(len(self._owner), bool)
        """Whether each term is the first one of a member."""
        find = fork.dictionary.find
        for number, member in enumerate(self.members):
            for term in member.terms:
                self._owner[find(term)] = number
            self._is_subject[find(member.terms[0])] = True
        self._violations: dict[int, Violation] = {}
        """For each member, by number, a violation that involves it."""
        self.has_other_violations = False
        """Whether there are violations that involve no member."""
        if not fork.is_consistent():
            self._read_violations()

    def _read_violations(self) -> None:
        find = self._fork.dictionary.find
        for violation in self._fork.inconsistencies():
            owners = {int(self._owner[find(term)]) for term in violation.terms.values() if find(term) >= 0} - {-1}
            self.has_other_violations |= not owners
            for number in owners:
                self._violations.setdefault(number, violation)

    def linked(self, predicates: Iterable[str]) -> list[int]:
        """Return the numbers of the members that are related to other terms, in order.

        Args:
            predicates: The general predicates that can relate them.
        """
        subjects, values = self._owner[self._triples[:, 0]], self._owner[self._triples[:, 2]]
        is_type = self._triples[:, 1] == self._fork.dictionary.find(RDF.type)
        apart = (subjects != values) & ~(is_type & (values < 0))
        related = [number for predicate in predicates for number in self._related(predicate)]
        found = np.unique(np.concatenate([subjects[apart], values[apart], np.array(related, np.int64)]))
        numbers: list[int] = found[found >= 0].tolist()
        return numbers

    def _related(self, predicate: str) -> Iterator[int]:
        """Yield the members in facts of a predicate that have terms of several members, or others beside them."""
        for row in self._fork.facts(predicate):
            owners = {int(self._owner[self._fork.dictionary.find(term)]) for term in row}
            if len(owners) > 1:
                yield from owners

    def of_kind(self, kind: Kind, numbers: Iterable[int]) -> list[int]:
        """Return the places among the members of a kind of those whose numbers are given."""
        first = self._first[kind]
        return [number - first for number in numbers if first <= number < first + len(self._of_kind[kind])]

    def violations(self, kind: Kind, without: Collection[int]) -> dict[int, Violation]:
        """Return a violation for each member of a kind that is involved in one, by its place, except those at some places."""
        places = {self._first[kind] + place for place in without}
        numbers = [number for number in self._violations if number not in places]
        return {place: self._violations[self._first[kind] + place] for place in self.of_kind(kind, numbers)}

    def pairs(self, kind: Kind, without: Collection[int]) -> Numbers:
        """Return the members of a kind, except those at some places, each with another class or property to which it belongs.

        Returns:
            The places of the members and of the classes or properties, shape (n, 2).
        """
        members, first, find = self._of_kind[kind], self._first[kind], self._fork.dictionary.find
        is_wanted = np.zeros(len(self.members) + 1, bool)  # the last is for terms of no member, which have the number -1
        is_wanted[first : first + len(members)] = True
        is_wanted[[first + place for place in without]] = False
        place_of = np.full(len(self._owner), -1, np.int64)
        for place, member in enumerate(members):
            if (name := find(member.name)) >= 0:
                place_of[name] = place
        triples = self._triples[is_wanted[self._owner[self._triples[:, 0]]] & self._is_subject[self._triples[:, 0]]]
        subjects = self._owner[triples[:, 0]]
        if kind == "class":
            own, uppers = triples[:, 1] == find(RDF.type), place_of[triples[:, 2]]
        else:
            own, uppers = (self._owner[triples[:, 2]] == subjects) & (triples[:, 0] != triples[:, 2]), place_of[triples[:, 1]]
        rows = np.stack([subjects[own] - first, uppers[own]], axis=1)
        found: Numbers = rows[(rows[:, 1] >= 0) & (rows[:, 0] != rows[:, 1])]
        return found


class SingleMembers:
    """Looks at members one by one, in a reasoner that has the ontology's individuals and no other members.

    Args:
        alone: The reasoner.
    """

    def __init__(self, alone: Fork) -> None:
        self._alone = alone
        self._known = set() if alone.is_consistent() else set(map(_key, alone.inconsistencies()))
        self.is_consistent = not self._known
        """Whether the ontology is consistent without new members."""

    def look_at(self, members: Sequence[Member], places: Iterable[int]) -> tuple[Numbers, dict[int, Violation]]:
        """Return to which other classes or properties some members belong, and violations that there would not be without them.

        Args:
            members: The members of a kind.
            places: Those to look at.

        Returns:
            The places of the members and of the classes or properties, shape (n, 2); and the violations by place.
        """
        place_of = {member.name: place for place, member in enumerate(members)}
        rows: list[tuple[int, int]] = []
        clashes: dict[int, Violation] = {}
        for place in places:
            uppers, violation = self._look_at(members[place])
            rows += [(place, place_of[upper]) for upper in uppers if upper in place_of and upper != members[place].name]
            if violation is not None:
                clashes[place] = violation
        return np.array(rows, np.int64).reshape(-1, 2), clashes

    def _look_at(self, member: Member) -> tuple[list[Term], Violation | None]:
        alone = self._alone
        alone.add_triples([member.fact])
        try:
            subject, _, value = member.fact
            if member.kind == "class":
                uppers = [upper for _, _, upper in alone.triples(subject, RDF.type)]
            else:
                uppers = list({property for _, property, _ in alone.triples(subject, None, value)})
            new = [] if alone.is_consistent() else [found for found in alone.inconsistencies() if _key(found) not in self._known]
            return uppers, new[0] if new else None
        finally:
            alone.remove_triples([member.fact])


def _key(violation: Violation) -> _Key:
    return violation.rule, frozenset(violation.terms.items())
