"""Reading triples that match a pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.engine.facts.row_encoding import as_term, find_term
from kg_reasoner.query.matching import Which, check_which
from kg_reasoner.query.patterns import match_triples
from kg_reasoner.storage.arrays import TripleIds, selected_rows
from kg_reasoner.terms import AnyTerm, Triple

__all__ = ["triple_ids", "triples"]


class HasCore(Protocol):
    """A `kg_reasoner.api.reasoner.Reasoner`, as far as it is needed."""

    core: ReasonerCore


def triple_ids(core: ReasonerCore, which: Which, predicate: AnyTerm | None) -> TripleIds:
    """See `kg_reasoner.api.reasoner.Reasoner.triple_ids`."""
    check_which(which)
    with core.reading(which):
        base = core.engine.base
        ids = base.triples(which) if predicate is None else base.triples_of(core.dictionary.find(as_term(predicate)), which)
        first = core.dictionary.first_bytes()
        kept = first.take(ids[:, 0]) != ord('"')
        if predicate is None:
            kept &= first.take(ids[:, 1]) == ord("<")
        seen: TripleIds = core.queries.seen(ids if kept.all() else selected_rows(ids, kept), which=which)
        return seen.copy() if seen.base is not None else seen


def triples(reasoner: HasCore, pattern: Sequence[AnyTerm | None], which: Which) -> Iterator[Triple]:
    """See `kg_reasoner.api.reasoner.Reasoner.triples`."""
    check_which(which)
    with reasoner.core.reading(which):
        ids = [None if term is None else find_term(reasoner.core.dictionary, term) for term in pattern]
        found = None if -1 in ids else np.array(match_triples(reasoner, ids, which))
    if found is not None:
        for row in reasoner.core.dictionary.decode_rows(found):
            yield row[0], row[1], row[2]
