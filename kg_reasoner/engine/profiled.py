"""Insertion plan by plan, for profiles: the same facts in another order, and each rule's part of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule, Stratum
from kg_reasoner.engine.evaluation.recorder import Activity, Recorder, Tally, difference
from kg_reasoner.engine.maintenance import Maintenance, Work
from kg_reasoner.engine.maintenance.strata import StratumByStratum
from kg_reasoner.planning.aggregates.groups import is_solutions_rule
from kg_reasoner.planning.plan_drafts import section_constant
from kg_reasoner.progress import Progress
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import BLOCK, DONE, Plan

__all__ = ["apply", "insert"]

_FOUND: Final = Plan.fields["found"][0]
_OTHER: Final = Plan.fields["other"][0]
_SHARED: Final = ("deletion", "backward", "counting", "circuit")
"""The phases in which all rules are evaluated together."""

_Triggers: TypeAlias = "dict[tuple[int, int], list[tuple[int, PlannedRule]]]"
"""The plans of a stratum by the relation and the section constant of the rows that trigger them."""


def insert(materialiser: Materialiser, stratum: Stratum, new_rules: Sequence[PlannedRule], progress: Progress | None) -> None:
    """Do the work of `Materialiser.insert`, and record each rule's time, instances and new facts."""
    database, context = materialiser.database, materialiser.database.context
    if context.gone_count and stratum.has_blockers:
        activity, instances, total = Activity("insert what was blocked"), context.instances, context.total
        with materialiser.recorder.measure(*activity):
            context.place = 0
            materialiser.call(native.derive_unblocked)
        materialiser.recorder.count(activity, context.instances - instances, context.total - total)
    for planned in new_rules:
        _run(materialiser, planned, native.evaluate_rule, materialiser.whole_plan(planned))
    done = materialiser.by_columns.insert(stratum, materialiser.check, partial(_counted, materialiser))
    triggers: _Triggers = {}
    for planned in stratum.rules.values():
        for atom, plan in planned.triggers:
            if plan in done:
                continue
            triggers.setdefault((atom.relation, section_constant(database, atom)), []).append((plan, planned))
    for relation, low, high in _blocks(materialiser):
        for constant in _constants(materialiser, relation, low, high):
            plans = triggers.get((relation, constant), ())
            section = database.section(relation, constant) if plans else -1
            for plan, planned in plans:
                _run(materialiser, planned, native.run_plan, plan, section, relation, low, high)
        database.processed[relation] = high
        database.claim(0)
        if progress:
            processed = sum(database.processed[: len(database.relations)].tolist())
            progress("materialise", processed, sum(record.count for record in database.relations.records))


def _blocks(materialiser: Materialiser) -> Iterator[tuple[int, int, int]]:
    """Yield blocks of unprocessed rows (relation, first row, end), until there are none. Some relations come last."""
    database = materialiser.database

    def blocks(relation: int) -> Iterator[tuple[int, int, int]]:
        while (low := int(database.processed[relation])) < (count := database.relations[relation].count):
            yield relation, low, min(count, low + BLOCK)

    found = True
    while found:
        found = False
        late: list[tuple[int, int]] = []
        for relation, record in enumerate([*database.relations.records]):
            if database.context.latest and record.lateness:
                late.append((record.lateness, relation))
                continue
            for block in blocks(relation):
                found = True
                yield block
        for _, relation in sorted(late):
            if not found:
                for block in blocks(relation):
                    found = True
                    yield block


def _constants(materialiser: Materialiser, relation: int, low: int, high: int) -> list[int]:
    """Return -1, for all rows, and the constants in the section column of a block."""
    record = materialiser.database.relations[relation]
    if record.section_column < 0:
        return [-1]
    rows = np.asarray(record.rows).reshape(-1, record.arity)[low:high]
    return [-1, *np.unique(rows[:, record.section_column]).tolist()]


def _run(materialiser: Materialiser, planned: PlannedRule, entry: Callable[..., int], *arguments: int) -> None:
    """Call a kernel that runs one plan until it is done. Only the matches of the last call count: it finds all of them, except
    those whose heads an earlier call has inserted, if the plan skips these.
    """
    database, context = materialiser.database, materialiser.database.context
    head = database.relations[planned.rule.head.relation]
    known = head.count
    activity = _activity(planned)
    with materialiser.recorder.measure(*activity):
        while True:
            before = context.instances
            status = materialiser.run(entry, *arguments)
            if status == DONE:
                break
            context.instances = before
            materialiser.fulfil(status)
    new = head.count - known
    found = max(context.instances - before, new)
    context.instances = before + found
    materialiser.recorder.count(activity, found, new)


@contextmanager
def _counted(materialiser: Materialiser, planned: PlannedRule) -> Iterator[None]:
    """Record what happens inside as insertion by a rule."""
    head, context = materialiser.database.relations[planned.rule.head.relation], materialiser.database.context
    activity, known, before = _activity(planned), head.count, context.instances
    with materialiser.recorder.measure(*activity):
        yield
    materialiser.recorder.count(activity, context.instances - before, head.count - known)


def _activity(planned: PlannedRule) -> Activity:
    """Return the activity of a rule. The solutions over which it aggregates are an activity of their own."""
    return Activity("aggregation" if is_solutions_rule(planned.rule.rule) else "insertion", planned.source_rule)


def apply(strategy: Maintenance, work: Work, materialiser: Materialiser) -> None:
    """Let a strategy apply changes, and record each rule's part."""
    with materialiser.recorder.measure("load kernels"):
        native.run_plan, native.drop_removed  # noqa: B018  the first access loads their part
    materialiser.database.plans.words[:, _FOUND] = 0
    materialiser.inserter = partial(insert, materialiser)
    before = materialiser.recorder.tallies()
    try:
        strategy.apply(work)
    finally:
        materialiser.inserter = None
    _count_found(strategy, work, materialiser)
    _divide(materialiser.recorder, before)


def _divide(recorder: Recorder, before: Mapping[Activity, Tally]) -> None:
    """Divide the time of each phase in which all rules are evaluated together among these, by the instances that were found."""
    growth = difference(recorder.tallies(), before)
    for phase in _SHARED:
        whole = growth.get(Activity(phase), Tally()).seconds
        parts = {each: tally.instances for each, tally in growth.items() if each.phase == phase and each.rule is not None}
        total = sum(parts.values())
        if total:
            step, known = recorder.tally(Activity(phase)), before.get(Activity(phase), Tally())
            step.seconds, step.runs = known.seconds, known.runs
            for activity, instances in parts.items():
                recorder.tally(activity).seconds += whole * instances / total


def _count_found(strategy: Maintenance, work: Work, materialiser: Materialiser) -> None:
    """Record the rule instances that plans have found outside of insertion."""
    found, other = (materialiser.database.plans.words[:, field] for field in (_FOUND, _OTHER))
    if not found.any():
        return
    phase = "deletion" if isinstance(strategy, StratumByStratum) else "counting"
    for planned in (*materialiser.active_rules(), *work.gone_rules):
        others = [*(plan for _, plan in (*planned.triggers, *planned.blockers)), planned.whole]
        backward = [] if planned.backward < 0 else [planned.backward, planned.backward + int(other[planned.backward])]
        for name, plans in ((phase, others), ("backward", list(dict.fromkeys(backward)))):
            count = int(sum(found[plan] for plan in plans if plan >= 0))
            if count:
                materialiser.recorder.count(Activity(name, planned.source_rule), count)
