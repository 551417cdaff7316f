"""The rdflib store: a graph that holds what was added to it and shows everything that follows.

Explicit triples are those that were added. `triples`, ``in``, `len` and SPARQL see the materialisation.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rdflib import Graph
from rdflib.plugins.sparql import CUSTOM_EVALS
from rdflib.store import VALID_STORE, Store
from rdflib.term import Node, URIRef

from kg_reasoner import sparql
from kg_reasoner.errors import ReasonerError
from kg_reasoner.loaders.convert import from_rdflib, text_from_rdflib, to_rdflib
from kg_reasoner.query import match_triples
from kg_reasoner.reasoner import Reasoner, Which

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rdflib.query import Result

RdflibTriple = tuple[Node, Node, Node]
RdflibPattern = tuple[Node | None, Node | None, Node | None]

CUSTOM_EVALS.setdefault("KGReasoner", sparql.evaluate)  # where the entry point is not installed


class KGReasonerStore(Store):
    """An rdflib store over a `Reasoner`; ``Graph(store="KGReasoner")`` makes one with the rule set ``owl2rl``.

    Another rule set is chosen by ``graph.open("rdfs")``, or by handing over a reasoner: ``Graph(store=KGReasonerStore(reasoner))``.

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
    transaction_aware = False

    def __init__(self, configuration: Reasoner | str | None = None, identifier: Any = None) -> None:
        self._prefixes: dict[str, URIRef] = {}
        self._namespaces: dict[URIRef, str] = {}
        self._nodes: dict[int, Node] = {}
        self._waiting: list[str] = []
        self._size: tuple[int, int] | None = None
        self.reasoner = configuration if isinstance(configuration, Reasoner) else Reasoner(ruleset="owl2rl")
        super().__init__(configuration if isinstance(configuration, str) else None, identifier)

    def open(self, configuration: str | tuple[str, str], create: bool = False) -> int | None:
        """Choose the rule set by its name (or the path of a ``.dl`` file). The triples stay.

        Raises:
            UnknownNameError: there is no such rule set.
        """
        if not isinstance(configuration, str):
            raise ReasonerError(f"a rule set is named by text, not by {configuration!r}")
        self.flush()
        fresh = Reasoner(ruleset=configuration)
        fresh.add_triples(self.reasoner.triples(which="explicit"))
        self.reasoner = fresh
        self._nodes.clear()
        self._size = None
        return VALID_STORE

    # --- writing ----------------------------------------------------------------------------------------------------

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        """Add an explicit triple. It is checked now, and taken in before the next read."""
        self._waiting += [text_from_rdflib(term) for term in triple]

    def addN(self, quads: Iterable[tuple[Node, Node, Node, Graph]]) -> None:
        """Add the triples of quads; all of them, or none if one has a term that is none of RDF."""
        texts = [text_from_rdflib(term) for quad in quads for term in quad[:3]]
        self._waiting += texts

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        """Remove the explicit triples that match. What still follows from the rest stays visible."""
        self.flush()
        pattern = self._pattern(triple)
        if pattern is not None:
            self.reasoner.remove_triples(match_triples(self.reasoner, pattern, "explicit"))

    def flush(self) -> None:
        """Hand the triples that were added to the reasoner."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self.reasoner.add_triples(self.reasoner.dictionary.encode_texts(waiting).reshape(-1, 3))

    def commit(self) -> None:
        """Bring the materialisation up to date."""
        self.flush()
        self.reasoner.materialise()

    # --- reading ----------------------------------------------------------------------------------------------------

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None, which: Which = "all"
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        """The triples of the materialisation that match."""
        self.flush()
        pattern = self._pattern(triple_pattern)
        if pattern is None:
            return
        for row in match_triples(self.reasoner, pattern, which).tolist():
            subject, predicate, object = map(self.node, row)
            yield (subject, predicate, object), iter(())

    def __len__(self, context: Graph | None = None, which: Which = "all") -> int:
        self.flush()
        if which != "all":
            return len(self.reasoner.triple_ids(which))
        if self._size is None or self._size[0] != self.reasoner.version:
            count = len(self.reasoner.triple_ids())
            self._size = self.reasoner.version, count
        return self._size[1]

    def _pattern(self, triple: RdflibPattern) -> list[int | None] | None:
        """A pattern as ids; None if one of its terms occurs nowhere."""
        find = self.reasoner.dictionary.find_text
        pattern = [None if term is None else find(text_from_rdflib(term)) for term in triple]
        return None if -1 in pattern else pattern

    def node(self, number: int) -> Node:
        """The rdflib term of an id."""
        node = self._nodes.get(number)
        if node is None:
            node = self._nodes[number] = to_rdflib(self.reasoner.dictionary.decode(number))
        return node

    def query(
        self, query: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> Result:
        """rdflib's own SPARQL is used, with our evaluation of basic graph patterns inside (see `kg_reasoner.sparql`)."""
        raise NotImplementedError

    def update(
        self, update: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> None:
        """rdflib's own SPARQL Update is used."""
        raise NotImplementedError

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
        return Graph(store=_View(self, "explicit"))

    @property
    def inferred(self) -> Graph:
        """A read-only graph of the triples that only follow."""
        return Graph(store=_View(self, "inferred"))


class _View(Store):
    """The explicit or the inferred triples of a store."""

    def __init__(self, store: KGReasonerStore, which: Which) -> None:
        super().__init__()
        self._store = store
        self._which = which

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        return self._store.triples(triple_pattern, context, self._which)

    def __len__(self, context: Graph | None = None) -> int:
        return self._store.__len__(context, self._which)

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        raise ReasonerError(f"the graph of {self._which} triples is a view: add to the graph that it belongs to")

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        raise ReasonerError(f"the graph of {self._which} triples is a view: remove from the graph that it belongs to")

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        pass

    def namespace(self, prefix: str) -> URIRef | None:
        return self._store.namespace(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        return self._store.prefix(namespace)

    def namespaces(self) -> Generator[tuple[str, URIRef], None, None]:
        yield from self._store.namespaces()


def attach(graph: Graph, ruleset: str = "owl2rl") -> Graph:
    """Put a reasoner under an rdflib graph: the same graph, which from now on shows what follows from its triples.

    Args:
        graph: a plain `rdflib.Graph`. Its triples become the explicit ones; its namespaces stay.
        ruleset: the name of a rule set or the path of a ``.dl`` file.

    Returns:
        The graph itself. If anything is wrong (an unknown rule set, a term that RDF does not know) it is left as it was.

    Raises:
        UnknownNameError, LoadError, ReasonerError: see there.
    """
    if graph.context_aware:
        raise ReasonerError("attach works on a Graph; of a Dataset or ConjunctiveGraph attach one of its graphs, copied into a Graph")
    store = KGReasonerStore(Reasoner(ruleset=ruleset))
    store.reasoner.add_triples((from_rdflib(s), from_rdflib(p), from_rdflib(o)) for s, p, o in graph)
    store.reasoner.materialise()
    for prefix, namespace in graph.namespaces():
        store.bind(prefix, namespace)
    graph._Graph__store = store  # type: ignore[attr-defined]  # rdflib has no other way to change a graph's store
    return graph


def graph_of(reasoner: Reasoner) -> Graph:
    """An rdflib graph over an existing reasoner."""
    return Graph(store=KGReasonerStore(reasoner))
