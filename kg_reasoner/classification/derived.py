"""Reads the hierarchy of a reasoner whose rules derive the inclusions between classes themselves, such as those of ``owl2el``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from kg_reasoner.classification.changed_rows import changed_rows, changes_of_rows
from kg_reasoner.classification.classifier import ClassificationChange, Classified
from kg_reasoner.classification.forked_reasoners import Member, Source
from kg_reasoner.classification.selection import KINDS, Kind, select
from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.errors import ReasonerError
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.program import FALSE, TRIPLE, Atom, Origin, Program, Rule, Variable
from kg_reasoner.storage.arrays import Ids, Numbers, TripleIds
from kg_reasoner.storage.releasing import release_memory
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, Term, Triple

__all__ = ["DEEP", "EMPTY", "SUB", "UNIVERSAL", "DerivedClassifier", "TripleChanges", "derives_hierarchy"]

SUB: Final = "<tag:kg-reasoner:owl2el/sub>"
"""Relates a class or an individual to the classes above it."""

UNIVERSAL: Final = "<tag:kg-reasoner:owl2el/universal>"
"""Has owl:topObjectProperty if a restriction is one of it."""

DEEP: Final = "<tag:kg-reasoner:owl2el/deep>"
"""Has restrictions that are nested too deeply to be used."""

EMPTY: Final = "<tag:kg-reasoner:owl2el/empty>"
"""Has the properties that can have no values, declared as object or data properties or not at all."""

_BELOW: Final = {"class": RDFS.subClassOf, "object property": RDFS.subPropertyOf, "data property": RDFS.subPropertyOf}
_NOTHING: Final = {
    "class": OWL.Nothing,
    "object property": OWL.bottomObjectProperty,
    "data property": OWL.bottomDataProperty,
}
_FEW: Final = 100
"""If more names become unsatisfiable or satisfiable at once, everything is read again."""

_MOST: Final = 1000
"""The same for explicit triples, and for derived ones, that come or go."""

_PART: Final = 1 << 16
"""The number of inclusions that are converted together."""

_CLASHES: Final = {
    kind: Rule(Atom(FALSE, ()), (Atom(TRIPLE, (Variable("name"), _BELOW[kind], nothing)),), Origin("el-nothing"))
    for kind, nothing in _NOTHING.items()
}


class Derived(Source, Protocol):
    """The reasoner whose hierarchy is read."""

    def explain(self, fact: Any, effort: int | None = ..., /) -> Proof: ...


class TripleChanges(NamedTuple):
    """The changes of triples since former marks.

    Attributes:
        marks: Marks of the current triples.
        gone: The triples that hold no longer.
        new: Those that hold now.
        explicit: Those that have become explicit, or no longer are.
    """

    marks: object
    gone: TripleIds
    new: TripleIds
    explicit: TripleIds


class History(Protocol):
    """Knows the changes of the triples of a reasoner."""

    def look(self) -> Any:
        """Return marks of the current triples, or None if changes cannot be told."""
        ...

    def changes(self, since: Any, /) -> TripleChanges | None:
        """Return the changes since former marks; None if they are not known."""
        ...

    def inclusions(self, cls: int, /) -> Ids:
        """Return the derived inclusions of and in a class, as pairs of a lower and an upper one."""
        ...


def derives_hierarchy(program: Program) -> bool:
    """Return whether the rules of a program derive the inclusions between named classes.

    >>> from kg_reasoner import rulesets
    >>> [derives_hierarchy(rulesets.load(name).program) for name in ("owl2el", "owl2rl")]
    [True, False]
    """
    return any(rule.origin.name == "el-subclass" for rule in program.rules)


@dataclass(frozen=True, slots=True)
class Name(Member):
    """A class or property itself; no new member is needed."""

    def about(self, upper: Term) -> Triple:
        return self.name, _BELOW[self.kind], upper


@dataclass(frozen=True, eq=False)
class _Selected:
    """The names of an ontology.

    Attributes:
        names: Their ids.
        members: The same as members.
        classes: The ids of the declared classes.
        properties: Those of the declared object and data properties.
    """

    names: Mapping[Kind, Ids]
    members: dict[Kind, list[Member]]
    classes: frozenset[int]
    properties: frozenset[int]


@dataclass(frozen=True, eq=False)
class _Reading:
    """A hierarchy as read: with marks of the triples, or else with the explicit triples and the derived inclusions of each kind."""

    selected: _Selected
    found: Classified
    marks: Any
    explicit: TripleIds
    below: Mapping[Kind, Ids]


class DerivedClassifier:
    """Reads the hierarchy from derived triples.

    Args:
        source: The reasoner.
        warnings: Returns what the axioms say beyond the rules.
        empty_properties: Returns the ids of the properties that can have no values.
        history: The changes of the triples of the reasoner.
    """

    def __init__(
        self,
        source: Derived,
        warnings: Callable[[], tuple[AxiomWarning, ...]],
        empty_properties: Callable[[], Ids],
        history: History,
    ) -> None:
        self._source = source
        self._history = history
        self._warnings = warnings
        self._empty_properties = empty_properties
        self._read_last: _Reading | None = None
        self._lock = new_mutex()

    def classify(self) -> Classified:
        """Return the classification of the current triples; the same object while these have not changed."""
        with self._lock:
            before = self._read_last
        reading = self._next(before)
        with self._lock:
            self._read_last = reading
        return reading.found

    def _next(self, before: _Reading | None) -> _Reading:
        """Return the reading of the current triples, made from the one before where little has changed."""
        if before is not None and before.marks is not None:
            changes = self._history.changes(before.marks)
            if changes is not None and not any(map(len, changes[1:])):
                return before
            is_small = changes is not None and max(map(len, changes[1:])) <= _MOST
            if changes is not None and is_small and self._keeps_names(before, changes.explicit):
                return self._after(before, changes)
        marks = self._history.look()
        explicit = self._source.triple_ids("explicit")
        changed = None if before is None or before.marks is not None else changed_rows(before.explicit, explicit, _MOST)
        if before is not None and changed is not None:
            if not len(changed):
                return before
            if self._keeps_names(before, changed):
                return self._read(explicit, before.selected, marks, before)
        selected = self._selected(explicit)
        if before is not None and all(np.array_equal(selected.names[kind], before.selected.names[kind]) for kind in KINDS):
            selected = replace(selected, members=before.selected.members)
        release_memory(len(explicit))  # what finding the names took
        return self._read(explicit, selected, marks, None)

    def explain(self, classified: Classified, member: Member, fact: Triple | Violation, effort: int) -> Proof | None:
        """Return a proof of an inclusion; None if the ontology has changed since it was classified."""
        with self._lock:
            if self._read_last is None or self._read_last.found is not classified:
                return None
        if not isinstance(fact, Violation):
            return self._source.explain(fact, effort)
        if member.kind == "class":
            return self._source.explain(member.about(OWL.Nothing), effort)
        return self._source.explain(Atom(EMPTY, (member.name,)), effort)

    def _selected(self, explicit: TripleIds) -> _Selected:
        """Return the names of an ontology, and which are declared."""
        dictionary = self._source.dictionary
        names = select(explicit, dictionary, separates_told=False).names
        types = explicit[explicit[:, 1] == dictionary.find(RDF.type)][:, ::2]

        def declared(*kinds: IRI) -> frozenset[int]:
            return frozenset(types[np.isin(types[:, 1], [dictionary.find(kind) for kind in kinds]), 0].tolist())

        members: dict[Kind, list[Member]] = {
            kind: [
                Name(kind, name, (name, _BELOW[kind], name))
                for (name,) in dictionary.decode_rows(names[kind].reshape(-1, 1))
                if isinstance(name, IRI)
            ]
            for kind in KINDS
        }
        return _Selected(names, members, declared(OWL.Class), declared(OWL.ObjectProperty, OWL.DatatypeProperty))

    def _keeps_names(self, before: _Reading, changed: TripleIds) -> bool:
        """Return whether an ontology has the same names after a change for certain: all triples are inclusions, equivalences and
        restrictions of declared classes and properties.
        """
        dictionary = self._source.dictionary
        declared, properties = before.selected.classes, before.selected.properties
        between = {dictionary.find(name) for name in (RDFS.subClassOf, OWL.equivalentClass, OWL.disjointWith, OWL.someValuesFrom)}
        restricts = (dictionary.find(RDF.type), dictionary.find(OWL.Restriction))
        for subject, predicate, value in changed.tolist():
            is_blank = dictionary.is_blank(subject)
            if predicate in between:
                if (is_blank or subject in declared) and (value in declared or dictionary.is_blank(value)):
                    continue
            elif is_blank and predicate == dictionary.find(OWL.onProperty):
                if value in properties:
                    continue
            elif is_blank and (predicate, value) == restricts:
                continue
            return False
        return True

    def _read(self, explicit: TripleIds, selected: _Selected, marks: Any, before: _Reading | None) -> _Reading:
        """Read the derived inclusions; with a reading before of the same names and without marks, compare them with it."""
        below = {kind: self._below(kind) if len(selected.names[kind]) else explicit[:0, :2] for kind in KINDS}
        unsatisfiable = {kind: self._unsatisfiable(kind, selected, below[kind]) for kind in KINDS}
        change = None if before is None else self._change(before, below, unsatisfiable)
        kept = {kind: np.ascontiguousarray(rows) for kind, rows in below.items()} if marks is None else {}
        found = self._classified(selected, dict(below), marks, unsatisfiable, change)
        return _Reading(selected, found, marks, explicit if marks is None else explicit[:0].copy(), kept)

    def _after(self, before: _Reading, changes: TripleChanges) -> _Reading:
        """Return the reading after a small change that keeps the names."""
        selected, dictionary = before.selected, self._source.dictionary
        gone, new = (
            {kind: rows[rows[:, 1] == dictionary.find(_BELOW[kind])][:, ::2] for kind in KINDS}
            for rows in (changes.gone, changes.new)
        )
        nothing = dictionary.find(OWL.Nothing)
        names = selected.names["class"]
        empty = set(names[list(before.found.unsatisfiable["class"])].tolist())
        empty -= set(gone["class"][gone["class"][:, 1] == nothing, 0].tolist())
        empty |= set(new["class"][new["class"][:, 1] == nothing, 0].tolist())
        pairs = np.array([(name, nothing) for name in empty], np.int32).reshape(-1, 2)
        unsatisfiable = {kind: self._unsatisfiable(kind, selected, pairs) for kind in KINDS}
        differing = (before.found.unsatisfiable[kind].keys() ^ unsatisfiable[kind].keys() for kind in KINDS)
        change = None if max(map(len, differing)) > _FEW else self._made_of(before, gone, new, unsatisfiable, self._with)
        found = self._classified(selected, {}, changes.marks, unsatisfiable, change)
        return replace(before, found=found, marks=changes.marks)

    def _classified(
        self,
        selected: _Selected,
        below: dict[Kind, Ids],
        marks: Any,
        unsatisfiable: dict[Kind, dict[int, Violation]],
        change: ClassificationChange | None,
    ) -> Classified:
        """Return a classification. Its inclusions are read again if they have been used, or were not given."""

        def pairs(kind: Kind) -> Ids:
            rows = below.get(kind) if marks is None else below.pop(kind, None)
            if rows is None:
                rows = self._below(kind)
                since = self._history.changes(marks)
                if since is None or any(map(len, since[1:])):
                    raise ReasonerError("the ontology has changed while it was classified: call hierarchy() again")
            return self._pairs(selected.names[kind], rows)

        consistent = self._source.is_consistent()
        return Classified(selected.members, pairs, unsatisfiable, frozenset(), consistent, self._warnings(), change)

    def _below(self, kind: Kind) -> Ids:
        """Return the derived inclusions of a kind, as pairs of a lower and an upper name."""
        return self._source.triple_ids("all", _BELOW[kind])[:, ::2]

    def _pairs(self, names: Ids, below: Ids) -> Ids:
        """Return inclusions as numbers of names, without those of a name in itself and those with others."""
        number_of = None
        if len(below) >= len(names):  # otherwise a change: the names, in the order of their ids, are searched
            number_of = np.full(len(self._source.dictionary), -1, np.int32)
            number_of[names] = np.arange(len(names), dtype=np.int32)
        pairs, used = np.empty(below.shape, np.int32), 0
        for begin in range(0, len(below), _PART):
            part = below[begin : begin + _PART]
            if number_of is None:
                numbers = np.searchsorted(names, part).astype(np.int32)
                numbers[names.take(numbers, mode="clip") != part] = -1
            else:
                numbers = number_of[part]
            numbers = numbers[(numbers >= 0).all(axis=1) & (numbers[:, 0] != numbers[:, 1])]
            pairs[used : used + len(numbers)] = numbers
            used += len(numbers)
        return pairs[:used]

    def _unsatisfiable(self, kind: Kind, selected: _Selected, below: Ids) -> dict[int, Violation]:
        """Return the unsatisfiable names by their numbers."""
        if kind == "class":
            empty = below[below[:, 1] == self._source.dictionary.find(OWL.Nothing), 0]
        else:
            empty = self._empty_properties()
        if not len(empty):
            return {}
        numbers = np.flatnonzero(np.isin(selected.names[kind], empty)).tolist()
        return {number: Violation(_CLASHES[kind], {"name": selected.members[kind][number].name}) for number in numbers}

    def _change(
        self, before: _Reading, below: Mapping[Kind, Ids], unsatisfiable: Mapping[Kind, Mapping[int, Violation]]
    ) -> ClassificationChange | None:
        """Return the changes since a reading of the same names; None if they are many."""
        gone: dict[Kind, Ids] = {}
        new: dict[Kind, Ids] = {}
        for kind in KINDS:
            differing = before.found.unsatisfiable[kind].keys() ^ unsatisfiable[kind].keys()
            parts = changes_of_rows(before.below[kind], below[kind], _MOST)
            if parts is None or len(differing) > _FEW:
                return None
            gone[kind], new[kind] = parts
        return self._made_of(before, gone, new, unsatisfiable, lambda kind, again: self._with_any(below[kind], again))

    def _made_of(
        self,
        before: _Reading,
        gone: Mapping[Kind, Ids],
        new: Mapping[Kind, Ids],
        unsatisfiable: Mapping[Kind, Mapping[int, Violation]],
        inclusions: Callable[[Kind, Ids], Ids],
    ) -> ClassificationChange:
        """Return a change made of inclusions that are gone and new, and of all `inclusions` of names that are satisfiable again."""
        changed: tuple[dict[Kind, Numbers], dict[Kind, Numbers]] = {}, {}
        for kind in KINDS:
            names = before.selected.names[kind]
            again = names[list(before.found.unsatisfiable[kind].keys() - unsatisfiable[kind].keys())]
            added = np.concatenate([new[kind], inclusions(kind, again)]) if len(again) else new[kind]
            for found, part in zip(changed, (gone[kind], added), strict=True):
                found[kind] = self._pairs(names, part).astype(np.int64)
        return ClassificationChange(weakref.ref(before.found), *changed)

    def _with(self, kind: Kind, names: Ids) -> Ids:
        """Return the current inclusions of or in any of some names."""
        if kind != "class":
            return self._with_any(self._below(kind), names)
        return np.concatenate([self._history.inclusions(name) for name in names.tolist()])

    def _with_any(self, below: Ids, names: Ids) -> Ids:
        """Return the inclusions of or in any of some names."""
        sought = np.zeros(len(self._source.dictionary), bool)
        sought[names] = True
        found: Ids = below[sought[below[:, 0]] | sought[below[:, 1]]]
        return found
