"""Best values along the edges of a graph, by Dijkstra's algorithm with a binary heap.

Source: E. W. Dijkstra, A Note on Two Problems in Connexion with Graphs (Numerische Mathematik 1, 1959).
"""

from kg_reasoner.storage.kernels.memory import Int32s, Int64s, entry, kernel

FAR = 1 << 62
"""Larger than any sum of weights."""


@kernel
def push_node(keys: Int64s, nodes: Int32s, count: int, key: int, node: int) -> int:
    """Add a node to a heap. Return the new number of nodes in the heap."""
    place = count
    while place > 0:
        above = (place - 1) // 2
        if keys[above] <= key:
            break
        keys[place] = keys[above]
        nodes[place] = nodes[above]
        place = above
    keys[place] = key
    nodes[place] = node
    return count + 1


@kernel
def drop_first(keys: Int64s, nodes: Int32s, count: int) -> int:
    """Remove the first node of a heap. Return the new number of nodes in the heap."""
    last = count - 1
    key = keys[last]
    place = 0
    below = 1
    while below < last:
        if below + 1 < last and keys[below + 1] < keys[below]:
            below = below + 1
        if keys[below] >= key:
            break
        keys[place] = keys[below]
        nodes[place] = nodes[below]
        place = below
        below = 2 * place + 1
    keys[place] = key
    nodes[place] = nodes[last]
    return last


@kernel
def follow_edges(
    starts: Int64s, targets: Int32s, weights: Int64s, best: Int64s, keys: Int64s, nodes: Int32s, count: int, reached: Int32s
) -> int:
    """Write the nodes that are reached from those of a heap, and their least sums of weights to `best`. Return the number of nodes.

    The edges of a node are ``targets[starts[node]]`` and so on, with weights that are not negative. The heap has room for its
    `count` nodes and one more entry for each edge. `best` has the values of its nodes; the values of other nodes are larger than
    any sum.
    """
    found = 0
    while count > 0:
        key = keys[0]
        node = nodes[0]
        count = drop_first(keys, nodes, count)
        if best[node] < key:
            continue
        reached[found] = node
        found = found + 1
        for place in range(starts[node], starts[node + 1]):
            target = targets[place]
            value = key + weights[place]
            if value < best[target]:
                best[target] = value
                count = push_node(keys, nodes, count, value, target)
    return found


@entry
def follow_from_groups(
    starts: Int64s,
    targets: Int32s,
    weights: Int64s,
    best: Int64s,
    keys: Int64s,
    nodes: Int32s,
    bounds: Int64s,
    first: int,
    groups: int,
    origins: Int32s,
    values: Int64s,
    reached: Int32s,
    sums: Int64s,
    ends: Int64s,
    most: int,
    capacity: int,
) -> int:
    """Write the nodes that are reached from the origins of each group, with their least sums, and where each group ends.

    Groups are followed while there is room for `most` nodes. Return the group with which the next call begins.

    The origins of a group are ``origins[bounds[group]]`` and so on, with their first values in `values`. For the other arguments
    see `follow_edges`. Before and after the call, all values of `best` are larger than any sum.
    """
    written = 0
    group = first
    while group < groups and written + most <= capacity:
        count = 0
        for place in range(bounds[group], bounds[group + 1]):
            node = origins[place]
            if values[place] < best[node]:
                best[node] = values[place]
                count = push_node(keys, nodes, count, values[place], node)
        found = follow_edges(starts, targets, weights, best, keys, nodes, count, reached + written)
        for place in range(written, written + found):
            sums[place] = best[reached[place]]
            best[reached[place]] = FAR
        written = written + found
        ends[group] = written
        group = group + 1
    return group
