"""SPARQL Update on stores of this package: an operation finds and checks everything before it changes anything.

The WHERE of an operation is evaluated as that of a query (`kg_reasoner.sparql`), and its templates make quads of ids of the
solutions. The standard requires all solutions first, then all deletions, then all insertions. LOAD reads a whole document before
it adds anything, and only if the owner of the store allows it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from kg_reasoner.api.operations.notices import depth_of_caller
from kg_reasoner.errors import LoadError, NotAllowedError, ReasonerError, ReasonerWarning
from kg_reasoner.loaders.convert import from_rdflib, to_rdflib
from kg_reasoner.program import Variable
from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore
from kg_reasoner.rdflib_store.queries.sparql_dataset import evaluated_pattern, selection
from kg_reasoner.rdflib_store.updates.graph_operations import ON_GRAPHS
from kg_reasoner.rdflib_store.updates.update_changes import UpdateChanges
from kg_reasoner.rdflib_store.updates.update_data import data_to_delete, data_to_insert, document_quads
from kg_reasoner.sparql.queries.parsed import as_terms
from kg_reasoner.sparql.queries.templates import instantiated_quads
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.sparql.syntax.update_syntax import read_common_update
from kg_reasoner.sparql.update_algebra import DeleteData, InsertData, LoadDocument, Modify, Operation, QuadTemplate, variables_of
from kg_reasoner.storage.arrays import NO_QUADS, Ids
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.sparql import Update
    from rdflib.term import Node

    from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibQuad
    from kg_reasoner.rdflib_store.graphs.writer import StoreWriter
    from kg_reasoner.rdflib_store.queries.query_dataset import QueryDataset

__all__ = ["update_graph"]


def update_graph(
    graph: Graph,
    dataset: QueryDataset,
    writer: StoreWriter,
    target: Node | None,
    request: Update | str,
    prefixes: Mapping[str, Any],
    bindings: Mapping[str, Any],
    base: str | None = None,
    *,
    returns_added: bool,
) -> list[RdflibQuad]:
    """Execute the operations of a request, one after the other.

    Args:
        graph: The graph or dataset over the store in which patterns are matched.
        dataset: The store's dataset.
        writer: Makes the changes.
        target: The graph to change where neither GRAPH nor WITH names one; None: the default graph, and all to delete from.
        request: A SPARQL Update request, as text or prepared by rdflib.
        prefixes: Namespaces for the prefixes that the text does not declare.
        bindings: Values of variables, by name.
        base: The IRI against which relative IRIs in the text are resolved.
        returns_added: Whether to return the quads that were added.

    Returns:
        The quads that were added, if they are asked for.

    Raises:
        QuerySyntaxError: The text is not a SPARQL Update request.
        UnsupportedError: An operation has an invalid regular expression. Nothing has changed.
        LoadError: A term to be inserted is not an RDF term, or a document cannot be read. Nothing has changed.
        NotAllowedError: The owner of the store has not allowed a LOAD or a SERVICE. Nothing has changed. With SILENT, a LOAD that
            is not allowed, or fails, does nothing, with a `ReasonerWarning`.
        ReasonerError: Without SILENT, an operation names a graph that does not exist, or creates one that exists. Nothing has
            changed.
    """
    operations = _operations(request, prefixes, base)
    with writer.request():
        changes = UpdateChanges(dataset.graphs, writer, records=returns_added)
        _Request(graph, dataset, changes, target, bindings).carry_out(operations)
        return changes.added(target)


def _operations(request: Update | str, prefixes: Mapping[str, Any], base: str | None) -> Iterable[Operation]:
    """Return the operations of a request, which rdflib parses if it is not of the common part of the grammar."""
    common = read_common_update(request, prefixes, base) if isinstance(request, str) else None
    if common is not None:
        return common
    from rdflib.plugins.sparql.sparql import Update

    from kg_reasoner.rdflib_store.updates.rdflib_operations import operations_of
    from kg_reasoner.sparql.queries.sparql_text import read_update

    return operations_of(request if isinstance(request, Update) else read_update(request, base=base, prefixes=prefixes))


class _Request:
    """A request under execution; see `update_graph`."""

    def __init__(
        self, graph: Graph, dataset: QueryDataset, changes: UpdateChanges, target: Node | None, bindings: Mapping[str, Any]
    ) -> None:
        self._graph, self._dataset, self._changes, self._target = graph, dataset, changes, target
        self._bindings = bindings
        self._given = as_terms(bindings)

    def carry_out(self, operations: Iterable[Operation]) -> None:
        """Execute operations, one after the other."""
        for operation in operations:
            if isinstance(operation, InsertData):
                self._changes.make(NO_QUADS, data_to_insert(self._changes, operation.quads, self._target))
            elif isinstance(operation, DeleteData):
                self._changes.make(data_to_delete(self._changes, operation.quads, self._target), NO_QUADS)
            elif isinstance(operation, Modify):
                self._changes.make(*self._found(operation))
            elif isinstance(operation, LoadDocument):
                self._load(operation)
            else:
                try:
                    ON_GRAPHS[operation.name](self._changes, operation)
                except ReasonerError:
                    if not operation.is_silent:
                        raise

    def _load(self, operation: LoadDocument) -> None:
        """Load a document. With SILENT, the operation does nothing where it fails (SPARQL 1.1 Update, 3.1.4), with a warning."""
        try:
            kind = self._dataset.permissions.check_load(operation.address)
            target = self._target if operation.graph is None else to_rdflib(operation.graph)
            self._changes.make(NO_QUADS, document_quads(self._changes, operation.address, kind, target))
        except (LoadError, NotAllowedError) as error:
            if not operation.is_silent:
                raise
            warnings.warn(ReasonerWarning(f"LOAD SILENT has loaded nothing: {error}"), stacklevel=depth_of_caller())

    def _found(self, operation: Modify) -> tuple[Ids, Ids]:
        """Return the quads that an operation with a WHERE removes and adds."""
        from kg_reasoner.sparql.queries.sparql_text import guarded

        target = operation.graph or (None if self._target is None else from_rdflib(self._target))
        deleted, inserted = (self._template(quads, target) for quads in (operation.deleted, operation.inserted))
        active = self._active(operation)
        dataset = active.store.dataset if isinstance(active.store, DatasetStore) else self._dataset
        with guarded():
            variables = variables_of(deleted + inserted)
            found = evaluated_pattern(dataset, active, operation.where, self._bindings, operation.base, variables)
        table, terms = found.table or Table({}, 0), found.terms
        removed = instantiated_quads(deleted, table, terms)
        removed = removed[(removed >= -1).all(axis=1)]  # what the dictionary does not contain is in no graph
        return removed, terms.interned(instantiated_quads(inserted, table, terms))

    def _template(self, quads: Iterable[QuadTemplate], target: Term | None) -> tuple[QuadTemplate, ...]:
        """Return a template with the values that the caller has given to its variables, and the graph of quads outside of GRAPH."""
        given = self._given
        return tuple(
            cast(
                QuadTemplate,
                tuple(
                    given.get(term, term) if isinstance(term, Variable) else term
                    for term in (*triple, target if graph is None else graph)
                ),
            )
            for *triple, graph in quads
        )

    def _active(self, operation: Modify) -> Graph:
        """Return the dataset in which the patterns of an operation are matched: that of USING, or else of WITH."""
        from rdflib import Dataset

        if operation.using:
            return selection(self._dataset, operation.using)
        if operation.graph is not None:
            return Dataset(store=self._graph.store).get_context(to_rdflib(operation.graph))
        return self._graph
