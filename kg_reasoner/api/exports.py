"""The triples that are written to documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.query.tables import among
from kg_reasoner.terms import IRI, OWL, RDFS

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.query.matching import Which
    from kg_reasoner.storage.arrays import TripleIds

__all__ = ["exported"]

_EQUIVALENCES = {RDFS.subClassOf: OWL.equivalentClass, RDFS.subPropertyOf: OWL.equivalentProperty}


def exported(reasoner: Reasoner, which: Which = "all") -> TripleIds:
    """Triples for a document, as ids of shape (n, 3): `Reasoner.triple_ids` without what only repeats an equivalence.

    Of equivalent classes or properties, each is below the other. Where that is inferred it says nothing new, and there are programs
    that do not end on circles in a hierarchy (owlready2's ``search`` is one). A reasoner that shows hidden triples keeps all.
    """
    triples = reasoner.triple_ids(which)
    if reasoner.visibility.shows_all or which == "explicit":
        return triples
    repeating = np.concatenate([_below(reasoner, triples, *pair) for pair in _EQUIVALENCES.items()])
    if len(repeating) == 0:
        return triples
    gone = np.flatnonzero(among(triples, repeating))
    gone = gone[~among(triples[gone], reasoner.triple_ids("explicit"))]
    return np.delete(triples, gone, axis=0)


def _below(reasoner: Reasoner, triples: TripleIds, below: IRI, equivalent: IRI) -> TripleIds:
    """What the equivalences among some triples say of the hierarchy."""
    find = reasoner.dictionary.find
    found = triples[triples[:, 1] == find(equivalent)]  # a copy
    found[:, 1] = find(below)
    return found
