"""Compilation of rules to a logical plan: which rules are wide passes, and which ones join.

The rules have been specialised (see `specialise`) and have no atoms about the schema. Only rules of the lowest stratum can be wide
passes, because what holds there cannot depend on higher strata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kg_reasoner.graphs import reachable
from kg_reasoner.program import FALSE, TRIPLE, Aggregate, Argument, Atom, Bind, Filter, Negation, Rule, Variable
from kg_reasoner.spark_backend.plan.logical_plan import (
    Choice,
    Join,
    MaskPass,
    PlannedStratum,
    PropertyPass,
    Sources,
    TermFeatures,
    Unequal,
    X,
    negations_of,
)
from kg_reasoner.spark_backend.plan.parametric_rules import by_shape, numbered_by_shape
from kg_reasoner.spark_backend.plan.specialise import occurrences
from kg_reasoner.terms import RDF, Term

__all__ = ["LeveledRule", "Passes", "compile_rules", "feature_of"]

LeveledRule = tuple[Rule, int]
"""A rule and the number of its stratum."""

_ANY = Variable("_")
"""Stands in a feature for a value that does not matter."""


class Passes:
    """The compiled rules of a run."""

    def __init__(
        self, properties: PropertyPass, masks: MaskPass, strata: tuple[PlannedStratum, ...], constraints: tuple[Join, ...]
    ) -> None:
        self.properties = properties
        self.masks = masks
        self.strata = strata
        self.constraints = constraints

    def are_open(self) -> bool:
        """Return whether a rule that joins matches triples of any property or class."""
        joins = (*(join for stratum in self.strata for join in stratum.joins), *self.constraints)
        return any(_is_open(atom, join) for join in joins for atom in (*join.atoms, *join.negations))


def _is_open(atom: Atom, join: Join) -> bool:
    if atom.predicate != TRIPLE:
        return False
    _, property, value = atom.terms
    known = join.axioms.domains if join.axioms else {}
    if isinstance(property, Variable):
        return property not in known
    return property == RDF.type and isinstance(value, Variable) and value not in known


def compile_rules(
    rules: Sequence[LeveledRule],
    constraints: Sequence[tuple[Rule, object]] = (),
    *,
    wide: bool = True,
    masks: bool = True,
    facts: Iterable[str] = (),
) -> Passes:
    """Return the passes for rules with bodies; levels may have gaps.

    Args:
        rules: Specialised rules and their levels. An aggregate is the body of a rule of its own, for its groups.
        constraints: Specialised constraints, each with the common part of those that are joined together.
            The parameter `parametric_rules.NUMBER` is the place of a rule among them.
        wide: Whether to make wide passes at all; without, every rule joins.
        masks: Whether to make the mask pass.
        facts: General predicates whose facts come from outside as relations.
    """
    aggregates = [(rule, level) for rule, level in rules if any(isinstance(part, Aggregate) for part in rule.body)]
    rules = [(rule, level) for rule, level in rules if (rule, level) not in aggregates]
    lowest = [rule for rule, level in rules if level == 0] if wide else []
    properties = _property_pass(lowest)
    among = set(properties.rules)
    mask_pass = MaskPass()
    if wide and masks:
        relations = {*facts, *(rule.head.predicate for rule, _ in aggregates)}
        features = _Features([*(rule for rule, _ in rules), *(rule for rule, _ in constraints)], relations)
        local = [rule for rule in lowest if rule not in among and features.is_local(rule)]
        among.update(local)
        others = [*(rule for rule, _ in rules if rule not in among), *(rule for rule, _ in constraints)]
        mask_pass = features.mask_pass(local, others)
    strata: dict[int, list[Join]] = {0: []}
    groups: dict[int, list[Rule]] = {}
    for rule, level in rules:
        if rule not in among:
            strata.setdefault(level, []).append(_join(rule, mask_pass))
    for rule, level in aggregates:
        groups.setdefault(level, []).append(rule)
    levels = sorted({*strata, *groups})
    ordered = tuple(PlannedStratum(by_shape(strata.get(level, [])), tuple(groups.get(level, []))) for level in levels)
    checks = numbered_by_shape((_join(rule, mask_pass), kind) for rule, kind in constraints)
    return Passes(properties, mask_pass, ordered, checks)


# ---------------------------------------------------------------------------------------------------------------- properties


def _property_pass(rules: Iterable[Rule]) -> PropertyPass:
    """Return the pass of rules with one property atom in the body and another in the head, over the same two variables."""
    found: list[Rule] = []
    steps: dict[Term, set[tuple[Term, bool]]] = {}
    for rule in rules:
        step = _property_step(rule)
        if step is not None:
            source, target, swapped = step
            found.append(rule)
            steps.setdefault(source, set()).add((target, swapped))
    return PropertyPass(tuple(found), {source: _implied(source, steps) for source in steps})


def _property_step(rule: Rule) -> tuple[Term, Term, bool] | None:
    if len(rule.body) != 1 or not isinstance(rule.body[0], Atom):
        return None
    body, head = rule.body[0], rule.head
    if not (_is_relation(body) and _is_relation(head)) or body.terms[0] == body.terms[2]:
        return None
    ends = body.terms[0], body.terms[2]
    if (head.terms[0], head.terms[2]) not in (ends, ends[::-1]):
        return None
    return body.terms[1], head.terms[1], head.terms[0] != body.terms[0]  # type: ignore[return-value]  # both constants


def _is_relation(atom: Atom) -> bool:
    """Return whether an atom relates two variables by a constant property other than rdf:type."""
    if atom.predicate != TRIPLE:
        return False
    subject, property, value = atom.terms
    return isinstance(subject, Variable) and isinstance(value, Variable) and _is_property(property)


def _is_property(term: Argument) -> bool:
    return not isinstance(term, Variable) and term != RDF.type


def _implied(source: Term, steps: Mapping[Term, set[tuple[Term, bool]]]) -> Sources:
    def following(reached: tuple[Term, bool]) -> Iterator[tuple[Term, bool]]:
        property, swapped = reached
        return ((target, swapped != turns) for target, turns in steps.get(property, ()))

    return frozenset(reachable([(source, False)], following) - {(source, False)})


# ------------------------------------------------------------------------------------------------------------------- features


class _Features:
    """Finds rules about one term, and numbers the features that rules require or derive."""

    def __init__(self, rules: Sequence[Rule], relations: set[str]) -> None:
        self._predicates = _maskable_predicates(rules) - relations

    def is_local(self, rule: Rule) -> bool:
        """Return whether a rule is about one term only, and derives a feature of it."""
        given = self.given(rule.head)
        if given is None or not isinstance(given[0], Variable) or not all(isinstance(part, Atom) for part in rule.body):
            return False
        counts = occurrences(rule)
        return all(isinstance(part, Atom) and self.asked(part, given[0], counts) is not None for part in rule.body)

    def given(self, atom: Atom) -> tuple[Argument, Atom] | None:
        """Return the term of a fact and its feature, if the fact is one: a class or a helper predicate."""
        if atom.predicate == TRIPLE:
            subject, property, value = atom.terms
            if property != RDF.type or isinstance(value, Variable):
                return None
            return subject, Atom(TRIPLE, (X, property, value))
        if atom.predicate not in self._predicates:
            return None
        place = _place_of_term(atom)
        return atom.terms[place], Atom(atom.predicate, (*atom.terms[:place], X, *atom.terms[place + 1 :]))

    def asked(self, atom: Atom, variable: Variable, counts: Counter[Variable]) -> Atom | None:
        """Return the feature of a variable that an atom of a rule requires, if it requires nothing else."""
        given = self.given(atom)
        if given is not None:
            return given[1] if given[0] == variable else None
        if atom.predicate != TRIPLE or not _is_property(atom.terms[1]):
            return None
        subject, property, value = atom.terms
        if subject == variable != value:
            return Atom(TRIPLE, (X, property, other)) if (other := _other(value, counts)) is not None else None
        if value == variable != subject:
            return Atom(TRIPLE, (other, property, X)) if (other := _other(subject, counts)) is not None else None
        return None

    def mask_pass(self, local: Sequence[Rule], joins: Sequence[Rule]) -> MaskPass:
        """Return the bits of the features of all rules, and the implications from the local rules."""
        bits: dict[Atom, int] = {}

        def number(feature: Atom) -> int:
            return bits.setdefault(feature, len(bits))

        implications = []
        for rule in local:
            variable, head = self.given(rule.head)  # type: ignore[misc]  # they are local
            counts = occurrences(rule)
            asked = [self.asked(part, variable, counts) for part in rule.body if isinstance(part, Atom)]  # type: ignore[arg-type]
            implications.append((frozenset(number(feature) for feature in asked if feature is not None), number(head)))
        for rule in joins:
            atoms = (*(part for part in rule.body if isinstance(part, Atom)), *negations_of(rule), rule.head)
            for given in map(self.given, atoms):
                if given is not None:
                    number(given[1])
            for feature in self._hints(rule):
                number(feature)
        return MaskPass(tuple(bits), tuple(local), tuple(implications), bits)

    def _hints(self, rule: Rule) -> list[Atom]:
        """Return the conditions of a rule's property atoms on the term that its head gives a feature, to estimate the number of
        terms.
        """
        given = self.given(rule.head)
        if given is None or not isinstance(given[0], Variable):
            return []
        return relations_of(rule, given[0])


def relations_of(rule: Rule, variable: Variable) -> list[Atom]:
    """Return the features of a variable implied by a rule's property atoms."""
    found = []
    for part in rule.body:
        if isinstance(part, Atom) and part.predicate == TRIPLE and _is_property(part.terms[1]):
            subject, property, value = part.terms
            if subject == variable:
                found.append(Atom(TRIPLE, (X, property, _ANY)))
            if value == variable:
                found.append(Atom(TRIPLE, (_ANY, property, X)))
    return found


