"""Explanations: proofs of facts that hold, and the reasons why other facts do not.

Data flow: `derivations` finds the rule instances that derive a fact. `proof_search` selects those of the shortest proof, and
`enumeration` those of all proofs. `explainer` turns them into the `steps` of `proofs`, which `proof_text`, `data`, `dot` and
`html` display. For facts that do not hold, `missing` computes `misses`, which `absence` displays.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from kg_reasoner.explain.derivations import Derivations
    from kg_reasoner.explain.explainer import Explainer
    from kg_reasoner.explain.misses import Miss
    from kg_reasoner.explain.missing import WhyNot
    from kg_reasoner.explain.proof_search import EFFORT
    from kg_reasoner.explain.proofs import Proof
    from kg_reasoner.explain.steps import Computed, Group, Solution, Step

__all__ = ["EFFORT", "Computed", "Derivations", "Explainer", "Group", "Miss", "Proof", "Solution", "Step", "WhyNot"]

_HOMES: Final = {
    **dict.fromkeys(("Computed", "Group", "Solution", "Step"), "steps"),
    "Derivations": "derivations",
    "EFFORT": "proof_search",
    "Explainer": "explainer",
    "Miss": "misses",
    "Proof": "proofs",
    "WhyNot": "missing",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: readable names of axioms need none of them."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
