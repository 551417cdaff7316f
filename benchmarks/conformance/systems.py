"""The compared systems: the closure of a premise under each.

owlrl and reasonable return triples. Our matching (blank nodes are existential, literals are compared by value) and queries by
rdflib decide whether a conclusion is among them, so all systems are measured alike.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.conformance.answers import is_expected
from benchmarks.conformance.cases import ANSWERS, CONSISTENT, ENTAILS, INCONSISTENT, OWL, SIMPLE, Case, triples_of
from kg_reasoner.api.entailment import entails
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.expressions.datatypes import DATATYPES

__all__ = ["SYSTEMS", "System", "SystemClosure", "is_right"]


@dataclass(frozen=True)
class SystemClosure:
    """The closure of a premise under a system."""

    reasoner: Reasoner
    """Holds everything that the system has derived."""
    is_inconsistent: bool


@dataclass(frozen=True)
class System:
    """A system with settings: a column of the table."""

    name: str
    regimes: tuple[str, ...]
    """The regimes that it has rules for."""
    close: Callable[[Case], SystemClosure]
    package: str = "kg_reasoner"
    """What has to be installed for it."""


def is_right(case: Case, closure: SystemClosure) -> bool:
    """Return whether a closure gives the expected answer to a case."""
    if case.kind in (CONSISTENT, INCONSISTENT):
        return closure.is_inconsistent == (case.kind == INCONSISTENT)
    assert case.conclusion is not None
    if case.kind == ANSWERS:
        assert case.query is not None
        return is_expected(closure.reasoner, case.query, case.conclusion)
    return entails(closure.reasoner, triples_of(case.conclusion)) == (case.kind == ENTAILS)


def ours(rulesets: Mapping[str, str | None]) -> Callable[[Case], SystemClosure]:
    """Return a function that computes our closure, with a rule set for each regime."""

    def close(case: Case) -> SystemClosure:
        reasoner = Reasoner(ruleset=rulesets[case.regime], datatypes=case.datatypes and case.datatypes & DATATYPES)
        reasoner.add_triples(triples_of(*case.premise))
        return SystemClosure(reasoner, bool(reasoner.inconsistencies()))

    return close


def owlrl(case: Case) -> SystemClosure:
    """Return the closure by owlrl, which reports inconsistencies as triples of its own."""
    import owlrl as peer
    from rdflib import Graph, Literal, URIRef

    graph = Graph()
    for path in case.premise:
        graph.parse(path, format="nt" if path.suffix == ".nt" else "turtle")
    if case.regime != SIMPLE:
        semantics = peer.OWLRL_Semantics if case.regime == OWL else peer.RDFS_Semantics
        peer.DeductiveClosure(semantics, axiomatic_triples=True, datatype_axioms=True).expand(graph)
    error = URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")
    triples = [triple for triple in graph if not isinstance(triple[0], Literal) and isinstance(triple[1], URIRef)]
    return _of_triples(triples, is_inconsistent=(None, error, None) in graph)


def reasonable(case: Case) -> SystemClosure:
    """Return the closure by reasonable, which does not report inconsistencies."""
    import reasonable as peer
    from rdflib import Literal, URIRef

    reasoner = peer.PyReasoner()
    with TemporaryDirectory() as folder:
        for number, path in enumerate(case.premise):
            turtle = Path(folder) / f"{number}.ttl"  # it goes by the name, and N-Triples are Turtle, too
            shutil.copy(path, turtle)
            reasoner.load_file(str(turtle))
    triples = [triple for triple in reasoner.reason() if not isinstance(triple[0], Literal) and isinstance(triple[1], URIRef)]
    return _of_triples(triples, is_inconsistent=False)


def _of_triples(triples: Any, is_inconsistent: bool) -> SystemClosure:
    """Return the closure given by a system's triples, for our matching without rules."""
    reasoner = Reasoner()
    reasoner.add_triples(triples)
    return SystemClosure(reasoner, is_inconsistent)


SYSTEMS = (
    System(
        "by the book",
        (OWL, "RDFS", "RDF", SIMPLE),
        ours({OWL: "owl2rl-full", "RDFS": "rdfs-full", "RDF": "rdfs-full", SIMPLE: None}),
    ),
    System("for speed", (OWL, "RDFS", "RDF", SIMPLE), ours({OWL: "owl2rl", "RDFS": "rdfs", "RDF": "rdfs", SIMPLE: None})),
    System("owlrl", (OWL, "RDFS", "RDF", SIMPLE), owlrl, "owlrl"),
    System("reasonable", (OWL,), reasonable, "reasonable"),
)
