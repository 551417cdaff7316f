"""SPARQL queries as text, and the terms of their answers as readable text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.language.display_names import DisplayNames
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.terms import IRI, XSD, BlankNode, Term

if TYPE_CHECKING:
    from rdflib.plugins.sparql.sparql import Query
    from rdflib.term import Node

__all__ = ["RdflibQuery", "looks_like_query", "parse_query", "term_shortener"]

_BEGINNING: Final = re.compile(r"\s*(?:(?:select|ask|construct|describe|prefix|base)[\s{(*?<]|#)", re.IGNORECASE)
_LOCAL_NAME: Final = re.compile(r"[^\W\d][\w\-]*")


def looks_like_query(text: str) -> bool:
    """Return whether a text is a query rather than the name of a file.

    >>> looks_like_query("ask { ?s ?p ?o }"), looks_like_query("describe <urn:a>"), looks_like_query("queries/ask.rq")
    (True, True, False)
    """
    return not text.strip() or "\n" in text or "{" in text or _BEGINNING.match(text) is not None


@dataclass(frozen=True)
class RdflibQuery:
    """A parsed query of rdflib; `is_graph` is true if it returns a graph (CONSTRUCT, DESCRIBE).

    `graphs` are those of FROM and FROM NAMED.
    """

    prepared: Query
    is_graph: bool
    prefixes: dict[str, str]
    graphs: list[Node]


def parse_query(text: str, source: str, prefixes: Mapping[str, str] | None = None) -> RdflibQuery:
    """Read a query; `source` names the text in messages, and `prefixes` are those that it need not declare.

    Raises:
        UnknownPrefixError: A prefix is not declared.
        QuerySyntaxError: The text is not a SPARQL query; the error shows the line and the place.
    """
    from kg_reasoner.sparql.queries.sparql_text import read_query

    tree, prepared = read_query(text, source, prefixes=prefixes, keeps_numbers=True)
    declared = {str(part.prefix or ""): str(part.iri) for part in tree[0] if getattr(part, "name", "") == "PrefixDecl"}
    graphs = [clause.default or clause.named for clause in prepared.algebra.datasetClause or ()]
    return RdflibQuery(prepared, prepared.algebra.name in ("ConstructQuery", "DescribeQuery"), declared, graphs)


def term_shortener(prefixes: Mapping[str, str]) -> Callable[[Term | None], str]:
    """Return a function that writes a term in readable form: prefixed names, plain strings and numbers, an empty text for None.

    >>> from kg_reasoner.terms import Literal
    >>> shorten = term_shortener({"ex": "http://example.org/"})
    >>> shorten(IRI("http://example.org/a")), shorten(Literal("x")), shorten(Literal("5", XSD.integer.value)), shorten(None)
    ('ex:a', 'x', '5', '')
    """
    spaces = sorted({**PREFIXES, **prefixes}.items(), key=lambda item: -len(item[1]))
    bare = {XSD[name].value for name in ("string", "integer", "decimal", "double", "boolean")}

    def shorten_iri(iri: str) -> str:
        label = prefixes.label(iri) if isinstance(prefixes, DisplayNames) else None
        if label is not None:
            return label
        for prefix, space in spaces:
            if space and iri.startswith(space) and _LOCAL_NAME.fullmatch(iri, len(space)):
                return f"{prefix}:{iri[len(space) :]}"
        return f"<{iri}>"

    def shorten(term: Term | None) -> str:
        if term is None:
            return ""
        if isinstance(term, BlankNode):
            return f"_:{term.label}"
        if isinstance(term, IRI):
            return shorten_iri(term.value)
        if term.language:
            return f"{term.lexical}@{term.language}"
        return term.lexical if term.datatype in bare else f"{term.lexical}^^{shorten_iri(term.datatype)}"

    return shorten
