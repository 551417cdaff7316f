"""The state of an engine: a program, the rules translated from axioms, facts, and pending changes."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import partial
from typing import TYPE_CHECKING

from kg_reasoner.engine.axioms.axiom_rules import AxiomRules
from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.evaluation.recorder import Recorder
from kg_reasoner.engine.state.engine_settings import EngineSettings
from kg_reasoner.engine.state.knowledge_base import KnowledgeBase
from kg_reasoner.engine.state.limiting import Limited
from kg_reasoner.engine.state.update_state import UpdateState
from kg_reasoner.expressions.demands import looks_at_demands
from kg_reasoner.language.selection.module_rules import idle_rules
from kg_reasoner.planning.catalog import RelationCatalog, layout_for
from kg_reasoner.planning.expansion import is_expandable
from kg_reasoner.planning.layouts.triple_layout import TripleLayout
from kg_reasoner.program import Program, Rule
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.terms.column_types import ColumnTypes
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, Term

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.owl import RuleChanges

__all__ = ["State"]


class State(Limited):
    """A program and facts as ids.

    Args:
        dictionary: The dictionary of the ids.
        visibility: Notified of the rules, which determine the hidden triples.
        settings: How consequences are derived and maintained.

    Attributes:
        version: A number that changes with facts and rules.
        next_update: The changes since the last update.
    """

    def __init__(self, dictionary: Dictionary, visibility: Visibility, settings: EngineSettings) -> None:
        super().__init__()
        self.dictionary = dictionary
        self.program = Program()
        self.axioms = AxiomRules(dictionary)
        self.version = 0
        self.next_update = UpdateState(is_due=True, rules_changed=True)
        self.recorder = Recorder()
        self._visibility = visibility
        self._make_base = partial(
            KnowledgeBase,
            dictionary,
            self.axioms,
            visibility,
            settings,
            claim=self.claim,
            watch=self._watch,
            recorder=self.recorder,
        )
        dictionary.claim = self.claim
        self.base = self._make_base(layout=layout_for(()))
        self._all_rules: tuple[Rule, ...] = ()
        self._rules_are_collected = False
        """Whether `_all_rules` are the current rules. The former ones are kept until they are collected again, because discarding
        many objects takes as long as a change.
        """
        self._idle: frozenset[Rule] | None = None
        self._asked: set[str] = set()
        """Relations that have been requested, so that the rules of modules derive them."""
        self.asked_names: frozenset[Term] = frozenset([OWL.sameAs] if visibility.shows_all else [])
        """The names by which queries look for facts that hold of all terms, see `kg_reasoner.expressions.demands`."""
        self._rules_are_noted = False
        """Whether the visibility and the axioms know all rules."""
        self._program_rules: frozenset[Rule] = frozenset()
        self._looks_at_demands = False
        """Whether some rule of the program uses what `asked_names` become."""
        self.column_types = ColumnTypes(dictionary, self.program)
        self._counted = Counters()

    @property
    def catalog(self) -> RelationCatalog:
        """The relations of predicates."""
        return self.base.catalog

    @property
    def database(self) -> Database:
        """The relations."""
        return self.base.database

    @property
    def counters(self) -> Counters:
        """The number of rule applications in updates, by phase."""
        return self._counted + self.base.maintenance.counters

    def touch(self, *, rules: bool = False) -> None:
        """Note that facts have changed, or rules."""
        self.next_update.is_due = True
        if rules:
            self.next_update.rules_changed, self.next_update.rule_changes = True, None
            self._rules_are_collected, self._idle, self._rules_are_noted = False, None, False
        self.version += 1

    def _touch_rules(self, changes: RuleChanges) -> None:
        """Note which translated rules have changed."""
        stated, update = self._program_rules, self.next_update
        changes = changes.without(stated)
        self.touch()
        self._rules_are_collected, self._idle = False, None
        if not update.rules_changed:
            update.rule_changes, update.rules_changed = changes, True
        elif update.rule_changes is not None:
            update.rule_changes.extend(changes)
        if self._rules_are_noted:
            self._rules_are_noted = False  # an interrupt below leaves them to be noted again
            for rules, change in ((changes.gone, -1), (changes.new, 1)):
                self._visibility.use(rules, change)
                self.axioms.note_rules(rules, change)
            self._rules_are_noted = True

    # --- rules ------------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules: those of the program, and those translated from axioms."""
        self.translate_schema()
        if not self._rules_are_collected:
            self._all_rules = tuple(dict.fromkeys(self.program.rules + self.axioms.rules))
            self._rules_are_collected = True
            if not self._rules_are_noted:
                self._visibility.use(self._all_rules)
                self.axioms.note_rules(self._all_rules)
                self._rules_are_noted = True
        return self._all_rules

    @property
    def knows_rules(self) -> bool:
        """Whether `rules` are those of the explicit axioms as they are, so that to read them changes nothing."""
        return self._rules_are_collected and not self.axioms.has_changed

    @property
    def applied_rules(self) -> tuple[Rule, ...]:
        """The rules as applied: rewritten, where equal terms are merged."""
        return self.base.equality.rewritten_rules(self.used_rules)

    @property
    def used_rules(self) -> tuple[Rule, ...]:
        """The rules without those of modules for relations that nothing uses."""
        rules, idle = self.rules, self.idle_rules
        return tuple(rule for rule in rules if rule not in idle) if idle else rules

    @property
    def idle_rules(self) -> frozenset[Rule]:
        """The rules of modules for relations that nothing uses."""
        if self._idle is None:
            self._idle = idle_rules(self.program, self.axioms.rules, self._asked)
        return self._idle

    def are_idle(self, predicates: Iterable[str]) -> bool:
        """Return whether one of some relations has rules of modules that are not applied, as nothing has used it so far."""
        idle = self.idle_rules
        return bool(idle) and not {rule.head.predicate for rule in idle}.isdisjoint(predicates)

    def request_relations(self, predicates: Iterable[str]) -> None:
        """Apply all rules for some relations from now on."""
        self._asked = {*self._asked, *predicates}
        self.touch(rules=True)

    def lacks(self, names: Set[Term]) -> bool:
        """Return whether a query looks for facts that hold of all terms, and that have not been derived so far."""
        return not names <= self.asked_names and self._looks_at_demands

    def request_universal_facts(self, names: Set[Term]) -> None:
        """Derive, from now on, the facts about some names that hold of all terms."""
        self.asked_names |= names
        self.touch(rules=True)

    def translate_schema(self) -> None:
        """Translate the explicit schema triples to rules, if they have changed. Derived ones are added later."""
        if not self.axioms.has_changed:
            return
        with self.recorder.measure("translate axioms"):
            changed = self.axioms.translate(self.catalog, follows=not self.base.equality.merges)
        if changed is True:
            self.touch(rules=True)
        elif changed:
            self._touch_rules(changed)

    def change_rules(self, changes: RuleChanges) -> bool:
        """Let changed rules replace their plans. Return False, and do nothing, if all rules have to be looked at."""
        of_interest = changes.new if self.catalog.layout.is_split else changes.gone
        if self.base.equality.merges or not all(map(is_expandable, of_interest)):
            return False
        return self.base.rulebook.change(changes.gone, changes.new)

    def use_program(self, program: Program) -> None:
        """Replace the program. The new one has been checked."""
        self.program, self._program_rules = program, frozenset(program.rules)
        self._looks_at_demands = any(map(looks_at_demands, program.rules))
        self.column_types, self.base.checked = ColumnTypes(self.dictionary, program), {}
        self.axioms.want(program)
        self.touch(rules=True)
        if not any(self.database.filled()) and (layout := layout_for(program.rules)) is not type(self.catalog.layout):
            self.base = self._make_base(layout=layout)  # the layout is chosen before the first facts come

    # --- facts ------------------------------------------------------------------------------------------------------

    def rebuild(self, layout: type[TripleLayout]) -> None:
        """Start over with the explicit facts in another layout, without plans. An interrupt leaves the state unchanged."""
        base, counted = self._make_base(layout=layout), self.counters
        base.take_over(self.base)
        self.base, self._counted = base, counted
