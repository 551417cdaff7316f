"""Axioms in the data as rules: translated when schema triples change, or when derived ones yield further rules.

For programs that read axioms as data, such as ``owl2rl-full``, axioms that their rules cannot express are reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from kg_reasoner.engine.axioms.axiom_triples import SchemaTriples
from kg_reasoner.engine.axioms.followed_triples import FollowedTriples
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.program import Program, Rule
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDFS, Term, Triple

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.owl import AxiomWarning, LiveTranslation, RuleChanges

_Translated: TypeAlias = "tuple[tuple[Rule, ...], tuple[AxiomWarning, ...]]"
"""Rules and warnings."""

MOST_FOLLOWED: Final = 64
"""The maximum number of changed schema triples to follow one by one. With more, all are translated again."""


class AxiomRules:
    """Translates the schema triples of a catalog, if the program requests that (``@translate``), or checks them if it reads
    them.

    Attributes:
        is_wanted: Whether axioms are translated.
        warnings: What rules do not express, the same tuple until that changes.
        are_stated: Whether all rules come from explicit axioms; it is up to date after `translate`.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self.is_wanted = False
        self.warnings: tuple[AxiomWarning, ...] = ()
        self.are_stated = True
        self._is_read = False
        self._is_el = False
        self._rules: Mapping[Rule, Rule] = {}
        self._dictionary = dictionary
        self._schema = SchemaTriples(dictionary)
        self._vocabulary: frozenset[Term] = frozenset()
        self._stated: _Translated = (), ()
        self._concluding: Counter[tuple[Term, Term | None]] = Counter()
        """The numbers of rules that conclude axioms, by property, and for rdf:type by class."""
        self._equates = False
        self._is_outdated = False
        """Whether everything has to be translated again."""
        self._changed: dict[tuple[int, ...], None] = {}
        """The schema triples that may have been added or removed since the last translation; few, or else it is outdated."""
        self._is_certain = True
        """Whether `rules` are those of the last translation, and not in between two."""
        self._extended_with: tuple[bytes, tuple[int, ...]] | None = None
        """The schema triples and names in data of the last translation, if it was one of derived axioms, too."""
        self._equalities = b""
        """The explicit equalities of names that were there at the last translation."""
        self._has_new_names = False
        """Whether names have come into use in data that have not been looked at."""
        self._live: LiveTranslation | None = None
        """The translation that the rules come from, if it can follow changes. It is absent while it changes."""
        self._followed = FollowedTriples(dictionary)
        """The schema triples that it has translated."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules into which the axioms are translated."""
        return tuple(self._rules.values())

    @property
    def has_changed(self) -> bool:
        """Whether explicit schema triples may have been added or removed since the last translation."""
        return self._is_outdated or bool(self._changed)

    def forget(self) -> None:
        """Let everything be translated again."""
        self._is_outdated, self._live = True, None

    def want(self, program: Program) -> None:
        """Set the program, which determines whether axioms are translated or read as data."""
        wanted = program.translate is not None
        is_el = any(rule.origin.name == "el-subclass" for rule in program.rules)
        read = not wanted and (is_el or any((rule.origin.name or "").startswith("cls-") for rule in program.rules))
        if (wanted, read, is_el) != (self.is_wanted, self._is_read, self._is_el):
            self.forget()
        self.is_wanted, self._is_read, self._is_el = wanted, read, is_el

    def note_change(self, triples: Ids) -> None:
        """Note that explicit triples, shape (n, 3), were added or removed."""
        if self._is_outdated or not (self.is_wanted or self._is_read):
            return
        changed = self._schema.touching(triples)
        if not len(changed):
            return
        if len(changed) + len(self._changed) > MOST_FOLLOWED:
            self.forget()
        else:
            self._changed.update(dict.fromkeys(map(tuple, changed.tolist())))

    def note_rules(self, rules: Iterable[Rule], change: int | None = None) -> None:
        """Set the rules, including translated ones, or the rules that were added (1) or removed (-1). What they conclude matters
        only where axioms are translated.
        """
        counts = Counter[tuple[Term, Term | None]]() if change is None else self._concluding.copy()
        if self.is_wanted:
            from kg_reasoner.loaders.ontology import owl

            found = (axioms for rule in rules if (axioms := owl.concluded_axioms(rule)) is not None)
            for axioms in found:
                counts[axioms] += 1 if change is None else change
        self._concluding = +counts

    def note_removal(self) -> None:
        """Restart from the explicit axioms if facts were removed: an inferred axiom must not support itself."""
        if self._equates or (self._concluding and not self.are_stated):
            self.forget()

    def translate(self, catalog: RelationCatalog, *, follows: bool = True) -> bool | RuleChanges:
        """Translate the explicit schema triples to rules, if they have changed. Return whether the rules have changed, and how, if
        that is known.

        Args:
            catalog: The relations of triples.
            follows: Whether explicit triples are stored as they are, so that single changes can be followed.
        """
        if not self.has_changed:
            return False
        changes = self._follow(catalog) if follows else None
        if changes is None:
            self.forget()  # an interrupted translation is repeated
            found = self._translate_all(catalog)
            self._is_outdated, self._changed = False, {}
            return found
        self._changed = {}
        return changes if changes.gone or changes.new else False

    def _translate_all(self, catalog: RelationCatalog) -> bool:
        """Translate or judge all explicit schema triples. Return whether the rules have changed."""
        if self.is_wanted:
            return self._translated(catalog, "explicit", "explicit")
        return self._use(catalog, {}, self._judged(catalog) if self._is_read else (), are_stated=True)

    def _follow(self, catalog: RelationCatalog) -> RuleChanges | None:
        """Follow the changes of single triples, if that is possible."""
        live = self._live
        if self._is_outdated or live is None or self._equates:
            return None
        some_are_equal = len(catalog.layout.triples_of(self._schema.same_as)) > 0
        if some_are_equal:
            self._has_new_names |= self._schema.name_all(catalog, self._known_vocabulary)
            if len(self._schema.equalities(catalog)):
                return None
        changed = list(self._changed)
        are_stated = catalog.layout.are_explicit(np.array(changed, np.int32)).tolist()
        were_stated = [ids in self._followed for ids in changed]
        new = [ids for ids, was, now in zip(changed, were_stated, are_stated, strict=True) if now and not was]
        gone = [ids for ids, was, now in zip(changed, were_stated, are_stated, strict=True) if was and not now]
        self._live, self._is_certain = None, False
        (gone_alone, new_alone), (before, after) = self._followed.change(gone, new)
        linked = self._decoded(before), self._decoded(after)
        changes = live.change(self._decoded(gone_alone), self._decoded(new_alone), linked)
        if changes is None:
            return None
        for name in {name for ids in (*gone, *new) for name in ids if not self._dictionary.is_blank(name)}:
            is_name = live.is_name(self._dictionary.decode(name)) or catalog.layout.has_name(name)
            self._schema.rename(name, is_name)
        if some_are_equal and len(self._schema.equalities(catalog)):
            return None
        self.warnings = self._beyond_both(catalog, live.warnings)
        self._live, self._is_certain = live, True
        return changes

    def _decoded(self, triples: Sequence[tuple[int, ...]]) -> list[Triple]:
        rows = self._dictionary.decode_rows(np.array(triples, np.int32).reshape(-1, 3)) if triples else ()
        return [(subject, property, value) for subject, property, value in rows]

    def extend(self, catalog: RelationCatalog, equal_are_one: bool) -> bool:
        """Translate derived schema triples: equal classes, and axioms that the rules of the program conclude. Return whether the
        rules have changed.

        With `equal_are_one`, equal terms are merged and yield no rules.
        """
        if not self.is_wanted:
            return False
        concludes = bool(self._concluding)
        if equal_are_one:
            return concludes and self._translated(catalog, "all", "explicit")
        equalities = catalog.layout.relations(self._schema.same_as)
        if not (self._equates or concludes or (equalities and any(map(catalog.database.size, equalities)))):
            return False
        self._has_new_names |= self._schema.name_all(catalog, self._known_vocabulary)
        equates, self._equates = self._equates, len(self._schema.equalities(catalog, "inferred")) > 0
        if not (concludes or equates or self._equates or self._has_overlooked(catalog)):
            return False
        return self._translated(catalog, "all" if concludes else "explicit", "all")

    def _translated(self, catalog: RelationCatalog, which: Which, equalities: Which) -> bool:
        changed = self._translate(catalog, which, equalities)
        self._equalities, self._has_new_names = self._schema.equalities(catalog, "explicit").tobytes(), False
        return changed

    def _has_overlooked(self, catalog: RelationCatalog) -> bool:
        """Look at new names: return whether explicit equalities have not been translated because these were in use nowhere."""
        if self._has_new_names:
            self._has_new_names = self._schema.equalities(catalog, "explicit").tobytes() != self._equalities
        return self._has_new_names

    def _beyond_both(self, catalog: RelationCatalog, warnings: tuple[AxiomWarning, ...]) -> tuple[AxiomWarning, ...]:
        """Of the axioms that translated rules do not express, return those that the rules of OWL 2 EL do not express either."""
        if not (self._is_el and self.is_wanted and warnings):
            return warnings
        beyond = {warning.axiom for warning in self.beyond_el(catalog)}
        return tuple(warning for warning in warnings if warning.axiom in beyond)

    def beyond_el(self, catalog: RelationCatalog) -> tuple[AxiomWarning, ...]:
        """Return the reports of the explicit axioms that the rules of OWL 2 EL do not express."""
        from kg_reasoner.engine.axioms.beyond_el import candidates
        from kg_reasoner.loaders.ontology import owl

        return owl.beyond_el(candidates(catalog, self._dictionary))

    def _judged(self, catalog: RelationCatalog) -> tuple[AxiomWarning, ...]:
        """Return reports of axioms that rules reading them as data cannot express."""
        from kg_reasoner.loaders.ontology import owl

        if self._is_el:
            return self.beyond_el(catalog)
        triples = self._dictionary.decode_rows(self._schema.triples(catalog, "explicit", "explicit"))
        return owl.judge((s, p, o) for s, p, o in triples)

    def _translate(self, catalog: RelationCatalog, which: Which, equalities: Which) -> bool:
        from kg_reasoner.loaders.ontology import owl

        extends = which == "all" or equalities == "all"
        if not extends and not len(self._schema.equalities(catalog)):
            self._live = None
            live, ids = self._translate_explicit(catalog)
            if not len(self._schema.equalities(catalog)):
                changed = self._use(catalog, live.rules, live.warnings, are_stated=True)
                self._followed.use(ids)
                self._live = live
                return changed
        ids, in_data = self._input(catalog, which, equalities)
        if extends and self._is_certain and self._extended_with == (ids.tobytes(), in_data):
            return False
        earlier, self._live = self._live, None
        if extends and earlier is not None:
            self._stated = tuple(earlier.rules.values()), earlier.warnings
            if not len(self._schema.equalities(catalog, equalities)):
                inferred = self._informative(catalog, earlier)
                if not inferred:
                    self._live = earlier
                    return False
                if (found := self._extended(earlier, catalog, inferred)) is not None:
                    changed = self._use_derived(catalog, *found)
                    self._extended_with = ids.tobytes(), in_data
                    return changed
        while True:
            names = set(map(self._dictionary.decode, in_data))
            triples = ((s, p, o) for s, p, o in self._dictionary.decode_rows(ids))
            translation = owl.translate(triples, names=names, stated=which == "explicit")
            self._vocabulary = translation.vocabulary
            if not (self._schema.name(self._vocabulary | names) and len(self._schema.equalities(catalog, equalities))):
                break
            ids, in_data = self._input(catalog, which, equalities)
        if which == "explicit":
            self._stated = translation.rules, translation.warnings
        changed = self._use_derived(catalog, translation.rules, translation.warnings)
        self._extended_with = (ids.tobytes(), in_data) if extends else None
        return changed

    def _input(self, catalog: RelationCatalog, which: Which, equalities: Which) -> tuple[Ids, tuple[int, ...]]:
        """Return the schema triples to translate, and the classes and properties in data that could be equal to others."""
        ids = self._schema.triples(catalog, "explicit", equalities)
        if which == "all":
            ids = np.concatenate([ids, self._schema.inferred(catalog, self._concluding)])
        return ids, tuple(self._schema.names_in_data(catalog))

    def _informative(self, catalog: RelationCatalog, live: LiveTranslation) -> list[Triple]:
        """Return the inferred axioms, but for those of scm-cls that say nothing about a class."""
        found = self._decoded(self._schema.inferred(catalog, self._concluding).tolist())
        return [
            axiom for axiom in found if axiom[1] != RDFS.subClassOf or live.asks_for_thing or not _is_trivial(axiom[0], axiom[2])
        ]

    def _extended(self, live: LiveTranslation, catalog: RelationCatalog, inferred: list[Triple]) -> _Translated | None:
        """Follow derived axioms, if that is possible and no equality is stated. Return all rules and warnings."""
        self._rules = dict(self._rules)  # the translation changes its own
        if live.change((), inferred) is None:
            return None
        self._vocabulary = vocabulary = live.vocabulary
        self._schema.name(vocabulary)
        self._has_new_names |= self._schema.name_all(catalog, lambda: vocabulary)
        return None if len(self._schema.equalities(catalog)) else (tuple(live.rules.values()), live.warnings)

    def _use_derived(self, catalog: RelationCatalog, rules: tuple[Rule, ...], warnings: tuple[AxiomWarning, ...]) -> bool:
        """Set the result of a translation with derived axioms, which adds to that of the stated ones, and removes nothing."""
        stated_rules, stated_warnings = self._stated
        found = {rule: rule for rule in reversed(stated_rules + rules)}
        every = tuple(dict.fromkeys(stated_warnings + warnings))
        return self._use(catalog, dict(reversed(found.items())), every, are_stated=len(found) == len(stated_rules))

    def _translate_explicit(self, catalog: RelationCatalog) -> tuple[LiveTranslation, Ids]:
        """Return the translation of the explicit schema triples without equalities, and these triples."""
        from kg_reasoner.loaders.ontology import owl

        ids = self._schema.triples(catalog, "explicit", "explicit")
        rows: Iterator[Any] = self._dictionary.decode_rows(ids, in_order=True)
        live = owl.follow(rows, in_order=True)
        vocabulary = live.vocabulary
        self._schema.name(vocabulary)
        self._has_new_names |= self._schema.name_all(catalog, lambda: vocabulary)
        return live, ids

    def _known_vocabulary(self) -> frozenset[IRI] | frozenset[Term]:
        return self._vocabulary if self._live is None else self._live.vocabulary

    def _use(
        self, catalog: RelationCatalog, rules: Mapping[Rule, Rule], warnings: tuple[AxiomWarning, ...], *, are_stated: bool
    ) -> bool:
        """Set the result of a translation. Return whether the rules have changed."""
        warnings = self._beyond_both(catalog, warnings)
        changed = not self._is_certain or rules.keys() != self._rules.keys()
        self._extended_with = None
        self._rules, self.warnings, self.are_stated, self._is_certain = rules, warnings, are_stated, True
        return changed


def _is_trivial(lower: Term, upper: Term) -> bool:
    """Return whether one class is below another whatever they mean."""
    return lower == OWL.Nothing or upper == OWL.Thing or lower == upper
