"""The strata of a program: which rules are evaluated before which, because others negate or aggregate the facts that they derive.

For the dependency graph, an atom over `TRIPLE` is a predicate of its own for each constant property, and for each constant class
with rdf:type. This distinguishes ``NOT ub:Student[?x]`` in one rule from ``[?x, ub:advisor, ?y]`` in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from kg_reasoner.errors import StratificationError
from kg_reasoner.graphs import shortest_path, strongly_connected_components
from kg_reasoner.program import (
    AUXILIARY,
    TRIPLE,
    Aggregate,
    Atom,
    BodyLiteral,
    Negation,
    Rule,
    Variable,
    kinds_of_parts,
    remembered,
)
from kg_reasoner.terms import RDF, Term

__all__ = [
    "Key",
    "Node",
    "dependencies",
    "head_key",
    "key_of",
    "levels",
    "looks_down",
    "needed_keys",
    "show_key",
    "signed_atoms",
    "stratify",
]

_DOWN: Final = frozenset({Negation, Aggregate})
CORRELATED: Final = "correlated"
"""The prefix of the auxiliary predicates that take values from around negations or aggregates."""

Key: TypeAlias = tuple[str, Term | None, Term | None]
"""A predicate, and for `TRIPLE` the constant property, and for rdf:type the constant class (None where there is a variable)."""


def signed_atoms(body: Iterable[BodyLiteral], negative: bool = False) -> Iterator[tuple[Atom, bool]]:
    """Yield all atoms of a body, each with whether it is negated or inside an aggregate."""
    for part in body:
        if isinstance(part, Atom):
            yield part, negative
        elif isinstance(part, Negation):
            yield part.atom, True
        elif isinstance(part, Aggregate):
            yield from signed_atoms(part.body, negative=True)


def key_of(atom: Atom) -> Key:
    """Return the node of an atom in the dependency graph."""
    if atom.predicate != TRIPLE:
        return atom.predicate, None, None
    _, property, value = atom.terms
    if isinstance(property, Variable):
        return TRIPLE, None, None
    return TRIPLE, property, value if property == RDF.type and not isinstance(value, Variable) else None


@remembered
def head_key(rule: Rule) -> Key:
    """Return the node of a rule's head in the dependency graph."""
    return key_of(rule.head)


@remembered
def needed_keys(rule: Rule) -> frozenset[Key]:
    """Return the nodes of a rule's positive atoms in the dependency graph."""
    return frozenset(map(key_of, rule.body_atoms()))


