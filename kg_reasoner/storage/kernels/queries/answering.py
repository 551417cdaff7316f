"""Query answering: all matches of a plan, row by row, and lookups of one tuple or key in many relations at once."""

from kg_reasoner.storage.kernels.ascii_bytes import QUOTE
from kg_reasoner.storage.kernels.decorators import brief_entry, entry
from kg_reasoner.storage.kernels.joins import fill_tuple, next_match, value_of
from kg_reasoner.storage.kernels.layout import DONE, FINISHED, FRESH, IDLE, READY, Context
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s
from kg_reasoner.storage.kernels.primitives import is_stopped
from kg_reasoner.storage.kernels.readiness import open_plan


@brief_entry
def start_query(context: Context, number: int) -> int:
    """Prepare to fetch the matches of a plan: DONE, or BUILD_INDEX (`wanted`) or VALUES to be called again."""
    frame = context.frames[0]
    ready = open_plan(context, frame, number)
    if ready > READY:
        return ready
    if ready == IDLE:
        frame.plan = number
        frame.level = FINISHED
    return DONE


@entry
def fetch(context: Context, width: int, out: Int32s, capacity: int) -> int:
    """Write up to `capacity` further matches, `width` ids each (the plan's head). Fewer matches mean that none is left."""
    frame = context.frames[0]
    codes = context.codes + context.plans[frame.plan].head
    count = 0
    while count < capacity:
        if not next_match(context, frame, 0, 0, -1) or is_stopped(context):
            return count
        fill_tuple(frame, codes, width, out + count * width)
        count = count + 1
    return count


@entry
def follow_plan(
    context: Context, nodes: Int32s, count: int, marks: Bytes, first_bytes: Bytes, checks_seeds: int, checks_found: int
) -> int:
    """Find the answers of a plan, one id each, for one seed, then for the nodes found, and so on; return the number of nodes.

    `nodes` begins with the seed, and gets each answer once; `marks` has a byte for each id, which is 0 before. A literal has no
    answers with `checks_seeds`, and is not an answer with `checks_found`.
    """
    frame = context.frames[0]
    code = context.codes[context.plans[frame.plan].head]
    following = 0 if frame.level == FRESH else count
    while following < count and not is_stopped(context):
        node = nodes[following]
        following = following + 1
        if checks_seeds and first_bytes[node] == QUOTE:
            continue
        frame.bindings[0] = node
        frame.level = FRESH
        while next_match(context, frame, 0, 0, -1):
            found = value_of(frame, code)
            if not marks[found] and not (checks_found and first_bytes[found] == QUOTE):
                marks[found] = 1
                nodes[count] = found
                count = count + 1
    return count
