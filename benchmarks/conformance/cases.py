"""The W3C's test cases as data: OWL 2, RDF 1.1 Semantics, and SPARQL 1.1 entailment regimes.

The suites lie beside the checkout, in ``../shared/suites``; nothing of them is part of this repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kg_reasoner.terms import Triple

__all__ = [
    "ANSWERS",
    "CONSISTENT",
    "DOES_NOT_ENTAIL",
    "ENTAILS",
    "INCONSISTENT",
    "OWL",
    "SIMPLE",
    "SUITES",
    "SUITE_FOLDER",
    "Case",
    "cases",
    "folder",
    "triples_of",
]

SUITES = ("owl2", "rdfmt", "sparql-entailment")

SUITE_FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "suites"

SIMPLE, OWL = "simple", "OWL 2 RL"
"""Regimes, beside ``RDF`` and ``RDFS``: entailment without any vocabulary, and that of the OWL 2 tests."""

CONSISTENT, INCONSISTENT, ENTAILS, DOES_NOT_ENTAIL, ANSWERS = "consistent", "inconsistent", "entails", "does not entail", "answers"

OWL_KINDS = {
    "ConsistencyTest": CONSISTENT,
    "InconsistencyTest": INCONSISTENT,
    "PositiveEntailmentTest": ENTAILS,
    "NegativeEntailmentTest": DOES_NOT_ENTAIL,
}
RDF_KINDS = {
    "consistent": CONSISTENT,
    "inconsistent": INCONSISTENT,
    "entails": ENTAILS,
    "not-entails": DOES_NOT_ENTAIL,
}


@dataclass(frozen=True)
class Case:
    """One question of a test to a system."""

    suite: str
    name: str
    kind: str
    """What has to be found out of the premise: ``consistent``, ``inconsistent``, ``entails``, ``does not entail``, ``answers``."""
    regime: str
    premise: tuple[Path, ...]
    conclusion: Path | None = None
    """The graph that is entailed or not; for ``answers`` the query's result."""
    query: Path | None = None
    datatypes: frozenset[str] | None = None
    """The datatypes to be recognised besides rdf:langString and xsd:string, as IRIs; None for all that the system knows."""
    level: str = "must"
    """``must``; ``extension``: rules beyond those of the profile are needed; ``cannot``: no set of rules is expected to find it."""
    reason: str = ""
    """Why the level is not ``must``."""

    @property
    def id(self) -> str:
        return " ".join(part for part in (self.name, self.kind, self.regime) if part)


def folder() -> Path | None:
    """Return the folder of the suites, or None if it is absent."""
    return SUITE_FOLDER if all((SUITE_FOLDER / suite / "manifest.json").is_file() for suite in SUITES) else None


def cases(suite: str) -> list[Case]:
    """Return the cases of a suite, or none if it is absent."""
    root = folder()
    if root is None:
        return []
    entries = json.loads((root / suite / "manifest.json").read_text(encoding="utf-8"))
    make = {"owl2": _owl2, "rdfmt": _rdfmt, "sparql-entailment": _sparql}[suite]
    return [case for entry in entries for case in make(root / suite, entry)]


def _owl2(root: Path, entry: dict[str, Any]) -> Iterator[Case]:
    for kind, (level, reason) in entry["levels"].items():
        graph = {ENTAILS: "conclusion", DOES_NOT_ENTAIL: "nonconclusion"}.get(OWL_KINDS[kind])
        conclusion = None if graph is None else root / entry[graph]
        premise = (root / entry["premise"],)
        yield Case("owl2", entry["id"], OWL_KINDS[kind], OWL, premise, conclusion, level=level, reason=reason or "")


def _rdfmt(root: Path, entry: dict[str, Any]) -> Iterator[Case]:
    conclusion = root / entry["conclusion"] if "conclusion" in entry else None
    known = frozenset(entry["recognized"])
    yield Case("rdfmt", entry["id"], RDF_KINDS[entry["kind"]], entry["regime"], (root / entry["premise"],), conclusion, None, known)


def _sparql(root: Path, entry: dict[str, Any]) -> Iterator[Case]:
    regimes = [regime for regime in ("RDF", "RDFS") if regime in entry["regimes"]]
    if "OWL-RDF-Based" in entry["regimes"] and "RL" in entry["profiles"]:
        regimes.append(OWL)
    make = partial(Case, "sparql-entailment", entry["id"], ANSWERS)
    for regime in regimes:
        yield make(regime, tuple(root / path for path in entry["data"]), root / entry["result"], root / entry["query"])


def triples_of(*paths: Path) -> list[Triple]:
    """Return the triples of N-Triples or Turtle files with unchanged literals; blank nodes are local to each file."""
    from pyoxigraph import RdfFormat, parse

    from kg_reasoner.loaders.convert import from_oxigraph

    found: list[Triple] = []
    for path in paths:
        syntax = RdfFormat.N_TRIPLES if path.suffix == ".nt" else RdfFormat.TURTLE
        for quad in parse(path.read_bytes(), syntax, base_iri="http://example.org/", rename_blank_nodes=True):
            subject, predicate, value = map(from_oxigraph, (quad.subject, quad.predicate, quad.object))
            found.append((subject, predicate, value))
    return found
