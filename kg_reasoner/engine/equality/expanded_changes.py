"""The changes of an update under rewriting, in all names: changes of stored facts, and of cliques."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.query.delta import Change, Changes, Delta
from kg_reasoner.storage.arrays import Rows, contains, unique_rows
from kg_reasoner.storage.terms.dictionary import Dictionary

Facts = Mapping[str, Rows]
"""Facts by predicate, shape (n, arity)."""


class Assertions:
    """Facts that were asserted, and facts that were retracted, since the beginning."""

    def __init__(self) -> None:
        self._states: dict[str, dict[tuple[int, ...], tuple[bool, bool]]] = {}

    def note(self, predicate: str, facts: Rows, explicit: bool) -> None:
        """Note that some facts have become explicit, or no longer explicit."""
        states = self._states.setdefault(predicate, {})
        for fact in map(tuple, facts.tolist()):
            before, _ = states.get(fact, (not explicit, explicit))
            states[fact] = before, explicit

    def changed(self, explicit: bool) -> Facts:
        """Return the facts that are explicit now and were not at the beginning, or vice versa."""
        found = {}
        for predicate, states in self._states.items():
            rows = [fact for fact, state in states.items() if state == (not explicit, explicit)]
            if rows:
                found[predicate] = np.array(rows, np.int32).reshape(len(rows), -1)
        return found


def expanded(
    dictionary: Dictionary,
    steps: Sequence[Delta],
    former: Cliques,
    cliques: Cliques,
    moved: Rows,
    about: Callable[[Rows], Facts],
    assertions: Assertions,
) -> Delta:
    """Return the net change of an update in all names.

    Args:
        dictionary: The dictionary of the ids.
        steps: The changes of stored facts, in order.
        former: The cliques before the update.
        cliques: The cliques after it.
        moved: The terms that have changed, joined or left a clique.
        about: Returns the stored facts after the update about representatives before or after it.
        assertions: The asserted and retracted facts.
    """
    net = Delta.net(dictionary, steps)
    come, gone = ({name: change.ids for name, change in part.tables.items()} for part in (net.added, net.removed))
    renamed = about(np.union1d(former.of(moved), cliques.of(moved))) if len(moved) else {}
    now_explicit, now_derived = assertions.changed(True), assertions.changed(False)
    added, removed, restated = {}, {}, {}
    for name in dict.fromkeys([*come, *gone, *renamed, *now_explicit, *now_derived]):
        stored = [facts[name] for facts in (come, gone, renamed, now_explicit, now_derived) if name in facts]
        none = stored[0][:0]
        new, old, same = come.get(name, none), gone.get(name, none), renamed.get(name, none)
        after = _union(cliques.expand(new), cliques.expand(same))
        before = _union(former.expand(old), former.expand(same[~contains(new, same)]))
        was_derived, was_explicit = now_explicit.get(name, none), now_derived.get(name, none)
        entered, left = after[~contains(before, after)], before[~contains(after, before)]
        added[name] = Change(entered, contains(was_derived, entered))
        removed[name] = Change(left, contains(was_explicit, left))
        stayed = [was_derived[~contains(entered, was_derived)], was_explicit[~contains(left, was_explicit)]]
        restated[name] = Change(np.concatenate(stayed), np.repeat([True, False], list(map(len, stayed))))
    return Delta(*(Changes(dictionary, tables) for tables in (added, removed, restated)))


def _union(first: Rows, second: Rows) -> Rows:
    return unique_rows(np.concatenate([first, second]))
