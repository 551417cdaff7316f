"""Limits of operations, and the two ways to end an operation early: an exceeded limit, or cancellation by another thread."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from typing import Any, Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import CancelledError, LimitError

__all__ = ["NOBODY", "UNLIMITED", "Limits", "Unwatched", "Watch", "current_watch", "expect_limits", "watches"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an operation; None means unlimited.

    An operation that exceeds a limit raises LimitError, and its changes are undone. The clock is checked many times a second, also
    while kernels join. Facts and memory are checked when tables grow and when the operation ends.

    Attributes:
        seconds: The maximal duration, including the time spent waiting for other threads; infinity is unlimited, too.
        facts: The maximal number of explicit and inferred facts in the reasoner; for a query, of solutions of one graph pattern.
        memory: The maximal number of bytes of the tables of facts, their indexes and the terms. Terms stay in the dictionary even
            if the operation that added them is undone.

    >>> Limits(seconds=0.5, facts=10_000_000)
    Limits(seconds=0.5, facts=10000000, memory=None)
    """

    seconds: float | None = None
    facts: int | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "facts", "memory"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not (isinstance(value, (int, float)) and value > 0)):
                raise ValueError(f"the limit {name}={value!r} is not a positive number")

    def within(self, other: Limits | None) -> Limits:
        """Return these limits, with values from `other` for those that are None.

        Args:
            other: The outer limits; None: there are none.

        Returns:
            The limits.
        """
        if other is None:
            return self
        return Limits(*(getattr(self, name) or getattr(other, name) for name in ("seconds", "facts", "memory")))


UNLIMITED: Final = Limits()


def expect_limits(given: object) -> None:
    """Check that an argument is a `Limits`.

    Raises:
        TypeError: It is not.
    """
    if not isinstance(given, Limits):
        raise TypeError(f"limits are given as Limits(seconds=5, facts=1_000_000), for example, and not as {given!r}")


class Watch:
    """Stops an operation or query, and the kernels that run for it, when a limit is exceeded or it is cancelled.

    A watch is a ``with`` block. It is current for the thread or task that entered it, and can be entered again later. Its clock
    runs only inside the block. While a generator yields inside the block, the watch is current for the caller, too.

    Args:
        limits: The limits of the operation.
        registry: The set of entered watches, in which other threads find it to cancel it.
    """

    def __init__(self, limits: Limits = UNLIMITED, registry: set[Watch] | None = None) -> None:
        self.limits = limits
        self._registry = registry
        is_timed = limits.seconds is not None and limits.seconds <= threading.TIMEOUT_MAX  # waits cannot be longer: centuries
        self._left = limits.seconds if is_timed else None
        self._end: float | None = None
        self._timer: threading.Timer | None = None
        self._outer: Watch | None = None
        self._mutex = threading.RLock()
        self._contexts: list[Any] = []
        self.why: str | None = None
        """Why the operation has to end; None: it does not."""

    def __enter__(self) -> Watch:
        if not self.why:  # not the time limit, but perhaps a cancellation
            self.why = None
        if self._left is not None:
            self._end = time.monotonic() + self._left
            self._timer = threading.Timer(self._left, self._stop, [f"longer than its limit of {self.limits.seconds:g} s"])
            self._timer.daemon = True
            self._timer.start()
        outer = current_watch()
        self._outer = None if outer is self else outer  # no cycle, for Python's collector
        _watches.set((*_watches.get(), self))
        if self._registry is not None:
            self._registry.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watches.set(tuple(watch for watch in _watches.get() if watch is not self))
        self._outer = None
        if self._registry is not None:
            self._registry.discard(self)
        if self._timer is not None and self._end is not None:
            self._timer.cancel()
            self._left, self._end = max(0.0, self._end - time.monotonic()), None

    def cancel(self) -> None:
        """Make the operation end with CancelledError. Any thread may call this."""
        self._stop("")

    def _stop(self, why: str) -> None:
        with self._mutex:
            self.why = why
            for context in self._contexts:
                context.stop = 1

    def cancel_kernels(self, context: Any) -> None:
        """Cancel an operation without limits, whose kernels run with a context that was not attached.

        Args:
            context: The context of the kernels.
        """
        self.why, context.stop = "", 1

    def reset(self, context: Any) -> None:
        """Make a context usable again after `cancel_kernels`."""
        self.why, context.stop = None, 0

    def attach(self, context: Any) -> None:
        """Let this watch, and those around it, stop the kernels that run with a context."""
        context.stop = 0
        for watch in self._with_outer():
            with watch._mutex:
                watch._contexts.append(context)
                if watch.why is not None:
                    context.stop = 1

    def detach(self, context: Any) -> None:
        """Stop watching a context. Kernels of other threads under the same watch continue."""
        for watch in self._with_outer():
            with watch._mutex:
                last = max(number for number, other in enumerate(watch._contexts) if other is context)
                del watch._contexts[last]
        context.stop = 0  # now that nothing sets it

    def _with_outer(self) -> list[Watch]:
        """Return this watch and those around it, innermost first."""
        found = [self]
        while (outer := found[-1]._outer) is not None and outer is not NOBODY:
            found.append(outer)
        return found

    def is_of(self, registry: set[Watch]) -> bool:
        """Return whether this watch belongs to the engine with this registry."""
        return self._registry is registry

    @property
    def remaining(self) -> float | None:
        """The remaining seconds of this watch and those around it, or None if unlimited."""
        ends = [watch._end for watch in self._with_outer() if watch._end is not None]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def check(self, facts: int = 0, nbytes: int = 0) -> None:
        """Raise an error if the operation is cancelled or a limit is exceeded.

        Raises:
            CancelledError: It was cancelled.
            LimitError: It exceeds a limit.
        """
        why = self.why
        if why is None and self._outer is not None and self._outer is not NOBODY:
            why = next((watch.why for watch in self._with_outer() if watch.why is not None), None)
        if why is not None:
            if why:
                raise LimitError(f"the operation takes {why}")
            raise CancelledError("the operation was cancelled")
        limits = self.limits
        if limits.facts is not None and facts > limits.facts:
            raise LimitError(f"{facts:,} facts exceed the limit of {limits.facts:,}")
        if limits.memory is not None and nbytes > limits.memory:
            raise LimitError(f"the tables take {nbytes:,} bytes and exceed the limit of {limits.memory:,}")


NOBODY: Final = Watch()
"""The watch used without limits, which never stops an operation."""


_watches: Final[ContextVar[tuple[Watch, ...]]] = ContextVar("watches", default=(NOBODY,))
"""The watches over what a thread or a task is doing, the innermost last."""

watches: Final = _watches.get
"""Returns them. ``watches()[-1]`` is `current_watch` without its call."""


class Unwatched:
    """A ``with`` block without limits, for work such as undoing an operation that exceeded a limit."""

    def __enter__(self) -> None:
        self._outer = _watches.get()
        _watches.set((NOBODY,))

    def __exit__(self, *_: object) -> None:
        _watches.set(self._outer)


def current_watch() -> Watch:
    """Return the watch over the operation of this thread or task, `NOBODY` if there is none."""
    return _watches.get()[-1]
