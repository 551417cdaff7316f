"""Changing an rdflib store: adding and removing triples in their graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
from rdflib import Literal
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node

from kg_reasoner.errors import ReasonerError
from kg_reasoner.query.quads import GRAPH_COLUMN
from kg_reasoner.rdflib_store.graphs.copying import translated
from kg_reasoner.rdflib_store.graphs.rdflib_terms import (
    RdflibPattern,
    RdflibQuad,
    RdflibTerms,
    RdflibTriple,
    graph_text,
    triple_rows,
    triple_texts,
)
from kg_reasoner.rdflib_store.graphs.separate_graphs import Graphs
from kg_reasoner.rdflib_store.graphs.transactions import IN_DEFAULT, encoded
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids, selected_rows
from kg_reasoner.storage.terms.dictionary import Dictionary

BATCH: Final = 50_000
"""The maximal number of added triples that wait before they become ids."""


class StoreWriter:
    """Changes the explicit triples of a store's graphs."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs
        self._transactions = graphs.transactions

    # --- triples ----------------------------------------------------------------------------------------------------

    def add(self, texts: list[str], name: Node | None) -> None:
        """Add a triple, given as the texts of its terms, to a graph. It is passed to the reasoner before the next read.

        Raises:
            LoadError: The term cannot name a graph. Nothing has changed.
            ReasonerError: The graph holds the inferred triples and is read-only.
        """
        with self._transactions.writing():
            self._wait([(texts, self.graph_id(name))])

    def remove(self, triple: RdflibPattern, name: Node | None) -> None:
        """Remove the matching explicit triples from one graph or from all. Those that still follow from the rest stay visible."""
        with self._transactions.writing():
            self._remove(triple, None if name is None else self.graph_id(name))

    def add_quads(self, added: Iterable[RdflibQuad]) -> list[RdflibQuad]:
        """Add quads, each with the name of its graph; None means the default graph. They are passed on as those of `add`.

        Returns:
            The quads that were added.

        Raises:
            LoadError: A quad is not an RDF quad. Nothing has changed.
            ReasonerError: A quad is for the graph of inferred triples, which is read-only. Nothing has changed.
        """
        added = list(added)
        with self._transactions.writing():
            waiting = [(triple_texts(quad[:3]), self.graph_id(quad[3])) for quad in added]
            if waiting:
                self._wait(waiting)
        return added

    def add_many(self, triples: Sequence[RdflibTriple], name: Node | None) -> None:
        """Add many triples to a graph in one operation.

        Args:
            triples: The triples.
            name: The name of the graph; None: the default graph.

        Raises:
            LoadError: One of them is not an RDF triple, or the term cannot name a graph. Nothing has changed.
            ReasonerError: The graph holds the inferred triples and is read-only. Nothing has changed.
        """
        dictionary = self._graphs.reasoner.dictionary
        self.add_encoded(triple_rows(triples, dictionary), [name] * len(triples), dictionary)

    def add_encoded(self, ids: Ids, names: Sequence[Node | None], dictionary: Dictionary) -> None:
        """Add triples, given as ids of shape (n, 3), in one operation.

        Args:
            ids: The triples.
            names: The name of the graph of each; None: the default graph.
            dictionary: The dictionary of the ids.

        Raises:
            LoadError: A term cannot name a graph. Nothing has changed.
            ReasonerError: A graph holds the inferred triples and is read-only. Nothing has changed.
        """
        with self._transactions.writing():
            current = self._graphs.reasoner.dictionary
            if current is not dictionary:  # another thread has opened another rule set meanwhile
                ids = translated(ids, dictionary, current)
            distinct = dict(zip(map(id, names), names, strict=True))
            known = {key: self.graph_id(name) for key, name in distinct.items()}
            graphs = None
            if any(number != IN_DEFAULT for number in known.values()):
                graphs = np.fromiter((known[key] for key in map(id, names)), np.int32, len(ids))
            self._change_rows(ids, graphs)

    def _change_rows(self, triples: Ids, graphs: Ids | None) -> None:
        """Add triples, given as ids, to their graphs; the caller may write."""
        self._transactions.flush()
        self._transactions.change({}, triples, graphs)

    def add_rows(self, triples: Ids, graphs: Ids | None, name: Node | None, dictionary: Dictionary) -> None:
        """Add triples, given as ids of shape (n, 3), in one operation.

        Args:
            triples: The triples.
            graphs: The ids of their graphs, if they have any; `IN_DEFAULT` stands for the graph `name`.
            name: The graph for all others; None: the default graph.
            dictionary: The dictionary of the ids.

        Raises:
            ReasonerError: A graph holds the inferred triples and is read-only. Nothing has changed.
        """
        with self._transactions.writing():
            target = self.graph_id(name)
            current = self._graphs.reasoner.dictionary
            if current is not dictionary:  # another thread has opened another rule set meanwhile
                triples = translated(triples, dictionary, current)
            if graphs is None:
                places = None if target == IN_DEFAULT else np.full(len(triples), target, np.int32)
            else:
                numbers, positions = np.unique(graphs, return_inverse=True)
                names = RdflibTerms(dictionary).nodes(numbers[numbers >= 0].tolist())
                changed = [target] * (len(numbers) - len(names)) + [self.graph_id(named) for named in names]
                places = np.array(changed, np.int32)[positions]
                if (places == IN_DEFAULT).all():
                    places = None
            self._change_rows(triples, places)

    def change_quads(self, removed: Ids, added: Ids) -> None:
        """Remove quads, then add quads, in one operation, given as ids of shape (n, 4).

        Inferred triples are not removed: they exist as long as they follow.

        Args:
            removed: Quads to remove, where they are stated; `IN_DEFAULT` as the graph means all graphs.
            added: Quads to add; `IN_DEFAULT` means the default graph.

        Raises:
            ReasonerError: A quad to be added is for the graph of inferred triples, which is read-only. Nothing has changed.
        """
        graphs, transactions = self._graphs, self._transactions
        with transactions.writing():
            inferred = graphs.inferred_graph
            if inferred is not None and inferred != DATASET_DEFAULT_GRAPH_ID:
                number = graphs.terms.find(inferred)
                if number >= 0 and (added[:, GRAPH_COLUMN] == number).any():
                    raise _read_only(inferred)
                removed = selected_rows(removed, removed[:, GRAPH_COLUMN] != number) if number >= 0 else removed
            if not len(removed) and not len(added):
                return
            transactions.flush()
            everywhere = removed[:, GRAPH_COLUMN] == IN_DEFAULT
            gone: dict[int | None, Ids] = {None: _triples(selected_rows(removed, everywhere))} if everywhere.any() else {}
            names = added[:, GRAPH_COLUMN]
            places = None if (names == IN_DEFAULT).all() else names
            transactions.change(gone, _triples(added), places, quads=removed[~everywhere])

    def _wait(self, added: list[tuple[list[str], int]]) -> None:
        """Defer triples until a flush, unless the transaction is not the store's."""
        own = self._transactions.begin()
        if own is None:
            self._transactions.change({}, *encoded(self._graphs.reasoner, added))
            return
        own.waiting += added
        if len(own.waiting) >= BATCH:
            self._transactions.flush()

    def _remove(self, triple: RdflibPattern, graph: int | None, dropped: int = IN_DEFAULT) -> None:
        """Remove the matching explicit triples from a graph (None: from all graphs), and a named graph, in one operation."""
        self._transactions.flush()
        pattern = self._graphs.pattern(triple)
        found = NO_TRIPLES if pattern is None else self._explicit(pattern, graph)
        if len(found) or dropped != IN_DEFAULT:
            self._transactions.change({graph: found}, NO_TRIPLES, None, dropped)

    def _explicit(self, pattern: Sequence[int | None], graph: int | None) -> Ids:
        """Return the matching explicit triples of a graph, or of all; a full triple in all graphs is not looked up."""
        if graph is None and None not in pattern:
            return np.array([pattern], np.int32)  # removing what is not there does nothing
        queries = self._graphs.reasoner.core.queries
        subject, property, value = pattern
        if graph is None:
            found = queries.matcher.match(subject, property, value, "explicit")
        else:
            found = queries.quads.match(subject, property, value, queries.quads.default if graph == IN_DEFAULT else graph)
        return found if found.flags.owndata else found.copy()

    def graph_id(self, name: Node | None) -> int:
        """Return the id of a graph that is to be changed; `IN_DEFAULT` for the default graph, and if no name is given.

        Raises:
            LoadError: The term cannot name a graph.
            ReasonerError: The graph holds the inferred triples and is read-only.
        """
        if name is None or name == DATASET_DEFAULT_GRAPH_ID:
            return IN_DEFAULT
        graphs = self._graphs
        if name == graphs.inferred_graph:
            raise _read_only(name)
        number = -1 if isinstance(name, Literal) else graphs.terms.find(name)
        return number if number >= 0 else int(graphs.reasoner.dictionary.encode_texts([graph_text(name)])[0])

    # --- graphs -----------------------------------------------------------------------------------------------------

    def create_graph(self, name: Node) -> None:
        """Create a graph, which is empty until triples are added to it."""
        with self._transactions.writing():
            graph = self.graph_id(name)
            self._transactions.flush()
            if graph != IN_DEFAULT and not self._graphs.has_graph(name):
                self._transactions.begin()
                self._graphs.reasoner.named_graphs.create(np.array([graph], np.int32))

    def drop_graph(self, name: Node) -> None:
        """Remove a graph with its triples; of the default graph, the triples only."""
        with self._transactions.writing():
            exists, graph = self._graphs.has_graph(name), self.graph_id(name)
            self._remove((None, None, None), graph, graph if exists else IN_DEFAULT)

    # --- several changes --------------------------------------------------------------------------------------------

    @contextmanager
    def request(self) -> Iterator[None]:
        """Make several changes in a ``with`` block that is atomic; other threads do not see them before its end."""
        transactions = self._transactions
        with transactions.writing():
            transactions.flush()
            transactions.begin()
            engine = transactions.reasoner.engine
            place = engine.place
            try:
                yield
            except BaseException:
                own = transactions.own
                if own is not None:
                    own.waiting = []
                engine.return_to(place)
                raise


def _triples(quads: Ids) -> Ids:
    return np.ascontiguousarray(quads[:, :GRAPH_COLUMN])


def _read_only(name: Node) -> ReasonerError:
    return ReasonerError(f"the graph {name} holds the inferred triples and is read-only")
