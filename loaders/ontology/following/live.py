"""A translation that follows changes: an axiom between names changes its own rules, and nothing else is translated again.

The rules of ``A rdfs:subClassOf B`` depend on this triple and on what A and B are declared to be. If it changes the hierarchy of
restrictions (see `live_steps`), what depends on these restrictions is translated again (see `linked`). The same holds for
restrictions and other expressions that come and go with their axioms (see `units`). `LiveTranslation.change` recognises where more
changes: the prefix of its namespace comes or goes, and other texts change with it; or it mentions a universal or empty class or
property.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.dlp import rules_of
from kg_reasoner.loaders.ontology.following.linked import LinkedParts, blank_nodes, has_blank_nodes, parts_of
from kg_reasoner.loaders.ontology.following.live_steps import LiveSteps
from kg_reasoner.loaders.ontology.following.units import Statements, in_context, is_unit, namespaces_in, namespaces_of_others
from kg_reasoner.loaders.ontology.ontology import Ontology, read_ontology
from kg_reasoner.loaders.ontology.profile import AxiomWarning, warnings_of
from kg_reasoner.loaders.ontology.restriction_hierarchy import (
    HierarchyStep,
    RestrictionGroup,
    RestrictionHierarchy,
    declaration_edges,
    edges_of,
)
from kg_reasoner.loaders.ontology.schema_vocabulary import CHARACTERISTICS
from kg_reasoner.program import Origin, Rule
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Term, Triple, namespace_of

__all__ = ["LiveTranslation", "RuleChanges", "is_local"]

_OF_NAMES: Final = frozenset(
    {
        *(RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range),
        *(OWL.equivalentClass, OWL.equivalentProperty, OWL.disjointWith, OWL.propertyDisjointWith, OWL.inverseOf),
    }
)
"""The predicates that make an axiom of two names."""
_DECLARED: Final = {OWL.ObjectProperty: "object_properties", OWL.DatatypeProperty: "data_properties"}
_CLASSES: Final = frozenset({*CHARACTERISTICS, *_DECLARED, OWL.Class})
_RESERVED: Final = tuple(map(str, (RDF, RDFS, OWL, XSD)))


def is_local(triple: Triple) -> bool:
    """Return whether a triple states an axiom about names, or declares one, and no other triple can be a part of it.

    >>> from kg_reasoner.terms import OWL, RDFS, IRI
    >>> chair, person = IRI("http://example.org/Chair"), IRI("http://example.org/Person")
    >>> is_local((chair, RDFS.subClassOf, person)), is_local((chair, RDFS.subClassOf, OWL.Thing))
    (True, False)
    """
    subject, predicate, value = triple
    if not isinstance(subject, IRI) or subject.value.startswith(_RESERVED):
        return False
    if predicate == RDF.type:
        return value in _CLASSES
    if predicate not in _OF_NAMES or not isinstance(value, IRI):
        return False
    return not value.value.startswith(_RESERVED) or (predicate == RDFS.range and value in XSD)


@dataclass(slots=True)
class RuleChanges:
    """The rules that a change removes and adds. A rule is in both if it has another origin now."""

    gone: dict[Rule, Rule]
    new: dict[Rule, Rule]

    def remove(self, rule: Rule) -> None:
        """Note that a rule is removed."""
        if self.new.pop(rule, None) is None:
            self.gone[rule] = rule

    def add(self, rule: Rule) -> None:
        """Note that a rule is added."""
        if rule in self.gone and self.gone[rule].origin == rule.origin:
            del self.gone[rule]
        else:
            self.new[rule] = rule

    def extend(self, later: RuleChanges) -> None:
        """Add later changes."""
        for rule in later.gone.values():
            self.remove(rule)
        for rule in later.new.values():
            self.add(rule)

    def without(self, rules: Container[Rule]) -> RuleChanges:
        """Return the changes of other rules than some."""
        return RuleChanges(*({rule: rule for rule in part.values() if rule not in rules} for part in (self.gone, self.new)))


class LiveTranslation:
    """The translation of an ontology, see `kg_reasoner.loaders.ontology.owl.translate` for the rules.

    Args:
        ontology: The ontology. It belongs to the translation, which changes it.
        others: Its triples that are not local (see `is_local`).

    Attributes:
        rules: The rules, each with the one to be shown: of those from several axioms, the first in the order of these.
        asks_for_thing: Whether some rule asks for owl:Thing.
    """

    def __init__(self, ontology: Ontology, others: Iterable[Triple]) -> None:
        texts, hierarchy = Texts(ontology), RestrictionHierarchy(ontology)
        links = hierarchy.linked_by(hierarchy.all_steps)
        rules, self.asks_for_thing, _ = rules_of(ontology, texts, links=links)
        self.rules: dict[Rule, Rule] = {}
        self._equal: dict[Rule, list[Rule]] = {}
        """The equal rules of several axioms."""
        for rule in rules:
            shown = self.rules.setdefault(rule, rule)
            if shown is not rule:
                self._equal.setdefault(rule, [shown]).append(rule)
        self._warnings = Counter(warnings_of(ontology, texts))
        self._in_order = sorted(self._warnings, key=_place_of)
        self._shown_warnings: tuple[AxiomWarning, ...] | None = None
        self._steps = LiveSteps(hierarchy)
        self._linked = LinkedParts(ontology, hierarchy)
        self._statements = Statements(ontology)
        self._ontology = texts.ontology = replace(ontology, axioms=(), repeated=Counter(), rules=(), problems=())
        self._texts = texts
        self._namespaces = texts.namespaces
        self._fixed = namespaces_in(others) | {*_RESERVED, ""}
        """The namespaces of which other names than those of the vocabulary may be in texts."""

    @property
    def warnings(self) -> tuple[AxiomWarning, ...]:
        """The warnings, the same tuple until they change."""
        if self._shown_warnings is None:
            self._shown_warnings = tuple(self._in_order)
        return self._shown_warnings

    @property
    def vocabulary(self) -> frozenset[IRI]:
        """The IRIs of classes and properties."""
        return self._ontology.vocabulary

    def is_name(self, term: Term) -> bool:
        """Return whether a term stands for a class or property."""
        return term in self._ontology.uses_as_class or term in self._ontology.uses_as_property

    def change(
        self, gone: Collection[Triple], new: Collection[Triple], linked: tuple[Collection[Triple], Collection[Triple]] = ((), ())
    ) -> RuleChanges | None:
        """Follow a change of the ontology's triples. Return the changed rules, or None if the change can have further effects; then
        the whole ontology has to be translated, and this object is of no further use.

        Args:
            gone: Removed triples.
            new: Added triples.
            linked: Removed and added triples with blank nodes, for each of these all that the ontology has before or after.
        """
        if not all(map(is_local, (*gone, *new))):
            return None
        changes = RuleChanges({}, {})
        if linked[0] and not self._exchange(linked[0], -1, changes):
            return None
        followed = (self._follow(triple, change, changes) for triples, change in ((gone, -1), (new, 1)) for triple in triples)
        if not all(followed) or not self._follow_steps(changes):
            return None
        if linked[1] and not self._exchange(linked[1], 1, changes):
            return None
        return changes

    def _exchange(self, triples: Collection[Triple], change: int, changes: RuleChanges) -> bool:
        """Add (1) or remove (-1) a unit of expressions and axioms. Return whether only its own rules and those of expressions that
        steps link to it change.
        """
        unit, context = read_ontology(triples), self._ontology
        declared = {cls for cls in unit.classes if isinstance(cls, BlankNode)}
        if not is_unit(unit, context) or (self.asks_for_thing and declared):
            return False
        unit = self._statements.exchange(unit, change)
        if change > 0:
            self._fixed |= namespaces_of_others(triples, unit)
            context.expressions.update(unit.expressions)
            context.classes.update(declared)
            self._linked.add(unit)
            if not self._mention(unit, change):
                return False
        if not (self._steps.exchange(unit, declared, change) and self._follow_steps(changes, unit, change)):
            return False
        named = replace(unit, expressions={}, axioms=tuple(axiom for axiom in unit.axioms if not has_blank_nodes(axiom)))
        if not self._translate(named, change, changes):
            return False
        self._warn(warnings_of(in_context(unit, context), self._texts), change)
        if change > 0:
            return True
        self._linked.remove(unit)
        for node in unit.expressions:
            del context.expressions[node]
            self._texts.forget_expression(node)
        context.classes.difference_update(declared)
        return self._mention(unit, change)

    def _follow_steps(self, changes: RuleChanges, unit: Ontology | None = None, change: int = 0) -> bool:
        """Change the rules that depend on the steps of the hierarchy, and on a unit that comes or goes. Return whether all others
        are the same.
        """
        gone, new, former = self._steps.moved()
        parts = frozenset(() if unit is None else parts_of(unit))
        if not (gone or new or parts):
            return True
        leaving: dict[RestrictionGroup, list[HierarchyStep]] = defaultdict(list)
        for step in gone:
            for group in {step.lower, step.upper}:
                leaving[group].append(step)

        def touching(group: RestrictionGroup) -> tuple[HierarchyStep, ...]:
            return *self._steps.touching(group), *leaving.get(group, ())

        around: set[RestrictionGroup | Term] = {node for part in parts for node in blank_nodes(part)}
        around.update(group for step in gone | new for group in (step.lower, step.upper))
        around.update(group for group in former if touching(group))
        area = self._linked.area(around, touching, former)
        if area is None:
            return False
        before = self._linked.translate(area, self._texts, without=new, but=parts if change > 0 else (), former=former)
        after = self._linked.translate(area, self._texts, without=gone, but=parts if change < 0 else ())
        if not (before.is_closed and after.is_closed):
            return False
        stay = Counter((rule, rule.origin) for rule in before.rules) & Counter((rule, rule.origin) for rule in after.rules)
        for rule in _without(before.rules, stay):
            self._remove(rule, changes)
        for rule in _without(after.rules, stay):
            self._add(rule, changes)
        return True

    def _follow(self, triple: Triple, change: int, changes: RuleChanges) -> bool:
        """Add (1) or remove (-1) a triple. Return whether only its own rules change."""
        name, predicate, value = triple
        unit = read_ontology([triple])
        if predicate == RDF.type and value in _DECLARED:
            return self._declare_property(name, _DECLARED[value], change) and self._mention(unit, change)
        if predicate == RDF.type and value == OWL.Class:
            return self._declare_class(name, change) and self._mention(unit, change)
        for axiom in unit.axioms:
            of_classes, edges = edges_of(axiom)
            if not all(self._steps.change(of_classes, *edge, change) for edge in edges):
                return False
        if change > 0 and not self._mention(unit, change):
            return False
        self._translate(unit, change, changes)
        self._warn(warnings_of(in_context(unit, self._ontology), self._texts), change)
        return change > 0 or self._mention(unit, change)  # while its names have their texts

    def _translate(self, unit: Ontology, change: int, changes: RuleChanges) -> bool:
        """Add or remove the rules of axioms between names. Return whether they depend on nothing but these."""
        found = rules_of(in_context(unit, self._ontology), self._texts)
        for rule in found.rules:
            (self._add if change > 0 else self._remove)(rule, changes)
        return found.is_closed

    # --- what a triple says of its names

    def _declare_property(self, name: Term, kind: str, change: int) -> bool:
        """Declare a property, or take that back. Its declarations must be all that mentions it."""
        context = self._ontology
        declared: set[Term] = getattr(context, kind)
        others = context.uses_as_property[name] - (name in context.object_properties) - (name in context.data_properties)
        if others or (name in declared) == (change > 0):
            return False
        (declared.add if change > 0 else declared.remove)(name)
        return self._steps.change(False, name, name, change)

    def _declare_class(self, name: Term, change: int) -> bool:
        classes = self._ontology.classes
        if self.asks_for_thing or name in self._ontology.datatypes or (name in classes) == (change > 0):
            return False
        (classes.add if change > 0 else classes.remove)(name)
        return all(self._steps.change(True, *edge, change) for edge in declaration_edges(name))

    def _mention(self, unit: Ontology, change: int) -> bool:
        """Count the mentions of names. Return whether the texts of others are the same as before."""
        context = self._ontology
        for uses, counted in ((unit.uses_as_class, context.uses_as_class), (unit.uses_as_property, context.uses_as_property)):
            for name, count in uses.items():
                was_name = self.is_name(name)
                counted[name] += change * count
                if not counted[name]:
                    del counted[name]
                if isinstance(name, IRI) and self.is_name(name) != was_name and not self._count_namespace(name, change):
                    return False
        return True

    def _count_namespace(self, name: IRI, change: int) -> bool:
        """Count a name of a namespace. Return whether the prefixes of all other names are the same as before."""
        namespace = namespace_of(name.value)
        self._namespaces[namespace] += change
        if change < 0:
            self._texts.forget(name)
        if self._namespaces[namespace] != (change > 0) or namespace in _RESERVED:
            return True
        if namespace in self._fixed:
            return False
        return (self._texts.add_namespace if change > 0 else self._texts.remove_namespace)(namespace)

    # --- rules and warnings

    def _add(self, rule: Rule, changes: RuleChanges) -> None:
        shown = self.rules.get(rule)
        if shown is not None:
            equal = self._equal.setdefault(rule, [shown])
            equal.append(rule)
            rule = _first(equal)
        self._show(rule, changes)

    def _remove(self, rule: Rule, changes: RuleChanges) -> None:
        equal = self._equal.get(rule)
        if equal is None:
            changes.remove(self.rules.pop(rule))
            return
        del equal[next(place for place, other in enumerate(equal) if other.origin == rule.origin)]
        if len(equal) == 1:
            del self._equal[rule]
        self._show(_first(equal), changes)

    def _show(self, rule: Rule, changes: RuleChanges) -> None:
        shown = self.rules.pop(rule, None)
        self.rules[rule] = rule
        if shown is not rule:
            if shown is not None:
                changes.remove(shown)
            changes.add(rule)

    def _warn(self, warnings: Iterable[AxiomWarning], change: int) -> None:
        for warning in warnings:
            before = self._warnings[warning]
            self._warnings[warning] += change
            place = bisect_left(self._in_order, _place_of(warning), key=_place_of)
            if before == 0:
                self._in_order.insert(place, warning)
            elif not self._warnings[warning]:
                del self._warnings[warning]
                del self._in_order[self._in_order.index(warning, place)]
            else:
                continue
            self._shown_warnings = None


def _place_of(warning: AxiomWarning) -> tuple[str, str]:
    return warning.axiom, warning.reason


def _without(rules: Iterable[Rule], others: Mapping[tuple[Rule, Origin], int]) -> Iterator[Rule]:
    """Yield rules but some, each of which is left out as often as it is counted."""
    left = dict(others)
    for rule in rules:
        key = rule, rule.origin
        if left.get(key):
            left[key] -= 1
        else:
            yield rule


def _first(equal: list[Rule]) -> Rule:
    """Return the first of equal rules, in the order of their axioms."""
    return min(equal, key=lambda rule: rule.origin.axioms)
