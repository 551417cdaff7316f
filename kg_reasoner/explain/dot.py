"""Proofs as graphs in the DOT language of Graphviz. This module draws nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kg_reasoner.explain.displayed import displayed
from kg_reasoner.explain.readable_names import Names, reason_text, show_statement
from kg_reasoner.explain.steps import ProofSteps, Reason
from kg_reasoner.language.display_names import merged

__all__ = ["COLOURS", "HEADER", "proof_dot", "proofs_dot", "quoted"]

COLOURS: Final[dict[Reason, str]] = {
    "explicit": "#e3f1e5",
    "stated": "#e3f1e5",
    "literal": "#e3f1e5",
    "rule": "#ffffff",
    "absent": "#f6e3e1",
    "checked": "#ece9f5",
    "computed": "#ece9f5",
    "aggregated": "#e1eef7",
    "solution": "#ffffff",
    "same": "#ffffff",
}


HEADER: Final = (
    "digraph proof {",
    "  rankdir=BT;",
    '  node [fontname="Helvetica", fontsize=11, style=filled, color="#555555"];',
    '  edge [color="#555555"];',
)


def proof_dot(proof: ProofSteps) -> str:
    """Return a directed graph: boxes for statements, ellipses for rule instances, arrows from premises to conclusions and from
    solutions to aggregates.
    """
    return "\n".join([*HEADER, *_proof_lines(proof, Names(proof.prefixes), ""), "}"]) + "\n"


def proofs_dot(proofs: Sequence[ProofSteps]) -> str:
    """Return one directed graph of several proofs, each in a cluster labelled with its number and height."""
    names = Names(merged(*(proof.prefixes for proof in reversed(proofs))))
    lines = [*HEADER]
    for number, proof in enumerate(proofs, start=1):
        lines += [f"  subgraph cluster_{number} {{", f"    label={quoted(f'proof {number}, height {proof.height}')};"]
        lines += [f"  {line}" for line in _proof_lines(proof, names, f"p{number}_")]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _proof_lines(proof: ProofSteps, names: Names, mark: str) -> list[str]:
    """Return the nodes and arrows of a proof; names of nodes begin with `mark`."""
    lines: list[str] = []
    proof = displayed(proof)
    last = len(proof.steps) - 1
    for number, step in enumerate(proof.steps):
        width = ", penwidth=2" if number == last else ""
        tip = "" if step.rule is not None else f", tooltip={quoted(step.why)}"
        label = quoted(show_statement(step.statement, names))
        lines.append(f'  {mark}s{number} [shape=box, fillcolor="{COLOURS[step.reason]}", label={label}{tip}{width}];')
        if step.rule is not None:
            label = quoted(reason_text(step.rule, names))
            lines.append(f'  {mark}r{number} [shape=ellipse, fillcolor="#fff6dd", fontsize=10, label={label}];')
            lines.append(f"  {mark}r{number} -> {mark}s{number};")
        target = "s" if step.rule is None else "r"
        lines += [f"  {mark}s{premise} -> {mark}{target}{number};" for premise in dict.fromkeys(step.premises)]
    return lines


def quoted(text: str) -> str:
    r"""Return a quoted DOT string. In DOT, a backslash begins an escape, also one for the name of a node (``\\N``).

    >>> print(quoted('a "b" \\N'))
    "a \"b\" \\N"
    """
    shown = "".join(char if char.isprintable() else " " for char in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
