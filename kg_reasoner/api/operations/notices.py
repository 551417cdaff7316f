"""Python warnings about loaded documents, each of them once.

They are issued while no operation runs, so that a warning that is turned into an error (``-W error``) leaves everything
unchanged. Warnings that were not issued because of that are issued the next time.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kg_reasoner.api.operations.loaded_documents import Loaded
from kg_reasoner.errors import BeyondProfileWarning, ReasonerWarning
from kg_reasoner.language.checks import analysis

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.owl import AxiomWarning
    from kg_reasoner.program import Program

__all__ = ["Notices", "depth_of_caller", "probable_mistakes", "warn_of_program"]

_PACKAGE: Final = str(Path(__file__).parents[2])


MOST_ISSUED: Final = 10
"""The number of Python warnings that are issued at once. One more tells how many others there are."""


class Notices:
    """The warnings of a reasoner, and which of them have been issued; none are if it is `silent`."""

    def __init__(self) -> None:
        self.silent = False
        self.seen: tuple[Loaded | None, tuple[AxiomWarning, ...]] = None, ()
        """The documents and the warnings of axioms that have been issued last."""
        self._begun: tuple[object, object] | None = None
        self._issued: set[AxiomWarning] = set()
        self._room = 0

    def are_issued(self, loaded: Loaded, of_axioms: tuple[AxiomWarning, ...]) -> bool:
        """Return whether these are the warnings that were issued last."""
        seen = self.seen
        return seen[0] is loaded and seen[1] is of_axioms

    def issue(self, loaded: Loaded, of_axioms: tuple[AxiomWarning, ...]) -> None:
        """Issue the warnings about documents and axioms that have not been issued yet; of many, the first ones and their number."""
        if self.are_issued(loaded, of_axioms):
            return
        begun = self._begun
        if begun is None or begun[0] is not loaded or begun[1] is not of_axioms:
            self._begun, self._room = (loaded, of_axioms), MOST_ISSUED
        kinds = [(ReasonerWarning, warning) for warning in loaded.warnings()] if self.seen[0] is not loaded else []
        kinds += [(BeyondProfileWarning, warning) for warning in _other_part(self.seen[1], of_axioms)]
        new = [(category, warning) for category, warning in kinds if warning not in self._issued]
        if self.silent:
            new = []
        first, others = new[: self._room], new[self._room :]
        for category, warning in first:
            self._issued.add(warning)
            self._room -= 1
            warnings.warn(category(str(warning)), stacklevel=depth_of_caller())
        if others:
            self._issued.update(warning for _, warning in others)
            text = f"{len(others):,} more warnings: see reasoner.warnings, which has all of them"
            warnings.warn(others[0][0](text), stacklevel=depth_of_caller())
        self.seen = loaded, of_axioms


def _other_part(before: tuple[AxiomWarning, ...], now: tuple[AxiomWarning, ...]) -> tuple[AxiomWarning, ...]:
    """Return a sequence without the prefix and the suffix that it shares with another one. Few of many warnings change."""
    start = _equal_at_first(before, now)
    return now[start : len(now) - _equal_at_first(before[start:][::-1], now[start:][::-1])]


def _equal_at_first(first: tuple[AxiomWarning, ...], second: tuple[AxiomWarning, ...]) -> int:
    """Return the length of the common prefix of two sequences. Parts that are the same objects are compared quickly."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def probable_mistakes(program: Program) -> list[str]:
    """Return a warning for each probable mistake in a program."""
    from kg_reasoner.language.strata.growth import growing

    return [*analysis.homonyms(program), *growing(program.rules)]


def warn_of_program(program: Program) -> None:
    """Issue a warning for each probable mistake in a program."""
    for text in probable_mistakes(program):
        warnings.warn(ReasonerWarning(text), stacklevel=depth_of_caller())


def depth_of_caller() -> int:
    """Return the depth in the stack, from the caller's point of view, of the first frame outside this package."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    return depth
