"""Makes the classifier of a reasoner, see `kg_reasoner.classification`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kg_reasoner.api.answering.proof_axioms import ProofAxioms
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.api.operations.triple_history import TripleHistory
from kg_reasoner.classification.classifier import Classified, Classifier
from kg_reasoner.classification.derived import DEEP, EMPTY, UNIVERSAL, DerivedClassifier, derives_hierarchy
from kg_reasoner.classification.forked_reasoners import Fork, Member, Source
from kg_reasoner.classification.hierarchy import Hierarchy
from kg_reasoner.classification.usable_rules import reads_owl, without_schema_rules
from kg_reasoner.engine.equality.rewritten_rules import axioms
from kg_reasoner.language.printer import format_rule
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.program import Program
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from kg_reasoner.engine.inconsistency import Violation
    from kg_reasoner.explain.proofs import Proof
    from kg_reasoner.terms import Triple

__all__ = ["Hierarchies"]

_NOT_OWL = AxiomWarning("the rules of the program", "they are not those of OWL 2 RL, so not every axiom has its meaning")
_UNIVERSAL = AxiomWarning(
    "restrictions of owl:topObjectProperty", "it relates everything to everything, from which more may follow than the rules derive"
)
_DEEP = AxiomWarning("restrictions nested more than twelve deep", "they are not used; give the inner ones names")


class Given(Source, Protocol):
    """The reasoner whose hierarchy is wanted."""

    @property
    def core(self) -> ReasonerCore: ...

    @property
    def program(self) -> Program: ...

    def explain(self, fact: Any, effort: int | None = ..., /) -> Proof: ...

    def triples(self, subject: Any, predicate: Any, object: Any, which: Any = ..., /) -> Iterable[Triple]: ...


class Made(Fork, Protocol):
    """A reasoner for new members."""

    @property
    def core(self) -> ReasonerCore: ...


class Hierarchies:
    """The inferred hierarchies of a reasoner, one after the other.

    Args:
        reasoner: The reasoner.
        make: Makes another one, without rules and facts.
    """

    def __init__(self, reasoner: Given, make: Callable[[], Made]) -> None:
        self._reasoner = reasoner
        self._make = make
        self._program: Program | None = None
        self._classifier: Classifier | DerivedClassifier | None = None
        self._notes: tuple[AxiomWarning, ...] = ()
        self._known: tuple[Classified, Hierarchy] | None = None

    def current(self) -> Hierarchy:
        """Return the hierarchy of the current axioms; the same object if it is the same."""
        program = self._reasoner.program
        if self._classifier is None or self._program is not program:
            self._known = None
            self._classifier, self._notes = self._made(program)
            self._program = program
        classifier = self._classifier
        classified = classifier.classify()
        known = self._known
        if known is not None and known[0] is classified:
            return known[1]

        def prove(member: Member, fact: Triple | Violation, effort: int) -> Proof | None:
            proof = classifier.explain(classified, member, fact, effort)
            return None if proof is None else proof.with_prefixes(self._reasoner.core.prefixes)

        notes = (*self._reasoner.core.loaded.warnings(), *self._notes)
        hierarchy = Hierarchy(
            classified,
            prove,
            self._axioms_with,
            notes=notes,
            reads_owl=reads_owl(program) or derives_hierarchy(program),
            before=known,
            prefixes=self._reasoner.core.prefixes,
        )
        self._known = classified, hierarchy
        return hierarchy

    def _axioms_with(self, prefixes: Mapping[str, str] | None) -> Callable[[Proof], tuple[str, ...]]:
        """Return what reads the axioms of proofs, with prefixes or those of the reasoner."""
        return ProofAxioms(self._reasoner, self._reasoner.core.prefixes if prefixes is None else prefixes).of

    def _made(self, program: Program) -> tuple[Classifier | DerivedClassifier, tuple[AxiomWarning, ...]]:
        """Return the classifier for a program, and notes on the parts of the program that it does not use."""
        if derives_hierarchy(program):
            history = TripleHistory(self._reasoner.core)
            return DerivedClassifier(self._reasoner, self._derived_warnings, lambda: self._rows(EMPTY)[:, 0], history), ()
        used, refused = without_schema_rules(program)
        if self._reasoner.core.engine.base.equality.merges:
            used |= Program(axioms())
        reason = "it asks for what is absent, for names, or for unrelated things, so it says nothing of classes"
        notes = tuple(AxiomWarning(format_rule(rule, self._reasoner.core.prefixes), reason) for rule in refused)
        return Classifier(self._reasoner, used, self._fork), notes if reads_owl(program) else (*notes, _NOT_OWL)

    def _derived_warnings(self) -> tuple[AxiomWarning, ...]:
        """Return the warnings about axioms that the rules for the hierarchy do not cover."""
        engine = self._reasoner.core.engine
        notes = [note for relation, note in ((UNIVERSAL, _UNIVERSAL), (DEEP, _DEEP)) if len(self._rows(relation))]
        return (*engine.axioms.warnings, *self._known_of_individuals(), *notes)

    def _rows(self, predicate: str) -> Ids:
        """Return the facts of a general predicate; none if it is unknown, as before there are facts."""
        engine = self._reasoner.core.engine
        return engine.base.rows(predicate) if predicate in engine.catalog.predicates else np.empty((0, 2), np.int32)

    def _known_of_individuals(self) -> tuple[AxiomWarning, ...]:
        """Return the axioms that only rules of OWL 2 RL express, which derive no hierarchy."""
        axioms = self._reasoner.core.engine.axioms
        if self._reasoner.program.translate is None:
            return ()
        reported = {each.axiom for each in axioms.warnings}
        beyond = axioms.beyond_el(self._reasoner.core.engine.catalog)
        return tuple(
            AxiomWarning(
                each.axiom, f"{each.reason}; what follows for individuals is derived, but the hierarchy may lack some of it"
            )
            for each in beyond
            if each.axiom not in reported
        )

    def _fork(self, program: Program) -> Made:
        """Return a reasoner for new members, which does not repeat the warnings of the first one."""
        fork = self._make()
        fork.core.silence()
        with fork.core.engine.changing():
            fork.core.adopt(program)
        return fork
