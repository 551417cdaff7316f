"""The numbers of triples with each property and of each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_reasoner.storage.arrays import Ids, Rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, lend

__all__ = ["count_names"]


def count_names(blocks: Sequence[Rows], type_id: int, terms: int) -> tuple[Ids, Ids]:
    """Return by id how many triples have a term as their property, and as their class.

    Args:
        blocks: The triples.
        type_id: The id of rdf:type.
        terms: The number of all terms.
    """
    properties, classes = allocate(terms, np.int32, 0), allocate(terms, np.int32, 0)
    for triples in blocks:
        data = lend(np.ascontiguousarray(triples, np.int32))
        native.count_names(address(data), len(triples), type_id, address(properties), address(classes))
    return properties, classes
