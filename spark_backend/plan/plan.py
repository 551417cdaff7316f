"""The logical plan of a run as plain data that can be printed. Independent of Spark.

A stratum is evaluated by three kinds of passes:

* *property pass*: rules from one property to another (prp-spo1, prp-inv, prp-symp ...) are closed on the driver; the consequences
  of triples are looked up in one broadcast table, wherever triples of a property are read. None of them is stored.
* *mask pass*: rules about one term only are implications between bits of the term's mask (see `masks`).
* *joins*: the other rules relate terms with each other, and are evaluated semi-naively.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kg_reasoner.language.printer import format_rule, format_term
from kg_reasoner.program import FALSE, TRIPLE, Argument, Atom, Bind, Filter, Negation, Rule, Variable
from kg_reasoner.spark_backend.plan.masks import Closure, bits_of
from kg_reasoner.terms import RDF, Term

__all__ = ["X", "Group", "Join", "MaskPass", "Plan", "PropertyPass", "Sources", "Stratum", "feature_text"]

X = Variable("x")
"""The variable of a feature's atom that stands for the term which has the feature."""

Sources: TypeAlias = frozenset[tuple[Term, bool]]
"""Properties, each with whether subject and object change places."""


@dataclass(frozen=True, slots=True)
class PropertyPass:
    """Rules from property to property, and their closure: what each property implies, without itself."""

    rules: tuple[Rule, ...] = ()
    implied: Mapping[Term, Sources] = field(default_factory=dict)

    def sources(self, property: Term) -> Sources:
        """Return the properties that imply a property, including itself."""
        found = {(source, swapped) for source, targets in self.implied.items() for target, swapped in targets if target == property}
        return frozenset(found | {(property, False)})

    @property
    def targets(self) -> frozenset[Term]:
        """The properties that others imply."""
        return frozenset(target for targets in self.implied.values() for target, _ in targets)


@dataclass(frozen=True, slots=True)
class MaskPass:
    """Features with their bits, the rules between them, and the closure operator of these rules."""

    features: tuple[Atom, ...] = ()
    rules: tuple[Rule, ...] = ()
    implications: tuple[tuple[int, int], ...] = ()
    bits: Mapping[Atom, int] = field(default_factory=dict, repr=False)

    def closure(self) -> Closure:
        """Return the closure operator."""
        return Closure(self.implications)

    def classes(self) -> dict[Term, int]:
        """Return the classes among the features, and their bits."""
        return {atom.terms[2]: bit for atom, bit in self.bits.items() if _is_class(atom)}  # type: ignore[misc]  # constants

    @property
    def predicates(self) -> frozenset[str]:
        """The general predicates whose facts are features."""
        return frozenset(atom.predicate for atom in self.features) - {TRIPLE}


@dataclass(frozen=True, slots=True)
class Group:
    """The features that a rule requires of one term, as a mask."""

    term: Argument
    required: int


@dataclass(frozen=True, slots=True)
class Unequal:
    """Two variables of a rule: if both have the same value, the head is one of the body's atoms, and the instance derives nothing
    new.
    """

    one: Variable
    other: Variable


@dataclass(frozen=True, slots=True)
class Join:
    """A rule that joins: masks of terms, atoms over triples and relations, conditions, and the feature derived by its head, if
    any.
    """

    rule: Rule
    groups: tuple[Group, ...]
    atoms: tuple[Atom, ...]
    negations: tuple[Atom, ...]
    filters: tuple[Filter, ...]
    binds: tuple[Bind, ...]
    feature: tuple[Argument, int] | None
    """The term that the head says something of, and the bit."""
    unequal: tuple[Unequal, ...]

    @property
    def is_constraint(self) -> bool:
        return self.rule.head.predicate == FALSE


@dataclass(frozen=True, slots=True)
class Stratum:
    """The rules of one stratum that join."""

    joins: tuple[Join, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All passes of a run, and the facts found by the driver."""

    properties: PropertyPass
    masks: MaskPass
    strata: tuple[Stratum, ...]
    constraints: tuple[Join, ...]
    stated: tuple[Atom, ...]
    """Facts without a body that the driver does not know to be given: those of the program, and instances that need no data."""
    schema_rules: tuple[Rule, ...]
    schema_facts: int
    equality: str = "none"
    """How owl:sameAs is treated: ``none`` (there is none), ``representatives``, or ``rules``."""

    def joins(self) -> Iterable[Join]:
        """Return the joins of all strata."""
        return (join for stratum in self.strata for join in stratum.joins)

    def text(self) -> str:
        """Return the plan as text: the passes in the order of execution, and what each derives."""
        lines = [f"1. schema, on the driver: {len(self.schema_rules)} rules, {self.schema_facts} facts"]
        lines += _listed(self.schema_rules)
        lines.append(f"2. properties, one broadcast table: {len(self.properties.rules)} rules")
        for source in sorted(self.properties.implied, key=str):
            targets = (f"{format_term(p)}{' inverted' if inverted else ''}" for p, inverted in self.properties.implied[source])
            lines.append(f"   {format_term(source)} implies {', '.join(sorted(targets))}")
        lines.append(f"3. masks of terms, one shuffle: {len(self.masks.features)} bits, {len(self.masks.rules)} rules")
        lines += _listed(self.masks.rules)
        lines.append(f"4. equality (owl:sameAs): {self.equality}")
        for number, stratum in enumerate(self.strata):
            lines.append(f"{5 + number}. stratum {number}, joins until nothing is new: {len(stratum.joins)} rules")
            for join in stratum.joins:
                lines.append(f"   {format_rule(join.rule)}   {self._way(join)}")
        return "\n".join(lines)

    def _way(self, join: Join) -> str:
        """Return how a rule is joined, as a comment."""
        parts = [f"mask of {format_term(group.term)} ({len(list(bits_of(group.required)))} bits)" for group in join.groups]
        parts += ["triples" if atom.predicate == TRIPLE else atom.predicate for atom in join.atoms]
        parts += [f"without {'triples' if atom.predicate == TRIPLE else atom.predicate}" for atom in join.negations]
        return f"# {' with '.join(parts) or 'constants'}"


def feature_text(atom: Atom) -> str:
    """Return a feature as text, for messages."""
    return format_rule(Rule(atom)).removesuffix(" .")


def _listed(rules: Iterable[Rule]) -> list[str]:
    return [f"   {format_rule(rule)}" for rule in rules]


def _is_class(atom: Atom) -> bool:
    return atom.predicate == TRIPLE and atom.terms[1] == RDF.type


def negations_of(rule: Rule) -> tuple[Atom, ...]:
    """Return the negated atoms of a rule."""
    return tuple(part.atom for part in rule.body if isinstance(part, Negation))
