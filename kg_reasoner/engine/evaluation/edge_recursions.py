"""Recursions through MIN and MAX that follow edges, whatever their names: shortest paths, least labels of components.

Such a recursion passes a value from one group to another along edges, which other rules give, and adds a weight, or nothing:
``way(?y, ?d + ?w) :- distance(?x, ?d), edge(?x, ?y, ?w)``. Other columns of the groups, as those of a start, stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.language.strata.recursion import Recursion
from kg_reasoner.language.strata.stratification import key_of
from kg_reasoner.program import Aggregate, Argument, Atom, Bind, BodyLiteral, Call, Expression, Filter, Rule, Variable, variables_of
from kg_reasoner.substitution import in_part
from kg_reasoner.terms import Literal

__all__ = ["EdgeStep", "steps_of"]

DEEPEST: Final = 8
"""Through how many predicates a value may pass from one group to the next."""

MOST_COPIES: Final = 64
"""The maximal number of rules that are combined: alternatives on each level multiply the combinations."""


class _OtherError(Exception):
    """A recursion that does not follow edges."""


@dataclass(frozen=True)
class EdgeStep:
    """One way in which values are passed on.

    Attributes:
        column: The column of the groups in which an edge leads from one to another.
        body: What gives the edges.
        ends: The variables of an edge's beginning and end.
        weight: The summand that is added to a value: a variable of the body or a constant; None: nothing is added.
    """

    column: int
    body: tuple[BodyLiteral, ...]
    ends: tuple[Variable, Variable]
    weight: Variable | Literal | None


def steps_of(recursion: Recursion, rules: Sequence[Rule], grouping: Rule) -> list[EdgeStep] | None:
    """Return the ways in which the values of a recursion are passed on; None if it is another recursion.

    Args:
        recursion: The recursion.
        rules: Its rules, without those of groups. Those for solutions have the columns of the groups and the argument.
        grouping: The rule of its only groups.
    """
    (part,) = grouping.body
    assert isinstance(part, Aggregate)
    (solutions,) = part.body
    assert isinstance(solutions, Atom)
    goal = Atom(solutions.predicate, tuple(Variable(f"column {place}") for place in range(grouping.head.arity)))
    try:
        unfolded = _Unfolding(recursion, rules, grouping.head.predicate).of(goal)
        steps = [_step(goal, groups, body) for groups, body in unfolded]
    except _OtherError:
        return None
    return steps if steps and len({step.column for step in steps}) == 1 else None


class _Unfolding:
    """The rules of a recursion, put together until they lead from groups to solutions."""

    def __init__(self, recursion: Recursion, rules: Sequence[Rule], groups: str) -> None:
        self._recursion, self._rules, self._groups = recursion, rules, groups
        self._copies = 0

    def of(self, goal: Atom, depth: int = 0) -> Iterator[tuple[Atom, tuple[BodyLiteral, ...]]]:
        """Yield the atoms of groups that an atom follows from, each with the other parts of the body."""
        if depth == DEEPEST:
            raise _OtherError
        for rule in self._rules:
            recursive = [atom for atom in rule.body_atoms() if self._is_recursive(atom)]
            if key_of(rule.head) != key_of(goal) or not recursive:
                continue
            if len(recursive) > 1 or any(isinstance(part, Aggregate) for part in rule.body):
                raise _OtherError
            body = self._body(rule, goal)
            place = rule.body.index(recursive[0])
            atom, others = body[place], (*body[:place], *body[place + 1 :])
            assert isinstance(atom, Atom)
            if atom.predicate == self._groups:
                yield atom, others
            else:
                for groups, more in self.of(atom, depth + 1):
                    yield groups, (*others, *more)

    def _is_recursive(self, atom: Atom) -> bool:
        return atom.predicate == self._groups or self._recursion.has(atom)

    def _body(self, rule: Rule, goal: Atom) -> tuple[BodyLiteral, ...]:
        """Return the body of a rule with the terms of its head replaced by those of an atom, and fresh names for others."""
        self._copies += 1
        if self._copies > MOST_COPIES:
            raise _OtherError
        values: dict[Variable, Argument] = {}
        for term, wanted in zip(rule.head.terms, goal.terms, strict=True):
            if not isinstance(term, Variable) and term == wanted:
                continue
            if not isinstance(term, Variable) or not isinstance(wanted, Variable) or term in values:
                raise _OtherError
            values[term] = wanted
        for part in rule.body:
            for variable in variables_of(part):
                values.setdefault(variable, Variable(f"{variable.name} {self._copies}"))
        return tuple(in_part(part, values) for part in rule.body)


def _step(goal: Atom, groups: Atom, body: tuple[BodyLiteral, ...]) -> EdgeStep:
    """Return the step that leads from a group to another one.

    Raises:
        _OtherError: It is not a step along an edge.
    """
    (*before, old), (*after, new) = groups.terms, goal.terms
    moved = [place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    binds = [part for part in body if isinstance(part, Bind) and part.variable == new]
    rest = tuple(part for part in body if part not in binds)
    known, bound = {variable for part in rest for variable in variables_of(part)}, _bound(rest)
    if len(moved) != 1 or len(binds) != (old != new) or len(set(groups.terms)) < len(groups.terms):
        raise _OtherError
    start, end = before[moved[0]], after[moved[0]]
    same = {old, new, *before, *after} - {start, end}
    if not isinstance(start, Variable) or not isinstance(end, Variable) or known & same or not {start, end} <= bound:
        raise _OtherError
    weight = _added(binds[0].expression, old) if binds else None
    if isinstance(weight, Variable) and weight not in bound:
        raise _OtherError
    return EdgeStep(moved[0], rest, (start, end), weight)


def _added(expression: Expression, old: Argument) -> Variable | Literal | None:
    """Return the term that an expression adds to a value; None if the expression is the value itself."""
    if expression == old:
        return None
    if isinstance(expression, Call) and expression.name == "+" and old in expression.arguments:
        (other,) = [part for part in expression.arguments if part != old] or [old]
        if other != old and isinstance(other, Variable | Literal):
            return other
    raise _OtherError


def _bound(body: Sequence[BodyLiteral]) -> set[Variable]:
    """Return the variables that have values in a body by itself.

    Raises:
        _OtherError: Its conditions or expressions have others, too.
    """
    found = {variable for part in body if isinstance(part, Atom) for variable in variables_of(part)}
    found |= {part.variable for part in body if isinstance(part, Bind)}
    used = (part.expression for part in body if isinstance(part, Bind | Filter))
    if {variable for expression in used for variable in variables_of(expression)} - found:
        raise _OtherError
    return found
