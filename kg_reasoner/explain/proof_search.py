"""Search for the shortest proof in the graph of facts and rule instances, backwards from the goal.

The height of a proof is the length of its longest chain of rule applications. The *shortest* proof has the smallest height, and
so does each of its sub-proofs; among instances of equal height, the one with the fewest statements is chosen, counting a
statement as often as it is used. (Counting it once makes the problem NP-hard.) The algorithm is Knuth's generalisation of
Dijkstra's algorithm to AND/OR graphs (D. E. Knuth: A generalization of Dijkstra's algorithm, Information Processing Letters 6,
1977) on the necessary part of the graph: facts are expanded in the order of their distance from the goal. Once all facts at a
distance less than h are expanded, every proof of height h is known.

Every fact of a materialisation has a proof. If finding the shortest one takes too long (some facts have millions of proofs), the
shortest in the explored part is given; if there is none, any well-founded proof, see `kg_reasoner.explain.any_proof`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Final

from kg_reasoner.explain.any_proof import UNPROVED, Known, prove
from kg_reasoner.explain.derivations import FIRST_ROWS, Derivations, Fact, HeadPlan, Instance
from kg_reasoner.graphs import postorder, reachable

__all__ = ["EFFORT", "UNPROVED", "Choice", "Memory", "Search", "below_first", "find_proof"]

EFFORT: Final = 100_000
"""The number of rule instances that a search examines before it accepts any proof, and the number that are remembered."""

Choice = dict[Fact, Instance]
"""A proof: for each fact that is proved by a rule, the instance."""


class FactNode:
    """A fact in the graph."""

    __slots__ = ("best", "complete", "exact", "fact", "fetched", "given", "height", "instances", "parents", "size")

    def __init__(self, fact: Fact, given: bool) -> None:
        self.fact = fact
        self.given = given
        """It needs no rule: it is explicit or stated, or a group of an aggregate."""
        self.height = 0 if given else UNPROVED
        self.exact = given
        """Its height is known to be the smallest."""
        self.size = 1
        self.best: Instance | None = None
        self.instances: list[Link] | None = None
        self.parents: list[Link] = []
        self.fetched = 0
        self.complete = False
        """All its instances have been fetched."""

    @property
    def lowest(self) -> int:
        """A lower bound of the height of the fact's proofs."""
        if self.exact:
            return self.height
        return 1 if self.instances is None else 2


class Link:
    """A rule instance in the graph: an edge from the nodes of its premises to that of its head."""

    __slots__ = ("head", "instance", "missing", "premises")

    def __init__(self, instance: Instance, head: FactNode, premises: list[FactNode]) -> None:
        self.instance = instance
        self.head = head
        self.premises = premises
        self.missing = 0


class Search:
    """The explored part of the graph. It can serve several goals, one after the other."""

    def __init__(self, derivations: Derivations) -> None:
        self.derivations = derivations
        self.spent = 0
        """The instances that were looked at."""
        self.nodes: dict[Fact, FactNode] = {}
        self._lowered: list[tuple[int, int, FactNode]] = []
        self._count = 0

    def start(self, goal: Fact, given: bool) -> FactNode:
        """Return the node of a first goal. If it is not `given`, it needs a rule even if it is explicit or stated."""
        self.nodes[goal] = FactNode(goal, given)
        return self.nodes[goal]

    def node(self, fact: Fact) -> FactNode:
        node = self.nodes.get(fact)
        if node is None:
            node = self.nodes[fact] = FactNode(fact, self.derivations.is_given(fact))
        return node

    # --- the graph --------------------------------------------------------------------------------------------------

    def expand(self, node: FactNode, limit: int | None = None) -> None:
        """Fetch the instances of a node, up to about `limit`. If instances need no further rule, keep only the shortest of them.

        Examining the first instances of each rule often finds one.
        """
        derivations, fact = self.derivations, node.fact
        links: list[Link] = []
        lowest: Link | None = None
        unfinished: list[HeadPlan] = []
        for plan in derivations.plans(fact):
            if lowest is not None and len(plan.premises) >= len(lowest.premises):
                break
            chunk = next(derivations.chunks(plan, fact), [])
            lowest = self._link(node, chunk, links) or lowest
            if len(chunk) == FIRST_ROWS:
                unfinished.append(plan)
        for plan in unfinished:
            if lowest is not None and len(plan.premises) >= len(lowest.premises):
                break
            for number, chunk in enumerate(derivations.chunks(plan, fact)):
                if limit is not None and len(links) >= limit:
                    break
                found = self._link(node, chunk, links) if number > 0 else None
                if found is not None:
                    lowest = found
                    break
        known = node.fetched
        node.complete = limit is None or len(links) < limit
        node.fetched = len(links)
        self.spent += len(links) - known
        if lowest is not None:
            node.instances, node.exact = [lowest], True
            self._lower(node, 1)
            return
        for link in links[known:]:
            self._watch(link)
        node.instances = [*(node.instances or ()), *links[known:]]

    def _link(self, node: FactNode, instances: list[Instance], links: list[Link]) -> Link | None:
        """Add links for instances; stop at the first that needs no further rule."""
        for instance in instances:
            premises = [self.node(fact) for fact in instance.premises]
            if node in premises:
                continue
            link = Link(instance, node, premises)
            links.append(link)
            if all(premise.given for premise in premises):
                return link
        return None

    def _watch(self, link: Link) -> None:
        for premise in link.premises:
            if not premise.given:
                premise.parents.append(link)
                link.missing += premise.height == UNPROVED
        if link.missing == 0:
            self._lower(link.head, 1 + max([premise.height for premise in link.premises], default=0))

    def _lower(self, node: FactNode, height: int) -> None:
        if height < node.height:
            self._count += 1
            heapq.heappush(self._lowered, (height, self._count, node))

    def propagate(self) -> None:
        """Update the heights of all nodes."""
        while self._lowered:
            height, _, node = heapq.heappop(self._lowered)
            if height >= node.height:
                continue
            first = node.height == UNPROVED
            node.height = height
            for link in node.parents:
                link.missing -= first
                if link.missing == 0 and height + 1 < link.head.height:
                    self._lower(link.head, 1 + max([premise.height for premise in link.premises]))

    # --- the shortest proof -----------------------------------------------------------------------------------------

    def compute_height(self, target: FactNode, effort: int | None) -> bool:
        """Compute the smallest height of a node, or UNPROVED. Return False if that takes more new instances than `effort`."""
        most = None if effort is None else self.spent + effort
        level, depth = [target], 0
        seen = {target}
        while level and not target.exact:
            for node in level:
                if node.instances is None or not (node.complete or node.exact):
                    if most is not None and self.spent > most:
                        return False
                    limit = None if effort is None else effort + 1
                    if limit is None or node.fetched < limit:  # otherwise an earlier search has fetched as many
                        self.expand(node, limit)
                    if not (node.complete or node.exact):
                        return False
            self.propagate()
            if target.height <= depth + 1:
                break
            following = []
            for node in level:
                for premise in _open_premises(node):
                    if premise not in seen:
                        seen.add(premise)
                        following.append(premise)
            level, depth = following, depth + 1
        target.exact = True
        return True

    def forget(self) -> None:
        """Break the cycles of the graph, which spares Python's garbage collector the work."""
        for node in self.nodes.values():
            node.parents.clear()
            node.instances = None

    # --- reading a proof off ----------------------------------------------------------------------------------------

    def choose(self, target: FactNode) -> Choice:
        """Return the lowest proof of a node in the graph and, of those made of lowest parts, the smallest."""
        needed = reachable([target], lambda node: (premise for link in _lowest_links(node) for premise in link.premises))
        for node in sorted(needed, key=lambda node: node.height):
            links = list(_lowest_links(node))
            if links:
                sizes = [1 + sum([premise.size for premise in link.premises]) for link in links]
                node.size = min(sizes)
                node.best = links[sizes.index(node.size)].instance
        choice: Choice = {}
        facts = [target.fact]
        while facts:
            fact = facts.pop()
            best = self.nodes[fact].best
            if best is not None and fact not in choice:
                choice[fact] = best
                facts += best.premises
        return choice


