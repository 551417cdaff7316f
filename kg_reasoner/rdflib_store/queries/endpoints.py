"""Requests to SPARQL endpoints, by the SPARQL 1.1 Protocol."""

from __future__ import annotations

import json
from collections import defaultdict
from string import punctuation
from typing import Any, Final
from urllib.parse import quote, urlencode

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.convert import text_from_term
from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term

__all__ = ["ask"]

_LONGEST: Final = 600
"""The number of characters up to which a query is a part of the address, so that its answer can be cached."""

_LATE: Final = 0.1
"""The seconds for which an endpoint is waited for after the limit, so that the limit is the error."""


def ask(address: str, query: str) -> list[dict[str, Term]]:
    """Return the solutions of a SELECT query at an endpoint. Their blank nodes are new ones.

    Args:
        address: The address of the endpoint.
        query: The query.

    Raises:
        LoadError: The endpoint does not answer, or its answer is not solutions in JSON.
        InterruptedUpdate: It does not answer within the limits of the operation.
    """
    from http.client import HTTPException
    from urllib.error import URLError
    from urllib.request import Request, urlopen

    address = quote(address.partition("#")[0], safe=punctuation)
    sent = urlencode({"query": query})
    body = sent.encode() if len(query) >= _LONGEST else None
    if body is None:
        address += f"{'&' if '?' in address else '?'}{sent}"
    headers = {"Accept": "application/sparql-results+json", "User-Agent": "kg-reasoner"}
    watch = current_watch()
    left = watch.remaining
    try:
        with urlopen(Request(address, body, headers), timeout=None if left is None else left + _LATE) as response:
            return _solutions(json.load(response))
    except (OSError, HTTPException) as error:
        watch.check()
        reason = error.reason if isinstance(error, URLError) else str(error) or type(error).__name__
        raise LoadError(f"a SERVICE in the query does not answer: {reason}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise LoadError(f"a SERVICE in the query does not answer with solutions in JSON: {error}") from None


def _solutions(answer: Any) -> list[dict[str, Term]]:
    nodes = defaultdict[str, BlankNode](_fresh_node)
    solutions = [{name: _term(term, nodes) for name, term in solution.items()} for solution in answer["results"]["bindings"]]
    for solution in solutions:
        for term in solution.values():
            text_from_term(term)  # which checks it
    return solutions


def _fresh_node() -> BlankNode:
    from rdflib import BNode

    return BlankNode(str(BNode()))


def _term(term: Any, nodes: dict[str, BlankNode]) -> Term:
    """Return a term in the results format."""
    kind, value = term["type"], term["value"]
    if kind == "uri":
        return IRI(value)
    if kind == "bnode":
        return nodes[value]
    if kind not in ("literal", "typed-literal"):
        raise ValueError(f"there is no kind of term {kind!r}")
    if "xml:lang" in term:
        return Literal(value, RDF.langString.value, term["xml:lang"].lower())
    return Literal(value, term.get("datatype", XSD.string.value))
