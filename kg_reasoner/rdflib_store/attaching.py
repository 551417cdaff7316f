"""Attaching reasoners to existing rdflib graphs and datasets."""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node

from kg_reasoner.api.reasoner import Equality, Reasoner
from kg_reasoner.engine.inconsistency import Reaction
from kg_reasoner.errors import ReasonerError
from kg_reasoner.rdflib_store.copying import copy_explicit
from kg_reasoner.rdflib_store.permissions import Allow
from kg_reasoner.rdflib_store.store import KGReasonerStore, Reasoning
from kg_reasoner.rdflib_store.writer import BATCH, StoreWriter

AnyGraph = TypeVar("AnyGraph", bound=Graph)


def attach(
    graph: AnyGraph,
    ruleset: str = "owl2rl",
    *,
    reasoning: Reasoning = "union",
    inferred_graph: str | None = None,
    on_inconsistency: Reaction = "report",
    equality: Equality = "axioms",
    allow: Allow = (),
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

    Returns:
        The graph itself, unchanged if there is an error. A dataset shows what follows from all of its graphs in their union
        (``default_union=True``). Graphs obtained from it before still show its old store: obtain them again.

    Raises:
        UnknownNameError: The rule set is unknown.
        LoadError: A term is not an RDF term, or stands where RDF does not allow it.
        InconsistencyError: The triples contradict the rules, and `on_inconsistency` is ``raise``.
        ReasonerError: The argument is not an rdflib graph, or is of a deprecated kind such as `ConjunctiveGraph`.
    """
    if not isinstance(graph, Graph):
        raise ReasonerError(f"attach works on a Graph or a Dataset of rdflib, not on {graph!r}")
    if graph.context_aware and not isinstance(graph, Dataset):
        raise ReasonerError("attach works on a Graph or a Dataset; make a Dataset of a ConjunctiveGraph")
    reasoner = Reasoner(ruleset=ruleset, on_inconsistency=on_inconsistency, equality=equality)
    store = KGReasonerStore(reasoner, reasoning=reasoning, inferred_graph=inferred_graph, allow=allow)
    store.graphs.transactions.begin()
    if isinstance(graph.store, KGReasonerStore):
        graph.store.flush()
        copy_explicit(graph.store.reasoner, store.reasoner)
    elif isinstance(graph, Dataset):
        for part in graph.graphs():
            store.writer.create_graph(part.identifier)
            _add_all(store.writer, part, part.identifier)
    else:
        _add_all(store.writer, graph, None)
    store.commit()
    for prefix, namespace in graph.namespaces():
        store.bind(prefix, namespace)
    graph._Graph__store = store  # type: ignore[attr-defined]  # rdflib has no other way to change a graph's store
    if isinstance(graph, Dataset):
        graph.default_graph = Graph(store=store, identifier=DATASET_DEFAULT_GRAPH_ID, base=graph.default_graph.base)
    return graph


def _add_all(writer: StoreWriter, graph: Graph, name: Node | None) -> None:
    """Add the triples of a graph to one of the store's graphs."""
    triples = iter(graph)
    while batch := list(islice(triples, BATCH)):
        writer.add_quads([(subject, property, value, name) for subject, property, value in batch])
