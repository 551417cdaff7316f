"""SPARQL Update on stores of this package: an operation finds and checks everything before it changes anything.

rdflib's own evaluator deletes while it still searches for solutions (``DELETE WHERE``), and changes the graph solution by
solution. The standard requires all solutions first, then all deletions, then all insertions. LOAD reads a whole document before
it adds anything, and only if the owner of the store allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kg_reasoner.errors import LoadError, ReasonerError

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Update
    from rdflib.term import Node

    from kg_reasoner.rdflib_store.query_dataset import QueryDataset
    from kg_reasoner.rdflib_store.rdflib_terms import RdflibQuad
    from kg_reasoner.rdflib_store.writer import StoreWriter

Template: TypeAlias = "list[tuple[Node, Node, Node, Node | None]]"
"""Quads with variables; None is the graph that is spoken of when no other is."""


def update_graph(
    graph: Graph,
    dataset: QueryDataset,
    writer: StoreWriter,
    target: Node | None,
    request: Update | str,
    prefixes: Mapping[str, Any],
    bindings: Mapping[str, Any],
) -> list[RdflibQuad]:
    """Execute the operations of a request, one after the other.

    Args:
        graph: The graph or dataset over the store in which patterns are matched.
        dataset: The store's dataset.
        writer: Makes the changes.
        target: The graph to change where neither GRAPH nor WITH names one.
        request: A SPARQL Update request, as text or prepared by rdflib.
        prefixes: Namespaces for the prefixes that the text does not declare.
        bindings: Values of variables, by name.

    Returns:
        The quads that were added.

    Raises:
        QuerySyntaxError: The text is not a SPARQL Update request.
        LoadError: A term to be inserted is not an RDF term, or a document cannot be read. Nothing has changed.
        NotAllowedError: The owner of the store has not allowed a LOAD, even a silent one, or a SERVICE. Nothing has changed.
        ReasonerError: Without SILENT, an operation names a graph that does not exist, or creates one that exists. Nothing has
            changed.
    """
    from rdflib.plugins.sparql.sparql import Update

    from kg_reasoner.sparql.text import read_update

    prepared = request if isinstance(request, Update) else read_update(request, prefixes=prefixes)
    with writer.request():
        return _Request(graph, dataset, writer, target, bindings).carry_out(prepared)


class _Request:
    """A request under execution; see `update_graph`."""

    def __init__(
        self, graph: Graph, dataset: QueryDataset, writer: StoreWriter, target: Node | None, bindings: Mapping[str, Any]
    ) -> None:
        self._graph, self._dataset, self._writer, self._target = graph, dataset, writer, target
        self._bindings = bindings
        self._stored = dataset.graphs
        self._added: list[RdflibQuad] = []

    def carry_out(self, prepared: Update) -> list[RdflibQuad]:
        """Execute the operations, and return the quads that were added."""
        from kg_reasoner.sparql.text import guarded

        for operation in getattr(prepared, "algebra", ()):  # an empty request has no algebra
            if operation.name in _ON_GRAPHS:
                try:
                    _ON_GRAPHS[operation.name](self, operation)
                except ReasonerError:
                    if not operation.silent:
                        raise
            elif operation.name == "Load":
                kind = self._dataset.permissions.check_load(str(operation.iri))
                try:
                    self._change([], _document(str(operation.iri), kind, operation.graphiri or self._target))
                except LoadError:
                    if not operation.silent:
                        raise
            else:
                with guarded():
                    removed, added = self._changes(operation)
                self._change(removed, added)
        return self._added

    def _change(self, removed: list[RdflibQuad], added: list[RdflibQuad]) -> None:
        self._writer.change(removed, added)
        self._added += added

    # --- changes of triples -----------------------------------------------------------------------------------------

    def _changes(self, operation: CompValue) -> tuple[list[RdflibQuad], list[RdflibQuad]]:
        """Return the quads that an operation removes and adds."""
        from rdflib import Literal, URIRef, Variable
        from rdflib.plugins.sparql.evaluate import evalPart
        from rdflib.plugins.sparql.sparql import QueryContext

        from kg_reasoner.rdflib_store.sparql_functions import bind_functions

        target = self._target
        if operation.name in ("InsertData", "DeleteData"):
            data = _template(operation, target)
            return ([], data) if operation.name == "InsertData" else (data, [])
        active, where = self._graph, operation.where
        if where is not None:
            bind_functions(where)
        if operation.name == "DeleteWhere":
            deleted, inserted, where = _template(operation, target), [], _pattern(operation)
        else:
            target = operation.withClause or target
            deleted, inserted = _template(operation.delete, target), _template(operation.insert, target)
            active = self._active(operation)
        context = QueryContext(active, initBindings={Variable(name): value for name, value in self._bindings.items()})
        context.prologue = operation.prologue
        removed: list[RdflibQuad] = []
        added: list[RdflibQuad] = []
        for solution in list(evalPart(context, where)):
            removed += _filled(deleted, solution)
            added += _filled(inserted, solution)
        # what a template makes and RDF does not know (a literal as the subject, say) is left out: SPARQL 1.1 Update, section 3.1.3
        return removed, [quad for quad in added if not isinstance(quad[0], Literal) and isinstance(quad[1], URIRef)]

    def _active(self, operation: CompValue) -> Graph:
        """Return the dataset in which the patterns of an operation are matched: that of USING, or else of WITH."""
        from rdflib import Graph

        from kg_reasoner.rdflib_store.sparql_dataset import selection

        if operation.using:
            return selection(self._dataset, operation.using)
        if operation.withClause:
            return Graph(store=self._graph.store, identifier=operation.withClause)
        return self._graph

    # --- operations on graphs ---------------------------------------------------------------------------------------

    def clear(self, operation: CompValue) -> None:
        for name in self._names(operation.graphiri):
            self._change(list(self._stored.stated(name)), [])

    def drop(self, operation: CompValue) -> None:
        for name in self._names(operation.graphiri):
            self._writer.drop_graph(name)

    def create(self, operation: CompValue) -> None:
        if operation.graphiri in self._stored.stored_graphs():
            raise ReasonerError(f"the graph {operation.graphiri.n3()} already exists")
        self._writer.create_graph(operation.graphiri)

    def add(self, operation: CompValue) -> None:
        self._copy_triples(*self._source_and_target(operation), replaces=False)

    def copy(self, operation: CompValue) -> None:
        self._copy_triples(*self._source_and_target(operation), replaces=True)

    def move(self, operation: CompValue) -> None:
        source, target = self._source_and_target(operation)
        self._copy_triples(source, target, replaces=True)
        if source != target:
            self._writer.drop_graph(source)

    def _copy_triples(self, source: Node, target: Node, *, replaces: bool) -> None:
        """Copy the triples of a graph to another one, replacing its triples or keeping them."""
        if source == target:
            return
        triples: list[RdflibQuad] = [(*quad[:3], target) for quad in self._stored.stated(source)]
        self._change(list(self._stored.stated(target)) if replaces else [], triples)
        self._writer.create_graph(target)

    def _source_and_target(self, operation: CompValue) -> tuple[Node, Node]:
        from rdflib import URIRef

        source, target = operation.graph
        (found,) = self._names(source)
        return found, target if isinstance(target, URIRef) else self._names(target)[0]

    def _names(self, which: str) -> list[Node]:
        """Return the graphs that a name, DEFAULT, NAMED or ALL denotes.

        Raises:
            ReasonerError: No graph has this name.
        """
        from rdflib import URIRef
        from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

        stored = self._stored.stored_graphs()
        if isinstance(which, URIRef):
            if which != DATASET_DEFAULT_GRAPH_ID and which not in stored:
                raise ReasonerError(f"the graph {which.n3()} does not exist")
            return [which]
        default: list[Node] = [] if which == "NAMED" else [DATASET_DEFAULT_GRAPH_ID]
        return default if which == "DEFAULT" else default + stored


_ON_GRAPHS: Final[dict[str, Callable[[_Request, CompValue], None]]] = {
    "Clear": _Request.clear,
    "Drop": _Request.drop,
    "Create": _Request.create,
    "Add": _Request.add,
    "Copy": _Request.copy,
    "Move": _Request.move,
}


# --- templates and documents ------------------------------------------------------------------------------------------------


def _template(part: CompValue | None, target: Node | None) -> Template:
    """Return the quads of a template; those outside GRAPH belong to the target."""
    if not part:
        return []
    quads: Template = [(*triple, target) for triple in part.triples or ()]
    for name, triples in (part.quads or {}).items():
        quads += [(*triple, name) for triple in triples]
    return quads


def _pattern(operation: CompValue) -> CompValue:
    """Return the quads of DELETE WHERE as a pattern."""
    from rdflib.plugins.sparql.parserutils import CompValue

    pattern = CompValue("BGP", triples=operation.triples or [])
    for name, triples in (operation.quads or {}).items():
        inside = CompValue("Graph", term=name, p=CompValue("BGP", triples=triples))
        pattern = CompValue("Join", p1=pattern, p2=inside, lazy=True)
    return pattern


def _filled(template: Template, solution: Mapping[Any, Any]) -> Iterator[RdflibQuad]:
    """Yield the quads that a solution makes of a template. A blank node of the template becomes a fresh one, the same in all
    quads.
    """
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


def _document(iri: str, kind: str, target: Node | None) -> list[RdflibQuad]:
    """Return the quads of a document for one graph; named graphs in it keep their triples unless the target is a graph by name.

    Raises:
        LoadError: The document cannot be fetched or read.
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
