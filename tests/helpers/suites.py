"""The suites of others, which are not part of the repository: where they are looked for, and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

SUITES: Final = Path(__file__).resolve().parents[3] / "shared" / "suites"

ORIGINS: Final = {
    "datalog": "Datalog programs of souffle-lang/souffle, as JSON",
    "graphs": "graphs of brurucy/pydbsp",
    "lubm": "data, ontology, queries and answers of the Lehigh University Benchmark",
    "owl2": "the W3C's OWL 2 test cases",
    "rdfmt": "the W3C's RDF 1.1 Semantics tests (w3c/rdf-tests)",
    "sparql-entailment": "the W3C's SPARQL 1.1 entailment tests (w3c/rdf-tests)",
    "updates": "update streams of M-Illich/inc-mat-mark",
}


def why_missing(name: str) -> str:
    """What to say where a suite is missing."""
    return f"../shared/suites/{name} is missing: {ORIGINS[name]}; see CONTRIBUTING.md, Tests"


def needs_suite(name: str) -> pytest.MarkDecorator:
    """Skips tests where a suite is missing."""
    return pytest.mark.skipif(not (SUITES / name).is_dir(), reason=why_missing(name))
