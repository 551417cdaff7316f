"""Proofs and their output formats. For their steps, see `kg_reasoner.explain.steps`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kg_reasoner.explain.steps import Computed, Group, ProofSteps, Reason, Solution, Statement, Step
from kg_reasoner.language.display_names import merged

__all__ = ["Computed", "Group", "Proof", "Reason", "Solution", "Statement", "Step"]


class Proof(ProofSteps):
    """A well-founded proof: each statement occurs once, after its premises; the last one is the conclusion.

    `shortest` states that no proof has a smaller height (see `height`), and no proof of this height with parts of minimal height
    can be has fewer steps. The premises of aggregates are not counted, because they belong to lower strata, as with negation. If
    `shortest` is false, the search ended early with this proof, see `kg_reasoner.explain.proof_search`.
    """

    __slots__ = ()

    def with_prefixes(self, prefixes: Mapping[str, str]) -> Proof:
        """Return the same proof, displayed with additional prefixes.

        Args:
            prefixes: The prefixes.

        Returns:
            The proof.
        """
        return Proof(self.steps, self.shortest, merged(self.prefixes, prefixes))

    def text(self) -> str:
        """Return the proof as a tree of lines with the conclusion at the top.

        Returns:
            The lines.
        """
        from kg_reasoner.explain.proof_text import proof_text

        return proof_text(self)

    def as_dict(self) -> dict[str, Any]:
        """Return dicts, lists and texts that `json` can write; see `kg_reasoner.explain.data`.

        Returns:
            The data.
        """
        from kg_reasoner.explain.data import proof_dict

        return proof_dict(self)

    def dot(self) -> str:
        """Return a graph in the DOT language of Graphviz; see `kg_reasoner.explain.dot`.

        Returns:
            The text of the graph.
        """
        from kg_reasoner.explain.dot import proof_dot

        return proof_dot(self)

    def html(self) -> str:
        """Return a self-contained HTML page; parts of the proof can be folded.

        Returns:
            The text of the page.
        """
        from kg_reasoner.explain.html import proof_page

        return proof_page(self)

    def _repr_html_(self) -> str:
        from kg_reasoner.explain.html import framed

        return framed(self.html(), len(self.steps))

    def __str__(self) -> str:
        return self.text()
