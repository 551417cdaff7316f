"""Data of `missing`: the rules that could derive a fact, with the part of each that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.explain.steps import Statement
from kg_reasoner.program import Atom, Rule, Variable
from kg_reasoner.terms import Term

__all__ = ["Absence", "Miss", "Problem"]

Problem: TypeAlias = Literal["missing", "violated", "false", "error", "differs"]
"""The ways in which a part of a body fails: no fact or group matches; a fact matches a negated part; a filter is false; a filter or
BIND has a type error; a BIND or an aggregate has another value."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A rule that could derive the fact but does not.

    `held` and `failed` are ground parts of its body, in the order in which they are tried.

    `examples` are values of the body's variables under which the parts before the failing one hold; the parts are shown under the
    first. They are the only ones unless there are `more`. The `note` describes what holds instead, if anything.
    """

    rule: Rule
    held: tuple[Statement, ...]
    failed: Statement
    examples: tuple[tuple[tuple[Variable, Term], ...], ...]
    more: bool = False
    problem: Problem = "missing"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Absence:
    """The data from which all formats of a `kg_reasoner.explain.missing.WhyNot` are made."""

    fact: Atom
    misses: tuple[Miss, ...]
    unknown: tuple[Term, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    idle: tuple[Miss, ...] = ()
