"""Which cliques may have lost a reason: what removed facts and rules helped to derive, traced through the materialisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.engine.equality.rules import constants
from kg_reasoner.engine.equality.stored import StoredFacts
from kg_reasoner.engine.materialise import Materialiser, PlannedRule
from kg_reasoner.planning.catalog import Catalog
from kg_reasoner.program import Rule
from kg_reasoner.storage.arrays import Ids, Rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory import address, allocate

Facts = Sequence[tuple[str, Rows]]
"""Stored facts by predicate."""


class Tracer:
    """Looks at a database before anything has been deleted from it."""

    def __init__(self, catalog: Catalog, materialiser: Materialiser, cliques: Cliques, stored: StoredFacts) -> None:
        self._catalog = catalog
        self._database = catalog.database
        self._materialiser = materialiser
        self._cliques = cliques
        self._stored = stored

    def suspects(self, weakened: Facts, gone: Sequence[PlannedRule], about: Callable[[Ids], Facts]) -> set[int]:
        """The representatives of the cliques that may have lost a reason, by facts that stand for less now or rules that are gone.

        A fact about a clique in question is in question itself: it may stand for one that was the same by that clique only.

        Args:
            weakened: the facts that stand for less.
            gone: the plans of the rules.
            about: finds the images of the asserted facts that mention some terms.
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
        """Add what was derived from candidates to the candidates."""
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
