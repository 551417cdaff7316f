"""The order in which a plan joins the parts of a body.

The order is greedy: the positive atom with the fewest expected rows is next; all other parts follow as soon as their variables are
bound. Tuples that the trigger determines come first: most triggers lack one, and looking it up takes less time than a check. A rule
has one plan for each of its atoms, so what does not depend on the trigger is determined once for a body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from kg_reasoner.planning.catalog import StoredAtom, StoredCall, StoredComparison, StoredTerm

__all__ = ["Check", "Estimate", "Part", "PartsOfBody", "by_shape", "in_join_order", "names_of", "parts_of_body"]

Check: TypeAlias = StoredComparison | StoredCall
Part: TypeAlias = StoredAtom | Check

Estimate: TypeAlias = Callable[[StoredAtom, set[str]], float]
"""Returns the expected matches of an atom, given the bound variables."""

_RECENT: Final = 4
"""The number of bodies that are remembered: the plans of one rule are made one after the other."""


def by_shape(atom: StoredAtom, bound: Collection[str]) -> float:
    """Return an estimate without statistics: atoms with known columns only come first, then those that share a variable."""
    constants = known = 0
    for term in atom.terms:
        if isinstance(term, int):
            constants += 1
        elif term in bound:
            known += 1
    unknown = len(atom.terms) - constants - known
    if unknown == 0:
        return 0
    return unknown if known else 100 + unknown - constants


class PartsOfBody:
    """The parts of a body, and which variables they bind and need.

    Attributes:
        body: The atoms.
        names: The variables of each atom.
        shared: The variables that parts other than negations bind.
        checks: The parts that follow as soon as their variables are bound: checks, then negated atoms, which are their numbers.
        needs: The variables that each of the checks needs.
    """

    def __init__(self, body: tuple[StoredAtom, ...], checks: tuple[Check, ...]) -> None:
        self.body = body
        self.names = [names_of(atom) for atom in body]
        self.shared = {name for atom, names in zip(body, self.names, strict=True) if not atom.negated for name in names}
        self.shared |= {part.result for part in checks if isinstance(part, StoredCall) and isinstance(part.result, str)}
        self.checks: list[Check | int] = [*checks, *(number for number, atom in enumerate(body) if atom.negated)]
        self.needs = [self.names[part] & self.shared if isinstance(part, int) else _needed(part) for part in self.checks]
        self.checks_with = _by_name(enumerate(self.needs))
        """The checks that need a variable."""
        self.atoms_with = _by_name((number, names) for number, names in enumerate(self.names) if not body[number].negated)
        """The positive atoms that have a variable."""


@lru_cache(_RECENT)
def parts_of_body(body: tuple[StoredAtom, ...], checks: tuple[Check, ...]) -> PartsOfBody:
    """Return the parts of a body, which are remembered for further plans of the same rule."""
    return PartsOfBody(body, checks)


def in_join_order(
    parts: PartsOfBody, trigger: int | None, estimate: Estimate, bound: Collection[str], first: StoredAtom | None = None
) -> list[tuple[Part, int]]:
    """Return the parts of a body in join order, each with whether it may match the block of new rows (it comes after the
    trigger).

    Args:
        parts: The parts of the body.
        trigger: The number of the atom that triggers the plan, which is not joined, or None.
        estimate: The expected matches of an atom.
        bound: The variables that are bound at first.
        first: The atom of the body to begin with, or None for the one with the lowest estimate.
    """
    return _Ordering(parts, trigger, estimate, bound, first).order


class _Ordering:
    """The search for a join order. Estimates are kept, and renewed where a variable has been bound."""

    def __init__(
        self, parts: PartsOfBody, trigger: int | None, estimate: Estimate, bound: Collection[str], first: StoredAtom | None
    ) -> None:
        self.order: list[tuple[Part, int]] = []
        self._parts, self._trigger, self._estimate = parts, trigger, estimate
        self._bound = set(bound)
        atoms = [(number, atom) for number, atom in enumerate(parts.body) if not atom.negated and number != trigger]
        self._costs = {number: -1 if atom is first else estimate(atom, self._bound) for number, atom in atoms}
        self._cheapest = [(cost, number) for number, cost in self._costs.items()]
        heapify(self._cheapest)
        self._missing = [len(names - self._bound) for names in parts.needs]
        self._ready = [place for place, missing in enumerate(self._missing) if not missing]
        while trigger is not None and self._cheapest and parts.names[self._cheapest[0][1]] <= self._bound:
            self._add_cheapest()
        self._add_ready()
        while self._cheapest:
            if self._add_cheapest():
                self._add_ready()

    def _add_cheapest(self) -> bool:
        """Add the atom with the lowest estimate. Return False if that is out of date, or the atom is joined."""
        cost, number = heappop(self._cheapest)
        if self._costs.get(number) != cost:
            return False
        del self._costs[number]
        self.order.append((self._parts.body[number], int(self._trigger is not None and number > self._trigger)))
        self._bind(self._parts.names[number])
        return True

    def _add_ready(self) -> None:
        """Add the checks whose variables are bound, the first one first."""
        body, trigger = self._parts.body, self._trigger
        while self._ready:
            part = self._parts.checks[heappop(self._ready)]
            if isinstance(part, int):
                self.order.append((body[part], int(part >= (len(body) if trigger is None else trigger))))
                continue
            self.order.append((part, 0))
            if isinstance(part, StoredCall) and isinstance(part.result, str):
                self._bind({part.result})

    def _bind(self, names: Collection[str]) -> None:
        parts, costs = self._parts, self._costs
        new = [name for name in names if name not in self._bound]
        self._bound.update(new)
        for name in new if parts.checks else ():
            for place in parts.checks_with.get(name, ()):
                self._missing[place] -= 1
                if not self._missing[place]:
                    heappush(self._ready, place)
        if not costs:
            return
        looks_further = self._estimate is not by_shape  # at the variables of other atoms
        for number in list(costs) if looks_further else {n for name in new for n in parts.atoms_with.get(name, ()) if n in costs}:
            cost = self._estimate(parts.body[number], self._bound)
            if cost != costs[number]:
                costs[number] = cost
                heappush(self._cheapest, (cost, number))


def names_of(part: Part) -> set[str]:
    """Return the variables of a part of a body."""
    if isinstance(part, StoredAtom):
        terms: tuple[StoredTerm | None, ...] = part.terms
    elif isinstance(part, StoredCall):
        terms = (*part.arguments, part.result)
    else:
        terms = (part.left, part.right)
    return {term for term in terms if isinstance(term, str)}


def _needed(part: Check) -> set[str]:
    """Return the variables that must be bound before a check."""
    terms = part.arguments if isinstance(part, StoredCall) else (part.left, part.right)
    return {term for term in terms if isinstance(term, str)}


def _by_name(items: Iterable[tuple[int, set[str]]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, names in items:
        for name in names:
            found.setdefault(name, []).append(number)
    return found
