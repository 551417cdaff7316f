"""Tables of ids: equal rows are labelled alike, and rows are paired by their labels."""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import EMPTY
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.kernels.relations import fingerprint


@kernel
def row_hash(values: Int32s, width: int) -> int:
    """Return a hash of a row."""
    if width == 1:
        return mix(values[0])
    if width == 2:
        return mix((values[0] << 32) ^ values[1])
    return fingerprint(values, width)


@kernel
def are_equal(values: Int32s, others: Int32s, width: int) -> int:
    """Return whether two rows are the same."""
    for column in range(width):
        if values[column] != others[column]:
            return 0
    return 1


@entry
def label_rows(
    rows: Int32s, begin: int, end: int, width: int, slots: Int32s, mask: int, labels: Int32s, firsts: Int64s, used: int
) -> int:
    """Write a label for each row of a range, the same for equal rows, and the first row of each label.

    `used` is the number of labels of the rows before; the number with those of the range is returned.
    """
    for row in range(begin, end):
        values = rows + row * width
        slot = row_hash(values, width) & mask
        while True:
            label = slots[slot]
            if label == EMPTY:
                slots[slot] = used
                labels[row] = used
                firsts[used] = row
                used = used + 1
                break
            if are_equal(values, rows + firsts[label] * width, width):
                labels[row] = label
                break
            slot = (slot + 1) & mask
    return used


@entry
def label_ids(ids: Int32s, begin: int, end: int, low: int, slots: Int32s, labels: Int32s, firsts: Int64s, used: int) -> int:
    """Do the same for rows of one id, with a slot for each id from `low` on."""
    for row in range(begin, end):
        slot = ids[row] - low
        label = slots[slot]
        if label == EMPTY:
            label = used
            slots[slot] = used
            firsts[used] = row
            used = used + 1
        labels[row] = label
    return used


@entry
def look_up_ids(ids: Int32s, begin: int, end: int, low: int, size: int, slots: Int32s, labels: Int32s) -> int:
    """Write the labels of a range of ids in `size` slots that `label_ids` has filled, or -1; return how many have one."""
    found = 0
    for row in range(begin, end):
        slot = ids[row] - low
        label = EMPTY
        if slot >= 0 and slot < size:
            label = slots[slot]
        labels[row] = label
        if label != EMPTY:
            found = found + 1
    return found


@entry
def sort_by_label(labels: Int32s, count: int, starts: Int64s, groups: int, order: Int64s) -> int:
    """Write the numbers of the rows, ordered by label, and where each label starts; `starts` has one more item than labels, and
    is zero.
    """
    for row in range(count):
        label = labels[row]
        if label >= 0:
            starts[label + 1] = starts[label + 1] + 1
    for label in range(groups):
        starts[label + 1] = starts[label + 1] + starts[label]
    for row in range(count - 1, -1, -1):
        label = labels[row]
        if label >= 0:
            end = starts[label + 1] - 1
            starts[label + 1] = end
            order[end] = row
    # the ends have become the starts: move them by one
    for label in range(groups):
        starts[label] = starts[label + 1]
    total = 0
    for row in range(count):
        if labels[row] >= 0:
            total = total + 1
    starts[groups] = total
    return total


@entry
def look_up_rows(
    rows: Int32s, begin: int, end: int, others: Int32s, width: int, slots: Int32s, mask: int, firsts: Int64s, labels: Int32s
) -> int:
    """Write the labels of a range of rows in a table of others that `label_rows` has filled, or -1; return how many have one."""
    found = 0
    for row in range(begin, end):
        values = rows + row * width
        slot = row_hash(values, width) & mask
        while True:
            label = slots[slot]
            if label == EMPTY:
                labels[row] = EMPTY
                break
            if are_equal(values, others + firsts[label] * width, width):
                labels[row] = label
                found = found + 1
                break
            slot = (slot + 1) & mask
    return found


@entry
def count_pairs(labels: Int32s, count: int, starts: Int64s) -> int:
    """Return the number of pairs of rows with the ordered items of their labels."""
    total = 0
    for row in range(count):
        label = labels[row]
        if label >= 0:
            total = total + starts[label + 1] - starts[label]
    return total


@entry
def write_pairs(
    labels: Int32s, count: int, starts: Int64s, order: Int64s, rows: Int64s, others: Int64s, capacity: int, state: Int64s
) -> int:
    """Write at most `capacity` further pairs of rows with the ordered items of their labels; return how many they are.

    `state` has the row at which to continue, and the number of its pairs that have been written.
    """
    written = 0
    row, skipped = state[0], state[1]
    while row < count:
        label = labels[row]
        if label >= 0:
            first = starts[label] + skipped
            last = starts[label + 1]
            if last - first > capacity - written:
                last = first + capacity - written
            for place in range(first, last):
                rows[written] = row
                others[written] = order[place]
                written = written + 1
            if last < starts[label + 1]:
                state[0] = row
                state[1] = last - starts[label]
                return written
        skipped = 0
        row = row + 1
    state[0] = row
    state[1] = 0
    return written
