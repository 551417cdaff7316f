"""Enumeration of all proofs of a fact by increasing height, with backtracking over the choice of instances.

A proof chooses one instance for each fact that it proves by a rule, without cycles. Two proofs differ if their choices differ.
The number of proofs is finite but often very large, so they are generated lazily.
"""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.explain.derivations import Derivations, Fact, Instance
from kg_reasoner.explain.proof_search import EFFORT, UNPROVED, Choice, Search, below_first, find_proof
from kg_reasoner.graphs import reachable

__all__ = ["enumerate_proofs"]


def enumerate_proofs(derivations: Derivations, goal: Fact, given: bool) -> Iterator[tuple[Choice, bool]]:
    """Yield each proof of a fact once, with whether it is the shortest: first that of `find_proof`, then by increasing height.

    What is explicit or stated is never proved by a rule, except for the goal: its proofs by rules come after the one without.
    """
    if given:
        yield {}, True
    found = find_proof(derivations, goal, given=False)
    if found is None:
        return
    first, shortest = found
    yield first, shortest and not given
    proofs = _Proofs(Search(derivations), goal)
    bound = proofs.goal.height if shortest and proofs.search.compute_height(proofs.goal, EFFORT) else 1
    while bound < UNPROVED:
        for choice in proofs.of_height(bound):
            if not _same(choice, first):
                yield choice, False
        bound = proofs.next_bound


def _same(choice: Choice, other: Choice) -> bool:
    """Return whether two proofs apply the same rules to the same facts."""
    return choice.keys() == other.keys() and all(
        instance.plan.rule is other[fact].plan.rule and instance.premises == other[fact].premises
        for fact, instance in choice.items()
    )


class _Proofs:
    """Enumerates the proofs of one height with backtracking, choosing an instance for one fact after another."""

    def __init__(self, search: Search, goal: Fact) -> None:
        self.search = search
        self.goal = search.start(goal, given=False)
        self.next_bound = UNPROVED
        """The next height for which there may be proofs."""
        self._instances: dict[Fact, list[Instance]] = {}

    def of_height(self, bound: int) -> Iterator[Choice]:
        self.next_bound = UNPROVED
        goal = self.goal.fact
        choice: Choice = {}
        open_facts: list[tuple[Fact, Iterator[Instance]]] = [(goal, iter(self._options(goal, choice, {goal: 0}, bound)))]
        while open_facts:
            fact, options = open_facts[-1]
            choice.pop(fact, None)
            instance = next(options, None)
            if instance is None:
                open_facts.pop()
                continue
            choice[fact] = instance
            depths = self._depths(choice)
            low = max(depth + (1 if known in choice else self._lowest(known)) for known, depth in depths.items())
            if low > bound:
                self._cut(low)
                continue
            following = next((known for known in depths if known not in choice and not self._given(known)), None)
            if following is not None:
                open_facts.append((following, iter(self._options(following, choice, depths, bound))))
            elif low == bound:
                yield dict(choice)

    def _options(self, fact: Fact, choice: Choice, depths: dict[Fact, int], bound: int) -> list[Instance]:
        """Return the instances that can prove a fact in a partial proof, those with low premises first."""
        above = _above(fact, choice)
        options: list[tuple[int, int, Instance]] = []
        for instance in self._all(fact):
            if above.isdisjoint(instance.premises):
                height = 1 + max([self._lowest(premise) for premise in instance.premises], default=0)
                if depths[fact] + height <= bound:
                    options.append((height, len(options), instance))
                else:
                    self._cut(depths[fact] + height)
        return [instance for _, _, instance in sorted(options, key=lambda option: option[:2])]

    def _cut(self, height: int) -> None:
        self.next_bound = min(self.next_bound, height)

    def _all(self, fact: Fact) -> list[Instance]:
        found = self._instances.get(fact)
        if found is None:
            found = self._instances[fact] = self.search.derivations.instances(fact)
        return found

    def _given(self, fact: Fact) -> bool:
        return self.search.node(fact).given

    def _lowest(self, fact: Fact) -> int:
        """Return a lower bound of the height of a fact's proofs: the smallest height, unless computing it takes too long."""
        node = self.search.node(fact)
        self.search.compute_height(node, EFFORT - self.search.spent)
        return node.lowest

    def _depths(self, choice: Choice) -> dict[Fact, int]:
        """Return the maximal depth of each fact of a proof below the goal, by increasing depth. The proof has no cycle."""
        depths: dict[Fact, int] = {}
        for fact in reversed(below_first(self.goal.fact, choice)):
            depth = depths.setdefault(fact, 0)
            if fact in choice:
                for premise in choice[fact].premises:
                    depths[premise] = max(depths.get(premise, 0), depth + 1)
        return depths


def _above(fact: Fact, choice: Choice) -> set[Fact]:
    """Return a fact and those facts of a proof that depend on it."""
    heads: dict[Fact, list[Fact]] = {}
    for head, instance in choice.items():
        for premise in instance.premises:
            heads.setdefault(premise, []).append(head)
    return reachable([fact], lambda fact: heads.get(fact, ()))
