"""The axioms that a proof uses, in functional syntax: a proof without its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from kg_reasoner.explain.proofs import Proof
from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.terms import OWL, RDF, RDFS, BlankNode, Literal, Term, Triple

__all__ = ["axioms_of"]

_KINDS: Final = (
    *(OWL.Class, OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty, OWL.NamedIndividual),
    *(RDFS.Datatype, RDFS.Class, RDF.Property),
)
"""The kinds of names on which it depends what an axiom says."""


_NAMING: Final = frozenset(f"<tag:kg-reasoner:owl2el/{name}>" for name in ("class", "property", "named", "context", "next"))
"""What `owl2el` derives from any axiom that mentions a name: such an axiom is not a reason for what follows."""


class _Readable(Protocol):
    def triples(self, subject: Any, predicate: Any, object: Any, which: Any = ..., /) -> Iterable[Triple]: ...


def axioms_of(source: _Readable, proof: Proof, prefixes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the axioms that a proof uses, in functional syntax and in the order of the proof.

    Args:
        source: The reasoner.
        proof: A proof of something that it derives.
        prefixes: The prefixes to use.
    """
    from kg_reasoner.io.owl import axiom_texts

    found: dict[str, None] = {}
    explicit = _explicit(proof)
    done: set[Triple] = set()
    for triple in explicit:
        if triple in done or not _states(source, triple):
            continue
        whole = _with_parts(source, triple)
        done |= whole.keys()
        terms = {term: None for each in whole for term in each if not isinstance(term, Literal)}
        kinds = [(term, RDF.type, kind) for term in terms for kind in _KINDS if _states(source, (term, RDF.type, kind))]
        stated = {*whole, *kinds}
        found.update(dict.fromkeys(axiom_texts(sorted(stated, key=str), prefixes)))
    return tuple(found)


def _explicit(proof: Proof) -> dict[Triple, None]:
    """Return the explicit triples that are reasons for the conclusion of a proof."""
    needed = [False] * (len(proof.steps) - 1) + [True]
    for number in reversed(range(len(proof.steps))):
        step = proof.steps[number]
        if needed[number] and not (isinstance(step.statement, Atom) and step.statement.predicate in _NAMING):
            for premise in step.premises:
                needed[premise] = True
    steps = (step for step, is_needed in zip(proof.steps, needed, strict=True) if is_needed and step.reason == "explicit")
    return {triple: None for step in steps for triple in _triple(step.statement)}


def _triple(statement: object) -> list[Triple]:
    if not isinstance(statement, Atom) or statement.predicate != TRIPLE:
        return []
    subject, predicate, value = statement.terms
    return [(subject, predicate, value)]  # type: ignore[list-item]  # the statements of proofs have no variables


def _states(source: _Readable, triple: Triple) -> bool:
    return any(True for _ in source.triples(*triple, "explicit"))


def _with_parts(source: _Readable, triple: Triple) -> dict[Triple, None]:
    """Return a triple and those that are connected with it by blank nodes."""
    found: dict[Triple, None] = {}
    waiting, seen = [triple], set[Term]()
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found[each] = None
        for node in (each[0], each[2]):
            if isinstance(node, BlankNode) and node not in seen:
                seen.add(node)
                waiting += source.triples(node, None, None, "explicit")
                waiting += source.triples(None, None, node, "explicit")
    return found
