"""Facts and everything that refers to their rows, which a change of the layout of triples replaces as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from kg_reasoner.concurrency.limits import Watch
from kg_reasoner.engine.axioms.axiom_rules import AxiomRules
from kg_reasoner.engine.equality.treatment import Equality
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.recorder import Recorder
from kg_reasoner.engine.facts.fact_base import FactBase
from kg_reasoner.engine.facts.told_facts import ToldFacts
from kg_reasoner.engine.maintenance import ChangedFacts, Maintenance, Work, strategy
from kg_reasoner.engine.state.engine_settings import EngineSettings
from kg_reasoner.engine.state.rulebook import RuleBook
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES, AskedOfLiterals
from kg_reasoner.language.checks import analysis
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.planning.layouts.triple_layout import TripleLayout
from kg_reasoner.program import TRIPLE, Declaration, Program, Rule, is_hidden
from kg_reasoner.query.delta import Change, Changes, Delta
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import Changed, Ids, TripleIds, selected_rows
from kg_reasoner.storage.kernels.layout import STATED
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.literals import LiteralFacts
from kg_reasoner.storage.values.value_table import ValueTable

__all__ = ["KnowledgeBase"]


class KnowledgeBase:
    """Facts, the treatment of equal terms among them, the plans of rules, and the strategy that maintains their consequences.

    Args:
        dictionary: The dictionary of the ids.
        axioms: Notified of added and removed triples.
        visibility: Decides which triples are hidden from queries.
        settings: How consequences are derived and maintained.
        layout: The layout of triples.
        claim: See `FactBase`.
        watch: Stops the kernels of operations without limits.
        recorder: Records what updates do, for profiles.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        axioms: AxiomRules,
        visibility: Visibility,
        settings: EngineSettings,
        *,
        layout: type[TripleLayout],
        claim: Callable[[int], None],
        watch: Watch,
        recorder: Recorder,
    ) -> None:
        self._visibility = visibility
        self._facts = FactBase(dictionary, axioms, layout=layout, claim=claim)
        self.database, self.catalog = self._facts.database, self._facts.catalog
        self.database.threads = settings.threads
        values = ValueTable(dictionary, self.database.context)
        self.materialiser = Materialiser(
            self.database, values, self.catalog.functions, watch=watch, recorder=recorder, threads=settings.threads
        )
        self.equality = _merging(self._facts, self.materialiser) if settings.rewrites else Equality(self._facts)
        self.insert, self.remove = self.equality.load, self.equality.retract
        """Make facts of a predicate explicit, or no longer explicit. They return whether each has changed."""
        self.queries = self.make_queries()
        self.maintenance: Maintenance = strategy(settings.maintenance)(self.materialiser)
        self.rulebook = RuleBook(self.catalog, self.materialiser, merges_equal_terms=settings.rewrites)
        self.checked: dict[int, tuple[int, int]] = {}
        """For each relation with typed columns, at its last check: the number of rows, all of which were checked, and how often its
        rows had got other numbers."""
        self.demands: Any = None
        """Reusable plans of queries that were answered without materialisation, see `kg_reasoner.engine.magic_sets.on_demand`."""
        self._literals = LiteralFacts(dictionary, settings.datatypes)
        self.told_facts = ToldFacts(self.catalog, self.database)
        self._known_arities: tuple[Program, int, dict[str, int]] | None = None

    def make_queries(self, *, generalised: bool = False) -> Queries:
        """Return queries over the current facts. For `generalised` RDF, see `kg_reasoner.query.matching.TripleMatcher`."""
        queries = self.equality.make_queries(generalised=generalised)
        queries.visibility = self._visibility
        return queries

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def are_explicit(self, predicate: str, ids: Ids) -> Changed:
        """Return whether each of some facts is explicit."""
        return self.equality.are_explicit(predicate, ids, self._facts.are_explicit(predicate, ids))

    def feed_literals(self, asked: Collection[AskedOfLiterals]) -> None:
        """Insert the facts that rules ask for about the new literals of the dictionary."""
        for name, rows in self._literals.new(asked).items():
            if len(rows):
                self.insert(name, rows, STATED)

    def take_over(self, former: KnowledgeBase) -> None:
        """Insert the explicit facts of another knowledge base, which may be in an interrupted update and does not change."""
        facts = former.explicit_facts()
        self.equality.succeed(former.equality)
        for name, rows in facts.items():
            self.insert(name, rows)

    def explicit_facts(self) -> dict[str, Ids]:
        """Return all explicit facts by predicate, even if an update was interrupted."""
        facts = {TRIPLE: self._facts.triples("explicit")}
        for name, relation in self.catalog.predicates.items():
            if name not in LITERAL_PREDICATES:
                facts[name] = self.database.rows(relation, "explicit")
        return self.equality.recovered(facts)

    # --- predicates -------------------------------------------------------------------------------------------------

    def arities(self, program: Program) -> Mapping[str, int]:
        """Return the arities of all predicates that facts, or the rules or declarations of a program use."""
        known = self._known_arities
        if known is None or known[0] is not program:
            known = program, 0, analysis.arities(program)
        count = len(self.catalog.predicates)
        if known[1] != count:  # the last ones are new
            stored = {name: self.database.relations[number].arity for name, number in self._general_predicates(known[1])}
            known = program, count, known[2] | stored
        self._known_arities = known
        return known[2]

    def used_predicates(self, rules: tuple[Rule, ...], declarations: tuple[Declaration, ...]) -> dict[str, int]:
        """Return the general predicates that have facts, or that a rule or declaration uses, with their arities.

        Auxiliary predicates are omitted, and those that are private to a module.
        """
        unused, relations = set(self.unused_predicates(rules, declarations)), self.database.relations
        hidden = unused | {name for name, _ in self._general_predicates() if is_hidden(name)}
        return {name: relations[number].arity for name, number in self._general_predicates() if name not in hidden}

    def unused_predicates(self, rules: tuple[Rule, ...], declarations: tuple[Declaration, ...]) -> list[str]:
        """Return the other general predicates."""
        empty = [name for name, number in self._general_predicates() if not self.database.size(number)]
        used = analysis.arities(Program(rules, declarations)) if empty else {}
        return [name for name in empty if name not in used]

    def _general_predicates(self, first: int = 0) -> Iterator[tuple[str, int]]:
        """Return the predicates for users, from one in the order in which they were added, with the numbers of their relations."""
        for name, number in islice(self.catalog.predicates.items(), first, None):
            if not name.startswith(INTERNAL):
                yield name, number

    def release(self, predicate: str) -> None:
        """Discard an unused predicate."""
        self.catalog.release(predicate)
        self.equality.release(predicate)
        self._known_arities = None

    # --- changes ----------------------------------------------------------------------------------------------------

    def delta(self, work: Work) -> Delta:
        """Return the changes of a maintenance run, by predicate."""
        nothing = Changes(self.catalog.dictionary)
        return Delta(*(self._changes(tables) if tables else nothing for tables in (work.added, work.removed, work.restated)))

    def materialised_facts(self) -> Changes:
        """Return all facts before the pending changes, by predicate."""
        relations = range(len(self.database.relations))
        return self._changes(ChangedFacts(relation, *self.database.materialised_facts(relation)) for relation in relations)

    def _changes(self, tables: Iterable[ChangedFacts]) -> Changes:
        facts = self.catalog.as_facts(tables)
        return Changes(self.catalog.dictionary, {name: Change(*changed) for name, changed in facts.items()})

    # --- reading, without bringing anything up to date ----------------------------------------------------------------

    def triples(self, which: Which = "all") -> TripleIds:
        """Return the triples, in all names of their terms."""
        return self.equality.in_all_names(TRIPLE, self._facts.triples, which)

    def triples_of(self, property: int, which: Which = "all") -> TripleIds:
        """Return the triples of one property, in all names of their terms."""
        if not self.equality.merges:
            return self.catalog.layout.triples_of(property, which=which)
        rows = self.triples(which)
        return selected_rows(rows, rows[:, 1] == property)

    def rows(self, predicate: str, which: Which = "all") -> Ids:
        """Return the facts of a general predicate, in all names of their terms."""
        relation = self.catalog.predicates[predicate]
        return self.equality.in_all_names(predicate, lambda which: self.database.rows(relation, which), which)

    def matching(self, predicate: str, arguments: Mapping[int, int], which: Which = "all") -> Ids:
        """Return the facts of a general predicate with some arguments, given by place; found by an index, built if necessary."""
        relation = self.catalog.predicates[predicate]
        if not arguments or self.equality.merges:
            rows = self.rows(predicate, which)
            places = list(arguments)
            wanted = np.array([arguments[place] for place in places], np.int32)
            return selected_rows(rows, (rows[:, places] == wanted).all(axis=1))
        return self.database.rows_with(relation, arguments, which)


def _merging(facts: FactBase, materialiser: Materialiser) -> Equality:
    """Return the treatment of equality that merges equal terms, imported on demand."""
    from kg_reasoner.engine.equality.rewriting import Rewriting

    return Rewriting(facts, materialiser)
