"""Reasoning over each graph by itself: every graph shows its own materialisation, and the union shows all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar, cast

from rdflib.term import Node, URIRef

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import ReasonerError
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.graphs.copying import copy_explicit
from kg_reasoner.rdflib_store.graphs.graph_reasoners import GraphReasoners, expect_no_history
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibPattern, RdflibTriple
from kg_reasoner.rdflib_store.graphs.stored_graphs import StoredGraphs
from kg_reasoner.rdflib_store.graphs.union_graphs import UnionGraphs

Context = TypeVar("Context")


class SeparateGraphs(StoredGraphs):
    """Graphs with a materialisation each, with the methods of `UnionGraphs`.

    Args:
        reasoner: The reasoner with the explicit triples, the rules and the settings; not used afterwards.
        inferred_graph: Must be None.

    Raises:
        ReasonerError: A graph of inferred triples is requested, or the program has delays or differences.
    """

    transactions: GraphReasoners

    def __init__(self, reasoner: Reasoner, inferred_graph: URIRef | None = None) -> None:
        if inferred_graph is not None:
            raise ReasonerError("an inferred graph requires reasoning over the union: other graphs hold their own")
        expect_no_history(reasoner.program)
        base = Reasoner()
        copy_explicit(reasoner, base)
        super().__init__(GraphReasoners(base, reasoner))

    @property
    def template(self) -> Reasoner:
        """See `StoredGraphs.template`."""
        return self.transactions.template

    def open(self, ruleset: str) -> None:
        """See `UnionGraphs.open`.

        Raises:
            ReasonerError: The rule set has delays or differences.
        """
        transactions = self.transactions
        fresh = transactions.template.without_facts(ruleset)
        expect_no_history(fresh.program)
        transactions.commit()
        with transactions.writing():
            transactions.commit()  # what another thread has added meanwhile
            transactions.use(fresh)

    def reasoner_of(self, name: Node | None, triple_pattern: RdflibPattern) -> Reasoner:
        """See `UnionGraphs.reasoner_of`.

        Raises:
            ReasonerError: The graph does not exist.
        """
        names = self.all_graphs() if name is None else [name]
        with_triple = (name for name in names if next(self.triples_of(name, triple_pattern), None) is not None)
        graph = self._graph(next(with_triple, names[0]))
        if graph is None:
            raise ReasonerError(f"the graph {name} does not exist")
        return graph.reasoner

    def reasoners(self) -> list[Reasoner]:
        """See `UnionGraphs.reasoners`."""
        with self.transactions.reading():
            return self.transactions.reasoners()

    def _graph(self, name: Node) -> UnionGraphs | None:
        """Return a graph with its materialisation; None if no graph has this name."""
        with self.transactions.reading():
            place = self.place(name)
            return None if place is None else self.transactions.graph(cast(int, place))

    def triples_of(self, name: Node | None, triple_pattern: RdflibPattern, which: Which = "all") -> Iterator[RdflibTriple]:
        """Yield the matching triples of a graph, or of all together."""
        if which == "explicit":
            yield from super().triples_of(name, triple_pattern, which)
            return
        graphs = map(self._graph, self.all_graphs() if name is None else [name])
        found = dict.fromkeys(triple for graph in graphs if graph for triple in graph.triples_of(None, triple_pattern, which))
        stated = set(super().triples_of(None, triple_pattern, "explicit")) if which == "inferred" and name is None else ()
        yield from (triple for triple in found if triple not in stated)

    def quads(
        self, triple_pattern: RdflibPattern, context: Callable[[Node], Context]
    ) -> Iterator[tuple[RdflibTriple, Iterator[Context]]]:
        """See `UnionGraphs.quads`."""
        for triple in self.triples_of(None, triple_pattern):
            yield triple, map(context, self.names_with(triple))

    def names_with(self, triple: RdflibTriple) -> Iterator[Node]:
        """See `UnionGraphs.names_with`."""
        return (name for name in self.all_graphs() if next(self.triples_of(name, triple), None) is not None)

    def count(self, name: Node | None = None, which: Which = "all") -> int:
        """See `UnionGraphs.count`."""
        with self.transactions.reading():
            return sum(1 for _ in self.triples_of(name, (None, None, None), which))

    # --- SPARQL -----------------------------------------------------------------------------------------------------

    def locate(self, names: Sequence[Node] | None) -> tuple[UnionGraphs, GraphTerm | None] | None:
        """See `UnionGraphs.locate`: one graph is in one place."""
        graph = self._graph(names[0]) if names is not None and len(names) == 1 else None
        return None if graph is None else (graph, None)

    def joins_graphs(self) -> bool:
        """See `UnionGraphs.joins_graphs`."""
        return False


Graphs: TypeAlias = UnionGraphs | SeparateGraphs
"""The two ways to reason over named graphs: together, or each by itself."""
