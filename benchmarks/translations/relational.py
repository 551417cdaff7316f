"""Our rules as rules over relations with names and columns, for systems that know nothing of RDF.

The two layouts are those of `benchmarks.translations.nemo_rules`: a relation for each class and property, or the one relation
``triple``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.translations.nemo_rules import Predicate, instances, predicate_of
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.graphs import strongly_connected_components
from kg_reasoner.program import TRIPLE, Argument, Atom, Rule, Variable, variables_of
from kg_reasoner.terms import term_text

__all__ = ["ALL_TRIPLES", "Program", "argument_texts", "by_predicate", "components", "ternary"]

ALL_TRIPLES = "triple"
"""The name of the ternary relation."""


@dataclass(frozen=True)
class Program:
    """Rules without negation, filters and constraints, whose predicates are the names of relations."""

    rules: tuple[Rule, ...]
    arities: Mapping[str, int]
    """All relations."""
    inputs: tuple[str, ...]
    """Those that have explicit facts."""
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    """The class or the property that a relation stands for; empty if there is only `ALL_TRIPLES`."""

    @property
    def derived(self) -> list[str]:
        """The relations in heads of rules."""
        return sorted({rule.head.predicate for rule in self.rules})


def by_predicate(rules: Iterable[Rule], filled: Iterable[Predicate]) -> Program:
    """Return the rules over a relation for each class and property, where the predicates `filled` have data.

    Raises:
        UnsupportedError: A rule has more than atoms.
    """
    filled = sorted(set(filled))
    known = {predicate.name: predicate for predicate in filled}

    def in_relation(atom: Atom) -> Atom:
        found = predicate_of(atom)
        if not isinstance(found, Predicate):
            raise UnsupportedError(f"{atom.predicate} is not a class or a property")
        known[found.name] = found
        subject, _, object = atom.terms
        return Atom(found.name, (subject, object)[: found.arity])

    positive = tuple(_positive(rule, in_relation) for rule in instances(rules, filled))
    arities = {name: predicate.arity for name, predicate in sorted(known.items())}
    return Program(positive, arities, tuple(predicate.name for predicate in filled), known)


def ternary(rules: Iterable[Rule]) -> Program:
    """Return the rules over the relation of all triples.

    Raises:
        UnsupportedError: A rule has more than triple patterns.
    """

    def in_relation(atom: Atom) -> Atom:
        if atom.predicate != TRIPLE:
            raise UnsupportedError(f"{atom.predicate} is not a triple pattern")
        return Atom(ALL_TRIPLES, atom.terms)

    return Program(tuple(_positive(rule, in_relation) for rule in rules), {ALL_TRIPLES: 3}, (ALL_TRIPLES,))


def _positive(rule: Rule, in_relation: Callable[[Atom], Atom]) -> Rule:
    if rule.is_constraint or not all(isinstance(part, Atom) for part in rule.body):
        raise UnsupportedError(f"only rules whose bodies are atoms are translated, not {rule}")
    return Rule(in_relation(rule.head), tuple(map(in_relation, rule.body_atoms())))


def components(program: Program) -> Iterator[tuple[set[str], list[Rule]]]:
    """Yield the sets of mutually recursive relations with the rules for them, each after those that it uses."""
    used: dict[str, dict[str, None]] = {name: {} for name in program.arities}
    for rule in program.rules:
        used[rule.head.predicate] |= dict.fromkeys(atom.predicate for atom in rule.body_atoms())
    for component in strongly_connected_components(used, used.__getitem__):
        members = set(component)
        if own := [rule for rule in program.rules if rule.head.predicate in members]:
            yield members, own


def argument_texts(rule: Rule, variable: str, quote: Callable[[str], str] = str) -> Callable[[Argument], str]:
    """Return the function that writes arguments: variables as `variable` and a number, terms quoted by `quote`."""
    names: dict[Variable, str] = {}
    for part in (rule.head, *rule.body):
        for found in variables_of(part):
            names.setdefault(found, f"{variable}{len(names)}")
    return lambda term: names[term] if isinstance(term, Variable) else quote(term_text(term))
