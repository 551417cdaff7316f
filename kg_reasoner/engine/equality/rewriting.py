"""Merging what is found to be the same, and splitting cliques that have lost their reasons.

The engine always holds the materialisation of the *images* of the explicit facts, under the images of the rules: each term replaced
by the representative of its clique. Whenever rules derive that two representatives are the same, their cliques are merged, and
facts and rules get new images, as an update like any other.

What a removed fact or rule helped to derive is traced through the materialisation. Cliques that the trace meets may have lost a
reason: they are split, but for what is asserted, and merged again as far as rules find them to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.engine.collector import Collector
from kg_reasoner.engine.equality import rules as equality_rules
from kg_reasoner.engine.equality.asserted import PREFIX, Asserted
from kg_reasoner.engine.equality.changes import Assertions, expanded
from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.engine.equality.contradictions import contradictions
from kg_reasoner.engine.equality.names import Renaming
from kg_reasoner.engine.equality.stored import StoredFacts, flag_of
from kg_reasoner.engine.equality.tracing import Tracer
from kg_reasoner.engine.equality.treatment import Equality, Transfer
from kg_reasoner.engine.equality.views import ExpandingQueries
from kg_reasoner.engine.fact_base import FactBase
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.engine.maintenance.collect import contains
from kg_reasoner.engine.materialise import Materialiser, PlannedRule
from kg_reasoner.language import analysis
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import TRIPLE, Atom, Program, Rule
from kg_reasoner.query.delta import Delta
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.storage.arrays import Changed, Ids, Rows
from kg_reasoner.storage.kernels.layout import EXPLICIT
from kg_reasoner.storage.literals import LITERAL_PREDICATES
from kg_reasoner.terms import OWL

if TYPE_CHECKING:
    from kg_reasoner.explain.derivations import Derivations

NO_TERMS: Ids = np.empty(0, np.int32)


class Rewriting(Equality):
    """Keeps a database of images, for a reasoner.

    Args:
        facts: the images.
        materialiser: has the rules.
    """

    merges = True

    def __init__(self, facts: FactBase, materialiser: Materialiser) -> None:
        super().__init__(facts)
        catalog = facts.catalog
        self.cliques = Cliques(catalog.dictionary)
        self.asserted = Asserted(catalog)
        self._catalog = catalog
        self._load, self._retract = facts.store, facts.unstore
        self._same_as = catalog.dictionary.encode(OWL.sameAs)
        self._stored = StoredFacts(catalog, self.cliques)
        self._tracer = Tracer(catalog, materialiser, self.cliques, self._stored)
        self._weakened: list[tuple[str, Rows]] = []
        self._changed = False
        self._moving: dict[str, Rows] = {}
        self._images: dict[Rule, Rule] = {}
        self._negates = False
        self._named: frozenset[int] = frozenset()
        self.names_changed = False
        self.assertions = Assertions()
        """What has become explicit, or ceased to be, since changes were last taken; somebody has to note it."""
        self._former: Cliques | None = None
        self._moved: list[Ids] = [NO_TERMS]
        self._steps: list[Delta] = []

    # --- facts ------------------------------------------------------------------------------------------------------

    @property
    def load(self) -> Transfer:
        """See `Equality.load`."""
        return self._load_images

    @property
    def retract(self) -> Transfer:
        """See `Equality.retract`."""
        return self._retract_images

    def _load_images(self, predicate: str, facts: Rows, flag: int = EXPLICIT) -> Changed:
        if predicate.startswith(INTERNAL):
            return self._load(predicate, facts, flag)
        self._touch(predicate, facts)
        merged = self._are_about_merged(predicate, facts)
        if not merged.any():
            return self._load(predicate, facts, flag)
        changed = merged.copy()
        changed[~merged] = self._load(predicate, facts[~merged], flag)
        pairs = self._pairs(predicate, facts[merged])
        changed[merged] = self.asserted.add(predicate, pairs)
        self._load(predicate, _images(pairs), flag)
        return changed

    def _retract_images(self, predicate: str, facts: Rows, flag: int = EXPLICIT) -> Changed:
        if predicate.startswith(INTERNAL):
            return self._retract(predicate, facts, flag)
        self._touch(predicate, facts)
        merged = self._are_about_merged(predicate, facts)
        if not merged.any():
            changed = self._retract(predicate, facts, flag)
        else:
            changed = merged.copy()
            changed[~merged] = self._retract(predicate, facts[~merged], flag)
            pairs = self._pairs(predicate, facts[merged])
            images = _images(pairs)
            others = _images(self.asserted.others(predicate, images, pairs))
            self._retract(predicate, images[~contains(others, images)], flag)  # first: one without a fact would pass for a fact
            changed[merged] = self.asserted.remove(predicate, pairs)
        if self.cliques and changed.any():
            self._weakened.append((predicate, self._image(predicate, facts[changed])))
        return changed

    def _touch(self, predicate: str, facts: Rows) -> None:
        """Facts come or go; what is stored are others than these."""
        self._changed = True
        if predicate == TRIPLE:
            self._facts.axioms.note_change(facts)

    def foretell(self, predicate: str, facts: Rows, added: bool) -> Changed | None:
        """See `Equality.foretell`: what is stored are other facts than these."""
        if predicate.startswith(INTERNAL):
            return None
        return self.are_explicit(predicate, facts, self._facts.are_explicit(predicate, facts)) != added

    def note(self, predicate: str, facts: Rows, changed: Changed, added: bool) -> None:
        """See `Equality.note`."""
        if not predicate.startswith(INTERNAL):
            self.assertions.note(predicate, facts[changed], added)

    def release(self, predicate: str) -> None:
        """See `Equality.release`."""
        self.asserted.release(predicate)

    def are_explicit(self, predicate: str, facts: Rows, stored: Changed) -> Changed:
        """See `Equality.are_explicit`."""
        merged = self._are_about_merged(predicate, facts)
        if merged.any():
            stored = stored & ~merged
            stored[merged] = self.asserted.contain(predicate, self._pairs(predicate, facts[merged]))
        return stored

    def explicit_facts(self, predicate: str, stored: Rows) -> Rows:
        """All explicit facts of a predicate, given those that are stored."""
        if not self.cliques:
            return stored
        kept = self.asserted.matching(predicate, [None] * stored.shape[1])
        return np.concatenate([stored[~self._are_about_merged(predicate, stored)], kept])

    def in_all_names(self, predicate: str, stored: Callable[[Which], Rows], which: Which) -> Rows:
        """See `Equality.in_all_names`."""
        if not self.cliques or predicate.startswith(INTERNAL):
            return stored(which)
        if which == "explicit":
            return self.explicit_facts(predicate, stored("explicit"))
        everything = self.cliques.expand(stored("all"))
        if which == "all":
            return everything
        return everything[~contains(self.explicit_facts(predicate, stored("explicit")), everything)]

    def recovered(self, stored: dict[str, Rows]) -> dict[str, Rows]:
        """See `Equality.recovered`."""
        return {
            predicate: rows if predicate.startswith(INTERNAL) else self._recovered(predicate, rows)
            for predicate, rows in stored.items()
            if not predicate.startswith(PREFIX)
        }

    def _recovered(self, predicate: str, stored: Rows) -> Rows:
        kept = self.asserted.matching(predicate, [None] * stored.shape[1])
        plain = stored[~self.asserted.are_images(predicate, stored)]
        moving = self._moving.get(predicate)
        if moving is None:
            return np.concatenate([plain, kept])
        return np.concatenate([plain[~contains(_images(moving), plain)], kept, _facts(moving)])

    def image(self, predicate: str, fact: Sequence[int]) -> Rows:
        """A fact with representatives for its terms, shape (1, arity)."""
        return self._image(predicate, np.array([fact], np.int32))

    def asserted_as(self, predicate: str, image: Sequence[int]) -> Rows:
        """The facts that were asserted of merged terms and have an image, shape (n, arity)."""
        return self.asserted.with_image(predicate, image)

    def _pairs(self, predicate: str, facts: Rows) -> Rows:
        return np.concatenate([self._image(predicate, facts), facts], axis=1)

    def _image(self, predicate: str, facts: Rows) -> Rows:
        """Facts with representatives for the terms that can be merged; of facts about literals, that is the literal."""
        if predicate not in LITERAL_PREDICATES:
            return self.cliques.of(facts)
        image = facts.copy()
        image[:, 0] = self.cliques.of(facts[:, 0])
        return image

    def _are_about_merged(self, predicate: str, facts: Rows) -> Changed:
        columns = facts[:, :1] if predicate in LITERAL_PREDICATES else facts
        return np.asarray(self.cliques.are_merged(columns).any(axis=1))

    # --- questions --------------------------------------------------------------------------------------------------

    def make_queries(self, *, generalised: bool) -> Queries:
        """See `Equality.make_queries`."""
        return ExpandingQueries(self._catalog, self.cliques, self.asserted, generalised=generalised)

    def contradictions(self) -> Iterator[Violation]:
        """See `Equality.contradictions`."""
        return contradictions(self.cliques, self._catalog.dictionary)

    def renaming(self) -> Renaming:
        """See `Equality.renaming`."""
        return Renaming(self.image, self.asserted_as, self._catalog.dictionary)

    def support(self, derivations: Derivations, term: int) -> list[Atom] | None:
        """See `Equality.support`; None, too, if the facts, or the terms, are too many."""
        from kg_reasoner.engine.equality.reasons import support

        return support(derivations, self.cliques, self.asserted_as, term)

    # --- rules ------------------------------------------------------------------------------------------------------

    def check(self, rules: Iterable[Rule]) -> None:
        """See `Equality.check`."""
        rules = list(rules)
        equality_rules.check(rules)
        if equality_rules.negates(rules):
            analysis.check(Program((*rules, *equality_rules.axioms())))

    def images(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """See `Equality.images`: with representatives for the terms they name, and without the axioms of equality."""
        rules = [equality_rules.unguarded(rule) for rule in rules if rule.origin.name not in equality_rules.AXIOMS]
        encode, decode = self._catalog.dictionary.encode, self._catalog.dictionary.decode
        terms = {term: encode(term) for rule in rules for term in equality_rules.constants(rule)}
        self._named = frozenset(terms.values())
        of = self.cliques.of_term
        names = {term: decode(of(number)) for term, number in terms.items() if of(number) != number}
        self._images = {rule: equality_rules.renamed(rule, names) if names else rule for rule in rules}
        self._negates = equality_rules.negates(rules)
        self.names_changed = False
        return tuple(dict.fromkeys(self._images.values()))

    def gone(self, rules: Iterable[Rule]) -> list[Rule]:
        """See `Equality.gone`. Names aside: rules that differ in equal terms are the same."""
        if not self.cliques:
            return []
        before, now = set(self._images.values()), set(self.images(rules))
        return list(before - now)

    # --- cliques ----------------------------------------------------------------------------------------------------

    def revise(self, gone: Sequence[PlannedRule], gone_facts: Sequence[Rule]) -> bool:
        """See `Equality.revise`."""
        suspects = self._suspects(gone, gone_facts) if self.cliques else set()
        self._weakened, self._changed = [], False
        for representative in suspects:
            pairs = self._asserted_equalities(representative)
            self._remember()
            self._move(self.cliques.split(representative, pairs), NO_TERMS)
        return self._merge(self._stored.new_equalities(EXPLICIT)) or bool(suspects)

    def merge(self) -> bool:
        """See `Equality.merge`."""
        found = self._stored.new_equalities(0)
        self._stored.note_looked_at()
        return self._merge(found)

    def finish(self, collector: Collector | None) -> None:
        """See `Equality.finish`."""
        if collector is not None:
            collector.take(self._take_changes())
        self._stored.note_looked_at()
        self._former, self._moved = None, [NO_TERMS]

    def _merge(self, pairs: Rows) -> bool:
        if len(pairs) == 0:
            return False
        self._remember()
        self._move(*self.cliques.merge(pairs))
        return True

    def _suspects(self, gone: Sequence[PlannedRule], gone_facts: Sequence[Rule]) -> set[int]:
        """The representatives of the cliques that may have lost a reason."""
        changed = self._changed or bool(gone) or bool(gone_facts)
        if changed and self._negates:  # what comes may take reasons away, too
            return set(self.cliques.representatives())
        encode = self._catalog.dictionary.encode
        stated = [
            (rule.head.predicate, np.array([[encode(term) for term in rule.head.terms]], np.int32))  # type: ignore[arg-type]
            for rule in gone_facts
            if not rule.is_constraint
        ]
        weakened = [*self._weakened, *stated]
        return self._tracer.suspects(weakened, gone, self._images_about)

    def _asserted_equalities(self, representative: int) -> Rows:
        """The pairs of terms of a clique that are asserted to be the same."""
        members = np.array(self.cliques.members(representative), np.int32)
        facts = self.asserted.matching(TRIPLE, (None, self._same_as, None))[:, [0, 2]]
        return facts[np.isin(facts, members).all(axis=1)]

    # --- images -----------------------------------------------------------------------------------------------------

    def _asserted_about(self, terms: Ids) -> list[tuple[str, Rows]]:
        """The kept facts that mention some terms, in pairs with their images, by predicate."""
        if len(terms) == 0:
            return []
        found = ((predicate, self.asserted.about(predicate, terms)) for predicate in self.asserted.predicates())
        return [(predicate, pairs) for predicate, pairs in found if len(pairs)]

    def _images_about(self, terms: Ids) -> list[tuple[str, Rows]]:
        """The images of the kept facts that mention some terms, by predicate."""
        return [(predicate, _images(pairs)) for predicate, pairs in self._asserted_about(terms)]

    def _move(self, terms: Ids, were_alone: Ids) -> None:
        """Give the facts about terms that have changed their clique, and about those that were alone, their new images."""
        self._moved.append(terms)
        self._moved.append(were_alone)
        if self._named.intersection(terms.tolist()):
            self.names_changed = True
        kept = dict(self._asserted_about(np.union1d(terms, were_alone)))
        plain = self._stored.about(were_alone, explicit=True)
        predicates = dict.fromkeys([*kept, *plain])
        self._moving = {name: self._pairs_to_move(name, kept.get(name), plain.get(name)) for name in predicates}
        for predicate, pairs in self._moving.items():
            self._move_facts(predicate, pairs)
        self._moving = {}

    def _pairs_to_move(self, predicate: str, kept: Rows | None, plain: Rows | None) -> Rows:
        """Facts of a predicate in pairs with their images: those that were kept so, and those that were not.

        Among the latter are images of the former, which mention a representative that was alone.
        """
        parts = [] if kept is None else [kept]
        if plain is not None:
            plain = plain[~self.asserted.are_images(predicate, plain)]
            parts.append(np.concatenate([plain, plain], axis=1))
        return np.concatenate(parts)

    def _move_facts(self, predicate: str, old: Rows) -> None:
        """Give facts of a predicate, in pairs with the old images, their new ones."""
        self.asserted.remove(predicate, old)
        new = self._pairs(predicate, _facts(old))
        self.asserted.add(predicate, new[self._are_about_merged(predicate, _facts(new))])
        before, after = _images(old), _images(new)
        gone = before[~contains(after, before) & ~self.asserted.are_images(predicate, before)]
        self._retract(predicate, gone, flag_of(predicate))
        self._load(predicate, after[~contains(before, after)], flag_of(predicate))

    # --- changes in all names ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """See `Equality.begin`."""
        self.assertions, self._steps = Assertions(), []

    def note_step(self, delta: Delta, collector: Collector) -> None:
        """See `Equality.note_step`; in all names, it is collected by `finish`."""
        self._steps.append(delta)

    def _take_changes(self) -> Delta:
        """What has changed in all names since the last time, by the steps and assertions that were noted since."""
        moved = np.unique(np.concatenate(self._moved))
        former = self.cliques if self._former is None else self._former
        delta = expanded(
            self._catalog.dictionary,
            self._steps,
            former,
            self.cliques,
            moved,
            lambda terms: self._stored.about(terms, explicit=False),
            self.assertions,
        )
        self.begin()
        return delta

    def succeed(self, former: Equality) -> None:
        """See `Equality.succeed`."""
        assert isinstance(former, Rewriting)
        self.assertions, self._steps = former.assertions, former._steps
        self._former = former.cliques if former._former is None else former._former
        self._moved = [*former._moved, former.cliques.merged_terms()]

    def _remember(self) -> None:
        """Keep the cliques as they are before the first change of an update."""
        if self._former is None:
            self._former = self.cliques.copy()


def _facts(pairs: Rows) -> Rows:
    """The facts in pairs."""
    return pairs[:, pairs.shape[1] // 2 :]


def _images(pairs: Rows) -> Rows:
    """The images in pairs, each once."""
    return np.unique(pairs[:, : pairs.shape[1] // 2], axis=0)
