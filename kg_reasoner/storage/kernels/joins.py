"""Joins: the interpreter of plans. A join is a depth-first search over the steps of a plan, and can stop after every match."""

from kg_reasoner.storage.kernels.calculation import (
    NEEDS_VALUES,
    NO_NUMBER,
    NUMBER,
    UNKNOWN,
    apply_program,
    number_of,
    request_of,
)
from kg_reasoner.storage.kernels.decorators import kernel, rare_kernel, shared_kernel
from kg_reasoner.storage.kernels.index_entries import index_key, is_left_out, key_slot
from kg_reasoner.storage.kernels.layout import (
    BUILD_INDEX,
    CALL,
    CHECK,
    COMPARE,
    DISTINCT,
    DONE,
    EMPTY,
    EQUAL,
    FAILED,
    FINISHED,
    FRESH,
    FUNCTION_RESULTS,
    LANG_STRING,
    LESS,
    LOOKUP,
    MONTHS,
    NAN,
    NO_DURATION,
    NOT_EQUAL,
    OPAQUE,
    ORDERED,
    PROBE,
    REBORN,
    RESOURCE,
    SCANNED,
    SKIP,
    Context,
    Frame,
    Index,
    Plan,
    Relation,
    Step,
)
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.primitives import is_stopped, mix
from kg_reasoner.storage.kernels.relations import find, find_or_insert
from kg_reasoner.storage.kernels.vectors import entry_place, row_at, value_at


@kernel
def bound(bindings: Int32s, code: int) -> int:
    """Return the id denoted by a code under some bindings."""
    if code >= 0:
        return code
    return bindings[-1 - code]


@kernel
def value_of(frame: Frame, code: int) -> int:
    """Return the id denoted by a code."""
    return bound(frame.bindings, code)


@kernel
def fill_tuple(frame: Frame, codes: Int32s, arity: int, values: Int32s) -> int:
    """Write the ids denoted by codes."""
    for column in range(arity):
        values[column] = value_of(frame, codes[column])
    return 0


@shared_kernel
def insert_head(context: Context, frame: Frame, plan: Plan) -> int:
    """Return the live row of the head of the frame's match, appended if it is new; FULL without room."""
    fill_tuple(frame, context.codes + plan.head, context.relations[plan.head_relation].arity, frame.scratch)
    return find_or_insert(context, plan.head_relation, frame.scratch)


@kernel
def match_values(bindings: Int32s, columns: Int32s, values: Int32s, arity: int) -> int:
    """Match a tuple with a list of column codes: compare constants and repeated variables, bind the others."""
    for column in range(arity):
        code = columns[column]
        if code >= 0:
            if values[column] != code:
                return 0
        elif code > SKIP:
            bindings[-1 - code] = values[column]
        elif code <= CHECK and bindings[CHECK - code] != values[column]:
            return 0
    return 1


@kernel
def match_columns(frame: Frame, columns: Int32s, values: Int32s, arity: int) -> int:
    """Do the same with the frame's bindings."""
    return match_values(frame.bindings, columns, values, arity)


@kernel
def key_under(context: Context, bindings: Int32s, step: Step) -> int:
    """Return the index key of a step under some bindings."""
    codes = context.codes + step.key
    width = step.width
    if width == 1:
        return bound(bindings, codes[0])
    if width == 2:
        return (bound(bindings, codes[0]) << 32) | bound(bindings, codes[1])
    key = width
    for position in range(width):
        key = mix(key ^ (bound(bindings, codes[position]) + (position << 40)))
    return key if width > 0 else 0


@kernel
def step_key(context: Context, frame: Frame, step: Step) -> int:
    """Return the index key of a step under the frame's bindings."""
    return key_under(context, frame.bindings, step)


@kernel
def compare_numbers(operator: int, one: int, other: int) -> int:
    """Compare two integers."""
    if operator == LESS:
        return 1 if one < other else 0
    if operator == EQUAL:
        return 1 if one == other else 0
    if operator == NOT_EQUAL:
        return 1 if one != other else 0
    return 1 if one <= other else 0


@kernel
def compare(context: Context, operator: int, left: int, right: int) -> int:
    """Compare two terms by value: 1 or 0; a type error is 0 for every operator.

    While joins may read terms, integers are compared as they are, and IRIs by their ids; other values by the tables of values,
    which are requested if they do not cover the terms.
    """
    if operator == DISTINCT:
        return 1 if left != right else 0
    if context.term_access:
        one = number_of(context, left)
        other = number_of(context, right)
        if one & other & NUMBER == NUMBER:
            return compare_numbers(operator, one, other)
        if one == NO_NUMBER or other == NO_NUMBER:
            return (1 if (left == right) == (operator == EQUAL) else 0) if operator == EQUAL or operator == NOT_EQUAL else 0
        if left >= context.value_count or right >= context.value_count:
            return request_of(context, NEEDS_VALUES)
    return compare_values(context, operator, left, right)


