"""The inferred hierarchy of an ontology: unsatisfiable classes and properties, and direct inclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final

from kg_reasoner.classification.classifier import Classified
from kg_reasoner.classification.forked_reasoners import Member
from kg_reasoner.classification.selection import KINDS, Kind
from kg_reasoner.classification.taxonomy import Taxonomy
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.facts.row_encoding import as_term
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.errors import NoProofError, ReasonerError
from kg_reasoner.explain.proof_search import EFFORT
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.terms import IRI, OWL, RDFS, AnyTerm, Term, Triple

__all__ = ["BELOW", "NOTHING", "Hierarchy", "Unsatisfiable"]

_Prove = Callable[[Member, "Triple | Violation", int], "Proof | None"]
_AxiomsWith = Callable[["Mapping[str, str] | None"], Callable[[Proof], tuple[str, ...]]]
"""Returns, for prefixes, what reads the axioms of proofs."""

_EFFORT_FOR_ALL: Final = 50_000
"""Rule instances that are looked at for the proofs of all unsatisfiable names."""

_LEAST_EFFORT: Final = 20
"""Those that are looked at for each."""

BELOW: Final = {"class": RDFS.subClassOf, "object property": RDFS.subPropertyOf, "data property": RDFS.subPropertyOf}
_EQUIVALENT: Final = {
    "class": OWL.equivalentClass,
    "object property": OWL.equivalentProperty,
    "data property": OWL.equivalentProperty,
}


@dataclass(frozen=True)
class Unsatisfiable:
    """A class that can have no members, or a property that can relate nothing.

    Attributes:
        name: Its IRI.
        kind: ``class``, ``object property`` or ``data property``.
        violation: The constraint that a member violates.
    """

    name: IRI
    kind: Kind
    violation: Violation
    _member: Member = field(repr=False)
    _prove: _Prove = field(repr=False, compare=False)
    _axioms_with: _AxiomsWith = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash((self.kind, self.name))

    @property
    def proof(self) -> Proof:
        """The proof of the contradiction from the axioms and one new member, ``_:some_<name>``.

        Raises:
            ReasonerError: The ontology has changed since.
        """
        return _current(self._prove(self._member, self.violation, EFFORT))

    def axioms(self, prefixes: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Return the axioms that the proof uses, in functional syntax: why there can be no members, without the steps.

        Args:
            prefixes: The prefixes to use; by default those of the reasoner.

        Returns:
            The axioms, in the order of the proof.

        Raises:
            ReasonerError: The ontology has changed since.
        """
        return self._axioms_with(prefixes)(self.proof)


