"""Named graphs: which graphs state an explicit triple.

The engine reasons over triples. Stating a triple in a second graph adds no fact, and removing it from one of them takes none away;
it is explicit as long as some graph states it. For how that is stored, see `kg_reasoner.query.quads`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.engine.facts.row_encoding import as_term, encode_triples, expect_ids, find_term, find_triples
from kg_reasoner.errors import LoadError
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.quads import DEFAULT_GRAPH, GRAPH_COLUMN, GRAPHS, QUADS, Quads
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import among
from kg_reasoner.terms import AnyTerm, AnyTriple, BlankNode, Literal, Term, Triple, term_text

__all__ = ["NamedGraphs", "quads_of"]


class NamedGraphs:
    """The graphs of a reasoner's explicit triples. Graphs are named by IRIs or blank nodes; None is the default graph.

    Changes are part of the reasoner's open transaction. What is added to the reasoner itself is in the default graph, and what is
    removed from it is removed from all graphs.

    >>> from kg_reasoner.api.reasoner import Reasoner
    >>> from kg_reasoner.terms import IRI
    >>> a, p, b, first, second = (IRI(f"http://example.org/{name}") for name in ("a", "p", "b", "first", "second"))
    >>> graphs = Reasoner("").named_graphs
    >>> graphs.add_triples([(a, p, b)], first)
    >>> graphs.add_triples([(a, p, b)], second)
    >>> graphs.remove_triples([(a, p, b)], first)
    >>> [(str(name), len(list(graphs.triples(name)))) for name in graphs.names()]
    [('<http://example.org/first>', 0), ('<http://example.org/second>', 1)]
    """

    def __init__(self, core: ReasonerCore) -> None:
        self._core = core
        self.default = core.dictionary.encode(DEFAULT_GRAPH)
        """The id of the default graph."""

    @property
    def quads(self) -> Quads:
        """The quads of the explicit triples."""
        return self._core.queries.quads

    # --- terms ------------------------------------------------------------------------------------------------------

    def names(self) -> list[Term]:
        """Return the named graphs, empty ones included.

        Returns:
            Their names, in the order of their creation.
        """
        with self._core.reading("explicit"):
            names = self.quads.names().tolist()
        return [self._core.dictionary.decode(number) for number in names]

    def triples(self, graph: AnyTerm | None = None) -> Iterator[Triple]:
        """Yield the explicit triples of a graph.

        Args:
            graph: The name of the graph; None: the default graph.

        Returns:
            An iterator of triples.

        Raises:
            LoadError: The term cannot name a graph.
        """
        number = self.default if graph is None else find_term(self._core.dictionary, graph)
        with self._core.reading("explicit"):
            found = np.array(self.quads.match(None, None, None, number))
        for row in self._core.dictionary.decode_rows(found):
            yield row[0], row[1], row[2]

    def add_triples(self, triples: Iterable[AnyTriple] | Ids, graph: AnyTerm | None = None) -> None:
        """State triples in a graph.

        Args:
            triples: Triples of terms.
            graph: The name of the graph; None: the default graph.

        Raises:
            LoadError: A term is invalid, or stands where RDF does not allow it; nothing is added then.
        """
        ids = encode_triples(self._core.dictionary, triples)
        self.add(quads_of(ids, self.default if graph is None else self.encode(graph)))

    def remove_triples(self, triples: Iterable[AnyTriple] | Ids, graph: AnyTerm | None = None) -> None:
        """Remove triples from a graph; ignore those that it does not state.

        Args:
            triples: Triples of terms.
            graph: The name of the graph; None: the default graph.

        Raises:
            LoadError: A term is invalid; nothing is removed then.
        """
        number = self.default if graph is None else find_term(self._core.dictionary, graph)
        if number >= 0:
            self.remove(quads_of(find_triples(self._core.dictionary, triples), number))

    def encode(self, graph: AnyTerm) -> int:
        """Return the id of a graph's name.

        Raises:
            LoadError: The term cannot name a graph.
        """
        graph = as_term(graph)
        if isinstance(graph, Literal) or (isinstance(graph, BlankNode) and not graph.label):
            raise LoadError(f"{term_text(graph)} cannot name a graph, only an IRI or a blank node can")
        return self._core.dictionary.encode(graph)

    # --- ids --------------------------------------------------------------------------------------------------------

    def add(self, quads: Ids) -> None:
        """State triples, given as quads of shape (n, 4).

        Raises:
            LoadError: That is no array of ids, or one is that of no term.
        """
        _expect_quads(quads)
        expect_ids(self._core.dictionary, quads)
        if len(quads):
            with self._core.atomic():
                self.state(quads)

    def remove(self, quads: Ids) -> None:
        """Remove triples from their graphs, given as quads of shape (n, 4).

        Raises:
            LoadError: That is no array of ids.
        """
        _expect_quads(quads)
        if len(quads):
            with self._core.atomic():
                self.withdraw(quads)

    def create(self, graphs: Ids) -> None:
        """Create named graphs, given as ids, which are empty where they state nothing.

        Raises:
            LoadError: That is no array of ids, or one is that of no term.
        """
        if not (isinstance(graphs, np.ndarray) and graphs.dtype.kind == "i"):
            raise LoadError(f"{graphs!r} is not an array of ids of graphs", hint="encode() returns the id of a name")
        expect_ids(self._core.dictionary, graphs)
        with self._core.atomic():
            self._create(graphs)

    def drop(self, graph: int) -> None:
        """Remove a named graph, given as its id, with all triples that it states.

        Raises:
            LoadError: That is no id.
        """
        if not isinstance(graph, int | np.integer):
            raise LoadError(f"{graph!r} is not the id of a graph", hint="encode() returns the id of a name")
        with self._core.atomic():
            self.withdraw(quads_of(self.quads.match(None, None, None, graph), graph))
            self.undeclare(graph)

    # --- within an operation ----------------------------------------------------------------------------------------

    def placed(self, triples: Ids, graphs: Ids) -> Ids:
        """Return triples in graphs as quads, from shapes (n, 3) and (n,); -1 stands for the default graph."""
        return np.column_stack([triples, np.where(graphs < 0, self.default, graphs)])

    def state(self, quads: Ids) -> None:
        """Do what `add` does, within an operation."""
        named = quads[:, GRAPH_COLUMN] != self.default
        if not named.all():
            self._core.assert_triples(np.ascontiguousarray(quads[~named, :GRAPH_COLUMN]))
        self._add_named(quads if named.all() else quads[named])

    def _add_named(self, quads: Ids) -> None:
        if len(quads) == 0:
            return
        triples = np.ascontiguousarray(quads[:, :GRAPH_COLUMN])
        new = self._core.engine.load(TRIPLE, triples)
        if not new.all():  # triples of the default graph only get other quads, and stay there
            there = triples[~new]
            there = there[~among(there, triples[new])]
            self._state_in_default(there[~self.quads.have_quads(there)])
        self._core.engine.load(QUADS, quads)
        self._create(np.unique(quads[:, GRAPH_COLUMN]))

    def _state_in_default(self, triples: Ids) -> None:
        if len(triples):
            self._core.engine.load(QUADS, quads_of(triples, self.default))

    def withdraw(self, quads: Ids) -> None:
        """Do what `remove` does, within an operation."""
        if len(quads) == 0:
            return
        triples = quads[:, :GRAPH_COLUMN]
        bare = (quads[:, GRAPH_COLUMN] == self.default) & ~self.quads.have_quads(triples)
        gone = self._core.engine.retract(QUADS, quads)
        left = triples[gone]
        left = left[~self.quads.have_quads(left)]
        self._core.engine.retract(TRIPLE, np.concatenate([triples[bare], left]))

    def undeclare(self, graph: int) -> None:
        """Delete a named graph that states nothing, within an operation."""
        self._core.engine.retract(GRAPHS, np.array([[graph]], np.int32))

    def _create(self, graphs: Ids) -> None:
        self._core.engine.load(GRAPHS, graphs.reshape(-1, 1))

    def stating(self, triples: Ids) -> Ids:
        """Return the quads that state some explicit triples."""
        numbers, graphs = self.quads.memberships(triples)
        bare = np.delete(triples, numbers, axis=0)
        return np.concatenate([np.column_stack([triples.take(numbers, axis=0), graphs]), quads_of(bare, self.default)])

    # --- what the reasoner says -------------------------------------------------------------------------------------

    def added(self, triples: Ids) -> None:
        """Record triples that the reasoner's user has added, in the default graph."""
        self._state_in_default(triples[self.quads.have_quads(triples)])

    def removed(self, triples: Ids) -> None:
        """Record that triples have been removed from all graphs."""
        numbers, graphs = self.quads.memberships(triples)
        if len(numbers):
            self._core.engine.retract(QUADS, np.column_stack([triples.take(numbers, axis=0), graphs]))


def _expect_quads(given: object) -> None:
    if not (isinstance(given, np.ndarray) and given.dtype.kind == "i" and given.shape[1:] == (4,)):
        raise LoadError(f"{given!r} is not an array of ids of quads", hint="add_triples and remove_triples take triples of terms")


def quads_of(triples: Ids, graph: int) -> Ids:
    """Return triples as quads of one graph."""
    return np.column_stack([triples, np.full(len(triples), graph, np.int32)])
