"""The steps of an update: axioms become rules, rules become plans, a strategy applies the changes, and equal terms are merged.

If a step invalidates earlier ones, the pipeline runs again, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from kg_reasoner.concurrency.garbage import without_collection
from kg_reasoner.engine.facts.collector import Collector
from kg_reasoner.engine.maintenance import Maintenance, Work
from kg_reasoner.engine.state.engine_state import State
from kg_reasoner.engine.state.update_state import UpdateState
from kg_reasoner.planning.catalog import layout_for
from kg_reasoner.progress import Progress
from kg_reasoner.query.delta import difference

__all__ = ["MERGING_PIPELINE", "PIPELINE", "Pipeline", "Step", "run"]

Step: TypeAlias = Callable[[State, UpdateState], "bool | None"]
"""A step of an update. Returns whether the update must begin again with the first step."""


def run(state: State, collector: Collector | None, progress: Progress | None) -> None:
    """Apply all changes since the last update, and the resulting changes by axioms and equal terms."""
    update, base = state.next_update, state.base
    update.collector, update.progress, update.is_first, update.before = collector, progress, True, None
    if base.database.context.removed_count:
        state.axioms.note_removal()
    pipeline = MERGING_PIPELINE if base.equality.merges else PIPELINE
    if state.recorder.is_on:
        pipeline = Pipeline(*(tuple(partial(_measured, step) for step in steps) for steps in pipeline))
    while True:
        if update.rules_changed or state.axioms.has_changed:
            with without_collection():  # translating a large ontology makes many objects, all of which are kept
                for step in pipeline.on_rules:
                    step(state, update)
        else:
            pipeline.on_rules[-1](state, update)
        for step in pipeline.on_facts:
            if step(state, update):
                break
        else:
            update.collector = update.progress = None  # they belong to the caller
            return


def _measured(step: Step, state: State, update: UpdateState) -> bool | None:
    """Do a step, and record its time under its name."""
    with state.recorder.measure(step.__name__.replace("_", " ")):
        return step(state, update)


def translate_axioms(state: State, update: UpdateState) -> None:
    """Turn explicit axioms into rules, if they have changed."""
    if state.axioms.has_changed:
        state.translate_schema()


def plan_rules(state: State, update: UpdateState) -> None:
    """Choose the layout of triples and plan rules."""
    if update.rules_changed:
        changes, update.rule_changes = update.rule_changes, None  # if this is interrupted, all rules are compared
        if changes is None or not state.change_rules(changes):
            rules = state.applied_rules
            if (layout := layout_for(rules)) is not type(state.catalog.layout):
                if update.collector is not None and update.before is None:
                    update.before = state.base.materialised_facts()
                state.rebuild(layout)
                rules = state.applied_rules
            state.base.rulebook.use(rules, state.asked_names)
        update.rules_changed = False
    rulebook = state.base.rulebook
    if rulebook.asked_of_literals:
        state.base.feed_literals(rulebook.asked_of_literals)
    if rulebook.told or state.base.told_facts.fed:
        state.base.told_facts.feed(rulebook.told)
    update.new_rules = () if rulebook.is_planned else rulebook.plan()


def plan_rules_and_revise_cliques(state: State, update: UpdateState) -> None:
    """Plan rules, and split and merge cliques of equal terms as the changes by users require.

    Only changes by users invalidate reasons. When representatives change later, axioms become other rules with the same meaning.
    """
    equality = state.base.equality
    gone = equality.gone(state.used_rules) if update.is_first and update.rules_changed else []
    gone_plans = [planned for rule in gone for planned in state.base.rulebook.plans_of(rule)]
    update.is_first = False
    plan_rules(state, update)
    if equality is state.base.equality and equality.revise(gone_plans, [rule for rule in gone if not rule.body]):
        state.translate_schema()
        update.rules_changed = update.rules_changed or equality.names_changed
        early = update.new_rules
        plan_rules(state, update)
        gone_now = set(map(id, state.base.rulebook.gone_rules))
        update.new_rules = [planned for planned in (*early, *update.new_rules) if id(planned) not in gone_now]


def maintain(state: State, update: UpdateState) -> None:
    """Let a strategy apply the changes of facts and rules since the last update, and collect the result."""
    base, collector, before = state.base, update.collector, update.before
    materialiser, rulebook, maintenance = base.materialiser, base.rulebook, base.maintenance
    collects = collector is not None and before is None
    work = Work(update.new_rules, rulebook.gone_rules, rulebook.gone_aggregates, collects, update.progress)
    if rulebook.gone_rules or rulebook.gone_aggregates:
        materialiser.remove_rules(rulebook.gone_rules)
        materialiser.remove_aggregates(rulebook.gone_aggregates)
    materialiser.make_strata()
    restarts = (materialiser.is_mixed or maintenance.needs_restart()) and not base.database.is_fresh
    strategy: Maintenance = maintenance
    if restarts:
        from kg_reasoner.engine.maintenance.rematerialise import Rematerialise

        strategy = Rematerialise(materialiser, maintenance)
    if state.recorder.is_on:
        from kg_reasoner.engine import profiled

        profiled.apply(strategy, work, materialiser)
    else:
        strategy.apply(work)
    update.new_rules = ()
    if rulebook.gone_rules or rulebook.gone_aggregates:
        gone = rulebook.gone_rules
        rulebook.forget_gone()
        materialiser.release_rules(gone)
    if collector is not None:
        delta = base.delta(work) if before is None else difference(state.dictionary, before, base.materialised_facts())
        update.before = None
        base.equality.note_step(delta, collector)


def apply_deferred_rules(state: State, update: UpdateState) -> bool:
    """Let rules fire that were not planned because rules had not yet derived facts for them, if there are any."""
    return state.base.rulebook.note_derived()


def merge_equal_terms(state: State, update: UpdateState) -> bool:
    """Merge terms that rules have derived to be equal, if there are any."""
    equality = state.base.equality
    if not equality.merge():
        return False
    update.rules_changed = update.rules_changed or equality.names_changed
    return True


def extend_axioms(state: State, update: UpdateState) -> bool:
    """Translate derived axioms to rules, if they yield other ones."""
    base = state.base
    changed = state.axioms.extend(base.catalog, base.equality.merges)
    if changed:
        state.touch(rules=True)
    return changed


def check_column_types(state: State, update: UpdateState) -> None:
    """Check derived facts against the declared types of columns.

    Raises:
        ColumnTypeError: A term does not belong to the type of its column. Updates raise it again until rules or facts have changed.
    """
    for predicate in state.column_types.derived:
        number = state.catalog.predicates.get(predicate, -1)
        record = state.database.relations[number] if number >= 0 else None
        if record is None:
            continue
        count, renumbered = record.count, state.database.renumbered[number]
        known, numbering = state.base.checked.get(number, (0, renumbered))
        first = known if numbering == renumbered else 0
        if count == first:
            continue
        derivers = (rule for rule in state.rules if rule.head.predicate == predicate and rule.body)
        state.column_types.check(predicate, state.database.rows_from(number, first), derivers)
        state.base.checked[number] = count, renumbered


def compact(state: State, update: UpdateState) -> None:
    """Remove dead rows where there are many, and let relations grow ahead."""
    if state.base.database.needs_care:
        state.base.materialiser.compact()


def finish_merging(state: State, update: UpdateState) -> None:
    """Collect the changes in all names of equal terms."""
    state.base.equality.finish(update.collector)


class Pipeline(NamedTuple):
    """The steps of an update, in order.

    Attributes:
        on_rules: Those from axioms to plans; where neither axioms nor rules have changed, the last of them is enough.
        on_facts: The others.
    """

    on_rules: tuple[Step, ...]
    on_facts: tuple[Step, ...]


PIPELINE: Final = Pipeline(
    (translate_axioms, plan_rules),
    (maintain, apply_deferred_rules, extend_axioms, check_column_types, compact),
)
"""The steps of an update without merging of equal terms."""

MERGING_PIPELINE: Final = Pipeline(
    (translate_axioms, plan_rules_and_revise_cliques),
    (maintain, merge_equal_terms, extend_axioms, check_column_types, compact, finish_merging),
)
"""The steps of an update with merging of equal terms."""
