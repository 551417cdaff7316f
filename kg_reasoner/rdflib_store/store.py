"""The rdflib store: a graph, or a dataset of graphs, that holds what was added to it and shows everything that follows.

Explicit triples are those that were added. `triples`, ``in``, `len` and SPARQL see the materialisation.

The first change begins a transaction. Reading sees it; `commit` ends it and tells the reasoner's subscribers, `rollback` undoes it.

A store has parts, each of which knows only those before it: transactions, graphs (reasoned over together or each by itself), a
writer, and the dataset that queries see. None of them knows the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, cast

from rdflib import Dataset, Graph, plugin
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.store import VALID_STORE, Store
from rdflib.term import Node, URIRef

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import ReasonerError, UnknownNameError
from kg_reasoner.loaders.convert import formula_error, from_rdflib
from kg_reasoner.rdflib_store import sparql
from kg_reasoner.rdflib_store.contexts import Contexts, QueriedGraph, refuse_conjunctive_graph
from kg_reasoner.rdflib_store.halves import View
from kg_reasoner.rdflib_store.permissions import Allow, Permissions
from kg_reasoner.rdflib_store.prefix_bindings import PrefixBindings
from kg_reasoner.rdflib_store.query_dataset import DatasetStore, QueryDataset
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibQuad, RdflibTriple, triple_texts
from kg_reasoner.rdflib_store.separate_graphs import Graphs, SeparateGraphs
from kg_reasoner.rdflib_store.sparql_dataset import answer
from kg_reasoner.rdflib_store.sparql_update import update_graph
from kg_reasoner.rdflib_store.union_graphs import UnionGraphs
from kg_reasoner.rdflib_store.writer import StoreWriter

if TYPE_CHECKING:
    from rdflib.query import Result

    from kg_reasoner.explain import Proof, WhyNot

# where the package's entry points are not installed
plugin.register("KGReasoner", Store, "kg_reasoner.rdflib_store", "KGReasonerStore")
CUSTOM_EVALS.setdefault("KGReasoner", sparql.evaluate)

Reasoning: TypeAlias = Literal["union", "graph"]

NO_CONTEXTS: Final[Iterator[Graph | None]] = iter(())

_REASONING: Final[Mapping[Reasoning, type[Graphs]]] = {"union": UnionGraphs, "graph": SeparateGraphs}


class KGReasonerStore(DatasetStore):
    """An rdflib store over a `Reasoner`; ``Graph(store="KGReasoner")`` makes one with the rule set ``owl2rl``.

    Another rule set is chosen by ``graph.open("rdfs")``, or by handing over a reasoner: ``Graph(store=KGReasonerStore(reasoner))``.
    What is read is a snapshot: a graph may be changed while its triples or the solutions of a query are iterated over.

    Whoever never commits has one long transaction, which costs a few bytes for each triple added or removed. While a transaction of
    the reasoner itself is open (``with store_of(graph).reasoner.transaction():``), changes of the graph are part of that one, and
    it is the reasoner's to commit or to roll back.

    Any number of threads may read, query and change a graph: one at a time changes it, each change is made whole or not at all,
    and whatever is read is of one state. Other threads see a change of the graph (a call of `add`, `addN`, `remove` or `update`)
    when it has been made, committed or not; those of a transaction of the reasoner's they see all together, when it has ended.

    Prefixes are not part of transactions: rdflib remembers them elsewhere, too.

    Under a ``Dataset``, each graph has its explicit triples, and what follows from all of them together is in their union
    (``Dataset(store="KGReasoner", default_union=True)``), or in a graph of its own if that gets a name. A plain ``Graph`` over the
    store is the union; one with an IRI for its identifier is the graph of that name, if the store has named graphs when it is first
    used. rdflib's TriG parser reads graphs that are named by blank nodes into the default graph; `Reasoner.load`
    keeps them.

    Args:
        configuration: a reasoner, or the name of a rule set.
        identifier: what rdflib hands over; of no importance here.
        reasoning: ``union``: over the triples of all graphs together; ``graph``: over those of each graph by itself, so that every
            graph shows its own materialisation, and the union all of them.
        inferred_graph: the name of a graph that has the inferred triples, to be read only. The name of rdflib's default graph
            (``rdflib.graph.DATASET_DEFAULT_GRAPH_ID``) adds them to the default graph.
        allow: what queries and updates may fetch; by default nothing. Kinds: ``service`` (SERVICE), ``load`` (LOAD from the web)
            and ``files`` (LOAD of local files); or a function of a kind and an IRI that decides. Redirects are followed.

    >>> from rdflib import RDF, RDFS, Namespace
    >>> EX = Namespace("http://example.org/")
    >>> graph = Graph(store="KGReasoner")
    >>> _ = graph.add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    >>> (EX.tom, RDF.type, EX.Animal) in graph
    True

    Raises:
        UnknownNameError: there is no such rule set, or no such kind of reasoning.
    """

    graph_aware = True
    formula_aware = True
    """rdflib's N3 parser asks for it. Plain N3 is read; formulas are refused, as they are no RDF."""
    transaction_aware = True

    def __init__(
        self,
        configuration: Reasoner | str | None = None,
        identifier: Any = None,
        *,
        reasoning: Reasoning = "union",
        inferred_graph: str | None = None,
        allow: Allow = (),
    ) -> None:
        if reasoning not in _REASONING:
            raise UnknownNameError("kind of reasoning", reasoning, tuple(_REASONING))
        permissions = Permissions(allow)
        self.reasons_over_union = reasoning == "union"
        self.inferred_graph = None if inferred_graph is None else URIRef(inferred_graph)
        reasoner = configuration if isinstance(configuration, Reasoner) else Reasoner(ruleset="owl2rl")
        self.graphs: Graphs = _REASONING[reasoning](reasoner, self.inferred_graph)
        self.writer = StoreWriter(self.graphs)
        self._transactions = self.graphs.transactions
        contexts = Contexts(self.graphs)
        self._name = contexts.name
        dataset = QueryDataset(self.graphs, contexts, PrefixBindings(), permissions)
        super().__init__(dataset, configuration if isinstance(configuration, str) else None)

    @property
    def reasoner(self) -> Reasoner:
        """What has the triples, and what follows; of graphs that are reasoned over by themselves, the explicit triples only."""
        return self.graphs.reasoner

    @property
    def context_aware(self) -> bool:  # type: ignore[override]  # rdflib has an attribute
        """True. A `ConjunctiveGraph` asks this when it is made, and is refused.

        Raises:
            ReasonerError: it is a ConjunctiveGraph that asks.
        """
        refuse_conjunctive_graph()
        return True

    def open(self, configuration: str | tuple[str, str], create: bool = False) -> int | None:
        """Choose the rule set by its name (or the path of a ``.dl`` file). The triples stay, the reasoner is a new one.

        Changes are committed before; subscribers of the old reasoner hear of nothing after that.

        Raises:
            UnknownNameError: there is no such rule set. Nothing has changed.
        """
        if not isinstance(configuration, str):
            raise ReasonerError(f"the name of a rule set is a str, not {configuration!r}")
        self.graphs.open(configuration)
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Commit the changes since the last commit, or undo them. The store stays usable."""
        if commit_pending_transaction:
            self.commit()
        elif not self._transactions.is_guest:
            self.rollback()

    def __repr__(self) -> str:
        return f"<KGReasonerStore over {self.reasoner!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a KGReasonerStore is neither copied nor pickled: copy or serialise store_of(graph).explicit, and attach again"
        )

    # --- triples ----------------------------------------------------------------------------------------------------

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        """Add an explicit triple. It is checked now, and taken in before the next read.

        Raises:
            LoadError: a term is none of RDF, or stands where RDF does not allow it, or inside a formula. Nothing has changed.
            ReasonerError: that graph has the inferred triples, and is to be read only.
        """
        if quoted:
            raise formula_error()
        self.writer.add(triple_texts(triple), self._name(context, self))
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            super().add(triple, cast(Graph, context))  # tells those who listen

    def addN(self, quads: Iterable[tuple[Node, Node, Node, Graph]]) -> None:
        """Add the triples of quads to their graphs; all of them, or none if one is not a triple of RDF."""
        named = ((subject, property, value, self._name(graph, self)) for subject, property, value, graph in quads)
        self._tell(self.writer.change((), named))

    def _tell(self, added: Iterable[RdflibQuad]) -> None:
        """Tell those who listen what was added."""
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            for subject, property, value, name in added:
                super().add((subject, property, value), self._graph(name))

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        """Remove the explicit triples that match, from one graph or from all. What still follows from the rest stays visible."""
        self.writer.remove(triple, self._name(context, self))

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        """The triples of the materialisation, or of a graph, that match; with their graphs, if no graph is given."""
        if context is None:
            yield from self.graphs.quads(triple_pattern, self._graph)
            return
        name = self._name(context, self)
        for triple in self.graphs.triples_of(name, triple_pattern):
            yield triple, NO_CONTEXTS if name is None else iter((context,))

    def __len__(self, context: Graph | None = None) -> int:
        return self.graphs.count(self._name(context, self))

    def flush(self) -> None:
        """Hand the triples that were added to the reasoner, which need not do anything about them yet."""
        self._transactions.flush()

    def commit(self) -> None:
        """Keep the changes since the last commit, and bring the materialisation up to date.

        A transaction of the reasoner's own stays open.

        Raises:
            InconsistencyError: the changes contradict the rules, and the reasoner was asked to refuse that. They are undone.
        """
        self._transactions.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit.

        Raises:
            TransactionError: they belong to a transaction of the reasoner's own.
        """
        self._transactions.rollback()

    # --- graphs -----------------------------------------------------------------------------------------------------

    def contexts(self, triple: RdflibTriple | None = None) -> Iterator[Any]:  # type: ignore[override]  # rdflib takes names, too
        """The names of the graphs, empty ones, too; or of those that have a triple. rdflib makes graphs of them."""
        return iter(self.graphs.named_graphs()) if triple is None else self.graphs.names_with(triple)

    def add_graph(self, graph: Graph) -> None:
        """Let there be a graph, an empty one if nothing is added to it."""
        self.writer.add_graph(graph.identifier)

    def remove_graph(self, graph: Graph) -> None:
        """Remove a graph with its triples."""
        self.writer.remove_graph(graph.identifier)

    def _graph(self, name: Node | None) -> Graph:
        return Graph(store=self, identifier=cast(Any, name))

    # --- explanations -----------------------------------------------------------------------------------------------

    def explain(self, triple: RdflibTriple, graph: Node | None = None) -> Proof:
        """Find the shortest proof of a triple, shown with the graph's prefixes: ``print(store_of(graph).explain(triple))``.

        Args:
            triple: what to prove.
            graph: where graphs are reasoned over by themselves, that in which the triple holds; by default the first.

        Raises:
            NoProofError: the graph has no such triple; `why_not` tells what is missing.
            LoadError: that is not a triple of RDF.
        """
        self.graphs.prepare()
        subject, property, value = map(from_rdflib, triple)
        proof = self.reasoner_of(graph, triple).explain((subject, property, value))
        return proof.with_prefixes({prefix: str(namespace) for prefix, namespace in self.namespaces()})

    def reasoner_of(self, graph: Node | None = None, triple: RdflibPattern = (None, None, None)) -> Reasoner:
        """Return the reasoner of a graph: `reasoner`, unless each graph is reasoned over separately.

        Args:
            graph: the name of the graph; by default the first that has a triple that matches.
            triple: the pattern of such a triple.

        Raises:
            ReasonerError: there is no such graph.
        """
        return self.graphs.reasoner_of(graph, triple)

    def why_not(self, triple: RdflibTriple, graph: Node | None = None) -> WhyNot:
        """Explain why a triple does not follow: for each rule that could derive it, find what does not hold.

        Args:
            triple: what is not there.
            graph: where graphs are reasoned over by themselves, that in which the triple does not hold; by default the first.

        Raises:
            LoadError: that is not a triple of RDF.
            ReasonerError: the triple is there: `explain` tells why.
        """
        self.graphs.prepare()
        subject, property, value = map(from_rdflib, triple)
        answer = self.reasoner_of(graph).why_not((subject, property, value))
        return answer.with_prefixes({prefix: str(namespace) for prefix, namespace in self.namespaces()})

    # --- SPARQL -----------------------------------------------------------------------------------------------------

    def query(
        self, query: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> Result:
        """rdflib's own SPARQL is used, with our evaluation of basic graph patterns inside (see `kg_reasoner.rdflib_store.sparql`);
        but FROM is about the graphs that are there (see `kg_reasoner.rdflib_store.sparql_dataset`)."""
        return answer(self.dataset, self._queried(queryGraph), query, initNs, initBindings, kwargs.get("base"))

    def update(
        self, update: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> None:
        """Run a SPARQL update, see `kg_reasoner.rdflib_store.sparql_update`."""
        graph = self._queried(queryGraph)
        target = DATASET_DEFAULT_GRAPH_ID if isinstance(graph, Dataset) else self._name(graph, self)
        self._tell(update_graph(graph, self.dataset, self.writer, target, update, initNs, initBindings))

    def _queried(self, name: str) -> Graph:
        """The graph or dataset that rdflib means by a name."""
        if name == "__UNION__" or name == DATASET_DEFAULT_GRAPH_ID:
            return Dataset(store=self, default_union=name == "__UNION__")
        return QueriedGraph(store=self, identifier=cast(Any, name), bind_namespaces="none")

    # --- views ------------------------------------------------------------------------------------------------------

    @property
    def explicit(self) -> Graph:
        """A read-only graph of the triples that were added."""
        return Graph(store=View(self.dataset, "explicit"), bind_namespaces="none")

    @property
    def inferred(self) -> Graph:
        """A read-only graph of the triples that only follow."""
        return Graph(store=View(self.dataset, "inferred"), bind_namespaces="none")


def graph_of(reasoner: Reasoner) -> Graph:
    """Make an rdflib graph over an existing reasoner.

    Raises:
        ReasonerError: that is not a reasoner.
    """
    if not isinstance(reasoner, Reasoner):
        raise ReasonerError(f"{reasoner!r} is not a Reasoner: for an existing graph, use attach(graph)")
    return Graph(store=KGReasonerStore(reasoner))


def store_of(graph: Graph) -> KGReasonerStore:
    """The store under a graph or dataset: ``graph.store``, with its type.

    >>> graph = Graph(store="KGReasoner")
    >>> store_of(graph).reasoner.maintenance
    'backward-forward'

    Raises:
        ReasonerError: there is no reasoner under it.
    """
    store = getattr(graph, "store", None)
    if not isinstance(store, KGReasonerStore):
        raise ReasonerError(f"{graph!r} has no reasoner: call attach(graph) first")
    return store
