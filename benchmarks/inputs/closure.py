"""The transitive closure in the rule language, and as triples for reasoners that support only ontologies."""

from __future__ import annotations

from typing import Final

from benchmarks.inputs.jobs import LINEAR, NONLINEAR

__all__ = ["EDGE_IRI", "PROGRAMS", "node_iri"]

_FIRST: Final = "input relation edge(from: integer, to: integer) .\npath(?x, ?y) :- edge(?x, ?y) .\n"

PROGRAMS: Final = {
    LINEAR: f"{_FIRST}path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .\n",
    NONLINEAR: f"{_FIRST}path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .\n",
}

EDGE_IRI: Final = "http://example.org/edge"
"""The property that is declared transitive for owlrl and reasonable; its materialisation is the non-linear closure."""


def node_iri(number: str) -> str:
    """Return the IRI of a graph's node."""
    return f"http://example.org/node/{number}"
