"""SPARQL Update requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import PatternTerm
from kg_reasoner.sparql.syntax.query_syntax import QueryReader, template_term
from kg_reasoner.sparql.syntax.tokens import END, VARIABLE, WORD, Unread
from kg_reasoner.sparql.update_algebra import DeleteData, InsertData, Modify, OnGraphs, Operation, QuadTemplate, delete_where
from kg_reasoner.terms import IRI, BlankNode

__all__ = ["read_common_update"]

_Quads: TypeAlias = tuple[QuadTemplate, ...]

_ALL_OF: Final = frozenset({"DEFAULT", "NAMED", "ALL"})
_PAIRS: Final = frozenset({"ADD", "COPY", "MOVE"})


def read_common_update(text: str, prefixes: Mapping[str, Any], base: str | None = None) -> tuple[Operation, ...] | None:
    """Return the operations of a request, as `kg_reasoner.rdflib_store.updates.rdflib_operations` makes them of rdflib's.

    Args:
        text: The request.
        prefixes: Namespaces for the prefixes that the text does not declare.
        base: The base IRI, which only functions use: texts with relative IRIs are not read.

    Returns:
        The operations; None if the text is not of the common part of the grammar, and may have syntax errors.
    """
    try:
        return _UpdateReader(text, prefixes).request(base)
    except (Unread, RecursionError):
        return None


class _UpdateReader(QueryReader):
    """Reads requests."""

    def request(self, base: str | None) -> tuple[Operation, ...]:
        """Read the whole text."""
        found: list[Operation] = []
        self.prologue()
        while self.kind != END:
            found.append(self._operation(base))
            if not self.accept(";"):
                break
            self.prologue()
        self.take(END)
        return tuple(found)

    def _operation(self, base: str | None) -> Operation:
        self.start_basic_pattern()  # a label belongs to one operation, and to its template or its pattern
        name = self.take(WORD).upper()
        if name in ("INSERT", "DELETE") and self.accept_word("DATA"):
            quads = self._quads(has_variables=False, has_blank_nodes=name == "INSERT")
            return InsertData(quads) if name == "INSERT" else DeleteData(quads)
        if name == "DELETE" and self.accept_word("WHERE"):
            return delete_where(self._quads(has_blank_nodes=False), base)
        if name in ("INSERT", "DELETE", "WITH"):
            return self._modify(name, base)
        return self._on_graphs(name)

    def _modify(self, name: str, base: str | None) -> Modify:
        """Read DELETE, INSERT and WHERE, after the first keyword."""
        graph = self.iri() if name == "WITH" else None
        if name == "WITH":
            name = self.take(WORD).upper()
        deleted = inserted = cast(_Quads, ())
        if name == "DELETE":
            deleted = self._quads(has_blank_nodes=False)
            name = "INSERT" if self.accept_word("INSERT") else ""
        elif name != "INSERT":
            raise Unread
        if name == "INSERT":
            inserted = self._quads()
        self.expect_word("WHERE")
        return Modify(deleted, inserted, self.group(), graph, base=base)

    def _on_graphs(self, name: str) -> OnGraphs:
        """Read an operation on whole graphs, after its name."""
        is_silent = self.accept_word("SILENT")
        if name in _PAIRS:
            source = self._graph_or_default()
            self.expect_word("TO")
            return OnGraphs(name, (source, self._graph_or_default()), is_silent)
        if name == "CREATE":
            self.expect_word("GRAPH")
            return OnGraphs(name, (self.iri(),), is_silent)
        if name not in ("CLEAR", "DROP"):
            raise Unread
        if self.accept_word("GRAPH"):
            return OnGraphs(name, (self.iri(),), is_silent)
        which = self.take(WORD).upper()
        if which not in _ALL_OF:
            raise Unread
        return OnGraphs(name, (which,), is_silent)

    def _graph_or_default(self) -> IRI | str:
        if self.accept_word("DEFAULT"):
            return "DEFAULT"
        self.accept_word("GRAPH")
        return self.iri()

    # --- quads ------------------------------------------------------------------------------------------------------

    def _quads(self, *, has_variables: bool = True, has_blank_nodes: bool = True) -> _Quads:
        """Read a template in braces. Terms that may not be in it are not read."""
        found: list[QuadTemplate] = []
        self.expect("{")
        may_be_triples = True
        while not self.accept("}"):
            if may_be_triples and self.sees_triples():
                self._add_triples(found, None)
                may_be_triples = False
                continue
            self.expect_word("GRAPH")
            name = self.variable() if has_variables and self.kind == VARIABLE else self.iri()
            self.expect("{")
            if self.sees_triples():
                self._add_triples(found, name)
            self.expect("}")
            self.accept(".")
            may_be_triples = True
        for quad in found:
            for term in quad:
                if (isinstance(term, Variable) and not has_variables) or (isinstance(term, BlankNode) and not has_blank_nodes):
                    raise Unread
        return tuple(found)

    def _add_triples(self, found: list[QuadTemplate], graph: PatternTerm | None) -> None:
        for subject, property, value in self.triples(has_paths=False):
            found.append((template_term(subject), template_term(property), template_term(value), graph))
