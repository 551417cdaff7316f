"""Learning from queries that are asked with other constants again and again, see `kg_reasoner.sparql.repeated.query_shapes`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kg_reasoner.query.patterns import Queries
from kg_reasoner.sparql.evaluation.cutting import Cut
from kg_reasoner.sparql.evaluation.datasets import Ready, RepeatedQueries
from kg_reasoner.sparql.queries.parsed import ParsedQuery
from kg_reasoner.sparql.repeated.query_shapes import shape_of
from kg_reasoner.sparql.repeated.shortcut import ALWAYS
from kg_reasoner.sparql.repeated.shortcuts import shortcut_of
from kg_reasoner.terms import Term

__all__ = ["known_shapes", "learn_shape"]


def known_shapes(known: RepeatedQueries, text: Cut) -> Iterator[tuple[tuple[object, ...], Ready, dict[str, Term]]]:
    """Yield what has been learned that may answer a query: its key in `known.ready`, what is there, and the parameters' values.

    Args:
        known: What has been learned.
        text: The text of the query.
    """
    seen = known.shapes.get(text.outline)
    for key in () if seen is None else seen.keys(text):
        ready = known.ready.get(key)
        values = None if ready is None else ready[2].bindings(text.constants)
        if ready is not None and values is not None:
            yield key, ready, values


def learn_shape(
    known: RepeatedQueries, text: Cut, parsed: ParsedQuery, state: int | None, queries: Queries, prefixes: Mapping[str, Any]
) -> None:
    """Remember the remaining work for queries of the same shape, within a reading, when a second one is asked in a state.

    Args:
        known: Is changed.
        text: The text of the query.
        parsed: The query, whose default graph has all triples.
        state: Identifies the state of the data; None: it has none.
        queries: Answers its patterns.
        prefixes: Namespaces for the prefixes that the text does not declare.
    """
    if state is None or parsed.clauses:
        return
    outline = known.outline(text.outline)
    if not outline.should_learn(text, state):
        return
    shape = shape_of(parsed.prepared({}, joins_graphs=True), text, prefixes)
    shortcut = None if shape is None else shortcut_of(shape.prepared({}, joins_graphs=True), queries, shape.names)
    places = frozenset(() if shape is None else shape.places)
    if shortcut is not None:
        shortcut.tries = ALWAYS
        known.remember(text.key(places), (state, shortcut, shape))
    outline.note(text, places, state)
