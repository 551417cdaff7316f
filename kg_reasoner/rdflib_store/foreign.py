"""The parts of queries that rdflib evaluates: SERVICE, and functions that programs have registered with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.loaders.convert import from_rdflib, to_rdflib
from kg_reasoner.sparql.algebra import Service
from kg_reasoner.sparql.registered import RegisteredFunctions
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.sparql import Prologue

    from kg_reasoner.rdflib_store.permissions import Permissions

__all__ = ["RdflibParts"]

_SERVICE: Final = re.compile(r"service <(.*)>[ \n]*{.*}[ \n]*$", re.DOTALL | re.IGNORECASE)
"""The pattern by which rdflib finds the address of a SERVICE."""


class RdflibParts(RegisteredFunctions):
    """Evaluates parts of queries with rdflib.

    Args:
        graph: The graph of the query.
        permissions: Decide what may be fetched.
        prologue: The prefixes and the base of the query, which a SERVICE is sent with.
    """

    def __init__(self, graph: Graph, permissions: Permissions, prologue: Prologue | None = None) -> None:
        super().__init__(graph)
        self._permissions = permissions
        self._prologue = prologue

    def service(self, node: Service, address: Term | None) -> list[dict[str, Term]]:
        """Return the solutions of a SERVICE.

        Raises:
            NotAllowedError: The owner of the store has not allowed it.
            UnsupportedError: rdflib would ask another address, or not find it.
            LoadError: The address does not answer.
        """
        from rdflib.plugins.sparql.evaluate import evalServiceQuery
        from rdflib.plugins.sparql.sparql import Prologue, QueryContext

        if address is not None:
            self._permissions.check_service(str(to_rdflib(address)))
        written = _SERVICE.match(node.part.get("service_string") or "")
        if address is None or written is None or str(to_rdflib(address)) != written[1]:
            hint = "write SERVICE <address> { ... }, without SILENT"
            raise UnsupportedError("rdflib evaluates a SERVICE only by its address in angle brackets", hint=hint)
        context = QueryContext(self._graph)
        context.prologue = Prologue() if self._prologue is None else self._prologue
        solutions = evalServiceQuery(context, node.part)
        return [{str(name): from_rdflib(value) for name, value in solution.items()} for solution in solutions]
