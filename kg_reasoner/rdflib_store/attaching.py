"""Attaching reasoners to existing rdflib graphs and datasets, and detaching them; graphs of reasoners, and stores of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph, ReadOnlyGraphAggregate
from rdflib.plugins.stores.memory import Memory
from rdflib.term import Node, URIRef

from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.engine.inconsistency import Reaction
from kg_reasoner.errors import ReasonerError, UnknownNameError
from kg_reasoner.loaders.rdf.readers.triples_in_memory import all_triples
from kg_reasoner.rdflib_store.graphs.copying import copy_explicit
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibTriple
from kg_reasoner.rdflib_store.graphs.versions import replace_store
from kg_reasoner.rdflib_store.graphs.writer import BATCH, StoreWriter
from kg_reasoner.rdflib_store.queries.permissions import Allow
from kg_reasoner.rdflib_store.store import KGReasonerStore, Reasoning

AnyGraph = TypeVar("AnyGraph", bound=Graph)

Keep: TypeAlias = Literal["explicit", "all"]
KEEP: Final = ("explicit", "all")
"""The triples that a detached graph holds: those that were added, or the inferred ones as well."""


def attach(
    graph: AnyGraph,
    ruleset: str = "owl2rl",
    *,
    reasoning: Reasoning = "union",
    inferred_graph: str | None = None,
    on_inconsistency: Reaction = "report",
    equality: Equality = "axioms",
    allow: Allow = (),
    threads: int | None = None,
) -> AnyGraph:
    """Attach a reasoner to an rdflib graph or dataset, which then also shows what follows from its triples.

    Args:
        graph: An `rdflib.Graph` or `rdflib.Dataset`. Its triples become the explicit ones, in their graphs; its namespaces remain.
        ruleset: The name of a rule set or the path of a ``.dl`` file. Rules of your own are added beside it by
            ``store_of(graph).reasoner.add_program(text)``.
        reasoning: Over the ``union`` of a dataset's graphs, or over each ``graph`` separately; see `KGReasonerStore`.
        inferred_graph: The name of a graph for the inferred triples; see `KGReasonerStore`.
        on_inconsistency: ``report`` or ``raise``, see `kg_reasoner.api.reasoner.Reasoner`.
        equality: ``axioms`` or ``rewrite``, which merges terms that are owl:sameAs; see there as well.
        allow: What queries and updates may fetch, by default nothing; see `KGReasonerStore`.
        threads: The number of threads that derive facts together, by default all cores; see `kg_reasoner.api.reasoner.Reasoner`.

    Returns:
        The graph itself, unchanged if there is an error. A dataset shows what follows from all of its graphs in their union
        (``default_union=True``). Graphs obtained from it before still show its old store: obtain them again.

    Raises:
        UnknownNameError: The rule set is unknown.
        LoadError: A term is not an RDF term, or stands where RDF does not allow it; or the name of the inferred graph is not an
            absolute IRI.
        InconsistencyError: The triples contradict the rules, and `on_inconsistency` is ``raise``.
        ReasonerError: The argument is not an rdflib graph, or is of a deprecated kind such as `ConjunctiveGraph`; or graphs are
            reasoned over separately, and the rule set has delays or differences.
        ValueError: `threads` is not a number from 1 to 64.
    """
    if not isinstance(graph, Graph):
        raise ReasonerError(f"attach works on a Graph or a Dataset of rdflib, not on {graph!r}")
    if isinstance(graph, ReadOnlyGraphAggregate):
        raise ReasonerError("attach works on a Graph or a Dataset; a ReadOnlyGraphAggregate reads other graphs: attach to those")
    if isinstance(graph, ConjunctiveGraph) and not isinstance(graph, Dataset):
        raise ReasonerError("attach works on a Graph or a Dataset; make a Dataset of a ConjunctiveGraph")
    reasoner = Reasoner(ruleset=ruleset, on_inconsistency=on_inconsistency, equality=equality, threads=threads)
    store = KGReasonerStore(reasoner, reasoning=reasoning, inferred_graph=inferred_graph, allow=allow)
    for prefix, namespace in graph.namespaces():
        store.bind(prefix, namespace)
    copy_graph(graph, store)
    store.commit()
    replace_store(graph, store)
    return graph


def copy_graph(graph: Graph, store: KGReasonerStore) -> None:
    """Add the triples of a graph or dataset to a store, in their graphs; not committed."""
    contexts = store.dataset.contexts
    contexts.is_dataset |= isinstance(graph, Dataset)
    store.graphs.transactions.begin()
    if isinstance(graph.store, KGReasonerStore):
        former = graph.store.dataset.contexts
        contexts.is_dataset, contexts.own_name = contexts.is_dataset or former.is_dataset, former.own_name
        graph.store.flush()
        copy_explicit(graph.store.reasoner, store.reasoner)
    elif isinstance(graph, Dataset):
        for part in graph.graphs():
            store.writer.create_graph(part.identifier)
            _add_all(store.writer, part, part.identifier)
    else:
        contexts.own_name = graph.identifier if isinstance(graph.identifier, URIRef) else None
        _add_all(store.writer, graph, None)


def detach(graph: AnyGraph, *, keep: Keep = "explicit") -> AnyGraph:
    """Take the reasoner away from an rdflib graph or dataset, whose triples are in a store of rdflib in memory afterwards.

    Changes that are not committed are committed first. The reasoner itself remains as it is.

    Args:
        graph: A graph or dataset with a reasoner. A named graph of a dataset leaves the dataset with its triples.
        keep: ``explicit``: the triples that were added; ``all``: the inferred ones as well, as ordinary triples. In a dataset,
            those inferred from the union of its graphs come into the graph that `inferred_graph` names, or into the default graph.

    Returns:
        The graph itself, unchanged if there is an error. Graphs obtained from a dataset before still show its old store.

    Raises:
        UnknownNameError: `keep` has another value.
        ReasonerError: The graph has no reasoner.
        InconsistencyError, LimitError, CancelledError: See `KGReasonerStore.commit`; changes that are not committed are undone.

    >>> from rdflib import RDF, RDFS, Namespace
    >>> EX = Namespace("http://example.org/")
    >>> graph = Graph().add((EX.Cat, RDFS.subClassOf, EX.Animal)).add((EX.tom, RDF.type, EX.Cat))
    >>> len(attach(graph)), len(detach(graph)), len(detach(attach(graph), keep="all"))
    (3, 2, 3)
    """
    if keep not in KEEP:
        raise UnknownNameError("kind of triples to keep", str(keep), KEEP)
    store = store_of(graph)
    store.commit()
    target = Memory()
    with store.graphs.transactions.reading(keep):
        if isinstance(graph, Dataset):
            _copy_dataset(store, target, keep)
        else:
            own = Graph(store=target, identifier=graph.identifier)
            own.addN((*triple, own) for triple in store.graphs.triples_of(store.name_of(graph), (None, None, None), keep))
    for prefix, namespace in store.namespaces():
        target.bind(prefix, namespace)
    replace_store(graph, target)
    return graph


def _copy_dataset(store: KGReasonerStore, target: Memory, keep: Keep) -> None:
    """Copy the graphs of a store, empty ones included."""
    names = store.named_graphs() if keep == "all" else store.graphs.stored_graphs()
    for name in [DATASET_DEFAULT_GRAPH_ID, *names]:
        graph = Graph(store=target, identifier=cast(Any, name))
        target.add_graph(graph)
        graph.addN((*triple, graph) for triple in _triples_to_keep(store, name, keep))


def _triples_to_keep(store: KGReasonerStore, name: Node, keep: Keep) -> Iterator[RdflibTriple]:
    """Yield the triples of a graph of a dataset, and in the default graph those that are inferred and in no graph."""
    yield from store.graphs.triples_of(name, (None, None, None), keep)
    if keep == "all" and name == DATASET_DEFAULT_GRAPH_ID and store.reasons_over_union and store.inferred_graph is None:
        yield from store.graphs.triples_of(None, (None, None, None), "inferred")


def _add_all(writer: StoreWriter, graph: Graph, name: Node | None) -> None:
    """Add the triples of a graph to one of the store's graphs."""
    triples = iter(all_triples(graph))
    while batch := list(islice(triples, BATCH)):
        writer.add_many(batch, name)


def graph_of(reasoner: Reasoner) -> Graph:
    """Return an rdflib graph over an existing reasoner.

    Args:
        reasoner: The reasoner.

    Returns:
        The graph.

    Raises:
        ReasonerError: The argument is not a reasoner.
    """
    if not isinstance(reasoner, Reasoner):
        raise ReasonerError(f"{reasoner!r} is not a Reasoner: for an existing graph, use attach(graph)")
    return Graph(store=KGReasonerStore(reasoner))


def store_of(graph: Graph) -> KGReasonerStore:
    """Return the store under a graph or dataset: ``graph.store``, with its type.

    Args:
        graph: A graph or dataset with a reasoner.

    Returns:
        Its store.

    Raises:
        ReasonerError: The graph has no reasoner.

    >>> graph = Graph(store="KGReasoner")
    >>> store_of(graph).reasoner.maintenance
    'backward-forward'
    """
    store = getattr(graph, "store", None)
    if not isinstance(store, KGReasonerStore):
        raise ReasonerError(f"{graph!r} has no reasoner: call attach(graph) first")
    return store
