"""Proofs as text."""

from __future__ import annotations

from kg_reasoner.explain.displayed import displayed
from kg_reasoner.explain.readable_names import Names, reason_text, show_statement
from kg_reasoner.explain.steps import ProofSteps
from kg_reasoner.explain.tree import outline

__all__ = ["prefix_lines", "proof_text"]


def proof_text(proof: ProofSteps) -> str:
    """Return the prefixes, then the tree: each statement with its reason, and its premises below it."""
    proof = displayed(proof)
    names = Names(proof.prefixes)
    lines = []
    for number, tree in enumerate(outline(proof)):
        for line in tree:
            step = proof.steps[line.step]
            branches = "".join("    " if last else "│   " for last in line.last[:-1])
            branch = ("└── " if line.last[-1] else "├── ") if line.last else ""
            why = step.why if step.rule is None else f"by {reason_text(step.rule, names)}"
            if line.premises != "whole":
                why = "shown above" if line.premises == "above" else f"shown below, as [{line.step + 1}]"
            label = f"\n[{line.step + 1}] " if number and not line.last else ""
            lines.append(f"{label}{branches}{branch}{show_statement(step.statement, names)}   ({why})")
    return "\n".join([*prefix_lines(names), *lines])


def prefix_lines(names: Names) -> list[str]:
    """Return the used prefixes as declarations, in the syntax shared by the rule language and Turtle, and an empty line."""
    found = [f"@prefix {prefix}: <{namespace}> ." for prefix, namespace in sorted(names.used.items())]
    return [*found, ""] if found else []
