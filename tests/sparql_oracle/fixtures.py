"""Queries with data and answers as text: `fixtures.txt`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyoxigraph

from kg_reasoner.loaders.convert import from_oxigraph
from kg_reasoner.terms import IRI, Triple

from . import ast
from .compare import Row
from .dataset import Dataset
from .parse import parse_query, parse_table
from .text import PREFIXES

_PROLOGUE = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())


@dataclass(frozen=True, slots=True)
class Fixture:
    """A query, its data and its answers; the attributes are their texts in the file."""

    title: str
    data: str
    query_text: str
    answers: str

    @property
    def text(self) -> str:
        """The query with its prefixes."""
        return _PROLOGUE + self.query_text

    @property
    def query(self) -> ast.Query:
        """The query as the oracle sees it."""
        return parse_query(self.text)

    @property
    def dataset(self) -> Dataset:
        """The data."""
        return _dataset(self.data)

    @property
    def truth(self) -> bool:
        """The answer to an ASK."""
        return {"true": True, "false": False}[self.answers.strip()]

    @property
    def rows(self) -> list[Row]:
        """The answers to a SELECT."""
        table = parse_table(self.answers, dict(PREFIXES))
        names = [variable.name for variable in table.variables]
        return [{name: term for name, term in zip(names, row, strict=True) if term is not None} for row in table.rows]

    @property
    def triples(self) -> frozenset[Triple]:
        """The answer to a CONSTRUCT."""
        return _dataset(self.answers).default


def fixtures() -> list[Fixture]:
    """Return all fixtures."""
    parts = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n### ")[1:]
    found = []
    for part in parts:
        title, _, body = part.partition("\n")
        found.append(Fixture(title, *f"\n{body}".split("\n---\n")))
    return found


def _dataset(text: str) -> Dataset:
    """A dataset from TriG."""
    default: set[Triple] = set()
    named: dict[IRI, set[Triple]] = {}
    for quad in pyoxigraph.parse(_PROLOGUE + text, pyoxigraph.RdfFormat.TRIG):
        name = quad.graph_name
        if isinstance(name, pyoxigraph.DefaultGraph):
            graph = default
        else:
            iri = from_oxigraph(name)
            assert isinstance(iri, IRI)
            graph = named.setdefault(iri, set())
        graph.add((from_oxigraph(quad.subject), from_oxigraph(quad.predicate), from_oxigraph(quad.object)))
    return Dataset(frozenset(default), {name: frozenset(triples) for name, triples in named.items()})
