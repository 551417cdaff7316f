"""The rdflib store: a graph, or a dataset of graphs, that holds explicit triples and shows everything that follows.

Explicit triples are those that were added. `triples`, ``in``, `len` and SPARQL see the materialisation.

The first change begins a transaction. Reading sees its changes; `commit` ends it and notifies the reasoner's subscribers,
`rollback` undoes it.

The parts of a store depend only on those before them: transactions, graphs (reasoned over together or separately), a writer, and
the dataset of queries. None of them depends on the store.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import numpy as np
from rdflib import ConjunctiveGraph, Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.parser import InputSource
from rdflib.store import VALID_STORE
from rdflib.term import Node, URIRef

from kg_reasoner import api
from kg_reasoner.api.operations.notices import depth_of_caller
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.states import State, reasoner_from, state_of
from kg_reasoner.errors import InconsistencyError, LoadError, ReasonerError, ReasonerWarning, expect_name
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.loaders.convert import check_absolute, formula_error, from_rdflib
from kg_reasoner.loaders.rdf.formats import Format
from kg_reasoner.rdflib_store.graphs.contexts import (
    Contexts,
    QueriedGraph,
    is_made_for_dataset,
    parser_removes_graph,
    refuse_conjunctive_graph,
)
from kg_reasoner.rdflib_store.graphs.prefix_bindings import PrefixBindings
from kg_reasoner.rdflib_store.graphs.rdflib_terms import (
    RdflibPattern,
    RdflibQuad,
    RdflibTerms,
    RdflibTriple,
    triple_columns,
    triple_texts,
)
from kg_reasoner.rdflib_store.graphs.separate_graphs import Graphs, SeparateGraphs
from kg_reasoner.rdflib_store.graphs.union_graphs import UnionGraphs
from kg_reasoner.rdflib_store.graphs.writer import StoreWriter
from kg_reasoner.rdflib_store.queries.permissions import Allow, Permissions
from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore, QueryDataset
from kg_reasoner.rdflib_store.queries.sparql_dataset import answer, plan
from kg_reasoner.rdflib_store.queries.store_views import View
from kg_reasoner.rdflib_store.registration import register
from kg_reasoner.rdflib_store.updates.sparql_update import update_graph
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import Triple

if TYPE_CHECKING:
    from kg_reasoner.rdflib_store.queries import rdflib_results
else:
    rdflib_results = LazyModule("kg_reasoner.rdflib_store.queries.rdflib_results")

register()

Reasoning: TypeAlias = Literal["union", "graph"]

BLOCK: Final = 512
"""Quads that become ids at once, where many are added."""

FEW: Final = 100
"""Fewer quads wait until the next read instead."""

SHOWN: Final = 50
"""The number of graphs whose sizes a notebook shows."""

_REASONING: Final[Mapping[Reasoning, type[Graphs]]] = {"union": UnionGraphs, "graph": SeparateGraphs}


class KGReasonerStore(DatasetStore):
    """An rdflib store over a `Reasoner`; ``Graph(store="KGReasoner")`` makes one with the rule set ``owl2rl``.

    Choose another rule set by ``graph.open("rdfs")``, or pass a reasoner: ``Graph(store=KGReasonerStore(reasoner))``.
    Reading returns a snapshot: a graph may be changed while its triples or the solutions of a query are iterated over.

    A program that never commits has one long transaction, which costs a few bytes for each triple added or removed. While a
    transaction of the reasoner itself is open (``with store_of(graph).reasoner.transaction():``), changes of the graph are part of
    it, and the reasoner commits it or rolls it back.

    Any number of threads may read, query and change a graph: one at a time changes it, each change is atomic, and each reading sees
    one state. Other threads see a change of the graph (a call of `add`, `addN`, `remove` or `update`) when the call has ended,
    committed or not, and all changes of a transaction of the reasoner's own together, when it has ended.

    Prefixes are not part of transactions, because rdflib also stores them elsewhere.

    Under a ``Dataset``, each graph has its explicit triples, and what follows from all of them together is in their union
    (``Dataset(store="KGReasoner", default_union=True)``), or in a graph of its own if `inferred_graph` names it. A plain ``Graph``
    over the store is the union. Graphs with IRIs for their identifiers are the graphs of these names, apart from each other, over a
    store that was made for a dataset, has named graphs, or reasons over each graph separately; over others, the first such graph is
    the union, and graphs with other IRIs are apart. rdflib's TriG parser reads graphs that are named by blank nodes into the
    default graph; `Reasoner.load` keeps them.

    Args:
        configuration: A reasoner, or the name of a rule set.
        identifier: Ignored; rdflib passes it.
        reasoning: ``union``: over the triples of all graphs together; ``graph``: over each graph separately, so that every graph
            shows its own materialisation, and the union shows all of them. This excludes programs with delays or differences.
        inferred_graph: The name of a read-only graph of the inferred triples. The name of rdflib's default graph
            (``rdflib.graph.DATASET_DEFAULT_GRAPH_ID``) adds them to the default graph.
        allow: What queries and updates may fetch; by default nothing. Kinds: ``service`` (SERVICE), ``load`` (LOAD from the web)
            and ``files`` (LOAD of local files); or a function of a kind and an IRI that decides. Redirects are followed.

    >>> from rdflib import RDF, RDFS, Namespace
    >>> EX = Namespace("http://example.org/")
    >>> graph = Graph(store="KGReasoner")
    >>> _ = graph.add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    >>> (EX.tom, RDF.type, EX.Animal) in graph
    True

    Raises:
        UnknownNameError: The rule set or the kind of reasoning is unknown.
        ReasonerError: The configuration is neither a reasoner nor a string, or its program cannot be used with this reasoning.
        LoadError: The name of the inferred graph is not an absolute IRI.
    """

    graph_aware = True
    formula_aware = True
    """rdflib's N3 parser asks for it. Plain N3 is read; formulas are refused, because they are not RDF."""
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
        expect_name("kind of reasoning", reasoning, tuple(_REASONING))
        if not isinstance(configuration, Reasoner | str | None):
            raise ReasonerError(f"a store is made of a reasoner or the name of a rule set, not of {configuration!r}")
        permissions = Permissions(allow)
        self.reasons_over_union = reasoning == "union"
        self.inferred_graph = None if inferred_graph is None else _named_by_iri(inferred_graph)
        reasoner = configuration if isinstance(configuration, Reasoner) else Reasoner(ruleset="owl2rl")
        self.graphs: Graphs = _REASONING[reasoning](reasoner, self.inferred_graph)
        self.writer = StoreWriter(self.graphs)
        self._transactions = self.graphs.transactions
        contexts = Contexts(self.graphs, is_dataset=not self.reasons_over_union or is_made_for_dataset())
        self._name, self._names = contexts.name, contexts.names
        dataset = QueryDataset(self.graphs, contexts, PrefixBindings(), permissions)
        super().__init__(dataset, configuration if isinstance(configuration, str) else None)

    @property
    def reasoner(self) -> Reasoner:
        """The reasoner with the triples and their consequences; with separate reasoning, the one with the explicit triples only."""
        return self.graphs.reasoner

    @property
    def context_aware(self) -> bool:  # type: ignore[override]  # rdflib has an attribute
        """True; an error for a `ConjunctiveGraph`, which reads this while it is made.

        Raises:
            ReasonerError: A ConjunctiveGraph reads it.
        """
        refuse_conjunctive_graph()
        return True

    def open(self, configuration: str | tuple[str, str], create: bool = False) -> int | None:
        """Choose another rule set. The explicit triples stay, in a new reasoner.

        Changes are committed before; subscribers of the old reasoner receive no notifications afterwards.

        Programs that work with any store of rdflib open it with a location on disk and ``create=True``. This store is in memory, as
        rdflib's own is, and has no use for a location: a warning says so, and the rule set stays.

        Args:
            configuration: The name of a rule set, or the path of a ``.dl`` file.
            create: Whether the configuration may be a location on disk.

        Returns:
            The constant by which rdflib's stores say that they are open and valid.

        Raises:
            UnknownNameError: The rule set is unknown. Nothing has changed.
            LoadError, RuleSyntaxError: The file cannot be read, or has an error. Nothing has changed.
            ReasonerError: The name is not a string. Nothing has changed.
        """
        if not isinstance(configuration, str):
            raise ReasonerError(f"the name of a rule set is a str, not {configuration!r}")
        location = Path(configuration)
        if create and len(location.parts) > 1 and location.suffix != ".dl":
            text = f"the store is in memory: nothing is read from {configuration} or written to it"
            warnings.warn(ReasonerWarning(text), stacklevel=depth_of_caller())
        else:
            with self._names_in_errors():
                self.graphs.open(configuration)
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Commit the changes since the last commit, or undo them. The store remains usable.

        Args:
            commit_pending_transaction: Whether to commit.
        """
        if commit_pending_transaction:
            self.commit()
        elif not self._transactions.is_guest:
            self.rollback()

    def __repr__(self) -> str:
        return f"<KGReasonerStore over {self.reasoner!r}>"

    def _repr_html_(self) -> str:
        """Return the number of triples in each graph as HTML. In the default graph and the named graphs, triples are explicit."""
        from html import escape

        names = [None, *self.graphs.all_graphs()] if self.named_graphs() else [None]
        sizes = [("all triples" if name is None else name.n3(), f"{self.graphs.count(name):,}") for name in names[:SHOWN]]
        if len(names) > SHOWN:
            sizes.append((f"{len(names) - SHOWN:,} more graphs", ""))
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{size}</td></tr>" for name, size in sizes)
        return f"<table><thead><tr><th>graph</th><th>triples</th></tr></thead><tbody>{rows}</tbody></table>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what is explicit, the rules and the settings; a copy infers its triples again.

        Subscriptions and the boundaries of transactions are not part of a copy.
        """
        with self._transactions.reading("explicit"):
            state = state_of(self.reasoner, self.graphs.template)
        reasoning = "union" if self.reasons_over_union else "graph"
        inferred_graph = None if self.inferred_graph is None else str(self.inferred_graph)
        prefixes = [(prefix, str(namespace)) for prefix, namespace in self.namespaces()]
        contexts = self.dataset.contexts
        own_name = None if contexts.own_name is None else str(contexts.own_name)
        names = contexts.is_dataset, own_name
        return _restored, (state, reasoning, inferred_graph, self.dataset.permissions.allow, prefixes, names)

    # --- triples ----------------------------------------------------------------------------------------------------

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        """Add an explicit triple. It is checked at once, and passed to the reasoner before the next read.

        Args:
            triple: The triple.
            context: The graph to add it to.
            quoted: Whether it is in a formula, which is refused.

        Raises:
            LoadError: A term is not an RDF term, stands where RDF does not allow it, or is inside a formula. Nothing has changed.
            ReasonerError: The graph holds the inferred triples and is read-only.
        """
        if quoted:
            raise formula_error()
        self.writer.add(triple_texts(triple), self._name(context, self))
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            super().add(triple, cast(Graph, context))  # sends the event

    def addN(self, quads: Iterable[tuple[Node, Node, Node, Graph]]) -> None:
        """Add the triples of quads to their graphs: all of them or, on an error, none.

        Args:
            quads: Triples, each with its graph.

        Raises:
            LoadError: A quad has no RDF triple. Nothing has changed.
            ReasonerError: A graph holds the inferred triples and is read-only. Nothing has changed.
        """
        quads, dictionary = iter(quads), self.reasoner.dictionary
        is_observed = self.dispatcher.get_map() is not None  # type: ignore[no-untyped-call]
        triples, names, encoded = list[RdflibTriple](), list[Node | None](), list[Ids]()
        while block := list(islice(quads, BLOCK)):  # rdflib makes a graph for each quad of some datasets: few are kept
            subjects, properties, values, graphs = zip(*block, strict=True)
            names += self._names(graphs, self)
            if len(names) < FEW:
                self._send_events(self.writer.add_quads(zip(subjects, properties, values, names, strict=True)))
                return
            encoded.append(triple_columns((subjects, properties, values), dictionary))
            if is_observed:
                triples += zip(subjects, properties, values, strict=True)
        if encoded:
            self.writer.add_encoded(np.concatenate(encoded), names, dictionary)
            self._send_events((*row, name) for row, name in zip(triples, names, strict=False))

    def add_rows(self, triples: Ids, graphs: Ids | None, context: Graph, dictionary: Dictionary) -> None:
        """Add triples, given as ids of shape (n, 3), in one operation.

        Args:
            triples: The triples.
            graphs: The ids of their graphs, if they have any; -1 stands for `context`.
            context: The graph for all others.
            dictionary: The dictionary of the ids.

        Raises:
            ReasonerError: A graph holds the inferred triples and is read-only. Nothing has changed.
        """
        name = self._name(context, self)
        self.writer.add_rows(triples, graphs, name, dictionary)
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            terms = RdflibTerms(dictionary)
            names = (
                (name if graph < 0 else terms.nodes([graph])[0] for graph in graphs.tolist())
                if graphs is not None
                else repeat(name)
            )
            rows = cast("Iterator[RdflibTriple]", terms.rows(triples))
            self._send_events((*row, name) for row, name in zip(rows, names, strict=False))

    def _send_events(self, added: Iterable[RdflibQuad]) -> None:
        """Send an event for each triple that was added."""
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            for subject, property, value, name in added:
                super().add((subject, property, value), self._graph(name))

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        """Remove the matching explicit triples. Those that still follow from the rest stay visible.

        Args:
            triple: A pattern; None matches every term.
            context: The graph to remove from; None: all graphs.
        """
        self.writer.remove(triple, self._name(context, self))

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        """Yield the matching triples of the materialisation or of a graph.

        Args:
            triple_pattern: A pattern; None matches every term.
            context: The graph to search; None: the materialisation.

        Returns:
            An iterator of triples, each with its graphs, or the given one.
        """
        if context is None:
            yield from self.graphs.quads(triple_pattern, self._graph)
            return
        given = (context,)
        for triple in self.graphs.triples_of(self._name(context, self), triple_pattern):
            yield triple, iter(given)

    def __len__(self, context: Graph | None = None) -> int:
        return self.graphs.count(self._name(context, self))

    def flush(self) -> None:
        """Pass the added triples to the reasoner, which may defer their consequences."""
        self._transactions.flush()

    def commit(self) -> None:
        """Keep the changes since the last commit, and bring the materialisation up to date.

        A transaction of the reasoner's own stays open.

        Raises:
            InconsistencyError: The changes contradict the rules, and `on_inconsistency` is ``raise``. They are undone.
            LimitError, CancelledError: The operation exceeds a limit, or another thread cancelled it. A transaction of the store is
                undone.
        """
        with self._names_in_errors():
            self._transactions.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit.

        Raises:
            TransactionError: They belong to a transaction of the reasoner's own.
        """
        self._transactions.rollback()

    # --- documents --------------------------------------------------------------------------------------------------

    def reads_blocks_for(self, graph: Graph) -> bool:
        """Return whether documents are read into a graph in blocks: neither its `add` nor that of the store is overridden.

        Args:
            graph: A graph over this store.

        Returns:
            Whether they are.
        """
        return type(graph).add in (Graph.add, ConjunctiveGraph.add, Dataset.add) and type(self).add is KGReasonerStore.add

    def parse_blocks(
        self, source: InputSource, graph: Graph, format: Format, by_rdflib: Callable[[InputSource], object], **options: Any
    ) -> None:
        """Parse a document into a graph, see `kg_reasoner.rdflib_store.documents.parsing.parse_in_blocks`; for rdflib's parsers.

        Args:
            source: The document.
            graph: The graph that takes its triples.
            format: The syntax.
            by_rdflib: Parses the document as rdflib does, where blocks are not possible.
            options: Further options of rdflib's parsers.
        """
        from kg_reasoner.rdflib_store.documents.parsing import parse_in_blocks

        parse_in_blocks(self, source, graph, format, by_rdflib, **options)

    # --- graphs -----------------------------------------------------------------------------------------------------

    def contexts(self, triple: RdflibTriple | None = None) -> Iterator[Any]:  # type: ignore[override]  # rdflib takes names, too
        """Return the names of the graphs, of which rdflib makes graphs.

        Args:
            triple: Only graphs with this triple; None: all graphs, empty ones included.

        Returns:
            An iterator of names.
        """
        return iter(self.graphs.named_graphs()) if triple is None else self.graphs.names_with(triple)

    def named_graphs(self) -> list[Node]:
        """Return the names of the graphs, empty ones included, without the default graph.

        Returns:
            The names.
        """
        return list(self.graphs.named_graphs())

    def add_graph(self, graph: Graph) -> None:
        """Create a graph, which is empty until triples are added to it. That of the inferred triples exists already.

        Args:
            graph: The graph.
        """
        if graph.identifier != self.inferred_graph:
            self.writer.create_graph(graph.identifier)

    def remove_graph(self, graph: Graph) -> None:
        """Remove a graph with its triples; of the default graph, the triples only, and nothing for rdflib's parsers.

        Args:
            graph: The graph.
        """
        if graph.identifier != DATASET_DEFAULT_GRAPH_ID or not parser_removes_graph():
            self.writer.drop_graph(graph.identifier)

    def name_of(self, graph: Graph) -> Node | None:
        """Return the name of the graph of this store that an rdflib graph over it shows; None: all graphs together.

        Args:
            graph: A graph over this store.

        Returns:
            The name.
        """
        return self._name(graph, self)

    def _graph(self, name: Node | None) -> Graph:
        return Graph(store=self, identifier=cast(Any, name))

    # --- explanations -----------------------------------------------------------------------------------------------

    def explain(self, triple: RdflibTriple, graph: Node | None = None) -> api.Proof:
        """Find the shortest proof of a triple, shown with the graph's prefixes: ``print(store_of(graph).explain(triple))``.

        Args:
            triple: The triple to prove.
            graph: With separate reasoning, the graph in which the triple holds; by default the first.

        Returns:
            The proof.

        Raises:
            NoProofError: The graph does not have the triple: `why_not` returns what is missing.
            LoadError: The argument is not an RDF triple.
        """
        fact = _in_our_terms(triple)
        self.graphs.prepare()
        return self.reasoner_of(graph, triple).explain(fact, prefixes=self._prefixes())

    def reasoner_of(self, graph: Node | None = None, triple: RdflibPattern = (None, None, None)) -> Reasoner:
        """Return the reasoner of a graph: `reasoner`, unless each graph is reasoned over separately.

        Args:
            graph: The name of the graph; by default the first with a matching triple.
            triple: The pattern of such a triple.

        Returns:
            The reasoner.

        Raises:
            ReasonerError: The graph does not exist.
        """
        return self.graphs.reasoner_of(graph, triple)

    def why_not(self, triple: RdflibTriple, graph: Node | None = None) -> api.WhyNot:
        """Explain why a triple does not follow: for each rule that could derive it, find the part of the body that fails.

        Args:
            triple: The missing triple.
            graph: With separate reasoning, the graph in which the triple does not hold; by default the first.

        Returns:
            What is missing, rule by rule.

        Raises:
            LoadError: The argument is not an RDF triple.
            ReasonerError: The triple holds: `explain` returns its proof.
        """
        fact = _in_our_terms(triple)
        self.graphs.prepare()
        return self.reasoner_of(graph).why_not(fact, prefixes=self._prefixes())

    def _prefixes(self) -> dict[str, str]:
        return {prefix: str(namespace) for prefix, namespace in self.namespaces()}

    @contextmanager
    def _names_in_errors(self) -> Iterator[None]:
        """Let inconsistencies be told with the graph's prefixes, as proofs are."""
        try:
            yield
        except InconsistencyError as error:
            own, others = self._prefixes(), {**self.graphs.template.prefixes, **self.reasoner.prefixes}
            raise error.with_prefixes({**own, **others, **own}) from None  # the first one for a namespace is shown

    # --- SPARQL -----------------------------------------------------------------------------------------------------

    def query(
        self,
        query: Any,
        initNs: Mapping[str, Any] | None = None,
        initBindings: Mapping[str, Any] | None = None,
        queryGraph: str = "__UNION__",
        *,
        bindings: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> rdflib_results.QueryResult:
        """Answer a SPARQL query; rdflib calls this for ``graph.query``.

        FROM refers to existing graphs (see `kg_reasoner.rdflib_store.queries.sparql_dataset`). The most recent queries are
        remembered as they were parsed, by their texts.

        Args:
            query: The query, as text or prepared by rdflib.
            initNs: Namespaces for the prefixes that the text does not declare; by default, those of the store.
            initBindings: Values of variables, by name: terms of rdflib or of this package, or Python values for literals.
            queryGraph: The name of the graph to query; by default, all graphs together.
            bindings: Further values of variables.
            **kwargs: Further options of rdflib.

        Returns:
            A result of rdflib, which has the conversions of the reasoner's results as well (`to_arrow`, `to_polars`, `to_pandas`,
            `write`).

        Raises:
            QuerySyntaxError: The text is not a SPARQL query.
            NotAllowedError: The query fetches something without permission.
        """
        prefixes = dict(self.namespaces()) if initNs is None else initNs
        values = {**(initBindings or {}), **(bindings or {})}
        found = answer(self.dataset, self._queried(queryGraph), query, prefixes, values, kwargs.get("base"))
        return cast("rdflib_results.QueryResult", found)  # rdflib's own result, if users have evaluators of their own

    def plan(
        self,
        query: Any,
        initNs: Mapping[str, Any] | None = None,
        initBindings: Mapping[str, Any] | None = None,
        queryGraph: str = "__UNION__",
        *,
        run: bool = False,
    ) -> api.QueryPlan:
        """Return how a SPARQL query is evaluated: ``print(store_of(graph).plan(query))``.

        Args:
            query: The query, as text or prepared by rdflib.
            initNs: Namespaces for the prefixes that the text does not declare; by default, those of the store.
            initBindings: Values of variables, by name.
            queryGraph: The name of the graph to query; by default, all graphs together.
            run: Whether to evaluate the query, so that the plan has the numbers of solutions and the times beside the estimates.

        Returns:
            The plan.

        Raises:
            QuerySyntaxError: The text is not a SPARQL query.
            NotAllowedError: The query is evaluated, and fetches something without permission.
        """
        prefixes = dict(self.namespaces()) if initNs is None else initNs
        return plan(self.dataset, self._queried(queryGraph), query, prefixes, initBindings or {}, run=run)

    def update(
        self, update: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> None:
        """Execute a SPARQL Update request, see `kg_reasoner.rdflib_store.updates.sparql_update`.

        Args:
            update: The request, as text or prepared by rdflib.
            initNs: Namespaces for the prefixes that the text does not declare.
            initBindings: Values of variables, by name.
            queryGraph: The name of the graph to change.
            **kwargs: Further options of rdflib.

        Raises:
            QuerySyntaxError, LoadError, NotAllowedError, ReasonerError: As for
                `kg_reasoner.rdflib_store.updates.sparql_update.update_graph`.
        """
        graph = self._queried(queryGraph)
        target = DATASET_DEFAULT_GRAPH_ID if isinstance(graph, Dataset) else self._name(graph, self)
        listens = self.dispatcher.get_map() is not None  # type: ignore[no-untyped-call]
        base = kwargs.get("base")
        added = update_graph(graph, self.dataset, self.writer, target, update, initNs, initBindings, base, returns_added=listens)
        self._send_events(added)

    def _queried(self, name: str) -> Graph:
        """Return the graph or dataset that rdflib's name for it denotes."""
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
        """A read-only graph of the triples that are inferred and not explicit."""
        return Graph(store=View(self.dataset, "inferred"), bind_namespaces="none")


def _in_our_terms(triple: RdflibTriple) -> Triple:
    """Return a triple of rdflib's terms as one of this package's.

    Raises:
        LoadError: The argument is not an RDF triple.
    """
    if not isinstance(triple, (tuple, list)) or len(triple) != 3:
        raise LoadError(f"{triple!r} is not a triple: give a subject, a predicate and an object")
    subject, property, value = map(from_rdflib, triple)
    return subject, property, value


def _named_by_iri(name: str) -> URIRef:
    """Return the name of the graph of inferred triples.

    Raises:
        LoadError: It is not an absolute IRI.
    """
    if not isinstance(name, str) or (isinstance(name, Node) and not isinstance(name, URIRef)):
        raise LoadError(f"the name of the inferred graph is an IRI, not {name!r}")
    check_absolute(name, "name of the inferred graph")
    return URIRef(name)


def _restored(
    state: State,
    reasoning: Reasoning,
    inferred_graph: str | None,
    allow: Allow,
    prefixes: Iterable[tuple[str, str]],
    names: tuple[bool, str | None],
) -> KGReasonerStore:
    """Return the store that `KGReasonerStore.__reduce__` describes."""
    store = KGReasonerStore(reasoner_from(state), reasoning=reasoning, inferred_graph=inferred_graph, allow=allow)
    for prefix, namespace in prefixes:
        store.bind(prefix, URIRef(namespace))
    contexts, own_name = store.dataset.contexts, names[1]
    contexts.is_dataset, contexts.own_name = names[0], None if own_name is None else URIRef(own_name)
    return store
