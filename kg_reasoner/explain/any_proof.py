"""Search for any proof of a fact, depth first: where there are too many rule instances to find the shortest.

A fact is proved by the first of its instances whose premises can be proved in turn. An instance is put off if one of its premises
is already being proved, or could not be: such a premise may be proved later in another way, which then proves the fact too. So each
fact is visited once. The search usually visits little more than the proof, since every fact of a materialisation has one.

What one search proves, the next ones use. Instances whose premises already have proofs of small height are tried first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, TypeAlias

from kg_reasoner.explain.derivations import FIRST_ROWS, Derivations, Fact, Instance

__all__ = ["UNPROVED", "Known", "prove"]

Known: TypeAlias = dict[Fact, tuple[int, Instance]]
"""Facts that have been proved by rules, with the heights of their proofs; the premises of an instance are among them, or given."""

UNPROVED: Final = 1 << 60
"""The height of facts without a proof yet."""

_MORE_ROWS: Final = 64
"""The number of instances of a rule that are examined after the first few. If they do not suffice, it grows by the same factor."""


def prove(derivations: Derivations, goal: Fact, known: Known) -> bool:
    """Prove a fact by a rule, even if it is given: `known` gets the proof.

    Args:
        derivations: The source of rule instances.
        goal: The fact.
        known: The facts that have been proved by rules.

    Returns:
        Whether there is a proof.
    """
    return goal in known or _Search(derivations, goal, known).run()


class _Link:
    """An instance of a fact, with the premises that have yet to be proved."""

    __slots__ = ("head", "instance", "missing")

    def __init__(self, head: Fact, instance: Instance, missing: list[Fact]) -> None:
        self.head = head
        self.instance = instance
        self.missing = missing


class _Visit:
    """A fact that is being proved: the batches of instances that have not been tried, and the one that is."""

    __slots__ = ("batch", "batches", "fact", "link")

    def __init__(self, fact: Fact, batches: Iterator[list[_Link]]) -> None:
        self.fact = fact
        self.batches = batches
        self.batch: list[_Link] = []
        self.link: _Link | None = None

    def next_link(self) -> _Link | None:
        """Return the next instance; None if there are no more."""
        while not self.batch:
            batch = next(self.batches, None)
            if batch is None:
                return None
            self.batch = batch
        return self.batch.pop()


class _Search:
    """The search for a proof of one fact."""

    def __init__(self, derivations: Derivations, goal: Fact, known: Known) -> None:
        self.derivations = derivations
        self.goal = goal
        self.known = known
        self._given: dict[Fact, bool] = {goal: False}
        self._visited = {goal}
        self._waiting: dict[Fact, list[_Link]] = {}
        """The instances tried so far, by the premises that they lack."""

    def run(self) -> bool:
        """Prove the goal; return whether that is possible."""
        visits = [_Visit(self.goal, self._batches(self.goal))]
        put_off: list[_Link] = []
        while self.goal not in self.known:
            if not visits:
                if not put_off:
                    return False
                visits += self._unvisited(put_off.pop())
                continue
            visit = visits[-1]
            if visit.fact in self.known:
                visits.pop()
                continue
            link = visit.link
            if link is None:
                link = visit.link = visit.next_link()
                if link is None:
                    visits.pop()
                    continue
                self._try(link)
                continue
            missing = [premise for premise in link.missing if premise not in self.known]
            if any(premise in self._visited for premise in missing):
                put_off.append(link)
                visit.link = None
            else:
                self._visited.add(missing[0])
                visits.append(_Visit(missing[0], self._batches(missing[0])))
        return True

    def _unvisited(self, link: _Link) -> Iterator[_Visit]:
        """Yield visits of the premises that an instance lacks and that have not been visited."""
        for premise in link.missing if link.head not in self.known else ():
            if premise not in self.known and premise not in self._visited:
                self._visited.add(premise)
                yield _Visit(premise, self._batches(premise))

    def _try(self, link: _Link) -> None:
        """Let an instance wait for the premises that it lacks, or else prove its head by it, and what waits for that."""
        missing = [premise for premise in link.missing if premise not in self.known]
        for premise in missing:
            self._waiting.setdefault(premise, []).append(link)
        ready = [] if missing else [link]
        for each in ready:  # grows while it is being read
            if each.head in self.known:
                continue
            self.known[each.head] = 1 + self._height(each.instance), each.instance
            for other in self._waiting.pop(each.head, ()):
                if all(premise in self.known for premise in other.missing):
                    ready.append(other)

    def _height(self, instance: Instance) -> int:
        """Return the height of the highest premise; given facts have none."""
        return max([self.known[premise][0] for premise in instance.premises if not self._is_given(premise)], default=0)

    def _is_given(self, fact: Fact) -> bool:
        given = self._given.get(fact)
        if given is None:
            given = self._given[fact] = self.derivations.is_given(fact)
        return given

    def _batches(self, fact: Fact) -> Iterator[list[_Link]]:
        """Yield the instances of a fact: a few of each rule, then more of one rule after the other."""
        derivations = self.derivations
        first: list[_Link] = []
        unfinished = []
        for plan in derivations.plans(fact):
            chunk = next(derivations.chunks(plan, fact), [])
            first += self._links(fact, chunk)
            if len(chunk) == FIRST_ROWS:
                unfinished.append(plan)
        yield self._in_order(first)
        known, wanted = FIRST_ROWS, _MORE_ROWS
        while unfinished:
            for plan in list(unfinished):
                instances = list(islice(chain.from_iterable(derivations.chunks(plan, fact)), wanted))
                if len(instances) < wanted:
                    unfinished.remove(plan)
                yield self._in_order(self._links(fact, instances[known:]))
            known, wanted = wanted, wanted * _MORE_ROWS

    def _links(self, fact: Fact, instances: list[Instance]) -> list[_Link]:
        """Return instances that do not need the fact itself."""
        found = []
        for instance in instances:
            if fact not in instance.premises:
                missing = [premise for premise in dict.fromkeys(instance.premises) if not self._is_given(premise)]
                found.append(_Link(fact, instance, missing))
        return found

    def _in_order(self, links: list[_Link]) -> list[_Link]:
        """Return instances so that the most promising is the last."""
        known = self.known

        def promise(link: _Link) -> tuple[int, int, int]:
            heights = [known[premise][0] for premise in link.missing if premise in known]
            return len(link.missing) - len(heights), max(heights, default=0), len(link.instance.premises)

        found = sorted(links, key=promise)
        found.reverse()
        return found
