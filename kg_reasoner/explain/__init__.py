"""Explanations: proofs of facts that are there, and what is missing for those that are not.

Data flow: `derivations` finds the rule instances that derive a fact; `search` picks those of the shortest proof, `enumeration`
those of all proofs; `explainer` writes them down as the `steps` of `proofs`, which `text`, `data`, `dot` and `html` show. `missing`
looks for what is not there, makes `misses` of it, and `absence` shows them.
"""

from __future__ import annotations

from kg_reasoner.explain.derivations import Derivations
from kg_reasoner.explain.explainer import Explainer
from kg_reasoner.explain.misses import Miss
from kg_reasoner.explain.missing import WhyNot
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.explain.search import EFFORT
from kg_reasoner.explain.steps import Computed, Group, Solution, Step

__all__ = ["EFFORT", "Computed", "Derivations", "Explainer", "Group", "Miss", "Proof", "Solution", "Step", "WhyNot"]
