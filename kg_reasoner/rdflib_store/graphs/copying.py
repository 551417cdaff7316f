"""Copying explicit triples, with their graphs, between reasoners, each of which has its own ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.query.quads import GRAPHS
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner


def translated(ids: Ids, source: Dictionary, target: Dictionary) -> Ids:
    """Return the ids of the same terms in another dictionary, which assigns new ones where necessary."""
    terms, positions = np.unique(ids, return_inverse=True)
    codes = target.encode_texts(source.texts_of(terms))
    return codes[positions.reshape(ids.shape)]


def copy_explicit(source: Reasoner, target: Reasoner) -> None:
    """Add the explicit triples of a reasoner to another one, in the same graphs."""
    quads = source.core.queries.quads
    triples = source.engine.base.triples("explicit")
    if GRAPHS not in source.engine.catalog.predicates:
        target.add_triples(translated(triples, source.dictionary, target.dictionary))
        return
    graphs = target.named_graphs
    graphs.add_triples(translated(triples[quads.in_default(triples)], source.dictionary, target.dictionary))
    graphs.add(translated(quads.match_quads(None, None, None, None), source.dictionary, target.dictionary))
    graphs.create(translated(quads.names(), source.dictionary, target.dictionary))
