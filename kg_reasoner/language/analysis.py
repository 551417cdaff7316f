"""Checks and stratification of a program before it is evaluated. Each check raises an error for the first fault.

For the dependency graph, an atom over `TRIPLE` is a predicate of its own for each constant property, and for each constant class
with rdf:type. This distinguishes ``NOT ub:Student[?x]`` in one rule from ``[?x, ub:advisor, ?y]`` in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from kg_reasoner.errors import ArityError, SafetyError, Span, StratificationError
from kg_reasoner.expressions import aggregates
from kg_reasoner.expressions import compile as expressions
from kg_reasoner.graphs import shortest_path, strongly_connected_components
from kg_reasoner.program import (
    FALSE,
    TRIPLE,
    Aggregate,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Negation,
    Program,
    Rule,
    Variable,
    remembered,
    variables_of,
)
from kg_reasoner.terms import RDF, Term

__all__ = [
    "Key",
    "arities",
    "check",
    "check_arity",
    "check_expressions",
    "check_safety",
    "conjuncts",
    "head_key",
    "homonyms",
    "key_of",
    "levels",
    "looks_down",
    "needed_keys",
    "stratify",
]

Key: TypeAlias = tuple[str, Term | None, Term | None]
"""A predicate, and for `TRIPLE` the constant property, and for rdf:type the constant class (None where there is a variable)."""


def check(program: Program) -> list[list[Rule]]:
    """Check the arity, safety, stratification and expressions of a program, in this order, and return its strata (see `stratify`).

    Raises:
        ArityError, SafetyError, StratificationError, UnsupportedError: The first error in the program.
    """
    check_arity(program)
    check_safety(program)
    strata = stratify(program.rules)
    check_expressions(program)
    return strata


# --------------------------------------------------------------------------------------------------------------------- arity


def check_arity(program: Program) -> None:
    """Check that each predicate always has the same number of arguments, and that of its declaration if it has one.

    Args:
        program: The program to check.

    Raises:
        ArityError: At the first use that differs.
    """
    known: dict[str, tuple[int, Span | None]] = {}
    for declaration in program.declarations:
        _expect_arity(declaration.predicate, declaration.arity, declaration.span, known)
    for rule in program.rules:
        for atom in _general_atoms(rule):
            _expect_arity(atom.predicate, atom.arity, atom.span, known)


def arities(program: Program) -> dict[str, int]:
    """Return the number of arguments of each general predicate of a program that passed `check_arity`."""
    found = {declaration.predicate: declaration.arity for declaration in program.declarations}
    for rule in program.rules:
        for atom in _general_atoms(rule):
            found[atom.predicate] = atom.arity
    return found


@remembered
def _general_atoms(rule: Rule) -> tuple[Atom, ...]:
    """Yield the atoms of a rule over general predicates."""
    return tuple(atom for atom in (rule.head, *(atom for atom, _ in _atoms(rule.body))) if atom.predicate not in (TRIPLE, FALSE))


def _expect_arity(predicate: str, arity: int, span: Span | None, known: dict[str, tuple[int, Span | None]]) -> None:
    expected, where = known.setdefault(predicate, (arity, span))
    if arity != expected:
        first = f" in {where.source}, line {where.line}" if where else ""
        raise ArityError(f"{predicate} has {_arguments(arity)} here and {_arguments(expected)}{first}", span)


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _atoms(body: Iterable[BodyLiteral], negative: bool = False) -> Iterator[tuple[Atom, bool]]:
    """Yield all atoms of a body, each with whether it is negated or inside an aggregate."""
    for part in body:
        if isinstance(part, Atom):
            yield part, negative
        elif isinstance(part, Negation):
            yield part.atom, True
        elif isinstance(part, Aggregate):
            yield from _atoms(part.body, negative=True)


# -------------------------------------------------------------------------------------------------------------------- safety


def check_safety(program: Program) -> None:
    """Check that positive atoms of a rule's body bind the variables of its head and filters, and those shared by negations.

    A variable that occurs in one negated atom and nowhere else is existential there (`lonely(?x) :- node(?x), NOT edge(?x, ?y) .`).

    Raises:
        SafetyError: Names the variable.
    """
    for rule in program.rules:
        _check_rule(rule)


@remembered
def _check_rule(rule: Rule) -> None:
    """Check the safety of one rule."""
    bound = _check_body(rule.body, outside=set(variables_of(rule.head)))
    for variable in variables_of(rule.head):
        if variable not in bound:
            if not rule.body:
                hint = "a fact cannot have variables: use constants, or add a body that binds them"
            elif variable.name.startswith("_"):
                hint = "a wildcard in the head has no value: use a variable that occurs in the body"
            else:
                hint = f"use {variable} in an atom of the body that is not negated"
            raise SafetyError(f"{_name(variable)} of the head is not bound by the body", variable.span or rule.head.span, hint)


def _check_body(body: Sequence[BodyLiteral], outside: set[Variable]) -> set[Variable]:
    """Check the filters and negations of a body with variables from `outside`; return the variables that the body binds."""
    bound: set[Variable] = set()
    occurrences = Counter(outside)
    for part in body:
        occurrences.update(set(variables_of(part)))
        if isinstance(part, Atom):
            bound.update(variables_of(part))
        elif isinstance(part, Aggregate):
            inner = _check_body(part.body, outside=set(part.group))
            _expect_bound((*part.group, *_aggregated(part)), inner, "the aggregate", part.span)
            bound.update(variables_of(part))
    waiting = [part for part in body if isinstance(part, Bind)]
    while ready := [part for part in waiting if bound.issuperset(variables_of(part.expression))]:
        bound.update(part.variable for part in ready)
        waiting = [part for part in waiting if part not in ready]
    for part in waiting:
        _expect_bound(variables_of(part.expression), bound, "the expression of BIND", part.span)
    for part in body:
        if isinstance(part, Filter):
            _expect_bound(variables_of(part.expression), bound, "the filter", part.span)
        elif isinstance(part, Negation):
            shared = (variable for variable in variables_of(part) if occurrences[variable] > 1)
            _expect_bound(shared, bound, "the negated atom", part.span)
    return bound


def homonyms(program: Program) -> Iterator[str]:
    """Yield a warning for each variable local to an AGGREGATE that has the name of a variable outside of it."""
    for rule in program.rules:
        for place, part in enumerate(rule.body):
            if isinstance(part, Aggregate):
                others = (rule.head, *rule.body[:place], *rule.body[place + 1 :])
                outside = {variable for other in others for variable in variables_of(other)}.difference(part.group)
                inside = dict.fromkeys(variable for inner in part.body for variable in variables_of(inner))
                for variable in inside:
                    if variable in outside and not variable.name.startswith("_"):
                        span = variable.span or part.span
                        where = f"{span.source}:{span.line}:{span.column}: " if span is not None else ""
                        yield (
                            f"{where}{variable} in the AGGREGATE is a different variable from {variable} outside of it: "
                            "list it after ON to make them the same, or rename one of them"
                        )


def _aggregated(part: Aggregate) -> Iterator[Variable]:
    return (v for binding in part.bindings if binding.argument is not None for v in variables_of(binding.argument))


def _expect_bound(variables: Iterable[Variable], bound: set[Variable], where: str, span: Span | None) -> None:
    for variable in variables:
        if variable not in bound:
            hint = "use it in an atom that is not negated"
            raise SafetyError(f"{_name(variable)} of {where} is not bound by the body", variable.span or span, hint)


def _name(variable: Variable) -> str:
    return "the wildcard _" if variable.name.startswith("_") else str(variable)


# -------------------------------------------------------------------------------------------------------------------- strata


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
    graph, negative = _dependencies(rules)
    components = list(strongly_connected_components(graph, graph.__getitem__))
    component_of = {node: number for number, nodes in enumerate(components) for node in nodes}
    for (head, below), (rule, atom) in negative.items():
        if component_of[head] == component_of[below]:
            raise _unstratifiable(head, below, rule, atom, graph, negative)
    level: dict[_Node, int] = {}
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


@remembered
def looks_down(rule: Rule) -> bool:
    """Return whether a rule negates or aggregates."""
    return any(isinstance(part, Negation | Aggregate) for part in rule.body)


_Node: TypeAlias = tuple[bool, Key]
"""Whether the key is that of heads (or of body atoms), and the key."""
_Graph: TypeAlias = dict[_Node, dict[_Node, None]]
_Negative: TypeAlias = dict[tuple[_Node, _Node], tuple[Rule, Atom]]


def _dependencies(rules: Sequence[Rule]) -> tuple[_Graph, _Negative]:
    """Return the dependency graph: heads depend on atoms of their bodies, and atoms on the heads whose facts they match.

    The second part has the negative dependencies, each with one rule and atom that makes it.
    """
    graph: _Graph = {(True, head_key(rule)): {} for rule in rules}
    by_property: dict[Term | None, list[_Node]] = {}
    for node in graph:
        if node[1][0] == TRIPLE:
            by_property.setdefault(node[1][1], []).append(node)
    negative: _Negative = {}
    for rule in rules:
        head = True, head_key(rule)
        for atom, is_negative in _atoms(rule.body):
            below = False, key_of(atom)
            if below not in graph:
                graph[below] = dict.fromkeys(_matching_heads(below[1], graph, by_property))
            graph[head].setdefault(below)
            if is_negative:
                negative.setdefault((head, below), (rule, atom))
    return graph, negative


def _matching_heads(key: Key, graph: _Graph, by_property: Mapping[Term | None, Sequence[_Node]]) -> Iterable[_Node]:
    predicate, property, cls = key
    if predicate == TRIPLE and property is None:
        return [node for nodes in by_property.values() for node in nodes]
    if predicate == TRIPLE and cls is None:
        return [*by_property.get(property, ()), *by_property.get(None, ())]
    return [(True, head) for head in (key, (predicate, property, None), (predicate, None, None)) if (True, head) in graph]


def _unstratifiable(head: _Node, below: _Node, rule: Rule, atom: Atom, graph: _Graph, negative: _Negative) -> StratificationError:
    """The error for the cycle that a negative dependency of `head` on `below` closes."""
    cycle = [head, *shortest_path(below, head, graph.__getitem__)]
    text = _show(head[1])
    for upper, lower in pairwise(cycle):
        if (upper, lower) in negative:
            text += f" -> {'NOT' if _is_negated(*negative[upper, lower]) else 'AGGREGATE'} {_show(lower[1])}"
        elif upper[1] != lower[1]:
            text += f" -> {_show(lower[1])}"
    what = "negation" if _is_negated(rule, atom) else "aggregate"
    return StratificationError(
        f"{_show(head[1])} depends on its own {what}: {text}",
        atom.span or rule.head.span,
        "a rule may negate or aggregate only what can be computed before it; break this cycle",
    )


def _is_negated(rule: Rule, atom: Atom) -> bool:
    parts = [inner for part in rule.body for inner in (part.body if isinstance(part, Aggregate) else (part,))]
    return any(isinstance(part, Negation) and part.atom is atom for part in parts)


def _show(key: Key) -> str:
    predicate, property, cls = key
    if predicate != TRIPLE:
        return predicate
    return f"{cls}[]" if cls is not None else "[?s, ?p, ?o]" if property is None else f"{property}[]"


# ---------------------------------------------------------------------------------------------------------------- expressions


def check_expressions(program: Program) -> None:
    """Check that every function and aggregate exists, is deterministic, and has the right number of arguments.

    Raises:
        UnsupportedError: Names the function or aggregate, or what is wrong with a regular expression.
    """
    for rule in program.rules:
        _check_parts(rule)


@remembered
def _check_parts(rule: Rule) -> None:
    """Check the expressions of one rule."""
    for part in rule.body:
        _check_part(part, rule.head.span)


def _check_part(part: BodyLiteral, span: Span | None) -> None:
    if isinstance(part, Filter | Bind):
        expressions.check(part.expression, part.span or span)
        expressions.check_patterns(part.expression, part.span or span)
    elif isinstance(part, Aggregate):
        for binding in part.bindings:
            aggregates.check(binding.function, part.span or span)
            if binding.argument is not None:
                expressions.check(binding.argument, part.span or span)
                expressions.check_patterns(binding.argument, part.span or span)
        for inner in part.body:
            _check_part(inner, part.span or span)


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the conjuncts of a filter: ``?x != ?y && ?x > 5`` has two."""
    if isinstance(expression, Call) and expression.name == "&&":
        for argument in expression.arguments:
            yield from conjuncts(argument)
    else:
        yield expression
