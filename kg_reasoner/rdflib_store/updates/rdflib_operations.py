"""The operations of a SPARQL Update request from rdflib's algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from kg_reasoner.errors import LoadError
from kg_reasoner.sparql.translate import template_term, translate_pattern
from kg_reasoner.sparql.update_algebra import (
    DeleteData,
    InsertData,
    LoadDocument,
    Modify,
    OnGraphs,
    Operation,
    QuadTemplate,
    delete_where,
)
from kg_reasoner.terms import IRI

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Update

__all__ = ["operations_of"]


def operations_of(request: Update) -> Iterator[Operation]:
    """Yield the operations of a request, each translated when the ones before it have been carried out.

    Raises:
        LoadError: A term is not an RDF term, unless it is only to be deleted.
    """
    for operation in getattr(request, "algebra", ()):  # an empty request has no algebra
        yield _TRANSLATIONS[operation.name](operation)


def _insert_data(operation: CompValue) -> Operation:
    return InsertData(_translated(operation))


def _delete_data(operation: CompValue) -> Operation:
    return DeleteData(_to_delete(operation))


def _delete_where(operation: CompValue) -> Operation:
    return delete_where(_translated(operation), _base_of(operation))


def _modify(operation: CompValue) -> Operation:
    return Modify(
        _to_delete(operation.delete),
        _translated(operation.insert),
        translate_pattern(operation.where),
        _named(operation.withClause),
        tuple(operation.using or ()),
        _base_of(operation),
    )


def _load(operation: CompValue) -> Operation:
    return LoadDocument(str(operation.iri), _named(operation.graphiri), bool(operation.silent))


def _on_graph(operation: CompValue) -> Operation:
    return OnGraphs(operation.name.upper(), (_graph(operation.graphiri),), bool(operation.silent))


def _on_graphs(operation: CompValue) -> Operation:
    return OnGraphs(operation.name.upper(), tuple(map(_graph, operation.graph)), bool(operation.silent))


_TRANSLATIONS: Final[Mapping[str, Callable[[CompValue], Operation]]] = {
    "InsertData": _insert_data,
    "DeleteData": _delete_data,
    "DeleteWhere": _delete_where,
    "Modify": _modify,
    "Load": _load,
    **dict.fromkeys(("Clear", "Drop", "Create"), _on_graph),
    **dict.fromkeys(("Add", "Copy", "Move"), _on_graphs),
}


def _graph(which: Any) -> IRI | str:
    """Return the name of a graph, or DEFAULT, NAMED or ALL."""
    from rdflib import URIRef

    return IRI(str(which)) if isinstance(which, URIRef) else str(which)


def _named(name: Any) -> IRI | None:
    return IRI(str(name)) if name else None


def _base_of(operation: CompValue) -> str | None:
    return getattr(operation.prologue, "base", None) or None


def _translated(part: CompValue | None) -> tuple[QuadTemplate, ...]:
    return tuple(map(_quad, _quads(part)))


def _to_delete(part: CompValue | None) -> tuple[QuadTemplate, ...]:
    """Return a template to delete; what cannot be in a graph is left out."""
    found: list[QuadTemplate] = []
    for quad in _quads(part):
        with suppress(LoadError):
            found.append(_quad(quad))
    return tuple(found)


def _quad(quad: tuple[Any, ...]) -> QuadTemplate:
    return cast(QuadTemplate, tuple(None if term is None else template_term(term) for term in quad))


def _quads(part: CompValue | None) -> Iterator[tuple[Any, ...]]:
    """Yield the quads of a template, or of data; those outside of GRAPH have no graph."""
    if not part:
        return
    for triple in part.triples or ():
        yield (*triple, None)
    for name, triples in (part.quads or {}).items():
        for triple in triples:
            yield (*triple, name)
