"""What queries leave to rdflib: SERVICE, and functions that programs have registered with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.loaders.convert import from_rdflib, to_rdflib
from kg_reasoner.sparql.algebra import Foreign, Service
from kg_reasoner.sparql.expressions import is_too_long
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Graph

    from kg_reasoner.rdflib_store.permissions import Permissions

__all__ = ["RdflibParts"]

_SERVICE: Final = re.compile(r"service <(.*)>[ \n]*{.*}[ \n]*$", re.DOTALL | re.IGNORECASE)
"""What rdflib looks for."""

_ERRORS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What functions raise for values that they do not expect, beside SPARQL's errors."""


class RdflibParts:
    """Evaluates parts of queries with rdflib.

    Args:
        graph: The graph of the query.
        permissions: Decide what may be fetched.
    """

    def __init__(self, graph: Graph, permissions: Permissions) -> None:
        self._graph = graph
        self._permissions = permissions

    def call(self, function: Foreign, arguments: Sequence[Sequence[Term | None]]) -> list[Term | None]:
        """Return the results of a registered function for rows of arguments; None for an error."""
        from rdflib import URIRef
        from rdflib.plugins.sparql.operators import _CUSTOM_FUNCTIONS

        found = _CUSTOM_FUNCTIONS.get(URIRef(function.iri))
        if found is None:
            return [None] * len(arguments)
        apply, is_raw = found
        return [self._result(function, apply, is_raw, row) for row in arguments]

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
            term = None if isinstance(result, SPARQLError) or result is None else from_rdflib(result)
            return None if is_too_long(term) else term
        except (SPARQLError, *_ERRORS):
            return None

    def service(self, node: Service, address: Term | None) -> list[dict[str, Term]]:
        """Return the solutions of a SERVICE.

        Raises:
            NotAllowedError: The owner of the store has not allowed it.
            UnsupportedError: rdflib would ask another address, or not find it.
            LoadError: The address does not answer.
        """
        from rdflib.plugins.sparql.evaluate import evalServiceQuery
        from rdflib.plugins.sparql.sparql import QueryContext

        if address is not None:
            self._permissions.check_service(str(to_rdflib(address)))
        written = _SERVICE.match(node.part.get("service_string") or "")
        if address is None or written is None or str(to_rdflib(address)) != written[1]:
            hint = "write SERVICE <address> { ... }, without SILENT, once in a query"
            raise UnsupportedError(
                "rdflib evaluates only the first SERVICE of a query, by its address in angle brackets", hint=hint
            )
        solutions = evalServiceQuery(QueryContext(self._graph), node.part)
        return [{str(name): from_rdflib(value) for name, value in solution.items()} for solution in solutions]
