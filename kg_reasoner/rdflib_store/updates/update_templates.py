"""The templates and patterns of SPARQL Update operations, from rdflib's algebra."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from kg_reasoner.errors import LoadError
from kg_reasoner.program import Variable
from kg_reasoner.sparql.queries.templates import QuadTemplate
from kg_reasoner.sparql.translate import template_term
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.term import Node

__all__ = ["deleted_template", "inserted_template", "pattern_of_quads", "rdflib_quads", "variables_of"]

Given: TypeAlias = Mapping[Variable, Term]
"""Variables that the caller has bound."""


def rdflib_quads(part: CompValue | None, target: Node | None) -> Iterator[tuple[Node, Node, Node, Node | None]]:
    """Yield the quads of a template, or of data; those outside GRAPH belong to the target."""
    if not part:
        return
    for triple in part.triples or ():
        yield (*triple, target)
    for name, triples in (part.quads or {}).items():
        for triple in triples:
            yield (*triple, name)


def inserted_template(part: CompValue | None, target: Node | None, given: Given) -> list[QuadTemplate]:
    """Translate a template of quads to insert.

    Raises:
        LoadError: A term is not an RDF term.
    """
    return [_translated(quad, given) for quad in rdflib_quads(part, target)]


def deleted_template(part: CompValue | None, target: Node | None, given: Given) -> list[QuadTemplate]:
    """Translate a template of quads to delete; what cannot be in a graph is left out."""
    template: list[QuadTemplate] = []
    for quad in rdflib_quads(part, target):
        try:
            template.append(_translated(quad, given))
        except LoadError:
            continue
    return template


def _translated(quad: Sequence[Any], given: Given) -> QuadTemplate:
    terms = [None if term is None else template_term(term) for term in quad]
    return cast(QuadTemplate, tuple(given.get(term, term) if isinstance(term, Variable) else term for term in terms))


def variables_of(template: Sequence[QuadTemplate]) -> list[Variable]:
    """Return the variables of a template."""
    return list(dict.fromkeys(term for quad in template for term in quad if isinstance(term, Variable)))


def pattern_of_quads(operation: CompValue) -> CompValue:
    """Return the quads of DELETE WHERE as a pattern, in rdflib's algebra."""
    from rdflib.plugins.sparql.parserutils import CompValue

    pattern = CompValue("BGP", triples=operation.triples or [])
    for name, triples in (operation.quads or {}).items():
        inside = CompValue("Graph", term=name, p=CompValue("BGP", triples=triples))
        pattern = CompValue("Join", p1=pattern, p2=inside, lazy=True)
    return pattern
