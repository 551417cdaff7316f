"""The parts of an ontology that steps of the hierarchy link, translated again without the rest.

Rules of two expressions depend on each other only if their axioms share a blank node, or if steps lead from one restriction to the
other. All that depends on some restrictions, directly or by others, is an *area*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Final

from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import Axiom, ClassExpression
from kg_reasoner.loaders.ontology.dlp import TranslatedOntology, rules_of
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.restriction_hierarchy import HierarchyStep, RestrictionGroup, RestrictionHierarchy
from kg_reasoner.loaders.rules.swrl import SwrlRule
from kg_reasoner.terms import BlankNode, Term

__all__ = ["Area", "LinkedParts"]

_LARGEST: Final = 500
"""An area with more expressions and axioms than this is not translated by itself, if these are the most of the ontology."""
_Part = BlankNode | Axiom | SwrlRule
"""A part of an ontology: the node of an expression, an axiom, or a rule."""


@dataclass(frozen=True, slots=True)
class Area:
    """A part of an ontology whose rules depend on no other part, and the steps in it."""

    ontology: Ontology
    steps: Collection[HierarchyStep]


class LinkedParts:
    """The expressions of an ontology, and the axioms and rules that refer to them.

    Args:
        ontology: The ontology.
        hierarchy: The hierarchy of its restrictions, of which only what does not depend on the order of names is used.
    """

    def __init__(self, ontology: Ontology, hierarchy: RestrictionHierarchy) -> None:
        self._hierarchy = hierarchy
        refer = tuple(axiom for axiom in ontology.axioms if any(True for _ in _blank_nodes(axiom)))
        self._ontology = replace(ontology, axioms=refer, classes=set(), problems=())

    @cached_property
    def _parts(self) -> list[_Part]:
        ontology = self._ontology
        expressions = (node for node in ontology.expressions if isinstance(node, BlankNode))
        return [*expressions, *ontology.axioms, *ontology.rules]

    @cached_property
    def _places(self) -> dict[Term, list[int]]:
        """The places of the parts that refer to each blank node."""
        found: dict[Term, list[int]] = defaultdict(list)
        for place in range(len(self._parts)):
            for node in self._nodes_of(place):
                found[node].append(place)
        return found

    @cached_property
    def _groups(self) -> dict[Term, list[RestrictionGroup]]:
        """The groups of each restriction."""
        found: dict[Term, list[RestrictionGroup]] = defaultdict(list)
        for group, nodes in self._hierarchy.members.items():
            for node in nodes:
                found[node].append(group)
        return found

    def _nodes_of(self, place: int) -> set[Term]:
        part = self._parts[place]
        return set(_blank_nodes((part, self._ontology.expressions[part]) if isinstance(part, BlankNode) else part))

    def area(
        self, groups: Iterable[RestrictionGroup], touching: Callable[[RestrictionGroup], Iterable[HierarchyStep]]
    ) -> Area | None:
        """Return the area of some groups, or None if it is large.

        Args:
            groups: The groups.
            touching: Returns the steps to and from a group.
        """
        places: set[int] = set()
        steps: dict[HierarchyStep, None] = {}
        seen: set[RestrictionGroup | Term] = set()
        waiting: list[RestrictionGroup | Term] = list(groups)
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, RestrictionGroup):
                found = touching(one)
                steps.update(dict.fromkeys(found))
                waiting.extend(group for step in found for group in (step.lower, step.upper))
                waiting.extend(node for node in self._hierarchy.members[one] if isinstance(node, BlankNode))
                continue
            waiting.extend(group for group in self._groups.get(one, ()) if touching(group))
            for place in self._places.get(one, ()):
                if place not in places:
                    places.add(place)
                    waiting.extend(self._nodes_of(place))
            if len(places) > max(_LARGEST, len(self._parts) // 2):
                return None
        return Area(self._only(map(self._parts.__getitem__, sorted(places))), steps)

    def _only(self, parts: Iterable[_Part]) -> Ontology:
        """Return an ontology of some parts."""
        expressions: dict[Term, tuple[ClassExpression, ...]] = {}
        axioms: list[Axiom] = []
        rules: list[SwrlRule] = []
        for part in parts:
            if isinstance(part, BlankNode):
                expressions[part] = self._ontology.expressions[part]
            elif isinstance(part, SwrlRule):
                rules.append(part)
            else:
                axioms.append(part)
        return replace(self._ontology, expressions=expressions, axioms=tuple(axioms), rules=tuple(rules))

    def translate(self, area: Area, steps: Iterable[HierarchyStep], texts: Texts) -> TranslatedOntology:
        """Return the rules of an area with other steps than its own."""
        return rules_of(area.ontology, texts, links=self._hierarchy.linked_by(steps))


def _blank_nodes(value: object) -> Iterator[Term]:
    """Yield the blank nodes in expressions, axioms and rules."""
    if isinstance(value, BlankNode):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _blank_nodes(item)
    elif is_dataclass(value) and not isinstance(value, Term):
        for field in fields(value):
            yield from _blank_nodes(getattr(value, field.name))