def _other(term: Argument, counts: Counter[Variable]) -> Argument | None:
    """Return the other end of a property in a feature: a constant, or anything if the variable occurs nowhere else."""
    if not isinstance(term, Variable):
        return term
    return _ANY if counts[term] == 1 else None


def _maskable_predicates(rules: Iterable[Rule]) -> set[str]:
    """Return the general predicates whose atoms are all about one term, in the same position everywhere."""
    places: dict[str, int | None] = {}
    for rule in rules:
        for part in (rule.head, *rule.body):
            atom = part.atom if isinstance(part, Negation) else part
            if isinstance(atom, Atom) and atom.predicate not in (TRIPLE, FALSE):
                variables = [place for place, term in enumerate(atom.terms) if isinstance(term, Variable)]
                place = variables[0] if len(variables) == 1 else None
                if atom.arity == 1:
                    place = 0
                if places.setdefault(atom.predicate, place) != place:
                    places[atom.predicate] = None
    return {predicate for predicate, place in places.items() if place is not None}


def _place_of_term(atom: Atom) -> int:
    return next((place for place, term in enumerate(atom.terms) if isinstance(term, Variable)), 0)


# ---------------------------------------------------------------------------------------------------------------------- joins


def _join(rule: Rule, masks: MaskPass) -> Join:
    """Return the join of a rule: atoms that are features of a term form one group for each term."""
    bits = masks.bits
    required: dict[Argument, set[int]] = {}
    atoms = []
    for part in rule.body:
        if isinstance(part, Atom):
            feature = feature_of(part, bits)
            if feature is None:
                atoms.append(part)
            else:
                required.setdefault(feature[0], set()).add(feature[1])
    head = None if rule.is_constraint else feature_of(rule.head, bits)
    if head is not None and isinstance(head[0], Variable):
        for hint in relations_of(rule, head[0]):
            if hint in bits:
                required.setdefault(head[0], set()).add(bits[hint])
    return Join(
        rule,
        tuple(TermFeatures(term, (_choice(term, features, head),)) for term, features in required.items()),
        tuple(atoms),
        negations_of(rule),
        tuple(part for part in rule.body if isinstance(part, Filter)),
        tuple(part for part in rule.body if isinstance(part, Bind)),
        head,
        tuple(_unequal(rule)),
    )


