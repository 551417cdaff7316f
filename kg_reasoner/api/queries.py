"""SPARQL queries of a reasoner, without a graph of rdflib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.api.core import ReasonerCore
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.sparql.parsed import ParsedQuery, as_terms, parsed_query
from kg_reasoner.sparql.plan import QueryPlan, shortener
from kg_reasoner.sparql.query import evaluate_query, explain_query
from kg_reasoner.sparql.registered import RegisteredFunctions
from kg_reasoner.sparql.source import Place, Places
from kg_reasoner.sparql.text import guarded
from kg_reasoner.terms import OWL, RDF, RDFS, XSD, Term

if TYPE_CHECKING:
    from kg_reasoner.sparql.results.result import QueryResult

__all__ = ["ReasonerDataset", "plan", "query"]

WELL_KNOWN: Final[Mapping[str, str]] = {"rdf": str(RDF), "rdfs": str(RDFS), "owl": str(OWL), "xsd": str(XSD)}


class ReasonerDataset:
    """The dataset of a reasoner: the default graph has all triples, each named graph those that are explicit in it.

    Args:
        core: The reasoner's core.
        default: The graphs whose merge is the default graph (FROM); None: all triples.
        named: The named graphs (FROM NAMED); None: all that exist.
    """

    def __init__(self, core: ReasonerCore, default: Iterable[Term] | None = None, named: Iterable[Term] | None = None) -> None:
        self.caches = core.caches
        self._queries = core.queries
        self._default = None if default is None else list(default)
        self._names = None if named is None else list(dict.fromkeys(named))

    @property
    def joins_graphs(self) -> bool:
        """Whether a variable can stand for any named graph."""
        return self._names is None

    def default(self) -> Places:
        """Return the places of the default graph."""
        if self._default is None:
            return (Place(self._queries),)
        numbers = frozenset(number for name in self._default if (number := self._number(name)) >= 0)
        return (Place(self._queries, numbers),) if numbers else ()

    def named(self, name: Term) -> Places | None:
        """Return the place of a named graph; None if it does not exist."""
        number = self._number(name) if self._names is None or name in self._names else -1
        return (Place(self._queries, number),) if number >= 0 else None

    def names(self) -> Sequence[Term]:
        """Return the names of the named graphs."""
        if self._names is not None:
            return [name for name in self._names if self._number(name) >= 0]
        return [self.caches.dictionary.decode(number) for number in self._queries.quads.names().tolist()]

    def joined(self) -> Place | None:
        """Return the place where a variable stands for any named graph."""
        return Place(self._queries) if self.joins_graphs else None

    def _number(self, name: Term) -> int:
        """Return the id of an existing graph, or -1."""
        number = self.caches.dictionary.find(name)
        exists = number >= 0 and (number == self._queries.quads.default or self._queries.quads.has(number))
        return number if exists else -1


def query(
    core: ReasonerCore,
    text: str,
    bindings: Mapping[str, Any] | None = None,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
) -> QueryResult:
    """Return the answer to a query, see `kg_reasoner.api.reasoner.Reasoner.query`."""
    from kg_reasoner.sparql.results.result import result_of

    parsed = _parsed(core, text, prefixes, base)
    given = as_terms(bindings or {})
    with core.watch(), core.reading(), guarded():
        dataset = _dataset(core, parsed)
        ready = parsed.prepared(given, joins_graphs=dataset.joins_graphs)
        answer = evaluate_query(ready, dataset, RegisteredFunctions(), parsed.base)
        return result_of(answer, core.caches.nodes, parsed.prefixes)


def plan(
    core: ReasonerCore,
    text: str,
    bindings: Mapping[str, Any] | None = None,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    *,
    run: bool = False,
) -> QueryPlan:
    """Return the plan of a query, see `kg_reasoner.api.reasoner.Reasoner.plan`."""
    parsed = _parsed(core, text, prefixes, base)
    given = as_terms(bindings or {})
    with core.watch(), core.reading(), guarded():
        dataset = _dataset(core, parsed)
        ready = parsed.prepared(given, joins_graphs=dataset.joins_graphs)
        return explain_query(ready, dataset, RegisteredFunctions(), parsed.base, shortener(parsed.prefixes()), run=run)


def _parsed(core: ReasonerCore, text: str, prefixes: Mapping[str, str] | None, base: str | None) -> ParsedQuery:
    known = {**WELL_KNOWN, **dict(core.engine.program.prefixes), **(prefixes or {})}
    with guarded():
        return parsed_query(text, base, known, in_order=True)


def _dataset(core: ReasonerCore, parsed: ParsedQuery) -> ReasonerDataset:
    """Return the dataset that a query defines with FROM and FROM NAMED, or the reasoner's."""
    if not parsed.clauses:
        return ReasonerDataset(core)
    default = [from_rdflib(clause.default) for clause in parsed.clauses if clause.default]
    named = [from_rdflib(clause.named) for clause in parsed.clauses if clause.named]
    return ReasonerDataset(core, default, named)
