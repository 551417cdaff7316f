"""Answering conjunctive queries: all matches of a plan, written out row by row."""

from kg_reasoner.kernels.fixpoint import readiness
from kg_reasoner.kernels.joins import next_match, value_of
from kg_reasoner.kernels.layout import DONE, FINISHED, FRESH, READY, Context
from kg_reasoner.kernels.memory import Int32s, entry


@entry
def start_query(context: Context, number: int) -> int:
    """Get ready to fetch the matches of a plan: DONE, or BUILD_INDEX (`wanted`) or VALUES to be called again."""
    ready = readiness(context, context.plans[number], 0, 0, -1)
    if ready > READY:
        return ready
    frame = context.frames[0]
    frame.plan = number
    frame.level = FRESH if ready == READY else FINISHED
    return DONE


@entry
def fetch(context: Context, width: int, out: Int32s, capacity: int) -> int:
    """Write up to `capacity` further matches, `width` ids each (the plan's head); fewer than that means that there are no more."""
    frame = context.frames[0]
    codes = context.codes + context.plans[frame.plan].head
    count = 0
    while count < capacity:
        if not next_match(context, frame, 0, 0, -1):
            return count
        row = out + count * width
        for column in range(width):
            row[column] = value_of(frame, codes[column])
        count = count + 1
    return count