def _open_premises(node: FactNode) -> Iterator[FactNode]:
    """Yield the premises whose heights can still affect a node: those of instances that may be as low as the lowest known."""
    if node.exact:
        return
    for link in node.instances or ():
        if 1 + max([premise.lowest for premise in link.premises], default=0) <= node.height:
            for premise in link.premises:
                if not premise.exact:
                    yield premise


def _lowest_links(node: FactNode) -> Iterable[Link]:
    """Return the instances that determine the height of a node."""
    if node.given:
        return ()
    below = node.height - 1
    return [link for link in node.instances or () if max([premise.height for premise in link.premises], default=0) == below]


class Memory:
    """The results of earlier searches among the same facts and rules.

    Attributes:
        known: The facts that have been proved. They are used where any proof is accepted.
        search: The last explored part of the graph.
    """

    def __init__(self) -> None:
        self.known: Known = {}
        self.search: Search | None = None

    def graph(self, derivations: Derivations) -> Search:
        """Return the explored part of the graph, a new one if it has become large."""
        if self.search is None or self.search.spent > EFFORT:
            self.forget()
            self.search = Search(derivations)
        return self.search

    def forget(self) -> None:
        """Forget the graph."""
        if self.search is not None:
            self.search.forget()
            self.search = None


def find_proof(
    derivations: Derivations, goal: Fact, given: bool, effort: int | None = EFFORT, memory: Memory | None = None
) -> tuple[Choice, bool] | None:
    """Return a proof of a fact, with whether it is the shortest, or None if the fact has no proof.

    Args:
        derivations: The source of rule instances.
        goal: A fact that holds.
        given: Whether the fact needs no rule, being explicit or stated. If false, a proof by a rule is searched for.
        effort: The number of new instances to examine before any proof is accepted; None means unlimited.
        memory: What earlier searches have found; it gets what this one finds.
    """
    if memory is None or given != derivations.is_given(goal):  # proofs in the memory may use the goal as given
        alone = Memory()
        alone.graph(derivations).start(goal, given)
        found = _find_proof(derivations, goal, effort, alone)
        alone.forget()
        return found
    return _find_proof(derivations, goal, effort, memory)


def _find_proof(derivations: Derivations, goal: Fact, effort: int | None, memory: Memory) -> tuple[Choice, bool] | None:
    search, known = memory.graph(derivations), memory.known
    target = search.node(goal)
    shortest = search.compute_height(target, effort)
    if not shortest:
        search.propagate()
    if target.height < UNPROVED:
        choice = search.choose(target)
        for fact, instance in choice.items():
            if fact not in known:
                known[fact] = search.nodes[fact].height, instance
        return choice, shortest
    if shortest or not prove(derivations, goal, known):
        return None
    return _proof_of(goal, known), False


def _proof_of(goal: Fact, known: Known) -> Choice:
    """Return the proof of a known fact."""
    facts = reachable([goal], lambda fact: known[fact][1].premises if fact in known else ())
    return {fact: known[fact][1] for fact in facts if fact in known}


def below_first(goal: Fact, choice: Choice) -> list[Fact]:
    """Return the facts of a proof, each after all its premises; the premises of an instance keep their order."""
    return list(postorder([goal], lambda fact: choice[fact].premises if fact in choice else ()))
