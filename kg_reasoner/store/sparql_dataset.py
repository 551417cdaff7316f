"""FROM and FROM NAMED: the dataset that a query asks for, made of the graphs that are there. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rdflib import Dataset
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.plugins.sparql.sparql import Query
    from rdflib.query import Result

    from kg_reasoner.store.store import KGReasonerStore

_FROM: Final = re.compile(r"\bFROM\b", re.IGNORECASE)


def query_selection(
    store: KGReasonerStore, query: Query | str, prefixes: Mapping[str, Any], bindings: Mapping[str, Any], base: str | None = None
) -> Result:
    """Answer a query that says which graphs it is for.

    Args:
        store: has the graphs. Those that it does not have are empty.
        query: as text, or prepared by rdflib.
        prefixes: namespaces for the prefixes that the text does not declare.
        bindings: values of variables, by name.
        base: what relative IRIs of the text are relative to.

    Raises:
        NotImplementedError: the query does not say so; rdflib goes on.
    """
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.evaluate import evalPart
    from rdflib.plugins.sparql.parser import parseQuery
    from rdflib.plugins.sparql.processor import SPARQLResult
    from rdflib.plugins.sparql.sparql import QueryContext
    from rdflib.term import Variable

    if isinstance(query, str):
        if not _FROM.search(query):
            raise NotImplementedError
        query = translateQuery(parseQuery(query), base, prefixes)
    if not query.algebra.datasetClause:
        raise NotImplementedError
    dataset = selection(store, query.algebra.datasetClause)
    context = QueryContext(dataset, initBindings={Variable(name): value for name, value in bindings.items()})
    context.prologue = query.prologue
    return SPARQLResult(evalPart(context, query.algebra))


def selection(store: KGReasonerStore, clauses: Iterable[CompValue]) -> Dataset:
    """The dataset of FROM and FROM NAMED, or of USING and USING NAMED."""
    from rdflib import Dataset

    from kg_reasoner.store.views import Selection

    default = [clause.default for clause in clauses if clause.default]
    named = [clause.named for clause in clauses if clause.named]
    return Dataset(store=Selection(store, default, named))
