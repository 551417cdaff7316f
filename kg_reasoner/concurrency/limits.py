"""Limits of operations, and what ends one on its way: a limit that it exceeds, or another thread that cancels it."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from kg_reasoner.errors import CancelledError, LimitError

__all__ = ["NOBODY", "UNLIMITED", "Limits", "Unwatched", "Watch", "current_watch"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operation may take; None: as much as it needs.

    An operation that exceeds a limit raises LimitError, and what it has changed is undone. The clock is looked at many times a
    second, also while kernels join; facts and memory are counted where tables grow and when the operation ends.

    Attributes:
        seconds: how long it may take, waiting for other threads included.
        facts: how many facts, explicit and inferred, the reasoner may hold; for a query, how many solutions of one graph pattern.
        memory: how many bytes the tables of facts, their indexes and the terms may take. Terms that were read stay known, even
            if the operation that read them is undone.

    >>> Limits(seconds=0.5, facts=10_000_000)
    Limits(seconds=0.5, facts=10000000, memory=None)
    """

    seconds: float | None = None
    facts: int | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "facts", "memory"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float)) and value > 0):
                raise ValueError(f"the limit {name}={value!r} is not a positive number")

    def within(self, other: Limits | None) -> Limits:
        """These limits, and where they leave something open, another's."""
        if other is None:
            return self
        return Limits(*(getattr(self, name) or getattr(other, name) for name in ("seconds", "facts", "memory")))


UNLIMITED: Final = Limits()


class Watch:
    """Watches over one operation or query: tells it, and the kernels that work for it, when to stop.

    It is current for the thread or task that entered it, as a ``with`` block, and may be entered again later; its time only runs
    inside. A generator that yields inside gives it to whoever iterates.

    Args:
        limits: what may be taken.
        registry: where it is found by whoever wants to cancel it, while it is entered.
    """

    def __init__(self, limits: Limits = UNLIMITED, registry: set[Watch] | None = None) -> None:
        self.limits = limits
        self._registry = registry
        self._left = limits.seconds
        self._end: float | None = None
        self._timer: threading.Timer | None = None
        self._outer: Watch = self
        self._mutex = threading.RLock()
        self._contexts: list[Any] = []
        self._why: str | None = None
        """Why it has to end, once it has."""

    def __enter__(self) -> Watch:
        if self._left is None:
            self._why = None
        else:
            self._end = time.monotonic() + self._left
            self._timer = threading.Timer(self._left, self._stop, [f"longer than its limit of {self.limits.seconds:g} s"])
            self._timer.daemon = True
            self._timer.start()
        self._outer = current_watch()
        _watches.set((*_watches.get(), self))
        if self._registry is not None:
            self._registry.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watches.set(tuple(watch for watch in _watches.get() if watch is not self))
        self._outer = self
        if self._registry is not None:
            self._registry.discard(self)
        if self._timer is not None and self._end is not None:
            self._timer.cancel()
            self._left, self._end = max(0.0, self._end - time.monotonic()), None

    def cancel(self) -> None:
        """Make the operation end with CancelledError; to be called in any thread."""
        self._stop("")

    def _stop(self, why: str) -> None:
        with self._mutex:
            self._why = why
            for context in self._contexts:
                context.stop = 1

    def cancel_kernels(self, context: Any) -> None:
        """The same for an operation without limits, whose kernels work with a context that was not attached."""
        self._why, context.stop = "", 1

    def reset(self, context: Any) -> None:
        """Begin anew, after `cancel_kernels`."""
        self._why, context.stop = None, 0

    def attach(self, context: Any) -> None:
        """From now on, let the kernels that work with a context be stopped, by the watches around this one, too."""
        context.stop = 0
        for watch in self._with_outer():
            with watch._mutex:
                watch._contexts.append(context)
                if watch._why is not None:
                    context.stop = 1

    def detach(self, context: Any) -> None:
        """The kernels that work with a context are through; those of other threads under the same watch may go on."""
        for watch in self._with_outer():
            with watch._mutex:
                last = max(number for number, other in enumerate(watch._contexts) if other is context)
                del watch._contexts[last]
        context.stop = 0  # now that nobody sets it any more

    def _with_outer(self) -> list[Watch]:
        """This watch and those around it, from within."""
        found = [self]
        while (outer := found[-1]._outer) is not found[-1] and outer is not NOBODY:
            found.append(outer)
        return found

    def is_of(self, registry: set[Watch]) -> bool:
        """Whether it watches over what is done with the engine whose registry this is."""
        return self._registry is registry

    @property
    def is_over(self) -> bool:
        """Whether the operation has to end."""
        return self._why is not None

    @property
    def remaining(self) -> float | None:
        """The seconds that are left; None: any number."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def check(self, facts: int = 0, nbytes: int = 0) -> None:
        """Go on, unless the operation has to end, or so many facts or bytes are too much.

        Raises:
            CancelledError: it was cancelled.
            LimitError: it exceeds a limit.
        """
        why = self._why
        if why is None and self._outer is not self and self._outer is not NOBODY:
            why = next((watch._why for watch in self._with_outer() if watch._why is not None), None)
        if why is not None:
            if why:
                raise LimitError(f"the operation takes {why}")
            raise CancelledError("the operation was cancelled")
        limits = self.limits
        if limits.facts is not None and facts > limits.facts:
            raise LimitError(f"there are {facts:,} facts, and the limit is {limits.facts:,}")
        if limits.memory is not None and nbytes > limits.memory:
            raise LimitError(f"the tables take {nbytes:,} bytes, and the limit is {limits.memory:,}")


NOBODY: Final = Watch()
"""The watch where there is none: it lets everything pass."""


_watches: Final[ContextVar[tuple[Watch, ...]]] = ContextVar("watches", default=(NOBODY,))
"""The watches over what a thread or a task is doing, the innermost last."""


class Unwatched:
    """The ``with`` block of what has to be done whatever the limits are, such as undoing what exceeded them."""

    def __enter__(self) -> None:
        self._outer = _watches.get()
        _watches.set((NOBODY,))

    def __exit__(self, *_: object) -> None:
        _watches.set(self._outer)


def current_watch() -> Watch:
    """The watch over what this thread or task is doing."""
    return _watches.get()[-1]
