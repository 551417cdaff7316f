"""SPARQL queries: whole basic graph patterns are joined by the engine; rdflib evaluates everything else.

rdflib evaluates a basic graph pattern triple by triple, in an order that depends on the number of bound terms only. This module is
its `rdf.plugins.sparqleval` extension and takes over for graphs over stores of this package. Operators directly above a basic
graph pattern (a projection, DISTINCT, LIMIT, ASK) are evaluated together with it, so that only the requested values become
rdflib terms. Patterns in a GRAPH are joined with those outside; where this is impossible, GRAPH is evaluated graph by graph.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.rdflib_store.query_dataset import DatasetStore

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import FrozenBindings, QueryContext
    from rdflib.term import Node

    from kg_reasoner.query.patterns import AnyPattern
    from kg_reasoner.rdflib_store.query_dataset import PatternSource, QueryDataset
    from kg_reasoner.storage.arrays import Ids

_QUERIES: Final = ("SelectQuery", "AskQuery", "ConstructQuery", "DescribeQuery")
_SERVICE: Final = re.compile(r"service <(.*)>[ \n]*{.*}[ \n]*$", re.DOTALL | re.IGNORECASE)
"""What rdflib looks for."""

PlacedTriple: TypeAlias = "tuple[Node, Node, Node, Node | None]"
"""A pattern, and the graph that it is for: a name or a variable; None is the active graph."""


def evaluate(context: QueryContext, part: CompValue) -> Any:
    """Return the solutions of a part of a query over a store of this package, in the form of rdflib's evaluator.

    Raises:
        NotImplementedError: rdflib evaluates the part by itself, or the store is another one; rdflib continues.
        NotAllowedError: The owner of the store has not allowed a SERVICE.
    """
    store = getattr(context.graph, "store", None)
    if not isinstance(store, DatasetStore):
        raise NotImplementedError
    dataset = store.dataset
    if part.name in _QUERIES:
        from kg_reasoner.rdflib_store.sparql_functions import bind_functions

        bind_functions(part)
        return _evaluate_query(context, dataset, part)
    if part.name == "ServiceGraphPattern":
        _check_service(context, dataset, part)
    return _evaluate_part(context, dataset, part)


def _evaluate_query(context: QueryContext, dataset: QueryDataset, query: CompValue) -> Any:
    """Return the result of a whole query on one state of the store, in the form of rdflib's evaluator.

    The solutions of SELECT are fetched on demand; see `kg_reasoner.concurrency.readings.Snapshot`.
    """
    from rdflib.plugins.sparql import evaluate as rdflib_evaluator

    from kg_reasoner.concurrency.readings import Snapshot

    reading = _WatchedReading(dataset)
    if query.name == "SelectQuery":
        snapshot = Snapshot(_solutions_of(context, query.p), lambda: reading, lambda: dataset.graphs.reasoner.engine.readings)
        return {"type_": "SELECT", "bindings": iter(snapshot), "vars_": query.PV}
    with reading:
        if query.name == "AskQuery":
            try:
                return _evaluate_part(context, dataset, query)
            except NotImplementedError:
                return rdflib_evaluator.evalAskQuery(context, query)
        evaluate_whole = getattr(rdflib_evaluator, f"eval{query.name}")
        return evaluate_whole(context, query)


class _WatchedReading:
    """The ``with`` block in which a query reads a store: nothing changes, and limits and `Reasoner.cancel` end it."""

    def __init__(self, dataset: QueryDataset) -> None:
        self._dataset = dataset
        self._watch = dataset.graphs.reasoner.core.watch()

    def __enter__(self) -> None:
        self._watch.__enter__()
        try:
            self._hold = self._dataset.reading()
        except BaseException:
            self._watch.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._hold.release()
        finally:
            self._watch.__exit__()


def _solutions_of(context: QueryContext, part: CompValue) -> Iterator[FrozenBindings]:
    """Yield the solutions of a part, evaluated lazily."""
    from rdflib.plugins.sparql.evaluate import evalPart

    yield from evalPart(context, part)


def _evaluate_part(context: QueryContext, dataset: QueryDataset, part: CompValue) -> Any:
    """Return the solutions of a part of a query, see `evaluate`."""
    if part.name not in ("BGP", "Project", "Distinct", "Slice", "AskQuery", "Join", "Graph"):
        raise NotImplementedError
    if part.name == "Join" and part.p1.name == "BGP" and not part.p1.triples and part.p2.name == "BGP":
        part = part.p2  # what stands in an EXISTS is a join with nothing; rdflib would make a set of its solutions
    projection = part if part.name in ("BGP", "Project", "Join", "Graph") else part.p
    pattern = projection.p if projection is not None and projection.name == "Project" else projection
    if pattern.name not in ("BGP", "Join", "Graph"):
        raise NotImplementedError
    source = dataset.active(cast("Graph", context.graph))
    found = None if source is None else _conjunction(context, source, pattern)
    if source is None or found is None:
        if part.name == "Graph":
            return _graph_by_graph(context, dataset, part)
        raise NotImplementedError
    triples, paths, made = found
    if paths and (part is not pattern or (len(paths) == 1 and not triples)):
        raise NotImplementedError  # a single path is not a join
    if part is pattern:
        return _joined_with_paths(context, source, triples, paths, made) if made or paths else _solutions(context, source, triples)
    if part.name == "AskQuery":
        return {"type_": "ASK", "askAnswer": any(True for _ in _solutions(context, source, triples, (), limit=1))}
    if part.name == "Slice":
        end = None if part.length is None else part.start + part.length
        return islice(_solutions(context, source, triples, projection.PV, limit=end), part.start, end)
    return _solutions(context, source, triples, projection.PV, distinct=part.name == "Distinct")


def _check_service(context: QueryContext, dataset: QueryDataset, part: CompValue) -> None:
    """Raise an error for a SERVICE that is not allowed, given the address that rdflib will use.

    rdflib takes the address, and the query to send, from the text of the first SERVICE in the whole query.
    """
    address = context[part.term]
    if address is not None:
        dataset.permissions.check_service(str(address))
    written = _SERVICE.match(part.get("service_string") or "")
    if address is None or written is None or str(address) != written[1]:
        hint = "write SERVICE <address> { ... }, without SILENT, once in a query"
        raise UnsupportedError("rdflib evaluates only the first SERVICE of a query, by its address in angle brackets", hint=hint)


def _conjunction(
    context: QueryContext, source: PatternSource, part: CompValue
) -> tuple[list[PlacedTriple], list[Any], set[Any]] | None:
    """Return the plain patterns of a part that is only a join, its property paths, and the variables introduced for sequences.

    None: it is another kind of part, or names graphs in a way that requires evaluation graph by graph.
    """
    from kg_reasoner.rdflib_store.sparql_paths import without_sequences

    plain: list[PlacedTriple] = []
    paths: list[Any] = []
    made: set[Any] = set()
    waiting: list[tuple[CompValue, Node | None]] = [(part, None)]
    for piece, graph in waiting:  # grows as it is walked
        if piece.name == "Join":
            waiting += [(piece.p1, graph), (piece.p2, graph)]
        elif piece.name == "Graph" and graph is None and source.dataset.joins(cast("Node | None", context[piece.term])):
            waiting.append((piece.p, piece.term))
        elif piece.name == "BGP" and (piece.triples or graph is None):
            simple, complex, new = without_sequences(piece.triples)
            if complex and piece is not part:
                return None
            plain += [(*triple, graph) for triple in simple]
            paths += complex
            made |= new
        else:
            return None
    return plain, paths, made


def _graph_by_graph(context: QueryContext, dataset: QueryDataset, part: CompValue) -> Iterator[FrozenBindings]:
    """Yield the solutions of GRAPH in each graph, with the graph's name."""
    from rdflib import Graph
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.sparql import FrozenBindings
    from rdflib.term import Variable

    term = cast("Node", context[part.term])
    if term is None:
        names = dataset.named_graphs()
    else:
        names = [term] if dataset.has_graph(term) else []
    for name in names:
        inside = context.pushGraph(Graph(store=cast(Any, context.graph).store, identifier=cast(Any, name)))
        for solution in evalPart(inside, part.p):
            binding = dict(solution)
            if not isinstance(part.term, Variable) or binding.setdefault(part.term, name) == name:
                yield FrozenBindings(context, binding)


