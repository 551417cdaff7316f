"""A checker of proofs that knows nothing of how they are found: it walks the steps and matches them with the oracle's functions."""

from __future__ import annotations

from collections.abc import Iterable

from kg_reasoner.explain import Computed, Group, Proof, Solution, Step
from kg_reasoner.expressions.datatypes import DATATYPES, datatypes_of, disjoint_datatypes, identity, is_ill_typed
from kg_reasoner.program import FALSE, TRIPLE, Aggregate, Atom, Bind, Call, Filter, Negation, Rule, Variable
from kg_reasoner.storage.terms.literals import VALUES
from kg_reasoner.terms import IRI, OWL, Literal, Term
from tests.helpers.oracle import Binding, Facts, Store, groups, holds, match, solutions, value_of

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
        everything: the materialisation, for negated atoms and for aggregates.

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
        below = max((heights[premise] for premise in step.premises), default=0)
        heights.append(1 + below if step.rule is not None else below if step.reason == "same" else 0)
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
        elif step.reason == "computed":
            expect(isinstance(step.statement, Computed), f"{where} is no value")
            expect(value_of(step.statement.expression, {}) == step.statement.value, f"{where} is another value")
        elif step.reason == "aggregated":
            check_group(step.statement, [proof.steps[n] for n in step.premises], everything, where)
        elif step.reason == "same":
            (premise,) = step.premises
            expect(is_same(step.statement, statements[premise], everything), f"{where} is not the same as {statements[premise]}")
        elif step.reason == "solution":
            expect(step.statement == Solution(tuple(statements[n] for n in step.premises)), f"{where} has other parts")
        else:
            expect(isinstance(step.statement, Negation if step.reason == "absent" else Filter), f"{where} is no {step.reason}")
            part = step.statement
            is_true = holds(part, {}, everything)
            if not is_true and isinstance(part, Filter):
                is_true = holds(in_one_name(part, everything), {}, everything)
            expect(is_true, f"{where} does not hold")
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
        if isinstance(part, Aggregate):
            expect(isinstance(premise, Group) and premise.aggregate == part, f"{where}: {premise} is no group of {part}")
            results = tuple(binding[result.variable] for result in part.bindings)
            expect((premise.values, premise.results) == (values_of(part, binding), results), f"{where} has other results")
        else:
            expect(replaced(part, binding) == premise, f"{where}: {premise} is no instance of {part}")


def is_same(statement: Atom, premise: object, everything: Store) -> bool:
    """Whether two facts differ only in names of equal terms."""
    return (
        isinstance(premise, Atom)
        and premise.predicate == statement.predicate
        and all(
            one == other or (one, OWL.sameAs, other) in everything.facts.get(TRIPLE, ())
            for one, other in zip(statement.terms, premise.terms, strict=True)
        )
    )


def in_one_name(part: Filter, everything: Store) -> Filter:
    """A condition with one of the names of each term: equal terms are compared as one."""

    def name(expression: object) -> object:
        if isinstance(expression, Call):
            return Call(expression.name, tuple(map(name, expression.arguments)))  # type: ignore[arg-type]
        equal = (row[2] for row in everything.at.get((TRIPLE, 0, expression), ()) if row[1] == OWL.sameAs)  # type: ignore[arg-type]
        return min((expression, *equal), key=str)

    return Filter(name(part.expression))  # type: ignore[arg-type]


def check_group(group: Group, premises: list[Step] | None, everything: Store, where: str) -> None:
    """The results are those over all solutions, and the premises, if there are to be some, are different ones of these."""
    part = group.aggregate
    found = [binding for binding in groups(part, everything) if values_of(part, binding) == group.values]
    expect(len(found) == 1, f"{where} is no group")
    expect(tuple(found[0][result.variable] for result in part.bindings) == group.results, f"{where} has other results")
    members = {frozenset(s.items()) for s in solutions(part.body, everything, everything) if values_of(part, s) == group.values}
    expect(len(members) == group.solutions, f"{where} has {len(members)} solutions")
    if premises is None:
        return
    expect(len(premises) == len({step.statement for step in premises}) == min(3, len(members)), f"{where} shows others")
    for step in premises:
        statements = step.statement.parts if isinstance(step.statement, Solution) else (step.statement,)
        expect(any(is_solution(part, statements, dict(member)) for member in members), f"{where}: {step.statement} is none")


def is_solution(part: Aggregate, statements: tuple[object, ...], binding: Binding) -> bool:
    """Whether the parts of an aggregate's body, under a binding, are these statements."""
    pairs = list(zip(part.body, statements, strict=True))
    return all(
        (isinstance(said, Group) and said.aggregate == inner and said.values == values_of(inner, binding))
        if isinstance(inner, Aggregate)
        else replaced(inner, binding) == said
        for inner, said in pairs
    )


def values_of(part: Aggregate, binding: Binding) -> tuple[Term, ...]:
    """The values of the variables that an aggregate groups by."""
    return tuple(binding[variable] for variable in part.group)


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
    if isinstance(part, Bind):
        return Computed(replaced(part.expression, binding), binding[part.variable])  # type: ignore[arg-type]
    if hasattr(part, "arguments"):
        return type(part)(part.name, tuple(replaced(argument, binding) for argument in part.arguments))  # type: ignore[attr-defined]
    return part


def is_true_of_literal(atom: Atom) -> bool:
    """Whether a fact that the reasoner gives about a literal or a datatype is one."""
    first, *others = atom.terms
    if isinstance(first, IRI):
        names = tuple(term.value for term in atom.terms if isinstance(term, IRI))
        known = {"recognised_datatype": {(name,) for name in DATATYPES}, "disjoint_datatypes": disjoint_datatypes()}
        return names in known.get(atom.predicate, ())
    if not isinstance(first, Literal):
        return False
    if atom.predicate == "ill_typed":
        return is_ill_typed(first)
    (other,) = others
    if not isinstance(other, IRI):
        return False
    if atom.predicate == "literal_type":
        return other.value in datatypes_of(first)
    return atom.predicate == "literal_value" and other.value.startswith(VALUES) and identity(first) is not None


def expect(true: bool, message: str) -> None:
    if not true:
        raise ProofError(message)