@kernel
def compare_values(context: Context, operator: int, left: int, right: int) -> int:
    """Compare two terms by the tables of values. See `layout` for the kinds of values."""
    kind = context.value_kinds[left]
    other = context.value_kinds[right]
    if operator == EQUAL or operator == NOT_EQUAL:
        if kind == RESOURCE or other == RESOURCE:
            equal = left == right
        elif kind == OPAQUE or other == OPAQUE:
            if left != right and kind != LANG_STRING and other != LANG_STRING:
                return 0
            equal = left == right
        else:
            equal = kind == other and kind != NAN and context.value_keys[left] == context.value_keys[right]
        return 1 if equal == (operator == EQUAL) else 0
    if kind < ORDERED or other < ORDERED or (kind != other and kind + other > NO_DURATION + MONTHS):
        return 0
    if operator == LESS:
        return 1 if context.value_keys[left] < context.value_keys[right] else 0
    return 1 if context.value_keys[left] <= context.value_keys[right] else 0


@kernel
def row_limit(context: Context, step: Step, low: int, high: int, current: int) -> int:
    """Return the number of rows visible to a step: all rows without a current relation, else those before the block or processed
    earlier.
    """
    if current < 0 or step.negated:
        return context.materialised[step.relation] if context.old else context.relations[step.relation].count
    if step.relation == current:
        return high if step.newest else low
    return context.processed[step.relation]


@kernel
def is_hidden(context: Context, relation: Relation, row: int) -> int:
    """Return whether a row is dead, or hidden from this join by another flag."""
    if relation.dead + context.checks_flags == 0:
        return 0
    return relation.flags[row] & context.hidden


@shared_kernel
def scan(context: Context, frame: Frame, step: Step, position: int, limit: int) -> int:
    """Return the next matching row from `position` on, or -1."""
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
def row_under(context: Context, bindings: Int32s, step: Step, limit: int, values: Int32s) -> int:
    """Return the row of the single tuple that a step requires under some bindings, or -1. The tuple is written to `values`."""
    relation = context.relations[step.relation]
    codes = context.codes + step.key
    for column in range(relation.arity):
        values[column] = bound(bindings, codes[column])
    row = find(relation, values)
    if row < 0 or is_hidden(context, relation, row):
        return -1
    if row >= limit and not (context.old and relation.flags[row] & REBORN):
        return -1
    return row


@shared_kernel
def lookup(context: Context, frame: Frame, step: Step, limit: int) -> int:
    """Return the row of the single tuple that a step requires, or -1."""
    return row_under(context, frame.bindings, step, limit, frame.scratch)


@kernel
def request_result(context: Context, frame: Frame, step: Step) -> int:
    """Request the result of a function; if the list is full, the request is repeated later."""
    if context.request_count < context.request_room:
        request = context.requests + context.request_count * context.request_stride
        codes = context.codes + step.key
        request[0] = step.operator
        for position in range(step.width):
            request[1 + position] = value_of(frame, codes[position])
        context.request_count = context.request_count + 1
    return 0


@kernel
def has_result(frame: Frame, relation: Relation, argument: int, result: int) -> int:
    """Return whether a function of one argument has a result, which may be one of several."""
    frame.scratch[0] = argument
    frame.scratch[1] = result
    return 1 if find(relation, frame.scratch) >= 0 else 0


@kernel
def next_result(frame: Frame, step: Step, relation: Relation, index: Index, slot: int, depth: int, start: int) -> int:
    """Bind the next result of a function of one argument that has several: 1, or 0 if there is none left."""
    level = frame.levels[depth]
    position = 0 if start else level.position
    if position >= index.lengths[slot]:
        return 0
    result = relation.rows[2 * row_at(index, entry_place(index, index.starts[slot], position)) + 1]
    if result == FAILED:
        return 0
    frame.bindings[step.value_slot] = result
    level.position = position + 1
    return 1


