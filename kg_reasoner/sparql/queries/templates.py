"""Triples and quads from templates: CONSTRUCT, and the INSERT and DELETE of updates."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.concurrency.watching import blocks
from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import PatternTerm
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, constant
from kg_reasoner.sparql.update_algebra import QuadTemplate
from kg_reasoner.storage.arrays import Ids, TripleIds
from kg_reasoner.storage.grouping import group_rows
from kg_reasoner.terms import BlankNode

__all__ = ["instantiated", "instantiated_quads"]

AT_ONCE: Final = 1 << 12
"""The number of blank nodes that are made between two checks of the limits."""


def instantiated(template: Sequence[tuple[PatternTerm, ...]], table: Table, terms: QueryTerms) -> TripleIds:
    """Return the different triples that solutions make of a template.

    A blank node of the template becomes a fresh one for each solution. Triples that RDF does not know, and those with unbound
    variables, are left out (SPARQL 1.1 Query, section 16.2).

    Args:
        template: Triples with variables and blank nodes.
        table: The solutions.
        terms: The terms of the query.
    """
    return _instances(template, 3, table, terms)


def instantiated_quads(template: Sequence[QuadTemplate], table: Table, terms: QueryTerms) -> Ids:
    """Return the different quads that solutions make of a template, as `instantiated`; `UNBOUND` where it names no graph."""
    return _instances(template, 4, table, terms)


def _instances(template: Sequence[tuple[PatternTerm | None, ...]], width: int, table: Table, terms: QueryTerms) -> Ids:
    made: dict[PatternTerm, Ids] = {}
    blocks: list[Ids] = [np.empty((0, width), np.int32)]
    current_watch().check(table.size * len(template), 4 * width * table.size * len(template))
    for row in template:
        current_watch().check()
        columns = [_column(term, table, terms, made) for term in row]
        first = [terms.first_bytes(column) for column in columns]
        proper = (first[0] != 0) & (first[0] != ord('"')) & (first[1] == ord("<")) & (first[2] != 0)
        if width == 4 and row[3] is not None:
            proper &= (first[3] != 0) & (first[3] != ord('"'))
        blocks.append(np.stack(columns, axis=1)[proper])
    rows = np.concatenate(blocks)
    return rows.take(np.sort(group_rows(rows)[1]), axis=0) if len(rows) else rows


def _column(term: PatternTerm | None, table: Table, terms: QueryTerms, made: dict[PatternTerm, Ids]) -> Ids:
    if term is None:
        return constant(UNBOUND, table.size)
    if isinstance(term, Variable):
        return table.column(term.name)
    if isinstance(term, BlankNode):
        if term not in made:
            prefix = f"_:b{uuid.uuid4().hex}x"
            rows = range(table.size)
            ids = [terms.ids_of_texts([f"{prefix}{row}" for row in rows[part]]) for part in blocks(table.size, AT_ONCE)]
            made[term] = np.concatenate([constant(UNBOUND, 0), *ids])
        return made[term]
    return constant(terms.find(term), table.size)
