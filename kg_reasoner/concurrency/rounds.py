"""Tasks in threads, while the thread that wants them waits: it can be interrupted, and no task outlives that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from typing import Final, TypeAlias

__all__ = ["NAME", "Round", "Task"]

NAME: Final = "kg_reasoner tasks"
"""The name of the threads."""

WAIT: Final = 0.02
"""Seconds between two checks of whether the tasks have to end early."""

Task: TypeAlias = "Callable[[], object]"


class Round:
    """Tasks that threads run at the same time.

    Args:
        is_over: Says whether the tasks have to end early.
        stop: Makes them end early.
    """

    def __init__(self, is_over: Callable[[], object], stop: Callable[[], None]) -> None:
        self._is_over, self._stop = is_over, stop
        self._changed = threading.Condition()
        self._running = self._finished = 0
        self._is_closed = False
        self._errors: list[BaseException] = []

    def run(self, tasks: Sequence[Task], threads: int) -> None:
        """Run tasks in a number of threads, each of which takes the next task when it has done one. When this returns or raises,
        none is running.

        Raises:
            BaseException: A task has raised it.
        """
        waiting, count = iter(tasks), 0
        try:
            while count < min(threads, len(tasks)) and _started(copy_context().run, self._perform, waiting):
                count += 1
            if count == 0:
                self._perform(waiting)
            with self._changed:
                while self._finished < count:
                    self._changed.wait(WAIT)
                    if self._errors or self._is_over():
                        self._stop()
        finally:
            self._close()
        if self._errors:
            raise self._errors[0]

    def _perform(self, waiting: Iterator[Task]) -> None:
        with self._changed:
            if self._is_closed:
                return
            self._running += 1
        try:
            for task in waiting:
                if self._errors or self._is_closed:
                    break
                task()
        except BaseException as error:
            self._errors.append(error)
        finally:
            with self._changed:
                self._running -= 1
                self._finished += 1
                self._changed.notify_all()

    def _close(self) -> None:
        """Let no task begin any more, and wait for those that have begun, whatever interrupts this."""
        interrupt: BaseException | None = None
        while True:
            try:
                with self._changed:
                    self._is_closed = True
                    if self._running == 0:
                        break
                    self._stop()
                    self._changed.wait(WAIT)
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


def _started(function: Callable[..., object], *arguments: object) -> bool:
    """Run a function in a thread of its own. Return False if the system allows no further thread."""
    try:
        threading.Thread(target=function, args=arguments, name=NAME, daemon=True).start()
    except RuntimeError:
        return False
    return True