@shared_kernel
def call(context: Context, frame: Frame, step: Step, depth: int, start: int) -> int:
    """Apply a function, or filter: 1, or 0 if the function has no result (left), a different result than required, or one not
    yet known.
    """
    program = context.program_starts[step.operator]
    if program >= 0:
        decided = apply_program(context, frame, step, program)
        if decided != UNKNOWN:
            return decided
    index = context.indexes[step.index]
    relation = context.relations[step.relation]
    arity = relation.arity
    slot = key_slot(index, step_key(context, frame, step))
    if index.keys[slot] == EMPTY:
        return request_result(context, frame, step)
    if step.once == 0:
        if step.value_slot >= 0:
            return next_result(frame, step, relation, index, slot, depth, start)
        codes = context.codes + step.key
        return has_result(frame, relation, value_of(frame, codes[0]), value_of(frame, codes[1])) if start else 0
    vector = index.starts[slot]
    for position in range(index.lengths[slot]):
        values = relation.rows + row_at(index, entry_place(index, vector, position)) * arity
        if step.width < 3 or match_columns(frame, context.codes + step.columns, values, arity):
            result = values[arity - 1]
            if step.value_slot >= 0 and result != FAILED:
                frame.bindings[step.value_slot] = result
                return 1
            return 1 if step.value_slot < 0 and result == value_of(frame, context.codes[step.key + step.width]) else 0
    return request_result(context, frame, step)


@rare_kernel
def scan_for_key(context: Context, frame: Frame, step: Step, depth: int, start: int, limit: int) -> int:
    """Bind the next row that the index of a step would have under the step's key into the frame, and return it; -1 if there is
    none left.

    The index was not built when the step began. If its patience is exhausted, what the join finds is of no use.
    """
    level = frame.levels[depth]
    position = 0 if start else level.position
    level.slot = SCANNED
    level.position = limit
    index = context.indexes[step.index]
    relation = context.relations[step.relation]
    arity = relation.arity
    columns = index.columns
    key = step_key(context, frame, step)
    has_key = index.width > 0
    column = columns[0] if has_key else 0
    first = value_of(frame, context.codes[step.key]) if has_key else 0
    if not index.built and index.patience <= 0:
        context.wanted = step.index
        context.interrupted = 1
        return -1
    for row in range(position, limit):
        values = relation.rows + row * arity
        if has_key and (values[column] != first or index_key(index, values) != key):
            continue
        if index.constant >= 0 and values[relation.section_column] != index.constant:
            continue
        if is_left_out(index, values) or is_hidden(context, relation, row):
            continue
        if step.value_slot >= 0:
            frame.bindings[step.value_slot] = values[index.value_column]
        elif step.value_slot == CHECK and not match_columns(frame, context.codes + step.columns, values, arity):
            continue
        index.patience = index.patience - (row + 1 - position)
        level.position = row + 1
        return row
    if limit > position:
        index.patience = index.patience - (limit - position)
    return -1


@shared_kernel
def advance(context: Context, frame: Frame, step: Step, depth: int, start: int, limit: int) -> int:
    """Bind the next row that matches a step into the frame, and return it; -1 if there is none left."""
    level = frame.levels[depth]
    if step.kind == PROBE:
        index = context.indexes[step.index]
        if context.scans and (level.slot == SCANNED if not start else not index.built):
            return scan_for_key(context, frame, step, depth, start, limit)
        if start:
            slot = key_slot(index, step_key(context, frame, step))
            if index.keys[slot] == EMPTY:
                return -1
            level.slot = slot
            position = 0
        else:
            slot = level.slot
            position = level.position
        vector = index.starts[slot]
        length = index.lengths[slot]
        value_slot = step.value_slot
        relation = context.relations[step.relation]
        while position < length:
            place = entry_place(index, vector, position)
            position = position + 1
            row = row_at(index, place)
            if row >= limit:
                return -1
            if is_hidden(context, relation, row):
                continue
            if value_slot >= 0:
                frame.bindings[value_slot] = value_at(index, relation, place, row)
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


@shared_kernel
def step_matches(context: Context, frame: Frame, step: Step, depth: int, start: int, low: int, high: int, current: int) -> int:
    """Move one step to its next match."""
    if step.kind == COMPARE:
        if not start:
            return 0
        codes = context.codes + step.key
        return compare(context, step.operator, value_of(frame, codes[0]), value_of(frame, codes[1]))
    if step.kind == CALL:
        return call(context, frame, step, depth, start) if start or step.once == 0 else 0
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
    """Move a frame to its next match of all steps: 1, or 0 if there is none left.

    `current` is the relation whose rows [low, high) are being processed, -1 to join all rows, or the number of relations to join
    the processed rows of all. When the context is stopped, there is none left either.
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
            if depth == 0 or is_stopped(context):
                frame.level = FINISHED
                return 0
            depth = depth - 1
            start = 0


@kernel
def join_request(context: Context) -> int:
    """Return DONE, or a request to the caller for something that a join needs to find all of its matches."""
    if context.interrupted:
        context.interrupted = 0
        return BUILD_INDEX
    return FUNCTION_RESULTS if context.request_count > 0 else DONE