class Hierarchy:
    """The inferred hierarchy of an ontology, as it was when `kg_reasoner.api.reasoner.Reasoner.hierarchy` was called.

    Attributes:
        classes: The order of the satisfiable classes.
        object_properties: That of the object properties. Properties that are not declared as data properties are among them.
        data_properties: That of the data properties.
        unsatisfiable: The unsatisfiable names: first the classes, then the properties, in the order of their IRIs.
        is_consistent: Whether the ontology is consistent. An inconsistent one entails everything; the hierarchy has what the
            rules derive.
        warnings: The axioms, and rules of the program, that were not or not fully used.
        complete: Whether the hierarchy has everything that follows from the ontology. That is so if all axioms are in OWL 2 RL. If
            not, all that the hierarchy says is true, but there may be more.
    """

    def __init__(
        self,
        classified: Classified,
        prove: _Prove,
        axioms_with: _AxiomsWith,
        *,
        notes: tuple[AxiomWarning, ...],
        reads_owl: bool,
        before: tuple[Classified, Hierarchy] | None = None,
        prefixes: Mapping[str, str] | None = None,
    ) -> None:
        self._prefixes = prefixes or {}
        self._classified_members = classified.members
        self._prove = prove
        self._axioms_with = axioms_with
        self.warnings: tuple[AxiomWarning, ...] = (*classified.warnings, *notes)
        self.is_consistent = classified.is_consistent
        self.complete = reads_owl and not self.warnings
        found = [
            Unsatisfiable(
                classified.members[kind][number].name, kind, violation, classified.members[kind][number], prove, axioms_with
            )
            for kind in KINDS
            for number, violation in classified.unsatisfiable[kind].items()
        ]
        self.unsatisfiable = tuple(sorted(found, key=lambda each: (KINDS.index(each.kind), each.name.value)))
        self.classes, self.object_properties, self.data_properties = (_taxonomy(classified, kind, before) for kind in KINDS)

    def __repr__(self) -> str:
        counts = f"classes={len(self.classes)}, unsatisfiable={len(self.unsatisfiable)}"
        return f"<Hierarchy {counts}, complete={self.complete}>"

    @cached_property
    def _members(self) -> Mapping[Kind, Mapping[Term, Member]]:
        """The members by name."""
        return {kind: {member.name: member for member in self._classified_members[kind]} for kind in KINDS}

    @cached_property
    def taxonomies(self) -> Mapping[Kind, Taxonomy]:
        """The orders by the kinds of their names."""
        return {"class": self.classes, "object property": self.object_properties, "data property": self.data_properties}

    def explain(self, lower: AnyTerm, upper: AnyTerm) -> Proof:
        """Prove that a class or property is below another one, or equivalent to it, from the axioms and a new member.

        Args:
            lower: Its name.
            upper: The name of the other one.

        Returns:
            The proof that a new member of the former, ``_:some_<name>``, belongs to the latter.

        Raises:
            NoProofError: The former is not below the latter.
            ReasonerError: There is no such name, or the ontology has changed since.
        """
        below, above = as_term(lower), as_term(upper)
        for kind in KINDS:
            if below not in self._members[kind]:
                continue
            fact = self._members[kind][below].about(above)
            if (
                below in self.taxonomies[kind]
                and above in self.taxonomies[kind]
                and not self.taxonomies[kind].is_below(below, above)
            ):
                raise NoProofError(f"{below} is not below {above}")
            return _current(self._prove(self._members[kind][below], fact, EFFORT))
        raise ReasonerError(f"{below} is neither a class nor a property of this ontology")

    def explanations(self, prefixes: Mapping[str, str] | None = None) -> Iterator[tuple[Unsatisfiable, tuple[str, ...], Proof]]:
        """Yield the unsatisfiable names, each with the axioms that make it so and a proof.

        A limited effort is divided between them: of many names, some proofs may not be the shortest, as `proof` would be.

        Args:
            prefixes: The prefixes to use; by default those of the reasoner.

        Returns:
            An iterator of names, axioms and proofs.

        Raises:
            ReasonerError: The ontology has changed since.
        """
        effort = max(_LEAST_EFFORT, _EFFORT_FOR_ALL // max(1, len(self.unsatisfiable)))
        axioms_of = self._axioms_with(prefixes)
        for each in self.unsatisfiable:
            proof = _current(self._prove(each._member, each.violation, effort))
            yield each, axioms_of(proof), proof.with_prefixes(prefixes or {})

    def axioms(self) -> Iterator[Triple]:
        """Yield the axioms of the hierarchy as triples: the nearest above each name, and equivalences.

        Of several equivalent names above a name, one is given. Unsatisfiable classes are equivalent to owl:Nothing, unsatisfiable
        properties to owl:bottomObjectProperty or owl:bottomDataProperty.

        Returns:
            An iterator of triples.
        """
        for each in self.unsatisfiable:
            yield each.name, _EQUIVALENT[each.kind], NOTHING[each.kind]
        for kind, taxonomy in self.taxonomies.items():
            for (first, *others), above in taxonomy.places():
                yield from ((first, _EQUIVALENT[kind], other) for other in others)
                yield from ((first, BELOW[kind], upper) for upper in above)

    def text(self, prefixes: Mapping[str, str] | None = None) -> str:
        """Return the hierarchy as an indented tree, unsatisfiable names first.

        Args:
            prefixes: Prefixes or labels that shorten names, see `Reasoner.labels`; by default the prefixes of the reasoner.

        Returns:
            The tree.
        """
        from kg_reasoner.classification.forms import tree_text

        return tree_text(self, self._prefixes if prefixes is None else prefixes)

    def as_dict(self, prefixes: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the hierarchy as dicts, lists and texts that `json` can write; the prefixes are those of proofs.

        Args:
            prefixes: As for `text`.

        Returns:
            The data.
        """
        from kg_reasoner.classification.forms import as_dict

        return as_dict(self, self._prefixes if prefixes is None else prefixes)

    def svg(self, prefixes: Mapping[str, str] | None = None) -> str:
        """Return a picture of the tree as SVG.

        Args:
            prefixes: As for `text`.

        Returns:
            The text of the picture.
        """
        from kg_reasoner.classification.picture import svg

        return svg(self, self._prefixes if prefixes is None else prefixes)

    def html(self, prefixes: Mapping[str, str] | None = None) -> str:
        """Return a self-contained HTML page.

        Args:
            prefixes: As for `text`.

        Returns:
            The text of the page.
        """
        from kg_reasoner.classification.forms import page

        return page(self, self._prefixes if prefixes is None else prefixes)


NOTHING: Final = {
    "class": OWL.Nothing,
    "object property": OWL.bottomObjectProperty,
    "data property": OWL.bottomDataProperty,
}


def _taxonomy(classified: Classified, kind: Kind, before: tuple[Classified, Hierarchy] | None) -> Taxonomy:
    """Return the order of the satisfiable names, made from the one before if it has the same names."""
    change, members, absent = classified.change, classified.members[kind], classified.unsatisfiable[kind]
    if before is not None:
        former, own = before[0], before[1].taxonomies[kind]
        if change is not None and change.before() is former:
            return own.after(change.gone[kind], change.new[kind], absent)
        if former.members[kind] is members:
            return own.changed(classified.pairs(kind), absent)
    return Taxonomy([member.name for member in members], classified.pairs(kind), absent)


def _current(proof: Proof | None) -> Proof:
    if proof is None:
        raise ReasonerError("the ontology has changed since it was classified: call hierarchy() again")
    return proof
