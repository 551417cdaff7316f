"""The core that a reasoner shares with its parts: how operations begin and end, and how subscribers are notified.

It is for the package: transactions, named graphs, documents and graphs of rdflib use it. Programs use the `Reasoner`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

from kg_reasoner.api.operations.loaded_documents import Loaded
from kg_reasoner.api.operations.notices import Notices, warn_of_program
from kg_reasoner.concurrency.limits import UNLIMITED, Limits, Watch, current_watch, expect_limits
from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.engine.engine import Engine
from kg_reasoner.engine.facts.collector import Collector
from kg_reasoner.engine.facts.row_encoding import expect_predicate
from kg_reasoner.engine.inconsistency import Reaction
from kg_reasoner.errors import InconsistencyError, TransactionError
from kg_reasoner.language.checks import analysis
from kg_reasoner.program import TRIPLE, Declaration, Program
from kg_reasoner.progress import Progress
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import Queries
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.storage.releasing import release_memory
from kg_reasoner.storage.terms.column_types import ColumnTypes, check_heads
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from kg_reasoner.api.declared_relations.ticks import Ticks
    from kg_reasoner.api.operations.subscriptions import Subscriptions
    from kg_reasoner.expressions.defined_functions import PythonFunction
    from kg_reasoner.expressions.reductions import Reduction, StatefulReduction
    from kg_reasoner.language.reading.known import Known
    from kg_reasoner.sparql.evaluation.datasets import Caches

__all__ = ["ReasonerCore"]


class TripleObserver(Protocol):
    """Follows which triples are stated: the named graphs, if there are any."""

    def added(self, triples: TripleIds, /) -> None: ...

    def removed(self, triples: TripleIds, /) -> None: ...


class BufferingTransaction(Protocol):
    """An open transaction: it may hold changes that the engine has not been given yet, and collects changes for subscribers."""

    def hand_over(self) -> None: ...

    def collect(self) -> None: ...


class ReasonerCore:
    """The engine of a reasoner, with the parts that each operation involves.

    Attributes:
        on_inconsistency: The reaction to inconsistent data.
        loaded: The documents that have been loaded.
        named_graphs: Follow which triples are added and removed.
        subscriptions: The subscriptions to commits.
        functions: The functions in Python that rules may call, by name.
        reductions: The aggregate functions in Python.
    """

    def __init__(self, engine: Engine, visibility: Visibility) -> None:
        self.engine = engine
        self.dictionary = engine.dictionary
        self.visibility = visibility
        self.on_inconsistency: Reaction = "report"
        self.loaded = Loaded()
        self.named_graphs: TripleObserver | None = None
        self.subscriptions: Subscriptions | None = None
        self.functions: dict[str, PythonFunction] = {}
        self.reductions: dict[str, Reduction | StatefulReduction] = {}
        self._notices = Notices()
        self._declared: tuple[Program, dict[str, Declaration]] = Program(), {}
        self._prefixes: tuple[object, object, dict[str, str]] = None, None, {}
        self.ticks: Ticks | None = None
        """Begins and ends transactions, if the program has streams, delays or differences."""

    def declared(self, predicate: str) -> Declaration | None:
        """Return the declaration of a predicate, if it has one.

        Raises:
            ReasonerError: That is not the name of a predicate.
        """
        expect_predicate(predicate)
        program = self.engine.program
        if self._declared[0] is not program:
            self._declared = program, {declaration.predicate: declaration for declaration in reversed(program.declarations)}
        return self._declared[1].get(predicate)

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of the program, and those that only loaded documents declare. The same object while they are the same."""
        of_documents, of_program = self.loaded.prefixes, self.engine.program.prefixes
        known = self._prefixes
        if known[0] is not of_documents or known[1] is not of_program:
            found = {**of_documents, **dict(of_program)}
            self._prefixes = known = of_documents, of_program, known[2] if found == known[2] else found
        return known[2]

    @cached_property
    def caches(self) -> Caches:
        """The caches of SPARQL queries about terms."""
        from kg_reasoner.sparql.evaluation.datasets import Caches

        return Caches(self.dictionary)

    @property
    def queries(self) -> Queries:
        """The queries over the current facts, see `materialise`."""
        return self.engine.base.queries

    def known(self) -> Known:
        """Return the names that texts of rules may refer to."""
        from kg_reasoner.language.reading.known import Known

        return Known.of(self.engine.program, self.functions, self.reductions)

    # --- within an operation ----------------------------------------------------------------------------------------

    def assert_triples(self, ids: TripleIds) -> None:
        """Make triples explicit, in the default graph if there are others."""
        self.engine.load(TRIPLE, ids)
        if self.named_graphs is not None:
            self.named_graphs.added(ids)

    def retract_triples(self, ids: TripleIds) -> None:
        """Make triples no longer explicit, in any graph."""
        if self.named_graphs is not None:
            self.named_graphs.removed(ids)
        self.engine.retract(TRIPLE, ids)

    def adopt(self, program: Program) -> None:
        """Begin, without facts and rules, with a program that has been checked."""
        self.engine.base.equality.check(program.rules)
        self.engine.change_program(program)

    def use_ruleset(self, name: str) -> None:
        """Begin, without facts and rules, with the program of a rule set. Those of the package end, and cause no warnings.

        Raises:
            UnknownNameError: There is no rule set of this name.
        """
        from kg_reasoner import rulesets

        packaged, name = frozenset(rulesets.names()), str(name)
        if name in packaged:
            with self.engine.changing():
                self.adopt(rulesets.packaged(name).program)
            return
        program = rulesets.load(name).program
        if not packaged.issuperset(name.split("+")):
            warn_of_program(program)
        with self.atomic():
            self.merge_program(program)

    def merge_program(self, program: Program) -> None:
        """Add rules, declarations and facts; errors as for `Reasoner`."""
        engine = self.engine
        merged = engine.program | program
        analysis.check(replace(merged, rules=tuple(dict.fromkeys(merged.rules + engine.axioms.rules))))
        engine.base.equality.check(merged.rules)
        check_heads(merged)
        engine.expect_arities(analysis.arities(program))
        if program.declarations:
            self._check_types(merged)
        if any(declaration.key for declaration in merged.declarations):
            from kg_reasoner.api.declared_relations.keys import check_program

            check_program(engine, merged)
        if self.ticks is None and any(found.is_temporal for found in merged.declarations):
            self._use_ticks()
        engine.change_program(merged)

    def _use_ticks(self) -> None:
        """Let transactions begin and end as declarations of streams, delays and differences say.

        Raises:
            TransactionError: A transaction is open, which has not begun so.
        """
        from kg_reasoner.api.declared_relations.ticks import Ticks

        if self.engine.transaction is not None:
            raise TransactionError("the first streams, delays and differences must be declared outside of transactions")
        self.engine.set(self, "ticks", Ticks(self.engine))

    def _check_types(self, program: Program) -> None:
        """Check the existing explicit facts against the declarations of a program."""
        types, catalog = ColumnTypes(self.dictionary, program), self.engine.catalog
        for predicate in types.typed.keys() & catalog.predicates.keys():
            types.check(predicate, self.engine.base.rows(predicate, "explicit"))

    # --- operations -------------------------------------------------------------------------------------------------

    def atomic(self) -> AbstractContextManager[None]:
        """Return the ``with`` block of a method that changes something: atomic, while other threads wait.

        If there are subscribers, or inconsistent changes are refused, the block is a transaction of its own.
        """
        engine = self.engine
        if engine.transaction is not None:
            self._hand_over()
        is_watched = (
            (self.subscriptions is not None and self.subscriptions) or self.on_inconsistency == "raise" or self.ticks is not None
        )
        return self._in_one() if is_watched else engine.changing()

    @contextmanager
    def _in_one(self) -> Iterator[None]:
        """Run the block as a transaction, or as a part of the one that is open when this thread may write."""
        engine = self.engine
        with self.limited(), engine.lock.write():
            engine.make_sound()
            is_one = engine.transaction is None
            if is_one:
                self.materialise(is_checked=False)
            with engine.changing():
                ticks = self.ticks if is_one else None
                collector = Collector(self.dictionary) if is_one and (self.subscriptions or ticks is not None) else None
                if collector is not None:
                    engine.collect(collector)
                if ticks is not None:
                    ticks.begin()
                yield
                if is_one:
                    engine.update()
                    if ticks is not None:
                        ticks.finish()
                    self.expect_consistent()
                if collector is not None and self.subscriptions:
                    engine.tell(self.visibility.of_delta(collector.delta))
                if ticks is not None:
                    ticks.end()
        if is_one:
            self.publish()

    def subscribers(self) -> Subscriptions:
        """Return the subscriptions, to which one will be added: the open transaction collects its changes for it."""
        engine = self.engine
        if self.subscriptions is None:
            from kg_reasoner.api.operations.subscriptions import Subscriptions

            self.subscriptions = Subscriptions(self.dictionary, engine.arities, engine.committed, self.follow)
        if engine.transaction is not None:
            cast(BufferingTransaction, engine.transaction).collect()
        return self.subscriptions

    def publish(self) -> None:
        """Notify the subscribers of the commits so far."""
        if self.subscriptions is not None:
            self.subscriptions.publish(lambda: self.engine.committed)

    def expect_consistent(self) -> None:
        """Raise an error if the graph, whose materialisation is up to date, is inconsistent and must not be.

        Raises:
            InconsistencyError: The graph is inconsistent, and `on_inconsistency` is ``raise``.
        """
        if self.on_inconsistency == "raise" and not self.engine.is_consistent():
            raise InconsistencyError(list(self.engine.violations()), self.prefixes)

    def _hand_over(self) -> None:
        """Pass the changes that an open transaction has deferred to the engine."""
        transaction = self.engine.transaction
        if transaction is not None and transaction.is_waiting:
            cast(BufferingTransaction, transaction).hand_over()

    # --- reading ----------------------------------------------------------------------------------------------------

    def materialise(self, progress: Progress | None = None, limits: Limits | None = None, *, is_checked: bool = True) -> None:
        """See `kg_reasoner.api.reasoner.Reasoner.materialise`.

        Args:
            progress: Is told what is done.
            limits: The limits of the operation.
            is_checked: Whether inconsistent data are an error where they must not be. Not at the beginning of a transaction, whose
                end decides, so that one can repair what was inconsistent before; nor where one asks for the violations.
        """
        if limits is not None:
            expect_limits(limits)
        engine = self.engine
        if engine.next_update.is_due or not engine.is_current:
            if engine.transaction is not None:
                self._hand_over()
            if limits is None:
                self._materialise(progress, is_checked)
            else:
                with self.limited(limits):
                    self._materialise(progress, is_checked)
        seen, of_axioms = self._notices.seen
        if seen is not self.loaded or of_axioms is not engine.axioms.warnings:
            self._issue_notices()

    def silence(self) -> None:
        """Issue no Python warnings about what the data say beyond the rules."""
        self._notices.silent = True

    def _issue_notices(self) -> None:
        """Warn of axioms in the data that the rules cannot express, once and outside of transactions."""
        if self.engine.transaction is None:
            self._notices.issue(self.loaded, self.engine.axioms.warnings)

    def _materialise(self, progress: Progress | None, is_checked: bool) -> None:
        engine = self.engine
        database = engine.base.database
        is_first, before = database.is_fresh, database.context.total
        changed = engine.materialise(progress)
        if changed and engine.program.indexes:
            self._build_indexes()
        if is_first:
            release_memory(engine.database.context.total - before)
        if changed and is_checked and engine.transaction is None and self.on_inconsistency == "raise":
            with engine.changing():
                self.expect_consistent()

    def _build_indexes(self) -> None:
        """Build the declared indexes, where they are missing."""
        with self.engine.changing():
            for index in self.engine.program.indexes:
                names = [column.name for column in self.declared(index.predicate).columns]  # type: ignore[union-attr]  # checked
                if index.predicate in self.engine.catalog.predicates and len(self.dictionary):
                    self.engine.base.matching(index.predicate, {names.index(name): 0 for name in index.columns})

    def request_relations(self, predicates: Iterable[str]) -> None:
        """Let the rules of modules derive some relations that nothing has used so far."""
        wanted = tuple(predicates)
        if self.engine.are_idle(wanted):
            with self.engine.changing():
                self.engine.request_relations(wanted)

    def request_universal_facts(self, names: Set[Term]) -> None:
        """Let rule sets derive facts about some names that hold of all terms, if no query has looked for them so far."""
        if self.engine.lacks(names):
            with self.engine.changing():
                self.engine.request_universal_facts(names)

    def follow(self, predicate: str) -> None:
        """Derive a relation whose changes are to be followed, if nothing has used it so far."""
        if self.engine.are_idle([predicate]):
            self.request_relations([predicate])
            self.materialise()

    def reading(self, which: Which = "all") -> Hold:
        """Return the ``with`` block of a method that reads: the materialisation is up to date, unless only explicit facts are
        requested, and nothing changes inside. Other threads read at the same time.
        """
        engine = self.engine
        while True:
            hold = engine.lock.read()
            if which == "explicit":
                if engine.is_sound and (engine.transaction is None or not engine.transaction.is_waiting):
                    return hold
            elif engine.is_current and (
                engine.transaction is not None or self._notices.are_issued(self.loaded, engine.axioms.warnings)
            ):
                return hold
            hold.release()
            if which != "explicit":
                self.materialise()
            else:
                self._hand_over()
                with engine.changing():
                    pass

    @property
    def is_idle(self) -> bool:
        """Whether no change is under way, and there is nothing to derive, to undo or to warn of."""
        engine = self.engine
        if engine.lock.writer or engine.next_update.is_due or not engine.is_whole:
            return False  # most of `is_current`, without a call
        seen, of_axioms = self._notices.seen
        return seen is self.loaded and of_axioms is engine.axioms.warnings and (engine.transaction is None or engine.is_current)

    def reading_explicit(self) -> Hold:
        """Return the ``with`` block of a method that reads explicit facts and the rules of explicit axioms; nothing is derived."""
        engine = self.engine
        while True:
            hold = self.reading("explicit")
            if engine.knows_rules:
                return hold
            hold.release()
            with engine.changing():
                engine.translate_schema()
                engine.rules  # noqa: B018  # kept for readers
            self._issue_notices()

    # --- limits -----------------------------------------------------------------------------------------------------

    def limited(self, limits: Limits | None = None) -> AbstractContextManager[object]:
        """See `kg_reasoner.api.reasoner.Reasoner.limited`."""
        if limits is None and current_watch().is_of(self.engine.running):
            return nullcontext()
        watch = self.watch(limits)
        return nullcontext() if watch.limits == UNLIMITED else watch

    def watch(self, limits: Limits | None = None) -> Watch:
        """Return the watch over an operation, or over a query, to be entered whenever some of its solutions are fetched.

        Args:
            limits: Its limits; those that are None are the ones of the `limited` block around it, or else the reasoner's own.
        """
        if limits is not None:
            expect_limits(limits)
        engine, outer = self.engine, current_watch()
        around = outer.limits if outer.is_of(engine.running) else engine.limits
        return Watch(around if limits is None else limits.within(around), engine.running)
