"""Follows the axioms of a reasoner with new members of its classes and properties, and reads the hierarchy from them.

All new members are in one reasoner, the *fork*, without the ontology's individuals. They do not influence each other there, as long
as none of them is related to a term that is not its own: rules combine facts by the individuals that these have in common. A member
that is related to others (by ``owl:hasValue``, for example) is *linked*. What follows for it is read from another reasoner, with
the ontology's individuals, in which it is the only new member.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import field
from itertools import count
from typing import Final

import numpy as np

from kg_reasoner.classification.forked_reasoners import Fork, Member, Source
from kg_reasoner.classification.member_facts import MemberFacts, SingleMembers
from kg_reasoner.classification.selection import KINDS, Kind, Selection, select
from kg_reasoner.classification.usable_rules import told_rule
from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.program import Program
from kg_reasoner.storage.arrays import Ids, Numbers, TripleIds, contains
from kg_reasoner.terms import IRI, OWL, RDF, BlankNode, Literal, Term, Triple

__all__ = ["ClassificationChange", "Classified", "Classifier"]

VALUE_TYPE: Final = "tag:kg-reasoner:value"
"""The datatype of the new values of data properties, of which no rule knows anything."""


@dataclass(frozen=True, eq=False)
class Classified:
    """The results for the new members.

    Attributes:
        members: The members of each kind.
        pairs: Returns for a kind the numbers of each member and of the classes or properties to which it belongs.
        unsatisfiable: The numbers of the members that contradict the axioms, each with a violation.
        linked: The members that were looked at one by one.
        is_consistent: Whether the ontology is consistent without new members.
        warnings: What the axioms say beyond the rules.
        change: How this differs from an earlier classification, if that is known and nothing else does.

    The lists of members are the same objects as before if the members are the same.
    """

    members: dict[Kind, list[Member]]
    pairs: Callable[[Kind], Numbers | Ids]
    unsatisfiable: dict[Kind, dict[int, Violation]]
    linked: frozenset[Member]
    is_consistent: bool
    warnings: tuple[AxiomWarning, ...]
    change: ClassificationChange | None = None


@dataclass(frozen=True, eq=False)
class ClassificationChange:
    """The difference between two classifications with the same members.

    Attributes:
        before: The earlier one, which this does not keep alive: each would keep all before it.
        gone: The pairs of each kind that only that one has.
        new: Those that it lacks, and all of members that were unsatisfiable in it.
    """

    before: weakref.ref[Classified]
    gone: dict[Kind, Numbers]
    new: dict[Kind, Numbers]


@dataclass
class _State:
    """The contents of the forks, in ids of the source."""

    fork: Fork
    program: Program
    axioms: TripleIds
    told: Ids
    members: dict[Kind, dict[int, Member]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    labels: Counter[str] = field(default_factory=Counter)
    alone: Fork | None = None
    alone_has: TripleIds | None = None


class Classifier:
    """Classifies the ontology of a reasoner, and follows its changes.

    Args:
        source: The reasoner.
        program: The rules that are used, see `usable_rules.without_schema_rules`.
        fork: Makes a reasoner from a program.
    """

    def __init__(self, source: Source, program: Program, fork: Callable[[Program], Fork]) -> None:
        self._source = source
        self._separates_told = program.translate == "dlp"
        used = {atom.predicate for rule in program.rules for atom in (rule.head, *rule.body_atoms())}
        self._told = next(name for n in count() if (name := f"SubClassOf{n or ''}") not in used)
        self._program = program
        self._make = fork
        self._state: _State | None = None
        self._found: Classified | None = None
        self._seen: TripleIds | None = None
        self._lock = new_mutex()

    def classify(self) -> Classified:
        """Return the classification of the current explicit triples; the same object while these have not changed."""
        source = self._source
        triples = source.triple_ids("explicit")
        with self._lock:
            if self._found is not None and self._seen is not None and np.array_equal(self._seen, triples):
                return self._found
        # The source is read before the forks are locked: a thread that waits for them may be changing it.
        selection = select(triples, source.dictionary, separates_told=self._separates_told)
        self._separates_told &= selection.told is not None  # so that a change back and forth causes only one new start
        is_consistent = source.is_consistent() if len(selection.others) else None
        others = self._of_individuals(selection)
        with self._lock:
            state, self._state, self._found = self._state, None, None  # nothing half-updated after an interrupt
            state = self._follow(state, selection)
            found = self._read(state, selection, others, is_consistent)
            self._state, self._found, self._seen = state, found, triples
            return found

    def explain(self, classified: Classified, member: Member, fact: Triple | Violation, effort: int) -> Proof | None:
        """Return a proof of a fact about a member; None if the ontology has changed since it was classified."""
        with self._lock:
            state = self._state
            if self._found is not classified or state is None:
                return None
            if member not in classified.linked:
                return state.fork.explain(fact, effort)
            if state.alone is None:
                return None
            state.alone.add_triples([member.fact])
            try:
                return state.alone.explain(fact, effort)
            finally:
                state.alone.remove_triples([member.fact])

    # --- following the axioms

    def _follow(self, state: _State | None, selection: Selection) -> _State:
        nothing = np.empty((0, 3), np.int32)
        program, told = self._program, nothing[:, :2]
        if selection.told is not None:
            program, told = program | Program((told_rule(self._told),)), selection.told
        if state is None or state.program != program:
            state = _State(self._make(program), program, nothing, nothing[:, :2])
        fork, decode = state.fork, self._source.dictionary.decode_rows
        gone, new = _difference(state.axioms, selection.axioms)
        told_gone, told_new = _difference(state.told, told)
        if len(told_gone):
            fork.remove_facts(self._told, decode(told_gone))
        if len(told_new):
            fork.add_facts(self._told, decode(told_new))
        gone_members: list[Triple] = []
        new_members: list[Triple] = []
        for kind in KINDS:
            members, wanted = state.members[kind], set(selection.names[kind].tolist())
            gone_members += [members.pop(name).fact for name in list(members) if name not in wanted]
            for name in selection.names[kind].tolist():
                if name not in members:
                    members[name] = self._member(kind, self._source.dictionary.decode(name), state.labels)
                    new_members.append(members[name].fact)
        if len(gone) or gone_members:
            fork.remove_triples([*decode(gone), *gone_members])
        if len(new) or new_members:
            fork.add_triples([*decode(new), *new_members])
        state.axioms, state.told = selection.axioms, told
        return state

    def _member(self, kind: Kind, name: Term, labels: Counter[str]) -> Member:
        """Return a new member with a readable name of its own."""
        assert isinstance(name, IRI)
        word = re.sub(r"[^A-Za-z0-9_]", "_", re.split(r"[#/:]", name.value.rstrip("#/:"))[-1]) or "member"
        while True:
            labels[word] += 1
            own = word if labels[word] == 1 else f"{word}_{labels[word]}"
            subject, value = f"some_{own}", f"value_of_{own}"
            is_free = own == word or own not in labels
            if is_free and all(self._source.dictionary.find(BlankNode(label)) < 0 for label in (subject, value)):
                labels[own] += own != word
                break
        if kind == "class":
            return Member(kind, name, (BlankNode(subject), RDF.type, name))
        new = BlankNode(value) if kind == "object property" else Literal(value, VALUE_TYPE)
        return Member(kind, name, (BlankNode(subject), name, new))

    def _of_individuals(self, selection: Selection) -> TripleIds:
        """Return the facts about individuals, with derived ones if keys or SWRL rules can derive more from them."""
        if not selection.has_keys:
            return selection.others
        dictionary = self._source.dictionary
        derived = select(self._source.triple_ids("all"), dictionary, separates_told=False)
        return np.concatenate([derived.others, derived.axioms[derived.axioms[:, 1] == dictionary.find(OWL.sameAs)]])

    def _alone(self, state: _State, selection: Selection, others: TripleIds) -> Fork:
        """Return the reasoner for linked members, brought up to date."""
        told = np.insert(state.told, 1, -1, axis=1)
        wanted = np.concatenate([selection.axioms, others, told]).astype(np.int32)
        has = np.empty((0, 3), np.int32) if state.alone_has is None else state.alone_has
        alone = self._make(state.program) if state.alone is None else state.alone
        gone, new = _difference(has, wanted)
        decode = self._source.dictionary.decode_rows
        is_gone, is_new = gone[:, 1] < 0, new[:, 1] < 0
        alone.remove_facts(self._told, decode(gone[is_gone][:, [0, 2]]))
        alone.remove_triples(list(decode(gone[~is_gone])))
        if is_new.any():
            alone.add_facts(self._told, decode(new[is_new][:, [0, 2]]))
        alone.add_triples(list(decode(new[~is_new])))
        state.alone, state.alone_has = alone, wanted
        return alone

    # --- reading

    def _read(self, state: _State, selection: Selection, others: TripleIds, is_consistent: bool | None) -> Classified:
        members = {kind: list(state.members[kind].values()) for kind in KINDS}
        facts = MemberFacts(state.fork, members)
        linked = facts.linked(self._relations(state.fork))
        alone = self._alone(state, selection, others) if linked else None
        single = SingleMembers(alone) if alone is not None else None
        if is_consistent is None:
            is_consistent = single.is_consistent if single is not None else not facts.has_other_violations
        pairs: dict[Kind, Numbers | Ids] = {}
        unsatisfiable: dict[Kind, dict[int, Violation]] = {}
        for kind in KINDS:
            linked_of_kind = facts.of_kind(kind, linked)
            pairs[kind], clashes = facts.pairs(kind, linked_of_kind), facts.violations(kind, linked_of_kind)
            if single is not None:
                more, clashes_of_linked = single.look_at(members[kind], linked_of_kind)
                pairs[kind], clashes = np.concatenate([pairs[kind], more]), clashes | clashes_of_linked
            unsatisfiable[kind] = dict(sorted(clashes.items()))
        looked_at = frozenset(facts.members[number] for number in linked)
        return Classified(members, pairs.__getitem__, unsatisfiable, looked_at, is_consistent, tuple(state.fork.warnings))

    def _relations(self, fork: Fork) -> list[str]:
        """Return the general predicates of a user's rules that can relate members to others."""
        known = {atom.predicate for rule in self._program.rules for atom in (rule.head, *rule.body_atoms())}
        return [name for name in fork.predicates() if name in known and name != self._told and not name.startswith(_HELPERS)]


_HELPERS: Final = ("<tag:kg-reasoner:", "tag:kg-reasoner:")


def _difference(before: Ids, after: Ids) -> tuple[Ids, Ids]:
    """Return the rows that are gone, and those that are new."""
    return before[~contains(after, before)], after[~contains(before, after)]
