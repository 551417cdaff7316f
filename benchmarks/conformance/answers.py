"""Comparison of query answers with those that the W3C expects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rdflib import XSD, BNode, Literal
from rdflib.query import Result

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.rdflib_store import graph_of

__all__ = ["is_expected"]


def is_expected(reasoner: Reasoner, query: Path, result: Path) -> bool:
    """Return whether a query over a reasoner's triples gives an expected result, a file in SPARQL's XML format.

    The order of rows does not matter; blank nodes are all alike.
    """
    with result.open("rb") as file:
        expected = Result.parse(file, format="xml")
    found = graph_of(reasoner).query(query.read_text(encoding="utf-8"))
    return found.type == expected.type and _comparable(found) == _comparable(expected)


def _comparable(result: Result) -> Any:
    if result.type == "ASK":
        return result.askAnswer
    variables = sorted(result.vars or ())
    return Counter(tuple(_term(row.get(variable)) for variable in variables) for row in result.bindings)


def _term(term: Any) -> Any:
    if isinstance(term, BNode):
        return "blank"
    if isinstance(term, Literal):
        return str(term), XSD.string if term.datatype is None and not term.language else term.datatype, term.language
    return term
