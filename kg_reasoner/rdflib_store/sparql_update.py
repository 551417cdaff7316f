"""SPARQL Update on our store: an operation finds and checks everything before it changes anything.

rdflib's own evaluator deletes while it still looks for further solutions (``DELETE WHERE``), and changes the graph solution by
solution. The standard has it otherwise: all solutions first, then all deletions, then all insertions. LOAD reads a whole document
before it adds anything, and only if the owner of the store allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kg_reasoner.errors import LoadError, ReasonerError
from kg_reasoner.rdflib_store.permissions import NOTHING, Permissions

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Update
    from rdflib.term import Node

    from kg_reasoner.rdflib_store.rdflib_terms import RdflibQuad

Template: TypeAlias = "list[tuple[Node, Node, Node, Node | None]]"
"""Quads with variables; None is the graph that is spoken of when no other is."""


class Updatable:
    """A store of graphs that takes removals and additions together. None stands for the graph when no other is spoken of."""

    permissions: Permissions = NOTHING
    """What updates may fetch."""

    def change(self, removed: Iterable[RdflibQuad], added: Iterable[RdflibQuad]) -> None:
        """Remove quads, then add quads; or raise LoadError and leave everything as it is."""
        raise NotImplementedError

    def request(self) -> AbstractContextManager[None]:
        """The ``with`` block of several changes that are made whole, or not at all."""
        raise NotImplementedError

    def create_graph(self, name: Node) -> None:
        """Let there be an empty graph."""
        raise NotImplementedError

    def drop_graph(self, name: Node) -> None:
        """Remove a graph with its triples; of the default graph, the triples only."""
        raise NotImplementedError

    def stored_graphs(self) -> list[Node]:
        """The named graphs that can be changed."""
        raise NotImplementedError

    def stated(self, name: Node) -> Iterator[RdflibQuad]:
        """The explicit triples of a graph."""
        raise NotImplementedError


def update_graph(
    graph: Graph,
    store: Updatable,
    target: Node | None,
    request: Update | str,
    prefixes: Mapping[str, Any],
    bindings: Mapping[str, Any],
) -> None:
    """Carry out the operations of a request, one after the other.

    Args:
        graph: a graph or dataset over the store: where patterns are looked for.
        store: where the changes go.
        target: the graph that changes without GRAPH and WITH are for.
        request: SPARQL Update, as text or prepared by rdflib.
        prefixes: namespaces for the prefixes that the text does not declare.
        bindings: values of variables, by name.

    Raises:
        QuerySyntaxError: the text is not a SPARQL Update.
        LoadError: something to be inserted is not an RDF term, or a document cannot be read. Nothing has changed.
        NotAllowedError: a LOAD, even a silent one, or a SERVICE that the owner of the store has not allowed. Nothing has changed.
        ReasonerError: an operation, without SILENT, on a graph that is not there, or that is to be made and is there. Nothing has
            changed.
    """
    from rdflib.plugins.sparql.sparql import Update

    from kg_reasoner.rdflib_store.sparql_text import read_update

    prepared = request if isinstance(request, Update) else read_update(request, prefixes=prefixes)
    with store.request():
        _carry_out(graph, store, target, prepared, bindings)


def _carry_out(graph: Graph, store: Updatable, target: Node | None, prepared: Update, bindings: Mapping[str, Any]) -> None:
    from kg_reasoner.rdflib_store.sparql_text import guarded

    for operation in getattr(prepared, "algebra", ()):  # an empty request has no algebra
        if operation.name in _ON_GRAPHS:
            try:
                _ON_GRAPHS[operation.name](store, operation)
            except ReasonerError:
                if not operation.silent:
                    raise
        elif operation.name == "Load":
            kind = store.permissions.check_load(str(operation.iri))
            try:
                store.change((), _document(str(operation.iri), kind, operation.graphiri or target))
            except LoadError:
                if not operation.silent:
                    raise
        else:
            with guarded():
                changes = _changes(graph, store, target, operation, bindings)
            store.change(*changes)


# --- changes of triples -----------------------------------------------------------------------------------------------------


def _changes(
    graph: Graph, store: Updatable, target: Node | None, operation: CompValue, bindings: Mapping[str, Any]
) -> tuple[list[RdflibQuad], list[RdflibQuad]]:
    """The quads that an operation removes and adds."""
    from rdflib import Literal, URIRef, Variable
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.sparql import QueryContext

    from kg_reasoner.rdflib_store.sparql import is_ours
    from kg_reasoner.rdflib_store.sparql_functions import bind_functions

    if operation.name in ("InsertData", "DeleteData"):
        data = _template(operation, target)
        return ([], data) if operation.name == "InsertData" else (data, [])
    active, where = graph, operation.where
    if where is not None:
        bind_functions(where, is_ours)
    if operation.name == "DeleteWhere":
        deleted, inserted, where = _template(operation, target), [], _pattern(operation)
    else:
        target = operation.withClause or target
        deleted, inserted = _template(operation.delete, target), _template(operation.insert, target)
        active = _active(graph, store, operation)
    context = QueryContext(active, initBindings={Variable(name): value for name, value in bindings.items()})
    context.prologue = operation.prologue
    removed: list[RdflibQuad] = []
    added: list[RdflibQuad] = []
    for solution in list(evalPart(context, where)):
        removed += _filled(deleted, solution)
        added += _filled(inserted, solution)
    # what a template makes and RDF does not know (a literal as the subject, say) is left out: SPARQL 1.1 Update, section 3.1.3
    return removed, [quad for quad in added if not isinstance(quad[0], Literal) and isinstance(quad[1], URIRef)]


def _document(iri: str, kind: str, target: Node | None) -> list[RdflibQuad]:
    """What a document says, for one graph; the triples of its named graphs keep their graphs unless it is for a graph by name.

    Raises:
        LoadError: it cannot be fetched or read.
    """
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    import numpy as np

    from kg_reasoner.loaders.rdf.fetch import fetch
    from kg_reasoner.loaders.rdf.reader import read
    from kg_reasoner.rdflib_store.rdflib_terms import RdflibTerms
    from kg_reasoner.storage.dictionary import Dictionary

    dictionary = Dictionary()
    terms = RdflibTerms(dictionary)
    source = Path(url2pathname(urlsplit(iri).path)) if kind == "files" else fetch(iri)[0]
    quads: list[RdflibQuad] = []
    for block in read(source, dictionary=dictionary, base=iri):
        graphs = [target] * len(block.triples)
        if block.graphs is not None and target is None:
            names = {number: None if number < 0 else terms.nodes([number])[0] for number in np.unique(block.graphs).tolist()}
            graphs = [names[number] for number in block.graphs.tolist()]
        quads += [(row[0], row[1], row[2], graph) for row, graph in zip(terms.rows(block.triples), graphs, strict=True)]
    return quads


def _active(graph: Graph, store: Updatable, operation: CompValue) -> Graph:
    """Where the patterns of an operation are looked for: what USING says, or else WITH."""
    from rdflib import Graph

    from kg_reasoner.rdflib_store.sparql_dataset import selection

    if operation.using:
        return selection(store, operation.using)  # type: ignore[arg-type]  # the store is ours
    if operation.withClause:
        return Graph(store=store, identifier=operation.withClause)  # type: ignore[arg-type]
    return graph


def _template(part: CompValue | None, target: Node | None) -> Template:
    """The quads of a template; those outside of GRAPH are for the target."""
    if not part:
        return []
    quads: Template = [(*triple, target) for triple in part.triples or ()]
    for name, triples in (part.quads or {}).items():
        quads += [(*triple, name) for triple in triples]
    return quads


def _pattern(operation: CompValue) -> CompValue:
    """The quads of DELETE WHERE as a pattern."""
    from rdflib.plugins.sparql.parserutils import CompValue

    pattern = CompValue("BGP", triples=operation.triples or [])
    for name, triples in (operation.quads or {}).items():
        inside = CompValue("Graph", term=name, p=CompValue("BGP", triples=triples))
        pattern = CompValue("Join", p1=pattern, p2=inside, lazy=True)
    return pattern


def _filled(template: Template, solution: Mapping[Any, Any]) -> Iterator[RdflibQuad]:
    """The quads that a solution makes of a template. A blank node of the template is a new one, the same in all of its quads."""
    from rdflib import BNode, Literal, Variable

    made: dict[Node, Node] = {}
    for quad in template:
        terms: list[Any] = []
        for term in quad:
            if isinstance(term, Variable):
                terms.append(solution.get(term))
            else:
                terms.append(made.setdefault(term, BNode()) if isinstance(term, BNode) else term)
        has_graph = not isinstance(quad[3], Variable) or (terms[3] is not None and not isinstance(terms[3], Literal))
        if None not in terms[:3] and has_graph:
            yield terms[0], terms[1], terms[2], terms[3]


# --- operations on graphs ---------------------------------------------------------------------------------------------------


def _clear(store: Updatable, operation: CompValue) -> None:
    for name in _graphs(store, operation.graphiri):
        store.change(list(store.stated(name)), [])


def _drop(store: Updatable, operation: CompValue) -> None:
    for name in _graphs(store, operation.graphiri):
        store.drop_graph(name)


def _create(store: Updatable, operation: CompValue) -> None:
    if operation.graphiri in store.stored_graphs():
        raise ReasonerError(f"the graph {operation.graphiri.n3()} already exists")
    store.create_graph(operation.graphiri)


def _add(store: Updatable, operation: CompValue) -> None:
    source, target = _source_and_target(store, operation)
    _copy_triples(store, source, target, replaces=False)


def _copy(store: Updatable, operation: CompValue) -> None:
    source, target = _source_and_target(store, operation)
    _copy_triples(store, source, target, replaces=True)


def _move(store: Updatable, operation: CompValue) -> None:
    source, target = _source_and_target(store, operation)
    _copy_triples(store, source, target, replaces=True)
    if source != target:
        store.drop_graph(source)


_ON_GRAPHS: Final[dict[str, Callable[[Updatable, CompValue], None]]] = {
    "Clear": _clear,
    "Drop": _drop,
    "Create": _create,
    "Add": _add,
    "Copy": _copy,
    "Move": _move,
}


def _copy_triples(store: Updatable, source: Node, target: Node, *, replaces: bool) -> None:
    """State the triples of a graph in another one, in place of what is there or beside it."""
    if source == target:
        return
    triples = [(subject, property, value, target) for subject, property, value, _ in store.stated(source)]
    store.change(list(store.stated(target)) if replaces else [], triples)
    store.create_graph(target)


def _source_and_target(store: Updatable, operation: CompValue) -> tuple[Node, Node]:
    from rdflib import URIRef

    source, target = operation.graph
    (found,) = _graphs(store, source)
    return found, target if isinstance(target, URIRef) else _graphs(store, target)[0]


def _graphs(store: Updatable, which: str) -> list[Node]:
    """The graphs of a name, of DEFAULT, NAMED or ALL.

    Raises:
        ReasonerError: there is no graph of this name.
    """
    from rdflib import URIRef
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

    stored = store.stored_graphs()
    if isinstance(which, URIRef):
        if which != DATASET_DEFAULT_GRAPH_ID and which not in stored:
            raise ReasonerError(f"the graph {which.n3()} does not exist")
        return [which]
    default: list[Node] = [] if which == "NAMED" else [DATASET_DEFAULT_GRAPH_ID]
    return default if which == "DEFAULT" else default + stored
