"""SPARQL Update on our store: an operation finds and checks everything before it changes anything.

rdflib's own evaluator deletes while it still looks for further solutions (``DELETE WHERE``), and changes the graph solution by
solution. The standard has it otherwise: all solutions first, then all deletions, then all insertions. What names other graphs, and
operations on whole graphs, are left to rdflib.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Update
    from rdflib.term import Node

RdflibTriple: TypeAlias = "tuple[Node, Node, Node]"


class Changeable:
    """A store that takes removals and additions together."""

    def change(self, removed: Iterable[RdflibTriple], added: Iterable[RdflibTriple]) -> None:
        """Remove triples, then add triples; or raise LoadError and leave everything as it is."""
        raise NotImplementedError


def update_graph(
    graph: Graph, store: Changeable, request: Update | str, prefixes: Mapping[str, Any], bindings: Mapping[str, Any]
) -> None:
    """Carry out the operations of a request, one after the other.

    Args:
        graph: a plain graph over the store.
        store: where the changes go.
        request: SPARQL Update, as text or prepared by rdflib.
        prefixes: namespaces for the prefixes that the text does not declare.
        bindings: values of variables, by name.

    Raises:
        LoadError: something to be inserted is no RDF term. The operation has not changed anything; those before it have.
    """
    from rdflib.plugins.sparql.algebra import translateUpdate
    from rdflib.plugins.sparql.parser import parseUpdate
    from rdflib.plugins.sparql.sparql import Update
    from rdflib.plugins.sparql.update import evalUpdate

    prepared = translateUpdate(parseUpdate(request), initNs=prefixes) if isinstance(request, str) else request
    for operation in getattr(prepared, "algebra", ()):  # an empty request has no algebra
        if _is_ours(operation):
            store.change(*_changes(graph, operation, bindings))
        else:
            evalUpdate(graph, Update(prepared.prologue, [operation]), dict(bindings))


def _is_ours(operation: CompValue) -> bool:
    """Whether it is an operation on triples of the one graph there is."""
    if operation.name not in ("InsertData", "DeleteData", "DeleteWhere", "Modify"):
        return False
    parts = [operation, operation.delete, operation.insert]
    return not (operation.using or operation.withClause or any(part and part.quads for part in parts))


def _changes(graph: Graph, operation: CompValue, bindings: Mapping[str, Any]) -> tuple[list[RdflibTriple], list[RdflibTriple]]:
    """The triples that an operation removes and adds."""
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.evalutils import _fillTemplate
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import QueryContext
    from rdflib.term import Literal, URIRef, Variable

    if operation.name == "InsertData":
        return [], list(operation.triples)
    if operation.name == "DeleteData":
        return list(operation.triples), []
    context = QueryContext(graph, initBindings={Variable(name): value for name, value in bindings.items()})
    context.prologue = operation.prologue
    if operation.name == "DeleteWhere":
        solutions = evalPart(context, CompValue("BGP", triples=operation.triples))
        deleted, inserted = operation.triples, ()
    else:
        solutions = evalPart(context, operation.where)
        deleted, inserted = (part.triples if part else () for part in (operation.delete, operation.insert))
    removed: list[Any] = []
    added: list[Any] = []
    for solution in solutions:
        removed += _fillTemplate(deleted, solution)
        added += _fillTemplate(inserted, solution)
    # what a template makes and RDF does not know (a literal as the subject, say) is left out: SPARQL 1.1 Update, section 3.1.3
    return removed, [triple for triple in added if not isinstance(triple[0], Literal) and isinstance(triple[1], URIRef)]
