"""Reads the hierarchy of a reasoner whose rules derive the inclusions between classes themselves, such as those of ``owl2el``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any, Final, Protocol

import numpy as np

from kg_reasoner.classification.classifier import Classified, Member, Numbers, Source
from kg_reasoner.classification.selection import KINDS, Kind, select
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.program import FALSE, TRIPLE, Atom, Origin, Program, Rule, Variable
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.terms import IRI, OWL, RDFS, Term, Triple

__all__ = ["DEEP", "REACHES", "UNIVERSAL", "DerivedClassifier", "derives_hierarchy"]

REACHES: Final = "<tag:kg-reasoner:owl2el/reaches>"
"""Relates a class to one below a nominal, a member of which each member of the former needs."""

UNIVERSAL: Final = "<tag:kg-reasoner:owl2el/universal>"
"""Has owl:topObjectProperty if a restriction is one of it."""

DEEP: Final = "<tag:kg-reasoner:owl2el/deep>"
"""Has restrictions that are nested too deeply to be used."""

_BELOW: Final = {"class": RDFS.subClassOf, "object property": RDFS.subPropertyOf, "data property": RDFS.subPropertyOf}
_NOTHING: Final = {
    "class": OWL.Nothing,
    "object property": OWL.bottomObjectProperty,
    "data property": OWL.bottomDataProperty,
}
_EMPTY: Final = {
    kind: Rule(Atom(FALSE, ()), (Atom(TRIPLE, (Variable("name"), _BELOW[kind], nothing)),), Origin("el-nothing"))
    for kind, nothing in _NOTHING.items()
}


class Derived(Source, Protocol):
    """The reasoner whose hierarchy is read."""

    def explain(self, fact: Any, /) -> Proof: ...


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


class DerivedClassifier:
    """Reads the hierarchy from derived triples.

    Args:
        source: The reasoner.
        warnings: Returns what the axioms say beyond the rules.
    """

    def __init__(self, source: Derived, warnings: Callable[[], tuple[AxiomWarning, ...]]) -> None:
        self._source = source
        self._warnings = warnings
        self._found: Classified | None = None
        self._seen: TripleIds | None = None
        self._lock = RLock()

    def classify(self) -> Classified:
        """Return the classification of the current explicit triples; the same object while these have not changed."""
        explicit = self._source.triple_ids("explicit")
        with self._lock:
            if self._found is not None and self._seen is not None and np.array_equal(self._seen, explicit):
                return self._found
        triples = self._source.triple_ids()
        is_consistent = self._source.is_consistent()
        found = self._read(explicit, triples, is_consistent)
        with self._lock:
            self._found, self._seen = found, explicit
        return found

    def explain(self, classified: Classified, member: Member, fact: Triple | Violation) -> Proof | None:
        """Return a proof of an inclusion; None if the ontology has changed since it was classified."""
        with self._lock:
            if self._found is not classified:
                return None
        is_empty = isinstance(fact, Violation)
        return self._source.explain(member.about(_NOTHING[member.kind]) if is_empty else fact)

    def _read(self, explicit: TripleIds, triples: TripleIds, is_consistent: bool) -> Classified:
        dictionary = self._source.dictionary
        selection = select(explicit, dictionary, separates_told=False)
        members: dict[Kind, list[Member]] = {}
        pairs: dict[Kind, Numbers] = {}
        unsatisfiable: dict[Kind, dict[int, Violation]] = {}
        number_of = np.full(len(dictionary), -1, np.int64)
        for kind in KINDS:
            names = selection.names[kind]
            terms = [name for (name,) in dictionary.decode_rows(names.reshape(-1, 1))]
            members[kind] = [Name(kind, name, (name, _BELOW[kind], name)) for name in terms if isinstance(name, IRI)]
            number_of[:] = -1
            number_of[names] = np.arange(len(names))
            below = triples[triples[:, 1] == dictionary.find(_BELOW[kind])]
            lower, upper = number_of[below[:, 0]], number_of[below[:, 2]]
            kept = (lower >= 0) & (upper >= 0) & (lower != upper)
            pairs[kind] = np.stack([lower[kept], upper[kept]], axis=1)
            empty = np.unique(lower[(below[:, 2] == dictionary.find(_NOTHING[kind])) & (lower >= 0)]).tolist()
            unsatisfiable[kind] = {number: Violation(_EMPTY[kind], {"name": members[kind][number].name}) for number in empty}
        return Classified(members, pairs, unsatisfiable, frozenset(), is_consistent, self._warnings())