def stratify(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return the strata of rules in the order of evaluation; rules keep their order within a stratum. See `levels`.

    Raises:
        StratificationError: Negation or aggregation occurs in a recursion; the message shows the cycle.
    """
    strata: dict[int, list[Rule]] = {}
    for rule, level in levels(rules).items():
        strata.setdefault(level, []).append(rule)
    return [strata[number] for number in sorted(strata)]


def levels(rules: Sequence[Rule]) -> dict[Rule, int]:
    """Return the number of each rule's stratum: its positive atoms match facts of this stratum or lower ones, its negated and
    aggregated atoms match facts of lower strata only.

    Strata are split only where negation or aggregation requires it; without them, a program has one stratum. Facts that no rule
    derives precede the first stratum.

    Raises:
        StratificationError: Negation or aggregation occurs in a recursion; the message shows the cycle.
    """
    if not any(map(looks_down, rules)):
        return dict.fromkeys(rules, 0)
    graph, negative = dependencies(rules)
    components = list(strongly_connected_components(graph, graph.__getitem__))
    component_of = {node: number for number, nodes in enumerate(components) for node in nodes}
    for (head, below), (rule, atom) in negative.items():
        if component_of[head] == component_of[below]:
            raise _unstratifiable(head, below, rule, atom, graph, negative)
    level: dict[Node, int] = {}
    for nodes in components:
        lowest = max(0 if is_head else -1 for is_head, _ in nodes)
        below_levels = (
            level[below] + ((node, below) in negative)
            for node in nodes
            for below in graph[node]
            if component_of[below] != component_of[node]
        )
        level.update(dict.fromkeys(nodes, max(lowest, max(below_levels, default=lowest))))
    return {rule: level[True, head_key(rule)] for rule in rules}


def looks_down(rule: Rule) -> bool:
    """Return whether a rule negates or aggregates."""
    return not _DOWN.isdisjoint(kinds_of_parts(rule))


Node: TypeAlias = tuple[bool, Key]
"""Whether the key is that of heads (or of body atoms), and the key."""
_Graph: TypeAlias = dict[Node, dict[Node, None]]
_Negative: TypeAlias = dict[tuple[Node, Node], tuple[Rule, Atom]]


def dependencies(rules: Sequence[Rule]) -> tuple[_Graph, _Negative]:
    """Return the dependency graph: heads depend on atoms of their bodies, and atoms on the heads whose facts they match.

    The second part has the negative dependencies, each with one rule and atom that makes it.
    """
    graph: _Graph = {(True, head_key(rule)): {} for rule in rules}
    by_property: dict[Term | None, list[Node]] = {}
    for node in graph:
        if node[1][0] == TRIPLE:
            by_property.setdefault(node[1][1], []).append(node)
    negative: _Negative = {}
    for rule in rules:
        head = True, head_key(rule)
        for atom, is_negative in signed_atoms(rule.body):
            below = False, key_of(atom)
            if below not in graph:
                graph[below] = dict.fromkeys(_matching_heads(below[1], graph, by_property))
            graph[head].setdefault(below)
            if is_negative:
                negative.setdefault((head, below), (rule, atom))
    return graph, negative


def _matching_heads(key: Key, graph: _Graph, by_property: Mapping[Term | None, Sequence[Node]]) -> Iterable[Node]:
    predicate, property, cls = key
    if predicate == TRIPLE and property is None:
        return [node for nodes in by_property.values() for node in nodes]
    if predicate == TRIPLE and cls is None:
        return [*by_property.get(property, ()), *by_property.get(None, ())]
    return [(True, head) for head in (key, (predicate, property, None), (predicate, None, None)) if (True, head) in graph]


def _unstratifiable(head: Node, below: Node, rule: Rule, atom: Atom, graph: _Graph, negative: _Negative) -> StratificationError:
    """Return the error for the cycle that a negative dependency of `head` on `below` closes."""
    cycle = [head, *shortest_path(below, head, graph.__getitem__)]
    text = show_key(head[1])
    for upper, lower in pairwise(cycle):
        if (upper, lower) in negative:
            text += f" -> {'NOT' if _is_negated(*negative[upper, lower]) else 'AGGREGATE'} {show_key(lower[1])}"
        elif upper[1] != lower[1]:
            text += f" -> {show_key(lower[1])}"
    what = "negation" if _is_negated(rule, atom) else "aggregate"
    hint = "a rule may negate or aggregate only what can be computed before it; break this cycle"
    if atom.predicate.startswith(f"{AUXILIARY}{CORRELATED}"):
        hint += "; what is in parentheses uses values from around it, which another atom may give, or arguments: NOT stop(?n + 1)"
    return StratificationError(f"{show_key(head[1])} depends on its own {what}: {text}", atom.span or rule.head.span, hint)


def _is_negated(rule: Rule, atom: Atom) -> bool:
    parts = [inner for part in rule.body for inner in (part.body if isinstance(part, Aggregate) else (part,))]
    return any(isinstance(part, Negation) and part.atom is atom for part in parts)


def show_key(key: Key) -> str:
    """Return a key as messages show it. Predicates that stand for a part of a body have no name."""
    predicate, property, cls = key
    if predicate.startswith(AUXILIARY):
        return "(...)"
    if predicate != TRIPLE:
        return predicate
    return f"{cls}[]" if cls is not None else "[?s, ?p, ?o]" if property is None else f"{property}[]"
