"""Multisets of solutions, as lists of dictionaries, and the operators of section 18.5 that need nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kg_reasoner.terms import Term

Solution = Mapping[str, Term]
Solutions = Sequence[Solution]


def are_compatible(first: Solution, second: Solution) -> bool:
    """Return whether two solutions agree on the variables that both bind."""
    return all(second[name] == term for name, term in first.items() if name in second)


def join(first: Solutions, second: Solutions) -> Solutions:
    """Return Join(first, second)."""
    return [{**a, **b} for a in first for b in second if are_compatible(a, b)]


def left_join(first: Solutions, second: Solutions, condition: Callable[[Solution], bool]) -> Solutions:
    """Return LeftJoin(first, second, condition)."""
    found: list[Solution] = []
    for a in first:
        merged = [{**a, **b} for b in second if are_compatible(a, b)]
        found += [solution for solution in merged if condition(solution)] or [a]
    return found


def minus(first: Solutions, second: Solutions) -> Solutions:
    """Return Minus(first, second): solutions without a common variable remove nothing."""
    return [a for a in first if not any(a.keys() & b.keys() and are_compatible(a, b) for b in second)]


def distinct(solutions: Solutions) -> Solutions:
    """Return the different solutions, in the order in which they come."""
    return list({frozenset(solution.items()): solution for solution in reversed(solutions)}.values())[::-1]


def without(solutions: Solutions, *names: str) -> Solutions:
    """Return solutions without some variables."""
    return [{name: term for name, term in solution.items() if name not in names} for solution in solutions]
