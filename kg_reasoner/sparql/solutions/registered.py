"""Functions that programs have registered with rdflib, which queries call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.concurrency.watching import watched
from kg_reasoner.errors import LoadError, NotAllowedError
from kg_reasoner.loaders.convert import from_rdflib, to_rdflib
from kg_reasoner.sparql.algebra import Foreign, Service
from kg_reasoner.sparql.solutions.expressions import is_too_long
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Graph

__all__ = ["RegisteredFunctions"]

_ERRORS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The exceptions with which functions reject unexpected values, in addition to SPARQL's errors."""


def _term_of(result: Any, name: str) -> Term | None:
    """Return the result of a function as a term; None if its text is not that of one, such as an invalid IRI.

    Raises:
        LoadError: It is something else, such as a number of Python.
    """
    from rdflib import BNode, Literal, URIRef

    try:
        return from_rdflib(result)
    except LoadError:
        if isinstance(result, (URIRef, BNode, Literal)):
            return None
        raise LoadError(
            f"the function <{name}> returns {result!r}", hint="return a URIRef, a BNode or a Literal of rdflib"
        ) from None


class RegisteredFunctions:
    """Calls the functions that are registered with rdflib. SERVICE is refused.

    Args:
        graph: The graph of the query, for functions that are given it; None if there is none.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self._graph = graph

    def call(self, function: Foreign, arguments: Sequence[Sequence[Term | None]]) -> list[Term | None]:
        """Return the results of a registered function for rows of arguments; None for an error.

        Raises:
            LoadError: A result is something else than a term of RDF.
        """
        from rdflib import URIRef
        from rdflib.plugins.sparql.operators import _CUSTOM_FUNCTIONS

        found = _CUSTOM_FUNCTIONS.get(URIRef(function.iri))
        if found is None:
            return [None] * len(arguments)
        apply, is_raw = found
        return [self._result(function, apply, is_raw, row) for row in watched(arguments, every=1)]

    def _result(self, function: Foreign, apply: Any, is_raw: bool, row: Sequence[Term | None]) -> Term | None:
        from rdflib import URIRef
        from rdflib.plugins.sparql.parserutils import Expr
        from rdflib.plugins.sparql.sparql import QueryContext, SPARQLError

        if None in row:
            return None
        nodes = [to_rdflib(term) for term in row if term is not None]
        try:
            if is_raw:
                expression = Expr("Function", apply, iri=URIRef(function.iri), expr=nodes, distinct=function.is_distinct)
                result = expression.eval(QueryContext(self._graph))
            else:
                result = apply(*nodes)
        except (SPARQLError, *_ERRORS):
            return None
        term = None if isinstance(result, SPARQLError) or result is None else _term_of(result, function.iri)
        return None if is_too_long(term) else term

    def service(self, node: Service, address: Term | None) -> list[dict[str, Term]]:
        """Refuse a SERVICE.

        Raises:
            NotAllowedError: Always.
        """
        place = "a variable address" if address is None else str(address)
        raise NotAllowedError(
            f"SERVICE with {place} is refused: a reasoner's queries fetch nothing\n"
            'hint: query a graph over it, KGReasonerStore(reasoner, allow={"service"})'
        )
