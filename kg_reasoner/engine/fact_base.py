"""Facts in relations, with all that refers to their rows: what a change of the layout of triples replaces as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, Watch
from kg_reasoner.engine.axiom_rules import AxiomRules
from kg_reasoner.engine.maintenance import Maintenance
from kg_reasoner.engine.materialise import Materialiser
from kg_reasoner.engine.rulebook import RuleBook
from kg_reasoner.engine.schema import FEW
from kg_reasoner.planning.catalog import INTERNAL, Catalog
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import NO_TRIPLES, Changed, Ids, TripleIds
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.kernels.layout import EXPLICIT, STATED
from kg_reasoner.storage.kernels.memory import grant
from kg_reasoner.storage.literals import LITERAL_PREDICATES, LiteralFacts
from kg_reasoner.storage.relation import Database
from kg_reasoner.storage.value_table import ValueTable

if TYPE_CHECKING:
    from kg_reasoner.engine.equality.rewriting import Rewriting

__all__ = ["FactBase"]


class FactBase:
    """Facts in one of the two layouts of triples, and what refers to their rows: the plans of rules, the strategy that maintains
    what they derive, the cliques of equal terms.

    Args:
        dictionary: what the ids mean.
        axioms: are told of triples that come and go.
        visibility: says which triples queries do not find.
        make_maintenance: a strategy.
        datatypes: those whose literals have values.
        rewrites: whether equal terms are merged.
        ternary: the layout: one relation for all triples, or one for each property and class.
        watch: tells the kernels of operations without limits when to stop.
        claim: is called before a table takes so many bytes; it raises an error if that is too much.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        axioms: AxiomRules,
        visibility: Visibility,
        make_maintenance: Callable[[Materialiser], Maintenance],
        *,
        datatypes: frozenset[str],
        rewrites: bool,
        ternary: bool,
        claim: Callable[[int], None] = grant,
        watch: Watch = NOBODY,
    ) -> None:
        self._axioms = axioms
        self._visibility = visibility
        self.database = Database(claim)
        self.catalog = Catalog(dictionary, self.database, ternary=ternary)
        values = ValueTable(dictionary, self.database.context)
        self.materialiser = Materialiser(self.database, values, self.catalog.functions, watch=watch)
        self.rewriting = self._make_rewriting() if rewrites else None
        self.queries = self.make_queries()
        self.maintenance: Maintenance = make_maintenance(self.materialiser)
        self.rulebook = RuleBook(self.catalog, self.materialiser, merges_equal_terms=rewrites)
        self._literals = LiteralFacts(dictionary, datatypes)

    def _make_rewriting(self) -> Rewriting:
        from kg_reasoner.engine.equality.rewriting import Rewriting

        return Rewriting(self.catalog, self.materialiser, self.store, self.unstore)

    def make_queries(self, *, generalised: bool = False) -> Queries:
        """What answers queries over the facts as they are; for `generalised` RDF, see `kg_reasoner.query.matching.Matcher`."""
        from kg_reasoner.engine.equality.views import ExpandingQueries

        if self.rewriting is None:
            queries = Queries(self.catalog, generalised=generalised)
        else:
            queries = ExpandingQueries(self.catalog, self.rewriting.cliques, self.rewriting.asserted, generalised=generalised)
        queries.visibility = self._visibility
        return queries

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def insert(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit. Says of each whether it was not."""
        if self.rewriting is None or predicate.startswith(INTERNAL):
            return self.store(predicate, ids)
        if predicate == TRIPLE:  # others are stored than these
            self._axioms.note_change(ids)
        return self.rewriting.load(predicate, ids)

    def remove(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit no longer. Says of each whether it was."""
        if self.rewriting is None or predicate.startswith(INTERNAL):
            return self.unstore(predicate, ids)
        if predicate == TRIPLE:
            self._axioms.note_change(ids)
        return self.rewriting.retract(predicate, ids)

    def store(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Insert facts of a predicate as they are (triples only as explicit ones). Says of each whether it is new."""
        if predicate != TRIPLE:
            return self.database.load(self.catalog.predicate(predicate, ids.shape[1]), ids, flag)
        self._axioms.note_change(ids)
        return self.database.load(self.catalog.predicates[TRIPLE], ids) if self.catalog.ternary else self._store_vertically(ids)

    def _store_vertically(self, ids: Ids) -> Changed:
        """Store triples in relations of their properties and classes: relations first, then all triples at once."""
        catalog = self.catalog
        catalog.extend_maps()
        if len(ids) > FEW:
            typed = ids[:, 1] == catalog.type_id
            for column, make, part in ((1, catalog.property, ids[~typed]), (2, catalog.cls, ids[typed])):
                terms, counts = np.unique(part[:, column], return_counts=True)
                for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
                    relation = make(term)
                    if count > 64:
                        self.database.reserve(relation, count)
        else:
            for _, property, value in ids.tolist():
                if property == catalog.type_id:
                    catalog.cls(value)
                else:
                    catalog.property(property)
        return self.database.load_triples(ids)

    def unstore(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Take a flag from facts as they are. Says of each whether it had it."""
        if predicate == TRIPLE:
            self._axioms.note_change(ids)
            if not self.catalog.ternary:
                self.catalog.extend_maps()
                return self.database.retract_triples(ids)
        if predicate not in self.catalog.predicates:
            return np.zeros(len(ids), np.bool_)
        return self.database.retract(self.catalog.predicates[predicate], ids, flag)

    def are_explicit(self, predicate: str, ids: Ids) -> Changed:
        """Of each of some facts, whether it is explicit."""
        stored = self._are_stored_as_explicit(predicate, ids)
        return stored if self.rewriting is None else self.rewriting.are_explicit(predicate, ids, stored)

    def _are_stored_as_explicit(self, predicate: str, ids: Ids) -> Changed:
        if predicate == TRIPLE and not self.catalog.ternary:
            self.catalog.extend_maps()
            return self.database.triples_have_flag(ids)
        relation = self.catalog.predicates.get(predicate)
        return np.zeros(len(ids), np.bool_) if relation is None else self.database.have_flag(relation, ids)

    def feed_literals(self) -> None:
        """Facts about the literals of the dictionary that are new."""
        load = self.store if self.rewriting is None else self.rewriting.load
        for name, rows in self._literals.new().items():
            if rows:
                load(name, np.array(rows, np.int32), STATED)

    def take_over(self, former: FactBase) -> None:
        """Take the explicit facts of another one, even if an update of it was interrupted; it stays as it is."""
        facts = former.explicit_facts()
        if self.rewriting is not None and former.rewriting is not None:
            self.rewriting.succeed(former.rewriting)
        for name, rows in facts.items():
            self.insert(name, rows)

    def explicit_facts(self) -> dict[str, Ids]:
        """All explicit facts by predicate, even if an update was interrupted."""
        facts = {TRIPLE: self._stored_triples("explicit")}
        for name, relation in self.catalog.predicates.items():
            if name != TRIPLE and name not in LITERAL_PREDICATES:
                facts[name] = self.database.rows(relation, "explicit")
        return facts if self.rewriting is None else self.rewriting.recovered(facts)

    # --- reading, without bringing anything up to date ----------------------------------------------------------------

    def triples(self, which: Which = "all") -> TripleIds:
        """The triples there are, in all names of their terms."""
        if self.rewriting is not None and self.rewriting.cliques:
            return self.rewriting.in_all_names(TRIPLE, self._stored_triples, which)
        return self._stored_triples(which)

    def rows(self, predicate: str, which: Which = "all") -> Ids:
        """The facts of a general predicate, in all names of their terms."""
        relation = self.catalog.predicates[predicate]
        if self.rewriting is None or not self.rewriting.cliques or predicate.startswith(INTERNAL):
            return self.database.rows(relation, which)
        return self.rewriting.in_all_names(predicate, lambda which: self.database.rows(relation, which), which)

    def _stored_triples(self, which: Which) -> TripleIds:
        catalog, database = self.catalog, self.database
        if catalog.ternary:
            return database.rows(catalog.predicates[TRIPLE], which)
        parts = [NO_TRIPLES]
        for term, relation in catalog.properties.items():
            rows = database.rows(relation, which)
            parts.append(np.stack([rows[:, 0], np.full(len(rows), term, np.int32), rows[:, 1]], axis=1))
        for term, relation in catalog.classes.items():
            rows = database.rows(relation, which)
            kind = np.full(len(rows), catalog.type_id, np.int32)
            parts.append(np.stack([rows[:, 0], kind, np.full(len(rows), term, np.int32)], axis=1))
        return np.concatenate(parts)
