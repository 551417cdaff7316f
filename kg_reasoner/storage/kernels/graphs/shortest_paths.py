"""Best values along the edges of a graph, by Dijkstra's algorithm with a binary heap.

Source: E. W. Dijkstra, A Note on Two Problems in Connexion with Graphs (Numerische Mathematik 1, 1959).
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s, Struct

FAR = 1 << 62
"""Larger than any sum of weights."""


class EdgeSearch(Struct):
    """A search along the edges of a graph, from the nodes of one group after the other.

    The edges of a node are ``targets[starts[node]]`` and so on, with `weights` that are not negative. The nodes from which a group
    begins are ``origins[bounds[group]]`` and so on, with their first sums in `first_sums`.
    """

    starts: Int64s
    targets: Int32s
    weights: Int64s
    best: Int64s
    """The least sum of each node; between calls, and for nodes that have not been reached, `FAR`."""
    heap_keys: Int64s
    heap_nodes: Int32s
    """The heap, with room for the origins of a group and one more entry for each edge."""
    origins: Int32s
    first_sums: Int64s
    bounds: Int64s
    group_count: int
    group: int
    """The group with which the next call begins."""
    reached: Int32s
    """The nodes that groups reach, with their least sums."""
    sums: Int64s
    ends: Int64s
    """Where the nodes of each group end."""
    room: int
    most: int
    """The maximal number of nodes that a group reaches."""


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
def follow_edges(search: EdgeSearch, count: int, reached: Int32s) -> int:
    """Write the nodes that are reached from the `count` nodes of the heap, and their least sums to `best`, which has those of the
    heap. Return the number of nodes.
    """
    starts, targets, weights = search.starts, search.targets, search.weights
    best, keys, nodes = search.best, search.heap_keys, search.heap_nodes
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


@kernel
def push_origins(search: EdgeSearch, group: int) -> int:
    """Add the origins of a group to the empty heap, unless a better sum is known. Return the number of entries in the heap."""
    origins, first_sums, best = search.origins, search.first_sums, search.best
    count = 0
    for place in range(search.bounds[group], search.bounds[group + 1]):
        node = origins[place]
        if first_sums[place] < best[node]:
            best[node] = first_sums[place]
            count = push_node(search.heap_keys, search.heap_nodes, count, first_sums[place], node)
    return count


@entry
def follow_from_groups(search: EdgeSearch) -> int:
    """Follow groups while there is room for all nodes that the next one may reach. Return the number of nodes reached."""
    best, reached, sums = search.best, search.reached, search.sums
    written = 0
    while search.group < search.group_count and written + search.most <= search.room:
        found = follow_edges(search, push_origins(search, search.group), reached + written)
        for place in range(written, written + found):
            sums[place] = best[reached[place]]
            best[reached[place]] = FAR
        written = written + found
        search.ends[search.group] = written
        search.group = search.group + 1
    return written
