"""SPARQL queries: whole basic graph patterns are joined by the engine; everything else is rdflib's.

rdflib evaluates a basic graph pattern triple by triple, in an order that goes by the number of bound terms only. This module is its
`rdf.plugins.sparqleval` extension and takes over where the graph's store is ours. What lies directly on a basic graph pattern (a
projection, DISTINCT, LIMIT, ASK) is evaluated together with it, so that only what is asked for becomes rdflib terms.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from weakref import WeakSet

    from rdflib import Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext
    from rdflib.term import Node

    from kg_reasoner.matching import Ids, Which
    from kg_reasoner.query import Pattern
    from kg_reasoner.rdflib_terms import RdflibTerms
    from kg_reasoner.reading import Reading
    from kg_reasoner.reasoner import Reasoner


class PatternSource:
    """A store whose basic graph patterns are evaluated here: one of ours, or a view of one."""

    which: Which = "all"
    reasoner: Reasoner
    terms: RdflibTerms
    readings: WeakSet[Reading]
    """What is being read, and has to be completed before anything changes."""

    def prepare(self) -> None:
        """Bring what is read up to date; terms that rules speak of have ids from then on."""
        raise NotImplementedError


def evaluate(context: QueryContext, part: CompValue) -> Any:
    """The solutions of a part of a query over one of our stores, in the form that rdflib's evaluator has for them.

    Raises:
        NotImplementedError: it is a part that rdflib evaluates by itself, or another store; rdflib goes on.
    """
    source = getattr(context.graph, "store", None)
    if not isinstance(source, PatternSource):
        raise NotImplementedError
    if part.name == "Join" and part.p1.name == "BGP" and not part.p1.triples and part.p2.name == "BGP":
        part = part.p2  # what stands in an EXISTS is a join with nothing; rdflib would make a set of its solutions
    projection = part if part.name in ("BGP", "Project") else part.p
    pattern = projection.p if projection is not None and projection.name == "Project" else projection
    if part.name not in ("BGP", "Project", "Distinct", "Slice", "AskQuery") or pattern.name != "BGP":
        raise NotImplementedError
    from kg_reasoner.sparql_paths import without_sequences

    triples, paths, made = without_sequences(pattern.triples)
    if paths and (part is not pattern or (len(paths) == 1 and not triples)):
        raise NotImplementedError  # a single path is no join
    if part is pattern:
        return _joined_with_paths(context, source, triples, paths, made) if made or paths else _solutions(context, source, triples)
    if part.name == "AskQuery":
        return {"type_": "ASK", "askAnswer": any(True for _ in _solutions(context, source, triples, (), limit=1))}
    if part.name == "Slice":
        end = None if part.length is None else part.start + part.length
        return islice(_solutions(context, source, triples, projection.PV, limit=end), part.start, end)
    return _solutions(context, source, triples, projection.PV, distinct=part.name == "Distinct")


def _joined_with_paths(
    context: QueryContext, source: PatternSource, triples: Sequence[Any], paths: Sequence[Any], made: Container[Any]
) -> Iterator[FrozenBindings]:
    """The solutions of plain patterns and property paths, without the variables that were made for sequences."""
    from rdflib.plugins.sparql.sparql import FrozenBindings

    from kg_reasoner.sparql_paths import join_with_paths

    outside: dict[Any, Any] = dict(context.bindings)
    groups = _groups(triples, outside) if paths else [triples]
    tables = [[dict(solution) for solution in _solutions(context, source, group)] for group in groups]
    for binding in join_with_paths(cast("Graph", context.graph), tables, paths, outside):
        yield FrozenBindings(context, {name: node for name, node in binding.items() if name not in made})


def _groups(triples: Sequence[Any], outside: Container[Any]) -> list[list[Any]]:
    """Patterns that have unbound variables in common, directly or through others, together."""
    from rdflib.term import BNode, Variable

    groups: list[tuple[set[Any], list[Any]]] = []
    for triple in triples:
        variables = {term for term in triple if isinstance(term, (BNode, Variable)) and term not in outside}
        together = [group for group in groups if not group[0].isdisjoint(variables)]
        groups = [group for group in groups if group[0].isdisjoint(variables)]
        groups.append(
            (variables.union(*(group[0] for group in together)), [triple, *(part for group in together for part in group[1])])
        )
    return [group[1] for group in groups]


def _solutions(
    context: QueryContext,
    source: PatternSource,
    triples: Sequence[Any],
    projection: Container[Node] | None = None,
    *,
    distinct: bool = False,
    limit: int | None = None,
) -> Iterator[FrozenBindings]:
    """The solutions of plain triple patterns, each with what is bound outside; projected, if that is wanted, by their ids."""
    from rdflib.plugins.sparql.sparql import FrozenBindings

    outside: dict[Any, Any] = dict(context.bindings)
    source.prepare()
    terms = source.terms
    query = _query(source, triples, outside)
    if query is None:
        return
    patterns, names = query
    variables = [name for name in names if projection is None or name in projection]
    bound = [(name, node) for name, node in outside.items() if projection is None or name in projection]
    for rows in _tables(source, patterns, [names[name] for name in variables], distinct, limit):
        for row in terms.rows(rows):
            found = zip(variables, row, strict=True)
            yield FrozenBindings(context, [*bound, *found] if bound else found)


def _query(source: PatternSource, triples: Sequence[Any], outside: dict[Any, Any]) -> tuple[list[Pattern], dict[Any, str]] | None:
    """Patterns of ids and names, and the names of variables, blank nodes among them; None if a term occurs nowhere."""
    from rdflib.term import BNode, Variable

    find = source.terms.find
    names: dict[Any, str] = {}
    patterns: list[Pattern] = []
    for triple in triples:
        pattern: list[int | str] = []
        for term in triple:
            node = outside.get(term) if isinstance(term, (Variable, BNode)) else term
            if node is None:
                pattern.append(names.setdefault(term, f"v{len(names)}"))
            else:
                number = find(node)
                if number < 0:
                    return None
                pattern.append(number)
        patterns.append((pattern[0], pattern[1], pattern[2]))
    return patterns, names


def _tables(source: PatternSource, patterns: list[Pattern], names: list[str], distinct: bool, limit: int | None) -> Iterator[Ids]:
    """The values of variables in all solutions."""
    import numpy as np

    from kg_reasoner.query import answers
    from kg_reasoner.reading import FIRST, Reading
    from kg_reasoner.tables import distinct as distinct_rows

    if not patterns:
        yield np.empty((1, 0), np.int32)
    elif distinct:
        rows = answers(source.reasoner, patterns, names, source.which)
        yield distinct_rows(rows)
    else:
        reading = Reading(source.reasoner, patterns, names, source.which, FIRST if limit is None else limit)
        if not reading.is_complete:
            source.readings.add(reading)
        yield from reading.blocks()
