"""Answers of queries that have few: found, checked and written in one call, for which no limit has to be watched.

An answer that is a literal where RDF has none, or that makes a hidden triple, is omitted. Answers are written column by column:
item n of column c to ``out[c * room + n]``. Every entry returns how many there are, at least `enough` if there are more, or

* `TOO_MANY`: there is no room for all of them, or finding them may take long;
* `NOT_BUILT`: an index is missing.
"""

from kg_reasoner.storage.kernels.ascii_bytes import LESS_THAN, QUOTE
from kg_reasoner.storage.kernels.decorators import brief_entry, kernel
from kg_reasoner.storage.kernels.joins import row_limit, scan, step_matches, value_of
from kg_reasoner.storage.kernels.layout import IDLE, READY, SCAN, Context, Frame, Step
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s
from kg_reasoner.storage.kernels.readiness import open_plan

TOO_MANY, NOT_BUILT = -1, -2

PATIENCE = 1 << 12
"""The number of steps, rows or entries that are looked at before there are too many."""

ANYTHING, RESOURCE, PROPERTY = 0, 1, 2
"""The terms that a column may contain: any, no literals, IRIs only."""


@kernel
def may_be(first_bytes: Bytes, kind: int, number: int) -> int:
    """Return whether a column of a kind may contain a term."""
    if kind == ANYTHING:
        return 1
    return first_bytes[number] == LESS_THAN if kind == PROPERTY else first_bytes[number] != QUOTE


@kernel
def is_new(out: Int32s, room: int, width: int, count: int) -> int:
    """Return whether the answer at place `count` differs from those before in the first columns."""
    for place in range(count):
        same = 1
        for column in range(width):
            if out[column * room + place] != out[column * room + count]:
                same = 0
                break
        if same:
            return 0
    return 1


@kernel
def step_on(context: Context, frame: Frame, step: Step, depth: int, start: int) -> int:
    """Move one step to its next match: 1, 0 if there is none left, or `TOO_MANY` after a long scan."""
    if step.kind != SCAN:
        return step_matches(context, frame, step, depth, start, 0, 0, -1)
    if step.once and not start:
        return 0
    position = 0 if start else frame.levels[depth].position
    limit = row_limit(context, step, 0, 0, -1)
    row = scan(context, frame, step, position, position + PATIENCE if position + PATIENCE < limit else limit)
    if row < 0:
        return TOO_MANY if position + PATIENCE < limit else 0
    frame.levels[depth].position = row + 1
    return 1


@brief_entry
def fetch_few(
    context: Context,
    number: int,
    seeds: Int32s,
    seed_count: int,
    width: int,
    kinds: Int32s,
    first_bytes: Bytes,
    distinct: int,
    out: Int32s,
    room: int,
    enough: int,
) -> int:
    """Write the answers of a plan whose first slots hold the seeds. Those that are alike in the first `distinct` columns are
    written once, unless it is 0.
    """
    frame = context.frames[0]
    ready = open_plan(context, frame, number)
    if ready != READY:
        return 0 if ready == IDLE else NOT_BUILT
    plan = context.plans[number]
    codes = context.codes + plan.head
    last = plan.step_count - 1
    for place in range(seed_count):
        frame.bindings[place] = seeds[place]
    found = 0
    depth = 0
    start = 1
    patience = PATIENCE
    while depth >= 0 and found < enough:
        patience = patience - 1
        if patience < 0 or found == room:
            return TOO_MANY
        moved = step_on(context, frame, context.steps[plan.first_step + depth], depth, start)
        if moved < 0:
            return moved
        if not moved:
            depth = depth - 1
            start = 0
        elif depth < last:
            depth = depth + 1
            start = 1
        else:
            start = 0
            is_kept = 1
            for column in range(width):
                value = value_of(frame, codes[column])
                out[column * room + found] = value
                if not may_be(first_bytes, kinds[column], value):
                    is_kept = 0
            if is_kept and (distinct == 0 or is_new(out, room, distinct, found)):
                found = found + 1
    return found
