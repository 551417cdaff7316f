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
from functools import cached_property
from typing import TypeAlias

from kg_reasoner.language.printer import format_rule, format_term
from kg_reasoner.program import FALSE, TRIPLE, Argument, Atom, Bind, Filter, Negation, Rule, Variable
from kg_reasoner.spark_backend.plan.masks import Closure, Mask
from kg_reasoner.terms import RDF, Term

__all__ = [
    "Axioms",
    "Choice",
    "Join",
    "MaskPass",
    "PlannedStratum",
    "PropertyPass",
    "RunPlan",
    "Sources",
    "TermFeatures",
    "X",
]

X = Variable("x")
"""The variable of a feature's atom that stands for the term which has the feature."""

Sources: TypeAlias = frozenset[tuple[Term, bool]]
"""Properties, each with whether subject and object change places."""


@dataclass(frozen=True)
class PropertyPass:
    """Rules from property to property, and their closure: what each property implies, without itself."""

    rules: tuple[Rule, ...] = ()
    implied: Mapping[Term, Sources] = field(default_factory=dict)

    def sources(self, property: Term) -> Sources:
        """Return the properties that imply a property, including itself."""
        return self._sources.get(property, frozenset()) | {(property, False)}

    @cached_property
    def _sources(self) -> dict[Term, Sources]:
        found: dict[Term, set[tuple[Term, bool]]] = {}
        for source, targets in self.implied.items():
            for target, swapped in targets:
                found.setdefault(target, set()).add((source, swapped))
        return {target: frozenset(sources) for target, sources in found.items()}

    @cached_property
    def targets(self) -> frozenset[Term]:
        """The properties that others imply."""
        return frozenset(self._sources)


@dataclass(frozen=True)
class MaskPass:
    """Features with their bits, the rules between them, and the closure operator of these rules."""

    features: tuple[Atom, ...] = ()
    rules: tuple[Rule, ...] = ()
    implications: tuple[tuple[Mask, int], ...] = ()
    bits: Mapping[Atom, int] = field(default_factory=dict, repr=False)
    """The number of each feature."""

    def closure(self) -> Closure:
        """Return the closure operator."""
        return Closure(self.implications)

    @cached_property
    def classes(self) -> dict[Term, int]:
        """The classes among the features, and their numbers."""
        return {atom.terms[2]: bit for atom, bit in self.bits.items() if _is_class(atom)}  # type: ignore[misc]  # constants

    @cached_property
    def predicates(self) -> frozenset[str]:
        """The general predicates whose facts are features."""
        return frozenset(atom.predicate for atom in self.features) - {TRIPLE}


@dataclass(frozen=True, slots=True)
class Choice:
    """The features that a rule requires of one term, and those that it must not have: where it has them, nothing new is derived."""

    required: Mask
    forbidden: Mask = frozenset()


@dataclass(frozen=True, slots=True)
class TermFeatures:
    """The features of one term that a rule asks for. If the rule stands for several axioms, they choose by the number `choice`."""

    term: Argument
    choices: tuple[Choice, ...]
    choice: Variable | None = None


@dataclass(frozen=True, eq=False)
class Axioms:
    """The values of the rule's parameters, which distinguish axioms of the same shape: a row for each axiom."""

    parameters: tuple[Variable, ...]
    """Those with constants of the axioms come first; the others have numbers of choices and features."""
    rows: tuple[tuple[Term | int, ...], ...]
    joins: tuple[Join, ...]
    """The rules of the single axioms."""

    @cached_property
    def domains(self) -> Mapping[Variable, frozenset[Term]]:
        """The values of the parameters that stand for constants."""
        columns = zip(self.parameters, zip(*self.rows, strict=True), strict=True)
        return {variable: frozenset(values) for variable, values in columns if not isinstance(values[0], int)}


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
    groups: tuple[TermFeatures, ...]
    atoms: tuple[Atom, ...]
    negations: tuple[Atom, ...]
    filters: tuple[Filter, ...]
    binds: tuple[Bind, ...]
    feature: tuple[Argument, int | Variable] | None
    """The term that the head says something of, and the number of the feature."""
    unequal: tuple[Unequal, ...]
    axioms: Axioms | None = None
    """The axioms, if the rule stands for several of them."""

    @property
    def is_constraint(self) -> bool:
        return self.rule.head.predicate == FALSE


@dataclass(frozen=True, slots=True)
class PlannedStratum:
    """The rules of one stratum that join, and those for the groups of aggregates, which are computed before."""

    joins: tuple[Join, ...]
    groups: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All passes of a run, and the facts found by the driver."""

    properties: PropertyPass
    masks: MaskPass
    strata: tuple[PlannedStratum, ...]
    constraints: tuple[Join, ...]
    stated: tuple[Atom, ...]
    """Facts without a body that the driver does not know to be given: those of the program, and instances that need no data."""
    schema_rules: tuple[Rule, ...]
    schema_facts: int
    equality: str = "none"
    """How owl:sameAs is treated: ``none`` (there is none), ``representatives``, or ``rules``."""
    driver_facts: int = 0
    """The number of facts with which the driver finishes a stratum; 0: it never does."""

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
            lines += (f"   first, {rule.head.predicate.removeprefix('internal: ')}" for rule in stratum.groups)
            for join in stratum.joins:
                lines.append(f"   {format_rule(join.axioms.joins[0].rule if join.axioms else join.rule)}   {self._way(join)}")
        if self.driver_facts and self.strata:
            lines.append(
                f"   the driver finishes in process when the rules have at most {self.driver_facts:,} facts to read and derive"
            )
        return "\n".join(lines)

    def _way(self, join: Join) -> str:
        """Return how a rule is joined, as a comment."""
        single = join.axioms.joins[0] if join.axioms else join
        parts = [f"mask of {format_term(group.term)} ({len(group.choices[0].required)} bits)" for group in single.groups]
        parts += ["triples" if atom.predicate == TRIPLE else atom.predicate for atom in join.atoms]
        parts += [f"without {'triples' if atom.predicate == TRIPLE else atom.predicate}" for atom in join.negations]
        others = f", and {len(join.axioms.joins) - 1:,} axioms of that shape" if join.axioms else ""
        return f"# {' with '.join(parts) or 'constants'}{others}"


def _listed(rules: Iterable[Rule]) -> list[str]:
    return [f"   {format_rule(rule)}" for rule in rules]


def _is_class(atom: Atom) -> bool:
    return atom.predicate == TRIPLE and atom.terms[1] == RDF.type


def negations_of(rule: Rule) -> tuple[Atom, ...]:
    """Return the negated atoms of a rule."""
    return tuple(part.atom for part in rule.body if isinstance(part, Negation))
