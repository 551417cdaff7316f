"""SPARQL Update on stores of this package: an operation finds and checks everything before it changes anything.

The WHERE of an operation is evaluated as that of a query (`kg_reasoner.sparql`), and its templates make quads of ids of the
solutions. The standard requires all solutions first, then all deletions, then all insertions. LOAD reads a whole document before
it adds anything, and only if the owner of the store allows it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kg_reasoner.api.operations.notices import depth_of_caller
from kg_reasoner.errors import LoadError, NotAllowedError, ReasonerError, ReasonerWarning
from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore
from kg_reasoner.rdflib_store.queries.sparql_dataset import evaluated_pattern, selection
from kg_reasoner.rdflib_store.updates.graph_operations import ON_GRAPHS
from kg_reasoner.rdflib_store.updates.update_changes import UpdateChanges
from kg_reasoner.rdflib_store.updates.update_data import data_to_delete, data_to_insert, document_quads
from kg_reasoner.rdflib_store.updates.update_templates import deleted_template, inserted_template, pattern_of_quads, variables_of
from kg_reasoner.sparql.queries.parsed import as_terms
from kg_reasoner.sparql.queries.templates import instantiated_quads
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.storage.arrays import NO_QUADS, Ids

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.parserutils import CompValue
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
    from rdflib.plugins.sparql.sparql import Update

    from kg_reasoner.sparql.queries.sparql_text import read_update

    prepared = request if isinstance(request, Update) else read_update(request, base=base, prefixes=prefixes)
    with writer.request():
        changes = UpdateChanges(dataset.graphs, writer, records=returns_added)
        _Request(graph, dataset, changes, target, bindings).carry_out(prepared)
        return changes.added(target)


class _Request:
    """A request under execution; see `update_graph`."""

    def __init__(
        self, graph: Graph, dataset: QueryDataset, changes: UpdateChanges, target: Node | None, bindings: Mapping[str, Any]
    ) -> None:
        self._graph, self._dataset, self._changes, self._target = graph, dataset, changes, target
        self._bindings = bindings
        self._given = as_terms(bindings)

    def carry_out(self, prepared: Update) -> None:
        """Execute the operations."""
        for operation in getattr(prepared, "algebra", ()):  # an empty request has no algebra
            if operation.name in ON_GRAPHS:
                try:
                    ON_GRAPHS[operation.name](self._changes, operation)
                except ReasonerError:
                    if not operation.silent:
                        raise
            elif operation.name == "Load":
                self._load(operation)
            elif operation.name == "InsertData":
                self._changes.make(NO_QUADS, data_to_insert(self._changes, operation, self._target))
            elif operation.name == "DeleteData":
                self._changes.make(data_to_delete(self._changes, operation, self._target), NO_QUADS)
            else:
                self._changes.make(*self._found(operation))

    def _load(self, operation: CompValue) -> None:
        """Load a document. With SILENT, the operation does nothing where it fails (SPARQL 1.1 Update, 3.1.4), with a warning."""
        try:
            kind = self._dataset.permissions.check_load(str(operation.iri))
            target = operation.graphiri or self._target
            self._changes.make(NO_QUADS, document_quads(self._changes, str(operation.iri), kind, target))
        except (LoadError, NotAllowedError) as error:
            if not operation.silent:
                raise
            warnings.warn(ReasonerWarning(f"LOAD SILENT has loaded nothing: {error}"), stacklevel=depth_of_caller())

    def _found(self, operation: CompValue) -> tuple[Ids, Ids]:
        """Return the quads that an operation with a WHERE removes and adds."""
        from kg_reasoner.sparql.queries.sparql_text import guarded

        if operation.name == "DeleteWhere":
            deleted, inserted = deleted_template(operation, self._target, self._given), []
            active, where = self._graph, pattern_of_quads(operation)
        else:
            target = operation.withClause or self._target
            deleted = deleted_template(operation.delete, target, self._given)
            inserted = inserted_template(operation.insert, target, self._given)
            active, where = self._active(operation), operation.where
        dataset = active.store.dataset if isinstance(active.store, DatasetStore) else self._dataset
        base = getattr(operation.prologue, "base", None)
        with guarded():
            found = evaluated_pattern(dataset, active, where, self._bindings, base, variables_of(deleted + inserted))
        table, terms = found.table or Table({}, 0), found.terms
        removed = instantiated_quads(deleted, table, terms)
        removed = removed[(removed >= -1).all(axis=1)]  # what the dictionary does not contain is in no graph
        return removed, terms.interned(instantiated_quads(inserted, table, terms))

    def _active(self, operation: CompValue) -> Graph:
        """Return the dataset in which the patterns of an operation are matched: that of USING, or else of WITH."""
        from rdflib import Dataset

        if operation.using:
            return selection(self._dataset, operation.using)
        if operation.withClause:
            return Dataset(store=self._graph.store).get_context(operation.withClause)
        return self._graph
