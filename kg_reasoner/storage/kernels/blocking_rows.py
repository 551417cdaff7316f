"""The rows of a negated atom that block the same rule instances, since they differ only where the atom has variables of its own.

The first of them that belongs to the materialisation, before or after an update, decides for all: if it triggers the instances, the
others need not, and if it does not, they are blocked before and after the update.
"""

from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import match_columns, step_key
from kg_reasoner.storage.kernels.layout import ABSENT, CHECK, DEAD, EMPTY, PROBE, Context, Frame, Index, Plan
from kg_reasoner.storage.kernels.vectors import entry_place, row_at


@kernel
def position_of(index: Index, slot: int, row: int) -> int:
    """Return the position of the first entry of a slot's vector whose row is at least `row`."""
    first = 0
    last = index.lengths[slot]
    while first < last:
        middle = (first + last) >> 1
        if row_at(index, entry_place(index, index.starts[slot], middle)) >= row:
            last = middle
        else:
            first = middle + 1
    return first


@kernel
def is_in_either(context: Context, number: int, row: int) -> int:
    """Return whether a row belongs to the materialisation before this update, or to the current one."""
    hidden = DEAD if row < context.materialised[number] else ABSENT
    return 0 if context.relations[number].flags[row] & hidden else 1


@kernel
def is_decided_before(context: Context, frame: Frame, plan: Plan, row: int) -> int:
    """Return whether an earlier row blocks, or blocked before this update, the same instances as the row of a negated atom that has
    triggered a plan. If so, that row triggers them too, or they have not changed.

    Rows that were dead before this update are passed over only for the next row after them, so that this takes linear time for
    many rows.
    """
    step = context.steps[plan.first_step + plan.negation]
    relation = context.relations[step.relation]
    columns = context.codes + step.columns
    index = context.indexes[step.index]
    slot = 0
    position = row
    if step.kind == PROBE:
        slot = key_slot(index, step_key(context, frame, step))
        if not index.built or index.keys[slot] == EMPTY:
            return 0
        position = position_of(index, slot, row)
    matches_columns = step.kind != PROBE or step.value_slot == CHECK
    while position > 0:
        position = position - 1
        earlier = position
        if step.kind == PROBE:
            earlier = row_at(index, entry_place(index, index.starts[slot], position))
        if is_in_either(context, step.relation, earlier):
            if not matches_columns or match_columns(frame, columns, relation.rows + earlier * relation.arity, relation.arity):
                return 1
    return 0
