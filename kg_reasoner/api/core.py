"""What the parts of a reasoner need of the whole: transactions, named graphs and documents are given one of these.

`kg_reasoner.api.reasoner` imports the parts, so they cannot import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.engine.engine import Engine
from kg_reasoner.program import Program, Rule
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import AnyTerm, AnyTriple

__all__ = ["ReasonerCore"]


class ReasonerCore(Protocol):
    """A `kg_reasoner.api.reasoner.Reasoner`, which documents these members."""

    dictionary: Dictionary
    visibility: Visibility
    engine: Engine

    @property
    def queries(self) -> Queries: ...

    @property
    def program(self) -> Program: ...

    @property
    def has_subscribers(self) -> bool: ...

    def at_once(self) -> AbstractContextManager[None]: ...

    def reading(self, which: Which = ...) -> Hold: ...

    def materialise(self) -> None: ...

    def expect_consistent(self) -> None: ...

    def publish(self) -> None: ...

    def add_triples(self, triples: Iterable[AnyTriple] | Ids) -> None: ...

    def remove_triples(self, triples: Iterable[AnyTriple] | Ids) -> None: ...

    def state_triples(self, ids: Ids) -> None: ...

    def add_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None: ...

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None: ...

    def add_program(self, program: Program | str) -> None: ...

    def merge_program(self, program: Program) -> None: ...

    def remove_rules(self, rules: Iterable[Rule]) -> None: ...
