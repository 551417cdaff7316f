"""SPARQL: whole basic graph patterns are joined by the engine; everything else is rdflib's.

rdflib evaluates a basic graph pattern triple by triple in an order that goes by the number of bound terms only. This module is its
`rdf.plugins.sparqleval` extension and takes over where the graph's store is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext

    from kg_reasoner.store import KGReasonerStore


def evaluate(context: QueryContext, part: CompValue) -> Iterator[FrozenBindings]:
    """The solutions of a basic graph pattern over a `KGReasonerStore`.

    Raises:
        NotImplementedError: it is another part of a query, or another store; rdflib goes on by itself.
    """
    if part.name != "BGP":
        raise NotImplementedError
    from kg_reasoner.store import KGReasonerStore

    store = getattr(context.graph, "store", None)
    if not isinstance(store, KGReasonerStore):
        raise NotImplementedError
    return _solutions(context, store, part.triples)


def _solutions(context: QueryContext, store: KGReasonerStore, triples: list[Any]) -> Iterator[FrozenBindings]:
    """Join the patterns that are plain triples; property paths are left to rdflib, once the rest is bound."""
    from rdflib.paths import Path
    from rdflib.plugins.sparql.evaluate import evalBGP
    from rdflib.plugins.sparql.sparql import FrozenBindings

    plain = [triple for triple in triples if not isinstance(triple[1], Path)]
    paths = [triple for triple in triples if isinstance(triple[1], Path)]
    if not paths:
        outer = list(context.bindings.items())
        for solution in _join(context, store, plain):
            yield FrozenBindings(context, outer + solution)
        return
    for solution in _join(context, store, plain):
        inner = context.push()
        for variable, node in solution:
            inner[variable] = node
        ordered = sorted(paths, key=lambda triple: sum(inner[term] is None for term in triple))
        yield from evalBGP(inner, ordered)


def _join(context: QueryContext, store: KGReasonerStore, triples: list[Any]) -> Iterator[list[tuple[Any, Any]]]:
    """For each solution the variables that it binds newly, with their values. Blank nodes of a query are variables."""
    from kg_reasoner.errors import LoadError
    from kg_reasoner.loaders.convert import text_from_rdflib
    from kg_reasoner.query import Pattern, answers

    store.flush()
    find = store.reasoner.dictionary.find_text
    names: dict[Any, str] = {}
    patterns: list[Pattern] = []
    for triple in triples:
        terms: list[int | str] = []
        for term in triple:
            value = context[term]
            if value is None:
                terms.append(names.setdefault(term, f"v{len(names)}"))
                continue
            try:
                number = find(text_from_rdflib(value))
            except LoadError:
                return
            if number < 0:
                return
            terms.append(number)
        patterns.append((terms[0], terms[1], terms[2]))
    if not patterns:
        yield []
        return
    variables = list(names)
    node = store.node
    for row in answers(store.reasoner, patterns, list(names.values())).tolist():
        yield [(variable, node(number)) for variable, number in zip(variables, row, strict=True)]
