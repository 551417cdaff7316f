"""The layout of a proof as trees: each sub-proof is written once, and deep trees are cut into several."""

from __future__ import annotations

from typing import Final, Literal

from kg_reasoner.data_classes import dataclass
from kg_reasoner.explain.steps import ProofSteps

__all__ = ["DEEPEST", "Line", "outline"]

DEEPEST: Final = 40
"""The depth at which a tree is continued in a separate tree."""


@dataclass(frozen=True, slots=True)
class Line:
    """A step in a tree. `last` says for its ancestors below the root and for itself whether each is the last of its siblings.

    `whole`: its premises follow. `above`: they have been shown already. `below`: they follow in a tree of their own.
    """

    step: int
    last: tuple[bool, ...]
    premises: Literal["whole", "above", "below"]

    @property
    def depth(self) -> int:
        return len(self.last)


def outline(proof: ProofSteps, deepest: int = DEEPEST) -> list[list[Line]]:
    """Return the trees of a proof in reading order; the root of the first one is the conclusion."""
    trees: list[list[Line]] = []
    roots = [len(proof.steps) - 1]
    shown: set[int] = set()
    for root in roots:  # grows while it is being read
        tree: list[Line] = []
        pending: list[tuple[int, tuple[bool, ...]]] = [(root, ())]
        while pending:
            number, last = pending.pop()
            premises = proof.steps[number].premises
            if not premises or (number not in shown and (number == root or number not in roots) and len(last) < deepest):
                tree.append(Line(number, last, "whole"))
                shown.add(number)
                ends = [*[False] * (len(premises) - 1), True]
                pending += [(premise, (*last, end)) for premise, end in reversed([*zip(premises, ends, strict=False)])]
            elif number in shown:
                tree.append(Line(number, last, "above"))
            else:
                tree.append(Line(number, last, "below"))
                if number not in roots:
                    roots.append(number)
        trees.append(tree)
    return trees
