"""Queries that are answered without materialisation: the query, its shape, and the plans for all queries of a shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.magic_sets.guarded import GuardedRules
from kg_reasoner.engine.state.engine_state import State
from kg_reasoner.language.selection.magic import GIVEN, copied_predicate, is_magic_set
from kg_reasoner.planning.borrowed_catalog import BorrowedCatalog
from kg_reasoner.program import TRIPLE, Argument, Atom, BodyLiteral, Rule, Variable
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.borrowing import BorrowingDatabase
from kg_reasoner.storage.kernels.layout import Relation
from kg_reasoner.storage.relations.lookups import Which
from kg_reasoner.storage.values.value_table import ValueTable
from kg_reasoner.terms import RDF, Term

__all__ = ["Demand", "DemandPlans", "Found", "Shape", "TooManyDemandsError", "abstracted"]

_COUNT, _DEAD = (Relation.fields[name][0] for name in ("count", "dead"))


@dataclass(frozen=True, slots=True)
class Shape:
    """The common part of queries that differ in the given values only.

    Attributes:
        head: The atom of the answers.
        body: The body.
        given: Variables for which values are given.
    """

    head: Atom
    body: tuple[BodyLiteral, ...]
    given: tuple[Variable, ...] = ()

    @property
    def rule(self) -> Rule:
        """The query as a rule."""
        return Rule(self.head, self.body)


def abstracted(head: Atom, body: Sequence[BodyLiteral], given: Sequence[Variable] = ()) -> tuple[Shape, tuple[Term, ...]]:
    """Return the shape of a query, with variables in the place of the constants of its atoms, and the constants.

    Properties and classes stay: they say which rules apply. So do the constants of what is negated and aggregated.

    >>> from kg_reasoner.language.parser import parse_body
    >>> shape, constants = abstracted(Atom("answer", (Variable("y"),)), parse_body('path("a", ?y)', {}))
    >>> [str(term) for term in shape.body[0].terms], list(map(str, shape.given)), list(map(str, constants))
    (['?constant 1', '?y'], ['?constant 1'], ['"a"'])

    Args:
        head: The atom of the answers.
        body: The body.
        given: Variables for which values are given.

    Returns:
        The shape, whose variables with given values are those of `given`, and then one for each constant; and the constants.
    """
    constants: list[Term] = []

    def variable(term: Argument) -> Argument:
        if isinstance(term, Variable):
            return term
        constants.append(term)
        return Variable(f"constant {len(constants)}")

    parts = list(body)
    for place, part in enumerate(parts):
        if isinstance(part, Atom) and part.predicate != TRIPLE:
            parts[place] = Atom(part.predicate, tuple(map(variable, part.terms)))
        elif isinstance(part, Atom):
            subject, property, value = part.terms
            is_kept = property == RDF.type or isinstance(property, Variable)  # it may be a class
            parts[place] = Atom(TRIPLE, (variable(subject), property, value if is_kept else variable(value)))
    added = (Variable(f"constant {number}") for number in range(1, len(constants) + 1))
    return Shape(head, tuple(parts), (*given, *added)), tuple(constants)


@dataclass(frozen=True, slots=True)
class Demand:
    """A query: a shape, and different rows of values for its variables, as ids."""

    shape: Shape
    rows: Ids


@dataclass(frozen=True, slots=True)
class Found:
    """The answers to a query as ids.

    Attributes:
        rows: The answers.
        derived: The number of facts that were derived for them, those of magic sets included.
        by_magic: Whether they were derived by magic sets.
    """

    rows: Ids
    derived: int
    by_magic: bool = False


class TooManyDemandsError(Exception):
    """Magic sets have become larger than they may be."""


MOST_KEPT: Final = 1 << 24
"""The bytes of tables with which plans are kept for further queries."""


class DemandPlans:
    """Transformed rules with their plans, in a database that reads the facts of a reasoner in place.

    Args:
        state: The facts.
        rules: The transformed rules.
        head: The atom of the answers.
        given: The number of variables with given values.
        which: The facts to be read.
    """

    def __init__(self, state: State, rules: Sequence[Rule], head: Atom, given: int = 0, which: Which = "explicit") -> None:
        self._state, self._head = state, head
        self._most_demands: int | None = None
        self._database = BorrowingDatabase(state.database, which, self._claim)
        self._catalog = BorrowedCatalog(state.catalog, self._database, compares_few=which == "explicit")
        values = ValueTable(state.dictionary, self._database.context)
        self._materialiser = Materialiser(self._database, values, self._catalog.functions)
        self._given = self._catalog.predicate(GIVEN, given) if given else -1
        self._answer = self._catalog.predicate(head.predicate, head.arity)
        self._rules = GuardedRules(rules, self._catalog, self._materialiser)
        self._is_used = False

    @property
    def is_small(self) -> bool:
        """Whether the tables are so small that they can be kept."""
        return self._database.allocated < MOST_KEPT

    def answers(self, rows: Ids | None = None, most_demands: int | None = None) -> Found:
        """Return the answers.

        Args:
            rows: The given values.
            most_demands: The number of facts that magic sets may have.

        Raises:
            TooManyDemandsError: They would have more.
        """
        database, watch = self._database, current_watch()
        if self._is_used:
            database.clear(self._catalog.functions.relations)
            database.renew(self._state.version)
        self._is_used = True
        self._most_demands = most_demands
        watch.attach(database.context)
        try:
            self._rules.evaluate({} if rows is None or self._given < 0 else {self._given: rows})
        finally:
            watch.detach(database.context)
        self._check_types()
        stated = self._rules.stated + (0 if rows is None or self._given < 0 else len(rows))
        return Found(np.array(database.rows(self._answer)), self._count() - stated)

    def _count(self) -> int:
        """Return the number of facts, given ones included."""
        hidden = set(self._catalog.functions.relations)
        own = [number for number in range(len(self._database.relations)) if number not in hidden]
        own = [number for number in own if not self._database.is_borrowed(number)]
        words = self._database.relations.words[own]
        return int((words[:, _COUNT] - words[:, _DEAD]).sum())

    def _claim(self, nbytes: int) -> None:
        """Check limits before a table grows."""
        watch, database = current_watch(), self._database
        limits = watch.limits
        if limits.memory is not None:
            watch.check(0, self._state.nbytes + database.allocated + nbytes)
        elif limits.facts is not None:
            watch.check(database.context.total)
        if self._most_demands is not None:
            asking = [number for name, number in self._catalog.predicates.items() if is_magic_set(name)]
            if int(database.relations.words[asking, _COUNT].sum()) > self._most_demands:
                raise TooManyDemandsError

    def _check_types(self) -> None:
        """Check derived facts against the declared types of columns.

        Raises:
            ColumnTypeError: A term does not belong to the type of its column.
        """
        types = self._state.column_types
        if not types.typed:
            return
        for name, number in self._catalog.predicates.items():
            if (predicate := copied_predicate(name)) is not None:
                derivers = (rule for rule in self._state.rules if rule.head.predicate == predicate and rule.body)
                types.check(predicate, self._database.rows(number), derivers)