def _joined_with_paths(
    context: QueryContext, source: PatternSource, triples: Sequence[PlacedTriple], paths: Sequence[Any], made: Container[Any]
) -> Iterator[FrozenBindings]:
    """Yield the solutions of plain patterns and property paths, without the variables introduced for sequences."""
    from rdflib.plugins.sparql.sparql import FrozenBindings

    from kg_reasoner.rdflib_store.sparql_paths import join_with_paths

    outside: dict[Any, Any] = dict(context.bindings)
    groups = _groups(triples, outside) if paths else [triples]
    tables = [[dict(solution) for solution in _solutions(context, source, group)] for group in groups]
    for binding in join_with_paths(cast("Graph", context.graph), tables, paths, outside):
        yield FrozenBindings(context, {name: node for name, node in binding.items() if name not in made})


def _groups(triples: Sequence[PlacedTriple], outside: Container[Any]) -> list[list[PlacedTriple]]:
    """Group the patterns that share unbound variables, directly or through others."""
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
    triples: Sequence[PlacedTriple],
    projection: Container[Node] | None = None,
    *,
    distinct: bool = False,
    limit: int | None = None,
) -> Iterator[FrozenBindings]:
    """Yield the solutions of plain triple patterns, each with the outer bindings; projected, if requested, by their ids."""
    from rdflib.plugins.sparql.sparql import FrozenBindings

    from kg_reasoner.concurrency.limits import current_watch

    outside: dict[Any, Any] = dict(context.bindings)
    source.prepare()
    terms = source.graphs.terms
    query = _query(source, triples, outside)
    if query is None:
        return
    patterns, names = query
    variables = [name for name in names if projection is None or name in projection]
    bound = [(name, node) for name, node in outside.items() if projection is None or name in projection]
    for rows in _tables(source, patterns, [names[name] for name in variables], distinct, limit):
        watch = current_watch()
        for row in terms.rows(rows):
            watch.check()
            found = zip(variables, row, strict=True)
            yield FrozenBindings(context, [*bound, *found] if bound else found)


