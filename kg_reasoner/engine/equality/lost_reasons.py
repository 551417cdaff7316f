"""Find the cliques that may have lost a reason, by tracing the consequences of removed facts and rules in the materialisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.engine.equality.rewritten_rules import constants
from kg_reasoner.engine.equality.stored import StoredFacts
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.program import Rule
from kg_reasoner.storage.arrays import Ids, Rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

Facts = Sequence[tuple[str, Rows]]
"""Stored facts by predicate."""


class Tracer:
    """Traces consequences in a database before anything is deleted from it."""

    def __init__(self, catalog: RelationCatalog, materialiser: Materialiser, cliques: Cliques, stored: StoredFacts) -> None:
        self._catalog = catalog
        self._database = catalog.database
        self._materialiser = materialiser
        self._cliques = cliques
        self._stored = stored

    def suspects(self, weakened: Facts, gone: Sequence[PlannedRule], about: Callable[[Ids], Facts]) -> set[int]:
        """Return the representatives of the cliques that may have lost a reason.

        Facts about such a clique are candidates for deletion, too, because their normal forms may depend on it.

        Args:
            weakened: The normal forms of retracted facts.
            gone: The plans of removed rules.
            about: Returns the normal forms of the asserted facts with some terms.
        """
        self._database.make_lists()
        suspects: set[int] = set()
        while weakened or gone:
            for predicate, facts in weakened:
                self._add_candidates(predicate, facts)
            for planned in gone:
                self._materialiser.call(native.add_heads_of_rule, self._materialiser.whole_plan(planned))
            self._trace()
            found = self._candidate_cliques() - suspects
            suspects |= found
            weakened, gone = [], []
            if found:
                weakened = about(np.array([term for clique in found for term in self._cliques.members(clique)], np.int32))
                gone = [planned for planned in self._materialiser.active_rules() if found & self._constants(planned.rule.rule)]
        native.clear_candidates(self._database.address)
        return suspects

    def _trace(self) -> None:
        """Add the facts that were derived from candidates to the candidates."""
        for stratum in self._materialiser.make_strata():
            self._materialiser.enter(stratum)
            self._database.context.candidates_done = 0
            self._materialiser.call(native.trace_candidates)

    def _add_candidates(self, predicate: str, facts: Rows) -> None:
        for relation, rows in self._catalog.found(predicate, facts):
            data = allocate(max(1, rows.size), np.int32)
            data[: rows.size] = rows.reshape(-1)
            native.add_candidates(self._database.address, relation, address(data), len(rows))

    def _candidate_cliques(self) -> set[int]:
        """Return the representatives whose equality with other terms is among the candidates for deletion."""
        pairs = self._stored.equal_in(self._database.listed("candidates"))
        return set(pairs[:, 0].tolist()).intersection(self._cliques.representatives())

    def _constants(self, rule: Rule) -> set[int]:
        return {self._catalog.dictionary.find(term) for term in constants(rule)}
