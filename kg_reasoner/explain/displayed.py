"""Proofs as they are shown: without the facts of the predicates that stand for parts of rules.

A rule with alternatives, members of collections or nested bodies becomes several plain rules. Proofs have steps for all of them, as
programs check; people see the rule as it was written, and what it uses.
"""

from __future__ import annotations

from dataclasses import replace

from kg_reasoner.explain.steps import Computed, ProofSteps, Step
from kg_reasoner.language.surface import NO_VALUE
from kg_reasoner.program import AUXILIARY, Atom, Call, Filter
from kg_reasoner.terms import literal

__all__ = ["displayed"]

_PLACES = f"{AUXILIARY}places"
_MEMBERS = f"{AUXILIARY}members"


def displayed(proof: ProofSteps) -> ProofSteps:
    """Return a proof in which the premises of auxiliary facts take the place of these facts, and negations are as written."""
    steps = proof.steps
    if any(_as_written(step) is not step for step in steps):
        steps = tuple(map(_as_written, steps))
        proof = replace(proof, steps=steps)
    if _is_auxiliary(steps[-1]) or not any(map(_is_auxiliary, steps)):
        return proof
    stands_for: list[tuple[int, ...]] = []
    for number, step in enumerate(steps):
        stands_for.append(_premises(step, stands_for, steps) if _is_auxiliary(step) else (number,))
    premises = {
        number: tuple(dict.fromkeys(part for premise in step.premises for part in stands_for[premise]))
        for number, step in enumerate(steps)
    }
    used, waiting = {len(steps) - 1}, [len(steps) - 1]
    while waiting:
        waiting += (new := set(premises[waiting.pop()]) - used)
        used |= new
    kept = sorted(used)
    numbers = {number: place for place, number in enumerate(kept)}
    shown = (replace(steps[number], premises=tuple(numbers[premise] for premise in premises[number])) for number in kept)
    return ProofSteps(tuple(shown), proof.shortest, proof.prefixes)


def _as_written(step: Step) -> Step:
    """Return a step without what negations of conditions and of computed arguments add to expressions."""
    statement = step.statement
    if not isinstance(statement, Computed | Filter):
        return step
    expression = statement.expression
    if not isinstance(expression, Call) or expression.name != "COALESCE" or len(expression.arguments) != 2:
        return step
    first, other = expression.arguments
    if other == NO_VALUE:
        return replace(step, statement=replace(statement, expression=first))
    if (
        isinstance(first, Call)
        and first.name == "IF"
        and first.arguments[1:] == (literal(False), literal(True))
        and other == literal(True)
    ):
        return replace(step, statement=replace(statement, expression=Call("!", first.arguments[:1])))
    return step


def _is_auxiliary(step: Step) -> bool:
    return isinstance(step.statement, Atom) and step.statement.predicate.startswith(AUXILIARY)


def _premises(step: Step, stands_for: list[tuple[int, ...]], steps: tuple[Step, ...]) -> tuple[int, ...]:
    """Return the steps in place of an auxiliary fact: for a member of a collection, how both are computed."""
    assert isinstance(step.statement, Atom)
    name = step.statement.predicate
    found = tuple(dict.fromkeys(part for premise in step.premises for part in stands_for[premise]))
    if name.startswith(_PLACES):
        return ()
    if name.startswith(_MEMBERS):
        return tuple(part for part in found if isinstance(steps[part].statement, Computed))
    return found
