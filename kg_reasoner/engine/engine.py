"""The engine: explicit facts as ids, rules, and the materialisation of both, kept right when they change.

Operations are whole or not at all (`atomicity`), and updates go through a `pipeline`. A `Reasoner` is an engine with terms,
transactions and questions around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.engine import pipeline
from kg_reasoner.engine.atomicity import AtomicState
from kg_reasoner.engine.collector import Collector
from kg_reasoner.engine.inconsistency import Violation, is_consistent, violations
from kg_reasoner.engine.journal import LoggedFacts
from kg_reasoner.engine.maintenance import Finder
from kg_reasoner.errors import ArityError
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import Changed, Ids

__all__ = ["Engine"]


class Engine(AtomicState):
    """Facts as ids, rules, and what follows. See `State` for its arguments."""

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def load(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit (`TRIPLE` for triples), in an operation. Says of each whether it was not."""
        return self._change(LoggedFacts(predicate, ids, added=True))

    def retract(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit no longer, in an operation. Says of each whether it was."""
        return self._change(LoggedFacts(predicate, ids, added=False))

    def _change(self, entry: LoggedFacts) -> Changed:
        """Write down what is going to change, change it, and write down what has."""
        base, predicate, ids = self.base, entry.predicate, entry.ids
        entry.changed = base.equality.foretell(predicate, ids, entry.added)
        self._journal.append(entry)
        entry.changed = changed = (base.insert if entry.added else base.remove)(predicate, ids)
        count = np.count_nonzero(changed)
        if entry.added or count:
            self.touch()
        if self.collector is not None:
            base.equality.note(predicate, ids, changed, entry.added)
        if self.transaction is not None and count < len(changed):  # it is kept for long: without what has not changed
            entry.keep_changed()
        if entry.added and current_watch() is not NOBODY:
            self.check_limits()
        return changed

    # --- materialisation --------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None) -> bool:
        """Bring the derived facts up to date. Says whether there was something to do.

        The kernels are asked for here, so that the first call of all compiles them. Whatever interrupts this, the explicit facts
        and the rules are kept, and the next call starts over with them.
        """
        with self.exclusively():
            return self.update(progress)

    def update(self, progress: Progress | None = None) -> bool:
        """`materialise` within an operation."""
        if not self.next_update.is_due:
            return False
        pipeline.run(self, self.collector, progress)
        self.check_limits()
        self.next_update.is_due = False
        return True

    def foresee(self, find: Finder | None) -> None:
        """Say what the update after the next one will delete, see `Maintenance.expect`. Results do not depend on it."""
        self.base.maintenance.expect(find)

    def collect(self, collector: Collector) -> None:
        """Tell a collector what follows from now on, until the operation under way has ended, or the open transaction has."""
        self.update()
        self.base.equality.begin()
        self.collector = collector

    # --- predicates -------------------------------------------------------------------------------------------------

    def arities(self) -> Mapping[str, int]:
        """The numbers of arguments of all predicates that facts, rules or declarations use."""
        return self.base.arities(self.program)

    def predicates(self) -> dict[str, int]:
        """The general predicates that are stored and used, with their numbers of arguments; the materialisation is up to date."""
        return self.base.used_predicates(self.rules, self.program.declarations)

    def expect_arities(self, arities: Mapping[str, int]) -> None:
        """Check that predicates may have these numbers of arguments.

        Raises:
            ArityError: facts, rules or declarations use one of them with another number.
        """
        if self._misfit(arities) is not None:
            self.update()
            self._release()
        if (predicate := self._misfit(arities)) is not None:
            raise ArityError(f"{predicate} has {self.arities()[predicate]} arguments, not {arities[predicate]}")

    def _misfit(self, arities: Mapping[str, int]) -> str | None:
        """A predicate that is known with another number of arguments."""
        known = self.arities()
        return next((predicate for predicate, arity in arities.items() if known.get(predicate, arity) != arity), None)

    def _release(self) -> None:
        """Forget the predicates that nothing uses, so that they can have other arities; the materialisation is up to date.

        Those that the open transaction has changed stay: its delta has a table for each predicate.
        """
        changed = {entry.predicate for entry in self._journal if isinstance(entry, LoggedFacts)}
        if self.collector is not None:
            changed |= self.collector.predicates()
        for name in set(self.base.unused_predicates(self.rules, self.program.declarations)) - changed:
            self.base.release(name)

    # --- consistency ------------------------------------------------------------------------------------------------

    def violations(self) -> Iterator[Violation]:
        """The constraints that are violated, with the values that violate them; each clash once, see `clashes`."""
        from kg_reasoner.engine.clashes import clashes

        found = chain(violations(self.catalog, self.applied_rules), self.base.equality.contradictions())
        return clashes(found, self.base.queries.naming())

    def is_consistent(self) -> bool:
        """Whether none is."""
        return is_consistent(self.catalog) and not any(self.base.equality.contradictions())
