"""The changes of facts and rules that a reasoner offers, allowed only while a transaction is open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from kg_reasoner import api
from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.program import Program, Rule
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import AnyTerm, AnyTriple

__all__ = ["Changeable", "GuardedChanges"]


class Changeable(Protocol):
    """A `kg_reasoner.api.reasoner.Reasoner`, which documents these members."""

    core: ReasonerCore

    def add_triples(self, triples: Iterable[AnyTriple] | Ids) -> None: ...

    def remove_triples(self, triples: Iterable[AnyTriple] | Ids) -> None: ...

    def add_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None: ...

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None: ...

    def add_table(
        self, predicate: str, table: Any, *, columns: Sequence[str] | None = None, header: bool = False, nulls: api.Nulls = "error"
    ) -> None: ...

    def remove_table(
        self, predicate: str, table: Any, *, columns: Sequence[str] | None = None, header: bool = False, nulls: api.Nulls = "error"
    ) -> None: ...

    def insert_or_update(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None: ...

    def delete_key(self, predicate: str, keys: Iterable[Any]) -> None: ...

    def modify(self, predicate: str, key: Any, /, **columns: Any) -> None: ...

    def add_program(self, program: Program | str) -> None: ...

    def remove_rules(self, rules: Iterable[Rule]) -> None: ...


class GuardedChanges:
    """The methods of a reasoner that change it, each of which first checks that changes are allowed."""

    def _open(self) -> Changeable:
        """Return the reasoner, or raise an error unless changes are allowed."""
        raise NotImplementedError

    def add_triples(self, triples: Iterable[AnyTriple] | Ids) -> None:
        """Add explicit triples.

        Args:
            triples: As for `Reasoner.add_triples`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            LoadError: As for `Reasoner.add_triples`.
        """
        self._open().add_triples(triples)

    def remove_triples(self, triples: Iterable[AnyTriple] | Ids) -> None:
        """Remove explicit triples; ignore those that are not explicit.

        Args:
            triples: As for `Reasoner.add_triples`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            LoadError: As for `Reasoner.remove_triples`.
        """
        self._open().remove_triples(triples)

    def add_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """Add explicit facts of a general predicate.

        Args:
            predicate: The name of the predicate.
            rows: As for `Reasoner.add_facts`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            ArityError, LoadError, ColumnTypeError: As for `Reasoner.add_facts`.
        """
        self._open().add_facts(predicate, rows)

    def remove_facts(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """Remove explicit facts of a general predicate; ignore those that are not explicit.

        Args:
            predicate: The name of the predicate.
            rows: As for `Reasoner.add_facts`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            LoadError: As for `Reasoner.remove_facts`.
        """
        self._open().remove_facts(predicate, rows)

    def add_table(
        self, predicate: str, table: Any, *, columns: Sequence[str] | None = None, header: bool = False, nulls: api.Nulls = "error"
    ) -> None:
        """Add the rows of a table as explicit facts.

        Args:
            predicate: The name of the predicate.
            table: As for `Reasoner.add_table`, as are the other arguments.
            columns: The names of the table's columns that are the arguments, in order.
            header: Whether a file of CSV or TSV has the names of its columns in the first line.
            nulls: The treatment of missing values.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            LoadError, ArityError, MissingExtraError, UnknownNameError: As for `Reasoner.add_table`.
        """
        self._open().add_table(predicate, table, columns=columns, header=header, nulls=nulls)

    def remove_table(
        self, predicate: str, table: Any, *, columns: Sequence[str] | None = None, header: bool = False, nulls: api.Nulls = "error"
    ) -> None:
        """Remove the rows of a table from the explicit facts; ignore those that are not explicit.

        Args:
            predicate: The name of the predicate.
            table: As for `Reasoner.add_table`, as are the other arguments.
            columns: The names of the table's columns that are the arguments, in order.
            header: Whether a file of CSV or TSV has the names of its columns in the first line.
            nulls: The treatment of missing values.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            LoadError, MissingExtraError, UnknownNameError: As for `Reasoner.remove_table`.
        """
        self._open().remove_table(predicate, table, columns=columns, header=header, nulls=nulls)

    def insert_or_update(self, predicate: str, rows: Iterable[Sequence[AnyTerm]]) -> None:
        """Add facts of a relation with a primary key, in place of the explicit facts with the same keys.

        Args:
            predicate: The name of the relation.
            rows: As for `Reasoner.add_facts`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            ReasonerError, KeyViolationError, ArityError, LoadError, ColumnTypeError: As for `Reasoner.insert_or_update`.
        """
        self._open().insert_or_update(predicate, rows)

    def delete_key(self, predicate: str, keys: Iterable[Any]) -> None:
        """Remove the explicit facts with some primary keys.

        Args:
            predicate: The name of the relation.
            keys: As for `Reasoner.delete_key`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            ReasonerError, KeyViolationError, LoadError: As for `Reasoner.delete_key`.
        """
        self._open().delete_key(predicate, keys)

    def modify(self, predicate: str, key: Any, /, **columns: Any) -> None:
        """Change some arguments of the explicit fact with a primary key.

        Args:
            predicate: The name of the relation.
            key: As for `Reasoner.delete_key`.
            columns: The new terms or Python values, by the names of their columns.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            UnknownNameError, ReasonerError, KeyViolationError, LoadError, ColumnTypeError: As for `Reasoner.modify`.
        """
        self._open().modify(predicate, key, **columns)

    def add_program(self, program: Program | str) -> None:
        """Add rules, declarations and facts.

        Args:
            program: As for `Reasoner.add_program`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            RuleSyntaxError, SafetyError, ArityError, StratificationError, UnsupportedError: The program is invalid.
            ColumnTypeError, LoadError: As for `Reasoner.add_program`.
        """
        self._open().add_program(program)

    def remove_rules(self, rules: Iterable[Rule]) -> None:
        """Remove rules from the program; ignore those that it does not have.

        Args:
            rules: As for `Reasoner.remove_rules`.

        Raises:
            TransactionError: The transaction is not open, or another thread began it.
            LoadError: Something else is given, such as the text of a rule; nothing is removed then.
        """
        self._open().remove_rules(rules)
