"""Strongly connected components of a directed graph, and how many of them are on the longest way to each.

Source: R. Tarjan, Depth-First Search and Linear Graph Algorithms (SIAM Journal on Computing 1, 1972).
"""

from kg_reasoner.storage.kernels.decorators import entry
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s


@entry
def find_components(
    starts: Int64s,
    targets: Int32s,
    count: int,
    seen: Int32s,
    lows: Int32s,
    stack: Int32s,
    path: Int32s,
    places: Int64s,
    labels: Int32s,
    order: Int32s,
) -> int:
    """Write the number of the component of each node, and the nodes ordered by these numbers; return how many components there are.

    Nodes are numbered; the edges of a node are ``targets[starts[node]]`` and so on. A component has a larger number than those
    that it leads to. `seen` is 0 for each node, `labels` is -1, and `places` is as `starts`.
    """
    found = 0
    number = 0
    waiting = 0
    ordered = 0
    for root in range(count):
        if seen[root] != 0:
            continue
        path[0] = root
        depth = 1
        while depth > 0:
            node = path[depth - 1]
            if seen[node] == 0:
                number = number + 1
                seen[node] = number
                lows[node] = number
                stack[waiting] = node
                waiting = waiting + 1
            place = places[node]
            if place < starts[node + 1]:
                places[node] = place + 1
                target = targets[place]
                if seen[target] == 0:
                    path[depth] = target
                    depth = depth + 1
                elif labels[target] < 0 and seen[target] < lows[node]:
                    lows[node] = seen[target]
                continue
            depth = depth - 1
            if depth > 0 and lows[node] < lows[path[depth - 1]]:
                lows[path[depth - 1]] = lows[node]
            if lows[node] == seen[node]:
                member = -1
                while member != node:
                    waiting = waiting - 1
                    member = stack[waiting]
                    labels[member] = found
                    order[ordered] = member
                    ordered = ordered + 1
                found = found + 1
    return found


@entry
def find_levels(starts: Int64s, targets: Int32s, count: int, labels: Int32s, order: Int32s, levels: Int64s) -> int:
    """Write how many components are before each, on the longest way to it, to `levels`, which is 0. For the rest see
    `find_components`. Return 0.
    """
    for place in range(count - 1, -1, -1):
        node = order[place]
        label = labels[node]
        following = levels[label] + 1
        for edge in range(starts[node], starts[node + 1]):
            other = labels[targets[edge]]
            if other != label and levels[other] < following:
                levels[other] = following
    return 0
