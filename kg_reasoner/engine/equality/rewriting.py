"""Equality by rewriting: cliques of equal terms are merged, and split again when equalities no longer hold.

The engine materialises the *normal forms* of explicit facts under the rewritten rules. In both, each term is replaced by the
representative of its clique. Whenever rules derive that two representatives are equal, their cliques are merged, and an ordinary
update replaces the normal forms and rules concerned.

Deletion traces the consequences of removed facts and rules through the materialisation. A clique that the trace reaches may have
lost a reason. It is split, except for asserted equalities, and merged again as far as rules derive its equalities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kg_reasoner.engine.equality import rewritten_rules as equality_rules
from kg_reasoner.engine.equality.asserted import PREFIX, Asserted
from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.engine.equality.contradictions import contradictions
from kg_reasoner.engine.equality.expanded_changes import Assertions, expanded
from kg_reasoner.engine.equality.lost_reasons import Tracer
from kg_reasoner.engine.equality.names import Renaming
from kg_reasoner.engine.equality.stored import StoredFacts, flag_of
from kg_reasoner.engine.equality.treatment import Equality, Transfer
from kg_reasoner.engine.equality.views import ExpandingQueries
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
from kg_reasoner.engine.facts.collector import Collector
from kg_reasoner.engine.facts.fact_base import FactBase
from kg_reasoner.engine.inconsistency import Violation
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES
from kg_reasoner.language.checks import analysis
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import TRIPLE, Atom, Program, Rule
from kg_reasoner.query.delta import Delta
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.storage.arrays import Changed, Ids, Rows, contains, selected_rows, unique_rows
from kg_reasoner.storage.kernels.layout import EXPLICIT
from kg_reasoner.terms import OWL, Term

if TYPE_CHECKING:
    from kg_reasoner.explain.derivations import Derivations

NO_TERMS: Ids = np.empty(0, np.int32)


class Rewriting(Equality):
    """Equality by rewriting: the database contains the normal forms of facts.

    Args:
        facts: The normal forms.
        materialiser: The materialiser of the rules.
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
        self._rewritten_rules: dict[Rule, Rule] = {}
        self._rules_before: dict[Rule, Rule] = {}
        self._negates = False
        self._named: frozenset[int] = frozenset()
        self.names_changed = False
        self.assertions = Assertions()
        """The facts that were asserted or retracted since changes were last taken; see `note`."""
        self._former: Cliques | None = None
        self._moved: list[Ids] = [NO_TERMS]
        self._steps: list[Delta] = []

    # --- facts ------------------------------------------------------------------------------------------------------

    @property
    def load(self) -> Transfer:
        """See `Equality.load`."""
        return self._load_rewritten

    @property
    def retract(self) -> Transfer:
        """See `Equality.retract`."""
        return self._retract_rewritten

    def _load_rewritten(self, predicate: str, facts: Rows, flag: int = EXPLICIT) -> Changed:
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
        self._load(predicate, _normal_forms(pairs), flag)
        return changed

    def _retract_rewritten(self, predicate: str, facts: Rows, flag: int = EXPLICIT) -> Changed:
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
            normal_forms = _normal_forms(pairs)
            others = _normal_forms(self.asserted.others(predicate, normal_forms, pairs))
            # first, as a normal form without asserted facts would look like an explicit fact
            self._retract(predicate, normal_forms[~contains(others, normal_forms)], flag)
            changed[merged] = self.asserted.remove(predicate, pairs)
        if self.cliques and changed.any():
            self._weakened.append((predicate, self._normalised(predicate, facts[changed])))
        return changed

    def _touch(self, predicate: str, facts: Rows) -> None:
        """Note that facts are asserted or retracted, whose stored normal forms differ."""
        self._changed = True
        if predicate == TRIPLE:
            self._facts.axioms.note_change(facts)

    def changed_explicit(self, predicate: str, facts: Rows, added: bool) -> Changed | None:
        """See `Equality.changed_explicit`; the stored normal forms do not tell."""
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
        """Return all explicit facts of a predicate, given the stored ones."""
        if not self.cliques:
            return stored
        asserted = self.asserted.matching(predicate, [None] * stored.shape[1])
        return np.concatenate([stored[~self._are_about_merged(predicate, stored)], asserted])

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
        asserted = self.asserted.matching(predicate, [None] * stored.shape[1])
        plain = stored[~self.asserted.are_normal_forms(predicate, stored)]
        moving = self._moving.get(predicate)
        if moving is None:
            return np.concatenate([plain, asserted])
        return np.concatenate([plain[~contains(_normal_forms(moving), plain)], asserted, _facts(moving)])

    def normal_form(self, predicate: str, fact: Sequence[int]) -> Rows:
        """Return the normal form of a fact, shape (1, arity)."""
        return self._normalised(predicate, np.array([fact], np.int32))

    def asserted_as(self, predicate: str, normal_form: Sequence[int]) -> Rows:
        """Return the asserted facts about merged terms with a normal form, shape (n, arity)."""
        return self.asserted.with_normal_form(predicate, normal_form)

    def _pairs(self, predicate: str, facts: Rows) -> Rows:
        return np.concatenate([self._normalised(predicate, facts), facts], axis=1)

    def _normalised(self, predicate: str, facts: Rows) -> Rows:
        """Return the normal forms of facts. In facts about literals, only the literals can be merged."""
        if predicate not in LITERAL_PREDICATES:
            return self.cliques.of(facts)
        normal_form = facts.copy()
        normal_form[:, 0] = self.cliques.of(facts[:, 0])
        return normal_form

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
        return Renaming(self.normal_form, self.asserted_as, self._written, self._catalog.dictionary)

    def _written(self, rewritten: Rule) -> Rule:
        """Return a rule before it was rewritten."""
        return self._rules_before.get(rewritten, rewritten)

    def support(self, derivations: Derivations, term: int) -> list[Atom] | None:
        """See `Equality.support`; also None if there are too many facts or terms."""
        from kg_reasoner.engine.equality.reasons import support

        return support(derivations, self.cliques, self.asserted_as, term)

    # --- rules ------------------------------------------------------------------------------------------------------

    def check(self, rules: Iterable[Rule]) -> None:
        """See `Equality.check`."""
        rules = list(rules)
        equality_rules.check(rules)
        if equality_rules.negates(rules):
            analysis.check(Program((*rules, *equality_rules.axioms())))
            equality_rules.check_negations(rules)

    def rewritten_rules(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """See `Equality.rewritten_rules`: constants are replaced by representatives, and the axioms of equality omitted."""
        rules = [equality_rules.unguarded(rule) for rule in rules if rule.origin.name not in equality_rules.AXIOMS]
        equality_rules.check_negations(rules)
        encode = self._catalog.dictionary.encode
        terms = {term: encode(term) for rule in rules for term in equality_rules.constants(rule)}
        self._named = frozenset(terms.values())
        names = self._representatives(terms)
        self._rewritten_rules = {rule: equality_rules.renamed(rule, names) if names else rule for rule in rules}
        self._rules_before = {new: old for old, new in self._rewritten_rules.items() if new is not old}
        self._negates = equality_rules.negates(rules)
        self.names_changed = False
        return tuple(dict.fromkeys(self._rewritten_rules.values()))

    def rewritten_query(self, query: Rule) -> Rule:
        """See `Equality.rewritten_query`."""
        rule, encode = equality_rules.unguarded(query), self._catalog.dictionary.encode
        names = self._representatives({term: encode(term) for term in equality_rules.constants(rule)})
        return equality_rules.renamed(rule, names) if names else rule

    def _representatives(self, terms: Mapping[Term, int]) -> dict[Term, Term]:
        """Return the representatives of the terms, given with their ids, that have another one than themselves."""
        of, decode = self.cliques.of_term, self._catalog.dictionary.decode
        return {term: decode(of(number)) for term, number in terms.items() if of(number) != number}

    def gone(self, rules: Iterable[Rule]) -> list[Rule]:
        """See `Equality.gone`; rules are the same if they differ in equal terms only."""
        if not self.cliques:
            return []
        before, now = set(self._rewritten_rules.values()), set(self.rewritten_rules(rules))
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
        """Return the representatives of the cliques that may have lost a reason."""
        changed = self._changed or bool(gone) or bool(gone_facts)
        if changed and self._negates:  # additions may invalidate reasons, too
            return set(self.cliques.representatives())
        encode = self._catalog.dictionary.encode
        stated = [
            (rule.head.predicate, np.array([[encode(term) for term in rule.head.terms]], np.int32))  # type: ignore[arg-type]
            for rule in gone_facts
            if not rule.is_constraint
        ]
        weakened = [*self._weakened, *stated]
        return self._tracer.suspects(weakened, gone, self._normal_forms_about)

    def _asserted_equalities(self, representative: int) -> Rows:
        """Return the pairs of terms of a clique that are asserted to be equal."""
        members = np.array(self.cliques.members(representative), np.int32)
        facts = self.asserted.matching(TRIPLE, (None, self._same_as, None))[:, [0, 2]]
        return facts[np.isin(facts, members).all(axis=1)]

    # --- normal forms -----------------------------------------------------------------------------------------------

    def _asserted_about(self, terms: Ids) -> list[tuple[str, Rows]]:
        """Return the asserted facts with some terms, in pairs with their normal forms, by predicate."""
        if len(terms) == 0:
            return []
        found = ((predicate, self.asserted.about(predicate, terms)) for predicate in self.asserted.predicates())
        return [(predicate, pairs) for predicate, pairs in found if len(pairs)]

    def _normal_forms_about(self, terms: Ids) -> list[tuple[str, Rows]]:
        """Return the normal forms of the asserted facts with some terms, by predicate."""
        return [(predicate, _normal_forms(pairs)) for predicate, pairs in self._asserted_about(terms)]

    def _move(self, terms: Ids, were_alone: Ids) -> None:
        """Replace the normal forms of facts about terms that have changed their clique, and about terms that had none before."""
        self._moved.append(terms)
        self._moved.append(were_alone)
        if self._named.intersection(terms.tolist()):
            self.names_changed = True
        asserted = dict(self._asserted_about(np.union1d(terms, were_alone)))
        plain = self._stored.about(were_alone, explicit=True)
        predicates = dict.fromkeys([*asserted, *plain])
        self._moving = {name: self._pairs_to_move(name, asserted.get(name), plain.get(name)) for name in predicates}
        for predicate, pairs in self._moving.items():
            self._move_facts(predicate, pairs)
        self._moving = {}

    def _pairs_to_move(self, predicate: str, asserted: Rows | None, plain: Rows | None) -> Rows:
        """Return facts of a predicate in pairs with their normal forms.

        Args:
            predicate: The predicate.
            asserted: Pairs of facts about merged terms.
            plain: Stored explicit facts. Some are normal forms of facts in `asserted`, with a representative that had no clique.
        """
        parts = [] if asserted is None else [asserted]
        if plain is not None:
            plain = plain[~self.asserted.are_normal_forms(predicate, plain)]
            parts.append(np.concatenate([plain, plain], axis=1))
        return np.concatenate(parts)

    def _move_facts(self, predicate: str, old: Rows) -> None:
        """Replace the normal forms of facts of a predicate, in pairs with their old ones."""
        self.asserted.remove(predicate, old)
        new = self._pairs(predicate, _facts(old))
        self.asserted.add(predicate, new[self._are_about_merged(predicate, _facts(new))])
        before, after = _normal_forms(old), _normal_forms(new)
        gone = selected_rows(before, ~contains(after, before) & ~self.asserted.are_normal_forms(predicate, before))
        self._retract(predicate, gone, flag_of(predicate))
        self._load(predicate, after[~contains(before, after)], flag_of(predicate))

    # --- changes in all names ---------------------------------------------------------------------------------------

    def begin(self) -> None:
        """See `Equality.begin`."""
        self.assertions, self._steps = Assertions(), []

    def note_step(self, delta: Delta, collector: Collector) -> None:
        """See `Equality.note_step`; `finish` collects the changes in all names."""
        self._steps.append(delta)

    def _take_changes(self) -> Delta:
        """Return the changes in all names since the last call, from the steps and assertions noted since."""
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
        """Copy the cliques before the first change of an update."""
        if self._former is None:
            self._former = self.cliques.copy()


def _facts(pairs: Rows) -> Rows:
    """Return the facts in pairs."""
    return pairs[:, pairs.shape[1] // 2 :]


def _normal_forms(pairs: Rows) -> Rows:
    """Return the normal forms in pairs, without duplicates."""
    return unique_rows(pairs[:, : pairs.shape[1] // 2])
