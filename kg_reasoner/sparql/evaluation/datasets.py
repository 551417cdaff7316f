"""The places where patterns of a query are matched: the active graph, and named graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.sparql.evaluation.learned_outlines import LearnedOutline
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.sparql.solutions.query_terms import QueryTerms, TermCache
from kg_reasoner.sparql.solutions.rdflib_nodes import NodeCache
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.value_columns import ValueCache
from kg_reasoner.terms import Term

REMEMBERED: Final = 256
"""The number of queries with shortcuts that are remembered."""

__all__ = ["Caches", "Dataset", "Place", "Places", "Ready", "RepeatedQueries"]


Ready: TypeAlias = tuple[int, Any, Any]
"""The state of the data, the shortcut of a query in it, and the query as it was parsed."""


class RepeatedQueries:
    """Recent queries that can be answered at once, for one choice of prefixes that their texts do not declare."""

    def __init__(self) -> None:
        self.ready: dict[tuple[object, ...], Ready] = {}
        """Queries with shortcuts, by text, base IRI and given variables."""
        self.shapes: dict[tuple[str, ...], LearnedOutline] = {}
        """Knowledge about recent outlines of queries."""

    def outline(self, outline: tuple[str, ...]) -> LearnedOutline:
        """Return the knowledge about an outline."""
        known = self.shapes.get(outline)
        if known is None:
            if len(self.shapes) >= REMEMBERED:
                self.shapes.clear()
            known = self.shapes[outline] = LearnedOutline()
        return known

    def remember(self, key: tuple[object, ...], ready: Ready) -> None:
        """Remember a query that has a shortcut."""
        if len(self.ready) >= REMEMBERED:
            self.ready.clear()
        self.ready[key] = ready


class Caches(RepeatedQueries):
    """Caches of queries about the terms of a dictionary; the repeated queries are those with the reasoner's own prefixes.

    Args:
        dictionary: The dictionary.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__()
        self.dictionary = dictionary
        self.terms = TermCache(dictionary)
        self.values = ValueCache(dictionary)
        self.nodes = NodeCache()
        self.parsed: dict[tuple[str, str | None], tuple[Mapping[str, str], Any]] = {}
        """Recent queries by text and base IRI: the prefixes that the reasoner knew, and the query as algebra."""
        self.shortcuts: dict[object, tuple[int, Any]] = {}
        """Shortcuts of recent queries, each in a state of the data, see `kg_reasoner.sparql.repeated.shortcuts`."""
        self._by_prefixes: dict[frozenset[tuple[str, Any]], RepeatedQueries] = {}

    def with_prefixes(self, prefixes: Mapping[str, Any]) -> RepeatedQueries:
        """Return the repeated queries for other prefixes."""
        key = frozenset(prefixes.items())
        known = self._by_prefixes.get(key)
        if known is None:
            if len(self._by_prefixes) >= CHOICES:
                self._by_prefixes.clear()
            known = self._by_prefixes[key] = RepeatedQueries()
        return known


class Place:
    """A graph, or several of which the triples are found together.

    Args:
        queries: Answers patterns.
        graph: The graph's term for `queries`; None: all triples.
        which: All triples, the explicit, or the inferred ones.
        without: A place whose triples are omitted.
        match: Makes what matches patterns there instead, for the terms of a query.
    """

    __slots__ = ("dictionary", "graph", "match", "queries", "which", "without")

    def __init__(
        self,
        queries: Queries,
        graph: GraphTerm | None = None,
        which: Which = "all",
        without: Place | None = None,
        match: Callable[[QueryTerms], PatternMatcher] | None = None,
    ) -> None:
        self.queries, self.graph, self.which, self.without = queries, graph, which, without
        self.match = match
        self.dictionary = queries.catalog.dictionary


Places: TypeAlias = tuple[Place, ...]
"""The places whose triples together are those of a graph; none for an empty graph."""


class Dataset(Protocol):
    """The dataset of a query."""

    caches: Caches
    """Of the dictionary whose ids the query has."""

    def default(self) -> Places:
        """Return the places of the default graph."""
        ...

    def named(self, name: Term) -> Places | None:
        """Return the places of a named graph; None if it does not exist."""
        ...

    def names(self) -> Sequence[Term]:
        """Return the names of the named graphs."""
        ...

    def joined(self) -> Place | None:
        """Return the place where a variable stands for any named graph; None if graphs must be matched one after the other."""
        ...


CHOICES: Final = 16
"""The number of choices of prefixes for which repeated queries are remembered."""
