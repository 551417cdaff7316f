"""Expanding graphs: inferred triples are computed once and added to any rdflib graph as ordinary triples.

An expanded graph has no reasoner afterwards, so its inferred triples do not follow later changes; `attach` is for those.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from rdflib import Dataset, Graph
from rdflib.graph import ConjunctiveGraph

from kg_reasoner.api.operations.notices import depth_of_caller
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.inconsistency import Reaction
from kg_reasoner.errors import InconsistencyError, ReasonerError, ReasonerWarning
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibTerms, RdflibTriple
from kg_reasoner.rdflib_store.graphs.versions import default_graph
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import among

__all__ = ["Expansion"]


class Expansion:
    """The triples inferred by rule sets from an rdflib graph, or from all graphs of a dataset together.

    Args:
        graph: The graph, which is only read.
        rulesets: The names of rule sets or the paths of ``.dl`` files, used together.
        show_hidden: Whether triples that hold for every term are included; see `kg_reasoner.query.visibility`.
        on_inconsistency: ``report``: inconsistent data cause a `ReasonerWarning`; ``raise``: an error.

    Raises:
        UnknownNameError: A rule set, or the reaction to inconsistency, is unknown.
        LoadError: A term is not an RDF term, or stands where RDF does not allow it.
        InconsistencyError: The data contradict the rules, and `on_inconsistency` is ``raise``.
        ReasonerError: The argument is not an rdflib graph.
    """

    def __init__(
        self, graph: Graph, rulesets: Sequence[str], *, show_hidden: bool = False, on_inconsistency: Reaction = "report"
    ) -> None:
        if not isinstance(graph, Graph):
            raise ReasonerError(f"only a Graph or a Dataset of rdflib can be expanded, not {graph!r}")
        self._graph = graph
        self._rulesets = tuple(rulesets)
        self.reasoner = Reasoner(ruleset=self._rulesets[0], show_hidden=show_hidden, on_inconsistency=on_inconsistency)
        for further in self._rulesets[1:]:
            self.reasoner.add_program(Reasoner(ruleset=further).program)
        self.reasoner.load(graph, imports="ignore")
        self._given: Ids | None = None
        """The triples of the graph, if others have been loaded since."""

    def load(self, axioms: Graph | str | bytes, base: str | None = None) -> None:
        """Add axioms and rules, which the graph does not get.

        Args:
            axioms: A graph, or a document in Turtle or N3.
            base: The IRI against which relative IRIs in the document are resolved.

        Raises:
            LoadError, UnsupportedError, SafetyError, InconsistencyError: See `kg_reasoner.api.reasoner.Reasoner.load`.
        """
        if self._given is None:
            self._given = self.reasoner.triple_ids("explicit")
        if isinstance(axioms, Graph):
            self.reasoner.load(axioms, imports="ignore")
            return
        document = axioms.encode() if isinstance(axioms, str) else axioms
        if document.strip():
            self.reasoner.load(document, format="n3", base=base, imports="ignore")

    def triples(self) -> Iterator[RdflibTriple]:
        """Yield the inferred and loaded triples that the graph does not have."""
        new = self.reasoner.triple_ids("inferred")
        if self._given is not None:
            explicit = self.reasoner.triple_ids("explicit")
            new = np.concatenate([explicit[~among(explicit, self._given)], new])
        if self.reasoner.on_inconsistency == "report":
            self._warn_of_inconsistency()
        everything = _all_of(self._graph)
        for row in RdflibTerms(self.reasoner.dictionary).rows(new):
            triple = cast(RdflibTriple, row)
            if triple not in everything:
                yield triple

    def write(self, target: Graph) -> None:
        """Add the triples to a graph, or to the default graph of a dataset. All are computed before the first is added."""
        graph = default_graph(target) if isinstance(target, ConjunctiveGraph) else target
        triples = list(self.triples())
        if triples:
            graph.addN((*triple, graph) for triple in triples)

    def _warn_of_inconsistency(self) -> None:
        violations = self.reasoner.inconsistencies()
        if violations:
            prefixes = {prefix: str(namespace) for prefix, namespace in self._graph.namespaces()}
            warnings.warn(ReasonerWarning(str(InconsistencyError(violations, prefixes))), stacklevel=depth_of_caller())


def _all_of(graph: Graph) -> Graph:
    """Return a graph with the triples of all graphs of a dataset; other graphs as they are."""
    return Dataset(store=graph.store, default_union=True) if isinstance(graph, Dataset) and not graph.default_union else graph
