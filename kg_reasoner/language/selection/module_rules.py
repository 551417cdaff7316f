"""Selection of the rules of imported modules: those for relations that other rules need, or that have been requested."""

from __future__ import annotations

from collections.abc import Iterable, Set

from kg_reasoner.program import FALSE, TRIPLE, Program, Rule, atoms_within

__all__ = ["idle_rules"]


def idle_rules(program: Program, others: Iterable[Rule], asked: Set[str]) -> frozenset[Rule]:
    """Return the rules of modules that derive relations that nothing uses.

    The rules of the program itself always count as used, and so do those for triples, IRIs, constraints and outputs.

    Args:
        program: The program, with its modules.
        others: Further rules, which may use relations.
        asked: Relations that have been requested.
    """
    of_modules = [rule for rule in program.rules if rule.origin.module and _is_of_module(rule)]
    if not of_modules:
        return frozenset()
    by_head: dict[str, list[Rule]] = {}
    for rule in of_modules:
        by_head.setdefault(rule.head.predicate, []).append(rule)
    idle = set(of_modules)
    waiting = [*asked, *(index.predicate for index in program.indexes)]
    waiting += [found.source for found in program.declarations]
    waiting += [found.predicate for found in program.declarations if found.role == "output"]
    waiting += [atom.predicate for rule in (*program.rules, *others) if rule not in idle for atom in atoms_within(rule.body)]
    while waiting:
        for rule in by_head.pop(waiting.pop(), ()):
            idle.discard(rule)
            waiting += [atom.predicate for atom in atoms_within(rule.body)]
    return frozenset(idle)


def _is_of_module(rule: Rule) -> bool:
    return rule.head.predicate not in (TRIPLE, FALSE) and not rule.head.predicate.startswith("<")
