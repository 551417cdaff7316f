"""Change feeds: iterators over what each commit changed of a pattern, for a thread or an event loop."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from kg_reasoner.api.operations.subscriptions import Pattern, Subscriptions
from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.query.delta import Delta

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ChangeFeed"]


class ChangeFeed:
    """The changes of a pattern by later commits: an iterator of deltas, in order, each of them once.

    ``for delta in feed`` waits for the next commit, which another thread has to make. ``async for`` waits without blocking the
    event loop. `poll` returns at once or after a timeout. A feed and its deltas may be read in any thread. If several threads read
    one feed, each delta goes to one of them.

    Unread deltas stay in memory: `close` the feed, use it in a ``with`` block, or drop it.
    """

    def __init__(self, subscriptions: Subscriptions, pattern: Pattern) -> None:
        self._queue = queue = _DeltaQueue()
        weakref.finalize(self, subscriptions.forget_callback, queue.put)  # before it subscribes, should an interrupt come then
        self._subscription = subscriptions.subscribe(pattern, queue.put)

    @property
    def closed(self) -> bool:
        """Whether `close` was called. Deltas that were waiting then can still be read."""
        return self._queue.closed

    def close(self) -> None:
        """Stop collecting changes. The iterator yields the deltas that are waiting, and then ends."""
        self._subscription.cancel()
        self._queue.close()

    def poll(self, timeout: float = 0.0) -> list[Delta]:
        """Return all waiting changes. If there are none, wait for the next, at most `timeout` seconds.

        Args:
            timeout: The longest time to wait, in seconds.

        Returns:
            The deltas, the oldest first; an empty list after the timeout.
        """
        return self._queue.take_all(timeout)

    def __iter__(self) -> ChangeFeed:
        return self

    def __next__(self) -> Delta:
        delta = self._queue.take()
        if delta is None:
            raise StopIteration
        return delta

    def __aiter__(self) -> ChangeFeed:
        return self

    async def __anext__(self) -> Delta:
        delta = await self._queue.take_later()
        if delta is None:
            raise StopAsyncIteration
        return delta

    def __enter__(self) -> ChangeFeed:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ChangeFeed of {self._subscription.pattern}{', closed' if self.closed else ''}>"


class _DeltaQueue:
    """Deltas that wait for a reader, in a thread or in an event loop. It has no reference to the feed, so that the feed can be
    dropped.
    """

    def __init__(self) -> None:
        self.closed = False
        self._waiting: deque[Delta] = deque()
        self._changed = threading.Condition(new_mutex())
        self._wakers: list[Callable[[], object]] = []

    def put(self, delta: Delta) -> None:
        with self._changed:
            self._waiting.append(delta)
            self._wake()

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._wake()

    def _wake(self) -> None:
        self._changed.notify_all()
        wakers, self._wakers = self._wakers, []
        for wake in wakers:
            wake()

    def _is_ready(self) -> bool:
        return bool(self._waiting) or self.closed

    def take_all(self, timeout: float) -> list[Delta]:
        with self._changed:
            self._changed.wait_for(self._is_ready, timeout)
            taken = list(self._waiting)
            self._waiting.clear()
            return taken

    def take(self) -> Delta | None:
        """Return the next delta; None when the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(self._is_ready)
            return self._waiting.popleft() if self._waiting else None

    async def take_later(self) -> Delta | None:
        """Return the next delta as `take` does, without blocking the event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        while True:
            woken = asyncio.Event()

            def wake(event: asyncio.Event = woken) -> None:
                with suppress(RuntimeError):  # the loop is closed, so nothing waits
                    loop.call_soon_threadsafe(event.set)

            with self._changed:
                if self._is_ready():
                    return self._waiting.popleft() if self._waiting else None
                self._wakers.append(wake)
            try:
                await woken.wait()
            finally:
                with self._changed:
                    if wake in self._wakers:
                        self._wakers.remove(wake)
