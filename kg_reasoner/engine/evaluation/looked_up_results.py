"""Results of functions, looked up by deletions to find rule instances from their heads.

The fact ``n(8)`` of ``n(?m) :- n(?k), BIND(?k + 1 AS ?m)`` does not tell from which fact it follows. Functions have no inverses:
``"7"`` and ``"07"`` have one successor. So the results for all terms in the argument's column are stored with their arguments, as
those of other functions are, and looked up by the result. That is done for rules that would otherwise scan a relation for each
fact, when a deletion first meets them; later deletions add what is new.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.planning.catalog import StoredRule
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.planning.planner import calls_by_result
from kg_reasoner.storage.arrays import Ids, Rows, unique_rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import STATED

__all__ = ["LookedUpResults"]

_NOTHING: Final = 0, -1


@dataclass(frozen=True, slots=True)
class _Source:
    """A function, the relation of its results, and the columns of the relation that its arguments are in."""

    function: int
    results: int
    relation: int
    columns: tuple[int, ...]


class LookedUpResults:
    """The results that backward plans look up.

    Args:
        functions: The functions.
        database: The relations.
    """

    def __init__(self, functions: Functions, database: Database) -> None:
        self._functions, self._database = functions, database
        self._seen: dict[_Source, tuple[int, int]] = {}
        """The number of rows of which the results are stored, and the numbering of these rows."""

    def add(self, rules: Iterable[StoredRule]) -> None:
        """Store the results that the backward plans of some rules look up."""
        for rule in rules:
            for call, atom in calls_by_result(self._database, rule, self._functions.decides_columns):
                columns = tuple(atom.terms.index(argument) for argument in call.arguments)
                self._seen.setdefault(_Source(call.function, call.relation, atom.relation, columns), _NOTHING)
        self.renew()

    def renew(self) -> None:
        """Store the results for new facts."""
        for source, (known, numbering) in self._seen.items():
            count, renumbered = self._database.relations[source.relation].count, self._database.renumbered[source.relation]
            first = known if numbering == renumbered else 0
            if first < count:
                self._store(source, first, count)
            self._seen[source] = count, renumbered

    def _store(self, source: _Source, first: int, count: int) -> None:
        """Store the results for some rows, dead ones too: they may be used again."""
        record = self._database.relations[source.relation]
        table: Rows = np.asarray(record.rows)[first * record.arity : count * record.arity].reshape(-1, record.arity)
        arguments = unique_rows(table[:, list(source.columns)])
        try:
            results = self._functions.results_of(source.function, list(arguments.T))
        except ValueTooLargeError:
            arguments, results = self._possible(source.function, arguments)
        self._database.load(source.results, np.column_stack([arguments, results]).astype(np.int32), STATED)

    def _possible(self, function: int, arguments: Rows) -> tuple[Rows, Ids]:
        """Return the arguments whose results are not too large, and these. The others give no facts: filters leave them out."""
        found = []
        for row in arguments.tolist():
            with suppress(ValueTooLargeError):
                found.append((*row, self._functions.call(function, row)))
        table = np.array(found, np.int32).reshape(-1, arguments.shape[1] + 1)
        return table[:, :-1], table[:, -1]
