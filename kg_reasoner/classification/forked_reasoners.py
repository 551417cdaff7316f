"""The reasoners that classification works with, and the new members of classes and properties that it adds to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from kg_reasoner.classification.selection import Kind
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.program import Rule
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, Term, Triple

__all__ = ["Fork", "Member", "Source"]


class Source(Protocol):
    """The reasoner whose ontology is classified."""

    @property
    def dictionary(self) -> Dictionary: ...

    def triple_ids(self, which: Any = ..., predicate: Any = ..., /) -> TripleIds: ...

    def is_consistent(self) -> bool: ...


class Fork(Source, Protocol):
    """A reasoner for new members."""

    @property
    def rules(self) -> tuple[Rule, ...]: ...

    @property
    def warnings(self) -> list[AxiomWarning]: ...

    def add_triples(self, triples: Any, /) -> None: ...

    def remove_triples(self, triples: Any, /) -> None: ...

    def add_facts(self, predicate: str, rows: Any, /) -> None: ...

    def remove_facts(self, predicate: str, rows: Any, /) -> None: ...

    def triples(self, subject: Any = ..., predicate: Any = ..., object: Any = ..., /) -> Iterator[Triple]: ...

    def facts(self, predicate: str, /) -> Iterator[tuple[Term, ...]]: ...

    def predicates(self) -> dict[str, int]: ...

    def inconsistencies(self) -> list[Violation]: ...

    def explain(self, fact: Any, effort: int | None = ..., /) -> Proof: ...


@dataclass(frozen=True, slots=True)
class Member:
    """A new member of a class, or a new pair of terms that a property relates."""

    kind: Kind
    name: IRI
    fact: Triple

    def about(self, upper: Term) -> Triple:
        """Return the fact that says that the member belongs to another class or property, too."""
        subject, _, value = self.fact
        return (subject, RDF.type, upper) if self.kind == "class" else (subject, upper, value)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The new terms."""
        return self.fact[:1] if self.kind == "class" else (self.fact[0], self.fact[2])
