"""State shared by the passes while they rewrite one statement: new names, and auxiliary predicates with their rules."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from kg_reasoner.language.strata.stratification import key_of
from kg_reasoner.language.surface import Applied, SurfaceBody
from kg_reasoner.program import AUXILIARY, Atom, Variable

__all__ = ["Context"]


class Context:
    """The new variables and auxiliary predicates of one statement.

    Args:
        statement: What identifies the statement: equal statements have the same auxiliary predicates, different ones have others.
        taken: The names of its variables.
        heads: Its heads.
    """

    def __init__(self, statement: object, taken: Iterable[str], heads: Iterable[object] = ()) -> None:
        self.heads = frozenset(key_of(head) for head in heads if isinstance(head, Atom)) | {
            (head.predicate, None, None) for head in heads if isinstance(head, Applied)
        }
        """The keys of the heads of its rules, see `key_of`."""
        self._statement = statement
        self._taken = set(taken)
        self._predicates = 0
        self.waiting: list[tuple[Atom, Sequence[SurfaceBody]]] = []
        """Heads of rules that are not yet rewritten, each with the alternatives of its body."""

    def variable(self, kind: str) -> Variable:
        """Return a new variable, which is not shown among the results of a query."""
        number = 1
        while (name := f"_{kind}{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return Variable(name)

    def predicate(self, kind: str) -> str:
        """Return the name of a new auxiliary predicate."""
        self._predicates += 1
        digest = hashlib.sha256(repr(self._statement).encode(errors="surrogatepass")).hexdigest()[:10]
        return f"{AUXILIARY}{kind}{self._predicates}_{digest}"

    def define(self, head: Atom, *alternatives: SurfaceBody) -> None:
        """Add rules for an auxiliary predicate, one for each alternative."""
        self.waiting.append((head, alternatives))
