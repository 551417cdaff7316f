"""Closures of a binary relation: the nodes that can be reached from each of some nodes."""

from kg_reasoner.storage.kernels.memory import Int32s, Int64s, entry


@entry
def reach(
    starts: Int64s,
    targets: Int32s,
    origins: Int32s,
    origin_count: int,
    first: int,
    stamps: Int32s,
    queue: Int32s,
    out: Int32s,
    capacity: int,
    state: Int64s,
) -> int:
    """Write (position of the origin, node) for every node that is reached from an origin in one step or more.

    Nodes are numbered; the steps from a node are ``targets[starts[node]]`` and so on. Origins from `first` on are followed while
    there is room; `state` receives the number of origins done. Returns the number of pairs.
    """
    written = 0
    done = first
    while done < origin_count:
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
                    if written == capacity:
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
            state[0] = done
            return begin
        done = done + 1
    state[0] = done
    return written
