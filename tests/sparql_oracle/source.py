"""Random choices, and what they know: the dataset, and a witness that makes many patterns have a solution."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from kg_reasoner.terms import BlankNode, Term, Triple

from . import ast
from .alphabet import GRAPHS, LITERALS, NODES, NUMBERS, STRINGS, VARIABLES
from .dataset import Dataset

T = TypeVar("T")


class Source:
    """What the makers of random queries draw from.

    Attributes:
        dataset: The data that the query is for.
        witness: A value for each variable of triple patterns, from the data: patterns are preferred that it satisfies.
    """

    def __init__(self, random: Random, dataset: Dataset) -> None:
        self._random = random
        self.dataset = dataset
        terms = sorted({term for fact in dataset.default for term in (fact[0], fact[2])}, key=str)
        self.witness = {variable: self.pick(terms) for variable in VARIABLES}

    def pick(self, among: Sequence[T]) -> T:
        """One of some things; a failing example is made smaller towards the first."""
        return among[self._random.randrange(len(among))] if len(among) > 1 else among[0]

    def up_to(self, most: int) -> int:
        """A number from 0 to another one, which is included."""
        return self._random.randrange(most + 1)

    def once_in(self, number: int) -> bool:
        """True once in so many times."""
        return self._random.randrange(number) == number - 1

    def some(self, among: Sequence[T], most: int, least: int = 0) -> list[T]:
        """Different things among some, in any order."""
        left, chosen = list(dict.fromkeys(among)), []
        for _ in range(least + self.up_to(most - least)):
            if left:
                chosen.append(left.pop(self.up_to(len(left) - 1)))
        return chosen

    def literal(self) -> Term:
        """A literal: a number, a string or any."""
        return self.pick(self.pick((NUMBERS, STRINGS, LITERALS)))

    def constant(self) -> Term:
        """An IRI or a literal."""
        return self.pick(NODES) if self.once_in(2) else self.literal()

    def facts(self, name: ast.Var | Term | None) -> Sequence[Triple]:
        """The triples of a graph, or of any graph if its name is a variable."""
        if name is None:
            return sorted(self.dataset.default, key=str)
        graph = self.pick(GRAPHS) if isinstance(name, ast.Var) else name
        return sorted(self.dataset.named.get(graph, ()), key=str)  # type: ignore[call-overload]

    def standing_for(self, term: Term) -> ast.Var | Term:
        """What may stand for a term of the data in a pattern: a variable with this value, another variable, or the term."""
        same = [variable for variable, value in self.witness.items() if value == term]
        if same and not self.once_in(4):
            return self.pick(same)
        return self.pick(VARIABLES) if isinstance(term, BlankNode) or self.once_in(2) else term
