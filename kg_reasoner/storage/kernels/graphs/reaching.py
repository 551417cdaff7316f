"""Closures of a binary relation: the nodes that can be reached from each of some nodes."""

from kg_reasoner.storage.kernels.decorators import entry
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s, Struct


class NodeSearch(Struct):
    """A search for what can be reached from some nodes. Nodes are numbered; the steps from a node are ``targets[starts[node]]`` and
    so on.
    """

    starts: Int64s
    targets: Int32s
    origins: Int32s
    origin_count: int
    done: int
    """The number of origins that have been followed."""
    stamps: Int32s
    """For each node, the last origin from which it was reached, counted from 1."""
    queue: Int32s
    out: Int32s
    room: int
    """The number of pairs for which `out` has room."""


@entry
def reach(search: NodeSearch) -> int:
    """Write (position of the origin, node) for every node that is reached from an origin in one step or more.

    Further origins are followed while there is room. Returns the number of pairs.
    """
    starts, targets, origins = search.starts, search.targets, search.origins
    stamps, queue, out, room = search.stamps, search.queue, search.out, search.room
    written = 0
    while search.done < search.origin_count:
        done = search.done
        stamp = done + 1
        begin = written
        head = 0
        tail = 0
        node = origins[done]
        fits = 1
        while True:
            for place in range(starts[node], starts[node + 1]):
                target = targets[place]
                if stamps[target] != stamp:
                    if written == room:
                        fits = 0
                        break
                    stamps[target] = stamp
                    queue[tail] = target
                    tail = tail + 1
                    out[2 * written] = done
                    out[2 * written + 1] = target
                    written = written + 1
            if not fits or head == tail:
                break
            node = queue[head]
            head = head + 1
        if not fits:
            for place in range(tail):  # this origin is followed again, with more room
                stamps[queue[place]] = 0
            return begin
        search.done = done + 1
    return written
