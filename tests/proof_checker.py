"""A checker of proofs that knows nothing of how they are found: it walks the steps and matches them with the oracle's functions."""

from __future__ import annotations

from collections.abc import Iterable

from kg_reasoner.datatypes import datatypes_of, identity, is_ill_typed
from kg_reasoner.explain import Proof
from kg_reasoner.program import FALSE, Atom, Filter, Negation, Rule, Variable
from kg_reasoner.terms import IRI, Literal

from .oracle import Binding, Facts, Store, holds, match

__all__ = ["ProofError", "check"]


class ProofError(AssertionError):
    """A proof is wrong."""


def check(proof: Proof, goal: Atom, rules: Iterable[Rule], explicit: Facts, everything: Store) -> None:
    """Check a proof.

    Args:
        proof: every step must follow from earlier ones, so that there is no cycle; every step but the last must be used.
        goal: what the last step must say.
        rules: the active rules; those without a body state facts.
        explicit: the facts that were asserted.
        everything: the materialisation, for negated atoms.

    Raises:
        ProofError: says which step is wrong, and how.
    """
    active = set(rules)
    stated = {rule.head for rule in active if not rule.body}
    statements = [step.statement for step in proof.steps]
    used = {premise for step in proof.steps for premise in step.premises}
    expect(statements[-1] == goal, f"it proves {statements[-1]}")
    expect(len(set(statements)) == len(statements), "a statement has two steps")
    expect(used == set(range(len(statements) - 1)), "a step is of no use, or follows from itself")
    heights: list[int] = []
    for number, step in enumerate(proof.steps):
        where = f"step {number}, {step.statement}"
        expect(all(0 <= premise < number for premise in step.premises), f"{where} rests on a later step")
        heights.append(1 + max((heights[premise] for premise in step.premises), default=0) if step.rule is not None else 0)
        if step.reason == "rule":
            expect(step.rule in active, f"{where} is by a rule that is not active")
            expect(bool(step.rule.body), f"{where} is by a rule without a body")
            check_instance(step.rule, dict(step.bindings), step.statement, [statements[n] for n in step.premises], where)
        elif step.reason == "explicit":
            expect(step.statement.terms in explicit.get(step.statement.predicate, ()), f"{where} is not explicit")
        elif step.reason == "stated":
            expect(step.statement in stated, f"{where} is not stated")
        elif step.reason == "literal":
            expect(is_true_of_literal(step.statement), f"{where} is not true")
        else:
            expect(isinstance(step.statement, Negation if step.reason == "absent" else Filter), f"{where} is no {step.reason}")
            expect(holds(step.statement, {}, everything), f"{where} does not hold")
    expect(heights[-1] == proof.height, f"its height is {heights[-1]}")


def check_instance(rule: Rule, binding: Binding, head: Atom, premises: list[object], where: str) -> None:
    """The rule under the binding has this head, and the premises are its body."""
    if rule.head.predicate == FALSE:
        expect(head == Atom(FALSE, ()), f"{where} is no contradiction")
    else:
        expect(rule.head.predicate == head.predicate, f"{where} has another predicate than its rule")
        expect(match(rule.head, head.terms, binding) == binding, f"{where} is no instance of its rule's head")
    expect(len(premises) == len(rule.body), f"{where} has {len(premises)} premises")
    for part, premise in zip(rule.body, premises, strict=True):
        expect(replaced(part, binding) == premise, f"{where}: {premise} is no instance of {part}")


def replaced(part: object, binding: Binding) -> object:
    """A part of a rule with the values of a binding."""
    if isinstance(part, Variable):
        return binding.get(part, part)
    if isinstance(part, Atom):
        return Atom(part.predicate, tuple(replaced(term, binding) for term in part.terms))  # type: ignore[arg-type]
    if isinstance(part, Negation):
        return Negation(replaced(part.atom, binding))  # type: ignore[arg-type]
    if isinstance(part, Filter):
        return Filter(replaced(part.expression, binding))  # type: ignore[arg-type]
    if hasattr(part, "arguments"):
        return type(part)(part.name, tuple(replaced(argument, binding) for argument in part.arguments))  # type: ignore[attr-defined]
    return part


def is_true_of_literal(atom: Atom) -> bool:
    """Whether a fact that the reasoner gives about a literal is one."""
    literal, *others = atom.terms
    if not isinstance(literal, Literal):
        return False
    if atom.predicate == "ill_typed":
        return is_ill_typed(literal)
    (other,) = others
    if atom.predicate == "literal_type":
        return isinstance(other, IRI) and other.value in datatypes_of(literal)
    return atom.predicate == "literal_value" and isinstance(other, Literal) and identity(literal) == identity(other)


def expect(true: bool, message: str) -> None:
    if not true:
        raise ProofError(message)
