"""The changes of a SPARQL Update request: made in ids, and recorded if the added quads are requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg_reasoner.rdflib_store.graphs.transactions import IN_DEFAULT
from kg_reasoner.rdflib_store.graphs.writer import StoreWriter
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from rdflib.term import Node

    from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibQuad
    from kg_reasoner.rdflib_store.graphs.separate_graphs import Graphs

__all__ = ["UpdateChanges"]


class UpdateChanges:
    """Makes the changes of one request.

    Args:
        graphs: The graphs to change.
        writer: Changes them.
        records: Whether to record what is added.
    """

    def __init__(self, graphs: Graphs, writer: StoreWriter, *, records: bool) -> None:
        self.graphs, self.writer = graphs, writer
        self.dictionary = graphs.reasoner.dictionary
        self.default = graphs.reasoner.named_graphs.default
        """The id of the default graph, whose name is in the dictionary from now on."""
        self._records = records
        self._added: list[Ids] = []

    def make(self, removed: Ids, added: Ids) -> None:
        """Remove quads, then add quads, see `StoreWriter.change_quads`."""
        self.writer.change_quads(removed, added)
        if self._records and len(added):
            self._added.append(added)

    def added(self, default: Node | None) -> list[RdflibQuad]:
        """Return the recorded quads.

        Args:
            default: The name of the graph of those that name none.
        """
        terms = self.graphs.terms
        quads: list[RdflibQuad] = []
        for block in self._added:
            names = {number: default if number == IN_DEFAULT else terms.nodes([number])[0] for number in set(block[:, 3].tolist())}
            rows = zip(terms.rows(block[:, :3]), block[:, 3].tolist(), strict=True)
            quads += [(row[0], row[1], row[2], names[graph]) for row, graph in rows]
        return quads
