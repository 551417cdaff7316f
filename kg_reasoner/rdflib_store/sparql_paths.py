"""Property paths in basic graph patterns: sequences and inverses become plain patterns, rdflib evaluates the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rdflib import Graph

Binding: TypeAlias = "dict[Any, Any]"
"""Terms by variable. Blank nodes of a query are variables, too."""

ONE_BY_ONE = 16
"""A path with one fixed end is followed from each value of its other end, while there are at most so many values."""


def without_sequences(triples: Iterable[Any]) -> tuple[list[Any], list[Any], set[Any]]:
    """Return patterns without paths, patterns with other paths than sequences and inverses, and the variables introduced."""
    from rdflib.paths import InvPath, Path, SequencePath
    from rdflib.term import BNode

    plain: list[Any] = []
    paths: list[Any] = []
    made: set[Any] = set()
    waiting = list(triples)
    for start, path, end in waiting:  # grows as it is walked
        if isinstance(path, InvPath):
            waiting.append((end, path.arg, start))
        elif isinstance(path, SequencePath):
            between = [BNode() for _ in path.args[1:]]
            made.update(between)
            waiting += zip([start, *between], path.args, [*between, end], strict=True)
        else:
            (paths if isinstance(path, Path) else plain).append((start, path, end))
    return plain, paths, made


def join_with_paths(graph: Graph, tables: list[list[Binding]], paths: Sequence[Any], outside: Binding) -> list[Binding]:
    """Join solutions of plain patterns with those of paths.

    Args:
        graph: The graph of the paths.
        tables: The solutions of groups of patterns that share no variables.
        paths: The patterns with paths.
        outside: The outer bindings.
    """
    rows = [outside]
    tables = sorted(tables, key=len)
    waiting = list(paths)
    while rows and (tables or waiting):
        connected = [table for table in tables if table and not (rows[0].keys() - outside.keys()).isdisjoint(table[0])]
        unbound = [sum(_value(end, rows[0]) is None for end in (start, finish)) for start, _, finish in waiting]
        if connected or not waiting or (tables and (rows[0] is outside or min(unbound) == 2)):
            table = (connected or tables)[0]
            tables = [other for other in tables if other is not table]
            rows = _joined(rows, table)
        else:
            rows = _followed(graph, waiting.pop(unbound.index(min(unbound))), rows)
    return rows


def _joined(rows: list[Binding], table: list[Binding]) -> list[Binding]:
    """Return all compatible pairs of rows."""
    shared = [name for name in rows[0] if table and name in table[0]]
    partners: dict[Any, list[Binding]] = {}
    for row in table:
        partners.setdefault(tuple(row[name] for name in shared), []).append(row)
    return [{**row, **partner} for row in rows for partner in partners.get(tuple(row[name] for name in shared), ())]


def _followed(graph: Graph, pattern: Any, rows: list[Binding]) -> list[Binding]:
    """Join rows with the pairs of nodes that a path connects. The path is evaluated once for each pair of ends.

    A repetition (``*``, ``+``, ``?``) connects two nodes once, however many paths there are between them.
    """
    from rdflib.paths import MulPath

    start, path, finish = pattern
    ends = {(_value(start, row), _value(finish, row)) for row in rows}
    starts, finishes = {end[0] for end in ends}, {end[1] for end in ends}
    pairs: dict[Any, list[tuple[Any, Any]]] = {}
    if len(ends) > ONE_BY_ONE and 1 in (len(starts), len(finishes)) and None not in starts | finishes:
        pattern = (*starts, path, None) if len(starts) == 1 else (None, path, *finishes)
        for subject, _, value in graph.triples(pattern):
            pairs.setdefault((subject, value), []).append((subject, value))
    else:
        for end in ends:
            pairs[end] = [(subject, value) for subject, _, value in graph.triples((end[0], path, end[1]))]
    if isinstance(path, MulPath):
        pairs = {end: list(dict.fromkeys(connected)) for end, connected in pairs.items()}
    found = []
    for row in rows:
        end = _value(start, row), _value(finish, row)
        for subject, value in pairs.get(end, ()):
            if start == finish and end[0] is None and subject != value:
                continue
            found.append({**row, **_new(start, end[0], subject), **_new(finish, end[1], value)})
    return found


def _new(term: Any, bound: Any, node: Any) -> Binding:
    return {term: node} if bound is None else {}


def _value(term: Any, row: Binding) -> Any:
    """Return the term at a position of a pattern; None if it is an unbound variable."""
    from rdflib.term import BNode, Variable

    return row.get(term) if isinstance(term, (BNode, Variable)) else term
