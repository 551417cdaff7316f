"""The rdflib store: a graph that holds what was added to it and shows everything that follows.

Explicit triples are those that were added. `triples`, ``in``, `len` and SPARQL see the materialisation.

The first change begins a transaction. Reading sees it; `commit` ends it and tells the reasoner's subscribers, `rollback` undoes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import numpy as np
from rdflib import Graph, plugin
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.store import VALID_STORE, Store
from rdflib.term import Node, URIRef

from kg_reasoner import sparql
from kg_reasoner.errors import LoadError, ReasonerError, TransactionError
from kg_reasoner.loaders.convert import from_rdflib, text_from_rdflib
from kg_reasoner.matching import Ids, Which
from kg_reasoner.rdflib_terms import RdflibTerms
from kg_reasoner.reasoner import Reasoner
from kg_reasoner.sparql_update import Changeable, update_graph

if TYPE_CHECKING:
    from rdflib.query import Result

    from kg_reasoner.explain import Proof
    from kg_reasoner.reading import Reading
    from kg_reasoner.transaction import Transaction

RdflibTriple = tuple[Node, Node, Node]
RdflibPattern = tuple[Node | None, Node | None, Node | None]

# where the package's entry points are not installed
plugin.register("KGReasoner", Store, "kg_reasoner.store", "KGReasonerStore")
CUSTOM_EVALS.setdefault("KGReasoner", sparql.evaluate)

BATCH = 50_000
"""Added triples that wait at most before they become ids."""

NO_CONTEXTS: Iterator[Graph | None] = iter(())


class KGReasonerStore(sparql.PatternSource, Changeable, Store):
    """An rdflib store over a `Reasoner`; ``Graph(store="KGReasoner")`` makes one with the rule set ``owl2rl``.

    Another rule set is chosen by ``graph.open("rdfs")``, or by handing over a reasoner: ``Graph(store=KGReasonerStore(reasoner))``.
    What is read is a snapshot: a graph may be changed while its triples or the solutions of a query are iterated over.

    Whoever never commits has one long transaction, which costs a few bytes for each triple added or removed. While a transaction of
    the reasoner itself is open (``with graph.store.reasoner.transaction():``), changes of the graph are part of that one, and it is
    the reasoner's to commit or to roll back. Prefixes are not part of transactions: rdflib remembers them elsewhere, too.

    >>> from rdflib import RDF, RDFS, Namespace
    >>> EX = Namespace("http://example.org/")
    >>> graph = Graph(store="KGReasoner")
    >>> _ = graph.add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    >>> (EX.tom, RDF.type, EX.Animal) in graph
    True
    """

    context_aware = False
    formula_aware = False
    graph_aware = False
    transaction_aware = True

    def __init__(self, configuration: Reasoner | str | None = None, identifier: Any = None) -> None:
        self._prefixes: dict[str, URIRef] = {}
        self._namespaces: dict[URIRef, str] = {}
        self._waiting: list[str] = []
        self._transaction: Transaction | None = None
        self.readings = WeakSet()
        self._use(configuration if isinstance(configuration, Reasoner) else Reasoner(ruleset="owl2rl"))
        super().__init__(configuration if isinstance(configuration, str) else None, identifier)

    def open(self, configuration: str | tuple[str, str], create: bool = False) -> int | None:
        """Choose the rule set by its name (or the path of a ``.dl`` file). The triples stay, the reasoner is a new one.

        Changes are committed before; subscribers of the old reasoner hear of nothing after that.

        Raises:
            UnknownNameError: there is no such rule set. Nothing has changed.
        """
        if not isinstance(configuration, str):
            raise ReasonerError(f"a rule set is named by text, not by {configuration!r}")
        fresh = Reasoner(ruleset=configuration)
        self.commit()
        ids = self.reasoner.triple_ids_now("explicit")
        terms, positions = np.unique(ids, return_inverse=True)
        codes = fresh.dictionary.encode_texts([self.reasoner.dictionary.text(term) for term in terms.tolist()])
        fresh.add_triples(codes[positions.reshape(ids.shape)])
        self._use(fresh)
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Commit the changes since the last commit, or undo them. The store can be used further."""
        if commit_pending_transaction:
            self.commit()
        elif not self._is_guest:
            self.rollback()

    def _use(self, reasoner: Reasoner) -> None:
        self.reasoner = reasoner
        self.terms = RdflibTerms(reasoner.dictionary)
        self._size: tuple[int, int] | None = None

    # --- writing ----------------------------------------------------------------------------------------------------

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        """Add an explicit triple. It is checked now, and taken in before the next read.

        Raises:
            LoadError: a term is none of RDF, or stands where RDF does not allow it. Nothing has changed.
        """
        texts = _texts(triple)
        self._begin()
        self._waiting += texts
        if len(self._waiting) >= 3 * BATCH or self._own is None:
            self.flush()
        super().add(triple, cast(Graph, context))  # tells those who listen

    def addN(self, quads: Iterable[tuple[Node, Node, Node, Graph]]) -> None:
        """Add the triples of quads; all of them, or none if one is no triple of RDF."""
        self.change((), [(subject, property, value) for subject, property, value, _ in quads])

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        """Remove the explicit triples that match. What still follows from the rest stays visible."""
        self.flush()
        pattern = self._pattern(triple)
        if pattern is not None:
            subject, property, value = pattern
            self._remove(self.reasoner.queries.matcher.match(subject, property, value, "explicit"))

    def change(self, removed: Iterable[RdflibTriple], added: Iterable[RdflibTriple]) -> None:
        added = list(added)
        texts = [text for triple in added for text in _texts(triple)]
        self.flush()
        found = [pattern for triple in removed if (pattern := self._pattern(triple)) is not None]
        self._remove(np.array(found, np.int32).reshape(-1, 3))
        if texts:
            self._begin()
            self._waiting += texts
            if self._own is None:
                self.flush()
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            for triple in added:
                super().add(triple, Graph(store=self))

    def _remove(self, ids: Ids) -> None:
        if len(ids):
            self._complete_readings()
            self._begin()
            self.reasoner.remove_triples(ids)

    def flush(self) -> None:
        """Hand the triples that were added to the reasoner, which need not do anything about them yet."""
        if self._waiting:
            self._complete_readings()
            waiting, self._waiting = self._waiting, []
            self.reasoner.add_triples(self.reasoner.dictionary.encode_texts(waiting).reshape(-1, 3))

    def _complete_readings(self) -> None:
        """What is being read is a snapshot: it does not see changes."""
        for reading in list(self.readings):
            reading.complete()
        self.readings.clear()

    # --- transactions -----------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Keep the changes since the last commit, and bring the materialisation up to date.

        A transaction of the reasoner's own stays open.
        """
        self.flush()
        transaction, self._transaction = self._own, None
        if transaction is None:
            self.reasoner.materialise()
        else:
            transaction.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit.

        Raises:
            TransactionError: they belong to a transaction of the reasoner's own.
        """
        if self._is_guest:
            raise TransactionError("the open transaction is the reasoner's own: roll it back there")
        self._complete_readings()
        self._waiting.clear()
        transaction, self._transaction = self._own, None
        if transaction is not None:
            transaction.rollback()

    def _begin(self) -> None:
        """Begin a transaction with the first change, unless the reasoner has one of its own."""
        if self._own is None and self.reasoner.open_transaction is None:
            self._transaction = self.reasoner.transaction(collects=self.reasoner.has_subscribers).begin()

    @property
    def _own(self) -> Transaction | None:
        """The open transaction, if the store has begun it."""
        return self._transaction if self._transaction is not None and self._transaction.is_open else None

    @property
    def _is_guest(self) -> bool:
        """Whether the open transaction is the reasoner's own."""
        return self._own is None and self.reasoner.open_transaction is not None

    # --- reading ----------------------------------------------------------------------------------------------------

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None, which: Which = "all"
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        """The triples of the materialisation that match."""
        self.prepare(which)
        pattern = self._pattern(triple_pattern)
        if pattern is None:
            return
        matcher = self.reasoner.queries.matcher
        subject, property, value = pattern
        if subject is not None and property is not None and value is not None:
            if matcher.contains(subject, property, value, which):
                yield cast(RdflibTriple, triple_pattern), NO_CONTEXTS
            return
        for triple in self.terms.rows(matcher.match(subject, property, value, which)):
            yield cast(RdflibTriple, triple), NO_CONTEXTS

    def __len__(self, context: Graph | None = None) -> int:
        self.prepare()
        if self._size is None or self._size[0] != self.reasoner.version:
            self._size = self.reasoner.version, self.reasoner.queries.matcher.count()
        return self._size[1]

    def prepare(self, which: Which = "all") -> None:
        self.flush()
        if which != "explicit":
            self.reasoner.materialise()

    def explain(self, triple: RdflibTriple) -> Proof:
        """The shortest proof of a triple, shown with the graph's prefixes: ``print(graph.store.explain(triple))``.

        Raises:
            NoProofError: the graph has no such triple; `kg_reasoner.reasoner.Reasoner.why_not` tells what is missing.
            LoadError: that is no triple of RDF.
        """
        self.prepare()
        subject, property, value = map(from_rdflib, triple)
        proof = self.reasoner.explain((subject, property, value))
        return proof.with_prefixes({prefix: str(namespace) for prefix, namespace in self.namespaces()})

    def _pattern(self, triple: RdflibPattern) -> list[int | None] | None:
        """A pattern as ids; None if one of its terms occurs nowhere."""
        pattern = [None if term is None else self.terms.find(term) for term in triple]
        return None if -1 in pattern else pattern

    def query(
        self, query: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> Result:
        """rdflib's own SPARQL is used, with our evaluation of basic graph patterns inside (see `kg_reasoner.sparql`)."""
        raise NotImplementedError

    def update(
        self, update: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> None:
        """SPARQL Update, see `kg_reasoner.sparql_update`."""
        update_graph(Graph(store=self), self, update, initNs, initBindings)

    # --- namespaces -------------------------------------------------------------------------------------------------

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Bind a prefix; without `override` an existing binding of either stays."""
        if not override and (prefix in self._prefixes or namespace in self._namespaces):
            return
        old = self._prefixes.pop(prefix, None)
        if old is not None:
            self._namespaces.pop(old, None)
        old_prefix = self._namespaces.pop(namespace, None)
        if old_prefix is not None:
            self._prefixes.pop(old_prefix, None)
        self._prefixes[prefix] = namespace
        self._namespaces[namespace] = prefix

    def namespace(self, prefix: str) -> URIRef | None:
        """The namespace of a prefix."""
        return self._prefixes.get(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        """The prefix of a namespace."""
        return self._namespaces.get(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        """All bound prefixes with their namespaces."""
        yield from list(self._prefixes.items())

    # --- views ------------------------------------------------------------------------------------------------------

    @property
    def explicit(self) -> Graph:
        """A read-only graph of the triples that were added."""
        return Graph(store=View(self, "explicit"), bind_namespaces="none")

    @property
    def inferred(self) -> Graph:
        """A read-only graph of the triples that only follow."""
        return Graph(store=View(self, "inferred"), bind_namespaces="none")


class View(sparql.PatternSource, Store):
    """The explicit or the inferred triples of a store, as they are when they are read."""

    def __init__(self, store: KGReasonerStore, which: Which) -> None:
        super().__init__()
        self.store = store
        self.which = which

    @property
    def reasoner(self) -> Reasoner:  # type: ignore[override]  # it is the store's, which may get another one
        return self.store.reasoner

    @property
    def terms(self) -> RdflibTerms:  # type: ignore[override]
        return self.store.terms

    @property
    def readings(self) -> WeakSet[Reading]:  # type: ignore[override]
        return self.store.readings

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        return self.store.triples(triple_pattern, context, self.which)

    def __len__(self, context: Graph | None = None) -> int:
        self.prepare()
        return self.reasoner.queries.matcher.count(self.which)

    def prepare(self) -> None:
        self.store.prepare(self.which)

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        raise ReasonerError(f"the graph of {self.which} triples is a view: add to the graph that it belongs to")

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        raise ReasonerError(f"the graph of {self.which} triples is a view: remove from the graph that it belongs to")

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        self.store.bind(prefix, namespace, override)

    def namespace(self, prefix: str) -> URIRef | None:
        return self.store.namespace(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        return self.store.prefix(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        return self.store.namespaces()


def attach(graph: Graph, ruleset: str = "owl2rl") -> Graph:
    """Put a reasoner under an rdflib graph: the same graph, which from now on shows what follows from its triples.

    Args:
        graph: a plain `rdflib.Graph`. Its triples become the explicit ones; its namespaces stay.
        ruleset: the name of a rule set or the path of a ``.dl`` file.

    Returns:
        The graph itself. If anything is wrong (an unknown rule set, a term that RDF does not know) it is left as it was.

    Raises:
        UnknownNameError: there is no such rule set.
        LoadError: a triple has a term that RDF does not know, or in a place where RDF does not allow it.
        ReasonerError: it is a graph of graphs.
    """
    if graph.context_aware:
        raise ReasonerError(
            "attach works on a Graph; of a Dataset or ConjunctiveGraph attach one of its graphs, copied into a Graph"
        )
    store = KGReasonerStore(Reasoner(ruleset=ruleset))
    triples = iter(graph.store.explicit if isinstance(graph.store, KGReasonerStore) else graph)
    while batch := list(islice(triples, BATCH)):
        texts = [text for triple in batch for text in _texts(triple)]
        store.reasoner.add_triples(store.reasoner.dictionary.encode_texts(texts).reshape(-1, 3))
    store.reasoner.materialise()
    for prefix, namespace in graph.namespaces():
        store.bind(prefix, namespace)
    graph._Graph__store = store  # type: ignore[attr-defined]  # rdflib has no other way to change a graph's store
    return graph


def graph_of(reasoner: Reasoner) -> Graph:
    """An rdflib graph over an existing reasoner."""
    return Graph(store=KGReasonerStore(reasoner))


def _texts(triple: Sequence[Node]) -> list[str]:
    """The dictionary's texts of a triple's terms.

    Raises:
        LoadError: it is no RDF triple.
    """
    texts = [text_from_rdflib(term) for term in triple]
    if texts[0][0] == '"':
        raise LoadError(f"the literal {texts[0]} cannot be the subject of a triple: {' '.join(texts)}")
    if texts[1][0] != "<":
        raise LoadError(f"{texts[1]} cannot be the predicate of a triple, only an IRI can: {' '.join(texts)}")
    return texts
