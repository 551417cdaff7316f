"""The parts of an ontology that steps of the hierarchy link, translated again without the rest.

Rules of two expressions depend on each other only if their axioms share a blank node, or if steps lead from one restriction to the
other. All parts that depend on some restrictions, directly or indirectly, are an *area*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from operator import itemgetter
from typing import Final, get_args

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import Axiom, ClassExpression
from kg_reasoner.loaders.ontology.dlp import TranslatedOntology, rules_of
from kg_reasoner.loaders.ontology.ontology import Ontology, reading_place
from kg_reasoner.loaders.ontology.restriction_hierarchy import (
    NO_MEMBERS,
    HierarchyStep,
    Members,
    RestrictionGroup,
    RestrictionHierarchy,
)
from kg_reasoner.loaders.rules.swrl import SwrlRule
from kg_reasoner.terms import IRI, BlankNode, Literal, Term, term_text

__all__ = ["Area", "LinkedParts", "Part", "blank_nodes", "has_blank_nodes", "parts_of"]

_LARGEST: Final = 500
"""An area with more expressions and axioms than this is not translated by itself, if these are the most of the ontology."""
Part = BlankNode | Axiom | SwrlRule
"""A part of an ontology: the node of an expression, an axiom, or a rule."""
_FIELDS: dict[type, tuple[str, ...]] = {}
"""The names of the fields of expressions, axioms and rules, once they have been looked at."""
_TERMS: Final = (IRI, BlankNode, Literal)  # otherwise, each call would make the union again
_AXIOM_KINDS: Final = {kind: number for number, kind in enumerate(get_args(Axiom))}


@dataclass(frozen=True, slots=True)
class Area:
    """Parts of an ontology whose rules depend on no other part, and the steps between them."""

    parts: tuple[Part, ...]
    steps: Collection[HierarchyStep]


class LinkedParts:
    """The expressions of an ontology, and the axioms and rules that refer to them.

    Args:
        ontology: The ontology.
        hierarchy: The hierarchy of its restrictions, of which only what does not depend on the order of names is used.
    """

    def __init__(self, ontology: Ontology, hierarchy: RestrictionHierarchy) -> None:
        self._hierarchy = hierarchy
        self._ontology = replace(ontology, axioms=(), classes=set(), problems=())
        expressions = (node for node in ontology.expressions if isinstance(node, BlankNode))
        self._parts: dict[int, Part] = {}
        self._places: dict[Term, list[int]] = defaultdict(list)
        """The places of the parts that refer to each blank node."""
        for part in (*expressions, *ontology.axioms, *ontology.rules):
            found = self._nodes_of(part)
            if found or isinstance(part, SwrlRule):
                self._put(part, found)
        self._groups: dict[Term, list[RestrictionGroup]] = defaultdict(list)
        """The groups of each restriction."""
        for group, nodes in hierarchy.members.items():
            for node in nodes:
                self._groups[node].append(group)

    def add(self, unit: Ontology) -> None:
        """Add expressions, whose nodes nothing else refers to, and the axioms that refer to them."""
        for part in parts_of(unit):
            self._put(part, self._nodes_of(part))
        for node, expressions in unit.expressions.items():
            for group in filter(None, map(self._hierarchy.group_of, expressions)):
                self._groups[node].append(group)

    def remove(self, unit: Ontology) -> None:
        """Remove expressions, and all axioms that refer to them."""
        for node in set(blank_nodes((*unit.expressions.items(), *unit.axioms))):
            for place in self._places.pop(node, ()):
                self._parts.pop(place, None)
            self._groups.pop(node, None)

    def _put(self, part: Part, nodes: Iterable[Term]) -> None:
        """Add a part that refers to some blank nodes."""
        place = next(reversed(self._parts), -1) + 1
        self._parts[place] = part
        for node in nodes:
            self._places[node].append(place)

    def _nodes_of(self, part: Part) -> set[Term]:
        return set(blank_nodes((part, self._ontology.expressions[part]) if isinstance(part, BlankNode) else part))

    def area(
        self,
        around: Iterable[RestrictionGroup | Term],
        touching: Callable[[RestrictionGroup], Iterable[HierarchyStep]],
        former: Members = NO_MEMBERS,
    ) -> Area | None:
        """Return the area around some groups and nodes, or None if it is large.

        Args:
            around: The groups and nodes.
            touching: Returns the steps to and from a group.
            former: The former nodes of groups that have others now.
        """
        places: set[int] = set()
        steps: dict[HierarchyStep, None] = {}
        seen: set[RestrictionGroup | Term] = set()
        waiting: list[RestrictionGroup | Term] = list(around)
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if isinstance(one, RestrictionGroup):
                found = touching(one)
                steps.update(dict.fromkeys(found))
                waiting.extend(group for step in found for group in (step.lower, step.upper))
                nodes = (*self._hierarchy.members.get(one, ()), *former.get(one, ()))
                waiting.extend(node for node in nodes if isinstance(node, BlankNode))
                continue
            waiting.extend(group for group in self._groups.get(one, ()) if touching(group))
            for place in self._places.get(one, ()):
                if place not in places:
                    places.add(place)
                    waiting.extend(self._nodes_of(self._parts[place]))
            if len(places) > max(_LARGEST, len(self._parts) // 2):
                return None
        parts = [(self._key(place), self._parts[place]) for place in places]
        return Area(tuple(part for _, part in sorted(parts, key=itemgetter(0))), steps)

    def _key(self, place: int) -> tuple[int | str, ...]:
        """Return a key for the order of parts in an ontology that is read again."""
        part = self._parts[place]
        if isinstance(part, BlankNode):
            return 0, *reading_place(part, self._ontology.expressions[part])
        if isinstance(part, SwrlRule):
            return 2, place
        return 1, _AXIOM_KINDS[type(part)], *map(term_text, _terms_in(part))

    def _only(self, parts: Iterable[Part]) -> Ontology:
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

    def translate(
        self,
        area: Area,
        texts: Texts,
        *,
        without: Collection[HierarchyStep],
        but: Collection[Part] = (),
        former: Members = NO_MEMBERS,
    ) -> TranslatedOntology:
        """Return the rules of an area.

        Args:
            area: The area.
            texts: The texts of its axioms.
            without: The steps to leave out.
            but: The parts to leave out.
            former: The nodes of groups that have others now.
        """
        steps = (step for step in area.steps if step not in without)
        ontology = self._only(part for part in area.parts if part not in but)
        return rules_of(ontology, texts, links=self._hierarchy.linked_by(steps, former))


def parts_of(unit: Ontology) -> Iterator[Part]:
    """Yield the parts of a unit that blank nodes link."""
    yield from (node for node in unit.expressions if isinstance(node, BlankNode))
    yield from filter(has_blank_nodes, unit.axioms)


def has_blank_nodes(axiom: Axiom) -> bool:
    """Return whether an axiom refers to a blank node."""
    return any(isinstance(term, BlankNode) for term in _terms_in(axiom))


def blank_nodes(value: object) -> Iterator[Term]:
    """Yield the blank nodes in expressions, axioms and rules."""
    return (term for term in _terms_in(value) if isinstance(term, BlankNode))


def _terms_in(value: object) -> list[Term]:
    """Return the terms in expressions, axioms and rules."""
    found: list[Term] = []
    _collect(value, found)
    return found


def _collect(value: object, found: list[Term]) -> None:
    if isinstance(value, _TERMS):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
    else:
        names = _FIELDS.get(type(value))
        if names is None:
            names = _FIELDS[type(value)] = tuple(field.name for field in fields(value)) if is_dataclass(value) else ()
        for name in names:
            _collect(getattr(value, name), found)
