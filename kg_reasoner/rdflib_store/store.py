"""The rdflib store: a graph, or a dataset of graphs, that holds what was added to it and shows everything that follows.

Explicit triples are those that were added. `triples`, ``in``, `len` and SPARQL see the materialisation.

The first change begins a transaction. Reading sees it; `commit` ends it and tells the reasoner's subscribers, `rollback` undoes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, cast

from rdflib import Dataset, Graph, plugin
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.store import VALID_STORE, Store
from rdflib.term import Node, URIRef

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.errors import ReasonerError, UnknownNameError
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.rdflib_store import sparql
from kg_reasoner.rdflib_store.changes import StoreChanges
from kg_reasoner.rdflib_store.contexts import Contexts, QueriedGraph, refuse_conjunctive_graph
from kg_reasoner.rdflib_store.copying import copy_explicit
from kg_reasoner.rdflib_store.graph_reasoners import GraphReasoners
from kg_reasoner.rdflib_store.halves import View
from kg_reasoner.rdflib_store.permissions import Allow, Permissions
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibTerms, RdflibTriple
from kg_reasoner.rdflib_store.sparql_dataset import answer
from kg_reasoner.rdflib_store.sparql_update import update_graph

if TYPE_CHECKING:
    from rdflib.query import Result

    from kg_reasoner.explain import Proof, WhyNot

# where the package's entry points are not installed
plugin.register("KGReasoner", Store, "kg_reasoner.rdflib_store", "KGReasonerStore")
CUSTOM_EVALS.setdefault("KGReasoner", sparql.evaluate)

Reasoning: TypeAlias = Literal["union", "graph"]
REASONING: Final[Sequence[Reasoning]] = ("union", "graph")


class KGReasonerStore(StoreChanges):
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
        self.permissions = Permissions(allow)
        if reasoning not in REASONING:
            raise UnknownNameError("kind of reasoning", reasoning, REASONING)
        if reasoning == "graph" and inferred_graph is not None:
            raise ReasonerError("an inferred graph requires reasoning over the union: other graphs hold their own")
        self.reasons_over_union = reasoning == "union"
        self.inferred_graph = None if inferred_graph is None else URIRef(inferred_graph)
        self._contexts = Contexts()
        self._use(configuration if isinstance(configuration, Reasoner) else Reasoner(ruleset="owl2rl"))
        super().__init__(configuration if isinstance(configuration, str) else None, identifier)

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
        if self._by_graph is None:
            fresh = self.reasoner.without_facts(configuration)
            self.commit()
            with self.writing():
                self.commit()  # what another thread has added meanwhile
                copy_explicit(self.reasoner, fresh)
                self._use(fresh)
        else:
            fresh = self._by_graph.template.without_facts(configuration)
            self.commit()
            self._by_graph = GraphReasoners(self.reasoner, fresh, KGReasonerStore)
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Commit the changes since the last commit, or undo them. The store stays usable."""
        if commit_pending_transaction:
            self.commit()
        elif not self.is_guest:
            self.rollback()

    def __repr__(self) -> str:
        return f"<KGReasonerStore over {self.reasoner!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a KGReasonerStore is neither copied nor pickled: copy or serialise store_of(graph).explicit, and attach again"
        )

    def _use(self, reasoner: Reasoner) -> None:
        """Take a reasoner, for what it has and for everything that comes."""
        self.reasoner = reasoner
        self._by_graph: GraphReasoners | None = None
        if not self.reasons_over_union:
            self.reasoner = Reasoner()  # the graphs have reasoners of their own
            copy_explicit(reasoner, self.reasoner)
            self._by_graph = GraphReasoners(self.reasoner, reasoner, KGReasonerStore)
        self.terms = RdflibTerms(self.reasoner.dictionary)
        self._size: tuple[int, int] | None = None

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
        self.prepare()
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
        if self._by_graph is None:
            return self.reasoner
        names = self.all_graphs() if graph is None else [graph]
        with_triple = (name for name in names if next(self.triples_of(name, triple), None) is not None)
        place = self.place(next(with_triple, names[0]))
        if place is None:
            raise ReasonerError(f"the graph {graph} does not exist")
        return self._by_graph.store_of(cast(int, place)).reasoner

    def why_not(self, triple: RdflibTriple, graph: Node | None = None) -> WhyNot:
        """Explain why a triple does not follow: for each rule that could derive it, find what does not hold.

        Args:
            triple: what is not there.
            graph: where graphs are reasoned over by themselves, that in which the triple does not hold; by default the first.

        Raises:
            LoadError: that is not a triple of RDF.
            ReasonerError: the triple is there: `explain` tells why.
        """
        self.prepare()
        subject, property, value = map(from_rdflib, triple)
        answer = self.reasoner_of(graph).why_not((subject, property, value))
        return answer.with_prefixes({prefix: str(namespace) for prefix, namespace in self.namespaces()})

    # --- SPARQL -----------------------------------------------------------------------------------------------------

    def query(
        self, query: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> Result:
        """rdflib's own SPARQL is used, with our evaluation of basic graph patterns inside (see `kg_reasoner.rdflib_store.sparql`);
        but FROM is about the graphs that are there (see `kg_reasoner.rdflib_store.sparql_dataset`)."""
        return answer(self, self._queried(queryGraph), query, initNs, initBindings, kwargs.get("base"))

    def update(
        self, update: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> None:
        """Run a SPARQL update, see `kg_reasoner.rdflib_store.sparql_update`."""
        graph = self._queried(queryGraph)
        target = DATASET_DEFAULT_GRAPH_ID if isinstance(graph, Dataset) else self._contexts.name(graph, self)
        update_graph(graph, self, target, update, initNs, initBindings)

    def _queried(self, name: str) -> Graph:
        """The graph or dataset that rdflib means by a name."""
        if name == "__UNION__" or name == DATASET_DEFAULT_GRAPH_ID:
            return Dataset(store=self, default_union=name == "__UNION__")
        return QueriedGraph(store=self, identifier=cast(Any, name), bind_namespaces="none")

    # --- views ------------------------------------------------------------------------------------------------------

    @property
    def explicit(self) -> Graph:
        """A read-only graph of the triples that were added."""
        return Graph(store=View(self, "explicit"), bind_namespaces="none")

    @property
    def inferred(self) -> Graph:
        """A read-only graph of the triples that only follow."""
        return Graph(store=View(self, "inferred"), bind_namespaces="none")


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
