"""Transactions of an rdflib store: the first change begins one, unless the reasoner has one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg_reasoner.errors import TransactionError

if TYPE_CHECKING:
    from kg_reasoner.reasoner import Reasoner
    from kg_reasoner.transaction import Transaction


class StoreTransactions:
    """The transactions that a store begins, and those of the reasoner's own in which it is a guest."""

    reasoner: Reasoner
    _transaction: Transaction | None = None

    def begin(self) -> None:
        """Begin a transaction with the first change, unless the reasoner has one of its own."""
        if self.own is None and self.reasoner.open_transaction is None:
            self._transaction = self.reasoner.transaction(collects=self.reasoner.has_subscribers).begin()

    def end(self, *, keep: bool) -> None:
        """Keep or undo what has changed, and bring the materialisation up to date. A transaction of the reasoner's own stays open.

        Raises:
            TransactionError: the changes are to be undone, and belong to a transaction of the reasoner's own.
            InconsistencyError: they are to be kept, contradict the rules, and that was to be refused. They are undone.
        """
        if not keep and self.is_guest:
            raise TransactionError("the open transaction is the reasoner's own: roll it back there")
        transaction, self._transaction = self.own, None
        if transaction is None:
            if keep:
                self.reasoner.materialise()
        elif keep:
            transaction.commit()
        else:
            transaction.rollback()

    @property
    def own(self) -> Transaction | None:
        """The open transaction, if the store has begun it."""
        return self._transaction if self._transaction is not None and self._transaction.is_open else None

    @property
    def is_guest(self) -> bool:
        """Whether the open transaction is the reasoner's own."""
        return self.own is None and self.reasoner.open_transaction is not None
