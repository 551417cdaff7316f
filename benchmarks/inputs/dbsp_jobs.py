"""The workloads of the DBSP benchmark as plain data: rules and facts as integers, which every contestant can read."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kg_reasoner.program import TRIPLE, Argument, Atom, Rule, Variable
from kg_reasoner.terms import RDF, Term, Triple, term_text

__all__ = ["RULE_SETS", "Workload", "closure_workload", "lubm_workload"]

SEED: Final = 0

RULE_SETS: Final = {"RDFS": "rdfs", "OWL 2 RL (DLP)": "owl2rl"}

CLOSURE: Final = [[[1, ["?x", "?y"]], [[0, ["?x", "?y"]]]], [[1, ["?x", "?z"]], [[1, ["?x", "?y"]], [0, ["?y", "?z"]]]]]


@dataclass(frozen=True)
class Workload:
    """Rules ``[head, body]`` of atoms ``[predicate, terms]``, where a term is a constant or a variable (``?x``), and facts."""

    name: str
    rules: list[list[object]]
    facts: list[list[int]]
    """A predicate and its arguments, in random order."""

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"name": self.name, "rules": self.rules, "facts": self.facts}), encoding="utf-8")


def shuffled(facts: Iterable[list[int]]) -> list[list[int]]:
    """Return the facts in an order that is independent of their contents."""
    result = sorted(facts)
    random.Random(SEED).shuffle(result)
    return result


def closure_workload(graph: Path) -> Workload:
    """Return the linear transitive closure of a graph: a file with lines ``from to label``."""
    edges = {tuple(map(int, line.split()[:2])) for line in graph.read_text(encoding="ascii").splitlines()}
    return Workload(f"closure of {graph.stem}", CLOSURE, shuffled([0, *edge] for edge in edges))


def lubm_workload(name: str, rules: Iterable[Rule], triples: Iterable[Triple]) -> Workload:
    """Return LUBM with rules: over triples if a rule has a variable as its property, else over a predicate for each property and
    class. Rules beyond Datalog over triples (comparisons, constraints) are left out, with those that replace equal terms. Rules
    without a body are facts.
    """
    numbers: dict[str, int] = {}

    def number(term: Term | str) -> int:
        return numbers.setdefault(term if isinstance(term, str) else term_text(term), len(numbers))

    plain = [rule for rule in rules if not rule.is_constraint and all(isinstance(part, Atom) for part in rule.body)]
    ternary = name == "RDFS"
    if not ternary:
        plain = [rule for rule in plain if not any(map(has_variable_predicate, atoms_of(rule)))]

    def stored(terms: tuple[Argument, ...]) -> list[object]:
        numbered = [str(term) if isinstance(term, Variable) else number(term) for term in terms]
        if ternary:
            return [0, numbered]
        if terms[1] == RDF.type:
            return [1 + number(f"class {terms[2]}"), numbered[:1]]
        return [1 + number(f"property {terms[1]}"), numbered[::2]]

    def fact(triple: tuple[Argument, ...]) -> list[int]:
        predicate, arguments = stored(triple)
        return [predicate, *arguments]  # type: ignore[list-item, misc]

    stated = (rule.head.terms for rule in plain if not rule.body)
    facts = {tuple(fact(triple)) for triple in (*triples, *stated)}
    clauses: list[list[object]] = [
        [stored(rule.head.terms), [stored(atom.terms) for atom in rule.body_atoms()]] for rule in plain if rule.body
    ]
    return Workload(f"LUBM(1), {name}", clauses, shuffled(map(list, facts)))


def atoms_of(rule: Rule) -> Iterator[Atom]:
    """Yield the head and the atoms of the body."""
    yield rule.head
    yield from rule.body_atoms()


def has_variable_predicate(atom: Atom) -> bool:
    """Return whether an atom is not a triple pattern with a constant property or class."""
    if atom.predicate != TRIPLE:
        return True
    _, property, value = atom.terms
    return isinstance(property, Variable) or (property == RDF.type and isinstance(value, Variable))
