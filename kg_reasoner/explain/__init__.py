"""Explanations: proofs of facts that are there, and what is missing for those that are not.

Data flow: `derivations` finds the rule instances that derive a fact; `search` picks those of the shortest proof, `enumeration`
those of all proofs; `explainer` writes them down as `proofs`, which `text`, `data`, `dot` and `html` show. `missing` looks for what
is not there, and `absence` shows that.
"""

from __future__ import annotations

from kg_reasoner.explain.derivations import Derivations
from kg_reasoner.explain.explainer import Explainer
from kg_reasoner.explain.missing import Miss, WhyNot
from kg_reasoner.explain.proofs import Computed, Group, Proof, Solution, Step
from kg_reasoner.explain.search import EFFORT

__all__ = ["EFFORT", "Computed", "Derivations", "Explainer", "Group", "Miss", "Proof", "Solution", "Step", "WhyNot"]
