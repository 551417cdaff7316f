"""Proofs that a term is the same as itself, by eq-ref of OWL 2 Profiles (table 4), where no rule derives it."""

from __future__ import annotations

from typing import Final

from kg_reasoner.explain.proofs import Proof
from kg_reasoner.explain.steps import Step
from kg_reasoner.program import TRIPLE, Atom, Origin, Rule, Variable
from kg_reasoner.terms import OWL

__all__ = ["identity_proof"]

_TRIPLE: Final = tuple(map(Variable, "spo"))
_RULES: Final = tuple(Rule(Atom(TRIPLE, (term, OWL.sameAs, term)), (Atom(TRIPLE, _TRIPLE),), Origin("eq-ref")) for term in _TRIPLE)


def identity_proof(proof: Proof, place: int) -> Proof:
    """Return a proof that a term is the same as itself.

    Args:
        proof: A proof of a triple.
        place: The place of the term in it.
    """
    triple = proof.conclusion
    assert isinstance(triple, Atom)
    term = triple.terms[place]
    bindings = tuple(zip(_TRIPLE, triple.terms, strict=True))
    step = Step(Atom(TRIPLE, (term, OWL.sameAs, term)), "rule", _RULES[place], bindings, (len(proof.steps) - 1,))  # type: ignore[arg-type]  # a fact has no variables
    return Proof((*proof.steps, step), proof.shortest and proof.height == 0, proof.prefixes)
