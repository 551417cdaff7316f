"""The axioms in the data, as rules: translated when schema triples change, and when derived ones make further rules.

Where a program reads axioms as data, as ``owl2rl-full`` does, they are looked at for what its rules cannot say of them."""

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
    """Follows the schema triples of a catalog, if the program asks for their translation (``@translate``) or reads them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.is_wanted = False
        self._is_read = False
        self.has_changed = False
        """Whether explicit schema triples have come or gone since the last translation."""
        self.rules: tuple[Rule, ...] = ()
        self.warnings: tuple[AxiomWarning, ...] = ()
        self._dictionary = dictionary
        self._schema = SchemaTriples(dictionary)
        self._vocabulary: frozenset[Term] = frozenset()
        self._stated: tuple[tuple[Rule, ...], tuple[AxiomWarning, ...]] = (), ()
        self._concludes_axioms = False
        self._equates = False

    def want(self, program: Program) -> None:
        """Say which program there is: whether it asks for the translation, or reads axioms as data."""
        wanted = program.translate is not None
        read = not wanted and any((rule.origin.name or "").startswith("cls-") for rule in program.rules)
        self.has_changed = self.has_changed or (wanted, read) != (self.is_wanted, self._is_read)
        self.is_wanted, self._is_read = wanted, read

    def note_change(self, triples: Ids) -> None:
        """Explicit triples, shape (n, 3), have come or gone."""
        followed = self.is_wanted or self._is_read
        self.has_changed = self.has_changed or (followed and self._schema.touched_by(triples))

    def note_rules(self, rules: Sequence[Rule]) -> None:
        """These are all rules, the translated ones among them."""
        from kg_reasoner.loaders.ontology import owl

        self._concludes_axioms = owl.concludes_axioms(rules)

    def note_removal(self) -> None:
        """Facts have lost their support: begin with the explicit axioms, as an inferred one must not be its own reason."""
        self.has_changed = self.has_changed or self._concludes_axioms or self._equates

    def translate(self, catalog: RelationCatalog) -> bool:
        """Turn the explicit schema triples into rules, if they have changed. Says whether the rules have."""
        if not self.has_changed:
            return False
        self.has_changed = False
        if self.is_wanted:
            return self._translate(catalog, "explicit", "explicit")
        before, self.rules = self.rules, ()
        self.warnings = self._judged(catalog) if self._is_read else ()
        return bool(before)

    def extend(self, catalog: RelationCatalog, equal_are_one: bool) -> bool:
        """Look at what has been derived: do equal classes, or axioms that the program's own rules conclude, make further rules?

        With `equal_are_one`, equal terms have been merged, and make none.
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
        """What rules that read the axioms cannot say of them."""
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
