"""Types of relations that are not declared: the kinds of terms that rules derive for each of their columns.

It is the least fixpoint: a rule contributes as soon as all that it reads has types. Relations that no rule derives are data, which
may be of any type. `typing` checks the rules with what is found here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import AUXILIARY, FALSE, TRIPLE, Rule, atoms_within

__all__ = ["Inferred", "InferredColumn", "Kinds", "infer", "rule_name"]

Kinds: TypeAlias = frozenset[str] | None
"""Kinds of terms (see `expressions.types.kind_of`), or None for any."""


@dataclass(frozen=True)
class InferredColumn:
    """The kinds of terms that rules derive for a column, and these rules; their type, if all give the same."""

    kinds: frozenset[str]
    rules: tuple[str, ...]
    type: str = ""

    def of(self, predicate: str, place: int) -> str:
        """Return where the kinds come from, for messages."""
        if predicate.startswith(AUXILIARY):
            return "as it is computed in the rule"
        named = ", ".join(self.rules[:2]) + (" and others" if len(self.rules) > 2 else "")
        one = len(self.rules) == 1
        return f"as the {'rule' if one else 'rules'} {named} {'derives' if one else 'derive'} argument {place + 1} of {predicate}"


Inferred: TypeAlias = Mapping[str, Sequence[InferredColumn | None]]


def rule_name(rule: Rule) -> str:
    """Return the name of a rule in messages."""
    if rule.origin.name:
        return rule.origin.name
    if rule.head.predicate.startswith(AUXILIARY) and rule.origin.text:
        return rule.origin.text.removeprefix("part of ").removesuffix(" .")
    return f"for {rule.head.predicate}"


def infer(
    rules: Sequence[Rule], declared: Mapping[str, object], kinds_of: Callable[[Rule, Inferred], Sequence[tuple[Kinds, str]]]
) -> Inferred:
    """Return the kinds of the columns of relations that rules derive and that have no declared types.

    Args:
        rules: The rules.
        declared: Has the relations with declared types.
        kinds_of: Returns the kinds of the arguments of a rule's head and their types, given what is known of relations so far.
    """
    free = {rule.head.predicate for rule in rules if rule.body} - {TRIPLE, FALSE} - declared.keys()
    readers: dict[str, list[Rule]] = {}
    reads: dict[int, set[str]] = {}
    waiting = deque(rule for rule in rules if rule.head.predicate in free)
    for rule in waiting:
        reads[id(rule)] = {atom.predicate for atom in atoms_within(rule.body) if atom.predicate in free}
        for predicate in reads[id(rule)]:
            readers.setdefault(predicate, []).append(rule)
    queued = set(map(id, waiting))
    found: dict[str, list[InferredColumn | None]] = {}
    while waiting:
        rule = waiting.popleft()
        queued.discard(id(rule))
        if not reads[id(rule)] <= found.keys():
            continue
        predicate = rule.head.predicate
        name = rule_name(rule)
        columns = [None if kinds is None else InferredColumn(kinds, (name,), type_) for kinds, type_ in kinds_of(rule, found)]
        before = found.get(predicate)
        after = columns if before is None else [_wider(old, new) for old, new in zip(before, columns, strict=False)]
        if before is None or any(_known(old) != _known(new) for old, new in zip(before, after, strict=False)):
            for reader in readers.get(predicate, ()):
                if id(reader) not in queued:
                    queued.add(id(reader))
                    waiting.append(reader)
        found[predicate] = after
    return found


def _known(column: InferredColumn | None) -> tuple[Kinds, str]:
    return (None, "") if column is None else (column.kinds, column.type)


def _wider(one: InferredColumn | None, other: InferredColumn | None) -> InferredColumn | None:
    if one is None or other is None:
        return None
    type_ = one.type if one.type == other.type else ""
    if other.kinds <= one.kinds:
        return replace(one, type=type_)
    return InferredColumn(one.kinds | other.kinds, tuple(dict.fromkeys((*one.rules, *other.rules))), type_)