def _choice(term: Argument, required: set[int], head: tuple[Argument, int] | None) -> Choice:
    """Return the conditions on a term: if the head gives it a feature, that it does not have this feature yet."""
    known = frozenset([head[1]]) if head is not None and head[0] == term else frozenset()
    return Choice(frozenset(required), known)


def _unequal(rule: Rule) -> Iterator[Unequal]:
    """Yield conditions on the instances of a rule that derive something new: for transitivity, that no step leads from a term to
    itself.
    """
    for atom in rule.body:
        if isinstance(atom, Atom) and atom.predicate == rule.head.predicate and atom.arity == rule.head.arity:
            differences = {ends for ends in zip(atom.terms, rule.head.terms, strict=True) if ends[0] != ends[1]}
            if len(differences) == 1:
                one, other = differences.pop()
                if isinstance(one, Variable) and isinstance(other, Variable):
                    yield Unequal(one, other)


def feature_of(atom: Atom, bits: Mapping[Atom, int]) -> tuple[Argument, int] | None:
    """Return the term and the bit of an atom that is a class or helper predicate with a bit."""
    if atom.predicate == TRIPLE and atom.terms[1] != RDF.type:
        return None
    for place, term in enumerate(atom.terms):
        feature = Atom(atom.predicate, (*atom.terms[:place], X, *atom.terms[place + 1 :]))
        if feature in bits:
            return term, bits[feature]
    return None
