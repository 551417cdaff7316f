"""The queue of derived heads, which are inserted when the cache lines of their lookups have arrived."""

from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.joins import fill_tuple
from kg_reasoner.storage.kernels.layout import DONE, FULL, GROW, PRESENT, RING, Context, Frame, Plan
from kg_reasoner.storage.kernels.listed_heads import accept
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.relations import has_values, is_present, tuple_key


@kernel
def is_last(context: Context, number: int, relation_number: int, values: Int32s) -> int:
    """Return whether the head that was put into the queue before the one with this number is this tuple."""
    place = (number - 1) & (RING - 1)
    if context.ring_relations[place] != relation_number:
        return 0
    return has_values(context.relations[relation_number], values, context.ring + place * context.ring_stride)


@kernel
def queue_head(context: Context, frame: Frame, plan: Plan) -> int:
    """Put the head of the frame's match into the queue, and prefetch the cache line of its lookup.

    The same head twice in a row is common (domains: all rows of one subject) and is dropped at once.
    """
    number = context.ring_next
    place = number & (RING - 1)
    values = context.ring + place * context.ring_stride
    relation = context.relations[plan.head_relation]
    fill_tuple(frame, context.codes + plan.head, relation.arity, values)
    key = tuple_key(values, relation.arity)
    if key == plan.last_key and (relation.arity < 3 or is_last(context, number, plan.head_relation, values)):
        return context.ring_count
    plan.last_key = key
    context.ring_relations[place] = plan.head_relation
    context.ring_keys[place] = key
    prefetch(relation.slots, mix(key) & relation.mask)
    context.ring_next = number + 1
    context.ring_count = context.ring_count + 1
    return context.ring_count


@kernel
def insert_oldest(context: Context) -> int:
    """Insert the oldest queued head; FULL leaves it in the queue."""
    count = context.ring_count
    place = (context.ring_next - count) & (RING - 1)
    number = context.ring_relations[place]
    key = context.ring_keys[place]
    result = PRESENT
    if not is_present(context.relations[number], key):
        result = accept(context, number, context.ring + place * context.ring_stride, key)
        if result == FULL:
            return FULL
    context.ring_count = count - 1
    return result


@kernel
def emit(context: Context, frame: Frame, plan: Plan) -> int:
    """Queue the head of the frame's match for insertion: DONE or GROW."""
    context.instances = context.instances + 1
    if queue_head(context, frame, plan) >= RING // 2 and insert_oldest(context) == FULL:
        return GROW
    return DONE
