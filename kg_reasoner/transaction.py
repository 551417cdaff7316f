"""Transactions: facts and rules that are added and removed together, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from kg_reasoner.delta import Delta
from kg_reasoner.dictionary import Ids
from kg_reasoner.errors import TransactionError
from kg_reasoner.program import Program, Rule
from kg_reasoner.terms import AnyTerm, AnyTriple

if TYPE_CHECKING:
    from kg_reasoner.reasoner import Reasoner


class Transaction:
    """Changes to a reasoner that are applied together.

    As a context manager it begins at the top of the block, and ends at the bottom: an exception undoes everything that was done
    inside and is raised on. Reading inside the block sees the changes so far.

    >>> from kg_reasoner.reasoner import Reasoner
    >>> from kg_reasoner.terms import literal
    >>> reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> with reasoner.transaction() as tx:
    ...     tx.add_facts("edge", [(literal("a"), literal("b")), (literal("b"), literal("c"))])
    >>> len(list(tx.delta.added.facts("path", "inferred")))
    3
    """

    def __init__(self, reasoner: Reasoner, collects: bool = True) -> None:
        self.reasoner = reasoner
        self.collects = collects
        self._has_begun = False
        self._was_interrupted = False
        self._steps: list[Delta] = []
        """What the runs of maintenance have changed, one after the other."""
        self._delta: Delta | None = None
        """What it has changed, when it has ended."""
        self._log: list[tuple[str, Ids, bool]] = []
        self._program: Program | None = None
        self._loaded = reasoner.loaded

    @property
    def is_open(self) -> bool:
        """Whether it has begun and not ended."""
        return self._program is not None

    @property
    def delta(self) -> Delta:
        """What the transaction has changed in the materialisation; while it is open, what it has changed so far.

        Raises:
            TransactionError: it was made not to collect changes, or an update was interrupted, after which they are not known.
        """
        if not self.collects:
            raise TransactionError("this transaction does not collect its changes")
        if self._delta is not None:
            return self._delta
        if self._was_interrupted:
            raise TransactionError("an update of this transaction was interrupted, and its changes are not known: roll it back")
        if self.is_open:
            self.reasoner.materialise()
        if len(self._steps) != 1:
            self._steps = [Delta.net(self.reasoner.dictionary, self._steps)]
        return self.reasoner.visibility.of_delta(self._steps[0])

    # --- begin and end ----------------------------------------------------------------------------------------------

    def begin(self) -> Transaction:
        """Begin. What was changed before is not part of it.

        Raises:
            TransactionError: it has been used, or another transaction of the reasoner is open.
        """
        if self._has_begun:
            raise TransactionError("a transaction begins once: ask the reasoner for another one")
        self.reasoner.begin(self)
        self._has_begun, self._program, self._loaded = True, self.reasoner.program, self.reasoner.loaded
        return self

    def commit(self) -> Delta | None:
        """End, and keep the changes. Returns them, if they are collected.

        When something goes wrong on the way (a constraint of the machine, an interrupt), everything is undone.

        Raises:
            InconsistencyError: the changes contradict the rules, and the reasoner was asked to refuse that. Everything is undone.
            TransactionError: it is not open, or the changes are to be collected and are not known (see `delta`). Everything is
                undone.
        """
        self._expect_open()
        try:
            self.reasoner.materialise()
            self.reasoner.expect_consistent()
            if self.collects:
                self._delta = self.delta
        except BaseException:
            self.rollback()
            raise
        self._program = None
        self.reasoner.end(self)
        return self._delta

    def rollback(self) -> None:
        """End, and undo everything: the facts, the rules and what follows are as they were before."""
        self._expect_open()
        assert self._program is not None
        program, self._program = self._program, None
        self._delta = Delta.nothing(self.reasoner.dictionary)
        self.reasoner.loaded = self._loaded
        self.reasoner.engine.undo(program, self._log)

    def __enter__(self) -> Transaction:
        return self if self.is_open else self.begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self.is_open:
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()

    # --- changes ----------------------------------------------------------------------------------------------------

    def add_triples(self, triples: Iterable[AnyTriple] | Ids) -> None:
        """See `Reasoner.add_triples`."""
        self._expect_open()
        self.reasoner.add_triples(triples)

    def remove_triples(self, triples: Iterable[AnyTriple] | Ids) -> None:
        """See `Reasoner.remove_triples`."""
        self._expect_open()
        self.reasoner.remove_triples(triples)

    def add_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """See `Reasoner.add_facts`."""
        self._expect_open()
        self.reasoner.add_facts(predicate, rows)

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """See `Reasoner.remove_facts`."""
        self._expect_open()
        self.reasoner.remove_facts(predicate, rows)

    def add_program(self, program: Program | str) -> None:
        """See `Reasoner.add_program`."""
        self._expect_open()
        self.reasoner.add_program(program)

    def remove_rules(self, rules: Iterable[Rule]) -> None:
        """See `Reasoner.remove_rules`."""
        self._expect_open()
        self.reasoner.remove_rules(rules)

    def _expect_open(self) -> None:
        if not self.is_open:
            raise TransactionError("the transaction is not open: it has not begun, or has ended")

    # --- what the reasoner says -------------------------------------------------------------------------------------

    def note(self, predicate: str, ids: Ids, added: bool) -> None:
        """Remember explicit facts that have come or gone (`TRIPLE` for triples)."""
        if len(ids):
            self._log.append((predicate, ids, added))

    def note_interruption(self) -> None:
        """Remember that an update was interrupted."""
        self._was_interrupted = True

    def take(self, delta: Delta) -> None:
        """Add what one run of maintenance has changed."""
        self._steps.append(delta)
