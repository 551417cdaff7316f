"""The engine: explicit facts as ids, rules, and the materialisation of both, kept right when they change.

An update goes through it in this order: axioms become rules, rules become plans, a strategy applies what has changed; and again, if
that made terms equal or further axioms. A `Reasoner` is an engine with terms, transactions and questions around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kg_reasoner import analysis
from kg_reasoner.axiom_rules import AxiomRules
from kg_reasoner.catalog import INTERNAL, Catalog, needs_ternary
from kg_reasoner.clashes import clashes
from kg_reasoner.counters import Counters
from kg_reasoner.delta import Change, Changes, Delta, difference
from kg_reasoner.dictionary import Dictionary, Ids
from kg_reasoner.errors import ReasonerError
from kg_reasoner.fact_base import FactBase
from kg_reasoner.inconsistency import Violation, is_consistent, violations
from kg_reasoner.maintenance import Maintenance, Table, Work, strategy
from kg_reasoner.maintenance.rematerialise import Rematerialise
from kg_reasoner.materialise import PlannedRule, Progress
from kg_reasoner.program import Program, Rule
from kg_reasoner.relation import Changed, Database
from kg_reasoner.visibility import Visibility

if TYPE_CHECKING:
    from kg_reasoner.equality.rewriting import Rewriting
    from kg_reasoner.transaction import Transaction

__all__ = ["Engine", "Foreseen"]

Foreseen: TypeAlias = Callable[[], "list[tuple[int, Ids]]"]
"""Finds facts that the next update will delete, by relation, as far as they are known when it is asked."""


class Engine:
    """Facts as ids, rules, and what follows.

    Args:
        dictionary: what the ids mean.
        visibility: is told of the rules, as these say which triples are hidden.
        maintenance: the name of a strategy.
        datatypes: those whose literals have values.
        rewrites: whether equal terms are merged.

    Attributes:
        version: a number that changes whenever facts or rules do.
        transaction: the open one: it is told what changes.
    """

    def __init__(
        self, dictionary: Dictionary, visibility: Visibility, *, maintenance: str, datatypes: frozenset[str], rewrites: bool
    ) -> None:
        self.dictionary = dictionary
        self.program = Program()
        self.axioms = AxiomRules(dictionary)
        self.version = 0
        self.transaction: Transaction | None = None
        self._visibility = visibility
        self._make_base = partial(
            FactBase, dictionary, self.axioms, visibility, strategy(maintenance), datatypes=datatypes, rewrites=rewrites
        )
        self.base = self._make_base(ternary=False)
        self._all_rules: tuple[Rule, ...] | None = None
        self._known_arities: tuple[Program | None, Catalog | None, int, dict[str, int]] = None, None, 0, {}
        self._rules_changed = True
        self._was_interrupted = False
        self._dirty = True
        self._foreseen: Foreseen | None = None
        self._replaced: Changes | None = None
        """All facts before the update under way changed their layout, if a transaction collects what changes."""
        self._counted = Counters()

    @property
    def catalog(self) -> Catalog:
        """Which relation holds what."""
        return self.base.catalog

    @property
    def database(self) -> Database:
        """The relations."""
        return self.base.database

    def touch(self, *, rules: bool = False) -> None:
        """Say that facts have changed, or rules."""
        self._dirty = True
        if rules:
            self._rules_changed = True
            self._all_rules = None
        self.version += 1

    @property
    def _collector(self) -> Transaction | None:
        """The open transaction, if it wants to know what follows from its changes."""
        return self.transaction if self.transaction is not None and self.transaction.collects else None

    @property
    def counters(self) -> Counters:
        """How many rules have been applied for updates, by phase."""
        return self._counted + self.base.maintenance.counters

    # --- rules ------------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules: those of the program, and those that the ontology's axioms were translated to."""
        self.translate_schema()
        if self._all_rules is None:
            self._all_rules = tuple(dict.fromkeys(self.program.rules + self.axioms.rules))
            self._visibility.use(self._all_rules)
            self.axioms.note_rules(self._all_rules)
        return self._all_rules

    @property
    def applied_rules(self) -> tuple[Rule, ...]:
        """The rules as they are applied: with representatives for equal terms, where these are merged."""
        return self.rules if self.base.rewriting is None else self.base.rewriting.images(self.rules)

    def use_program(self, program: Program) -> None:
        """Take another program from now on; it has been checked."""
        self.program = program
        self.axioms.want(program)
        self.touch(rules=True)
        if not any(self.database.filled()) and needs_ternary(program.rules) != self.catalog.ternary:
            self.base = self._make_base(ternary=not self.catalog.ternary)  # the layout is chosen before the first facts come

    def arities(self) -> dict[str, int]:
        """The numbers of arguments of all predicates that facts, rules or declarations use."""
        program, catalog, count, known = self._known_arities
        predicates = self.catalog.predicates
        if program is not self.program or catalog is not self.catalog or count != len(predicates):
            stored = {name: self.database.relations[number].arity for name, number in predicates.items()}
            known = analysis.arities(self.program) | stored
            self._known_arities = self.program, self.catalog, len(predicates), known
        return known

    def translate_schema(self) -> None:
        """Turn the explicit schema triples into rules, if they have changed."""
        if self.axioms.translate(self.catalog):
            self.touch(rules=True)

    def _extend_axioms(self) -> bool:
        """Turn axioms that have been derived into rules. Says whether that changes the rules."""
        changed = self.axioms.extend(self.catalog, self.base.rewriting is not None)
        if changed:
            self.touch(rules=True)
        return changed

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def load(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit (`TRIPLE` for triples). Says of each whether it was not."""
        self._recover()
        changed = self.base.insert(predicate, ids)
        self._note(predicate, ids, changed, added=True)
        self.touch()
        return changed

    def retract(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit no longer. Says of each whether it was."""
        self._recover()
        changed = self.base.remove(predicate, ids)
        self._note(predicate, ids, changed, added=False)
        if np.count_nonzero(changed):
            self.touch()
        return changed

    def _note(self, predicate: str, ids: Ids, changed: Changed, added: bool) -> None:
        """Tell the open transaction which explicit facts have come or gone."""
        if self.transaction is None:
            return
        facts, rewriting = ids[changed], self.base.rewriting
        self.transaction.note(predicate, facts, added)
        if rewriting is not None and self._collector is not None and not predicate.startswith(INTERNAL):
            rewriting.assertions.note(predicate, facts, added)

    # --- materialisation --------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None) -> bool:
        """Bring the derived facts up to date. Says whether there was something to do.

        The kernels are asked for here, so that the first call of all compiles them. Whatever interrupts this, the explicit facts
        and the rules are kept, and the next call starts over with them.
        """
        if not self._dirty:
            return False
        self._recover()
        try:
            self._update(progress)
        except ReasonerError:  # the rules cannot be applied, which shows before they are
            raise
        except BaseException:
            self._was_interrupted = True
            if self._collector is not None:
                self._collector.note_interruption()
            raise
        self._dirty = False
        return True

    def _update(self, progress: Progress | None) -> None:
        """Apply all changes since the last time, and those that follow for axioms and equal terms."""
        if self.database.context.removed_count:
            self.axioms.note_removal()
        is_first = True
        while True:
            self.translate_schema()
            self._maintain(progress, is_first)
            is_first = False
            if not (self._merge_equal() or self._extend_axioms()):
                break
        self.base.materialiser.compact()
        rewriting = self.base.rewriting
        if rewriting is not None:
            if self._collector is not None:
                self._collector.take(rewriting.take_changes())
            rewriting.settle()

    def _recover(self) -> None:
        """Start over with the explicit facts if an update was interrupted, as nothing that is derived can be relied on."""
        if self._was_interrupted:
            self._rebuild(self.catalog.ternary)
            self.axioms.has_changed = True
            self.touch(rules=True)
            self._was_interrupted = False

    def foresee(self, find: Foreseen | None) -> None:
        """Say what the update after the next one will delete, so that it finds its way prepared. Results do not depend on it."""
        self._foreseen = find

    def _maintain(self, progress: Progress | None, is_first: bool) -> None:
        """Apply the changes of facts and rules since the last time."""
        collector, self._replaced = self._collector, None
        rewriting = self.base.rewriting
        new_rules = self._prepare_rules() if rewriting is None else self._prepare_rewriting(rewriting, is_first)
        before, self._replaced = self._replaced, None
        base = self.base
        materialiser, rulebook = base.materialiser, base.rulebook
        work = Work(new_rules, rulebook.gone_rules, rulebook.gone_groups, collector is not None and before is None, progress)
        materialiser.remove_rules(rulebook.gone_rules)
        materialiser.remove_groups(rulebook.gone_groups)
        materialiser.make_strata()
        restarts = (materialiser.is_mixed or base.maintenance.needs_restart()) and not self.database.is_fresh
        strategy: Maintenance = Rematerialise(materialiser, base.maintenance) if restarts else base.maintenance
        self._expect(strategy)
        strategy.apply(work)
        rulebook.forget_gone()
        if collector is not None:
            delta = self._delta(work) if before is None else difference(self.dictionary, before, self._tables())
            if base.rewriting is None:
                collector.take(delta)
            else:
                base.rewriting.note_step(delta)

    def _expect(self, strategy: Maintenance) -> None:
        """Tell a strategy what the update after this one will delete, if that is known."""
        if self._foreseen is None and not self.database.context.marked_count:
            return
        find, self._foreseen = self._foreseen, None
        try:
            facts = find() if find is not None else []
        except (ReasonerError, ValueError):  # an update that cannot be read is reported when its turn comes
            facts = []
        strategy.expect(facts)

    def _prepare_rewriting(self, rewriting: Rewriting, is_first: bool) -> list[PlannedRule]:
        """Split and merge cliques of equal terms before an update, and plan rules. See `_prepare_rules`.

        Only what users change takes reasons away: when names change afterwards, axioms become other rules that say the same.
        """
        gone = rewriting.gone(self.rules) if is_first and self._rules_changed else []
        gone_plans = [planned for rule in gone for planned in self.base.rulebook.plans_of(rule)]
        new_rules = self._prepare_rules()
        if rewriting is self.base.rewriting and rewriting.revise(gone_plans, [rule for rule in gone if not rule.body]):
            self.translate_schema()
            self._rules_changed = self._rules_changed or rewriting.names_changed
            new_rules += self._prepare_rules()
        gone_now = set(map(id, self.base.rulebook.gone_rules))
        return [planned for planned in new_rules if id(planned) not in gone_now]

    def _merge_equal(self) -> bool:
        """Merge terms that rules have found to be the same, if there are any."""
        rewriting = self.base.rewriting
        if rewriting is None or not rewriting.merge():
            return False
        self._rules_changed = self._rules_changed or rewriting.names_changed
        return True

    def _prepare_rules(self) -> list[PlannedRule]:
        """Choose the layout of triples and plan rules. Returns the plans of new ones, see `RuleBook.plan`."""
        if self._rules_changed:
            rules = self.applied_rules
            if (ternary := needs_ternary(rules)) != self.catalog.ternary:
                if self._collector is not None and self._replaced is None:
                    self._replaced = self._tables()
                self._rebuild(ternary)
                rules = self.applied_rules
            self.base.rulebook.use(rules)
            self._rules_changed = False
        if self.base.rulebook.asks_of_literals:
            self.base.feed_literals()
        return self.base.rulebook.plan()

    def _rebuild(self, ternary: bool) -> None:
        """Start over with the explicit facts, in the chosen layout and without plans; or, if interrupted, leave all as it is."""
        base, counted = self._make_base(ternary=ternary), self.counters
        base.take_over(self.base)
        self.base, self._counted = base, counted

    # --- what has changed -------------------------------------------------------------------------------------------

    def begin(self, transaction: Transaction) -> None:
        """Tell a transaction of all changes from now on; the materialisation is up to date."""
        if self.base.rewriting is not None:
            self.base.rewriting.begin()
        self.transaction = transaction

    def undo(self, program: Program, log: Sequence[tuple[str, Ids, bool]]) -> None:
        """Take back the changes of explicit facts that are logged, and return to a program."""
        self.transaction = None
        for predicate, ids, added in reversed(log):
            if added:
                self.retract(predicate, ids)
            else:
                self.load(predicate, ids)
        self.use_program(program)

    def _delta(self, work: Work) -> Delta:
        """What a run of maintenance has changed, by predicate."""
        return Delta(*(self._changes(tables) for tables in (work.added, work.removed, work.restated)))

    def _changes(self, tables: Iterable[Table]) -> Changes:
        return Changes(self.dictionary, {name: Change(*facts) for name, facts in self.catalog.as_facts(tables).items()})

    def _tables(self) -> Changes:
        """All facts as they were before the changes that are not applied yet, by predicate."""
        return self._changes(
            Table(relation, *self.database.settled_facts(relation)) for relation in range(len(self.database.relations))
        )

    # --- consistency ------------------------------------------------------------------------------------------------

    def violations(self) -> Iterator[Violation]:
        """The constraints that are violated, with the values that violate them; each clash once, see `clashes`."""
        found = violations(self.catalog, self.applied_rules)
        if self.base.rewriting is not None:
            found = chain(found, self.base.rewriting.contradictions())
        return clashes(found, self.base.queries.naming())

    def is_consistent(self) -> bool:
        """Whether none is."""
        return is_consistent(self.catalog) and (self.base.rewriting is None or not any(self.base.rewriting.contradictions()))
