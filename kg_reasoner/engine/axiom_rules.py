"""Axioms in the data as rules: translated when schema triples change, or when derived ones yield further rules.

For programs that read axioms as data, such as ``owl2rl-full``, axioms that their rules cannot express are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kg_reasoner.engine.schema import SchemaTriples
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.program import Program, Rule
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.owl import AxiomWarning


class AxiomRules:
    """Translates the schema triples of a catalog, if the program requests that (``@translate``), or checks them if it reads
    them.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.is_wanted = False
        self._is_read = False
        self.has_changed = False
        """Whether explicit schema triples were added or removed since the last translation."""
        self.rules: tuple[Rule, ...] = ()
        self.warnings: tuple[AxiomWarning, ...] = ()
        self._dictionary = dictionary
        self._schema = SchemaTriples(dictionary)
        self._vocabulary: frozenset[Term] = frozenset()
        self._stated: tuple[tuple[Rule, ...], tuple[AxiomWarning, ...]] = (), ()
        self._concludes_axioms = False
        self._equates = False

    @property
    def are_stated(self) -> bool:
        """Whether all rules come from explicit axioms; it is up to date after `translate`."""
        return not self.is_wanted or self.rules == self._stated[0]

    def want(self, program: Program) -> None:
        """Set the program, which determines whether axioms are translated or read as data."""
        wanted = program.translate is not None
        read = not wanted and any((rule.origin.name or "").startswith("cls-") for rule in program.rules)
        self.has_changed = self.has_changed or (wanted, read) != (self.is_wanted, self._is_read)
        self.is_wanted, self._is_read = wanted, read

    def note_change(self, triples: Ids) -> None:
        """Note that explicit triples, shape (n, 3), were added or removed."""
        followed = self.is_wanted or self._is_read
        self.has_changed = self.has_changed or (followed and self._schema.touched_by(triples))

    def note_rules(self, rules: Sequence[Rule]) -> None:
        """Set the rules, including translated ones. What they conclude matters only where axioms are translated."""
        self._concludes_axioms = False
        if self.is_wanted:
            from kg_reasoner.loaders.ontology import owl

            self._concludes_axioms = owl.concludes_axioms(rules)

    def note_removal(self) -> None:
        """Restart from the explicit axioms, since facts were removed and an inferred axiom must not support itself."""
        self.has_changed = self.has_changed or self._concludes_axioms or self._equates

    def translate(self, catalog: RelationCatalog) -> bool:
        """Translate the explicit schema triples to rules, if they have changed. Return whether the rules have changed."""
        if not self.has_changed:
            return False
        self.has_changed = False
        if self.is_wanted:
            return self._translate(catalog, "explicit", "explicit")
        before, self.rules = self.rules, ()
        self.warnings = self._judged(catalog) if self._is_read else ()
        return bool(before)

    def extend(self, catalog: RelationCatalog, equal_are_one: bool) -> bool:
        """Translate derived schema triples: equal classes, and axioms that the rules of the program conclude. Return whether the
        rules have changed.

        With `equal_are_one`, equal terms are merged and yield no rules.
        """
        if not self.is_wanted:
            return False
        if equal_are_one:
            return self._concludes_axioms and self._translate(catalog, "all", "explicit")
        equalities = catalog.layout.relations(self._schema.same_as)
        if not (self._equates or self._concludes_axioms or any(map(catalog.database.size, equalities))):
            return False
        in_data = self._schema.names_in_data(catalog)
        if in_data:
            self._schema.name(self._vocabulary.union(map(self._dictionary.decode, in_data)))
        equates, self._equates = self._equates, len(self._schema.equalities(catalog, "inferred")) > 0
        if not (self._concludes_axioms or equates or self._equates):
            return False
        return self._translate(catalog, "all" if self._concludes_axioms else "explicit", "all")

    def _judged(self, catalog: RelationCatalog) -> tuple[AxiomWarning, ...]:
        """Return reports of axioms that rules reading them as data cannot express."""
        from kg_reasoner.loaders.ontology import owl

        triples = self._dictionary.decode_rows(self._schema.triples(catalog, "explicit", "explicit"))
        return owl.judge((s, p, o) for s, p, o in triples)

    def _translate(self, catalog: RelationCatalog, which: Which, equalities: Which) -> bool:
        from kg_reasoner.loaders.ontology import owl

        while True:
            triples = self._dictionary.decode_rows(self._schema.triples(catalog, which, equalities))
            names = set(map(self._dictionary.decode, self._schema.names_in_data(catalog)))
            translation = owl.translate(((s, p, o) for s, p, o in triples), names=names, stated=which == "explicit")
            self._vocabulary = translation.vocabulary
            if not (self._schema.name(self._vocabulary | names) and len(self._schema.equalities(catalog, equalities))):
                break
        if which == "explicit":
            self._stated = translation.rules, translation.warnings
        stated_rules, stated_warnings = self._stated  # what is derived adds to what was stated, and takes nothing away
        self.warnings = tuple(dict.fromkeys(stated_warnings + translation.warnings))
        rules = tuple(dict.fromkeys(stated_rules + translation.rules))
        changed = rules != self.rules
        self.rules = rules
        return changed
