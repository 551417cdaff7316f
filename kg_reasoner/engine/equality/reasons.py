"""Explanations of equality: the facts on which a proof can be based.

Once two terms are merged, their derivation only says that the representative equals itself. So a proof is searched for among the
asserted facts, by the axioms of equality, and only among facts that the merged facts may follow from.
"""

from __future__ import annotations

from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.engine.equality.names import Names
from kg_reasoner.explain.derivations import Derivations, Fact
from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.storage.kernels.layout import EXPLICIT
from kg_reasoner.terms import OWL

MOST_FACTS = 2_000
"""The maximum number of facts to examine."""

MOST_NAMES = 60
"""The maximum number of equal terms: axioms derive every fact for all combinations of them."""


def support(derivations: Derivations, cliques: Cliques, asserted_as: Names, term: int) -> list[Atom] | None:
    """Return the explicit facts from which the equalities of a term may follow; None if there are too many facts or terms."""
    decode, find = derivations.catalog.dictionary.decode, derivations.catalog.dictionary.find
    waiting: list[Fact] = []
    known: set[Fact] = set()
    met: set[int] = set()
    names = 0
    found: dict[Atom, None] = {}

    def need(fact: Fact) -> None:
        if fact not in known:
            known.add(fact)
            waiting.append(fact)

    def need_clique(number: int) -> None:
        nonlocal names
        members = cliques.members(number)
        representative = cliques.of_term(number)
        if len(members) > 1 and representative not in met:
            met.add(representative)
            names += len(members)
            fact = derivations.fact(Atom(TRIPLE, (decode(representative), OWL.sameAs, decode(representative))))
            if fact is not None:
                need(fact)

    need_clique(term)
    while waiting:
        if len(known) > MOST_FACTS or names > MOST_NAMES:
            return None
        fact = waiting.pop()
        atom = derivations.atom(fact)
        ids = [find(argument) for argument in atom.terms]  # type: ignore[arg-type]  # facts have no variables
        for number in ids:
            need_clique(number)
        if derivations.flags(fact) & EXPLICIT:
            asserted = asserted_as(atom.predicate, ids).tolist() or [ids]
            found.update((Atom(atom.predicate, tuple(map(decode, row))), None) for row in asserted)
        for instance in derivations.instances(fact):
            for premise in instance.premises:
                need(premise)
    return list(found)
