"""Joining: the interpreter of plans. A join is a depth-first search over the plan's steps, and can stop after every match."""

from kg_reasoner.kernels.layout import (
    CHECK,
    COMPARE,
    EMPTY,
    EQUAL,
    FINISHED,
    FRESH,
    ILL_TYPED,
    LESS,
    LOOKUP,
    NAN,
    NOT_EQUAL,
    OPAQUE,
    ORDERED,
    PROBE,
    RESOURCE,
    SKIP,
    Context,
    Frame,
    Relation,
    Step,
)
from kg_reasoner.kernels.memory import Int32s, kernel, mix
from kg_reasoner.kernels.relations import find, key_slot


@kernel
def value_of(frame: Frame, code: int) -> int:
    """The id that a code stands for."""
    if code >= 0:
        return code
    return frame.bindings[-1 - code]


@kernel
def match_columns(frame: Frame, columns: Int32s, values: Int32s, arity: int) -> int:
    """Match a tuple with a list of column codes: compare constants and repeated variables, bind the others."""
    for column in range(arity):
        code = columns[column]
        if code >= 0:
            if values[column] != code:
                return 0
        elif code > SKIP:
            frame.bindings[-1 - code] = values[column]
        elif code <= CHECK and frame.bindings[CHECK - code] != values[column]:
            return 0
    return 1


@kernel
def step_key(context: Context, frame: Frame, step: Step) -> int:
    """The index key of a step under the frame's bindings."""
    codes = context.codes + step.key
    width = step.width
    if width == 1:
        return value_of(frame, codes[0])
    if width == 2:
        return (value_of(frame, codes[0]) << 32) | value_of(frame, codes[1])
    key = width
    for position in range(width):
        key = mix(key ^ (value_of(frame, codes[position]) + (position << 40)))
    return key if width > 0 else 0


@kernel
def compare(context: Context, operator: int, left: int, right: int) -> int:
    """Compare two terms by value: 1 or 0; a type error is 0 for every operator. The kinds are those of `layout`."""
    kind = context.value_kinds[left]
    other = context.value_kinds[right]
    if operator == EQUAL or operator == NOT_EQUAL:
        if kind == RESOURCE or other == RESOURCE:
            equal = left == right
        elif kind == ILL_TYPED or other == ILL_TYPED:
            return 0
        elif kind == OPAQUE or other == OPAQUE:
            if left != right:
                return 0
            equal = True
        else:
            equal = kind == other and kind != NAN and context.value_keys[left] == context.value_keys[right]
        return 1 if equal == (operator == EQUAL) else 0
    if kind != other or kind < ORDERED:
        return 0
    if operator == LESS:
        return 1 if context.value_keys[left] < context.value_keys[right] else 0
    return 1 if context.value_keys[left] <= context.value_keys[right] else 0


@kernel
def row_limit(context: Context, step: Step, low: int, high: int, current: int) -> int:
    """The rows that a step may see: all of them without a current relation, else those before the block or processed earlier."""
    if current < 0 or step.negated:
        return context.relations[step.relation].count
    if step.relation == current:
        return high if step.newest else low
    return context.processed[step.relation]


@kernel
def is_hidden(context: Context, relation: Relation, row: int) -> int:
    """Whether a row is dead, or hidden from this join by another flag."""
    if relation.dead + context.look == 0:
        return 0
    return relation.flags[row] & context.hidden


@kernel
def scan(context: Context, frame: Frame, step: Step, position: int, limit: int) -> int:
    """The next matching row from `position` on, or -1."""
    relation = context.relations[step.relation]
    columns = context.codes + step.columns
    arity = relation.arity
    for row in range(position, limit):
        if is_hidden(context, relation, row):
            continue
        if match_columns(frame, columns, relation.rows + row * arity, arity):
            return row
    return -1


@kernel
def lookup(context: Context, frame: Frame, step: Step, limit: int) -> int:
    """The row of the one tuple that a step asks for, or -1."""
    relation = context.relations[step.relation]
    codes = context.codes + step.key
    scratch = frame.scratch
    for column in range(relation.arity):
        scratch[column] = value_of(frame, codes[column])
    row = find(relation, scratch)
    if row >= limit or (row >= 0 and is_hidden(context, relation, row)):
        return -1
    return row


@kernel
def advance(context: Context, frame: Frame, step: Step, depth: int, start: int, limit: int) -> int:
    """The next row that matches a step, bound into the frame; -1 when there is none left."""
    level = frame.levels[depth]
    if step.kind == PROBE:
        index = context.indexes[step.index]
        if start:
            slot = key_slot(index, step_key(context, frame, step))
            if index.keys[slot] == EMPTY:
                return -1
            level.slot = slot
            position = 0
        else:
            slot = level.slot
            position = level.position
        entries = index.arena + index.starts[slot]
        length = index.lengths[slot]
        value_slot = step.value_slot
        relation = context.relations[step.relation]
        while position < length:
            item = entries[position]
            position = position + 1
            row = item >> 32
            if row >= limit:
                return -1
            if is_hidden(context, relation, row):
                continue
            if value_slot >= 0:
                frame.bindings[value_slot] = item & 0x7FFFFFFF
            elif value_slot == CHECK:
                arity = relation.arity
                if not match_columns(frame, context.codes + step.columns, relation.rows + row * arity, arity):
                    continue
            level.position = position
            return row
        return -1
    if step.kind == LOOKUP:
        return lookup(context, frame, step, limit) if start else -1
    row = scan(context, frame, step, 0 if start else level.position, limit)
    level.position = row + 1
    return row


@kernel
def step_matches(context: Context, frame: Frame, step: Step, depth: int, start: int, low: int, high: int, current: int) -> int:
    """Move one step to its next match."""
    if step.kind == COMPARE:
        if not start:
            return 0
        codes = context.codes + step.key
        return compare(context, step.operator, value_of(frame, codes[0]), value_of(frame, codes[1]))
    if step.negated:
        if not start:
            return 0
        return 1 if advance(context, frame, step, depth, 1, row_limit(context, step, low, high, current)) < 0 else 0
    if step.once and not start:
        return 0
    row = advance(context, frame, step, depth, start, row_limit(context, step, low, high, current))
    if row < 0:
        return 0
    frame.levels[depth].row = row
    return 1


@kernel
def next_match(context: Context, frame: Frame, low: int, high: int, current: int) -> int:
    """Move a frame to its next match of all steps: 1, or 0 when there is none left.

    `current` is the relation whose rows [low, high) are being processed, or -1 to join all rows.
    """
    plan = context.plans[frame.plan]
    count = plan.step_count
    depth = frame.level
    start = 0
    if depth == FRESH:
        if count == 0:
            frame.level = FINISHED
            return 1
        depth = 0
        start = 1
    elif depth == FINISHED:
        return 0
    while True:
        if step_matches(context, frame, context.steps[plan.first_step + depth], depth, start, low, high, current):
            if depth == count - 1:
                frame.level = depth
                return 1
            depth = depth + 1
            start = 1
        else:
            if depth == 0:
                frame.level = FINISHED
                return 0
            depth = depth - 1
            start = 0
