"""The database of a reasoner: facts go into its relations and are retracted from them, and queries run over them.

Kernels never allocate. If a table is full they return, `grow` makes room, and they are called again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage import capacities
from kg_reasoner.storage.arrays import Changed, Rows, selected_rows
from kg_reasoner.storage.databases.workspaces import REMEMBERED, Prepared, Workspace
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import EMPTY, EXPLICIT, STATED, Relation
from kg_reasoner.storage.kernels.memory.buffers import grant
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.parallel.shared_loading import load_together
from kg_reasoner.storage.parallel.shared_retraction import retract_together
from kg_reasoner.storage.relations.arguments import ProbedFacts
from kg_reasoner.storage.relations.changing_relations import ChangingRelations
from kg_reasoner.storage.relations.lookups import Lookups
from kg_reasoner.storage.relations.renewal import Renewals

__all__ = ["Database"]


class Database(ChangingRelations):
    """All relations of a reasoner, and the operations on them.

    It is built up from relations (`Relations`), their indexes (`IndexedRelations`) and the changes of an update
    (`ChangingRelations`), each in terms of the one before.

    Args:
        claim: See `Relations`.
    """

    def __init__(self, claim: Callable[[int], None] = grant) -> None:
        super().__init__(claim)
        self._arguments = ProbedFacts()
        self.lookups = Lookups(self)
        self._prepared: dict[Hashable, list[tuple[Workspace, int]]] = {}
        self.renumbered: Counter[int] = Counter()
        """The number of times that the rows of each relation have been renumbered."""
        self._renewals = Renewals(self)
        self.threads = 1
        """The number of threads that load or retract facts together."""

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def load(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Insert facts, shape (n, arity), with a flag: EXPLICIT or STATED. Return a mask of the facts that are new with this
        flag.
        """
        done, count = 0, len(facts)
        self.reserve_list("claimed", count)
        if count > 64:
            self.reserve(relation, count)
        data, changed = self._arguments.take(facts)
        while done < count:
            done = native.load_facts(self.address, relation, data, done, count, flag, changed)
            if done < count:
                self.grow()
        return self._arguments.answers(count)

    def load_triples(self, triples: Rows, sizes: Mapping[int, int] | None = None) -> Changed:
        """Insert explicit triples, shape (n, 3), in property tables; all their relations are there. See `load`.

        Given how many of them belong to each relation, several threads may do so.
        """
        done, count = 0, len(triples)
        self.reserve_list("claimed", count)
        data, changed = self._arguments.take(triples)
        if self._are_shared(count) and sizes and self.is_fresh and not self.context.has_listed_grown:
            by_relation = np.zeros(len(self.relations), np.int64)
            by_relation[list(sizes)] = list(sizes.values())
            load_together(self, data, count, by_relation, changed, self.threads)
            return self._arguments.answers(count)
        while done < count:
            done = native.load_triples(self.address, data, done, count, changed)
            if done < count:
                self.grow()
        return self._arguments.answers(count)

    def _are_shared(self, count: int) -> bool:
        """Return whether threads share the work on a number of facts."""
        return self.threads > 1 and count >= capacities.current.shared_triples

    def retract(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Remove a flag from facts, shape (n, arity), and add these to the list of removed facts. Return a mask of the facts that
        had it.
        """
        self.reserve_list("removed", len(facts))
        data, changed = self._arguments.take(facts)
        if self._are_shared(len(facts)):
            find = partial(native.find_facts, self.address, relation, data)
            retract_together(self.address, find, len(facts), flag, changed, self.threads)
        else:
            native.retract_facts(self.address, relation, data, len(facts), flag, changed)
        return self._arguments.answers(len(facts))

    def retract_triples(self, triples: Rows) -> Changed:
        """Retract explicit triples, shape (n, 3), in property tables. See `retract`."""
        self.reserve_list("removed", len(triples))
        data, changed = self._arguments.take(triples)
        if self._are_shared(len(triples)):
            find = partial(native.find_triples, self.address, data)
            retract_together(self.address, find, len(triples), EXPLICIT, changed, self.threads)
        else:
            native.retract_triples(self.address, data, len(triples), changed)
        return self._arguments.answers(len(triples))

    def have_flag(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Return a mask of the facts, shape (n, arity), that hold with a flag. Several threads may call this, while nothing is
        inserted or deleted.
        """
        arguments = ProbedFacts()
        data, answers = arguments.take(facts)
        native.have_flag(self.address, relation, data, len(facts), flag, answers)
        return arguments.answers(len(facts))

    def triples_have_flag(self, triples: Rows, flag: int = EXPLICIT) -> Changed:
        """Return the same as `have_flag` for triples, shape (n, 3), in property tables."""
        arguments = ProbedFacts()
        data, answers = arguments.take(triples)
        native.triples_have_flag(self.address, data, len(triples), flag, answers)
        return arguments.answers(len(triples))

    def answers_to(self, facts: Rows) -> Changed:
        """Return a mask of the facts that the interrupted last call has loaded or retracted, if it was for these facts."""
        native.count_rows(self.address)  # which threads may have inserted
        return self._arguments.last_answers(facts)

    # --- search -----------------------------------------------------------------------------------------------------

    def matching(self, relation: int, columns: Sequence[int], key: Sequence[int]) -> npt.NDArray[np.int32]:
        """Return the numbers of the live rows with these ids in these columns."""
        columns = tuple(columns)
        numbers = self.lookups.probe(self.index(relation, columns), _index_key(key), "all")[:, 1]
        if len(columns) < 3:
            return numbers
        rows = self.rows_at(relation, numbers)[:, columns]
        return numbers[(rows == np.array(key, np.int32)).all(axis=1)]

    def rows_with(self, relation: int, arguments: Mapping[int, int], which: str = "all") -> Rows:
        """Return the live rows with ids in some columns, found by an index on all of these, or on all but one if there are no
        others. Several threads may call this, while nothing is inserted or deleted.
        """
        columns = tuple(sorted(arguments))
        indexed = columns if len(columns) < self.relations[relation].arity else columns[: max(1, len(columns) - 1)]
        numbers = self.matching(relation, indexed, [arguments[column] for column in indexed])
        flags = self.flags(relation)[numbers]
        if which != "all":
            numbers = numbers[((flags & EXPLICIT) != 0) == (which == "explicit")]
        rows = self.rows_at(relation, numbers)
        for column in columns[len(indexed) :]:
            rows = selected_rows(rows, rows[:, column] == arguments[column])
        return rows

    # --- care between updates ---------------------------------------------------------------------------------------

    @property
    def needs_care(self) -> bool:
        """Whether `renew_tables` has something to do."""
        return bool(self.context.crowded or self._renewals.running or self.gradual.running)

    def renew_tables(self) -> None:
        """Compact relations with more dead than live rows, let large ones that are nearly full grow, and build a part of an index.

        All rows have been processed.
        """
        context, self.context.crowded = self.context, 0
        table = self.relations.words[: len(self.relations)]
        dead, count = (table[:, Relation.fields[name][0]] for name in ("dead", "count"))
        is_large = count >= context.renew_from
        crowded = (dead >= context.compact_from) & (2 * dead > count)
        at_once = crowded & ~(is_large & (4 * dead < 3 * count))
        for relation in np.flatnonzero(at_once).tolist():
            self.compact(relation)
        for relation in np.flatnonzero(is_large & ~at_once).tolist():
            if crowded[relation] or native.is_full_soon(self.address, relation):
                self._renewals.begin(relation)
        self._renewals.advance()
        if self.gradual.running:
            self.gradual.advance()

    def compact(self, relation: int) -> None:
        """Remove the dead rows of a relation, all of whose rows have been processed, at once."""
        self._keep(relation, 0)
        if self.context.marked_count:
            native.renumber_marks(self.address, relation)
        self.materialised[relation] = self.relations[relation].count

    def keep_explicit(self, relation: int) -> None:
        """Delete all rows but the explicit and stated ones; indexes are rebuilt on demand."""
        self._keep(relation, EXPLICIT | STATED)

    def _keep(self, relation: int, wanted: int) -> None:
        """Keep the live rows in their order; with `wanted`, only those with one of these flags, and only these flags."""
        self.renumbered[relation] += 1
        self._renewals.discard(relation)
        self.gradual.discard(relation)
        self.context.has_listed_grown = 0
        record = self.relations[relation]
        record.slots[:] = EMPTY
        self.context.total -= native.keep_rows(record.address, wanted, self._ranked)
        self.drop_indexes(relation)

    def note_renewal(self, relation: int, gone: int) -> None:
        """Note that the rows of a relation have other numbers, without some that were dead."""
        self.renumbered[relation] += 1
        self.gradual.discard(relation)
        self.context.total -= gone
        self.materialised[relation] = self.processed[relation] = self.relations[relation].count
        if self.context.marked_count:
            native.renumber_marks(self.address, relation)

    # --- plans ------------------------------------------------------------------------------------------------------

    def prepared(self, key: Hashable, plan: Callable[[Workspace], int]) -> Prepared:
        """Return the ``with`` block in which a query has a workspace with its plan, which is remembered.

        Args:
            key: The query. Plans of equal keys are the same.
            plan: Makes the plan in a workspace; called within the database's mutex.
        """
        return Prepared(self, self._prepared, key, plan)

    def pool_of(self, key: Hashable) -> list[tuple[Workspace, int]]:
        """Return the unused workspaces with the plan of a query. A caller that takes one must return it."""
        if len(self._prepared) >= REMEMBERED and key not in self._prepared:
            self._prepared.clear()
        return self._prepared.setdefault(key, [])

    def share(self, threads: int) -> None:
        """Let kernels return WIDE where there is much to do for a number of threads."""
        self.context.wide = capacities.current.shared_instances if threads > 1 else 0
        self.context.shared_facts = capacities.current.shared_facts


def _index_key(values: Sequence[int]) -> int:
    """Return the key of ids in an index, computed as in `kernels.index_entries.index_key`."""
    if len(values) < 3:
        return sum(value << (32 * place) for place, value in enumerate(reversed(values)))
    key = len(values)
    for place, value in enumerate(values):
        key = mix(key ^ (value + (place << 40)))
    return key
