"""Python warnings about what has been loaded, each of them once.

They are issued when nothing is under way, so that a warning that is turned into an error (``-W error``) leaves everything as it is.
What was not issued because of that is issued the next time.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kg_reasoner.api.loaded import Loaded
from kg_reasoner.errors import BeyondProfileWarning, ReasonerWarning
from kg_reasoner.language import analysis

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.owl import AxiomWarning
    from kg_reasoner.program import Program

__all__ = ["Notices", "warn_of_program"]

_PACKAGE: Final = str(Path(__file__).parents[1])


class Notices:
    """Issues the warnings of a reasoner."""

    def __init__(self) -> None:
        self._seen: tuple[object, object] | None = None
        self._issued: set[AxiomWarning] = set()

    def are_issued(self, loaded: Loaded, of_axioms: tuple[AxiomWarning, ...]) -> bool:
        """Whether these are the warnings that were issued last."""
        return self._seen is not None and self._seen[0] is loaded and self._seen[1] is of_axioms

    def issue(self, loaded: Loaded, of_axioms: tuple[AxiomWarning, ...]) -> None:
        """Issue the warnings that have not been issued: about documents, and about axioms."""
        if self.are_issued(loaded, of_axioms):
            return
        kinds = [(ReasonerWarning, warning) for warning in loaded.warnings()]
        kinds += [(BeyondProfileWarning, warning) for warning in of_axioms]
        for category, warning in kinds:
            if warning not in self._issued:
                self._issued.add(warning)
                warnings.warn(category(str(warning)), stacklevel=_depth_of_caller())
        self._seen = loaded, of_axioms


def warn_of_program(program: Program) -> None:
    """Issue warnings of what is probably a mistake in a program."""
    for text in analysis.homonyms(program):
        warnings.warn(ReasonerWarning(text), stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    """How far up the stack, for whoever asks, the code outside of this package is."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    return depth
