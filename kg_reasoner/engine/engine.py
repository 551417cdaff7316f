"""The engine: explicit facts as ids, rules, and their materialisation under changes.

Operations are atomic (`atomicity`), and updates run through a `pipeline`. A `Reasoner` adds terms, transactions and queries to an
engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from kg_reasoner.concurrency.limits import NOBODY, watches
from kg_reasoner.engine import pipeline
from kg_reasoner.engine.facts.collector import Collector
from kg_reasoner.engine.facts.row_encoding import expect_predicate
from kg_reasoner.engine.inconsistency import Violation, is_consistent, violations
from kg_reasoner.engine.maintenance import Finder
from kg_reasoner.engine.state.atomicity import AtomicState
from kg_reasoner.engine.state.journal import LoggedFacts, LoggedLoad
from kg_reasoner.errors import ArityError, plural
from kg_reasoner.expressions.given_relations import GIVEN_RELATIONS
from kg_reasoner.language.checks import analysis
from kg_reasoner.program import TRIPLE, Program, is_hidden
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import Changed, Ids

__all__ = ["Engine"]

_LARGE: Final = 1 << 16
"""The number of facts of a load above which the journal need not record them one by one."""

_LOADED: Final = 8
"""If a load adds at least this many times as many facts as there were, the journal records the former facts instead of the new
ones.
"""


class Engine(AtomicState):
    """Facts as ids, rules, and their consequences. See `State` for its arguments."""

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def load(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit (`TRIPLE` for triples), in an operation. Return whether each was not explicit before."""
        return self._change(LoggedFacts(predicate, ids, True))

    def expect_triples(self, blocks: Sequence[Ids]) -> None:
        """Make room for triples that are about to be loaded, in an operation.

        If there are few others, the journal has these instead of the new ones.
        """
        base = self.base
        are_few = _LOADED * base.database.context.total <= sum(map(len, blocks))
        if are_few and self.transaction is None and self.collector is None and not base.equality.merges:
            self._journal.append(LoggedLoad(TRIPLE, base.explicit_facts()[TRIPLE]))
        self.catalog.layout.expect(blocks)

    def retract(self, predicate: str, ids: Ids) -> Changed:
        """Make facts no longer explicit, in an operation. Return whether each was explicit before."""
        return self._change(LoggedFacts(predicate, ids, False))

    def _change(self, entry: LoggedFacts) -> Changed:
        """Apply a change between entries in the journal: the intended change, and the actual one."""
        base, predicate, ids, added = self.base, entry.predicate, entry.ids, entry.added
        if base.equality.merges:
            entry.changed = base.equality.changed_explicit(predicate, ids, added)
        self._journal.append(entry)
        entry.changed = changed = (base.insert if added else base.remove)(predicate, ids)
        if added or 1 in changed.tobytes():
            self.touch()
        if self.collector is not None:
            base.equality.note(predicate, ids, changed, added)
        if self.transaction is not None and 0 in changed.tobytes():  # long-lived, so unchanged facts are discarded
            entry.keep_changed()
        if added and len(ids) >= _LARGE and self._is_loading(predicate):
            entry.forget()
        if added and watches()[-1] is not NOBODY:
            self.check_limits()
        return changed

    def _is_loading(self, predicate: str) -> bool:
        """Return whether the journal tells how to undo all additions to a predicate in the current operation."""
        return any(isinstance(entry, LoggedLoad) and entry.predicate == predicate for entry in self._journal[self._mark :])

    # --- materialisation --------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None) -> bool:
        """Update the derived facts. Return whether there was anything to do.

        The kernels are loaded here, so the first call compiles them. After an interrupt, explicit facts and rules are unchanged,
        and the next call starts over with them.
        """
        with self.changing():
            return self.update(progress)

    def update(self, progress: Progress | None = None) -> bool:
        """Run `materialise` in an operation."""
        if not self.next_update.is_due:
            return False
        pipeline.run(self, self.collector, progress)
        self.base.demands = None  # it would keep the former tables alive
        if watches()[-1] is not NOBODY or self._watch.why is not None:
            self.check_limits()
        self.next_update.is_due = False
        return True

    def foresee(self, find: Finder | None) -> None:
        """Set a function that finds the facts that the update after the next one deletes, see `Maintenance.expect`. It does not
        affect results.
        """
        self.base.maintenance.expect(find)

    def collect(self, collector: Collector) -> None:
        """Add consequences to a collector until the current operation or the open transaction ends."""
        self.update()
        self.base.equality.begin()
        self.collector = collector

    # --- predicates -------------------------------------------------------------------------------------------------

    def arities(self) -> Mapping[str, int]:
        """Return the arities of all predicates that facts, rules or declarations use."""
        return self.base.arities(self.program)

    def predicates(self) -> dict[str, int]:
        """Return the general predicates in use, with their arities. The materialisation is up to date."""
        idle = {rule.head.predicate: rule.head.arity for rule in self.idle_rules}
        written = analysis.arities(Program(self.rules, self.program.declarations)) | idle
        shown = {name: arity for name, arity in written.items() if not is_hidden(name)}
        return shown | self.base.used_predicates(self.rules, self.program.declarations)

    def expect_arities(self, arities: Mapping[str, int]) -> None:
        """Check that predicates may have these arities.

        Raises:
            ArityError: Facts, rules or declarations use one of them with a different arity.
            ReasonerError: One of them is not the name of a predicate.
        """
        for name in arities:
            expect_predicate(name)
        if self._misfit(arities) is not None:
            self.update()
            self._release()
        if (misfit := self._misfit(arities)) is not None:
            predicate, arity = misfit
            raise ArityError(f"{predicate} has {plural(arity, 'argument')}, not {arities[predicate]}")

    def _misfit(self, arities: Mapping[str, int]) -> tuple[str, int] | None:
        """Return a predicate that is known with a different arity, and that arity."""
        known = self.arities()
        pairs = ((predicate, GIVEN_RELATIONS.get(predicate) or known.get(predicate)) for predicate in arities)
        return next(((predicate, arity) for predicate, arity in pairs if arity not in (None, arities[predicate])), None)

    def _release(self) -> None:
        """Discard unused predicates, so that they can have other arities. The materialisation is up to date.

        Predicates that the open transaction has changed remain, as its delta has a table for each.
        """
        changed = {entry.predicate for entry in self._journal if isinstance(entry, LoggedFacts)}
        if self.collector is not None:
            changed |= self.collector.predicates()
        for name in set(self.base.unused_predicates(self.rules, self.program.declarations)) - changed:
            self.base.release(name)

    # --- consistency ------------------------------------------------------------------------------------------------

    def violations(self) -> Iterator[Violation]:
        """Return the violated constraints with the violating values, one violation for each clash (see `clashes`)."""
        from kg_reasoner.engine.clashes import clashes

        found = chain(violations(self.catalog, self.applied_rules), self.base.equality.contradictions())
        return clashes(found, self.base.queries.naming())

    def is_consistent(self) -> bool:
        """Return whether no constraint is violated."""
        return is_consistent(self.catalog) and not any(self.base.equality.contradictions())
