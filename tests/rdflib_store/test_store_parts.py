"""The parts of an rdflib store by themselves, without the store."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any
from weakref import ref

import numpy as np
import pytest
from rdflib import RDF, RDFS, Dataset, Graph, Namespace
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from kg_reasoner import KGReasonerStore, Reasoner
from kg_reasoner.errors import ReasonerError, TransactionError
from kg_reasoner.loaders.convert import from_rdflib
from kg_reasoner.rdflib_store.graphs.contexts import Contexts
from kg_reasoner.rdflib_store.graphs.prefix_bindings import PrefixBindings
from kg_reasoner.rdflib_store.graphs.separate_graphs import Graphs, SeparateGraphs
from kg_reasoner.rdflib_store.graphs.transactions import IN_DEFAULT, StoreTransactions
from kg_reasoner.rdflib_store.graphs.union_graphs import UnionGraphs
from kg_reasoner.rdflib_store.graphs.writer import StoreWriter
from kg_reasoner.rdflib_store.queries.permissions import Permissions
from kg_reasoner.rdflib_store.queries.query_dataset import QueryDataset
from kg_reasoner.rdflib_store.queries.query_places import StorePlaces
from kg_reasoner.rdflib_store.queries.selected_graphs import SelectedGraphs

EX = Namespace("http://example.org/")
SCHEMA = (EX.Cat, RDFS.subClassOf, EX.Animal)
TOM = (EX.tom, RDF.type, EX.Cat)
FOLLOWS = (EX.tom, RDF.type, EX.Animal)


@pytest.fixture
def rdfs() -> Reasoner:
    return Reasoner(ruleset="rdfs")


def both(reasoner: Reasoner) -> list[Graphs]:
    return [UnionGraphs(reasoner), SeparateGraphs(reasoner)]


def shown(graphs: Graphs, name: Any = None, which: Any = "all") -> set[Any]:
    found = list(graphs.triples_of(name, (None, RDF.type, None), which))
    assert len(found) == len(set(found))
    return {triple for triple in found if str(EX) in str(triple[2])}


# --- transactions ----------------------------------------------------------------------------------------------------------


def ids(reasoner: Reasoner, *triples: Any) -> Any:
    texts = [f"<{term}>" for triple in triples for term in triple]
    return reasoner.dictionary.encode_texts(texts).reshape(-1, 3)


def test_transactions_keep_or_undo(rdfs: Reasoner) -> None:
    transactions = StoreTransactions(rdfs)
    schema, tom = ids(rdfs, SCHEMA), ids(rdfs, TOM)
    transactions.change({}, np.concatenate([schema, tom]))
    assert transactions.own is rdfs.open_transaction
    transactions.commit()
    assert transactions.own is None
    count = rdfs.core.queries.count("explicit")
    transactions.change({None: tom, IN_DEFAULT: schema}, np.empty((0, 3), np.int32))
    assert rdfs.core.queries.count("explicit") == count - 2
    transactions.rollback()
    assert rdfs.core.queries.count("explicit") == count


def test_transactions_are_guests_in_one_of_the_reasoner(rdfs: Reasoner) -> None:
    transactions = StoreTransactions(rdfs)
    with rdfs.transaction():
        assert transactions.begin() is None
        assert transactions.is_guest
        with pytest.raises(TransactionError, match="the reasoner's own"):
            transactions.rollback()
    assert not transactions.is_guest


# --- graphs and their writer -----------------------------------------------------------------------------------------------


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_both_ways_to_reason_have_the_same_methods() -> None:
    assert public(UnionGraphs) == public(SeparateGraphs)


def test_the_union_is_reasoned_over(rdfs: Reasoner) -> None:
    graphs = UnionGraphs(rdfs, EX.inferred)
    writer = StoreWriter(graphs)
    assert writer.add_quads([(*SCHEMA, None), (*TOM, EX.g)]) == [(*SCHEMA, None), (*TOM, EX.g)]
    assert shown(graphs, EX.g) == {TOM}
    assert shown(graphs) == {TOM, FOLLOWS}
    assert FOLLOWS in shown(graphs, EX.inferred)
    names = {triple: list(found) for triple, found in graphs.quads((EX.tom, None, None), str)}
    assert (names[TOM], names[FOLLOWS]) == ([str(EX.g)], [str(EX.inferred)])
    with pytest.raises(ReasonerError, match="read-only"):
        writer.add_quads([(*TOM, EX.inferred)])
    writer.remove(TOM, EX.g)
    assert shown(graphs) == set()


def test_each_graph_is_reasoned_over_by_itself(rdfs: Reasoner) -> None:
    graphs = SeparateGraphs(rdfs)
    writer = StoreWriter(graphs)
    writer.add_quads([(*SCHEMA, EX.g), (*TOM, EX.g), (*TOM, EX.h)])
    assert (shown(graphs, EX.g), shown(graphs, EX.h)) == ({TOM, FOLLOWS}, {TOM})
    assert list(graphs.names_with(FOLLOWS)) == [EX.g]
    assert graphs.count(EX.h, "explicit") == 1
    writer.drop_graph(EX.g)
    assert shown(graphs) == {TOM}
    graphs.transactions.rollback()
    assert graphs.all_graphs() == [DATASET_DEFAULT_GRAPH_ID]
    with pytest.raises(ReasonerError, match="requires reasoning over the union"):
        SeparateGraphs(rdfs, EX.inferred)


def test_another_rule_set(rdfs: Reasoner) -> None:
    for graphs in both(rdfs):
        StoreWriter(graphs).add_quads([(*SCHEMA, None), (*TOM, None)])
        graphs.open("owl2rl")
        assert shown(graphs) >= {TOM, FOLLOWS}
        assert graphs.transactions.reasoner is graphs.reasoner


def test_a_request_is_made_whole_or_not_at_all(rdfs: Reasoner) -> None:
    for graphs in both(rdfs):
        writer = StoreWriter(graphs)
        writer.add_quads([(*SCHEMA, None)])
        assert shown(graphs) == set()
        with pytest.raises(KeyError), writer.request():
            writer.add_quads([(*TOM, None)])
            writer.create_graph(EX.g)
            raise KeyError
        assert shown(graphs) == set()
        assert graphs.stored_graphs() == []
        assert graphs.count(None, "explicit") == 1


# --- what queries see ------------------------------------------------------------------------------------------------------


def whole(graphs: Graphs) -> QueryDataset:
    return QueryDataset(graphs, Contexts(graphs), PrefixBindings(), Permissions())


def test_a_dataset_of_some_graphs(rdfs: Reasoner) -> None:
    for graphs in both(rdfs):
        StoreWriter(graphs).add_quads([(*TOM, EX.g), (*TOM, EX.h)])
        dataset = whole(graphs)
        some = SelectedGraphs(dataset, [EX.g], [EX.h, EX.nowhere])
        assert (dataset.named_graphs(), some.named_graphs()) == ([EX.g, EX.h], [EX.h])
        assert (some.names(Dataset()), some.names(Graph(identifier=EX.h))) == ([EX.g], [EX.h])
        assert not some.has_graph(EX.g)
        with some.reading():
            places = StorePlaces(some, Dataset())
            found = [places.named(from_rdflib(name)) is not None for name in (EX.g, EX.h, EX.nowhere)]
            assert (found, len(places.default())) == ([False, True, False], 1)


def test_prefixes() -> None:
    prefixes = PrefixBindings()
    prefixes.bind("a", EX["1"])
    prefixes.bind("a", EX["2"], override=False)
    prefixes.bind("b", EX["1"])
    assert list(prefixes.namespaces()) == [("b", EX["1"])]


# --- the store -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("reasoning", ["union", "graph"])
def test_a_store_is_freed_as_soon_as_nobody_uses_it(rdfs: Reasoner, reasoning: Any) -> None:
    """Without what makes circles in rdflib itself: the context of a query, the prefixes of a graph."""
    store = KGReasonerStore(rdfs, reasoning=reasoning)
    dataset = Dataset(store=store, default_union=True)
    dataset.addN((*triple, dataset) for triple in (SCHEMA, TOM))
    assert FOLLOWS in dataset
    assert len(list(dataset.quads())) >= 2
    assert len(store.explicit) == 2
    dataset.remove((EX.tom, None, None))  # leaves a transaction open
    watched = [ref(store), ref(store.graphs), ref(store.graphs.transactions)]
    del store, dataset
    assert [reference() for reference in watched] == [None, None, None]
