"""SPARQL updates as data: their text, random ones, and what they do to a dataset, solution by solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias

from kg_reasoner.terms import IRI, BlankNode, Literal, Term, Triple
from tests.sparql_oracle import ast
from tests.sparql_oracle.alphabet import GRAPHS, NODES, PREDICATES
from tests.sparql_oracle.dataset import Dataset
from tests.sparql_oracle.evaluate import evaluate
from tests.sparql_oracle.random_patterns import group, triple
from tests.sparql_oracle.random_queries import select
from tests.sparql_oracle.source import Source
from tests.sparql_oracle.text import group_text, query_text
from tests.sparql_oracle.walk import in_scope

Name: TypeAlias = IRI | None
"""A graph; None is the default graph."""
Quad: TypeAlias = tuple[ast.Triple, ast.Var | IRI | None]
State: TypeAlias = dict[Name, frozenset[Triple]]

FRESH: Final = (BlankNode("t1"), BlankNode("t2"))


@dataclass(frozen=True)
class Modify:
    """DELETE and INSERT with a WHERE; `pattern` says that it is DELETE WHERE, whose quads are the pattern."""

    deleted: tuple[Quad, ...]
    inserted: tuple[Quad, ...]
    where: ast.Group
    graph: Name = None
    is_pattern: bool = False


@dataclass(frozen=True)
class Data:
    """INSERT DATA or DELETE DATA."""

    is_inserted: bool
    quads: tuple[Quad, ...]

    def blank_nodes(self) -> set[BlankNode]:
        """Return the blank nodes that it makes."""
        return {triple.subject for triple, _ in self.quads if isinstance(triple.subject, BlankNode)}


@dataclass(frozen=True)
class OnGraphs:
    """An operation on whole graphs: CLEAR and DROP have no target."""

    name: str
    source: Name
    target: Name = None


Operation: TypeAlias = Modify | Data | OnGraphs

# --- text -----------------------------------------------------------------------------------------------------------------


def update_text(operations: list[Operation]) -> str:
    """Return the text of a request."""
    prologue = query_text(ast.Ask(ast.Group())).partition("ASK")[0]
    return prologue + " ;\n".join(map(_text, operations))


def _text(operation: Operation) -> str:
    match operation:
        case Data(is_inserted, quads):
            return f"{'INSERT' if is_inserted else 'DELETE'} DATA {_quads_text(quads)}"
        case OnGraphs(name, source, _) if name in ("CLEAR", "DROP"):
            return f"{name} {_graph_text(source)}"
        case OnGraphs(name, source, target):
            return f"{name} {_graph_text(source)} TO {_graph_text(target)}"
        case Modify(deleted, _, _, _, True):
            return f"DELETE WHERE {_quads_text(deleted)}"
        case Modify(deleted, inserted, where, graph, _):
            parts = [f"WITH {graph}"] if graph else []
            parts += [f"DELETE {_quads_text(deleted)}"] if deleted or not inserted else []
            parts += [f"INSERT {_quads_text(inserted)}"] if inserted else []
            return f"{' '.join(parts)} WHERE {group_text(where)}"


def _graph_text(name: Name) -> str:
    return "DEFAULT" if name is None else f"GRAPH {name}"


def _quads_text(quads: tuple[Quad, ...]) -> str:
    return "{ " + " ".join(group_text(ast.Group((_element(quad),)))[2:-2] for quad in quads) + " }"


def _element(quad: Quad) -> ast.Triple | ast.GraphPattern:
    return quad[0] if quad[1] is None else ast.GraphPattern(quad[1], ast.Group((quad[0],)))


# --- random operations ----------------------------------------------------------------------------------------------------


def operation(source: Source) -> Operation:
    """Make an operation."""
    kind = source.up_to(9)
    if kind == 0:
        name = source.pick(("CLEAR", "DROP", "ADD", "COPY", "MOVE"))
        return OnGraphs(name, _graph(source), source.pick((None, *GRAPHS)))
    if kind == 1:
        is_inserted = source.once_in(2)
        return Data(is_inserted, tuple(_ground(source, is_inserted) for _ in range(1 + source.up_to(3))))
    if kind in (2, 3):
        quads = tuple(_plain(source) for _ in range(1 + source.up_to(1)))
        return Modify(quads, (), ast.Group(tuple(map(_element, quads))), is_pattern=True)
    graph = _graph(source) if source.once_in(3) else None
    where = group(source, 2, select, graph)
    variables = [ast.Var(name) for name in sorted(in_scope(where.elements))] or [ast.Var("x")]
    deleted = tuple(_template(source, variables, has_blanks=False) for _ in range(source.up_to(2)))
    inserted = tuple(_template(source, variables, has_blanks=True) for _ in range(source.up_to(2)))
    return Modify(deleted, inserted, where, graph)


def _graph(source: Source) -> Name:
    return source.pick((None, *source.dataset.named))


def _plain(source: Source) -> Quad:
    graph: ast.Var | Name = ast.Var("u") if source.once_in(3) else _graph(source)
    while True:
        made = triple(source, graph)
        if isinstance(made.predicate, IRI | ast.Var):
            return made, graph


def _ground(source: Source, is_inserted: bool) -> Quad:
    subject: Term = source.pick(FRESH) if is_inserted and source.once_in(3) else source.pick(NODES)
    return ast.Triple(subject, source.pick(PREDICATES), source.constant()), source.pick((None, *GRAPHS))


def _template(source: Source, variables: list[ast.Var], has_blanks: bool) -> Quad:
    def part(constant: Term) -> ast.Var | Term:
        if has_blanks and source.once_in(6):
            return source.pick(FRESH)
        return constant if source.once_in(3) else source.pick(variables)

    predicate: ast.Var | IRI = source.pick(variables) if source.once_in(4) else source.pick(PREDICATES)
    graph: ast.Var | Name = source.pick(variables) if source.once_in(5) else source.pick((None, *GRAPHS))
    return ast.Triple(part(source.pick(NODES)), predicate, part(source.constant())), graph


# --- what they do -----------------------------------------------------------------------------------------------------------


class Updated:
    """A dataset, and the result of operations on it.

    Attributes:
        graphs: The triples of each graph.
        notes: Where the specification leaves the result open, or systems are known to differ.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.graphs: State = {None: dataset.default, **dataset.named}
        self.notes: set[str] = set()
        self._fresh = count()

    def quads(self) -> set[tuple[Term, ...]]:
        """Return all triples, each with the name of its graph unless that is the default graph."""
        return {(*fact, *((name,) if name else ())) for name, facts in self.graphs.items() for fact in facts}

    def perform(self, operation: Operation) -> None:
        """Perform an operation."""
        match operation:
            case Data(is_inserted, quads):
                made = set(self._made(quads, {}, None))
                self._change(set() if is_inserted else made, made if is_inserted else set())
            case OnGraphs(name, source, target):
                self._on_graphs(name, source, target)
            case Modify():
                self._modify(operation)

    def _modify(self, operation: Modify) -> None:
        named = {name: facts for name, facts in self.graphs.items() if name is not None}
        dataset = Dataset(self.graphs.get(operation.graph, frozenset()), named)
        outcome = evaluate(ast.Select(None, operation.where, ast.Modifiers()), dataset)
        self.notes |= outcome.notes
        removed: set[tuple[Term | None, ...]] = set()
        added: set[tuple[Term | None, ...]] = set()
        for row in outcome.result.rows:  # type: ignore[union-attr]
            removed |= set(self._made(operation.deleted, row, operation.graph))
            added |= set(self._made(operation.inserted, row, operation.graph))
        self._change(removed, added)

    def _made(self, quads: tuple[Quad, ...], row: Mapping[str, Term], default: Name) -> Iterator[tuple[Term | None, ...]]:
        number = next(self._fresh)
        for fact, graph in quads:
            terms: list[Term | None] = []
            for part in (fact.subject, fact.predicate, fact.object, default if graph is None else graph):
                if isinstance(part, ast.Var):
                    part = row.get(part.name, Literal("unbound"))
                elif isinstance(part, BlankNode):
                    part = BlankNode(f"made{number}.{part.label}")
                terms.append(part)  # type: ignore[arg-type]
            is_bound = Literal("unbound") not in terms
            if (
                is_bound
                and isinstance(terms[0], IRI | BlankNode)
                and isinstance(terms[1], IRI)
                and not isinstance(terms[3], Literal)
            ):
                yield tuple(terms)

    def _change(self, removed: set[tuple[Term | None, ...]], added: set[tuple[Term | None, ...]]) -> None:
        for *fact, name in removed:
            if name in self.graphs:
                self.graphs[name] -= {tuple(fact)}  # type: ignore[index, arg-type]
        for *fact, name in added:
            self.graphs[name] = self.graphs.get(name, frozenset()) | {tuple(fact)}  # type: ignore

    def _on_graphs(self, name: str, source: Name, target: Name) -> None:
        if name == "CLEAR":
            self.graphs[source] = frozenset()
        elif name == "DROP":
            self._drop(source)
        elif source != target:
            kept = self.graphs.get(target, frozenset()) if name == "ADD" else frozenset()
            self.graphs[target] = kept | self.graphs[source]
            if name == "MOVE":
                self._drop(source)

    def _drop(self, name: Name) -> None:
        if name is None:
            self.graphs[None] = frozenset()
        else:
            del self.graphs[name]