def _query(
    source: PatternSource, triples: Sequence[PlacedTriple], outside: dict[Any, Any]
) -> tuple[list[AnyPattern], dict[Any, str]] | None:
    """Return patterns of ids and names, and the names of variables and blank nodes; None if a term or graph does not occur."""
    from rdflib.term import BNode, Variable

    find = source.graphs.terms.find
    names: dict[Any, str] = {}
    patterns: list[AnyPattern] = []
    for *triple, graph in triples:
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
        place = source.place
        if graph is not None:
            name = outside.get(graph) if isinstance(graph, Variable) else graph
            place = names.setdefault(graph, f"v{len(names)}") if name is None else source.dataset.place(name)
            if place is None:
                return None
        patterns.append((pattern[0], pattern[1], pattern[2]) if place is None else (pattern[0], pattern[1], pattern[2], place))
    return patterns, names


def _tables(
    source: PatternSource, patterns: list[AnyPattern], names: list[str], distinct: bool, limit: int | None
) -> Iterator[Ids]:
    """Yield tables with the values of variables in all solutions."""
    import numpy as np

    from kg_reasoner.api.lazy_solutions import FIRST, LazySolutions
    from kg_reasoner.query.patterns import answers
    from kg_reasoner.query.tables import distinct as distinct_rows

    if not patterns:
        yield np.empty((1, 0), np.int32)
    elif distinct:
        yield distinct_rows(answers(source.graphs.reasoner, patterns, names, source.dataset.which))
    else:
        first = FIRST if limit is None else limit
        yield from LazySolutions(source.graphs.reasoner, patterns, names, source.dataset.which, first).blocks()
