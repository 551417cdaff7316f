"""Subscriptions: callbacks that are called with the changes of each commit that match a pattern."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Mapping
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from kg_reasoner.concurrency.calls import is_running
from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.facts.collector import Committed
from kg_reasoner.errors import ArityError, CallbackError, LoadError, ReasonerError, plural
from kg_reasoner.loaders.convert import text_from_term
from kg_reasoner.program import FALSE, TRIPLE, Atom, Variable
from kg_reasoner.query.delta import Change, Changes, Delta

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType, TracebackType

    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["RETAINED_ERRORS", "Callback", "Pattern", "Subscription", "Subscriptions"]

Callback: TypeAlias = Callable[[Delta], object]

Pattern: TypeAlias = str | Atom | tuple[Any, Any, Any] | None
"""The changes to receive: the name of a predicate; an atom, whose repeated variables must have equal values; a triple pattern of
terms (of this package, rdflib or pyoxigraph), variables, and None for any term; or None for everything."""

RETAINED_ERRORS = 100
"""The number of errors of its callback that a subscription retains, the latest ones."""

TURN: Final = "turn"

_NAME: Final = re.compile(r"\[\]|<[^<>\s]*>|[^\s()\[\]<>?,]+")


class Subscription:
    """A callback and the pattern whose changes it receives. `cancel`, or the end of its ``with`` block, ends it.

    Attributes:
        pattern: The pattern, as text.
        callback: Called with the changes.
        errors: The latest `RETAINED_ERRORS` errors of the callback.
    """

    def __init__(self, owner: Subscriptions, matcher: ChangeMatcher, callback: Callback) -> None:
        self.pattern = str(matcher)
        self.errors: deque[CallbackError] = deque(maxlen=RETAINED_ERRORS)
        self._owner = owner
        self._matcher = matcher
        self.callback = callback
        self._active = True

    @property
    def active(self) -> bool:
        """Whether the callback will be notified of further commits."""
        return self._active

    def cancel(self) -> None:
        """End the subscription: the callback is no longer called, even for commits before this call."""
        self._active = False
        self._owner.forget(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cancel()

    def __repr__(self) -> str:
        return f"<Subscription to {self.pattern}{'' if self._active else ', cancelled'}>"

    def notify(self, notification: PendingNotification) -> None:
        """Call the callback with its part of a delta, unless it is empty. Record and log an exception.

        Args:
            notification: The delta of a commit, as far as it has not been passed on.
        """
        if not self._active or not notification.parts:
            return
        try:
            notification.parts[0] = self._matcher.part(notification.delta)
            if notification.parts[0]:
                self.callback(notification.parts.pop())  # one line: nothing interrupts between taking the part and the call
        except Exception as error:
            if notification.parts and not isinstance(error, ArityError):
                raise  # the callback has not been called, and will be
            self._record(notification.commit, notification.delta, error)

    def _record(self, commit: int, delta: Delta, error: Exception) -> None:
        import logging

        name = getattr(self.callback, "__qualname__", None) or repr(self.callback)
        changed = f"{len(delta.added)} added, {len(delta.removed)} removed"
        what = f"{type(error).__name__}: {error}"
        failure = CallbackError(f"the callback {name} for {self.pattern} failed at commit {commit} ({changed}): {what}", commit)
        failure.__cause__ = error
        self.errors.append(failure)
        logging.getLogger("kg_reasoner.subscriptions").error("%s", failure, exc_info=error)


@dataclass(slots=True, eq=False)
class PendingNotification:
    """A commit of which a subscription has yet to be notified.

    Attributes:
        parts: The delta, and then its matching part, until the callback has received it.
    """

    subscription: Subscription
    commit: int
    delta: Delta
    parts: list[Delta]


class Subscriptions:
    """The subscriptions of a reasoner; true if there are any.

    Every commit is published once, after it has ended, in the thread that committed (if several threads commit at the same time, in
    one of them). The subscribers are called one after the other, in the order of their subscriptions. Each is notified of all
    commits after its subscription, in their order, exactly once.

    A callback may change the reasoner. Subscribers are notified of its commits after all of them have been notified of the present
    one, so that no subscriber sees commits out of order; the facts that a callback reads may therefore be newer than its delta.

    An exception in a callback does not affect other subscribers: it is recorded in `Subscription.errors` and logged by the logger
    ``kg_reasoner.subscriptions``. Only an exception that is not an `Exception` (KeyboardInterrupt, for example) is passed on to the
    thread that committed; the remaining subscribers are notified before the next commit.

    Args:
        dictionary: The dictionary of the reasoner, whose ids the deltas have.
        arities: Returns the number of arguments of each predicate; called by each `subscribe`.
        last: The last commit of which subscribers are not notified.
        follow: Called with the predicate of each subscription to one, whose facts must be derived from then on.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        arities: Callable[[], Mapping[str, int]] = dict,
        last: Committed | None = None,
        follow: Callable[[str], None] = lambda predicate: None,
    ) -> None:
        self._dictionary = dictionary
        self._arities = arities
        self._follow = follow
        self._all: tuple[Subscription, ...] = ()
        self._lock = new_mutex()
        self._turn: dict[str, tuple[int, FrameType]] = {}
        """The thread that notifies subscribers, and its call of `publish`."""
        self._last = last
        self._pending: deque[PendingNotification] = deque()
        self._commits = 0

    def __bool__(self) -> bool:
        return bool(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def commits(self) -> int:
        """The number of commits published so far."""
        return self._commits

    def subscribe(self, pattern: Pattern, callback: Callback) -> Subscription:
        """Call `callback` with the changes of a pattern after every later commit that has some. Any thread may call this.

        Args:
            pattern: The name of a predicate, an atom, a triple pattern, or None for everything.
            callback: Called with the `Delta` of each commit that changes something of the pattern.

        Returns:
            The subscription, to be cancelled.

        Raises:
            ReasonerError: The argument is not a pattern, or the callback is not callable.
            ArityError: The predicate has a different number of arguments.
            LoadError: The pattern has an invalid term.
        """
        if not callable(callback):
            raise ReasonerError(f"cannot subscribe with {callback!r}: it is not callable")
        matcher = change_matcher(pattern, self._dictionary)
        there = self._arities().get(matcher.predicate or "") if matcher.arity is not None else None
        if there is not None and there != matcher.arity:
            raise ArityError(f"{matcher.predicate} has {plural(there, 'argument')}, and the pattern {matcher} has {matcher.arity}")
        if matcher.predicate is not None:
            self._follow(matcher.predicate)
        subscription = Subscription(self, matcher, callback)
        with self._lock:
            self._all = (*self._all, subscription)
        return subscription

    def forget(self, subscription: Subscription) -> None:
        """Remove a subscription; called by `Subscription.cancel`."""
        with self._lock:
            self._all = tuple(other for other in self._all if other is not subscription)

    def forget_callback(self, callback: Callback) -> None:
        """End the subscriptions with a callback."""
        for subscription in self._all:
            if subscription.callback == callback:
                subscription.cancel()

    def publish(self, latest: Callable[[], Committed | None]) -> None:
        """Notify the subscribers of all commits up to the latest, which has ended, so that the next one may begin.

        Within a callback, or while another thread notifies subscribers, this returns at once: the running call does the rest.
        """
        with self._lock:
            committed = latest()  # called here, so that it is never older than the last one
            if committed is not None and committed is not self._last:
                self._enqueue(committed)
        while self._pending and self._take_turn(sys._getframe()):
            try:
                self._notify()
            finally:
                self._turn.pop(TURN, None)

    def _take_turn(self, call: FrameType) -> bool:
        """Let a call of `publish` notify subscribers, unless another one is doing so."""
        mine = get_ident(), call
        held = self._turn.setdefault(TURN, mine)
        if held is mine:
            return True
        if is_running(*held):
            return False
        with self._lock:  # an exception has ended that call before it could give the turn back
            if self._turn.get(TURN) is held:
                self._turn[TURN] = mine
        return self._turn.get(TURN) is mine

    def _enqueue(self, committed: Committed) -> None:
        """Record the subscribers to notify of the commits that have not been published yet."""
        commits, pending = self._commits, deque(self._pending)
        for delta in committed.since(self._last):
            commits += 1
            if delta:
                pending.extend(PendingNotification(subscription, commits, delta, [delta]) for subscription in self._all)
        self._commits, self._pending, self._last = commits, pending, committed
        committed.before = None

    def _notify(self) -> None:
        while True:
            with self._lock:
                following = self._pending[0] if self._pending else None
            if following is None:
                return
            following.subscription.notify(following)
            with self._lock:
                self._pending.popleft()


class ChangeMatcher:
    """Selects the changes of a pattern from a delta.

    Args:
        dictionary: The dictionary of the ids.
        predicate: The predicate, or None for all changes.
        text: The pattern, for messages.
        arguments: Per column, the text of a constant's term (as in the dictionary), a variable, or None for any term; None if all
            facts of the predicate match.
    """

    def __init__(
        self, dictionary: Dictionary, predicate: str | None, text: str, arguments: tuple[str | Variable | None, ...] | None = None
    ) -> None:
        self.predicate = predicate
        self.arity = None if arguments is None else len(arguments)
        self._dictionary = dictionary
        self._text = text
        self._constants: list[tuple[int, str]] = []
        self._equal: list[tuple[int, int]] = []
        first: dict[Variable, int] = {}
        for column, argument in enumerate(arguments or ()):
            if isinstance(argument, str):
                self._constants.append((column, argument))
            elif argument is not None and first.setdefault(argument, column) != column:
                self._equal.append((first[argument], column))
        self._known: dict[str, int] = {}

    def __str__(self) -> str:
        return self._text

    def part(self, delta: Delta) -> Delta:
        """Return the changes of a delta that match.

        Raises:
            ArityError: The predicate has a different number of arguments.
        """
        if self.predicate is None:
            return delta
        return Delta(self._part(delta.added), self._part(delta.removed), self._part(delta.restated))

    def _part(self, changes: Changes) -> Changes:
        change = changes.tables.get(self.predicate or "")
        return Changes(changes.dictionary, {} if change is None else {self.predicate or "": self._chosen(change)})

    def _chosen(self, change: Change) -> Change:
        ids = change.ids
        if self.arity is not None and ids.shape[1] != self.arity:
            raise ArityError(f"{self.predicate} has {plural(ids.shape[1], 'argument')}, and the pattern {self} has {self.arity}")
        if not self._constants and not self._equal:
            return change
        chosen = np.ones(len(ids), bool)
        for column, text in self._constants:
            chosen &= ids[:, column] == self._find(text)
        for left, right in self._equal:
            chosen &= ids[:, left] == ids[:, right]
        return change.where(chosen)

    def _find(self, text: str) -> int:
        """Return the id of a constant, which the dictionary may have assigned since the pattern was made; -1 if it has none."""
        number = self._known.get(text, -1)
        if number < 0:
            number = self._dictionary.find_text(text)
            if number >= 0:
                self._known[text] = number
        return number


def change_matcher(pattern: object, dictionary: Dictionary) -> ChangeMatcher:
    """Return the matcher of a pattern; raise the errors of `Subscriptions.subscribe`."""
    if pattern is None:
        return ChangeMatcher(dictionary, None, "all changes")
    if isinstance(pattern, Atom):
        if pattern.predicate == FALSE:
            raise ReasonerError(
                "violations of constraints are not facts and cannot be subscribed to; call `inconsistencies` after other changes"
            )
        arguments = _arguments(pattern.terms)
        return ChangeMatcher(dictionary, pattern.predicate, _atom_text(pattern.predicate, arguments), arguments)
    if _is_term(pattern):
        raise ReasonerError(f"{pattern!r} is a term, not a pattern; the triples of a property match (None, property, None)")
    if isinstance(pattern, str):
        if not _NAME.fullmatch(pattern):
            raise ReasonerError(f"{pattern!r} is not the name of a predicate; give a pattern with arguments as an Atom")
        return ChangeMatcher(dictionary, str(pattern), "all triples" if pattern == TRIPLE else str(pattern))
    if isinstance(pattern, (tuple, list)) and len(pattern) == 3:
        arguments = _arguments(pattern)
        return ChangeMatcher(dictionary, TRIPLE, _atom_text(TRIPLE, arguments), arguments)
    raise ReasonerError(
        f"{pattern!r} is not a pattern: give the name of a predicate, a triple pattern (subject, property, object) with None for"
        " any term, or an Atom"
    )


def _arguments(terms: Iterable[object]) -> tuple[str | Variable | None, ...]:
    return tuple(term if term is None or isinstance(term, Variable) else text_from_term(term) for term in terms)


def _atom_text(predicate: str, arguments: tuple[str | Variable | None, ...]) -> str:
    inside = ", ".join("_" if argument is None else str(argument) for argument in arguments)
    return f"[{inside}]" if predicate == TRIPLE else f"{predicate}({inside})"


def _is_term(value: object) -> bool:
    try:
        text_from_term(value)
    except LoadError:
        return False
    return True
