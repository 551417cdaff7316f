"""Tasks that this thread and others do together. It can be interrupted, and no task outlives the call."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import Final, TypeAlias

__all__ = ["NAME", "Task", "run_together"]

NAME: Final = "kg_reasoner together"
"""The name of the further threads."""

_WAIT: Final = 0.02
"""Seconds after which a thread that waits looks again: it may have been interrupted between two lines."""

Task: TypeAlias = "Callable[[], object]"


def run_together(tasks: Iterable[Task], threads: int) -> None:
    """Run tasks in this thread, which takes the first of them, and in up to `threads` - 1 others.

    When this returns or raises, no task is running.

    Raises:
        BaseException: What one of the tasks has raised; those that have not begun then do not begin.
    """
    waiting = deque(tasks)
    first = waiting.popleft()
    helpers = _Helpers(waiting)
    try:
        helpers.start(min(threads - 1, len(waiting)))
        first()
        while not helpers.errors:
            try:
                task = waiting.popleft()
            except IndexError:
                break
            task()
    finally:
        helpers.end()
    if helpers.errors:
        raise helpers.errors[0]


class _Helpers:
    """The further threads that do tasks."""

    def __init__(self, waiting: deque[Task]) -> None:
        self.errors: list[BaseException] = []
        self._waiting = waiting
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._running = 0
        self._is_closed = False

    def start(self, count: int) -> None:
        """Start threads, as many as the system allows."""
        for _ in range(count):
            thread = threading.Thread(target=copy_context().run, args=(self._perform,), name=NAME, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return
            self._threads.append(thread)

    def end(self) -> None:
        """Let no task begin in them any more that has not begun, unless this is the regular end; wait for them.

        An interrupt meanwhile is raised when none is running.
        """
        interrupt: BaseException | None = None
        while True:
            try:
                with self._changed:
                    self._is_closed = True
                    if self._running == 0:
                        break
                    self._changed.wait(_WAIT)
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt
        for thread in self._threads:
            thread.join()

    def _perform(self) -> None:
        with self._changed:
            if self._is_closed:
                return
            self._running += 1
        try:
            while not self.errors and not self._is_closed:
                try:
                    task = self._waiting.popleft()
                except IndexError:
                    break
                task()
        except BaseException as error:
            self.errors.append(error)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()
