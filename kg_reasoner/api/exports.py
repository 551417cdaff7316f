"""The triples that are written to documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.storage.grouping import among
from kg_reasoner.terms import IRI, OWL, RDFS

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.query.matching import Which
    from kg_reasoner.storage.arrays import TripleIds

__all__ = ["exported"]

_EQUIVALENCES = {RDFS.subClassOf: OWL.equivalentClass, RDFS.subPropertyOf: OWL.equivalentProperty}


def exported(reasoner: Reasoner, which: Which = "all") -> TripleIds:
    """Return the triples for a document, as ids of shape (n, 3): `Reasoner.triple_ids` without those that repeat an equivalence.

    Each of two equivalent classes or properties is a subclass or subproperty of the other. Inferred triples that state this add no
    information, and some programs do not terminate on cycles in a hierarchy (``search`` of owlready2 is one). A reasoner that shows
    hidden triples keeps them.
    """
    triples = reasoner.triple_ids(which)
    if reasoner.visibility.shows_all or which == "explicit":
        return triples
    repeating = np.concatenate([_below(reasoner, *pair) for pair in _EQUIVALENCES.items()])
    if len(repeating) == 0:
        return triples
    gone = np.flatnonzero(among(triples, repeating))
    if which == "all":
        gone = gone[~among(triples[gone], reasoner.triple_ids("explicit"))]
    return np.delete(triples, gone, axis=0)


def _below(reasoner: Reasoner, below: IRI, equivalent: IRI) -> TripleIds:
    """Return, for each equivalence, explicit or inferred, the triple of the hierarchy that repeats it."""
    found = reasoner.triple_ids("all", equivalent).copy()
    found[:, 1] = reasoner.dictionary.find(below)
    return found
