"""DESCRIBE: concise bounded descriptions, the triples of a resource and of the blank nodes that they lead to."""

from __future__ import annotations

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import Patterns
from kg_reasoner.sparql.evaluation.operator_interface import Evaluator
from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.storage.grouping import group_rows

__all__ = ["described"]

_PROPERTY, _VALUE = Variable(".property"), Variable(".value")


def described(evaluator: Evaluator, resources: Ids) -> TripleIds:
    """Return the description of resources: the triples with them as subjects, and with blank nodes that are objects of these.

    Args:
        evaluator: Evaluates patterns.
        resources: The resources, as different ids.
    """
    known, waiting = set[int](), resources.tolist()
    blocks: list[Ids] = [np.empty((0, 3), np.int32)]
    while waiting:
        current_watch().check()
        number = waiting.pop()
        if number in known:
            continue
        known.add(number)
        term = evaluator.terms.term(number)
        if term is None:
            continue
        found = evaluator.table(Patterns(((term, _PROPERTY, _VALUE),)))
        values = found.column(_VALUE.name)
        blocks.append(np.stack([np.full(found.size, number, np.int32), found.column(_PROPERTY.name), values], axis=1))
        waiting += values[evaluator.terms.first_bytes(values) == ord("_")].tolist()
    triples = np.concatenate(blocks)
    return triples.take(np.sort(group_rows(triples)[1]), axis=0) if len(triples) else triples
