"""Triples from templates: CONSTRUCT, and the INSERT and DELETE of updates."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np

from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import PatternTerm
from kg_reasoner.sparql.table import UNBOUND, Table, constant
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.storage.grouping import group_rows
from kg_reasoner.terms import BlankNode

__all__ = ["instantiated"]


def instantiated(template: Sequence[tuple[PatternTerm, ...]], table: Table, terms: QueryTerms) -> TripleIds:
    """Return the different triples that solutions make of a template.

    A blank node of the template becomes a fresh one for each solution. Triples that RDF does not know, and those with unbound
    variables, are left out (SPARQL 1.1 Query, section 16.2).

    Args:
        template: Triples with variables and blank nodes.
        table: The solutions.
        terms: The terms of the query.
    """
    made: dict[PatternTerm, Ids] = {}
    blocks: list[Ids] = [np.empty((0, 3), np.int32)]
    for triple in template:
        block = np.stack([_column(term, table, terms, made) for term in triple], axis=1)
        first = [terms.first_bytes(np.ascontiguousarray(block[:, place])) for place in (0, 1, 2)]
        proper = (first[0] != 0) & (first[0] != ord('"')) & (first[1] == ord("<")) & (first[2] != 0)
        blocks.append(block[proper])
    triples = np.concatenate(blocks)
    return triples[np.sort(group_rows(triples)[1])] if len(triples) else triples


def _column(term: PatternTerm, table: Table, terms: QueryTerms, made: dict[PatternTerm, Ids]) -> Ids:
    if isinstance(term, Variable):
        return table.columns.get(term.name, constant(UNBOUND, table.size))
    if isinstance(term, BlankNode):
        if term not in made:
            made[term] = terms.ids_of(BlankNode(f"b{uuid.uuid4().hex}") for _ in range(table.size))
        return made[term]
    return constant(terms.find(term), table.size)
