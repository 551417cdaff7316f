"""Proofs as data: a list of steps, each of which depends only on earlier steps, so a proof cannot be circular."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Aggregate, Atom, BodyLiteral, Expression, Rule, Variable
from kg_reasoner.terms import Term

__all__ = ["REASONS", "SHOWN", "Computed", "Group", "ProofSteps", "Reason", "Solution", "Statement", "Step"]

SHOWN: Final = 3
"""The number of solutions of a group that are shown."""

Reason: TypeAlias = Literal[
    "explicit", "stated", "literal", "rule", "absent", "checked", "computed", "aggregated", "solution", "same"
]

REASONS: Final[dict[Reason, str]] = {
    "explicit": "explicit",
    "stated": "stated by the program",
    "literal": "about a literal, by its datatype",
    "rule": "by a rule",
    "absent": "no such fact",
    "checked": "checked",
    "computed": "computed",
    "aggregated": "aggregated",
    "solution": "a solution",
    "same": "the same in other names, by owl:sameAs",
}
"""Why a step holds: an explicit fact; one that the program states or that the reasoner knows of a literal; an instance of a rule; a
negated atom that no fact matches; a condition that is true of the values; the value of a BIND; the results of an aggregate over the
solutions of a group; one such solution; what its premise says, with equal terms in place of others (see
`kg_reasoner.engine.equality`)."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of a BIND: a ground expression and its value."""

    expression: Expression
    value: Term


@dataclass(frozen=True, slots=True)
class Group:
    """The group of an aggregate with these values of the variables after ON, the result of each function, and the number of
    solutions. The step's premises are its first `SHOWN` solutions.
    """

    aggregate: Aggregate
    values: tuple[Term, ...]
    results: tuple[Term, ...]
    solutions: int


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution of an aggregate whose body has several parts: the ground parts."""

    parts: tuple[Statement, ...]


Statement: TypeAlias = BodyLiteral | Computed | Group | Solution
"""A part of a rule with constants for its variables; only those that a negation or an aggregate has for itself are left."""


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of a proof, and the reason why it holds.

    A step by a rule has the rule, the values of all its variables, and as premises the numbers of the earlier steps that prove its
    body, in the body's order. So has a solution, but without a rule; the premises of a group are some of its solutions.
    """

    statement: Statement
    reason: Reason
    rule: Rule | None = None
    bindings: tuple[tuple[Variable, Term], ...] = ()
    premises: tuple[int, ...] = ()

    @property
    def why(self) -> str:
        """The reason in a few words."""
        if isinstance(self.statement, Group) and (hidden := self.statement.solutions - SHOWN) > 0:
            return f"{REASONS[self.reason]}; {hidden} more solution{'s' * (hidden != 1)}"
        return REASONS[self.reason]


@dataclass(frozen=True, slots=True)
class ProofSteps:
    """The steps of a `kg_reasoner.explain.proofs.Proof`, from which all its output formats are made."""

    steps: tuple[Step, ...]
    shortest: bool = True
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Short names of namespaces, for all forms of the proof; further ones are made up where needed."""

    @property
    def conclusion(self) -> Statement:
        """The proved statement."""
        return self.steps[-1].statement

    @property
    def height(self) -> int:
        """The length of the longest chain of rule applications; 0 for a fact that needs no rule."""
        return self.heights()[-1]

    def heights(self) -> list[int]:
        """Return the height of each step.

        Returns:
            A number for each of `steps`: 0 for a fact without premises, that of its premise for a fact in other names, one more
            than the highest premise for a fact by a rule.
        """
        heights: list[int] = []
        for step in self.steps:
            below = max((heights[premise] for premise in step.premises), default=0)
            heights.append(below + 1 if step.rule is not None else below if step.reason == "same" else 0)
        return heights

    @property
    def facts(self) -> tuple[Atom, ...]:
        """The facts that the proof uses without a rule: explicit, stated, or implied by a datatype."""
        return tuple(step.statement for step in self.steps if step.rule is None and isinstance(step.statement, Atom))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that the proof applies, without repetitions."""
        return tuple(dict.fromkeys(step.rule for step in self.steps if step.rule is not None))
