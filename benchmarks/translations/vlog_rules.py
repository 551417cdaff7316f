"""Programs for VLog over ``TE``, the predicate of the triples in its database."""

from __future__ import annotations

import re
from typing import Final

from benchmarks.translations.relational import ALL_TRIPLES, Program, argument_texts
from kg_reasoner.program import Atom, Rule, Variable
from kg_reasoner.terms import IRI, RDF

__all__ = ["database", "program", "reasoning_seconds"]

EXPLICIT: Final = "TE"


def database(path: str) -> str:
    """Return the configuration of VLog's inputs: one database of triples."""
    return f"EDB0_predname={EXPLICIT}\nEDB0_type=Trident\nEDB0_param0={path}\n"


def program(given: Program) -> str:
    """Return the rules. Derived relations begin with their explicit facts; others are read from the database."""
    derived = given.derived
    copies = [Rule(head := _all(name, given), (_explicit(head, given),)) for name in derived if name in given.inputs]
    rules = [
        Rule(rule.head, tuple(atom if atom.predicate in derived else _explicit(atom, given) for atom in rule.body_atoms()))
        for rule in given.rules
    ]
    return "".join(f"{_rule(rule)}\n" for rule in (*copies, *rules))


def _all(name: str, given: Program) -> Atom:
    return Atom(name, tuple(Variable(f"c{place}") for place in range(given.arities[name])))


def _explicit(atom: Atom, given: Program) -> Atom:
    """Return the pattern of explicit triples that an atom stands for."""
    if atom.predicate == ALL_TRIPLES:
        return Atom(EXPLICIT, atom.terms)
    predicate = given.predicates[atom.predicate]
    iri = IRI(predicate.iri)
    middle = (RDF.type, iri) if predicate.arity == 1 else (iri, atom.terms[1])
    return Atom(EXPLICIT, (atom.terms[0], *middle))


def _rule(rule: Rule) -> str:
    argument = argument_texts(rule, "V")

    def atom(one: Atom) -> str:
        return f"{one.predicate}({','.join(map(argument, one.terms))})"

    return f"{atom(rule.head)} :- {','.join(map(atom, rule.body_atoms()))}"


def reasoning_seconds(log: str) -> float:
    """Return the time for deriving from VLog's log.

    >>> reasoning_seconds("[0x7f 2026-11-23 01:44:53] INFO  Runtime materialization = 71.5 milliseconds")
    0.0715

    Raises:
        ValueError: The log does not have it.
    """
    found = re.search(r"Runtime materialization = (\S+) milliseconds", log)
    if found is None:
        raise ValueError(f"VLog's log does not say how long the materialisation took: {log[-500:]}")
    return float(found[1]) / 1000
