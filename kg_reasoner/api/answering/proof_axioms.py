"""The axioms that a proof uses, in functional syntax: a proof without its steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from kg_reasoner.api.inputs.given_values import expect_prefixes
from kg_reasoner.explain.proofs import Proof
from kg_reasoner.explain.steps import Step
from kg_reasoner.language.display_names import DisplayNames
from kg_reasoner.program import TRIPLE, Atom
from kg_reasoner.terms import OWL, RDF, RDFS, BlankNode, Literal, Term, Triple

__all__ = ["ProofAxioms", "axioms_of"]

_KINDS: Final = (
    *(OWL.Class, OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty, OWL.NamedIndividual),
    *(RDFS.Datatype, RDFS.Class, RDF.Property),
)
"""The kinds of names on which it depends what an axiom says."""


_NAMING: Final = frozenset(f"<tag:kg-reasoner:owl2el/{name}>" for name in ("class", "property", "named", "context", "next", "node"))
"""Predicates that `owl2el` derives from any axiom that mentions a name: such an axiom is not a reason for its conclusions."""


_TOLD: Final = re.compile(r"SubClassOf\d*")
"""The predicate of stated inclusions, see `kg_reasoner.classification.classifier`."""


class _Readable(Protocol):
    def triples(self, subject: Any, predicate: Any, object: Any, which: Any = ..., /) -> Iterable[Triple]: ...


def axioms_of(source: _Readable, proof: Proof, prefixes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the axioms that a proof uses, in functional syntax and in the order of the proof.

    An axiom is used as the triples that state it, or as a rule that it was translated to.

    Args:
        source: The reasoner.
        proof: A proof of something that it derives.
        prefixes: The prefixes to use; with labels, these are shown in place of names.

    Raises:
        TypeError: That is not a proof.
        LoadError: The prefixes are not a mapping of texts.
    """
    expect_prefixes(prefixes)
    if not hasattr(proof, "steps"):
        raise TypeError(f"{proof!r} is not a proof: explain() returns one")
    return ProofAxioms(source, prefixes).of(proof)


class ProofAxioms:
    """The axioms of proofs of the same facts, see `axioms_of`. Those of several proofs are looked up once."""

    def __init__(self, source: _Readable, prefixes: Mapping[str, str]) -> None:
        from kg_reasoner.explain.readable_names import Names

        self._source = source
        self._prefixes = prefixes
        self._names = Names(prefixes)
        self._known: dict[Triple, tuple[str, ...]] = {}

    def of(self, proof: Proof) -> tuple[str, ...]:
        """Return the axioms that a proof uses."""
        from kg_reasoner.explain.readable_names import axiom_text

        found: dict[str, None] = {}
        for step in _reasons(proof):
            for text in step.rule.origin.axioms if step.rule is not None else ():
                found[axiom_text(text, self._names)] = None
            for triple in _triples(step.statement) if step.reason == "explicit" else ():
                if triple not in self._known:
                    self._read(triple)
                found.update(dict.fromkeys(self._known[triple]))
        return tuple(found)

    def _read(self, triple: Triple) -> None:
        """Read the axioms that a triple is part of, if it has been stated."""
        from kg_reasoner.explain.readable_names import axiom_text

        if not _states(self._source, triple):
            self._known[triple] = ()
            return
        whole = _with_parts(self._source, triple)
        texts = tuple(axiom_text(text, self._names) for text in _texts(self._source, whole, self._prefixes))
        self._known.update(dict.fromkeys(whole, texts))


def _texts(source: _Readable, whole: Iterable[Triple], prefixes: Mapping[str, str]) -> Iterable[str]:
    """Return the axioms that some triples state; names that may have labels are written in full."""
    from kg_reasoner.io.owl_output import axiom_texts

    terms = {term: None for each in whole for term in each if not isinstance(term, Literal)}
    kinds = [each for term in terms for each in source.triples(term, RDF.type, None, "explicit") if each[2] in _KINDS]
    return axiom_texts(sorted({*whole, *kinds}, key=str), {} if isinstance(prefixes, DisplayNames) else prefixes)


def _reasons(proof: Proof) -> list[Step]:
    """Return the steps of a proof that are reasons for its conclusion."""
    needed = [False] * (len(proof.steps) - 1) + [True]
    for number in reversed(range(len(proof.steps))):
        step = proof.steps[number]
        if needed[number] and not (isinstance(step.statement, Atom) and step.statement.predicate in _NAMING):
            for premise in step.premises:
                needed[premise] = True
    return [step for step, is_needed in zip(proof.steps, needed, strict=True) if is_needed]


def _triples(statement: object) -> list[Triple]:
    """Return the triples as which an explicit statement may have been given."""
    if not isinstance(statement, Atom):
        return []
    terms: tuple[Any, ...] = statement.terms  # of a proof, so there are no variables
    if statement.predicate == TRIPLE:
        return [(terms[0], terms[1], terms[2])]
    if _TOLD.fullmatch(statement.predicate) and len(terms) == 2:
        lower, upper = terms
        return [(lower, RDFS.subClassOf, upper), (lower, OWL.equivalentClass, upper), (upper, OWL.equivalentClass, lower)]
    return []


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
