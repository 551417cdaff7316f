"""Compiles rules and queries to integer plans, each for one use: from a new row, from the head, from all rows, or for answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from kg_reasoner.planning.catalog import StoredAtom, StoredCall, StoredComparison, StoredRule
from kg_reasoner.planning.join_order import Estimate, in_join_order, names_of, parts_of_body
from kg_reasoner.planning.plan_drafts import Draft, Use
from kg_reasoner.storage.relations.plan_memory import PlanMemory

Decides: TypeAlias = Callable[[int], bool]


def _no_function(function: int) -> bool:
    return False


def plan_trigger(database: PlanMemory, rule: StoredRule, number: int, position: int, exact: bool = False) -> int:
    """Return the plan that a row of body atom `position` triggers. For a negated atom, it finds the instances that only this row
    blocks.

    Args:
        database: The relations.
        rule: The rule.
        number: The number of the rule.
        position: The position of the atom in the body.
        exact: Whether the plan finds every instance, even where one is sufficient to derive the head.
    """
    return Draft(database, rule.head, rule.body, rule.checks, Use(position, exact=exact, of_rule=True)).write(number)


def plan_rule(database: PlanMemory, rule: StoredRule, number: int, exact: bool = False) -> int:
    """Return the plan that derives all heads of a rule from all rows; `exact` as for `plan_trigger`."""
    return Draft(database, rule.head, rule.body, rule.checks, Use(exact=exact, of_rule=True)).write(number)


def plan_backward(database: PlanMemory, rule: StoredRule, number: int, decides: Decides = _no_function) -> int:
    """Return the plan that a fact of the head's relation triggers, and that finds every rule instance that derives the fact.

    The results of some calls must be stored, see `calls_by_result`.

    Where the shape of the rule does not tell which of two atoms has fewer rows, as for transitivity, a second plan follows, which
    begins with the other one: of the superclasses of owl:Nothing, and the subclasses of owl:Thing, there are many.
    """
    looked_up = calls_by_result(database, rule, decides)
    if looked_up:
        rule = _with_lookups(rule, [call for call, _ in looked_up])
    draft = _backward_draft(database, rule)
    other = draft.beginning_with_other()
    if other is None:
        return draft.write(number)
    first = draft.write(number, has_other=True)
    other.write(number)
    return first


def calls_by_result(database: PlanMemory, rule: StoredRule, decides: Decides) -> list[tuple[StoredCall, StoredAtom]]:
    """Return the calls of a rule that its plan from the head looks up by their results, each with an atom that has all arguments.

    There are some only if the plan would scan a relation otherwise, and does not with them.

    Args:
        database: The relations.
        rule: The rule.
        decides: Whether the results of a function, given its number, may be computed for all terms in a column.
    """
    found = []
    head = names_of(rule.head)
    for call in rule.checks:
        if isinstance(call, StoredCall) and call.result in head and not call.has_several and not head.issuperset(call.arguments):
            atoms = (atom for atom in rule.body if not atom.negated and set(atom.terms).issuperset(call.arguments))
            atom = next(atoms, None)
            if atom is not None and all(isinstance(term, str) for term in call.arguments) and decides(call.function):
                found.append((call, atom))
    if not found or not _backward_draft(database, rule).scans:
        return []
    return [] if _backward_draft(database, _with_lookups(rule, [call for call, _ in found])).scans else found


def _with_lookups(rule: StoredRule, calls: Collection[StoredCall]) -> StoredRule:
    """Return a rule in which stored results take the place of calls."""
    results = tuple(StoredAtom(call.relation, (*call.arguments, call.result or "")) for call in calls)
    return StoredRule(
        rule.head, (*rule.body, *results), tuple(check for check in rule.checks if check not in calls), rule.source, rule.values
    )


def _backward_draft(database: PlanMemory, rule: StoredRule) -> Draft:
    return Draft(database, rule.head, rule.body, rule.checks, Use(backward=True, of_rule=True))


def plan_query(
    database: PlanMemory,
    body: Sequence[StoredAtom],
    checks: Sequence[StoredComparison | StoredCall],
    answer: Sequence[str],
    estimate: Estimate,
    seeds: Sequence[str] = (),
    exact: bool = False,
) -> int:
    """Return the plan of a conjunctive query. Its head contains the answer variables.

    Args:
        database: The relations.
        body: The atoms.
        checks: Comparisons and functions.
        answer: The variables of the answer.
        estimate: The expected matches of an atom.
        seeds: Variables that are bound, in slots in this order.
        exact: Whether the plan finds an answer for every match; otherwise, at least one for each different answer.
    """
    head = StoredAtom(-1, tuple(answer))
    return Draft(database, head, tuple(body), tuple(checks), Use(exact=exact), estimate, seeds).write(-1)


def join_order(body: Sequence[StoredAtom], estimate: Estimate) -> list[StoredAtom]:
    """Return the atoms of a query in the order in which its plan joins them."""
    return [part for part, _ in in_join_order(parts_of_body(tuple(body), ()), None, estimate, ()) if isinstance(part, StoredAtom)]


def plan_proof(database: PlanMemory, rule: StoredRule, answer: Sequence[str], estimate: Estimate) -> int:
    """Return the plan of the instances that derive one fact. The head's variables are bound, in slots by order of first
    occurrence.

    The head of the plan contains the answer variables.
    """
    head = StoredAtom(-1, tuple(answer))
    return Draft(database, head, (rule.head, *rule.body), rule.checks, Use(0), estimate).write(-1)
