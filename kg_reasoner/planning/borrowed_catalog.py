"""A catalog whose rules read the facts of another catalog in place, and derive facts of further predicates."""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.language.checks.analysis import Key
from kg_reasoner.planning.catalog import INTERNAL, RelationCatalog, StoredAtom, StoredCall, StoredComparison, StoredRule, StoredTerm
from kg_reasoner.planning.expansion import simple_comparison
from kg_reasoner.planning.layouts.triple_layout import NO_NAMES, Names
from kg_reasoner.planning.layouts.triple_table import TripleTable
from kg_reasoner.program import TRIPLE, Expression, Rule
from kg_reasoner.storage.databases.borrowing import BorrowingDatabase

__all__ = ["BorrowedCatalog"]


class BorrowedCatalog(RelationCatalog):
    """The relations of another catalog, and relations of further predicates. No rule has a triple as its head.

    Args:
        lender: The other catalog.
        database: The relations of the further predicates; it borrows the others.
        compares_few: Whether values are compared as functions of the few terms that are met, and not by a table of all values.
    """

    database: BorrowingDatabase

    def __init__(self, lender: RelationCatalog, database: BorrowingDatabase, *, compares_few: bool) -> None:
        super().__init__(lender.dictionary, database, TripleTable)  # without triples: rules are expanded for the lender's layout
        self._lender, self._compares_few = lender, compares_few

    def predicate(self, name: str, arity: int) -> int:
        """See `RelationCatalog.predicate`. Internal predicates are never shared."""
        if name not in self.predicates and self._is_lent(name):
            self.predicates[name] = self.database.borrow(self._lender.predicates[name])
        return super().predicate(name, arity)

    def _placed(self, predicate: str, terms: tuple[StoredTerm, ...], negated: bool) -> StoredAtom:
        """See `RelationCatalog._placed`."""
        if predicate != TRIPLE:
            return super()._placed(predicate, terms, negated)
        relation, rest = self._lender.layout.find(*terms)
        number = self.predicate(f"{INTERNAL}no triples", len(rest)) if relation < 0 else self.database.borrow(relation)
        return StoredAtom(number, rest, negated)

    def rules(self, rule: Rule, since: Names = NO_NAMES) -> Iterator[StoredRule]:
        """See `RelationCatalog.rules`."""
        return self._copies(rule, since, self._lender.layout, rule, ())

    def has_facts(self, key: Key) -> bool:
        """See `RelationCatalog.has_facts`."""
        return super().has_facts(key) or ((key[0] == TRIPLE or self._is_lent(key[0])) and self._lender.has_facts(key))

    def _filter(self, expression: Expression, rule: Rule) -> StoredComparison | StoredCall:
        """See `RelationCatalog._filter`."""
        if self._compares_few and simple_comparison(expression) is not None:
            return self._call(expression, None, rule)
        return super()._filter(expression, rule)

    def _is_lent(self, name: str) -> bool:
        return name in self._lender.predicates and not name.startswith(INTERNAL)
