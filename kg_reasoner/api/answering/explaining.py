"""Proofs of a reasoner's facts, and the missing premises of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, cast, overload

from kg_reasoner.api.inputs.given_values import expect_prefixes
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.engine.facts.row_encoding import as_term, as_triple
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.errors import ReasonerError
from kg_reasoner.explain import Derivations, Explainer, Proof, WhyNot
from kg_reasoner.explain.explainer import check_version
from kg_reasoner.explain.identity_proofs import identity_proof
from kg_reasoner.language.display_names import merged
from kg_reasoner.program import TRIPLE, Atom, Program, Variable
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import IRI, OWL, AnyTriple, BlankNode, Literal, Triple

__all__ = ["Explanations"]


class Explained(Protocol):
    """The part of `kg_reasoner.api.reasoner.Reasoner` that is needed."""

    @property
    def core(self) -> ReasonerCore: ...

    def add_program(self, program: Program) -> None: ...

    def add_triples(self, triples: Any) -> None: ...

    def add_facts(self, predicate: str, rows: Any) -> None: ...

    def triples(self, subject: Any = None, predicate: Any = None, object: Any = None) -> Iterator[Triple]: ...


class Explanations:
    """The explanations of one reasoner. Its methods are those of `kg_reasoner.api.reasoner.Reasoner`.

    Args:
        core: The reasoner's core.
        other: Makes another reasoner with the same datatypes, and a program.
    """

    def __init__(self, core: ReasonerCore, other: Callable[[Program], Explained]) -> None:
        self._core, self._engine, self._other = core, core.engine, other
        self._explainer: Explainer | None = None

    def explain(self, fact: AnyTriple | Atom | Violation, effort: int | None, prefixes: Mapping[str, str] | None) -> Proof:
        """Find the shortest proof of a fact or of a violation."""
        _expect_effort(effort)
        fact, names = in_our_terms(fact), self._prefixes(prefixes)
        self._bring_up_to_date(fact)
        with self._engine.changing():
            proofs = self._of_identity(fact, lambda triple: [self._current().explain(triple, names, effort)])
            if proofs is not None:
                return next(proofs)
            return (self._by_axioms(fact) or self)._current().explain(fact, names, effort)

    def all_proofs(self, fact: AnyTriple | Atom | Violation, prefixes: Mapping[str, str] | None) -> Iterator[Proof]:
        """Return the well-founded proofs of a fact, the shortest first."""
        fact, names = in_our_terms(fact), self._prefixes(prefixes)
        self._bring_up_to_date(fact)
        with self._engine.changing():
            proofs = self._of_identity(fact, lambda triple: self._current().all_proofs(triple, names, self._version))
            if proofs is None:
                proofs = (self._by_axioms(fact) or self)._current().all_proofs(fact, names, self._version)
        return self._one_by_one(proofs)

    def why_not(self, fact: AnyTriple | Atom, prefixes: Mapping[str, str] | None) -> WhyNot:
        """Explain why a fact does not hold."""
        fact, names = in_our_terms(fact), self._prefixes(prefixes)
        self._bring_up_to_date(fact)
        with self._engine.changing():
            if self._of_identity(fact, lambda triple: ()) is not None:
                raise ReasonerError(f"{self._current().text(fact, names)} holds: call explain() to see why")
            return self._current().why_not(fact, names)

    def _prefixes(self, given: Mapping[str, str] | None) -> Mapping[str, str]:
        """Return the prefixes of the reasoner together with given ones."""
        if given is None:
            return self._core.prefixes
        expect_prefixes(given)
        return merged(self._core.prefixes, given)

    def _version(self) -> int:
        return self._engine.version

    def _of_identity(self, fact: Triple | Atom | Violation, proofs: Callable[[Triple], Iterable[Proof]]) -> Iterator[Proof] | None:
        """Return proofs that a term is the same as itself, those by explicit triples first; None if the fact is another one, or is
        stored.

        Args:
            fact: A fact.
            proofs: Returns proofs of a triple in which the term occurs.
        """
        terms = fact if isinstance(fact, tuple) else fact.terms if isinstance(fact, Atom) and fact.predicate == TRIPLE else ()
        if len(terms) != 3 or terms[1] != OWL.sameAs or terms[0] != terms[2]:
            return None
        dictionary, queries = self._core.dictionary, self._engine.base.queries
        term = dictionary.find(terms[0]) if isinstance(terms[0], IRI | BlankNode | Literal) else -1
        if term < 0 or not queries.is_unstored_identity(term):
            return None

        version = self._version()

        def found() -> Iterator[Proof]:
            for place, triples in queries.occurrences(term):
                yield from (identity_proof(proof, place) for proof in proved(triples))
            if terms[0] == OWL.sameAs:  # the identities of other terms have it
                for place, triples in queries.occurrences(None):
                    yield from (identity_proof(identity_proof(proof, place), 1) for proof in proved(triples))

        def proved(triples: Ids) -> Iterator[Proof]:
            for triple in dictionary.decode_rows(triples):
                check_version(self._version(), version)
                yield from proofs(cast(Triple, triple))

        return found()

    def _bring_up_to_date(self, fact: object) -> None:
        """Derive what a fact may follow from."""
        if isinstance(fact, Atom):
            self._core.request_relations([fact.predicate])
        self._core.materialise()

    def _one_by_one(self, proofs: Iterator[Proof]) -> Iterator[Proof]:
        """Yield proofs, each searched for while no other thread uses the engine."""
        while True:
            with self._engine.changing():
                proof = next(proofs, None)
            if proof is None:
                return
            yield proof

    def _by_axioms(self, fact: Triple | Atom | Violation) -> Explanations | None:
        """Return the explanations of a reasoner that derives equalities by axioms, for why merged terms are equal."""
        terms = fact if isinstance(fact, tuple) else fact.terms if isinstance(fact, Atom) and fact.predicate == TRIPLE else ()
        if not self._engine.base.equality.merges or len(terms) != 3 or terms[1] != OWL.sameAs or terms[0] == terms[2]:
            return None
        from kg_reasoner.engine.equality.rewritten_rules import axioms

        explainer = self._current()
        number = self._core.dictionary.find(terms[0])  # type: ignore[arg-type]  # a variable is refused later
        facts = self._engine.base.equality.support(explainer.derivations, number) if number >= 0 else None
        if facts is None:
            return None
        found = self._other(Program(self._engine.rules, prefixes=self._engine.program.prefixes))
        if not any(rule.origin.name == "eq-trans" for rule in self._engine.rules):
            found.add_program(Program(axioms()))
        for atom in facts:
            if atom.predicate == TRIPLE:
                found.add_triples([atom.terms])
            else:
                found.add_facts(atom.predicate, [atom.terms])
        return Explanations(found.core, self._other) if any(True for _ in found.triples(*terms)) else None

    def _current(self) -> Explainer:
        engine = self._engine
        engine.update()
        if self._explainer is None or self._explainer.derivations.catalog is not engine.catalog:
            base = engine.base
            derivations = Derivations(engine.catalog, base.materialiser.values, base.queries.statistics, engine.check_limits)
            self._explainer = Explainer(derivations, engine.base.equality.renaming())
        if self._explainer.version != engine.version:
            self._explainer.use(engine.version, engine.applied_rules)
        return self._explainer


@overload
def in_our_terms(fact: AnyTriple | Atom) -> Triple | Atom: ...
@overload
def in_our_terms(fact: AnyTriple | Atom | Violation) -> Triple | Atom | Violation: ...
def in_our_terms(fact: AnyTriple | Atom | Violation) -> Triple | Atom | Violation:
    """Return a fact in this package's terms."""
    if isinstance(fact, Atom):
        return replace(fact, terms=tuple(term if isinstance(term, Variable) else as_term(term) for term in fact.terms))
    return as_triple(fact) if isinstance(fact, tuple) and len(fact) == 3 else cast("Triple | Violation", fact)


def _expect_effort(given: object) -> None:
    """Check that the effort of a search is a number or None.

    Raises:
        ReasonerError: It is not.
    """
    if given is not None and not isinstance(given, int):
        raise ReasonerError(f"effort is a number of rule instances, or None for no limit, and not {given!r}")
