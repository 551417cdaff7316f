"""The engine: explicit facts as ids, rules, and the materialisation of both, kept right when they change.

An update goes through it in this order: axioms become rules, rules become plans, a strategy applies what has changed; and again, if
that made terms equal or further axioms. A `Reasoner` is an engine with terms, transactions and questions around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, Unwatched, Watch, current_watch
from kg_reasoner.concurrency.locking import ReadWriteLock
from kg_reasoner.concurrency.readings import Readings
from kg_reasoner.engine.axiom_rules import AxiomRules
from kg_reasoner.engine.collector import Collector, Committed
from kg_reasoner.engine.counters import Counters
from kg_reasoner.engine.fact_base import FactBase
from kg_reasoner.engine.inconsistency import Violation, is_consistent, violations
from kg_reasoner.engine.journal import Entry, LoggedFacts, LoggedSetting
from kg_reasoner.engine.maintenance import Maintenance, Table, Work, strategy
from kg_reasoner.engine.maintenance.rematerialise import Rematerialise
from kg_reasoner.engine.materialise import PlannedRule
from kg_reasoner.errors import ArityError, InterruptedUpdate, ReasonerError
from kg_reasoner.language import analysis
from kg_reasoner.planning.catalog import INTERNAL, Catalog, needs_ternary
from kg_reasoner.program import TRIPLE, Program, Rule
from kg_reasoner.progress import Progress
from kg_reasoner.query.delta import Change, Changes, Delta, difference
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import Changed, Ids
from kg_reasoner.storage.column_types import ColumnTypes
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.relation import Database

if TYPE_CHECKING:
    from types import TracebackType

    from kg_reasoner.engine.equality.rewriting import Rewriting

__all__ = ["Engine", "Foreseen"]

Foreseen: TypeAlias = Callable[[], "list[tuple[int, Ids]]"]
"""Finds facts that the next update will delete, by relation, as far as they are known when it is asked."""


class OpenTransaction(Protocol):
    """What an engine asks of the transaction that is open, a `kg_reasoner.api.transaction.Transaction`."""

    collector: Collector | None

    @property
    def is_void(self) -> bool: ...

    @property
    def is_waiting(self) -> bool: ...

    def hand_over(self) -> None: ...


class Operation:
    """The ``with`` block of an operation of an engine; see `Engine.changing`."""

    __slots__ = ("_changes", "_engine", "_hold")

    def __init__(self, engine: Engine, changes: bool) -> None:
        self._engine = engine
        self._changes = changes

    def __enter__(self) -> None:
        engine = self._engine
        hold = self._hold = engine.lock.write()
        try:
            engine.begin_operation(self._changes)
        except BaseException:
            hold.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._engine.end_operation(error)
        finally:
            self._hold.release()


class Engine:
    """Facts as ids, rules, and what follows.

    Args:
        dictionary: what the ids mean.
        visibility: is told of the rules, as these say which triples are hidden.
        maintenance: the name of a strategy.
        datatypes: those whose literals have values.
        rewrites: whether equal terms are merged.

    Attributes:
        version: a number that changes whenever facts or rules do.
        transaction: the open one: it is told what changes.
    """

    def __init__(
        self, dictionary: Dictionary, visibility: Visibility, *, maintenance: str, datatypes: frozenset[str], rewrites: bool
    ) -> None:
        self.dictionary = dictionary
        self.program = Program()
        self.axioms = AxiomRules(dictionary)
        self.version = 0
        self.transaction: OpenTransaction | None = None
        self.lock = ReadWriteLock(lambda: not self._is_whole)
        self.readings = Readings()
        self._is_whole = True
        """False while an operation is under way, and after one that was interrupted, until that is undone."""
        self._journal: list[Entry] = []
        """How to take back what the open transaction, or else the operation under way, has changed."""
        self._mark = 0
        """Where in the journal that of the operation begins."""
        self._told: Collector | None = None
        self._outgoing: Delta | None = None
        self.committed: Committed | None = None
        """The last delta for subscribers."""
        self.limits = UNLIMITED
        self.running: set[Watch] = set()
        """The watches over operations and queries under way."""
        self._watch = Watch()
        """The watch over operations without limits."""
        self._visibility = visibility
        self._make_base = partial(
            FactBase,
            dictionary,
            self.axioms,
            visibility,
            strategy(maintenance),
            datatypes=datatypes,
            rewrites=rewrites,
            claim=self.claim,
            watch=self._watch,
        )
        dictionary.claim = self.claim
        self.base = self._make_base(ternary=False)
        self._all_rules: tuple[Rule, ...] | None = None
        self._known_arities: tuple[Program | None, Catalog | None, int, dict[str, int]] = None, None, 0, {}
        self.column_types = ColumnTypes(dictionary, self.program)
        self._typed_sizes: dict[int, tuple[int, int]] = {}
        """The rows, dead ones apart, that relations with typed columns had when they were checked."""
        self._rules_changed = True
        self._dirty = True
        self._foreseen: Foreseen | None = None
        self._has_marks = False
        """Whether the strategy was told what the last update but one would delete."""
        self._replaced: Changes | None = None
        """All facts before the update under way changed their layout, if a transaction collects what changes."""
        self._counted = Counters()

    @property
    def catalog(self) -> Catalog:
        """Which relation holds what."""
        return self.base.catalog

    @property
    def database(self) -> Database:
        """The relations."""
        return self.base.database

    def touch(self, *, rules: bool = False) -> None:
        """Say that facts have changed, or rules."""
        self._dirty = True
        if rules:
            self._rules_changed = True
            self._all_rules = None
        self.version += 1

    @property
    def collector(self) -> Collector | None:
        """What wants to know what follows from changes: that of the operation under way, or of the open transaction."""
        if self._told is not None or self.transaction is None:
            return self._told
        return self.transaction.collector

    def collect(self, collector: Collector) -> None:
        """Tell a collector what follows from the changes of the operation under way, which begins with this."""
        self.update()
        if self.base.rewriting is not None:
            self.base.rewriting.begin()
        self._told = collector

    @property
    def counters(self) -> Counters:
        """How many rules have been applied for updates, by phase."""
        return self._counted + self.base.maintenance.counters

    # --- rules ------------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules: those of the program, and those that the ontology's axioms were translated to."""
        self.translate_schema()
        if self._all_rules is None:
            self._all_rules = tuple(dict.fromkeys(self.program.rules + self.axioms.rules))
            self._visibility.use(self._all_rules)
            self.axioms.note_rules(self._all_rules)
        return self._all_rules

    @property
    def applied_rules(self) -> tuple[Rule, ...]:
        """The rules as they are applied: with representatives for equal terms, where these are merged."""
        return self.rules if self.base.rewriting is None else self.base.rewriting.images(self.rules)

    def change_program(self, program: Program) -> None:
        """Take another program in an operation; it has been checked."""
        self._journal.append(LoggedSetting(self, "program", self.program))
        self.use_program(program)

    def use_program(self, program: Program) -> None:
        """Take another program from now on; it has been checked."""
        self.program = program
        self.column_types, self._typed_sizes = ColumnTypes(self.dictionary, program), {}
        self.axioms.want(program)
        self.touch(rules=True)
        if not any(self.database.filled()) and needs_ternary(program.rules) != self.catalog.ternary:
            self.base = self._make_base(ternary=not self.catalog.ternary)  # the layout is chosen before the first facts come

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

    def predicates(self) -> dict[str, int]:
        """The general predicates that are stored and used, with their numbers of arguments; the materialisation is up to date."""
        unused, relations = set(self._unused()), self.database.relations
        known = {name: relations[number].arity for name, number in self.catalog.predicates.items() if name not in unused}
        return {name: arity for name, arity in known.items() if name != TRIPLE and not name.startswith(INTERNAL)}

    def _unused(self) -> list[str]:
        """The general predicates that have no facts, and that neither a rule nor a declaration uses."""
        predicates, size = self.catalog.predicates, self.database.size
        empty = [name for name in predicates if name != TRIPLE and not name.startswith(INTERNAL) and not size(predicates[name])]
        used = analysis.arities(Program(self.rules, self.program.declarations)) if empty else {}
        return [name for name in empty if name not in used]

    def _release(self) -> None:
        """Forget the predicates that nothing uses, so that they can have other arities; the materialisation is up to date.

        Those that the open transaction has changed stay: its delta has a table for each predicate.
        """
        changed = {entry.predicate for entry in self._journal if isinstance(entry, LoggedFacts)}
        if self.collector is not None:
            changed |= self.collector.predicates()
        for name in set(self._unused()) - changed:
            self.catalog.release(name)
            if self.base.rewriting is not None:
                self.base.rewriting.asserted.release(name)
            self._known_arities = None, None, 0, {}

    def arities(self) -> dict[str, int]:
        """The numbers of arguments of all predicates that facts, rules or declarations use."""
        program, catalog, count, known = self._known_arities
        predicates = self.catalog.predicates
        if program is not self.program or catalog is not self.catalog or count != len(predicates):
            stored = {name: self.database.relations[number].arity for name, number in predicates.items()}
            known = analysis.arities(self.program) | stored
            self._known_arities = self.program, self.catalog, len(predicates), known
        return known

    def translate_schema(self) -> None:
        """Turn the explicit schema triples into rules, if they have changed; what is derived adds to them later."""
        if self.axioms.translate(self.catalog):
            self.touch(rules=True)

    def _extend_axioms(self) -> bool:
        """Turn axioms that have been derived into rules. Says whether that changes the rules."""
        changed = self.axioms.extend(self.catalog, self.base.rewriting is not None)
        if changed:
            self.touch(rules=True)
        return changed

    # --- operations -------------------------------------------------------------------------------------------------

    def changing(self) -> AbstractContextManager[None]:
        """The ``with`` block of an operation that changes facts or rules: all that is done inside, or nothing.

        Whatever goes wrong inside, the state is the one before. Errors of ours are undone at once. After any other exception, an
        interrupt say, that happens when the engine is used next, and all that is derived is derived anew then.
        """
        return self._operation(True)

    def exclusively(self) -> AbstractContextManager[None]:
        """The same for what changes nothing but needs the engine for itself, as derived facts or plans come and go."""
        return self._operation(False)

    def _operation(self, changes: bool) -> AbstractContextManager[None]:
        if self.limits is UNLIMITED and current_watch() is NOBODY:
            return Operation(self, changes)
        return self._watched(changes)

    @contextmanager
    def _watched(self, changes: bool) -> Iterator[None]:
        """An operation under limits: those that have been set for what is done now with this engine, else its own."""
        own = nullcontext() if current_watch().is_of(self.running) else Watch(self.limits, self.running)
        with own, Operation(self, changes):
            watch, context = current_watch(), self.database.context
            watch.attach(context)
            try:
                yield
            finally:
                watch.detach(context)

    @property
    def is_current(self) -> bool:
        """Whether all that follows is derived, and nothing is left over from an operation that was interrupted."""
        transaction = self.transaction
        return not self._dirty and self.is_sound and (transaction is None or not transaction.is_waiting)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is left over from an operation that was interrupted, or from a transaction whose thread is gone."""
        return self._is_whole and (self.transaction is None or not self.transaction.is_void)

    def begin_operation(self, changes: bool) -> None:
        """For `Operation`."""
        if not self._is_whole or self.transaction is not None:
            self.make_sound()
        if changes and self.readings.open:
            self.readings.complete()
        if self._watch.is_over:
            self._watch.reset(self.base.database.context)
        self._mark, self._told, self._outgoing, self._is_whole = len(self._journal), None, None, False

    def end_operation(self, error: BaseException | None) -> None:
        """For `Operation`: keep what it has done, or take it back."""
        if error is None:
            committed = self.committed if self._outgoing is None else Committed(self.committed, self._outgoing)
            journal = [] if self.transaction is None else self._journal
            self._journal, self._is_whole, self.committed, self._outgoing = journal, True, committed, None
        elif isinstance(error, ReasonerError) and not isinstance(error, InterruptedUpdate):
            self._take_back(self._mark)
            self._is_whole = True
        elif self.collector is not None:
            self.collector.note_interruption()

    def _take_back(self, mark: int) -> None:
        """Undo what the journal has from a place on."""
        journal, program = self._journal, self.program
        while len(journal) > mark:
            journal[-1].settle(self.base)
            journal[-1].take_back(self.base)
            self.touch()
            journal.pop()
        if self.program is not program:
            self.use_program(self.program)

    def _restore(self) -> None:
        with Unwatched():
            self._start_over()

    def _start_over(self) -> None:
        """After an interrupt: undo what was under way, and start over with the explicit facts.

        That is the operation, or the whole transaction if it was being undone, or its thread is gone. Whatever interrupts this in
        turn, it is begun anew.
        """
        transaction = self.transaction
        is_over = transaction is not None and transaction.is_void
        mark = 0 if is_over else self._mark
        self._mark, self._is_whole = mark, False
        undone = self._journal[: mark - 1 if mark else None : -1]
        for entry in undone:
            entry.settle(self.base)
        base = self._make_base(ternary=self.catalog.ternary)
        base.take_over(self.base)
        for entry in undone:
            entry.take_back(base)
        counted = self.counters
        self.base, self._counted = base, counted
        self.axioms.want(self.program)
        self.axioms.has_changed = True
        self.touch(rules=True)
        if transaction is None or is_over:
            self.transaction, self._journal, self._is_whole = None, [], True
        else:
            self._journal, self._is_whole = self._journal[:mark], True

    def make_sound(self) -> None:
        """Undo what is left over from an operation that was interrupted; the caller may write."""
        transaction = self.transaction
        if not self._is_whole or (transaction is not None and transaction.is_void):
            self._restore()

    @property
    def place(self) -> int:
        """How far the open transaction has got, for `return_to`."""
        return len(self._journal)

    def return_to(self, place: int) -> None:
        """Undo what has been done in the open transaction since a place."""
        with self.exclusively():
            self.readings.complete()
            self._mark = place
            self._take_back(place)

    def tell(self, delta: Delta) -> None:
        """Say what the operation under way has changed, for subscribers, once it has ended."""
        self._outgoing = delta

    def set(self, owner: object, attribute: str, value: object) -> None:
        """Give an attribute of an object another value, as a part of the operation under way."""
        self._journal.append(LoggedSetting(owner, attribute, getattr(owner, attribute)))
        setattr(owner, attribute, value)

    # --- explicit facts ---------------------------------------------------------------------------------------------

    def load(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit (`TRIPLE` for triples), in an operation. Says of each whether it was not."""
        return self._change(LoggedFacts(predicate, ids, added=True))

    def retract(self, predicate: str, ids: Ids) -> Changed:
        """Make facts explicit no longer, in an operation. Says of each whether it was."""
        return self._change(LoggedFacts(predicate, ids, added=False))

    def _change(self, entry: LoggedFacts) -> Changed:
        base, predicate, ids = self.base, entry.predicate, entry.ids
        if base.rewriting is not None and not predicate.startswith(INTERNAL):  # what is stored are other facts than these
            entry.changed = base.are_explicit(predicate, ids) != entry.added
        self._journal.append(entry)
        changed = (base.insert if entry.added else base.remove)(predicate, ids)
        self._note(entry, changed)
        if entry.added and current_watch() is not NOBODY:
            self._check_limits()
        return changed

    def _note(self, entry: LoggedFacts, changed: Changed) -> None:
        """Write down which facts have become explicit, or ceased to be."""
        entry.changed = changed
        count = np.count_nonzero(changed)
        if entry.added or count:
            self.touch()
        rewriting = self.base.rewriting
        if self.transaction is not None and count < len(changed):  # it is kept for long: without what has not changed
            entry.keep_changed()
        if rewriting is not None and self.collector is not None and not entry.predicate.startswith(INTERNAL):
            rewriting.assertions.note(entry.predicate, entry.ids[entry.changed], entry.added)

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
        if not self._dirty:
            return False
        self._update(progress)
        self._check_limits()
        self._dirty = False
        return True

    def cancel(self) -> None:
        """Make what other threads are doing end with CancelledError."""
        for watch in list(self.running):
            watch.cancel()
        self.lock.cancel()
        if not self._is_whole:
            self._watch.cancel_kernels(self.database.context)

    def _check_limits(self) -> None:
        """End the operation if it has to end.

        Raises:
            LimitError, CancelledError: it has.
        """
        watch = current_watch()
        if watch is not NOBODY:
            watch.check(self.count_facts() if watch.limits.facts is not None else 0)
        elif self._watch.is_over:
            self._watch.check()

    def count_facts(self) -> int:
        """How many facts there are, explicit and inferred ones, those for internal use left out."""
        hidden = [number for name, number in self.catalog.predicates.items() if name.startswith(INTERNAL)]
        return self.database.count() - sum(map(self.database.size, (*hidden, *self.catalog.functions.relations)))

    @property
    def nbytes(self) -> int:
        """The bytes of all tables of facts, indexes and terms."""
        return self.database.allocated + self.dictionary.nbytes

    def claim(self, nbytes: int) -> None:
        """Let a table grow by so many bytes, as far as limits allow that.

        Raises:
            LimitError: they do not.
        """
        watch = current_watch()
        limits = watch.limits
        if limits.memory is not None:
            watch.check(0, self.nbytes + nbytes)
        elif limits.facts is not None and self.database.context.total > limits.facts:
            watch.check(self.count_facts())

    def _update(self, progress: Progress | None) -> None:
        """Apply all changes since the last time, and those that follow for axioms and equal terms."""
        if self.database.context.removed_count:
            self.axioms.note_removal()
        is_first = True
        while True:
            self.translate_schema()
            self._maintain(progress, is_first)
            is_first = False
            if not (self._merge_equal() or self._extend_axioms()):
                break
        self._check_types()
        self.base.materialiser.compact()
        rewriting = self.base.rewriting
        if rewriting is not None:
            if self.collector is not None:
                self.collector.take(rewriting.take_changes())
            rewriting.settle()

    def _check_types(self) -> None:
        """Check what has been derived against the declared types of columns.

        Raises:
            ColumnTypeError: a term is not of its column's type. This will be said again until rules or facts have changed that.
        """
        for predicate in self.column_types.typed:
            number = self.catalog.predicates.get(predicate, -1)
            record = self.database.relations[number] if number >= 0 else None
            if record is None or self._typed_sizes.get(number) == (record.count, record.dead):
                continue
            derivers = (rule for rule in self.rules if rule.head.predicate == predicate and rule.body)
            self.column_types.check(predicate, self.database.rows(number), derivers)
            self._typed_sizes[number] = record.count, record.dead

    def foresee(self, find: Foreseen | None) -> None:
        """Say what the update after the next one will delete, so that it finds its way prepared. Results do not depend on it."""
        self._foreseen = find

    def _maintain(self, progress: Progress | None, is_first: bool) -> None:
        """Apply the changes of facts and rules since the last time."""
        collector, self._replaced = self.collector, None
        rewriting = self.base.rewriting
        new_rules = self._prepare_rules() if rewriting is None else self._prepare_rewriting(rewriting, is_first)
        before, self._replaced = self._replaced, None
        base = self.base
        materialiser, rulebook = base.materialiser, base.rulebook
        work = Work(new_rules, rulebook.gone_rules, rulebook.gone_groups, collector is not None and before is None, progress)
        if rulebook.gone_rules or rulebook.gone_groups:
            materialiser.remove_rules(rulebook.gone_rules)
            materialiser.remove_groups(rulebook.gone_groups)
        materialiser.make_strata()
        restarts = (materialiser.is_mixed or base.maintenance.needs_restart()) and not self.database.is_fresh
        strategy: Maintenance = Rematerialise(materialiser, base.maintenance) if restarts else base.maintenance
        self._expect(strategy)
        strategy.apply(work)
        if rulebook.gone_rules or rulebook.gone_groups:
            rulebook.forget_gone()
        if collector is not None:
            delta = self._delta(work) if before is None else difference(self.dictionary, before, self._tables())
            if base.rewriting is None:
                collector.take(delta)
            else:
                base.rewriting.note_step(delta)

    def _expect(self, strategy: Maintenance) -> None:
        """Tell a strategy what the update after this one will delete, if that is known."""
        if self._foreseen is None and not self._has_marks:
            return
        find, self._foreseen = self._foreseen, None
        try:
            facts = find() if find is not None else []
        except (ReasonerError, ValueError):  # an update that cannot be read is reported when its turn comes
            facts = []
        strategy.expect(facts)
        self._has_marks = bool(facts)

    def _prepare_rewriting(self, rewriting: Rewriting, is_first: bool) -> list[PlannedRule]:
        """Split and merge cliques of equal terms before an update, and plan rules. See `_prepare_rules`.

        Only what users change takes reasons away: when names change afterwards, axioms become other rules that say the same.
        """
        gone = rewriting.gone(self.rules) if is_first and self._rules_changed else []
        gone_plans = [planned for rule in gone for planned in self.base.rulebook.plans_of(rule)]
        new_rules = self._prepare_rules()
        if rewriting is self.base.rewriting and rewriting.revise(gone_plans, [rule for rule in gone if not rule.body]):
            self.translate_schema()
            self._rules_changed = self._rules_changed or rewriting.names_changed
            new_rules += self._prepare_rules()
        gone_now = set(map(id, self.base.rulebook.gone_rules))
        return [planned for planned in new_rules if id(planned) not in gone_now]

    def _merge_equal(self) -> bool:
        """Merge terms that rules have found to be the same, if there are any."""
        rewriting = self.base.rewriting
        if rewriting is None or not rewriting.merge():
            return False
        self._rules_changed = self._rules_changed or rewriting.names_changed
        return True

    def _prepare_rules(self) -> list[PlannedRule]:
        """Choose the layout of triples and plan rules. Returns the plans of new ones, see `RuleBook.plan`."""
        if self._rules_changed:
            rules = self.applied_rules
            if (ternary := needs_ternary(rules)) != self.catalog.ternary:
                if self.collector is not None and self._replaced is None:
                    self._replaced = self._tables()
                self._rebuild(ternary)
                rules = self.applied_rules
            self.base.rulebook.use(rules)
            self._rules_changed = False
        if self.base.rulebook.asks_of_literals:
            self.base.feed_literals()
        return self.base.rulebook.plan()

    def _rebuild(self, ternary: bool) -> None:
        """Start over with the explicit facts, in the chosen layout and without plans; or, if interrupted, leave all as it is."""
        base, counted = self._make_base(ternary=ternary), self.counters
        base.take_over(self.base)
        self.base, self._counted = base, counted

    # --- what has changed -------------------------------------------------------------------------------------------

    def begin(self, transaction: OpenTransaction) -> None:
        """Tell a transaction of all changes from now on; the materialisation is up to date."""
        if self.base.rewriting is not None:
            self.base.rewriting.begin()
        self._journal, self.transaction = [], transaction

    def commit(self, delta: Delta | None) -> None:
        """End the open transaction, and keep what it has changed; subscribers, if there are any, are to be told of a delta."""
        committed = self.committed if delta is None else Committed(self.committed, delta)
        self._journal, self.transaction, self.committed = [], None, committed

    def roll_back(self) -> None:
        """End the open transaction, which says that it is void, and undo what it has changed."""
        if not self._is_whole:
            self._restore()
            return
        self._mark, self._is_whole = 0, False
        self._take_back(0)
        self._journal, self.transaction, self._is_whole = [], None, True

    def _delta(self, work: Work) -> Delta:
        """What a run of maintenance has changed, by predicate."""
        return Delta(*(self._changes(tables) for tables in (work.added, work.removed, work.restated)))

    def _changes(self, tables: Iterable[Table]) -> Changes:
        return Changes(self.dictionary, {name: Change(*facts) for name, facts in self.catalog.as_facts(tables).items()})

    def _tables(self) -> Changes:
        """All facts as they were before the changes that are not applied yet, by predicate."""
        return self._changes(
            Table(relation, *self.database.settled_facts(relation)) for relation in range(len(self.database.relations))
        )

    # --- consistency ------------------------------------------------------------------------------------------------

    def violations(self) -> Iterator[Violation]:
        """The constraints that are violated, with the values that violate them; each clash once, see `clashes`."""
        from kg_reasoner.engine.clashes import clashes

        found = violations(self.catalog, self.applied_rules)
        if self.base.rewriting is not None:
            found = chain(found, self.base.rewriting.contradictions())
        return clashes(found, self.base.queries.naming())

    def is_consistent(self) -> bool:
        """Whether none is."""
        return is_consistent(self.catalog) and (self.base.rewriting is None or not any(self.base.rewriting.contradictions()))
