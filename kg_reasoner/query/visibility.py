"""Visibility of inferred triples: trivial ones are hidden.

The W3C's rules derive many triples that hold of every term, or in all data: every term is the same as itself, and an
rdfs:Resource; rdf:type is an rdf:Property; an individual is a member of ``_:b7``, which represents a class expression. An inferred
triple is *hidden* if

* it states that a term is the same as, equivalent to or below itself,
* its property is rdf:type, and its class a blank node, rdfs:Resource or owl:Thing,
* it states that a class is below rdfs:Resource or owl:Thing, or
* its subject is a term of the vocabularies of RDF, RDFS, OWL or XML Schema.

Hidden triples match only patterns that ask for them: those that name the property, and with rdf:type the class. So
``?x owl:sameAs ?y`` finds every term with itself, if the rules derive it, and ``?s ?p ?o`` does not; nor do exports, counts and
deltas include it. Explicit triples are never hidden, and nothing is hidden without rules of the W3C's documents, recognised
by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.expressions.demands import BY_THE_BOOK
from kg_reasoner.program import TRIPLE, Argument, Rule, Variable, remembered
from kg_reasoner.query.delta import Change, Changes, Delta
from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.storage.kernels.layout import BLANK, GENERAL, REFLEXIVE, VOCABULARY
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD

__all__ = ["Visibility"]

VOCABULARIES: Final = tuple(map(str, (RDF, RDFS, OWL, XSD)))

_OF_THE_W3C: Final = "http://www.w3.org/"
"""How all of them begin."""

_REFLEXIVE_PROPERTIES: Final = frozenset(
    map(str, (OWL.sameAs, OWL.equivalentClass, OWL.equivalentProperty, RDFS.subClassOf, RDFS.subPropertyOf))
)
_GENERAL_CLASSES: Final = frozenset(map(str, (RDFS.Resource, OWL.Thing)))

_FEW: Final = 16
"""The maximum number of terms or triples to examine one by one."""


class Visibility:
    """Distinguishes hidden triples from others, by the ids of a dictionary.

    Args:
        dictionary: The dictionary of the ids.
        shows_all: Whether nothing is hidden.

    >>> dictionary = Dictionary()
    >>> terms = [IRI("http://example.org/a"), OWL.sameAs, RDF.type, RDFS.Class, IRI("http://example.org/C")]
    >>> a, same_as, kind, cls, own = map(dictionary.encode, terms)
    >>> triples = np.array([(a, same_as, a), (a, same_as, own), (a, kind, own), (cls, kind, cls)], np.int32)
    >>> Visibility(dictionary).hides(triples).tolist()
    [True, False, False, True]
    """

    def __init__(self, dictionary: Dictionary, shows_all: bool = False) -> None:
        self.shows_all = shows_all
        self._dictionary = dictionary
        self._marks: npt.NDArray[np.uint8] = allocate(1, np.uint8, 0)
        self._marked = 0
        self._type = self._same_as = self._below = -1
        self._hiding = self._equating = self._identifying = 0
        """The number of rules that may derive hidden triples, of those about equality, and of those about identity."""

    def use(self, rules: Collection[Rule], change: int | None = None) -> None:
        """Set the rules, or those that were added (1) or removed (-1). Hidden triples are derived only by rules of the W3C's
        documents, and not by all of them.
        """
        names = [rule.origin.name for rule in rules]
        found = sum(map(_may_derive_hidden, rules)), names.count("eq-trans"), names.count("eq-ref")
        known, change = ((0, 0, 0), 1) if change is None else ((self._hiding, self._equating, self._identifying), change)
        self._hiding, self._equating, self._identifying = (
            before + change * more for before, more in zip(known, found, strict=True)
        )

    @property
    def is_active(self) -> bool:
        """Whether there may be hidden triples."""
        return self._hiding > 0 and not self.shows_all

    @property
    def states_identities(self) -> bool:
        """Whether a rule says that every term is the same as itself."""
        return self._identifying > 0

    def is_trivial(self, property: int) -> bool:
        """Return whether a property relates every term to itself: owl:sameAs, with rules about equality (even without eq-ref)."""
        self._look_at_new_terms()
        return self._equating > 0 and property == self._same_as

    def covers(self, property: int | str | None, value: int | str | None) -> bool:
        """Return whether hidden triples are omitted for a pattern with this property and object; variables are None or named."""
        if not self.is_active:
            return False
        self._look_at_new_terms()
        return not isinstance(property, int) or (not isinstance(value, int) and property == self._type)

    def hides(self, triples: Ids) -> Flags:
        """Return whether each inferred triple, given as ids of shape (n, 3), is hidden."""
        self._look_at_new_terms()
        if len(triples) <= _FEW:
            return np.array([self._hides(*triple) for triple in triples.tolist()], bool)
        hidden = self.hidden_in(*triples.T)
        return np.zeros(len(triples), np.bool_) if hidden is None else hidden

    def hides_none(self, triples: Ids) -> bool:
        """Return whether inferred triples, given as ids of shape (n, 3), are few and not hidden."""
        if len(triples) > _FEW:
            return False
        self._look_at_new_terms()
        return not any(self._hides(*triple) for triple in triples.tolist())

    def hidden_in(self, subjects: Ids | int, properties: Ids | int, values: Ids | int) -> Flags | None:
        """Return whether each inferred triple is hidden, given in columns, some of which may be constants; None: none is."""
        self._look_at_new_terms()
        marks = self._marks
        columns = np.broadcast_arrays(subjects, properties, values)
        hidden: Flags = (marks.take(columns[0]) & VOCABULARY) != 0
        is_special = (marks.take(properties) & VOCABULARY) != 0  # of one property, or of each
        if np.any(is_special):
            rows = np.flatnonzero(np.broadcast_to(is_special, hidden.shape))
            subjects, properties, values = (column.take(rows) for column in columns)
            kinds = marks.take(values)
            found = (subjects == values) & (marks.take(properties) & REFLEXIVE != 0)
            found |= (properties == self._type) & (kinds & (BLANK | GENERAL) != 0)
            found |= (properties == self._below) & (kinds & GENERAL != 0)
            hidden[rows] |= found
        return hidden if hidden.any() else None

    def marks(self) -> Mapping[str, Any]:
        """Return the fields of `kg_reasoner.storage.kernels.queries.around.Surroundings` that hide inferred triples."""
        self._look_at_new_terms()
        return {"marks": self._marks, "kind": self._type, "below": self._below, "is_hiding": int(self.is_active)}

    def are_vocabulary(self, terms: Ids) -> Flags:
        """Return whether each term belongs to the vocabularies, so that triples with this subject are hidden."""
        self._look_at_new_terms()
        found: Flags = (self._marks[terms] & VOCABULARY) != 0
        return found

    def _hides(self, subject: int, property: int, value: int) -> bool:
        """Return whether one inferred triple is hidden."""
        marks = self._marks.data
        if property == self._type and marks[value] & (BLANK | GENERAL):
            return True
        if property == self._below and marks[value] & GENERAL:
            return True
        return bool(marks[subject] & VOCABULARY) or (subject == value and bool(marks[property] & REFLEXIVE))

    def of_delta(self, delta: Delta) -> Delta:
        """Return the delta of visible triples: a hidden triple that becomes explicit is added, and vice versa."""
        if not self.is_active:
            return delta
        tables = delta.added.tables.get(TRIPLE), delta.removed.tables.get(TRIPLE), delta.restated.tables.get(TRIPLE)
        if tables == (None, None, None):
            return delta
        if all(table is None or self.hides_none(table.ids) or not self.hides(table.ids).any() for table in tables):
            return delta
        added, removed = (self._shown(table) for table in tables[:2])
        restated = tables[2]
        if restated is not None:
            hideable = self.hides(restated.ids)
            added += [restated.where(hideable & restated.explicit)]
            gone = restated.where(hideable & ~restated.explicit)
            removed += [Change(gone.ids, ~gone.explicit)]
            restated = restated.where(~hideable)
        return Delta(
            _with_triples(delta.added, added),
            _with_triples(delta.removed, removed),
            _with_triples(delta.restated, [] if restated is None else [restated]),
        )

    def _shown(self, change: Change | None) -> list[Change]:
        return [] if change is None else [change.where(change.explicit | ~self.hides(change.ids))]

    def _look_at_new_terms(self) -> None:
        """Compute the effect of new terms on the visibility of their triples."""
        if self._marked != len(self._dictionary):
            with self._dictionary.mutex:
                self._mark_new_terms()

    def _mark_new_terms(self) -> None:
        dictionary, first, count = self._dictionary, self._marked, len(self._dictionary)
        if count > len(self._marks):
            grown = allocate(2 * count, np.uint8, 0)
            grown[:first] = self._marks[:first]
            self._marks = grown
        if count - first <= _FEW:
            self._marks[first:count] = [_mark(dictionary.text(number)) for number in range(first, count)]
        else:
            self._marks[first:count] = np.where(dictionary.first_bytes()[first:] == ord("_"), BLANK, 0)
            similar = dictionary.with_prefix(f"<{_OF_THE_W3C}", np.arange(first, count, dtype=np.int32))
            for vocabulary in VOCABULARIES:
                for number in dictionary.with_prefix(f"<{vocabulary}", similar).tolist():
                    self._marks[number] = _mark(dictionary.text(number))
        self._type, self._same_as = dictionary.find(RDF.type), dictionary.find(OWL.sameAs)
        self._below = dictionary.find(RDFS.subClassOf)
        self._marked = count


def _mark(text: str) -> int:
    """Return the effect of a term, given by its text, on the visibility of its triples."""
    if text.startswith("_"):
        return BLANK
    if text[1:].startswith(VOCABULARIES) and text.startswith("<"):
        return VOCABULARY | (GENERAL if text in _GENERAL_CLASSES else 0) | (REFLEXIVE if text in _REFLEXIVE_PROPERTIES else 0)
    return 0


def _with_triples(changes: Changes, triples: Sequence[Change]) -> Changes:
    """Return changes with other triples."""
    tables = {name: change for name, change in changes.tables.items() if name != TRIPLE}
    if triples:
        tables[TRIPLE] = Change(
            np.concatenate([change.ids for change in triples]), np.concatenate([change.explicit for change in triples])
        )
    return Changes(changes.dictionary, tables)


@remembered
def _may_derive_hidden(rule: Rule) -> bool:
    """Return whether a rule belongs to the W3C's documents and concludes triples of any property, or about vocabulary terms."""
    if rule.head.predicate != TRIPLE or not BY_THE_BOOK.match(rule.origin.name or ""):
        return False
    subject, property, value = rule.head.terms
    if isinstance(property, Variable) or (property == RDF.type and not isinstance(value, IRI)):
        return True
    if _is_of_vocabulary(subject) or _is_of_vocabulary(value):
        return True
    return _is_of_vocabulary(property) and property != RDF.type


def _is_of_vocabulary(term: Argument) -> bool:
    return isinstance(term, IRI) and term.value.startswith(VOCABULARIES)
