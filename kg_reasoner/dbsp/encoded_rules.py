"""Rules in the form for the interpreter: integers for predicates and constants, and bodies in join order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass

Argument: TypeAlias = "int | str"
"""A constant (0 or more), or a variable's name."""

NO_RESULT: Final = -1
"""The value that a function returns for arguments without a result: the binding is dropped."""


@dataclass(frozen=True, slots=True)
class SignedAtom:
    """An atom, or its negation: no fact matches it. Variables that only a negation has are any value there."""

    predicate: int
    terms: tuple[Argument, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Computation:
    """A function of bound variables and constants. Its result binds a new variable, or must equal a constant or bound variable.

    Two conditions are the same if their names and arguments are; the function is called with one tuple of integers at a time.
    """

    name: Hashable
    arguments: tuple[Argument, ...]
    result: Argument
    function: Callable[[Sequence[int]], int] = field(compare=False)


Part: TypeAlias = "SignedAtom | Computation"


@dataclass(frozen=True, slots=True)
class DatalogClause:
    """``head :- body``; the body binds each variable of the head, of a negation or of a condition's arguments before its use."""

    head: SignedAtom
    body: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.body:
            raise ValueError(f"a clause needs a body; pass {self.head} as a fact instead")


def ordered(positive: Sequence[SignedAtom], others: Sequence[Part], size: Callable[[SignedAtom], float]) -> tuple[Part, ...]:
    """Return a body in join order: the atom with the fewest facts first, then atoms that share a variable; other parts as early as
    possible.

    The interpreter stores the joins of all prefixes of a body, so small first parts save the most memory.
    """
    body: list[Part] = []
    waiting, bound = list(positive), set[str]()
    later = list(others)
    shared = {term for part in (*positive, *others) if not _is_negation(part) for term in _variables(part)}
    while True:
        while ready := next((part for part in later if _needed(part) & shared <= bound), None):
            later.remove(ready)
            body.append(ready)
            bound |= _variables(ready) if isinstance(ready, Computation) else set()
        if not waiting:
            return tuple(body)
        best = min(waiting, key=lambda atom: (bool(bound) and not (_variables(atom) & bound), size(atom)))
        waiting.remove(best)
        body.append(best)
        bound |= _variables(best)


def _is_negation(part: Part) -> bool:
    return isinstance(part, SignedAtom) and part.negated


def _variables(part: Part) -> set[str]:
    terms = part.terms if isinstance(part, SignedAtom) else (*part.arguments, part.result)
    return {term for term in terms if isinstance(term, str)}


def _needed(part: Part) -> set[str]:
    """Return the variables of a part that must be bound before it, if another part binds them."""
    terms = part.terms if isinstance(part, SignedAtom) else part.arguments
    return {term for term in terms if isinstance(term, str)}
