"""The parts of queries that are not evaluated in columns: SERVICE, and functions that programs have registered with rdflib."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kg_reasoner.errors import LoadError, UnsupportedError
from kg_reasoner.rdflib_store.queries.endpoints import ask
from kg_reasoner.sparql.algebra import Service
from kg_reasoner.sparql.solutions.registered import RegisteredFunctions
from kg_reasoner.terms import IRI, Term, term_text

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.plugins.sparql.sparql import Prologue

    from kg_reasoner.rdflib_store.queries.permissions import Permissions

__all__ = ["RdflibParts"]

_GROUP: Final = re.compile(r"(?:<[^>]*>|#[^\r\n]*|\\.|[^{#<\\])*(\{.*\})", re.DOTALL)
"""The text of a SERVICE, whose group begins at the first brace that is neither in an IRI nor in a comment."""


class RdflibParts(RegisteredFunctions):
    """Asks endpoints, and calls functions that are registered with rdflib.

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
        """Return the solutions of a SERVICE: if it is SILENT and the endpoint fails, a single one without values.

        Raises:
            NotAllowedError: The owner of the store has not allowed it, SILENT or not.
            UnsupportedError: Its address is not known, or is not an IRI.
            LoadError: The endpoint fails, and the SERVICE is not SILENT.
        """
        if not isinstance(address, IRI):
            what = "a variable that has no value" if address is None else term_text(address)
            raise UnsupportedError(f"the address of a SERVICE is {what}", hint="it is an IRI, or a variable that has one before it")
        self._permissions.check_service(address.value)
        try:
            return ask(address.value, self._query(node))
        except LoadError:
            if not node.part.silent:
                raise
            return [{}]

    def _query(self, node: Service) -> str:
        """Return the query for the endpoint: the group as it is written, and the declarations that it may need."""
        group = _GROUP.match(node.part.service_string)
        assert group is not None  # the grammar has read it
        prefixes, base = node.part.prefixes, node.part.base
        if prefixes is None and self._prologue is not None:  # the query was prepared by rdflib
            prefixes, base = dict(self._prologue.namespace_manager.store.namespaces()), self._prologue.base
        declared = [f"PREFIX {prefix}: <{iri}>" for prefix, iri in (prefixes or {}).items() if f"{prefix}:" in group[1]]
        if base:
            declared.insert(0, f"BASE <{base}>")
        return " ".join([*declared, "SELECT * WHERE", group[1]])
